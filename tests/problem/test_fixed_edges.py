"""Fixed edges: what no tour can have is refused, and tours of the instance with pairs are tours with all of them."""

from __future__ import annotations

import io
import itertools
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from fixed import best_length, has_all, instances_with_edges
from hypothesis import given
from hypothesis import strategies as st
from paths import tsplib_file

import pytsp
from pytsp import Instance, InstanceError, TourError, TsplibError
from pytsp.neighbours.lists import neighbour_lists
from pytsp.problem.chains import chains_of, check_fixed
from pytsp.problem.fixed_edges import FixedEdges, held
from pytsp.problem.kernel_input import MOST_DISTANCE, form_of
from pytsp.problem.location import mean_excess
from pytsp.problem.metrics import metric_named, with_further, with_pairs

LINE = Instance.from_coordinates([[x, 0] for x in range(6)], "EUC_2D")
INF = math.inf


# What is refused


@pytest.mark.parametrize(
    ("fixed", "message"),
    [
        ([(0, 1), (0, 2), (3, 0)], r"no tour has all fixed edges: city 0 has 3, .*: 0–1, 0–2, 0–3"),
        ([(0, 1), (1, 2), (2, 0)], r"some close a cycle without the others: 0–1, 1–2, 2–0"),
        ([(0, 1), (2, 3), (3, 4), (4, 2)], r"some close a cycle without the others"),
        ([(2, 2)], r"a fixed edge joins two cities, but one joins city 2 with itself"),
        ([(0, 6)], r"the fixed edge 0–6 joins no two of the cities 0 … 5"),
        ([(-1, 3)], r"the fixed edge -1–3 joins no two of the cities"),
        ([(0, 1.5)], r"fixed edges must be pairs of cities, integers of shape \(m, 2\); they are float64"),
        ([(0, 1, 2)], r"integers of shape \(m, 2\); they are int64 of shape \(1, 3\)"),
        ([(0, 1), (2,)], r"fixed edges must be pairs of cities"),
        ([7], r"fixed edges must be pairs of cities"),
    ],
)
def test_what_no_tour_has_is_refused_by_name(fixed: Any, message: str) -> None:
    with pytest.raises(InstanceError, match=message):
        replace(LINE, fixed=fixed)


def test_labels_name_the_cities_of_edges_that_are_refused() -> None:
    named = replace(LINE, labels=("a", "b", "c", "d", "e", "f"))
    with pytest.raises(InstanceError, match=r"city 0 \('a'\) has 3, .*'a'–'b', 'a'–'c', 'a'–'d'"):
        replace(named, fixed=[(0, 1), (0, 2), (3, 0)])


def test_asymmetric_distances_and_forbidden_edges_are_not_fixed() -> None:
    with pytest.raises(InstanceError, match="fixed edges have no effect with asymmetric instances"):
        Instance.from_matrix([[0, 1, 2], [3, 0, 4], [5, 6, 0]], asymmetric=True, fixed=[(0, 1)])
    with pytest.raises(InstanceError, match="the edge 0–2 is fixed and forbidden"):
        Instance.from_matrix([[0, 1, INF], [1, 0, 4], [INF, 4, 0]], fixed=[(2, 0)])


def test_edges_are_kept_once_and_in_order() -> None:
    assert check_fixed([(5, 2), (1, 0), (2, 5), (0, 1)], 6) is not None
    assert replace(LINE, fixed=[(5, 2), (1, 0), (2, 5)]).fixed.tolist() == [[0, 1], [2, 5]]  # type: ignore[union-attr]
    assert replace(LINE, fixed=[]).fixed is None
    assert replace(LINE, fixed=np.empty((0, 2), np.int64)).fixed is None


@given(n=st.integers(2, 12), data=st.data())
def test_chains_are_the_paths_that_edges_make(n: int, data: st.DataObject) -> None:
    order = data.draw(st.permutations(range(n)))
    edges = [edge for edge in itertools.pairwise(order) if data.draw(st.booleans())]
    chains = chains_of(np.array(edges, dtype=np.int32).reshape(-1, 2), n)
    assert {frozenset(edge) for edge in chains.edges.tolist()} == {frozenset(edge) for edge in edges}
    assert len(np.unique(chains.cities)) == len(chains.cities)
    assert sorted([*chains.ends.ravel().tolist(), *chains.interior.tolist()]) == sorted(chains.cities.tolist())


def test_a_cycle_through_all_cities_is_a_path() -> None:
    whole = np.array([(0, 1), (1, 2), (2, 3), (0, 3)], dtype=np.int32)
    assert chains_of(whole, 4).ends.tolist() == [[0, 3]]


# Tours of pairs


