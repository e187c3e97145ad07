"""Solve open paths and asymmetric instances as closed tours of symmetric ones, and restate the results."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytsp.api.dispatch import dispatch, options_of, run_out, timely, watch_of
from pytsp.api.request import Request
from pytsp.problem.asymmetric import JonkerVolgenant
from pytsp.problem.instance import Instance
from pytsp.problem.open_paths import OpenPath
from pytsp.run.monitor import Improved, Improvement, target_length
from pytsp.run.result import Result
from pytsp.solvers.common.fallback import quick_seconds, quick_tour
from pytsp.utils.arguments import is_array
from pytsp.utils.deadline import OutOfTime, looking

__all__ = ["solve_reduced"]

# Relatively, what the kernel's lengths of floating-point distances may differ by at most.
_ROUNDING = 1e-6


def solve_reduced(instance: Instance, request: Request) -> Result:
    """Solve an open path or an asymmetric instance."""
    began = time.perf_counter()
    start_city, end_city = request.start_city, request.end_city
    if request.checkpoint is not None:
        # It would hold the instance that is solved, and tours of that.
        raise ValueError("checkpoint does not concern open paths and asymmetric instances")
    if request.open and request.target_gap is not None:
        raise ValueError("target_gap does not concern open paths; optima that are known are those of closed tours")
    if is_array(request.keywords.get("neighbours", getattr(request.solver, "neighbours", None))):
        raise ValueError(
            "neighbours given as lists do not concern open paths and asymmetric instances; give their number"
        )
    if not request.open and (start_city is not None or end_city is not None):
        name, city = ("end_city", end_city) if start_city is None else ("start_city", start_city)
        raise ValueError(f"{name}={city!r} does not concern a closed tour; it is for open=True")
    # An open path becomes a closed tour first, and then a directed tour a symmetric one.
    path = OpenPath.of(instance, start_city, end_city) if request.open else None
    closed = instance if path is None else path.instance
    doubling, is_late = None, False
    if closed.asymmetric:
        # What is asked for is looked at before so much is made, and a solver chosen that suits directed tours.
        watch = watch_of(instance, request)
        request = replace(request, solver=options_of(closed, request, watch), keywords={})
        try:
            with looking(timely(watch, quick_seconds(closed))):
                doubling = JonkerVolgenant.of(closed)
        except OutOfTime:
            is_late = True
    offset = sum(step.offset for step in (path, doubling) if step is not None)
    target = target_length(instance, request.target, request.target_gap)
    initial_tour, progress, on_improvement = request.initial_tour, request.progress, request.on_improvement
    if initial_tour is not None and path is not None:
        initial_tour = path.tour(initial_tour)
    if initial_tour is not None and doubling is not None:
        initial_tour = doubling.tour(initial_tour)

    def restate(tour: NDArray[np.int32]) -> NDArray[np.int32]:
        """Return the tour or path of a tour that is solved for."""
        directed = tour if doubling is None else doubling.directed(tour)
        return directed if path is None else path.path(directed)

    reduced = replace(
        request,
        reading={},
        open=False,
        start_city=None,
        end_city=None,
        target=target if target is None or not target >= 0 else max(0, target + offset),
        target_gap=None,
        initial_tour=initial_tour,
        quick_tour=None if doubling is None else lambda seconds: doubling.tour(quick_tour(closed, seconds)),
        progress=None if progress is None else lambda now: progress(now.restated(offset, restate)),
        on_improvement=None
        if on_improvement is None
        else lambda found: on_improvement(found.restated(offset, restate)),
    )
    solve = run_out if is_late else dispatch
    result = solve(closed if doubling is None else doubling.instance, reduced)
    tour = restate(result.tour)
    length = instance.path_length(tour) if request.open else instance.tour_length(tour)
    lengths: NDArray[Any] = result.lengths - offset
    history = tuple(_less(each, offset) for each in result.history)
    seconds = time.perf_counter() - began
    # A search that was cut short may leave an end out of its position, or a pair apart; repaired, its tour is shorter.
    # Lengths of floating-point distances are the kernel's until then, which are less precise.
    if length < history[-1].length * (1 if instance.is_exact else 1 - _ROUNDING):
        history += (history[-1]._replace(seconds=seconds, length=length),)
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
        is_open=bool(request.open),
    )


def _less(improvement: Improvement, offset: int | float) -> Improvement:
    return improvement._replace(length=improvement.length - offset)
