"""Results written to files: TSPLIB's tours, CSV, JSON, GeoJSON, plain numbers."""

from __future__ import annotations

import io
import itertools
import json
import os
from os.path import splitext
from typing import TYPE_CHECKING, Any, Protocol

from pytsp.exceptions import InstanceError
from pytsp.io.streams import Source, check_target, is_path, try_path, write_text

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from pytsp.problem.instance import Instance


class Found(Protocol):
    """The fields of a `pytsp.Result` that these functions need."""

    @property
    def instance(self) -> Instance: ...
    @property
    def tour(self) -> NDArray[np.int32]: ...
    @property
    def length(self) -> int | float: ...
    @property
    def is_open(self) -> bool: ...
    def with_arrays(self) -> dict[str, object]: ...


def ending_of(path: str) -> str:
    """Return the ending that says how a result is written to a path: ".tour" where there is none."""
    ending = splitext(path)[1].lower() or ".tour"
    if ending not in ENDINGS:
        raise ValueError(f"{path}: results are not written as {ending}; the endings are {', '.join(ENDINGS)}")
    return ending


def check_output(path: str, instance: Instance) -> None:
    """Refuse a path to which no result of an instance can be written, before the solve. Its file stays unchanged."""
    if ending_of(path) == ".geojson":
        _check_globe(instance)
    if is_path(path):
        try_path(path)


def write_result(target: Source, result: Found, *, ending: str | None = None) -> None:
    """Write a result in the form that the file's ending names.

    ============  ====================================================================================================
    ending        what is written
    ============  ====================================================================================================
    ``.tour``     a tour file of TSPLIB, cities counted from 1; so is a file without an ending
    ``.csv``      a line for each city in the order of the visit: position, city, its name, and its coordinates
    ``.json``     `Result.to_dict`
    ``.geojson``  the way as a line and the cities as points, where they are places on the globe
    ``.txt``      the cities, one a line
    ============  ====================================================================================================

    Except in tour files, cities are counted from 0. `target` is a path, ``"-"`` for standard output, or an open stream
    of bytes or text. Another `ending` raises `ValueError`, GeoJSON of cities that are not on the globe `InstanceError`,
    and nothing is written then; a file that cannot be written raises `OSError`.
    """
    check_target(target)
    if ending is None:
        ending = ending_of(os.fspath(target)) if is_path(target) else ".tour"
    elif ending_of(f"x{ending}") != ending:
        raise ValueError(f"ending {ending!r} must be in lower case and begin with a dot")
    write_text(target, text_of(result, ending))


def text_of(result: Found, ending: str) -> str:
    """Return the text of a result for a file with that ending."""
    return _WRITERS[ending](result)


def to_tour(result: Found) -> str:
    """Return a tour file of TSPLIB; that of an open path says so in a comment."""
    from pytsp.io.tsplib.writer import write_tour  # noqa: PLC0415

    file = io.StringIO()
    comment = "open path: it does not return to its first city" if result.is_open else ""
    write_tour(file, result.tour, name=result.instance.name, comment=comment, length=result.length)
    return file.getvalue()


def to_json(result: Found) -> str:
    """Return one JSON object, that of `Result.to_dict`."""
    # The command line imports this module for its endings, and NumPy later.
    from pytsp.utils.json_text import json_object  # noqa: PLC0415

    return json_object(result.with_arrays()) + "\n"


def to_txt(result: Found) -> str:
    """Return the cities in the order of the visit, one a line, counted from 0."""
    return "".join(f"{city}\n" for city in result.tour.tolist())


def to_csv(result: Found) -> str:
    """Return a table, a line for each city in the order of the visit: position, city, name where cities have names, and
    coordinates, which are decimal degrees on the globe."""
    # The command line imports this module for its endings.
    import csv  # noqa: PLC0415

    columns, rows = _coordinates(result.instance)
    names = None if result.instance.labels is None else result.instance.names_of(result.tour)
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(["position", "city", *(["name"] if names else []), *columns])
    for position, city in enumerate(result.tour.tolist()):
        writer.writerow([position, city, *([names[position]] if names else []), *rows[city]])
    return file.getvalue()


def to_geojson(result: Found) -> str:
    """Return GeoJSON (RFC 7946): the way as a line with the result's facts, and the cities as points, in their order.

    A way across the antimeridian is cut there, as the standard asks for. The metric must be one of the globe.
    """
    instance = result.instance
    _check_globe(instance)
    _, rows = _coordinates(instance)
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
    features = [_feature(_line(way), facts)]
    for position, city in enumerate(order):
        point = {"type": "Point", "coordinates": places[city]}
        named = {} if instance.labels is None else {"name": instance.labels[city]}
        features.append(_feature(point, {"position": position, "city": city, **named}))
    return json.dumps({"type": "FeatureCollection", "features": features}) + "\n"


def _check_globe(instance: Instance) -> None:
    from pytsp.io.convert import GLOBE_METRICS  # noqa: PLC0415

    if instance.metric not in GLOBE_METRICS:
        raise InstanceError(
            f"{instance.name or 'instance'}: GeoJSON holds longitudes and latitudes, but the metric is "
            f"{instance.metric}; write .csv or .json"
        )


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
    # A line has two positions at least.
    way = way if len(way) > 1 else way * 2
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
ENDINGS = (*_WRITERS,)
