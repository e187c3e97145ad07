"""Neighbours from all four quadrants around a city, for cities in clusters."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pytsp.neighbours.coincident import group_coincident
from pytsp.neighbours.kdtree import NearestPoints, map_in_threads

# Nearest cities, in units of k, that are searched for the quadrants: more if fewer do not fill them.
_WIDTHS = (2, 5, 20, 80)
# Candidates that a thread looks at together: this bounds the memory, however many threads there are.
_BLOCK = 1 << 16


def quadrant_lists(points: NDArray[np.float64], norm: float, k: int) -> NDArray[np.int32]:
    """Return the k // 4 nearest of each quadrant, filled up with the nearest overall, by distance, shape (n, k).

    A quadrant has the axis at its clockwise side and not the other one; a city at the same point counts to the last.
    Only the nearest 80 k cities are searched, at most k + 1 at a point. Memory O(n k), work O(n k log n), for the few
    cities that need it 16 times that.
    """
    tree = NearestPoints(points, norm, k + 1)
    found = np.empty((len(points), k), dtype=np.int32)
    cities, beyond = tree.order, tree.order[:0]
    if tree.is_crowded:
        # A city that more than k of its group precede lists the same cities as the one that k precede.
        groups = group_coincident(points)
        is_beyond = groups.rank > k
        beyond, last = groups.order[is_beyond], groups.order[np.repeat(groups.first[:-1], groups.sizes)[is_beyond] + k]
        is_searched = np.ones(len(points), dtype=np.bool_)
        is_searched[beyond] = False
        cities = tree.order[is_searched[tree.order]]
    if tree.has_boxes:
        found[cities] = tree.in_quadrants(cities, k, min(_WIDTHS[-1] * k, tree.most))
        cities = cities[:0]
    for width in (min(factor * k, tree.most) for factor in _WIDTHS):

        def search(block: NDArray[np.int64], width: int = width) -> NDArray[np.int64]:
            found[block], is_filled = _choose(points, block, tree.nearest(block, width), k)
            return block[~is_filled]

        cities = np.concatenate([cities[:0], *map_in_threads(search, cities, max(1, _BLOCK // width))])
        if width == tree.most:
            break
    if len(beyond):
        found[beyond] = found[last]
    return found


def _choose(
    points: NDArray[np.float64], cities: NDArray[np.int64], near: NDArray[np.int32], k: int
) -> tuple[NDArray[np.int32], NDArray[np.bool_]]:
    """Choose k of the cities `near`, which are in order of distance, and tell whether each quadrant had its share."""
    quadrants = _quadrants(points[near] - points[cities, None])
    share = k // 4
    is_chosen = np.zeros(near.shape, dtype=np.bool_)
    is_filled = np.ones(len(near), dtype=np.bool_)
    for quadrant in range(4):
        is_inside = quadrants == quadrant
        is_chosen |= is_inside & (is_inside.cumsum(axis=1, dtype=np.int16) <= share)
        is_filled &= is_inside.sum(axis=1) >= share
    kept = np.sort(np.argsort(~is_chosen, axis=1, kind="stable")[:, :k], axis=1)
    return np.take_along_axis(near, kept, axis=1), is_filled


def _quadrants(differences: NDArray[np.float64]) -> NDArray[np.int8]:
    x, y = differences[..., 0], differences[..., 1]
    is_upper = (y > 0) | ((y == 0) & (x > 0))
    return np.where(is_upper, np.where(x > 0, 0, 1), np.where(x < 0, 2, 3)).astype(np.int8)
