"""Edge assembly crossover: optima that are found, laws of every result, limits, interruptions."""

from __future__ import annotations

import dataclasses
import itertools
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
from processes import PATIENCE
from results import assert_improves, assert_is_tour, assert_kernels_least_length, assert_same, solving
from tasks import task_of as plain_task_of

import pytsp
from pytsp import Improvement, Instance, Progress, Result
from pytsp.api.dispatch import task_of
from pytsp.backends import Backend, open_backend
from pytsp.distributed.islands import Stay, begin_island
from pytsp.exceptions import BackendError
from pytsp.run.monitor import Watch
from pytsp.run.state_reader import State
from pytsp.solvers import eax, policy
from pytsp.solvers.common.flat_search import FlatSearch
from pytsp.solvers.common.local_search import PASSES, LocalSearch
from pytsp.solvers.common.task import Task
from pytsp.solvers.eax import Evolution, begin, descent_moves
from pytsp.solvers.options.eax import EAX
from pytsp.solvers.options.shared import MOVES, PIVOTS
from pytsp.solvers.policy import POPULATIONS, default_population

solved = solving("eax", climbers=10)


def assert_whole(result: Result) -> None:
    """What holds of every result, however it ended."""
    assert_is_tour(result)
    assert (result.solver, result.k, len(result.passes)) == ("eax", None, 0)
    lengths = assert_improves(result.history)
    if result.instance.is_exact:
        assert lengths[-1] == result.length <= result.lengths.min()


# What is found


