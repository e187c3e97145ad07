"""Distances of many decades: what is found is the optimum or is warned of, and searches on several scales tell, stop
and count as one search does."""

from __future__ import annotations

import itertools
import json
import math
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import strategies
from hypothesis import example, given, settings
from hypothesis import strategies as st
from interruptions import Interruption
from numpy.typing import NDArray
from oracle import least_tour
from results import assert_improves, assert_same

import pytsp
from pytsp import Improvement, Instance, Progress, PytspWarning, Result
from pytsp.api import rescaled
from pytsp.api.steps import Request
from pytsp.backends import Backend

SEARCHES: dict[str, dict[str, Any]] = {
    "restarts": {"climbers": 40},
    "two-opt": {"kicks": 40},
    "ils": {"climbers": 2, "iterations": 100},
    "eax": {"climbers": 10},
    "annealing": {"climbers": 3, "iterations": 300},
    "ants": {"climbers": 1, "iterations": 40, "moves": "3-opt"},
}
E = 1e-6
SIX = np.array(
    [
        [0, 1e2, 1e-2, 1e-5, 0.1, E],
        [1e6, 0, 0.1, 1e-3, 1e-3, E],
        [1e-4, 0.1, 0, 1e-3, E, 1e-5],
        [1e4, 1e4, 1e-3, 0, 1e4, 1e-4],
        [1e-3, 1e4, 1e-3, 0.01, 0, E],
        [0.01, 0.01, 1, 1e-4, 0.01, 0],
    ]
)
ILS: dict[str, Any] = {"solver": "ils", **SEARCHES["ils"]}


# Cities and seeds.
MANY = ((7, 0), (8, 3), (9, 5), (9, 0))


def wide(n: int, decades: float, seed: int = 0, *, is_directed: bool = True) -> NDArray[np.float64]:
    """Distances that are uniform in their logarithms over a number of decades."""
    d: NDArray[np.float64] = 10.0 ** np.random.default_rng(seed).uniform(-decades / 2, decades / 2, (n, n))
    d = d if is_directed else np.triu(d, 1) + np.triu(d, 1).T
    np.fill_diagonal(d, 0)
    return d


def directed(d: NDArray[np.float64]) -> Instance:
    return Instance.from_matrix(d, asymmetric=True)


def places(far: float, n: int = 15) -> NDArray[np.float64]:
    """Places in a square of side 100, and one whose coordinates stand for missing ones."""
    return np.vstack([np.random.default_rng(1).random((n, 2)) * 100, [[far, far]]])


def without_last(result: Result) -> float:
    """The length of the tour that leaves the last city out."""
    points = result.instance.coordinates
    assert points is not None
    cities = [city for city in result.tour.tolist() if city < result.instance.n - 1]
    return math.fsum(math.dist(points[a], points[b]) for a, b in itertools.pairwise([*cities, cities[0]]))


@contextmanager
def no_warning() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


@pytest.fixture
def searches(monkeypatch: pytest.MonkeyPatch) -> list[Result]:
    """The results of the searches of a solve, one after the other."""
    found: list[Result] = []
    once = rescaled.solve_once

    def solve_once(instance: Instance, request: Request) -> Result:
        found.append(once(instance, request))
        return found[-1]

    monkeypatch.setattr(rescaled, "solve_once", solve_once)
    return found


# How near to the optimum


