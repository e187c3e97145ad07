"""What is made to fit the time: first tours, first calls of a GPU, passes of a call, and work in threads."""

from __future__ import annotations

import itertools
import threading
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import call as mock_call
from unittest.mock import create_autospec

import numpy as np
import pytest
from clocks import Clock, KernelClock, fastest, seconds_of
from hypothesis import given
from hypothesis import strategies as st
from results import assert_same, square_result
from tasks import task_of

import pytsp
from pytsp.backends import Backend, open_backend
from pytsp.backends.cuda import driver
from pytsp.cli import commands as cli
from pytsp.cli.arguments import time_left
from pytsp.generate import uniform
from pytsp.problem.tours import random_tours
from pytsp.run.monitor import Watch
from pytsp.solvers import annealing, ants, policy
from pytsp.solvers.annealing import Chains
from pytsp.solvers.ants import Colonies
from pytsp.solvers.common import starting_tours as _beginnings
from pytsp.solvers.common.fallback import reserved_seconds
from pytsp.solvers.common.pacing import CALL_SECONDS
from pytsp.solvers.common.placement import descent_seconds
from pytsp.solvers.eax import Evolution
from pytsp.solvers.ils import population as _population
from pytsp.solvers.ils import solver as ils
from pytsp.solvers.ils.population import lengths_of
from pytsp.solvers.large import pieces as _pieces
from pytsp.solvers.options.annealing import Annealing
from pytsp.solvers.options.ants import AntColony
from pytsp.solvers.options.ils import ILS
from pytsp.solvers.options.large import LargeTour
from pytsp.solvers.speeds import SPEEDS
from pytsp.starts import nearest_unvisited as _visits
from pytsp.starts.construct import nearest_neighbour, space_filling_curve
from pytsp.starts.quick_greedy import greedy_seconds
from pytsp.utils import deadline as _deadline
from pytsp.utils.deadline import UNTIMED_CITIES, OutOfTime, look, looking, within

CPU: Any = SimpleNamespace(threads=2, device=None)
GPU: Any = SimpleNamespace(threads=None, device=SimpleNamespace(shared_memory=227 * 2**10, memory=None))


def starts_of(n: int, climbers: int, seed: int = 0, **options: Any) -> Any:
    """The tours from which climbers of an iterated local search start."""
    return _beginnings.starting_tours(
        task_of(uniform(n, 0), ILS(**options), seed=seed, kernels=open_backend("c")), climbers
    )


def out_of_time(_: float) -> None:
    raise OutOfTime


# First tours


@given(climbers=st.integers(1, 90), first=st.integers(0, 70), together=st.integers(1, 9))
def test_random_tours_are_those_of_their_climbers_however_many_are_made_together(
    climbers: int, first: int, together: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_beginnings, "TOGETHER", together)
        patch.setattr(_beginnings, "NEAREST_NEIGHBOUR_CLIMBERS", 3)
        tours = starts_of(9, climbers, 5, first=first)
    assert tours.shape == (climbers, 9)
    random_ones = tours[max(0, 3 - first) :]
    assert np.array_equal(random_ones, random_tours(9, len(random_ones), 5, max(first, 3)))


def test_first_tours_end_with_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    with looking(out_of_time):
        assert len(starts_of(50, 70)) == 70
        tours = starts_of(50, 3)
        lengths_of(uniform(50, 0), tours)
        monkeypatch.setattr(_deadline, "UNTIMED_CITIES", 60)
        with pytest.raises(OutOfTime):
            starts_of(50, 3)
        with pytest.raises(OutOfTime):
            starts_of(50, 300, start="random")
        with pytest.raises(OutOfTime):
            lengths_of(uniform(50, 0), tours)


def test_a_walk_ends_with_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    tour = nearest_neighbour(uniform(50, 0))
    with looking(out_of_time):
        assert np.array_equal(nearest_neighbour(uniform(50, 0)), tour)
        monkeypatch.setattr(_visits, "_STEPS", 20)
        monkeypatch.setattr(_deadline, "UNTIMED_CITIES", 20)
        with pytest.raises(OutOfTime):
            nearest_neighbour(uniform(50, 0))


