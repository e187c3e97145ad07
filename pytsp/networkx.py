"""Short cycles and paths through the nodes of networkx graphs, in networkx's own form.

networkx is not imported here.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from pytsp.api.solve import solve as solve_instance
from pytsp.io.protocols import instance_of

__all__ = ["instance_of", "solve"]


def solve(G: Any, weight: str = "weight", **options: Any) -> list[Hashable]:
    """Return a short cycle through all nodes of a complete graph.

    It is also a method for ``networkx.approximation.traveling_salesman_problem``, which takes graphs that are not
    complete, and some of their nodes::

        networkx.approximation.traveling_salesman_problem(G, method=pytsp.networkx.solve, time_limit=1)

    There, networkx keeps an argument `backend` for itself; ``functools.partial(solve, backend="c")`` is a method too.

    Parameters
    ----------
    G : networkx.Graph, DiGraph, MultiGraph or MultiDiGraph
        Complete; a directed one in both directions.
    weight : str, optional
        The edges' attribute with their lengths.
    **options
        As in `pytsp.solve`. With ``open=True``, `start_city` and `end_city` are nodes.

    Returns
    -------
    list of nodes
        In networkx's form of a cycle: the first node comes again at the end, unless ``open=True``.

    Raises
    ------
    InstanceError
        If an edge is missing, or a length is invalid.
    ValueError
        As of `pytsp.solve`.
    """
    nodes = list(G)
    for end in ("start_city", "end_city"):
        if options.get(end) is not None:
            if options[end] not in G:
                raise ValueError(f"{end}={options[end]!r} is not a node of the graph")
            options[end] = nodes.index(options[end])
    result = solve_instance(instance_of(G, weight), **options)
    cycle = [nodes[city] for city in result.tour]
    return cycle if result.is_open else [*cycle, cycle[0]]
