"""Coordinates of GEO: no latitude beyond a pole is taken, and minutes of 60 and more are told."""

from __future__ import annotations

import io
import warnings
from typing import Any

import numpy as np
import pytest
from paths import all_tsplib, tsplib_file

import pytsp
from pytsp import Instance, InstanceError, PytspWarning, TsplibError
from pytsp.problem.validation import warn_of_minutes

GOOD = [[52.30, 13.24], [-89.59, 180.0], [90.0, -179.59]]


def tsplib(places: Any, kind: str = "GEO") -> io.BytesIO:
    rows = "".join(f"{node} {a} {b}\n" for node, (a, b) in enumerate(places, 1))
    text = f"DIMENSION: {len(places)}\nEDGE_WEIGHT_TYPE: {kind}\nNODE_COORD_SECTION\n{rows}EOF\n"
    return io.BytesIO(text.encode())


WAYS = [
    lambda places: Instance.from_coordinates(places, "GEO"),
    lambda places: pytsp.as_instance(places, metric="geo"),
    lambda places: pytsp.read(tsplib(places)),
    lambda places: pytsp.solve(np.array(places), metric="GEO", backend="c"),
    lambda places: pytsp.solve_many(np.array([places]), metric="GEO", backend="c"),
]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    ("place", "words"),
    [
        ([90.01, 0], r"up to 90 and 180; the latitude of city 2 is 90\.01"),
        ([-112.5, 0], r"the latitude of city 2 is -112\.5"),
        ([0, 180.01], r"the longitude of city 2 is 180\.01"),
    ],
)
def test_places_beyond_the_poles_are_refused_by_their_city(way: Any, place: list[float], words: str) -> None:
    with pytest.raises((InstanceError, TsplibError), match=rf"GEO takes latitude .* degrees and minutes .*{words}"):
        way([*GOOD[:2], place])


def test_a_city_is_named_where_it_has_a_name() -> None:
    with pytest.raises(InstanceError, match="the latitude of city 1, 'Ulm', is 91.0"):
        Instance.from_coordinates([[0, 0], [91, 0]], "GEO", labels=["Bonn", "Ulm"])
    with pytest.raises(InstanceError, match="HAVERSINE .* decimal degrees, .* the latitude of city 0, 'Bonn', is 91.0"):
        Instance.from_coordinates([[91, 0], [0, 0]], "HAVERSINE", labels=["Bonn", "Ulm"])


@pytest.mark.parametrize("way", WAYS)
def test_minutes_of_sixty_and_more_are_told(way: Any) -> None:
    with pytest.warns(PytspWarning, match="metric GEO takes degrees and minutes, .* 60 or more in 2 of") as warned:
        way([[40.62, 13.24], [48.30, -11.60], [50.1, 8.5]])
    [each] = [each for each in warned if "minutes" in str(each.message)]
    assert each.filename == __file__
    assert "the latitude of city 0" in str(each.message) and "40.62, the longitude of city 1" in str(each.message)


@pytest.mark.parametrize("way", WAYS)
def test_minutes_below_sixty_are_not(way: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        way(GOOD)


def test_a_file_is_named() -> None:
    with pytest.warns(PytspWarning, match="^<stream>: metric GEO takes degrees and minutes"):
        pytsp.read(tsplib([[52.75, 13.4], [0, 0]]))


def test_decimal_degrees_of_tables_are_converted_without_a_word() -> None:
    table = "lat,lon\n52.75,13.99999999999999\n48.99,200\n0,-359.5\n"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        whole, places = pytsp.read(io.StringIO(table), metric="GEO"), pytsp.read(io.StringIO(table))
        # What a solve makes of an instance is not told again.
        pytsp.solve(whole, backend="c", open=True, bound=True)
    assert whole.coordinates is not None and np.abs(whole.coordinates[:, 1]).max() <= 180
    assert np.allclose(whole.distance_matrix(), 1.00116 * places.distance_matrix(), atol=2)


def test_other_metrics_have_no_minutes() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Instance.from_coordinates([[52.75, 13.95], [0, 0]], "HAVERSINE")
        warn_of_minutes(np.array([[52, 13]]), "GEO")


def test_tsplibs_own_places_are_taken() -> None:
    # ali535 alone has minutes of 60 and more.
    for name in all_tsplib():
        if name in ("burma14", "ulysses16", "ulysses22", "gr96", "gr137", "gr229", "gr666"):
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                assert pytsp.read(tsplib_file(f"{name}.tsp")).metric == "GEO"
