"""Instances whose coordinates are one array: each is made where somebody asks for it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import compress
from typing import cast, overload

import numpy as np
from numpy.typing import NDArray

from pytsp.problem.instance import Instance
from pytsp.problem.metrics import metric_named
from pytsp.problem.tours import check_tour
from pytsp.problem.validation import are_lawful, warn_of_minutes
from pytsp.utils.memory import check_room

# The cities whose distances are computed together: they stay in the cache.
MOST_CITIES = 1 << 14


@dataclass(frozen=True, eq=False)
class Instances(Sequence[Instance]):
    """Instances of equally many cities with lawful coordinates, shape (b, n, d), one metric, and names or none."""

    metric: str
    coordinates: NDArray[np.float64]
    names: tuple[str, ...] = ()

    @classmethod
    def checked(cls, coordinates: NDArray[np.generic], metric: str) -> Instances | None:
        """Return instances of an array of shape (b, n, d), checked together; None if that leaves in doubt some."""
        named = metric_named(metric)
        if not are_lawful(coordinates, named):
            return None
        warn_of_minutes(coordinates, named.name)
        check_room(f"a copy of an array of shape {coordinates.shape}", 8 * coordinates.size)
        return cls(named.name, np.array(coordinates, dtype=np.float64, order="C", copy=True))

    @classmethod
    def stacked(cls, instances: Sequence[Instance]) -> Sequence[Instance]:
        """Return instances as one array, for kernels alone; those of several kinds, or matrices, as they are."""
        are_plain = [type(each) is Instance and each.fixed is None for each in instances]
        points = [each.coordinates for each in compress(instances, are_plain) if each.coordinates is not None]
        (metric, _), *others = {(each.metric, each._array.shape) for each in instances}
        if others or len(points) < len(instances):
            return instances
        return cls(metric, np.stack(points), tuple(each.name for each in instances))

    def some(self, numbers: Sequence[int]) -> Instances:
        names = tuple(self.names[number] for number in numbers) if self.names else ()
        return Instances(self.metric, self.coordinates[list(numbers)], names)

    def __len__(self) -> int:
        return len(self.coordinates)

    @overload
    def __getitem__(self, which: int) -> Instance: ...

    @overload
    def __getitem__(self, which: slice) -> Sequence[Instance]: ...

    def __getitem__(self, which: int | slice) -> Instance | Sequence[Instance]:
        if isinstance(which, slice):
            return [self[number] for number in range(len(self))[which]]
        return Instance._of_lawful(self.coordinates[which], self.names[which] if self.names else "", self.metric)


def cities_of(instances: Sequence[Instance]) -> list[int]:
    if isinstance(instances, Instances):
        return [instances.coordinates.shape[1]] * len(instances)
    return [instance.n for instance in instances]


def tour_lengths(
    instances: Sequence[Instance],
    tours: Sequence[NDArray[np.int32]] | NDArray[np.int32],
    *,
    is_rounded_once: bool = True,
) -> list[int | float]:
    """Return `Instance.tour_length` of one tour in each instance, of those of equal size in fewer steps.

    Without `is_rounded_once`, floating-point lengths are near these, and take less time.
    """
    lengths: list[int | float] = [0] * len(instances)
    alike: dict[tuple[str, int, int], list[int]] = {}
    for number, instance in enumerate(instances):
        points = instance.coordinates if type(instance) is Instance else None
        if points is not None and 1 < len(points) <= MOST_CITIES:
            alike.setdefault((instance.metric, *points.shape), []).append(number)
        else:
            lengths[number] = instance.tour_length(tours[number])
    for (metric, n, _), numbers in alike.items():
        for first in range(0, len(numbers), MOST_CITIES // n):
            block = numbers[first : first + MOST_CITIES // n]
            given = tours[block] if isinstance(tours, np.ndarray) else [tours[number] for number in block]
            orders = _checked(given, n)
            cities = np.concatenate([cast("NDArray[np.float64]", instances[number].coordinates) for number in block])
            visited = cities.take(orders + n * np.arange(len(block), dtype=np.int32)[:, None], axis=0)
            found = metric_named(metric).between(visited, np.roll(visited, -1, axis=1))
            if metric_named(metric).is_exact or not is_rounded_once:
                made = found.sum(axis=1).tolist()
            else:
                made = [math.fsum(row) for row in found.tolist()]
            for number, length in zip(block, made, strict=True):
                lengths[number] = length
    return lengths


def _checked(tours: Sequence[NDArray[np.int32]] | NDArray[np.int32], n: int) -> NDArray[np.int32]:
    """Return tours of n cities as rows, once they are tours."""
    if isinstance(tours, np.ndarray):
        rows = tours
    elif all(tour.shape == (n,) and tour.dtype == np.int32 for tour in tours):
        rows = np.stack(tours)
    else:
        # One at least is none, or is told in another way.
        return np.stack([check_tour(tour, n) for tour in tours])
    if rows.dtype == np.int32 and rows.shape[1] == n and (np.sort(rows, axis=1) == np.arange(n, dtype=np.int32)).all():
        return rows
    return np.stack([check_tour(tour, n) for tour in rows])
