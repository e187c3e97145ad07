"""Climbers that start in bulk: tours of fragments or along curves, and rounds of moves of all cities at once."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytsp.backends.context import Backend
from pytsp.neighbours.hilbert import hilbert_order
from pytsp.neighbours.lists import with_pairs
from pytsp.problem.instance import Instance
from pytsp.problem.location import curve_points, further_city, located
from pytsp.solvers.common.local_search import LocalSearch
from pytsp.solvers.policy import MOST_NUMBERED
from pytsp.solvers.speeds import BYTES

# The side of the square of spots, and of the grid of a curve through it.
SIDE = 1 << 20
CURVE_BITS = 10
# Most neighbours at which fragments look.
WIDEST = 32


class FlatSearch(LocalSearch):
    """Climbers of which all start at once, on the device, through an instance of no more cities than kernels number."""

    def __init__(self, *arguments: Any, instance: Instance, **options: Any) -> None:
        super().__init__(*arguments, **options)
        if instance.n > MOST_NUMBERED:
            raise ValueError(
                f"crossover on a GPU takes up to {MOST_NUMBERED} cities, and {instance.name} has {instance.n}; take "
                "solver='large'"
            )
        self.spots = spots_of(instance)
        lists = with_pairs(self.lists) if self.is_doubled else self.lists
        self.pattern = "clusters" if are_in_clusters(instance, self.lists) else "spread"
        self.joined = lists if lists.shape[1] <= WIDEST else np.ascontiguousarray(lists[:, :WIDEST])

    def start(self, first: int, count: int, population: int = 0) -> Any:
        """Return climbers on tours made in bulk, brought to where few cities have a move.

        Every second population starts along curves, so that its tours differ in kind from those of the others. Tours
        of directed ways are of fragments, which have the pairs.
        """
        plan = self._plan(first, is_curved=population % 2 == 1 and not self.is_doubled)
        return self.call(f"{self.kind}_bulk", self.loaded, *map(self.kept, (self.joined, *self.spots)), count, plan)

    def descend(self, tours: NDArray[np.int32]) -> Any:
        """Return climbers on these tours, brought there."""
        return self.call(f"{self.kind}_rounds", self.loaded, self.kept(self.lists), self.place(tours), self._plan(0))

    def _plan(self, first: int, *, is_curved: bool = False) -> Any:
        # Edges between fragments are up to twice as long at random, in 256ths; these join in more rounds in clusters.
        starts = {"noise": 256, "joins": 40 if self.pattern == "clusters" else 8}
        # Cities look at eight neighbours: the ways out of clusters come last in the lists. A round that is followed by
        # another has twenty moves at least, and there are two hundred at most.
        rounds = {"wide": 8, "least": 20, "rounds": 200}
        fields = {"seed": self.seed, "first": first, "curved": is_curved, **starts, **rounds}
        return self.kernels.value("bulk_plan", fields)


def are_in_clusters(instance: Instance, lists: NDArray[np.int32]) -> bool:
    """Tell whether cities with coordinates are clustered, by the neighbour lists of some of them, shape (n, k): the
    last neighbour of a quarter of a thousand cities is three times as far as the middle one."""
    found = located(instance)
    if found is None or lists.shape[1] < 3:
        return False
    cities = np.linspace(0, instance.n - 1, min(instance.n, 1_000)).astype(np.int64)
    middle, last = (
        np.linalg.norm(found.points[cities] - found.points[lists[cities, at]], axis=1)
        for at in ((lists.shape[1] - 1) // 2, -1)
    )
    return bool(np.mean(last > 3 * middle) >= 0.25)


def _fitting(kernels: Backend, most: int, copies: int = 1) -> int:
    """Return how many cities fit the memory of a GPU, with `copies` tours of each, but `most` at most."""
    memory = kernels.device.memory if kernels.device is not None else None
    return most if memory is None else min(most, memory // (copies * BYTES["device, city in bulk"]))


def most_climbers(n: int, kernels: Backend) -> int:
    """Return how many climbers on n cities fit the memory of a GPU and the kernels' indices."""
    return _fitting(kernels, 2**30 - 1) // n


def most_cities(kernels: Backend) -> int:
    """Return of how many cities a GPU's memory holds 16 tours, the fewest that are worth crossing."""
    return _fitting(kernels, MOST_NUMBERED, 16)


def check_device(n: int, climbers: int, kernels: Backend) -> None:
    """Refuse more climbers on n cities than fit a GPU."""
    if kernels.device is None or climbers <= (most := most_climbers(n, kernels)):
        return
    raise ValueError(
        f"climbers={climbers} do not fit {kernels.device.name}: of {n} cities it holds {most} tours; give fewer, or "
        "backend='multicore'"
    )


def spots_of(instance: Instance) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return where cities are drawn for curves: whole coordinates from 0 to 2**20 - 1, two of shape (n,).

    Cities out of the plane are in order along a curve through space, or of their numbers.
    """
    points, further = curve_points(instance), further_city(instance)
    if points is not None and points.shape[1] == 2:
        if further is not None:
            # It is near to the ends of a path only, wherever these are.
            points = points.copy()
            points[further] = np.delete(points, further, axis=0).mean(axis=0)
        low = points.min(axis=0)
        side = float((points - low).max()) or 1.0
        x, y = ((points - low) / side * (SIDE - 1)).astype(np.int32).T
        return np.ascontiguousarray(x), np.ascontiguousarray(y)
    order = np.arange(instance.n) if points is None else hilbert_order(points)
    places = np.empty(instance.n, dtype=np.int64)
    places[order] = np.arange(instance.n) * 4**CURVE_BITS // instance.n
    cell = SIDE >> CURVE_BITS
    x, y = (axis * cell for axis in _cells(places))
    return x.astype(np.int32), y.astype(np.int32)


def _cells(places: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the cells of places along Hilbert's curve through a grid of 2**CURVE_BITS a side."""
    x, y = np.zeros_like(places), np.zeros_like(places)
    for bit in range(CURVE_BITS):
        half = 1 << bit
        quarter = places >> 2 * bit & 3
        right, up = quarter >> 1, (quarter ^ quarter >> 1) & 1
        turned = np.where(right == 1, half - 1 - x, x), np.where(right == 1, half - 1 - y, y)
        x, y = np.where(up == 0, turned[1], x), np.where(up == 0, turned[0], y)
        x, y = x + half * right, y + half * up
    return x, y
