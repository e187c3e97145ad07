"""The greedy tour (multiple fragment): the shortest edge first that still fits into a tour."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytsp.neighbours.lists import nearest_among
from pytsp.problem.instance import Instance
from pytsp.problem.location import group_coincident, partners_of
from pytsp.utils.deadline import look

# The neighbours of a fragment's end that it may be joined with.
_JOINS = 8
# Distances computed together, so that what that needs in between stays in the cache.
_BLOCK = 1 << 16
# Fewer edges are taken one by one.
_FEW = 4096
# So are those that are left after a round that took a smaller share of the edges.
_SHARE = 1 / 64


def greedy_order(instance: Instance, neighbours: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return the cities in the order of the greedy path over the lists `neighbours`, shape (n,)."""
    n = instance.n
    fragments = Fragments(n)
    _join_coincident(instance, fragments, neighbours)
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


def _join_coincident(instance: Instance, fragments: Fragments, neighbours: NDArray[np.int32]) -> None:
    """Join coincident cities that are too many for one's list, which would take many rounds."""
    points = None if instance.coordinates is None or partners_of(instance) is not None else instance.coordinates
    if points is None or neighbours.shape[1] == 0 or not (points[neighbours[:, -1]] == points).all(axis=1).any():
        return
    groups = group_coincident(points)
    is_crowded = np.repeat(groups.sizes > neighbours.shape[1] + 1, groups.sizes)
    second = np.flatnonzero(is_crowded & (groups.rank > 0))
    fragments.take(groups.order[second - 1], groups.order[second])


