"""Segments of tables and of GeoJSON: their lines and groups, and the text of their file in another order."""

from __future__ import annotations

import copy
import csv
import io
import json
import math
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pytsp.exceptions import InstanceError
from pytsp.io.convert import column_named

# What files call the group of a segment, in lower case, the first of these that there is.
_GROUPS = ("layer", "pen", "group", "tool")
_COLUMNS = (
    ("x1", "y1", "x2", "y2"),
    ("x_start", "y_start", "x_end", "y_end"),
    ("start_x", "start_y", "end_x", "end_y"),
    ("x", "y"),
)
_SEPARATORS = ";\t,"
_ACCEPTED = "a FeatureCollection of features with a LineString, a Point or a Polygon without holes"


Step: TypeAlias = tuple[int, bool, int]


@dataclass(frozen=True)
class Drawing:
    """The segments of a file: their points, shape (p, 2) each, where closed contours end where they begin; the groups
    that stay together; the metric; and a function that returns the file's text with its segments in another order.

    An order is triples: a segment's number, whether it is drawn from its end, and the point where a contour begins.
    """

    lines: Sequence[NDArray[np.float64]]
    groups: Sequence[Hashable] | None
    metric: str
    write: Callable[[Iterable[Step]], str]


def turned(points: list[list[float]], *, is_flipped: bool, entry: int) -> list[list[float]]:
    """Return a line from its end, or a closed contour from another of its points on."""
    if is_flipped:
        return points[::-1]
    is_closed = len(points) > 2 and points[0] == points[-1]
    return [*points[entry:-1], *points[: entry + 1]] if is_closed and entry else points


def read_segment_table(text: str) -> Drawing:
    """Read a table with columns x1, y1, x2 and y2, or x and y, and perhaps layer, pen, group or tool."""
    lines = text.splitlines(keepends=True)
    head = next((number for number, line in enumerate(lines) if line.strip()), None)
    if head is None:
        raise InstanceError("the table is empty")
    separator = next((each for each in _SEPARATORS if each in lines[head]), ",")
    ending = "\r\n" if lines[head].endswith("\r\n") else "\n"
    reader = csv.reader(lines[head:], delimiter=separator)
    try:
        header = next(reader)
        rows = [(head + reader.line_num, row) for row in reader if any(field.strip() for field in row)]
    except csv.Error as error:
        raise InstanceError(f"line {head + reader.line_num}: {error}") from error
    named = {name.strip().lower(): place for place, name in enumerate(header)}
    columns = next((each for each in _COLUMNS if all(name in named for name in each)), None)
    if columns is None:
        known = ", or ".join(" ".join(each) for each in _COLUMNS)
        raise InstanceError(f"line {head + 1}: the header must have columns {known}; it has {', '.join(header):.100}")
    places = [named[name] for name in columns]
    numbers = np.array([_numbers(line, row, places, header) for line, row in rows]).reshape(len(rows), -1, 2)
    group = column_named(header, _GROUPS)
    groups = None if group is None else [row[header.index(group)].strip() for _, row in rows]

    def write(order: Iterable[Step]) -> str:
        made = io.StringIO()
        writer = csv.writer(made, delimiter=separator, lineterminator=ending)
        writer.writerow(header)
        for number, is_flipped, _ in order:
            row = [*rows[number][1]]
            for a, b in zip(places[:2], places[2:], strict=True) if is_flipped else ():
                row[a], row[b] = row[b], row[a]
            writer.writerow(row)
        return "".join(lines[:head]) + made.getvalue()

    return Drawing([*numbers], groups, "EUCLIDEAN", write)


def _numbers(line: int, row: list[str], places: list[int], header: list[str]) -> list[float]:
    if len(row) != len(header):
        raise InstanceError(f"line {line}: {len(row)} fields, but the header has {len(header)}")
    found = []
    for place in places:
        try:
            number = float(row[place])
        except ValueError:
            number = math.nan
        if not math.isfinite(number):
            raise InstanceError(
                f"line {line}, column {header[place].strip()}: {row[place]!r:.40} is not a finite number"
            )
        found.append(number)
    return found


def read_features(text: str) -> Drawing:
    """Read the features of GeoJSON; a property layer, pen, group or tool says which stay together."""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InstanceError(f"it is no JSON: {error}") from error
    features = document.get("features") if isinstance(document, dict) else None
    if not isinstance(features, list):
        raise InstanceError(f"it is not {_ACCEPTED}")
    lines = [_line(feature, f"features[{number}]") for number, feature in enumerate(features)]
    known = [feature.get("properties") or {} for feature in features]
    group = column_named(list(dict.fromkeys(name for each in known for name in each)), _GROUPS)
    groups = None if group is None else [str(each.get(group)) for each in known]

    def write(order: Iterable[Step]) -> str:
        made = []
        for number, is_flipped, entry in order:
            feature = copy.deepcopy(features[number])
            geometry = feature["geometry"]
            if geometry["type"] != "Point":
                ring = geometry["coordinates"][0] if geometry["type"] == "Polygon" else geometry["coordinates"]
                way = turned(ring, is_flipped=is_flipped, entry=entry)
                geometry["coordinates"] = [way] if geometry["type"] == "Polygon" else way
            made.append(feature)
        return json.dumps({**document, "features": made}, ensure_ascii=False, indent=1) + "\n"

    # GeoJSON has the longitude first.
    return Drawing([line[:, ::-1] for line in lines], groups, "HAVERSINE", write)


def _line(feature: Any, place: str) -> NDArray[np.float64]:
    geometry = feature.get("geometry") if isinstance(feature, dict) else None
    kind = geometry.get("type") if isinstance(geometry, dict) else None
    positions: Any = geometry.get("coordinates") if isinstance(geometry, dict) else None
    if kind == "Polygon" and isinstance(positions, list) and len(positions) == 1:
        positions = positions[0]
    elif kind == "Point":
        positions = [positions]
    elif kind != "LineString":
        raise InstanceError(f"{place} is {kind if kind else 'no feature with a geometry'}; accepted: {_ACCEPTED}")
    try:
        # A third number, the height, is no part of a distance on the globe.
        line = np.array([[float(number) for number in position[:2]] for position in positions]).reshape(-1, 2)
    except (TypeError, ValueError) as error:
        raise InstanceError(f"{place}.geometry.coordinates are no positions: {error}") from error
    if not len(line) or not np.isfinite(line).all():
        raise InstanceError(f"{place}.geometry.coordinates must be finite numbers, one position at least")
    return line
