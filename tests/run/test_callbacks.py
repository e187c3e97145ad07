"""Callbacks of a solve: they get the best tour where they ask for it, and may end the solve."""

from __future__ import annotations

import gc
import pickle
import weakref
from functools import partial
from typing import Any

import cities
import emulated
import numpy as np
import pytest
from processes import PATIENCE

import pytsp
from pytsp import Improvement, Instance, Progress, Result
from pytsp.backends import Backend
from pytsp.solvers.common.loop import Search

uniform = partial(cities.uniform, side=3000)
LONG: dict[str, dict[str, Any]] = {
    "restarts": {"climbers": 10**7},
    "ils": {"climbers": 2, "iterations": 10**9},
    "eax": {"climbers": 24, "time_limit": PATIENCE},
    "large": {"iterations": 10**6, "piece": 50},
    "two-opt": {"start": "random"},
    "annealing": {"climbers": 2, "iterations": 10**9},
    "ants": {"climbers": 1, "iterations": 10**9},
}
INSTANCES = {
    "plane": uniform(150),
    "floats": uniform(150, metric="EUCLIDEAN"),
    "matrix": Instance.from_matrix(uniform(150).distance_matrix()),
}


@pytest.fixture(autouse=True)
def short_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cut runs into many kernel calls."""
    emulated.slow_down(monkeypatch)
    for module in ("eax", "large.pieces", "two_opt", "common.pacing", "restarts"):
        monkeypatch.setattr(f"pytsp.solvers.{module}.CALL_SECONDS", 1e-3)


@pytest.mark.parametrize("kind", INSTANCES)
@pytest.mark.parametrize("solver", LONG)
def test_the_tour_that_is_asked_for_has_the_length_that_is_told(solver: str, kind: str, backend: Backend) -> None:
    if solver == "large" and (kind == "matrix" or backend.device is not None):
        pytest.skip("pieces are of cities with places, on a CPU")
    instance, reported = INSTANCES[kind], []

    def look(now: Progress | Improvement) -> bool:
        tour = now.tour  # type: ignore[union-attr]
        assert now.length == pytest.approx(instance.tour_length(tour), rel=0 if instance.is_exact else 1e-6)
        # It is the caller's own.
        tour[:] = tour[::-1].copy()
        reported.append(now.length)
        return len(reported) > 12

    found = pytsp.solve(
        instance, solver=solver, backend=backend.name, progress=look, on_improvement=look, seed=1, **LONG[solver]
    )
    assert found.stop_reason == ("callback" if len(reported) > 12 else "finished")
    assert found.length == instance.tour_length(found.tour) <= min(reported) * (1 if instance.is_exact else 1 + 1e-6)
    assert len(reported) > 2


@pytest.mark.parametrize("solver", ["ils", "large", "eax"])
def test_asking_for_tours_changes_nothing(solver: str, backend: Backend) -> None:
    if solver == "large" and backend.device is not None:
        pytest.skip("pieces are a CPU's")
    options = {"ils": {"iterations": 400}, "large": {"iterations": 6, "piece": 50}, "eax": {"climbers": 20}}[solver]
    solve: Any = partial(pytsp.solve, uniform(150), solver=solver, backend=backend.name, seed=3, **options)
    quiet, asked = solve(), solve(progress=lambda now: now.tour.sum(), on_improvement=lambda now: now.tour.sum())
    assert quiet.tour.tolist() == asked.tour.tolist() and quiet.stop_reason == asked.stop_reason


@pytest.mark.parametrize("callback", ["progress", "on_improvement"])
@pytest.mark.parametrize("solver", LONG)
def test_true_ends_a_solve_and_nothing_else_does(solver: str, callback: str) -> None:
    calls: list[object] = []

    def stop(_: object) -> bool:
        calls.append(None)
        return True

    found = pytsp.solve(uniform(90), solver=solver, backend="c", **LONG[solver] | {callback: stop})
    assert found.stop_reason == "callback" and len(calls) <= 2
    few = {"ils": {"iterations": 50}, "large": {"iterations": 1}, "restarts": {"climbers": 5}}
    for answer in (1, "stop", np.True_, [True]):
        if solver in few:
            going = pytsp.solve(
                uniform(90), solver=solver, backend="c", **few[solver] | {callback: lambda _, a=answer: a}
            )
            assert going.stop_reason == "finished"


def test_paths_and_directed_tours_are_told_as_they_are() -> None:
    ways = np.random.default_rng(0).integers(1, 99, (20, 20))
    instance = Instance.from_matrix(ways, asymmetric=True)
    for options in ({}, {"open": True}, {"open": True, "start_city": 3}):
        reported: list[tuple[float, list[int]]] = []

        def look(now: Any, reported: list[Any] = reported) -> None:
            reported.append((now.length, now.tour.tolist()))

        found = pytsp.solve(instance, backend="c", progress=look, on_improvement=look, seed=2, **options)  # type: ignore[arg-type]
        length = instance.path_length if found.is_open else instance.tour_length
        # A search in its middle may leave an end out of its place; that is repaired, and makes it shorter.
        assert reported and all(length(tour) <= least for least, tour in reported)
        assert min(length(tour) for _, tour in reported) >= found.length
        if "start_city" in options:
            assert all(tour[0] == 3 for _, tour in reported)


def test_what_is_told_keeps_no_search_alive(monkeypatch: pytest.MonkeyPatch) -> None:
    searches: list[weakref.ref[Search]] = []
    begin = Search.__init__

    def watched(self: Search, *arguments: Any) -> None:
        searches.append(weakref.ref(self))
        begin(self, *arguments)

    monkeypatch.setattr(Search, "__init__", watched)
    reported: list[Any] = []
    pytsp.solve(
        uniform(60), solver="ils", iterations=50, backend="c", progress=reported.append, on_improvement=reported.append
    )
    gc.collect()
    assert reported and searches[0]() is None
    for each in reported:
        with pytest.raises(ValueError, match="within the callback only"):
            _ = each.tour
        assert pickle.loads(pickle.dumps(each)) == each


def test_the_quick_tour_of_a_solve_without_time_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pytsp.utils.deadline.UNTIMED_CITIES", 1)
    reported: list[Any] = []
    found: Result = pytsp.solve(
        uniform(300), backend="c", time_limit=1e-9, on_improvement=lambda now: reported.append(now.tour)
    )
    assert (found.stop_reason, [each.tolist() for each in reported]) == ("time limit", [found.tour.tolist()])
