"""Open paths as closed tours: a further city joins the two ends of a path, so that what solves tours solves paths.

The further city is as far from every city as from any other, so it takes nothing from the choice of the ends; it is
nearer to an end that is given, and so much nearer that leaving the end elsewhere never pays.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pytsp.exceptions import InstanceError, TourError
from pytsp.problem.instance import Instance
from pytsp.problem.kernel_input import MOST_DISTANCE, check_side, longest_distance, written_seconds
from pytsp.problem.location import is_located
from pytsp.problem.long_edges import shorten_edges
from pytsp.problem.metrics import with_further
from pytsp.problem.tours import check_tour
from pytsp.utils.arguments import whole_number
from pytsp.utils.deadline import look
from pytsp.utils.extremes import least_and_largest

# Distances that are copied between two looks at the clock.
_BLOCK = 1 << 22


@dataclass(frozen=True, eq=False)
class OpenPath:
    """The shortest open path through all cities of an instance, as a closed tour of another one; make one with `of`.

    City n of `instance`, which is asymmetric if `original` is, is the further one. A tour is longer than its path by
    `offset`, unless `is_shortened` and it has a shortened edge. An `unclosed` path has `original` as its `instance`.
    """

    original: Instance
    start_city: int | None
    end_city: int | None
    instance: Instance
    offset: int | float
    is_shortened: bool = False

    @classmethod
    def of(cls, original: Instance, start_city: int | None = None, end_city: int | None = None) -> OpenPath:
        """Make the instance with the further city; of a matrix in O(n²) memory.

        Wrong ends raise `ValueError`, distances or a matrix beyond the kernels' bounds `InstanceError`, too little time
        `OutOfTime`.
        """
        n = original.n
        for name, city in (("start_city", start_city), ("end_city", end_city)):
            if city is not None:
                whole_number(name, city, 0, n - 1)
        check_distinct(start_city, end_city, n)
        starts = [] if start_city is None else [start_city]
        ends = [] if end_city is None else [end_city]
        if not original.asymmetric:
            starts = ends = [*starts, *ends]
        if is_located(original):
            return cls._of_points(original, start_city, end_city)
        check_side(original, "an open path needs a", n + 1, further=1)
        if original.matrix is not None:
            size = 4 if original.is_exact and not original.asymmetric else 8
            look(n * n, written_seconds(size * n * n))
        given = d = original.distance_matrix() if original.matrix is None else original.matrix
        if starts or ends:
            least, _ = least_and_largest(d)
            # Asymmetric instances are doubled, for which distances may differ by half as much.
            room = MOST_DISTANCE // 2 - 2 if original.asymmetric else MOST_DISTANCE - 1
            d = shorten_edges(given, least + room // _exchanged(original), path=(start_city, end_city))
        far = _beyond(original, *least_and_largest(d)) if starts or ends else 0
        # Kernels take whole numbers of 32 bits as they are; directed ways are doubled before.
        is_short = original.is_exact and not original.asymmetric and max(d.max(), far) <= MOST_DISTANCE
        closed = np.zeros((n + 1, n + 1), np.int32 if is_short else d.dtype)
        rows = max(1, _BLOCK // n)
        for first in range(0, n, rows):
            look(first * n)
            end = min(n, first + rows)
            closed[first:end, :n] = d[first:end]
        closed[n, :n] = far if starts else 0
        closed[:n, n] = far if ends else 0
        closed[n, starts] = closed[ends, n] = 0
        # An end that is free has the further city at the distance of all others, if those are not 0.
        offset = far if len({*starts}) == 1 and not original.asymmetric and n > 1 else 0
        instance = Instance._of_lawful(closed, original.name, asymmetric=original.asymmetric)
        return cls(original, start_city, end_city, instance, offset, is_shortened=d is not given)

    @classmethod
    def _of_points(cls, original: Instance, start_city: int | None, end_city: int | None) -> OpenPath:
        """Make the instance of one that is given by coordinates: the further city's distances are one of them."""
        n, points = original.n, original.coordinates
        assert points is not None
        ends = [city for city in (start_city, end_city) if city is not None]
        far = _beyond(original, 0, longest_distance(original)) if ends else 0
        aways = np.full(n + 1, float(far))
        aways[ends] = 0
        aways[n] = -1
        instance = Instance.from_coordinates(
            np.column_stack([np.vstack([points, points[:1]]), aways]), with_further(original.metric), original.name
        )
        return cls(original, start_city, end_city, instance, far if len({*ends}) == 1 and n > 1 else 0)

    @classmethod
    def unclosed(cls, original: Instance, start_city: int | None = None, end_city: int | None = None) -> OpenPath:
        """Take a matrix that there is no time to close: tours are its paths. The ends are those of an `OpenPath`."""
        return cls(original, start_city, end_city, original, 0, is_shortened=True)

    @property
    def is_closed(self) -> bool:
        """True if there is a further city."""
        return self.instance is not self.original

    def path(self, tour: ArrayLike) -> NDArray[np.int32]:
        """Return the path of a closed tour, with its ends moved where they must be. `path` undoes `tour`.

        It is at most as long as the tour less `offset`, and equally long where the further city is between the given
        ends.
        """
        if not self.is_closed:
            return self.check(tour)
        n = self.original.n
        closed = check_tour(tour, n + 1)
        path = np.roll(closed, -_position(closed, n))[1:]
        start, end = self.start_city, self.end_city
        if not self.original.asymmetric:
            if path[-1] == start or path[0] == end:
                path = path[::-1].copy()
            # Either is a 2-opt move of the closed tour, and one that shortens it.
            if start is not None:
                first = path[: _position(path, start) + 1]
                first[:] = first[::-1].copy()
            if end is not None:
                last = path[_position(path, end) :]
                last[:] = last[::-1].copy()
        # The others put the ends where they must be without going any part of the path backwards.
        elif start is not None:
            path = np.roll(path, -_position(path, start))
            if end is not None:
                path = np.append(path[path != end], path[path == end])
        elif end is not None:
            path = np.roll(path, -_position(path, end) - 1)
        return path

    def tour(self, path: ArrayLike) -> NDArray[np.int32]:
        """Return the closed tour of a path."""
        cities = self.check(path)
        return np.append(cities, np.int32(self.original.n)) if self.is_closed else cities

    def check(self, path: ArrayLike) -> NDArray[np.int32]:
        """Return the path, shape (n,), if it is one between the given ends."""
        cities = check_tour(path, self.original.n)
        check_ends(cities, self.start_city, self.end_city)
        return cities