def test_a_huge_tour_whose_time_is_over_is_along_the_curve(monkeypatch: pytest.MonkeyPatch) -> None:
    Clock().install(monkeypatch)
    monkeypatch.setattr(_deadline, "UNTIMED_CITIES", 60)
    instance = uniform(600, 0)
    looks: list[int] = []

    class Over(Watch):
        def look(self, seconds: float = 0.0) -> None:
            looks.append(0)
            if len(looks) > 1:
                raise OutOfTime

    monkeypatch.setattr("pytsp.api.dispatch.Watch", Over)
    monkeypatch.setattr("pytsp.solvers.common.fallback.shortened", lambda _, tour: (tour, instance.tour_length(tour)))
    found = pytsp.solve(instance, solver="large", time_limit=1.0, backend="c")
    assert (found.stop_reason, found.iterations, len(looks)) == ("time limit", 0, 2)
    assert np.array_equal(found.tour, space_filling_curve(instance))


@given(n=st.integers(1, 30), climbers=st.integers(1, 5), seed=st.integers(0, 99))
def test_lengths_are_those_of_each_tour(n: int, climbers: int, seed: int) -> None:
    instance, tours = uniform(n, seed), random_tours(n, climbers, seed)
    expected = [instance.tour_length(tour) for tour in tours]
    assert lengths_of(instance, tours).tolist() == expected
    assert lengths_of(instance, np.broadcast_to(tours[0], (climbers, n))).tolist() == expected[:1] * climbers


def test_a_gpu_has_as_many_climbers_as_begin_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    Clock().install(monkeypatch)

    def climbers(n: int, limit: float | None, kernels: Any = GPU) -> int:
        return ils.timely_climbers(n, kernels, Watch(time_limit=limit))

    assert climbers(3000, None) == 4096
    assert [climbers(3000, 1e-3), climbers(10**6, 1.0)] == [1, 1]
    assert 10 <= climbers(3000, 2.0) <= 64
    counts = [climbers(3000, limit) for limit in (0.1, 1, 3, 10, 30, 100)]
    assert counts == sorted(counts) and counts[-1] == 4096


def test_a_cpu_has_as_many_climbers_as_begin_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    Clock().install(monkeypatch)

    def climbers(n: int, limit: float | None, threads: int = 16) -> int:
        kernels: Any = SimpleNamespace(device=None, threads=threads)
        return ils.timely_climbers(n, kernels, Watch(time_limit=limit))

    assert climbers(10_000, None) == 16
    # One comes to its local optimum after 0.12 s, and another one's first tour takes 0.07 s.
    counts = [climbers(10_000, limit) for limit in (1e-3, 0.8, 1.0, 1.5, 2.05, 4.05, 6.0)]
    assert counts == [1, 1, 4, 5, 7, 13, 16]
    assert [climbers(10_000, limit, 2) for limit in (0.8, 0.9, 1.5, 9.0)] == [1, 2, 2, 2]


# What cannot be cut


def test_long_first_calls_of_a_gpu_are_known_before() -> None:
    def climbers(count: int) -> Any:
        return SimpleNamespace(lengths=np.zeros(count))

    def seconds(solver: Any, n: int, kernels: Any = GPU, **rest: Any) -> float:
        known = SimpleNamespace(form=SimpleNamespace(whole=SimpleNamespace(n=n)), kernels=kernels, **rest)
        return float(solver.first_seconds.fget(known))

    # What an H200's clock said, which no file keeps, within a third: the constants are fitted to more runs than these.
    assert seconds(Colonies, 8000, ants=4096, standing=climbers(1)) == pytest.approx(5.4, rel=0.35)
    assert seconds(Chains, 8000, trials=8000) == pytest.approx(1.6, rel=0.35)
    assert seconds(Chains, 12_000, trials=12_000) > 2.07
    assert descent_seconds(12_000, 33, GPU) == pytest.approx(2.52, rel=0.35)
    assert descent_seconds(50_000, 1, GPU) == pytest.approx(5.2, rel=0.35)
    assert descent_seconds(12_000, 3, CPU) == pytest.approx(0.08)
    # So many that a call takes an hour are known to be.
    assert seconds(Colonies, 8000, ants=10**6, standing=climbers(1)) > 300


