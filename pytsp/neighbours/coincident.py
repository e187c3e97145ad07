"""Cities with the same coordinates, in groups."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Groups:
    """The n cities in `order`, group after group, each by number; `first`, shape (m + 1,), says where each begins."""

    order: NDArray[np.int64]
    first: NDArray[np.int64]

    @property
    def sizes(self) -> NDArray[np.int64]:
        """The number of cities of each group, shape (m,)."""
        return np.diff(self.first)

    @property
    def rank(self) -> NDArray[np.int64]:
        """For each element of `order`, how many cities of its group precede it, shape (n,)."""
        return np.arange(len(self.order)) - np.repeat(self.first[:-1], self.sizes)


def group_coincident(points: NDArray[np.float64]) -> Groups:
    """Group the cities at `points`, shape (n, d), by their coordinates. O(n log n)."""
    # The last key is compared first; equal points keep the order of their cities.
    order = np.lexsort(points.T)
    ordered = points[order]
    begins = np.ones(len(points), dtype=np.bool_)
    begins[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    return Groups(order, np.append(np.flatnonzero(begins), len(points)))
