"""The greedy tour (multiple fragment), the shortest edge first that still fits into a tour, by kernels of a CPU."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytsp.backends.context import Backend
from pytsp.backends.marshal import Opaque
from pytsp.neighbours.boxes import host_beside
from pytsp.neighbours.lists import distances_to, nearest_among
from pytsp.problem.instance import Instance
from pytsp.problem.location import group_coincident, partners_of
from pytsp.utils.deadline import look

# The neighbours of a fragment's end that it may be joined with.
_JOINS = 8
# Edges that a kernel call takes, or as many as there are cities, if those are more.
_EDGES = 1 << 16


def greedy_order(instance: Instance, neighbours: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return the cities in the order of the greedy path over the lists `neighbours`, shape (n,)."""
    n, kernels = instance.n, host_beside()
    fragments = kernels.call("fragments_of", n)
    fragments = _joined(kernels, fragments, n, *_coincident(instance, neighbours))
    cities: NDArray[Any] = np.arange(n)
    near: NDArray[Any] = neighbours
    while True:
        look(n)
        fragments = _joined(kernels, fragments, n, *_edges(instance, cities, near))
        if kernels.call("fragments_count", fragments) == 1:
            break
        cities = kernels.call("fragments_ends", fragments)
        k = min(_JOINS, len(cities) - 1)
        near = cities[nearest_among(instance, cities.astype(np.int64), k, cyclic=True)]
    order: NDArray[np.int32] = kernels.call("fragments_path", fragments)
    # What comes next needs other sizes.
    kernels.release_memory()
    return order


def _joined(kernels: Backend, fragments: Opaque, n: int, a: NDArray[Any], b: NDArray[Any]) -> Opaque:
    """Return fragments of n cities after the edges (a, b), one after the other, that join ends of different ones."""
    # The kernel takes the shortest edge first, and equals in their order, as all are between cities in one place.
    places = np.zeros((n, 1))
    step = max(_EDGES, n)
    for first in range(0, len(a), step):
        look(n)
        ends = np.column_stack([a[first : first + step], b[first : first + step]]).astype(np.int32).ravel()
        # Each end of an edge lists the other one.
        others = (np.arange(len(ends), dtype=np.int32) ^ 1)[:, None]
        fragments = kernels.call("fragments_joined", places, fragments, ends, others)
    return fragments


def _coincident(instance: Instance, neighbours: NDArray[np.int32]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return edges between coincident cities that are too many for one's list, which would take many rounds."""
    none = np.empty(0, dtype=np.int64)
    points = None if instance.coordinates is None or partners_of(instance) is not None else instance.coordinates
    if points is None or neighbours.shape[1] == 0 or not (points[neighbours[:, -1]] == points).all(axis=1).any():
        return none, none
    groups = group_coincident(points)
    is_crowded = np.repeat(groups.sizes > neighbours.shape[1] + 1, groups.sizes)
    second = np.flatnonzero(is_crowded & (groups.rank > 0))
    return groups.order[second - 1], groups.order[second]


def _edges(instance: Instance, cities: NDArray[Any], near: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the edges between `cities` and those `near`, i < j, each once, in order of (length, i, j)."""
    n = instance.n
    a, b = np.repeat(cities, near.shape[1]), near.ravel()
    codes = np.sort(np.minimum(a, b).astype(np.int64) * n + np.maximum(a, b))
    is_new = np.append(True, codes[1:] != codes[:-1])[: len(codes)]
    look(n)
    i, j = np.divmod(codes[is_new], n)
    look(n)
    ranks = _argsort(distances_to(instance, i, j[:, None]).ravel())
    return i[ranks], j[ranks]


def _argsort(lengths: NDArray[Any]) -> NDArray[np.int64]:
    """Return the indices of `lengths` in ascending order, the smaller index first among equals."""
    m = len(lengths)
    if lengths.dtype.kind == "f" or m == 0 or int(lengths.max()) >= 2**63 // m - 1:
        return np.argsort(lengths, kind="stable")
    # Sorting numbers that hold the index is several times as fast as a stable sort.
    packed: NDArray[np.int64] = np.sort(lengths * m + np.arange(m)) % m
    return packed
