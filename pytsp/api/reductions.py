"""Solve open paths and asymmetric instances as closed tours of symmetric ones, and tell the results in their terms."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pytsp.api.solve import solve
from pytsp.problem.asymmetric import Doubling
from pytsp.problem.instance import Instance
from pytsp.problem.open_paths import OpenPath
from pytsp.run.monitor import Improvement, Progress, target_length
from pytsp.run.result import Result

__all__ = ["Reduction", "solve_reduced"]

# Relatively, what the kernel's lengths of floating-point distances may differ by at most.
_ROUNDING = 1e-6


@dataclass(frozen=True, eq=False)
class Reduction:
    """A problem as a closed tour of a symmetric instance: open paths first, then directions.

    Attributes
    ----------
    path : OpenPath or None
    doubling : Doubling or None
    """

    path: OpenPath | None
    doubling: Doubling | None

    @classmethod
    def of(cls, instance: Instance, *, is_open: bool, start_city: int | None, end_city: int | None) -> Reduction:
        """Choose what an instance needs.

        Raises
        ------
        ValueError, InstanceError
            As of `OpenPath.of` and `Doubling.of`, or if an end is given of a tour, which has none.
        """
        if not is_open and (start_city is not None or end_city is not None):
            name, city = ("end_city", end_city) if start_city is None else ("start_city", start_city)
            raise ValueError(f"{name}={city!r} does not concern a closed tour; it is for open=True")
        path = OpenPath.of(instance, start_city, end_city) if is_open else None
        closed = instance if path is None else path.instance
        return cls(path, Doubling.of(closed) if closed.asymmetric else None)

    @property
    def instance(self) -> Instance:
        """What is solved."""
        step = self.doubling or self.path
        assert step is not None
        return step.instance

    @property
    def offset(self) -> int | float:
        """How much longer a tour of it is than what it stands for."""
        return sum(step.offset for step in (self.path, self.doubling) if step is not None)

    def restored(self, tour: NDArray[np.int32]) -> NDArray[np.int32]:
        """Return the path or directed tour that a tour stands for."""
        if self.doubling is not None:
            tour = self.doubling.directed(tour)
        return tour if self.path is None else self.path.path(tour)

    def reduced(self, tour: ArrayLike) -> ArrayLike:
        """Return the tour that a path or directed tour stands for."""
        if self.path is not None:
            tour = self.path.tour(tour)
        return tour if self.doubling is None else self.doubling.tour(tour)


def solve_reduced(
    instance: Instance,
    *,
    open: bool,
    start_city: int | None,
    end_city: int | None,
    time_limit: float | None,
    target: float | None,
    target_gap: float | None,
    checkpoint: Any,
    initial_tour: ArrayLike | None,
    neighbours: int | ArrayLike | None,
    progress: Callable[[Progress], None] | None,
    on_improvement: Callable[[Improvement], None] | None,
    **options: Any,
) -> Result:
    """Solve what is no closed tour of a symmetric instance; the arguments are those of `pytsp.solve`."""
    began = time.perf_counter()
    if checkpoint is not None:
        # It would hold the instance that is solved, and tours of that.
        raise ValueError("checkpoint does not concern open paths and asymmetric instances")
    if open and target_gap is not None:
        raise ValueError("target_gap does not concern open paths; optima that are known are those of closed tours")
    if neighbours is not None and np.ndim(neighbours) > 0:
        raise ValueError(
            "neighbours given as lists do not concern open paths and asymmetric instances; give their number"
        )
    reduction = Reduction.of(instance, is_open=open, start_city=start_city, end_city=end_city)
    offset = reduction.offset
    target = target_length(instance, target, target_gap)

    def show(now: Progress) -> None:
        assert progress is not None
        progress(replace(now, length=now.length - offset))

    def tell(improvement: Improvement) -> None:
        assert on_improvement is not None
        on_improvement(improvement._replace(length=improvement.length - offset))

    spent = time.perf_counter() - began
    result = solve(
        reduction.instance,
        # A limit that is no positive number is refused there; one that is used up leaves time for one kernel call.
        time_limit=max(time_limit - spent, 1e-3) if time_limit is not None and time_limit > 0 else time_limit,
        target=target if target is None or not target >= 0 else max(0, target + offset),
        initial_tour=None if initial_tour is None else reduction.reduced(initial_tour),
        neighbours=neighbours,
        progress=None if progress is None else show,
        on_improvement=None if on_improvement is None else tell,
        **options,
    )
    told = _told(result, instance, reduction, time.perf_counter() - began, is_open=open)
    if on_improvement is not None and len(told.history) > len(result.history):
        on_improvement(told.history[-1])
    return told


def _told(result: Result, instance: Instance, reduction: Reduction, seconds: float, *, is_open: bool) -> Result:
    """Return a result in the terms of the original instance.

    A search that was cut short may leave an end out of its place, or a pair apart; put right, its tour is shorter than
    the search knew, and the history has one improvement more.
    """
    tour = reduction.restored(result.tour)
    length = instance.path_length(tour) if is_open else instance.tour_length(tour)
    lengths: NDArray[Any] = result.lengths - reduction.offset
    history = tuple(each._replace(length=each.length - reduction.offset) for each in result.history)
    # Lengths of floating-point distances are the kernel's until then, which are less precise.
    if length < history[-1].length * (1 if instance.is_exact else 1 - _ROUNDING):
        history += (history[-1]._replace(seconds=seconds, length=length),)
        lengths[np.argmin(lengths)] = length
    # TSPLIB's optimum is that of a closed tour.
    original = replace(instance, optimum=None) if is_open and instance.optimum is not None else instance
    return replace(
        result,
        instance=original,
        tour=tour,
        length=length,
        lengths=lengths,
        history=history,
        seconds=seconds,
        is_open=is_open,
    )
