"""Tours from which searches start, with their clusters in a better order."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytsp.backends.registry import host_kernels
from pytsp.problem.location import partners_of
from pytsp.solvers.common.task import Task
from pytsp.starts.long_ways import reordered_tour

__all__ = ["with_clusters_in_order"]


def with_clusters_in_order(task: Task[Any], tour: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return a tour after `reordered_tour`, where the cities have coordinates, no pairs, and there are kernels of a
    CPU."""
    instance = task.instance
    # A pair may be far apart, and is no end of a cluster.
    is_out = instance.coordinates is None or partners_of(instance) is not None
    kernels = None if is_out else host_kernels(task.kernels)
    return tour if kernels is None else reordered_tour(instance, tour, kernels)
