"""Neighbour lists of many cities in the plane, by kernels: a tree of boxes around cities in order of a curve."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pytsp.backends.context import Backend
from pytsp.neighbours.kdtree import boxes_around
from pytsp.neighbours.lists import along_tree, check_length
from pytsp.problem.instance import Instance
from pytsp.utils.deadline import look, timely_blocks

# Longest lists that insertion keeps in order faster than a k-d tree.
MOST_LISTED = 64
# The most cities whose lists one call makes, on a core or on a GPU.
CITIES = {"cpu": 1 << 14, "gpu": 1 << 18}


def lists_along(instance: Instance, keys: NDArray[np.uint64], k: int, kernels: Backend) -> NDArray[np.int32]:
    """Return `neighbour_lists` of two or more cities of the plane in order of their Hilbert keys; those of a long list
    come from a k-d tree. Work O(n (k + log n)), memory O(n k)."""
    k = check_length(k, instance.n)
    if k > MOST_LISTED:
        return along_tree(instance, keys, k)
    assert instance.coordinates is not None
    lists = lists_in_order(instance.coordinates, k, kernels)
    # What comes next needs other sizes.
    kernels.release_memory()
    return lists


def lists_in_order(points: NDArray[np.float64], k: int, kernels: Backend) -> NDArray[np.int32]:
    """Return the `k` nearest others of each of `points`, shape (n, 2), in order of (distance, number), 1 ≤ k < n.

    Points in order along a curve take less time; the lists are the same in any order.
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
