"""Hilbert's space-filling curve: the order of points along it, in two dimensions or three."""

from __future__ import annotations

import math
import time
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pytsp.backends.context import Backend
from pytsp.utils.extremes import extremes

# Cells along an axis, as a power of two: three axes fill 60 of a key's 64 bits.
_BITS = 20
# Points whose keys are computed together, so that the temporaries stay in the cache.
_BLOCK = 1 << 14
# The points of a cell above which it has a curve of its own. Cells of a million uniform points have far fewer.
_CROWD = 8


class AlongCurve(NamedTuple):
    """Numbers of points along a curve, and the ascending keys of their cells: more than eight in a cell coincide."""

    order: NDArray[np.int64]
    keys: NDArray[np.uint64]


def along_hilbert(points: NDArray[np.float64], kernels: Backend | None = None, seconds: float = math.inf) -> AlongCurve:
    """Return the order of `points`, shape (n, 2) or (n, 3), along Hilbert's curve, and their cells.

    The curve fills the smallest cube around the points, of 2**20 cells along an axis. A cell of more than eight points
    has a curve of its own through the smallest cube around them, and so have the cells of that curve. Points of other
    cells are in order of their numbers. Of `seconds` curves within cells leave as much as the first curve took. In the
    plane `kernels` may make the first order, which is the same. Work O(n log n) for each factor of 2**20 between the
    scales of the points.

    J. Skilling: Programming the Hilbert curve. AIP Conference Proceedings 707 (2004).
    """
    began = time.perf_counter()
    if kernels is None:
        low, high = extremes(points)
        side = (high - low).max()
        keys = _keys_of(points, low, side) if side > 0 else np.zeros(len(points), dtype=np.uint64)
        order = np.argsort(keys, kind="stable")
        keys = keys[order]
    else:
        cities, numbers = kernels.call("plane_along", *(np.ascontiguousarray(axis) for axis in points.T))
        order, keys = cities.astype(np.int64), numbers.view(np.uint64)
    places = _crowded(keys)
    if len(places):
        # The place of a cell's first point is its number, which leaves room for the cells within.
        keys = np.repeat(*_first_and_sizes(keys)).astype(np.uint64)
    took = time.perf_counter() - began
    while len(places) and time.perf_counter() - began + took * (1 + len(places) / len(points)) <= seconds:
        first, sizes = _first_and_sizes(keys[places])
        inside = points[order[places]]
        low, high = np.minimum.reduceat(inside, first), np.maximum.reduceat(inside, first)
        sides = (high - low).max(axis=1)
        # Points that coincide have no smaller cells.
        is_wide = np.repeat(sides > 0, sizes)
        places, inside = places[is_wide], inside[is_wide]
        if len(places) == 0:
            break
        low, sides = (np.repeat(each, sizes, axis=0)[is_wide] for each in (low, sides))
        cells, within = keys[places], _keys_of(inside, low, sides)
        ranks = np.lexsort((within, cells))
        order[places] = order[places[ranks]]
        # Whole cells keep their places, so `cells` are in order already.
        within = within[ranks]
        is_first = np.ones(len(places), dtype=np.bool_)
        is_first[1:] = (cells[1:] != cells[:-1]) | (within[1:] != within[:-1])
        starts = np.flatnonzero(is_first)
        keys[places] = np.repeat(places[starts], np.diff(starts, append=len(places)))
        places = places[_crowded(keys[places])]
    return AlongCurve(order, keys)


def hilbert_order(points: NDArray[np.float64], seconds: float = math.inf) -> NDArray[np.int32]:
    """Return the numbers of `points` in order along Hilbert's curve, by `along_hilbert`."""
    return along_hilbert(points, seconds=seconds).order.astype(np.int32)


def _first_and_sizes(keys: NDArray[np.uint64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the place of the first of each run of equal keys, and how long it is."""
    first = np.append(0, 1 + np.flatnonzero(keys[1:] != keys[:-1]))
    return first, np.diff(first, append=len(keys))


def _crowded(keys: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Return the places of the keys, in ascending order, that more than eight points share."""
    if not (keys[_CROWD:] == keys[:-_CROWD]).any():
        return np.empty(0, dtype=np.int64)
    _, sizes = _first_and_sizes(keys)
    return np.flatnonzero(np.repeat(sizes > _CROWD, sizes))


def _keys_of(points: NDArray[np.float64], low: NDArray[np.float64], sides: NDArray[np.float64]) -> NDArray[np.uint64]:
    """Return the keys of the cells of points along the curves through cubes, by their least corners and their sides.

    Both may be those of a single cube, or of one for each point.
    """
    keys = np.empty(len(points), dtype=np.uint64)
    low, sides = np.broadcast_to(low, points.shape), np.broadcast_to(sides, len(points))
    for first in range(0, len(points), _BLOCK):
        block = slice(first, first + _BLOCK)
        shares = (points[block] - low[block]) / sides[block, None]
        cells = np.minimum(shares * 2**_BITS, 2**_BITS - 1).astype(np.uint32)
        keys[block] = _interleave(_transpose(list(np.ascontiguousarray(cells.T))))
    return keys


def _transpose(axes: list[NDArray[np.uint32]]) -> list[NDArray[np.uint32]]:
    """Turn coordinates into the curve's number with its bits dealt out over the axes, in place."""
    first, zero = axes[0], np.uint32(0)
    for bit in range(_BITS - 1, 0, -1):
        below = np.uint32((1 << bit) - 1)
        for axis in axes:
            is_far = (axis >> np.uint32(bit)) & np.uint32(1)
            # The far half of an axis is mirrored, the near half is exchanged with the first axis.
            mirror = (zero - is_far) & below
            exchange = (first ^ axis) & below & ~mirror
            np.bitwise_xor(first, mirror ^ exchange, out=first)
            np.bitwise_xor(axis, exchange, out=axis)
    for k in range(1, len(axes)):
        axes[k] ^= axes[k - 1]
    gray = np.zeros_like(first)
    for bit in range(_BITS - 1, 0, -1):
        is_set = (axes[-1] >> np.uint32(bit)) & np.uint32(1)
        gray ^= (zero - is_set) & np.uint32((1 << bit) - 1)
    return [axis ^ gray for axis in axes]


def _interleave(axes: list[NDArray[np.uint32]]) -> NDArray[np.uint64]:
    """Collect the bits of all axes, the highest of the first axis first."""
    keys = np.zeros(len(axes[0]), dtype=np.uint64)
    for bit in range(_BITS - 1, -1, -1):
        for axis in axes:
            keys = (keys << np.uint64(1)) | ((axis >> np.uint32(bit)) & np.uint32(1))
    return keys