@pytest.mark.parametrize("n", [2_500, 5_000, 12_000, 50_000])
@pytest.mark.parametrize("climbers", [1, 16, 75])
def test_more_cities_and_climbers_take_a_gpu_longer(n: int, climbers: int) -> None:
    seconds = descent_seconds
    assert 0 < seconds(n, climbers, GPU) <= seconds(n, 2 * climbers, GPU) < seconds(2 * n, 2 * climbers, GPU)
    assert descent_seconds(50_000, 32, GPU) < descent_seconds(50_000, 64, GPU)


@pytest.mark.timed
@pytest.mark.parametrize(
    ("solver", "n", "options"),
    [
        (annealing, 1_000, Annealing(climbers=3, iterations=1, trials=100_000)),
        (annealing, 100_000, Annealing(climbers=3, iterations=1, trials=10_000, neighbours=5)),
        (annealing, 20_000, Annealing(climbers=3, iterations=1, trials=10_000, neighbours=5, start="random")),
        (ants, 200, AntColony(climbers=3, iterations=1, ants=100)),
        (ants, 1_000, AntColony(climbers=1, iterations=1, ants=100)),
        (ants, 500, AntColony(climbers=1, iterations=1, ants=100, moves="3-opt")),
    ],
)
def test_a_first_call_on_a_core_takes_about_as_long_as_is_thought(solver: Any, n: int, options: Any) -> None:
    def share() -> float:
        search = solver.begin(task_of(uniform(n, 0), options, kernels=open_backend("c", part="comparators")))
        thought = search.first_seconds
        return seconds_of(search.advance) / thought

    # Another processor may be faster or slower than the one by which the constants were found: within a factor of four.
    assert 1 / 4 < fastest(share, 4.0) < 4


def test_the_last_descent_is_left_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    # By lists that take no other kernels.
    solve = partial(pytsp.solve, uniform(200, 0), solver="ils", time_limit=3.0, neighbours=10, backend="c")
    KernelClock(monkeypatch)
    known = solve()
    assert known.iterations and known.done.all()
    # What is thought to take longer than the whole solve leaves nothing for iterations behind the first call.
    monkeypatch.setattr(policy, "POLISH_SHARE", 1e6)
    monkeypatch.setattr(_population, "descent_seconds", lambda *_: 0.0)
    found = solve()
    assert (found.stop_reason, found.done.all()) == ("time limit", True)
    assert found.iterations is not None and found.iterations < known.iterations


@pytest.fixture
def ticks(monkeypatch: pytest.MonkeyPatch) -> None:
    """A clock that goes on by a millisecond whenever it is looked at, however busy the machine is.

    As no call seems to take long, none has more iterations than the one before.
    """
    monkeypatch.setattr("pytsp.solvers.common.pacing.MOST_GROWTH", 1.0)
    Clock(1e-3).install(monkeypatch)


@pytest.fixture
def stretches(monkeypatch: pytest.MonkeyPatch) -> dict[str, list[tuple[int, int]]]:
    """The stretches of tours that descend from now on, first and last, (0, 0) for all cities."""
    made: dict[str, list[tuple[int, int]]] = {"ils": [], "polish": []}
    call = Backend.call

    def noted(self: Backend, entry: str, *arguments: Any) -> Any:
        verb = entry.rpartition("_")[2]
        if verb in made:
            made[verb].append(arguments[-2:])
        return call(self, entry, *arguments)

    monkeypatch.setattr(Backend, "call", noted)
    monkeypatch.setattr(policy, "CUT_CITIES", 50)
    return made


