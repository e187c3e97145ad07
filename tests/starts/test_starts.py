"""Starting tours: permutations, the same each time, and what plain loops make of the same rule."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import oracle
import pytest
import strategies
from hypothesis import assume, example, given
from hypothesis import strategies as st
from neighbour_order import NORMED, unrounded
from numpy.typing import NDArray
from paths import listed_optima, tsplib_file
from processes import run_python

from pytsp import Instance, is_tour, random_tours, read
from pytsp.backends import open_backend
from pytsp.generate import uniform
from pytsp.neighbours.lists import neighbour_lists
from pytsp.starts import fragments as _fragments
from pytsp.starts import nearest_unvisited as _visits
from pytsp.starts.construct import STARTS, Start, greedy, nearest_neighbour, space_filling_curve, start_tour

INSTANCES = st.one_of(
    strategies.lattice_instances(NORMED), strategies.instances(max_n=25), strategies.float_instances(max_n=25)
)
SEEDS = st.integers(0, 2**64 - 1)


# Every start


@given(instance=INSTANCES, start=st.sampled_from(STARTS), seed=SEEDS)
@example(instance=Instance.from_coordinates([[0, 0]] * 100, metric="EUC_2D"), start="greedy", seed=0)
@example(instance=Instance.from_coordinates([[0, 0]] * 100, metric="EUC_2D"), start="nearest-neighbour", seed=7)
@example(
    instance=Instance.from_coordinates([[x, 2 * x] for x in range(50)], metric="EUC_2D"),
    start="space-filling-curve",
    seed=0,
)
@example(
    instance=Instance.from_coordinates(1.3 ** np.arange(150)[:, None] * [1, 0], "EUCLIDEAN"), start="greedy", seed=0
)
@example(instance=Instance.from_matrix(np.ones((60, 60), dtype=np.int64)), start="greedy", seed=0)
def test_a_start_is_a_tour_and_the_same_each_time(instance: Instance, start: Start, seed: int) -> None:
    assume(start != "space-filling-curve" or instance.coordinates is not None)
    tour = start_tour(instance, start, seed=seed)
    assert tour.dtype == np.int32 and is_tour(tour, instance.n)
    assert np.array_equal(tour, start_tour(instance, start, seed=seed))


@pytest.mark.parametrize("start", STARTS)
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_the_smallest_instances_have_starts(n: int, start: Start) -> None:
    assert is_tour(start_tour(uniform(n, n), start, seed=3), n)
    assert is_tour(start_tour(Instance.from_coordinates(np.zeros((n, 2)), metric="EUC_2D"), start, seed=3), n)


def test_the_random_start_is_that_of_climber_0() -> None:
    assert np.array_equal(start_tour(uniform(50, 1), "random", seed=9), random_tours(50, 3, 9)[0])


def test_an_unknown_start_is_refused() -> None:
    with pytest.raises(
        ValueError, match="start 'best' is not known; known: random, nearest-neighbour, greedy, space-fill"
    ):
        start_tour(uniform(3, 1), "best")  # type: ignore[arg-type]


@pytest.mark.parametrize("start", STARTS)
def test_a_seed_out_of_range_is_refused(start: Start) -> None:
    with pytest.raises(ValueError, match="seed must be a whole number from 0 to 18446744073709551615; it is -1"):
        start_tour(uniform(3, 1), start, seed=-1)


@pytest.mark.parametrize("start", ["greedy", "nearest-neighbour"])
def test_neighbours_of_another_instance_are_refused(start: Start) -> None:
    with pytest.raises(ValueError, match=r"shape \(20, k\)"):
        start_tour(uniform(20, 1), start, neighbours=neighbour_lists(uniform(10, 1)))


# In a hurry


@given(st.one_of(strategies.directed_matrices(max_n=12), strategies.symmetric_matrices(max_n=25)))
@example(np.ones((30, 30), dtype=np.int64))
@example(np.random.default_rng(0).integers(1, 10**6, (80, 80)))
def test_in_a_hurry_the_nearest_neighbour_tour_needs_no_lists(d: NDArray[np.int64]) -> None:
    instance = Instance.from_matrix(d, asymmetric=True)
    expected = nearest_neighbour(instance).tolist()
    assert instance.matrix is not None
    for matrix in (instance.matrix, instance.matrix.astype(np.int32), instance.matrix / 3):
        assert _visits.hurried_order(matrix, 60.0).tolist() == expected
    # So few are all looked at whatever the time.
    assert _visits.hurried_order(instance.matrix, -1.0).tolist() == expected


@given(strategies.directed_matrices(min_n=2, max_n=20), st.integers(1, 5), st.integers(0, 20))
def test_out_of_time_the_nearest_of_a_few_is_next(d: NDArray[np.int64], few: int, timely: int) -> None:
    n, now = len(d), iter(range(100))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_visits, "_HURRIED", few)
        # Each look at the clock takes a second.
        patch.setattr("time.perf_counter", lambda: float(next(now)))
        order = _visits.hurried_order(d, timely + 0.5).tolist()
    assert sorted(order) == list(range(n)) and order[0] == 0
    for step in range(1, n):
        lengths = [d[order[step - 1], city] for city in order[step:]]
        farther = sum(length < lengths[0] for length in lengths)
        # No more unvisited cities are nearer than were not looked at.
        assert farther <= (0 if step <= timely else max(0, len(lengths) - few))


# Greedy


def edges_of(order: NDArray[np.int32]) -> set[tuple[int, int]]:
    """The edges of a path, each as (smaller, larger)."""
    return {(min(a, b), max(a, b)) for a, b in zip(order[:-1].tolist(), order[1:].tolist(), strict=True)}


@given(instance=INSTANCES)
def test_with_all_neighbours_greedy_is_the_sequential_one(instance: Instance) -> None:
    n = instance.n
    tour = greedy(instance, neighbours=neighbour_lists(instance, max(1, n - 1)))
    taken = oracle.greedy_edges(instance.distance_matrix().tolist(), combinations(range(n), 2))
    assert edges_of(tour) == set(taken)


@given(instance=INSTANCES, k=st.integers(1, 6))
def test_greedy_takes_what_the_sequential_one_takes_of_the_listed_edges(instance: Instance, k: int) -> None:
    # Crowds are joined first, whatever the lists say.
    if instance.coordinates is not None:
        _, counts = np.unique(instance.coordinates, axis=0, return_counts=True)
        assume(counts.max() <= k + 1)
    lists = neighbour_lists(instance, k).tolist()
    listed = {(min(i, j), max(i, j)) for i, near in enumerate(lists) for j in near}
    taken = oracle.greedy_edges(instance.distance_matrix().tolist(), listed)
    assert set(taken) <= edges_of(greedy(instance, neighbours=neighbour_lists(instance, k)))


@given(seed=SEEDS, n=st.integers(2, 40), few=st.integers(1, 100))
def test_kernels_take_the_edges_that_turns_take(seed: int, n: int, few: int) -> None:
    every = np.array(list(combinations(range(n), 2)))
    a, b = np.random.default_rng(seed).permutation(every)[: 4 * n].T
    pairs = list(zip(a.tolist(), b.tolist(), strict=True))
    kernels = open_backend("c")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_fragments, "_EDGES", few)
        fragments = _fragments._joined(kernels, kernels.call("fragments_of", n), n, a, b)
    ranks = [[0] * n for _ in range(n)]
    for rank, (i, j) in enumerate(pairs):
        ranks[i][j] = rank
    taken = oracle.greedy_edges(ranks, pairs)
    assert kernels.call("fragments_count", fragments) == n - len(taken)
    found = kernels.fields(fragments)["links"].reshape(n, 2)
    links = {(i, int(j)) for i, row in enumerate(found) for j in row if j >= 0}
    assert links == {edge for i, j in taken for edge in ((i, j), (j, i))}


def test_many_edges_join_cities_in_blocks_as_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    instance = uniform(20_000, 20_000)
    tour = greedy(instance)
    monkeypatch.setattr(_fragments, "_EDGES", 1)
    assert np.array_equal(tour, greedy(instance))


@pytest.mark.parametrize("name", ["pr2392", "fl1577", "fnl4461", "gr666", "si175"])
def test_greedy_is_at_most_a_quarter_above_the_optimum(name: str) -> None:
    instance = read(tsplib_file(f"{name}.tsp"))
    length = instance.tour_length(greedy(instance))
    assert listed_optima()[name] <= length <= 1.25 * listed_optima()[name]


@pytest.mark.parametrize(("seed", "optimum"), [(1000, 23_360_648), (10_001, 22_985_695), (10_002, 23_023_351)])
def test_greedy_is_12_to_20_percent_above_the_optimum_of_uniform_cities(seed: int, optimum: int) -> None:
    # The optima that are published for E1k.0, E1k.1 and E1k.2.
    instance = uniform(1000, seed)
    assert 1.12 <= instance.tour_length(greedy(instance)) / optimum <= 1.20


# Nearest neighbour


@pytest.mark.parametrize("few", [False, True])
@given(instance=strategies.lattice_instances(("EUC_2D",)), seed=SEEDS, k=st.integers(1, 10))
@example(instance=Instance.from_coordinates([[x % 7, x // 7] for x in range(200)], metric="EUC_2D"), seed=100, k=1)
def test_nearest_neighbour_goes_to_the_nearest_unvisited(instance: Instance, few: bool, seed: int, k: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_visits, "are_few", lambda *_: few)
        tour = nearest_neighbour(instance, seed=seed, neighbours=neighbour_lists(instance, k)).tolist()
    lengths = unrounded(instance)
    assert tour[0] == seed % instance.n
    for p in range(1, instance.n):
        assert lengths[tour[p - 1], tour[p]] == lengths[tour[p - 1], tour[p:]].min()


@given(
    instance=st.one_of(strategies.matrix_instances(max_n=12), strategies.lattice_instances(("XRAY1",))),
    k=st.integers(1, 9),
)
def test_nearest_neighbour_by_rows_is_that_of_plain_loops(instance: Instance, k: int) -> None:
    tour = nearest_neighbour(instance, seed=5, neighbours=neighbour_lists(instance, k))
    assert tour.tolist() == oracle.nearest_neighbour_tour(instance.distance_matrix().tolist(), 5 % instance.n)


@pytest.mark.parametrize("few", [False, True])
@given(cells=st.sets(st.integers(0, 99), min_size=2, max_size=60), seed=SEEDS, k=st.integers(1, 9))
def test_nearest_neighbour_of_a_lattice_is_that_of_plain_loops(cells: set[int], few: bool, seed: int, k: int) -> None:
    instance = Instance.from_coordinates([[cell % 10, cell // 10] for cell in sorted(cells)], metric="EUC_2D")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_visits, "are_few", lambda *_: few)
        tour = nearest_neighbour(instance, seed=seed, neighbours=neighbour_lists(instance, k))
    assert tour.tolist() == oracle.nearest_neighbour_tour(unrounded(instance).tolist(), seed % instance.n)


def test_climbers_of_ten_thousand_cities_start_without_scipys_tree() -> None:
    # To import it takes longer than all their tours, of a second that a solve may have.
    program = (
        "import sys, pytsp; pytsp.solve(pytsp.generate.uniform(12_000, 3), solver='ils', backend='c', climbers=2, "
        "iterations=1); print('scipy.spatial' in sys.modules)"
    )
    assert run_python("-c", program, check=True).stdout.split() == ["False"]


# Space-filling curve


@pytest.mark.parametrize("points", [[[1, 1]] * 5, [[0, 1], [5, 1], [3, 1], [1, 1]], [[1e9, 0], [-1e9, 0], [0, 1e-9]]])
def test_points_without_extent_have_a_curve(points: Any) -> None:
    assert is_tour(space_filling_curve(Instance.from_coordinates(points, metric="EUC_2D")), len(points))


def test_the_curve_follows_a_line() -> None:
    line = Instance.from_coordinates([[x, 0] for x in (3, 1, 0, 2, 7, 5, 6, 4)], metric="EUC_2D")
    assert line.tour_length(space_filling_curve(line)) == 14


def test_a_matrix_has_no_curve() -> None:
    with pytest.raises(ValueError, match="needs coordinates; three has metric EXPLICIT"):
        space_filling_curve(Instance.from_matrix(np.ones((3, 3)), name="three"))
