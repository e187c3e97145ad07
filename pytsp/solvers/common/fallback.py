"""Fallback result when the time limit passes before the search starts: a quick tour, which the CPU shortens.

References
----------
C. F. Daganzo: The length of tours in zones of different shapes. Transportation Research B 18 (1984). Strips.
"""

from __future__ import annotations

import math
import time
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytsp.backends.context import Backend
from pytsp.backends.registry import host_kernels
from pytsp.neighbours.boxes import LISTED_ON_A_GPU
from pytsp.neighbours.hilbert import hilbert_order
from pytsp.problem.instance import Instance
from pytsp.problem.location import curve_points, further_city, given_ends, is_planar, straight_points
from pytsp.problem.tours import numbers_of
from pytsp.run.result import Result
from pytsp.solvers import policy
from pytsp.solvers.common.task import Task
from pytsp.solvers.options.shared import kernel_passes
from pytsp.solvers.speeds import SPEEDS
from pytsp.starts.descent import CHAINS, DESCENT_SECONDS, PIECE, THREE_OPT, descended
from pytsp.starts.long_ways import reordered_tour, reordering_seconds
from pytsp.starts.nearest_unvisited import hurried_order, hurried_seconds
from pytsp.starts.quick_greedy import PART, greedy_parts, greedy_seconds, quick_greedy
from pytsp.utils.extremes import extremes

# A tour, or a path of all cities, and its length.
Measured = tuple[NDArray[np.int32], int | float]


def fallback_result(task: Task[Any], tour: NDArray[np.int32] | None, early: NDArray[np.int32] | None = None) -> Result:
    """Return the initial tour, or else the shorter one of `tour` and a quick one, which is `early` if that is known.

    The CPU shortens it as far as the time allows.
    """
    instance, watch, options = task.instance, task.watch, task.options
    if task.initial_tour is not None:
        tour, length = task.initial_tour, instance.tour_length(task.initial_tour)
    else:
        if early is None and (tour is None or is_by_nearest_neighbours(instance)):
            early = _quick_tour_of(task)
        tours = [each for each in (tour, early) if each is not None]
        tour, length = shortened(task, tours[0] if len(tours) == 1 else min(tours, key=instance.tour_length))
    watch.offer(0, length, tour.copy)
    k = getattr(options, "k", None)
    return Result(
        instance=instance,
        tour=tour,
        length=length,
        climber=getattr(options, "first", 0),
        lengths=np.array([length]),
        steps=np.zeros(1, dtype=np.int64),
        passes=np.zeros(int(k is not None), dtype=np.int32),
        done=np.zeros(1, dtype=np.bool_),
        seed=task.seed,
        k=None if k is None else kernel_passes(k),
        backend=task.kernels.name,
        mapping="thread",
        seconds=watch.seconds,
        stop_reason="time limit",
        solver=options.name,
        options=options,
        iterations=None if options.name == "restarts" else 0,
        history=watch.improvements(0, length),
    )


def early_tour(task: Task[Any]) -> NDArray[np.int32] | None:
    """Return the quick tour of a matrix if there is little time, which preparations might use up."""
    instance, watch = task.instance, task.watch
    if instance.coordinates is not None or task.given_tour is not None or watch.state is not None:
        return None
    is_early = policy.EARLY_SHARE * watch.seconds_left <= quick_seconds(instance)
    return _quick_tour_of(task) if is_early else None


def _quick_tour_of(task: Task[Any]) -> NDArray[np.int32]:
    # The cities in their order are of no use: it may be later than others.
    make = task.quick_tour or partial(quick_tour, task.instance)
    return make(with_grace(task.watch.seconds_left, late_share=0.25))


def quick_seconds(instance: Instance) -> float:
    """Return the estimated seconds to make and report the best of the quick tours."""
    if instance.coordinates is None:
        return hurried_seconds(instance.n, all_cities=True)
    return SPEEDS["curve"] * instance.n


def is_by_nearest_neighbours(instance: Instance) -> bool:
    """Tell whether the quick tour is that by nearest neighbours."""
    return instance.coordinates is None or instance.n <= policy.FEW_CITIES


def quick_tour(instance: Instance, seconds: float, first: int = 0, last: int | None = None) -> NDArray[np.int32]:
    """Return a tour that takes at most `seconds`, estimated by the number of cities and their form.

    A nearest-neighbour tour begins with the city `first` and, where it is given, ends with the city `last`.
    """
    if is_by_nearest_neighbours(instance):
        given = instance.coordinates is None
        rows = instance.distance_rows(0, instance.n) if given else instance.distance_matrix()
        is_short = hurried_seconds(instance.n, all_cities=True) <= policy.SHORT_ROWS_SECONDS
        return hurried_order(rows, max(seconds, 2 * policy.SHORT_ROWS_SECONDS) if is_short else seconds, first, last)
    began = time.perf_counter()
    n, points = instance.n, curve_points(instance)
    seconds -= time.perf_counter() - began
    if points is not None and SPEEDS["curve"] * n <= max(seconds, policy.SHORT_CURVE_SECONDS):
        return hilbert_order(points, seconds)
    if points is not None and points.shape[1] == 2 and SPEEDS["strips"] * n <= seconds:
        return strips(points)
    return instance.canonical_tour()


def strips(points: NDArray[np.float64]) -> NDArray[np.int32]:
    """Return the tour of points, shape (n, 2), that goes up one strip of the plane and down the next.

    Of uniformly random points it is some 30 % longer than the shortest tour, of others more.
    """
    low, high = extremes(points)
    side = float((high - low).max())
    x, y = ((points - low) / (side or 1.0)).T
    width, height = float(x.max()), float(y.max())
    if width * height == 0:
        return np.argsort(x + y).astype(np.int32)
    # As wide as makes the ways across strips and along them shortest together.
    strip = np.floor(x / np.sqrt(3 * width * height / len(points)))
    way = np.where(strip % 2 == 1, height - y, y)
    return np.argsort(2 * height * strip + way).astype(np.int32)


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
    length_seconds = watch.seconds - began
    least = policy.SHORT_SHORTENING_SECONDS
    end = watch.seconds + max(left - 2 * length_seconds, least if needed <= least else 0.0)

    def seconds_left() -> float:
        return end - watch.seconds

    try:
        reordering = reordering_seconds(instance, tour, seconds_left())
        is_reordered = reordering < seconds_left()
        if seconds_left() > 0:
            kept = reordering + length_seconds if is_reordered else 0.0
            best = _shorter(instance, best, greedy_along(task, tour, seconds_left() - kept))
        if is_reordered and seconds_left() > 0:
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
    # Lists in space take more memory than those in the plane.
    is_whole = plane.shape[1] == 2 or instance.n <= PART
    end = time.perf_counter() + seconds
    order: NDArray[np.int32] | None = None
    if is_whole and policy.GREEDY_MARGIN * greedy_seconds(instance.n, kernels) <= seconds:
        ends = [_place(tour, city) for city in given_ends(instance)]
        places = None if further is not None or lists is None else numbers_of(tour)[lists[tour]]
        order = quick_greedy(points, plane, kernels, None if further is None else 0, ends, seconds, places)
    if order is None and end < math.inf:
        # All of it takes too long on this machine, or of these cities.
        order = greedy_parts(points, plane, kernels, end - time.perf_counter(), 0 if further is None else 1)
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