@pytest.mark.usefixtures("ticks")
@pytest.mark.parametrize("threads", [1, 2])
def test_descents_of_many_cities_go_stretch_by_stretch(
    threads: int, stretches: dict[str, list[tuple[int, int]]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(policy, "MOST_LATE_SECONDS", 0.0)
    monkeypatch.setattr(policy, "POLISH_SHARE", 50.0)
    known: dict[str, Any] = {"solver": "ils", "backend": "multicore", "threads": threads}
    found = pytsp.solve(uniform(400, 0), time_limit=1.0, **known)
    assert found.done.all() and found.iterations
    assert (0, 0) in stretches["ils"] and (0, 0) not in stretches["polish"]
    for made in stretches.values():
        whole = [stretch for stretch in made if stretch != (0, 0)]
        # Each begins where the one before ends, until all cities have descended; the last descent goes over them again.
        assert whole[0][0] == 0 and sum(whole[-1]) == 400
        assert all(begin == sum(before) % 400 for before, (begin, _) in itertools.pairwise(whole))
    again = pytsp.solve(uniform(400, 0), initial_tour=found.tour, iterations=0, **known)
    assert again.length == found.length


def test_where_iterations_end_a_solve_its_descents_are_not_cut(stretches: dict[str, list[tuple[int, int]]]) -> None:
    pytsp.solve(uniform(400, 0), solver="ils", backend="c", time_limit=1_000.0, iterations=3)
    assert {*stretches["ils"], *stretches["polish"]} == {(0, 0)}


@pytest.mark.usefixtures("ticks")
@pytest.mark.parametrize("limit", [0.05, 0.3])
def test_descents_that_do_not_fit_are_cut(limit: float, stretches: dict[str, list[tuple[int, int]]]) -> None:
    # As if a call took a tenth of a second for ten cities.
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_population.Population, "_stretch", lambda self, _: (self.standing.reached, 10))
        found = pytsp.solve(uniform(1_000, 0), solver="ils", time_limit=limit, backend="c")
    assert (found.stop_reason, found.iterations, found.done.all()) == ("time limit", 0, False)
    assert 0 < len(stretches["ils"]) < 100
    # By 3-opt, where it is late, as many as take as long as ten by chains.
    assert {10} < {size for _, size in stretches["ils"]} <= {10, 25}
    assert found.instance.tour_length(found.tour) == found.length


@pytest.mark.usefixtures("ticks")
def test_what_descended_by_3_opt_to_be_in_time_descends_by_chains_in_the_rest_of_it(
    stretches: dict[str, list[tuple[int, int]]],
) -> None:
    def stretch(self: Any, _: float) -> tuple[int, int]:
        return self.standing.reached, min(10, 1_000 - self.standing.reached)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_population.Population, "_stretch", stretch)
        # So many cities descend by 3-opt in the time of one by chains.
        patch.setitem(SPEEDS, "descent, chains", 50.0)
        found = pytsp.solve(uniform(1_000, 0), solver="ils", time_limit=0.3, backend="c")
    assert (found.stop_reason, found.iterations) == ("time limit", 0)
    made = stretches["ils"]
    sizes = [size for _, size in made]
    first, end = sizes.index(500), next(place for place, each in enumerate(made) if sum(each) == 1_000)
    # No call takes the whole tour: after the last city it goes on where chains had been too slow.
    assert {*sizes[:first], *sizes[end + 1 :]} == {10} and end + 1 < len(made)
    assert made[end + 1][0] == made[first][0] > 0


