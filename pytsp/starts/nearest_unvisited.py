"""The nearest-neighbour tour: from each city to the nearest one not yet visited."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytsp.neighbours.boxes import monotone_lengths
from pytsp.neighbours.lists import neighbour_lists
from pytsp.problem.instance import Instance
from pytsp.problem.location import further_city, group_coincident, located, partners_of
from pytsp.utils.deadline import look

_LISTED = 10
# Cities between two looks at the clock.
_STEPS = 1 << 13
# A step takes as long as this many cities do in other preparations.
_AS_LONG_AS = 4
# Most cities whose unvisited ones are all compared when a list is used up, as in one step of sixteen; the second number
# counts while SciPy is not imported. More cities are faster with its tree.
_FEW, _FEW_AT_FIRST = 5_000, 30_000
# For how many points a tree is queried at first, and how many times as many whenever all of them are visited.
_WIDTH, _WIDER = 16, 4
# Unvisited cities among which the nearest is next when the time is over.
_HURRIED = 256
# About what a step takes, and what it takes for each city.
_STEP_SECONDS, _LOOKED_SECONDS = 4e-6, 1.5e-9


def nearest_neighbour_order(
    instance: Instance, start: int, neighbours: NDArray[np.int32] | None, last: int | None = None
) -> NDArray[np.int32]:
    """Return the cities in the order of the visits from `start`; `last`, if it is given, waits for the end.

    `neighbours` must hold the nearest cities in order, as `neighbour_lists` without quadrants has them.
    """
    is_elsewhere = further_city(instance) is not None or partners_of(instance) is not None
    found = None if is_elsewhere else located(instance)
    points, norm = (None, 0.0) if found is None else found
    if points is not None and instance.coordinates is not None:
        groups = group_coincident(points)
        if len(groups.sizes) < instance.n:
            # Coincident cities are nearest to each other: each group is visited as one city, and its cities in a row.
            group_of = np.empty(instance.n, dtype=np.int64)
            group_of[groups.order] = np.repeat(np.arange(len(groups.sizes)), groups.sizes)
            each = Instance("", instance.metric, coordinates=instance.coordinates[groups.order[groups.first[:-1]]])
            visits = nearest_neighbour_order(each, int(group_of[start]), None)
            order = np.concatenate([groups.order[groups.first[group] : groups.first[group + 1]] for group in visits])
            return np.append(start, order[order != start]).astype(np.int32)
    if neighbours is None:
        neighbours = neighbour_lists(instance, _LISTED)
    is_visited = np.zeros(instance.n, dtype=np.bool_)
    if points is None:
        nearest = _nearest_of_all(is_visited, instance.distances)
    elif are_few(instance.n):
        nearest = _nearest_of_all(is_visited, lambda city, left: monotone_lengths(points[left] - points[city], norm))
    else:
        nearest = _nearest_by_tree(is_visited, points, norm)
    return _walk(start, neighbours, is_visited, nearest, last)


def are_few(n: int) -> bool:
    """Tell whether comparing all cities takes less time than a tree, or than its import."""
    return n <= (_FEW if "scipy.spatial" in sys.modules else _FEW_AT_FIRST)


def hurried_order(
    distances: NDArray[Any], seconds: float, first: int = 0, last: int | None = None
) -> NDArray[np.int32]:
    """Return the cities in the order of the visits from `first`, by rows of a matrix; `last`, if given, waits.

    It is `nearest_neighbour_order` as long as the time lasts; from then on the nearest of a few hundred unvisited
    cities is next, which takes `hurried_seconds` of the number of cities that are left.
    """
    n = len(distances)
    end = time.perf_counter() + seconds
    left = np.delete(np.arange(n), first if last is None else [first, last])
    order = np.full(n, first if last is None else last, dtype=np.int32)
    city = order[0] = first
    for step, unvisited in enumerate(range(len(left), 0, -1), 1):
        width = unvisited if time.perf_counter() < end else min(unvisited, _HURRIED)
        place = int(distances[city][left[:width]].argmin())
        city = order[step] = left[place]
        # In order of their numbers as long as all are looked at.
        left[place : width - 1] = left[place + 1 : width]
        left[width - 1] = left[unvisited - 1]
    return order


def hurried_seconds(n: int, *, all_cities: bool) -> float:
    """Return about how long `hurried_order` takes that looks at all unvisited cities, or at a few of them."""
    return n * (_STEP_SECONDS + _LOOKED_SECONDS * (n / 2 if all_cities else min(n, _HURRIED)))


def _walk(
    start: int,
    neighbours: NDArray[np.int32],
    is_visited: NDArray[np.bool_],
    nearest: Callable[[int, int], int],
    last: int | None,
) -> NDArray[np.int32]:
    """Visit all cities, `last` in the end, by the lists or else by `nearest`, of the city and how many are left."""
    n, k = neighbours.shape
    # Elements of a memoryview are Python's own numbers.
    near, visited = np.ascontiguousarray(neighbours).ravel().data, is_visited.data
    order = np.full(n, -1 if last is None else last, dtype=np.int32)
    steps = order.data
    city = steps[0] = start
    visited[city] = True
    if last is not None:
        visited[last] = True
    end = n if last is None else n - 1
    for step in range(1, end):
        for following in near[city * k : city * k + k]:
            if not visited[following]:
                city = following
                break
        else:
            city = nearest(city, end - step)
        visited[city] = True
        steps[step] = city
        if step % _STEPS == 0:
            look(_AS_LONG_AS * step)
    return order


def _nearest_of_all(
    is_visited: NDArray[np.bool_], lengths: Callable[[int, NDArray[np.int64]], NDArray[Any]]
) -> Callable[[int, int], int]:
    """Return what finds the nearest unvisited city by its distances to all, the smaller number among equals."""

    def nearest(city: int, _: int) -> int:
        left = np.flatnonzero(~is_visited)
        return int(left[np.argmin(lengths(city, left))])

    return nearest


def _nearest_by_tree(
    is_visited: NDArray[np.bool_], points: NDArray[np.float64], norm: float
) -> Callable[[int, int], int]:
    """Return what finds the nearest unvisited city by a k-d tree, the smaller number among equals.

    The tree is built again of the unvisited cities each time that half of its own are visited.
    """
    left, tree = np.empty(0, dtype=np.int64), None

    def nearest(city: int, unvisited: int) -> int:
        nonlocal left, tree
        if tree is None or 2 * unvisited < len(left):
            from scipy.spatial import cKDTree  # noqa: PLC0415

            left = np.flatnonzero(~is_visited)
            tree = cKDTree(points[left])
        width = _WIDTH
        while True:
            width = min(width, len(left))
            answer = tree.query(points[city], np.arange(1, width + 1), p=norm)
            distances, indices = np.asarray(answer[0]), np.asarray(answer[1])
            found = left[indices]
            is_open = ~is_visited[found]
            if is_open.any():
                least = distances[is_open].min()
                # What ties with the farthest may tie with others beyond.
                if least < distances[-1] or width == len(left):
                    return int(found[is_open & (distances == least)].min())
            width *= _WIDER

    return nearest
