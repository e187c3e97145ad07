"""Instances of networkx graphs; networkx is not imported here."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np

from pytsp.exceptions import InstanceError
from pytsp.problem.instance import Instance


def instance_of(G: Any, weight: str = "weight", *, name: str = "") -> Instance:
    """Return the instance of a complete graph of networkx: city i is the node ``list(G)[i]``.

    Of several edges between two nodes the shortest counts. If no edge has the attribute `weight`, all have length 1.
    The instance is exact if all weights are whole numbers, and asymmetric if a directed graph is.
    """
    numbers = {node: number for number, node in enumerate(G)}
    n = len(numbers)
    if n == 0:
        raise InstanceError("the graph has no nodes; an instance has at least one city")
    edges = [(u, v, length) for u, v, length in G.edges(data=weight) if u != v]
    without = [(u, v) for u, v, length in edges if length is None]
    if without and len(without) < len(edges):
        u, v = without[0]
        raise InstanceError(
            f"the edge from {u!r} to {v!r} has no {weight!r}, but others have; give all edges their length"
        )
    lengths = np.array([1] * len(edges) if without else [_number(*edge, weight) for edge in edges])
    _check_complete(G, edges, n)
    is_whole = lengths.dtype.kind == "i"
    matrix = np.full((n, n), np.iinfo(np.int64).max if is_whole else np.inf, np.int64 if is_whole else np.float64)
    sources = np.array([numbers[u] for u, _, _ in edges], dtype=np.int64)
    targets = np.array([numbers[v] for _, v, _ in edges], dtype=np.int64)
    np.minimum.at(matrix, (sources, targets), lengths)
    if not G.is_directed():
        matrix = np.minimum(matrix, matrix.T)
    np.fill_diagonal(matrix, 0)
    return Instance.from_matrix(matrix, name or str(getattr(G, "name", "")), asymmetric=True, labels=numbers)


def _number(u: Hashable, v: Hashable, length: Any, weight: str) -> int | float:
    if isinstance(length, bool | np.bool_) or not isinstance(length, int | float | np.integer | np.floating):
        law = "a number"
    elif not np.isfinite(float(length)) or abs(length) >= 2**63:
        law = "finite and below 2**63"
    else:
        return length.item() if isinstance(length, np.generic) else length
    raise InstanceError(f"the {weight!r} of the edge from {u!r} to {v!r} must be {law}; it is {length!r:.60}")


def _check_complete(G: Any, edges: list[tuple[Any, Any, Any]], n: int) -> None:
    joined = {(u, v) for u, v, _ in edges}
    if not G.is_directed():
        joined |= {(v, u) for u, v in joined}
    if len(joined) == n * (n - 1):
        return
    u, v = next((u, v) for u in G for v in G if u != v and (u, v) not in joined)
    raise InstanceError(
        f"the graph has no edge from {u!r} to {v!r}; complete graphs are solved, others with "
        "networkx.approximation.traveling_salesman_problem(G, method=pytsp.networkx.solve)"
    )
