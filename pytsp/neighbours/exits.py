"""Exits: near cities of other clusters, for the lists of cities whose nearest are all of their own.

Where the graph of neighbour lists falls apart, no move along them joins its components in another way. A tour may
enter and leave a small cluster anywhere, so each of its cities needs exits. Of a large one those at the border do.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytsp.neighbours.boxes import Tree, gpu_listing
from pytsp.neighbours.components import components, join_labels
from pytsp.neighbours.hilbert import along_hilbert
from pytsp.neighbours.lists import distances_to
from pytsp.problem.instance import Instance
from pytsp.problem.location import further_city, located
from pytsp.utils.deadline import look, timely_blocks

# Cities, in units of k, up to which a component may be several tight clusters and is split.
_LARGE = 64
# A city has an exit that exceeds the shortest one between the two clusters by at most this multiple of the distance to
# its last neighbour. It is so for most cities of clusters of up to 100 cities.
_BORDER = 6.0
# Distances computed together, so that what they need in between stays in the cache.
_BLOCK = 1 << 16
# Most distances; above that, cities amid a cluster of most cities are left out.
_MOST_DISTANCES = 1 << 26
# Cities whose exits are looked for between two looks at the clock.
_TOGETHER = 1 << 14
# Distances of a row that are sampled before the whole row is read.
_SAMPLE = 16
# The given ends of an open path are at another distance from its further city. Of fewer cities none is such a one.
_GIVEN_ENDS, _LEAST_CITIES = 2, 8
# In a sample the city itself may be, too.
_MOST_DIFFERING = _GIVEN_ENDS + 1


def find_exits(instance: Instance, lists: NDArray[np.int32], *, is_doubled: bool = False) -> NDArray[np.int32]:
    """Return the exits of each city, where the graph of neighbour lists is not connected.

    The clusters are the components of the graph of the nearer half of each list. A component of the whole lists that
    has more than 64 k cities is one cluster. The exits of a city are the nearest cities of the k // 2 - 1 nearest other
    clusters, except where most of its cluster is much nearer. These exits join clusters to larger ones, with one exit
    for each city, until one cluster is left. The further city of an open path joins no clusters, nor does any other
    that is as far from all.

    The result has shape (n, e), e ≤ k // 2, the most important exit first, and -1 where a city has fewer. With
    `is_doubled`, the instance represents directed ways, and `lists` are `way_lists` of it.

    Work O(n k) where the graph is connected; else about O(n (k + log n)) where distances grow with a norm, and O(n²)
    elsewhere.
    """
    n, k = lists.shape
    none = np.empty((n, 0), dtype=np.int32)
    ways = _Ways(instance, lists, n // 2 if is_doubled else n)
    # A list needs room for a neighbour of the same cluster, for an exit, and for a further city.
    if k < 2 + ways.are_anywhere.any() or ways.are_seen_joined:
        return none
    labels = components(ways.graph(k))
    if not ways.are_apart(labels):
        return none
    sizes = np.bincount(labels)
    labels = components(ways.graph((k + 1) // 2, whole=sizes[labels] > _LARGE * k))
    rounds: list[NDArray[np.int32]] = []
    while ways.are_apart(labels):
        found = _find_round(ways, labels, 1 if rounds else max(1, k // 2 - 1))
        places, columns = np.nonzero(found >= 0)
        if len(places) == 0:
            break
        rounds.append(found)
        labels = join_labels(labels, labels[places % ways.n], labels[found[places, columns] % ways.n])
    # Every round's first exit comes before the others: without it the clusters of the next round are apart. Where there
    # is no room for all of these, the cities take turns.
    firsts = np.column_stack([*(found[:, 0] for found in rounds), none])
    if len(rounds) > k // 2:
        turns = (np.arange(n)[:, None] + np.arange(len(rounds))) % len(rounds)
        firsts = np.take_along_axis(firsts, turns, axis=1)
    exits = np.column_stack([firsts, *(found[:, 1:] for found in rounds)])
    order = np.argsort(exits < 0, axis=1, kind="stable")[:, : k // 2]
    sorted_exits: NDArray[np.int32] = np.take_along_axis(exits, order, axis=1)
    return sorted_exits


def may_have_far_cities(
    starts: NDArray[np.int64], n: int, distances: Callable[[NDArray[np.int64]], NDArray[np.int32]]
) -> NDArray[np.bool_]:
    """Tell of b instances whether one of their cities may be as far from all others, which joins no clusters.

    The first city of each is in `starts`, shape (b,); all have `n` cities. `distances` returns the distances of each
    city from cities of its instance, by their numbers there, shape (n, s).
    """
    sizes = np.diff(starts, append=n)
    last = np.repeat(sizes - 1, sizes)[:, None]
    differing = _differing(distances(last * np.arange(_SAMPLE) // (_SAMPLE - 1)))
    # Of few cities some are sampled again.
    may_be_far = (differing <= _MOST_DIFFERING) | (last[:, 0] < _SAMPLE)
    found: NDArray[np.bool_] = np.logical_or.reduceat(may_be_far, starts)
    return found


def with_exits(instance: Instance, lists: NDArray[np.int32], exits: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return lists of the same length that hold at most k // 2 of the exits, in place of the farthest other neighbours,
    in order of distance. They are `lists` where no city has an exit."""
    k = lists.shape[1]
    exits = exits[:, : k // 2]
    changed = np.flatnonzero((exits >= 0).any(axis=1))
    if len(changed) == 0:
        return lists
    made: NDArray[np.int32] = lists.copy()
    for first in range(0, len(changed), max(1, _BLOCK // k)):
        look(len(lists))
        cities = changed[first : first + max(1, _BLOCK // k)]
        near, new = lists[cities], exits[cities]
        are_equal = near[:, :, None] == new[:, None, :]
        is_new = (new >= 0) & ~are_equal.any(axis=1)
        is_other = ~are_equal.any(axis=2)
        # As many of the others go as are new, the last ones first.
        left = is_other.sum(axis=1) - is_new.sum(axis=1)
        is_kept = ~is_other | (is_other.cumsum(axis=1) <= left[:, None])
        both, is_listed = np.concatenate([near, new], axis=1), np.concatenate([is_kept, is_new], axis=1)
        chosen = both[is_listed].reshape(len(cities), k)
        ranks = np.argsort(instance.distances(cities[:, None], chosen), axis=1, kind="stable")
        made[cities] = np.take_along_axis(chosen, ranks, axis=1)
    return made


@dataclass(frozen=True)
class _Ways:
    """The neighbour lists of places, and what is known of their distances.

    A place is a city. Of directed ways a city has two: the lists of place p, where one arrives at city p, hold places
    of the other kind, from n on. Place n + p is where one leaves city p.
    """

    instance: Instance
    lists: NDArray[np.int32]
    n: int

    @cached_property
    def are_anywhere(self) -> NDArray[np.bool_]:
        """True for each place that is as far from all others, but for the given ends of a path."""
        places = np.arange(len(self.lists))
        are_anywhere = np.zeros(len(places), dtype=np.bool_)
        if self.instance.coordinates is not None:
            if (further := further_city(self.instance)) is not None:
                are_anywhere[further] = True
            return are_anywhere
        if self.n < _LEAST_CITIES:
            return are_anywhere
        sampled = np.unique(np.linspace(0, self.n - 1, _SAMPLE).astype(np.int64))
        some = self.instance.distances(places[:, None], self.other_ends(places[:, None], sampled))
        for place in np.flatnonzero(_differing(some) <= _MOST_DIFFERING):
            row = np.delete(self.rows(places[place : place + 1]), place % self.n, axis=1)
            are_anywhere[place] = _differing(row)[0] <= _GIVEN_ENDS
        return are_anywhere

    @cached_property
    def near(self) -> NDArray[np.int32]:
        """The lists, with the place itself where another is anywhere; such a place has itself alone."""
        if not self.are_anywhere.any():
            return self.lists
        own = np.arange(len(self.lists), dtype=np.int32)[:, None]
        near: NDArray[np.int32] = np.where(self.are_anywhere[self.lists] | self.are_anywhere[:, None], own, self.lists)
        return near

    @property
    def are_seen_joined(self) -> bool:
        """True if a GPU lists the cities and finds that their lists join all of them."""
        kernels = gpu_listing(self.n)
        if kernels is None or len(self.lists) > self.n or self.are_anywhere.any():
            return False
        return bool(kernels.call("many_connected", self.lists, np.array([self.n], dtype=np.int32))[0])

    def graph(self, k: int, whole: NDArray[np.bool_] | None = None) -> NDArray[np.int32]:
        """Return lists of cities: the first k neighbours of each place, and all of those of the cities `whole`."""
        near = self.near[:, :k]
        if whole is not None:
            # Others have their first neighbour again, which adds no edge.
            others = np.where(np.resize(whole, len(near))[:, None], self.near[:, k:], near[:, :1])
            near = np.concatenate([near, others], axis=1)
        if len(near) == self.n:
            return near
        return np.concatenate([near[: self.n] % self.n, near[self.n :] % self.n], axis=1)

    def are_apart(self, labels: NDArray[np.int32]) -> bool:
        """Tell whether cities have different labels that are not anywhere."""
        known = labels[~self.are_anywhere.reshape(-1, self.n).all(axis=0)]
        return len(known) > 0 and bool((known != known[0]).any())

    def other_ends(self, places: NDArray[Any], cities: NDArray[Any]) -> NDArray[Any]:
        """Return the places of cities at the other ends of ways from or to places."""
        if len(self.lists) == self.n:
            return cities
        ends: NDArray[Any] = np.where(places < self.n, cities + self.n, cities)
        return ends

    def rows(self, places: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return numbers in the order of the distances of places from all cities, shape (m, n)."""
        if (matrix := self.instance.matrix) is None:
            found: NDArray[np.float64] = self.instance.distances(places[:, None], np.arange(self.n)).astype(np.float64)
            return found
        rows: NDArray[np.float64] = matrix[places].astype(np.float64)
        if len(self.lists) > self.n:
            rows = np.where((places < self.n)[:, None], rows[:, self.n :], rows[:, : self.n])
        return rows


def _differing(rows: NDArray[Any]) -> NDArray[np.int64]:
    """Return how many numbers of each row differ from its median."""
    middle = np.partition(rows, rows.shape[1] // 2, axis=1)[:, rows.shape[1] // 2]
    differing: NDArray[np.int64] = (rows != middle[:, None]).sum(axis=1)
    return differing


def _find_round(ways: _Ways, labels: NDArray[np.int32], count: int) -> NDArray[np.int32]:
    """Return the exits of each place from its cluster to the nearest `count` others, shape (places, count) or less."""
    places = np.flatnonzero(~ways.are_anywhere)
    count = min(count, int(labels.max()))
    exits = np.full((len(ways.lists), count), -1, dtype=np.int32)
    largest = np.bincount(labels).argmax()
    is_inside = (labels == largest)[places % ways.n]
    if is_inside.sum() <= len(places) / 2 or len(places) * ways.n <= _MOST_DISTANCES:
        is_inside[:] = False
    first = places[~is_inside]
    exits[first] = _nearest_outside(ways, labels, first, count)
    # Of a cluster of most of many cities only those have exits that others come to, or that are near these.
    found = exits[first]
    reached = np.unique(found[found >= 0] % ways.n)
    reached = reached[labels[reached] == largest]
    reached = np.union1d(reached, ways.graph(ways.lists.shape[1])[reached])
    second = places[is_inside & np.isin(places % ways.n, reached)]
    exits[second] = _nearest_outside(ways, labels, second, count)
    asked = np.concatenate([first, second])
    exits[asked] = np.where(_are_short(ways, labels, asked, exits[asked]), exits[asked], -1)
    return exits


def _are_short(
    ways: _Ways, labels: NDArray[np.int32], places: NDArray[np.int64], exits: NDArray[np.int32]
) -> NDArray[np.bool_]:
    """Tell of each of the places' exits whether there is no much shorter one between the same clusters."""
    is_exit = exits >= 0
    lengths = distances_to(ways.instance, places, np.where(is_exit, exits, places[:, None])).astype(np.float64)
    pairs = labels[places % ways.n].astype(np.int64)[:, None] * (int(labels.max()) + 1) + labels[exits % ways.n]
    _, numbers = np.unique(pairs[is_exit], return_inverse=True)
    least = np.full(len(numbers), np.inf)
    np.minimum.at(least, numbers, lengths[is_exit])
    # Doubled ways are longer than the directed ones, all by as much, which the difference leaves out.
    near = ways.near[places]
    around = distances_to(ways.instance, places, near).astype(np.float64)
    is_self = near == places[:, None]
    reach = np.where(is_self, 0, around).max(axis=1)
    if len(ways.lists) > ways.n:
        reach -= np.minimum(np.where(is_self, np.inf, around).min(axis=1), reach)
    is_short: NDArray[np.bool_] = is_exit.copy()
    is_short[is_exit] = lengths[is_exit] <= least[numbers] + _BORDER * reach[np.nonzero(is_exit)[0]]
    return is_short


def _nearest_outside(
    ways: _Ways, labels: NDArray[np.int32], places: NDArray[np.int64], count: int
) -> NDArray[np.int32]:
    """Return the nearest place of each of the `count` nearest other clusters, -1 where there are fewer."""
    if len(places) and (found := located(ways.instance)) is not None:
        return _nearest_by_boxes(ways, *found, labels, places, count)
    nearest = np.full((len(places), count), -1, dtype=np.int32)
    cities = np.arange(ways.n)
    step = max(1, _BLOCK // ways.n)
    for first in range(0, len(places), step):
        look()
        block = places[first : first + step]
        rows, own = ways.rows(block), np.arange(len(block))
        rows[ways.are_anywhere[np.broadcast_to(ways.other_ends(block[:, None], cities), rows.shape)]] = np.inf
        left = labels[block % ways.n]
        for column in range(count):
            rows[labels == left[:, None]] = np.inf
            city = rows.argmin(axis=1)
            is_found = rows[own, city] < np.inf
            nearest[first + own[is_found], column] = ways.other_ends(block, city)[is_found]
            left = labels[city]
    return nearest


def _nearest_by_boxes(
    ways: _Ways,
    points: NDArray[np.float64],
    norm: float,
    labels: NDArray[np.int32],
    places: NDArray[np.int64],
    count: int,
) -> NDArray[np.int32]:
    order, _ = along_hilbert(points)
    order = order[~ways.are_anywhere[order]]
    position = np.empty(ways.n, dtype=np.int32)
    position[order] = np.arange(len(order), dtype=np.int32)
    tree, clusters = Tree(points, norm, order), labels[order]
    # Cities that are near each other go the same ways.
    asked = np.argsort(position[places])
    found = np.empty((len(places), count), dtype=np.int32)
    for block in timely_blocks(len(asked), _TOGETHER):
        found[asked[block]] = tree.outside(clusters, position[places[asked[block]]], count)
    return found
