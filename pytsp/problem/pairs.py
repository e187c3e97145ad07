"""The constant that lengthens distances in an instance whose pairs of cities stay together."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pytsp.problem.instance import Instance
from pytsp.problem.metrics import metric_named


class Excess(NamedTuple):
    """The constant by which distances but those of pairs are longer, and the share of a tour's edges that it is in."""

    longer: float
    alone: float


def excess_of(instance: Instance, lists: NDArray[np.int32]) -> Excess:
    """Return the constant by which distances are longer if pairs stay together; 0 if none do.

    A matrix does not hold the constant. If it has pairs, its other distances exceed half of the longest one (see
    `pytsp.problem.fixed_edges`). The least of them is the constant, or little more. `lists` are neighbour lists, shape
    (n, k).
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
    """Return the mean lengthening of an edge, over a tour with all pairs."""
    excess = excess_of(instance, lists)
    return excess.longer * excess.alone
