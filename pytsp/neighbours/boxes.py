"""Neighbour lists of many cities in the plane, by kernels: a tree of boxes around cities in order of a curve."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pytsp.backends.context import Backend
from pytsp.neighbours.kdtree import MOST_IN_A_CELL
from pytsp.neighbours.lists import along_tree, check_length
from pytsp.problem.instance import Instance
from pytsp.utils.deadline import look

__all__ = ["lists_along"]

# Lists are kept in order by insertion, which pays for lists of so many.
MOST_LISTED = 64
# How many cities' lists one call makes, on a core or on a GPU.
CITIES = {"cpu": 1 << 14, "gpu": 1 << 18}


def lists_along(instance: Instance, keys: NDArray[np.uint64], k: int, kernels: Backend) -> NDArray[np.int32]:
    """Return `neighbour_lists` of two or more cities of the plane that are in order of their Hilbert keys.

    `kernels` are those for huge tours. Work O(n (k + log n)), memory O(n k). Lists that are long, and those of cities
    of which many share a cell of the curve, come from a k-d tree.
    """
    k = check_length(k, instance.n)
    if k > MOST_LISTED or (keys[MOST_IN_A_CELL:] == keys[:-MOST_IN_A_CELL]).any():
        return along_tree(instance, keys, k)
    assert instance.coordinates is not None
    n = instance.n
    xs, ys = (np.ascontiguousarray(axis) for axis in instance.coordinates.T)
    boxed = kernels.call("boxes_around", xs, ys)
    lists = np.empty((n, k), dtype=np.int32)
    step = CITIES["gpu"] if kernels.threads is None else kernels.threads * CITIES["cpu"]
    for first in range(0, n, step):
        look(n)
        cities = np.arange(first, min(first + step, n), dtype=np.int32)
        lists[first : first + step] = kernels.call("boxes_nearest", boxed, k, cities)
    # What comes next needs other sizes.
    boxed.free()
    kernels.release_memory()
    return lists