@given(given_edges=instances_with_edges(2), ends=st.integers(0, 3), data=st.data())
def test_a_tour_of_pairs_stands_for_one_with_all_edges(given_edges: Any, ends: int, data: st.DataObject) -> None:
    instance, edges = given_edges
    instance = replace(instance, fixed=edges)
    is_open = ends > 0
    order = data.draw(st.permutations(range(instance.n)))
    # Ends that are free of fixed edges on one side leave a path.
    kind: dict[str, Any] = {"is_open": is_open}
    if ends in (2, 3):
        kind["start_city"] = order[0]
    if ends == 3:
        kind["end_city"] = order[1]
    try:
        fixed = FixedEdges.of(instance, **kind)
    except InstanceError as error:
        assert is_open and "no tour has all fixed edges" in str(error)
        return
    m = fixed.instance.n
    shuffled = np.array(data.draw(st.permutations(range(m))), dtype=np.int32)
    tour = fixed.restate(shuffled)
    assert pytsp.is_tour(tour, instance.n) and has_all(tour, edges, is_open=is_open)
    assert ends < 2 or tour[0] == order[0]
    assert ends < 3 or tour[-1] == order[1]
    # It goes there and back, and is longer by the offset.
    there = fixed.tour(tour)
    assert np.array_equal(fixed.restate(there), tour) or np.array_equal(fixed.restate(there)[::-1], tour) or not is_open
    length = instance.path_length(tour) if is_open else instance.tour_length(tour)
    inner = fixed.instance.tour_length(there)
    if not fixed.is_shortened:
        assert inner - fixed.offset == pytest.approx(length, rel=1e-9, abs=1e-9)
        # A tour that parts pairs is longer.
        assert fixed.instance.tour_length(shuffled) - inner >= -1e-9 * inner or m < 3
        assert not instance.is_exact or isinstance(fixed.offset, int)


@given(data=st.data(), n=st.integers(2, 9))
def test_held_joins_pairs_and_keeps_tours_that_have_them(data: st.DataObject, n: int) -> None:
    order = data.draw(st.permutations(range(n)))
    partners = np.arange(n, dtype=np.int32)
    for a, b in zip(order[::2], order[1::2], strict=False):
        if data.draw(st.booleans()):
            partners[[a, b]] = b, a
    tour = np.array(data.draw(st.permutations(range(n))), dtype=np.int32)
    joined = held(tour, partners)
    pairs = [(city, int(partner)) for city, partner in enumerate(partners) if partner > city]
    assert pytsp.is_tour(joined, n) and has_all(joined, pairs)
    turned = np.roll(joined, data.draw(st.integers(0, n)))
    again = held(turned, partners)
    assert np.array_equal(np.roll(again, -int(np.argmax(again == joined[0]))), joined)


def test_a_tour_without_an_edge_is_named() -> None:
    fixed = FixedEdges.of(replace(LINE, fixed=[(0, 3), (3, 5)]))
    with pytest.raises(TourError, match="the tour does not have the fixed edge 0–3"):
        fixed.tour([0, 1, 2, 4, 3, 5])
    with pytest.raises(TourError, match="the path begins in city 1, but start_city is 0"):
        FixedEdges.of(replace(LINE, fixed=[(0, 3)]), is_open=True, start_city=0).tour([1, 0, 3, 2, 4, 5])


def test_no_path_between_ends_that_fixed_edges_join_without_others() -> None:
    with pytest.raises(InstanceError, match="some close a cycle without the others"):
        FixedEdges.of(replace(LINE, fixed=[(0, 1), (1, 2)]), is_open=True, start_city=0, end_city=2)
    with pytest.raises(InstanceError, match="city 1 has 3"):
        FixedEdges.of(replace(LINE, fixed=[(0, 1), (1, 2)]), is_open=True, start_city=1)
    whole = [(a, a + 1) for a in range(5)]
    with pytest.raises(InstanceError, match="some close a cycle"):
        FixedEdges.of(replace(LINE, fixed=[*whole, (0, 5)]), is_open=True)
    assert (
        FixedEdges.of(replace(LINE, fixed=whole), is_open=True, start_city=5).restate([0, 1]).tolist()
        == [*range(6)][::-1]
    )


@pytest.mark.parametrize("side", [2**29 - 2, 2**29])
def test_distances_leave_room_for_what_they_are_longer_by(side: int) -> None:
    far = Instance.from_coordinates([[0, 0], [side, 0], [7, 0], [9, 0]], "EUC_2D", fixed=[(0, 1)])
    matrix = Instance.from_matrix(far.distance_matrix(), fixed=[(2, 3)])
    for instance in (far, matrix):
        if side > MOST_DISTANCE // 2 - 1 and instance is far:
            with pytest.raises(InstanceError, match=rf"distances up to {side + 1} are too long beside fixed edges"):
                FixedEdges.of(instance)
        elif instance is far or side <= MOST_DISTANCE // 2 - 1:
            form = form_of(FixedEdges.of(instance).instance)
            assert max(np.max(each) for each in form.arguments) <= MOST_DISTANCE


# Metrics and lists


