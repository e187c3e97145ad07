"""Populations that start in bulk: the same on every backend, laws of every result, and the spots of cities."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import strategies
from cities import scattered, uniform
from emulated import skip_where_slow
from held_karp import shortest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from results import assert_same, solving

import pytsp
from pytsp import Instance
from pytsp.backends import Backend
from pytsp.problem import kernel_input
from pytsp.problem.location import further_city
from pytsp.problem.open_paths import OpenPath
from pytsp.solvers.common import flat_search, task
from pytsp.solvers.common.flat_search import SIDE, are_in_clusters, spots_of

solved = solving("eax", climbers=6, moves="flat")

METRICS = ("EUC_2D", "CEIL_2D", "EUCLIDEAN", "HAVERSINE", "GEO", "EUC_3D", "MAN_2D", "EXPLICIT")


@st.composite
def asked(draw: st.DrawFn) -> tuple[Instance, dict[str, Any]]:
    """Instances of up to 60 cities, closed, open or directed, and what is asked of them."""
    n, metric = draw(st.integers(1, 60)), draw(st.sampled_from((*METRICS, "directed")))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    # Of small sides many distances tie, and cities coincide.
    side = draw(st.sampled_from((1, 3, 40, 10_000)))
    options: dict[str, Any] = {"seed": draw(st.integers(0, 2**64 - 1)), "first": draw(st.integers(0, 2**40))}
    if metric == "directed":
        ways = rng.integers(0, side + 1, (n, n))
        np.fill_diagonal(ways, 0)
        instance = Instance.from_matrix(ways, asymmetric=True)
    elif metric == "EXPLICIT":
        ways = np.triu(rng.integers(0, side + 1, (n, n)), 1)
        instance = Instance.from_matrix(ways + ways.T)
    else:
        width = 3 if metric == "EUC_3D" else 2
        instance = Instance.from_coordinates(rng.integers(0, min(side, 80) + 1, (n, width)).astype(float), metric)
    if draw(st.booleans()):
        options["population"] = draw(st.integers(1, 6))
    if draw(st.booleans()):
        options["neighbours"] = draw(st.integers(1, 12))
    if draw(st.booleans()):
        options["open"] = True
    if draw(st.booleans()):
        options["initial_tour"] = rng.permutation(n)
    elif "open" in options and draw(st.booleans()):
        options["start_city"] = draw(st.integers(0, n - 1))
    return instance, options


@given(asked())
@settings(max_examples=80)
@example((Instance.from_coordinates([[3, 3]] * 20, "EUC_2D"), {"seed": 0}))
@example((Instance.from_coordinates([[x, 0] for x in range(30)], "EUC_2D"), {"seed": 1, "open": True}))
@example((Instance.from_matrix(np.zeros((30, 30), dtype=np.int64)), {"seed": 2}))
@example((Instance.from_matrix(np.zeros((20, 20), dtype=np.int64), asymmetric=True), {"seed": 3}))
def test_every_backend_finds_the_same_tours(backend: Backend, of: tuple[Instance, dict[str, Any]]) -> None:
    instance, options = of
    expected = pytsp.solve(instance, solver="eax", moves="flat", climbers=6, backend="c", **options)
    result = solved(instance, backend, **options)
    assert_same(result, expected)
    length = instance.path_length if result.is_open else instance.tour_length
    assert pytsp.is_tour(result.tour, instance.n) and result.length == length(result.tour)
    if "initial_tour" in options:
        assert result.length <= length(options["initial_tour"])


@pytest.mark.parametrize("n", [8, 9, 10])
@pytest.mark.parametrize("side", [5, 1000])
def test_few_cities_of_a_plane_are_solved_to_optimality(backend: Backend, n: int, side: int) -> None:
    for seed in range(10):
        instance = uniform(n, seed, side)
        assert solved(instance, backend, climbers=60).length == shortest(instance)


@pytest.mark.parametrize("metric", METRICS)
def test_populations_that_start_in_bulk_come_as_far_as_others(backend: Backend, metric: str) -> None:
    skip_where_slow(backend)
    instance = scattered(150, metric, 4)
    bulk = solved(instance, backend, climbers=60)
    others = pytsp.solve(instance, solver="eax", climbers=60, backend="c")
    assert bulk.length <= others.length * 1.01


# Where cities are drawn

SPOTTED = st.one_of(
    strategies.instances(max_n=12),
    strategies.float_instances(max_n=12),
    strategies.directed_matrices().map(lambda matrix: Instance.from_matrix(matrix, asymmetric=True)),
    strategies.clusters().map(lambda points: Instance.from_coordinates(points * 2.0**40, "EUCLIDEAN")),
)


@given(SPOTTED)
def test_spots_are_within_the_square_and_always_the_same(instance: Instance) -> None:
    spots = spots_of(instance)
    for axis in spots:
        assert axis.dtype == np.int32 and axis.shape == (instance.n,) and axis.flags.c_contiguous
        assert axis.min() >= 0 and axis.max() < SIDE
    assert np.array_equal(spots, spots_of(instance))


def test_spots_of_a_plane_are_its_cities_to_scale() -> None:
    instance = Instance.from_coordinates([[-10, 5], [10, 5], [0, 15], [-10, 5]], "EUC_2D")
    xs, ys = spots_of(instance)
    assert (xs.tolist(), ys.tolist()) == ([0, SIDE - 1, (SIDE - 1) // 2, 0], [0, 0, (SIDE - 1) // 2, 0])


def along(bits: int, instance: Instance) -> np.ndarray[Any, Any]:
    """The cells of cities, by a curve through a grid of 2**bits a side, shape (n, 2)."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(flat_search, "CURVE_BITS", bits)
        return np.column_stack(spots_of(instance)) // (SIDE >> bits)


