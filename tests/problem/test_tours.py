"""Random tours: one law in Python and in Futhark, uniform; double bridges; and what counts as a tour."""

from __future__ import annotations

import math
from itertools import combinations, pairwise, permutations
from typing import Any

import draws
import numpy as np
import pytest
import strategies
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.stats import chi2

from pytsp import is_tour, random_tours
from pytsp.backends import Backend
from pytsp.exceptions import TourError
from pytsp.problem.tours import (
    _GOLDEN,
    BRIDGED_CITIES,
    _mix,
    _streams,
    bridge_cuts,
    check_tour,
    double_bridge,
)

SEEDS = st.one_of(st.integers(0, 2**64 - 1), st.integers(0, 50).map(lambda x: 2**64 - 1 - x))
FIRSTS = st.one_of(st.integers(0, 100), st.integers(2**31 - 5, 2**33), st.integers(2**62 - 50, 2**62 - 10))


# Random tours


def test_the_words_are_those_of_the_kernels_tests() -> None:
    steps = np.arange(1, 4, dtype=np.uint64)
    words = _mix(_streams(0, np.zeros(1, np.uint64)) + steps * _GOLDEN)
    # The same literals stand in futhark/core/rng_tests.fut.
    assert words.tolist() == [6235967106033911276, 4964577235801436555, 5009519748041543987]


def test_the_tours_are_those_of_the_kernels_tests() -> None:
    # The same literals stand in futhark/core/tour_tests.fut.
    assert random_tours(5, 2, seed=0).tolist() == [[3, 4, 0, 1, 2], [2, 1, 0, 4, 3]]
    assert random_tours(8, 1, seed=2**64 - 1, first=2**40).tolist() == [[1, 4, 3, 5, 2, 7, 6, 0]]


@given(n=st.integers(1, 40), climbers=st.integers(1, 20), seed=SEEDS, first=FIRSTS)
@example(n=1, climbers=1, seed=0, first=0)
@example(n=2, climbers=1, seed=2**64 - 1, first=2**62)
@example(n=1000, climbers=3, seed=2**64 - 1, first=2**62)
def test_python_and_futhark_make_the_same_tours(backend: Backend, n: int, climbers: int, seed: int, first: int) -> None:
    tours = random_tours(n, climbers, seed, first)
    assert tours.dtype == np.int32 and tours.shape == (climbers, n)
    assert np.array_equal(tours, backend.fields(backend.call("batch_random", n, seed, first, climbers))["tours"])


@given(n=st.integers(1, 60), climbers=st.integers(0, 9), seed=SEEDS, first=FIRSTS)
def test_every_random_tour_is_one(n: int, climbers: int, seed: int, first: int) -> None:
    tours = random_tours(n, climbers, seed, first)
    assert (np.sort(tours, axis=1) == np.arange(n)).all()


@given(n=st.integers(1, 30), seed=SEEDS, first=FIRSTS, cut=st.integers(0, 6))
def test_a_climbers_tour_does_not_depend_on_the_range_it_is_asked_in(n: int, seed: int, first: int, cut: int) -> None:
    parts = [random_tours(n, cut, seed, first), random_tours(n, 6 - cut, seed, first + cut)]
    assert np.array_equal(np.concatenate(parts), random_tours(n, 6, seed, first))


@pytest.mark.parametrize("seed", [0, 1, 2**64 - 1])
def test_every_order_of_five_cities_is_equally_likely(seed: int) -> None:
    draws = 120_000
    orders = {order: k for k, order in enumerate(permutations(range(5)))}
    tours = random_tours(5, draws, seed).tolist()
    counts = np.bincount([orders[tuple(tour)] for tour in tours], minlength=120)
    statistic = float(((counts - draws / 120) ** 2).sum() / (draws / 120))
    assert 1e-4 < chi2.cdf(statistic, 119) < 1 - 1e-4