def check_distinct(start_city: int | None, end_city: int | None, n: int) -> None:
    """Refuse ends of a path that are one city, though there are others."""
    if start_city is not None and start_city == end_city and n > 1:
        raise ValueError(f"start_city and end_city are both {start_city}; a path through {n} cities has two ends")


def check_ends(path: NDArray[np.int32], start_city: int | None, end_city: int | None) -> None:
    """Refuse a path that has other ends than those that are given."""
    for verb, name, city, end in (
        ("begins", "start_city", start_city, path[0]),
        ("ends", "end_city", end_city, path[-1]),
    ):
        if city is not None and city != end:
            raise TourError(f"the path {verb} in city {end}, but {name} is {city}")


def _beyond(original: Instance, least: float, largest: float) -> int | float:
    """Return a distance of the further city at which no tour leaves it out of its place: no exchange wins as much.

    All distances are from `least` to `largest`.
    """
    spread = largest - least
    exchanged = _exchanged(original)
    if not original.is_exact:
        return exchanged * 1.25 * spread or 1.0
    far = exchanged * math.ceil(spread) + 1
    if far > MOST_DISTANCE:
        raise InstanceError(
            f"{original.name or 'instance'}: distances from {least} to {largest} are too far apart for a "
            f"path with a given end; {exchanged} times the difference must be less than {MOST_DISTANCE}: divide them "
            "by a common factor"
        )
    return far


def _exchanged(original: Instance) -> int:
    """Return how many edges the moves exchange that put the ends in order: without going backwards two, else one."""
    return 2 if original.asymmetric else 1


def _position(path: NDArray[np.int32], city: int) -> int:
    return int(np.argmax(path == city))
