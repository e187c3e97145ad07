"""A descent by chains of 3-opt moves (Lin–Kernighan) in plain loops, slow on purpose."""

from __future__ import annotations

from collections.abc import Sequence

from draws import Edge, exchanged, made, moves
from oracle import Distances, Tour, length

# How many moves a chain has at most, and how many neighbours are looked at behind its first move.
DEPTH, BREADTH = 25, 8

# What an open move leaves or a closing one gains, with its kind and its edges.
Option = tuple[int, int, list[Edge]]


def beside(tour: Tour, city: int, way: int) -> int:
    """The tour neighbour of a city on one side."""
    return tour[(tour.index(city) + way) % len(tour)]


def options(
    distances: Distances,
    lists: Sequence[Sequence[int]],
    tour: Tour,
    t1: int,
    s: int,
    i: int,
    gone: int,
    k: int,
) -> list[Option]:
    """What a chain may do by the neighbour i of t2, in the order in which it is looked at, with what it leaves open.

    `gone` is what has gone less what has come so far, (t1, t2) included; it stays positive all along the way.
    """
    t2 = beside(tour, t1, s)
    t3 = lists[t2][i]
    left = gone - distances[t2][t3]
    found: list[Option] = []
    for way in (-s, s):
        t4 = beside(tour, t3, way)
        open_here = left + distances[t3][t4]
        for j in range(k):
            for kind, edges in moves(lists, tour, t1, s, i, j):
                if (kind <= 2) != (way == -s):
                    continue
                if kind == 1:
                    found += [(open_here, 1, edges)] if j == 0 else []
                elif open_here > distances[t4][lists[t4][j]]:
                    t5, t6 = edges[2]
                    # From t1 or t3 on the edge that has just come, or comes last, would go.
                    if t5 not in (t1, t3):
                        found.append((open_here - distances[t4][t5] + distances[t5][t6], kind, edges))
    # A move of two edges comes before those of three that begin with them.
    return sorted(found, key=lambda option: option[1] > 1) if found else []


def straight_options(
    distances: Distances, lists: Sequence[Sequence[int]], tour: Tour, t1: int, s: int, i: int, gone: int, k: int
) -> list[Option]:
    """What a straight chain may do: of `options` those that reverse no segment."""
    t2 = beside(tour, t1, s)
    t3 = lists[t2][i]
    t4 = beside(tour, t3, s)
    open_here = gone - distances[t2][t3] + distances[t3][t4]
    found: list[Option] = []
    for t5 in lists[t4][:k] if t3 != t1 else []:
        t6 = beside(tour, t5, s)
        edges = [(t1, t2), (t3, t4), (t5, t6)]
        if open_here > distances[t4][t5] and t5 not in (t1, t3) and exchanged(tour, edges):
            found.append((open_here - distances[t4][t5] + distances[t5][t6], 3, edges))
    return found


def chain(
    distances: Distances, lists: Sequence[Sequence[int]], tour: Tour, t1: int, s: int, *, straight: bool = False
) -> tuple[int, list[int], list[int]]:
    """The gain of the chain from the edge of a city on one side, the tour after it, and the ends of its moves."""
    now, ends = list(tour), list[int]()
    come: set[frozenset[int]] = set()
    look = straight_options if straight else options
    gone = distances[t1][beside(now, t1, s)]
    for level in range(DEPTH):
        k = len(lists[t1]) if level == 0 else min(BREADTH, len(lists[t1]))
        t2 = beside(now, t1, s)
        closing: Option = (0, 0, [])
        opening: Option = (0, 0, [])
        for i in range(k):
            if closing[0] or gone <= distances[t2][lists[t2][i]]:
                break
            for leaves, kind, edges in look(distances, lists, now, t1, s, i, gone, k):
                if any(frozenset(edge) in come for edge in edges[1:]):
                    continue
                last = edges[-1][1]
                gain = leaves - distances[last][t1]
                if gain > closing[0]:
                    closing = (gain, kind, edges)
                if level + 1 < DEPTH and leaves > max(opening[0], distances[last][lists[last][0]]):
                    opening = (leaves, kind, edges)
        _, kind, edges = closing if closing[0] else opening
        if not kind:
            break
        new = made(now, kind, edges)
        assert sorted(new) == sorted(now)
        now = new
        ends += [city for edge in edges for city in edge]
        come |= {frozenset((edges[e][1], edges[e + 1][0])) for e in range(len(edges) - 1)}
        if closing[0]:
            assert length(distances, now) == length(distances, tour) - closing[0]
            return closing[0], now, ends
        gone, last = opening[0], edges[-1][1]
        s = 1 if beside(now, t1, 1) == last else -1
    return 0, list(tour), []


def descent(
    distances: Distances,
    lists: Sequence[Sequence[int]],
    start: Tour,
    *,
    straight: bool = False,
    again: bool = False,
    stretch: tuple[int, int] = (0, 0),
) -> tuple[list[int], int]:
    """The tour that a descent by chains, or by straight ones, ends on, and how many chains shortened it.

    Each city is looked at once, and those at the ends of chains; or `again`, until none has a chain that shortens it.
    Or the cities of a `stretch` of the tour are, its first position and their number.
    """
    tour, steps, checked = list(start), 0, 0
    begin, window = stretch
    waiting = [start[(begin + i) % len(start)] for i in range(window or len(start))]
    while waiting:
        t1 = waiting.pop(0)
        for s in (1, -1):
            gain, tour, ends = chain(distances, lists, tour, t1, s, straight=straight)
            if gain:
                steps += 1
                for city in ends:
                    if city not in waiting:
                        waiting.append(city)
                break
        if again and not waiting and steps > checked:
            waiting, checked = list(tour), steps
    return tour, steps
