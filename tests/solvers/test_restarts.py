"""Random restarts: any cut into batches, calls and ranges gives one result; limits, interruptions and refusals."""

from __future__ import annotations

from typing import Any

import numpy as np
import oracle
import pytest
import strategies
from cities import uniform
from clocks import KernelClock
from cuts import cut
from emulated import skip_where_slow
from faults import assert_wrong_lengths_are_found_out
from hypothesis import example, given, settings
from hypothesis import strategies as st
from interruptions import Interruption
from paths import all_tsplib, tsplib_file
from results import assert_best_climber, assert_is_tour, assert_kernels_least_length, assert_same, solving

import pytsp
from pytsp import Instance, Progress, Result, random_tours
from pytsp.backends import Backend, open_backend, status
from pytsp.exceptions import BackendError, BackendUnavailable, InstanceError
from pytsp.solvers.common.placement import fits_with_distances
from pytsp.solvers.options.restarts import ENUMERATIONS
from pytsp.solvers.restarts import Batches, default_climbers

solved = solving("restarts")


def assert_whole(result: Result) -> None:
    """What holds of every result, however it ended."""
    assert_is_tour(result)
    assert_best_climber(result)
    assert result.stop_reason != "finished" or result.done.all()


# What is found


# Sizes around the parts of a diagonal, a block's lanes, and the tours that a block takes, alone or with all distances.
SIZES = [*range(1, 9), 23, 24, 25, 94, 95, 100, 101, 130]


