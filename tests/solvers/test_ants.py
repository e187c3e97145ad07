"""Ant colonies as a solver: variants, limits, what a result tells, what is refused."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from cities import scattered
from clocks import KernelClock
from faults import assert_errors_in_callbacks_come_through, assert_wrong_lengths_are_found_out
from hypothesis import given
from hypothesis import strategies as st
from interruptions import assert_control_c_at_any_call_leaves_a_tour
from paths import tsplib_file
from results import solving

import pytsp
from pytsp import Improvement, Instance, Progress
from pytsp.backends import Backend
from pytsp.neighbours.lists import neighbour_lists
from pytsp.solvers.ants import rules_of
from pytsp.solvers.options.ants import VARIANTS, AntColony
from pytsp.solvers.speeds import SPEEDS
from pytsp.starts.construct import nearest_neighbour
from pytsp.utils.powers import quarter_power, quarters_of, whole_powers

PART = "comparators"
solved = solving("ants")


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 30])
@pytest.mark.parametrize("metric", ["EUC_2D", "EXPLICIT"])
@pytest.mark.parametrize("moves", [None, "2-opt", "or-opt", "3-opt"])
def test_tours_are_tours_of_their_lengths(backend: Backend, n: int, metric: str, moves: Any) -> None:
    instance = scattered(n, metric, 1)
    for variant in VARIANTS:
        result = solved(instance, backend, climbers=2, iterations=4, variant=variant, moves=moves)
        assert pytsp.is_tour(result.tour, n)
        assert result.length == instance.tour_length(result.tour) == result.lengths.min()
        assert (result.solver, result.climbers, result.iterations) == ("ants", 2, 4)
        assert not result.done.any()


def test_floating_point_distances_and_cities_in_one_place_are_no_hindrance(backend: Backend) -> None:
    points = np.random.default_rng(0).integers(0, 3, (20, 2)) / 7
    instance = Instance.from_coordinates(points, metric="EUCLIDEAN")
    for beta in (2, 16):
        result = solved(instance, backend, iterations=10, beta=beta)
        assert result.length == instance.tour_length(result.tour)
    one = Instance.from_coordinates(np.zeros((6, 2)), metric="EUC_2D")
    assert solved(one, backend, iterations=3).length == 0


def test_a_colony_does_not_know_the_others_nor_the_calls(backend: Backend) -> None:
    instance = scattered(40, "EUC_2D", 1)
    options: dict[str, Any] = {"iterations": 30, "seed": 5, "start": "random"}
    whole = solved(instance, backend, climbers=4, **options)
    assert whole.lengths.tolist() == solved(instance, backend, climbers=4, **options).lengths.tolist()
    parts = [solved(instance, backend, climbers=2, first=first, **options) for first in (0, 2)]
    assert [length for part in parts for length in part.lengths.tolist()] == whole.lengths.tolist()
    assert min(parts, key=lambda part: part.length).tour.tolist() == whole.tour.tolist()


@pytest.mark.parametrize("variant", VARIANTS)
def test_colonies_learn(backend: Backend, variant: str) -> None:
    instance = scattered(60, "EUC_2D", 1)
    # Without trails, ants go by distances only.
    guided = solved(instance, backend, iterations=60, variant=variant, start="random", climbers=3)
    blind = solved(instance, backend, iterations=60, variant=variant, start="random", climbers=3, alpha=0)
    assert guided.lengths.sum() < blind.lengths.sum()
    assert (guided.steps > 1).all()


# The mean of twelve colonies and thrice its standard error: 1.65, 3.41 and 7.43 %, by deviations of 1.2, 1.3 and 0.9.
@pytest.mark.slow
@pytest.mark.parametrize(("variant", "gap"), [("max-min", 0.027), ("rank", 0.046), ("ant-system", 0.082)])
def test_it_ends_close_to_the_optimum(backend: Backend, variant: str, gap: float) -> None:
    instance = pytsp.read(tsplib_file("kroA100.tsp.gz"))
    result = solved(instance, backend, variant=variant, iterations=150, climbers=12)
    assert result.instance.optimum is not None
    assert result.lengths.mean() < (1 + gap) * result.instance.optimum


def test_ants_with_local_search_find_the_optimum(backend: Backend) -> None:
    instance = pytsp.read(tsplib_file("kroA100.tsp.gz"))
    result = solved(instance, backend, moves="3-opt", iterations=30, climbers=4)
    assert result.lengths.tolist() == [instance.optimum] * 4


def test_what_a_result_tells(backend: Backend) -> None:
    progress: list[Progress] = []
    improvements: list[Improvement] = []
    instance = scattered(60, "EUC_2D", 1)
    callbacks: dict[str, Any] = {"progress": progress.append, "on_improvement": improvements.append}
    result = solved(instance, backend, climbers=2, iterations=30, **callbacks)
    assert progress[-1].iteration == progress[-1].iterations == 30
    assert list(result.history) == improvements
    assert result.history[0].length == instance.tour_length(nearest_neighbour(instance))
    assert result.history[-1].length == result.length
    assert result.stop_reason == "finished"
    assert "colonies  2, 30 iterations each" in str(result)


def test_the_best_tour_at_first_is_the_given_one(backend: Backend) -> None:
    instance = scattered(30, "EUC_2D", 1)
    tour = pytsp.random_tours(30, 1, 3)[0]
    result = solved(instance, backend, initial_tour=tour, iterations=0)
    assert result.tour.tolist() == tour.tolist()
    assert solved(instance, backend, initial_tour=tour, iterations=5).history[0].length == instance.tour_length(tour)


def test_targets_and_time_limits_end_it(backend: Backend, monkeypatch: pytest.MonkeyPatch) -> None:
    instance = scattered(100, "EUC_2D", 1)
    random = instance.tour_length(pytsp.random_tours(100, 1, 0)[0])
    result = solved(instance, backend, start="random", target=random - 1)
    assert (result.stop_reason, result.length < random) == ("target", True)
    clock = KernelClock(monkeypatch)
    result = solved(instance, backend, time_limit=3.0)
    assert result.stop_reason == "time limit"
    assert (result.iterations or 0) > 0
    assert clock.begun("forage") > 1 and not clock.begun("forage", after=3.0)


def test_patience_and_a_gap_end_it(backend: Backend, monkeypatch: pytest.MonkeyPatch) -> None:
    KernelClock(monkeypatch)
    instance = scattered(12, "EUC_2D", 1)
    progress: list[Progress] = []
    result = solved(instance, backend, patience=3.0, iterations=10**12, progress=progress.append)
    assert result.stop_reason == "no improvement"
    assert {each.phase for each in progress} == {"ants"}
    known = replace(instance, optimum=result.length)
    assert solved(known, backend, start="random", target_gap=0.0, iterations=10**12).length == result.length


def test_an_iteration_that_does_not_fit_is_not_begun(backend: Backend, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ant, step", "ant, gpu"):
        monkeypatch.setitem(SPEEDS, name, 1.0)
    instance = scattered(50, "EUC_2D", 1)
    result = solved(instance, backend, time_limit=60.0, climbers=1)
    assert (result.stop_reason, result.iterations, result.steps.tolist()) == ("time limit", 0, [0])
    assert result.length <= instance.tour_length(nearest_neighbour(instance))


@pytest.mark.parametrize(("n", "k"), [(1, 0), (2, 1), (50, 20), (5_000, 20)])
def test_rules_are_those_of_the_literature(n: int, k: int) -> None:
    system = rules_of(AntColony(variant="ant-system", ants=7), n, k)
    assert (system.keep, system.weights.tolist(), system.elite, system.turns) == (0.5, [1] * 7, 0, 0)
    assert (system.floor, system.initial) == (0, 7)
    rank = rules_of(AntColony(variant="rank", ants=7, ranks=5), n, k)
    assert (rank.weights.tolist(), rank.elite, rank.turns, rank.floor) == ([4, 3, 2, 1], 5, 0, 0)
    assert rules_of(AntColony(variant="rank", ants=2, ranks=5), n, k).weights.tolist() == [4, 3]
    assert rules_of(AntColony(variant="rank", ants=2, ranks=1), n, k).weights.tolist() == []
    best = rules_of(AntColony(evaporation=0.25), n, k)
    assert (best.keep, best.weights.tolist(), best.elite, best.initial) == (0.75, [1], 1, 4)
    # An ant at the limits makes the best tour again with one chance in twenty, choosing among half of its neighbours.
    if 0 < best.floor < 1:
        share = 1 / (1 + best.floor * (k + 1) / 2)
        assert share**n == pytest.approx(0.05, rel=1e-6)


def test_the_number_of_ants_is_that_of_the_cities_or_few_that_search() -> None:
    assert [AntColony().ants_of(n) for n in (1, 50, 707, 708)] == [1, 50, 707, 706]
    assert [AntColony().ants_of(n) for n in (10_000, 20_000, 20_001, 10**6)] == [50, 25, 25, 25]
    assert AntColony(moves="2-opt").ants_of(1_000) == 25
    assert AntColony(ants=3).ants_of(1_000) == 3


@given(st.floats(0, 1e3), st.integers(0, 64))
def test_quarter_powers_are_powers(base: float, quarters: int) -> None:
    exact = math.pow(base, quarters / 4)
    assert quarter_power(np.array([base]), quarters)[0] == pytest.approx(exact, rel=1e-12, abs=1e-300)
    assert quarters_of("beta", quarters / 4, 16) == quarters


@given(st.floats(0.5, 1), st.lists(st.integers(0, 10**6), max_size=5))
def test_whole_powers_are_powers(base: float, exponents: list[int]) -> None:
    exact = [math.pow(base, exponent) for exponent in exponents]
    assert whole_powers(base, exponents).tolist() == pytest.approx(exact, rel=1e-9, abs=1e-300)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"variant": "elitist"}, "variant 'elitist' is not known; known: max-min, rank, ant-system"),
        ({"ants": 0}, "ants must be"),
        ({"ants": 2**21}, "ants must be"),
        ({"alpha": 0.3}, "alpha must be a multiple of 0.25 from 0 to 4; it is 0.3"),
        ({"alpha": 4.25}, "alpha must be a multiple of 0.25 from 0 to 4"),
        ({"beta": -1}, "beta must be a multiple of 0.25 from 0 to 16; it is -1"),
        ({"beta": float("nan")}, "beta must be a multiple"),
        ({"evaporation": 0}, "evaporation must be a share, more than 0 and at most 1; it is 0"),
        ({"evaporation": 1.5}, "evaporation must be a share"),
        ({"ranks": 3}, "ranks=3 has no effect with variant='max-min'; it is for variant='rank'"),
        ({"variant": "rank", "ranks": 0}, "ranks must be"),
        ({"variant": "rank", "smoothing": 0.5}, "smoothing=0.5 has no effect with variant='rank'"),
        ({"smoothing": 2}, "smoothing must be a share from 0 to 1; it is 2"),
        ({"moves": "4-opt"}, "moves '4-opt' is not known; known: 2-opt, or-opt, 3-opt"),
        ({"temperature": 2.0}, "temperature=2.0 has no effect with solver='ants'; it is for"),
        ({"trials": 2}, "trials=2 has no effect with solver='ants'; it is for solver='annealing'"),
    ],
)
def test_what_is_out_of_range_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        pytsp.solve(scattered(9, "EUC_2D", 1), solver="ants", backend="c", **options)


@pytest.mark.parametrize(
    ("solver", "options"),
    [
        ("annealing", {"schedule": "linear", "iterations": 2}),
        ("annealing", {"schedule": [1.0]}),
        ("annealing", {"trials": 3, "temperature": 4.0, "moves": "2-opt", "iterations": 2}),
        ("ants", {"variant": "rank", "iterations": 2}),
        ("ants", {"beta": 1, "iterations": 2, "moves": "2-opt", "start": "random"}),
        ("ils", {"temperature": 4.0, "iterations": 2}),
        ("ils", {"moves": "or-opt", "iterations": 2}),
    ],
)
def test_the_solver_is_the_one_that_the_arguments_concern(solver: str, options: dict[str, Any]) -> None:
    assert pytsp.solve(scattered(9, "EUC_2D", 1), backend="c", climbers=2, **options).solver == solver


def test_arguments_for_both_comparators_are_refused() -> None:
    with pytest.raises(ValueError, match="trials=3 is for solver='annealing' and beta=2 for solver='ants'"):
        pytsp.solve(scattered(9, "EUC_2D", 1), trials=3, beta=2)
    with pytest.raises(
        ValueError, match="moves='2-opt' has no effect with solver='eax'; it is for solver='annealing' or"
    ):
        pytsp.solve(scattered(9, "EUC_2D", 1), moves="2-opt")


@pytest.mark.parametrize("after", [False, True])
def test_control_c_at_any_call_leaves_a_tour(backend: Backend, after: bool) -> None:
    instance = scattered(30, "EUC_2D", 1)
    lists = neighbour_lists(instance, 10)
    assert_control_c_at_any_call_leaves_a_tour(
        lambda: solved(instance, backend, start="random", iterations=20, neighbours=lists),
        [*range(2, 40, 2), 10**9],
        after,
    )


def test_errors_in_callbacks_and_wrong_lengths_come_through(backend: Backend, monkeypatch: pytest.MonkeyPatch) -> None:
    instance = scattered(20, "EUC_2D", 1)
    assert_errors_in_callbacks_come_through(lambda **callback: solved(instance, backend, iterations=5, **callback))
    assert_wrong_lengths_are_found_out(
        monkeypatch, "colonies_lengths", lambda: solved(instance, backend, start="random", iterations=5)
    )
