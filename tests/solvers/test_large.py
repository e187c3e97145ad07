"""One huge tour by its pieces: exact lengths, local optima, any cut and backend alike; sizes, ends, refusals."""

from __future__ import annotations

import importlib
import itertools
import json
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import oracle
import pytest
import strategies
from cities import uniform
from clocks import KernelClock, fastest
from faults import assert_wrong_lengths_are_found_out
from hypothesis import example, given, settings
from hypothesis import strategies as st
from interruptions import Interruption
from numpy.typing import NDArray
from results import assert_improves, assert_is_tour, assert_same, solving

import pytsp
from pytsp import Improvement, Instance, Progress, Result
from pytsp.api.collapsed import Collapsed
from pytsp.backends import Backend
from pytsp.cli.commands import main
from pytsp.exceptions import InstanceError, TourError
from pytsp.neighbours.lists import neighbour_lists
from pytsp.problem.kernel_input import form_of
from pytsp.problem.location import PLANE_METRICS as METRICS
from pytsp.problem.location import is_located
from pytsp.solvers import policy
from pytsp.solvers.common import fallback
from pytsp.solvers.common import pacing as _pacing
from pytsp.solvers.selection import choose
from pytsp.starts.construct import STARTS, start_tour
from pytsp.utils.deadline import OutOfTime

pieces_module = importlib.import_module("pytsp.solvers.large.pieces")
large_module = importlib.import_module("pytsp.solvers.large.solver")
PLANE = ("EUC_2D", "CEIL_2D")
# The longest distance that kernels take is nearly that of opposite corners.
LONGEST_SIDE = 759_250_000
solved = solving("large", iterations=3, piece=10)


@pytest.fixture(scope="module")
def backend(on_the_cpu: Backend) -> Backend:
    """Every backend of the CPU: GPUs have no kernels for one huge tour."""
    return on_the_cpu


def cities_solved(instance: Instance) -> int:
    """Return the number of cities that are solved of an instance with several in one place."""
    collapsed = Collapsed.of(instance)
    return instance.n if collapsed is None else collapsed.instance.n


def assert_whole(result: Result) -> None:
    """What holds of every result, however it ended."""
    assert_is_tour(result)
    if cities_solved(result.instance) < policy.LEAST_PIECE:
        # So few places have no pieces.
        assert result.solver == "ils"
        return
    assert (result.solver, result.k, result.moves, result.climbers) == ("large", None, None, 1)
    assert assert_improves(result.history)[-1] == pytest.approx(result.length, rel=1e-6)
    assert result.lengths[0] == pytest.approx(result.length, rel=1e-6)


def assert_optimal(result: Result) -> None:
    """No move of 3-opt shortens a tour that has been searched by complete lists."""
    assert result.done.tolist() == [True]
    whole = form_of(result.instance).whole
    distances = whole.distance_matrix().tolist()
    assert oracle.least(distances, result.tour.tolist(), 10**9) == whole.tour_length(result.tour)


