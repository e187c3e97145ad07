"""Solve an instance: batches of climbers on a backend, until all are done, the time is up, or Ctrl-C is pressed."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytsp.backends import Backend, open_backend
from pytsp.exceptions import KernelError
from pytsp.forms import Form, form_of
from pytsp.instance import Instance
from pytsp.result import Result
from pytsp.tours import check_tour, whole_number

# How long one kernel call should take: long enough to hide its overhead, short enough to stop between two.
CALL_SECONDS = 0.15
# The moves that the first call of a solve may evaluate, before the speed of the backend is known.
FIRST_CALL_MOVES = 2e7
# What the tours of one batch may occupy; kernels hold a few such arrays.
BATCH_BYTES = 64 * 2**20
# The default number of climbers: so many, or fewer where they would evaluate more moves than this altogether.
DEFAULT_CLIMBERS = 10_000
DEFAULT_MOVES = 2e10
MOST_STEPS = 2**31 - 1


@dataclass(frozen=True)
class Progress:
    """How far a solve has come: what the `progress` callback of `solve` receives after every kernel call."""

    climbers: int
    climbers_done: int
    length: int | float
    seconds: float


def solve(
    instance: Instance,
    *,
    climbers: int | None = None,
    seed: int = 0,
    first: int = 0,
    backend: str = "auto",
    threads: int | None = None,
    device: str | int | None = None,
    time_limit: float | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> Result:
    """Search a short tour by random restarts: many climbers, each from its own random tour to a local optimum.

    A climber applies the best of all n (n - 3) / 2 2-opt moves until none shortens its tour [1]_ [2]_. Where it ends
    depends on (`instance`, `seed`, its number) only, not on the backend, the number of threads or the other climbers.

    Parameters
    ----------
    instance : Instance
    climbers : int, optional
        How many climbers, at least 1. By default 10,000, or as many as about 2e10 moves allow: 30 at 1,000 cities.
    seed : int, optional
        0 ≤ seed < 2**64.
    first : int, optional
        The number of the first climber: a run may be cut into ranges.
    backend : {"auto", "c", "multicore", "opencl", "cuda"}, optional
        "auto" takes the fastest that works here.
    threads : int, optional
        The number of threads of the multicore backend; by default all usable cores.
    device : str or int, optional
        Which device, of several.
    time_limit : float, optional
        Seconds after which no further kernel call begins. Climbers on their way count with the tours they have.
    progress : callable, optional
        Called after every kernel call with a `Progress`.

    Returns
    -------
    Result
        Ctrl-C ends the search as the time limit does: the best tour so far is returned.

    Raises
    ------
    ValueError
        If an argument is out of its range.
    InstanceError
        If the instance cannot be put before a kernel (see `pytsp.forms.form_of`).
    BackendError
        If the backend is not built, cannot run here, or fails.

    References
    ----------
    .. [1] O'Neil, Tamir, Burtscher: A Parallel GPU Version of the Traveling Salesman Problem, PDPTA 2011.
    .. [2] Utne, Hansen: Solving TSP on the GPU based on heuristic algorithms, University of Copenhagen, 2023.

    Examples
    --------
    >>> square = Instance.from_coordinates([[0, 0], [0, 9], [9, 9], [9, 0]])
    >>> solve(square, climbers=3).length
    36
    """
    began = time.perf_counter()
    if not isinstance(instance, Instance):
        raise TypeError(f"instance must be a pytsp.Instance (see pytsp.read); it is a {type(instance).__name__}")
    climbers = default_climbers(instance.n) if climbers is None else whole_number("climbers", climbers, 1, 2**40)
    seed = whole_number("seed", seed, 0, 2**64 - 1)
    first = whole_number("first", first, 0, 2**62)
    if time_limit is not None and not time_limit > 0:
        raise ValueError(f"time_limit must be a positive number of seconds; it is {time_limit!r}")
    form = form_of(instance)
    kernels = open_backend(backend, threads=threads, device=device)
    search = _Search(form, kernels, climbers, seed, first)
    stop_reason = "finished"
    try:
        while search.advance():
            seconds = time.perf_counter() - began
            if progress is not None:
                length = search.best.length * form.unit if search.best else 0
                progress(Progress(climbers, search.climbers_done, length, seconds))
            if time_limit is not None and seconds >= time_limit and not search.is_finished:
                stop_reason = "time limit"
                break
    except KeyboardInterrupt:
        if search.best is None:
            raise
        stop_reason = "interrupted"
    return search.result(instance, stop_reason, began)


def default_climbers(n: int) -> int:
    """Return the number of climbers of a solve that names none: about n steps a climber, n**2 / 2 moves a step."""
    return max(1, min(DEFAULT_CLIMBERS, int(DEFAULT_MOVES / (1.2 * n * max(1, n * (n - 3) / 2)))))


@dataclass(frozen=True)
class _Best:
    """The shortest tour so far; among equals that of the climber with the smallest number."""

    length: int
    climber: int
    tour: NDArray[np.int32]


@dataclass(frozen=True)
class _Batch:
    """A range of climbers and where they stand, the device's handle of them, and the best tour up to here."""

    first: int
    handle: Any
    lengths: NDArray[np.int64]
    steps: NDArray[np.int32]
    done: NDArray[np.bool_]
    best: _Best

    @property
    def is_done(self) -> bool:
        return bool(self.done.all())


