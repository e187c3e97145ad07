"""Instances out of CSV and GeoJSON files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytsp import InstanceError, TsplibError
from pytsp.io.files import read_any


def write(folder: Path, name: str, text: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


@pytest.mark.parametrize(
    "text",
    [
        "x,y\n0,0.5\n3,4\n",
        "x,y\r\n0,0.5\r\n3,4",
        '\ufeffname, Y ,X\n"Rome, old",0.5,0\nParis,4e0,+3\n\n',
        "y,x,lattice\n.5,-0,1\n4, 3 ,2\n",
    ],
)
def test_tables_of_the_plane(tmp_path: Path, text: str) -> None:
    instance = read_any(write(tmp_path, "two.csv", text))
    assert instance.coordinates is not None
    assert instance.coordinates.tolist() == [[0, 0.5], [3, 4]]
    assert (instance.metric, instance.name) == ("EUCLIDEAN", "two")
    assert read_any(tmp_path / "two.csv", "ceil_2d").distance(0, 1) == 5


def test_tables_of_the_globe(tmp_path: Path) -> None:
    path = write(tmp_path, "Places.CSV", "city,Latitude,Longitude\nBerlin,52.5,13.25\nParis,48.9,2.35\n")
    assert read_any(path).distance(0, 1) == pytest.approx(870, abs=20)
    assert read_any(path, "geo").metric == "GEO"
    with pytest.raises(InstanceError, match=r"Places.CSV: metric 'EUC_2D' is not for latitudes"):
        read_any(path, "EUC_2D")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "two.csv: there are no columns x and y, .* among: none"),
        ("x,y\n", r"two.csv: coordinates must have shape \(n, 2\)"),
        ("a,b\n1,2\n", "two.csv: there are no columns x and y, .* among: a, b"),
        ("x,y\n1,2\n3\n", "two.csv:3: 1 fields, but the header has 2"),
        ("x,y\n1,2,3\n", "two.csv:2: 3 fields, but the header has 2"),
        ("x,y\n1,2\n3,four\n", "two.csv: line 3, column y: 'four' is not a number"),
        ("x,y\n1_0,2\n", "two.csv: line 2, column x: '1_0' is not a number"),
        ("x,y\n1,\n", "two.csv: line 2, column y: '' is not a number"),
        ("x,y\n1,nan\n", r"two.csv: coordinates must be finite, but \[0, 1\] is nan"),
        ("x,y,x\n1,2,3\n", "two.csv:1: columns must have different names"),
        ('x,y\n"1,2\n', "two.csv:2: unexpected end of data"),
        (b"x,y\n\xff,2\n", "two.csv: it is not a text in UTF-8"),
    ],
)
def test_tables_that_make_no_instance_are_refused_with_their_place(
    tmp_path: Path, text: str | bytes, words: str
) -> None:
    with pytest.raises(InstanceError, match=words):
        read_any(write(tmp_path, "two.csv", text))


def test_geojson_files(tmp_path: Path) -> None:
    path = write(
        tmp_path, "two.geojson", json.dumps({"type": "MultiPoint", "coordinates": [[13.25, 52.5], [2.35, 48.9]]})
    )
    instance = read_any(path)
    assert instance.coordinates is not None
    assert (instance.name, instance.metric) == ("two", "HAVERSINE")
    assert instance.coordinates.tolist() == [[52.5, 13.25], [48.9, 2.35]]
    assert read_any(path, "GEO").is_exact


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "bad.geojson: it is not JSON"),
        ("[1, 2]", "bad.geojson: GeoJSON is an object; this is a list"),
        ('{"type": "Topology"}', "bad.geojson: GeoJSON: type 'Topology' is not accepted"),
        ('{"type": ' + "[" * 100_000, "bad.geojson: it is not JSON"),
        (b"\xff\xfe", "bad.geojson: it is not a text in UTF-8"),
        ('{"type": "Point", "coordinates": [1e999, 0]}', "bad.geojson: coordinates must be finite"),
    ],
)
def test_geojson_files_that_make_no_instance_are_refused(tmp_path: Path, text: str | bytes, words: str) -> None:
    with pytest.raises(InstanceError, match=words):
        read_any(write(tmp_path, "bad.geojson", text))


def test_nested_collections_without_end_are_refused(tmp_path: Path) -> None:
    depth = 5_000
    text = '{"type": "GeometryCollection", "geometries": [' * depth + "]}" * depth
    with pytest.raises(InstanceError, match="deep.geojson: "):
        read_any(write(tmp_path, "deep.geojson", text))


def test_all_other_files_are_tsplibs(tmp_path: Path) -> None:
    with pytest.raises(TsplibError):
        read_any(write(tmp_path, "x.json", "{}"))
    with pytest.raises(InstanceError, match="metric 'GEO' is for .csv and .geojson files; a TSPLIB file says its own"):
        read_any(tmp_path / "x.json", "GEO")
    with pytest.raises(FileNotFoundError):
        read_any(tmp_path / "missing.csv")