def _edges(
    instance: Instance, fragments: Fragments, cities: NDArray[Any], near: NDArray[Any]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the edges between `cities` and those `near` that join fragments, i < j, in order of (length, i, j)."""
    n = instance.n
    a, b = np.repeat(cities, near.shape[1]), near.ravel()
    may = fragments.are_joinable(a, b)
    if not may.all():
        a, b = a[may], b[may]
    look(n)
    codes = np.sort(np.minimum(a, b).astype(np.int64) * n + np.maximum(a, b))
    is_new = np.append(True, codes[1:] != codes[:-1])[: len(codes)]
    look(n)
    i, j = np.divmod(codes[is_new], n)
    ranks = _argsort(_lengths(instance, i, j))
    return i[ranks], j[ranks]


def _lengths(instance: Instance, i: NDArray[np.int64], j: NDArray[np.int64]) -> NDArray[Any]:
    if len(i) <= _BLOCK:
        return instance.distances(i, j)
    lengths = []
    for k in range(0, len(i), _BLOCK):
        look(instance.n)
        lengths.append(instance.distances(i[k : k + _BLOCK], j[k : k + _BLOCK]))
    return np.concatenate(lengths)


def _argsort(lengths: NDArray[Any]) -> NDArray[np.int64]:
    """Return the indices of `lengths` in ascending order, the smaller index first among equals."""
    m = len(lengths)
    if lengths.dtype.kind == "f" or m == 0 or int(lengths.max()) >= 2**63 // m - 1:
        return np.argsort(lengths, kind="stable")
    # Sorting numbers that hold the index is several times as fast as a stable sort.
    packed: NDArray[np.int64] = np.sort(lengths * m + np.arange(m)) % m
    return packed


class Fragments:
    """Paths that together visit n cities, `count` of them; at first each city is a path by itself."""

    def __init__(self, n: int) -> None:
        self.count = n
        self._degree = np.zeros(n, dtype=np.int32)
        # The other end of a fragment for each of its ends; for other cities meaningless.
        self._opposite = np.arange(n, dtype=np.int32)
        # As many neighbours on the fragment as the degree says.
        self._links = np.full((n, 2), -1, dtype=np.int32)
        self._first = np.empty(n, dtype=np.int32)

    def ends(self) -> NDArray[np.int64]:
        """Return the cities with fewer than two edges, ascending."""
        return np.flatnonzero(self._degree < 2)

    def are_joinable(self, a: NDArray[Any], b: NDArray[Any]) -> NDArray[np.bool_]:
        """Tell whether each of the edges (a, b) joins ends of different fragments."""
        may: NDArray[np.bool_] = (self._degree[a] < 2) & (self._degree[b] < 2) & (self._opposite[a] != b)
        return may

    def take(self, a: NDArray[Any], b: NDArray[Any]) -> None:
        """Take the edges (a, b), each of two cities, one after the other, where they join ends of different fragments.

        Where there are many, in rounds: an edge that precedes all others at the four ends of its two fragments is
        taken whatever becomes of the others, and all such edges at once. This gives the same fragments, since nothing
        that precedes such an edge can change either of its fragments. Work O(m) a round.
        """
        step = max(_FEW, len(self._degree))
        for start in range(0, len(a), step):
            u, v = a[start : start + step], b[start : start + step]
            while True:
                look(len(self._degree))
                may = self.are_joinable(u, v)
                u, v = u[may], v[may]
                if len(u) < _FEW:
                    break
                is_first = self._is_first(u, v)
                self._take_together(u[is_first], v[is_first])
                if is_first.sum() < _SHARE * len(u):
                    break
            self._take_one_by_one(u, v)

    def path(self) -> NDArray[np.int32]:
        """Return the cities of the one fragment that is left, in order from its smaller end."""
        n = len(self._degree)
        # Elements of memoryviews are Python's own numbers: this takes no longer than a search of SciPy's, whose import
        # takes longer than 100,000 cities do.
        ones, others = (np.ascontiguousarray(column).data for column in self._links.T)
        path = np.empty(n, dtype=np.int32)
        before, city, place = -1, int(self.ends()[0]), path.data
        for at in range(n):
            place[at] = city
            one = ones[city]
            before, city = city, others[city] if one == before else one
        return path

    def _is_first(self, u: NDArray[Any], v: NDArray[Any]) -> NDArray[np.bool_]:
        """Tell whether an edge comes first at all four ends of its two fragments."""
        ranks = np.arange(len(u), dtype=np.int32)
        first, opposite = self._first, self._opposite
        far_u, far_v = opposite[u], opposite[v]
        first[far_u] = first[far_v] = len(u)
        # The last of several values assigned to one element stays: here the smallest.
        ends = np.stack([u, v], axis=1).ravel()
        first[ends[::-1]] = np.repeat(ranks, 2)[::-1]
        is_first: NDArray[np.bool_] = (
            (first[u] == ranks) & (first[v] == ranks) & (first[far_u] >= ranks) & (first[far_v] >= ranks)
        )
        return is_first

    def _take_together(self, u: NDArray[Any], v: NDArray[Any]) -> None:
        """Take edges no two of which share a fragment."""
        degree, opposite = self._degree, self._opposite
        self._links[u, degree[u]] = v
        self._links[v, degree[v]] = u
        degree[u] += 1
        degree[v] += 1
        far_u, far_v = opposite[u], opposite[v]
        opposite[far_u] = far_v
        opposite[far_v] = far_u
        self.count -= len(u)

    def _take_one_by_one(self, u: NDArray[Any], v: NDArray[Any]) -> None:
        # Elements of a memoryview are Python's own numbers, which makes the loop several times as fast.
        degree, opposite = self._degree.data, self._opposite.data
        links = self._links.ravel().data
        for a, b in zip(u.tolist(), v.tolist(), strict=True):
            if degree[a] < 2 and degree[b] < 2 and opposite[a] != b:
                links[2 * a + degree[a]] = b
                links[2 * b + degree[b]] = a
                degree[a] += 1
                degree[b] += 1
                far_a, far_b = opposite[a], opposite[b]
                opposite[far_a] = far_b
                opposite[far_b] = far_a
                self.count -= 1
