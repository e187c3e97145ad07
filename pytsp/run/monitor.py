"""Progress and improvements of a running solve, and its limits."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from pytsp.run.limits import Limits
from pytsp.utils.deadline import OutOfTime

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from pytsp.run.state_reader import State

_log = logging.getLogger("pytsp")


def _nowhere() -> NDArray[np.int32]:
    raise ValueError("the tour is to be had within the callback only; keep what it returns there")


@dataclass(frozen=True)
class Progress:
    """Progress of a solve, which the `progress` callback of `solve` receives after every kernel call.

    Attributes
    ----------
    climbers : int
    climbers_done : int
        Climbers of random restarts at their local optima; 0 for other solvers until the end.
    length : int or float
        Length of the best tour so far.
    seconds : float
    iteration : int
        Iterations of each climber so far; or generations, rounds, passes, or kicks of two-opt.
    iterations : int or None
        Their planned number; None if only a limit ends them, and for random restarts.
    phase : str
        The current work: "random restarts"; "local optima" and "crossover"; "kicks"; "pieces" and "between pieces";
        "passes"; "annealing"; "ants"; or "lower bound", whose `iteration` counts proofs. Before the search it has no
        tour, and `length` is infinite.
    seconds_left : float or None
        Seconds until the time limit, if there is one.
    lower_bound : int, float or None
        The bound so far, while it is being computed.
    workers : int
        Number of other processes that work on the solve; 0 if this one does.
    resolution : float
        One unit of the compared lengths, as in `Result.resolution`.
    tour : numpy.ndarray of int32, shape (n,)
        The best tour so far. Reading it may copy it from a device. Valid within the callback only.
    """

    climbers: int
    climbers_done: int
    length: int | float
    seconds: float
    iteration: int = 0
    iterations: int | None = None
    phase: str = ""
    seconds_left: float | None = None
    lower_bound: int | float | None = None
    workers: int = 0
    resolution: float = 0.0
    find: Callable[[], NDArray[np.int32]] = field(default=_nowhere, repr=False, compare=False)

    @property
    def tour(self) -> NDArray[np.int32]:
        return self.find()

    def restated(self, length: int | float, find: Callable[[], NDArray[np.int32]]) -> Progress:
        """Return the same of another instance, whose tour has this length and is what `find` returns."""
        return replace(self, length=length, find=find)


class Improvement(NamedTuple):
    """A tour shorter than all before it.

    Attributes
    ----------
    seconds : float
        Seconds from the start of the solve.
    iteration : int
        Iterations of each climber then; for random restarts the number of finished climbers.
    length : int or float
    """

    seconds: float
    iteration: int
    length: int | float


class Improved(Improvement):
    """An `Improvement` as the `on_improvement` callback of `solve` receives it: with its tour.

    Attributes
    ----------
    tour : numpy.ndarray of int32, shape (n,)
        The tour. Reading it may copy it from a device. Valid within the callback only.
    """

    find: Callable[[], NDArray[np.int32]]

    @classmethod
    def of(cls, improvement: Improvement, find: Callable[[], NDArray[np.int32]]) -> Improved:
        made = cls(*improvement)
        made.find = find
        return made

    @property
    def tour(self) -> NDArray[np.int32]:
        return self.find()

    def restated(self, length: int | float, find: Callable[[], NDArray[np.int32]]) -> Improved:
        """Return the same of another instance, whose tour has this length and is what `find` returns."""
        return self.of(self._replace(length=length), find)


class Checkpoint(Protocol):
    """Receiver of a solver's state: a `pytsp.checkpoint.checkpoint.Checkpoint`."""

    def offer(self, watch: Watch, state: Callable[[], Mapping[str, Any]], *, final: bool = False) -> None:
        """Write the state if it is due, or at the end."""


