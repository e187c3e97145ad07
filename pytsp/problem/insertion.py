"""Cities that a tour has not yet, put into it where it becomes longer by least; the order of the others stays.

References
----------
D. J. Rosenkrantz, R. E. Stearns, P. M. Lewis: An analysis of several heuristics for the traveling salesman problem.
SIAM Journal on Computing 6 (1977). Cheapest insertion.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pytsp.exceptions import TourError
from pytsp.problem.chains import chains_of
from pytsp.problem.instance import Instance
from pytsp.utils.deadline import look

# How often each unit that was inserted is taken out again, and put where it is cheaper.
_ROUNDS = 20
# What is less than this share of a length is no gain: floating-point sums are not told apart further.
_LEAST_GAIN = 1e-12


def is_partial(tour: Any, n: int) -> bool:
    """Tell whether something may be a tour of some of n cities: a flat array of fewer integers."""
    try:
        cities = np.asarray(tour)
    except ValueError:
        return False
    return cities.ndim == 1 and cities.dtype.kind in "iu" and 0 < len(cities) < n


def with_insertions(
    instance: Instance,
    tour: ArrayLike,
    *,
    is_open: bool = False,
    start_city: int | None = None,
    end_city: int | None = None,
) -> NDArray[np.int32]:
    """Return the tour, or path, of all cities that keeps the order of the given ones, shape (m,).

    The cheapest insertion is made first, until all cities are there; then each of these moves where it is cheaper, as
    long as there is such a place. Cities that fixed edges join are inserted together, and no fixed edge is parted.
    Given ends of a path are put there. An invalid city, one given twice, or a fixed edge that the given cities part
    raises `TourError`.

    Work O(r n) and O(r) for each of the r insertions, memory O(r + n).
    """
    given = _checked(tour, instance.n)
    units = _units(instance, given)
    first, last = (_unit_of(units, given, city, name) for city, name in ((start_city, "start"), (end_city, "end")))
    if is_open and first and last and {*first} == {*last}:
        raise TourError(f"fixed edges join start_city {start_city} and end_city {end_city} without the initial tour")
    cities = [*(first if is_open else []), *given.tolist(), *(last[::-1] if is_open else [])]
    way = _Way(instance, cities, is_open, is_open and start_city is not None, is_open and end_city is not None)
    there = {*cities}
    way.insert_all([np.array(unit, dtype=np.int64) for unit in units if unit[0] not in there])
    return way.order()


def _unit_of(units: list[list[int]], given: NDArray[np.int64], end: int | None, name: str) -> list[int]:
    """Return the cities that are inserted with an end of a path, that one first; none where it is there."""
    if end is None or end in given:
        return []
    unit = next(unit for unit in units if end in unit)
    if end not in (unit[0], unit[-1]):
        raise TourError(f"no path {name}s in city {end}, which has two fixed edges")
    return unit if unit[0] == end else unit[::-1]


def _checked(tour: ArrayLike, n: int) -> NDArray[np.int64]:
    given = np.asarray(tour).astype(np.int64)
    outside = np.flatnonzero((given < 0) | (given >= n))
    if outside.size:
        place = int(outside[0])
        raise TourError(f"city {given[place]} at position {place} of the initial tour is not one of 0, …, {n - 1}")
    visits = np.bincount(given, minlength=n)
    if visits.max() > 1:
        city = int(np.argmax(visits > 1))
        raise TourError(f"the initial tour visits city {city} {visits[city]} times")
    return given


def _units(instance: Instance, given: NDArray[np.int64]) -> list[list[int]]:
    """Return the cities that are missing, those in a row that fixed edges join."""
    is_given = np.zeros(instance.n, dtype=np.bool_)
    is_given[given] = True
    none = np.empty((0, 2), dtype=np.int32)
    fixed = none if instance.fixed is None else instance.fixed
    parted = np.flatnonzero(is_given[fixed[:, 0]] != is_given[fixed[:, 1]])
    if parted.size:
        a, b = sorted(fixed[parted[0]].tolist(), key=lambda city: not is_given[city])
        raise TourError(f"the initial tour has city {a}, but not city {b}, with which it has a fixed edge")
    missing = chains_of(fixed[~is_given[fixed[:, 0]]], instance.n + 1)
    rows = [row.tolist() for row in np.split(missing.cities, missing.firsts[1:-1]) if row.size]
    alone = np.setdiff1d(np.flatnonzero(~is_given), missing.cities)
    return [*rows, *([city] for city in alone.tolist())]


class _Way:
    """A tour, or a path, into which cities are put: the city that follows each, shape (n + 1,), where n is beyond the
    ends of a path and -1 says that a city is not there yet. `is_begun` and `is_ended` fix the ends."""

    def __init__(self, instance: Instance, cities: list[int], is_open: bool, is_begun: bool, is_ended: bool) -> None:
        self.instance, self.is_open, self.is_begun, self.is_ended = instance, is_open, is_begun, is_ended
        around = np.array([*cities, instance.n] if is_open else cities, dtype=np.int64)
        self.after: NDArray[np.int64] = np.full(instance.n + 1, -1, dtype=np.int64)
        self.after[around] = np.roll(around, -1)

    def order(self) -> NDArray[np.int32]:
        n = self.instance.n
        after = self.after.tolist()
        city = after[n] if self.is_open else int(np.flatnonzero(self.after >= 0)[0])
        found = []
        for _ in range(n):
            found.append(city)
            city = after[city]
        return np.array(found, dtype=np.int32)

    def insert_all(self, units: list[NDArray[np.int64]]) -> None:
        """Insert rows of cities, the cheapest one first, and put each again where it is cheaper."""
        left = {number: self.best(unit) for number, unit in enumerate(units)}
        while left:
            look(self.instance.n)
            number = min(left, key=lambda each: (left[each][0], each))
            unit = units[number]
            _, behind, is_turned = left.pop(number)
            self.put(unit, behind, is_turned)
            # An edge is gone, and some are new.
            row = (unit[::-1] if is_turned else unit).tolist()
            edges = np.array([behind, row[-1]])
            for each, (cost, place, _) in left.items():
                found = self.best(units[each], None if place == behind else edges)
                if place == behind or found[0] < cost:
                    left[each] = found
        for _ in range(_ROUNDS):
            if not any([self.moved(unit) for unit in units]):
                return

    def moved(self, unit: NDArray[np.int64]) -> bool:
        """Put a row that is there where it is cheaper; tell whether it is elsewhere then."""
        look(self.instance.n)
        first, last = int(unit[0]), int(unit[-1])
        is_turned = len(unit) > 1 and self.after[last] == unit[-2]
        head, tail = (last, first) if is_turned else (first, last)
        behind, ahead = int(np.flatnonzero(self.after == head)[0]), int(self.after[tail])
        if behind == ahead and not self.is_open:
            return False
        self.after[behind] = ahead
        self.after[unit] = -1
        here, there = self.costs(unit, np.array([behind])), self.best(unit)
        cost = float(here[int(is_turned), 0])
        is_gain = there[0] < cost - _LEAST_GAIN * abs(cost)
        self.put(unit, *(there[1:] if is_gain else (behind, is_turned)))
        return is_gain

    def put(self, unit: NDArray[np.int64], behind: int, is_turned: bool) -> None:
        row = [behind, *(unit[::-1] if is_turned else unit).tolist(), int(self.after[behind])]
        self.after[row[:-1]] = row[1:]

    def best(self, unit: NDArray[np.int64], places: NDArray[np.int64] | None = None) -> tuple[float, int, bool]:
        """Return the least that the way gets longer by a row, behind which city, and whether it is turned round."""
        if places is None:
            places = np.flatnonzero(self.after >= 0)
        costs = self.costs(unit, places)
        at = int(costs.argmin())
        return float(costs.flat[at]), int(places[at % len(places)]), at >= len(places)

    def costs(self, unit: NDArray[np.int64], places: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return by how much the way gets longer by a row behind some cities, and by the row turned round."""
        ahead = self.after[places]
        gone = self._lengths(places, ahead)
        costs = [
            self._lengths(places, np.full(len(places), row[0])) + self._lengths(np.full(len(places), row[-1]), ahead)
            for row in ([unit, unit[::-1]] if len(unit) > 1 and not self.instance.asymmetric else [unit])
        ]
        found = np.array(costs) - np.where(np.isfinite(gone), gone, 0.0)
        n = self.instance.n
        barred = (places == n) & self.is_begun | (ahead == n) & self.is_ended | self._are_fixed(places, ahead)
        found[:, barred] = np.inf
        return found

    def _lengths(self, a: NDArray[np.int64], b: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return distances; those from and to beyond the ends of a path are 0."""
        n = self.instance.n
        is_way = (a < n) & (b < n)
        lengths: NDArray[np.float64] = self.instance.distances(np.where(is_way, a, 0), np.where(is_way, b, 0)).astype(
            np.float64
        )
        return np.where(is_way, lengths, 0.0)

    def _are_fixed(self, a: NDArray[np.int64], b: NDArray[np.int64]) -> NDArray[np.bool_]:
        fixed = self.instance.fixed
        if fixed is None:
            return np.zeros(len(a), dtype=np.bool_)
        n = self.instance.n + 1
        codes = fixed[:, 0].astype(np.int64) * n + fixed[:, 1]
        return np.isin(np.minimum(a, b) * n + np.maximum(a, b), codes)
