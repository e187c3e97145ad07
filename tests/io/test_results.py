"""Results in files: tours, CSV, JSON, GeoJSON, plain numbers, each read back."""

from __future__ import annotations

import csv
import io
import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import strategies
from hypothesis import given
from hypothesis import strategies as st

import pytsp
from pytsp import Instance, InstanceError, Result
from pytsp.io import results as outputs
from pytsp.io.convert import decimal_degrees
from pytsp.io.results import ENDINGS, ending_of
from pytsp.problem.location import SPHERES


def found(instance: Instance, tour: Any, is_open: bool = False) -> Result:
    """A result that is this tour."""
    length = instance.path_length(tour) if is_open else instance.tour_length(tour)
    one = np.ones(1, dtype=np.int64)
    return Result(
        instance=instance,
        tour=np.asarray(tour, dtype=np.int32),
        length=length,
        climber=0,
        lengths=np.array([length]),
        steps=one,
        passes=np.empty(0, dtype=np.int32),
        done=one.astype(bool),
        seed=0,
        k=None,
        backend="c",
        mapping="thread",
        seconds=1.0,
        stop_reason="finished",
        solver="ils",
        iterations=1,
        is_open=is_open,
    )


def globe(places: Any, metric: str = "HAVERSINE") -> Instance:
    return Instance.from_coordinates(places, metric, "places")


@st.composite
def results(draw: st.DrawFn) -> Result:
    """Results of every metric, closed and open."""
    instance = draw(st.one_of(strategies.instances(), strategies.float_instances()))
    return found(instance, draw(strategies.tours(instance.n)), draw(st.booleans()))


# Each form is read back


@given(results())
def test_a_tour_file_is_read_back(result: Result) -> None:
    text = outputs.to_tour(result)
    assert pytsp.read_tour(io.StringIO(text)).tolist() == result.tour.tolist()
    assert f"Length {result.length}" in text
    assert ("open path" in text) == result.is_open


@given(results())
def test_json_is_read_back(result: Result) -> None:
    reported = json.loads(outputs.to_json(result))
    assert reported == json.loads(json.dumps(result.to_dict()))
    assert (reported["tour"], reported["open"]) == (result.tour.tolist(), result.is_open)


@given(results())
def test_plain_numbers_are_read_back(result: Result) -> None:
    assert np.atleast_1d(np.loadtxt(io.StringIO(outputs.to_txt(result)), dtype=int)).tolist() == result.tour.tolist()


@given(results())
def test_a_table_is_read_back(result: Result) -> None:
    header, *rows = csv.reader(io.StringIO(outputs.to_csv(result)))
    assert [int(row[0]) for row in rows] == list(range(result.instance.n))
    assert [int(row[1]) for row in rows] == result.tour.tolist()
    points = result.instance.coordinates
    if points is None:
        assert header == ["position", "city"]
        return
    if result.instance.metric == "GEO":
        points = decimal_degrees(points)
    assert [[float(cell) for cell in row[2:]] for row in rows] == points[result.tour].tolist()
    on_globe = result.instance.metric in SPHERES
    assert header[2:] == (["latitude", "longitude"] if on_globe else ["x", "y", "z"][: points.shape[1]])


def test_a_table_is_an_instance_again(tmp_path: Path) -> None:
    instance = Instance.from_coordinates([[0, 0.25], [3, 0], [1e-300, 2]], "EUCLIDEAN")
    found(instance, [2, 0, 1]).write(tmp_path / "three.csv")
    again = pytsp.read(tmp_path / "three.csv")
    assert (again.metric, again.name) == ("EUCLIDEAN", "three")
    assert again.coordinates is not None and instance.coordinates is not None
    assert again.coordinates.tolist() == instance.coordinates[[2, 0, 1]].tolist()


# GeoJSON


@given(strategies.coordinate_instances(("HAVERSINE",), max_n=6), st.booleans(), st.data())
def test_geojson_holds_the_way_and_the_places(instance: Instance, is_open: bool, data: st.DataObject) -> None:
    tour = data.draw(strategies.tours(instance.n))
    assert instance.coordinates is not None
    places = instance.coordinates[tour][:, ::-1].tolist()
    way, *points = json.loads(outputs.to_geojson(found(instance, tour, is_open)))["features"]
    assert [each["geometry"] for each in points] == [{"type": "Point", "coordinates": place} for place in places]
    assert [each["properties"]["city"] for each in points] == tour.tolist()
    assert way["properties"]["open"] is is_open
    geometry = way["geometry"]
    lines = geometry["coordinates"] if geometry["type"] == "MultiLineString" else [geometry["coordinates"]]
    # Without the places on the antimeridian where it is cut, it is the way.
    joined = [list(p) for k, line in enumerate(lines) for p in line[k > 0 : len(line) - (k < len(lines) - 1)]]
    closed = places if is_open else [*places, places[0]]
    assert joined == (closed if len(closed) > 1 else closed * 2)
    for line in lines:
        assert len(line) >= 2
        assert all(abs(there[0] - here[0]) <= 180 for here, there in zip(line, line[1:], strict=False))
    for before, after in zip(lines, lines[1:], strict=False):
        assert (abs(before[-1][0]), before[-1][1]) == (180, after[0][1])
        assert before[-1][0] == -after[0][0]


