"""The flattened crossover in plain loops, for one pair of tours: slow on purpose, what its kernels are compared with.

An exchange cuts edges of a tour. Cut r lies behind position `cuts[r]`; end 2 r is the city there, end 2 r + 1 the next
one; `link` joins each end to another one. Segment r lies between cut r and the next cut.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
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
    """The gain of an exchange, from its edges."""
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
    """An edge of a city in an exchange: what a joint claims, its ends at the city and away from it, and the position of
    the other city. Ends are a cut's position and a side; a segment's edge has those of a cut that is to come."""

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
        """The number of subtours."""
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
        """The best joint of a city with a larger subtour, the first among equals, with the other city's position.

        After it the exchange saves something.
        """
        best, found = max(-(2**31), -self.gain), None
        mine = self.subtour[self.segment_of(q)]
        edges = [self.edge(q, side) for side in (0, 1)]
        lost = [self.distance(q, edge.to) for edge in edges]
        for w in self.lists[self.tour[q]]:
            t = self.place[w]
            come, theirs = self.distance(q, t), self.subtour[self.segment_of(t)]
            if max(lost) - come <= best // 2:
                break
            if (sizes[theirs], theirs) <= (sizes[mine], mine):
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
    """An exchange after some rounds of merging, while it saves something, and how many subtours it leaves."""
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


def unions(n: int, cycles: Sequence[Exchange], centers: Sequence[Exchange], most: int, rounds: int) -> list[Exchange]:
    """The unions around exchanges of one tour with its AB-cycles, of up to `most` cuts, in some rounds.

    Each exchange is tried with each cycle that lies in several of its subtours. Unions that leave one tour are found,
    and so is the best one of each exchange, around which others are then looked for.
    """
    found: list[Exchange] = []
    for _ in range(rounds):
        following: list[Exchange] = []
        for center in centers:
            made = unions_around(n, cycles, center, most)
            left = [len(set(subtours(n, each))) for each in made]
            before = len(set(subtours(n, center)))
            order = sorted(range(len(made)), key=lambda x: (left[x], -made[x].gain, x))
            best = order[0] if order and left[order[0]] < before else -1
            found += [each for x, each in enumerate(made) if left[x] == 1 or x == best]
            following += [made[best]] if best >= 0 and left[best] > 1 else []
        centers = following
    return found


def unions_around(n: int, cycles: Sequence[Exchange], center: Exchange, most: int) -> list[Exchange]:
    """The unions of one exchange, in order of the first cut of each cycle in a subtour that is not the largest."""
    label = dict(zip(center.cuts, subtours(n, center), strict=True))
    segments = {cut: segment(n, center.cuts, r) for r, cut in enumerate(center.cuts)}
    subtour = {q: label[cut] for cut, positions in segments.items() for q in positions}
    sizes = [list(subtour.values()).count(each) for each in range(len(center.cuts))]
    largest = max(label.values(), key=lambda each: (sizes[each], each))
    found = []
    for q in (q for positions in segments.values() for q in positions[:-1]):
        for cycle in cycles:
            small = [cut for cut in cycle.cuts if subtour[cut] != largest]
            joins = small[:1] == [q] and len({subtour[cut] for cut in cycle.cuts}) > 1
            fits = len(center.cuts) + len(cycle.cuts) <= most and center.gain + cycle.gain > 0
            if joins and fits and not set(cycle.cuts) & set(center.cuts):
                found.append(put_together([center, cycle]))
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


# Local search


def move_exchange(n: int, q: int, t: int, side: int, cities: int, other: int) -> Exchange:
    """A move of the city at position q: it loses its edge on a side and joins the city at position t.

    That one loses its edge on the same side, or on the other one. By or-opt some cities move, by 2-opt none.
    """
    there = side ^ other
    u, v = (((q - side) % n, end) for end in (side, 1 - side))
    w, x = (((t - there) % n, end) for end in (there, 1 - there))
    if cities:
        cut = (q - cities if side == 0 else q + cities - 1) % n
        pairs = [(u, w), ((cut, 1 - side), x), (v, (cut, side))]
    else:
        pairs = [(u, w), (v, x)]
    joined = dict(pairs) | {second: first for first, second in pairs}
    return sorted_exchange(sorted({cut for cut, _ in joined}), joined)


def proposal(distances: Distances, lists: Sequence[Sequence[int]], tour: Tour, q: int, wide: int) -> Exchange | None:
    """The move of the city at a position that saves most, the first among equals, if one saves anything."""
    n, place, best = len(tour), {city: t for t, city in enumerate(tour)}, None
    for side in (0, 1):
        step = 1 - 2 * side
        gone = distances[tour[q]][tour[(q + step) % n]]
        for w in lists[tour[q]][:wide]:
            if distances[tour[q]][w] >= gone:
                break
            t = place[w]
            behind = (q - t) * step % n
            moves = [(0, 0)]
            moves += [(cities, other) for cities in (1, 2, 3) for other in (0, 1)]
            for cities, other in moves:
                if not cities or behind > cities - other:
                    each = move_exchange(n, q, t, side, cities, other)
                    each.gain = saved(distances, tour, each)
                    if each.gain > (best.gain if best else 0):
                        best = each
    return best


def searched(
    distances: Distances, lists: Sequence[Sequence[int]], tour: Tour, wide: int, least: int, rounds: int
) -> list[int]:
    """A tour after a local search: the proposals of all cities that share no cut, in rounds."""
    n, tour = len(tour), list(tour)
    for _ in range(rounds if n >= 8 else 0):
        moves = [move for q in range(n) if (move := proposal(distances, lists, tour, q, wide))]
        if not moves:
            break
        exchange, left = merged(distances, lists, tour, united(moves), n, 20)
        if left > 1 or exchange.gain <= 0:
            break
        tour = applied(tour, exchange)
        if len(moves) < least:
            break
    return tour


# Starts


def hilbert(x: int, y: int) -> int:
    """The place of a cell of a grid of 4,096 by 4,096 along Hilbert's curve."""
    place, side = 0, 4096
    while side > 1:
        side //= 2
        right, up = x >= side, y >= side
        place += side * side * {(0, 0): 0, (0, 1): 1, (1, 1): 2, (1, 0): 3}[right, up]
        x, y = x % side, y % side
        if not up:
            x, y = (side - 1 - y, side - 1 - x) if right else (y, x)
    return place


