"""The flattened crossover in plain loops, for one pair of tours: slow on purpose, what its kernels are compared with.

An exchange cuts edges of a tour. Cut r lies behind position `cuts[r]`; end 2 r is the city there, end 2 r + 1 the next
one; `link` joins each end to another one. Segment r lies between cut r and the next cut.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

Tour = Sequence[int]
Distances = Sequence[Sequence[int]]
Bit = Callable[[int], int]

WORD = 2**64 - 1
GOLDEN = 0x9E3779B97F4A7C15


def mix(x: int) -> int:
    """The finalizer of SplitMix64."""
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9 & WORD
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB & WORD
    return x ^ (x >> 31)


def stream(seed: int, number: int) -> int:
    """The key of a stream of random numbers."""
    return mix(mix(seed + GOLDEN & WORD) + number * GOLDEN & WORD)


def word(key: int, step: int) -> int:
    """A random word of a stream."""
    return mix(key + (step + 1) * GOLDEN & WORD)


def bits(key: int) -> Bit:
    """A random bit for each position of a tour."""
    return lambda position: word(key, position) & 1


@dataclass
class Exchange:
    """An exchange of one tour, and what it saves."""

    cuts: list[int]
    link: list[int]
    gain: int = 0

    def position(self, n: int, end: int) -> int:
        """The position of an end's city."""
        return (self.cuts[end // 2] + end % 2) % n

    def edges(self, tour: Tour) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
        """The edges that go and those that come, each once, the smaller city first."""
        n = len(tour)
        city = [tour[self.position(n, end)] for end in range(len(self.link))]
        gone = [(min(pair), max(pair)) for pair in zip(city[::2], city[1::2], strict=True)]
        come = [(min(city[x], city[y]), max(city[x], city[y])) for x, y in enumerate(self.link) if x < y]
        return gone, come


def saved(distances: Distances, tour: Tour, exchange: Exchange) -> int:
    """What an exchange saves, from its edges."""
    gone, come = exchange.edges(tour)
    return sum(distances[u][v] for u, v in gone) - sum(distances[u][v] for u, v in come)


def sorted_exchange(edges: Sequence[int], joined: dict[tuple[int, int], tuple[int, int]], gain: int = 0) -> Exchange:
    """An exchange that cuts the edges behind these positions; ends are named by position and side."""
    cuts = sorted(edges)
    rank = {cut: r for r, cut in enumerate(cuts)}
    link = [0] * (2 * len(cuts))
    for (cut, end), (other, far) in joined.items():
        link[2 * rank[cut] + end] = 2 * rank[other] + far
    return Exchange(cuts, link, gain)


def differing(a: Tour, b: Tour) -> list[int]:
    """The positions behind which `a` has an edge that `b` lacks."""
    n, place = len(a), {city: t for t, city in enumerate(b)}
    return [q for q in range(n) if n > 3 and (place[a[q]] - place[a[(q + 1) % n]]) % n not in (1, n - 1)]


def ab_cycles(a: Tour, b: Tour, bit: Bit, most: int) -> list[Exchange]:
    """The AB-cycles of up to `most` edges of `a`, by their first edges.

    Where a city loses both edges of `a`, a bit of 0 pairs the edges to the next cities on both tours.
    """
    n = len(a)
    at_a, at_b = ({city: q for q, city in enumerate(tour)} for tour in (a, b))
    lost_a, lost_b = differing(a, b), differing(b, a)

    def lost(cities: int, edges: list[int], q: int) -> list[int]:
        """The sides, 0 behind it and 1 before it, at which a position loses its edge."""
        return [side for side in (0, 1) if (q - side) % cities in edges]

    # From the end of an edge of `a`, as its position and end, to the end of another one.
    joined: dict[tuple[int, int], tuple[int, int]] = {}
    for t in lost_b:
        ends = []
        for city, way in ((b[t], 0), (b[(t + 1) % n], 1)):
            q = at_a[city]
            sides, ways = lost(n, lost_a, q), lost(n, lost_b, at_b[city])
            side = way ^ bit(q) if len(sides) == 2 else sides[ways.index(way)]
            ends.append(((q - side) % n, side))
        joined[ends[0]], joined[ends[1]] = ends[1], ends[0]
    found, used = [], set[int]()
    for first in lost_a:
        edges: list[int] = []
        cut, end = first, 1
        while cut not in used:
            used.add(cut)
            edges.append(cut)
            cut, far = joined[cut, end]
            end = 1 - far
        if edges and len(edges) <= most:
            ends_of = {(cut, end): joined[cut, end] for cut in edges for end in (0, 1)}
            found.append(sorted_exchange(edges, ends_of))
    return found


def subtours(n: int, exchange: Exchange) -> list[int]:
    """The subtour of each segment, by its first segment: positions that edges join, found by union and find."""
    above = list(range(n))

    def root(p: int) -> int:
        while above[p] != p:
            p = above[p]
        return p

    for p in range(n):
        if p not in exchange.cuts:
            above[root(p)] = root((p + 1) % n)
    for end, other in enumerate(exchange.link):
        above[root(exchange.position(n, end))] = root(exchange.position(n, other))
    roots = [root((cut + 1) % n) for cut in exchange.cuts]
    return [roots.index(each) for each in roots]


def segment(n: int, cuts: Sequence[int], r: int) -> list[int]:
    """The positions of a segment, upwards."""
    size = (cuts[(r + 1) % len(cuts)] - cuts[r] - 1) % n + 1
    return [(cuts[r] + 1 + t) % n for t in range(size)]
