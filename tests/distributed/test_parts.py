"""A solve in parts is the solve: whoever has which part, however many there are, and in whatever order they end."""

from __future__ import annotations

import os
import pickle
import sys
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import nullcontext
from functools import partial
from types import ModuleType
from typing import Any

import cities
import numpy as np
import pytest
from clocks import KernelClock, fastest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst
from results import assert_same
from workers import Report as Teller
from workers import short_slices

import pytsp
from pytsp import Instance
from pytsp.api.batches import Batches
from pytsp.api.many_in_parts import RESULT_SECONDS, Solved, _packed, _Queue
from pytsp.distributed import slices
from pytsp.distributed.coordinator import Coordinator, Order
from pytsp.distributed.places import AnyExecutor, Place, Places
from pytsp.distributed.slices import COLUMNS, Range, join, missing
from pytsp.distributed.stripes import Stripe, StripeAsk
from pytsp.problem.instances import Instances
from pytsp.run.monitor import Watch
from pytsp.solvers import policy
from pytsp.solvers.common.pacing import Pace
from pytsp.solvers.large.pieces import PiecesStanding

uniform = partial(cities.uniform, side=10_000)

SOLVERS: dict[str, dict[str, Any]] = {
    "restarts": {"climbers": 150},
    "ils": {"climbers": 5, "iterations": 200},
    "annealing": {"climbers": 5, "iterations": 200},
    "ants": {"climbers": 3, "iterations": 20},
    "eax": {"climbers": 20},
    "large": {"iterations": 5, "piece": 50},
    "two-opt": {"kicks": 50},
    "eax in bulk": {"solver": "eax", "climbers": 20, "moves": "flat"},
    "islands in bulk": {"solver": "eax", "climbers": 12, "islands": 3, "moves": "flat"},
    "islands": {"solver": "eax", "climbers": 12, "islands": 3, "neighbours": 6},
    "stripes": {"solver": "large", "iterations": 9, "piece": 12, "stripes": 4},
}


def asked(solver: str, **more: Any) -> dict[str, Any]:
    """What `solve` is asked for by a solver's name here."""
    return {"solver": solver, "backend": "c", **SOLVERS[solver], **more}


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("workers", [1, 2, 7])
def test_any_number_of_workers_finds_what_one_process_does(solver: str, workers: int) -> None:
    instance, options = uniform(120), asked(solver, seed=3)
    with ThreadPoolExecutor(workers) as executor, short_slices():
        result = pytsp.solve(instance, executor=executor, **options)
    assert_same(result, pytsp.solve(instance, **options))
    assert result.tasks is not None and 1 <= result.tasks.workers <= workers