@contextmanager
def patched(**values: Any) -> Iterator[None]:
    """Other sizes of calls, other rounds between passes."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in values.items():
            for module in (pieces_module, _pacing, policy):
                if hasattr(module, name):
                    patch.setattr(module, name, value)
        yield


def cut(call_seconds: float, growth: float = 1.0) -> dict[str, Any]:
    """What decides how much a call does."""
    return dict(CALL_SECONDS=call_seconds, SHORT_CALL_SECONDS=call_seconds, MOST_GROWTH=growth)


# What is found


@given(
    instance=strategies.coordinate_instances(PLANE, min_n=8, max_n=40),
    seed=st.integers(0, 2**64 - 1),
    piece=st.integers(8, 41),
    temperature=st.sampled_from((None, 0.0, 50.0)),
)
@settings(max_examples=60)
@example(
    instance=Instance.from_coordinates(np.zeros((8, 2)), metric="EUC_2D"), seed=2**64 - 1, piece=8, temperature=None
)
def test_every_result_is_a_tour_of_that_length(
    backend: Backend, instance: Instance, seed: int, piece: int, temperature: float | None
) -> None:
    result = solved(instance, backend, seed=seed, piece=piece, temperature=temperature)
    assert_whole(result)
    assert (result.stop_reason, result.iterations, result.seed) == ("finished", 3, seed)
    n = cities_solved(instance)
    size = min(piece, n)
    if n >= policy.LEAST_PIECE:
        assert result.steps.tolist() == [3 * (n // size) * max(1, round(0.1 * size))]
    assert result.length <= result.history[0].length


@given(
    instance=st.one_of(
        strategies.coordinate_instances(METRICS, min_n=8, max_n=11), strategies.lattice_instances(PLANE, 8, 11)
    ),
    seed=st.integers(0, 99),
    start=st.sampled_from(("random", "space-filling-curve")),
    iterations=st.sampled_from((0, 3)),
)
@settings(max_examples=60)
def test_what_is_done_is_a_local_optimum(
    backend: Backend, instance: Instance, seed: int, start: str, iterations: int
) -> None:
    options = dict(seed=seed, start=start, iterations=iterations, neighbours=instance.n - 1, temperature=0)
    result = solved(instance, backend, piece=8, **options)
    assert_whole(result)
    if cities_solved(instance) == instance.n:
        # Else the tour of fewer cities is one.
        assert_optimal(result)


@pytest.mark.parametrize("piece", [8, 13, 60])
def test_sizes_around_pieces(backend: Backend, piece: int) -> None:
    sizes = {8, 9, 10, 11, piece - 1, piece, piece + 1, 2 * piece - 1, 2 * piece, 3 * piece + 1} - {7}
    for n in sorted(sizes):
        result = solved(uniform(n), backend, piece=piece, neighbours=10, temperature=0)
        assert_whole(result)
        assert result.done.tolist() == [True]


@given(case=st.data(), n=st.integers(8, 60), seed=st.integers(0, 99))
@settings(max_examples=30)
def test_crowded_places_and_lines(backend: Backend, case: st.DataObject, n: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    points = {
        "equal": np.full((n, 2), 7.5),
        "line": np.column_stack([random.permutation(n), np.full(n, 3)]),
        "slope": np.outer(random.integers(0, 30, n), (2, 3)),
        "pairs": np.repeat(random.integers(0, 50, (n, 2)), 2, axis=0)[:n],
        "clusters": random.integers(0, 4, (n, 2)) * 1000 + random.integers(0, 5, (n, 2)),
    }[case.draw(st.sampled_from(("equal", "line", "slope", "pairs", "clusters")))]
    result = solved(Instance.from_coordinates(points, metric=case.draw(st.sampled_from(METRICS))), backend, seed=seed)
    assert_whole(result)


def test_a_line_is_walked_there_and_back(backend: Backend) -> None:
    line = np.column_stack([np.random.default_rng(0).permutation(200), np.zeros(200)])
    assert (
        solved(
            Instance.from_coordinates(line, metric="EUC_2D"), backend, start="random", piece=30, iterations=100
        ).length
        == 2 * 199
    )


@pytest.mark.parametrize(
    ("metric", "scale", "shift"),
    [
        ("EUC_2D", 1, 0),
        ("EUC_2D", 0.37, -20.5),
        ("EUC_2D", 1e6, 0),
        ("CEIL_2D", 1, 0),
        ("CEIL_2D", 0.37, 1e6),
        ("EUCLIDEAN", 1 / 300, 0),
        ("EUCLIDEAN", 1e-100, 0),
        ("EUCLIDEAN", 1e100, -5e101),
    ],
)
def test_every_form_of_coordinates(backend: Backend, metric: str, scale: float, shift: float) -> None:
    points = np.random.default_rng(5).integers(0, 300, (12, 2)) * scale + shift
    result = solved(Instance.from_coordinates(points, metric=metric), backend, piece=8, neighbours=11, temperature=0)
    assert_whole(result)
    assert_optimal(result)


@pytest.mark.parametrize("temperature", [None, 0.0, 1e12])
@pytest.mark.parametrize("seed", range(5))
def test_the_longest_distances(backend: Backend, temperature: float | None, seed: int) -> None:
    # In the corners, where three edges of a move are longer than 2^31, and anywhere.
    random = np.random.default_rng(seed)
    for points in (random.integers(0, 2, (12, 2)) * LONGEST_SIDE, random.integers(0, LONGEST_SIDE, (12, 2))):
        instance = Instance.from_coordinates(points, metric="EUC_2D")
        result = solved(instance, backend, piece=8, neighbours=11, temperature=temperature, start="random", seed=seed)
        assert_whole(result)
        if temperature == 0:
            assert_optimal(result)


def test_many_moves_of_the_longest_gains_end(backend: Backend) -> None:
    # The tour goes round three far places: each move between them gains more than 2^31.
    far = np.array([[0, 0], [800_000_000, 0], [400_000_000, 690_000_000]])
    instance = Instance.from_coordinates(far[np.arange(3600) % 3] + np.arange(3600)[:, None] // 3, metric="EUC_2D")
    # They are through after a few calls.
    calls = itertools.count()
    result = solved(
        instance, backend, initial_tour=np.arange(3600), iterations=0, progress=lambda _: next(calls) > 10_000
    )
    assert_whole(result)
    assert (result.stop_reason, result.done.tolist()) == ("finished", [True])
    assert result.length < 100 * 10**9


# Cuts, threads, seeds


@given(
    call_seconds=st.sampled_from((1e-12, 1e-4, 1e3)),
    growth=st.sampled_from((1.0, 8.0, 1e9)),
    options=st.fixed_dictionaries(
        dict(
            iterations=st.sampled_from((0, 1, 2, 7)),
            temperature=st.sampled_from((None, 0.0, 200.0)),
            start=st.sampled_from(("random", "space-filling-curve")),
            piece=st.sampled_from((8, 33, 100)),
        )
    ),
)
@settings(max_examples=40)
def test_any_cut_gives_the_same_result(
    backend: Backend, call_seconds: float, growth: float, options: dict[str, Any]
) -> None:
    # Passes come after rounds 1, 4, …, not all that are needed.
    rhythm = dict(FIRST_DESCENT=1, DESCENT_EVERY=3, DESCENT_PASSES=5)
    seen: list[Progress] = []
    with patched(**rhythm):
        expected = solved(uniform(103), backend, seed=9, **options)
    with patched(**rhythm, **cut(call_seconds, growth)):
        result = solved(uniform(103), backend, seed=9, progress=seen.append, **options)
    assert_same(result, expected)
    assert_whole(result)
    done = [each.iteration for each in seen]
    assert done == sorted(done) and done[-1] == options["iterations"]
    assert {(each.iterations, each.climbers) for each in seen} == {(options["iterations"], 1)}


@pytest.fixture(scope="module")
def by_c() -> dict[tuple[object, ...], pytsp.Result]:
    """What c has found: the same for any number of threads."""
    return {}


@pytest.mark.slow
@pytest.mark.parametrize("threads", [1, 2, 3, 7])
@pytest.mark.parametrize("options", [{}, {"start": "random", "piece": 8}, {"temperature": 0}])
def test_backends_and_threads_change_nothing(
    threads: int, options: dict[str, Any], by_c: dict[tuple[object, ...], pytsp.Result]
) -> None:
    rest: dict[str, Any] = dict(solver="large", iterations=12, piece=50, seed=2) | options
    for instance in (uniform(1000), uniform(300, metric="EUCLIDEAN")):
        key = (instance.n, *rest.items())
        if key not in by_c:
            by_c[key] = pytsp.solve(instance, **rest, backend="c")
        assert_same(pytsp.solve(instance, **rest, backend="multicore", threads=threads), by_c[key])


def test_a_seed_decides(backend: Backend) -> None:
    instance = uniform(400, side=10_000)
    results = [solved(instance, backend, seed=seed, iterations=20) for seed in (0, 0, 1, 2**63, 2**64 - 1)]
    assert_same(results[0], results[1])
    assert len({tuple(result.tour.tolist()) for result in results}) == 4


def test_the_numbers_of_cities_do_not_matter_where_there_are_no_ties(backend: Backend) -> None:
    points = np.random.default_rng(0).random((200, 2))
    order = np.random.default_rng(1).permutation(200)
    a, b = (solved(Instance.from_coordinates(each, metric="EUCLIDEAN"), backend) for each in (points, points[order]))
    assert a.tour.tolist() == order[b.tour].tolist()


# Starts and lists


@pytest.mark.parametrize("start", STARTS)
def test_every_start(backend: Backend, start: Any) -> None:
    instance = uniform(80, side=10_000)
    result = solved(instance, backend, start=start, seed=3)
    assert_whole(result)
    if start == "space-filling-curve":
        assert_same(result, solved(instance, backend, seed=3))
    if start in ("greedy", "space-filling-curve"):
        assert result.history[0].length == instance.tour_length(start_tour(instance, start, seed=3))


@given(tour=strategies.tours(12), iterations=st.integers(0, 2))
def test_an_initial_tour_becomes_no_longer(backend: Backend, tour: NDArray[np.int32], iterations: int) -> None:
    instance = uniform(12)
    result = solved(instance, backend, initial_tour=tour.tolist(), iterations=iterations)
    assert result.history[0].length == instance.tour_length(tour) >= result.length
    assert_whole(result)


def test_no_rounds_leave_a_local_optimum(backend: Backend) -> None:
    best = solved(uniform(100), backend, iterations=0)
    assert (best.iterations, best.steps.tolist(), best.done.tolist()) == (0, [0], [True])
    again = solved(uniform(100), backend, iterations=0, initial_tour=best.tour)
    assert again.tour.tolist() == best.tour.tolist()


@given(data=st.data())
@settings(max_examples=20)
def test_listed_neighbours_may_stand_in_any_order(backend: Backend, data: st.DataObject) -> None:
    instance = Instance.from_coordinates(np.random.default_rng(4).random((40, 2)), metric="EUCLIDEAN")
    lists = neighbour_lists(instance, 6)
    shuffled = lists[:, data.draw(st.permutations(range(6)))]
    results = [solved(instance, backend, neighbours=each) for each in (6, lists, shuffled)]
    assert_same(results[0], results[1])
    assert_same(results[0], results[2])


def test_any_number_of_neighbours_is_enough_for_a_tour(backend: Backend) -> None:
    for neighbours in (1, 2, 39, 1000, np.empty((40, 0), np.int32)):
        assert_whole(solved(uniform(40), backend, neighbours=neighbours))
    assert_whole(solved(uniform(40), backend, quadrants=True))
    assert_same(solved(uniform(40), backend), solved(uniform(40), backend, neighbours=8, quadrants=False))


# Temperatures


def test_the_default_temperature_is_a_share_of_near_distances(backend: Backend) -> None:
    instance = Instance.from_coordinates([[x, y] for x in range(0, 60, 10) for y in range(0, 60, 10)], metric="EUC_2D")
    assert_same(solved(instance, backend), solved(instance, backend, temperature=12))


def test_nothing_longer_is_accepted_at_temperature_0(backend: Backend) -> None:
    seen: list[Progress] = []
    lengths: list[int] = []
    call = Backend.call

    def record(self: Backend, entry: str, *arguments: Any) -> Any:
        result = call(self, entry, *arguments)
        if entry.endswith("large_length"):
            lengths.append(result)
        return result

    with pytest.MonkeyPatch.context() as patch, patched(FIRST_DESCENT=2, DESCENT_EVERY=3):
        patch.setattr(Backend, "call", record)
        solved(uniform(200), backend, iterations=8, temperature=0, progress=seen.append)
        assert lengths == sorted(lengths, reverse=True)
        lengths.clear()
        solved(uniform(200), backend, iterations=8, temperature=1000, piece=100)
        assert lengths != sorted(lengths, reverse=True)


def test_the_temperature_falls_to_0(backend: Backend) -> None:
    reported: list[float] = []
    call = Backend.call

    def record(self: Backend, entry: str, *arguments: Any) -> Any:
        if entry.endswith("climb_pieces"):
            reported.append(arguments[4])
        return call(self, entry, *arguments)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Backend, "call", record)
        solved(uniform(40), backend, iterations=10, temperature=8)
        assert sorted(set(reported), reverse=True) == pytest.approx([8 * (1 - r / 10) ** 3 for r in range(10)])
        reported.clear()
        KernelClock(patch)
        solved(uniform(40), backend, iterations=None, time_limit=60.0, temperature=8)
    assert reported == sorted(reported, reverse=True)
    assert reported[0] <= 8 and reported[-1] < 0.5


def test_with_a_time_limit_all_pieces_descend_before_the_first_kick(backend: Backend) -> None:
    asked: list[tuple[int, int]] = []
    value = Backend.value

    def record(self: Backend, name: str, fields: Any) -> Any:
        if name == "stretch":
            asked.append((fields["first"] >> 32, fields["iterations"]))
        return value(self, name, fields)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Backend, "value", record)
        KernelClock(patch)
        result = solved(uniform(200), backend, piece=50, iterations=None, time_limit=12.0)
        assert result.iterations is not None and result.iterations > 2
        assert {kicks for rounds, kicks in asked if rounds < 2} == {0}
        assert {kicks for rounds, kicks in asked if rounds > 1} == {5}
        # The descent of a round that is given has its kicks.
        asked.clear()
        solved(uniform(200), backend, piece=50, iterations=2)
        assert {kicks for _, kicks in asked} == {5}
    assert result.steps[0] == 20 * (result.iterations - 2)


@pytest.mark.parametrize(("moves", "first", "then"), [("lk", 1, 2), ("3-opt", 1, 1), ("or-opt", 0, 0)])
def test_the_first_descent_in_limited_time_makes_no_chains(moves: Any, first: int, then: int) -> None:
    asked: list[tuple[int, int]] = []
    call = Backend.call

    def record(self: Backend, entry: str, *arguments: Any) -> Any:
        if entry.endswith("climb_pieces"):
            asked.append((self.fields(arguments[3])["first"] >> 32, arguments[5]))
        return call(self, entry, *arguments)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Backend, "call", record)
        KernelClock(patch)
        pytsp.solve(uniform(200), solver="large", backend="c", piece=50, time_limit=12.0, moves=moves)
    assert {number for rounds, number in asked if rounds == 0} == {first}
    assert {number for rounds, number in asked if rounds > 0} == {then}


# Ends


def test_a_time_limit_ends_a_solve_with_the_best_so_far(backend: Backend, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = KernelClock(monkeypatch)
    result = solved(uniform(2_000, side=100_000), backend, iterations=None, time_limit=9.0, piece=200)
    assert result.stop_reason == "time limit"
    assert clock.begun("climb_pieces") > 1 and clock.begun("large_descend")
    assert not clock.begun("climb_pieces", "large_descend", after=9.0)
    assert_whole(result)


@pytest.mark.timed
def test_a_time_limit_is_kept(backend: Backend) -> None:
    # A core that stands for a GPU is slower than what the first calls count on.
    instance = uniform(2_500 if backend.name == "emulated" else 20_000, side=100_000)
    solve = partial(pytsp.solve, instance, solver="large", backend=backend.name, time_limit=1.5)
    assert fastest(lambda: solve().seconds, 2.0) < 2


def test_a_time_limit_that_is_over_at_once_still_gives_a_tour(backend: Backend) -> None:
    result = solved(uniform(2000), backend, iterations=None, time_limit=1e-9)
    assert (result.stop_reason, result.iterations) == ("time limit", 0)
    assert_whole(result)


@pytest.mark.parametrize("step", ["lists_of", "form_of", "_start", "Pieces"])
def test_a_time_limit_that_is_over_in_the_preparations_leaves_the_curve(
    backend: Backend, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    def late(*_: object, **__: object) -> None:
        raise OutOfTime

    def again(*_: object) -> None:
        raise AssertionError

    monkeypatch.setattr(large_module, step, late)
    monkeypatch.setattr(fallback, "_quick_tour_of", again)
    # The cities stand in no order; a tour along the curve is a quarter longer than the shortest.
    instance = uniform(2_000)
    result = solved(instance, backend, iterations=None, time_limit=60.0)
    assert (result.stop_reason, result.iterations) == ("time limit", 0)
    assert result.length < 0.1 * instance.tour_length(np.arange(instance.n))


@pytest.mark.timed
def test_a_time_limit_that_is_over_at_once_takes_no_second(backend: Backend) -> None:
    assert fastest(lambda: solved(uniform(2000), backend, iterations=None, time_limit=1e-9).seconds, 1.0) < 1


def test_a_target_ends_a_solve(backend: Backend) -> None:
    with patched(**cut(1e-12)):
        best = solved(uniform(200), backend, iterations=20)
        assert len(best.history) > 3
        target = best.history[-2].length
        result = solved(uniform(200), backend, iterations=20, target=target)
    assert (result.stop_reason, result.iterations) == ("target", best.history[-2].iteration)
    assert result.length == target
    assert_whole(result)
    assert solved(uniform(20), backend, target=0).stop_reason == "finished"


def test_improvements_and_calls_are_told_as_they_come(backend: Backend) -> None:
    reported: list[Improvement] = []
    seen: list[Progress] = []
    with patched(**cut(1e-12)):
        result = solved(uniform(200), backend, on_improvement=reported.append, progress=seen.append)
    assert result.history == tuple(reported)
    assert [each.length for each in seen] == sorted((each.length for each in seen), reverse=True)
    # Three rounds of twenty pieces, as many at a time as there are threads, and passes.
    together = backend.threads or 20
    assert len(seen) > 3 * 20 // together
    assert seen[-1].length == result.length


@pytest.mark.parametrize("name", ["progress", "on_improvement"])
def test_what_a_callback_raises_is_not_caught(backend: Backend, name: str) -> None:
    def fail(_: Any) -> None:
        raise LookupError("mine")

    with pytest.raises(LookupError, match="mine"):
        solved(uniform(10), backend, **{name: fail})


@pytest.mark.parametrize("after", [False, True])
def test_control_c_at_any_call_leaves_a_tour(backend: Backend, monkeypatch: pytest.MonkeyPatch, after: bool) -> None:
    instance = uniform(200)
    # Before are the lists, and what is taken to the device.
    for at in range(7, 120):
        with monkeypatch.context() as patch, patched(**cut(1e-12), FIRST_DESCENT=1, DESCENT_EVERY=2):
            interruption = Interruption(at, after)
            patch.setattr(Backend, "call", lambda self, *args, seam=interruption: seam.call(self, *args))
            result = solved(instance, backend, piece=50)
        assert result.stop_reason == ("interrupted" if interruption.calls > at else "finished")
        assert_whole(result)
        if result.stop_reason == "finished":
            break
    assert result.stop_reason == "finished"


def test_a_wrong_length_of_a_kernel_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    assert_wrong_lengths_are_found_out(
        monkeypatch, "grid_large_length", lambda: pytsp.solve(uniform(9), solver="large", iterations=1, backend="c")
    )


# Which instances, and what is refused


@pytest.mark.parametrize("n", range(1, policy.LEAST_PIECE))
def test_few_cities_go_through_iterated_local_search(backend: Backend, n: int) -> None:
    for instance in (uniform(n), Instance.from_matrix(uniform(n).distance_matrix())):
        assert solved(instance, backend).solver == "ils"


def test_auto_is_large_above_what_can_be_recombined() -> None:
    def by_itself(instance: Instance, *, on_the_cpu: bool = True, is_free: bool = True, **given_: Any) -> str:
        return choose("auto", given_, instance, on_the_cpu=lambda: on_the_cpu, may_take_the_cpu=is_free).name

    assert by_itself(uniform(20_000)) == "eax"
    assert all(by_itself(uniform(20_001, metric=metric)) == "large" for metric in METRICS)
    for metric in ("MAN_2D", "ATT", "MAX_2D"):
        assert by_itself(uniform(20_001, metric=metric)) == "large"
    # On a GPU populations take more; iterations ask for one search there, too, which has pieces on the CPU alone.
    assert by_itself(uniform(20_001), on_the_cpu=False) == "eax"
    assert by_itself(uniform(20_001), on_the_cpu=False, iterations=3) == "large"
    assert by_itself(uniform(20_001), on_the_cpu=False, is_free=False, iterations=3) == "ils"
    assert by_itself(uniform(20_001), iterations=3, start="greedy", piece=9) == "large"
    for given_ in ({"pivot": "best"}, {"climbers": 2}, {"kick": "walk"}):
        assert by_itself(uniform(20_001), **given_) == "ils"
    assert by_itself(uniform(20_001), k=2) == "restarts"
    solid = np.random.default_rng(0).random((20, 3))
    assert is_located(Instance.from_coordinates(solid, "EUCLIDEAN"))
    assert not is_located(Instance.from_coordinates(solid, "XRAY1"))
    result = pytsp.solve(uniform(20_001, side=10**5), target=1e12)
    assert (result.solver, result.stop_reason) == ("large", "target")


@pytest.mark.parametrize("metric", ["MAN_2D", "ATT", "GEO", "GEOM", "EUCLIDEAN", "EXPLICIT", "XRAY1"])
def test_other_metrics_are_refused(backend: Backend, metric: str) -> None:
    points = uniform(9, side=50).coordinates
    assert points is not None
    solid = np.column_stack([points, points[:, 0]])
    if metric == "EXPLICIT":
        instance = Instance.from_matrix(uniform(9).distance_matrix(), name="far")
    else:
        is_solid = metric in ("EUCLIDEAN", "XRAY1")
        instance = Instance.from_coordinates(solid if is_solid else points, metric=metric, name="far")
    if metric not in ("EXPLICIT", "XRAY1"):
        assert_whole(solved(instance, backend))
        return
    words = (
        "far: solver 'large' needs cities in the plane, in space or on a sphere; the metric is "
        f"{metric}: use solver='ils'"
    )
    with pytest.raises(InstanceError, match=words):
        solved(instance, backend)


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"piece": 7}, ValueError, "piece must be a whole number from 8 to 2147483647; it is 7"),
        ({"piece": 2**31}, ValueError, "piece must be a whole number from 8"),
        ({"piece": 9.5}, TypeError, "piece must be"),
        (
            {"piece": 9, "solver": "ils"},
            ValueError,
            "piece=9 has no effect with solver='ils'; it is for solver='large'",
        ),
        ({"iterations": -1}, ValueError, "iterations must be a whole number from 0"),
        ({"climbers": 2}, ValueError, "climbers=2 has no effect with solver='large'"),
        ({"moves": "2-opt"}, ValueError, "moves=.2-opt. has no effect with solver=.large."),
        ({"pivot": "best"}, ValueError, "pivot='best' has no effect with solver='large'"),
        ({"kick": "walk"}, ValueError, "kick='walk' has no effect with solver='large'"),
        ({"exchange": 2}, ValueError, "exchange=2 has no effect with solver='large'"),
        ({"k": 2}, ValueError, "k=2 has no effect with solver='large'"),
        ({"temperature": -1}, ValueError, "temperature must be a length, at least 0; it is -1"),
        ({"temperature": 1e13}, ValueError, r"temperature must be at most 1e\+12 here; it is 10000000000000.0"),
        ({"neighbours": 0}, ValueError, "neighbours must be a whole number from 1"),
        ({"neighbours": 2.5}, TypeError, "neighbours must be"),
        ({"neighbours": [[1]]}, ValueError, r"neighbours must be integers of shape \(9, k\)"),
        ({"neighbours": [[0]] * 9}, ValueError, "neighbour 0 of city 0 is the city itself"),
        ({"start": "there"}, ValueError, "start 'there' is not known"),
        ({"initial_tour": range(10)}, TourError, r"must have shape \(9,\)"),
        ({"initial_tour": range(9), "start": "random"}, ValueError, "start='random' says otherwise"),
    ],
)
def test_arguments_out_of_range_are_refused(options: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        pytsp.solve(uniform(9), **({"solver": "large", "backend": "c"} | options))


def test_distances_beyond_the_kernels_are_refused() -> None:
    points = np.column_stack([np.arange(9) * 2**27, np.zeros(9)])
    with pytest.raises(InstanceError, match="1073741823: divide"):
        pytsp.solve(Instance.from_coordinates(points, metric="EUC_2D", name="far"), solver="large", backend="c")


@pytest.mark.parametrize("asked", [{"backend": "cuda"}, {"backend": "opencl"}, {"device": 0}])
def test_a_gpu_has_no_pieces(asked: dict[str, Any]) -> None:
    words = "one huge tour by its pieces is searched by the CPU, got .*; take solver='eax' on a GPU, or backend="
    with pytest.raises(pytsp.BackendError, match=words):
        pytsp.solve(uniform(20), solver="large", **asked)


def test_the_command_line_takes_pieces(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "forty.tsp"
    pytsp.write(file, uniform(40))
    options: dict[str, Any] = dict(solver="large", piece=10, iterations=5, temperature=30.0, start="greedy")
    words = [word for name, value in options.items() for word in (f"--{name}", str(value))]
    assert main(["solve", str(file), "--backend", "c", *words, "--json"]) == 0
    reported = json.loads(capsys.readouterr().out)
    expected = pytsp.solve(uniform(40), backend="c", **options)
    assert (reported["tour"], reported["length"], reported["solver"]) == (
        expected.tour.tolist(),
        expected.length,
        "large",
    )
    assert (reported["iterations"], reported["stop_reason"]) == (5, "finished")
    assert main(["solve", str(file), "--backend", "c", *words]) == 0
    assert str(expected.length) in capsys.readouterr().out


def test_exits_that_take_too_long_are_left_out(backend: Backend, monkeypatch: pytest.MonkeyPatch) -> None:
    """Trees of 200,000 places on a line took all of a limit, and the tour was left as the curve had it."""

    def is_too_long(*_: object) -> None:
        raise OutOfTime

    monkeypatch.setattr("pytsp.solvers.large.solver.find_exits", is_too_long)
    result = pytsp.solve(uniform(2_000), solver="large", backend=backend.name, iterations=1, time_limit=600.0)
    assert result.stop_reason == "finished"
    assert result.solver == "large"
