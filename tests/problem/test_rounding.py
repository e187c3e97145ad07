"""Rounding that leaves nothing of the distances: told where it is so, and only there; the default rounds nothing."""

from __future__ import annotations

import math
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import EXACT_METRICS, coordinates

import pytsp
from pytsp import Instance, PytspWarning
from pytsp.cli.commands import main
from pytsp.problem import mistakes
from pytsp.problem.metrics import METRICS
from pytsp.problem.mistakes import share_rounded_away

ROUNDED_UP = {"CEIL_2D", "ATT", "GEO", "GEOM"}


@given(metric=st.sampled_from(EXACT_METRICS), scale=st.sampled_from([0.01, 0.3, 1.0]), data=st.data())
def test_the_share_is_that_of_the_places_whose_nearest_other_one_is_too_near(
    metric: str, scale: float, data: st.DataObject
) -> None:
    points = data.draw(coordinates(metric, data.draw(st.integers(1, 9)))) * scale
    instance = Instance.from_coordinates(points, metric)
    places = [tuple(place) for place in np.unique(points, axis=0).tolist()]
    length = METRICS[metric].length
    nearest = [
        min((float(length(np.array(a), np.array(b))) for b in places if a != b), default=math.inf) for a in places
    ]
    expected = sum(each < 0.5 for each in nearest) / len(places) if len(places) > 1 else 0.0
    assert share_rounded_away(instance) == pytest.approx(expected)
    if metric not in ROUNDED_UP and len(places) > 1:
        # So many have another place at distance 0.
        distances = Instance.from_coordinates(places, metric).distance_matrix()
        np.fill_diagonal(distances, 1)
        assert share_rounded_away(instance) == pytest.approx((distances.min(axis=1) == 0).mean())


@pytest.mark.parametrize("n", [201, 5_000, 300_000])
def test_of_many_cities_groups_stand_for_all(n: int) -> None:
    points = np.random.default_rng(0).random((n, 2))
    assert share_rounded_away(Instance.from_coordinates(points, "EUC_2D")) == 1
    assert share_rounded_away(Instance.from_coordinates(points * 20 * math.sqrt(n), "EUC_2D")) < 0.1
    assert share_rounded_away(Instance.from_coordinates(np.floor(points * 10), "EUC_2D")) == 0


def test_some_cities_near_each_other_are_no_reason_to_warn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mistakes, "_GROUP", 20)
    points = np.vstack([np.random.default_rng(0).random((20, 2)), np.random.default_rng(1).random((180, 2)) * 1e4])
    assert 0 < share_rounded_away(Instance.from_coordinates(points, "EUC_2D")) < 0.5


@pytest.mark.parametrize(
    ("metric", "words"),
    [
        ("EUC_2D", "or take metric='EUCLIDEAN'$"),
        ("CEIL_2D", "or take metric='EUCLIDEAN'$"),
        ("MAN_2D", "scale the coordinates up$"),
        ("GEO", "or take metric='HAVERSINE'$"),
    ],
)
def test_a_solve_says_so_and_names_who_called_it(metric: str, words: str) -> None:
    unit = Instance.from_coordinates(np.random.default_rng(0).random((50, 2)) / 1e3, metric, name="unit")
    for solve in (pytsp.solve, lambda one, **options: pytsp.solve_many([one], **options)):
        with pytest.warns(PytspWarning, match=f"^unit: metric {metric} .* 100 % of the places .*{words}") as warned:
            solve(unit, backend="c")
        assert warned[0].filename == __file__
    with pytest.warns(PytspWarning):
        pytsp.solve(unit, backend="c", open=True)


@pytest.mark.parametrize("metric", [None, "EUCLIDEAN", "EUC_2D"])
def test_nothing_is_said_of_what_keeps_its_distances(metric: str | None) -> None:
    points = np.random.default_rng(0).random((50, 2)) * (1e6 if metric == "EUC_2D" else 1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pytsp.solve(points, metric=metric, backend="c")
        pytsp.solve(pytsp.generate.uniform(30, 0), backend="c")
        # All in one place is no fault of rounding.
        pytsp.solve(Instance.from_coordinates(np.full((9, 2), 0.3), "EUC_2D"), backend="c")


def test_the_command_says_it_in_a_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    unit = Instance.from_coordinates(np.random.default_rng(0).random((50, 2)), "EUC_2D", name="unit")
    pytsp.write(str(tmp_path / "unit.tsp"), unit)
    assert main(["solve", str(tmp_path / "unit.tsp"), "--backend", "c"]) == 0
    [line] = [line for line in capsys.readouterr().err.splitlines() if "rounds" in line]
    assert line.startswith("pytsp: unit: metric EUC_2D rounds to whole numbers, but 100 %")


@pytest.mark.parametrize("width", [2, 3])
def test_coordinates_without_a_metric_are_not_rounded_wherever_they_come_from(width: int) -> None:
    points: Any = np.random.default_rng(width).random((9, width))
    own, given_ = Instance.from_coordinates(points), pytsp.as_instance(points)
    assert own.metric == given_.metric == "EUCLIDEAN"
    assert np.array_equal(own.distance_matrix(), given_.distance_matrix())
    assert own.tour_length(range(9)) == pytest.approx(
        np.linalg.norm(points - np.roll(points, 1, axis=0), axis=1).sum(), rel=1e-12
    )
    [many] = pytsp.solve_many(points[None], backend="c")
    assert many.instance.metric == "EUCLIDEAN" and many.length > 0
