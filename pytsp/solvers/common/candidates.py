"""The neighbour lists that solvers look at: those that are given, or of so many nearest."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pytsp.neighbours.lists import check_neighbours, in_order, neighbour_lists
from pytsp.problem.instance import Instance
from pytsp.problem.location import further_city, located
from pytsp.solvers.options.shared import NeighbourLists
from pytsp.utils.arguments import is_array

DEFAULT_NEIGHBOURS = 10


def candidates(instance: Instance, options: NeighbourLists, default: int = DEFAULT_NEIGHBOURS) -> NDArray[np.int32]:
    """Return the neighbour lists, shape (n, k), in order of distance.

    They are those that are given, or of so many nearest, `default` where that is not given, of each quadrant where
    there are quadrants.
    """
    if is_array(options.neighbours):
        return in_order(instance, check_neighbours(options.neighbours, instance.n))  # type: ignore[arg-type]
    quadrants = _has_quadrants(instance, options)
    return neighbour_lists(instance, options.neighbours or default, quadrants=quadrants)  # type: ignore[arg-type]


def are_nearest(instance: Instance, options: NeighbourLists) -> bool:
    """Tell whether `candidates` are the nearest cities whatever the quadrant, of which starts make use as well."""
    return not is_array(options.neighbours) and not _has_quadrants(instance, options)


def _has_quadrants(instance: Instance, options: NeighbourLists) -> bool:
    if options.quadrants is not None:
        return options.quadrants
    found = located(instance)
    return found is not None and found.points.shape[1] == 2 and further_city(instance) is None
