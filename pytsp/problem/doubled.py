"""Symmetric instances that represent asymmetric ones: two cities for each, and the matrix of all."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytsp.problem.instance import Instance
from pytsp.problem.metrics import EXPLICIT
from pytsp.utils.deadline import look

# Cities whose distances are written together: their columns then go to memory in whole cache lines.
_BLOCK = 64


def double(rows: Callable[[slice], NDArray[Any]], n: int, forbidden: float, dtype: type[np.generic]) -> NDArray[Any]:
    """Return the symmetric matrix of n cities' ways, shape (2 n, 2 n), in one pass.

    `rows` returns the ways from some cities to all, shape (m, n). Pairs have length 0, other edges that are no ways
    `forbidden`.
    """
    doubled = np.empty((2 * n, 2 * n), dtype)
    for first in range(0, n, _BLOCK):
        look(first * n)
        block = slice(first, first + _BLOCK)
        leaving = doubled[n:][block]
        leaving[:, :n] = rows(block)
        leaving[:, n:] = doubled[:n][block, :n] = forbidden
        doubled[:n, n:][:, block] = leaving[:, :n].T
    places = np.arange(2 * n)
    doubled[places, places] = doubled[places, (places + n) % (2 * n)] = 0
    return doubled


class DoubledWays(Instance):
    """The symmetric instance of floating-point `ways`, shape (n, n), whose distances are computed on access.

    City i is where one arrives at `order[i]`, city n + i where one leaves it. Ways are `longer` by a constant, and
    edges of no use to a tour have the length `forbidden`. Kernels take whole numbers: a matrix of the distances
    themselves would only be written to be rounded.
    """

    ways: NDArray[np.float64]
    order: NDArray[Any]
    longer: float
    forbidden: float

    @classmethod
    def of(
        cls, name: str, ways: NDArray[np.float64], order: NDArray[Any], longer: float, forbidden: float
    ) -> DoubledWays:
        """Make one that keeps all laws by how it is made."""
        made = object.__new__(cls)
        vars(made).update(name=name, metric=EXPLICIT, ways=ways, order=order, longer=longer, forbidden=forbidden)
        return made

    @property
    def n(self) -> int:
        return 2 * len(self.ways)

    @property
    def is_exact(self) -> bool:
        return False

    @cached_property
    def matrix(self) -> NDArray[np.float64]:
        """All distances; O(n²) memory from then on."""
        made = double(self._rows, len(self.ways), self.forbidden, np.float64)
        made.setflags(write=False)
        return made

    def scaled(self, exponent: int) -> NDArray[np.int32]:
        """Return all distances in units of 2**exponent, rounded, in half the memory."""
        forbidden = float(np.rint(np.ldexp(self.forbidden, -exponent)))

        def rows(block: slice) -> NDArray[np.float64]:
            rounded: NDArray[np.float64] = np.rint(np.ldexp(self._rows(block), -exponent))
            # Only a way from a city to itself is less than 0, and may not fit a whole number before it is replaced.
            return np.maximum(rounded, 0.0, out=rounded)

        return double(rows, len(self.ways), forbidden, np.int32)

    def _rows(self, block: slice) -> NDArray[np.float64]:
        found: NDArray[np.float64] = np.take(self.ways[self.order[block]], self.order, axis=1)
        found += self.longer
        return found

    def distance_rows(self, first: int, end: int) -> NDArray[Any]:
        cities = np.arange(self.n)
        return self._between(cities[first:end, None], cities)

    def _between(self, a: NDArray[Any], b: NDArray[Any]) -> NDArray[Any]:
        n = len(self.ways)
        a, b = np.broadcast_arrays(a, b)
        i, j = self.order[a % n], self.order[b % n]
        is_leaving = a >= n
        is_way = is_leaving != (b >= n)
        lengths = self.ways[np.where(is_leaving, i, j), np.where(is_leaving, j, i)] + self.longer
        lengths = np.where(is_way, lengths, self.forbidden)
        return np.where((a == b) | (is_way & (i == j)), 0.0, lengths)
