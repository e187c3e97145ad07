"""Solve open paths, asymmetric instances and fixed edges as closed tours of symmetric instances; restate results."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from pytsp.api.dispatch import options_of, run_out, solve_once, timely, watch_of
from pytsp.api.request import Request
from pytsp.api.restating import ROUNDING, WithFixedEdges
from pytsp.problem.asymmetric import JonkerVolgenant
from pytsp.problem.fixed_edges import FixedEdges, held
from pytsp.problem.instance import Instance
from pytsp.problem.open_paths import OpenPath, UnclosedPath
from pytsp.run.monitor import Improved, Improvement, Progress, target_length
from pytsp.run.result import Result
from pytsp.solvers.common.fallback import quick_seconds, quick_tour
from pytsp.solvers.options.fields import Options
from pytsp.solvers.registry import SOLVERS
from pytsp.utils.arguments import is_array
from pytsp.utils.deadline import OutOfTime, looking

__all__ = ["solve_reduced"]

# Solvers whose random moves part pairs: they would spend their time on joining them again.
PARTING = ("annealing", "ants")

Told = TypeVar("Told", Progress, Improved)


@dataclass(frozen=True)
class Reduction:
    """Reduction of an instance, or of the open path through its cities, to a symmetric instance with closed tours.

    An open path becomes a closed tour first, and then a directed tour a symmetric one. With fixed edges either becomes
    a tour that keeps pairs together.
    """

    instance: Instance
    path: OpenPath | None = None
    doubling: JonkerVolgenant | None = None
    fixed: FixedEdges | None = None

    @property
    def steps(self) -> list[OpenPath | JonkerVolgenant | FixedEdges]:
        return [step for step in (self.path, self.doubling, self.fixed) if step is not None]

    @property
    def offset(self) -> int | float:
        """Excess length of the reduced instance's tours, if no edges are shortened."""
        return sum(step.offset for step in self.steps)

    @property
    def is_measured(self) -> bool:
        """True where edges are shortened, or where a difference of lengths may leave few digits of one."""
        is_float_matrix = self.instance.matrix is not None and not self.instance.is_exact
        return is_float_matrix or any(step.is_shortened for step in self.steps)

    def tour(self, given: Any) -> Any:
        """Return the tour that is solved for of a tour or path."""
        for step in self.steps:
            given = step.tour(given)
        return given

    def restate(self, tour: NDArray[np.int32]) -> NDArray[np.int32]:
        """Return the tour or path of a tour that is solved for."""
        if self.fixed is not None:
            return self.fixed.restate(tour)
        directed = tour if self.doubling is None else self.doubling.directed(tour)
        return directed if self.path is None else self.path.path(directed)

    def quick_tour(self, seconds: float) -> NDArray[np.int32]:
        """Return a tour that takes next to no time, of a path from its end; of doubled ways, that of the ways."""
        if self.fixed is not None:
            return held(quick_tour(self.fixed.instance, seconds), self.fixed.partners)
        if self.path is None:
            tour = quick_tour(self.instance, seconds)
        elif isinstance(self.path, UnclosedPath):
            return quick_tour(self.instance, seconds, self.path.first_city, self.path.end_city)
        else:
            closed, start = self.path.instance, self.path.start_city
            tour = quick_tour(closed, seconds, closed.n - 1, None if start is None else self.path.end_city)
        return tour if self.doubling is None else self.doubling.tour(tour)

    def measure(self, tour: NDArray[np.int32]) -> int | float:
        """Return the length of a tour or path."""
        is_open = self.path is not None or (self.fixed is not None and self.fixed.is_open)
        return self.instance.path_length(tour) if is_open else self.instance.tour_length(tour)

    def restated(self, now: Told) -> Told:
        """Map a report about the reduced tour back to the user's tour or path."""
        if not self.is_measured:
            return now.restated(now.length - self.offset, lambda: self.restate(now.tour))
        tour = self.restate(now.tour)
        return now.restated(self.measure(tour), lambda: tour)


