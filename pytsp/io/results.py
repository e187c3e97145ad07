"""What was found, written to files: TSPLIB's tours, CSV, JSON, GeoJSON, plain numbers."""

from __future__ import annotations

import csv
import io
import itertools
import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytsp.exceptions import InstanceError
from pytsp.io.endings import ending_of

if TYPE_CHECKING:
    from pytsp.io.tsplib.lexer import Source
    from pytsp.problem.instance import Instance
    from pytsp.run.result import Result

__all__ = ["to_csv", "to_geojson", "to_json", "to_tour", "to_txt", "write_result"]


def write_result(target: Source, result: Result, *, ending: str | None = None) -> None:
    """Write a result in the form that the file's ending names.

    ============  ====================================================================================================
    ending        what is written
    ============  ====================================================================================================
    ``.tour``     a tour file of TSPLIB, cities counted from 1; so is a file without an ending
    ``.csv``      a line for each city in the order of the visit: position, city, and its coordinates
    ``.json``     `Result.to_dict`
    ``.geojson``  the way as a line and the cities as points, where they are places on the globe
    ``.txt``      the cities, one a line
    ============  ====================================================================================================

    Except in tour files, cities are counted from 0.

    Parameters
    ----------
    target : str, path-like or stream
        A path, ``"-"`` for standard output, or an open stream of bytes or text.
    result : Result
    ending : str, optional
        In place of the path's; by default ".tour" for what has no path.

    Raises
    ------
    ValueError
        If the ending is another; nothing is written then.
    InstanceError
        If GeoJSON is asked for cities that are not on the globe; nothing is written then.
    OSError
        If the file cannot be written.
    """
    is_path = isinstance(target, (str, os.PathLike)) and target != "-"
    if ending is None:
        ending = ending_of(os.fspath(target)) if isinstance(target, (str, os.PathLike)) and is_path else ".tour"
    elif ending_of(f"x{ending}") != ending:
        raise ValueError(f"ending {ending!r} must be in lower case and begin with a dot")
    text = _WRITERS[ending](result)
    if isinstance(target, (str, os.PathLike)) and is_path:
        Path(target).write_text(text, encoding="utf-8", errors="replace", newline="")
        return
    stream = sys.stdout if isinstance(target, (str, os.PathLike)) else target
    if isinstance(stream, io.TextIOBase):
        stream.write(text)
    else:
        stream.write(text.encode("utf-8", errors="replace"))  # type: ignore[arg-type]


def to_tour(result: Result) -> str:
    """Return a tour file of TSPLIB; that of an open path says so in a comment."""
    from pytsp.io.tsplib.reader import write_tour  # noqa: PLC0415

    file = io.StringIO()
    comment = "open path: it does not return to its first city" if result.is_open else ""
    write_tour(file, result.tour, name=result.instance.name, comment=comment, length=result.length)
    return file.getvalue()


def to_json(result: Result) -> str:
    """Return one JSON object, that of `Result.to_dict`."""
    return json.dumps(result.to_dict()) + "\n"


def to_txt(result: Result) -> str:
    """Return the cities in the order of the visit, one a line, counted from 0."""
    return "".join(f"{city}\n" for city in result.tour.tolist())


def to_csv(result: Result) -> str:
    """Return a table, a line for each city in the order of the visit.

    Its columns are position, city, and x and y (and z), or latitude and longitude in decimal degrees; distances that
    are given by a matrix come without coordinates.
    """
    labels, rows = _coordinates(result.instance)
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(["position", "city", *labels])
    writer.writerows([position, city, *rows[city]] for position, city in enumerate(result.tour.tolist()))
    return file.getvalue()


def to_geojson(result: Result) -> str:
    """Return GeoJSON (RFC 7946): the way as a line with the result's facts, and the cities as points, in their order.

    A way across the antimeridian is cut there, as the standard asks for.

    Raises
    ------
    InstanceError
        If the cities are no places on the globe, of metric HAVERSINE or GEO.
    """
    instance = result.instance
    labels, rows = _coordinates(instance)
    if labels != ["latitude", "longitude"]:
        raise InstanceError(
            f"{instance.name or 'instance'}: GeoJSON holds longitudes and latitudes, but the metric is "
            f"{instance.metric}; write .csv or .json"
        )
    # GeoJSON has the longitude first, within half a turn.
    places = [[_wrapped(longitude), latitude] for latitude, longitude in rows]
    order = result.tour.tolist()
    way = [places[city] for city in (order if result.is_open else [*order, order[0]])]
    facts = {
        "name": instance.name,
        "n": instance.n,
        "metric": instance.metric,
        "length": result.length,
        "open": result.is_open,
    }
    features = [
        _feature(_line(way), facts),
        *(
            _feature({"type": "Point", "coordinates": places[city]}, {"position": position, "city": city})
            for position, city in enumerate(order)
        ),
    ]
    return json.dumps({"type": "FeatureCollection", "features": features}) + "\n"


def _coordinates(instance: Instance) -> tuple[list[str], list[list[float]]]:
    """Return the names of the coordinates and those of each city, in decimal degrees on the globe."""
    from pytsp.io.convert import GLOBE_METRICS, decimal_degrees  # noqa: PLC0415

    points = instance.coordinates
    if points is None:
        return [], [[] for _ in range(instance.n)]
    if instance.metric in GLOBE_METRICS:
        return ["latitude", "longitude"], (decimal_degrees(points) if instance.metric == "GEO" else points).tolist()
    return ["x", "y", "z"][: points.shape[1]], points.tolist()


def _feature(geometry: dict[str, Any], properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "Feature", "geometry": geometry, "properties": properties}


def _line(way: list[list[float]]) -> dict[str, Any]:
    """Return a way as a line, or as several where it crosses the antimeridian."""
    if len(way) == 1:
        # A line has two positions at least.
        return {"type": "LineString", "coordinates": way * 2}
    lines = [[way[0]]]
    for here, there in itertools.pairwise(way):
        if abs(there[0] - here[0]) > 180.0:
            # The side on which the way leaves, and the place on the antimeridian, as on a map whose axes are straight.
            side = 180.0 if here[0] > 0 else -180.0
            # None of it lies beyond where both ends stand on it.
            share = (side - here[0]) / ((there[0] + 2 * side - here[0]) or 1.0)
            latitude = here[1] + share * (there[1] - here[1])
            lines[-1].append([side, latitude])
            lines.append([[-side, latitude]])
        lines[-1].append(there)
    if len(lines) == 1:
        return {"type": "LineString", "coordinates": lines[0]}
    return {"type": "MultiLineString", "coordinates": lines}


def _wrapped(longitude: float) -> float:
    return longitude if -180.0 <= longitude <= 180.0 else (longitude + 180.0) % 360.0 - 180.0


_WRITERS = {".tour": to_tour, ".csv": to_csv, ".json": to_json, ".geojson": to_geojson, ".txt": to_txt}