@pytest.mark.parametrize("solver", SOLVERS)
def test_nothing_is_told_before_there_is_a_tour(solver: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # As if the first slice took longer than the coordinator waits.
    monkeypatch.setattr("pytsp.distributed.search.CALL_SECONDS", 0.0)
    reported: list[Any] = []

    def note(now: Any) -> None:
        reported.append((now.length, instance.tour_length(now.tour)))

    instance = uniform(120)
    with ThreadPoolExecutor(2) as executor:
        result = pytsp.solve(instance, executor=executor, progress=note, on_improvement=note, **asked(solver, seed=3))
    assert reported and all(length == measured for length, measured in reported)
    assert all(each.length < np.inf for each in result.history)


def test_a_folder_with_the_name_of_dask_is_not_taken_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", ModuleType("distributed"))
    with ThreadPoolExecutor(2) as executor:
        result = pytsp.solve(uniform(60), executor=executor, **asked("restarts"))
    assert_same(result, pytsp.solve(uniform(60), **asked("restarts")))


@pytest.mark.slow
def test_islands_that_go_from_worker_to_worker_receive_a_tour_once() -> None:
    instance, options = uniform(400), asked("islands", climbers=20)
    with ThreadPoolExecutor(3) as executor, short_slices(0.0), pytest.MonkeyPatch.context() as patch:
        # Nobody has a search that goes on.
        patch.setattr(slices, "_keep", lambda job, ask, search: False)
        result = pytsp.solve(instance, executor=executor, **options)
    assert_same(result, pytsp.solve(instance, **options))
    assert result.iterations is not None and result.iterations > 20


@pytest.mark.parametrize("solver", ["restarts", "ils"])
@pytest.mark.parametrize("options", [{"open": True, "start_city": 3}, {"seed": 5, "first": 7}])
def test_paths_and_later_climbers_are_found_in_parts(solver: str, options: dict[str, Any]) -> None:
    given = asked(solver, **options)
    with ThreadPoolExecutor(2) as executor:
        result = pytsp.solve(uniform(60), executor=executor, **given)
    assert_same(result, pytsp.solve(uniform(60), **given))


def test_lengths_that_are_no_whole_numbers_are_those_of_one_process() -> None:
    instance = cities.uniform(70, metric="EUCLIDEAN")
    with ThreadPoolExecutor(2) as executor:
        result = pytsp.solve(instance, solver="restarts", climbers=40, backend="c", executor=executor)
    assert_same(result, pytsp.solve(instance, solver="restarts", climbers=40, backend="c"))


def test_the_instance_goes_to_a_worker_once(monkeypatch: pytest.MonkeyPatch) -> None:
    # Each slice is one kernel call, of as many kicks.
    KernelClock(monkeypatch, 0.02)
    monkeypatch.setattr(Pace, "fitting", lambda *_: 100.0)
    instance = uniform(400)
    with Teller(2) as executor, short_slices():
        pytsp.solve(instance, solver="ils", climbers=4, iterations=300, backend="c", executor=executor)
    # Threads are one process, to which several may have sent it at first.
    assert 1 <= sum(given is not None for *_, given, _ in executor.given) <= 2
    assert len(executor.given) > 8
    assert instance.coordinates is not None
    points = instance.coordinates.tobytes()
    assert all(points in given for *_, given, _ in executor.given if given is not None)
    assert not any(points in packed for *_, packed in executor.given)


@pytest.mark.parametrize(
    "solver", ["restarts", "ils", "two-opt", "eax", "eax in bulk", "islands", "islands in bulk", "stripes"]
)
def test_the_solve_of_a_checkpoint_goes_on_in_any_number_of_parts(solver: str, tmp_path: Any) -> None:
    instance, options = uniform(100), asked(solver)
    expected = pytsp.solve(instance, **options)
    calls: list[object] = []

    def stop(now: object) -> bool:
        calls.append(now)
        return len(calls) == 3

    # Islands and stripes are parts in one process, too.
    for number, (first, second) in enumerate([(2, 7), (2, None), (None, 2)]):
        file, pools = tmp_path / f"{number}", [ThreadPoolExecutor(each or 1) for each in (first, second)]
        one, other = (pool if each else None for each, pool in zip((first, second), pools, strict=True))
        calls.clear()
        with short_slices():
            cut = pytsp.solve(instance, executor=one, checkpoint=file, progress=stop, **options)
            result = pytsp.resume(file, executor=other)
        for pool in pools:
            pool.shutdown()
        assert cut.stop_reason in ("callback", "finished")
        assert_same(result, expected)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> KernelClock:
    """A clock that the kernel calls of all workers move on, of which each makes few kicks."""
    return KernelClock(monkeypatch, 0.01, workers=2)


def test_a_time_limit_ends_all_workers(clock: KernelClock) -> None:
    with ThreadPoolExecutor(2) as executor:
        # By lists that take no other kernels.
        options = {"solver": "ils", "backend": "c", "climbers": 3, "neighbours": 10, "time_limit": 3}
        # Of no more cities the last descent is never cut.
        result = pytsp.solve(uniform(policy.CUT_CITIES), executor=executor, **options)
    assert result.stop_reason == "time limit" and clock.begun("ils") > 3
    assert result.climbers == 3 and result.done.all()


@pytest.mark.timed
def test_a_time_limit_ends_all_workers_in_time() -> None:
    with ThreadPoolExecutor(2) as executor:
        options = {"solver": "ils", "backend": "c", "climbers": 3, "time_limit": 1}
        assert fastest(lambda: pytsp.solve(uniform(1000), executor=executor, **options).seconds, 2.0) < 2


@pytest.mark.usefixtures("clock")
def test_workers_that_a_limit_ends_at_once_are_not_finished(monkeypatch: pytest.MonkeyPatch) -> None:
    hear = Coordinator.wait

    def hear_all(self: Coordinator, seconds: float) -> Any:
        wait(self.running)
        return hear(self, seconds)

    monkeypatch.setattr(Coordinator, "wait", hear_all)
    with ThreadPoolExecutor(2) as executor:
        options = {"solver": "ils", "backend": "c", "climbers": 2, "neighbours": 10, "time_limit": 3}
        result = pytsp.solve(uniform(300), executor=executor, **options)
    assert result.stop_reason == "time limit" and result.done.all()


@pytest.mark.usefixtures("clock")
def test_a_target_ends_all_workers() -> None:
    instance = uniform(300)
    with ThreadPoolExecutor(2) as executor:
        options = {"solver": "ils", "backend": "c", "climbers": 2, "neighbours": 10, "iterations": 10**7}
        result = pytsp.solve(instance, target=10**9, executor=executor, **options)
    assert result.stop_reason == "target" and result.done.all()


def test_progress_tells_how_many_work() -> None:
    reported: list[int] = []
    with ThreadPoolExecutor(2) as executor:
        options = {"solver": "restarts", "climbers": 50, "backend": "c", "executor": executor}
        pytsp.solve(uniform(50), progress=lambda now: reported.append(now.workers), **options)
    assert set(reported) == {2}


@pytest.mark.parametrize("order", [[0, 1, 2, 3, 4], [4, 2, 0, 3, 1], [1, 3, 4, 2, 0]])
def test_ranges_that_are_over_are_those_of_all_climbers_in_any_order(order: list[int]) -> None:
    import numpy as np  # noqa: PLC0415

    ranges: list[Range] = []
    for number in order:
        lengths = np.arange(10 * number, 10 * number + 10)
        ranges = join([*ranges, Range(10 * number, lengths, lengths, lengths > 0)])
    (joined,) = ranges
    assert joined.lengths.tolist() == list(range(50)) and (joined.first, joined.end) == (0, 50)
    taken = [(each.first, each.end) for each in ranges]
    assert not missing(0, 50, taken)
    assert missing(-5, 60, [*taken, (52, 55)]) == [(-5, 0), (50, 52), (55, 60)]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"executor": 0}, "executor must be a whole number from 1 to 1024; it is 0"),
        ({"executor": "two"}, "executor must be a number of processes"),
        ({"executor": True}, "executor must be a number of processes"),
        ({"executor": 2, "devices": "all"}, "give it without executor"),
        ({"devices": "some"}, "devices must be 'all'"),
        ({"devices": []}, "devices must name one at least"),
        ({"devices": "all", "backend": "c"}, "devices='all' are those of backend 'cuda' or 'opencl'; it is 'c'"),
    ],
)
def test_what_is_no_executor_is_refused(given: dict[str, Any], said: str) -> None:
    with pytest.raises((TypeError, ValueError, pytsp.BackendError), match=said):
        pytsp.solve(uniform(20), **given)


