"""Neighbour lists: the nearest by all pairs, ties and crowds included, and a share for every quadrant."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import oracle
import pytest
import strategies
from hypothesis import example, given
from hypothesis import strategies as st
from neighbour_order import NORMED, unrounded
from numpy.typing import NDArray
from paths import tsplib_file
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from pytsp import Instance, read
from pytsp.generate import uniform
from pytsp.neighbours import boxes as _boxes
from pytsp.neighbours import rows as _rows
from pytsp.neighbours.boxes import WIDTHS
from pytsp.neighbours.lists import check_neighbours, neighbour_lists
from pytsp.problem.location import group_coincident

PLANAR = ("ATT", "CEIL_2D", "EUC_2D", "MAN_2D", "MAX_2D")
KS = st.one_of(st.integers(1, 12), st.just(1000))


def expected(instance: Instance, k: int) -> NDArray[np.int32]:
    """The lists by all pairs."""
    lists = oracle.nearest(unrounded(instance).tolist(), k)
    return np.array(lists, dtype=np.int32).reshape(instance.n, min(k, instance.n - 1))


@pytest.fixture(autouse=True, scope="module", params=[False, True], ids=["tree", "few"])
def few(request: pytest.FixtureRequest) -> Iterator[None]:
    """Whether a tree is built: both ways have to give the same."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_boxes, "FEW", 200 if request.param else 0)
        yield


# Against all pairs


@given(instance=strategies.lattice_instances(NORMED), k=KS)
@example(instance=Instance.from_coordinates([[0, 0]] * 30, metric="EUC_2D"), k=3)
@example(instance=Instance.from_coordinates([[0, 0]] * 30 + [[1, 0]] * 3 + [[2, 5]], metric="EUC_2D"), k=4)
@example(instance=Instance.from_coordinates([[x, 0] for x in range(12)], metric="EUC_2D"), k=2)
def test_neighbours_are_the_nearest_where_much_ties(instance: Instance, k: int) -> None:
    lists = neighbour_lists(instance, k)
    assert lists.dtype == np.int32
    assert np.array_equal(lists, expected(instance, k))


@given(instance=st.one_of(strategies.instances(max_n=25), strategies.float_instances(max_n=25)), k=KS)
def test_neighbours_are_the_nearest_in_every_metric(instance: Instance, k: int) -> None:
    assert np.array_equal(neighbour_lists(instance, k), expected(instance, k))


@given(instance=st.one_of(strategies.instances(max_n=25), strategies.float_instances(max_n=25)), k=KS)
def test_a_list_is_in_order_of_the_instances_own_distance(instance: Instance, k: int) -> None:
    lists = neighbour_lists(instance, k)
    lengths = instance.distances(np.arange(instance.n)[:, None], lists)
    assert (np.diff(lengths, axis=1) >= 0).all()
    assert (lists != np.arange(instance.n)[:, None]).all()


@given(instance=strategies.lattice_instances(PLANAR, max_n=40), k=st.integers(1, 5))
def test_order_of_points_and_blocks_and_threads_change_nothing(instance: Instance, k: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        # As if there were very many cities.
        patch.setattr(_boxes, "FEW", 0)
        patch.setattr(_boxes, "_BLOCK", 16)
        patch.setattr(_boxes, "CITIES", {"cpu": 3, "gpu": 3})
        lists = neighbour_lists(instance, k)
    assert np.array_equal(lists, expected(instance, k))


def test_many_cities_have_the_neighbours_that_an_exhaustive_search_finds() -> None:
    n = 40_000
    instance = uniform(n, 7)
    lists = neighbour_lists(instance, 10)
    points = instance.coordinates
    assert points is not None
    for city in np.arange(0, n, n // 40):
        squares = np.square(points - points[city]).sum(axis=1)
        squares[city] = np.inf
        assert np.array_equal(lists[city], np.lexsort((np.arange(n), squares))[:10])


def test_a_hundred_thousand_cities_in_one_place_list_the_first_ones() -> None:
    lists = neighbour_lists(Instance.from_coordinates(np.full((100_000, 2), 3.5), metric="EUC_2D"), 10)
    assert (lists[10:] == np.arange(10)).all()
    assert lists[3].tolist() == [0, 1, 2, 4, 5, 6, 7, 8, 9, 10]


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 10, 11, 12])
def test_a_list_has_at_most_all_others(n: int) -> None:
    assert neighbour_lists(uniform(n, 1), 10).shape == (n, min(10, n - 1))
    assert neighbour_lists(Instance.from_matrix(np.ones((n, n))), 10).shape == (n, min(10, n - 1))


@given(matrix=strategies.symmetric_matrices(min_n=2), k=st.integers(1, 8))
def test_cyclic_ties_go_to_the_next_city_round(matrix: NDArray[np.int64], k: int) -> None:
    n = len(matrix)
    lists = _rows.nearest_by_rows(Instance.from_matrix(matrix), np.arange(n), min(k, n - 1), cyclic=True)
    for i in range(n):
        others = sorted(set(range(n)) - {i}, key=lambda j: (matrix[i, j], (j - i) % n))
        assert lists[i].tolist() == others[: min(k, n - 1)]


