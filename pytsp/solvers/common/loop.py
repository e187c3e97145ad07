"""The loop of all solvers: limits, target, progress, checkpoint, Ctrl-C, the last descent, and the result."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytsp.problem.kernel_input import Form, written_seconds
from pytsp.run.result import Result, Tasks
from pytsp.solvers.common import pacing
from pytsp.solvers.common.incumbent import Best, verify
from pytsp.solvers.common.task import Task
from pytsp.utils.deadline import OutOfTime, look


@dataclass(frozen=True)
class Standing:
    """State of climbers between two kernel calls, with their handle on the device.

    `lengths` are those of their best tours in the kernels' units, `steps` the numbers of their steps, each of shape
    (climbers,). `best` is the shortest tour of all, once there is one.
    """

    handle: Any
    lengths: NDArray[np.int64]
    steps: NDArray[np.int64]
    best: Best | None
    iteration: int = 0


@dataclass(frozen=True)
class Found:
    """Result of a search, in the kernels' units, by the fields of `Result`; `cities` are those of `Search`."""

    best: Best
    lengths: NDArray[np.int64]
    steps: NDArray[np.int32] | NDArray[np.int64]
    done: NDArray[np.bool_]
    passes: NDArray[np.int32] | None = None
    k: int | None = None
    mapping: str = "thread"
    cities: NDArray[np.integer[Any]] | None = None


