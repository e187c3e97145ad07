"""Laws of neighbour lists by α-nearness, and of the ascent before them."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from unittest.mock import create_autospec

import numpy as np
import pytest
from cities import scattered
from clocks import KernelClock
from hypothesis import given
from hypothesis import strategies as st
from paths import tsplib_file

import pytsp
from pytsp import Instance
from pytsp.backends import Backend, open_backend
from pytsp.bound.alpha import alpha_lists
from pytsp.bound.near_graph import MOST_STEP, ascend, connected, listed, load, scale_of, steps
from pytsp.neighbours.lists import neighbour_lists
from pytsp.solvers import policy
from pytsp.solvers.common import candidates
from pytsp.solvers.speeds import SPEEDS
from pytsp.utils.deadline import OutOfTime, looking


def kernels() -> Backend:
    """The kernels of 1-trees, open: other tests may have closed them."""
    return open_backend("c", part="bound")


SOLVERS = ("ils", "eax", "large", "annealing", "ants")


@given(st.integers(1, 30), st.integers(1, 12), st.integers(0, 12), st.sampled_from([3, 1000]), st.integers(0, 99))
def test_lists_are_of_others_in_order_and_have_the_nearest(n: int, k: int, near: int, side: int, seed: int) -> None:
    instance = Instance.from_coordinates(np.random.default_rng(seed).integers(0, side, (n, 2)), "EUC_2D")
    given = neighbour_lists(instance, 8)
    lists = alpha_lists(instance, given, kernels(), k=k, near=near)
    k = min(k, given.shape[1])
    assert lists.shape == (n, k) and lists.dtype == np.int32
    for city, row in enumerate(lists.tolist()):
        assert city not in row and len({*row}) == k
        lengths = instance.distances(city, np.array(row, int)).tolist()
        assert lengths == sorted(lengths)
        nearest = np.sort(np.delete(instance.distances(city, np.arange(n)), city))[: min(near, k)].tolist()
        assert lengths[: len(nearest)] == nearest or sorted(lengths)[: len(nearest)] == nearest


@given(st.integers(2, 6), st.integers(0, 99))
def test_groups_far_apart_are_joined(groups: int, seed: int) -> None:
    draws = np.random.default_rng(seed)
    cities = np.concatenate([draws.integers(0, 50, (9, 2)) + [10_000 * group, 0] for group in range(groups)])
    instance = Instance.from_coordinates(cities[draws.permutation(len(cities))], "EUC_2D")
    lists = neighbour_lists(instance, 4)
    rows = listed(lists)
    start = np.zeros(instance.n, np.int64)
    _, _, parts = kernels().call("one_tree", load(kernels(), instance, rows, 1), start)
    assert parts == groups
    whole = load(kernels(), instance, connected(instance, lists, rows), 1)
    _, _, parts = kernels().call("one_tree", whole, start)
    assert parts == 1
    alpha_lists(instance, lists, kernels())


@pytest.mark.parametrize("kind", ["float matrix", "whole matrix", "EUC_3D", "GEO", "EUCLIDEAN", "MAN_2D", "forbidden"])
def test_any_metric_has_lists(kind: str) -> None:
    draws = np.random.default_rng(7)
    if "matrix" in kind or kind == "forbidden":
        matrix = draws.uniform(1, 100, (40, 40)) if kind != "whole matrix" else draws.integers(1, 100, (40, 40))
        if kind == "forbidden":
            matrix[draws.uniform(size=(40, 40)) < 0.3] = np.inf
        matrix = np.triu(matrix, 1)
        instance = Instance.from_matrix(matrix + matrix.T)
    else:
        instance = Instance.from_coordinates(draws.uniform(-80, 80, (40, 3 if kind == "EUC_3D" else 2)), kind)
    lists = alpha_lists(instance, neighbour_lists(instance, 10), kernels())
    assert lists.shape == (40, 7)


def test_five_by_alpha_have_nearly_all_edges_of_an_optimal_tour() -> None:
    instance = pytsp.read(tsplib_file("pr1002.tsp"))
    tour = pytsp.read_tour(tsplib_file("pr1002.opt.tour"))
    given = neighbour_lists(instance, 10, quadrants=True)

    def share(lists: np.ndarray) -> float:
        following = np.roll(tour, -1)
        there = [(lists[a] == b[:, None]).any(axis=1).mean() for a, b in ((tour, following), (following, tour))]
        return float(np.mean(there))

    nearest = share(neighbour_lists(instance, 5))
    by_alpha = share(alpha_lists(instance, given, kernels(), k=5, near=0))
    assert nearest < 0.95 and by_alpha > 0.985


def test_steps_fall_from_the_first_to_a_share_of_it_within_bounds() -> None:
    found = steps(1000.0, 0.01, 4)
    assert found[0] == 64_000 and np.all(np.diff(found) < 0) and found[-1] > 640
    assert steps(1e300, 0.5, 3).tolist() == [MOST_STEP] * 3 and steps(1e-9, 0.5, 2).tolist() == [1, 1]
    assert len(steps(1.0, 0.5, 0)) == 0


def test_an_ascent_ends_where_it_is_told_to_and_goes_on_as_if_it_had_not() -> None:
    instance = scattered(60, "EUC_2D", 3)
    scale = scale_of(instance)
    graph = load(kernels(), instance, listed(neighbour_lists(instance, 8)), scale)
    sizes, start = steps(1000.0, 0.01, 40), np.zeros(60, np.int64)
    short = ascend(kernels(), graph, kernels().call("ascent_given", start), sizes, lambda: True)
    assert short.made == 4 and not short.is_tour
    again = ascend(kernels(), graph, kernels().call("ascent_given", start), sizes[:4])
    assert np.array_equal(again.penalties, short.penalties) and again.bound == short.bound
    whole = ascend(kernels(), graph, kernels().call("ascent_given", start), sizes)
    assert whole.made == 40 and whole.bound > short.bound


def test_lists_of_a_solve_whose_time_is_over_are_not_made() -> None:
    instance = Instance.from_coordinates(np.random.default_rng(1).uniform(0, 1e6, (1 << 16, 2)), "EUC_2D")
    lists = neighbour_lists(instance, 5)

    def check(_: float) -> None:
        raise OutOfTime

    with looking(check), pytest.raises(OutOfTime):
        alpha_lists(instance, lists, kernels())


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_solver_with_lists_by_alpha_does_what_it_does_with_these_given(solver: str) -> None:
    instance = scattered(300, "EUC_2D", 5)
    options = {"solver": solver, "iterations": 3, "backend": "c"} | ({} if solver == "large" else {"climbers": 2})
    found = pytsp.solve(instance, neighbours="alpha", **options)
    assert found.length == instance.tour_length(found.tour)
    near = neighbour_lists(instance, 10, quadrants=solver != "large") if solver != "ants" else None
    if near is None:
        near = neighbour_lists(instance, 20, quadrants=True)
    lists = alpha_lists(instance, near, kernels())
    assert (lists != near[:, :7]).any()
    again = pytsp.solve(instance, neighbours=lists, **options)
    if solver == "large":
        # Its cities have other numbers, by which equal ones are told apart.
        assert abs(again.length / found.length - 1) < 0.01
    else:
        assert np.array_equal(again.tour, found.tour)


@pytest.mark.parametrize("solver", ["ils", "eax"])
@pytest.mark.parametrize(
    ("share", "options", "expected"),
    [
        (1.02, {}, True),
        (0.98, {}, False),
        (0.98, {"iterations": 1}, True),
        (1.02, {"moves": "3-opt"}, False),
        (1.02, {"neighbours": 8}, False),
    ],
)
def test_chains_have_them_by_default_where_they_take_little_of_the_time(
    solver: str, share: float, options: dict[str, Any], expected: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    KernelClock(monkeypatch)
    made = create_autospec(alpha_lists, side_effect=alpha_lists)
    monkeypatch.setattr(candidates, "alpha_lists", made)
    monkeypatch.setattr(candidates, "seconds_of_lists", lambda _: 0.0)
    limit = share * SPEEDS["lists by alpha"] * 1000 / policy.ALPHA_SHARE
    pytsp.solve(scattered(1000, "EUC_2D", 5), solver=solver, backend="c", climbers=1, time_limit=limit, **options)
    assert made.called == expected


@pytest.mark.parametrize(("slower", "expected"), [(0.98, True), (1.02, False)])
def test_a_slower_core_has_them_at_longer_limits(
    slower: float, expected: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The nearest cities tell how slow it is: twice as slow as the table says where the limit is twice as long."""
    KernelClock(monkeypatch)
    made = create_autospec(alpha_lists, side_effect=alpha_lists)
    monkeypatch.setattr(candidates, "alpha_lists", made)
    seconds = 2 * SPEEDS["lists by alpha"] * 1000
    monkeypatch.setattr(candidates, "seconds_of_lists", lambda _: slower * seconds / policy.ALPHA_LISTS)
    limit = seconds / policy.ALPHA_SHARE
    pytsp.solve(scattered(1000, "EUC_2D", 5), solver="ils", backend="c", climbers=1, time_limit=limit)
    assert made.called == expected


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_few_cities_have_lists_by_alpha(n: int) -> None:
    instance = Instance.from_coordinates(np.random.default_rng(n).integers(0, 9, (n, 2)), "EUC_2D")
    found = pytsp.solve(instance, solver="ils", neighbours="alpha", iterations=2, backend="c")
    assert sorted(found.tour) == list(range(n))