@settings(max_examples=80)
@given(
    n=st.integers(1, 8),
    decades=st.floats(0, 40),
    seed=st.integers(0, 2**32),
    is_directed=st.booleans(),
    ends=st.sampled_from([None, (None, None), (0, None), (None, 1), (1, 0)]),
    solver=st.sampled_from(["auto", "ils", "eax"]),
)
@example(n=8, decades=300, seed=0, is_directed=True, ends=None, solver="auto")
@example(n=8, decades=600, seed=0, is_directed=False, ends=(None, None), solver="auto")
@example(n=7, decades=13, seed=0, is_directed=False, ends=None, solver="auto")
@example(n=4, decades=9, seed=249, is_directed=True, ends=None, solver="auto")
@example(n=2, decades=24.75, seed=11909, is_directed=False, ends=(0, None), solver="auto")
def test_distances_of_any_size_end_on_the_optimum_or_a_warning(
    n: int, decades: float, seed: int, is_directed: bool, ends: tuple[int | None, int | None] | None, solver: str
) -> None:
    d = wide(n, decades, seed, is_directed=is_directed)
    instance = Instance.from_matrix(d, asymmetric=is_directed)
    start, end = ends if ends is not None and n > 1 else (None, None)
    path: dict[str, Any] = {} if ends is None else {"open": True, "start_city": start, "end_city": end}
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        result = pytsp.solve(instance, solver=solver, backend="c", **path, **SEARCHES.get(solver, {}))
    assert result.length == (instance.tour_length if ends is None else instance.path_length)(result.tour)
    assert [each.category for each in warned] == [PytspWarning] * result.is_coarse
    if not warned:
        least = least_tour(d.tolist(), is_open=ends is not None, start=start, end=end)
        assert result.length == pytest.approx(least, rel=1e-6)
    assert assert_improves(result.history)[-1] == pytest.approx(result.length, rel=1e-6)
    assert result.lengths.min() == pytest.approx(result.length, rel=1e-6)


@pytest.mark.parametrize("solver", SEARCHES)
def test_every_solver_searches_again(solver: str, searches: list[Result]) -> None:
    with no_warning():
        result = pytsp.solve(directed(SIX), solver=solver, backend="c", **SEARCHES[solver])
    assert len(searches) > 1
    assert result.length == pytest.approx(0.01221, rel=1e-9)
    assert result.length == pytest.approx(least_tour(SIX.tolist()), rel=1e-9)
    assert assert_improves(result.history)[-1] == result.length == result.lengths.min()
    assert result.seconds >= max(result.history[-1].seconds, *(each.seconds for each in searches))
    assert result.solver == solver and result.options == searches[0].options
    json.dumps(result.to_dict(), allow_nan=False)


@pytest.mark.parametrize(("n", "decades", "longest"), [(50, 10, 0.0010181), (200, 8, 0.023407)])
def test_many_cities_do_not_end_above_what_distances_that_are_cut_give(n: int, decades: float, longest: float) -> None:
    with no_warning():
        assert pytsp.solve(directed(wide(n, decades)), backend="c").length <= longest


def test_what_no_scale_makes_finer_is_left_with_a_warning(searches: list[Result]) -> None:
    # The end of a path is far from all others, whatever is known.
    with pytest.warns(PytspWarning, match=r"the path may be longer.* city 15 at \[1000000000000.0, .* missing data"):
        result = pytsp.solve(places(1e12), open=True, backend="c")
    assert result.is_coarse and result.to_dict()["is_coarse"] is True
    assert len(searches) == 1


def test_a_tour_that_is_as_short_as_its_potentials_is_left(searches: list[Result]) -> None:
    d = np.ones((6, 6))
    d[5] = d[:, 5] = 1e12
    d[0, 1] = d[1, 0] = 1e11
    with no_warning():
        result = pytsp.solve(Instance.from_matrix(d), backend="c", **ILS)
    assert len(searches) == 1 and not result.is_coarse and result.length == 2e12 + 4


# Places without data


@pytest.mark.parametrize("solver", ["auto", "large", *SEARCHES])
@pytest.mark.parametrize("far", [1e12, -9999999.0])
def test_a_place_without_data_costs_the_others_nothing(far: float, solver: str) -> None:
    known = pytsp.solve(places(far)[:-1], backend="c").length
    with no_warning():
        result = pytsp.solve(places(far), solver=solver, backend="c", **SEARCHES.get(solver, {}))
    assert without_last(result) == pytest.approx(known, rel=1e-6)
    assert result.lengths.min() == result.length
    if solver == "restarts":
        assert np.ptp(result.lengths) > 1
    assert result.instance.metric == "EUCLIDEAN" and result.length == result.instance.tour_length(result.tour)


