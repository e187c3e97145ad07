"""The climbers of one solve: batches on a backend, a kernel call at a time, and the best tour so far."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytsp.backends.context import Backend
from pytsp.exceptions import DeviceMemoryError
from pytsp.problem.kernel_input import Form
from pytsp.run.state_reader import State
from pytsp.solvers.common.incumbent import Best

# How long one kernel call should take: long enough to hide its overhead, short enough to stop between two.
CALL_SECONDS = 0.15
# The moves a second that the first call of a solve counts on, on a CPU and on a GPU.
FIRST_SPEED = {"cpu": 1.3e8, "gpu": 5e11}
# What the tours of one batch may occupy; kernels hold a few such arrays.
BATCH_BYTES = {"cpu": 64 * 2**20, "gpu": 2**30}
# Climbers that a GPU wants at a time: so many blocks, or so many threads, keep its multiprocessors busy.
BUSY_BLOCKS = 528
BUSY_THREADS = 65_536
MOST_STEPS = 2**31 - 1

# Tours that the block form takes, and the bytes of shared memory a city that it needs; with k > 1, so many more.
BLOCK_CITIES = range(24, 32_768)
BLOCK_BYTES = {"grid": 16, "plane": 24, "matrix": 12}
K_SWAP_BYTES = 8
# What lanes and reductions need besides.
BLOCK_OVERHEAD = 40 * 2**10
# Below so many cities, several moves a pass keep a block's lanes less busy than a thread (docs/benchmarks.md).
K_SWAP_BLOCK_CITIES = 200


def fits_a_block(form: Form, k: int, kernels: Backend) -> bool:
    """Tell whether a climber's tour fits the shared memory of a thread block."""
    n = form.whole.n
    needed = n * (BLOCK_BYTES[form.kind] + (K_SWAP_BYTES if k > 1 else 0)) + BLOCK_OVERHEAD
    return n in BLOCK_CITIES and kernels.device is not None and needed <= max(kernels.device.shared_memory, 48 * 2**10)


def choose_mapping(mapping: str, form: Form, k: int, kernels: Backend) -> str:
    """Choose how climbers are laid out on the backend: "block" or "thread"; on a CPU it is "thread".

    Raises
    ------
    ValueError
        If blocks are asked for where there are none, or where a tour does not fit one.
    """
    if mapping not in ("auto", "block", "thread"):
        raise ValueError(f"mapping must be 'auto', 'block' or 'thread'; it is {mapping!r}")
    if kernels.device is None:
        if mapping == "block":
            raise ValueError(f"mapping='block' needs a GPU backend; backend {kernels.name!r} has one climber a thread")
        return "thread"
    fits = fits_a_block(form, k, kernels)
    if mapping == "block" and not fits:
        raise ValueError(
            f"mapping='block' takes {BLOCK_CITIES[0]} to {BLOCK_CITIES[-1]} cities that fit a block's shared memory, "
            f"{kernels.device.shared_memory} bytes on {kernels.device.name}; this instance has {form.whole.n}: "
            "use mapping='thread' or 'auto'"
        )
    if mapping == "auto":
        return "block" if fits and (k == 1 or form.whole.n >= K_SWAP_BLOCK_CITIES) else "thread"
    return mapping


@dataclass(frozen=True)
class Batch:
    """A range of climbers and where they stand, the device's handle of them, and the best tour up to here: among equals
    that of the climber with the smallest number."""

    first: int
    handle: Any
    lengths: NDArray[np.int64]
    steps: NDArray[np.int32]
    passes: NDArray[np.int32]
    done: NDArray[np.bool_]
    best: Best

    @property
    def is_done(self) -> bool:
        return bool(self.done.all())


