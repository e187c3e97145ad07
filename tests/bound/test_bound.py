"""Laws of the lower bound: no tour is below it, whatever the penalties, and what was changed is refused."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from paths import all_tsplib, tsplib_file

import pytsp
from pytsp import Instance, InstanceError
from pytsp.bound import Certificate, check_certificate, lower_bound
from pytsp.bound.certificate import MOST, dense_one_tree
from pytsp.bound.held_karp import default_iterations


def shortest(instance: Instance) -> int | float:
    """Return the length of the shortest tour, by trying all."""
    n = instance.n
    return min(instance.tour_length([0, *rest]) for rest in permutations(range(1, n)))


@st.composite
def small_instances(draw: st.DrawFn) -> Instance:
    """Whole and floating-point coordinates and matrices, some with forbidden edges, of 1 ... 7 cities."""
    n = draw(st.integers(1, 7))
    if draw(st.booleans()):
        most = draw(st.sampled_from([3, 100, 10**6]))
        cities = draw(st.lists(st.tuples(st.integers(0, most), st.integers(0, most)), min_size=n, max_size=n))
        return Instance.from_coordinates(cities, draw(st.sampled_from(["EUC_2D", "CEIL_2D", "euclidean"])))
    is_float = draw(st.booleans())
    length = st.floats(0, 1e6) | st.just(float("inf")) if is_float else st.integers(0, 100) | st.just(2**31 - 1)
    matrix = np.zeros((n, n), np.float64 if is_float else np.int64)
    for i in range(n):
        for j in range(i):
            matrix[i, j] = matrix[j, i] = draw(length)
    return Instance.from_matrix(matrix)


@given(small_instances(), st.data())
def test_no_penalties_prove_more_than_the_shortest_tour(instance: Instance, data: st.DataObject) -> None:
    size = data.draw(st.sampled_from([0, 100, 10**6, MOST]))
    drawn = data.draw(st.lists(st.integers(-size, size), min_size=instance.n, max_size=instance.n))
    scale = data.draw(st.sampled_from([1, 128, 1 << 30]))
    assert dense_one_tree(instance, np.array(drawn, np.int64), scale).bound <= shortest(instance)


@given(small_instances())
def test_the_ascent_is_proved_and_no_lower_than_without_it(instance: Instance) -> None:
    certificate = lower_bound(instance, iterations=40)
    check_certificate(instance, certificate)
    assert lower_bound(instance, iterations=0).bound <= certificate.bound <= shortest(instance)


@given(st.integers(2, 12), st.integers(0, 2**32 - 1))
def test_the_tree_is_as_light_as_kruskals(n: int, seed: int) -> None:
    draws = np.random.default_rng(seed)
    instance = Instance.from_coordinates(draws.integers(0, 30, (n, 2)), "EUC_2D")
    penalties = draws.integers(-20, 20, n)
    tree = dense_one_tree(instance, penalties, 1)
    cost = {(i, j): instance.distance(i, j) + penalties[i] + penalties[j] for i in range(n) for j in range(i)}
    part, weight = list(range(n)), 0
    for (i, j), length in sorted(cost.items(), key=lambda item: item[1]):
        if part[i] != part[j]:
            weight += length
            part = [part[i] if each == part[j] else each for each in part]
    if n > 2:
        assert weight == sum(cost[max(i, j), min(i, j)] for i, j in tree.edges.tolist())
        second = max(sorted(cost[max(i, j), min(i, j)] for j in range(n) if j != i)[1] for i in range(n))
        assert tree.bound == max(0, weight + second - 2 * penalties.sum())


def test_the_bound_is_near_the_optimum_of_uniform_cities() -> None:
    instance = pytsp.read("uniform100")
    tour = pytsp.solve(instance, backend="c", seed=1, time_limit=0.5)
    bound = lower_bound(instance).bound
    assert 0.97 * tour.length <= bound <= tour.length


@pytest.mark.parametrize("name", [name for name in all_tsplib(400) if name != "linhp318"])
def test_no_optimum_of_tsplib_is_below_its_bound(name: str) -> None:
    instance = pytsp.read(tsplib_file(f"{name}.tsp"))
    if instance.asymmetric or not instance.optimum:
        pytest.skip("asymmetric, or its optimum is not known")
    bound = lower_bound(instance, iterations=200).bound
    assert 0.8 * instance.optimum <= bound <= instance.optimum


def test_more_cities_have_fewer_steps() -> None:
    assert [default_iterations(n) for n in (0, 375, 1_000, 5_000, 100_000, 10**6)] == [
        8_000,
        8_000,
        3_000,
        600,
        600,
        100,
    ]


def test_what_was_changed_is_refused() -> None:
    cities = np.random.default_rng(5).integers(0, 1000, (40, 2))
    instance = Instance.from_coordinates(cities, "EUC_2D")
    certificate = lower_bound(instance)
    check_certificate(instance, certificate)
    with pytest.raises(ValueError, match=f"says {certificate.bound + 1}, but its penalties prove {certificate.bound}"):
        check_certificate(instance, replace(certificate, bound=certificate.bound + 1))
    with pytest.raises(ValueError, match="penalties prove"):
        check_certificate(instance, replace(certificate, penalties=certificate.penalties[::-1].copy()))
    with pytest.raises(ValueError, match="penalties prove"):
        check_certificate(Instance.from_coordinates(cities // 2, "EUC_2D"), certificate)
    with pytest.raises(ValueError, match="must be int64 of"):
        check_certificate(Instance.from_coordinates(cities[1:], "EUC_2D"), certificate)


@pytest.mark.parametrize("penalty", [MOST + 1, -MOST - 1, np.iinfo(np.int64).min, np.iinfo(np.int64).max])
def test_penalties_that_may_overflow_are_refused(penalty: int) -> None:
    instance = Instance.from_coordinates([[0, 0], [1, 0], [1, 1]], "EUC_2D")
    penalties = np.array([0, penalty, 0], np.int64)
    with pytest.raises(ValueError, match="may overflow"):
        check_certificate(instance, Certificate(0, 1, penalties))


@pytest.mark.parametrize("scale", [0, 3, -1, 1 << 31])
def test_a_scale_that_is_no_power_of_two_is_refused(scale: int) -> None:
    instance = Instance.from_coordinates([[0, 0], [1, 0], [1, 1]], "EUC_2D")
    with pytest.raises(ValueError, match="power of two"):
        check_certificate(instance, Certificate(0, scale, np.zeros(3, np.int64)))


def test_what_there_is_no_bound_of_is_refused() -> None:
    with pytest.raises(InstanceError, match="asymmetric"):
        lower_bound(Instance.from_matrix([[0, 1, 2], [3, 0, 1], [1, 2, 0]], asymmetric=True))
    with pytest.raises(InstanceError, match="20001 cities"):
        lower_bound(Instance.from_coordinates(np.zeros((20_001, 2)), "MAN_2D"))
    square = Instance.from_coordinates([[0, 0], [1, 0], [1, 1], [0, 1]], "EUC_2D")
    with pytest.raises(ValueError, match="iterations is -1"):
        lower_bound(square, iterations=-1)
    with pytest.raises(ValueError, match="time_limit is 0"):
        lower_bound(square, time_limit=0)


@pytest.mark.parametrize(
    "metric", ["EUC_2D", "CEIL_2D", "ATT", "GEO", "HAVERSINE", "EUCLIDEAN", "MAN_2D", "MAX_2D", "EUC_3D"]
)
def test_a_distance_is_the_same_wherever_it_is_asked_for(metric: str) -> None:
    """The bound takes them by rows, tours by pairs: one that differed in its last bit could make a bound too high."""
    draws = np.random.default_rng(3)
    n = 301
    cities = np.column_stack([draws.uniform(-90, 90, n), draws.uniform(-180, 180, n), draws.uniform(-90, 90, n)])
    instance = Instance.from_coordinates(cities if metric == "EUC_3D" else cities[:, :2], metric)
    rows = np.stack([instance.distances(city, np.arange(n)) for city in range(n)])
    assert np.array_equal(rows, rows.T)
    one, other = draws.integers(0, n, (2, 5_000))
    assert np.array_equal(instance.distances(one, other), rows[one, other])
    for first in range(1, 20):
        assert np.array_equal(instance.distances(7, np.arange(first, n)), rows[7, first:])
    assert [instance.distance(i, j) for i, j in zip(one[:500], other[:500], strict=True)] == rows[one, other][
        :500
    ].tolist()