@pytest.mark.parametrize("options", [{"quadrants": True}, {"start": "space-filling-curve"}])
def test_options_that_need_coordinates_concern_the_first_search_only(options: dict[str, Any]) -> None:
    known = pytsp.solve(places(1e12)[:-1], backend="c").length
    result = pytsp.solve(places(1e12), backend="c", **ILS, **options)
    assert without_last(result) == pytest.approx(known, rel=1e-6)
    assert [getattr(result.options, name) for name in options] == [*options.values()]


def test_two_places_without_data_cost_the_others_nothing() -> None:
    instance = Instance.from_coordinates(np.vstack([places(1e12, 7), [[-9999999.0, 0]]]))
    with warnings.catch_warnings():
        # Beside the place that is nearer, the others have just enough digits.
        warnings.simplefilter("ignore")
        result = pytsp.solve(instance, backend="c")
    # Numbers of this size are 2^-12 apart.
    assert result.length <= least_tour(instance.distance_matrix().tolist()) + 2**-11


def test_places_in_space_and_on_the_globe_have_finer_scales_too(searches: list[Result]) -> None:
    draw = np.random.default_rng(2)
    for points, metric in (
        (np.vstack([draw.random((12, 3)), [[1e9, 0, 0]]]), "EUCLIDEAN"),
        (np.vstack([[50.0, 7.0] + draw.random((12, 2)) / 1e5, [[0, 0]]]), "HAVERSINE"),
    ):
        searches.clear()
        with no_warning():
            result = pytsp.solve(points, metric=metric, backend="c")
        assert len(searches) == 2
        known = pytsp.solve(points[:-1], metric=metric, backend="c")
        others = [city for city in result.tour.tolist() if city < 12]
        assert known.instance.tour_length(others) <= 1.2 * known.length


def test_what_floating_point_numbers_leave_out_is_warned_of() -> None:
    points = places(-3.4028235e38, 8)
    with pytest.warns(PytspWarning, match=r"city 8 at \[-3.4028235e\+38, -3.4028235e\+38\] is too far from all"):
        result = pytsp.solve(points, backend="c")
    assert result.is_coarse
    # It is equally far from all others, so that these make the shortest path.
    others = Instance.from_coordinates(points[:-1])
    path = np.roll(result.tour, -int(np.argmax(result.tour == 8)))[1:]
    assert others.path_length(path) == pytest.approx(least_tour(others.distance_matrix().tolist(), is_open=True))


def test_too_many_cities_for_a_matrix_are_warned_of_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rescaled, "MATRIX_CITIES", 15)
    labels = [f"stop {number}" for number in range(16)]
    instance = Instance.from_coordinates(places(1e12), name="stops", labels=labels)
    with pytest.warns(PytspWarning, match=r"stops: the tour may .*: city 15 \(stop 15\) at \[.*; correct or leave"):
        assert pytsp.solve(instance, backend="c").is_coarse
    monkeypatch.setattr(rescaled, "MATRIX_CITIES", 16)
    with no_warning():
        assert not pytsp.solve(instance, backend="c").is_coarse


# Ordinary instances


@settings(max_examples=40)
@given(instance=strategies.float_instances(max_n=12))
@example(instance=Instance.from_coordinates(np.random.default_rng(0).random((60, 2))))
@example(instance=Instance.from_coordinates([[0, 0]] * 9))
def test_ordinary_instances_are_searched_once(instance: Instance) -> None:
    found: list[Result] = []
    once = rescaled.solve_once
    with pytest.MonkeyPatch.context() as patch, no_warning():
        patch.setattr(rescaled, "solve_once", lambda *given: found.append(once(*given)) or found[-1])
        result = pytsp.solve(instance, backend="c", **ILS)
    if len(found) == 1:
        assert result.lengths.tolist() == found[0].lengths.tolist()
    else:
        # Hypothesis draws instances of many decades, too.
        assert not rescaled.with_doubt(result).is_coarse and found[0].resolution > result.resolution


