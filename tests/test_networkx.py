"""networkx graphs: cycles in networkx's form, and by networkx's own function."""

from __future__ import annotations

import functools
import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pytsp.networkx
from pytsp import InstanceError, as_instance

nx = pytest.importorskip("networkx", reason="graphs are read where networkx is installed")


def complete(lengths: dict[tuple[Any, Any], Any], kind: Any = None, weight: str = "weight") -> Any:
    """The graph of these edges."""
    G = (kind or nx.Graph)(name="graph")
    for (u, v), length in lengths.items():
        G.add_edge(u, v, **{weight: length})
    return G


def length_of(G: Any, cycle: list[Any], weight: str = "weight") -> Any:
    return sum(G[u][v][weight] for u, v in itertools.pairwise(cycle))


@st.composite
def graphs(draw: st.DrawFn, kind: Any = nx.Graph, min_n: int = 2, max_n: int = 6) -> Any:
    """Complete graphs whose nodes are texts."""
    nodes = list("abcdefgh"[: draw(st.integers(min_n, max_n))])
    pairs = itertools.permutations(nodes, 2) if kind is nx.DiGraph else itertools.combinations(nodes, 2)
    return complete({pair: draw(st.integers(0, 50)) for pair in pairs}, kind)


@given(st.one_of(graphs(), graphs(nx.DiGraph)))
def test_cycles_are_shortest(G: Any) -> None:
    cycle = pytsp.networkx.solve(G, backend="c")
    assert cycle[0] == cycle[-1]
    assert sorted(cycle[:-1]) == sorted(G)
    first, *rest = G
    assert length_of(G, cycle) == min(length_of(G, [first, *order, first]) for order in itertools.permutations(rest))


@given(graphs(nx.DiGraph, min_n=3), st.data())
def test_paths_go_from_node_to_node(G: Any, data: st.DataObject) -> None:
    start, end = data.draw(st.permutations(list(G)))[:2]
    path = pytsp.networkx.solve(G, open=True, start_city=start, end_city=end, backend="c")
    assert (path[0], path[-1]) == (start, end)
    between = [node for node in G if node not in (start, end)]
    assert length_of(G, path) == min(length_of(G, [start, *o, end]) for o in itertools.permutations(between))


def test_it_is_a_method_of_networkx() -> None:
    G = nx.grid_2d_graph(4, 4)
    tsp = nx.approximation.traveling_salesman_problem
    cycle = tsp(G, method=pytsp.networkx.solve)
    assert len(cycle) == 17
    assert set(cycle) == set(G)
    assert nx.is_path(G, cycle)
    some = tsp(G, nodes=[(0, 0), (0, 3), (3, 3)], method=functools.partial(pytsp.networkx.solve, backend="c"), seed=3)
    assert len(some) == 13
    directed = nx.DiGraph([(0, 1), (1, 2), (2, 3), (3, 0)])
    assert tsp(directed, method=pytsp.networkx.solve, cycle=True)[:-1] in (
        [0, 1, 2, 3],
        [1, 2, 3, 0],
        [2, 3, 0, 1],
        [3, 0, 1, 2],
    )


def test_other_attributes_are_lengths_where_they_are_named() -> None:
    G = complete({(0, 1): 3, (1, 2): 4, (0, 2): 5}, weight="km")
    assert pytsp.networkx.instance_of(G, "km").tour_length([0, 1, 2]) == 12
    # Without the attribute an edge's length is 1, as in networkx.
    assert pytsp.networkx.instance_of(G).tour_length([0, 1, 2]) == 3


def test_numbers_keep_their_kind() -> None:
    whole = complete({(0, 1): 2**60 + 1, (1, 2): np.int32(4), (0, 2): 5})
    assert pytsp.networkx.instance_of(whole).distance(0, 1) == 2**60 + 1
    assert as_instance(complete({(0, 1): 0.5, (1, 2): 4, (0, 2): 5})).tour_length([0, 1, 2]) == 9.5
    assert as_instance(whole).name == "graph"


def test_the_shortest_of_parallel_edges_counts_and_loops_do_not() -> None:
    G = nx.MultiGraph([(0, 1, {"weight": 5}), (1, 0, {"weight": 3}), (0, 0, {"weight": 1})])
    assert pytsp.networkx.instance_of(G).distance(0, 1) == 3
    both = nx.MultiDiGraph([(0, 1, {"weight": 5}), (1, 0, {"weight": 3}), (0, 1, {"weight": 4})])
    instance = pytsp.networkx.instance_of(both)
    assert (instance.distance(0, 1), instance.distance(1, 0)) == (4, 3)


def test_one_node_is_a_cycle() -> None:
    G = nx.Graph()
    G.add_node("only")
    assert pytsp.networkx.solve(G) == ["only", "only"]
    assert pytsp.networkx.solve(G, open=True) == ["only"]


@pytest.mark.parametrize(
    ("G", "words"),
    [
        (nx.Graph(), "the graph has no nodes"),
        (nx.path_graph(3), "the graph has no edge from 0 to 2; complete graphs are solved, others with networkx"),
        (nx.DiGraph([(0, 1), (1, 0), (1, 2), (2, 1), (0, 2)]), "the graph has no edge from 2 to 0"),
        (complete({(0, 1): 3, (1, 2): None, (0, 2): 5}), "the edge from 1 to 2 has no 'weight', but others have"),
        (complete({("a", "b"): "3"}), "the 'weight' of the edge from 'a' to 'b' must be a number; it is '3'"),
        (complete({(0, 1): True}), "must be a number; it is True"),
        (complete({(0, 1): float("nan")}), "must be finite and below"),
        (complete({(0, 1): 2**63}), "must be finite and below"),
        (complete({(0, 1): -1}), "must not be negative"),
    ],
)
def test_graphs_that_make_no_instance_are_refused(G: Any, words: str) -> None:
    with pytest.raises(InstanceError, match=words):
        pytsp.networkx.solve(G)


def test_ends_that_are_no_nodes_are_refused() -> None:
    with pytest.raises(ValueError, match="start_city='z' is not a node of the graph"):
        pytsp.networkx.solve(nx.complete_graph(3), open=True, start_city="z")
    with pytest.raises(InstanceError, match="metric='GEO' has no effect with a graph"):
        as_instance(nx.complete_graph(3), metric="GEO")
