"""Insertion: the order of the cities that are there stays, and one more city has the best of all places."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import cities
import numpy as np
import pytest
from fixed import has_all, instances_with_edges
from hypothesis import given
from hypothesis import strategies as st

import pytsp
from pytsp import Instance, TourError
from pytsp.problem.insertion import is_partial, with_insertions

LINE = Instance.from_coordinates([[x, 0] for x in range(8)], "EUC_2D")


def measure(instance: Instance, order: Any, is_open: bool) -> int | float:
    return instance.path_length(order) if is_open else instance.tour_length(order)


def around(order: list[int], *, is_open: bool) -> list[int]:
    """A path as it is, a tour from its smallest city on."""
    at = 0 if is_open else order.index(min(order))
    return order[at:] + order[:at]


@given(drawn=instances_with_edges(2, 9), is_open=st.booleans(), data=st.data())
def test_one_city_more_has_the_best_place(drawn: Any, is_open: bool, data: st.DataObject) -> None:
    instance, _ = drawn
    order = data.draw(st.permutations(range(instance.n)))
    part, city = order[:-1], order[-1]
    full = with_insertions(instance, part, is_open=is_open)
    best = min(
        measure(instance, [*part[:place], city, *part[place:]], is_open) for place in range(len(part) + bool(is_open))
    )
    assert measure(instance, full, is_open) == pytest.approx(best)
    assert around([each for each in full.tolist() if each != city], is_open=is_open) == around(part, is_open=is_open)


@given(drawn=instances_with_edges(2, 12), is_open=st.booleans(), ends=st.integers(0, 3), data=st.data())
def test_the_order_of_others_stays_and_fixed_edges_do(
    drawn: Any, is_open: bool, ends: int, data: st.DataObject
) -> None:
    instance, edges = drawn
    instance = replace(instance, fixed=edges)
    # A tour with all edges, of which some paths are left out.
    order = pytsp.solve(instance, solver="ils", iterations=0, open=is_open, backend="c").tour.tolist()
    groups: list[list[int]] = []
    joined = {frozenset(edge) for edge in edges}
    for a, b in itertools.pairwise([None, *order]):
        if a is not None and frozenset((a, b)) in joined:
            groups[-1].append(b)
        else:
            groups.append([b])
    if not is_open and frozenset((order[0], order[-1])) in joined and len(groups) > 1:
        groups[0] = groups.pop() + groups[0]
    kept = [group for group in groups if data.draw(st.booleans())]
    part = list(itertools.chain.from_iterable(kept))
    if not part or len(part) == instance.n:
        return
    kind: dict[str, Any] = {}
    if is_open and ends & 1 and len(groups[0]) + len(groups) > 2:
        kind["start_city"] = order[0]
    if is_open and ends & 2 and order[0] != order[-1]:
        kind["end_city"] = order[-1]
    full = with_insertions(instance, part, is_open=is_open, **kind)
    assert pytsp.is_tour(full, instance.n) and has_all(full, edges, is_open=is_open)
    assert around([each for each in full.tolist() if each in part], is_open=is_open) == around(part, is_open=is_open)
    assert kind.get("start_city", full[0]) == full[0] and kind.get("end_city", full[-1]) == full[-1]
    result = pytsp.solve(instance, initial_tour=part, keep=True, open=is_open, backend="c", **kind)
    assert np.array_equal(result.tour, full) and result.length == measure(instance, full, is_open)
    assert (result.stop_reason, result.is_open) == ("finished", is_open)
    better = pytsp.solve(instance, initial_tour=part, solver="ils", iterations=20, open=is_open, backend="c", **kind)
    assert better.length <= result.length * (1 + 1e-9) and has_all(better.tour, edges, is_open=is_open)


def test_directed_ways_are_inserted_in_their_direction() -> None:
    d = np.full((4, 4), 50)
    d[0, 1] = d[1, 2] = d[2, 0] = 10
    d[1, 3] = d[3, 2] = 1
    ring = Instance.from_matrix(d, asymmetric=True)
    assert around(with_insertions(ring, [0, 1, 2]).tolist(), is_open=False) == [0, 1, 3, 2]
    result = pytsp.solve(ring, initial_tour=[0, 1, 2], keep=True, backend="c")
    assert result.length == 22


def test_many_cities_are_inserted_at_little_cost() -> None:
    instance = cities.uniform(400)
    best = pytsp.solve(instance, solver="eax", climbers=20, backend="c")
    part = best.tour[np.random.default_rng(0).random(400) < 0.8]
    full = with_insertions(instance, part)
    assert around([city for city in full.tolist() if city in {*part.tolist()}], is_open=False) == around(
        part.tolist(), is_open=False
    )
    assert best.length <= instance.tour_length(full) < 1.05 * best.length
    # No inserted city has a better place.
    for city in np.setdiff1d(np.arange(400), part)[:10].tolist():
        without = [each for each in full.tolist() if each != city]
        assert instance.tour_length(with_insertions(instance, without)) == instance.tour_length(full)


@pytest.mark.parametrize(
    ("tour", "message"),
    [
        ([0, 9], "city 9 at position 1 of the initial tour is not one of 0, …, 7"),
        ([0, -1], "city -1 at position 1"),
        ([0, 1, 0], "the initial tour visits city 0 2 times"),
    ],
)
def test_what_is_no_part_of_a_tour_is_refused(tour: list[int], message: str) -> None:
    with pytest.raises(TourError, match=message):
        pytsp.solve(LINE, initial_tour=tour, keep=True)


def test_ends_and_fixed_edges_that_do_not_fit_are_named() -> None:
    fixed = replace(LINE, fixed=[(0, 1), (1, 2), (5, 6)])
    with pytest.raises(TourError, match="the initial tour has city 5, but not city 6, with which it has a fixed edge"):
        with_insertions(fixed, [3, 5])
    with pytest.raises(TourError, match="no path starts in city 1, which has two fixed edges"):
        with_insertions(fixed, [3], is_open=True, start_city=1)
    with pytest.raises(TourError, match="fixed edges join start_city 0 and end_city 2 without the initial tour"):
        with_insertions(fixed, [3], is_open=True, start_city=0, end_city=2)
    assert with_insertions(fixed, [3, 7], is_open=True, start_city=2, end_city=5).tolist() == [2, 1, 0, 3, 4, 7, 6, 5]
    with pytest.raises(ValueError, match="keep=True keeps the initial tour; give initial_tour"):
        pytsp.solve(LINE, keep=True)
    with pytest.raises(TourError, match="the path begins in city 3, but start_city is 4"):
        pytsp.solve(LINE, open=True, start_city=4, initial_tour=[3, 4, 5], keep=True)
    with pytest.raises(ValueError, match="checkpoint has no effect with keep=True"):
        pytsp.solve(LINE, initial_tour=[0], keep=True, checkpoint="never")


def test_parts_are_told_from_what_is_none() -> None:
    assert is_partial([3], 2) and is_partial(np.array([0, 1]), 3)
    assert not is_partial([0, 1], 2) and not is_partial([], 2) and not is_partial([0.5], 2)
    assert not is_partial([[0]], 2) and not is_partial([[0], [1, 2]], 5)


def test_a_whole_tour_is_kept_and_bounded() -> None:
    result = pytsp.solve(LINE, initial_tour=[0, 2, 1, 3, 4, 5, 6, 7], keep=True, bound=True, start_city=3)
    assert result.tour.tolist() == [3, 4, 5, 6, 7, 0, 2, 1] and result.length == 16
    assert result.lower_bound == 14
