"""The least and the largest: of each column of points, of all distances."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def extremes(points: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the least and the largest of each column of `points`, shape (n, d), n ≥ 1, each of shape (d,).

    NumPy takes several times as long for all columns at once.
    """
    return np.array([column.min() for column in points.T]), np.array([column.max() for column in points.T])


def least_and_largest(d: NDArray[Any]) -> tuple[Any, Any]:
    """Return the least and the largest distance of a C-ordered matrix but for its diagonal, as Python's numbers; zeros
    for one city."""
    n = len(d)
    if n < 2:
        return d.dtype.type(0).item(), d.dtype.type(0).item()
    # After the first element, every n + 1 end in one of the diagonal.
    others = d.reshape(-1)[1:].reshape(n - 1, n + 1)[:, :-1]
    return others.min().item(), others.max().item()