@pytest.mark.parametrize("name", ["kroA100", "gr120", "kroA200"])
def test_optima_of_tsplib_are_found(backend: Backend, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    skip_where_slow(backend)
    KernelClock(monkeypatch)
    instance = pytsp.read(tsplib_file(f"{name}.tsp"))
    result = pytsp.solve(instance, solver="eax", backend=backend.name, target=instance.optimum, time_limit=600)
    assert (result.gap, result.stop_reason) == (0, "target")
    assert_whole(result)


@pytest.mark.timed
@pytest.mark.parametrize("name", ["kroA100", "gr120", "kroA200"])
def test_optima_of_tsplib_are_found_within_seconds(backend: Backend, name: str) -> None:
    skip_where_slow(backend)
    instance = pytsp.read(tsplib_file(f"{name}.tsp"))
    result = pytsp.solve(instance, solver="eax", backend=backend.name, target=instance.optimum, time_limit=20)
    assert (result.gap, result.stop_reason) == (0, "target")


def test_crossovers_improve_on_local_optima(backend: Backend) -> None:
    before, after = (solved(uniform(200), backend, iterations=iterations) for iterations in (0, 5))
    assert (before.iterations, after.iterations) == (0, 5)
    assert after.length < before.length
    assert after.lengths.max() < before.lengths.max()
    assert_whole(before)
    assert_whole(after)


@given(instance=strategies.instances(max_n=10), seed=st.integers(0, 2**64 - 1), climbers=st.integers(1, 4))
@example(instance=Instance.from_coordinates([[0, 0]], metric="EUC_2D"), seed=0, climbers=1)
@example(
    instance=Instance.from_coordinates([[0, 0], [0, 0], [7, 7], [0, 0], [7, 7]], metric="EUC_2D"), seed=0, climbers=2
)
@example(instance=Instance.from_coordinates([[3, 3]] * 9, metric="EUC_2D"), seed=0, climbers=3)
@example(instance=Instance.from_coordinates([[x, 0] for x in range(10)], metric="EUC_2D"), seed=0, climbers=3)
@example(instance=Instance.from_matrix(np.zeros((9, 9), dtype=np.int64)), seed=0, climbers=3)
def test_every_result_is_a_tour_of_that_length(backend: Backend, instance: Instance, seed: int, climbers: int) -> None:
    result = solved(instance, backend, seed=seed, climbers=climbers)
    assert_whole(result)
    assert (result.stop_reason, result.climbers, result.seed) == ("finished", climbers, seed)
    assert result.length == result.lengths.min()


@given(instance=strategies.instances(min_n=2, max_n=7))
def test_few_cities_are_solved_to_optimality(backend: Backend, instance: Instance) -> None:
    shortest = min(instance.tour_length((0, *rest)) for rest in itertools.permutations(range(1, instance.n)))
    assert solved(instance, backend, climbers=30).length == shortest


@given(instance=strategies.float_instances(max_n=12), seed=st.integers(0, 99))
@example(instance=Instance.from_matrix([[0, 1e-320, 5e-324], [1e-320, 0, 1e-320], [5e-324, 1e-320, 0]]), seed=0)
@example(instance=Instance.from_matrix(np.zeros((9, 9))), seed=0)
def test_floating_point_lengths_are_the_instances_own(backend: Backend, instance: Instance, seed: int) -> None:
    result = solved(instance, backend, seed=seed)
    assert_whole(result)
    assert isinstance(result.length, float)
    assert result.lengths.dtype == np.float64
    assert_kernels_least_length(result)
    assert result.history[-1].length == pytest.approx(result.length, rel=1e-6)


# What a result depends on


def test_every_second_eight_climbers_descend_along_lists_by_alpha(backend: Backend) -> None:
    instance, numbers = uniform(150), np.arange(3, 23)
    asked: dict[str, Any] = dict(climbers=20, first=3, iterations=0, moves="lk")
    kernels = open_backend(backend.name, part="flat") if backend.device else backend
    here = begin(plain_task_of(instance, EAX(**asked), kernels=kernels)).local_search
    # Beside a GPU they descend on the host.
    search = here.host or here
    assert search.second is not None and search.second.shape == (150, 8)
    tours = search.call(f"{search.kind}_start", search.loaded, search.lists, 0, 3, 20, PASSES)
    near, by_alpha = (search.lengths(search.climb(tours, 0, 3, lists=each)) for each in (search.lists, search.second))
    assert (near != by_alpha).any()
    expected = np.where(numbers // 8 % 2 == 1, by_alpha, near)
    assert solved(instance, backend, **asked).lengths.tolist() == expected.tolist()
    # By lists that are given all of them do.
    assert solved(instance, backend, **asked, neighbours=10).lengths.tolist() == near.tolist()


def test_a_population_ends_where_its_shortest_tour_stays(backend: Backend, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Progress] = []
    monkeypatch.setattr("pytsp.solvers.policy.STALE", 10**6)
    whole = solved(uniform(300), backend, climbers=20, moves="3-opt", progress=seen.append)
    lengths = [each.length for each in seen if each.phase == "crossover"]
    # The generation from which on it stays for three.
    stays = next(g for g in range(3, len(lengths)) if lengths[g] == lengths[g - 3])
    assert stays < whole.iterations
    monkeypatch.setattr("pytsp.solvers.policy.STALE", 3)
    monkeypatch.setattr("pytsp.solvers.policy.STALE_SHARE", 1.0)
    cut = solved(uniform(300), backend, climbers=20, moves="3-opt")
    assert (cut.iterations, cut.length) == (stays, lengths[stays])


@pytest.mark.parametrize("most", [0, 1, 2, 5, 19])
def test_generations_that_change_many_tours_do_not_end_a_population(
    backend: Backend, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    lengths: list[NDArray[np.int64]] = []
    breed = Evolution.breed

    def recorded(search: Evolution) -> None:
        lengths.append(search.standing.lengths)
        breed(search)

    monkeypatch.setattr(Evolution, "breed", recorded)
    monkeypatch.setattr("pytsp.solvers.policy.STALE", 10**6)
    whole = solved(uniform(300), backend, climbers=20, moves="3-opt")
    stale, end = 0, whole.iterations
    for generation, (before, after) in enumerate(itertools.pairwise(lengths), 1):
        stale = 0 if after.min() < before.min() else stale + (np.count_nonzero(after != before) <= most)
        if stale == 2:
            end = generation
            break
    monkeypatch.setattr("pytsp.solvers.policy.STALE", 2)
    monkeypatch.setattr("pytsp.solvers.policy.STALE_SHARE", most / 20)
    assert solved(uniform(300), backend, climbers=20, moves="3-opt").iterations == end


@pytest.mark.parametrize("n", [5, 8, 60])
@pytest.mark.parametrize("moves", ["lk", "3-opt", "flat"])
def test_a_result_follows_from_seed_climbers_and_iterations(backend: Backend, n: int, moves: str) -> None:
    options: dict[str, Any] = dict(seed=7, climbers=12, iterations=6, moves=moves)
    expected = pytsp.solve(uniform(n), solver="eax", backend="c", **options)
    for _ in range(2):
        assert_same(solved(uniform(n), backend, **options), expected)
    assert_same(solved(uniform(n), backend, **options, target=0), expected)


@pytest.mark.parametrize("moves", ["lk", "flat"])
def test_seeds_and_climbers_make_a_difference(backend: Backend, moves: str) -> None:
    changes: list[dict[str, Any]] = [{}, {"seed": 8}, {"climbers": 13}, {"first": 5}, {"iterations": 2}]
    options: dict[str, Any] = dict(seed=7, climbers=12, iterations=1, moves=moves)
    results = [solved(uniform(200), backend, **options | change) for change in changes]
    assert len({tuple(result.lengths.tolist()) for result in results}) == len(changes)


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("moves", ["lk", "flat"])
def test_threads_change_nothing(threads: int, moves: str) -> None:
    options: dict[str, Any] = dict(solver="eax", climbers=9, seed=2, moves=moves)
    expected = pytsp.solve(uniform(60), **options, backend="c")
    assert_same(pytsp.solve(uniform(60), **options, backend="multicore", threads=threads), expected)


@pytest.mark.parametrize("moves", ["3-opt", "flat"])
def test_iterations_are_the_beginning_of_more_of_them(backend: Backend, moves: str) -> None:
    options: dict[str, Any] = dict(moves=moves, climbers=40)
    whole = solved(uniform(80), backend, **options)
    assert whole.iterations is not None and whole.iterations > 3
    for iterations in (0, 1, whole.iterations, whole.iterations + 1):
        part = solved(uniform(80), backend, iterations=iterations, **options)
        assert part.iterations == min(iterations, whole.iterations)
        reported = [each[1:] for each in whole.history if each.iteration <= iterations]
        assert [each[1:] for each in part.history] == reported


# The best of many climbers


@pytest.mark.parametrize("population", [1, 12, 39])
@pytest.mark.parametrize("given", [False, True])
@pytest.mark.parametrize("moves", ["lk", "flat"])
def test_a_population_is_made_of_the_climbers_with_the_shortest_tours(
    backend: Backend, population: int, given: bool, moves: str
) -> None:
    initial = np.arange(60) if given else None
    options: dict[str, Any] = dict(climbers=40, iterations=0, initial_tour=initial, moves=moves)
    everyone = solved(uniform(60), backend, **options)
    lengths, steps = everyone.lengths.tolist(), everyone.steps.tolist()
    elected = sorted(sorted(range(40), key=lambda climber: (lengths[climber], climber))[:population])
    if given:
        elected.append(40)
    result = solved(uniform(60), backend, population=population, **options)
    assert result.lengths.tolist() == [lengths[climber] for climber in elected]
    assert result.steps.tolist() == [steps[climber] for climber in elected]
    assert (result.length, result.climber) == (everyone.length, everyone.climber)
    assert np.array_equal(result.tour, everyone.tour)
    assert_whole(solved(uniform(60), backend, **options | {"population": population, "iterations": None}))


@pytest.mark.parametrize("population", [40, 41, 2**40])
def test_a_population_that_has_room_for_all_climbers_has_them_all(backend: Backend, population: int) -> None:
    options: dict[str, Any] = dict(climbers=40, iterations=3)
    assert_same(solved(uniform(60), backend, **options, population=population), solved(uniform(60), backend, **options))


@pytest.mark.parametrize(("moves", "kind"), [("lk", LocalSearch), ("flat", FlatSearch)])
def test_climbers_are_numbered_on_behind_those_that_were_left_out(
    backend: Backend, moves: str, kind: type[LocalSearch], monkeypatch: pytest.MonkeyPatch
) -> None:
    numbers: list[int] = []
    start = kind.start

    def noted(self: Any, first: int, count: int, population: int = 0) -> Any:
        # Those that the host starts are told where they are asked for.
        if self.host is None:
            numbers.extend(range(first, first + count))
        return start(self, first, count, population)

    monkeypatch.setattr(kind, "start", noted)
    solved(uniform(9), backend, climbers=7, population=3, first=5, time_limit=600.0, moves=moves)
    assert len(numbers) > 7 and len(numbers) % 7 == 0
    assert numbers == list(range(5, 5 + len(numbers)))


@pytest.mark.parametrize("climbers", [300, 301, 600])
def test_auto_crosses_the_best_of_many_climbers(backend: Backend, climbers: int) -> None:
    skip_where_slow(backend)
    asked: dict[str, Any] = dict(backend=backend.name, seed=3, climbers=climbers)
    result = pytsp.solve(uniform(40), **asked)
    assert_same(result, pytsp.solve(uniform(40), **asked, solver="eax", population=300))
    assert result.climbers == 300
    assert pytsp.solve(uniform(40), **asked, population=100).climbers == 100
    assert pytsp.solve(uniform(40), **asked, solver="eax").climbers == climbers


# Ends


def test_a_population_that_agrees_ends_the_solve(backend: Backend) -> None:
    result = solved(uniform(30), backend)
    assert (result.stop_reason, result.climbers) == ("finished", 10)
    assert solved(uniform(30), backend, climbers=1).iterations == 0


@pytest.mark.parametrize(
    ("n", "given_options", "is_confirmed"),
    [(40, {}, True), (40, {"climbers": 10}, False), (40, {"iterations": 30}, False), (1501, {}, False)],
)
def test_without_a_limit_another_population_has_to_bring_nothing_shorter(
    monkeypatch: pytest.MonkeyPatch, n: int, given_options: dict[str, Any], is_confirmed: bool
) -> None:
    monkeypatch.setattr(policy, "default_population", lambda *_: 24)
    counts: list[int] = []
    start = LocalSearch.start

    def noted(self: LocalSearch, first: int, count: int, population: int = 0) -> Any:
        counts.append(count)
        return start(self, first, count, population)

    monkeypatch.setattr(LocalSearch, "start", noted)
    result = pytsp.solve(uniform(n), solver="eax", backend="c", **given_options)
    assert result.stop_reason == "finished"
    size = given_options.get("climbers", policy.default_population(n, "cpu"))
    assert sum(counts) >= 2 * size if is_confirmed else sum(counts) == size
    assert_whole(result)


def test_without_a_limit_populations_end_where_they_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []
    renew = Evolution.renew

    def noted(self: Evolution) -> None:
        if not (self.standing.elites and self.standing.has_met_elites):
            sizes.append(len(self.standing.lengths))
        renew(self)

    monkeypatch.setattr(Evolution, "renew", noted)
    result = pytsp.solve(uniform(40), solver="eax", backend="c")
    # 24 and 48 climbers came to the length, then 96 did.
    assert sizes == [24, 48] and result.stop_reason == "finished"
    # Where no population comes to the shortest length by itself, two large ones have to bring none.
    sizes.clear()
    monkeypatch.setattr(Evolution, "agreed", 0)
    pytsp.solve(uniform(40), solver="eax", backend="c")
    assert [size for size in sizes if size < 100] == [24, 48, 96] and len(sizes) > 3


@pytest.mark.parametrize("n", [1, 4, 9])
def test_populations_that_find_nothing_shorter_end_a_solve_before_its_time(backend: Backend, n: int) -> None:
    skip_where_slow(backend)
    result = pytsp.solve(uniform(n), solver="eax", backend=backend.name, climbers=10, time_limit=PATIENCE)
    assert result.stop_reason == "finished"
    assert result.climbers <= 10 + POPULATIONS + 1
    assert_whole(result)


def test_a_time_limit_ends_a_solve_with_the_best_so_far(backend: Backend, monkeypatch: pytest.MonkeyPatch) -> None:
    skip_where_slow(backend)
    clock = KernelClock(monkeypatch)
    result = pytsp.solve(uniform(1000), solver="eax", backend=backend.name, time_limit=30.0)
    assert result.stop_reason == "time limit"
    assert result.iterations and clock.begun("cross") and not clock.begun("ils", "bulk", "cross", after=30.0)
    assert_whole(result)


def test_a_time_limit_that_is_over_at_once_still_gives_a_local_optimum(backend: Backend) -> None:
    result = solved(uniform(50), backend, time_limit=1e-9)
    assert (result.stop_reason, result.iterations) == ("time limit", 0)
    assert_whole(result)


@pytest.mark.parametrize(
    ("descended_by", "latest", "climbers"),
    [(0.0, 0.0, 8), (0.0, 1e9, 16), (1e9, 1e9, 50)],
    ids=["no time", "little time", "time"],
)
def test_a_population_that_has_little_time_is_small(
    descended_by: float, latest: float, climbers: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    placement = {"backend": "c", "threads": None, "device": None}
    monkeypatch.setattr("pytsp.solvers.eax.MOST_GROWTH", 1)
    monkeypatch.setattr(Evolution, "_descent_times", lambda _: (descended_by, latest))
    evolution = begin(task_of(uniform(1_500), EAX(), Watch(time_limit=600.0), 0, None, placement))
    while not evolution.standing.is_descended:
        evolution.descend_more()
    assert len(evolution.standing.lengths) == climbers


def converged(n: int, backend: str, **given_options: Any) -> Evolution:
    """A first population of a solve with ten minutes that has converged."""
    placement = {"backend": backend, "threads": None, "device": None}
    evolution = begin(
        task_of(uniform(n), EAX(climbers=3, **given_options), Watch(time_limit=600.0), 0, None, placement)
    )
    while not (evolution.standing.is_descended and evolution.has_converged):
        evolution.advance()
    return evolution


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 7, 8, 60, 400])
@pytest.mark.parametrize("threads", [None, 3])
def test_kicks_end_a_solve_where_a_population_took_longer_than_is_left(n: int, threads: int | None) -> None:
    evolution = converged(n, "c" if threads is None else "multicore")
    before = evolution.standing
    assert not evolution.is_last and before.best is not None
    evolution.population_began -= 700.0
    while evolution.kicked is None or evolution.kicked.kicks < 1_000:
        evolution.advance()
        # Once begun, they go on.
        evolution.population_began = evolution.watch.seconds
    now = evolution.standing
    assert now.best is not None and now.best.climber == before.best.climber
    assert (now.first, now.populations, now.iteration) == (before.first, before.populations, before.iteration)
    assert now.lengths is before.lengths
    assert now.best.length == evolution.form.whole.tour_length(now.best.tour) <= before.best.length
    # Three climbers of 400 cities agree on a tour that is easily made shorter.
    assert n < 400 or now.best.length < before.best.length
    assert evolution.stop_reason() is None
    found = evolution.found()
    assert found.best is now.best and evolution.checked(found)[1] == evolution.length


@pytest.mark.parametrize("solve", ["without a limit", "on a GPU", "before elites are met"])
def test_kicks_do_not_end_other_solves(solve: str, monkeypatch: pytest.MonkeyPatch) -> None:
    evolution = converged(60, "c")
    evolution.population_began -= 700.0
    assert evolution.is_last
    meets = solve == "before elites are met"
    if meets:
        elites = (evolution.best_tour(),)
        evolution.standing = dataclasses.replace(evolution.standing, has_met_elites=False, elites=elites)
    elif solve == "without a limit":
        evolution.is_timed = False
    else:
        monkeypatch.setattr(Task, "machine", "gpu")
    evolution.advance()
    assert evolution.kicked is None and evolution.standing.has_met_elites == meets
    assert meets or not evolution.is_last


def test_an_island_ends_by_no_kicks() -> None:
    placement = {"backend": "c", "threads": None, "device": None}
    task = task_of(uniform(60), EAX(climbers=3), Watch(time_limit=600.0), 0, None, placement)
    island = begin_island(task, 0)
    island.hear(Stay(10))
    island.population_began -= 700.0
    assert not island.is_last


@pytest.mark.parametrize(
    ("seconds", "chunk", "climbers"),
    [(0.0, 20, 20), (0.1, 20, 20), (1.0, 20, 10), (1.0, 7, 7), (3.0, 20, 3), (1e9, 20, 1), (1e9, 0, 0)],
)
@pytest.mark.parametrize("threads", [1, 4, None])
def test_no_more_climbers_descend_together_than_the_time_that_is_left_is_for(
    seconds: float, chunk: int, climbers: int, threads: int | None
) -> None:
    evolution: Any = SimpleNamespace(
        descents=SimpleNamespace(threads=threads), watch=SimpleNamespace(seconds_left=10.0), descent_seconds=seconds
    )
    found = Evolution._timely(evolution, chunk)
    expected = {1: climbers, 4: max(min(4, chunk), climbers // 4 * 4) if climbers < chunk else chunk, None: chunk}
    assert found == expected[threads]


def test_populations_without_a_limit_grow_with_the_cities_and_shrink_again() -> None:
    reported = {8: 100, 201: 100, 532: 266, 600: 300, 666: 300, 1_000: 200, 5_000: 40, 8_333: 24, 20_000: 24}
    assert {n: default_population(n, "cpu") for n in reported} == reported


@pytest.mark.parametrize("moves", ["3-opt", "flat"])
def test_a_target_ends_a_solve(backend: Backend, moves: str) -> None:
    best = solved(uniform(150), backend, moves=moves)
    assert len(best.history) > 2
    result = solved(uniform(150), backend, moves=moves, target=best.history[-2].length)
    assert (result.stop_reason, result.iterations) == ("target", best.history[-2].iteration)
    assert result.length == best.history[-2].length
    assert_whole(result)


@pytest.mark.parametrize("moves", ["3-opt", "flat"])
def test_progress_and_improvements_are_told_as_they_come(backend: Backend, moves: str) -> None:
    seen: list[Progress] = []
    reported: list[Improvement] = []
    asked: dict[str, Any] = {
        "iterations": 6,
        "moves": moves,
        "progress": seen.append,
        "on_improvement": reported.append,
    }
    result = solved(uniform(300), backend, **asked)
    # While climbers descend to the population, they are told as they come.
    there = [each.climbers for each in seen if each.iteration == 0]
    assert there == sorted(set(there)) and there[-1] == 10
    assert [each.iteration for each in seen][len(there) - 1 :] == list(range(7))
    assert {each.iterations for each in seen} == {6}
    lengths = [each.length for each in seen]
    assert lengths == sorted(lengths, reverse=True)
    assert result.history == tuple(reported)
    assert reported[-1].length == result.length == lengths[-1]


def calls_before_a_tour(backend: Backend, **options: Any) -> int:
    """Return the number of kernel calls that a solve takes to its first tour, which depends on the threads."""
    counted = Interruption(10**9, after=False)
    calls: list[int] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Backend, "call", counted.call)
        solved(uniform(60), backend, on_improvement=lambda _: calls.append(counted.calls), **options)
    return calls[0]


@given(
    at=st.integers(0, 60),
    after=st.booleans(),
    population=st.sampled_from((None, 6)),
    neighbours=st.sampled_from((None, 10)),
    moves=st.sampled_from((None, "flat")),
)
@settings(max_examples=50)
@example(at=5, after=False, population=None, neighbours=10, moves=None)
@example(at=5, after=True, population=None, neighbours=10, moves=None)
@example(at=6, after=False, population=None, neighbours=10, moves=None)
@example(at=3, after=True, population=None, neighbours=10, moves="flat")
def test_an_interruption_inside_any_call_leaves_the_result_whole(
    backend: Backend, at: int, after: bool, population: int | None, neighbours: int | None, moves: str | None
) -> None:
    interruption = Interruption(at, after)
    options: dict[str, Any] = {"population": population, "neighbours": neighbours, "moves": moves}
    before = calls_before_a_tour(backend, **options)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Backend, "call", interruption.call)
        try:
            result = solved(uniform(60), backend, **options)
        except KeyboardInterrupt:
            assert at < before
            return
    assert result.stop_reason == ("interrupted" if interruption.calls > at else "finished")
    assert_whole(result)


def test_errors_in_callbacks_are_the_callers_own(backend: Backend) -> None:
    assert_errors_in_callbacks_come_through(lambda **callback: solved(uniform(10), backend, **callback))


def test_a_wrong_length_of_a_kernel_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    assert_wrong_lengths_are_found_out(
        monkeypatch, "population_lengths", lambda: pytsp.solve(uniform(9), solver="eax", climbers=3, backend="c")
    )


# What is asked for


def test_lists_and_moves_may_be_chosen(backend: Backend) -> None:
    for neighbours in (1, 2, 19, 1000, np.empty((20, 0), np.int32)):
        assert_whole(solved(uniform(20), backend, neighbours=neighbours))
    for moves, pivot in itertools.product((*MOVES, "flat"), PIVOTS[:2]):
        if pivot == "first" or moves not in ("lk", "flat"):
            assert_whole(solved(uniform(20), backend, moves=moves, pivot=pivot))


@pytest.mark.parametrize(
    ("n", "machine", "options", "moves"),
    [
        (999, "gpu", {}, "lk"),
        (1_000, "gpu", {}, "flat"),
        (1_000, "gpu", {"pivot": "best"}, "3-opt"),
        (100, "gpu", {"moves": "or-opt"}, "or-opt"),
        (7, "gpu", {"moves": "flat"}, "flat"),
        (7, "cpu", {}, "lk"),
        (100, "cpu", {}, "lk"),
        (100, "cpu", {"pivot": "best"}, "3-opt"),
        (100, "cpu", {"moves": "flat"}, "flat"),
    ],
)
def test_moves_are_all_at_once_on_a_gpu_and_chains_on_a_cpu(
    n: int, machine: str, options: dict[str, Any], moves: str
) -> None:
    form = SimpleNamespace(whole=uniform(n))
    kernels = open_backend("c")
    task: Any = SimpleNamespace(watch=Watch(), options=EAX(**options), machine=machine, form=form, kernels=kernels)
    assert descent_moves(task) == moves


def test_cities_without_places_start_from_chains_on_a_gpu() -> None:
    form = SimpleNamespace(whole=Instance.from_matrix(uniform(1_000).distance_matrix()))
    kernels = open_backend("c")
    task: Any = SimpleNamespace(watch=Watch(), options=EAX(), machine="gpu", form=form, kernels=kernels)
    assert descent_moves(task) == "lk"


@pytest.mark.parametrize(
    ("kept", "options", "moves"),
    [
        ({"moves": "lk"}, {}, "lk"),
        ({"moves": "flat"}, {}, "flat"),
        ({"moves": "flat"}, {"moves": "3-opt"}, "3-opt"),
    ],
)
@pytest.mark.parametrize("machine", ["cpu", "gpu"])
def test_a_solve_goes_on_by_the_moves_with_which_it_began(
    kept: dict[str, Any], options: dict[str, Any], machine: str, moves: str
) -> None:
    form = SimpleNamespace(whole=uniform(100))
    watch = SimpleNamespace(state=State(kept, "run.checkpoint"))
    task: Any = SimpleNamespace(watch=watch, options=EAX(**options), machine=machine, form=form)
    assert descent_moves(task) == moves


def test_moves_that_are_not_all_at_once_are_made_by_the_host_of_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    gpu: Any = SimpleNamespace(device=SimpleNamespace(index=0))
    host: Any = SimpleNamespace(device=None)
    monkeypatch.setattr(eax, "host_kernels", lambda _: host)
    for moves in MOVES:
        assert eax._descent_kernels(moves, gpu) is host
        assert eax._descent_kernels(moves, host) is host
    assert eax._descent_kernels("flat", gpu) is gpu
    monkeypatch.setattr(eax, "host_kernels", lambda _: None)
    assert eax._descent_kernels("flat", gpu) is gpu
    with pytest.raises(BackendError, match="^moves='lk' are made by a CPU, and no kernels of one can run here; take"):
        eax._descent_kernels("lk", gpu)


def test_moves_of_all_cities_at_once_have_no_other_pivot() -> None:
    reported = "^moves='flat' has no effect with pivot='best': every city makes its best move$"
    with pytest.raises(ValueError, match=reported):
        EAX(moves="flat", pivot="best")
    with pytest.raises(ValueError, match=reported):
        pytsp.solve(uniform(9), moves="flat", pivot="best")
    assert EAX(moves="flat", pivot="first").moves == "flat"
    with pytest.raises(ValueError, match="^moves='flat' has no effect with solver='ils'; it is for solver='eax'$"):
        pytsp.solve(uniform(9), solver="ils", moves="flat")


@pytest.mark.parametrize("option", [{"k": 2}, {"mapping": "thread"}, {"kick": "walk"}, {"exchange": 5}])
def test_options_of_other_solvers_are_refused(option: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"has no effect with solver='eax'"):
        pytsp.solve(uniform(9), solver="eax", **option)


def test_a_generation_keeps_no_memory_for_the_next_one_on_a_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    released = 0

    def noted(kernels: Backend) -> None:
        nonlocal released
        released += 1

    monkeypatch.setattr(Backend, "release_memory", noted)
    found = pytsp.solve(uniform(200, 0), solver=EAX(climbers=8, iterations=3), backend="c")
    assert found.iterations == released == 3
