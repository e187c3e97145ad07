"""Minimum spanning trees of all pairs of cities, for proofs: in the plane by kernels, else by rows of the matrix."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytsp.backends.context import Backend
from pytsp.backends.marshal import Opaque
from pytsp.backends.registry import open_backend
from pytsp.bound.certificate import Certificate, OneTree, bound_of, check_instance, check_numbers, dense_one_tree
from pytsp.bound.graphs import MOST, MOST_CITIES, TOURS
from pytsp.bound.near_graph import Rows, joined, listed, load
from pytsp.neighbours.boxes import boxes_around
from pytsp.neighbours.hilbert import hilbert_order
from pytsp.neighbours.lists import lists_along, neighbour_lists
from pytsp.problem.instance import Instance
from pytsp.problem.location import PLANE_METRICS, is_planar
from pytsp.utils.memory import trim

# Nearest cities of each, which are tried first.
NEAR = 6
# Bits of the longest distance or penalty and of the number of cities together: all sums then fit 64 bits.
SUM_BITS = 60


def is_in_plane(instance: Instance) -> bool:
    """Tell whether the tree of all pairs comes from a tree of boxes."""
    return instance.n >= 3 and instance.fixed is None and is_planar(instance)


class InPlane:
    """Cities of the plane in the `order` of a curve, on the device, for spanning trees of all their pairs."""

    def __init__(self, kernels: Backend, instance: Instance) -> None:
        assert instance.coordinates is not None
        self._kernels, self._instance, self._coordinates = kernels, instance, instance.coordinates
        self.order = hilbert_order(self._coordinates)
        self._near: Any = None
        self._boxes: Opaque | None = None

    @property
    def ordered(self) -> Instance:
        """The instance with its cities in this order; a copy, which is not kept."""
        return Instance(self._instance.name, self._instance.metric, coordinates=self._coordinates[self.order])

    def nearest(self, k: int) -> NDArray[np.int32]:
        """Return the k nearest of each of the cities in order, shape (n, min(k, n - 1))."""
        return lists_along(self.ordered, k, self._kernels)

    def begin(self, rows: Rows) -> None:
        """Put near pairs of the cities in order on the device."""
        self._near = self._kernels.call("near_rows_load", *rows)

    def join(self, pairs: NDArray[np.int32]) -> None:
        """Put further pairs there. Of many cities there is no memory for two of each: meanwhile the device has none."""
        self._free_boxes()
        rows = Rows(**self._kernels.fields(self._near))
        self._near.free()
        rows = joined(rows, pairs)
        trim()
        self.begin(rows)
        del rows
        self.release_memory()

    def release_memory(self) -> None:
        """Give back what kernels and arrays have left: what comes next needs other sizes."""
        self._kernels.release_memory()
        trim()

    def graph(self, scale: int) -> Opaque:
        """Return the graph of the near pairs, on the device. The memory of the proofs is freed meanwhile."""
        graph: Opaque = self._kernels.call("near_graph_between", self._boxed(), *self._ruler(scale), self._near)
        self._free_boxes()
        self.release_memory()
        return graph

    def _boxed(self) -> Opaque:
        if self._boxes is None:
            self._boxes = boxes_around(self._kernels, self._coordinates[self.order])
        return self._boxes

    def _free_boxes(self) -> None:
        if self._boxes is not None:
            self._boxes.free()
            self._boxes = None

    def one_tree(self, penalties: NDArray[np.int64], scale: int) -> OneTree:
        """Return the tree of all pairs of the cities in order, and the bound, near pairs first; about O(n log n)."""
        check_numbers(self._instance.n, penalties, scale)
        self._check_sums(penalties, scale)
        total, second, *ends = self._kernels.call(
            "exact_tree", self._boxed(), *self._ruler(scale), self._near, penalties
        )
        self.release_memory()
        edges = np.column_stack([end[:-1] for end in ends])
        return OneTree(bound_of(self._instance, total + second - 2 * int(penalties.sum()), scale), edges)

    def _ruler(self, scale: int) -> tuple[int, int, float]:
        """Return the kernels' number of the rounding of distances, their scale, and the longest distance before it."""
        most = float(MOST // scale) if self._instance.is_exact else MOST / scale
        return PLANE_METRICS.index(self._instance.metric), scale, most

    def _check_sums(self, penalties: NDArray[np.int64], scale: int) -> None:
        """Refuse what may leave 64 bits."""
        longest = float(np.hypot(*np.ptp(self._coordinates, axis=0))) + 1
        largest = max(min(longest * scale, MOST), int(np.abs(penalties).max()))
        if largest * self._instance.n > 1 << SUM_BITS:
            raise ValueError(
                f"distances times {scale} or penalties of {self._instance.n} cities reach {largest:.3g}, and their "
                f"sums may overflow: they must be at most 2**{SUM_BITS} / n"
            )


def check_certificate(instance: Instance, certificate: Certificate, *, all_pairs: bool = False) -> None:
    """Prove a bound again, from its penalties and all distances, without a kernel: work O(n²), memory O(n).

    Tours of more than 20,000 cities are proved by kernels, in about O(n log n), unless `all_pairs` are asked for. It
    raises `ValueError` if the penalties prove another bound or break a law, and `InstanceError` for too many cities
    that are not in the plane.
    """
    penalties, scale = certificate.penalties, certificate.scale
    if instance.n > MOST_CITIES and certificate.kind == TOURS and instance.fixed is None and not all_pairs:
        check_instance(instance)
        check_numbers(instance.n, penalties, scale)
        cities = InPlane(open_backend("c", part="bound"), instance)
        cities.begin(listed(cities.nearest(NEAR)))
        proved = cities.one_tree(penalties[cities.order], scale).bound
    else:
        proved = dense_one_tree(instance, penalties, scale, certificate.kind).bound
    if proved != certificate.bound:
        raise ValueError(f"the certificate says {certificate.bound}, but its penalties prove {proved}")


class InMatrix:
    """The same of any cities, in their own order, by all distances: O(n²)."""

    def __init__(self, kernels: Backend, instance: Instance) -> None:
        self.ordered, self._kernels, self.order = instance, kernels, np.arange(instance.n)
        self._near: Any = None

    def nearest(self, k: int) -> NDArray[np.int32]:
        return neighbour_lists(self.ordered, k)

    def begin(self, rows: Rows) -> None:
        self._near = rows

    def release_memory(self) -> None:
        self._kernels.release_memory()

    def join(self, pairs: NDArray[np.int32]) -> None:
        self._near = joined(self._near, pairs)

    def graph(self, scale: int) -> Opaque:
        return load(self._kernels, self.ordered, self._near, scale)

    def one_tree(self, penalties: NDArray[np.int64], scale: int) -> OneTree:
        return dense_one_tree(self.ordered, penalties, scale)
