"""Positions of cities: points whose distances by a norm grow with the instance's, and points along a curve."""

from __future__ import annotations

from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from pytsp.problem.instance import Instance
from pytsp.problem.metrics import EXPLICIT, metric_named, unit_vectors

# The metrics of places on a sphere, and the points of the spheres that are known.
SPHERES = ("GEO", "GEOM", "HAVERSINE")
_ON_SPHERES: WeakKeyDictionary[Instance, NDArray[np.float64]] = WeakKeyDictionary()

PLANE_METRICS = ("EUC_2D", "CEIL_2D", "EUCLIDEAN")
"""The metrics of the plane that all kernels take as points."""


class Located(NamedTuple):
    """Points, shape (n, d), and the norm, 1, 2 or infinity, with which the distances of their cities grow."""

    points: NDArray[np.float64]
    norm: float


def located(instance: Instance) -> Located | None:
    """Return where the cities of an instance are: in the plane, in space, or on a sphere of radius 1 in space.

    None for matrices, and for metrics that grow with no norm. The further city of an open path is anywhere; pairs are
    where they would be without their edge.
    """
    if instance.coordinates is None or not is_located(instance):
        return None
    metric = metric_named(instance.metric)
    if metric.alone not in SPHERES:
        return Located(places_of(instance), metric.norm or 0.0)
    points = _ON_SPHERES.get(instance)
    if points is None:
        points = _ON_SPHERES[instance] = unit_vectors(metric.alone, places_of(instance))
        points.flags.writeable = False
    return Located(points, 2.0)


def places_of(instance: Instance) -> NDArray[np.float64]:
    """Return the coordinates of places alone, of an instance that is given by coordinates."""
    assert instance.coordinates is not None
    points, beside = instance.coordinates, metric_named(instance.metric).beside
    return points[:, : points.shape[1] - beside] if beside else points


def partners_of(instance: Instance) -> NDArray[np.int32] | None:
    """Return each city's partner (`metrics.with_pairs`), or itself; None where no coordinate tells of pairs."""
    if instance.coordinates is None or metric_named(instance.metric).longer is None:
        return None
    ties = instance.coordinates[:, -1]
    order = np.argsort(ties, kind="stable")
    first = np.flatnonzero(ties[order[1:]] == ties[order[:-1]])
    partners = np.arange(instance.n, dtype=np.int32)
    partners[order[first]], partners[order[first + 1]] = order[first + 1], order[first]
    return partners


def straight_points(instance: Instance) -> NDArray[np.float64]:
    """Return points whose straight distances grow with those of the cities, as far as there are such."""
    found = located(instance)
    return places_of(instance)[:, :3] if found is None else found.points


def is_located(instance: Instance) -> bool:
    """Tell whether it is known where the cities are, which takes no time."""
    if instance.coordinates is None or instance.metric == EXPLICIT:
        return False
    metric = metric_named(instance.metric)
    return metric.alone in SPHERES or metric.norm is not None


def is_planar(instance: Instance) -> bool:
    """Tell whether all kernels take an instance as points of the plane."""
    points = instance.coordinates
    return instance.metric in PLANE_METRICS and points is not None and points.shape[1] == 2


def further_city(instance: Instance) -> int | None:
    """Return the number of the further city that an open path has, if there is one (`metrics.with_further`)."""
    aways = _aways(instance)
    return None if aways is None else int(np.argmin(aways))


def _aways(instance: Instance) -> NDArray[np.float64] | None:
    """Return how far the further city is from each, if there is one."""
    if instance.coordinates is None or not (metric := metric_named(instance.metric)).has_further:
        return None
    return instance.coordinates[:, -metric.beside]


def given_ends(instance: Instance) -> list[int]:
    """Return the ends that an open path through points is given: the further city is nearer to them than to others."""
    aways = _aways(instance)
    if aways is None:
        return []
    further = int(np.argmin(aways))
    aways = np.delete(aways, further)
    return [int(city) for city in np.flatnonzero(np.insert(aways < aways.max(), further, False))]


