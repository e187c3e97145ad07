"""Edges that every tour has, as the paths that they make: checked, and cut into these."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pytsp.exceptions import InstanceError
from pytsp.utils.notices import some_of


class Chains(NamedTuple):
    """Paths of fixed edges without a common city: `cities` path by path, `firsts` where each begins, and the end."""

    cities: NDArray[np.int32]
    firsts: NDArray[np.int64]

    @property
    def ends(self) -> NDArray[np.int32]:
        """The first and the last city of each path, shape (p, 2)."""
        ends: NDArray[np.int32] = np.column_stack([self.cities[self.firsts[:-1]], self.cities[self.firsts[1:] - 1]])
        return ends

    @property
    def interior(self) -> NDArray[np.int32]:
        return np.delete(self.cities, np.concatenate([self.firsts[:-1], self.firsts[1:] - 1]))

    @property
    def edges(self) -> NDArray[np.int32]:
        """The edges of the paths, shape (e, 2), in their order."""
        edges: NDArray[np.int32] = np.column_stack([self.cities[:-1], self.cities[1:]])
        return np.delete(edges, self.firsts[1:-1] - 1, axis=0)


def check_fixed(
    fixed: Iterable[Sequence[Any]], n: int, names: Sequence[str] | None = None, *, is_directed: bool = False
) -> NDArray[np.int32] | None:
    """Return fixed edges, shape (m, 2), each once, the smaller city first and in order; None where there are none.

    `names` of the cities are for messages. Edges that no tour can have, or of asymmetric distances, raise
    `InstanceError`.
    """
    edges = _pairs(fixed)
    if not len(edges):
        return None
    if is_directed:
        raise InstanceError("fixed edges have no effect with asymmetric instances, whose ways have a direction")
    outside = np.flatnonzero(((edges < 0) | (edges >= n)).any(axis=1))
    if outside.size:
        a, b = edges[outside[0]]
        raise InstanceError(f"the fixed edge {a}–{b} joins no two of the cities 0 … {n - 1}")
    loops = np.flatnonzero(edges[:, 0] == edges[:, 1])
    if loops.size:
        raise InstanceError(
            f"a fixed edge joins two cities, but one joins {_name(int(edges[loops[0], 0]), names)} with itself"
        )
    codes = np.unique(edges.min(axis=1).astype(np.int64) * n + edges.max(axis=1))
    once = np.column_stack(np.divmod(codes, n)).astype(np.int32)
    chains_of(once, n, names)
    once.setflags(write=False)
    return once


def chains_of(edges: NDArray[np.int32], n: int, names: Sequence[str] | None = None) -> Chains:
    """Return the paths that distinct edges, shape (m, 2), make; a cycle through all `n` cities loses its last edge.

    A city with three edges, or a cycle without all cities, raises `InstanceError`.
    """
    degrees = np.bincount(edges.ravel(), minlength=n)
    if degrees.max(initial=0) <= 1:
        return Chains(edges.ravel(), np.arange(0, edges.size + 1, 2))
    crowded = np.flatnonzero(degrees > 2)
    if crowded.size:
        city = int(crowded[0])
        those = edges[(edges == city).any(axis=1)].tolist()
        raise InstanceError(
            f"no tour has all fixed edges: {_name(city, names)} has {len(those)}, of which a tour has two: "
            + some_of([_edge(a, b, names) for a, b in those])
        )
    near: dict[int, list[int]] = {}
    for a, b in edges.tolist():
        near.setdefault(a, []).append(b)
        near.setdefault(b, []).append(a)
    found, firsts, seen = [], [0], set[int]()
    for first in [city for city, others in near.items() if len(others) == 1]:
        if first not in seen:
            path = _walk(near, first)
            seen.update(path)
            found += path
            firsts.append(len(found))
    left = next((city for city in near if city not in seen), None)
    if left is not None:
        cycle = _walk(near, left)
        if len(cycle) < n:
            closed = [_edge(a, b, names) for a, b in zip(cycle, [*cycle[1:], cycle[0]], strict=True)]
            raise InstanceError(
                f"no tour has all fixed edges: some close a cycle without the others: {some_of(closed)}"
            )
        found, firsts = cycle, [0, n]
    return Chains(np.array(found, dtype=np.int32), np.array(firsts, dtype=np.int64))


def _pairs(fixed: Iterable[Sequence[Any]]) -> NDArray[np.int64]:
    try:
        array = fixed if isinstance(fixed, np.ndarray) else np.array([*map(list, fixed)])
    except (TypeError, ValueError) as error:
        raise InstanceError(f"fixed edges must be pairs of cities: {error}") from error
    if array.size == 0:
        return np.empty((0, 2), dtype=np.int64)
    if array.ndim != 2 or array.shape[1] != 2 or array.dtype.kind not in "iu":
        raise InstanceError(
            f"fixed edges must be pairs of cities, integers of shape (m, 2); they are {array.dtype} of shape "
            f"{array.shape}"
        )
    return array.astype(np.int64)


def _walk(near: dict[int, list[int]], first: int) -> list[int]:
    """Return the cities of a path from one of its ends, or of a cycle from a city."""
    path, before, city = [first], -1, first
    while True:
        others = near[city]
        after = others[0] if others[0] != before else others[-1]
        if after in (before, first):
            return path
        path.append(after)
        before, city = city, after


def _name(city: int, names: Sequence[str] | None) -> str:
    return f"city {city}" if names is None or city >= len(names) else f"city {city} ({names[city]!r:.60})"


def _edge(a: int, b: int, names: Sequence[str] | None) -> str:
    if names is None or max(a, b) >= len(names):
        return f"{a}–{b}"
    return f"{names[a]!r:.60}–{names[b]!r:.60}"
