"""Iterated local search: any cut, backend and range gives one result; starts, exchanges, limits and refusals."""

from __future__ import annotations

import importlib
import itertools
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import strategies
from cities import uniform
from clocks import KernelClock
from emulated import skip_where_slow
from faults import assert_errors_in_callbacks_come_through, assert_wrong_lengths_are_found_out
from hypothesis import example, given, settings
from hypothesis import strategies as st
from interruptions import Interruption
from numpy.typing import NDArray
from paths import tsplib_file
from results import (
    assert_best_climber,
    assert_improves,
    assert_is_tour,
    assert_kernels_least_length,
    assert_same,
    solving,
)
from tasks import task_of

import pytsp
from pytsp import Improvement, Instance, Progress, Result
from pytsp.backends import Backend, open_backend
from pytsp.cli.commands import main
from pytsp.datasets import registry as datasets
from pytsp.exceptions import InstanceError, TourError
from pytsp.neighbours.lists import neighbour_lists
from pytsp.problem.kernel_input import form_of
from pytsp.solvers import policy
from pytsp.solvers.common import pacing as _pacing
from pytsp.solvers.common.placement import default_climbers
from pytsp.solvers.common.starting_tours import starting_tours
from pytsp.solvers.ils.population import exchanged
from pytsp.solvers.ils.solver import default_iterations
from pytsp.solvers.options import shared as _shared
from pytsp.solvers.options.ils import ACCEPTANCES, ILS, KICKS
from pytsp.starts.construct import STARTS, start_tour

# Options with which a climber does not depend on the others.
RANGED = ({}, {"pivot": "random-k", "draws": 9}, {"restart": 7}, {"restart": 7, "pivot": "random-k", "draws": 9})
population_module = importlib.import_module("pytsp.solvers.ils.population")
GPU_CLIMBERS, GPU_AMOUNTS = policy.GPU_CLIMBERS, policy.AMOUNTS["gpu"]
solved = solving("ils", climbers=3, iterations=30)


def starts_of(instance: Instance, climbers: int, seed: int = 0, **options: Any) -> NDArray[np.int32]:
    """The tours from which the climbers start."""
    return starting_tours(task_of(instance, ILS(**options), seed=seed, kernels=open_backend("c")), climbers)


@pytest.mark.parametrize("start", [None, "greedy", "nearest-neighbour", "random"])
@pytest.mark.parametrize("asymmetric", [False, True])
def test_lists_that_are_there_make_no_other_starting_tours(start: str | None, asymmetric: bool) -> None:
    ways = np.random.default_rng(5).integers(1, 50, (90, 90))
    instance = Instance.from_matrix(ways if asymmetric else ways + ways.T, asymmetric=asymmetric)
    task = task_of(instance, ILS(start=start), seed=3, kernels=open_backend("c"))  # type: ignore[arg-type]
    assert np.array_equal(starting_tours(task, 5, neighbour_lists(instance, 10)), starting_tours(task, 5))


def assert_whole(result: Result, *, is_optimal: bool = True) -> None:
    """What holds of every result with whole-number lengths, however it ended; by draws tours need not be optima."""
    assert_is_tour(result)
    assert_best_climber(result)
    assert result.done.tolist() == [is_optimal and result.stop_reason != "interrupted"] * result.climbers
    assert (result.solver, result.k, result.moves, len(result.passes)) == ("ils", None, None, 0)
    assert assert_improves(result.history)[-1] == result.length