class Improvements:
    """The improvements where tours are measured, by the lengths that users see; only those reach a target.

    Parameters
    ----------
    reduction : Reduction
    on_improvement : callable or None
        The user's.
    target : int, float or None
    """

    def __init__(
        self, reduction: Reduction, on_improvement: Callable[[Improved], object] | None, target: float | None
    ) -> None:
        self.reduction, self.on_improvement, self.target = reduction, on_improvement, target
        self.history: list[Improvement] = []

    def take(self, now: Improved) -> bool:
        """Take a tour that the solver reports; tell whether it is enough."""
        improved = self.reduction.restated(now)
        if self.history and improved.length >= self.history[-1].length:
            return False
        self.history.append(Improvement(*improved))
        is_stop_requested = self.on_improvement is not None and self.on_improvement(improved) is True
        return is_stop_requested or self.is_enough(improved.length)

    def is_enough(self, length: float) -> bool:
        return self.target is not None and length <= self.target


def _path_of(instance: Instance, request: Request) -> OpenPath:
    """Return the open path as a closed tour; unchanged for a matrix, without time to make another one."""
    ends = request.start_city, request.end_city
    if instance.matrix is None:
        return OpenPath.of(instance, *ends)
    try:
        with looking(timely(watch_of(instance, request), lambda: quick_seconds(instance))):
            return OpenPath.of(instance, *ends)
    except OutOfTime:
        return UnclosedPath.of(instance, *ends)


def solve_reduced(instance: Instance, request: Request) -> Result:
    """Solve an open path, an asymmetric instance or one with fixed edges."""
    if request.checkpoint is not None and (request.open or instance.asymmetric):
        # It would hold the instance that is solved, and tours of that.
        raise ValueError("checkpoint has no effect with open paths and asymmetric instances")
    if request.open and request.target_gap is not None:
        raise ValueError("target_gap has no effect with open paths; optima that are known are those of closed tours")
    if is_array(request.keywords.get("neighbours", getattr(request.solver, "neighbours", None))):
        raise ValueError(
            "neighbours given as lists have no effect with open paths, asymmetric instances and fixed edges; "
            "give their number"
        )
    if instance.fixed is not None:
        return _solve_fixed(instance, request)
    # An open path becomes a closed tour first, and then a directed tour a symmetric one.
    path = _path_of(instance, request) if request.open else None
    is_unclosed = isinstance(path, UnclosedPath)
    doubling, is_late = None, is_unclosed
    closed = instance if path is None else path.instance
    if closed.asymmetric and not is_late:
        # What is asked for is looked at before so much is made, and a solver chosen that suits directed tours.
        watch = watch_of(instance, request)
        request = replace(request, solver=options_of(closed, request, watch), keywords={})
        try:
            with looking(timely(watch, lambda: quick_seconds(closed))):
                doubling = JonkerVolgenant.of(closed, quick_tour(closed, math.inf))
        except OutOfTime:
            is_late = True
    reduction = Reduction(instance, path, doubling)
    solved = closed if doubling is None else doubling.instance
    return _solve_by(reduction, solved, request, run_out if is_late else solve_once, is_unclosed=is_unclosed)


def _solve_fixed(instance: Instance, request: Request) -> Result:
    """Solve an instance with fixed edges."""
    if isinstance(request.solver, Options) or request.solver != "auto":
        check_keeps_pairs(options_of(instance, request, watch_of(instance, request)))
    ends = {"start_city": request.start_city, "end_city": request.end_city} if request.open else {}
    fixed = FixedEdges.of(instance, is_open=bool(request.open), **ends)
    if not request.open:
        request = replace(request, steps=(*request.steps, WithFixedEdges(fixed)))
    return _solve_by(Reduction(instance, fixed=fixed), fixed.instance, request, solve_once)


