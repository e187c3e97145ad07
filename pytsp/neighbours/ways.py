"""Neighbour lists of asymmetric instances that are doubled: the nearest ways into each city and out of it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pytsp.neighbours.lists import check_length
from pytsp.neighbours.rows import nearest_in_rows
from pytsp.problem.instance import Instance


def way_lists(doubled: Instance, k: int = 10) -> NDArray[np.int32]:
    """Return for every city of a doubled instance the others with the shortest ways, in order of distance, then of
    number: shape (2 n, min(k, n - 1)).

    City i is where one arrives at a city, city n + i where one leaves it (`JonkerVolgenant`). The edge between the two
    is in no list: it is in every tour, and never goes. Work O(n²), memory O(n k).
    """
    matrix, n = doubled.matrix, doubled.n // 2
    assert matrix is not None
    k = min(check_length(k, doubled.n), n - 1)
    if k == 0:
        return np.empty((2 * n, 0), dtype=np.int32)
    return np.concatenate([nearest_in_rows(matrix[:n, n:], k) + n, nearest_in_rows(matrix[n:, :n], k)]).astype(np.int32)


def with_pairs(lists: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return lists of a doubled instance with each city's other one before them: one column more."""
    return np.column_stack([np.roll(np.arange(len(lists), dtype=np.int32), len(lists) // 2), lists])