class Search:
    """The climbers of one solve: batches by their first climber, of which the last may still be on its way.

    Every kernel call ends in one assignment to `batches`, so that an interruption at any point leaves them whole.
    """

    def __init__(
        self, form: Form, kernels: Backend, climbers: int, seed: int, first: int, *, k: int, mapping: str
    ) -> None:
        self.form = form
        self.kernels = kernels
        self.seed = seed
        self.first = first
        self.end = first + climbers
        self.k = k
        self.mapping = choose_mapping(mapping, form, k, kernels)
        self.machine = "cpu" if kernels.device is None else "gpu"
        self.entry = f"{form.kind}_climb" + (f"_{self.mapping}" if kernels.device else "")
        self.loaded = kernels.call(f"{form.kind}_load", *form.arguments)
        self.batches: dict[int, Batch] = {}
        n = form.whole.n
        # What a pass costs, in moves: the neighbourhood, and a few walks over the tour.
        self.pass_moves = n * max(1, n - 3) // 2 + 10 * n
        # How many climbers at a time make the machine busy; and the speed, with the climbers that it was seen at.
        self.busy = kernels.threads or (BUSY_BLOCKS if self.mapping == "block" else BUSY_THREADS)
        self.moves_a_second = FIRST_SPEED[self.machine]
        self.paced_by = self.busy
        self.most_climbers = max(1, BATCH_BYTES[self.machine] // (4 * n))

    def state(self) -> dict[str, Any]:
        """Return where the climbers stand, for `restore`: of batches that are done, only what they came to."""
        batches = self.batches.values()
        columns = {
            name: np.concatenate([getattr(batch, name) for batch in batches])
            for name in ("lengths", "steps", "passes", "done")
        }
        last, best = self.last, self.best
        assert last is not None and best is not None
        return {
            **columns,
            "best": best.state(),
            "tours": None if last.handle is None else self.kernels.fields(last.handle)["tours"],
        }

    def restore(self, state: State) -> None:
        """Stand where `state` says."""
        n = self.form.whole.n
        count = min(len(state.array("lengths", np.int64, (None,))), self.end - self.first)
        types = {"lengths": np.int64, "steps": np.int32, "passes": np.int32, "done": np.bool_}
        columns = {name: state.array(name, dtype, (count,)) for name, dtype in types.items()}
        found = Best.restored(state.part("best"), n, range(self.first, self.end))
        unfinished = len(state.tours("tours", n)) if "tours" in state else 0
        done = count - unfinished
        if done:
            part = {name: column[:done] for name, column in columns.items()}
            self.batches[self.first] = Batch(first=self.first, handle=None, best=found, **part)
        if unfinished:
            part = {name: column[done:] for name, column in columns.items()}
            handle = self.kernels.value("batch", {"tours": state.tours("tours", n), **part})
            self.batches[self.first + done] = Batch(first=self.first + done, handle=handle, best=found, **part)

    @property
    def last(self) -> Batch | None:
        return next(reversed(self.batches.values()), None)

    @property
    def best(self) -> Best | None:
        return self.last.best if self.last else None

    @property
    def following(self) -> int:
        return self.last.first + len(self.last.done) if self.last else self.first

    @property
    def is_finished(self) -> bool:
        return self.following == self.end and self.last is not None and self.last.is_done

    @property
    def climbers_done(self) -> int:
        unfinished = len(self.last.done) - int(self.last.done.sum()) if self.last else 0
        return self.following - self.first - unfinished

    def fits(self, seconds_left: float) -> bool:
        """Tell whether a pass of the climbers that go together takes less than so many seconds, as far as is known."""
        going = self.last is not None and not self.last.is_done
        count = len(self.last.done) if self.last and going else min(self.busy, self.end - self.following)
        speed = self.moves_a_second * min(1.0, count / self.paced_by)
        return self.pass_moves * count / speed <= max(seconds_left, CALL_SECONDS)

    def advance(self, seconds_left: float = math.inf) -> bool:
        """Make one kernel call, if there is one to make: a batch starts, or goes on.

        A batch that does not fit the device's memory is tried again with half the climbers. Where a pass does not fit
        the time that is left, the first climbers only measure the tours from which they start.
        """
        while not self.is_finished:
            try:
                is_timely = self.last is not None or self.fits(seconds_left)
                self._call(min(2 * CALL_SECONDS, seconds_left) if is_timely else None)
                return True
            except DeviceMemoryError:
                unfinished = self.last is not None and not self.last.is_done
                if unfinished or self.most_climbers == 1:
                    raise
                self.most_climbers = max(1, min(self.most_climbers, self._batch_size()) // 2)
        return False

    def _call(self, seconds: float | None) -> None:
        """Make one kernel call of about so many seconds, or one that makes no pass."""
        call = self.kernels.call
        began = time.perf_counter()
        before = self.last if self.last and not self.last.is_done else None
        first = before.first if before else self.following
        count = len(before.done) if before else self._batch_size()
        handle = before.handle if before else call("batch_random", self.form.whole.n, self.seed, first, count)
        handle = call(self.entry, self.loaded, handle, self.k, 0 if seconds is None else self._limit(count, seconds))
        lengths, steps, passes, done = call("batch_found", handle)
        best = self._better(first, handle, lengths)
        walked = int(passes.sum(dtype=np.int64)) - (int(before.passes.sum(dtype=np.int64)) if before else 0)
        if seconds is not None:
            self.moves_a_second = max(walked, 1) * self.pass_moves / (time.perf_counter() - began)
            self.paced_by = min(self.busy, count)
        self.batches[first] = Batch(first, None if done.all() else handle, lengths, steps, passes, done, best)

    def _batch_size(self) -> int:
        """Choose how many climbers start together: what a call can bring to their optima, or what the machine wants."""
        fitting = int(CALL_SECONDS * self.moves_a_second / (1.1 * self.form.whole.n * self.pass_moves))
        return min(max(fitting, self.busy), self.most_climbers, self.end - self.following)

    def _limit(self, count: int, seconds: float) -> int:
        """Choose how many passes each climber may make in the next call: as many as fit the time, and one at least."""
        # Few climbers leave a part of the machine idle, and are the slower together.
        speed = self.moves_a_second * min(1.0, count / self.paced_by)
        return int(min(max(1, seconds * speed / (self.pass_moves * count)), MOST_STEPS))

    def _better(self, first: int, handle: Any, lengths: NDArray[np.int64]) -> Best:
        """Return the best tour so far, a batch taken in."""
        place = int(lengths.argmin())
        length, climber = int(lengths[place]), first + place
        if self.best is not None and (self.best.length, self.best.climber) <= (length, climber):
            return self.best
        return Best(length, climber, self.kernels.call("batch_tour", handle, place))