def test_the_resolution_is_a_unit_of_the_lengths() -> None:
    points = np.random.default_rng(0).random((60, 2))
    result = pytsp.solve(points, backend="c", **ILS)
    assert result.resolution == 2.0**-28 and (result.lengths % result.resolution == 0).all()
    assert pytsp.solve(points * 100, metric="EUC_2D", backend="c", **ILS).resolution == 0.0
    assert pytsp.solve_many([points], backend="c")[0].resolution == 2.0**-28
    reported: list[Progress] = []
    pytsp.solve(points, backend="c", progress=reported.append, **ILS)
    assert {now.resolution for now in reported} == {2.0**-28}


# Limits and callbacks


@pytest.mark.parametrize("limit", [{"time_limit": 1e6}, {"patience": 1e6}])
def test_with_a_limit_a_search_on_a_coarse_scale_is_left_at_once(
    limit: dict[str, float], searches: list[Result]
) -> None:
    options = ILS | {"iterations": 10**4}
    with no_warning():
        result = pytsp.solve(directed(SIX), backend="c", **options, **limit)
    assert len(searches) > 1 and searches[0].stop_reason == "callback"
    assert searches[0].iterations < 10**4  # type: ignore[operator]
    assert result.length == pytest.approx(0.01221, rel=1e-9) and result.stop_reason == "finished"
    assert assert_improves(result.history)[-1] == result.length


def test_without_time_for_another_search_there_is_a_warning(
    monkeypatch: pytest.MonkeyPatch, searches: list[Result]
) -> None:
    monkeypatch.setattr(rescaled, "DISTANCE_SECONDS", 1e6)
    with pytest.warns(PytspWarning, match=r"span too many decades.* units of .* more time"):
        result = pytsp.solve(directed(SIX), backend="c", time_limit=1e6, **ILS)
    assert len(searches) == 1 and result.is_coarse and result.stop_reason == "finished"


@pytest.mark.parametrize("limit", [{}, {"time_limit": 1e6}])
def test_callbacks_are_told_ever_shorter_lengths_and_counts_that_grow(limit: dict[str, float]) -> None:
    improved: list[Improvement] = []
    reported: list[Progress] = []
    instance = directed(wide(12, 14))

    def improve(now: Any) -> None:
        assert instance.tour_length(now.tour) == now.length
        improved.append(Improvement(*now))

    def follow(now: Progress) -> None:
        assert instance.tour_length(now.tour) == pytest.approx(now.length, rel=1e-9)
        reported.append(now)

    result = pytsp.solve(instance, backend="c", progress=follow, on_improvement=improve, **ILS, **limit)
    assert tuple(improved) == result.history
    assert assert_improves(improved)[-1] == result.length
    assert [now.length for now in reported] == sorted((now.length for now in reported), reverse=True)
    assert [now.iteration for now in reported] == sorted(now.iteration for now in reported)
    assert reported[-1].iteration == reported[-1].iterations == result.iterations


@pytest.mark.filterwarnings("ignore:.*decades")
@pytest.mark.parametrize("limit", [{}, {"time_limit": 1e6}])
def test_a_callback_ends_every_search(limit: dict[str, float], searches: list[Result]) -> None:
    pytsp.solve(directed(SIX), backend="c", **ILS, **limit)
    for at in range(len(searches)):
        searches.clear()
        result = pytsp.solve(
            directed(SIX),
            backend="c",
            progress=lambda _, at=at: len(searches) == at,
            **ILS,
            **limit,  # type: ignore[misc]
        )
        assert len(searches) == at + 1 and result.stop_reason == "callback"
        assert result.length == result.instance.tour_length(result.tour)


def test_a_callback_that_is_none_is_refused() -> None:
    for limit in ({}, {"time_limit": 9.0}):
        with pytest.raises(TypeError, match="progress must be callable"):
            pytsp.solve(directed(SIX), backend="c", progress=3, **limit)  # type: ignore[arg-type]


