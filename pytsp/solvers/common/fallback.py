"""Fallback result when the time limit passes before the search starts.

References
----------
C. F. Daganzo: The length of tours in zones of different shapes. Transportation Research B 18 (1984). Strips.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytsp.neighbours.hilbert import hilbert_order
from pytsp.problem.instance import Instance
from pytsp.problem.location import curve_points
from pytsp.run.result import Result
from pytsp.solvers import policy
from pytsp.solvers.common.shortening import shortened, with_grace
from pytsp.solvers.common.task import Task
from pytsp.solvers.options.shared import kernel_passes
from pytsp.solvers.speeds import SPEEDS
from pytsp.starts.nearest_unvisited import hurried_order, hurried_seconds
from pytsp.utils.extremes import extremes


def fallback_result(task: Task[Any], tour: NDArray[np.int32] | None, early: NDArray[np.int32] | None = None) -> Result:
    """Return a tour that takes next to no time: the initial one, one that is known, or as the time allows that along a
    curve, that by strips, or the cities in their order; of few cities, or a matrix, the nearest-neighbour tour, which
    `early` is where it is known. One through points is `shortened` by the CPU, as far as the time allows."""
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
    """Return the quick tour of a matrix where there is little time, before that goes into preparations that take longer
    than they should; None where there is time enough, or another tour."""
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
    points = curve_points(instance)
    return instance.canonical_tour() if points is None else _tour_of_points(instance, points, seconds)


def _tour_of_points(instance: Instance, points: NDArray[np.float64], seconds: float) -> NDArray[np.int32]:
    n = instance.n
    if SPEEDS["curve"] * n <= max(seconds, policy.SHORT_CURVE_SECONDS):
        return hilbert_order(points)
    return strips(points) if SPEEDS["strips"] * n <= seconds and points.shape[1] == 2 else instance.canonical_tour()


def strips(points: NDArray[np.float64]) -> NDArray[np.int32]:
    """Return the tour that goes up one strip of the plane and down the next, shape (n,).

    Of uniformly random points it is some 30 % longer than the shortest tour, of others more.

    Parameters
    ----------
    points : ndarray of float64, shape (n, 2)
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
