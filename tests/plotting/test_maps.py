"""Where cities are drawn, and the lines of tours."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from numpy.typing import NDArray
from paths import tsplib_file

import pytsp
from pytsp.exceptions import InstanceError
from pytsp.plotting.maps import Map, map_of


def segments(rows: NDArray[np.float64]) -> list[tuple[tuple[float, ...], tuple[float, ...]]]:
    """The edges among rows of points that are separated by nan."""
    points = [tuple(row) for row in rows.tolist()]
    return [(a, b) for a, b in zip(points, points[1:], strict=False) if not any(map(math.isnan, (*a, *b)))]


def test_coordinates_are_drawn_as_they_are() -> None:
    points = [[3.0, 5.0], [-1.0, 2.0], [8.0, 0.0]]
    cities = map_of(pytsp.Instance.from_coordinates(points, metric="EUC_2D"))
    assert (cities.xy.tolist(), cities.period, cities.note) == (points, None, "")
    assert cities.tour_line([2, 0, 1]).tolist() == [points[2], points[0], points[1], points[2]]


def test_degrees_and_minutes_are_longitudes_to_the_right() -> None:
    # 60° 30' and 59° 30' north: in the middle a degree of longitude is half as long as one of latitude.
    cities = map_of(pytsp.Instance.from_coordinates([[60.30, 10.15], [59.30, -10.15]], metric="GEO"))
    assert cities.xy == pytest.approx(np.array([[5.125, 60.5], [-5.125, 59.5]]))
    assert cities.period == pytest.approx(180)


def test_decimal_degrees_are_longitudes_to_the_right() -> None:
    cities = map_of(pytsp.Instance.from_coordinates([[60.5, 10.25], [59.5, -10.25]], metric="HAVERSINE"))
    assert cities.xy == pytest.approx(np.array([[5.125, 60.5], [-5.125, 59.5]]))
    assert cities.period == pytest.approx(180)


def test_an_open_path_has_no_line_back() -> None:
    points = [[3.0, 5.0], [-1.0, 2.0], [8.0, 0.0]]
    cities = map_of(pytsp.Instance.from_coordinates(points, metric="EUC_2D"))
    assert cities.tour_line([2, 0, 1], is_open=True).tolist() == [points[2], points[0], points[1]]
    around = Map(np.array([[-170.0, 0.0], [170.0, 1.0], [160.0, 2.0]]), period=360)
    assert len(segments(around.tour_line([0, 1, 2], is_open=True))) == 3
    assert len(segments(around.tour_line([0, 1, 2]))) == 5
    assert Map(np.zeros((1, 2)), period=360).tour_line([0], is_open=True).tolist() == [[0, 0]]


def test_of_three_coordinates_the_map_says_that_one_is_not_drawn() -> None:
    cities = map_of(pytsp.Instance.from_coordinates([[1, 2, 3], [4, 5, 6]], metric="EUC_3D"))
    assert cities.xy.tolist() == [[1, 2], [4, 5]]
    assert "first two are drawn" in cities.note


def test_a_matrix_is_drawn_by_its_display_data_or_not_at_all() -> None:
    matrix = [[0, 1], [1, 0]]
    assert map_of(pytsp.Instance.from_matrix(matrix, display=[[7, 8], [9, 9]])).xy.tolist() == [[7, 8], [9, 9]]
    with pytest.raises(InstanceError, match="^pair is given by a matrix without DISPLAY_DATA"):
        map_of(pytsp.Instance.from_matrix(matrix, "pair"))


def test_files_with_display_data_are_drawn() -> None:
    assert map_of(pytsp.read(tsplib_file("bays29.tsp"))).xy.shape == (29, 2)
    with pytest.raises(InstanceError, match="brazil58 is given by a matrix"):
        map_of(pytsp.read(tsplib_file("brazil58.tsp")))


@given(st.lists(st.tuples(st.floats(-180, 180), st.floats(-80, 80)), min_size=1, max_size=12), st.randoms())
@example([(-179.0, 0.0), (179.0, 10.0)], None)
def test_no_line_goes_more_than_half_around_the_earth(places: list[tuple[float, float]], random: object) -> None:
    cities = Map(np.array(places), period=360)
    tour = list(range(len(places)))
    if random is not None:
        random.shuffle(tour)  # type: ignore[attr-defined]
    lines = segments(cities.tour_line(tour))
    assert all(abs(b[0] - a[0]) <= 180 + 1e-9 for a, b in lines)
    # By plain loops: each edge, or what of it leaves the map on either side.
    expected = []
    for a, b in zip(tour, [*tour[1:], tour[0]], strict=True):
        (ax, ay), (bx, by) = places[a], places[b]
        if abs(bx - ax) <= 180:
            expected.append(((ax, ay), (bx, by)))
        else:
            around = 360 if bx > ax else -360
            expected += [((ax, ay), (bx - around, by)), ((ax + around, ay), (bx, by))]
    assert sorted(lines) == sorted(expected)