@pytest.mark.filterwarnings("ignore:.*decades")
@pytest.mark.parametrize("limit", [{}, {"time_limit": 1e6}])
def test_a_target_ends_the_search_that_reaches_it(limit: dict[str, float], searches: list[Result]) -> None:
    instance = Instance.from_matrix(wide(10, 30, 6, is_directed=False))
    best = pytsp.solve(instance, backend="c", **ILS).length
    target = 2 * best
    assert searches[0].length > 1e6 * target
    searches.clear()
    result = pytsp.solve(instance, backend="c", target=target, **ILS, **limit)
    assert (result.stop_reason, len(searches) > 1) == ("target", True)
    assert best <= result.length <= target
    searches.clear()
    assert pytsp.solve(instance, backend="c", target=1e30, **ILS, **limit).stop_reason == "target"
    assert len(searches) == 1


@pytest.mark.parametrize("after", [False, True])
def test_control_c_leaves_the_best_tour_of_all_searches(after: bool) -> None:
    reasons = []
    for at in range(3, 90, 3):
        with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            interruption = Interruption(at, after)
            patch.setattr(Backend, "call", interruption.call)
            try:
                result = pytsp.solve(directed(SIX), backend="c", **ILS)
            except KeyboardInterrupt:
                continue
        assert result.stop_reason == ("interrupted" if interruption.calls > at else "finished")
        assert result.length == result.instance.tour_length(result.tour)
        assert assert_improves(result.history)[-1] == result.length
        reasons.append(result.stop_reason)
    assert set(reasons) == {"interrupted", "finished"}


@pytest.mark.parametrize("error", [MemoryError, pytsp.InstanceError("no room"), KeyboardInterrupt])
@pytest.mark.parametrize("limit", [{}, {"time_limit": 1e6}])
def test_a_search_that_fails_costs_no_tour(
    limit: dict[str, float], error: BaseException, monkeypatch: pytest.MonkeyPatch
) -> None:
    once, calls = rescaled.solve_once, itertools.count()

    def fail(instance: Instance, request: Request) -> Result:
        if next(calls):
            raise error
        return once(instance, request)

    monkeypatch.setattr(rescaled, "solve_once", fail)
    with pytest.warns(PytspWarning, match="span too many decades"):
        result = pytsp.solve(directed(SIX), backend="c", **ILS, **limit)
    assert result.length == result.instance.tour_length(result.tour)
    assert result.stop_reason == ("interrupted" if error is KeyboardInterrupt else "finished")


