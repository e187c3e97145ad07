"""Asymmetric instances: the symmetric ones that stand for them, by the permutations of few cities; and `solve`."""

from __future__ import annotations

import functools
import itertools
import warnings

import numpy as np
import pytest
import strategies
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from strategies import directed_matrices

import pytsp
from pytsp import Instance, InstanceError, TourError
from pytsp.backends import Backend
from pytsp.problem import asymmetric, validation
from pytsp.problem.asymmetric import JonkerVolgenant
from pytsp.problem.kernel_input import MOST_DISTANCE, form_of

PART = "search"

directed = directed_matrices(min_n=2).map(lambda d: Instance.from_matrix(d, asymmetric=True))


@functools.cache
def all_tours(n: int) -> NDArray[np.int64]:
    """Every directed tour of n cities, one a row, each from city 0."""
    return np.array([(0, *rest) for rest in itertools.permutations(range(1, n))])


def shortest_tour(instance: Instance) -> NDArray[np.int64]:
    """The shortest directed tour, by all of them."""
    tours = all_tours(instance.n)
    lengths = instance.distance_matrix()[tours, np.roll(tours, -1, axis=1)].sum(axis=1)
    found: NDArray[np.int64] = tours[np.argmin(lengths)]
    return found


def shortest(instance: Instance) -> int | float:
    """Its length."""
    return instance.tour_length(shortest_tour(instance))


# The symmetric instance


@given(directed_matrices(min_n=1, max_n=4))
@settings(max_examples=80)
def test_the_shortest_tour_is_that_of_the_shortest_directed_tour(d: NDArray[np.int64]) -> None:
    instance = Instance.from_matrix(d, asymmetric=True)
    doubling = JonkerVolgenant.of(instance)
    assert shortest(doubling.instance) - doubling.offset == shortest(instance)


@given(directed, st.data())
def test_a_directed_tour_is_restored_and_keeps_its_length(instance: Instance, data: st.DataObject) -> None:
    doubling = JonkerVolgenant.of(instance)
    tour = data.draw(strategies.tours(instance.n))
    doubled = doubling.tour(tour)
    assert doubling.directed(doubled).tolist() == tour.tolist()
    assert doubling.instance.tour_length(doubled) == instance.tour_length(tour) + doubling.offset
    # Read backwards or from another city it is the same tour.
    turned = doubling.directed(np.roll(doubled[::-1], data.draw(st.integers(0, 20))))
    at = turned.tolist().index(tour[0])
    assert np.roll(turned, -at).tolist() == tour.tolist()


@given(directed_matrices(min_n=2), st.sampled_from([1, 7.0]), st.data())
def test_cities_may_have_other_numbers(ways: NDArray[np.int64], divisor: float, data: st.DataObject) -> None:
    instance = Instance.from_matrix(ways / divisor if divisor > 1 else ways, asymmetric=True)
    order = data.draw(strategies.tours(instance.n))
    tour = data.draw(strategies.tours(instance.n))
    doubling = JonkerVolgenant.of(instance, order)
    assert doubling.directed(doubling.tour(tour)).tolist() == tour.tolist()
    # City i is where one arrives at `order[i]`.
    plain = JonkerVolgenant.of(instance).instance.distance_matrix()
    places = np.append(order, order + instance.n)
    assert (doubling.instance.distance_matrix() == plain[np.ix_(places, places)]).all()


@given(directed_matrices(min_n=1), st.data())
def test_floating_point_ways_are_computed_as_their_matrix_has_them(
    ways: NDArray[np.int64], data: st.DataObject
) -> None:
    instance = Instance._of_lawful(ways / 7, "sevenths", asymmetric=True)
    doubling = JonkerVolgenant.of(instance, data.draw(strategies.tours(instance.n)))
    ours, n = doubling.instance, doubling.instance.n
    assert (ours.n, ours.is_exact, ours.asymmetric, ours.coordinates) == (2 * instance.n, False, False, None)
    given_matrix = Instance.from_matrix(ours.matrix)
    assert (ours.distance_matrix() == given_matrix.matrix).all()
    tour = data.draw(strategies.tours(n))
    assert ours.tour_length(tour) == given_matrix.tour_length(tour)
    assert ours.distances(tour[:, None], tour).tolist() == given_matrix.distances(tour[:, None], tour).tolist()
    if n > 2:
        form, expected = form_of(ours), form_of(given_matrix)
        assert (form.exponent, form.is_exact, form.unit) == (expected.exponent, False, expected.unit)
        assert (form.arguments[0] == expected.arguments[0]).all()


