"""Instances whose coordinates are one array: each is made where somebody asks for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import compress
from typing import overload

import numpy as np
from numpy.typing import NDArray

from pytsp.problem.instance import Instance
from pytsp.problem.metrics import metric_named
from pytsp.problem.validation import are_lawful, warn_of_minutes
from pytsp.utils.memory import check_room


@dataclass(frozen=True, eq=False)
class Instances(Sequence[Instance]):
    """Instances of equally many cities with lawful coordinates, shape (b, n, d), one metric, and names or none."""

    metric: str
    coordinates: NDArray[np.float64]
    names: tuple[str, ...] = ()

    @classmethod
    def checked(cls, coordinates: NDArray[np.generic], metric: str) -> Instances | None:
        """Return the instances of an array of shape (b, n, 2) or (b, n, 3), checked together; None if that does not
        decide whether all are valid."""
        named = metric_named(metric)
        if not are_lawful(coordinates, named):
            return None
        warn_of_minutes(coordinates, named.name)
        check_room(f"a copy of an array of shape {coordinates.shape}", 8 * coordinates.size)
        return cls(named.name, np.array(coordinates, dtype=np.float64, order="C", copy=True))

    @classmethod
    def stacked(cls, instances: Sequence[Instance]) -> Sequence[Instance]:
        """Return instances as one array, which is sent sooner, without what a kernel does not ask for; those of several
        kinds, or that are matrices, as they are."""
        are_plain = [type(each) is Instance and each.fixed is None for each in instances]
        points = [each.coordinates for each in compress(instances, are_plain) if each.coordinates is not None]
        (metric, _), *others = {(each.metric, each._array.shape) for each in instances}
        if others or len(points) < len(instances):
            return instances
        return cls(metric, np.stack(points), tuple(each.name for each in instances))

    def some(self, numbers: Sequence[int]) -> Instances:
        """Return those of some numbers."""
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
        points = self.coordinates[which]
        # An array that was sent may be written to.
        points.setflags(write=False)
        return Instance._of_lawful_coordinates(points, self.metric, self.names[which] if self.names else "")


def cities_of(instances: Sequence[Instance]) -> list[int]:
    """Return how many cities each has."""
    if isinstance(instances, Instances):
        return [instances.coordinates.shape[1]] * len(instances)
    return [instance.n for instance in instances]
