"""Edges that every tour has: instances of which pairs of cities stay side by side.

Fixed edges that a tour can hold are paths that have no city in common. A path becomes a pair, its two ends, at
distance 0. The cities between them leave the instance, and come back between the ends. All other distances get longer
by more than the longest one, as the ways of an asymmetric instance do (`pytsp.problem.asymmetric`): a tour that parts
a pair is shortened by a 2-opt move that joins it, so that shortest tours part none.

The further city that closes an open path has an edge that stays to each end that is given.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pytsp.exceptions import InstanceError, TourError
from pytsp.problem.chains import Chains, chains_of
from pytsp.problem.instance import Instance
from pytsp.problem.kernel_input import MOST_DISTANCE, check_kernel_matrix, check_side, longest_distance
from pytsp.problem.location import is_located
from pytsp.problem.long_edges import shorten_edges
from pytsp.problem.metrics import with_further, with_pairs
from pytsp.problem.open_paths import check_distinct, check_ends
from pytsp.problem.tours import check_tour, numbers_of

# How many times the longest floating-point distance others are longer: rounding leaves pairs the shortest.
_EXCESS = 1.25


@dataclass(frozen=True, eq=False)
class FixedEdges:
    """The shortest tour, or open path, with an instance's fixed edges as a closed tour of another; make one with `of`.

    In `instance` pairs stay together: city i is `kept[i]`, ascending, where n is the further city of an open path.
    `chains` are the paths of fixed edges. A tour is longer than the original's by `offset`, unless `is_shortened` and
    it has a shortened edge.
    """

    original: Instance
    instance: Instance
    kept: NDArray[np.int32]
    chains: Chains
    offset: int | float
    is_open: bool = False
    start_city: int | None = None
    end_city: int | None = None
    is_shortened: bool = False

    @classmethod
    def of(
        cls, original: Instance, *, is_open: bool = False, start_city: int | None = None, end_city: int | None = None
    ) -> FixedEdges:
        """Make the instance of closed tours; of a matrix in O(n²) memory.

        Fixed edges that no path has, or distances beyond the kernels' bounds, raise `InstanceError`.
        """
        n = original.n
        if is_open:
            check_distinct(start_city, end_city, n)
        given = np.empty((0, 2), dtype=np.int32) if original.fixed is None else original.fixed
        # The further city has an edge to each end that is given.
        joins = [(city, n) for city in sorted({start_city, end_city} - {None}) if is_open]  # type: ignore[type-var]
        edges = np.concatenate([given, np.array(joins, dtype=np.int32).reshape(-1, 2)])
        names = None if original.labels is None else [*original.names_of(np.arange(n)), "the end of the path"]
        chains = chains_of(edges, n + is_open, names)
        kept = np.delete(np.arange(n + is_open, dtype=np.int32), chains.interior)
        pairs = np.searchsorted(kept, chains.ends)
        if is_located(original):
            (instance, longer), is_shortened = _of_points(original, kept, pairs), False
        else:
            instance, longer, is_shortened = _of_matrix(original, kept, pairs)
        inner = cls(original, instance, kept, chains, 0, is_open, start_city, end_city, is_shortened)
        # Of two cities both edges are the pair, though one of them is the way back.
        is_pair = len(kept) == 2 and len(pairs) == 1
        others = 0 if is_pair or len(kept) == 1 else len(kept) - len(pairs)
        inside = [inner._length(chains.edges), *([inner._length(kept[None])] if is_pair else [])]
        return replace(inner, offset=others * longer - sum(inside))

    @property
    def partners(self) -> NDArray[np.int32]:
        """The partner of each city of `instance`; itself where it has none."""
        partners = np.arange(len(self.kept), dtype=np.int32)
        pairs = np.searchsorted(self.kept, self.chains.ends).astype(np.int32)
        partners[pairs] = pairs[:, ::-1]
        return partners

    def restate(self, tour: ArrayLike) -> NDArray[np.int32]:
        """Return the tour or path, with all fixed edges, of a tour of `instance`; pairs that it parts are joined."""
        together = held(check_tour(tour, len(self.kept)), self.partners)
        closed = self._with_interior(self.kept[together])
        if not self.is_open:
            return closed
        path = np.roll(closed, -int(np.argmax(closed == self.original.n)))[1:]
        start, end = self.start_city, self.end_city
        is_turned = path[0] != start if start is not None else end is not None and path[-1] != end
        return path[::-1].copy() if is_turned else path

    def tour(self, given: ArrayLike) -> NDArray[np.int32]:
        """Return the tour of a tour or path; one without the fixed edges or the given ends raises `TourError`."""
        n = self.original.n
        closed = check_tour(given, n)
        if self.is_open:
            check_ends(closed, self.start_city, self.end_city)
            closed = np.append(closed, np.int32(n))
        check_has_fixed(self.chains.edges, closed)
        is_kept = np.zeros(len(closed), dtype=np.bool_)
        is_kept[self.kept] = True
        tour: NDArray[np.int32] = np.searchsorted(self.kept, closed[is_kept[closed]]).astype(np.int32)
        return tour

    def _with_interior(self, tour: NDArray[np.int32]) -> NDArray[np.int32]:
        """Return a tour of ends of paths with what is between them."""
        cities, firsts = self.chains
        long = np.flatnonzero(np.diff(firsts) > 2)
        if not len(long):
            return tour
        position = np.empty(self.original.n + 1, dtype=np.int64)
        position[tour] = np.arange(len(tour))
        begins, ends = position[cities[firsts[:-1]]], position[cities[firsts[1:] - 1]]
        pieces, done = [], 0
        for path in long[np.argsort(np.minimum(begins, ends)[long])].tolist():
            inside = cities[firsts[path] + 1 : firsts[path + 1] - 1]
            upto = int(min(begins[path], ends[path])) + 1
            pieces += [tour[done:upto], inside if begins[path] < ends[path] else inside[::-1]]
            done = upto
        return np.concatenate([*pieces, tour[done:]])

    def _length(self, edges: NDArray[np.int32]) -> int | float:
        """Return the length of edges in all; those of the further city have none."""
        edges = edges[(edges < self.original.n).all(axis=1)]
        lengths = self.original.distances(edges[:, 0], edges[:, 1])
        return int(lengths.sum()) if self.original.is_exact else math.fsum(lengths)


def check_has_fixed(edges: NDArray[np.int32], tour: NDArray[np.int32], *, is_open: bool = False) -> None:
    """Refuse a tour, or a path, that has not all of some edges."""
    position = numbers_of(tour)
    apart = np.abs(position[edges[:, 0]] - position[edges[:, 1]])
    parted = np.flatnonzero((apart != 1) & (is_open | (apart != len(tour) - 1)))
    if parted.size:
        a, b = edges[parted[0]].tolist()
        raise TourError(f"the {'path' if is_open else 'tour'} does not have the fixed edge {a}–{b}")


def held(tour: NDArray[np.int32], partners: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return a tour with each pair side by side, in O(n); one in which all are may only begin elsewhere."""
    if len(tour) > 2 and partners[tour[0]] == tour[-1]:
        # Its first edge stays one.
        tour = np.roll(tour, 1)
    position = numbers_of(tour).astype(np.int64)
    first = np.minimum(position, position[partners])
    rank = 2 * first + (position > position[partners])
    return np.argsort(rank, kind="stable").astype(np.int32)