@given(directed_matrices(min_n=1, max_n=9), st.data())
def test_any_tour_has_a_directed_tour_that_is_no_longer(d: NDArray[np.int64], data: st.DataObject) -> None:
    instance = Instance.from_matrix(d, asymmetric=True)
    doubling = JonkerVolgenant.of(instance)
    doubled = data.draw(strategies.tours(2 * instance.n))
    before = doubled.tolist()
    tour = doubling.directed(doubled)
    assert tour.dtype == np.int32
    assert doubled.tolist() == before
    assert instance.tour_length(tour) <= doubling.instance.tour_length(doubled) - doubling.offset


@given(st.integers(2, 20).flatmap(lambda n: strategies.tours(2 * n)))
def test_pairs_are_side_by_side_in_the_end(tour: NDArray[np.int32]) -> None:
    n = len(tour) // 2
    asymmetric._alternate(tour, n)
    asymmetric._join(tour, n)
    for city in range(n):
        gap = tour.tolist().index(city) - tour.tolist().index(city + n)
        assert gap % (2 * n) in (1, 2 * n - 1)


@given(directed_matrices(min_n=2, max_n=4))
def test_floating_point_ways_are_doubled_as_whole_ones_are(d: NDArray[np.int64]) -> None:
    instance = Instance.from_matrix(d / 7, asymmetric=True)
    doubling = JonkerVolgenant.of(instance)
    best = shortest_tour(doubling.instance)
    assert instance.tour_length(doubling.directed(best)) == pytest.approx(shortest(instance), rel=1e-12)


def test_ways_of_about_the_same_length_are_scaled_without_a_word() -> None:
    d = np.array([[0, 1, 1.01], [1.02, 0, 1], [1, 1.01, 0]])
    with warnings.catch_warnings():
        # A way from a city to itself fits no whole number.
        warnings.simplefilter("error")
        form = form_of(JonkerVolgenant.of(Instance.from_matrix(d, asymmetric=True)).instance)
    assert form.arguments[0].min() == 0  # type: ignore[union-attr]


def test_ways_are_as_far_apart_as_kernels_take() -> None:
    most = MOST_DISTANCE // 2 - 1
    ways = np.array([[0, 5, most], [5, 0, 7], [0, 5, 0]])
    form_of(JonkerVolgenant.of(Instance.from_matrix(ways, asymmetric=True)).instance)
    # Of two ways into city 0 neither can be avoided.
    ways[0, 1], ways[1:, 0] = 0, most + 1
    with pytest.raises(
        InstanceError, match=rf"far: distances from 0 to {most + 1} are too far apart for an asymmetric"
    ):
        JonkerVolgenant.of(Instance.from_matrix(ways, "far", asymmetric=True))
    # What all ways have in common does not count.
    apart = np.array([[0, 5, most + 1], [5, 0, 7], [1, 5, 0]])
    form_of(JonkerVolgenant.of(Instance.from_matrix(apart, asymmetric=True)).instance)


def test_a_tour_that_is_none_is_refused() -> None:
    doubling = JonkerVolgenant.of(Instance.from_matrix([[0, 1], [2, 0]], asymmetric=True))
    with pytest.raises(TourError):
        doubling.directed([0, 1])
    with pytest.raises(TourError):
        doubling.tour([0, 1, 2, 3])


# The instance


@given(directed_matrices())
def test_a_matrix_that_is_symmetric_all_the_same_is_taken_as_such(d: NDArray[np.int64]) -> None:
    np.fill_diagonal(d, 0)
    instance = Instance.from_matrix(d, asymmetric=True)
    assert instance.asymmetric == (d != d.T).any()
    assert Instance.from_matrix(d + d.T, asymmetric=True).asymmetric is False
    assert ("asymmetric" in repr(instance)) == instance.asymmetric


@given(st.integers(2, 12).flatmap(lambda n: st.permutations(range(n))), st.integers(1, 5))
def test_one_way_that_differs_is_found(cities: list[int], square: int) -> None:
    d = np.ones((len(cities), len(cities)), dtype=np.int64)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(validation, "_SQUARE", square)
        assert not Instance.from_matrix(d, asymmetric=True).asymmetric
        d[cities[0], cities[1]] = 2
        assert Instance.from_matrix(d, asymmetric=True).asymmetric


