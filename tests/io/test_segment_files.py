"""Files of segments: what is read of them, and that another order keeps everything else."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping, Sequence
from typing import Any
from xml.dom import minidom

import numpy as np
import pytest

from pytsp import InstanceError
from pytsp.io.segments import Drawing, Step, read_drawing

pytest.importorskip("svgelements")


def read(text: str, kind: str) -> Drawing:
    return read_drawing(io.BytesIO(text.encode()), kind)


def ordered(order: list[int], flips: Sequence[int] = (), entries: Mapping[int, int] | None = None) -> list[Step]:
    """An order; `flips` are the places that are turned round, `entries` where contours are begun, by place."""
    return [(number, place in flips, (entries or {}).get(place, 0)) for place, number in enumerate(order)]


def drawn(drawing: Drawing, order: list[Step]) -> list[list[list[float]]]:
    """The points of a drawing's lines in an order, as they are drawn."""
    found = []
    for number, is_flipped, entry in order:
        points = drawing.lines[number].tolist()
        if len(points) > 2 and points[0] == points[-1]:
            points = [*points[entry:-1], *points[: entry + 1]]
        found.append(points[::-1] if is_flipped else points)
    return found


# Tables

TABLE = "id;x1;y1;x2;y2;pen;note\r\n7;0;0;1;0;red;first\r\n8;5;0;9,5;0;blue;x\r\n"


def test_a_table_keeps_its_fields_and_changes_the_ends_of_what_is_turned() -> None:
    text = TABLE.replace("9,5", "9.5")
    drawing = read(text, ".csv")
    assert [line.tolist() for line in drawing.lines] == [[[0, 0], [1, 0]], [[5, 0], [9.5, 0]]]
    assert drawing.groups == ["red", "blue"]
    again = drawing.write(ordered([1, 0], flips=[0]))
    assert again == "id;x1;y1;x2;y2;pen;note\r\n8;9.5;0;5;0;blue;x\r\n7;0;0;1;0;red;first\r\n"
    assert drawing.write(ordered([0, 1])) == text


def test_a_table_of_points_is_one_of_holes() -> None:
    drawing = read("x,y,tool\n1,2,3 mm\n4,5,1 mm\n\n", ".csv")
    assert [line.tolist() for line in drawing.lines] == [[[1, 2]], [[4, 5]]] and drawing.groups == ["3 mm", "1 mm"]
    assert drawing.write(ordered([1, 0])) == "x,y,tool\n4,5,1 mm\n1,2,3 mm\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "<stream>: the table is empty|the table is empty"),
        ("a,b\n1,2\n", r"line 1: the header must have columns x1 y1 x2 y2, or .*; it has a, b"),
        ("x1,y1,x2,y2\n1,2,3\n", "line 2: 3 fields, but the header has 4"),
        (TABLE, r"line 3, column x2: '9,5' is not a finite number"),
        ("x,y\n1,inf\n", "line 2, column y: 'inf' is not a finite number"),
    ],
)
def test_faults_of_tables_are_named(text: str, message: str) -> None:
    with pytest.raises(InstanceError, match=message):
        read(text, ".csv")


# GeoJSON


def feature(kind: str, coordinates: Any, **properties: Any) -> dict[str, Any]:
    return {"type": "Feature", "properties": properties, "geometry": {"type": kind, "coordinates": coordinates}}


def test_features_keep_their_properties() -> None:
    square = [[0, 0], [1, 0], [1, 1], [0, 0]]
    features = [feature("LineString", [[5, 50, 7], [6, 51]], layer="a", name="x"), feature("Polygon", [square])]
    document = {"type": "FeatureCollection", "crs": "kept", "features": [*features, feature("Point", [3, 4])]}
    drawing = read(json.dumps(document), ".geojson")
    assert drawing.metric == "HAVERSINE" and drawing.groups == ["a", "None", "None"]
    assert drawing.lines[0].tolist() == [[50, 5], [51, 6]]
    again = json.loads(drawing.write(ordered([2, 1, 0], flips=[2], entries={1: 1})))
    assert again["crs"] == "kept" and again["features"][0] == document["features"][2]
    assert again["features"][1]["geometry"]["coordinates"] == [[[1, 0], [1, 1], [0, 0], [1, 0]]]
    assert again["features"][2]["geometry"]["coordinates"] == [[6, 51], [5, 50, 7]]
    assert again["features"][2]["properties"] == {"layer": "a", "name": "x"}


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ("{", "it is no JSON"),
        ("[]", "it is not a FeatureCollection"),
        ({"features": [feature("MultiLineString", [])]}, r"features\[0\] is MultiLineString; accepted"),
        ({"features": [{"geometry": None}]}, r"features\[0\] is no feature with a geometry"),
        ({"features": [feature("LineString", [["a", 1]])]}, r"features\[0\].geometry.coordinates are no positions"),
        ({"features": [feature("LineString", [])]}, "one position at least"),
    ],
)
def test_faults_of_features_are_named(document: Any, message: str) -> None:
    with pytest.raises(InstanceError, match=message):
        read(document if isinstance(document, str) else json.dumps(document), ".json")


# SVG