def test_another_word_is_refused() -> None:
    with pytest.raises(ValueError, match="neighbours must be a whole number"):
        pytsp.ILS(neighbours="beta")


def test_open_and_asymmetric_instances_take_lists_by_alpha() -> None:
    draws = np.random.default_rng(4)
    directed = Instance.from_matrix(draws.integers(1, 100, (12, 12)) * (1 - np.eye(12, dtype=int)), asymmetric=True)
    found = pytsp.solve(directed, solver="ils", neighbours="alpha", iterations=50, backend="c")
    assert found.length == directed.tour_length(found.tour)
    way = pytsp.solve(
        scattered(30, "EUC_2D", 2), solver="ils", neighbours="alpha", iterations=50, backend="c", open=True
    )
    assert sorted(way.tour) == list(range(30))


@pytest.mark.parametrize("solver", ["ils", "large"])
def test_a_solve_by_alpha_goes_on_from_its_checkpoint(solver: str, tmp_path: Path) -> None:
    instance, file = scattered(150, "EUC_2D", 9), tmp_path / "state"
    options: dict[str, Any] = {"solver": solver, "neighbours": "alpha", "backend": "c"}
    pytsp.solve(instance, iterations=20, checkpoint=file, progress=lambda _: True, **options)
    resumed = pytsp.resume(file)
    assert resumed.options.neighbours == "alpha"
    assert np.array_equal(resumed.tour, pytsp.solve(instance, iterations=20, **options).tour)