def test_a_matrix_without_room_costs_no_tour(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(what: str, needed: int) -> None:
        raise pytsp.InstanceError(f"{what} would take {needed} bytes")

    monkeypatch.setattr(rescaled, "check_room", full)
    for limit in ({}, {"time_limit": 1e6}):
        with pytest.warns(PytspWarning, match="span too many decades"):
            assert pytsp.solve(directed(SIX), backend="c", **ILS, **limit).stop_reason == "finished"


def test_a_search_without_time_compares_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    once = rescaled.solve_once
    first: list[Result] = []

    def late(instance: Instance, request: Request) -> Result:
        if not first:
            first.append(once(instance, request))
            return first[0]
        tour = request.initial_tour
        length = instance.tour_length(tour)
        changed: dict[str, Any] = {"length": length, "lengths": np.array([length]), "stop_reason": "time limit"}
        return replace(first[0], instance=instance, tour=np.array(tour), resolution=0.0, **changed)

    monkeypatch.setattr(rescaled, "solve_once", late)
    with pytest.warns(PytspWarning, match="span too many decades"):
        result = pytsp.solve(directed(SIX), backend="c", **ILS)
    assert result.is_coarse and result.stop_reason == "time limit"
    assert (result.length, result.resolution) == (first[0].length, first[0].resolution)


def test_scales_that_gain_nothing_are_not_looked_for_at_each_call(monkeypatch: pytest.MonkeyPatch) -> None:
    reduced: list[object] = []
    reduce_costs = rescaled.reduce_costs

    def reduce(*given_: Any, **more: Any) -> Any:
        reduced.append(given_)
        return reduce_costs(*given_, **more)

    monkeypatch.setattr(rescaled, "reduce_costs", reduce)
    instance = Instance.from_coordinates(places(1e12))
    scales = rescaled._Scales(instance, Request(open=True, began=0.0))
    tour = np.arange(16, dtype=np.int32)
    # The far city is the last one. By half its length, which no tour has, the path is worth another look.
    for share, looks in ((1, 1), (1, 1), (0.6, 1), (0.4, 2)):
        length = share * instance.path_length(tour)
        assert not scales.tell_first(Progress(1, 0, length, 0.0, resolution=4096.0, find=tour.copy))
        assert len(reduced) == looks


# Checkpoints, bounds, other processes, many instances


def test_a_checkpoint_keeps_the_first_scale_and_resumes_alike(tmp_path: Path, searches: list[Result]) -> None:
    d = wide(12, 16, is_directed=False)
    with pytest.warns(PytspWarning, match=r"span too many decades.* no checkpoint"):
        result = pytsp.solve(Instance.from_matrix(d), backend="c", checkpoint=tmp_path / "wide", **ILS)
    assert len(searches) == 1 and result.is_coarse
    with pytest.warns(PytspWarning, match="span too many decades") as warned:
        again = pytsp.resume(tmp_path / "wide")
    assert warned[0].filename == __file__
    assert_same(result, again)
    assert again.is_coarse and again.resolution == result.resolution


def test_a_warning_names_where_solve_is_called(tmp_path: Path) -> None:
    with pytest.warns(PytspWarning) as warned:
        pytsp.solve(places(1e12), open=True, backend="c")
        pytsp.solve_many([places(-3.4028235e38)], backend="c")
    assert [each.filename for each in warned] == [__file__] * 2


def test_a_bound_is_that_of_all_searches() -> None:
    with no_warning():
        result = pytsp.solve(directed(SIX), backend="c", bound=True, **ILS)
    assert result.lower_bound is not None and 0.009 < result.lower_bound <= result.length
    # A first search ends with a gap of 0.307, so that others follow for a smaller one.
    with no_warning():
        near = pytsp.solve(directed(SIX), backend="c", bound=True, target_gap=0.3, **ILS)
    assert near.stop_reason == "proven" and near.length <= 1.3 * result.lower_bound
    with pytest.warns(PytspWarning, match="limits that end it"):
        first = pytsp.solve(directed(SIX), backend="c", bound=True, target_gap=0.31, **ILS)
    assert first.stop_reason == "proven" and near.length < first.length <= 1.31 * result.lower_bound


def test_backends_and_processes_change_nothing(backend: Backend) -> None:
    instance = directed(wide(12, 14))
    expected = pytsp.solve(instance, backend="c", **ILS)
    assert_same(pytsp.solve(instance, backend=backend.name, **ILS), expected)
    with ThreadPoolExecutor(2) as threads:
        assert_same(pytsp.solve(instance, backend=backend.name, executor=threads, **ILS), expected)


@pytest.mark.parametrize("executor", [None, ThreadPoolExecutor])
def test_many_instances_are_each_searched_again(executor: Callable[[int], Any] | None, backend: Backend) -> None:
    ordinary = Instance.from_coordinates(np.random.default_rng(3).random((9, 2)))
    wides = [Instance.from_matrix(wide(n, 30, seed, is_directed=False)) for n, seed in MANY]
    listed = [Instance.from_coordinates(places(1e12, 8)), *wides, ordinary]
    work = executor(2) if executor is not None else None
    with no_warning():
        results = pytsp.solve_many(listed, backend=backend.name, executor=work)
        for instance, result in zip(listed, results, strict=True):
            [alone] = pytsp.solve_many([instance], backend="c")
            assert_same(result, alone)
            assert (result.resolution, result.is_coarse) == (alone.resolution, False)
            assert instance is ordinary or result.resolution < 2.0**-29 * instance.distance_matrix().max()
            least = least_tour(instance.distance_matrix().tolist())
            assert result.length == pytest.approx(least, rel=1e-6)
    if work is not None:
        work.shutdown()


def test_many_instances_are_each_warned_of() -> None:
    with pytest.warns(PytspWarning) as warned:
        results = pytsp.solve_many([places(-3.4028235e38, 9), places(1e12, 9), places(-3.4028235e38, 6)], backend="c")
    assert [result.is_coarse for result in results] == [True, False, True]
    assert ["city 9" in str(each.message) for each in warned] == [True, False]
