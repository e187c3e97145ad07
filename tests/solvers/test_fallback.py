"""The tours of solves whose time is over before their search: as good as there is time for."""

from __future__ import annotations

import importlib
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
import strategies
from clocks import Clock
from hypothesis import assume, example, given
from hypothesis import strategies as st
from numpy.typing import NDArray

import pytsp
from pytsp import Instance
from pytsp.api import dispatch as _solving
from pytsp.api.dispatch import task_of
from pytsp.backends import open_backend
from pytsp.backends.context import Backend
from pytsp.generate import uniform
from pytsp.problem import open_paths as _open_paths
from pytsp.problem.asymmetric import JonkerVolgenant
from pytsp.problem.location import is_located
from pytsp.problem.open_paths import OpenPath
from pytsp.run.monitor import Watch
from pytsp.solvers import policy
from pytsp.solvers.common import fallback as _unsearched
from pytsp.solvers.common.fallback import strips
from pytsp.solvers.common.starting_tours import first_tour
from pytsp.solvers.eax import Evolution
from pytsp.solvers.ils.population import Population
from pytsp.solvers.large.pieces import Pieces
from pytsp.solvers.options.ils import ILS
from pytsp.solvers.selection import choose
from pytsp.solvers.speeds import SPEEDS
from pytsp.starts import nearest_unvisited as _visits
from pytsp.starts import quick_greedy as _quick_greedy
from pytsp.starts.construct import nearest_neighbour, space_filling_curve
from pytsp.starts.descent import lists_along_curves
from pytsp.utils import deadline as _deadline

large_module = importlib.import_module("pytsp.solvers.large.solver")


def points_of(instance: Instance) -> NDArray[np.float64]:
    assert instance.coordinates is not None
    return instance.coordinates


@pytest.mark.parametrize(
    ("seconds", "along"), [(1.001, "curve"), (0.999, "strips"), (0.501, "strips"), (0.499, "order"), (-9.0, "order")]
)
def test_the_best_tour_that_there_is_time_for_is_told(
    monkeypatch: pytest.MonkeyPatch, seconds: float, along: str
) -> None:
    instance = uniform(300, 0)
    monkeypatch.setattr(policy, "FEW_CITIES", 299)
    monkeypatch.setitem(SPEEDS, "curve", 1.0 / 300)
    monkeypatch.setitem(SPEEDS, "strips", 0.5 / 300)
    tours = {"curve": space_filling_curve(instance), "strips": strips(points_of(instance)), "order": np.arange(300)}
    assert np.array_equal(_unsearched.quick_tour(instance, seconds), tours[along])
    # What takes next to no time is told whatever the time.
    monkeypatch.setattr(policy, "SHORT_CURVE_SECONDS", 1.0)
    monkeypatch.setitem(SPEEDS, "curve", 0.999 / 300)
    assert np.array_equal(_unsearched.quick_tour(instance, seconds), tours["curve"])
    # Of few cities it is the nearest-neighbour tour.
    monkeypatch.setattr(policy, "FEW_CITIES", 300)
    assert np.array_equal(_unsearched.quick_tour(instance, 10.0), nearest_neighbour(instance))


@pytest.mark.parametrize(("curve", "strip", "along"), [(190, 90, "curve"), (290, 190, "strips"), (390, 290, "order")])
@pytest.mark.parametrize("solver", ["large", "two-opt"])
def test_a_limit_decides_by_what_is_left_of_it(
    solver: str, curve: float, strip: float, along: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_deadline, "UNTIMED_CITIES", 60)
    monkeypatch.setattr(policy, "FEW_CITIES", 60)
    monkeypatch.setitem(SPEEDS, "curve", curve / 300)
    monkeypatch.setitem(SPEEDS, "strips", strip / 300)
    # "large" has no time for its curve or its lists, others have none for what they prepare.
    monkeypatch.setitem(SPEEDS, "pieces, start", 1.0)
    monkeypatch.setattr(_solving, "quick_seconds", lambda instance: float(instance.n))
    Clock().install(monkeypatch)
    instance = uniform(300, 0)
    monkeypatch.setattr(_unsearched, "shortened", lambda _, tour: (tour, instance.tour_length(tour)))
    found = pytsp.solve(instance, solver=solver, time_limit=200.0, backend="c")
    assert (found.stop_reason, found.iterations) == ("time limit", 0)
    tours = {"curve": space_filling_curve(instance), "strips": strips(points_of(instance)), "order": np.arange(300)}
    assert np.array_equal(found.tour, tours[along])


