"""Simulated annealing in plain loops, slow on purpose, with the random words of the kernels."""

from __future__ import annotations

from collections.abc import Sequence

from draws import below, turned, word
from oracle import Distances, Tour, length

# Of a fraction in 32 bits: the natural logarithm of 2 in that unit.
LN_2 = 1.6138602721020555e-10


def exponential(random: int) -> float:
    """The kernels' number of the exponential distribution."""
    random |= 1
    zeros = 64 - random.bit_length()
    fraction = ((random << zeros) & (2**64 - 1)) << 1 & (2**64 - 1)
    f = fraction >> 32
    log = f + (f * (2**32 - f) >> 32) * 352 // 1024
    return float(((zeros + 1) << 32) - log) * LN_2


def drawn(tour: Tour, lists: Sequence[Sequence[int]], key: int, first: int, segments: bool) -> tuple[list[int], bool]:
    """The tour after the move that a trial draws, and whether it is a move at all."""
    n = len(tour)

    def beside(city: int, way: int) -> int:
        return tour[(tour.index(city) + way) % n]

    a = below(key, first, n)
    low = word(key, first) & (2**32 - 1)
    kind = (low >> 16) * 6 >> 16
    s, r = 1 - 2 * (low & 1), 1 - 2 * (low >> 1 & 1)
    if lists[a]:
        b = lists[a][below(key, first + 1, len(lists[a]))]
    else:
        b = [city for city in range(n) if city != a][below(key, first + 1, n - 1)]
    count = max(0, min(kind - 2, n - 3)) if segments else 0
    if count == 0:
        p, f = beside(a, s), beside(b, s)
        if len({a, p, b, f}) < 4:
            return list(tour), False
        return turned(tour, a, p, f, b), True
    segment = [tour[(tour.index(a) - s * i) % n] for i in range(count)]
    e, p, f = segment[-1], beside(a, s), beside(b, r)
    q = beside(e, -s)
    if b in segment or f in segment:
        return list(tour), False
    steps = [(p, a, b, f), (p, f, e, q)] if r == s else [(p, a, q, e), (p, e, f, b), (p, b, a, q)]
    new = list(tour)
    for step in steps:
        new = turned(new, *step)
    rest = [city for city in tour if city not in segment]
    at = rest.index(b)
    ways = [[*rest[: at + i], *order, *rest[at + i :]] for i in (0, 1) for order in (segment, segment[::-1])]
    assert any(around(new) == around(way) for way in ways)
    return new, True


def around(tour: Tour) -> set[frozenset[int]]:
    """The edges of a tour."""
    return {frozenset((tour[p - 1], city)) for p, city in enumerate(tour)}


def annealed(
    distances: Distances,
    lists: Sequence[Sequence[int]],
    start: Tour,
    key: int,
    temperatures: Sequence[float],
    trials: int,
    segments: bool,
) -> tuple[list[int], list[int], int]:
    """Where a chain ends, its best tour, and how many moves it has made."""
    tour, best, steps = list(start), list(start), 0
    for iteration, temperature in enumerate(temperatures):
        for trial in range(trials if len(tour) >= 5 else 0):
            first = 2**32 + 4 * (iteration * trials + trial)
            new, is_move = drawn(tour, lists, key, first, segments)
            longer = length(distances, new) - length(distances, tour)
            if is_move and (longer <= 0 or longer <= int(exponential(word(key, first + 2)) * temperature)):
                tour, steps = new, steps + 1
            if length(distances, tour) < length(distances, best):
                best = list(tour)
    return tour, best, steps
