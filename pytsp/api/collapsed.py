"""Cities in one place, solved as few: orders at one address, equal rows of a matrix.

Neighbour lists around a crowded place would hold nothing but the place itself. So a place is solved with few of its
cities, and the others follow one of these in the tour: at no distance, or by GEO and GEOM, which round 0 up, at 1 each.

One city stands for all of a place where no way gets shorter by passing through the place once more, which the triangle
inequality says. Rounded distances and matrices may break it. There a place keeps some cities, which a tour may visit
one by one: a few, or one for each place whose way to its nearest other one is shorter by way of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytsp.api.steps import Request, Step
from pytsp.problem.instance import Instance
from pytsp.problem.location import Groups, group_coincident
from pytsp.problem.tours import check_tour

# Cities that a place keeps where the triangle inequality may be broken: half of a short neighbour list.
MOST_COPIES = 4
# Metrics of coordinates whose distances keep the triangle inequality, but for the rounding of floats.
TRIANGULAR = ("EUCLIDEAN", "HAVERSINE", "CEIL_2D")
# The relative excess of a distance over a way around that counts as rounding.
_SLACK = 1e-9
# Triangles of a matrix that are looked at, about a tenth of a second of one core. Beyond, they count as broken.
MOST_TRIANGLES = 1 << 26
# Rows of a matrix by which cities are told apart before whole rows are read.
_SAMPLED = 16
# Numbers that are compared or hashed at once, and those of many instances, which stay in the cache.
_BLOCK, _CACHED = 1 << 20, 1 << 15
_MULTIPLIERS = (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9)


@dataclass(frozen=True, eq=False)
class Collapsed(Step):
    """An instance with few cities a place in the place of one with many.

    Make one with `of`. City i of `instance` is `kept[i]` of the original; `kept` ascends. `owner` has the city of
    `instance` that each city of the original follows, or is. `end` is the city where an open path ends: the others of
    its place come before it. `offset` is 0, or by GEO and GEOM 1 for each city that is left out.

    Examples
    --------
    >>> collapsed = Collapsed.of(Instance.from_coordinates([[0, 0], [3, 4], [0, 0], [0, 0]]))
    >>> collapsed.instance.n
    2
    >>> collapsed.restate([1, 0])
    array([1, 0, 2, 3], dtype=int32)
    """

    original: Instance
    instance: Instance
    kept: NDArray[np.int32]
    owner: NDArray[np.int32]
    end: int | None = None
    offset: int = 0

    @classmethod
    def of(
        cls,
        original: Instance,
        start_city: int | None = None,
        end_city: int | None = None,
        *,
        has_initial_tour: bool = False,
    ) -> Collapsed | None:
        """Return the instance with few cities a place; None where no city is left out, as of fixed edges.

        `start_city` and `end_city` are ends of an open path, which are kept. With `has_initial_tour` a tour must not
        get longer by what is left out. Coordinates take work O(n log n) and memory O(n). A matrix takes O(n), and O(n)
        more for each city that may share its place.
        """
        groups = None if original.fixed is not None else _groups_of(original)
        if groups is None:
            return None
        copies = _copies_of(original, groups)
        if (groups.sizes <= copies).all() or (has_initial_tour and copies.max() > 1):
            return None
        is_kept = np.zeros(original.n, dtype=np.bool_)
        is_kept[groups.order[groups.rank < np.repeat(copies, groups.sizes)]] = True
        ends = [city for city in (start_city, end_city) if city is not None]
        place = np.empty(original.n, dtype=np.int64)
        place[groups.order] = np.repeat(np.arange(len(groups.sizes)), groups.sizes)
        for city in ends:
            if not is_kept[city]:
                # An end takes the place of another city of its place, if there is one that is no end.
                others = np.flatnonzero(is_kept & (place == place[city]))
                is_kept[others[~np.isin(others, ends)][:1]] = False
                is_kept[city] = True
        kept = np.flatnonzero(is_kept)
        if len(kept) == original.n:
            return None
        # Cities follow the first one that is kept and is not the end; where there is only the end, they precede it.
        by_place = kept if end_city is None else np.concatenate([kept[kept != end_city], [end_city]])
        leader = np.empty(len(groups.sizes), dtype=np.int64)
        # Of several in one place the last assignment counts.
        leader[place[by_place[::-1]]] = by_place[::-1]
        owner = np.searchsorted(kept, np.where(is_kept, np.arange(original.n), leader[place]))
        end = None if end_city is None else int(np.searchsorted(kept, end_city))
        # The first two cities of a place that has several.
        apart = original.distance(*groups.order[groups.first[np.argmax(groups.sizes)] :][:2].tolist())
        offset = int(apart) * (original.n - len(kept))
        part = _part(original, kept, offset)
        return cls(original, part, kept.astype(np.int32), owner.astype(np.int32), end, offset)

    def city(self, city: int | None) -> int | None:
        return None if city is None else int(self.owner[city])

    def map_request(self, request: Request) -> Request:
        start, end = self.city(request.start_city), self.city(request.end_city)
        limits = request.limits.with_target(self.original) if self.offset else request.limits
        return replace(super().map_request(request), start_city=start, end_city=end, limits=limits)

    def stored(self) -> dict[str, Any]:
        return {**super().stored(), "kept": self.kept, "owner": self.owner, "offset": self.offset}

    def tour(self, tour: Any) -> NDArray[np.int32]:
        """Return a tour or path of the original, which is checked, without the cities that are left out."""
        cities = check_tour(tour, self.original.n)
        owners = self.owner[cities]
        tour_of_kept: NDArray[np.int32] = owners[self.kept[owners] == cities]
        return tour_of_kept

    def restate(self, tour: Any) -> NDArray[np.int32]:
        """Return the tour or path of the original for one of `instance`, longer than that by `offset`."""
        rank = np.empty(len(self.kept), dtype=np.int64)
        rank[np.asarray(tour)] = np.arange(len(self.kept))
        follows = np.ones(self.original.n, dtype=np.int64)
        if self.end is not None:
            follows[self.owner == self.end] = -1
        follows[self.kept] = 0
        return np.argsort(3 * rank[self.owner] + follows, kind="stable").astype(np.int32)


def collapse_all(instances: Sequence[Instance]) -> dict[int, Collapsed]:
    """Return the collapsed instances, by number, of those with crowded places. Equal shapes are read together."""
    suspects: list[int] = []
    alike: dict[tuple[int, ...], list[int]] = {}
    for number, instance in enumerate(instances):
        if instance.coordinates is None:
            suspects.append(number)
        else:
            alike.setdefault(instance.coordinates.shape, []).append(number)
    for shape, numbers in alike.items():
        together = max(1, _CACHED // (shape[0] * shape[1]))
        for first in range(0, len(numbers), together):
            block = numbers[first : first + together]
            keys = np.sort(_keys(np.stack([np.asarray(instances[number].coordinates) for number in block])), axis=1)
            suspects += [block[at] for at in np.flatnonzero((keys[:, 1:] == keys[:, :-1]).any(axis=1))]
    made = ((number, Collapsed.of(instances[number])) for number in sorted(suspects))
    return {number: collapsed for number, collapsed in made if collapsed is not None}


def _part(original: Instance, kept: NDArray[np.int64], offset: int) -> Instance:
    if original.coordinates is not None:
        part = Instance._of_lawful(original.coordinates[kept], original.name, original.metric)
    else:
        assert original.matrix is not None
        matrix = np.ascontiguousarray(original.matrix[np.ix_(kept, kept)])
        is_asymmetric = original.asymmetric and not np.array_equal(matrix, matrix.T)
        part = Instance._of_lawful(matrix, original.name, asymmetric=is_asymmetric)
    if original.optimum is not None:
        object.__setattr__(part, "optimum", original.optimum - offset)
    return part


def _groups_of(instance: Instance) -> Groups | None:
    """Return the cities by their places, if any place has more than one."""
    if instance.n < 2:
        return None
    if instance.coordinates is None:
        assert instance.matrix is not None
        points = _names_of_rows(instance.matrix, is_symmetric=not instance.asymmetric)[:, None]
    else:
        points = instance.coordinates
        keys = np.sort(_keys(points))
        if not (keys[1:] == keys[:-1]).any():
            return None
    groups = group_coincident(points)
    return groups if len(groups.sizes) < instance.n else None


def _keys(numbers: NDArray[Any]) -> NDArray[np.uint64]:
    """Return a hash of the last axis: equal for equal numbers, 0.0 and -0.0 among them."""
    bits = (numbers + 0.0 if numbers.dtype.kind == "f" else numbers.astype(np.int64)).view(np.uint64)
    keys = np.zeros(bits.shape[:-1], dtype=np.uint64)
    for each in range(bits.shape[-1]):
        keys ^= bits[..., each]
        for multiplier in _MULTIPLIERS:
            keys ^= keys >> np.uint64(31)
            keys *= np.uint64(multiplier)
    return keys


def _names_of_rows(matrix: NDArray[Any], *, is_symmetric: bool) -> NDArray[np.float64]:
    """Return the first city at the place of each: those of equal rows and columns, so at distance 0 of each other."""
    n = len(matrix)
    sampled = np.unique(np.linspace(0, n - 1, _SAMPLED).astype(np.int64))
    keys = _keys(np.ascontiguousarray(matrix[sampled].T))
    if not is_symmetric:
        keys ^= _keys(np.ascontiguousarray(matrix[:, sampled])) * np.uint64(_MULTIPLIERS[0])
    order = np.argsort(keys, kind="stable")
    is_equal = keys[order[1:]] == keys[order[:-1]]
    suspects = np.sort(order[np.append(is_equal, False) | np.append(False, is_equal)])
    name = np.arange(float(n))
    for same in _equal_rows(matrix, suspects):
        for few in [same] if is_symmetric else _equal_rows(matrix.T, same):
            name[few] = few[0]
    return name


def _equal_rows(matrix: NDArray[Any], cities: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """Return the groups of two and more of `cities`, which ascend, whose rows are equal."""
    alike: dict[int, list[int]] = {}
    for city in cities.tolist():
        # 0.0 and -0.0 are equal.
        alike.setdefault(hash((matrix[city] + 0).tobytes()), []).append(city)
    groups = ([city for city in some if np.array_equal(matrix[city], matrix[some[0]])] for some in alike.values())
    return [np.array(group) for group in groups if len(group) > 1]


def _copies_of(instance: Instance, groups: Groups) -> NDArray[np.int64]:
    """Return how many cities each place keeps."""
    if instance.coordinates is not None:
        # Rounding adds 1 at most to a way, whichever place it avoids.
        return np.full(len(groups.sizes), 1 if instance.metric in TRIANGULAR else MOST_COPIES)
    assert instance.matrix is not None
    cities = groups.order[groups.first[:-1]]
    distances = instance.matrix[np.ix_(cities, cities)]
    crowded = np.flatnonzero(groups.sizes > 1)
    if _is_triangular(distances, crowded):
        return np.ones(len(cities), dtype=np.int64)
    copies = np.full(len(cities), MOST_COPIES)
    copies[crowded] = np.maximum(MOST_COPIES, 1 + _passers(distances, crowded))
    return copies


def _is_triangular(distances: NDArray[Any], by: NDArray[np.int64]) -> bool:
    """Tell whether no way becomes shorter by way of the places `by`."""
    m = len(distances)
    if len(by) * m * m > MOST_TRIANGLES:
        return False
    rows = max(1, _BLOCK // m)
    return not any(
        _is_shorter(distances[first : first + rows, place, None] + distances[place], distances[first : first + rows])
        for place in by
        for first in range(0, m, rows)
    )


def _is_shorter(around: NDArray[Any], direct: NDArray[Any]) -> bool:
    return bool((direct > (around if direct.dtype.kind == "i" else around * (1 + _SLACK))).any())


def _passers(distances: NDArray[Any], by: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return how many places have a shorter way to the nearest other one by way of each of the places `by`."""
    m = len(distances)
    apart = distances.copy()
    np.fill_diagonal(apart, np.iinfo(np.int64).max if apart.dtype.kind == "i" else np.inf)
    nearest = np.argsort(apart, axis=1, kind="stable")[:, :2] if m > 2 else np.zeros((m, 2), dtype=np.int64)
    places = np.arange(m)
    counts = []
    for place in by:
        other = np.where(nearest[:, 0] == place, nearest[:, 1], nearest[:, 0])
        counts.append(np.count_nonzero(distances[:, place] + distances[place, other] < distances[places, other]))
    return np.array(counts, dtype=np.int64)