@pytest.mark.parametrize("neighbourhood", ENUMERATIONS)
@pytest.mark.parametrize("metric", ["EUC_2D", "CEIL_2D", "MAN_2D"])
def test_every_neighbourhood_gives_the_same_climbers(backend: Backend, metric: str, neighbourhood: str) -> None:
    for n in SIZES:
        # Ties, and a grid too wide for single precision.
        for side in (n // 2 + 1, 30_000):
            cities = np.random.default_rng(n).integers(0, side, (n, 2))
            instance = Instance.from_coordinates(cities, metric=metric)
            expected = solved(instance, open_backend("c"), climbers=4, seed=n)
            ways: list[dict[str, Any]] = [{}, {"mapping": "thread"}]
            if backend.device is not None and n >= 24:
                ways.append({"mapping": "block"})
                ways += [{"shared_matrix": True}] if fits_with_distances(n, backend) else []
            for way in ways:
                assert_same(solved(instance, backend, climbers=4, seed=n, neighbourhood=neighbourhood, **way), expected)


@given(instance=strategies.instances(max_n=30), seed=st.integers(0, 99), neighbourhood=st.sampled_from(ENUMERATIONS))
def test_every_neighbourhood_decides_ties_alike(
    backend: Backend, instance: Instance, seed: int, neighbourhood: str
) -> None:
    found, expected = (
        solved(instance, backend, climbers=3, seed=seed, neighbourhood=each) for each in (neighbourhood, "auto")
    )
    assert_same(found, expected)


WALKS = {"flat": "flat", "zipped": "block", "closed-form": "block", "diagonals": "block"}
"""How a GPU lays climbers out by default."""


@pytest.mark.parametrize("neighbourhood", ENUMERATIONS)
def test_the_neighbourhood_that_is_asked_for_is_the_one_that_is_walked(
    backend: Backend, monkeypatch: pytest.MonkeyPatch, neighbourhood: str
) -> None:
    calls: list[tuple[Any, ...]] = []
    call = Backend.call

    def recorded(self: Backend, entry: str, *arguments: Any) -> Any:
        calls.append((entry, *arguments))
        return call(self, entry, *arguments)

    monkeypatch.setattr(Backend, "call", recorded)
    result = solved(uniform(30), backend, climbers=2, neighbourhood=neighbourhood)
    climbed = {entry for entry, *_ in calls if "_climb" in entry}
    if backend.device is None and neighbourhood == "diagonals":
        assert climbed == {"grid_climb"}
        return
    assert ("pairs_of", 30, ENUMERATIONS.index(neighbourhood)) in calls
    suffix = "" if backend.device is None else f"_{WALKS[neighbourhood]}"
    assert climbed == {f"grid_climb_by{suffix}"}
    assert result.mapping == ("thread" if backend.device is None else WALKS[neighbourhood])


@pytest.mark.parametrize("suffix", ["", "_flat", "_block", "_thread"])
def test_flat_climbers_look_at_the_moves_of_the_arrays(backend: Backend, suffix: str) -> None:
    kernels = open_backend(backend.name, part="neighbourhoods")
    if f"grid_climb_by{suffix}" not in kernels.entry_points:
        pytest.skip(f"{backend.name} lays climbers out otherwise")
    n = 30
    xs, ys = (np.ascontiguousarray(axis, dtype=np.int32) for axis in np.random.default_rng(3).integers(0, 99, (2, n)))
    loaded = kernels.call("grid_load", xs, ys)
    start = kernels.call("batch_random", n, 1, 0, 8)
    pairs = kernels.fields(kernels.call("pairs_of", n, ENUMERATIONS.index("flat")))
    # The same move over and over: a climber can make it once, and all others are not looked at.
    pairs |= {"firsts": np.full_like(pairs["firsts"], 3), "seconds": np.full_like(pairs["seconds"], 9)}
    shared = (False,) if suffix == "_block" else ()
    batch = kernels.call(f"grid_climb_by{suffix}", loaded, kernels.value("pairs", pairs), start, *shared, 100)
    _, steps, _, done = kernels.call("batch_found", batch)
    assert set(steps.tolist()) == {0, 1} and done.all()


def test_a_neighbourhood_goes_on_where_a_limit_stopped_it(backend: Backend, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = solved(uniform(60), backend, climbers=5, neighbourhood="flat")
    monkeypatch.setattr(Batches, "_limit", lambda *_: 3)
    assert_same(solved(uniform(60), backend, climbers=5, neighbourhood="flat"), expected)


@given(instance=strategies.instances(max_n=10), climbers=st.integers(1, 12), seed=st.integers(0, 2**64 - 1))
@example(instance=Instance.from_coordinates([[0, 0], [0, 0], [7, 7], [0, 0]], metric="EUC_2D"), climbers=3, seed=0)
def test_a_solve_finds_what_the_oracle_finds(backend: Backend, instance: Instance, climbers: int, seed: int) -> None:
    result = solved(instance, backend, climbers=climbers, seed=seed)
    distances = instance.distance_matrix().tolist()
    ends = [oracle.climb(distances, start) for start in random_tours(instance.n, climbers, seed).tolist()]
    lengths = [oracle.length(distances, tour) for tour, _ in ends]
    assert result.lengths.tolist() == lengths
    assert result.steps.tolist() == [steps for _, steps in ends]
    assert result.climber == lengths.index(min(lengths))
    assert result.tour.tolist() == ends[result.climber][0]
    assert (result.stop_reason, result.backend, result.seed) == ("finished", backend.name, seed)
    assert_whole(result)


@given(instance=strategies.float_instances(min_n=1, max_n=12), seed=st.integers(0, 99))
@example(instance=Instance.from_coordinates(np.array([[0, 0], [0, 1], [1, 0.5]]) + 1e9, metric="euclidean"), seed=0)
@example(instance=Instance.from_matrix([[0, 1e-299, 5e-324], [1e-299, 0, 1e-299], [5e-324, 1e-299, 0]]), seed=0)
@example(instance=Instance.from_matrix([[0, 1e-320, 5e-324], [1e-320, 0, 1e-320], [5e-324, 1e-320, 0]]), seed=0)
@example(instance=Instance.from_coordinates([[0, 0], [0, 1e149], [1e148, 0]], metric="euclidean"), seed=0)
@example(instance=Instance.from_matrix(np.zeros((5, 5))), seed=0)
def test_floating_point_lengths_are_the_instances_own(backend: Backend, instance: Instance, seed: int) -> None:
    result = solved(instance, backend, climbers=5, seed=seed)
    longest = float(instance.distance_matrix().max())
    assert isinstance(result.length, float)
    assert result.length == instance.tour_length(result.tour)
    assert result.lengths.dtype == np.float64
    assert_kernels_least_length(result)
    assert abs(result.lengths.min() - result.length) <= instance.n * 2.0**-28 * longest


KNOWN = {
    "berlin52": (7542, 200),
    "swiss42": (1273, 10_000),
    "bays29": (2020, 2_000),
    "gr48": (5046, 10_000),
    "att48": (10628, 10_000),
    "ulysses22": (7013, 10_000),
}


@pytest.mark.parametrize("name", KNOWN)
def test_small_instances_of_tsplib_are_solved_to_optimality(backend: Backend, name: str) -> None:
    optimum, climbers = KNOWN[name]
    if climbers > 2_000:
        skip_where_slow(backend)
    result = solved(pytsp.read(tsplib_file(f"{name}.tsp")), backend, climbers=climbers)
    assert (result.length, result.optimum, result.gap) == (optimum, optimum, 0)


@pytest.mark.slow
@pytest.mark.parametrize("k", [1, 8, "inf"])
def test_c_and_multicore_agree_on_all_of_tsplib_up_to_a_thousand_cities(k: int | str) -> None:
    names = all_tsplib(1000)
    if not names:
        pytest.skip("TSPLIB's files are not there")
    for name in names:
        instance = pytsp.read(tsplib_file(f"{name}.tsp"), ignore_fixed_edges=True)
        climbers = 100 if instance.n < 200 else 4
        first, second = (
            pytsp.solve(instance, solver="restarts", climbers=climbers, seed=1, backend=each, k=k)
            for each in ("c", "multicore")
        )
        assert_same(first, second)
        assert instance.optimum is None or first.length >= instance.optimum


# Batches


@settings(max_examples=60)
@given(
    n=st.sampled_from((1, 2, 3, 4, 5, 30)),
    call_seconds=st.sampled_from((1e-12, 1e-6, 1e-4, 0.15, 1e3)),
    first_call_moves=st.sampled_from((1e-3, 1e3, 1e5, 2e7)),
    batch_bytes=st.sampled_from((1, 400, 1000, 2**26)),
)
def test_any_cut_gives_the_same_result(
    backend: Backend, n: int, call_seconds: float, first_call_moves: float, batch_bytes: int
) -> None:
    instance = uniform(n)
    expected = solved(instance, backend, climbers=23, seed=9)
    snapshots: list[Progress] = []
    with cut(call_seconds, first_call_moves, batch_bytes):
        result = solved(instance, backend, climbers=23, seed=9, progress=snapshots.append)
    assert_same(result, expected)
    assert_whole(result)
    done = [each.climbers_done for each in snapshots]
    assert done == sorted(done) and done[-1] == 23
    lengths = [each.length for each in snapshots]
    assert lengths == sorted(lengths, reverse=True) and lengths[-1] == result.length
    seconds = [each.seconds for each in snapshots]
    assert seconds == sorted(seconds) and seconds[-1] <= result.seconds


def test_steps_of_one_move_give_the_same_result(backend: Backend) -> None:
    instance = uniform(25)
    expected = solved(instance, backend, climbers=6)
    calls = 0

    def count(_: Progress) -> None:
        nonlocal calls
        calls += 1

    with cut(1e-12, 1e-12, 1):
        assert_same(solved(instance, backend, climbers=6, progress=count), expected)
    assert calls == int((expected.steps + 1).sum())


@given(cuts=st.lists(st.integers(0, 40), max_size=4), order=st.randoms(use_true_random=False))
def test_ranges_of_climbers_in_any_order_make_up_the_whole(backend: Backend, cuts: list[int], order: Any) -> None:
    instance = uniform(12)
    whole = solved(instance, backend, climbers=40, first=2**40)
    bounds = sorted({0, 40, *cuts})
    ranges = list(zip(bounds, bounds[1:], strict=False))
    order.shuffle(ranges)
    parts = {a: solved(instance, backend, climbers=b - a, first=2**40 + a) for a, b in ranges}
    assert np.concatenate([parts[a].lengths for a in sorted(parts)]).tolist() == whole.lengths.tolist()
    assert np.concatenate([parts[a].steps for a in sorted(parts)]).tolist() == whole.steps.tolist()
    best = min(parts.values(), key=lambda part: (part.length, part.climber))
    assert (best.length, best.climber) == (whole.length, whole.climber)
    assert np.array_equal(best.tour, whole.tour)


@pytest.mark.parametrize("threads", [1, 2, 3, 7])
def test_the_number_of_threads_changes_nothing(threads: int) -> None:
    instance = uniform(60)
    options: dict[str, Any] = dict(solver="restarts", climbers=100, seed=2)
    expected = pytsp.solve(instance, **options, backend="c")
    assert_same(pytsp.solve(instance, **options, backend="multicore", threads=threads), expected)


def test_more_climbers_never_give_a_longer_tour(backend: Backend) -> None:
    lengths = [solved(uniform(40), backend, climbers=climbers).length for climbers in (1, 2, 5, 20, 100)]
    assert lengths == sorted(lengths, reverse=True)


# Ends


def test_a_time_limit_ends_a_solve_with_the_best_so_far(backend: Backend, monkeypatch: pytest.MonkeyPatch) -> None:
    skip_where_slow(backend)
    clock = KernelClock(monkeypatch)
    result = solved(uniform(200), backend, climbers=10**6, time_limit=1.0)
    assert result.stop_reason == "time limit"
    assert clock.begun("climb") > 1 and not clock.begun("climb", after=1.0)
    assert 0 < result.climbers < 10**6
    assert_whole(result)


def test_a_time_limit_that_is_over_at_once_still_gives_a_tour(backend: Backend) -> None:
    with cut(1e-12, 1e-12, 1):
        result = solved(uniform(50), backend, climbers=5, time_limit=1e-9)
    assert result.stop_reason == "time limit"
    # At that speed no pass would fit: the climber stands where it starts.
    assert (result.climbers, result.steps.tolist(), result.done.tolist()) == (1, [0], [False])
    assert_whole(result)


def test_a_solve_that_finishes_in_the_last_call_is_finished(backend: Backend) -> None:
    assert solved(uniform(5), backend, climbers=1, time_limit=1e-9).stop_reason == "finished"


@pytest.mark.parametrize("calls", [1, 2, 7, 40])
def test_an_interruption_between_calls_gives_the_best_so_far(backend: Backend, calls: int) -> None:
    seen: list[Progress] = []

    def interrupt(now: Progress) -> None:
        seen.append(now)
        if len(seen) == calls:
            raise KeyboardInterrupt

    with cut(1e-5, 1e3, 1000):
        result = solved(uniform(40), backend, climbers=500, progress=interrupt)
    assert result.stop_reason == "interrupted"
    assert result.length == seen[-1].length
    assert int(result.done.sum()) == seen[-1].climbers_done
    assert_whole(result)


@given(at=st.integers(0, 60), after=st.booleans())
@example(at=1, after=True)
def test_an_interruption_inside_any_call_leaves_the_result_whole(backend: Backend, at: int, after: bool) -> None:
    interruption = Interruption(at, after)
    with cut(1e-5, 1e3, 400), pytest.MonkeyPatch.context() as patch:
        patch.setattr(Backend, "call", interruption.call)
        try:
            result = solved(uniform(20), backend, climbers=200)
        except KeyboardInterrupt:
            # The load, the start, the climb, four results and the best's place and tour: only then there is one.
            assert at < 9
            return
    assert result.stop_reason == "interrupted"
    assert_whole(result)


def test_a_target_ends_a_solve(backend: Backend) -> None:
    instance = uniform(40)
    lengths = solved(instance, backend, climbers=400).lengths
    target = int(np.sort(lengths)[100])
    with cut(1e-5, 1e3, 1000):
        result = solved(instance, backend, climbers=400, target=target)
    assert (result.stop_reason, result.length <= target) == ("target", True)
    assert result.climbers < 400
    assert_whole(result)
    assert solved(instance, backend, climbers=20, target=0).stop_reason == "finished"


def test_improvements_are_told_as_they_come(backend: Backend) -> None:
    reported: list[pytsp.Improvement] = []
    with cut(1e-5, 1e3, 1000):
        result = solved(uniform(40), backend, climbers=400, on_improvement=reported.append)
    assert result.history == tuple(reported)
    assert len(reported) > 1
    assert all(
        a.seconds <= b.seconds and a.iteration <= b.iteration for a, b in zip(reported, reported[1:], strict=False)
    )
    assert all(a.length > b.length for a, b in zip(reported, reported[1:], strict=False))
    assert (reported[-1].length, result.solver, result.iterations) == (result.length, "restarts", None)


def test_errors_in_progress_are_the_callers_own(backend: Backend) -> None:
    def fail(_: Progress) -> None:
        raise LookupError("mine")

    with pytest.raises(LookupError, match="mine"):
        solved(uniform(10), backend, climbers=2, progress=fail)
    assert solved(uniform(10), backend, climbers=2).stop_reason == "finished"


# Refusals


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"climbers": 0}, ValueError, "climbers must be a whole number from 1"),
        ({"climbers": 1.5}, TypeError, "climbers must be"),
        ({"climbers": True}, ValueError, "climbers must be"),
        ({"climbers": 2**41}, ValueError, "climbers must be"),
        ({"seed": -1}, ValueError, "seed must be a whole number from 0 to 18446744073709551615"),
        ({"seed": 2**64}, ValueError, "seed must be"),
        ({"first": -1}, ValueError, "first must be"),
        ({"time_limit": 0}, ValueError, "time_limit must be a positive number"),
        ({"time_limit": -1.0}, ValueError, "time_limit must be"),
        ({"time_limit": float("nan")}, ValueError, "time_limit must be"),
        ({"target": -1}, ValueError, "target must be a length, at least 0; it is -1"),
        ({"target": float("nan")}, ValueError, "target must be a length"),
        ({"solver": "magic"}, ValueError, "solver 'magic' is not known; known: auto, restarts, ils, eax"),
        ({"solver": "ils", "k": 8}, ValueError, "k=8 has no effect with solver='ils'; it is for solver='restarts'"),
        ({"population": 0}, ValueError, "population must be a whole number from 1"),
        ({"population": 0, "climbers": 9, "solver": "auto"}, ValueError, "population must be a whole number from 1"),
        (
            {"solver": "ils", "population": 5},
            ValueError,
            "population=5 has no effect with solver='ils'; it is for solver=",
        ),
        ({"solver": "eax", "mapping": "thread"}, ValueError, "mapping='thread' has no effect with solver='eax'"),
        (
            {"solver": "restarts", "mapping": "lockstep"},
            ValueError,
            "mapping='lockstep' has no effect with solver='restarts'; it is for solver='ils'",
        ),
        (
            {"solver": "restarts", "iterations": 0},
            ValueError,
            "iterations=0 has no effect with solver='restarts'; it is for solver='ils' or",
        ),
        ({"solver": "restarts", "start": "random"}, ValueError, "start='random' has no effect with"),
        ({"solver": "restarts", "initial_tour": np.arange(5)}, ValueError, "initial_tour has no effect with"),
        ({"solver": "restarts", "neighbours": np.zeros((5, 2))}, ValueError, "neighbours has no effect with"),
        ({"solver": "restarts", "temperature": 0.0}, ValueError, "temperature=0.0 has no effect with"),
        ({"solver": "eax", "k": 8}, ValueError, "k=8 has no effect with solver='eax'; it is for solver='restarts'"),
        ({"solver": "eax", "start": "random"}, ValueError, "start='random' has no effect with solver='eax'; it is for"),
        ({"k": 2, "exchange": 9}, ValueError, "k=2 is for solver='restarts' and exchange=9 for solver='ils'"),
        ({"k": 2, "iterations": 9}, ValueError, "iterations=9 has no effect with solver='restarts'"),
        ({"neighbourhood": "round"}, ValueError, "neighbourhood 'round' is not known; known: auto, flat, zipped"),
        ({"neighbourhood": "flat", "k": 8}, ValueError, "neighbourhood='flat' makes one move a pass, not k=8: use"),
        ({"neighbourhood": "tiles", "backend": "c"}, ValueError, "needs a GPU backend; backend 'c' walks along 'diag"),
        (
            {"solver": "ils", "neighbourhood": "flat"},
            ValueError,
            "neighbourhood='flat' has no effect with solver='ils'",
        ),
        ({"shared_matrix": True}, ValueError, "shared_matrix concerns neighbourhood='flat' or 'zipped' or"),
        (
            {"shared_matrix": True, "neighbourhood": "flat", "backend": "c"},
            ValueError,
            "and 24 to 100 cities whose distances fit a block's shared memory; this is backend 'c' with mapping='auto'",
        ),
        ({"backend": "cobol"}, BackendError, "'cobol' is not known"),
        ({"backend": "multicore", "threads": 0}, BackendError, "threads must be"),
    ],
)
def test_arguments_out_of_range_are_refused(options: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        pytsp.solve(uniform(5), **options)


def test_only_instances_are_solved() -> None:
    with pytest.raises(TypeError, match=r"must be a pytsp.Instance \(see pytsp.read\), .*; it is a NoneType"):
        pytsp.solve(None)
    with pytest.raises(TypeError, match="positional"):
        pytsp.solve(uniform(5), 3)  # type: ignore[misc]


def test_instances_that_kernels_cannot_hold_are_refused() -> None:
    with pytest.raises(InstanceError, match="1073741823: divide"):
        pytsp.solve(Instance.from_matrix([[0, 2**30], [2**30, 0]], name="far"))


def test_a_backend_that_cannot_run_says_what_to_do() -> None:
    unusable = [each for each in status() if not each.usable]
    if not unusable:
        pytest.skip("every backend runs here")
    for each in unusable:
        with pytest.raises(BackendUnavailable, match="to use it"):
            pytsp.solve(uniform(5), backend=each.name)


@pytest.mark.parametrize("climbers", [1, 40])
def test_the_best_climber_is_the_first_among_the_shortest(backend: Backend, climbers: int) -> None:
    result = pytsp.solve(uniform(7), solver="restarts", climbers=climbers, first=3, backend=backend.name)
    assert len({*result.lengths.tolist()}) < max(2, climbers)
    assert result.climber == 3 + result.lengths.tolist().index(min(result.lengths))


def test_a_wrong_length_of_a_kernel_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    assert_wrong_lengths_are_found_out(
        monkeypatch, "batch_found", lambda: pytsp.solve(uniform(9), solver="restarts", climbers=2, backend="c")
    )


@pytest.mark.parametrize(("n", "climbers"), [(1, 10_000), (4, 10_000), (100, 10_000), (1000, 33), (10**5, 1)])
def test_the_default_number_of_climbers_bounds_the_work(n: int, climbers: int) -> None:
    assert default_climbers(n) == climbers


@pytest.mark.parametrize(
    ("solver", "options"),
    [
        ("restarts", {"k": 2}),
        ("restarts", {"mapping": "thread"}),
        ("restarts", {"mapping": "thread", "k": 2}),
        ("ils", {"mapping": "thread", "iterations": 3}),
        ("ils", {"iterations": 3}),
        ("ils", {"start": "random", "iterations": 3}),
        ("ils", {"kick": "walk", "target": 10**9}),
        ("ils", {"temperature": 0.0, "target": 10**9}),
        ("ils", {"exchange": 5, "iterations": 3}),
        ("eax", {}),
        ("ils", {"start": "greedy", "target": 10**9}),
        ("eax", {"k": 1, "mapping": "auto", "start": None}),
        ("eax", {"initial_tour": range(9)}),
        ("eax", {"neighbours": 4, "quadrants": False, "moves": "or-opt", "pivot": "best"}),
        ("eax", {"time_limit": 10.0}),
    ],
)
def test_the_solver_is_the_one_that_the_arguments_concern(
    backend: Backend, solver: str, options: dict[str, Any]
) -> None:
    assert pytsp.solve(uniform(9), backend=backend.name, climbers=2, **options).solver == solver


@pytest.mark.parametrize(("n", "solver"), [(1, "ils"), (7, "ils"), (8, "eax"), (20_000, "eax"), (20_001, "ils")])
def test_the_solver_follows_from_the_number_of_cities(n: int, solver: str) -> None:
    options: dict[str, Any] = dict(climbers=1, neighbours=2, moves="or-opt", target=10**9)
    assert pytsp.solve(uniform(n), backend="c", **options).solver == solver


def test_a_solve_names_its_defaults(backend: Backend) -> None:
    assert solved(uniform(6), backend).climbers == 10_000
    assert pytsp.solve(uniform(6), climbers=1).backend == open_backend().name
