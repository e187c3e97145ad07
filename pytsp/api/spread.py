"""How far apart the distances of a matrix are."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["least_and_largest"]


def least_and_largest(d: NDArray[Any]) -> tuple[Any, Any]:
    """Return the least and the largest distance between two cities, as Python's numbers; zeros where there is one city.

    The diagonal, which is no distance, is written over meanwhile and is 0 afterwards; a copy would be as large as all.
    """
    if len(d) < 2:
        return d.dtype.type(0).item(), d.dtype.type(0).item()
    largest = d.max().item()
    np.fill_diagonal(d, largest)
    least = d.min().item()
    np.fill_diagonal(d, 0)
    return least, largest
