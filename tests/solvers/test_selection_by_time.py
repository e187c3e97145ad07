"""Which solver "auto" begins with on a CPU by the time limit: a population where there may be time for one, else chains
over the whole tour, and pieces of it for many cities with no time for those either, or more threads."""

from __future__ import annotations

import math
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import create_autospec

import numpy as np
import pytest
from clocks import KernelClock
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from results import square_result

import pytsp
from pytsp.api.dispatch import options_of, watch_of
from pytsp.api.steps import Request
from pytsp.backends import open_backend
from pytsp.backends.devices import usable_cores
from pytsp.problem.instance import Instance
from pytsp.run.limits import Limits
from pytsp.solvers import policy
from pytsp.solvers.common.candidates import seconds_of_lists
from pytsp.solvers.eax import Evolution
from pytsp.solvers.ils.solver import begin as begin_climbers
from pytsp.solvers.policy import MOST_CHAINED, RECOMBINED_CITIES, chain_seconds, population_seconds
from pytsp.solvers.selection import choose
from pytsp.starts.construct import nearest_neighbour

CPU: Any = SimpleNamespace(threads=2, device=None)


def instance_of(n: int, metric: str = "EUC_2D") -> Instance:
    """Some cities."""
    points = np.random.default_rng(n).integers(0, 10**4, (n, 2))
    return Instance.from_coordinates(points, metric)


def begun_seconds(n: int) -> float:
    """The least time limit with which a population of the plane is begun."""
    return 4 * chain_seconds(n)