def check_keeps_pairs(options: Options) -> None:
    """Refuse fixed edges where the solver's moves part them.

    Raises
    ------
    ValueError
    """
    if options.name in PARTING:
        others = " or ".join(f"solver={name!r}" for name in SOLVERS if name not in ("auto", *PARTING))
        raise ValueError(f"fixed edges have no effect with solver={options.name!r}; they are for {others}")


def _solve_by(
    reduction: Reduction,
    solved: Instance,
    request: Request,
    solve: Callable[[Instance, Request], Result],
    *,
    is_unclosed: bool = False,
) -> Result:
    """Solve the instance that a reduction leads to, and restate its result."""
    target = target_length(reduction.instance, request.target, request.target_gap)
    improvements = Improvements(reduction, request.on_improvement, target)
    result = solve(solved, _reduced(reduction, request, improvements))
    return _restated(reduction, request, improvements, result, is_unclosed=is_unclosed)


def _reduced(reduction: Reduction, request: Request, improvements: Improvements) -> Request:
    """Return the request for the instance that a reduction leads to."""
    target, is_measured = improvements.target, reduction.is_measured
    progress, on_improvement = request.progress, request.on_improvement
    reduced = replace(
        request,
        reading={},
        open=False,
        start_city=None,
        end_city=None,
        target=target
        if target is None or not target >= 0
        else None
        if is_measured
        else max(0, target + reduction.offset),
        target_gap=None,
        quick_tour=reduction.quick_tour,
        is_doubled=reduction.doubling is not None,
        initial_tour=None if request.initial_tour is None else reduction.tour(request.initial_tour),
        progress=None if progress is None else lambda now: progress(reduction.restated(now)),
        on_improvement=None if on_improvement is None else lambda now: on_improvement(reduction.restated(now)),
    )
    return replace(reduced, on_improvement=improvements.take) if is_measured else reduced


def _restated(
    reduction: Reduction, request: Request, improvements: Improvements, result: Result, *, is_unclosed: bool
) -> Result:
    """Return the result of the instance that a reduction leads to as one of the instance that is given."""
    instance, offset, is_measured = reduction.instance, reduction.offset, reduction.is_measured
    on_improvement = request.on_improvement
    tour = reduction.restate(result.tour)
    length = reduction.measure(tour)
    lengths: NDArray[Any] = result.lengths - offset
    history = tuple(each._replace(length=each.length - offset) for each in result.history)
    if is_measured:
        # A closed tour is longer than its path, one by shortened or rounded edges may be shorter than it is.
        lengths = np.full_like(lengths, length) if is_unclosed else np.maximum(lengths, length)
        best = int(np.argmin(result.lengths))
        # The tour may be of a climber that is not among these.
        if result.lengths[best] <= result.length + result.instance.n * result.resolution:
            lengths[best] = length
        history = tuple(each for each in improvements.history if each.length >= length)
    seconds = time.perf_counter() - request.began
    if history and reduction.fixed is not None and not (instance.is_exact or is_measured):
        # The difference of two lengths that are longer by all pairs' distance has fewer digits.
        is_same = abs(length - history[-1].length) <= ROUNDING * length
        history = (*history[:-1], history[-1]._replace(length=length)) if is_same else history
        lengths[np.argmin(lengths)] = length
    # A search that was cut short may leave an end out of its position, or a pair apart; repaired, its tour is shorter.
    # Lengths of floating-point distances are the kernel's until then, which are less precise.
    if not history or length < history[-1].length * (1 if instance.is_exact else 1 - ROUNDING):
        history += (result.history[-1]._replace(seconds=seconds, length=length),)
        lengths[np.argmin(lengths)] = length
        if on_improvement is not None:
            on_improvement(Improved.of(history[-1], tour.copy))
    return replace(
        result,
        # TSPLIB's optimum is that of a closed tour.
        instance=replace(instance, optimum=None) if request.open and instance.optimum is not None else instance,
        tour=tour,
        length=length,
        lengths=lengths,
        history=history,
        seconds=seconds,
        stop_reason="target" if is_measured and improvements.is_enough(length) else result.stop_reason,
        is_open=bool(request.open),
    )
