"""Neighbour lists of many cities in the plane, by kernels: a tree of boxes around cities in order of a curve."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pytsp.backends.context import Backend
from pytsp.neighbours.kdtree import boxes_around
from pytsp.neighbours.lists import along_tree, check_length
from pytsp.problem.instance import Instance
from pytsp.utils.deadline import look, timely_blocks

__all__ = ["lists_along", "lists_in_order"]

# Longest lists that insertion keeps in order faster than a k-d tree.
MOST_LISTED = 64
# The most cities whose lists one call makes, on a core or on a GPU.
CITIES = {"cpu": 1 << 14, "gpu": 1 << 18}


def lists_along(instance: Instance, keys: NDArray[np.uint64], k: int, kernels: Backend) -> NDArray[np.int32]:
    """Return `neighbour_lists` of two or more cities of the plane that are in order along Hilbert's curve.

    `keys` are those of `along_hilbert`, `kernels` those for huge tours. Work O(n (k + log n)), memory O(n k). Long
    lists come from a k-d tree.
    """
    k = check_length(k, instance.n)
    if k > MOST_LISTED:
        return along_tree(instance, keys, k)
    assert instance.coordinates is not None
    lists = lists_in_order(instance.coordinates, k, kernels)
    # What comes next needs other sizes.
    kernels.release_memory()
    return lists


def lists_in_order(points: NDArray[np.float64], k: int, kernels: Backend) -> NDArray[np.int32]:
    """Return the `k` nearest others of each of `points`, shape (n, 2), that are in order along a curve, 1 ≤ k < n.

    In order of distance, and of equals by number. The order of the points changes nothing but the time.
    """
    n = len(points)
    boxed = boxes_around(kernels, points)
    lists = np.empty((n, k), dtype=np.int32)
    most = CITIES["gpu"] if kernels.threads is None else kernels.threads * CITIES["cpu"]
    look(n)
    for block in timely_blocks(n, most, n):
        lists[block] = kernels.call("boxes_nearest", boxed, k, np.arange(block.start, block.stop, dtype=np.int32))
    boxed.free()
    return lists
