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
    cities, others = np.repeat(np.arange(n), k), lists.ravel().astype(np.int64)
    return np.unique(np.concatenate([cities * n + others, others * n + cities]))


def joined(n: int, edges: NDArray[np.int64], pairs: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return edges as `listed` does, with further pairs of cities, shape (m, 2)."""
    a, b = pairs.T
    return np.union1d(edges, np.concatenate([a * n + b, b * n + a]))


def load(kernels: Backend, instance: Instance, edges: NDArray[np.int64], scale: int) -> Opaque:
    """Return a graph on the device, of edges as `listed` has them, their lengths times `scale`."""
    n = instance.n
    cities = edges // n
    others = edges - cities * n
    lengths = np.empty(len(edges), np.int64)
    for first in range(0, len(edges), _BLOCK):
        block = slice(first, first + _BLOCK)
        lengths[block] = scaled(instance, instance.distances(cities[block], others[block]), scale)
    ends = np.cumsum(np.bincount(cities, minlength=n)).astype(np.int32)
    return kernels.call("near_graph_load", ends, others.astype(np.int32), lengths)  # type: ignore[no-any-return]


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
