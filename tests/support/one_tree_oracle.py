"""The 1-tree in plain loops: Prim's tree of a graph, its further edge, degrees, α by forced edges, and the ascent."""

from __future__ import annotations

from collections.abc import Mapping

Edge = tuple[int, int]
Costs = Mapping[Edge, int]
# Below any cost, so that a tree must have the edge.
FORCED = -(2**80)
STEP_PARTS = 64


def costs_under(lengths: Costs, penalties: list[int]) -> dict[Edge, int]:
    """The costs of edges (i, j), i < j, under penalties."""
    return {(i, j): length + penalties[i] + penalties[j] for (i, j), length in lengths.items()}


def spanning_tree(n: int, costs: Costs) -> list[Edge]:
    """The minimum spanning tree's edges, of each part of the graph, by Prim; equal costs in order of the cities."""
    tree: list[Edge] = []
    inside: set[int] = set()
    for first in range(n):
        if first in inside:
            continue
        inside.add(first)
        while leaving := [edge for edge in costs if (edge[0] in inside) != (edge[1] in inside)]:
            shortest = min(leaving, key=lambda edge: (costs[edge], edge))
            tree.append(shortest)
            inside.update(shortest)
    return tree


def degrees_of(n: int, edges: list[Edge]) -> list[int]:
    """How many of the edges each city has."""
    return [sum(city in edge for edge in edges) for city in range(n)]


def further_edge(n: int, costs: Costs, tree: list[Edge]) -> tuple[Edge, int] | None:
    """The longest second edge of a leaf, by the smallest leaf, with that leaf; None where no leaf has a second edge."""
    degrees = degrees_of(n, tree)
    found = []
    for leaf in range(n):
        edges = sorted((costs[edge], edge) for edge in costs if leaf in edge)
        if degrees[leaf] == 1 and len(edges) > 1:
            found.append((-edges[1][0], leaf, edges[1][1]))
    if not found:
        return None
    _, leaf, edge = min(found)
    return edge, leaf


def one_tree(n: int, lengths: Costs, penalties: list[int]) -> tuple[int, list[int], int]:
    """The cost of the 1-tree without the penalties, its degrees, and the graph's parts."""
    costs = costs_under(lengths, penalties)
    tree = spanning_tree(n, costs)
    further = further_edge(n, costs, tree)
    edges = tree if further is None else [*tree, further[0]]
    return sum(costs[edge] for edge in edges) - 2 * sum(penalties), degrees_of(n, edges), n - len(tree)


def alphas(n: int, lengths: Costs, penalties: list[int]) -> dict[Edge, int]:
    """By how much the 1-tree grows that is forced to have an edge, for each edge.

    The city of the further edge has its two edges outside of the tree of the others.
    """
    costs = costs_under(lengths, penalties)
    tree = spanning_tree(n, costs)
    further = further_edge(n, costs, tree)
    leaf = None if further is None else further[1]

    def weight(must: Edge | None) -> int:
        """The 1-tree's, as a tree of the cities besides the leaf, and two edges of that one."""
        changed = {edge: FORCED if edge == must else cost for edge, cost in costs.items()}
        inner = {edge: cost for edge, cost in changed.items() if leaf not in edge}
        outer = sorted((changed[edge], edge) for edge in changed if leaf in edge)[:2]
        chosen = [*spanning_tree(n, inner), *(edge for _, edge in outer)]
        return sum(costs[edge] for edge in chosen)

    return {edge: weight(edge) - weight(None) for edge in costs}


def ascent(n: int, lengths: Costs, penalties: list[int], sizes: list[int]) -> tuple[list[int], int, bool]:
    """The best penalties on the way, their 1-tree's cost, and whether one was a tour."""
    best, bound, before = penalties, -(2**63), [0] * n
    for size in sizes:
        found, degrees, _ = one_tree(n, lengths, penalties)
        if found > bound:
            best, bound = penalties, found
        excess = [degree - 2 for degree in degrees]
        if not any(excess):
            return best, bound, True
        changes = [size * (7 * v + 3 * w) for v, w in zip(excess, before, strict=True)]
        penalties = [
            p + (change + 5 * STEP_PARTS) // (10 * STEP_PARTS) for p, change in zip(penalties, changes, strict=True)
        ]
        before = excess
    return best, bound, False
