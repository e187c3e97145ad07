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


# Merging


@dataclass(frozen=True)
class Edge:
    """An edge of a city in an exchange: its ends at the city and away from it, each a cut's position and side, the claim
    that a joint makes, and the position of the other city. A segment's edge has the ends of a cut that is to come."""

    claim: tuple[str, object]
    near: tuple[int, int]
    far: tuple[int, int]
    to: int


class Merging:
    """An exchange whose subtours are merged: links between ends, and the subtour of each segment by its first cut."""

    def __init__(self, distances: Distances, lists: Sequence[Sequence[int]], tour: Tour, exchange: Exchange) -> None:
        self.distances, self.lists, self.tour, self.n = distances, lists, tour, len(tour)
        self.place = {city: q for q, city in enumerate(tour)}
        self.cuts, self.gain = list(exchange.cuts), exchange.gain
        ends = [(exchange.cuts[end // 2], end % 2) for end in range(len(exchange.link))]
        self.joined = {ends[x]: ends[y] for x, y in enumerate(exchange.link)}
        self.subtour = {self.cuts[r]: self.cuts[s] for r, s in enumerate(subtours(self.n, exchange))}

    @property
    def left(self) -> int:
        """How many subtours there are."""
        return len(set(self.subtour.values()))

    @property
    def exchange(self) -> Exchange:
        return sorted_exchange(self.cuts, self.joined, self.gain)

    def segment_of(self, q: int) -> int:
        """The cut before the segment of a position."""
        return max((cut for cut in self.cuts if cut < q), default=max(self.cuts))

    def edge(self, q: int, side: int) -> Edge:
        """The edge of the city at a position: behind it for side 0, before it for side 1."""
        cut, near = (q - side) % self.n, ((q - side) % self.n, side)
        if cut in self.cuts:
            far = self.joined[near]
            return Edge(("link", frozenset((near, far))), near, far, (far[0] + far[1]) % self.n)
        return Edge(("segment", self.segment_of(q)), near, (cut, 1 - side), (q + 1 - 2 * side) % self.n)

    def sizes(self) -> dict[int, int]:
        """The number of cities of each subtour."""
        found = dict.fromkeys(self.subtour.values(), 0)
        for q in range(self.n):
            found[self.subtour[self.segment_of(q)]] += 1
        return found

    def distance(self, q: int, t: int) -> int:
        """The distance of the cities at two positions."""
        return self.distances[self.tour[q]][self.tour[t]]

    def look(self, q: int, sizes: dict[int, int]) -> tuple[int, Edge, Edge, int] | None:
        """The best joint of a city with a larger subtour, the first among equals, with the other city's position."""
        best, found = -(2**31), None
        mine = self.subtour[self.segment_of(q)]
        edges = [self.edge(q, side) for side in (0, 1)]
        lost = [self.distance(q, edge.to) for edge in edges]
        for w in self.lists[self.tour[q]]:
            t = self.place[w]
            come, theirs = self.distance(q, t), self.subtour[self.segment_of(t)]
            if max(lost) - come <= best // 2 or (sizes[theirs], theirs) <= (sizes[mine], mine):
                continue
            for edge, gone in zip(edges, lost, strict=True):
                for other in (self.edge(t, side) for side in (0, 1)):
                    gain = gone + self.distance(t, other.to) - come - self.distance(edge.to, other.to)
                    if gain > best:
                        best, found = gain, (gain, edge, other, t)
        return found

    def joints(self, cap: int) -> dict[int, tuple[int, Edge, Edge, int]]:
        """The best joint of each subtour that looks and finds one."""
        sizes = self.sizes()
        largest = max(sizes, key=lambda s: (sizes[s], s))
        found: dict[int, tuple[int, Edge, Edge, int]] = {}
        for cut in self.cuts:
            s = self.subtour[cut]
            if s == largest or sizes[s] > cap:
                continue
            for q in segment(self.n, self.cuts, self.cuts.index(cut)):
                joint = self.look(q, sizes)
                if joint and (s not in found or joint[0] > found[s][0]):
                    found[s] = joint
        return found

    def make(self, joints: dict[int, tuple[int, Edge, Edge, int]]) -> int:
        """Make the joints whose edges no earlier subtour claims, and tell how many these are."""
        firsts: dict[object, int] = {}
        for s in sorted(joints):
            for edge in joints[s][1:3]:
                firsts.setdefault(edge.claim, s)
        made = [s for s in joints if all(firsts[edge.claim] == s for edge in joints[s][1:3])]
        below, subtour = {s: self.subtour[self.segment_of(joints[s][3])] for s in made}, dict(self.subtour)
        for s in made:
            gain, x, y, _ = joints[s]
            self.gain += gain
            for edge in (x, y):
                if edge.claim[0] == "segment":
                    subtour[edge.near[0]] = self.subtour[self.segment_of(edge.near[0])]
            for u, v in ((x.near, y.near), (x.far, y.far)):
                self.joined[u], self.joined[v] = v, u
        self.cuts = sorted(subtour)
        for cut, s in subtour.items():
            top = s
            while top in below:
                top = below[top]
            self.subtour[cut] = top
        return len(made)


def merged(
    distances: Distances, lists: Sequence[Sequence[int]], tour: Tour, exchange: Exchange, cap: int, rounds: int
) -> tuple[Exchange, int]:
    """An exchange after so many rounds of merging, while it saves something, and how many subtours it leaves."""
    state = Merging(distances, lists, tour, exchange)
    for _ in range(rounds):
        if state.left == 1 or state.gain <= 0 or not state.make(state.joints(cap)):
            break
    return state.exchange, state.left


# Children


def united(children: Sequence[Exchange]) -> Exchange:
    """The union of children, of which at each cut that several share the one with the largest gain goes on."""
    wins: dict[int, int] = {}
    for number, child in enumerate(children):
        for cut in child.cuts:
            if cut not in wins or children[wins[cut]].gain < child.gain:
                wins[cut] = number
    taken = [child for number, child in enumerate(children) if all(wins[cut] == number for cut in child.cuts)]
    return put_together(taken)


def put_together(taken: Sequence[Exchange]) -> Exchange:
    """Exchanges that share no cut as one."""
    joined: dict[tuple[int, int], tuple[int, int]] = {}
    for child in taken:
        ends = [(child.cuts[end // 2], end % 2) for end in range(len(child.link))]
        joined |= {ends[x]: ends[y] for x, y in enumerate(child.link)}
    return sorted_exchange(sorted({cut for cut, _ in joined}), joined, sum(child.gain for child in taken))


def applied(tour: Tour, exchange: Exchange) -> list[int]:
    """The tour after an exchange, from its first segment on; shorter than the tour where subtours are left."""
    n, m = len(tour), len(exchange.cuts)
    found, r, up = [], 0, True
    while True:
        cities = [tour[q] for q in segment(n, exchange.cuts, r)]
        found += cities if up else cities[::-1]
        enter = exchange.link[2 * ((r + 1) % m) if up else 2 * r + 1]
        r, up = (enter // 2, True) if enter % 2 else ((enter // 2 - 1) % m, False)
        if (r, up) == (0, True):
            return found


def child_of(
    distances: Distances, lists: Sequence[Sequence[int]], tour: Tour, children: Sequence[Exchange]
) -> list[int]:
    """The tour that takes over its children, or itself where their union is worse than the best of them."""
    if not children:
        return list(tour)
    exchange, left = merged(distances, lists, tour, united(children), len(tour), 20)
    is_good = left == 1 and exchange.gain > 0 and exchange.gain >= max(child.gain for child in children)
    return applied(tour, exchange) if is_good else list(tour)