class Search(ABC):
    """A solver at work on its task.

    `advance` makes one kernel call, which ends in one assignment to where the search stands: an interruption at any
    point leaves it whole. What a search tells of itself is taken from its `standing`, unless it says otherwise.
    Kernels take the instance in `form`, by default the task's.
    """

    phase: str
    """The phase of the search, as `Progress` tells it."""
    iterations: int | None = None
    """The iterations to make, unless only a limit ends them."""
    cities: NDArray[np.int32] | None = None
    """The instance's cities in the order in which the kernels number them, where that is another."""
    is_quiet = False
    """True if its tour is known only when it has ended."""
    standing: Any

    def __init__(self, task: Task[Any], form: Form | None = None) -> None:
        self.task, self.watch, self.kernels = task, task.watch, task.kernels
        self.form = form or task.form
        self.loaded = self._load() if form is not None else task.recall("loaded", self._load)

    def _load(self) -> Any:
        size = sum(np.asarray(argument).nbytes for argument in self.form.arguments)
        look(size // 8, written_seconds(size))
        return self.kernels.call(f"{self.form.kind}_load", *self.form.arguments)

    def call(self, entry: str, *arguments: Any) -> Any:
        """Call an entry point that concerns the instance."""
        return self.kernels.call(f"{self.form.kind}_{entry}", self.loaded, *arguments)

    @property
    def best(self) -> Best | None:
        """The shortest tour so far, where the host has it."""
        best: Best | None = self.standing.best
        return best

    @property
    def iteration(self) -> int | None:
        """Number of iterations made; None if climbers are counted instead."""
        iteration: int = self.standing.iteration
        return iteration

    @property
    def climbers(self) -> int:
        return len(self.standing.lengths)

    @property
    def climbers_done(self) -> int:
        """Number of climbers at local optima, if known."""
        return 0

    @property
    def has_tour(self) -> bool:
        return self.best is not None

    @property
    def has_begun(self) -> bool:
        """True if a limit may end the search; an initial tour alone does not count."""
        return self.has_tour

    @property
    def length(self) -> int | float:
        """The length of the best tour as users see it: the kernel's, if that is the instance's."""
        assert self.best is not None
        return self.best.length if self.form.is_exact else self.task.instance.tour_length(self.best_tour())

    @property
    def resolution(self) -> float:
        """One unit of the kernel's lengths in the instance's, as `Result` has it."""
        return 0.0 if self.task.instance.is_exact else float(self.form.unit)

    def best_tour(self) -> NDArray[np.int32]:
        """Return the best tour as users see it, that of `length`."""
        assert self.best is not None
        tour: NDArray[np.int32] = self.best.tour.copy()
        return tour if self.cities is None else self.cities[tour]

    @property
    @abstractmethod
    def is_finished(self) -> bool:
        """True if only the last descent is left."""

    @property
    def next_seconds(self) -> float:
        """About how long the next call takes, which cannot be cut; 0 where it can."""
        return 0.0

    @abstractmethod
    def advance(self) -> None:
        """Make one kernel call."""

    def stop_reason(self) -> str | None:
        """Return why no further call is to begin, if there is a reason.

        Raise `OutOfTime` if the first call does not fit, without which there is no tour, or only the one to begin with.
        """
        reason = self.watch.stop_reason() if self.has_begun else None
        if reason is None and self.next_seconds > max(self.watch.seconds_left, 0.0) + pacing.LATE_SECONDS:
            if not self.has_begun:
                raise OutOfTime(self.best_tour() if self.has_tour else None)
            reason = "time limit"
        return reason

    def needs_descent(self, stop_reason: str) -> bool:
        """Tell whether the best tour may become shorter by a last descent, where the search ends for that reason."""
        return False

    @property
    def descent_call_seconds(self) -> float:
        """About how long a call of the last descent takes at least, beyond what is reserved for it."""
        return 0.0

    def descend(self) -> None:
        raise NotImplementedError

    @abstractmethod
    def state(self) -> dict[str, Any]:
        """Return the state of the search, for a checkpoint."""

    @abstractmethod
    def found(self) -> Found:
        """Return the result of the search."""

    def peek(self) -> Found:
        """Return the result so far of a search that continues."""
        return self.found()

    def checked(self, found: Found) -> tuple[NDArray[np.int32], int | float, NDArray[Any]]:
        """Return the best tour, its length, and those of all climbers, as users see them, after `verify`."""
        instance, best = self.task.instance, found.best
        tour = verify(best, self.form, self.kernels, self.task.seed)
        if found.cities is not None:
            tour = found.cities[tour].astype(np.int32)
        # Recomputed once, in the numbers of the kernel, where what lies close together is near in memory.
        length = best.length if self.form.is_exact else instance.tour_length(tour)
        lengths = found.lengths if instance.is_exact else self.form.to_lengths(found.lengths)
        if self.form.is_shortened:
            # The shortest tour has no more shortened edges than others, whose lengths nobody knows.
            lengths = np.maximum(lengths, length)
        return tour, length, lengths

    @property
    def backend_name(self) -> str:
        """The name of the backend that runs the kernels."""
        return self.kernels.name

    @property
    def workers(self) -> int:
        """Number of other processes that work on it."""
        return 0

    @property
    def tasks(self) -> Tasks | None:
        """Work of other processes, if there are any."""
        return None

    def free(self) -> None:
        """Give back what the result does not need."""
        return


def run(search: Search) -> Result:
    """Let a search go on until it is finished, a limit is reached, or Ctrl-C is pressed; return its checked result.

    Raise `OutOfTime` if the time is over before it has a tour.
    """
    try:
        stop_reason = _search(search)
        found = search.found()
    except KeyboardInterrupt:
        if not search.has_tour:
            raise
        stop_reason, found = "interrupted", search.found()
    search.watch.keep(search.state, final=True)
    search.free()
    return _result(search, found, stop_reason)


def _search(search: Search) -> str:
    """Make kernel calls until nothing is left to do or there is a reason to stop; return why they ended."""
    if search.has_tour:
        _tell(search)
    reason = None
    while reason is None and not search.is_finished:
        reason = search.stop_reason()
        if reason is None:
            search.advance()
            reason = _after_call(search)
    reason = reason or "finished"
    while reason != "callback" and search.needs_descent(reason):
        if search.descent_call_seconds > max(0.0, search.watch.seconds_left):
            return "time limit"
        search.descend()
        reason = _after_call(search) or reason
    return reason


def _after_call(search: Search) -> str | None:
    """Report the state of a search after a kernel call; return the reason if that ends it."""
    _tell(search, is_call=True)
    reason = search.watch.stop_reason()
    if reason in ("callback", "target"):
        return reason
    search.watch.keep(search.state)
    return None


def _tell(search: Search, *, is_call: bool = False) -> None:
    """Report the state of a search to the callbacks, from its first tour on: parts may have none for a while."""
    if not search.has_tour:
        return
    watch, length, iteration = search.watch, search.length, search.iteration
    watch.offer(search.climbers_done if iteration is None else iteration, length, search.best_tour)
    if is_call:
        watch.tell(
            search.phase,
            length,
            search.best_tour,
            climbers=search.climbers,
            climbers_done=search.climbers_done,
            iteration=iteration or 0,
            iterations=search.iterations,
            workers=search.workers,
            resolution=search.resolution,
        )


def _result(search: Search, found: Found, stop_reason: str) -> Result:
    """Check the best tour, and return it with the results of all climbers."""
    task = search.task
    tour, length, lengths = search.checked(found)
    iteration = search.iteration
    return Result(
        instance=task.instance,
        tour=tour,
        length=length,
        climber=found.best.climber,
        lengths=lengths,
        steps=found.steps,
        passes=np.empty(0, dtype=np.int32) if found.passes is None else found.passes,
        done=found.done,
        seed=task.seed,
        k=found.k,
        backend=search.backend_name,
        mapping=found.mapping,
        seconds=search.watch.seconds,
        stop_reason=stop_reason,
        solver=task.options.name,
        options=task.options,
        iterations=iteration,
        history=search.watch.improvements(search.climbers_done if iteration is None else iteration, length),
        tasks=search.tasks,
        resolution=search.resolution,
    )
