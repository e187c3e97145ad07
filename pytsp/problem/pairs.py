"""By how much distances are longer in an instance of which pairs of cities stay together, as they tell themselves."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pytsp.problem.instance import Instance
from pytsp.problem.metrics import metric_named

__all__ = ["Excess", "excess_of", "mean_excess"]


class Excess(NamedTuple):
    """By how much all distances are longer but those of pairs, and which share of a tour's edges are no pairs."""

    longer: float
    alone: float


def excess_of(instance: Instance, lists: NDArray[np.int32]) -> Excess:
    """Return what distances are longer by where pairs stay together; 0 where none do.

    A matrix does not say so. But where it has pairs, its other distances are more than half of the longest (see
    `pytsp.problem.fixed_edges`), and the least of them is what all are longer by, and little more.

    Parameters
    ----------
    instance : Instance
        With whole-number distances, as kernels have it, or as it is given.
    lists : ndarray of int32, shape (n, k)
        Neighbour lists in order of distance.
    """
    if instance.coordinates is not None:
        longer = metric_named(instance.metric).longer
        if longer is None:
            return Excess(0.0, 1.0)
        paired = instance.n - len(np.unique(instance.coordinates[:, -1]))
        return Excess(longer, 1 - paired / instance.n)
    if lists.shape[1] == 0 or instance.matrix is None or instance.asymmetric:
        return Excess(0.0, 1.0)
    matrix: NDArray[Any] = instance.matrix
    nearest = matrix[np.arange(instance.n), lists[:, 0]]
    is_paired = nearest == 0
    if not is_paired.any():
        return Excess(0.0, 1.0)
    # A pair has no other city at distance 0.
    second = matrix[np.flatnonzero(is_paired), lists[is_paired, 1 % lists.shape[1]]]
    least = min(nearest[~is_paired].min(initial=matrix.max()), second.min())
    if least == 0 or 2 * least <= matrix.max():
        return Excess(0.0, 1.0)
    return Excess(float(least), 1 - float(is_paired.mean()) / 2)


def mean_excess(instance: Instance, lists: NDArray[np.int32]) -> float:
    """Return by how much the mean edge of a tour is longer that has all pairs."""
    excess = excess_of(instance, lists)
    return excess.longer * excess.alone