def test_a_worker_of_another_build_is_refused_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    # The coordinator asks first.
    builds = iter(["0.0.2 (build def)"])
    monkeypatch.setattr("pytsp.distributed.coordinator.identity", lambda: next(builds, "0.0.1 (build abc)"))
    with (
        ThreadPoolExecutor(1) as executor,
        pytest.raises(pytsp.BackendError, match=rf":{os.getpid()} has pytsp 0\.0\.1 \(build abc\)"),
    ):
        pytsp.solve(uniform(20), solver="ils", executor=executor)


@pytest.mark.parametrize(
    ("asked", "placement", "expected"),
    [
        ({"backend": "c", "threads": None}, {"threads": 2}, {"backend": "c", "threads": None}),
        ({"backend": "auto", "threads": None}, {"threads": 2}, {"backend": "auto", "threads": 2}),
        ({"backend": "multicore", "threads": 3}, {"threads": 2}, {"backend": "multicore", "threads": 3}),
        (
            {"backend": "auto", "threads": None},
            {"backend": "cuda", "device": 1, "threads": None},
            {"backend": "cuda", "device": 1},
        ),
    ],
)
def test_a_process_has_its_share_of_cores_or_its_device(
    asked: dict[str, Any], placement: dict[str, Any], expected: dict[str, Any]
) -> None:
    here = Place("here", is_sticky=True, own=placement).placed({"device": None, **asked})
    assert expected.items() <= here.items()


