"""Graphs of near cities for kernels: which pairs are edges, their rows, and the ascent on such a graph."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pytsp.backends.context import Backend
from pytsp.backends.marshal import Opaque
from pytsp.bound.graphs import MOST, scaled
from pytsp.neighbours.components import components
from pytsp.neighbours.hilbert import hilbert_order
from pytsp.problem.instance import Instance
from pytsp.problem.location import curve_points

# Distances computed at once, so that what they need in between stays in the cache.
_BLOCK = 1 << 16
# Cities whose rows are made at once.
_CITIES = 1 << 13
# Seconds of a kernel call.
CALL_SECONDS = 0.15
# Steps of the first call.
FIRST_STEPS = 4
# Parts of a unit in which kernels take steps.
STEP_PARTS = 64
# The largest step, in these parts.
MOST_STEP = 1 << 38


def scale_of(instance: Instance) -> int:
    """Return the power of two that makes distances fine enough, and leaves penalties room."""
    row = instance.distances(0, np.arange(instance.n))
    longest = float(row[np.isfinite(row)].max(initial=1.0))
    scale = 128 if instance.is_exact else 1 << 30
    while scale > 1 and longest * scale > min(MOST >> 8, (1 << 58) // instance.n):
        scale >>= 1
    return scale


class Rows(NamedTuple):
    """The edges of a graph, each both ways: the other ends, ascending, in a row a city, and where each row ends."""

    ends: NDArray[np.int32]
    others: NDArray[np.int32]

    def cities(self, first: int, last: int) -> NDArray[np.int64]:
        """Return the cities in whose rows the entries first, …, last - 1 are."""
        return np.searchsorted(self.ends, np.arange(first, last), side="right")


def listed(lists: NDArray[np.int32]) -> Rows:
    """Return the edges of neighbour lists. O(n k log(n k))."""
    n, k = lists.shape
    back = np.empty(n * k, np.int64)
    for first in range(0, n, _BLOCK):
        last = min(first + _BLOCK, n)
        numbers = lists[first:last].astype(np.int64) * n + np.arange(first, last)[:, None]
        back[first * k : last * k] = numbers.ravel()
    return _with(Rows(np.arange(k, n * k + 1, k, dtype=np.int32), lists.ravel()), back)


def joined(rows: Rows, pairs: NDArray[np.int32]) -> Rows:
    """Return edges, and further pairs of cities, shape (m, 2)."""
    (a, b), m = pairs.T, len(pairs)
    numbers = np.concatenate([a, b], dtype=np.int64)
    numbers *= len(rows.ends)
    numbers[:m] += b
    numbers[m:] += a
    return _with(rows, numbers)


def _with(rows: Rows, numbers: NDArray[np.int64]) -> Rows:
    """Return rows, in any order within, and further entries i n + j, each once. They are sorted in place."""
    numbers.sort()
    n = len(rows.ends)
    ends, others = np.empty(n, np.int32), np.empty(len(rows.others) + len(numbers), np.int32)
    made = seen = read = 0
    for first in range(0, n, _CITIES):
        last = min(first + _CITIES, n)
        old = np.repeat(np.arange(first, last) * n, np.diff(rows.ends[first:last], prepend=read))
        old += rows.others[read : read + len(old)]
        upto = int(np.searchsorted(numbers, last * n))
        cities, found = np.divmod(np.unique(np.concatenate([old, numbers[seen:upto]])), n)
        ends[first:last] = made + np.cumsum(np.bincount(cities - first, minlength=last - first))
        others[made : made + len(found)] = found
        made, seen, read = made + len(found), upto, read + len(old)
    # In place: there is no memory for a copy of many.
    others.resize(made, refcheck=False)
    return Rows(ends, others)


def load(kernels: Backend, instance: Instance, rows: Rows, scale: int) -> Opaque:
    """Return a graph on the device, with lengths times `scale`."""
    lengths = np.empty(len(rows.others), np.int64)
    for first in range(0, len(lengths), _BLOCK):
        last = min(first + _BLOCK, len(lengths))
        distances = instance.distances(rows.cities(first, last), rows.others[first:last])
        lengths[first:last] = scaled(instance, distances, scale)
    return kernels.call("near_graph_load", rows.ends, rows.others, lengths)  # type: ignore[no-any-return]


def connected(instance: Instance, lists: NDArray[np.int32], rows: Rows) -> Rows:
    """Return the edges of neighbour lists, joined into one part along a curve, or else in order of the numbers."""
    parts = components(lists)
    points = curve_points(instance)
    order = np.arange(instance.n) if points is None else hilbert_order(points)
    apart = np.flatnonzero(parts[order[1:]] != parts[order[:-1]])
    return joined(rows, np.column_stack([order[apart], order[apart + 1]]).astype(np.int32))


class Ascent(NamedTuple):
    """State of an ascent: the best penalties, their bound for the graph alone, and the steps made."""

    penalties: NDArray[np.int64]
    bound: int
    is_tour: bool
    made: int


def steps(first: float, share_left: float, count: int) -> NDArray[np.int64]:
    """Return the lengths of steps in parts of a unit: from `first`, in units, down to a share of it."""
    sizes = STEP_PARTS * first * share_left ** (np.arange(count) / max(1, count))
    return np.clip(np.rint(sizes), 1, MOST_STEP).astype(np.int64)


def ascend(
    kernels: Backend, graph: Opaque, state: Opaque, sizes: NDArray[np.int64], look: Callable[[], bool] = lambda: False
) -> Ascent:
    """Make steps of these sizes from a state, which is freed, until `look` between two kernel calls says to end."""
    made, count = 0, FIRST_STEPS
    while True:
        began = monotonic()
        state = kernels.call("ascend", graph, state, sizes[made : made + count])
        made = min(made + count, len(sizes))
        bound, is_tour = kernels.call("ascent_bound", state)
        if made == len(sizes) or is_tour or look():
            return Ascent(kernels.call("ascent_best", state), bound, is_tour, made)
        rate = count / max(monotonic() - began, 1e-6)
        count = max(1, min(4 * count, int(CALL_SECONDS * rate)))
