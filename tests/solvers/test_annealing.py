"""Simulated annealing as a solver: schedules, limits, what a result tells, what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import oracle
import pytest
from cities import scattered
from clocks import KernelClock
from faults import assert_errors_in_callbacks_come_through, assert_wrong_lengths_are_found_out
from hypothesis import given
from hypothesis import strategies as st
from interruptions import assert_control_c_at_any_call_leaves_a_tour
from kernel_calls import distances_of
from paths import tsplib_file
from results import solving

import pytsp
from pytsp import Improvement, Instance, Progress
from pytsp.backends import Backend
from pytsp.neighbours.lists import neighbour_lists
from pytsp.problem.kernel_input import form_of
from pytsp.solvers.annealing import COLD, HOT, Temperatures
from pytsp.solvers.common import stages

PART = "comparators"
solved = solving("annealing")


def reported_temperatures(instance: Instance, backend: Backend, **options: Any) -> tuple[list[float], list[int]]:
    """The temperatures that the kernels are told in a solve, and the numbers of the iterations that begin calls."""
    reported: list[float] = []
    starts: list[int] = []
    call = Backend.call

    def record(self: Backend, entry: str, *arguments: Any) -> Any:
        if entry.endswith("_anneal"):
            reported.extend(arguments[-1].tolist())
            starts.append(self.fields(arguments[3])["from"])
        return call(self, entry, *arguments)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Backend, "call", record)
        solved(instance, backend, **options)
    return reported, starts


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 6, 30])
@pytest.mark.parametrize("metric", ["EUC_2D", "EXPLICIT", "EUCLIDEAN"])
def test_tours_are_tours_of_their_lengths(backend: Backend, n: int, metric: str) -> None:
    instance = scattered(n, "EUC_2D", 1) if metric == "EUCLIDEAN" else scattered(n, metric, 1)
    if metric == "EUCLIDEAN":
        assert instance.coordinates is not None
        instance = Instance.from_coordinates(instance.coordinates / 7, metric="EUCLIDEAN")
    result = solved(instance, backend, climbers=3, iterations=50)
    assert pytsp.is_tour(result.tour, n)
    assert result.length == instance.tour_length(result.tour)
    assert result.lengths.min() == pytest.approx(result.length)
    assert (result.solver, result.climbers, result.iterations) == ("annealing", 3, 50)
    assert not result.done.any()
    if n in (5, 6):
        assert result.length == pytest.approx(shortest(instance))


def shortest(instance: Instance) -> float:
    """The length of a shortest tour, by all of them."""
    from itertools import permutations  # noqa: PLC0415

    return min(float(instance.tour_length([0, *rest])) for rest in permutations(range(1, instance.n)))


def test_a_chain_does_not_know_the_others_nor_the_calls(backend: Backend) -> None:
    instance = scattered(40, "EUC_2D", 1)
    options: dict[str, Any] = {"iterations": 400, "seed": 5, "start": "random"}
    whole = solved(instance, backend, climbers=4, **options)
    assert whole.lengths.tolist() == solved(instance, backend, climbers=4, **options).lengths.tolist()
    parts = [solved(instance, backend, climbers=2, first=first, **options) for first in (0, 2)]
    assert [length for part in parts for length in part.lengths.tolist()] == whole.lengths.tolist()
    assert min(parts, key=lambda part: part.length).tour.tolist() == whole.tour.tolist()
    assert whole.climber == int(whole.lengths.argmin())


@given(st.integers(1, 60), st.floats(0.01, 1e6), st.floats(0, 1), st.lists(st.integers(0, 59), max_size=3))
def test_temperatures_do_not_depend_on_the_calls(count: int, hot: float, share: float, cuts: list[int]) -> None:
    for linear in (False, True):
        temperatures = Temperatures(hot, hot * share, count, linear=linear)
        whole = temperatures.of(0, count)
        bounds = sorted({0, count, *(cut for cut in cuts if cut < count)})
        parts = [temperatures.of(a, b - a) for a, b in zip(bounds, bounds[1:], strict=False)]
        assert np.concatenate(parts).tolist() == whole.tolist()
        assert (whole >= 0).all() and (np.diff(whole) <= 0).all()
        assert whole[0] == hot


def test_a_geometric_schedule_ends_at_its_last_temperature(backend: Backend) -> None:
    instance = scattered(40, "EUC_2D", 1)
    reported, starts = reported_temperatures(instance, backend, iterations=200)
    near = np.sort(np.array(distances_of(form_of(instance))), axis=1)[:, 1:3].mean()
    assert reported == pytest.approx(near * HOT * (COLD / HOT) ** (np.arange(200) / 199))
    assert starts == sorted({*starts}) and starts[0] == 0
    reported, _ = reported_temperatures(instance, backend, iterations=200, temperature=900)
    assert (reported[0], reported[-1]) == (900, pytest.approx(COLD * near))
    reported, _ = reported_temperatures(instance, backend, iterations=4, temperature=80, schedule="linear")
    assert reported == [80, 60, 40, 20]


def test_a_factor_and_given_temperatures_are_what_it_cools_by(backend: Backend) -> None:
    instance = scattered(40, "EUC_2D", 1)
    reported, _ = reported_temperatures(instance, backend, iterations=5, temperature=64, cooling=0.5)
    assert reported == [64, 32, 16, 8, 4]
    # Until the default's last temperature is reached.
    reported, _ = reported_temperatures(instance, backend, temperature=64, cooling=0.5)
    near = np.sort(np.array(distances_of(form_of(instance))), axis=1)[:, 1:3].mean()
    assert reported[-1] <= COLD * near < reported[-2]
    reported, _ = reported_temperatures(instance, backend, schedule=[9.0, 1.0, 4.0])
    assert reported == [9, 1, 4]


def test_scaled_distances_take_scaled_temperatures(backend: Backend) -> None:
    points = np.random.default_rng(0).uniform(0, 1, (30, 2))
    near = Instance.from_coordinates(points, metric="EUCLIDEAN")
    form = form_of(near)
    reported, _ = reported_temperatures(near, backend, schedule=[0.25])
    assert reported == [0.25 / form.unit]


def test_time_cools_where_iterations_have_no_end(backend: Backend, monkeypatch: pytest.MonkeyPatch) -> None:
    KernelClock(monkeypatch)
    instance = scattered(60, "EUC_2D", 1)
    reported, _ = reported_temperatures(instance, backend, time_limit=12.0)
    near = np.sort(np.array(distances_of(form_of(instance))), axis=1)[:, 1:3].mean()
    assert HOT * near / 2 < reported[0] <= HOT * near
    assert COLD * near <= reported[-1] < HOT * near / 4
    reported, _ = reported_temperatures(instance, backend, time_limit=9.0, schedule="linear", temperature=100)
    assert 50 < reported[0] <= 100
    assert 0 <= reported[-1] < 30


def test_a_call_has_so_many_iterations_at_most(backend: Backend, monkeypatch: pytest.MonkeyPatch) -> None:
    whole, starts = reported_temperatures(scattered(8, "EUC_2D", 0), backend, iterations=40)
    monkeypatch.setattr(stages, "MOST_ITERATIONS", 7)
    cut, more = reported_temperatures(scattered(8, "EUC_2D", 0), backend, iterations=40)
    assert cut == whole and max(np.diff([*more, 40])) == 7 and len(more) >= len(starts)


def test_trials_are_what_an_iteration_tries(backend: Backend) -> None:
    instance = scattered(60, "EUC_2D", 1)
    # At one temperature nothing tells iterations from trials.
    options: dict[str, Any] = {"climbers": 2, "start": "random"}
    many = solved(instance, backend, schedule=[20.0] * 30, trials=4, **options)
    few = solved(instance, backend, schedule=[20.0] * 4, trials=30, **options)
    assert many.tour.tolist() == few.tour.tolist()
    assert many.steps.tolist() == few.steps.tolist()
    assert solved(instance, backend, schedule=[20.0] * 2, **options).steps.tolist() == few.steps.tolist()


@pytest.mark.parametrize("moves", [None, "2-opt", "or-opt"])
@pytest.mark.parametrize("pairs", ["neighbours", "random"])
def test_every_kind_of_trial_improves(backend: Backend, moves: Any, pairs: Any) -> None:
    instance = scattered(60, "EUC_2D", 1)
    result = solved(instance, backend, moves=moves, pairs=pairs, start="random", iterations=300)
    assert result.length < 0.5 * instance.tour_length(pytsp.random_tours(60, 1, 0)[0])
    assert result.steps.sum() > 60


def test_it_ends_close_to_the_optimum_and_closer_than_cold(backend: Backend) -> None:
    instance = pytsp.read(tsplib_file("kroA200.tsp.gz"))
    options: dict[str, Any] = {"climbers": 12, "iterations": 2_000}
    annealed, cold = solved(instance, backend, **options), solved(instance, backend, temperature=0.0, **options)
    assert instance.optimum is not None
    # Thirty chains are 0.98 % above it in the mean, with a standard deviation of 0.51; thirty cold ones 2.05 %.
    assert annealed.lengths.mean() < 1.0142 * instance.optimum < cold.lengths.mean()


def test_a_matrix_is_annealed_as_its_points_are(backend: Backend) -> None:
    instance = scattered(30, "EUC_2D", 1)
    matrix = Instance.from_matrix(np.array(distances_of(form_of(instance))))
    options: dict[str, Any] = {"iterations": 100, "pairs": "random", "start": "random", "quadrants": False}
    assert solved(matrix, backend, **options).tour.tolist() == solved(instance, backend, **options).tour.tolist()


def test_what_a_result_tells(backend: Backend) -> None:
    progress: list[Progress] = []
    improvements: list[Improvement] = []
    instance = scattered(60, "EUC_2D", 1)
    callbacks: dict[str, Any] = {"progress": progress.append, "on_improvement": improvements.append}
    result = solved(instance, backend, climbers=2, iterations=500, **callbacks)
    assert progress[-1].iteration == progress[-1].iterations == 500
    assert [each.iteration for each in progress] == sorted({each.iteration for each in progress})
    assert list(result.history) == improvements
    assert result.history[-1].length == result.length
    assert result.stop_reason == "finished"
    assert "chains    2, 500 iterations each" in str(result)
    assert result.to_dict()["solver"] == "annealing"
    assert oracle.length(distances_of(form_of(instance)), result.tour.tolist()) == result.length


def test_no_iterations_are_the_start(backend: Backend) -> None:
    instance = scattered(30, "EUC_2D", 1)
    tour = pytsp.random_tours(30, 1, 3)[0]
    result = solved(instance, backend, initial_tour=tour, iterations=0)
    assert result.tour.tolist() == tour.tolist()
    assert result.steps.sum() == 0


def test_targets_and_time_limits_end_it(backend: Backend, monkeypatch: pytest.MonkeyPatch) -> None:
    instance = scattered(100, "EUC_2D", 1)
    random = instance.tour_length(pytsp.random_tours(100, 1, 0)[0])
    result = solved(instance, backend, start="random", target=random - 1, climbers=1)
    assert (result.stop_reason, result.length < random) == ("target", True)
    clock = KernelClock(monkeypatch)
    result = solved(instance, backend, time_limit=3.0, iterations=10**12)
    assert result.stop_reason == "time limit"
    assert 0 < (result.iterations or 0) < 10**12
    assert clock.begun("anneal") > 1 and not clock.begun("anneal", after=3.0)


def test_patience_ends_it(backend: Backend, monkeypatch: pytest.MonkeyPatch) -> None:
    KernelClock(monkeypatch)
    progress: list[Progress] = []
    options: dict[str, Any] = {"temperature": 0, "patience": 3.0, "iterations": 10**12, "progress": progress.append}
    result = solved(scattered(12, "EUC_2D", 1), backend, **options)
    assert result.stop_reason == "no improvement"
    assert {each.phase for each in progress} == {"annealing"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"schedule": "steps"}, "schedule 'steps' is not known; known: geometric, linear, or temperatures"),
        ({"schedule": [[1.0]]}, "schedule must be lengths, at least 0, in one dimension"),
        ({"schedule": [-1.0]}, "schedule must be lengths"),
        ({"schedule": [1.0], "iterations": 2}, "iterations=2 and a schedule of 1 temperatures say different things"),
        ({"schedule": [1.0], "temperature": 2.0}, "temperature=2.0 and a schedule of 1"),
        ({"schedule": [1e200]}, "temperature must be at most 1e[+]12 here"),
        ({"temperature": 1e200}, "temperature must be at most 1e[+]12 here"),
        ({"schedule": "linear", "cooling": 0.5}, "cooling=0.5 is for schedule='geometric'"),
        ({"cooling": 1.0}, "cooling must be a factor between 0 and 1; it is 1.0"),
        ({"trials": 0}, "trials must be"),
        ({"pairs": "all"}, "pairs 'all' is not known; known: neighbours, random"),
        ({"moves": "4-opt"}, "moves '4-opt' is not known; known: 2-opt, or-opt"),
        ({"moves": "3-opt"}, "moves='3-opt' has no effect with solver='annealing'; it is for solver='ils'"),
        ({"kick": "walk"}, "kick='walk' has no effect with solver='annealing'"),
        ({"beta": 2}, "beta=2 has no effect with solver='annealing'; it is for solver='ants'"),
    ],
)
def test_what_is_out_of_range_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        pytsp.solve(scattered(9, "EUC_2D", 1), solver="annealing", backend="c", **options)


@pytest.mark.parametrize("after", [False, True])
def test_control_c_at_any_call_leaves_a_tour(backend: Backend, after: bool) -> None:
    instance = scattered(60, "EUC_2D", 1)
    lists = neighbour_lists(instance, 10)
    assert_control_c_at_any_call_leaves_a_tour(
        lambda: solved(instance, backend, start="random", iterations=100, neighbours=lists),
        [*range(2, 40), 10**9],
        after,
    )


def test_errors_in_callbacks_and_wrong_lengths_come_through(backend: Backend, monkeypatch: pytest.MonkeyPatch) -> None:
    instance = scattered(20, "EUC_2D", 1)
    assert_errors_in_callbacks_come_through(lambda **callback: solved(instance, backend, iterations=5, **callback))
    assert_wrong_lengths_are_found_out(
        monkeypatch, "chains_lengths", lambda: solved(instance, backend, start="random", iterations=5)
    )
