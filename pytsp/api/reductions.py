"""Solve open paths, asymmetric instances and fixed edges as closed tours of symmetric instances; restate results."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytsp.api.dispatch import options_of, run_out, solve_symmetric, timely, watch_of
from pytsp.api.steps import Request, Step, solve_within
from pytsp.problem.asymmetric import JonkerVolgenant
from pytsp.problem.fixed_edges import FixedEdges, held
from pytsp.problem.instance import Instance
from pytsp.problem.open_paths import OpenPath
from pytsp.run.result import Result
from pytsp.solvers.common.fallback import quick_seconds, quick_tour
from pytsp.solvers.options.fields import Options
from pytsp.solvers.registry import SOLVERS
from pytsp.utils.arguments import is_array
from pytsp.utils.deadline import OutOfTime

# Solvers whose random moves part pairs: they would spend their time on joining them again.
PARTING = ("annealing", "ants")

Quick = Callable[[float], NDArray[np.int32]]


class Reduction(Step):
    """A step to closed tours, by one of the reductions in `pytsp.problem`."""

    def __init__(self, problem: Any) -> None:
        self.problem = problem
        self.original, self.instance, self.offset = problem.original, problem.instance, -problem.offset

    def tour(self, given: Any) -> Any:
        return self.problem.tour(given)

    def quick(self, quick: Quick | None, seconds: float) -> NDArray[np.int32]:
        """Return a tour of the instance that is solved, within some seconds; `quick` makes one of the original."""
        raise NotImplementedError

    def map_request(self, request: Request) -> Request:
        asked = replace(super().map_request(request), open=False, start_city=None, end_city=None)
        return replace(
            asked, limits=request.limits.with_target(self.original), quick_tour=partial(self.quick, request.quick_tour)
        )


class Path(Reduction):
    """Open paths as closed tours through a further city, or unclosed."""

    problem: OpenPath

    def restate(self, tour: NDArray[np.int32]) -> NDArray[np.int32]:
        return self.problem.path(tour)

    def quick(self, quick: Quick | None, seconds: float) -> NDArray[np.int32]:
        """Return a tour that begins at an end of the path."""
        n, start, end = self.original.n, self.problem.start_city, self.problem.end_city
        if self.problem.is_closed:
            return quick_tour(self.instance, seconds, n, None if start is None else end)
        first = start if start is not None else 1 if end == 0 and n > 1 else 0
        return quick_tour(self.instance, seconds, first, end)


class Directed(Reduction):
    """Directed tours as tours of twice as many cities."""

    problem: JonkerVolgenant

    def restate(self, tour: NDArray[np.int32]) -> NDArray[np.int32]:
        return self.problem.directed(tour)

    def quick(self, quick: Quick | None, seconds: float) -> NDArray[np.int32]:
        return self.problem.tour((quick or partial(quick_tour, self.original))(seconds))

    def map_request(self, request: Request) -> Request:
        return replace(super().map_request(request), is_doubled=True)


class WithFixedEdges(Reduction):
    """Tours or paths with fixed edges as closed tours that keep pairs together."""

    problem: FixedEdges
    loses_digits = True

    def restate(self, tour: NDArray[np.int32]) -> NDArray[np.int32]:
        return self.problem.restate(tour)

    def quick(self, quick: Quick | None, seconds: float) -> NDArray[np.int32]:
        return held(quick_tour(self.instance, seconds), self.problem.partners)


def solve_once(instance: Instance, request: Request) -> Result:
    """Solve an instance with its distances rounded once."""
    return (solve_reduced if is_reduced(instance, request) else solve_symmetric)(instance, request)


def is_reduced(instance: Instance, request: Request) -> bool:
    """Tell whether an instance is solved through a symmetric one with closed tours."""
    return request.open or instance.asymmetric or instance.fixed is not None


def solve_reduced(instance: Instance, request: Request) -> Result:
    """Solve an open path, an asymmetric instance or one with fixed edges."""
    steps: list[Reduction] = []
    is_late = False
    try:
        if instance.fixed is not None:
            steps.append(_with_fixed_edges(instance, request))
        elif request.open:
            # An open path becomes a closed tour first, and then a directed tour a symmetric one.
            steps.append(_path(instance, request))
            is_late = not steps[0].problem.is_closed
        closed = steps[0].instance if steps else instance
        if closed.asymmetric and not is_late:
            # Arguments are checked before the doubling, and a solver is chosen that suits directed tours.
            watch = watch_of(instance, request)
            request = replace(request, solver=options_of(closed, request, watch), keywords={})
            with timely(watch, lambda: quick_seconds(closed)):
                steps.append(Directed(JonkerVolgenant.of(closed, quick_tour(closed, math.inf))))
    except OutOfTime:
        is_late = True
    # The difference of two lengths may have few digits of one.
    is_float_matrix = instance.matrix is not None and not instance.is_exact
    is_measured = is_float_matrix or any(step.problem.is_shortened for step in steps)
    return solve_within(instance, steps, request, run_out if is_late else solve_symmetric, is_measured=is_measured)


def check_reduced(instance: Instance, request: Request) -> None:
    """Refuse arguments that have no effect where an instance is reduced."""
    if not is_reduced(instance, request):
        return
    if request.checkpoint is not None and (request.open or instance.asymmetric):
        # It would hold the instance that is solved, and tours of that.
        raise ValueError("checkpoint has no effect with open paths and asymmetric instances")
    if request.open and request.limits.target_gap is not None:
        raise ValueError("target_gap has no effect with open paths; optima that are known are those of closed tours")
    if is_array(request.option("neighbours")):
        raise ValueError(
            "neighbours given as lists have no effect with open paths, asymmetric instances and fixed edges; "
            "give their number"
        )


def _path(instance: Instance, request: Request) -> Path:
    """Return the open path as a closed tour, or unchanged for a matrix that there is no time to copy."""
    if instance.matrix is None:
        return Path(OpenPath.of(instance, **request.ends))
    try:
        with timely(watch_of(instance, request), lambda: quick_seconds(instance)):
            return Path(OpenPath.of(instance, **request.ends))
    except OutOfTime:
        return Path(OpenPath.unclosed(instance, **request.ends))


def _with_fixed_edges(instance: Instance, request: Request) -> WithFixedEdges:
    """Return the tour or path with its fixed edges as pairs that a solver keeps together."""
    if isinstance(request.solver, Options) or request.solver != "auto":
        name = options_of(instance, request, watch_of(instance, request)).name
        if name in PARTING:
            others = " or ".join(f"solver={each!r}" for each in SOLVERS if each not in ("auto", *PARTING))
            raise ValueError(f"fixed edges have no effect with solver={name!r}; they are for {others}")
    return WithFixedEdges(FixedEdges.of(instance, is_open=request.open, **request.ends))