@pytest.mark.parametrize("solver", ["ils", "annealing", "islands"])
def test_directed_ways_are_found_in_parts(solver: str) -> None:
    import numpy as np  # noqa: PLC0415

    distances = np.random.default_rng(3).integers(1, 100, (24, 24))
    given = asked(solver, asymmetric=True)
    with ThreadPoolExecutor(2) as executor:
        result = pytsp.solve(distances, executor=executor, **given)
    assert_same(result, pytsp.solve(distances, **given))


def test_a_gpu_begins_with_more_instances_than_cores_do(monkeypatch: pytest.MonkeyPatch) -> None:
    instances, sizes = [uniform(10)] * 400, {}
    for has_gpu in (False, True):
        places = AnyExecutor(Teller(1))
        monkeypatch.setattr(places, "_places", [Place("the one", is_sticky=True, has_gpu=has_gpu)])
        monkeypatch.setattr("pytsp.api.many_in_parts.places_of", lambda *_, places=places: nullcontext(places))
        found = pytsp.solve_many(instances, executor=places.executor, climbers=4, backend="c")
        assert [result.tour.tolist() for result in found] == [found[0].tour.tolist()] * 400
        *_, share = pickle.loads(places.executor.given[0][-1])
        sizes[has_gpu] = len(share.numbers)
    # All for a GPU, which would take more.
    assert sizes == {False: 80, True: 400}


@pytest.mark.parametrize(
    ("is_timed", "first", "rounds", "pieces", "counted"),
    [
        (False, 0, 0, 3, [3]),
        (False, 1, 3, 2, [9, 9, 2]),
        (True, 0, 0, 3, []),
        (True, 0, 1, 4, []),
        (True, 1, 2, 4, [4]),
        (True, 2, 3, 0, [9]),
    ],
)
def test_kicks_of_a_round_that_goes_on_count(
    is_timed: bool, first: int, rounds: int, pieces: int, counted: list[int]
) -> None:
    stripe = object.__new__(Stripe)
    stripe.n, stripe.piece, stripe.seed, stripe.kicks, stripe.is_timed = 100, 10, 1, 5, is_timed
    stripe.ask = StripeAsk(np.arange(100, dtype=np.int32), 1, first, 9)
    stripe.standing = PiecesStanding(None, 0, rounds, pieces)
    assert [stripe._count_of(each) for each in range(4)] == [9] * 4
    assert stripe.kicked == 5 * sum(counted)


def test_results_of_many_keep_the_types_of_each() -> None:
    square = [[0, 0], [0, 1], [1, 1], [1, 0]]
    instances = [Instance.from_coordinates(square, metric) for metric in ("EUC_2D", "EUCLIDEAN")]
    with ThreadPoolExecutor(1) as executor:
        results = pytsp.solve_many(instances, executor=executor, backend="c")
    assert [(type(result.length), result.length) for result in results] == [(int, 4), (float, 4.0)]


def test_points_on_their_way_are_those_of_the_instances() -> None:
    named = [Instance.from_coordinates(uniform(9, seed=seed).coordinates, "EUC_2D", f"{seed}") for seed in range(3)]
    packed = _packed(named, (0, 1, 2))
    assert isinstance(packed, Instances)
    for arrived, sent in zip(pickle.loads(pickle.dumps(packed, protocol=5)), named, strict=True):
        assert (arrived.name, arrived.metric) == (sent.name, sent.metric)
        np.testing.assert_array_equal(arrived.coordinates, sent.coordinates)
        assert not arrived.coordinates.flags.writeable


@pytest.mark.parametrize(
    "other",
    [
        uniform(10),
        uniform(9, metric="CEIL_2D"),
        Instance.from_coordinates(np.arange(27).reshape(9, 3), "EUC_3D"),
        Instance.from_matrix(1 - np.eye(9, dtype=np.int64)),
    ],
    ids=["size", "metric", "space", "matrix"],
)
def test_instances_of_several_kinds_go_as_they_are(other: Instance) -> None:
    for sent in ((uniform(9), other), (other, uniform(9))):
        assert _packed(sent, (0, 1)) == list(sent)


