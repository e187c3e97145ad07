"""Asymmetric instances as symmetric ones of twice as many cities.

A city has two places, one to arrive at and one to leave from, joined by an edge of length 0. The way from i to j is the
edge from i's second place to j's first, longer by so much that every pair of places stays together; all other edges are
longer still. Every tour that breaks a pair is shortened by a 2-opt move, so that shortest tours break none.

References
----------
R. Jonker, T. Volgenant: Transforming asymmetric into symmetric traveling salesman problems. Operations Research Letters
2 (1983).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pytsp.exceptions import InstanceError
from pytsp.problem.doubled import DoubledWays, double
from pytsp.problem.instance import Instance
from pytsp.problem.kernel_input import MOST_DISTANCE, check_kernel_matrix, check_side
from pytsp.problem.long_edges import shorten_edges
from pytsp.problem.tours import check_tour, numbers_of
from pytsp.utils.extremes import least_and_largest


@dataclass(frozen=True, eq=False)
class JonkerVolgenant:
    """The shortest directed tour of an asymmetric instance, as a tour of a symmetric one; make one with `of`.

    In `instance`, city i is where one arrives at the city `order[i]`, or i if `order` is None, and city n + i where one
    leaves it. A tour is longer than its directed tour by `offset`, unless `is_shortened` and it has a shortened way.
    """

    original: Instance
    instance: Instance
    offset: int | float
    is_shortened: bool = False
    order: NDArray[np.int32] | None = None

    @classmethod
    def of(cls, original: Instance, order: NDArray[np.int32] | None = None) -> JonkerVolgenant:
        """Make the symmetric instance: 16 n² bytes, and next to none with distances that are not integers.

        An `order` in which near cities follow each other brings their distances together in memory. Distances or a
        matrix beyond the kernels' bounds, and too little memory, raise `InstanceError`; too little time raises
        `OutOfTime`.
        """
        n, name = original.n, original.name or "instance"
        check_side(original, "an asymmetric instance needs a symmetric", 2 * n, places=2)
        # A matrix of whole numbers, of which kernels have a copy.
        check_kernel_matrix(original, 32 * n * n)
        given = original.distance_rows(0, n)
        least, _ = least_and_largest(given)
        ways = shorten_edges(given, least + MOST_DISTANCE // 2 - 1)
        _, largest = least_and_largest(ways)
        spread = largest - least
        # A broken pair costs an edge more that is no pair, and no two ways differ by as much.
        apart = spread + 1 if original.is_exact else 1.25 * spread or 1.0
        # More than a way and what it is longer by: two such edges cost more than two ways.
        forbidden = 2 * apart
        if original.is_exact and forbidden > MOST_DISTANCE:
            raise InstanceError(
                f"{name}: distances from {least} to {largest} are too far apart for an asymmetric instance; "
                f"they may differ by {MOST_DISTANCE // 2 - 1}: divide them by a common factor"
            )
        numbers = np.arange(n) if order is None else order
        if original.is_exact:
            doubled = double(
                lambda block: np.take(ways[numbers[block]], numbers, axis=1) - least + apart, n, forbidden, np.int32
            )
            instance = Instance._of_lawful(doubled, original.name)
        else:
            instance = DoubledWays.of(original.name, ways, numbers, apart - least, forbidden)
        # The one edge of a single city is its pair.
        offset = n * (apart - least) if n > 1 else 0
        return cls(original, instance, offset, ways is not given, order)

    def directed(self, tour: ArrayLike) -> NDArray[np.int32]:
        """Return the directed tour of a tour; pairs that it breaks are joined. `directed` undoes `tour`.

        It is at most as long as the tour less `offset`, and equally long where the tour breaks no pair, but for
        shortened ways.
        """
        n = self.original.n
        doubled = check_tour(tour, 2 * n).copy()
        _alternate(doubled, n)
        _join(doubled, n)
        if doubled[0] >= n:
            doubled = np.roll(doubled, -1)
        # In this direction one arrives at a city's first place; in the other one the tour is read backwards.
        if doubled[1] != doubled[0] + n:
            doubled = np.roll(doubled[::-1], -1)
        directed: NDArray[np.int32] = doubled[::2].copy()
        return directed if self.order is None else self.order[directed]

    def tour(self, directed: ArrayLike) -> NDArray[np.int32]:
        """Return the tour of a directed tour."""
        cities = check_tour(directed, self.original.n)
        if self.order is not None:
            cities = numbers_of(self.order)[cities]
        return np.column_stack((cities, cities + self.original.n)).ravel().astype(np.int32)


def _alternate(tour: NDArray[np.int32], n: int) -> None:
    """Replace the edges between two first places and between two second ones: each 2-opt move replaces one of each."""
    while True:
        leaves = tour >= n
        broken = np.flatnonzero(leaves == np.roll(leaves, -1))
        if not broken.size:
            return
        p = int(broken[0])
        q = int(broken[leaves[broken] != leaves[p]][0])
        _exchange(tour, p, q)


def _join(tour: NDArray[np.int32], n: int) -> None:
    """Put the places of each city side by side; a move keeps the alternation, and breaks no pair that is joined."""
    position = numbers_of(tour)
    is_apart = ~np.isin((position[n:] - position[:n]) % (2 * n), (1, 2 * n - 1))
    for city in np.flatnonzero(is_apart).tolist():
        p, q = int(np.argmax(tour == city)), int(np.argmax(tour == city + n))
        # An earlier move may have joined them.
        if (q - p) % (2 * n) not in (1, 2 * n - 1):
            _exchange(tour, p, q)


def _exchange(tour: NDArray[np.int32], p: int, q: int) -> None:
    """Make the 2-opt move that exchanges the edges that leave the positions p and q."""
    p, q = min(p, q), max(p, q)
    tour[p + 1 : q + 1] = tour[p + 1 : q + 1][::-1].copy()