@contextmanager
def cut(call_seconds: float, growth: float) -> Iterator[None]:
    """Other sizes of calls."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("CALL_SECONDS", "SHORT_CALL_SECONDS"):
            patch.setattr(_pacing, name, call_seconds)
        patch.setattr(_pacing, "MOST_GROWTH", growth)
        yield


# What is found


@given(instance=strategies.instances(max_n=10), seed=st.integers(0, 2**64 - 1), climbers=st.integers(1, 4))
@example(instance=Instance.from_coordinates([[0, 0]], metric="EUC_2D"), seed=0, climbers=1)
@example(
    instance=Instance.from_coordinates([[0, 0], [0, 0], [7, 7], [0, 0], [7, 7]], metric="EUC_2D"), seed=0, climbers=2
)
def test_every_result_is_a_tour_of_that_length(backend: Backend, instance: Instance, seed: int, climbers: int) -> None:
    result = solved(instance, backend, seed=seed, climbers=climbers)
    assert_whole(result)
    assert (result.stop_reason, result.iterations, result.seed) == ("finished", 30, seed)
    assert result.climbers == climbers
    assert result.length <= instance.tour_length(starts_of(instance, 1, seed)[0])


@given(instance=strategies.instances(min_n=2, max_n=7))
def test_few_cities_are_solved_to_optimality(backend: Backend, instance: Instance) -> None:
    shortest = min(instance.tour_length((0, *rest)) for rest in itertools.permutations(range(1, instance.n)))
    assert solved(instance, backend, iterations=500).length == shortest


@pytest.mark.parametrize("name", ["burma14", "ulysses22", "bays29", "swiss42", "att48", "gr48", "berlin52", "kroA100"])
def test_small_instances_of_tsplib_are_solved_to_optimality_without_options(backend: Backend, name: str) -> None:
    skip_where_slow(backend)
    result = pytsp.solve(pytsp.read(tsplib_file(f"{name}.tsp")), backend=backend.name)
    assert (result.gap, result.solver, result.stop_reason) == (0, "eax", "finished")


@given(instance=strategies.float_instances(min_n=1, max_n=12), seed=st.integers(0, 99))
@example(instance=Instance.from_matrix([[0, 1e-320, 5e-324], [1e-320, 0, 1e-320], [5e-324, 1e-320, 0]]), seed=0)
@example(instance=Instance.from_coordinates([[0, 0], [0, 1e149], [1e148, 0]], metric="euclidean"), seed=0)
@example(instance=Instance.from_matrix(np.zeros((6, 6))), seed=0)
def test_floating_point_lengths_are_the_instances_own(backend: Backend, instance: Instance, seed: int) -> None:
    result = solved(instance, backend, seed=seed)
    assert isinstance(result.length, float)
    assert result.length == instance.tour_length(result.tour)
    assert result.lengths.dtype == np.float64
    assert_kernels_least_length(result)
    assert result.history[-1].length == pytest.approx(result.length, rel=1e-6)


# Cuts, ranges, threads


@settings(max_examples=40)
@given(
    n=st.sampled_from((1, 2, 3, 4, 5, 6, 7, 30)),
    call_seconds=st.sampled_from((1e-12, 1e-4, 1e3)),
    growth=st.sampled_from((1.0, 3.0)),
    options=st.fixed_dictionaries(
        dict(
            iterations=st.sampled_from((0, 1, 17)),
            exchange=st.sampled_from((None, 1, 5)),
            restart=st.sampled_from((None, 1, 4)),
            merge=st.booleans(),
            temperature=st.sampled_from((None, 0.0, 20.0)),
            kick=st.sampled_from(KICKS),
            acceptance=st.sampled_from(ACCEPTANCES),
            moves=st.sampled_from(("3-opt", "or-opt")),
            pivot=st.sampled_from(("first", "best", "random-k")),
        )
    ).filter(lambda options: options["acceptance"] != "shorter" or not options["temperature"]),
)
def test_any_cut_gives_the_same_result(
    backend: Backend, n: int, call_seconds: float, growth: float, options: dict[str, Any]
) -> None:
    expected = solved(uniform(n), backend, seed=9, **options)
    seen: list[Progress] = []
    with cut(call_seconds, growth):
        result = solved(uniform(n), backend, seed=9, progress=seen.append, **options)
    assert_same(result, expected)
    assert_whole(result, is_optimal=options["pivot"] != "random-k")
    done = [each.iteration for each in seen]
    assert done == sorted(done) and done[-1] == options["iterations"]
    assert {each.iterations for each in seen} == {options["iterations"]}
    assert all(each.climbers == 3 and each.climbers_done == 0 for each in seen)


@pytest.mark.parametrize(
    "rest",
    [
        {},
        {"exchange": 10},
        {"exchange": 10, "pivot": "random-k"},
        {"restart": 20},
        {"exchange": 15, "restart": 10, "temperature": 0},
        {"merge": True},
        {"merge": True, "restart": 20, "exchange": 15},
    ],
)
@pytest.mark.parametrize("threads", [1, 2, 3, 7])
def test_backends_and_threads_change_nothing(threads: int, rest: dict[str, Any]) -> None:
    options: dict[str, Any] = dict(solver="ils", climbers=5, iterations=100, seed=2, **rest)
    expected = pytsp.solve(uniform(60), **options, backend="c")
    assert_same(pytsp.solve(uniform(60), **options, backend="multicore", threads=threads), expected)


@given(cuts=st.lists(st.integers(0, 70), max_size=3), options=st.sampled_from(RANGED))
@settings(max_examples=20)
def test_ranges_of_climbers_make_up_the_whole(backend: Backend, cuts: list[int], options: dict[str, Any]) -> None:
    whole = solved(uniform(12), backend, climbers=70, **options)
    bounds = sorted({0, 70, *cuts})
    parts = [solved(uniform(12), backend, climbers=b - a, first=a, **options) for a, b in itertools.pairwise(bounds)]
    assert np.concatenate([part.lengths for part in parts]).tolist() == whole.lengths.tolist()
    best = min(parts, key=lambda part: part.length)
    assert (best.length, best.climber) == (whole.length, whole.climber)
    assert np.array_equal(best.tour, whole.tour)


# Kicks and acceptance


def kicked(backend: Backend, n: int, seed: int, **options: Any) -> NDArray[np.int32]:
    """The tour of one climber after kicks that nothing repairs, where all tours are as long as 0, 1, …, n - 1."""
    instance = Instance.from_matrix(np.ones((n, n), np.int64) - np.eye(n, dtype=np.int64))
    lists: dict[str, Any] = dict(neighbours=np.empty((n, 0), np.int32), initial_tour=range(n))
    options = {"climbers": 1, "moves": "3-opt", "iterations": 1, **lists, **options}
    return pytsp.solve(instance, solver="ils", backend=backend.name, seed=seed, **options).tour


def test_kicks_anywhere_cut_tours_farther_apart_than_segments(backend: Backend) -> None:
    def spread(kick: str, seed: int) -> int:
        tour = kicked(backend, 600, seed, kick=kick, temperature=0)
        edges = {frozenset(edge) for edge in zip(tour.tolist(), np.roll(tour, -1).tolist(), strict=True)}
        cuts = [city for city in range(600) if frozenset((city, (city + 1) % 600)) not in edges]
        assert len(cuts) == 4
        return 600 - int(np.diff([*cuts, cuts[0] + 600]).max())

    near, far = ([spread(kick, seed) for seed in range(8)] for kick in ("segments", "anywhere"))
    assert max(near) <= 150 < max(far)


def test_only_shorter_tours_are_accepted_where_that_is_asked_for(backend: Backend) -> None:
    start = list(range(50))
    assert kicked(backend, 50, 3, iterations=20, acceptance="shorter").tolist() == start
    assert kicked(backend, 50, 3, iterations=20, temperature=0).tolist() != start
    # Where kicks are repaired it goes on to shorter tours, and has no longer one.
    result = solved(uniform(60), backend, acceptance="shorter", iterations=200)
    first = solved(uniform(60), backend, acceptance="shorter", iterations=0)
    assert_whole(result)
    assert (result.lengths <= first.lengths).all() and result.lengths.sum() < first.lengths.sum()


# Draws


@given(instance=strategies.instances(), seed=st.integers(0, 99), draws=st.integers(1, 50))
def test_moves_that_are_drawn_never_lengthen_a_tour(
    backend: Backend, instance: Instance, seed: int, draws: int
) -> None:
    result = solved(instance, backend, seed=seed, pivot="random-k", draws=draws, temperature=0)
    assert_whole(result, is_optimal=False)
    begun = solved(instance, backend, seed=seed, pivot="random-k", draws=draws, temperature=0, iterations=0)
    assert_whole(begun, is_optimal=False)
    # Cities in one place are solved as one, from other tours. Which moves the last descent draws depends on the
    # iterations before it, so that more of them may end with a longer tour.
    if (instance.distance_matrix() + np.eye(instance.n) > 0).all():
        starts = starts_of(instance, 3, seed, pivot="random-k", draws=draws)
        for lengths in (result.lengths, begun.lengths):
            assert all(length <= instance.tour_length(tour) for length, tour in zip(lengths, starts, strict=True))


def test_more_draws_find_shorter_tours(backend: Backend) -> None:
    few, many = (solved(uniform(200), backend, pivot="random-k", draws=draws) for draws in (3, 300))
    assert many.lengths.max() < few.lengths.min()
    assert_same(
        solved(uniform(200), backend, pivot="random-k"), solved(uniform(200), backend, pivot="random-k", draws=200)
    )


def test_the_first_call_is_as_short_however_many_moves_are_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    counts: list[int] = []
    call = Backend.call

    def record(self: Backend, entry: str, *arguments: Any) -> Any:
        if entry == "grid_ils":
            counts.append(self.fields(arguments[3])["iterations"])
        return call(self, entry, *arguments)

    monkeypatch.setattr(Backend, "call", record)
    for draws in (1, 2**31 - 1):
        counts.clear()
        # Few draws are made: without neighbours there is nothing to draw.
        options: dict[str, Any] = dict(pivot="random-k", draws=draws, neighbours=np.empty((9, 0), np.int32))
        pytsp.solve(uniform(9), backend="c", climbers=1, iterations=99, target=10**9, **options)
        assert counts == [1]


def test_draws_reach_the_solver_from_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    options: dict[str, Any] = dict(pivot="random-k", draws=7, iterations=20, climbers=2)
    words = [word for name, value in options.items() for word in (f"--{name}", str(value))]
    assert main(["solve", "europe", "--backend", "c", *words, "--json"]) == 0
    reported = json.loads(capsys.readouterr().out)
    expected = pytsp.solve(pytsp.read(datasets.find("europe")), backend="c", **options)
    assert (reported["tour"], reported["solver"], reported["climbers_done"]) == (expected.tour.tolist(), "ils", 0)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"draws": 9}, "draws=9 has no effect with pivot='first'; it is for pivot='random-k'"),
        ({"draws": 9, "pivot": "best"}, "draws=9 has no effect with pivot='best'"),
        ({"draws": 0, "pivot": "random-k"}, "draws must be a whole number from 1 to 2147483647; it is 0"),
        ({"draws": 2**31, "pivot": "random-k"}, "draws must be a whole number from 1"),
        ({"draws": 9, "solver": "eax"}, "draws=9 has no effect with solver='eax'; it is for solver='ils'"),
        (
            {"pivot": "random-k", "solver": "eax"},
            "pivot='random-k' has no effect with solver='eax'; it is for solver='ils'",
        ),
        ({"pivot": "random-k", "solver": "restarts"}, "pivot='random-k' has no effect with solver='restarts'"),
        ({"pivot": "random-k", "k": 2}, "pivot='random-k' is for solver='ils' and k=2 for solver='restarts'"),
    ],
)
def test_draws_without_sense_are_refused(options: Any, words: str) -> None:
    with pytest.raises(ValueError, match=re.escape(words)):
        pytsp.solve(uniform(9), backend="c", **options)


def test_draws_are_for_iterated_local_search() -> None:
    assert pytsp.solve(uniform(9), backend="c", climbers=1, pivot="random-k", target=10**9).solver == "ils"


# Starts and lists


@pytest.mark.parametrize("start", STARTS)
@pytest.mark.parametrize("n", [1, 2, 5, 63, 64, 200])
def test_a_climbers_start_is_a_function_of_its_number(start: str, n: int) -> None:
    whole = starts_of(uniform(n), 70, 5, start=start)
    assert whole.shape == (70, n) and whole.dtype == np.int32
    assert all(pytsp.is_tour(tour, n) for tour in whole)
    for first, climbers in ((0, 1), (1, 1), (10, 60), (63, 2), (64, 6)):
        part = starts_of(uniform(n), climbers, 5, start=start, first=first)
        assert np.array_equal(part, whole[first : first + climbers])
    assert np.array_equal(whole[0], start_tour(uniform(n), start, seed=5))  # type: ignore[arg-type]
    if n == 200:
        assert len(np.unique(whole[1:], axis=0)) == 69


def test_the_first_climber_starts_along_a_curve_or_without_coordinates_greedily() -> None:
    cities = uniform(50)
    matrix = Instance.from_matrix(form_of(cities).whole.distances(*np.ix_(range(50), range(50))))
    for instance, start in ((cities, "space-filling-curve"), (matrix, "greedy")):
        expected = start_tour(instance, start)  # type: ignore[arg-type]
        assert np.array_equal(starts_of(instance, 2)[0], expected)


@pytest.mark.parametrize("neighbours", [1, 4, 9])
def test_the_default_temperature_is_that_of_the_two_nearest(backend: Backend, neighbours: int) -> None:
    instance = uniform(60)
    lists = neighbour_lists(instance, neighbours)
    share = 1.2 * np.mean([[instance.distance(a, b) for b in near[:2]] for a, near in enumerate(lists.tolist())])
    expected = solved(instance, backend, neighbours=lists, temperature=float(share), iterations=300)
    assert_same(solved(instance, backend, neighbours=lists, iterations=300), expected)


@given(tour=strategies.tours(9))
def test_all_climbers_start_from_the_initial_tour(backend: Backend, tour: NDArray[np.int32]) -> None:
    starts = starting_tours(task_of(uniform(9), ILS(), initial_tour=tour.tolist()), 3)
    assert starts.tolist() == [tour.tolist()] * 3
    result = solved(uniform(9), backend, initial_tour=tour, iterations=0)
    assert result.history[0].length == uniform(9).tour_length(tour)
    assert np.all(result.lengths == result.length)


@given(data=st.data())
def test_listed_neighbours_may_stand_in_any_order(backend: Backend, data: st.DataObject) -> None:
    instance = uniform(20)
    lists = neighbour_lists(instance, 6)
    order = data.draw(st.permutations(range(6)))
    # Without ties the order of distance is unique.
    distances = instance.distances(np.arange(20)[:, None], lists)
    results = [solved(instance, backend, neighbours=each) for each in (lists, lists[:, order])]
    if all(len(set(row)) == 6 for row in distances.tolist()):
        assert_same(*results)
    assert_same(results[0], solved(instance, backend, neighbours=6, quadrants=False))


def test_any_number_of_neighbours_is_enough_for_a_tour(backend: Backend) -> None:
    for neighbours in (1, 2, 19, 1000, np.empty((20, 0), np.int32)):
        assert_whole(solved(uniform(20), backend, neighbours=neighbours))


# Exchanges


@given(lengths=st.lists(st.integers(0, 9), min_size=2, max_size=30))
def test_an_exchange_gives_the_longest_the_shortest(lengths: list[int]) -> None:
    sources, targets = exchanged(np.array(lengths, dtype=np.int64))
    assert len(sources) == len(targets) == max(1, len(lengths) // 4)
    assert not set(sources.tolist()) & set(targets.tolist())
    ranks = sorted(range(len(lengths)), key=lambda c: (lengths[c], c))
    assert sources.tolist() == ranks[: len(sources)]
    assert targets.tolist() == ranks[::-1][: len(targets)]


@pytest.mark.parametrize(("iterations", "exchange", "times"), [(20, 5, 3), (21, 5, 4), (4, 5, 0), (5, 5, 0), (3, 1, 2)])
def test_exchanges_come_after_so_many_iterations(
    backend: Backend, iterations: int, exchange: int, times: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[int] = []
    at: list[int] = []
    call = Backend.call

    def record(self: Backend, entry: str, *arguments: Any) -> Any:
        if entry in ("grid_ils", "grid_ils_thread", "grid_ils_block"):
            plan = self.fields(arguments[3])
            assert plan["from"] == sum(made)
            made.append(plan["iterations"])
        if entry == "population_copy":
            at.append(sum(made))
        return call(self, entry, *arguments)

    monkeypatch.setattr(Backend, "call", record)
    solved(uniform(20), backend, iterations=iterations, exchange=exchange, climbers=4)
    assert at == [exchange * (each + 1) for each in range(times)]
    assert sum(made) == iterations
    at.clear()
    made.clear()
    solved(uniform(20), backend, iterations=iterations, exchange=exchange, climbers=1)
    assert not at


# Ends


def test_a_time_limit_ends_a_solve_with_the_best_so_far(backend: Backend, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = KernelClock(monkeypatch)
    # By lists that take no other kernels.
    lists = neighbour_lists(uniform(200), 10)
    result = solved(uniform(200), backend, iterations=None, time_limit=2.0, neighbours=lists)
    assert result.stop_reason == "time limit"
    assert clock.begun("ils") > 1 and not clock.begun("ils", "polish", after=2.0)
    assert result.iterations is not None and result.iterations > 0
    assert_whole(result)


def test_a_time_limit_that_is_over_at_once_still_gives_a_local_optimum(backend: Backend) -> None:
    result = solved(uniform(50), backend, iterations=1000, time_limit=1e-9)
    assert (result.stop_reason, result.iterations) == ("time limit", 1)
    assert_whole(result)


def test_a_solve_that_finishes_in_the_last_call_is_finished(backend: Backend) -> None:
    assert solved(uniform(5), backend, iterations=1, time_limit=1e-9).stop_reason == "finished"
    assert solved(uniform(4), backend, iterations=None, time_limit=100).stop_reason == "finished"


def test_a_target_ends_a_solve(backend: Backend) -> None:
    with cut(1e-12, 1):
        best = solved(uniform(300), backend, iterations=300)
        assert len(best.history) > 3
        target = best.history[-2].length
        result = solved(uniform(300), backend, iterations=300, target=target)
    assert (result.stop_reason, result.iterations) == ("target", best.history[-2].iteration)
    assert result.length <= target
    assert_whole(result)
    assert solved(uniform(9), backend, target=0).stop_reason == "finished"


def test_improvements_are_told_as_they_come(backend: Backend) -> None:
    reported: list[Improvement] = []
    with cut(1e-12, 1):
        result = solved(uniform(200), backend, iterations=200, moves="3-opt", on_improvement=reported.append)
    assert result.history == tuple(reported)
    assert len(reported) > 2
    start = min(uniform(200).tour_length(tour) for tour in starts_of(uniform(200), 3))
    assert reported[0][1:] == (0, start)
    assert_whole(result)


@given(at=st.integers(0, 60), after=st.booleans())
@settings(max_examples=50)
@example(at=1, after=True)
@example(at=2, after=True)
def test_an_interruption_inside_any_call_leaves_the_result_whole(backend: Backend, at: int, after: bool) -> None:
    interruption, lists = Interruption(at, after), neighbour_lists(uniform(20), 10)
    with cut(1e-12, 1), pytest.MonkeyPatch.context() as patch:
        patch.setattr(Backend, "call", interruption.call)
        try:
            result = solved(uniform(20), backend, exchange=3, neighbours=lists)
        except KeyboardInterrupt:
            # The load and the start: from then on there is a tour.
            assert at < 2
            return
    assert result.stop_reason == "interrupted"
    assert_whole(result)


def test_errors_in_callbacks_are_the_callers_own(backend: Backend) -> None:
    assert_errors_in_callbacks_come_through(lambda **callback: solved(uniform(10), backend, **callback))


def test_a_wrong_length_of_a_kernel_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    assert_wrong_lengths_are_found_out(
        monkeypatch, "population_lengths", lambda: pytsp.solve(uniform(9), iterations=5, backend="c")
    )


# Defaults and refusals


@pytest.mark.parametrize(
    ("moves", "is_directed", "meant", "other"),
    [("lk", False, "segments", "mixed"), ("lk", True, "mixed", "segments"), ("3-opt", False, "mixed", "segments")],
)
def test_where_a_tour_is_kicked_by_default(
    moves: str, is_directed: bool, meant: str, other: str, backend: Backend
) -> None:
    matrix = np.random.default_rng(3).integers(1, 1000, (60, 60))
    instance = pytsp.Instance.from_matrix(matrix, asymmetric=True) if is_directed else uniform(60)
    rest: dict[str, Any] = {"moves": moves, "iterations": 30, "climbers": 2, "seed": 1, "neighbours": 6}
    kicks: tuple[dict[str, Any], ...] = ({}, {"kick": meant}, {"kick": other})
    default, same, another = (solved(instance, backend, **rest, **kick) for kick in kicks)
    assert default.steps.tolist() == same.steps.tolist() != another.steps.tolist()
    assert default.tour.tolist() == same.tour.tolist()


def test_the_names_of_starts_are_those_that_can_be_made() -> None:
    assert _shared.STARTS == STARTS


def test_the_default_budget_ends_every_solve(monkeypatch: pytest.MonkeyPatch) -> None:
    # The emulated GPU, which may still be open, has fewer.
    monkeypatch.setattr(policy, "GPU_CLIMBERS", GPU_CLIMBERS)
    monkeypatch.setitem(policy.AMOUNTS, "gpu", GPU_AMOUNTS)
    one: Any = SimpleNamespace(threads=1, device=None)
    two: Any = SimpleNamespace(threads=2, device=None)
    gpu: Any = SimpleNamespace(threads=None, device=object())
    assert [default_climbers(1000, kernels) for kernels in (one, two, gpu)] == [1, 2, 4096]
    assert default_climbers(10**6, gpu) == 67
    sizes = (1, 4, 5, 100, 200, 201, 10_000, 10_001, 10**6)
    iterations = [0, 0, 2_500, 50_000, 100_000, 100_000, 100_000, 100_010, 10**7]
    assert [default_iterations(n, 1, one) for n in sizes] == iterations
    shares = [default_iterations(1000, climbers, two) for climbers in (1, 2, 4, 300, 10_000)]
    assert shares == [100_000, 100_000, 50_000, 1000, 1000]
    assert default_iterations(1000, 4096, gpu) == 3_000


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"iterations": -1}, ValueError, "iterations must be a whole number from 0"),
        ({"iterations": 1.5}, TypeError, "iterations must be"),
        ({"exchange": 0}, ValueError, "exchange must be a whole number from 1"),
        ({"restart": 0}, ValueError, "restart must be a whole number from 1"),
        ({"start": "there"}, ValueError, "start 'there' is not known; known: random, nearest-neighbour"),
        ({"moves": "4-opt"}, ValueError, "moves '4-opt' is not known; known: or-opt, 3-opt"),
        ({"pivot": "last"}, ValueError, "pivot 'last' is not known"),
        ({"kick": "hard"}, ValueError, "kick 'hard' is not known"),
        ({"acceptance": "any"}, ValueError, "acceptance 'any' is not known; known: annealing, shorter"),
        (
            {"acceptance": "shorter", "temperature": 2},
            ValueError,
            "temperature=2 has no effect with acceptance='shorter'",
        ),
        ({"temperature": -0.5}, ValueError, "temperature must be a length, at least 0; it is -0.5"),
        ({"temperature": float("nan")}, ValueError, "temperature must be"),
        ({"temperature": 1e13}, ValueError, r"temperature must be at most 1e\+12 here; it is 10000000000000.0"),
        ({"neighbours": 0}, ValueError, "neighbours must be a whole number from 1"),
        ({"neighbours": [[0], [0], [0], [0], [0]]}, ValueError, "neighbour 0 of city 0 is the city itself"),
        ({"neighbours": [[1]]}, ValueError, r"neighbours must be integers of shape \(5, k\)"),
        ({"neighbours": [[1], [0], [0], [0], [0]], "quadrants": True}, ValueError, "quadrants=True has no effect with"),
        ({"initial_tour": [0, 1, 2, 3, 4, 0]}, TourError, r"must have shape \(5,\)"),
        ({"initial_tour": [0, 1, 2, 3, 3]}, TourError, "visits city 3 2 times and city 4 never"),
        ({"initial_tour": [0, 1, 2, 3, 4], "start": "random"}, ValueError, "start='random' says otherwise"),
    ],
)
def test_arguments_out_of_range_are_refused(options: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        pytsp.solve(uniform(5), solver="ils", backend="c", **options)


def test_what_needs_coordinates_is_refused_where_there_are_none() -> None:
    instance = Instance.from_matrix(uniform(9).distance_matrix())
    assert_whole(pytsp.solve(instance, backend="c", iterations=9))
    for options in ({"start": "space-filling-curve"}, {"quadrants": True}):
        with pytest.raises(ValueError, match="need"):
            pytsp.solve(instance, backend="c", **options)  # type: ignore[arg-type]


def test_instances_that_kernels_cannot_hold_are_refused() -> None:
    with pytest.raises(InstanceError, match="1073741823: divide"):
        pytsp.solve(Instance.from_matrix([[0, 2**30], [2**30, 0]], name="far"), solver="ils")


def test_chains_end_below_3_opt_and_begin_on_the_greedy_tour(backend: Backend) -> None:
    chains, single = (solved(uniform(500), backend, climbers=1, iterations=0, moves=moves) for moves in ("lk", "3-opt"))
    assert chains.length < single.length
    assert np.array_equal(chains.tour, solved(uniform(500), backend, climbers=1, iterations=0, start="greedy").tour)


@pytest.mark.parametrize("solver", ["ils", "eax"])
def test_chains_have_no_pivot_of_their_own(solver: str) -> None:
    with pytest.raises(ValueError, match="moves='lk' has no effect with pivot='best'"):
        pytsp.solve(uniform(9), solver=solver, moves="lk", pivot="best")