def _of_points(original: Instance, kept: NDArray[np.int32], pairs: NDArray[np.int64]) -> tuple[Instance, int | float]:
    """Return the instance of cities that have places, and what distances are longer by."""
    n, points = original.n, original.coordinates
    assert points is not None
    has_further = kept[-1] == n
    columns, metric = [points[np.where(kept == n, 0, kept)]], original.metric
    longest = longest_distance(original)
    if original.is_exact:
        longer: int | float = math.ceil(longest) + 1
        if longest + longer > MOST_DISTANCE:
            raise InstanceError(
                f"{original.name or 'instance'}: distances up to {math.ceil(longest)} are too long beside fixed edges; "
                f"they may be {MOST_DISTANCE // 2 - 1}: divide the coordinates by a common factor"
            )
    else:
        longer = _EXCESS * longest or 1.0
    if has_further:
        columns.append(np.where(kept == n, -1.0, 0.0)[:, None])
        metric = with_further(metric)
    ties = np.arange(len(kept), dtype=np.float64)
    ties[pairs] = pairs.min(axis=1, keepdims=True)
    paired = np.column_stack([*columns, ties])
    return Instance._of_lawful(paired, original.name, with_pairs(metric, longer)), longer


def _of_matrix(
    original: Instance, kept: NDArray[np.int32], pairs: NDArray[np.int64]
) -> tuple[Instance, int | float, bool]:
    """Return the instance of a matrix, what distances are longer by, and whether any is shortened."""
    n, m, name = original.n, len(kept), original.name or "instance"
    check_side(original, "fixed edges need a", m)
    check_kernel_matrix(original, 20 * m * m)
    distances = original.distance_matrix() if original.matrix is None else original.matrix
    cities = kept[kept < n]
    given = np.zeros((m, m), dtype=distances.dtype)
    given[: len(cities), : len(cities)] = distances[np.ix_(cities, cities)]
    given[pairs[:, 0], pairs[:, 1]] = given[pairs[:, 1], pairs[:, 0]] = 0
    # The nearest-neighbour tour by which edges are known to be long has all pairs, at distance 0.
    ways: NDArray[Any] = shorten_edges(given, MOST_DISTANCE // 2 - 1)
    longest = ways.max().item()
    if original.is_exact and longest > MOST_DISTANCE // 2 - 1:
        raise InstanceError(
            f"{name}: distances up to {longest} are too long beside fixed edges; they may be "
            f"{MOST_DISTANCE // 2 - 1}: divide them by a common factor"
        )
    longer = longest + 1 if original.is_exact else _EXCESS * longest or 1.0
    paired = ways + longer
    np.fill_diagonal(paired, 0)
    paired[pairs[:, 0], pairs[:, 1]] = paired[pairs[:, 1], pairs[:, 0]] = 0
    paired = paired.astype(np.int32) if original.is_exact else paired
    return Instance._of_lawful(paired, original.name), longer, ways is not given
