"""Neighbour lists of many cities in the plane, by kernels: a tree of boxes around cities in order of a curve."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pytsp.backends.context import Backend
from pytsp.neighbours.lists import along_tree, checked_length
from pytsp.problem.instance import Instance
from pytsp.utils.deadline import look

__all__ = ["lists_along"]

# Cities of one cell of the curve stand in any order, so that boxes around them tell little: of no more than these.
MOST_IN_A_CELL = 64
# What a list has is kept in order by insertion, which pays for lists of so many.
MOST_LISTED = 64
# How many cities' lists one call makes, of a core, or a GPU.
CITIES = {"cpu": 1 << 14, "gpu": 1 << 18}


def lists_along(instance: Instance, keys: NDArray[np.uint64], k: int, kernels: Backend) -> NDArray[np.int32]:
    """Return `neighbour_lists` of cities that are in order of their Hilbert keys.

    Parameters
    ----------
    instance : Instance
        At least two cities with two coordinates, whose metric grows with the Euclidean norm.
    keys : ndarray of uint64, shape (n,)
        What `hilbert_keys` says of them.
    k : int
        At least 1; above n - 1 it is n - 1.
    kernels : Backend
        Its part for a huge tour.

    Raises
    ------
    OutOfTime
        If they are for a solve whose time is over.

    Notes
    -----
    Work O(n (k + log n)), memory O(n k). Lists that are long, and those of cities of which many share a cell of the
    curve, come from a k-d tree.
    """
    k = checked_length(k, instance.n)
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
        count = min(step, n - first)
        lists[first : first + count] = kernels.call("boxes_nearest", boxed, k, first, count)
    # What comes next needs other sizes.
    boxed.free()
    kernels.release_memory()
    return lists
