"""A descent by random-k-best improvement in plain loops, slow on purpose, with the random words of the kernels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from oracle import Distances, Tour, length

GOLDEN = 0x9E3779B97F4A7C15
MASK = 2**64 - 1

# An edge, its first city first on the way of a move.
Edge = tuple[int, int]


def mix(x: int) -> int:
    """SplitMix64's finalizer."""
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9 & MASK
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB & MASK
    return x ^ (x >> 31)


def stream(seed: int, number: int) -> int:
    """The key of a stream of random words."""
    return mix((mix((seed + GOLDEN) & MASK) + number * GOLDEN) & MASK)


def word(key: int, step: int) -> int:
    """The random word number `step` of a stream."""
    return mix((key + (step + 1) * GOLDEN) & MASK)


def below(key: int, step: int, bound: int) -> int:
    """A random whole number in [0, bound)."""
    return (word(key, step) >> 32) * bound >> 32


def exchanged(tour: Tour, gone: Sequence[Edge]) -> set[tuple[int, ...]]:
    """The tours, each from city 0 on both ways, without edges and with those that join the end of one to the next one.

    None, where what results is not one tour.
    """
    n = len(tour)
    around = {city: [tour[p - 1], tour[(p + 1) % n]] for p, city in enumerate(tour)}
    for u, v in gone:
        around[u].remove(v)
        around[v].remove(u)
    for (_, u), (v, _) in zip(gone, [*gone[1:], gone[0]], strict=True):
        around[u].append(v)
        around[v].append(u)
    walk = [0]
    before, city = 0, around[0][0]
    while city != 0 and len(walk) < n:
        walk.append(city)
        left = list(around[city])
        left.remove(before)
        before, city = city, left[0]
    return {tuple(walk), (0, *walk[:0:-1])} if city == 0 and len(walk) == n else set()


def moves(
    lists: Sequence[Sequence[int]], tour: Tour, t1: int, s: int, i: int, j: int
) -> Iterator[tuple[int, list[Edge]]]:
    """The kinds and edges of all that a draw leaves open: whatever makes one tour, in order of the kinds.

    The edge from t1 on, in the direction s, goes; the neighbour i of its end is t3, the neighbour j of t4, which is on
    either side of t3, is t5, and t6 is on either side of that.
    """

    def beside(city: int, way: int) -> int:
        return tour[(tour.index(city) + way) % len(tour)]

    t2 = beside(t1, s)
    t3 = lists[t2][i]
    for way in (-s, s):
        t4 = beside(t3, way)
        t5 = lists[t4][j]
        two = [(t1, t2), (t3, t4)]
        choices = [(1, two)] if way == -s else []
        choices += [(2 if way == -s else 3 if on == s else 4, [*two, (t5, beside(t5, on))]) for on in (s, -s)]
        for kind, gone in choices:
            distinct = t3 != t1 and t4 != t2 and gone[-1][1] != t1 and len(set(map(frozenset, gone))) == len(gone)
            if distinct and exchanged(tour, gone):
                yield kind, gone


def turned(tour: Tour, a: int, b: int, c: int, d: int) -> list[int]:
    """The tour with (b, c) and (d, a) for the edges (a, b) and (c, d): the shorter side is reversed where it stands."""
    n = len(tour)
    edges = [{tour[p], tour[(p + 1) % n]} for p in range(n)]
    low, high = sorted((edges.index({a, b}), edges.index({c, d})))
    places = list(range(low + 1, high + 1))
    if 2 * len(places) > n:
        places = [p % n for p in range(high + 1, low + 1 + n)]
    new = list(tour)
    for p, q in zip(places, reversed(places), strict=True):
        new[p] = tour[q]
    return new


def made(tour: Tour, kind: int, gone: Sequence[Edge]) -> list[int]:
    """The tour after a move: the exchanges of two edges of which it consists."""
    (t1, t2), (t3, t4), (t5, t6) = [*gone, (0, 0)][:3]
    steps = {
        1: [(t1, t2, t3, t4)],
        2: [(t1, t2, t3, t4), (t1, t4, t5, t6)],
        3: [(t1, t2, t4, t3), (t1, t3, t5, t6), (t4, t2, t3, t5)],
        4: [(t1, t2, t5, t6), (t5, t2, t3, t4)],
    }
    new = list(tour)
    for step in steps[kind]:
        new = turned(new, *step)
    return new


def descent(
    distances: Distances, lists: Sequence[Sequence[int]], start: Tour, seed: int, climber: int, draws: int
) -> tuple[list[int], int]:
    """The tour that a climber's descent ends on, and the number of its moves."""
    tour, steps, n = list(start), 0, len(start)
    # A descent is iteration -1; an iteration has 64 words, behind those of random tours, and the last but one is here.
    seed_of_draws = word(stream(seed, climber), 2**32 - 64 + 62)
    while True:
        key = stream(seed_of_draws, steps)
        best: tuple[int, int, list[Edge]] = (0, 0, [])
        for draw in range(draws if lists[0] else 0):
            s = -1 if word(key, 3 * draw) & 1 else 1
            i, j = (below(key, 3 * draw + place, len(lists[0])) for place in (1, 2))
            for kind, gone in moves(lists, tour, start[below(key, 3 * draw, n)], s, i, j):
                gain = length(distances, tour) - length(distances, min(exchanged(tour, gone)))
                if gain > best[0]:
                    best = (gain, kind, gone)
        if not best[0]:
            return tour, steps
        new = made(tour, *best[1:])
        assert length(distances, new) == length(distances, tour) - best[0]
        tour, steps = new, steps + 1
