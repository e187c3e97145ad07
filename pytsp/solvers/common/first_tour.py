"""Tours from which searches start."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytsp.backends.registry import host_kernels
from pytsp.problem.location import further_city, given_ends, partners_of
from pytsp.solvers.common.fallback import is_by_nearest_neighbours
from pytsp.solvers.common.task import Task
from pytsp.starts.construct import Start, nearest_neighbour, start_tour
from pytsp.starts.long_ways import reordered_tour
from pytsp.starts.nearest_unvisited import nearest_neighbour_order


def first_tour(task: Task[Any], given: Start | None, default: Start) -> NDArray[np.int32]:
    """Return the tour of the start that is given, or by default.

    Where the instance stands for an open path or directed ways, the nearest-neighbour tour is that of these; where no
    start is given it is taken, too, if it is shorter than the default.
    """
    instance, start = task.instance, given or default
    further = further_city(instance)
    if task.quick_tour is not None and is_by_nearest_neighbours(instance):
        nearest = task.quick_tour(math.inf)
        if start == "nearest-neighbour":
            return nearest
        if given is None:
            return min(start_tour(instance, start, seed=task.seed), nearest, key=instance.tour_length)
    if start == "nearest-neighbour" and further is not None:
        ends = given_ends(instance)
        if len(ends) < 2:
            return nearest_neighbour(instance, seed=further)
        # Either of the two may wait until all others are visited.
        return min((nearest_neighbour_order(instance, further, None, end) for end in ends), key=instance.tour_length)
    return start_tour(instance, start, seed=task.seed)


def with_clusters_in_order(task: Task[Any], tour: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return `reordered_tour` if cities have coordinates and no pairs, and a CPU's kernels run here; else the tour."""
    instance = task.instance
    # A pair may be far apart, and is no end of a cluster.
    is_out = instance.coordinates is None or partners_of(instance) is not None
    kernels = None if is_out else host_kernels(task.kernels)
    return tour if kernels is None else reordered_tour(instance, tour, kernels)