@pytest.mark.parametrize("bits", [1, 2, 3, 4])
def test_cities_without_a_plane_that_follow_each_other_are_in_adjacent_cells(bits: int) -> None:
    n = 4**bits
    line = np.abs(np.subtract.outer(np.arange(n), np.arange(n)))
    diagonal = Instance.from_coordinates(np.outer(np.arange(n), [1, 1, 1]), "EUC_3D")
    for instance in (Instance.from_matrix(line), diagonal):
        cells = along(bits, instance)
        assert len(np.unique(cells, axis=0)) == n and cells.min() == 0 and cells.max() == 2**bits - 1
        assert (np.abs(np.diff(cells, axis=0)).sum(axis=1) == 1).all()
    # Fewer cities are as far apart as there are cells between them at most.
    few = along(bits, Instance.from_matrix(line[: n // 2, : n // 2]))
    assert (np.abs(np.diff(few, axis=0)).sum(axis=1) <= 2).all()


@given(st.permutations(range(16)))
def test_spots_follow_the_cities_through_space_whatever_their_numbers(order: list[int]) -> None:
    points = np.outer(np.array(order), [1, 1, 1])
    cells = along(2, Instance.from_coordinates(points, "EUC_3D"))
    assert (np.abs(np.diff(cells[np.argsort(order)], axis=0)).sum(axis=1) == 1).all()


def test_a_path_has_its_cities_where_a_tour_has_them() -> None:
    closed = Instance.from_coordinates(np.random.default_rng(1).integers(0, 80, (30, 2)), "EUC_2D")
    path = OpenPath.of(closed).instance
    assert further_city(path) == 30
    for axis, of_path in zip(spots_of(closed), spots_of(path), strict=True):
        assert np.array_equal(of_path[:30], axis)
        # The further city does not count.
        assert abs(int(of_path[30]) - axis.mean()) <= 1


@pytest.mark.parametrize("metric", ["GEOM", "HAVERSINE"])
def test_near_places_of_a_sphere_have_near_spots(metric: str) -> None:
    rng = np.random.default_rng(2)
    places = np.column_stack([rng.uniform(40, 50, 200), rng.uniform(0, 15, 200)])
    places = np.concatenate([places, places + rng.uniform(-0.001, 0.001, (200, 2))])
    xs, ys = (axis.astype(float) for axis in spots_of(Instance.from_coordinates(places, metric)))
    # All together are some ten degrees wide.
    assert np.hypot(xs[:200] - xs[200:], ys[:200] - ys[200:]).max() < SIDE / 1000


def villages(metric: str) -> Instance:
    """1,000 places, fifty on average in each of twenty villages."""
    rng = np.random.default_rng(7)
    middles = np.column_stack([rng.uniform(40, 50, 20), rng.uniform(0, 15, 20)])
    places = middles[rng.integers(0, 20, 1000)] + rng.normal(0, 0.02, (1000, 2))
    return Instance.from_coordinates(places if metric == "HAVERSINE" else 1000 * places, metric)


@pytest.mark.parametrize("metric", ["HAVERSINE", "EUC_2D"])
def test_tours_of_villages_start_near_what_chains_come_to(backend: Backend, metric: str) -> None:
    skip_where_slow(backend)
    instance = villages(metric)
    short = pytsp.solve(instance, solver="ils", climbers=1, iterations=2000, backend="c").length
    assert solved(instance, backend, climbers=8, iterations=0).lengths.min() < 1.4 * short


def spread_or_not(far: int) -> tuple[Instance, np.ndarray[Any, Any]]:
    """A line of 1,000 cities in which the last neighbours of `far` are four times as far as the middle ones."""
    lists = np.empty((1000, 3), dtype=np.int32)
    for city in range(1000):
        towards = 1 if city < 500 else -1
        lists[city] = city + towards * np.array([1, 2, 8 if city < far else 4])
    return Instance.from_coordinates(np.column_stack([np.arange(1000), np.zeros(1000)]), "EUC_2D"), lists


@pytest.mark.parametrize("far", [0, 249, 250, 1000])
def test_cities_stand_in_clusters_where_a_quarter_have_a_far_neighbour(far: int) -> None:
    assert are_in_clusters(*spread_or_not(far)) == (far >= 250)


def test_cities_without_places_or_with_two_neighbours_are_spread() -> None:
    instance, lists = spread_or_not(1000)
    assert not are_in_clusters(instance, lists[:, :2])
    assert not are_in_clusters(Instance.from_matrix(instance.distance_matrix()), lists)


@pytest.mark.parametrize("is_open", [False, True])
@pytest.mark.parametrize("metric", ["GEO", "HAVERSINE", "EUC_3D", "MAN_2D"])
def test_many_cities_in_space_need_no_matrix(
    backend: Backend, monkeypatch: pytest.MonkeyPatch, metric: str, is_open: bool
) -> None:
    rng = np.random.default_rng(5)
    points = np.floor(rng.uniform(-80, 80, (70, 3 if metric == "EUC_3D" else 2)))
    instance = Instance.from_coordinates(points, metric)
    by_matrix = solved(instance, backend, iterations=3, open=is_open)
    monkeypatch.setattr(task, "MATRIX_CITIES", 10)
    monkeypatch.setattr(kernel_input, "MATRIX_BYTES", 0)
    assert_same(solved(instance, backend, iterations=3, open=is_open), by_matrix)


@pytest.mark.parametrize("most", [59, 60])
def test_more_cities_than_joints_number_are_refused(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flat_search, "MOST_NUMBERED", most)
    options = pytsp.EAX(climbers=4, iterations=2, moves="flat")
    if most == 60:
        assert pytsp.is_tour(pytsp.solve(uniform(60, 0), solver=options, backend="c").tour, 60)
        return
    with pytest.raises(ValueError, match=r"takes up to 59 cities, and \S+ has 60; take solver='large'"):
        pytsp.solve(uniform(60, 0), solver=options, backend="c")
