"""Components and exits of neighbour lists in plain loops, slow on purpose: what NumPy's are compared with.

Lists and distances are lists of lists.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

Lists = Sequence[Sequence[int]]
Distances = Sequence[Sequence[float]]


def components(lists: Lists) -> list[int]:
    """The number of each city's component, in order of their first cities."""
    near: list[set[int]] = [set(each) for each in lists]
    for city, each in enumerate(lists):
        for other in each:
            near[other].add(city)
    labels = [-1] * len(lists)
    count = 0
    for first in range(len(lists)):
        if labels[first] >= 0:
            continue
        labels[first], left = count, [first]
        while left:
            for other in near[left.pop()]:
                if labels[other] < 0:
                    labels[other] = count
                    left.append(other)
        count += 1
    return labels


def is_anywhere(row: Sequence[float]) -> bool:
    """Tell whether a city at these distances is as far from all others, but for two."""
    return len(row) >= 7 and any(sum(length != each for length in row) <= 2 for each in row)


def exits(
    lists: Lists, ranks: Distances, distances: Distances, anywhere: Sequence[bool], *, is_doubled: bool = False
) -> list[list[int]]:
    """The exits of each place, the most important one first; `ranks` are numbers in the order of the distances.

    Places are cities, or where they are doubled those where one arrives and then those from which one leaves.
    """
    k = len(lists[0])
    n = len(lists) // 2 if is_doubled else len(lists)
    places = [p for p in range(len(lists)) if not anywhere[p]]

    def ends(p: int) -> list[int]:
        return [q for q in places if not is_doubled or (p < n) != (q < n)]

    def graph(width: Sequence[int]) -> list[int]:
        edges: list[list[int]] = [[] for _ in range(n)]
        for p in places:
            edges[p % n] += [q % n for q in lists[p][: width[p % n]] if not anywhere[q]]
        return components(edges)

    def are_apart(labels: Sequence[int]) -> bool:
        return len({labels[p % n] for p in places}) > 1

    labels = graph([k] * n)
    if k < 2 + any(anywhere) or not are_apart(labels):
        return [[] for _ in lists]
    sizes = [labels.count(label) for label in labels]
    labels = graph([k if size > 64 * k else (k + 1) // 2 for size in sizes])
    rounds: list[list[list[int]]] = []
    while are_apart(labels):
        count = 1 if rounds else max(1, k // 2 - 1)
        found: list[list[int]] = [[] for _ in lists]
        for p in places:
            nearest: dict[int, int] = {}
            for q in sorted(ends(p), key=lambda q: (ranks[p][q], q)):
                if labels[q % n] != labels[p % n] and math.isfinite(ranks[p][q]):
                    nearest.setdefault(labels[q % n], q)
            found[p] = list(nearest.values())[:count]
        least: dict[tuple[int, int], float] = {}
        for p in places:
            for q in found[p]:
                pair = labels[p % n], labels[q % n]
                least[pair] = min(least.get(pair, math.inf), distances[p][q])
        for p in places:
            around = [distances[p][q] for q in lists[p] if not anywhere[q]]
            # All doubled ways are longer than the directed ones by as much.
            reach = max(around, default=0) - (min(around, default=0) if is_doubled else 0)
            longest = [least[labels[p % n], labels[q % n]] + 6 * reach for q in found[p]]
            found[p] = [q if distances[p][q] <= most else -1 for q, most in zip(found[p], longest, strict=True)]
        if all(q < 0 for each in found for q in each):
            break
        rounds.append(found)
        edges = [[d for d in range(n) if labels[d] == labels[c]] for c in range(n)]
        for p in places:
            edges[p % n] += [q % n for q in found[p] if q >= 0]
        labels = components(edges)
    made: list[list[int]] = []
    for p in range(len(lists)):
        firsts = [each[p][0] if each[p] else -1 for each in rounds]
        if len(rounds) > k // 2:
            firsts = firsts[p % len(rounds) :] + firsts[: p % len(rounds)]
        others = [q for each in rounds for q in each[p][1:]]
        made.append([q for q in firsts + others if q >= 0][: k // 2])
    return made


def with_exits(lists: Lists, exits: Sequence[Sequence[int]], distances: Distances) -> list[list[int]]:
    """The lists with their exits in place of the last others, each in order of distance."""
    made = []
    for city, (near, new) in enumerate(zip(lists, exits, strict=True)):
        k = len(near)
        chosen = [d for d in new[: k // 2] if d not in near]
        others = [d for d in near if d not in new[: k // 2]]
        kept = others[: len(others) - len(chosen)]
        made.append(
            sorted([d for d in near if d in kept or d not in others] + chosen, key=lambda d: distances[city][d])
        )
    return made