@pytest.mark.parametrize("name", ["EUC_2D", "GEO", "EUCLIDEAN", "MAN_3D"])
def test_metrics_say_what_stands_beside_places(name: str) -> None:
    whole = with_pairs(with_further(name), 17 if name != "EUCLIDEAN" else 0.1)
    metric = metric_named(whole)
    assert (metric.name, metric.alone, metric.beside, metric.has_further) == (whole, name, 2, True)
    assert metric.longer == (17 if name != "EUCLIDEAN" else 0.1)
    with pytest.raises(InstanceError, match="is not known"):
        metric_named(f"{name} AND PAIRS many")


@given(given_edges=instances_with_edges(3, 30), k=st.integers(1, 6), is_open=st.booleans())
def test_partners_are_first_in_lists_of_the_nearest(given_edges: Any, k: int, is_open: bool) -> None:
    instance, edges = given_edges
    fixed = FixedEdges.of(replace(instance, fixed=edges), is_open=is_open)
    lists = neighbour_lists(fixed.instance, k)
    partners = fixed.partners
    for city, listed in enumerate(lists.tolist()):
        others = [other for other in range(fixed.instance.n) if other != city]
        assert len({*listed}) == len(listed) and {*listed} <= {*others}
        assert partners[city] == city or listed[0] == partners[city]
        nearest = np.sort(fixed.instance.distances(city, others))[: len(listed)]
        assert np.array_equal(fixed.instance.distances(city, listed), nearest)


def test_the_excess_of_pairs_is_seen_in_a_matrix_and_nowhere_else() -> None:
    points = np.random.default_rng(5).integers(0, 1000, (40, 2))
    plain = Instance.from_coordinates(points, "EUC_2D")
    pairs = [(a, a + 20) for a in range(15)]
    for instance in (plain, Instance.from_matrix(plain.distance_matrix())):
        assert mean_excess(instance, neighbour_lists(instance, 5)) == 0
        inner = FixedEdges.of(replace(instance, fixed=pairs)).instance
        longer = inner.distances(0, np.arange(1, 40))
        share = 1 - len(pairs) / inner.n
        mean = mean_excess(inner, neighbour_lists(inner, 5))
        assert 0 < mean <= longer[longer > 0].min() * share
        assert mean >= 0.9 * share * (longer.max() - 1500)


# Files of TSPLIB


def test_fixed_edges_are_read_and_written() -> None:
    instance = pytsp.read(tsplib_file("linhp318.tsp"))
    assert instance.fixed is not None and instance.fixed.tolist() == [[0, 213]]
    assert instance.optimum == 41345 + instance.distance(0, 213)
    ignored = pytsp.read(tsplib_file("linhp318.tsp"), ignore_fixed_edges=True)
    assert (ignored.fixed, ignored.optimum) == (None, None)
    written = io.BytesIO()
    pytsp.write(written, replace(instance, fixed=[(0, 213), (5, 3), (3, 4)]))
    again = pytsp.read(io.BytesIO(written.getvalue()))
    assert again.fixed.tolist() == [[0, 213], [3, 4], [3, 5]]  # type: ignore[union-attr]


HEAD = (
    "NAME : x\nTYPE : TSP\nDIMENSION : 4\nEDGE_WEIGHT_TYPE : EUC_2D\nNODE_COORD_SECTION\n1 0 0\n2 3 0\n3 3 4\n4 0 4\n"
)


@pytest.mark.parametrize(
    ("section", "message"),
    [
        ("1 2\n3\n-1\n", ":12: FIXED_EDGES_SECTION: '3' is the first node of a fixed edge without a second"),
        ("1 5\n-1\n", r":11: FIXED_EDGES_SECTION: '5' is not a node number; accepted: 1 … 4, and -1 at the end"),
        ("1 2\n-1\n3 4\n", r":13: FIXED_EDGES_SECTION: '3' stands behind -1"),
        ("1 2.5\n", r":11: FIXED_EDGES_SECTION: '2.5' is not a node number"),
        ("1 2\n2 3\n3 1\n-1\n", r":10: FIXED_EDGES_SECTION: no tour has all fixed edges: some close a cycle"),
        ("1 1\n-1\n", r":10: FIXED_EDGES_SECTION: .* joins city 0 with itself"),
    ],
)
def test_sections_that_no_tour_can_have_are_refused_with_their_line(section: str, message: str) -> None:
    text = f"{HEAD}FIXED_EDGES_SECTION\n{section}EOF\n".encode()
    with pytest.raises(TsplibError, match=message):
        pytsp.read(io.BytesIO(text))


def test_sections_without_an_end_or_without_edges_are_read() -> None:
    for section, fixed in (("1 2\n3 4\n", [[0, 1], [2, 3]]), ("-1\n", None), ("", None)):
        instance = pytsp.read(io.BytesIO(f"{HEAD}FIXED_EDGES_SECTION\n{section}EOF\n".encode()))
        assert (None if instance.fixed is None else instance.fixed.tolist()) == fixed


def test_brute_force_is_what_it_says() -> None:
    assert best_length(LINE, [(0, 5)]) == 10
    assert best_length(LINE, [(0, 5)], is_open=True) == 9
    assert best_length(LINE, [(0, 2), (1, 3)], is_open=True, start=0) == 2 + 2 + 3