HEAD = '<?xml version="1.0" encoding="utf-8"?><svg xmlns="http://www.w3.org/2000/svg" xmlns:ink="urn:ink">'


def svg(body: str) -> str:
    return f"{HEAD}{body}</svg>"


def test_shapes_are_read_where_they_are_drawn() -> None:
    body = (
        '<g transform="translate(10,0)"><g transform="scale(2)"><path d="M1,1 C2,2 3,3 4,1" transform="rotate(90)"/>'
        '<line x1="0" y1="0" x2="3" y2="0"/></g></g>'
        '<polyline points="0,0 1,1 2,0"/><polygon points="0,0 1,0 1,1"/><rect x="1" y="2" width="3" height="4"/>'
        '<path d="M0,0L1,0M5,5L6,6"/><circle cx="5" cy="5" r="1"/>'
    )
    drawing = read(svg(body), ".svg")
    lines = [np.round(line, 9).tolist() for line in drawing.lines]
    # Turned, made larger, moved: (1, 1) is (-1, 1), (-2, 2), (8, 2).
    assert lines[0] == [[8, 2], [8, 8]] and lines[1] == [[10, 0], [16, 0]]
    assert lines[2] == [[0, 0], [2, 0]] and lines[3] == [[0, 0], [1, 0], [1, 1], [0, 0]]
    assert lines[4] == [[1, 2], [4, 2], [4, 6], [1, 6], [1, 2]] and lines[5] == [[0, 0], [6, 6]]
    assert lines[6][0] == lines[6][-1] == [6, 5]
    assert drawing.groups == [0, 0, 1, 1, 1, 1, 1]


def test_what_is_written_is_read_as_it_is_drawn() -> None:
    body = (
        '<path id="a" d="M1,1 C2,2 3,3 4,1 L5,5"/><line id="b" x1="0" x2="3" y2="1"/>'
        '<polyline id="c" points="0,0 1,1 2,0"/>'
        '<polygon id="d" points="0,0 1,0 1,1"/><rect id="e" class="k" x="1" y="2" width="3" height="4"/>'
        '<path id="f" d="M0,0L1,0M5,5L6,6" style="fill:none"/><path id="g" d="M0,0 L2,0 A1,1 0 0 1 2,2 L0,2 z"/>'
        '<polyline id="h" points="0,0 1,1 2,0 0,0"/><path id="i" d="M0,0 Q1,0 1,1 T0,0"/>'
    )
    drawing = read(svg(body), ".svg")
    order = ordered([8, 3, 0, 7, 2, 6, 1, 5, 4], flips=[2, 4, 6, 7], entries={0: 1, 1: 2, 3: 1, 5: 2, 8: 3})
    text = drawing.write(order)
    again = read(text, ".svg")
    wanted = drawn(drawing, order)
    for line, points in zip(again.lines, wanted, strict=True):
        assert np.allclose(line, points)
    shapes = minidom.parseString(text).documentElement.childNodes
    assert [shape.getAttribute("id") for shape in shapes] == list("idahcgbfe")
    assert shapes[-1].getAttribute("class") == "k" and shapes[7].getAttribute("style") == "fill:none"


def test_groups_and_all_else_of_a_file_are_kept() -> None:
    body = (
        '<!-- by hand --><defs><path id="never" d="M0,0L1,1"/></defs><ink:layer/>\n<g id="one" ink:label="1">\n'
        '  <path id="a" d="M0,0L1,0"/>\n  <text>here</text>\n  <g id="alone"><path id="b" d="M5,0L6,0"/></g>\n</g>\n'
        '<g id="two"><path id="c" d="M9,9L8,8"/></g><path id="d" d="M3,3L4,4"/><use href="#never"/>'
    )
    with pytest.warns(match="left where they are: 1 <text>, 1 <use>"):
        drawing = read(svg(body), ".svg")
    assert drawing.groups == [0, 0, 1, 1]
    text = drawing.write(ordered([1, 0, 3, 2]))
    whole = svg(
        '<!-- by hand --><defs><path id="never" d="M0,0L1,1"/></defs><ink:layer/>\n<g id="one" ink:label="1">\n'
        '  <g id="alone"><path id="b" d="M5,0L6,0"/></g>\n  <text>here</text>\n  <path id="a" d="M0,0L1,0"/>\n</g>\n'
        '<path id="d" d="M3,3L4,4"/><g id="two"><path id="c" d="M9,9L8,8"/></g><use href="#never"/>'
    )
    assert text.strip() == whole
    assert drawing.write(ordered([0, 1, 2, 3])).strip() == svg(body)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<svg", "it is no XML"),
        ("<html></html>", "it is no SVG: its first element is 'html'"),
        (svg("<text>x</text>"), "there are no paths and shapes in it; known: path, line"),
    ],
)
def test_faults_of_svg_are_named(text: str, message: str) -> None:
    with pytest.raises(InstanceError, match=message):
        read(text, ".svg")


def test_other_files_are_refused() -> None:
    with pytest.raises(InstanceError, match=r"the ending '.dxf' is of no kind of drawing; known: .csv"):
        read("", ".dxf")
    with pytest.raises(InstanceError, match="it is not a text in UTF-8"):
        read_drawing(io.BytesIO(b"\xff\xfe\x00"), ".svg")