class Watch:
    """The clock of one solve, its limits, its callbacks, the improvements so far, and its checkpoint.

    The limits have no gap; their fields are taken as keywords, too. A solve that resumes has `spent` seconds before,
    found its `history`, and goes on from the `state`. What follows the search takes `reserve` seconds.
    """

    def __init__(
        self,
        limits: Limits | None = None,
        *,
        progress: Callable[[Progress], object] | None = None,
        on_improvement: Callable[[Improved], object] | None = None,
        spent: float = 0.0,
        history: Iterable[Improvement] = (),
        **keywords: float | None,
    ) -> None:
        self.began = time.perf_counter() - spent
        limits = Limits.of(limits, **keywords)
        self.time_limit, self.target, self.patience = limits.time_limit, limits.target, limits.patience
        self.progress, self.on_improvement = progress, on_improvement
        self.history: list[Improvement] = [*history]
        self.is_stop_requested = False
        self.reserve = 0.0
        self.checkpoint: Checkpoint | None = None
        self.state: State | None = None

    @property
    def seconds(self) -> float:
        """Seconds since the start of the solve."""
        return time.perf_counter() - self.began

    @property
    def seconds_left(self) -> float:
        """Seconds that the search may still run; infinite without a time limit."""
        return float("inf") if self.time_limit is None else self.time_limit - self.reserve - self.seconds

    def offer(self, iteration: int, length: int | float, find: Callable[[], NDArray[np.int32]] = _nowhere) -> None:
        """Record and report the best tour so far, which `find` returns, if it is shorter than all before."""
        if not self.history or length < self.history[-1].length:
            improvement = Improvement(self.seconds, iteration, length)
            self.history.append(improvement)
            _log.debug("%.3f s: length %s after %d", *improvement[::2], iteration)
            if self.on_improvement is not None:
                improved = Improved.of(improvement, find)
                self._stop_if(self.on_improvement(improved))
                improved.find = _nowhere

    def tell(
        self,
        phase: str,
        length: int | float,
        find: Callable[[], NDArray[np.int32]] = _nowhere,
        *,
        climbers: int = 1,
        climbers_done: int = 0,
        **facts: Any,
    ) -> None:
        """Report the progress, with further fields of `Progress`, to the callback."""
        if self.progress is not None:
            left = None if self.time_limit is None else max(0.0, self.seconds_left)
            clock: dict[str, Any] = {"seconds": self.seconds, "seconds_left": left}
            now = Progress(climbers, climbers_done, length, phase=phase, find=find, **clock, **facts)
            self._stop_if(self.progress(now))
            # Whoever keeps it shall not keep the whole search.
            object.__setattr__(now, "find", _nowhere)

    def _stop_if(self, answer: object) -> None:
        # Any other answer is that of a function which was written for something else, as `list.append` is.
        self.is_stop_requested = self.is_stop_requested or answer is True

    def stop_reason(self) -> str | None:
        """Return the reason to stop now, "callback", "target", "time limit" or "no improvement", if there is one."""
        if self.is_stop_requested:
            return "callback"
        if self.target is not None and self.history and self.history[-1].length <= self.target:
            return "target"
        if self.seconds_left <= 0:
            return "time limit"
        if self.patience is not None and self.history and self.seconds - self.history[-1].seconds >= self.patience:
            return "no improvement"
        return None

    def look(self, seconds: float = 0.0) -> None:
        """Raise `OutOfTime` if at most `seconds` are left."""
        if self.seconds_left <= seconds:
            raise OutOfTime

    def keep(self, state: Callable[[], Mapping[str, Any]], *, final: bool = False) -> None:
        """Write the solver's state, which `state` returns, if there is a checkpoint and it is due."""
        if self.checkpoint is not None:
            self.checkpoint.offer(self, state, final=final)

    def improvements(self, iteration: int, length: int | float) -> tuple[Improvement, ...]:
        """Return the history of a solve that ends on a tour of `length`, which an interruption may have left out."""
        if not self.history or length < self.history[-1].length:
            self.history.append(Improvement(self.seconds, iteration, length))
        return tuple(self.history)
