"""Hilbert's space-filling curve: where on it points lie, in two dimensions or three."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pytsp.utils.extremes import extremes

# Cells along an axis, as a power of two: three axes fill 60 of a key's 64 bits.
_BITS = 20
# Points at once, so that the temporaries stay in the cache.
_BLOCK = 1 << 14


def hilbert_keys(points: NDArray[np.float64]) -> NDArray[np.uint64]:
    """Return for each of `points`, shape (n, 2) or (n, 3), the number of its cell along Hilbert's curve. O(n).

    The curve fills the smallest cube around the points, of 2**20 cells along an axis; consecutive cells are neighbours.
    As J. Skilling has it: Programming the Hilbert curve. AIP Conference Proceedings 707 (2004).
    """
    low, high = extremes(points)
    side = float((high - low).max())
    keys = np.zeros(len(points), dtype=np.uint64)
    if side == 0:
        return keys
    for first in range(0, len(points), _BLOCK):
        block = slice(first, first + _BLOCK)
        share = (points[block] - low) / side
        cells = np.minimum(share * 2**_BITS, 2**_BITS - 1).astype(np.uint32)
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