@given(
    n=st.integers(2, 150),
    k=st.integers(1, 5),
    distinct=st.sampled_from([1, 3, 40, 10**6]),
    dtype=st.sampled_from([np.int64, np.float64]),
    seed=st.integers(0, 2**32),
)
@example(n=33, k=1, distinct=10**6, dtype=np.float64, seed=0)
@example(n=32, k=1, distinct=10**6, dtype=np.float64, seed=0)
@example(n=150, k=4, distinct=1, dtype=np.float64, seed=0)
def test_the_nearest_in_long_rows_are_those_of_a_sort(n: int, k: int, distinct: int, dtype: Any, seed: int) -> None:
    random = np.random.default_rng(seed)
    rows = random.integers(0, distinct, (n, n)).astype(dtype)
    if dtype == np.float64:
        rows[random.random((n, n)) < 0.2] = np.inf
    k = min(k, n - 1)
    found = _rows.nearest_in_rows(rows, k)
    for i in range(n):
        assert found[i].tolist() == sorted(set(range(n)) - {i}, key=lambda j: (rows[i, j], j))[:k]


# Quadrants


def quadrant(dx: float, dy: float) -> int:
    """The quadrant that a difference lies in, counted counter-clockwise; the same place counts to the last."""
    if dx > 0 and dy >= 0:
        return 0
    if dx <= 0 and dy > 0:
        return 1
    return 2 if dx < 0 else 3


@given(instance=strategies.lattice_instances(PLANAR), k=st.integers(1, 12))
@example(instance=Instance.from_coordinates([[0, 0]] * 20 + [[1, 0], [-1, 0], [0, 1], [0, -1]], metric="EUC_2D"), k=4)
@example(instance=Instance.from_coordinates([[0, 0]] * 16 + [[0, 1]], metric="ATT"), k=4)
def test_each_quadrant_has_its_share(instance: Instance, k: int) -> None:
    n, points = instance.n, instance.coordinates
    assert points is not None
    lists = neighbour_lists(instance, k, quadrants=True)
    # At most k + 1 cities of a place are looked through.
    groups = group_coincident(points)
    kept = set(groups.order[groups.rank < k + 1].tolist())
    for i, near in enumerate(oracle.nearest(unrounded(instance).tolist(), n)):
        listed = [j for j in near if j in kept]
        chosen: list[int] = []
        for q in range(4):
            chosen += [j for j in listed if quadrant(*(points[j] - points[i])) == q][: k // 4]
        chosen += [j for j in listed if j not in chosen][: min(k, n - 1) - len(chosen)]
        assert lists[i].tolist() == sorted(chosen, key=listed.index)


@pytest.mark.parametrize("k", [4, 8])
def test_quadrants_have_the_nearest_80_k_cities_only(k: int) -> None:
    # All others are on one side of a city, but for one that is farther than they are.
    most, random = WIDTHS[-1] * k, np.random.default_rng(k)
    others = 1 + random.random((most, 2))
    for nearer in (most - 1, most):
        cities = np.concatenate([[[0.0, 0.0]], others[:nearer], [[-10.0, 0.0]]])
        lists = neighbour_lists(Instance.from_coordinates(cities, "EUCLIDEAN"), k, quadrants=True)
        assert (nearer + 1 in lists[0]) == (nearer < most)


def test_quadrants_reach_over_to_other_clusters() -> None:
    rng = np.random.default_rng(5)
    clusters = np.concatenate([rng.normal(size=(60, 2)) + centre for centre in ([0, 0], [1000, 0])])
    instance = Instance.from_coordinates(clusters, "EUCLIDEAN")
    reaches = [(neighbour_lists(instance, 8, quadrants=q)[:60] >= 60).any() for q in (False, True)]
    assert reaches == [False, True]


def test_quadrants_join_what_plain_lists_leave_apart() -> None:
    instance = read(tsplib_file("fl1577.tsp"))
    parts = []
    for is_spread in (False, True):
        lists = neighbour_lists(instance, 8, quadrants=is_spread)
        graph = csr_array((np.ones(lists.size), lists.ravel(), 8 * np.arange(instance.n + 1)))
        parts.append(connected_components(graph, directed=False, return_labels=False))
    assert parts[0] > parts[1] == 1


# Refusals


@pytest.mark.parametrize("k", [0, -1, 2**31])
def test_a_length_out_of_range_is_refused(k: int) -> None:
    with pytest.raises(ValueError, match=f"k must be a whole number from 1 to 2147483647; it is {k}"):
        neighbour_lists(uniform(5, 1), k)


@pytest.mark.parametrize(
    ("instance", "words"),
    [
        (Instance.from_matrix(np.ones((3, 3)), name="three"), "that of three is EXPLICIT"),
        (Instance.from_coordinates([[1, 2], [3, 4]], "GEO"), "that of the instance is GEO"),
        (Instance.from_coordinates([[1, 2, 3]], "EUC_3D"), "is EUC_3D with 3 coordinates"),
    ],
)
def test_quadrants_are_refused_where_there_are_none(instance: Instance, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        neighbour_lists(instance, quadrants=True)


@pytest.mark.parametrize(
    ("lists", "words"),
    [
        ([[1], [0]], r"shape \(3, k\)"),
        ([1, 0, 0], r"shape \(3, k\)"),
        ([[1.0], [0.0], [0.0]], "float64"),
        ([[1], [3], [0]], "neighbour 3 of city 1 is not one of 0, …, 2"),
        ([[1], [0], [-1]], "neighbour -1 of city 2"),
        ([[1, 2], [0, 1], [0, 1]], "neighbour 1 of city 1 is the city itself"),
    ],
)
def test_lists_that_are_none_are_refused(lists: list[Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        check_neighbours(lists, 3)
