"""Graphs of near cities for kernels: which pairs are edges, and the rows in which kernels take them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pytsp.backends.context import Backend
from pytsp.backends.marshal import Opaque
from pytsp.bound.certificate import MOST, scaled
from pytsp.neighbours.hilbert import hilbert_keys
from pytsp.problem.instance import Instance
from pytsp.problem.location import curve_points

__all__ = ["connected", "joined", "listed", "load", "scale_of"]

# Distances computed at once, so that what they need in between stays in the cache.
_BLOCK = 1 << 16


def scale_of(instance: Instance) -> int:
    """Return the power of two that makes distances fine enough, and leaves penalties room."""
    row = instance.distances(0, np.arange(instance.n))
    longest = float(row[np.isfinite(row)].max(initial=1.0))
    scale = 128 if instance.is_exact else 1 << 30
    while scale > 1 and longest * scale > min(MOST >> 8, (1 << 58) // instance.n):
        scale >>= 1
    return scale


def listed(lists: NDArray[np.int32]) -> NDArray[np.int64]:
    """Return the edges of neighbour lists, as numbers i n + j in ascending order, each both ways. O(n k log(n k))."""
    n, k = lists.shape
    edges = np.empty(2 * n * k, np.int64)
    for first in range(0, n, _BLOCK):
        cities = np.arange(first, min(first + _BLOCK, n))[:, None]
        others = lists[first : first + _BLOCK].astype(np.int64)
        block = slice(2 * k * first, 2 * k * (first + len(cities)))
        edges[block] = np.concatenate([(cities * n + others).ravel(), (others * n + cities).ravel()])
    return _distinct(edges)


def joined(n: int, edges: NDArray[np.int64], pairs: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return edges as `listed` does, with further pairs of cities, shape (m, 2)."""
    a, b = pairs.T
    return _distinct(np.concatenate([edges, a * n + b, b * n + a]))


def _distinct(numbers: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the distinct ones of some numbers, which are sorted in place: `np.unique` takes thrice the memory."""
    numbers.sort()
    is_new = np.ones(len(numbers), np.bool_)
    np.not_equal(numbers[1:], numbers[:-1], out=is_new[1:])
    return numbers[is_new]


def load(kernels: Backend, instance: Instance, edges: NDArray[np.int64], scale: int) -> Opaque:
    """Return a graph on the device, of edges as `listed` has them, their lengths times `scale`."""
    n = instance.n
    others, lengths = np.empty(len(edges), np.int32), np.empty(len(edges), np.int64)
    for first in range(0, len(edges), _BLOCK):
        block = slice(first, first + _BLOCK)
        cities, others[block] = np.divmod(edges[block], n)
        lengths[block] = scaled(instance, instance.distances(cities, others[block]), scale)
    ends = np.searchsorted(edges, n * np.arange(1, n + 1)).astype(np.int32)
    return kernels.call("near_graph_load", ends, others, lengths)  # type: ignore[no-any-return]


def connected(instance: Instance, edges: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return edges as `listed` does, joined into one part: along a curve, where its cities are in different ones.

    Without coordinates the cities are in order of their numbers.
    """
    from scipy.sparse import csr_matrix  # noqa: PLC0415
    from scipy.sparse.csgraph import connected_components  # noqa: PLC0415

    n = instance.n
    ends = np.searchsorted(edges, n * np.arange(n + 1))
    _, parts = connected_components(csr_matrix((np.ones(len(edges), np.int8), edges % n, ends), shape=(n, n)))
    points = curve_points(instance)
    order = np.arange(n) if points is None else np.argsort(hilbert_keys(points), kind="stable")
    apart = np.flatnonzero(parts[order[1:]] != parts[order[:-1]])
    return joined(n, edges, np.column_stack([order[apart], order[apart + 1]]))