@given(strategies.coordinate_instances(max_n=40))
@example(Instance.from_coordinates([[0.0, 0.0]] * 3, metric="EUC_2D"))
@example(Instance.from_coordinates([[1e-200, 0.0], [0.0, 1e-200], [1.0, 1.0]], metric="EUC_2D"))
@example(Instance.from_coordinates([[0.0, 0.0], [1e8, 1e-300], [-1e8, 0.0]], metric="EUC_2D"))
@example(Instance.from_coordinates([[0.0, 0.0], [1e-160, 1e8], [0.0, -1e8]], metric="EUC_2D"))
def test_strips_visit_every_city(instance: Instance) -> None:
    points = points_of(instance)[:, :2]
    assert pytsp.is_tour(strips(points), len(points))


def test_strips_of_a_line_follow_it() -> None:
    places = np.random.default_rng(1).permutation(50).astype(np.float64)
    for points in (np.c_[places, np.zeros(50)], np.c_[np.full(50, 7.0), 3 * places]):
        assert np.array_equal(places[strips(points)], np.arange(50))


def test_strips_are_as_long_as_they_should_be() -> None:
    """Daganzo: 0.92 √(n A) for a uniform instance."""
    points = np.random.default_rng(2).random((20_000, 2)) * [3e6, 1e6]
    length = Instance.from_coordinates(points, metric="EUC_2D").tour_length(strips(points))
    assert 0.9 < length / np.sqrt(20_000 * 3e12) < 0.95


# Points


@pytest.mark.parametrize("solver", ["ils", "eax"])
def test_a_curve_that_there_is_no_time_to_climb_from_is_shorter_than_that_by_nearest_neighbours(
    solver: str, backend: Backend, monkeypatch: pytest.MonkeyPatch
) -> None:
    instance = uniform(2_000, 0)
    # The climbers are there, but their first call does not fit.
    for search in (Population, Evolution):
        monkeypatch.setattr(search, "next_seconds", 1e9)
    found = pytsp.solve(instance, solver=solver, time_limit=60.0, backend=backend.name)
    assert found.stop_reason == "time limit"
    assert found.length < instance.tour_length(nearest_neighbour(instance))


def test_few_cities_have_no_longer_tour_than_that_by_nearest_neighbours() -> None:
    # Four cities close together, at which a curve comes and goes the wrong way.
    points = [[0.3, 0.3], [0.3, 0.3 + 1e-9], [0.3 + 1e-9, 0.3], [0.3 + 1e-9, 0.3 + 1e-9]]
    points += [[0.759, 0.701], [0.23, 0.043], [0.801, 0.762], [0.305, 0.265]]
    instance = pytsp.Instance.from_coordinates(points, metric="EUCLIDEAN")
    placement = {"backend": "c", "threads": None, "device": None}
    task = task_of(instance, ILS(), Watch(time_limit=1.0, spent=2.0), 0, None, placement)
    found = _unsearched.fallback_result(task, np.array([5, 0, 1, 2, 3, 7, 4, 6], dtype=np.int32))
    assert found.length <= instance.tour_length(nearest_neighbour(instance))


