"""The nearest-neighbour tour: from each city to the nearest one not yet visited."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from pytsp.neighbours.coincident import places_of
from pytsp.neighbours.kdtree import NORMS, are_few, sizes
from pytsp.neighbours.lists import neighbour_lists
from pytsp.problem.instance import Instance
from pytsp.utils.deadline import look

_LISTED = 10
# The clock is looked at after so many cities.
_STEPS = 1 << 13
# How many points a tree is asked for at first, and how much more each time all of them are visited.
_WIDTH, _WIDER = 16, 4
# A step takes as long as so many cities do in other preparations.
_AS_LONG_AS = 4


def nearest_neighbour_order(instance: Instance, start: int, neighbours: NDArray[np.int32] | None) -> NDArray[np.int32]:
    """The cities in the order of the visits from `start`, shape (n,).

    `neighbours` must hold the nearest cities in order, as `neighbour_lists` without quadrants has them.
    """
    norm = NORMS.get(instance.metric)
    points = instance.coordinates
    if norm is not None and points is not None:
        places = places_of(points)
        if len(places.sizes) < instance.n:
            # Whoever stands in the same place is nearest: a place is visited as one city, and its cities in a row.
            place_of = np.empty(instance.n, dtype=np.int64)
            place_of[places.order] = np.repeat(np.arange(len(places.sizes)), places.sizes)
            each = Instance.from_coordinates(points[places.order[places.first[:-1]]], instance.metric)
            visits = nearest_neighbour_order(each, int(place_of[start]), None)
            order = np.concatenate([places.order[places.first[place] : places.first[place + 1]] for place in visits])
            return np.append(start, order[order != start]).astype(np.int32)
    if neighbours is None:
        neighbours = neighbour_lists(instance, _LISTED)
    is_visited = np.zeros(instance.n, dtype=np.bool_)
    if norm is None or points is None:
        return _walk(start, neighbours, is_visited, _by_row(instance, is_visited))
    by = _by_points if are_few(instance.n) else _by_tree
    return _walk(start, neighbours, is_visited, by(points, norm, is_visited))


def _walk(
    start: int, neighbours: NDArray[np.int32], is_visited: NDArray[np.bool_], nearest: Callable[[int, int], int]
) -> NDArray[np.int32]:
    """Visit all cities, by the lists or else by `nearest`, which is told the city and how many are left."""
    n, k = neighbours.shape
    # Elements of a memoryview are Python's own numbers.
    near, visited = np.ascontiguousarray(neighbours).ravel().data, is_visited.data
    order = np.empty(n, dtype=np.int32)
    steps = order.data
    city = steps[0] = start
    visited[city] = True
    for step in range(1, n):
        for following in near[city * k : city * k + k]:
            if not visited[following]:
                city = following
                break
        else:
            city = nearest(city, n - step)
        visited[city] = True
        steps[step] = city
        if step % _STEPS == 0:
            look(_AS_LONG_AS * step)
    return order


def _by_row(instance: Instance, is_visited: NDArray[np.bool_]) -> Callable[[int, int], int]:
    """The nearest unvisited city from a row of distances, the smaller number among equals."""

    def nearest(city: int, _: int) -> int:
        left = np.flatnonzero(~is_visited)
        return int(left[np.argmin(instance.distances(city, left))])

    return nearest


def _by_points(points: NDArray[np.float64], norm: float, is_visited: NDArray[np.bool_]) -> Callable[[int, int], int]:
    """The nearest unvisited city of few, the smaller number among equals."""

    def nearest(city: int, _: int) -> int:
        left = np.flatnonzero(~is_visited)
        return int(left[np.argmin(sizes(points[left] - points[city], norm))])

    return nearest


def _by_tree(points: NDArray[np.float64], norm: float, is_visited: NDArray[np.bool_]) -> Callable[[int, int], int]:
    """The nearest unvisited city from a k-d tree, the smaller number among equals.

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
            named = tree.query(points[city], np.arange(1, width + 1), p=norm)
            distances, indices = np.asarray(named[0]), np.asarray(named[1])
            found = left[indices]
            is_open = ~is_visited[found]
            if is_open.any():
                least = distances[is_open].min()
                # What ties with the farthest may tie with others that were not named.
                if least < distances[-1] or width == len(left):
                    return int(found[is_open & (distances == least)].min())
            width *= _WIDER

    return nearest