def draw(key: int, step: int, below: int) -> int:
    """A number below another one."""
    return (word(key, step) >> 32) * below >> 32


def place_along(key: int, x: int, y: int) -> int:
    """The place of a spot along a curve that is turned and moved, in exact fractions."""
    edge, t = divmod(draw(key, 0, 2048), 512)
    turn = complex(256, t - 256) * 1j**edge
    side = 2**20
    corners = [turn * complex(*corner) for corner in ((0, 0), (0, side), (side, 0), (side, side))]
    width = int(max(z.real for z in corners) - min(z.real for z in corners))
    window = width * (269 + draw(key, 1, 256)) // 256
    spot, cells = turn * complex(x, y), []
    for step, part in ((2, lambda z: z.real), (3, lambda z: z.imag)):
        shift = (window - width) * draw(key, step, 65536) // 65536
        cells.append((int(part(spot) - min(map(part, corners))) + shift) * 4096 // window)
    return hilbert(*cells)


class Greedy:
    """Fragments of one tour that join while two pick each other: by edges of lists, then of half of the tours along its
    curve; what is left follows that."""

    def __init__(self, distances: Distances, lists: Sequence[Sequence[int]], key: int, noise: int, joins: int) -> None:
        self.n, self.distances, self.lists, self.key = len(distances), distances, lists, key
        self.noise, self.joins = noise, joins
        self.around: list[list[int]] = [[] for _ in range(self.n)]

    def fragment(self, city: int) -> list[int]:
        """The cities of the fragment of one of its ends, from there on."""
        path = [city]
        while left := [each for each in self.around[path[-1]] if each not in path[-2:]]:
            path += left[:1]
        return path

    def ends(self) -> list[int]:
        return [city for city in range(self.n) if len(self.around[city]) < 2]

    def rank(self, u: int, v: int, place: int) -> tuple[int, int, int]:
        """The length that a hash makes longer, the hash, and the place in what the city looks at."""
        length = self.distances[u][v]
        found = word(self.key, min(u, v) * self.n + max(u, v))
        return 256 * length + length * self.noise * (found >> 56) // 256, found >> 40 & 0x3FF, place

    def pick(self, city: int, near: Mapping[int, Sequence[int | None]]) -> tuple[int, int] | None:
        """The end of the fragment of an end, and the end of another one, that are to be joined.

        `near` has what each end looks at, None where there is nothing. The first of its ends comes before others.
        """
        path, best = self.fragment(city), None
        for u in sorted({path[0], path[-1]}, key=list(near).index):
            for place, v in enumerate(near[u]):
                if v is not None and len(self.around[v]) < 2 and v not in (path[0], path[-1]):
                    rank = self.rank(u, v, place)
                    if best is None or rank < best[0]:
                        best = rank, (u, v)
        return best[1] if best else None

    def join(self, near: Mapping[int, Sequence[int | None]]) -> bool:
        """Join the fragments that pick each other, if there are any."""
        picks = {pick for city in near if (pick := self.pick(city, near))}
        made = [(u, v) for u, v in picks if (v, u) in picks]
        for u, v in made:
            self.around[u].append(v)
        return bool(made)

    def along(self, order: Sequence[int]) -> dict[int, list[int | None]]:
        """What each end looks at: the eight before it in this order, the next one first, and the eight behind it."""

        def at(k: int) -> int | None:
            return order[k] if 0 <= k < len(order) else None

        steps = [*range(-1, -9, -1), *range(1, 9)]
        return {city: [at(i + step) for step in steps] for i, city in enumerate(order)}

    def tour(self, places: Sequence[int]) -> list[int]:
        """The tour of the fragments along a curve, from city 0 on."""
        for _ in range(60):
            if not self.join({city: self.lists[city] for city in self.ends()}):
                break
        for _ in range(self.joins if draw(self.key, 4, 2) == 0 else 0):
            if not self.join(self.along(sorted(self.ends(), key=lambda city: (places[city], city)))):
                break
        first = sorted(self.ends(), key=lambda city: (places[city], city))
        heads = [city for city in first if first.index(city) <= first.index(self.fragment(city)[-1])]
        tails = [self.fragment(head)[-1] for head in heads]
        for g, tail in enumerate(tails):
            self.around[tail].append(heads[(g + 1) % len(heads)])
        for g, head in enumerate(heads):
            self.around[head].append(tails[g - 1])
        tour, before = [0], self.around[0][0]
        while len(tour) < self.n:
            here = tour[-1]
            ways = list(self.around[here])
            ways.remove(before)
            tour.append(ways[0])
            before = here
        return tour


# Entropy


def log2(x: int) -> int:
    """The logarithm to base 2 in 20 bits, from a fraction of 31 bits that is squared and cut off."""
    whole = x.bit_length() - 1
    log, fraction = whole, x << 31 - whole
    for _ in range(20):
        fraction = fraction * fraction >> 31
        log, fraction = (2 * log + 1, fraction >> 1) if fraction >= 2**32 else (2 * log, fraction)
    return log


def entropy(p: int, f: int) -> int:
    """The share of an edge that f of p tours have."""
    f = min(f, p)
    return f * (log2(p) - log2(f)) // p if f > 0 else 0


def entropy_lost(lists: Sequence[Sequence[int]], tours: Sequence[Tour], tour: Tour, exchange: Exchange) -> int:
    """The entropy of the tours' edges that an exchange costs, twice."""

    def having(u: int, v: int) -> int:
        if u not in lists[v] and v not in lists[u]:
            return 1
        around = [list(zip(each, [*each[1:], each[0]], strict=True)) for each in tours]
        return sum(pair in ((u, v), (v, u)) for pairs in around for pair in pairs)

    p, total = len(tours), 0
    gone, come = exchange.edges(tour)
    for edge in gone:
        f = having(*edge)
        total += 2 * (entropy(p, f) - entropy(p, f - 1))
    for edge in come:
        g = having(*edge)
        total -= 2 * (entropy(p, g + 1) - entropy(p, g))
    return total


def worthy(thrift: int, children: Sequence[Exchange], lost: Sequence[int]) -> list[bool]:
    """Which children of a tour save enough for the entropy that they cost."""
    gains, losses = sum(child.gain for child in children), sum(max(0, each) for each in lost)
    return [
        each <= 0 or 100 * child.gain * losses >= thrift * gains * each
        for child, each in zip(children, lost, strict=True)
    ]