@pytest.fixture
def begun(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The solvers that would have run on a CPU."""
    seen: list[str] = []
    monkeypatch.setattr("pytsp.api.dispatch.open_backend", create_autospec(open_backend, return_value=CPU))
    monkeypatch.setattr("pytsp.api.dispatch.run", lambda task, *_: seen.append(task.options.name) or square_result())
    return seen


@pytest.mark.parametrize(
    ("n", "limit", "given_", "solver"),
    [
        (3000, begun_seconds(3000), {}, "eax"),
        (3000, begun_seconds(3000) - 1e-3, {}, "ils"),
        (3000, 1e-3, {}, "ils"),
        (3000, None, {}, "eax"),
        (20_000, begun_seconds(20_000), {}, "eax"),
        (20_000, begun_seconds(20_000) - 1e-3, {}, "ils"),
        (20_000, 2 * chain_seconds(20_000) - 1e-3, {}, "large"),
        (8192, 1e-3, {}, "ils"),
        (20_001, 1e6, {}, "ils"),
        (20_001, 2 * chain_seconds(20_001), {}, "ils"),
        (20_001, 2 * chain_seconds(20_001) - 1e-3, {}, "large"),
        (20_001, None, {}, "large"),
        (20_001, 1e6, {"iterations": 50}, "large"),
        (MOST_CHAINED, 1e6, {}, "ils"),
        (MOST_CHAINED + 1, 1e6, {}, "large"),
        (8, begun_seconds(8), {}, "eax"),
        (8, begun_seconds(8) - 1e-4, {}, "ils"),
        (7, 1e-9, {}, "ils"),
        # Options have their say.
        (3000, 0.1, {"solver": "eax"}, "eax"),
        (3000, 0.1, {"population": 50}, "eax"),
        (3000, 0.1, {"climbers": 50}, "ils"),
        (3000, 0.1, {"pivot": "best"}, "ils"),
        (3000, 0.1, {"iterations": 50}, "ils"),
        (3000, 0.1, {"kick": "walk"}, "ils"),
        (3000, 0.1, {"k": 2}, "restarts"),
        (3000, 0.1, {"piece": 1000}, "large"),
        (3000, 0.1, {"initial_tour": range(3000)}, "ils"),
        (20_001, 0.1, {"initial_tour": range(20_001)}, "large"),
    ],
)
def test_a_population_needs_time_by_its_cities(
    n: int, limit: float | None, given_: dict[str, Any], solver: str, begun: list[str]
) -> None:
    pytsp.solve(instance_of(n), time_limit=limit, **given_)
    assert begun == [solver]


@pytest.mark.parametrize(("threads", "solver"), [(3, "ils"), (4, "large")])
def test_many_threads_share_the_pieces_of_many_cities(
    threads: int, solver: str, begun: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(CPU, "threads", threads)
    for n in (20_000, 20_001):
        pytsp.solve(instance_of(n), time_limit=0.5)
    assert begun == ["ils", solver]


@pytest.mark.parametrize("metric", ["MAN_2D", "ATT", "GEO", ""])
def test_cities_out_of_the_plane_do_so_too(metric: str, begun: list[str]) -> None:
    points = np.random.default_rng(0).integers(0, 90, (500, 2))
    instance = Instance.from_coordinates(points, metric or "EUC_2D")
    if not metric:
        instance = Instance.from_matrix(instance.distance_matrix())
    for limit in (1e-3, begun_seconds(500) - 1e-3, begun_seconds(500)):
        pytsp.solve(instance, time_limit=limit)
    assert begun == ["ils", "ils", "eax"]


def test_the_time_that_is_spent_does_not_matter(begun: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    instance, clock = instance_of(500), iter(range(0, 10**9, 100))
    monkeypatch.setattr("time.perf_counter", lambda: float(next(clock)))
    for limit in (0.05, 0.09, 0.13):
        pytsp.solve(instance, time_limit=limit)
    assert begun == ["ils", "ils", "eax"]


def test_the_time_for_a_population_is_what_the_documentation_says() -> None:
    reported = {500: 0.1, 2000: 0.16, 10_000: 0.48, 20_000: 0.88}
    assert {n: population_seconds(instance_of(n)) for n in reported} == pytest.approx(reported)
    reported = {10_000: 0.07, 100_000: 0.23}
    assert {n: population_seconds(instance_of(n), None) for n in reported} == pytest.approx(reported)
    places = Instance.from_coordinates(np.random.default_rng(0).uniform(-80, 80, (100_000, 2)), "HAVERSINE")
    assert population_seconds(places, None) == pytest.approx(0.55)


@pytest.mark.parametrize(("descent", "solver"), [(0.09, "eax"), (0.1, "ils")])
def test_a_population_that_would_be_late_gives_way(
    descent: float, solver: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    descend_more = Evolution.descend_more

    def slowly(evolution: Evolution, *given_: Any) -> None:
        descend_more(evolution, *given_)
        evolution.descent_seconds = descent

    monkeypatch.setattr(Evolution, "descend_more", slowly)
    KernelClock(monkeypatch, 0.0)
    # Of eight climbers seven are to come, in 0.65 seconds.
    found = pytsp.solve(instance_of(500), time_limit=1.0, backend="c", progress=lambda now: now.iteration > 0)
    assert found.solver == solver
    assert found.length == found.instance.tour_length(found.tour)
    # Who asks for a population has it.
    found = pytsp.solve(instance_of(500), solver="eax", time_limit=1.0, backend="c", iterations=1)
    assert found.solver == "eax"


@pytest.mark.parametrize(("descent", "is_kept"), [(0.19, False), (0.21, True)])
def test_climbers_start_from_the_populations_tour_where_another_would_be_dear(
    descent: float, is_kept: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    descend_more, starts = Evolution.descend_more, []
    shortest: list[NDArray[np.int32]] = []

    def slowly(evolution: Evolution, *given_: Any) -> None:
        descend_more(evolution, *given_)
        evolution.descent_seconds = descent
        shortest.append(evolution.best_tour())

    def begun(task: Any) -> Any:
        starts.append(task.given_tour)
        return begin_climbers(task)

    monkeypatch.setattr(Evolution, "descend_more", slowly)
    monkeypatch.setattr("pytsp.solvers.eax.begin_climbers", begun)
    KernelClock(monkeypatch, 0.0)
    options = {"time_limit": 1.0, "backend": "c", "progress": lambda now: now.iteration > 0}
    found = pytsp.solve(instance_of(500), **options)
    assert found.solver == "ils" and len(starts) == 1
    assert np.array_equal(starts[0], shortest[0]) if is_kept else starts[0] is None
    if is_kept:
        assert found.length <= found.instance.tour_length(shortest[0])
    # A tour that the user gave is where climbers start.
    initial = instance_of(500).canonical_tour()
    pytsp.solve(instance_of(500), initial_tour=initial, **options)
    assert np.array_equal(starts[1], initial)


@pytest.mark.parametrize(
    ("n", "left", "is_slow"), [(8_192, 0.1, False), (8_193, 1.99, True), (8_193, 2.01, False), (20_000, 1.99, True)]
)
def test_a_cpu_is_slow_where_lists_took_much_of_the_time(n: int, left: float, is_slow: bool) -> None:
    assert policy.is_cpu_slow(n, 0.1, left) is is_slow


def test_a_slow_cpu_begins_no_population(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[int, float, float]] = []

    def is_slow(n: int, lists_seconds: float, seconds_left: float) -> bool:
        seen.append((n, lists_seconds, seconds_left))
        return True

    monkeypatch.setattr(policy, "is_cpu_slow", is_slow)
    options: dict[str, Any] = {"backend": "c", "progress": lambda now: now.iteration > 0}
    assert pytsp.solve(instance_of(500), time_limit=60.0, **options).solver == "ils"
    [(n, seconds, left)] = seen
    assert n == 500 and 0 < seconds < 60 - left
    # Who asks for a population has it, and one without a limit has the time.
    assert pytsp.solve(instance_of(500), solver="eax", time_limit=60.0, **options).solver == "eax"
    assert pytsp.solve(instance_of(500), **options).solver == "eax"
    assert len(seen) == 1


@pytest.mark.parametrize(
    ("n", "limit", "is_doubtful"), [(8_193, 0.8, True), (8_193, 0.82, False), (8_192, 0.5, False), (20_000, 1.75, True)]
)
def test_a_population_of_many_cities_is_doubtful_up_to_twice_the_least_limit(
    n: int, limit: float, is_doubtful: bool
) -> None:
    assert policy.is_population_doubtful(instance_of(n), limit) is is_doubtful


def test_where_chains_would_take_the_nearest_cities_no_lists_by_quadrants_are_made(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made = create_autospec(seconds_of_lists, return_value=0.0)
    monkeypatch.setattr("pytsp.solvers.eax.seconds_of_lists", made)
    monkeypatch.setattr("pytsp.solvers.common.candidates.alpha_fits", lambda _: False)
    monkeypatch.setattr(policy, "QUADRANTS_LISTS", math.inf)
    monkeypatch.setattr(policy, "is_population_doubtful", lambda *_: True)
    found = pytsp.solve(instance_of(500), time_limit=60.0, backend="c", progress=lambda now: now.iteration > 0)
    assert found.solver == "ils" and not made.called


def test_what_gave_way_goes_on_from_a_checkpoint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(policy, "is_population_late", lambda *_: True)
        file = tmp_path / "late.checkpoint"
        found = pytsp.solve(
            instance_of(500), time_limit=60.0, backend="c", checkpoint=file, progress=lambda now: now.iteration > 0
        )
    assert found.solver == "ils"
    gone_on = pytsp.resume(file, progress=lambda now: now.iteration > found.iterations)
    assert gone_on.solver == "ils" and gone_on.length <= found.length and gone_on.iterations > found.iterations


def ways(n: int, difference: float) -> Instance:
    """Random places, where the ways back are longer or shorter by up to so much of both, in turn."""
    there = np.abs(np.subtract.outer(*[np.random.default_rng(n).random(n) * 1e3] * 2))
    return Instance.from_matrix(there * np.where(np.tri(n), 1 + difference, 1 - difference), asymmetric=True)


ROADS, ONE_WAY = 0.24, 0.26


@pytest.mark.parametrize(
    ("n", "difference", "on_the_cpu", "solver"),
    [
        (8, ROADS, False, "eax"),
        (1_001, ROADS, False, "ils"),
        (2_000, ONE_WAY, False, "eax"),
        (2_001, ONE_WAY, False, "ils"),
        (7, ROADS, False, "ils"),
        (1_000, ROADS, True, "eax"),
        (1_001, ROADS, True, "ils"),
        (2_000, ONE_WAY, True, "eax"),
        (2_001, ONE_WAY, True, "ils"),
    ],
)
def test_populations_of_one_way_tours_may_have_more_cities(
    n: int, difference: float, on_the_cpu: bool, solver: str
) -> None:
    assert choose("auto", {}, ways(n, difference), lambda _: False, lambda: on_the_cpu).name == solver


@pytest.mark.parametrize(("difference", "solver"), [(ROADS, "ils"), (ONE_WAY, "eax")])
@pytest.mark.usefixtures("begun")
def test_on_roads_they_need_more_time(difference: float, solver: str) -> None:
    instance = ways(900, difference)
    needed = population_seconds(instance, 2)
    assert needed == pytest.approx(5e-6 * 900**2 / 2 if solver == "ils" else 1e-3 * 900 / 2)
    requests = [Request(limits=Limits(time_limit=limit), began=0.0) for limit in (needed - 1e-3, needed, 1.0)]
    assert [options_of(instance, each, watch_of(instance, each)).name for each in requests] == ["ils", "eax", solver]


def test_few_one_way_cities_need_as_much_time_as_others() -> None:
    for n in (8, 80):
        assert population_seconds(ways(n, ROADS)) == population_seconds(ways(n, ONE_WAY)) == begun_seconds(n)
    # On a GPU the host's cores make the first tours.
    assert population_seconds(ways(200, ONE_WAY), None) == 1e-3 * 200 / min(usable_cores(), 16)


def test_forbidden_ways_say_nothing_of_the_others() -> None:
    chosen = []
    for difference in (ROADS, ONE_WAY):
        d = ways(1_500, difference).distance_matrix()
        d[np.random.default_rng(0).random(d.shape) < 0.4] = np.inf
        for matrix in (d, np.where(np.isfinite(d), d * 1e3, 2**31 - 1).astype(np.int64)):
            instance = Instance.from_matrix(matrix, asymmetric=True)
            chosen.append(choose("auto", {}, instance).name)
    assert chosen == ["ils", "ils", "eax", "eax"]


def test_ways_of_no_length_are_as_long_there_as_back() -> None:
    d = np.zeros((1_500, 1_500))
    d[0, 1] = 1.0
    assert choose("auto", {}, Instance.from_matrix(d, asymmetric=True)).name == "ils"


@given(n=st.integers(1, 20_000), is_short=st.booleans(), is_free=st.booleans())
def test_too_little_time_is_asked_for_where_a_population_is_meant(n: int, is_short: bool, is_free: bool) -> None:
    asked: list[bool] = []

    def short(may_be_large: bool) -> bool:
        asked.append(may_be_large)
        return is_short

    instance: Any = SimpleNamespace(n=n, metric="EUC_2D", coordinates=np.empty((n, 2)), asymmetric=False)
    chosen = choose("auto", {}, instance, short, lambda: False, may_take_the_cpu=is_free).name
    is_recombined = n in RECOMBINED_CITIES
    assert asked == [is_free] * is_recombined
    assert (chosen == "eax") == (is_recombined and not is_short)
    assert (chosen == "large") == (is_free and (n > RECOMBINED_CITIES[-1] or (is_recombined and is_short)))


@pytest.mark.parametrize("limit", [0.2, 0.25, 0.3])
def test_a_short_solve_ends_with_a_good_tour(monkeypatch: pytest.MonkeyPatch, limit: float) -> None:
    monkeypatch.setattr(policy, "CUT_CITIES", 2_000)
    clock = KernelClock(monkeypatch, 0.02)
    instance = instance_of(2000)
    found = pytsp.solve(instance, time_limit=limit, backend="c")
    # A first descent of all cities that cannot be cut is begun where it fits; else a greedy tour descends.
    assert found.stop_reason == "time limit" and (found.solver == "ils") == (limit > 0.2)
    assert not clock.begun("_ils", after=limit)
    assert found.length == instance.tour_length(found.tour) < instance.tour_length(nearest_neighbour(instance))
