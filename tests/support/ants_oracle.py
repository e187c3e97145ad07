"""Ant colonies in plain loops, slow on purpose, with the random words of the kernels."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from draws import below, stream, word
from oracle import Distances, Tour, edges, length

Trails = list[list[float]]
# The edges of a tour, and how much their trails get.
Mark = tuple[set[tuple[int, int]], float]


def power(x: float, quarters: int) -> float:
    """A power in quarters, by the products and roots of the kernels."""
    y = 1.0
    for _ in range(quarters // 4):
        y *= x
    y *= math.sqrt(x) if quarters & 2 else 1.0
    return y * (math.sqrt(math.sqrt(x)) if quarters & 1 else 1.0)


def walk(distances: Distances, lists: Sequence[Sequence[int]], attractions: Trails, key: int) -> list[int]:
    """The tour of an ant."""
    n = len(distances)
    tour = [below(key, 0, n)]
    while len(tour) < n:
        city = tour[-1]
        left = [j for j, other in enumerate(lists[city]) if other not in tour]
        if left:
            whole = 0.0
            for j in left:
                whole += attractions[city][j]
            wanted = (word(key, len(tour)) >> 11) * 2.0**-53 * whole
            reached, chosen = 0.0, left[0]
            for j in left:
                reached, chosen = reached + attractions[city][j], j
                if reached > wanted:
                    break
            tour.append(lists[city][chosen])
        else:
            tour.append(min((each for each in range(n) if each not in tour), key=lambda c: (distances[city][c], c)))
    return tour


@dataclass
class Colony:
    """A colony on n cities, with what decides how its trails change."""

    distances: Distances
    lists: Sequence[Sequence[int]]
    etas: Trails
    seed: int
    number: int
    ants: int
    quarters: int
    keep: float
    weights: Sequence[float]
    elite: float
    turns: int
    reference: float
    floor: float
    smoothing: float
    patience: int
    best: list[int]
    trails: Trails
    steps: int = 0
    idle: int = 0

    def iterate(self, iteration: int) -> None:
        """Let all ants make a tour, and change the trails."""
        attractions = [
            [power(trail, self.quarters) * eta for trail, eta in zip(trails, etas, strict=True)]
            for trails, etas in zip(self.trails, self.etas, strict=True)
        ]
        seed = word(stream(self.seed, self.number), 2**32 + iteration)
        tours = [walk(self.distances, self.lists, attractions, stream(seed, ant)) for ant in range(self.ants)]
        ranked = sorted(tours, key=self.length)
        self.idle += 1
        if self.length(ranked[0]) < self.length(self.best):
            self.best, self.steps, self.idle = ranked[0], self.steps + 1, 0
        is_elite = self.turns == 0 or iteration % self.turns == 0
        marked = list(zip(ranked, self.weights, strict=False)) if self.turns == 0 or not is_elite else []
        marked += [(self.best, self.elite)] if is_elite else []
        marks = [(edges(tour), weight * self.reference / max(1, self.length(tour))) for tour, weight in marked]
        smooth = self.floor > 0 and self.idle >= self.patience
        most = self.reference / ((1 - self.keep) * max(1, self.length(self.best))) if self.floor > 0 else 0.0
        for a, trails in enumerate(self.trails):
            for j, trail in enumerate(trails):
                trails[j] = self._changed(trail, tuple(sorted((a, self.lists[a][j]))), marks, most, smooth)
        self.idle = 0 if smooth else self.idle

    def length(self, tour: Tour) -> int:
        return length(self.distances, tour)

    def _changed(self, trail: float, edge: tuple[int, ...], marks: list[Mark], most: float, smooth: bool) -> float:
        trail *= self.keep
        for marked, mark in marks:
            if edge in marked:
                trail += mark
        if self.floor > 0:
            trail = min(most, max(self.floor * most, trail))
        if smooth:
            trail += self.smoothing * (most - trail)
        return min(1e50, max(1e-50, trail))
