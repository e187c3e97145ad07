"""Powers by products and roots only, which are rounded alike on every machine."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray


def whole_powers(base: float, exponents: ArrayLike) -> NDArray[np.float64]:
    """Return `base` to the power of each of some whole numbers, at least 0, each by the same products everywhere.

    >>> whole_powers(0.5, [0, 1, 5])
    array([1.     , 0.5    , 0.03125])
    """
    left = np.array(exponents, dtype=np.int64)
    powers = np.ones(left.shape)
    square = float(base)
    while left.any():
        powers[left % 2 == 1] *= square
        square *= square
        left //= 2
    return powers


def quarters_of(name: str, exponent: float, most: int) -> int:
    """Return an exponent in quarters, or raise `ValueError` if it is no multiple of 1/4 from 0 to `most`.

    >>> quarters_of("beta", 2.5, 16)
    10
    """
    if not 0 <= exponent <= most or 4 * exponent != int(4 * exponent):
        raise ValueError(f"{name} must be a multiple of 0.25 from 0 to {most}; it is {exponent!r}")
    return int(4 * exponent)


def quarter_power(base: NDArray[np.float64], quarters: int) -> NDArray[np.float64]:
    """Return numbers, at least 0, to the power of `quarters` / 4.

    >>> quarter_power(np.array([4.0, 16.0]), 6)
    array([ 8., 64.])
    """
    powers = np.ones_like(base)
    for _ in range(quarters // 4):
        powers = powers * base
    root = np.sqrt(base)
    if quarters & 2:
        powers = powers * root
    if quarters & 1:
        powers = powers * np.sqrt(root)
    return powers
