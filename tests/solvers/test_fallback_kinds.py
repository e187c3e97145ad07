"""The first tours of every kind of instance that benchmarks draw are no longer than those by nearest neighbours."""

from __future__ import annotations

from typing import Any

import pytest
from checkout import needs_checkout
from clocks import Clock

import pytsp
from pytsp.utils import deadline as _deadline

needs_checkout("bench")
from bench.harness.kinds import KINDS  # noqa: E402

POINTS = (
    "plane",
    "plane-float",
    "haversine",
    "geo",
    "3-d",
    "att",
    "plane-path",
    "plane-path-from",
    "plane-path-between",
)


@pytest.mark.parametrize("kind", POINTS)
@pytest.mark.parametrize("solver", ["auto", "ils", "large", "two-opt"])
@pytest.mark.parametrize("n", [501, 2_000])
def test_without_time_a_tour_through_points_is_shorter_than_that_by_nearest_neighbours(
    kind: str, solver: str, n: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    Clock(tick=1e-6).install(monkeypatch)
    monkeypatch.setattr(_deadline, "UNTIMED_CITIES", 0)
    given = KINDS[kind]
    instance = given.instance(n, 1)
    nearest = given.length(instance, given.nearest_neighbour(instance))
    reported: list[pytsp.Improvement] = []
    options: dict[str, Any] = given.options(n)
    found = pytsp.solve(
        instance, solver=solver, time_limit=1e-9, backend="c", on_improvement=reported.append, **options
    )
    assert (found.stop_reason, found.iterations) == ("time limit", 0)
    assert found.length == given.length(instance, found.tour) == found.history[-1].length == reported[-1].length
    assert found.length < nearest


REDUCED = [name for name in KINDS if "path" in name or "asymmetric" in name]


@pytest.mark.parametrize("kind", REDUCED)
@pytest.mark.parametrize("solver", ["ants", "two-opt"])
def test_tours_that_begin_by_nearest_neighbours_are_no_longer_than_that_of_the_path_or_the_ways(
    kind: str, solver: str
) -> None:
    given = KINDS[kind]
    instance = given.instance(200, 1)
    nearest = given.length(instance, given.nearest_neighbour(instance))
    options: dict[str, Any] = {"iterations": 1, "ants": 1} if solver == "ants" else {}
    found = pytsp.solve(instance, solver=solver, backend="c", **options, **given.options(200))
    assert found.length <= nearest * (1 + 1e-9)
