"""Random restarts: batches of climbers on a backend, a kernel call at a time."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytsp.exceptions import DeviceMemoryError
from pytsp.run.state_reader import State
from pytsp.solvers import policy
from pytsp.solvers.common.incumbent import Best
from pytsp.solvers.common.loop import Found, Search
from pytsp.solvers.common.pacing import CALL_SECONDS
from pytsp.solvers.common.placement import TURNS, are_together, check_neighbourhood, choose_blocks, choose_mapping
from pytsp.solvers.common.task import Plan, Task
from pytsp.solvers.options.restarts import ENUMERATIONS, LANES, RandomRestarts
from pytsp.solvers.options.shared import MOST_PASSES, kernel_passes
from pytsp.solvers.speeds import BYTES, SPEEDS

# The results of climbers, as batches, checkpoints and `Found` name them.
COLUMNS: dict[str, type] = {"lengths": np.int64, "steps": np.int32, "passes": np.int32, "done": np.bool_}


def begin(task: Task[RandomRestarts]) -> Batches:
    """Return the climbers at their start, or in their stored state."""
    task.prepare()
    batches = Batches(task)
    if task.watch.state is not None:
        batches.restore(task.watch.state)
    return batches


def plan(task: Task[RandomRestarts], places: int = 1) -> Plan:
    """Return how many climbers there are, and how many keep a machine busy."""
    options, form, kernels = task.options, task.form, task.kernels
    is_in_blocks = choose_blocks(options, form, kernels) or choose_mapping(options.mapping, form, 1, kernels) == "block"
    busy = kernels.threads or (policy.BUSY_BLOCKS if is_in_blocks else policy.BUSY_THREADS)
    return Plan(options.climbers or default_climbers(task.instance.n), busy)


def default_climbers(n: int) -> int:
    """Return the number of climbers of a solve that names none: 10,000, or what makes about 2e10 moves together, with
    about n steps a climber and n**2 / 2 moves a step."""
    return max(1, min(10_000, int(2e10 / (1.2 * n * max(1, n * (n - 3) / 2)))))


@dataclass(frozen=True)
class Batch:
    """A range of climbers, and the best tour up to here, among equals that of the climber with the smallest number."""

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


class Batches(Search):
    """The climbers of one solve: batches by their first climber, of which the last may still be on its way."""

    phase = "random restarts"
    # Climbers are counted instead.
    iteration = None

    def __init__(self, task: Task[RandomRestarts]) -> None:
        super().__init__(task)
        kernels, form, n = task.kernels, task.form, task.form.whole.n
        self.first = task.options.first
        self.end = self.first + (task.options.climbers or default_climbers(n))
        self.k = kernel_passes(task.options.k)
        self.blocks = choose_blocks(task.options, form, kernels)
        is_enumerated = task.options.neighbourhood in ENUMERATIONS
        if self.blocks:
            self.mapping = "block"
        elif are_together(task.options, kernels):
            self.mapping = "flat"
        else:
            self.mapping = choose_mapping(task.options.mapping, form, self.k, kernels, is_enumerated=is_enumerated)
        self.climb = self._climb()
        self.batches: dict[int, Batch] = {}
        # The cost of a pass, in moves: the neighbourhood, and a few walks over the tour.
        self.pass_moves = n * max(1, n - 3) // 2 + 10 * n
        # How many climbers at a time make the machine busy; and the speed, with the climbers that it was seen at.
        self.busy = kernels.threads or (policy.BUSY_BLOCKS if self.mapping == "block" else policy.BUSY_THREADS)
        self.moves_a_second = SPEEDS[f"2-opt, {task.machine}"]
        self.paced_by = self.busy
        self.most_climbers = max(1, BYTES[f"batch, {task.machine}"] // (4 * n))
        if self.blocks:
            # Blocks of fewer lanes are slower, as long as nothing else is known.
            self.paced_by = self.busy * LANES[-1] // self.blocks.lanes
            self.busy = self.blocks.count or self.busy
        # Other ranges of the same solve have seen more of it.
        self.moves_a_second, self.paced_by = task.memo.get("speed", (self.moves_a_second, self.paced_by))

    def _climb(self) -> Callable[[Any, int], Any]:
        """Return the kernel call that advances climbers by a limited number of passes."""
        check_neighbourhood(self.task.options, self.form.whole.n, self.kernels)
        if self.blocks:
            chosen = self.blocks.count, self.blocks.lanes, self.blocks.rows
            return lambda handle, limit: self.call("climb_blocks", handle, self.k, limit, *chosen)
        suffix = f"_{self.mapping}" if self.kernels.device else ""
        neighbourhood = self.task.options.neighbourhood
        # What a CPU does by itself is to walk along diagonals.
        if neighbourhood not in ENUMERATIONS or (neighbourhood, suffix) == ("diagonals", ""):
            return lambda handle, limit: self.call(f"climb{suffix}", handle, self.k, limit)
        pairs = self.kernels.call("pairs_of", self.form.whole.n, ENUMERATIONS.index(neighbourhood))
        shared = (self.task.options.shared_matrix,) if self.mapping == "block" else ()
        return lambda handle, limit: self.call(f"climb_by{suffix}", pairs, handle, *shared, limit)

    def state(self) -> dict[str, Any]:
        last, best = self.last, self.best
        assert last is not None and best is not None
        # Of finished batches only the results are reported.
        tours = None if last.handle is None else self.kernels.fields(last.handle)["tours"]
        return {**self._columns(), "best": best.state(), "tours": tours}

    def _columns(self) -> dict[str, NDArray[Any]]:
        batches = self.batches.values()
        return {name: np.concatenate([getattr(batch, name) for batch in batches]) for name in COLUMNS}

    def restore(self, state: State) -> None:
        n = self.form.whole.n
        count = min(len(state.array("lengths", np.int64, (None,))), self.end - self.first)
        columns = {name: state.array(name, dtype, (count,)) for name, dtype in COLUMNS.items()}
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
    def going(self) -> Batch | None:
        """The batch that is on its way."""
        return None if self.last is None or self.last.is_done else self.last

    @property
    def best(self) -> Best | None:
        return self.last.best if self.last else None

    @property
    def climbers(self) -> int:
        return self.end - self.first

    @property
    def following(self) -> int:
        return self.last.first + len(self.last.done) if self.last else self.first

    @property
    def is_finished(self) -> bool:
        return self.following == self.end and self.last is not None and self.going is None

    @property
    def climbers_done(self) -> int:
        return self.following - self.first - (int((~self.last.done).sum()) if self.last else 0)

    @property
    def next_seconds(self) -> float:
        """About the seconds of a pass, which cannot be cut; 0 for the first, without which there is no tour."""
        return self._pass_seconds() if self.last is not None else 0.0

    def _pass_seconds(self) -> float:
        count = self._together(len(self.going.done) if self.going else min(self.busy, self.end - self.following))
        return self.pass_moves * count / (self.moves_a_second * min(1.0, count / self.paced_by))

    def advance(self) -> None:
        """Make one kernel call: a batch starts, or goes on.

        A batch that does not fit the device's memory is tried again with half the climbers. Where a pass does not fit
        the time that is left, the first climbers only measure the tours from which they start.
        """
        seconds_left = self.watch.seconds_left
        is_timely = self.last is not None or self._pass_seconds() <= max(seconds_left, CALL_SECONDS)
        seconds = min(2 * CALL_SECONDS, seconds_left) if is_timely else None
        while not self.is_finished:
            try:
                return self._call(seconds)
            except DeviceMemoryError:
                if self.going or self.most_climbers == 1:
                    raise
                self.most_climbers = max(1, min(self.most_climbers, self._batch_size()) // 2)

    def _call(self, seconds: float | None) -> None:
        """Make one kernel call of about `seconds`, or one that makes no pass."""
        call = self.kernels.call
        began = time.perf_counter()
        before = self.going
        first = before.first if before else self.following
        count = len(before.done) if before else self._batch_size()
        handle = before.handle if before else call("batch_random", self.form.whole.n, self.task.seed, first, count)
        handle = self.climb(handle, 0 if seconds is None else self._limit(self._together(count), seconds))
        lengths, steps, passes, done = call("batch_found", handle)
        best = self._better(first, handle, lengths)
        walked = int(passes.sum(dtype=np.int64)) - (int(before.passes.sum(dtype=np.int64)) if before else 0)
        if seconds is not None:
            self.moves_a_second = max(walked, 1) * self.pass_moves / (time.perf_counter() - began)
            self.paced_by = min(self.busy, count)
            self.task.memo["speed"] = self.moves_a_second, self.paced_by
        self.batches[first] = Batch(first, None if done.all() else handle, lengths, steps, passes, done, best)

    def _together(self, climbers: int) -> int:
        """Return how many of a batch's climbers go at a time."""
        return min(climbers, self.blocks.count or climbers) if self.blocks else climbers

    def _batch_size(self) -> int:
        """Choose how many climbers start together: what a call can bring to their optima, or what the machine wants; of
        a fixed number of blocks, as many as can take turns."""
        if self.blocks and self.blocks.count:
            return min(TURNS * self.blocks.count, self.most_climbers, self.end - self.following)
        fitting = int(CALL_SECONDS * self.moves_a_second / (1.1 * self.form.whole.n * self.pass_moves))
        return min(max(fitting, self.busy), self.most_climbers, self.end - self.following)

    def _limit(self, count: int, seconds: float) -> int:
        """Choose how many passes each climber may make in the next call: as many as fit the time, and one at least."""
        # Few climbers leave a part of the machine idle, and are the slower together.
        speed = self.moves_a_second * min(1.0, count / self.paced_by)
        return int(min(max(1, seconds * speed / (self.pass_moves * count)), MOST_PASSES))

    def _better(self, first: int, handle: Any, lengths: NDArray[np.int64]) -> Best:
        """Return the best tour so far, a batch taken in."""
        place = int(lengths.argmin())
        length, climber = int(lengths[place]), first + place
        if self.best is not None and (self.best.length, self.best.climber) <= (length, climber):
            return self.best
        return Best(length, climber, self.kernels.call("batch_tour", handle, place))

    def found(self) -> Found:
        assert self.best is not None
        return Found(self.best, **self._columns(), k=self.k, mapping=self.mapping)