def test_instances_that_are_solved_alone_go_as_they_are() -> None:
    for sent in ((uniform(7),), (uniform(20_001),)):
        assert _packed(sent, (0,)) == list(sent)


@pytest.mark.parametrize("sizes", [(9, 9), (9, 10)])
def test_tours_of_many_are_read_only_of_one_size_and_of_several(sizes: tuple[int, int]) -> None:
    instances = [uniform(n) for n in sizes]
    results = [pytsp.solve(instance, solver="ils", iterations=1, backend="c") for instance in instances]
    arrived = pickle.loads(pickle.dumps(Solved.of(range(2), results), protocol=5))
    for (_, result), sent in zip(arrived.results(instances), results, strict=True):
        assert result.tour.tolist() == sent.tour.tolist() and not result.tour.flags.writeable


@pytest.mark.parametrize("slower", [1.0, 1.05])
def test_gpus_have_what_is_left_in_equal_shares(slower: float, monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    monkeypatch.setattr("pytsp.api.many_in_parts.time.perf_counter", lambda: now)
    queue = _Queue([uniform(100)] * 16_000, batches_of(Watch()), 2)
    going: dict[str, tuple[float, list[int], float]] = {}
    sizes: dict[str, list[int]] = {"a": [], "b": []}
    while queue.waiting:
        for place, taken in sizes.items():
            ends, numbers, kernels = going.get(place, (0.0, [], 0.0))
            if ends > now or not queue.waiting:
                continue
            if numbers:
                queue.observe(place, numbers, kernels)
            numbers = list(queue.take(place, has_gpu=True)[0])
            # As an H200 has it: the kernels' part, and what a processor does before and after.
            kernels = (0.13 + 6e-5 * len(numbers)) * (slower if place == "b" else 1.0)
            going[place] = (now + kernels + 1.1e-4 * len(numbers), numbers, kernels)
            taken.append(len(numbers))
        now = min(ends for ends, *_ in going.values())
    # The first tasks tell how fast they are; what is behind them leaves no rest and is over at about the same time: the
    # second one later, by what the first one's results take.
    assert [len(taken) for taken in sizes.values()] == [2, 2]
    (_, a), (_, b) = sizes.values()
    (first, *_), (second, *_) = going.values()
    assert a + b == 6_000 and abs(a - b) < 300
    assert first < second < first + 3 * RESULT_SECONDS * a


def test_what_a_place_had_that_is_gone_goes_to_one_that_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    there, given = [Place(name, is_sticky=False) for name in "ab"], []

    class Two(Places):
        def current(self) -> list[Place]:
            return there

        def submit(self, place: Place, *_: Any) -> Future[Any]:
            given.append(place.name)
            return Future()

    monkeypatch.setattr("pytsp.distributed.coordinator.GONE_SECONDS", 0.0)
    coordinator = Coordinator(Two(), None)
    for place in list(there):
        coordinator.give(place, Order(f"task of {place.name}", len, ""))
    del there[0]
    # It is busy, and has both.
    for _ in range(9):
        coordinator.wait(0.0)
    assert given == ["a", "b", "b"]
    there.append(Place("c", is_sticky=False))
    del there[0]
    for _ in range(9):
        coordinator.wait(0.0)
    assert given == ["a", "b", "b", "c", "c"]
    coordinator.close()


def test_no_place_waits_until_all_results_of_another_one_are_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pytsp.api.many_in_parts.RESULTS_AT_ONCE", 1)
    counts: list[int] = []

    def progress(done: int, total: int) -> None:
        if done == 1:
            # All that was given is done.
            wait(executor.futures)
        counts.append(len(executor.given))

    with Teller(2) as executor:
        pytsp.solve_many([uniform(10)] * 800, executor=executor, climbers=4, backend="c", progress=progress)
    assert len(counts) == 800 and counts[1] > counts[0]


@given(
    lengths=npst.arrays(np.int64, st.integers(0, 9), elements=st.integers(-(2**40), 2**40)),
    steps=npst.arrays(np.int32, st.integers(0, 9), elements=st.integers(0, 2**31 - 1)),
    done=npst.arrays(np.bool_, st.integers(0, 20)),
    has_passes=st.booleans(),
)
def test_what_is_told_arrives_as_it_was(lengths: Any, steps: Any, done: Any, has_passes: bool) -> None:
    reported = Range(3, lengths, steps, done, steps if has_passes else None)
    arrived = pickle.loads(pickle.dumps(reported, protocol=5))
    for name, column in vars(reported).items():
        if name in COLUMNS and column is not None:
            assert getattr(arrived, name).dtype == column.dtype
            np.testing.assert_array_equal(getattr(arrived, name), column)
        else:
            assert getattr(arrived, name) == column


def test_what_is_told_of_climbers_takes_no_more_bytes_than_it_holds() -> None:
    lengths = np.random.default_rng(0).integers(21_000, 25_000, 10_000)
    steps, done = lengths // 200, np.ones(10_000, dtype=np.bool_)
    reported = Range(0, lengths, steps, done)
    assert len(pickle.dumps(reported, protocol=5)) < 10_000 * (2 + 1 + 1 / 8) + 2_000


def batches_of(watch: Watch) -> Batches:
    return Batches.of(20, 0, None, placement={"backend": "c"}, watch=watch)


def test_what_is_late_is_given_to_all_places_in_equal_parts() -> None:
    queue = _Queue([uniform(100)] * 30, batches_of(Watch(time_limit=1e-9)), 3)
    taken = [queue.take(place, has_gpu=False) for place in "abc"]
    numbers = [each for each, _ in taken]
    assert list(map(len, numbers)) == [10, 10, 10] and sorted(sum(numbers, ())) == list(range(30))
    # A worker sees for itself how many climbers it has time for.
    assert {climbers for _, climbers in taken} == {20}
    assert not queue.waiting and queue.seconds_for(numbers[0]) == 1e-3


@pytest.mark.parametrize("names", [("a", "b", "c"), ("", "", "")], ids=["places", "pool"])
@pytest.mark.parametrize("share", [0.15, 0.5, 2.0])
def test_places_have_as_many_climbers_of_each_as_there_is_time_for(
    share: float, names: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    now, rate = 0.0, 4e4
    monkeypatch.setattr("pytsp.api.many_in_parts.time.perf_counter", lambda: now)
    limit = share * 3_000 * 50 * (1 + 20) / (len(names) * rate)
    monkeypatch.setattr("pytsp.api.many_in_parts.Watch.seconds_left", property(lambda _: limit - now))
    queue = _Queue([uniform(50)] * 3_000, batches_of(Watch(time_limit=1.0)), len(names))
    free, going, given = [*names], list[tuple[float, str, tuple[int, ...], float]](), list[tuple[int, int]]()
    while queue.waiting or going:
        while free and queue.waiting:
            numbers, climbers = queue.take(free[0], has_gpu=False)
            seconds = 50 * len(numbers) * (1 + climbers) / rate
            going.append((now + seconds, free.pop(0), numbers, seconds))
            given.append((len(numbers), climbers))
        going.sort()
        now, place, numbers, seconds = going.pop(0)
        queue.observe(place, numbers, seconds)
        free.append(place)
    assert sum(count for count, _ in given) == 3_000
    # The first tasks of all places see how fast these are.
    fewest, most = (function(climbers for _, climbers in given[3:]) for function in (min, max))
    if share > 1:
        assert fewest == most == 20
    else:
        assert 20 * share - 3 < fewest <= most < 20 * share + 3 and 0.9 * limit < now < 1.05 * limit


@pytest.mark.parametrize("places", [1, 2])
def test_without_time_workers_take_all_instances_to_local_optima(places: int) -> None:
    instances = [uniform(n, seed) for seed, n in enumerate([60, 9, 120, 60, 60, 90, 5, 60])]
    alone = list(pytsp.solve_many(instances, climbers=1, iterations=0, backend="c"))
    with ThreadPoolExecutor(places) as executor:
        results = list(pytsp.solve_many(instances, time_limit=1e-9, backend="c", executor=executor))
    for result, climbed in zip(results, alone, strict=True):
        assert result.length == result.instance.tour_length(result.tour)
        assert result.instance.n == 5 or np.array_equal(result.tour, climbed.tour)