def test_a_way_across_the_antimeridian_is_cut_there() -> None:
    result = found(globe([[10, 170], [20, -170], [0, 0]]), [0, 1, 2], is_open=True)
    way = json.loads(outputs.to_geojson(result))["features"][0]["geometry"]
    assert way == {
        "type": "MultiLineString",
        "coordinates": [[[170, 10], [180, 15]], [[-180, 15], [-170, 20], [0, 0]]],
    }
    on_it = found(globe([[10, 180], [20, -180]]), [0, 1])
    assert json.loads(outputs.to_geojson(on_it))["features"][0]["geometry"]["type"] == "MultiLineString"


def test_longitudes_lie_within_half_a_turn() -> None:
    result = found(globe([[10, 350], [20, -190], [0, 180]]), [0, 1, 2])
    points = [each["geometry"]["coordinates"] for each in json.loads(outputs.to_geojson(result))["features"][1:]]
    assert points == [[-10, 10], [170, 20], [180, 0]]


def test_geojson_of_geo_is_in_decimal_degrees(tmp_path: Path) -> None:
    result = found(globe([[52.30, 13.15], [-0.15, 2.0]], "GEO"), [1, 0])
    result.to_geojson(tmp_path / "two.geojson")
    points = json.loads((tmp_path / "two.geojson").read_text())["features"][1:]
    assert np.allclose([each["geometry"]["coordinates"] for each in points], [[2.0, -0.25], [13.25, 52.5]])


@pytest.mark.parametrize("metric", ["EUC_2D", "EUCLIDEAN", "EXPLICIT"])
def test_cities_that_are_not_on_the_globe_have_no_geojson(tmp_path: Path, metric: str) -> None:
    points = np.zeros((2, 2))
    instance = (
        Instance.from_matrix(points, "flat")
        if metric == "EXPLICIT"
        else Instance.from_coordinates(points, metric, "flat")
    )
    with pytest.raises(
        InstanceError, match=f"flat: GeoJSON holds longitudes and latitudes, but the metric is {metric}"
    ):
        found(instance, [0, 1]).write(tmp_path / "flat.geojson")
    assert not (tmp_path / "flat.geojson").exists()


# Files


@pytest.mark.parametrize("ending", ENDINGS)
def test_the_ending_says_what_is_written(tmp_path: Path, ending: str) -> None:
    result = found(globe([[10, 20], [20, 30], [0, 0]]), [0, 2, 1])
    for path in (tmp_path / f"a{ending}", str(tmp_path / f"b{ending.upper()}")):
        outputs.write_result(path, result)
    texts = {Path(path).read_bytes() for path in tmp_path.iterdir()}
    as_bytes, as_text = io.BytesIO(), io.StringIO()
    result.write(as_bytes, ending=ending)
    result.write(as_text, ending=ending)
    assert texts == {as_bytes.getvalue()} == {as_text.getvalue().encode()}


def test_a_file_without_an_ending_is_a_tour(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    result = found(globe([[10, 20], [20, 30]]), [0, 1])
    result.write(tmp_path / "found")
    assert pytsp.read_tour(tmp_path / "found").tolist() == [0, 1]
    result.write("-")
    assert capsys.readouterr().out == (tmp_path / "found").read_text()
    result.to_csv(tmp_path / "any.name")
    result.to_json(tmp_path / "other.name")
    assert (tmp_path / "any.name").read_text().startswith("position,city,latitude,longitude\n0,0,10.0,20.0\n")
    assert json.loads((tmp_path / "other.name").read_text())["n"] == 2


@pytest.mark.parametrize("name", ["a.opt", "a.csv.gz", ".tour/a.svg"])
def test_other_endings_are_refused_before_anything_is_written(tmp_path: Path, name: str) -> None:
    with pytest.raises(
        ValueError, match=r"results are not written as \..*; the endings are .tour, .csv, .json, .geojson"
    ):
        outputs.write_result(str(tmp_path / name), found(globe([[0, 0], [1, 1]]), [0, 1]))
    assert os.listdir(tmp_path) == []
    with pytest.raises(ValueError):
        found(globe([[0, 0], [1, 1]]), [0, 1]).write("-", ending=".CSV")
    assert ending_of("a.b/c") == ".tour"
