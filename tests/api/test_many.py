"""Solving many instances: together or alone, in any order, cut anywhere, on any backend, the results are the same."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import count
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import strategies
from clocks import fastest, seconds_of
from emulated import skip_where_slow
from faults import assert_wrong_lengths_are_found_out
from hypothesis import example, given, settings
from hypothesis import strategies as st
from interruptions import Interruption
from paths import all_tsplib, tsplib_file

import pytsp
from pytsp import Instance, Result
from pytsp.api import batches, rescaled
from pytsp.api.batch_pace import BatchPace
from pytsp.api.together import Together
from pytsp.api.transforms import solve_instance
from pytsp.backends import Backend
from pytsp.backends.devices import Device
from pytsp.exceptions import BackendError, InstanceError, PytspWarning
from pytsp.problem.kernel_input import form_of
from pytsp.run.limits import Limits
from pytsp.run.monitor import Watch


def assert_same(a: Result, b: Result) -> None:
    """Everything but the time, and the backend."""
    assert (a.length, a.climber, a.seed, a.solver) == (b.length, b.climber, b.seed, b.solver)
    assert (a.iterations, a.stop_reason) == (b.iterations, b.stop_reason)
    assert a.tour.tolist() == b.tour.tolist()
    assert a.lengths.tolist() == b.lengths.tolist()


def assert_whole(result: Result, instance: Instance) -> None:
    """What holds of every result."""
    assert result.instance is instance
    assert pytsp.is_tour(result.tour, instance.n)
    assert result.length == instance.tour_length(result.tour)
    assert isinstance(result.length, int) is instance.is_exact
    assert (result.seed, result.stop_reason, result.done.all()) == (0, "finished", True)


@contextmanager
def cut(first: int, seconds: float) -> Iterator[None]:
    """Other numbers of cities that go together: at first, and by the time that they should take."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(batches, "FIRST_CITIES", dict.fromkeys(("cpu", "gpu"), first))
        patch.setattr(batches, "CALL_SECONDS", dict.fromkeys(("cpu", "gpu"), seconds))
        yield


