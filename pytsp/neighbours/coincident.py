"""Cities grouped by the place where they stand: several cities may share one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Places:
    """The cities of each place, in order of their numbers.

    Attributes
    ----------
    order : ndarray of int64, shape (n,)
        The cities, place after place.
    first : ndarray of int64, shape (m + 1,)
        Where in `order` each of the m places begins, and n.
    """

    order: NDArray[np.int64]
    first: NDArray[np.int64]

    @property
    def sizes(self) -> NDArray[np.int64]:
        """The number of cities of each place, shape (m,)."""
        return np.diff(self.first)

    @property
    def rank(self) -> NDArray[np.int64]:
        """For each element of `order`, how many cities of its place stand before it, shape (n,)."""
        return np.arange(len(self.order)) - np.repeat(self.first[:-1], self.sizes)


def places_of(points: NDArray[np.float64]) -> Places:
    """Group the cities at `points`, shape (n, d), by place. O(n log n)."""
    # The last key is the first that is compared; equal places keep the order of their cities.
    order = np.lexsort(points.T)
    ordered = points[order]
    begins = np.ones(len(points), dtype=np.bool_)
    begins[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    return Places(order, np.append(np.flatnonzero(begins), len(points)))