@pytest.mark.parametrize(("spent", "is_greedy"), [(1.3, False), (60.0, True)])
def test_a_solve_that_is_late_by_a_minute_takes_the_time_for_a_greedy_tour(
    spent: float, is_greedy: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    Clock(tick=1e-3).install(monkeypatch)
    # Greater than those that take next to no time.
    instance = uniform(20_000, 0)
    placement = {"backend": "c", "threads": None, "device": None}
    task = task_of(instance, ILS(), Watch(time_limit=1.0, spent=spent), 0, None, placement)
    found = _unsearched.fallback_result(task, None)
    assert (found.length < instance.tour_length(nearest_neighbour(instance))) == is_greedy
    # In a moment a few cities get a greedy path.
    assert is_greedy or (found.tour == space_filling_curve(instance))[_quick_greedy.FIRST_PART :].all()


@pytest.mark.parametrize(("left", "allowed"), [(1.0, 1.2), (-0.1, 0.1), (-0.19, 0.019), (-40.0, 4.0)])
def test_what_ends_a_late_solve_may_take_a_share_of_what_it_is_late(
    left: float, allowed: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(policy, "GRACE_SECONDS", 0.2)
    assert _unsearched.with_grace(left) == pytest.approx(allowed)
    assert _unsearched.with_grace(-40.0, 0.25) == pytest.approx(10.0)


@pytest.mark.parametrize("moment", ["lists", "search"])
def test_a_huge_tour_without_time_for_its_first_pieces_is_shorter_than_that_by_nearest_neighbours(
    moment: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    instance = uniform(2_000, 0)
    monkeypatch.setattr(_deadline, "UNTIMED_CITIES", 0)
    if moment == "lists":
        monkeypatch.setattr(large_module, "lists_of", lambda *_: _deadline.look(seconds=1e9))
    else:
        monkeypatch.setattr(Pieces, "end_of_rounds", lambda self: 0.0)
    found = pytsp.solve(instance, solver="large", time_limit=60.0, backend="c")
    assert (found.stop_reason, found.iterations) == ("time limit", 0)
    assert found.length < instance.tour_length(nearest_neighbour(instance))


def test_control_c_leaves_the_curve_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: Any) -> None:
        raise KeyboardInterrupt

    Clock(tick=1e-6).install(monkeypatch)
    instance = uniform(2_000, 0)
    monkeypatch.setattr(_deadline, "UNTIMED_CITIES", 0)
    monkeypatch.setattr(_unsearched, "quick_greedy", interrupted)
    found = pytsp.solve(instance, solver="ils", time_limit=1e-9, backend="c")
    assert np.array_equal(found.tour, space_filling_curve(instance))


@given(strategies.coordinate_instances(max_n=40), st.integers(0, 2), st.booleans(), st.integers(4, 20))
def test_what_is_shortened_is_a_tour_and_no_longer(instance: Instance, ends: int, has_time: bool, part: int) -> None:
    """Closed tours and open paths, with time for all of it and with time for parts."""
    n = instance.n
    assume(is_located(instance))
    for is_open in (False, True) if n > 2 else (False,):
        closed = OpenPath.of(instance, *range(n)[:ends]).instance if is_open else instance
        watch = SimpleNamespace(seconds=0.0, seconds_left=1e9, reserve=0.0)
        task = SimpleNamespace(instance=closed, watch=watch, machine="cpu", kernels=open_backend("c"))
        curve = space_filling_curve(closed)
        with pytest.MonkeyPatch.context() as patch:
            for name in ("PART", "FIRST_PART"):
                patch.setattr(_quick_greedy, name, part)
            if not has_time:
                patch.setattr(_unsearched, "greedy_seconds", lambda *_: 1e10)
            tour, length = _unsearched.shortened(cast("Any", task), curve)
        assert pytsp.is_tour(tour, closed.n)
        assert length == closed.tour_length(tour) <= closed.tour_length(curve)


@pytest.mark.parametrize("is_open", [False, True])
def test_time_that_is_left_goes_into_chains(is_open: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    points = np.random.default_rng(0).random((3_000, 3))
    instance = Instance.from_coordinates(1e6 * points, metric="EUC_3D")
    closed = OpenPath.of(instance).instance if is_open else instance
    lengths = []
    for seconds_left in (0.0, 1e9):
        watch = SimpleNamespace(seconds=0.0, seconds_left=seconds_left, reserve=0.0)
        task = SimpleNamespace(instance=closed, watch=watch, machine="cpu", kernels=open_backend("c"))
        # A clock that stands still leaves time for the first descent of all cities.
        monkeypatch.setattr("pytsp.starts.descent.time", SimpleNamespace(perf_counter=lambda: 0.0))
        tour, length = _unsearched.shortened(cast("Any", task), space_filling_curve(closed))
        assert pytsp.is_tour(tour, closed.n)
        lengths.append(length)
    assert lengths[1] < 0.985 * lengths[0]


@pytest.mark.parametrize(("share", "kept"), [(1.5, "greedy"), (1.49, "parts"), (0.5, "parts"), (0.0, "curve")])
def test_it_is_greedy_in_parts_where_there_is_no_time_for_all_of_it(
    share: float, kept: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    Clock().install(monkeypatch)
    instance = uniform(4_000, 0)
    curve = space_filling_curve(instance)
    for name in ("PART", "FIRST_PART"):
        monkeypatch.setattr(_quick_greedy, name, 2_000)
    monkeypatch.setattr(policy, "SHORT_SHORTENING_SECONDS", 0.0)
    monkeypatch.setattr(policy, "GRACE_SECONDS", 0.0)
    monkeypatch.setattr(_unsearched, "descended", lambda points, tour, *_: tour)
    monkeypatch.setattr(_unsearched, "reordered_tour", lambda instance, tour, _: tour)
    # Seconds that are left for each city.
    for name in ("LISTS_SECONDS", "JOINS_SECONDS"):
        monkeypatch.setattr(_quick_greedy, name, 0.5 * 100.0 / 4_000)
    watch = SimpleNamespace(seconds=0.0, seconds_left=100.1 * share, reserve=0.0)
    task = SimpleNamespace(instance=instance, watch=watch, machine="cpu", kernels=open_backend("c"))
    tour, length = _unsearched.shortened(cast("Any", task), curve)
    assert np.array_equal(tour, curve) == (kept == "curve")
    # Parts end where the curve has them end.
    assert np.array_equal(tour[[0, 1_999, 2_000, 3_999]], curve[[0, 1_999, 2_000, 3_999]]) == (kept != "greedy")
    assert (length < instance.tour_length(curve)) == (kept != "curve")


@pytest.mark.parametrize("part", [2_000, 3_999, 4_000])
def test_many_cities_in_space_are_greedy_in_parts(part: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lists of more of them would take too much memory."""
    instance = Instance.from_coordinates(1e6 * np.random.default_rng(0).random((4_000, 3)), metric="EUC_3D")
    curve = space_filling_curve(instance)
    sizes: list[int] = []

    def noted(points: NDArray[np.float64], k: int, window: int) -> NDArray[np.int32]:
        sizes.append(len(points))
        return lists_along_curves(points, k, window)

    monkeypatch.setattr(_quick_greedy, "lists_along_curves", noted)
    monkeypatch.setattr(_unsearched, "descended", lambda points, tour, *_: tour)
    monkeypatch.setattr(_quick_greedy, "FIRST_PART", part)
    for module in (_quick_greedy, _unsearched):
        monkeypatch.setattr(module, "PART", part)
    watch = SimpleNamespace(seconds=0.0, seconds_left=100.0, reserve=0.0)
    task = SimpleNamespace(instance=instance, watch=watch, machine="cpu", kernels=open_backend("c"))
    tour, length = _unsearched.shortened(cast("Any", task), curve)
    assert pytsp.is_tour(tour, 4_000)
    assert length < 0.9 * instance.tour_length(curve)
    assert max(sizes) == part


def test_the_cities_in_their_order_are_not_shortened(monkeypatch: pytest.MonkeyPatch) -> None:
    """They are no curve: there was no time for one."""
    instance = uniform(2_000, 0)
    monkeypatch.setattr(_deadline, "UNTIMED_CITIES", 0)
    monkeypatch.setattr(_unsearched, "quick_tour", lambda *_: instance.canonical_tour())
    found = pytsp.solve(instance, solver="ils", time_limit=1e-9, backend="c")
    assert np.array_equal(found.tour, np.arange(2_000))


def test_a_path_that_there_is_no_time_for_is_greedy_between_its_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    instance = uniform(3_000, 0)
    monkeypatch.setattr(_deadline, "UNTIMED_CITIES", 0)
    for search in (Population, Evolution):
        monkeypatch.setattr(search, "next_seconds", 1e9)
    curve = instance.tour_length(space_filling_curve(instance))
    for ends in ({}, {"start_city": 7}, {"start_city": 7, "end_city": 1_234}):
        found = pytsp.solve(instance, solver="ils", time_limit=60.0, backend="c", open=True, **ends)
        assert found.stop_reason == "time limit"
        assert [found.tour[0], found.tour[-1]][: len(ends)] == list(ends.values())
        assert instance.path_length(found.tour) == found.length < 0.8 * curve


def test_an_initial_tour_that_there_is_no_time_for_stays_as_it_is() -> None:
    instance, given = uniform(2_000, 0), np.arange(2_000)
    for solver in ("ils", "large"):
        found = pytsp.solve(instance, solver=solver, time_limit=1e-9, backend="c", initial_tour=given)
        assert found.length <= instance.tour_length(given)


# Matrices


def directed(n: int) -> Instance:
    """Random ways, which differ there and back."""
    return Instance.from_matrix(np.random.default_rng(n).integers(1, 10**4, (n, n)), f"ways{n}", asymmetric=True)


@pytest.mark.parametrize("n", [4, 5, 40, 700])
@pytest.mark.parametrize("solver", ["auto", "eax", "ils", "two-opt", "restarts"])
@pytest.mark.parametrize("moment", ["before the matrix", "after the matrix"])
def test_without_time_a_directed_tour_is_no_longer_than_that_by_nearest_neighbours(
    n: int, solver: str, moment: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    instance = directed(n)
    nearest = instance.tour_length(nearest_neighbour(instance))
    monkeypatch.setattr(_deadline, "UNTIMED_CITIES", 0)
    if moment == "before the matrix":
        monkeypatch.setattr(JonkerVolgenant, "of", classmethod(lambda *_: _deadline.look(seconds=1e9)))
    else:
        monkeypatch.setattr(_solving, "quick_seconds", lambda instance: 1e9)
    reported: list[pytsp.Improvement] = []
    found = pytsp.solve(instance, solver=solver, time_limit=60.0, backend="c", on_improvement=reported.append)
    assert (found.stop_reason, found.solver) == ("time limit", choose(solver, {}, instance).name)
    assert found.length == instance.tour_length(found.tour) == found.history[-1].length == reported[-1].length
    assert found.length <= nearest
    assert found.instance is instance


@pytest.mark.parametrize("is_open", [False, True])
def test_long_after_the_time_a_directed_tour_goes_to_near_cities(
    is_open: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    instance = directed(300)
    monkeypatch.setattr(_deadline, "UNTIMED_CITIES", 0)
    monkeypatch.setattr(_visits, "_HURRIED", 20)
    monkeypatch.setattr(policy, "GRACE_SECONDS", -1e9)
    monkeypatch.setattr(_solving, "quick_seconds", lambda instance: 1e9)
    found = pytsp.solve(instance, open=is_open, time_limit=60.0, backend="c")
    assert found.stop_reason == "time limit"
    # The nearest of 20 is less than a tenth as far as cities are on average.
    assert found.length < 0.2 * instance.tour_length(np.arange(300))


@pytest.mark.parametrize("start_city", [None, 7])
@pytest.mark.parametrize("end_city", [None, 3])
def test_without_time_a_directed_path_is_no_longer_than_that_by_nearest_neighbours(
    start_city: int | None, end_city: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    instance = directed(60)
    monkeypatch.setattr(JonkerVolgenant, "of", classmethod(lambda *_: _deadline.look(seconds=1e9)))
    ends = {"start_city": start_city, "end_city": end_city}
    found = pytsp.solve(instance, open=True, time_limit=60.0, backend="c", **ends)  # type: ignore[arg-type]
    assert (found.stop_reason, found.length) == ("time limit", instance.path_length(found.tour))
    assert start_city in (None, found.tour[0]) and end_city in (None, found.tour[-1])
    assert found.length < 0.5 * instance.path_length(np.arange(60))


@pytest.mark.parametrize("solver", ["eax", "ils", "two-opt", "annealing", "ants"])
def test_without_time_a_tour_through_a_matrix_is_that_by_nearest_neighbours(
    solver: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    Clock(tick=1e-6).install(monkeypatch)
    instance = Instance.from_matrix(uniform(300, 0).distance_matrix())
    monkeypatch.setattr(_deadline, "UNTIMED_CITIES", 0)
    found = pytsp.solve(instance, solver=solver, time_limit=1e-9, backend="c")
    assert found.stop_reason == "time limit"
    assert np.array_equal(found.tour, nearest_neighbour(instance))


@pytest.mark.parametrize("start_city", [None, 0, 7])
@pytest.mark.parametrize("end_city", [None, 1, 3])
@pytest.mark.parametrize("is_directed", [False, True])
def test_a_path_of_a_matrix_that_there_is_no_time_to_close_is_by_nearest_neighbours(
    start_city: int | None, end_city: int | None, is_directed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    ways = np.random.default_rng(9).integers(1, 10**4, (300, 300))
    instance = Instance.from_matrix(ways if is_directed else np.minimum(ways, ways.T), asymmetric=is_directed)
    monkeypatch.setattr(_open_paths, "written_seconds", lambda _: 1e9)
    reported: list[pytsp.Improvement] = []
    found = pytsp.solve(
        instance,
        open=True,
        start_city=start_city,
        end_city=end_city,
        time_limit=60.0,
        backend="c",
        on_improvement=reported.append,
    )
    assert (found.stop_reason, found.is_open, found.iterations) == ("time limit", True, 0)
    assert found.length == instance.path_length(found.tour) == found.history[-1].length == reported[-1].length
    assert found.lengths.tolist() == [found.length] and len(reported) == 1
    order = [(end_city == 0) * 1 if start_city is None else start_city]
    waits = {*range(300)} - {*order, end_city}
    while waits:
        order.append(min(waits, key=lambda city: (instance.distances([order[-1]], [city])[0], city)))
        waits.remove(order[-1])
    assert found.tour.tolist() == order + ([] if end_city is None else [end_city])


def test_a_path_through_points_whose_distances_need_a_matrix_has_its_ends_without_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(_deadline, "UNTIMED_CITIES", 0)
    points = np.random.default_rng(1).integers(0, 1_000, (600, 3))
    instance = Instance.from_coordinates(points, "XRAY1")
    found = pytsp.solve(instance, open=True, start_city=7, end_city=3, time_limit=1e-9, backend="c")
    assert (found.stop_reason, found.tour[0], found.tour[-1]) == ("time limit", 7, 3)
    assert found.length == instance.path_length(found.tour)


def test_a_path_that_there_is_no_time_to_close_keeps_the_one_that_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    instance, given_path = directed(300), np.roll(np.arange(300), 5)
    monkeypatch.setattr(_open_paths, "written_seconds", lambda _: 1e9)
    options: dict[str, Any] = {"open": True, "time_limit": 60.0, "backend": "c", "solver": "ils"}
    found = pytsp.solve(instance, initial_tour=given_path, **options)
    assert np.array_equal(found.tour, given_path)
    with pytest.raises(pytsp.TourError, match="the path begins in city 295, but start_city is 4"):
        pytsp.solve(instance, initial_tour=given_path, start_city=4, **options)


@pytest.mark.parametrize("ends", [(), (7,), (7, 1_234)])
def test_the_nearest_neighbour_tour_of_a_path_through_points_ends_where_it_must(ends: tuple[int, ...]) -> None:
    """No longer than from either end that is given, where the other one waits for the end."""
    instance = uniform(2_000, 3)
    closed = OpenPath.of(instance, *ends)
    task = SimpleNamespace(instance=closed.instance, quick_tour=None, seed=0)
    found = closed.path(first_tour(cast("Any", task), "nearest-neighbour", "greedy"))
    points = points_of(instance)
    lengths = []
    for first, *last in (ends, ends[::-1]) if ends else ():
        order, waits = [first], np.ones(2_000, dtype=bool)
        waits[[first, *last]] = False
        while waits.any():
            left = np.flatnonzero(waits)
            order.append(int(left[((points[left] - points[order[-1]]) ** 2).sum(axis=1).argmin()]))
            waits[order[-1]] = False
        lengths.append(instance.path_length([*order, *last]))
    assert [found[0], found[-1]][: len(ends)] == [*ends]
    # Equally near cities may be visited in another order.
    assert instance.path_length(found) <= 1.02 * min(lengths, default=1e99)


def test_a_solve_that_waited_for_a_compiler_ends_with_more_than_the_cities_in_their_order() -> None:
    instance = uniform(1_000_000, 0)
    placement = {"backend": "c", "threads": None, "device": None}
    task = task_of(instance, ILS(), Watch(time_limit=1.0, spent=2.5), 0, None, placement)
    found = _unsearched._quick_tour_of(task)
    assert instance.tour_length(found) < 0.01 * instance.tour_length(instance.canonical_tour())
