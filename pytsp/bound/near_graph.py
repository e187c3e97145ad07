"""Graphs of near cities for kernels: which pairs are edges, and the rows in which kernels take them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pytsp.backends.context import Backend
from pytsp.backends.marshal import Opaque
from pytsp.bound.certificate import MOST, scaled
from pytsp.neighbours.hilbert import hilbert_keys
from pytsp.problem.instance import Instance
from pytsp.problem.location import curve_points

__all__ = ["Rows", "connected", "joined", "listed", "load", "scale_of"]

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


class Rows(NamedTuple):
    """The edges of a graph of n cities, each both ways, in a row a city: the other ends, in ascending order.

    Attributes
    ----------
    ends : ndarray of int32, shape (n,)
        Where each row ends, and the next one begins.
    others : ndarray of int32, shape (e,)
        The rows.
    """

    ends: NDArray[np.int32]
    others: NDArray[np.int32]

    def cities(self, first: int, last: int) -> NDArray[np.int64]:
        """Return the cities in whose rows the entries first, …, last - 1 stand."""
        return np.searchsorted(self.ends, np.arange(first, last), side="right")


def listed(lists: NDArray[np.int32]) -> Rows:
    """Return the edges of neighbour lists. O(n k log(n k))."""
    n, k = lists.shape
    numbers = np.empty(2 * n * k, np.int64)
    for first in range(0, n, _BLOCK):
        cities = np.arange(first, min(first + _BLOCK, n))[:, None]
        others = lists[first : first + _BLOCK].astype(np.int64)
        block = slice(2 * k * first, 2 * k * (first + len(cities)))
        numbers[block] = np.concatenate([(cities * n + others).ravel(), (others * n + cities).ravel()])
    return _rows(n, numbers)


def joined(rows: Rows, pairs: NDArray[np.int64]) -> Rows:
    """Return edges, and further pairs of cities, shape (m, 2)."""
    n, e = len(rows.ends), len(rows.others)
    a, b = pairs.T
    numbers = np.empty(e + 2 * len(pairs), np.int64)
    for first in range(0, e, _BLOCK):
        last = min(first + _BLOCK, e)
        numbers[first:last] = rows.cities(first, last) * n + rows.others[first:last]
    np.add(a * n, b, out=numbers[e : e + len(pairs)])
    np.add(b * n, a, out=numbers[e + len(pairs) :])
    return _rows(n, numbers)


def _rows(n: int, numbers: NDArray[np.int64]) -> Rows:
    """Return the rows of edges i n + j, of which some may be there more than once; they are sorted in place."""
    numbers.sort()
    is_new = np.ones(len(numbers), np.bool_)
    np.not_equal(numbers[1:], numbers[:-1], out=is_new[1:])
    counts = np.zeros(n, np.int32)
    others = np.empty(np.count_nonzero(is_new), np.int32)
    made = 0
    for first in range(0, len(numbers), _BLOCK):
        block = slice(first, first + _BLOCK)
        cities, found = np.divmod(numbers[block][is_new[block]], n)
        others[made : made + len(found)] = found
        made += len(found)
        if len(cities):
            counts[cities[0] : cities[-1] + 1] += np.bincount(cities - cities[0]).astype(np.int32)
    return Rows(np.cumsum(counts, dtype=np.int32), others)


def load(kernels: Backend, instance: Instance, rows: Rows, scale: int) -> Opaque:
    """Return a graph on the device, with lengths times `scale`."""
    lengths = np.empty(len(rows.others), np.int64)
    for first in range(0, len(lengths), _BLOCK):
        last = min(first + _BLOCK, len(lengths))
        distances = instance.distances(rows.cities(first, last), rows.others[first:last])
        lengths[first:last] = scaled(instance, distances, scale)
    return kernels.call("near_graph_load", rows.ends, rows.others, lengths)  # type: ignore[no-any-return]


def connected(instance: Instance, rows: Rows) -> Rows:
    """Return edges, joined into one part: along a curve, where its cities are in different ones.

    Without coordinates the cities are in order of their numbers.
    """
    from scipy.sparse import csr_matrix  # noqa: PLC0415
    from scipy.sparse.csgraph import connected_components  # noqa: PLC0415

    n = instance.n
    starts = np.concatenate([[0], rows.ends])
    _, parts = connected_components(csr_matrix((np.ones(len(rows.others), np.int8), rows.others, starts), shape=(n, n)))
    points = curve_points(instance)
    order = np.arange(n) if points is None else np.argsort(hilbert_keys(points), kind="stable")
    apart = np.flatnonzero(parts[order[1:]] != parts[order[:-1]])
    return joined(rows, np.column_stack([order[apart], order[apart + 1]]))