def test_the_direction_of_a_tour_counts() -> None:
    ring = Instance.from_matrix([[0, 1, 9], [9, 0, 1], [1, 9, 0]], asymmetric=True)
    assert (ring.tour_length([0, 1, 2]), ring.tour_length([2, 1, 0])) == (3, 27)
    assert (ring.distance(0, 1), ring.distance(1, 0)) == (1, 9)
    assert (ring.path_length([0, 1, 2]), ring.path_length([2, 1, 0])) == (2, 18)


def test_ways_that_differ_are_refused_with_the_way_out() -> None:
    with pytest.raises(
        InstanceError, match=r"must be symmetric, but \[0, 1\] is 1 .*; asymmetric=True takes it as it is"
    ):
        Instance.from_matrix([[0, 1], [2, 0]])
    with pytest.raises(InstanceError, match="distances between coordinates are symmetric"):
        Instance("name", "EUC_2D", coordinates=np.zeros((3, 2)), asymmetric=True)


def test_what_takes_symmetric_instances_only_says_so() -> None:
    ring = Instance.from_matrix([[0, 1, 9], [9, 0, 1], [1, 9, 0]], "ring", asymmetric=True)
    with pytest.raises(InstanceError, match=r"ring: its distances are asymmetric.*pytsp.solve solves it"):
        form_of(ring)
    with pytest.raises(InstanceError, match="asymmetric"):
        pytsp.solve_many([Instance.from_matrix(np.tri(8, dtype=int), asymmetric=True)])


# Solving


@pytest.mark.parametrize(
    ("n", "limit", "solver"), [(7, 0.2, "ils"), (8, 0.2, "eax"), (200, 0.19, "ils"), (200, 0.21, "eax")]
)
def test_auto_recombines_them_and_open_paths_where_there_is_time(n: int, limit: float, solver: str) -> None:
    ways = np.random.default_rng(n).integers(1, 100, (n, n))
    for instance in (Instance.from_matrix(ways, asymmetric=True), Instance.from_matrix(ways / 7, asymmetric=True)):
        assert pytsp.solve(instance, time_limit=limit, backend="c").solver == solver
        # An open path has one city more.
        path = Instance.from_matrix(instance.distance_matrix()[1:, 1:], asymmetric=True)
        assert pytsp.solve(path, open=True, time_limit=limit, backend="c").solver == solver
    assert pytsp.solve(instance, population=20, time_limit=0.1, backend="c").solver == "eax"
    assert pytsp.solve(instance, merge=True, time_limit=0.1, backend="c").solver == "ils"


@pytest.mark.parametrize("n", [2, 3, 4, 7])
@pytest.mark.parametrize("divisor", [1, 3.0])
def test_directed_tours_of_few_cities_are_shortest(backend: Backend, n: int, divisor: float) -> None:
    d = np.random.default_rng(n).integers(1, 100, (n, n)) / divisor if divisor > 1 else None
    ways = np.random.default_rng(n).integers(1, 100, (n, n)) if d is None else d
    instance = Instance.from_matrix(ways, asymmetric=True)
    result = pytsp.solve(instance, backend=backend.name)
    assert result.length == instance.tour_length(result.tour)
    assert result.length == pytest.approx(shortest(instance), rel=1e-12)
    assert result.instance is instance
    assert not result.is_open
    assert ", asymmetric" in str(result)


@pytest.mark.parametrize(
    "options",
    [
        {"solver": "restarts", "climbers": 20},
        {"solver": "two-opt"},
        {"solver": "ils", "iterations": 0, "climbers": 30, "start": "random"},
        {"solver": "ils", "iterations": 30, "climbers": 2, "pivot": "random-k", "draws": 3},
        {"solver": "eax", "iterations": 0},
    ],
)
def test_searches_that_end_early_still_tell_directed_tours(backend: Backend, options: dict[str, object]) -> None:
    instance = Instance.from_matrix(np.random.default_rng(0).integers(0, 1000, (40, 40)), asymmetric=True)
    result = pytsp.solve(instance, backend=backend.name, seed=2, **options)  # type: ignore[arg-type]
    assert result.length == instance.tour_length(result.tour) == result.lengths.min() == result.history[-1].length


def test_a_hundred_cities_come_close_to_the_assignment_bound() -> None:
    from scipy.optimize import linear_sum_assignment  # noqa: PLC0415

    ways = np.random.default_rng(1).integers(1, 1000, (100, 100))
    instance = Instance.from_matrix(ways, asymmetric=True)
    np.fill_diagonal(ways, 10**6)
    bound = ways[linear_sum_assignment(ways)].sum()
    result = pytsp.solve(instance, seed=0)
    # Random ways: the assignment is known to be within a few per cent of the shortest tour.
    assert bound <= result.length <= 1.05 * bound
