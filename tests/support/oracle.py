"""Best-improvement 2-opt in plain loops, slow on purpose: what every kernel is compared with.

Distances are a list of lists, tours are lists. A move (i, j) exchanges the edges that leave positions i and j.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

Distances = Sequence[Sequence[int]]
Tour = Sequence[int]


def all_moves(n: int) -> Iterator[tuple[int, int]]:
    """Every move of a tour of n cities, in lexicographic order: two edges that share no city."""
    for i in range(n):
        for j in range(i + 1, n):
            if len({i, (i + 1) % n, j, (j + 1) % n}) == 4:
                yield i, j


def apply_move(tour: Tour, i: int, j: int) -> list[int]:
    """The tour with positions i+1, …, j reversed."""
    return [*tour[: i + 1], *reversed(tour[i + 1 : j + 1]), *tour[j + 1 :]]


def length(distances: Distances, tour: Tour) -> int:
    """The length of the closed tour."""
    total = 0
    for p in range(len(tour)):
        total += distances[tour[p]][tour[(p + 1) % len(tour)]]
    return total


def gain(distances: Distances, tour: Tour, i: int, j: int) -> int:
    """By how much a move shortens the tour, from both lengths."""
    return length(distances, tour) - length(distances, apply_move(tour, i, j))


def gain_of_edges(distances: Distances, tour: Tour, i: int, j: int) -> int:
    """The same from the four edges that differ: fast enough for a hundred cities, and tested against `gain`."""
    a, b, c, d = tour[i], tour[i + 1], tour[j], tour[(j + 1) % len(tour)]
    return distances[a][b] + distances[c][d] - distances[a][c] - distances[b][d]


def best_move(distances: Distances, tour: Tour) -> tuple[int, int, int]:
    """Gain, i and j of the move with the largest gain, the first among equals; zeros where none shortens the tour."""
    best = (0, 0, 0)
    for i, j in all_moves(len(tour)):
        won = gain_of_edges(distances, tour, i, j)
        if won > best[0]:
            best = (won, i, j)
    return best


def climb(distances: Distances, start: Tour) -> tuple[list[int], int]:
    """The local optimum that a climber reaches, and its number of moves."""
    tour, steps = list(start), 0
    while True:
        won, i, j = best_move(distances, tour)
        if won == 0:
            return tour, steps
        tour, steps = apply_move(tour, i, j), steps + 1


def proposals(distances: Distances, tour: Tour) -> list[tuple[int, int, int]]:
    """What the edges propose: gain, i and j of the best move of each.

    The edge that leaves p looks at those that leave p + 2, …, p + n/2. The smallest other position wins among equals;
    an edge without a move that shortens the tour proposes nothing.
    """
    n, found = len(tour), []
    for p in range(n):
        best = (0, 0)
        for q in sorted((p + d) % n for d in range(2, n // 2 + 1)):
            won = gain_of_edges(distances, tour, min(p, q), max(p, q))
            if won > best[0]:
                best = (won, q)
        if best[0]:
            found.append((best[0], min(p, best[1]), max(p, best[1])))
    return found


def k_swap(distances: Distances, start: Tour, k: int) -> tuple[list[int], int]:
    """The local optimum of a climber that makes up to k moves a pass, and its number of moves."""
    tour, steps = list(start), 0
    while True:
        moves = sorted(proposals(distances, tour), key=lambda move: (-move[0], move[1], move[2]))
        if not moves:
            return tour, steps
        made = 0
        while moves and made < k:
            _, i, j = moves[0]
            tour, made = apply_move(tour, i, j), made + 1
            moves = [move for move in moves if move[1] > j or move[2] < i]
        steps += made


def nearest(lengths: Sequence[Sequence[float]], k: int) -> list[list[int]]:
    """For every city the k nearest others by `lengths`, equally near ones in order of their numbers."""
    n = len(lengths)
    return [sorted(set(range(n)) - {i}, key=lambda j: (lengths[i][j], j))[:k] for i in range(n)]


def greedy_edges(distances: Sequence[Sequence[float]], edges: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """The edges that the greedy algorithm takes of `edges`, in order of (length, i, j): no forks, no cycles."""
    fragment = list(range(len(distances)))
    degree = [0] * len(distances)
    taken = []
    for i, j in sorted(edges, key=lambda edge: (distances[edge[0]][edge[1]], edge)):
        if degree[i] < 2 and degree[j] < 2 and fragment[i] != fragment[j]:
            taken.append((i, j))
            degree[i] += 1
            degree[j] += 1
            joined = fragment[j]
            fragment = [fragment[i] if each == joined else each for each in fragment]
    return taken


def nearest_neighbour_tour(lengths: Sequence[Sequence[float]], start: int) -> list[int]:
    """The tour that goes on to the nearest city not yet visited, the smallest number among equals."""
    tour, left = [start], set(range(len(lengths))) - {start}
    while left:
        tour.append(min(left, key=lambda j: (lengths[tour[-1]][j], j)))
        left.remove(tour[-1])
    return tour


def three_opt_tours(tour: Tour) -> Iterator[tuple[int, list[int]]]:
    """Every tour that 3-opt makes of a tour by three new edges, and the number of cities in the shortest segment."""
    n = len(tour)
    for i in range(n):
        for j in range(i + 1, n):
            for k in range(j + 1, n):
                a, b, c = list(tour[i:j]), list(tour[j:k]), [*tour[k:], *tour[:i]]
                for second, third in ((b[::-1], c[::-1]), (c, b[::-1]), (c[::-1], b), (c, b)):
                    yield min(len(a), len(b), len(c)), [*a, *second, *third]


def or_opt_tours(tour: Tour) -> Iterator[list[int]]:
    """Every tour in which a segment of up to three cities has gone elsewhere, either way round."""
    n = len(tour)
    for i in range(n):
        for size in range(1, min(3, n - 2) + 1):
            turned = [*tour[i:], *tour[:i]]
            segment, rest = turned[:size], turned[size:]
            for p in range(1, len(rest)):
                yield [*rest[:p], *segment, *rest[p:]]
                yield [*rest[:p], *reversed(segment), *rest[p:]]


def least(distances: Distances, tour: Tour, segment: int) -> int:
    """The least length of a tour and those that 2-opt, Or-opt, and 3-opt with so short a segment make of it."""
    found = [length(distances, tour)]
    found += [length(distances, apply_move(tour, i, j)) for i, j in all_moves(len(tour))]
    found += [length(distances, other) for other in or_opt_tours(tour)]
    found += [length(distances, other) for size, other in three_opt_tours(tour) if size <= segment]
    return min(found)


def edges(tour: Tour) -> set[tuple[int, int]]:
    """The edges of a tour, the smaller city first; none where it has one city."""
    return {(min(a, b), max(a, b)) for a, b in zip(tour, [*tour[1:], tour[0]], strict=True) if a != b}


def near_tour(lists: Sequence[Sequence[int]], distances: Distances, start: int, *, passing: bool = False) -> list[int]:
    """The tour that goes on to the first city of a list that is left, and without one to the nearest of all.

    Where all are passed over, `passing`, those at distance 0 are not, and come before the others.
    """
    tour, left = [start], set(range(len(distances))) - {start}
    while left:
        here = tour[-1]
        listed = [j for j in lists[here] if j in left]
        if passing:
            listed.sort(key=lambda j: distances[here][j] > 0)
        tour.append(listed[0] if listed else min(left, key=lambda j: (distances[here][j], j)))
        left.remove(tour[-1])
    return tour


def is_balanced(gone: set[tuple[int, int]], come: set[tuple[int, int]]) -> bool:
    """Whether each city has as many edges of those that go as of those that come."""
    cities = {city for edge in gone | come for city in edge}
    return all(sum(c in edge for edge in gone) == sum(c in edge for edge in come) for c in cities)


def least_tour(
    distances: Sequence[Sequence[float]], *, is_open: bool = False, start: int | None = None, end: int | None = None
) -> float:
    """The length of the shortest tour, or open path: the recursion of Held and Karp (1962) and of Bellman (1962).

    Distances may be directed. A path is a tour through a further city, at distance 0 from where the path may end.
    """
    rows = [list(row) for row in distances]
    if is_open:
        cities, far = range(len(rows)), float("inf")
        rows = [[*row, 0.0 if end in (None, i) else far] for i, row in enumerate(rows)]
        rows.append([0.0 if start in (None, j) else far for j in cities] + [0.0])
    last = len(rows) - 1
    if last < 1:
        return 0.0
    least = {(1 << j, j): rows[last][j] for j in range(last)}
    for visited in range(1, 1 << last):
        for j in range(last):
            before = visited & ~(1 << j)
            if visited & (1 << j) and before:
                least[visited, j] = min(least[before, k] + rows[k][j] for k in range(last) if before & (1 << k))
    return min(least[(1 << last) - 1, j] + rows[j][last] for j in range(last))