def curve_points(instance: Instance) -> NDArray[np.float64] | None:
    """Return points of the plane, or of space, by which a curve goes through the cities; None where there are none.

    Those of a sphere are in Lambert's azimuthal equal-area projection, the half of the sphere around the middle of all
    in one disk and the other in a second one beside it: J. H. Lambert, 1772; J. P. Snyder: Map projections, a working
    manual, 1987, chapter 24.
    """
    if instance.coordinates is None:
        return None
    points = straight_points(instance)
    if points.shape[1] == 2 or not instance.metric.startswith((*SPHERES, "ARCS")):
        return points
    middle = points.mean(axis=0)
    length = float(np.linalg.norm(middle))
    # Cities all over the sphere have no middle.
    middle = middle / length if length > 1e-9 else np.array([1.0, 0.0, 0.0])
    # Two directions at right angles to it.
    east = np.cross(middle, np.eye(3)[np.argmin(np.abs(middle))])
    east /= np.linalg.norm(east)
    height = points @ middle
    scale = np.sqrt(2.0 / (1.0 + np.abs(height)))
    x, y = scale * (points @ east), scale * (points @ np.cross(middle, east))
    # The disks have the radius sqrt(2).
    return np.column_stack([np.where(height >= 0, x, 3.0 - x), y])


def excess_of(instance: Instance, lists: NDArray[np.int32]) -> tuple[float, float]:
    """Return the constant by which distances but those of pairs are longer, or 0, and its share of a tour's edges.

    A matrix does not hold the constant. If it has pairs, its other distances exceed half of the longest one (see
    `pytsp.problem.fixed_edges`). The least of them is the constant, or little more. `lists` are neighbour lists, shape
    (n, k).
    """
    if instance.coordinates is not None:
        longer = metric_named(instance.metric).longer
        if longer is None:
            return (0.0, 1.0)
        paired = instance.n - len(np.unique(instance.coordinates[:, -1]))
        return (longer, 1 - paired / instance.n)
    if lists.shape[1] == 0 or instance.matrix is None or instance.asymmetric:
        return (0.0, 1.0)
    matrix: NDArray[Any] = instance.matrix
    nearest = matrix[np.arange(instance.n), lists[:, 0]]
    is_paired = nearest == 0
    if not is_paired.any():
        return (0.0, 1.0)
    # A pair has no other city at distance 0.
    second = matrix[np.flatnonzero(is_paired), lists[is_paired, 1 % lists.shape[1]]]
    least = min(nearest[~is_paired].min(initial=matrix.max()), second.min())
    if least == 0 or 2 * least <= matrix.max():
        return (0.0, 1.0)
    return (float(least), 1 - float(is_paired.mean()) / 2)


def mean_excess(instance: Instance, lists: NDArray[np.int32]) -> float:
    """Return the mean lengthening of an edge, over a tour with all pairs."""
    longer, share = excess_of(instance, lists)
    return longer * share


class Groups(NamedTuple):
    """The n cities in `order`, group after group, each by number; `first`, shape (m + 1,), says where each begins."""

    order: NDArray[np.int64]
    first: NDArray[np.int64]

    @property
    def sizes(self) -> NDArray[np.int64]:
        return np.diff(self.first)

    @property
    def rank(self) -> NDArray[np.int64]:
        """For each element of `order`, how many cities of its group precede it, shape (n,)."""
        return np.arange(len(self.order)) - np.repeat(self.first[:-1], self.sizes)


def group_coincident(points: NDArray[np.float64]) -> Groups:
    """Group the cities at `points`, shape (n, d), by their coordinates. O(n log n)."""
    # The last key is compared first; equal points keep the order of their cities.
    order = np.lexsort(points.T)
    ordered = points[order]
    begins = np.ones(len(points), dtype=np.bool_)
    begins[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    return Groups(order, np.append(np.flatnonzero(begins), len(points)))