ANY = st.one_of(
    strategies.instances(max_n=12),
    strategies.float_instances(max_n=12),
    strategies.lattice_instances(("EUC_2D", "CEIL_2D", "EUCLIDEAN"), max_n=12),
)
ONE_PLACE = Instance.from_coordinates([[3, 3]] * 9, metric="EUC_2D")
LINE = Instance.from_coordinates([[x // 2, 0] for x in range(10)], metric="EUCLIDEAN")
NO_DISTANCE = Instance.from_matrix(np.zeros((8, 8), dtype=np.int64))


# What a result depends on


@settings(max_examples=30)
@given(instances=st.lists(ANY, max_size=6), order=st.randoms(use_true_random=False))
@example(instances=[ONE_PLACE, LINE, NO_DISTANCE, ONE_PLACE], order=np.random.default_rng(0))
def test_each_is_solved_as_by_itself_in_any_order(backend: Backend, instances: list[Instance], order: Any) -> None:
    options: dict[str, Any] = dict(climbers=3, iterations=2, backend=backend.name)
    order.shuffle(instances)
    results = pytsp.solve_many(iter(instances), **options)
    for instance, result in zip(instances, results, strict=True):
        assert_whole(result, instance)
        assert_same(result, pytsp.solve_many([instance], **options)[0])


@settings(max_examples=10)
@given(
    first=st.sampled_from((0, 1, 2, 5, 1000)),
    seconds=st.sampled_from((1e-9, 1e-3, 1e3)),
    memory=st.sampled_from((1, 50_000, 2**28)),
)
def test_any_cut_gives_the_same_results(backend: Backend, first: int, seconds: float, memory: int) -> None:
    points = np.random.default_rng(0).integers(0, 100, (23, 12, 2))
    instances = [
        Instance.from_coordinates(cities[:n], metric="EUC_2D")
        for cities, n in zip(points, [12, 12, 8] * 8, strict=False)
    ]
    expected = pytsp.solve_many(instances, climbers=2, backend="c")
    with cut(first, seconds), pytest.MonkeyPatch.context() as patch:
        patch.setattr(batches, "CPU_BYTES", memory)
        patch.setattr(batches, "GPU_BYTES", memory)
        results = pytsp.solve_many(instances, climbers=2, backend=backend.name)
    for result, other in zip(results, expected, strict=True):
        assert_same(result, other)


@pytest.mark.parametrize("by_threads", [False, True], ids=["host", "threads"])
@pytest.mark.parametrize("metric", ["EUC_2D", "CEIL_2D", "EUCLIDEAN", "GEO", "GEOM", "MAN_2D"])
def test_all_backends_solve_alike(
    backend: Backend, metric: str, by_threads: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    # So few climbers are otherwise left to a GPU's host.
    if by_threads and backend.device is None:
        pytest.skip("a GPU's threads")
    monkeypatch.setattr("pytsp.api.together.climbs_on_a_gpu", lambda *_: by_threads)
    points = np.random.default_rng(0).integers(0, 90, (4, 30, 2))
    # Those with fractions are brought to the kernel in another form.
    fractions = points[:2] + (0.25 if metric in ("EUC_2D", "CEIL_2D") else 0)
    instances = [Instance.from_coordinates(each, metric=metric) for each in (*points, *fractions)]
    results = pytsp.solve_many(instances, climbers=4, seed=7, backend=backend.name)
    for result, other in zip(results, pytsp.solve_many(instances, climbers=4, seed=7, backend="c"), strict=True):
        assert_same(result, other)


def test_cities_of_one_scale_are_not_searched_on_a_finer_one(monkeypatch: pytest.MonkeyPatch) -> None:
    def finer(*_: object) -> None:
        raise AssertionError

    monkeypatch.setattr(rescaled, "solve_finer", finer)
    assert len(pytsp.solve_many(np.random.default_rng(4).random((50, 100, 2)), climbers=2, iterations=0)) == 50


def test_without_time_a_result_is_not_searched_again() -> None:
    [result] = pytsp.solve_many([np.random.default_rng(3).random((9, 2))], backend="c")
    solving = batches.Batches(2, 0, None, {"backend": "c", "threads": None, "device": None}, Watch(time_limit=1e-9))
    assert solving._finer(result, reserve=1.0).tour.tolist() == result.tour.tolist()


def test_all_backends_solve_few_cities_alike(backend: Backend) -> None:
    draw = np.random.default_rng(3)
    instances = [Instance.from_coordinates(draw.integers(0, 90, (n, 2)), "EUC_2D") for n in (*range(1, 9), 7, 6, 5)]
    options: dict[str, Any] = dict(climbers=2, iterations=3, seed=2026)
    results = pytsp.solve_many(instances, **options, backend=backend.name)
    for result, other in zip(results, pytsp.solve_many(instances, **options, backend="c"), strict=True):
        assert_same(result, other)


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_threads_change_nothing(threads: int) -> None:
    points = np.random.default_rng(0).random((7, 20, 2))
    expected = pytsp.solve_many(points, climbers=3, backend="c")
    for result, other in zip(
        pytsp.solve_many(points, climbers=3, backend="multicore", threads=threads), expected, strict=True
    ):
        assert_same(result, other)


def test_seeds_climbers_and_generations_make_a_difference(backend: Backend) -> None:
    points = np.random.default_rng(0).random((1, 400, 2))
    changes: list[dict[str, Any]] = [{}, {"seed": 1}, {"climbers": 15}, {"iterations": 0}]
    options: dict[str, Any] = dict(seed=0, climbers=6, iterations=5, backend=backend.name)
    tours = [tuple(pytsp.solve_many(points, **options | change)[0].tour.tolist()) for change in changes]
    assert len(set(tours)) == len(changes)


def test_more_generations_never_give_a_longer_tour(backend: Backend) -> None:
    points = np.random.default_rng(0).random((3, 300, 2))
    lengths = [
        [result.length for result in pytsp.solve_many(points, climbers=4, iterations=made, backend=backend.name)]
        for made in (0, 1, 2, 5, 20)
    ]
    assert all(list(each) == sorted(each, reverse=True) for each in zip(*lengths, strict=True))
    assert sum(lengths[-1]) < sum(lengths[0])


# Sizes


@pytest.mark.parametrize(("metric", "count"), [("EUC_2D", 10), ("MAN_2D", 3)])
def test_a_call_has_as_many_as_its_memory_holds(metric: str, count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten instances of a plane fill it; with matrices, of 4 bytes a distance, three do."""
    n, climbers = 100, 3
    monkeypatch.setattr(batches, "CPU_BYTES", 10 * batches.CITY_BYTES * n * climbers)
    instance = Instance.from_coordinates(np.random.default_rng(0).integers(0, 9**4, (n, 2)), metric=metric)
    group = [(number, instance, form_of(instance)) for number in range(20)]
    solving = batches.Batches(climbers, 0, None, {"backend": "c", "threads": None, "device": None}, Watch())
    assert solving._count(group, 0, 10**6) == count
    assert solving._count(group, 18, 10**6) == 2
    assert solving._count(group, 5, 3 * n + 1) == 3
    assert solving._count(group, 5, 1) == 1


def test_sizes_from_8_on_go_together(backend: Backend, monkeypatch: pytest.MonkeyPatch) -> None:
    skip_where_slow(backend)
    monkeypatch.setattr(batches, "TOGETHER_CITIES", range(8, 301))
    monkeypatch.setattr(batches, "TOGETHER_IN_A_MATRIX", range(8, 21))
    sizes = {"EUC_2D": [7, 8, 300, 301, 9], "MAN_2D": [8, 20, 21, 7]}
    instances = [
        Instance.from_coordinates(np.random.default_rng(n).integers(0, 9**4, (n, 2)), metric=metric)
        for metric, each in sizes.items()
        for n in each
    ]
    called: list[str] = []
    call = Backend.call

    def noted(self: Backend, entry: str, *arguments: object) -> Any:
        called.append(entry)
        return call(self, entry, *arguments)

    monkeypatch.setattr(Backend, "call", noted)
    enough = Limits(target=10**9)
    monkeypatch.setattr(
        batches, "solve_instance", lambda instance, request: solve_instance(instance, replace(request, limits=enough))
    )
    results = pytsp.solve_many(instances, climbers=2, iterations=1, backend=backend.name)
    assert (called.count("plane_many_given"), called.count("matrices_many_given")) == (1, 1)
    for instance, result in zip(instances, results, strict=True):
        assert pytsp.is_tour(result.tour, instance.n)
        assert (len(result.lengths), result.iterations) == (1, 1) or instance.n in (7, 21, 301)


def test_the_largest_that_go_together() -> None:
    for n, metric, together in [
        (7, "EUC_2D", False),
        (8, "EUC_2D", True),
        (20_000, "CEIL_2D", True),
        (20_001, "EUCLIDEAN", False),
        (1_500, "GEO", True),
        (1_501, "MAN_2D", False),
    ]:
        instance = Instance.from_coordinates(np.zeros((n, 2)), metric=metric)
        assert batches._goes_together(instance) is together
        assert batches._goes_together(instance, is_limited=True) is (together and n <= 1_000)
    at_most = Instance.from_coordinates(np.zeros((1_000, 2)), metric="EUC_2D")
    assert batches._goes_together(at_most, is_limited=True)


@pytest.mark.parametrize("metric", [None, "EUC_2D"])
def test_an_array_of_coordinates_is_many_instances(metric: str | None) -> None:
    points = np.random.default_rng(0).random((5, 12, 2)) * 100
    results = pytsp.solve_many(points, metric=metric, backend="c")
    instances = [Instance.from_coordinates(cities, metric=metric or "EUCLIDEAN") for cities in points]
    for instance, result, other in zip(instances, results, pytsp.solve_many(instances, backend="c"), strict=True):
        assert result.length == instance.tour_length(result.tour)
        assert result.instance.metric == instance.metric
        assert_same(result, other)


def test_a_list_of_arrays_is_many_instances() -> None:
    draw = np.random.default_rng(0)
    points = [draw.random((n, 2)) * 100 for n in (9, 3, 12, 9)]
    matrix = [[0, 1, 2, 3], [1, 0, 4, 5], [2, 4, 0, 6], [3, 5, 6, 0]]
    frame = pytest.importorskip("pandas", reason="data frames need it").DataFrame(points[0], columns=["x", "y"])
    results = pytsp.solve_many([*points, points[0].tolist(), frame, matrix], backend="c")
    for cities, result in zip(points, results, strict=False):
        assert_same(result, pytsp.solve_many([Instance.from_coordinates(cities, "EUCLIDEAN")], backend="c")[0])
    assert_same(results[4], results[0])
    assert_same(results[5], results[0])
    assert results[6].length == 14
    rounded = pytsp.solve_many(points, metric="EUC_2D", backend="c")
    assert {each.instance.metric for each in rounded} == {"EUC_2D"}


@pytest.mark.parametrize("looks", [0, 1, 2, 5, 100])
def test_a_time_limit_leaves_every_instance_a_tour(
    looks: int, backend: Backend, monkeypatch: pytest.MonkeyPatch
) -> None:
    draw, left = np.random.default_rng(0), iter(range(looks, -1000, -1))
    instances = [
        Instance.from_coordinates(draw.integers(0, 10**4, (n, 2)), metric="EUC_2D") for n in [60, 9, 60, 90, 60] * 3
    ]
    # Each look at the clock takes a second.
    monkeypatch.setattr("pytsp.api.batches.Watch.seconds_left", property(lambda _: float(next(left))))
    with cut(0, 1e-9):
        options: dict[str, Any] = dict(time_limit=1e-3, climbers=3, backend=backend.name)
        results = pytsp.solve_many(instances, **options)
    assert [result.instance for result in results] == instances
    assert all(result.length == result.instance.tour_length(result.tour) for result in results)
    late = [result for result in results if result.stop_reason == "time limit"]
    solved = len(results) - len(late)
    # A population that is cut is late.
    assert solved == {0: 0, 1: 0, 100: 15}.get(looks, solved)
    # Even those that were not reached are far from random ones.
    for result in late:
        if result.instance.n == 9:
            continue
        assert result.length < 0.7 * result.instance.tour_length(np.arange(result.instance.n))


@pytest.mark.parametrize("left", [-1.0, 1e9])
def test_without_time_for_populations_one_climber_of_each_descends(
    left: float, backend: Backend, monkeypatch: pytest.MonkeyPatch
) -> None:
    draw, most = np.random.default_rng(5), batches.CLIMBED_CITIES
    instances = [
        Instance.from_coordinates(draw.integers(0, 10**4, (n, 2)), metric="EUC_2D")
        for n in [60, most, 9, most + 1, 60, most + 1]
    ]
    alone = pytsp.solve_many(instances, climbers=1, iterations=0, backend="c")
    monkeypatch.setattr("pytsp.api.batches.Watch.seconds_left", property(lambda _: left))
    monkeypatch.setattr(BatchPace, "climbers", lambda *_: 0)
    monkeypatch.setattr("pytsp.api.batch_pace.host_kernels", lambda _: None)
    results = pytsp.solve_many(instances, time_limit=1.0, climbers=3, backend=backend.name)
    assert [result.instance for result in results] == instances
    for result, climbed in zip(results, alone, strict=True):
        assert result.stop_reason == "time limit" and result.length == result.instance.tour_length(result.tour)
        # Those of more cities descend if there is time.
        if result.instance.n <= most or left > 0:
            assert np.array_equal(result.tour, climbed.tour)
            assert result.iterations == 0


def test_without_time_a_coarse_tour_is_told_to_be_one(monkeypatch: pytest.MonkeyPatch) -> None:
    points = np.random.default_rng(0).random((50, 2))
    points[0] = 1e12
    monkeypatch.setattr(BatchPace, "climbers", lambda *_: 0)
    [result] = pytsp.solve_many([points], time_limit=60.0, backend="c")
    assert result.stop_reason == "time limit" and result.is_coarse
    assert result.length == result.instance.tour_length(result.tour)


@pytest.mark.parametrize("slower", [0.5, 1.0, 3.0])
@pytest.mark.parametrize("share", [0.2, 0.4, 0.8, 2.0])
def test_a_time_limit_is_for_as_many_climbers_of_each_as_there_is_time_for(
    share: float, slower: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The clock goes on by the work of each call, on a machine that is slower than the one of the table."""
    draw, now, calls = np.random.default_rng(5), 0.0, list[tuple[int, int]]()
    instances = [
        Instance.from_coordinates(draw.random((n, 2)), "EUCLIDEAN") for n in draw.integers(8, 60, 200).tolist()
    ]
    sizes = np.array([instance.n for instance in instances])
    pace, solved = BatchPace(pytsp.backends.open_backend("c"), 20), Together.solved
    limit = share * slower * pace.seconds(sizes, 20)

    def clocked(self: Together, seed: int, climbers: int, *others: Any) -> Any:
        nonlocal now
        made = solved(self, seed, climbers, *others)
        calls.append((climbers, len(self.sizes)))
        now += slower * pace.seconds(self.sizes.astype(np.int64), climbers)
        return made

    monkeypatch.setattr(Together, "solved", clocked)
    monkeypatch.setattr("pytsp.api.batches.time.perf_counter", lambda: now)
    monkeypatch.setattr("pytsp.api.batches.Watch.seconds_left", property(lambda _: limit - now))
    results = pytsp.solve_many(instances, time_limit=1.0, iterations=0, backend="c")
    # The first call sees how fast the machine is.
    (_, first), *others = calls
    assert first < 80 and sum(count for _, count in calls) == 200
    fewest, most = (function(climbers for climbers, _ in others) for function in (min, max))
    if share > 1:
        assert fewest == most == 20 and now < limit
    else:
        assert 20 * share - 5 < fewest <= most < 20 * share + 5 and 0.85 * limit < now < 1.1 * limit
    late = [result.stop_reason == "time limit" for result in results]
    assert sum(late) == sum(count for climbers, count in calls if climbers < 20)


def test_a_gpu_shows_its_pace_by_a_short_call_or_has_all_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    device = Device(0, "Paper GPU", 2**37, "9.0", "13.0", multiprocessors=132)
    solving = batches.Batches(20, 0, None, {}, Watch(time_limit=1.0))
    solving.__dict__["kernels"] = SimpleNamespace(device=device, threads=None, name="cuda")
    monkeypatch.setattr("pytsp.api.batch_pace.host_kernels", lambda _: None)
    sizes, pace = np.full(10_000, 100), solving._pace
    # All together take 2.02 s, and 1.2 by half as many climbers; the first 1,000 take 0.4.
    assert solving._timely_cities(sizes, 20, 1.5, 0) == int(1_000_000 * 1.0 / pace.seconds(sizes, 20))
    assert solving._timely_cities(sizes, 10, 1.5, 0) == 1_000_000
    assert solving._timely_cities(sizes, 20, 10.0, 0) == batches.FIRST_CITIES["gpu"]
    pace.observe(sizes[:1_000], 20, 1.0)
    # It is half as fast: half of the time that is left is for the next call.
    assert solving._timely_cities(sizes, 20, 10.0, 0) == int(1_000_000 * 5.0 / pace.seconds(sizes, 20))


@pytest.mark.timed
@pytest.mark.parametrize("sizes", [[60] * 900, [1000] * 20, [20_000], [2000] * 9, [60] * 500 + [1500] * 3 + [5] * 3])
def test_a_time_limit_is_kept(sizes: list[int]) -> None:
    draw, limit = np.random.default_rng(0), 1.0
    instances = [Instance.from_coordinates(draw.integers(0, 10**4, (n, 2)), metric="EUC_2D") for n in sizes]
    # What is opened and imported first is not the question.
    pytsp.solve_many(instances[:1] + instances[-1:], time_limit=0.1, backend="c")
    results: list[Result] = []

    def solve() -> None:
        results[:] = pytsp.solve_many(instances, time_limit=limit, climbers=300, backend="c")

    assert fastest(lambda: seconds_of(solve), limit + 1) < limit + 1
    assert [result.instance for result in results] == instances
    assert "time limit" in {result.stop_reason for result in results}


@pytest.mark.parametrize("stop", [1, 3, 7, 100])
def test_progress_is_told_and_may_end_it(stop: int) -> None:
    instances = [
        Instance.from_coordinates(np.random.default_rng(n).random((n, 2)), metric="EUC_2D")
        for n in (9, 5, 9, 8, 6, 1, 2)
    ]
    reported: list[tuple[int, int]] = []

    def progress(done: int, total: int) -> bool:
        reported.append((done, total))
        return done == stop

    with cut(0, 1e-9):
        results = pytsp.solve_many(instances, backend="c", progress=progress)
    assert reported == [(done, 7) for done in range(1, min(stop, 7) + 1)]
    assert len(results) == len(reported)


def test_nothing_is_solved_to_nothing() -> None:
    assert len(pytsp.solve_many([], backend="c")) == 0
    assert len(pytsp.solve_many(np.empty((0, 5, 2)), backend="c")) == 0


# What is found


def test_few_cities_are_solved_to_optimality(backend: Backend) -> None:
    names = [name for name in all_tsplib(60) if pytsp.read(tsplib_file(f"{name}.tsp")).n >= 8]
    if not names:
        pytest.skip("TSPLIB's files are not there")
    instances = [pytsp.read(tsplib_file(f"{name}.tsp")) for name in names]
    results = pytsp.solve_many(instances, climbers=60, backend=backend.name)
    assert {result.instance.name: result.gap for result in results} == dict.fromkeys(names, 0)


# Ends


@pytest.mark.parametrize("at", [0, 1, 5, 7, 8, 9, 10, 20])
@pytest.mark.parametrize("after", [False, True])
def test_an_interruption_ends_the_list(at: int, after: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    instances = [
        Instance.from_coordinates(np.random.default_rng(n).random((n, 2)), metric="EUC_2D") for n in (9, 5, 9, 8, 6)
    ]
    interruption = Interruption(at, after)
    monkeypatch.setattr(Backend, "call", interruption.call)
    with cut(0, 1e-9):
        # Nine calls for instances of one generation: until the last has ended there is no result.
        if at <= 8:
            with pytest.raises(KeyboardInterrupt):
                pytsp.solve_many(instances, backend="c", iterations=1)
            return
        results = pytsp.solve_many(instances, backend="c", iterations=1)
    assert 1 <= len(results) < len(instances)
    places = [instances.index(result.instance) for result in results]
    assert places == sorted(places)
    assert places[0] == 0
    assert all(each.length == each.instance.tour_length(each.tour) for each in results)
    assert [each.stop_reason for each in results].count("interrupted") <= 1


def test_a_wrong_length_of_a_kernel_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    assert_wrong_lengths_are_found_out(
        monkeypatch, "many_bests", lambda: pytsp.solve_many(np.random.default_rng(0).random((2, 9, 2)), backend="c")
    )


# Refusals


@pytest.mark.parametrize(
    ("instances", "options", "error", "words"),
    [
        (np.zeros((5, 2)), {}, ValueError, r"must have shape \(b, n, 2\); the shape is \(5, 2\)"),
        (np.zeros((2, 5, 4)), {}, InstanceError, "EUCLIDEAN needs"),
        ([np.zeros((5, 4))], {}, InstanceError, r"instances\[0\]: data must have shape"),
        ([None], {}, TypeError, r"instances\[0\]: instance must be a pytsp.Instance .*; it is a NoneType"),
        (
            [LINE],
            {"metric": "EUC_2D"},
            InstanceError,
            r"instances\[0\]: metric='EUC_2D' has no effect with an Instance",
        ),
        ([LINE], {"time_limit": 0}, ValueError, "time_limit must be a positive number of seconds; it is 0"),
        ([LINE], {"progress": 5}, TypeError, "progress must be callable; it is 5"),
        ([], {"climbers": 0}, ValueError, "climbers must be a whole number from 1"),
        ([], {"climbers": 1.5}, TypeError, "climbers must be"),
        ([], {"seed": -1}, ValueError, "seed must be a whole number from 0"),
        ([], {"seed": 2**64}, ValueError, "seed must be"),
        ([], {"iterations": -1}, ValueError, "iterations must be a whole number from 0"),
        ([], {"backend": "cobol"}, BackendError, "'cobol' is not known"),
        (
            [Instance.from_matrix(2**30 * (1 - np.eye(9, dtype=int)))],
            {},
            InstanceError,
            r"s\[0\]: .*1073741823: divide",
        ),
    ],
)
def test_what_is_wrong_is_refused_before_any_is_solved(
    instances: Any, options: Any, error: type[Exception], words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Backend, "call", lambda *_: pytest.fail("it ran"))
    with pytest.raises(error, match=words):
        pytsp.solve_many(instances, **{"backend": "c"} | options)


# Of each kind one that has no result: no instance, none that a kernel takes together or alone, and directed.
FAILING: list[tuple[Any, str]] = [
    (None, "instance must be a pytsp.Instance"),
    ([[0, 0], [1, np.nan], [2, 2]], "nan"),
    (Instance.from_matrix(2**30 * (1 - np.eye(9, dtype=int))), "1073741823: divide"),
    (Instance.from_matrix(2**30 * (1 - np.eye(5, dtype=int))), "1073741823: divide"),
    (Instance.from_matrix(np.tri(8, dtype=int), asymmetric=True), "asymmetric"),
]


@pytest.mark.parametrize("where", [0, 2, 4])
@pytest.mark.parametrize(("failing", "words"), FAILING)
@pytest.mark.parametrize("executor", [None, 1])
def test_what_is_no_instance_is_told_by_its_number_and_the_others_are_solved(
    failing: Any, words: str, where: int, executor: int | None
) -> None:
    if executor and where != 2:
        return
    given_ = [np.random.default_rng(n).random((n, 2)) for n in (9, 5, 12, 9)]
    alone = pytsp.solve_many(given_, backend="c")
    mixed = [*given_[:where], failing, *given_[where:]]
    reported: list[tuple[int, int]] = []
    with pytest.warns(PytspWarning, match=rf"1 instance has no result: instances\[{where}\]: .*{words}"):
        batch = pytsp.solve_many(
            mixed, backend="c", executor=executor, progress=lambda done, total: reported.append((done, total))
        )
    assert batch.numbers.tolist() == [number for number in range(5) if number != where]
    assert list(batch.failures) == [where]
    assert isinstance(batch.failures[where], (TypeError, InstanceError))
    for result, expected in zip(batch, alone, strict=True):
        assert_same(result, expected)
    assert reported[-1] == (5, 5)


def test_of_an_array_too_the_others_are_solved() -> None:
    points = np.random.default_rng(0).random((20, 8, 2))
    points[7, 3, 1] = np.inf
    with pytest.warns(PytspWarning, match=r"1 instance has no result: instances\[7\]: .*inf"):
        batch = pytsp.solve_many(points, backend="c")
    assert batch.numbers.tolist() == [number for number in range(20) if number != 7]
    assert repr(batch) == "BatchResult(19 results, 1 without a result)"


# Results as arrays


def test_tours_and_lengths_are_arrays() -> None:
    batch = pytsp.solve_many(np.random.default_rng(0).random((6, 9, 2)), backend="c")
    assert isinstance(batch.tours, np.ndarray)
    assert (batch.tours.shape, batch.tours.dtype) == ((6, 9), np.int32)
    assert batch.tours.tolist() == [result.tour.tolist() for result in batch]
    assert batch.lengths.dtype == np.float64
    assert batch.lengths.tolist() == [result.length for result in batch]
    assert np.array_equal(np.from_dlpack(batch), batch.to_numpy())
    some = batch[2:4]
    assert isinstance(some, pytsp.BatchResult)
    assert some.numbers.tolist() == [2, 3]
    assert some[-1] is batch[3]
    assert repr(some) == "BatchResult(2 results)"


def test_tours_of_several_sizes_are_a_list_or_end_with_no_city() -> None:
    batch = pytsp.solve_many([np.random.default_rng(n).integers(0, 99, (n, 2)) for n in (9, 5, 1)], metric="EUC_2D")
    assert isinstance(batch.tours, list)
    assert batch.lengths.dtype == np.int64
    padded = batch.to_numpy()
    assert padded.shape == (3, 9)
    for row, tour in zip(padded, batch.tours, strict=True):
        assert row.tolist() == tour.tolist() + [-1] * (9 - len(tour))


def test_no_results_are_empty_arrays() -> None:
    batch = pytsp.solve_many([], backend="c")
    assert (len(batch), batch.lengths.shape, batch.to_numpy().shape) == (0, (0,), (0, 0))


def test_a_data_frame_has_a_row_for_each_result() -> None:
    pytest.importorskip("pandas", reason="data frames need it")
    with pytest.warns(PytspWarning, match="no result"):
        batch = pytsp.solve_many([np.zeros((1, 2)), None, np.eye(5)[:, :2]], backend="c")
    frame = batch.to_dataframe()
    assert frame.index.tolist() == [0, 2]
    assert frame["length"].tolist() == batch.lengths.tolist()
    assert frame["n"].tolist() == [1, 5]
    assert {"name", "gap", "seconds", "iterations", "solver", "backend", "stop_reason"} <= {*frame.columns}


# Arrays of other packages


class Tensor:
    """A tensor that has DLPack, in the memory of a device, and `cpu` where it is not the host's."""

    def __init__(self, array: np.ndarray, device: int) -> None:
        self.array, self.device = array, device
        if device != 1:
            self.cpu = lambda: Tensor(array, 1)

    def __dlpack__(self, **options: Any) -> Any:
        assert self.device == 1
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.device, 0


@pytest.mark.parametrize("device", [1, 2])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_tensors_are_arrays_wherever_they_are(device: int, dtype: Any) -> None:
    points = np.random.default_rng(0).random((4, 9, 2)).astype(dtype)
    found, expected = (pytsp.solve_many(each, backend="c") for each in (Tensor(points, device), points))
    assert found.lengths.tolist() == expected.lengths.tolist()
    with pytest.raises(ValueError, match=r"must have shape \(b, n, 2\); the shape is \(9, 2\)"):
        pytsp.solve_many(Tensor(points[0], device), backend="c")


# Iterators


@pytest.mark.parametrize("ordered", [False, True])
@pytest.mark.parametrize(("cities", "most"), [(1, 3), (40, 100), (10**6, 10**6)])
def test_instances_of_an_iterator_are_solved_as_they_are_together(
    ordered: bool, cities: int, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pytsp.api.many.WINDOW_CITIES", cities)
    monkeypatch.setattr("pytsp.api.many.WINDOW_INSTANCES", most)
    given_ = [np.random.default_rng(n).random((n, 2)) for n in (5, 9, 30, 9, 3, 9)]
    together = pytsp.solve_many(given_, backend="c", climbers=3)
    found = list(pytsp.solve_each(iter(given_), backend="c", climbers=3, ordered=ordered))
    numbers = [number for number, _ in found]
    assert sorted(numbers) == [*range(6)]
    assert not ordered or numbers == [*range(6)]
    for number, result in found:
        assert_same(result, together[number])


def test_an_endless_iterator_is_read_no_further_than_results_are_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pytsp.api.many.WINDOW_INSTANCES", 4)
    taken = []

    def endless() -> Iterator[np.ndarray]:
        for number in count():
            taken.append(number)
            yield np.random.default_rng(number).random((9, 2))

    results = pytsp.solve_each(endless(), backend="c", climbers=2)
    assert taken == []
    assert [next(results)[0] for _ in range(5)] == [0, 1, 2, 3, 4]
    assert taken == [*range(8)]


def test_of_an_iterator_too_what_is_no_instance_is_told_by_its_number(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pytsp.api.many.WINDOW_INSTANCES", 2)
    some = np.eye(5)[:, :2]
    given_ = [some, some, None, FAILING[2][0], some]
    with pytest.warns(PytspWarning, match=r"2 instances have no result: instances\[2\]: .*, instances\[3\]: "):
        assert [number for number, _ in pytsp.solve_each(given_, backend="c")] == [0, 1, 4]


def test_of_an_iterator_too_rounding_is_told() -> None:
    points = np.random.default_rng(0).random((3, 9, 2))
    with pytest.warns(PytspWarning, match="EUC_2D rounds to whole numbers") as warned:
        assert len(list(pytsp.solve_each(points, metric="EUC_2D", backend="c"))) == 3
    assert len(warned) == 1


def test_an_iterator_s_arguments_are_refused_at_once() -> None:
    with pytest.raises(ValueError, match="climbers must be a whole number from 1"):
        pytsp.solve_each([], climbers=0)
    with pytest.raises(BackendError, match="'cobol' is not known"):
        pytsp.solve_each([], backend="cobol")


def test_the_parts_of_a_search_are_not_asked_for() -> None:
    with pytest.raises(TypeError, match="population"):
        pytsp.solve_many([], population=1)  # type: ignore[call-arg]
