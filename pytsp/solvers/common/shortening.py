"""Improve the curve's tour without time for a search: a greedy tour, and a descent from it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytsp.backends.context import Backend
from pytsp.backends.registry import host_kernels
from pytsp.neighbours.boxes import LISTED_ON_A_GPU
from pytsp.problem.instance import Instance
from pytsp.problem.location import curve_points, further_city, given_ends, is_planar, straight_points
from pytsp.problem.tours import numbers_of
from pytsp.solvers import policy
from pytsp.solvers.common.task import Task
from pytsp.solvers.speeds import SPEEDS
from pytsp.starts.descent import CHAINS, DESCENT_SECONDS, PIECE, THREE_OPT, descended
from pytsp.starts.long_ways import reordered_tour, reordering_seconds
from pytsp.starts.quick_greedy import PART, greedy_parts, greedy_seconds, quick_greedy

# A tour, or a path of all cities, and its length.
Measured = tuple[NDArray[np.int32], int | float]


def shortening_seconds(task: Task[Any]) -> float:
    """Return about how long it takes to shorten a tour of cities that are points, on the CPU, beside a GPU perhaps."""
    is_out = task.instance.coordinates is None or host_kernels(task.kernels) is None
    return 0.0 if is_out else DESCENT_SECONDS * task.instance.n


def reserved_seconds(task: Task[Any]) -> float:
    """Return about how long a solve keeps for shortening a tour without a search: no time where a GPU lists the cities
    and begins with tours of all of them, which are there sooner; of one huge tour that of a greedy tour."""
    kernels = host_kernels(task.kernels) if task.options.name == "large" else None
    if kernels is not None:
        factor = 1.0 if is_planar(task.instance) else SPEEDS["greedy tour, space"]
        return factor * greedy_seconds(task.instance.n, kernels)
    is_soon = task.options.name == "eax" and task.kernels.device is not None and is_planar(task.instance)
    return 0.0 if is_soon and task.instance.n >= LISTED_ON_A_GPU else shortening_seconds(task)


def with_grace(left: float, late_share: float = 0.1) -> float:
    """Return the seconds that the end of a solve may take: those left and the grace, or a share of its delay.

    A GPU's programs take a first process seconds to compile, so that it may be late already.
    """
    return max(left + policy.GRACE_SECONDS, late_share * -left)


def shortened(task: Task[Any], tour: NDArray[np.int32]) -> Measured:
    """Return what there is time to make of a tour along a curve, and its length; that tour, where nothing is shorter.

    The greedy tour takes half as long as a descent, and what descends from it is shorter than what does from the curve.
    Between the two clusters get a better order. The descents are by 3-opt, then by chains in pieces that end elsewhere.
    """
    instance, watch, needed = task.instance, task.watch, shortening_seconds(task)
    began = watch.seconds
    best = (tour, instance.tour_length(tour))
    if not needed or np.array_equal(tour, instance.canonical_tour()):
        # There was no time even for a curve.
        return best
    # In the end others are measured, but nothing else happens that time is reserved for.
    left = with_grace(watch.seconds_left + watch.reserve)
    end = watch.seconds + left - 2 * (watch.seconds - began)

    def seconds_left() -> float:
        left = end - watch.seconds
        least = policy.SHORT_SHORTENING_SECONDS
        return max(left, least) if needed <= least else left

    try:
        reordering = reordering_seconds(instance, tour, seconds_left())
        is_reordered = reordering < seconds_left()
        if seconds_left() > 0:
            kept = reordering if is_reordered else 0.0
            best = _shorter(instance, best, greedy_along(task, tour, seconds_left() - kept))
        if is_reordered:
            best = _shorter(instance, best, reordered_tour(instance, best[0], _kernels_of(task)))
        if seconds_left() > 0:
            best = _shorter(instance, best, _descended(task, best[0], seconds_left(), THREE_OPT))
        # Smaller gains are no reason to be late.
        if seconds_left() > policy.GRACE_SECONDS:
            best = _shorter(instance, best, _descended(task, best[0], seconds_left() - policy.GRACE_SECONDS, CHAINS))
    except KeyboardInterrupt:
        # The time is over anyway.
        pass
    return best


def _kernels_of(task: Task[Any]) -> Backend:
    """Return the kernels of the CPU, by which a tour is shortened; where there are none, that takes no time."""
    kernels = host_kernels(task.kernels)
    assert kernels is not None
    return kernels


def _shorter(instance: Instance, best: Measured, tour: NDArray[np.int32] | None) -> Measured:
    if tour is None:
        return best
    return min(best, (tour, instance.tour_length(tour)), key=lambda each: each[1])


def greedy_along(
    task: Task[Any], tour: NDArray[np.int32], seconds: float, lists: NDArray[np.int32] | None = None
) -> NDArray[np.int32] | None:
    """Return a greedy tour of cities that are in order along a curve, or as much of one as there is time for.

    `lists` are those of the nearest cities, where they are known.
    """
    instance, kernels = task.instance, _kernels_of(task)
    plane = curve_points(instance)
    if plane is None:
        return None
    further = further_city(instance)
    if further is not None:
        tour = np.roll(tour, -_place(tour, further))
    points, plane = straight_points(instance)[tour], plane[tour]
    order: NDArray[np.int32] | None
    # Lists in space take more memory than those in the plane.
    is_whole = plane.shape[1] == 2 or instance.n <= PART
    if greedy_seconds(instance.n, kernels) > seconds or not is_whole:
        order = greedy_parts(points, plane, kernels, seconds, 0 if further is None else 1)
    else:
        ends = [_place(tour, city) for city in given_ends(instance)]
        places = None if further is not None or lists is None else numbers_of(tour)[lists[tour]]
        order = quick_greedy(points, plane, kernels, None if further is None else 0, ends, seconds, places)
    return None if order is None else tour[order]


def _descended(task: Task[Any], tour: NDArray[np.int32], seconds: float, moves: int) -> NDArray[np.int32]:
    """Return what descends from a tour; the further city of an open path stays between the ends that it has."""
    further = further_city(task.instance)
    if further is not None:
        tour = np.roll(tour, -_place(tour, further))
    # Pieces of another descent end elsewhere.
    first = max(0 if moves == THREE_OPT else min(PIECE, len(tour)) // 2, 0 if further is None else 1)
    return descended(straight_points(task.instance), tour, _kernels_of(task), seconds, first, moves)


def _place(tour: NDArray[np.int32], city: int) -> int:
    """Return where in a tour a city is."""
    return int(np.flatnonzero(tour == city)[0])