@pytest.mark.parametrize(
    ("n", "limit", "given_", "solver"),
    [
        (6000, 0.041, {}, "large"),
        (6000, 0.043, {}, "eax"),
        (6000, 1e3, {}, "eax"),
        (6000, None, {}, "eax"),
        (50_000, 0.189, {}, "large"),
        (50_000, 0.191, {}, "eax"),
        (50_000, None, {}, "eax"),
        # Options have their say.
        (6000, 0.02, {"solver": "eax"}, "eax"),
        (6000, 0.02, {"pivot": "best"}, "eax"),
        (50_000, None, {"iterations": 50}, "large"),
        # Who names the GPU has it.
        (6000, 0.02, {"backend": "cuda"}, "eax"),
        (50_000, None, {"backend": "cuda", "iterations": 50}, "ils"),
        (50_000, 9.0, {"kick": "walk"}, "ils"),
        (20_000, None, {"iterations": 50}, "ils"),
    ],
)
def test_auto_is_large_where_a_gpu_would_begin_too_late(
    n: int, limit: float | None, given_: dict[str, Any], solver: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[str] = []
    opened = create_autospec(open_backend, return_value=GPU)
    monkeypatch.setattr("pytsp.api.dispatch.open_backend", opened)
    monkeypatch.setattr("pytsp.api.dispatch.run", lambda task, *_: seen.append(task.options.name) or square_result())
    pytsp.solve(uniform(n, 0), time_limit=limit, **given_)
    assert seen == [solver]
    asked = [
        mock_call(given_.get("backend", "auto"), threads=None, device=None, part=part) for part in ("flat", "search")
    ]
    assert all(call in asked for call in opened.mock_calls)


@pytest.mark.parametrize("solver", ["eax", "annealing", "ants"])
def test_a_first_call_that_does_not_fit_is_not_begun(solver: str, monkeypatch: pytest.MonkeyPatch) -> None:
    kind = {"eax": Evolution, "annealing": Chains, "ants": Colonies}[solver]
    monkeypatch.setattr(kind, "next_seconds" if solver == "eax" else "first_seconds", 1e3)
    found = pytsp.solve(uniform(60, 0), solver=solver, time_limit=0.3, backend="c")
    assert (found.stop_reason, found.iterations, found.solver) == ("time limit", 0, solver)
    assert found.instance.tour_length(found.tour) == found.length


def test_calls_of_passes_have_few_passes_at_first_and_as_many_as_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pytsp.solvers.common.pacing.MOST_GROWTH", 3)
    allowed: list[int] = []
    call = Backend.call

    def noted(self: Backend, entry: str, *arguments: object) -> Any:
        if entry.endswith("_large_descend"):
            assert isinstance(arguments[4], int)
            allowed.append(arguments[4])
        return call(self, entry, *arguments)

    monkeypatch.setattr(Backend, "call", noted)
    instance = uniform(2000, 0)
    found = pytsp.solve(instance, solver="large", iterations=0, backend="c")
    assert allowed[0] == 1 and all(after <= 3 * before for before, after in itertools.pairwise(allowed))
    monkeypatch.undo()
    assert pytsp.solve(instance, solver="large", iterations=0, backend="c").length == found.length


def test_the_first_rounds_leave_no_time_for_passes() -> None:
    watch = Watch(time_limit=10.0)
    for rounds, end in ((0, 10.0), (policy.DESCENTS - 1, 10.0), (policy.DESCENTS, 9.0)):
        pieces: Any = SimpleNamespace(watch=watch, full_pass=0.1, standing=SimpleNamespace(rounds=rounds))
        assert _pieces.Pieces.end_of_rounds(pieces) == pytest.approx(end)


@pytest.mark.parametrize(("metric", "factor"), [("EUC_2D", 1.0), ("HAVERSINE", SPEEDS["greedy tour, space"])])
def test_one_huge_tour_keeps_the_time_of_a_greedy_tour(metric: str, factor: float) -> None:
    places = np.random.default_rng(0).uniform(-80, 80, (9000, 2))
    kernels = open_backend("c")
    task = task_of(pytsp.Instance.from_coordinates(places, metric), LargeTour(), kernels=kernels)
    assert reserved_seconds(task) == factor * greedy_seconds(9000, kernels)


@pytest.mark.parametrize(("n", "is_timed"), [(UNTIMED_CITIES - 1, False), (UNTIMED_CITIES, True)])
def test_preparations_of_few_cities_are_done_whatever_the_time(n: int, is_timed: bool) -> None:
    with within(-1.0):
        if is_timed:
            with pytest.raises(OutOfTime):
                look(n)
        else:
            look(n)


def test_kicks_of_pieces_that_do_not_fit_are_not_begun(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = KernelClock(monkeypatch)
    known: list[tuple[float, float]] = []
    climb = _pieces.Pieces.climb

    def slowly(self: _pieces.Pieces, *arguments: float) -> None:
        known.append((self.watch.seconds_left, self.next_seconds))
        climb(self, *arguments)
        # As if a call were of a device that takes 9 s for it.
        if self.standing.rounds > policy.DESCENTS:
            clock.seconds += 9.0
            self.pace.seconds = 9.0

    monkeypatch.setattr(_pieces.Pieces, "climb", slowly)
    found = pytsp.solve(uniform(3000, 0), solver="large", time_limit=30.0, backend="c")
    assert found.stop_reason == "time limit"
    # Chains are expected to take 2.5 times as long as the descent, of 0.3 s, and kicks eight times as long as chains.
    assert [seconds for _, seconds in known[:3]] == pytest.approx([0.0, 0.75, 2.4])
    assert known[-1][1] == pytest.approx(9.0)
    assert all(left > seconds for left, seconds in known)


def test_pieces_that_take_no_time_tell_nothing_of_the_next_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    counts: list[tuple[bool, int]] = []
    climb = _pieces.Pieces.climb

    def noted(self: _pieces.Pieces, *arguments: float) -> None:
        is_descent, before = self._is_descending, self.standing
        climb(self, *arguments)
        after = self.standing
        end = after.pieces if after.rounds == before.rounds else self.count
        counts.append((is_descent, end - before.pieces))
        if len(counts) > 60:
            raise KeyboardInterrupt

    monkeypatch.setattr(_pieces.Pieces, "climb", noted)
    # As if no call took any time.
    monkeypatch.setattr(_pieces, "time", SimpleNamespace(perf_counter=lambda: 0.0))
    monkeypatch.setitem(SPEEDS, "pieces, fastest kicks", 31 / CALL_SECONDS)
    monkeypatch.setitem(SPEEDS, "pieces, fastest descent", 700 / CALL_SECONDS)
    pytsp.solve(uniform(2_000, 0), solver="large", piece=100, time_limit=60, backend="c")
    # A piece has ten kicks: one at first, then three.
    assert [count for is_descent, count in counts if is_descent] == 2 * [1, 7, 7, 5]
    assert max(count for is_descent, count in counts if not is_descent) == 3


# The command line


def test_the_end_of_a_driver_is_within_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock().install(monkeypatch)
    options = cli._parser().parse_args(["solve", "any", "--time-limit", "10"])
    options.began = clock.seconds
    monkeypatch.setattr(driver, "_begun", [])
    without = time_left(options)
    monkeypatch.setattr(driver, "_begun", [threading.current_thread()])
    with_driver = time_left(options)
    assert without is not None and with_driver is not None
    assert with_driver == pytest.approx(without - 0.1)


@pytest.mark.parametrize(
    ("size", "words", "part"),
    [
        (1000, [], "flat"),
        (500_000, [], "flat"),
        (50_000_000, [], "cpu"),
        (1000, ["--iterations", "9"], "search"),
        (500_000, ["--iterations", "9"], "cpu"),
        (50_000_000, ["--k", "2"], "restarts"),
    ],
)
def test_a_large_file_opens_the_kernels_for_one_huge_tour(
    tmp_path: Path, size: int, words: list[str], part: str
) -> None:
    file = tmp_path / "any.tsp"
    with file.open("wb") as written:
        written.truncate(size)
    assert cli._likely_part(cli._parser().parse_args(["solve", str(file), *words])) == part


# Limits that are not reached


@pytest.mark.parametrize(
    ("solver", "options"),
    [
        ("restarts", {"climbers": 30}),
        ("two-opt", {}),
        ("two-opt", {"iterations": 40}),
        ("two-opt", {"kicks": 30}),
        ("ils", {"climbers": 3, "iterations": 500}),
        ("ils", {"climbers": 4, "iterations": 600, "temperature": 5.0, "restart": 200, "exchange": 100}),
        ("ils", {"climbers": 4, "iterations": 300, "merge": True}),
        ("eax", {"iterations": 3}),
        ("eax", {"iterations": 1_000, "climbers": 12}),
        ("large", {"iterations": 60, "piece": 150}),
        ("annealing", {"climbers": 2, "iterations": 300}),
        ("annealing", {"climbers": 2, "iterations": 300, "schedule": "linear", "temperature": 9.0}),
        ("ants", {"iterations": 12}),
    ],
)
def test_where_iterations_end_a_solve_a_limit_that_is_not_reached_changes_nothing(
    solver: str, options: dict[str, Any]
) -> None:
    # Pieces of few cities end alike whatever the temperature.
    instance = uniform(600 if solver == "large" else 150, 3)
    unlimited, limited = (
        pytsp.solve(instance, solver=solver, backend="c", time_limit=limit, **options) for limit in (None, 1_000.0)
    )
    assert_same(unlimited, limited)


def test_what_a_limit_keeps_for_another_tour_is_asked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []
    monkeypatch.setattr("pytsp.api.dispatch.reserved_seconds", lambda task: asked.append(task) or 0.0)
    pytsp.solve(uniform(3_000, 0), solver="ils", climbers=40, iterations=0, time_limit=60.0, backend="c")
    assert len(asked) == 1
