"""Fragments of a tour that grow by edges, each edge in its turn where it still fits."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytsp.neighbours.kdtree import are_few
from pytsp.utils.deadline import look

# Fewer edges are gone through one by one.
_FEW = 4096
# A round that takes a smaller share of the edges gives way to going through them one by one.
_SHARE = 1 / 64


class Fragments:
    """Paths that together visit n cities, at first each city by itself.

    Parameters
    ----------
    n : int

    Attributes
    ----------
    count : int
        The number of fragments.
    """

    def __init__(self, n: int) -> None:
        self.count = n
        self._degree = np.zeros(n, dtype=np.int32)
        # For a city at the end of a fragment the city at the other one; for others meaningless.
        self._opposite = np.arange(n, dtype=np.int32)
        # The neighbours on the fragment, as many as the degree says.
        self._links = np.full((n, 2), -1, dtype=np.int32)
        self._first = np.empty(n, dtype=np.int32)

    def ends(self) -> NDArray[np.int64]:
        """The cities with fewer than two edges, ascending."""
        return np.flatnonzero(self._degree < 2)

    def may_take(self, a: NDArray[Any], b: NDArray[Any]) -> NDArray[np.bool_]:
        """Whether the edges (a, b) join ends of different fragments, element by element."""
        may: NDArray[np.bool_] = (self._degree[a] < 2) & (self._degree[b] < 2) & (self._opposite[a] != b)
        return may

    def take(self, a: NDArray[Any], b: NDArray[Any]) -> None:
        """Take each of the edges (a, b) in its turn, where it joins ends of different fragments.

        Where there are many, in rounds: an edge that comes before all others at the four ends of its two fragments is
        taken whatever becomes of the others, and all such edges at once. This gives the same fragments, since nothing
        that comes before such an edge can change either of its fragments.

        Parameters
        ----------
        a, b : ndarray of integers, shape (m,)
            No city with itself.

        Notes
        -----
        Work O(m) a round; the rounds end where they would take few edges.
        """
        step = max(_FEW, len(self._degree))
        for start in range(0, len(a), step):
            u, v = a[start : start + step], b[start : start + step]
            while True:
                look(len(self._degree))
                may = self.may_take(u, v)
                u, v = u[may], v[may]
                if len(u) < _FEW:
                    break
                is_first = self._is_first(u, v)
                self._take_together(u[is_first], v[is_first])
                if is_first.sum() < _SHARE * len(u):
                    break
            self._take_in_turn(u, v)

    def path(self) -> NDArray[np.int32]:
        """The cities in the order of the one fragment that is left, shape (n,), from its smaller end."""
        n = len(self._degree)
        if n == 1:
            return np.zeros(1, dtype=np.int32)
        if are_few(n):
            return self._walked()
        starts = np.append(0, np.cumsum(self._degree, dtype=np.int32))
        targets = self._links[self._links >= 0]
        from scipy.sparse import csr_array  # noqa: PLC0415
        from scipy.sparse.csgraph import breadth_first_order  # noqa: PLC0415

        graph = csr_array((np.ones(len(targets), dtype=np.float64), targets, starts), shape=(n, n))
        order = breadth_first_order(graph, int(self.ends()[0]), return_predecessors=False)
        return np.asarray(order, dtype=np.int32)

    def _walked(self) -> NDArray[np.int32]:
        """The path of few cities, for which SciPy would take longer to import."""
        links = self._links.tolist()
        before, city = -1, int(self.ends()[0])
        order = []
        while city >= 0:
            order.append(city)
            one, other = links[city]
            before, city = city, other if one == before else one
        return np.array(order, dtype=np.int32)

    def _is_first(self, u: NDArray[Any], v: NDArray[Any]) -> NDArray[np.bool_]:
        """Whether an edge comes first at all four ends of its two fragments."""
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

    def _take_in_turn(self, u: NDArray[Any], v: NDArray[Any]) -> None:
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
