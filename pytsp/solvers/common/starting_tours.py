"""Starting tours: of searches from one tour, of the climbers of an iterated local search, and of their restarts."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytsp.backends.registry import host_kernels
from pytsp.neighbours.lists import neighbour_lists, with_pairs
from pytsp.problem.instance import Instance
from pytsp.problem.location import curve_points, further_city, given_ends, partners_of
from pytsp.problem.tours import random_tours
from pytsp.solvers import policy
from pytsp.solvers.common.candidates import DEFAULT_NEIGHBOURS, are_given, lists_without_exits
from pytsp.solvers.common.fallback import greedy_along, is_by_nearest_neighbours
from pytsp.solvers.common.task import Task
from pytsp.solvers.options.ils import ILS
from pytsp.solvers.options.shared import MOVES
from pytsp.starts.construct import GREEDY_NEIGHBOURS, Start, nearest_neighbour, space_filling_curve, start_tour
from pytsp.starts.long_ways import reordered_tour
from pytsp.starts.nearest_unvisited import nearest_neighbour_order
from pytsp.utils.deadline import look

# Random tours that are made together.
TOGETHER = 256
# Climbers below this number start from nearest-neighbour tours, those from it on from random ones.
NEAREST_NEIGHBOUR_CLIMBERS = 64


def first_tour(task: Task[Any], given: Start | None, default: Start) -> NDArray[np.int32]:
    """Return the tour of the start that is given, or by default.

    Where the instance stands for an open path or directed ways, the nearest-neighbour tour is that of these; where no
    start is given it is taken, too, if it is shorter than the default.
    """
    instance, start = task.instance, given or default
    further = further_city(instance)
    if task.quick_tour is not None and is_by_nearest_neighbours(instance):
        nearest = task.quick_tour(math.inf)
        if start == "nearest-neighbour":
            return nearest
        if given is None:
            return min(start_tour(instance, start, seed=task.seed), nearest, key=instance.tour_length)
    if start == "nearest-neighbour" and further is not None:
        ends = given_ends(instance)
        if len(ends) < 2:
            return nearest_neighbour(instance, seed=further)
        # Either of the two may wait until all others are visited.
        return min((nearest_neighbour_order(instance, further, None, end) for end in ends), key=instance.tour_length)
    return start_tour(instance, start, seed=task.seed)


def with_clusters_in_order(task: Task[Any], tour: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return `reordered_tour` if cities have coordinates and no pairs, and a CPU's kernels run here; else the tour."""
    instance = task.instance
    # A pair may be far apart, and is no end of a cluster.
    is_out = instance.coordinates is None or partners_of(instance) is not None
    kernels = None if is_out else host_kernels(task.kernels)
    return tour if kernels is None else reordered_tour(instance, tour, kernels)


def starting_tours(
    task: Task[ILS], climbers: int, nearest: NDArray[np.int32] | None = None, *, moves: int = MOVES.index("3-opt")
) -> NDArray[np.int32]:
    """Return the tours from which the climbers start, shape (climbers, n); each is a function of its climber's number.

    `nearest` are lists of the nearest cities, at least `GREEDY_NEIGHBOURS`, where they are there already; `moves` are
    those of the climbers, as the kernels take them. A start may need coordinates, and the initial tour is checked.
    """
    instance, options, n = task.instance, task.options, task.instance.n
    first, end = options.first, options.first + climbers
    if task.initial_tour is not None:
        return np.broadcast_to(task.initial_tour, (climbers, n))
    random_from = 0 if options.start == "random" else NEAREST_NEIGHBOUR_CLIMBERS
    fewer = range(first, min(end, random_from))
    if task.is_doubled and nearest is not None:
        nearest = with_pairs(nearest)
    lists = nearest
    if lists is None and fewer.stop > max(first, 1):
        lists = neighbour_lists(instance, DEFAULT_NEIGHBOURS)
    tours: list[NDArray[np.int32]] = []
    for climber in fewer:
        look(len(tours) * n)
        city = (task.seed + climber * max(1, n // NEAREST_NEIGHBOUR_CLIMBERS)) % n
        if climber == 0:
            start: Start = options.start or _default_start(instance, moves)  # type: ignore[assignment]
            few = None if nearest is None else nearest[:, :GREEDY_NEIGHBOURS]
            is_quick = options.start is None and start == "greedy" and n > policy.QUICK_GREEDY_CITIES
            tour = _quick_start(task) if is_quick else None
            if tour is None:
                tour = start_tour(instance, start, seed=task.seed, neighbours=few)
                tour = tour if options.start else with_clusters_in_order(task, tour)
            tours.append(tour)
        else:
            tours.append(nearest_neighbour(instance, seed=city, neighbours=lists))
    for climber in range(first + len(tours), end, TOGETHER):
        look(len(tours) * n)
        tours.extend(_random_tours(task, min(TOGETHER, end - climber), climber))
    return np.array(tours)


def _quick_start(task: Task[ILS]) -> NDArray[np.int32] | None:
    """Return the greedy tour by kernels with its clusters in order, where there are some and cities are along a curve.

    Return the tour along that curve if it is far shorter, as it is where some cities are far away at every scale.
    """
    instance = task.instance
    if curve_points(instance) is None or partners_of(instance) is not None or host_kernels(task.kernels) is None:
        return None
    lists = None if are_given(task.options) else lists_without_exits(task)
    curve = space_filling_curve(instance)
    greedy = greedy_along(task, curve, math.inf, lists)
    if greedy is None:
        return None
    greedy, along = (with_clusters_in_order(task, tour) for tour in (greedy, curve))
    if np.array_equal(along, curve):
        return greedy
    is_shorter = instance.tour_length(along) < policy.CURVE_SHARE * instance.tour_length(greedy)
    return along if is_shorter else greedy


def _random_tours(task: Task[ILS], count: int, first: int) -> NDArray[np.int32]:
    """Return random tours, shape (count, n), of the streams from number `first` on; directed ones if the instance is
    doubled."""
    n = task.instance.n
    if not task.is_doubled:
        return random_tours(n, count, task.seed, first)
    directed = random_tours(n // 2, count, task.seed, first)
    return np.stack([directed, directed + n // 2], axis=2, dtype=np.int32).reshape(count, n)


def _default_start(instance: Instance, moves: int) -> Start:
    return "greedy" if instance.coordinates is None or MOVES[moves] == "lk" else "space-filling-curve"


def restart_tours(task: Task[ILS]) -> Callable[[int, int], NDArray[np.int32]]:
    """Return a function for the tour of a climber's n-th restart, by nearest neighbours from any city, or random."""
    instance = task.instance
    lists = functools.cache(lambda: neighbour_lists(instance, DEFAULT_NEIGHBOURS))

    def restart_tour(climber: int, turn: int) -> NDArray[np.int32]:
        tour: NDArray[np.int32] = _random_tours(task, 1, restart_stream(climber, turn))[0]
        if climber >= NEAREST_NEIGHBOUR_CLIMBERS or task.options.start == "random":
            return tour
        return nearest_neighbour(instance, seed=int(tour[0]), neighbours=lists())

    return restart_tour


def restart_seed(seed: int, turn: int) -> int:
    """Return the seed of the random streams of climbers after their `turn`-th restart."""
    return int(np.random.SeedSequence([seed, turn]).generate_state(1, np.uint64)[0]) if turn else seed


def restart_stream(climber: int, turn: int) -> int:
    """Return the number of the random stream of a climber's `turn`-th restart, from 1 on."""
    # A climber has so many streams for its tours, which are far from those of the others.
    return (climber + turn * 2**40) % 2**62
