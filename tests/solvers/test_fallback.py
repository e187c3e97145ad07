"""The tours of solves whose time is over before their search: as good as there is time for."""

from __future__ import annotations

import importlib

import numpy as np
import pytest
import strategies
from hypothesis import example, given
from numpy.typing import NDArray

import pytsp
from pytsp import Instance
from pytsp.api import dispatch as _solving
from pytsp.generate import uniform
from pytsp.solvers.common import fallback as _unsearched
from pytsp.solvers.common.fallback import strips
from pytsp.starts.construct import space_filling_curve
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
    monkeypatch.setattr(_unsearched, "CURVE_SECONDS", 1.0 / 300)
    monkeypatch.setattr(_unsearched, "STRIP_SECONDS", 0.5 / 300)
    tours = {"curve": space_filling_curve(instance), "strips": strips(points_of(instance)), "order": np.arange(300)}
    assert np.array_equal(_unsearched._quick_tour(instance, seconds), tours[along])
    # What takes next to no time is told whatever the time.
    monkeypatch.setattr(_unsearched, "SHORT_SECONDS", 1.0)
    monkeypatch.setattr(_unsearched, "CURVE_SECONDS", 0.999 / 300)
    assert np.array_equal(_unsearched._quick_tour(instance, seconds), tours["curve"])


@pytest.mark.parametrize(("curve", "strip", "along"), [(190, 90, "curve"), (290, 190, "strips"), (390, 290, "order")])
@pytest.mark.parametrize("solver", ["large", "two-opt"])
def test_a_limit_decides_by_what_is_left_of_it(
    solver: str, curve: float, strip: float, along: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_deadline, "UNTIMED_CITIES", 60)
    monkeypatch.setattr(_unsearched, "CURVE_SECONDS", curve / 300)
    monkeypatch.setattr(_unsearched, "STRIP_SECONDS", strip / 300)
    # "large" has no time for its curve, others have none for what they prepare.
    monkeypatch.setattr(large_module if solver == "large" else _solving, "CURVE_SECONDS", 1.0)
    instance = uniform(300, 0)
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