class _Search:
    """The climbers of one solve: batches by their first climber, of which the last may still be on its way.

    Every kernel call ends in one assignment to `batches`, so that an interruption at any point leaves them whole.
    """

    def __init__(self, form: Form, kernels: Backend, climbers: int, seed: int, first: int) -> None:
        self.form = form
        self.kernels = kernels
        self.seed = seed
        self.first = first
        self.end = first + climbers
        self.loaded = kernels.call(f"{form.kind}_load", *form.arguments)
        self.batches: dict[int, _Batch] = {}
        n = form.whole.n
        # What a step costs, in moves: the neighbourhood, and a few passes over the tour.
        self.step_moves = n * max(1, n - 3) // 2 + 10 * n
        self.moves_a_second = FIRST_CALL_MOVES / CALL_SECONDS

    @property
    def last(self) -> _Batch | None:
        return next(reversed(self.batches.values()), None)

    @property
    def best(self) -> _Best | None:
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

    def advance(self) -> bool:
        """Make one kernel call, if there is one to make: a batch starts, or goes on."""
        if self.is_finished:
            return False
        began = time.perf_counter()
        before = self.last if self.last and not self.last.is_done else None
        first = before.first if before else self.following
        count = len(before.done) if before else self._batch_size()
        limit = self._limit(count)
        if before:
            handle = self.kernels.call(f"{self.form.kind}_continue", self.loaded, before.handle, limit)
        else:
            handle = self.kernels.call(f"{self.form.kind}_start", self.loaded, self.seed, first, count, limit)
        lengths, steps, done = (self.kernels.call(f"batch_{what}", handle) for what in ("lengths", "steps", "done"))
        best = self._better(first, handle, lengths)
        made = int(steps.sum(dtype=np.int64)) - (int(before.steps.sum(dtype=np.int64)) if before else 0)
        self.moves_a_second = (made + count) * self.step_moves / (time.perf_counter() - began)
        self.batches[first] = _Batch(first, None if done.all() else handle, lengths, steps, done, best)
        return True

    def _batch_size(self) -> int:
        """Choose how many climbers start together: what a call can bring to their optima, or one a thread."""
        n = self.form.whole.n
        fitting = int(CALL_SECONDS * self.moves_a_second / (1.1 * n * self.step_moves))
        most = max(1, BATCH_BYTES // (4 * n))
        return min(max(fitting, self.kernels.threads or 1), most, self.end - self.following)

    def _limit(self, count: int) -> int:
        """Choose how many moves each climber may make in the next call, from twice the time of an ordinary call on."""
        return int(min(max(1, 2 * CALL_SECONDS * self.moves_a_second / (self.step_moves * count)), MOST_STEPS))

    def _better(self, first: int, handle: Any, lengths: NDArray[np.int64]) -> _Best:
        """Return the best tour so far, a batch taken in."""
        place = self.kernels.call("batch_best", handle)
        length, climber = int(lengths[place]), first + place
        if self.best is not None and (self.best.length, self.best.climber) <= (length, climber):
            return self.best
        return _Best(length, climber, self.kernels.call("batch_tour", handle, place))

    def result(self, instance: Instance, stop_reason: str, began: float) -> Result:
        """Check the best tour against the instance and return it with what all climbers came to."""
        assert self.best is not None
        batches = self.batches.values()
        tour = check_tour(self.best.tour, instance.n)
        recomputed = self.form.whole.tour_length(tour)
        if recomputed != self.best.length:
            raise KernelError(
                f"backend {self.kernels.name} reports length {self.best.length} for the tour of climber "
                f"{self.best.climber} of seed {self.seed}, but its length is {recomputed}: the kernels are miscompiled "
                "here; please report this"
            )
        lengths = np.concatenate([b.lengths for b in batches])
        return Result(
            instance=instance,
            tour=tour,
            length=instance.tour_length(tour),
            climber=self.best.climber,
            lengths=lengths if instance.is_exact else lengths * self.form.unit,
            steps=np.concatenate([b.steps for b in batches]),
            done=np.concatenate([b.done for b in batches]),
            seed=self.seed,
            backend=self.kernels.name,
            seconds=time.perf_counter() - began,
            stop_reason=stop_reason,
        )
