"""The greedy tour (multiple fragment): the shortest edge first that still fits into a tour.

References
----------
J. L. Bentley: Fast algorithms for geometric traveling salesman problems. ORSA Journal on Computing 4 (1992).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytsp.neighbours.coincident import places_of
from pytsp.neighbours.lists import nearest_among
from pytsp.problem.instance import Instance
from pytsp.starts.fragments import Fragments
from pytsp.utils.deadline import look

# Neighbours of a fragment's end that it may be joined with.
_JOINS = 8
_BLOCK = 1 << 16


def greedy_order(instance: Instance, neighbours: NDArray[np.int32]) -> NDArray[np.int32]:
    """The cities in the order of the greedy path over the lists `neighbours`, shape (n,)."""
    n = instance.n
    fragments = Fragments(n)
    _join_crowds(instance, fragments, neighbours)
    cities = np.arange(n)
    near: NDArray[Any] = neighbours
    while True:
        look(n)
        fragments.take(*_edges(instance, fragments, cities, near))
        if fragments.count == 1:
            return fragments.path()
        cities = fragments.ends()
        k = min(_JOINS, len(cities) - 1)
        near = cities[nearest_among(instance, cities, k, cyclic=True)]


def _join_crowds(instance: Instance, fragments: Fragments, neighbours: NDArray[np.int32]) -> None:
    """Join the cities of each place where more stand than one's list can name, which would take many rounds."""
    points = instance.coordinates
    if points is None or neighbours.shape[1] == 0 or not (points[neighbours[:, -1]] == points).all(axis=1).any():
        return
    places = places_of(points)
    is_crowded = np.repeat(places.sizes > neighbours.shape[1] + 1, places.sizes)
    second = np.flatnonzero(is_crowded & (places.rank > 0))
    fragments.take(places.order[second - 1], places.order[second])


def _edges(
    instance: Instance, fragments: Fragments, cities: NDArray[Any], near: NDArray[Any]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The edges between `cities` and those `near` that may be taken, i < j, in order of (length, i, j)."""
    n = instance.n
    a, b = np.repeat(cities, near.shape[1]), near.ravel()
    may = fragments.may_take(a, b)
    if not may.all():
        a, b = a[may], b[may]
    look(n)
    codes = np.sort(np.minimum(a, b).astype(np.int64) * n + np.maximum(a, b))
    is_new = np.ones(len(codes), dtype=np.bool_)
    is_new[1:] = codes[1:] != codes[:-1]
    look(n)
    i, j = np.divmod(codes[is_new], n)
    ranks = _ranked(_lengths(instance, i, j))
    return i[ranks], j[ranks]


def _lengths(instance: Instance, i: NDArray[np.int64], j: NDArray[np.int64]) -> NDArray[Any]:
    """The distances, block by block, so that what `Instance.distances` needs in between stays in the cache."""
    if len(i) <= _BLOCK:
        return instance.distances(i, j)
    lengths = []
    for k in range(0, len(i), _BLOCK):
        look(instance.n)
        lengths.append(instance.distances(i[k : k + _BLOCK], j[k : k + _BLOCK]))
    return np.concatenate(lengths)


def _ranked(lengths: NDArray[Any]) -> NDArray[np.int64]:
    """The indices of `lengths` in ascending order, the smaller index first among equals."""
    m = len(lengths)
    if lengths.dtype.kind == "f" or m == 0 or int(lengths.max()) >= 2**63 // m - 1:
        return np.argsort(lengths, kind="stable")
    # Sorting numbers that hold the index is several times as fast as a stable sort.
    packed: NDArray[np.int64] = np.sort(lengths * m + np.arange(m)) % m
    return packed