@pytest.mark.parametrize("same", ["seed", "climber"])
def test_every_city_stands_everywhere_equally_often(same: str) -> None:
    n, draws = 20, 40_000
    if same == "seed":
        tours = random_tours(n, draws, seed=3)
    else:
        tours = np.concatenate([random_tours(n, 1, seed) for seed in range(draws // 10)])
    counts = np.stack([np.bincount(tours[:, p], minlength=n) for p in range(n)])
    expected = len(tours) / n
    statistic = float(((counts - expected) ** 2).sum() / expected)
    assert 1e-4 < chi2.cdf(statistic, (n - 1) ** 2) < 1 - 1e-4


@pytest.mark.parametrize("n", [5, 10, 100, 1000])
def test_random_tours_share_few_edges_with_the_identity(n: int) -> None:
    climbers = 2_000_000 // n
    tours = random_tours(n, climbers, seed=1)
    steps = (np.roll(tours, -1, axis=1) - tours) % n
    shared = ((steps == 1) | (steps == n - 1)).mean()
    expected = 2 / (n - 1)
    # An edge is shared nearly independently of the others; five standard deviations.
    assert abs(shared - expected) < 5 * math.sqrt(expected / (climbers * n))


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ((0, 1, 0), ValueError, "n must be a whole number from 1"),
        ((2**31, 1, 0), ValueError, "n must be"),
        ((5, -1, 0), ValueError, "climbers must be"),
        ((5, 1, -1), ValueError, "seed must be"),
        ((5, 1, 2**64), ValueError, "seed must be"),
        ((5, 1, 0, -1), ValueError, "first must be"),
        ((True, 1, 0), ValueError, "n must be"),
        ((5.0, 1, 0), TypeError, "n must be"),
        ((5, 1, "0"), TypeError, "seed must be"),
    ],
)
def test_numbers_out_of_range_are_refused(arguments: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        random_tours(*arguments)


# What counts as a tour


@given(tour=strategies.tours())
def test_a_tour_is_accepted_as_a_list_or_an_array_of_any_integers(tour: Any) -> None:
    kinds = (list, tuple, np.int8, np.uint16, np.int64, np.uint64)
    for kind in kinds:
        given_as = kind(tour.tolist()) if kind in (list, tuple) else tour.astype(kind)
        checked = check_tour(given_as, len(tour))
        assert checked.dtype == np.int32
        assert np.array_equal(checked, tour)
        assert is_tour(given_as, len(tour))


@given(tour=strategies.tours(), data=st.data())
def test_one_changed_city_makes_it_no_tour(tour: Any, data: st.DataObject) -> None:
    n = len(tour)
    place = data.draw(st.integers(0, n - 1))
    changed = tour.astype(np.int64)
    changed[place] = data.draw(st.integers(-(2**62), 2**62).filter(lambda city: city != tour[place]))
    assert not is_tour(changed, n)


@pytest.mark.parametrize(
    ("tour", "n", "words"),
    [
        ([0, 1], 3, r"shape \(3,\); this one has shape \(2,\)"),
        ([[0, 1]], 2, r"shape \(2,\); this one has shape \(1, 2\)"),
        ([[0], [1, 2]], 3, "flat sequence"),
        (7, 1, r"shape \(1,\)"),
        ([0, 2], 2, r"city 2 at position 1 of the tour is not one of 0, …, 1"),
        ([0, -1], 2, "city -1 at position 1"),
        ([0, 2, 2], 3, "visits city 2 2 times and city 1 never"),
        ([2**32, 1], 2, "city 4294967296 at position 0"),
        ([0.0, 1.0], 2, "dtype float64"),
        ([False, True], 2, "dtype bool"),
        (["0"], 1, "must hold integers"),
        ([None], 1, "must hold integers"),
        ([2**70], 1, "must hold integers"),
        ([], 0, "at least one city"),
        (np.empty(0, np.int32), 0, "at least one city"),
        ([], 1, "must hold integers"),
    ],
)
def test_the_error_says_what_is_wrong_with_a_tour(tour: Any, n: int, words: str) -> None:
    with pytest.raises(TourError, match=words):
        check_tour(tour, n)
    assert not is_tour(tour, n)


# Double bridges


def edges_of(tour: list[int]) -> set[tuple[int, int]]:
    """The edges of a closed tour, each in the direction of the walk."""
    return {*pairwise([*tour, tour[0]])}


def undirected(edges: set[tuple[int, int]]) -> set[frozenset[int]]:
    """The same in either direction."""
    return {frozenset(edge) for edge in edges}


def are_apart(n: int, cuts: tuple[int, ...]) -> bool:
    """Whether no two of the edges that lead to these positions share a city."""
    cities = [city for cut in cuts for city in ((cut - 1) % n, cut)]
    return len(set(cities)) == len(cities)


@given(tour=st.integers(BRIDGED_CITIES, 60).flatmap(lambda n: st.permutations(range(n))), seed=SEEDS, kick=FIRSTS)
@example(tour=[*range(BRIDGED_CITIES)], seed=0, kick=0)
def test_a_double_bridge_has_four_new_edges_and_reverses_nothing(tour: list[int], seed: int, kick: int) -> None:
    n = len(tour)
    cuts = bridge_cuts(n, seed, kick)
    bridged = double_bridge(np.array(tour, np.int32), cuts)
    assert bridged.dtype == np.int32 and is_tour(bridged, n)
    old, new = edges_of(tour), edges_of(bridged.tolist())
    assert len(undirected(new) - undirected(old)) == len(undirected(old) - undirected(new)) == 4
    assert len(new & old) == n - 4
    # A D C B: the stretches between the cuts follow each other the other way round.
    a, b, c, d = (tour[cuts[3] :] + tour[: cuts[0]], *(tour[p:q] for p, q in pairwise(cuts)))
    assert edges_of(a + d + c + b) == new


@given(n=st.integers(BRIDGED_CITIES, 40) | st.integers(2**31 - 9, 2**31 - 1), seed=SEEDS, kick=FIRSTS)
@example(n=BRIDGED_CITIES, seed=2**64 - 1, kick=2**62)
def test_cuts_are_a_function_of_the_seed_and_the_kicks_number(n: int, seed: int, kick: int) -> None:
    key, word = draws.stream(seed, kick), 2**31
    while not are_apart(n, tuple(sorted(cuts := [draws.below(key, word + i, n) for i in range(4)]))):
        word += 4
    assert bridge_cuts(n, seed, kick).tolist() == sorted(cuts)


@pytest.mark.parametrize("n", [8, 9, 11])
def test_all_cuts_are_equally_likely(n: int) -> None:
    possible = [cuts for cuts in combinations(range(n), 4) if are_apart(n, cuts)]
    kicks = 60 * len(possible)
    drawn = [tuple(bridge_cuts(n, 5, kick).tolist()) for kick in range(kicks)]
    counts = np.array([drawn.count(cuts) for cuts in possible])
    assert counts.sum() == kicks
    statistic = float(((counts - 60) ** 2 / 60).sum())
    assert statistic < chi2.ppf(0.999, len(possible) - 1)


def test_no_cuts_are_made_of_fewer_cities_or_by_numbers_out_of_range() -> None:
    for changes in ({"n": BRIDGED_CITIES - 1}, {"n": 2**31}, {"seed": -1}, {"seed": 2**64}, {"kick": -1}):
        with pytest.raises(ValueError, match=next(iter(changes))):
            bridge_cuts(**{"n": 9, "seed": 0, "kick": 0} | changes)
