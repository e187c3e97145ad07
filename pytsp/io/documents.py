"""JSON documents: points of GeoJSON (RFC 7946), in their order in the file, and tables of road servers.

Servers are OSRM, openrouteservice, GraphHopper and Valhalla; tables hold durations and distances.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytsp.exceptions import InstanceError
from pytsp.utils.notices import some_of, warn_user

_ACCEPTED = "Point and MultiPoint, alone or in a Feature, FeatureCollection or GeometryCollection"
# What a feature may call its place.
NAMES = ("name", "label", "city", "place", "title", "id")
_OR_A_TABLE = ", or a road server's table with durations or distances"
_COLLECTIONS = {"FeatureCollection": "features", "GeometryCollection": "geometries"}
# The names of tables; of several, the first one is taken.
_TABLES = ("durations", "times", "distances")
# Valhalla's table, and what its cells call the numbers.
_NESTED = "sources_to_targets"
_CELLS = {"time": "durations", "distance": "distances"}


def places_of(document: Mapping[str, Any]) -> tuple[NDArray[np.float64], list[str] | None]:
    """Return latitude and longitude of every point, shape (n, 2), and their names, if any has one; refuse all else.

    The height of a position is ignored. A feature without a place is left out, with a warning.
    """
    left_out: list[str] = []
    try:
        found = list(_positions(document, "GeoJSON", "", left_out))
    except RecursionError as error:
        raise InstanceError("GeoJSON: collections within collections go too deep") from error
    counted = f"{len(left_out)} null or empty geometr{'ies' if len(left_out) > 1 else 'y'}"
    if not found:
        raise InstanceError(f"GeoJSON: there are no points in it{f', but {counted}' if left_out else ''}")
    if left_out:
        warn_user(f"GeoJSON: {counted} left out: {some_of(left_out)}")
    names = [name for _, name in found]
    return np.array([position for position, _ in found], dtype=np.float64), names if any(names) else None


def _positions(node: Any, place: str, name: str, left_out: list[str]) -> Iterator[tuple[tuple[float, float], str]]:
    """Yield the points of a node with their names; list in `left_out` the geometries that have no place."""
    kind = node.get("type") if isinstance(node, Mapping) else None
    if isinstance(kind, str) and kind in _COLLECTIONS:
        listed = _listed(node, _COLLECTIONS[kind], place)
        for index, inner in enumerate(listed):
            yield from _positions(inner, f"{place}.{_COLLECTIONS[kind]}[{index}]", name, left_out)
        is_empty = kind == "GeometryCollection" and not listed
    elif kind == "Feature":
        # RFC 7946 has null for a feature that is not located.
        is_empty, name = node.get("geometry") is None, _name_of(node)
        if not is_empty:
            yield from _positions(node["geometry"], f"{place}.geometry", name, left_out)
    elif kind == "Point":
        position = node.get("coordinates")
        is_empty = isinstance(position, list | tuple) and not position
        if not is_empty:
            yield _position(position, f"{place}.coordinates"), name
    elif kind == "MultiPoint":
        positions = _listed(node, "coordinates", place)
        for index, inner in enumerate(positions):
            yield _position(inner, f"{place}.coordinates[{index}]"), name
        is_empty = not positions
    else:
        what = f"type {kind!r}" if isinstance(node, Mapping) else f"a {type(node).__name__}"
        more = _OR_A_TABLE if place == "GeoJSON" and kind is None else ""
        raise InstanceError(f"{place}: {what} is not accepted; accepted: {_ACCEPTED}{more}")
    if is_empty:
        left_out.append(place + (f" ({name:.40})" if name else ""))


def _name_of(feature: Mapping[str, Any]) -> str:
    said = feature.get("properties")
    known = {"id": feature.get("id")} | (dict(said) if isinstance(said, Mapping) else {})
    return next((str(known[key]) for key in NAMES if isinstance(known.get(key), str | int)), "")


def _listed(node: Mapping[str, Any], key: str, place: str) -> list[Any]:
    inner = node.get(key)
    if not isinstance(inner, list | tuple):
        raise InstanceError(f"{place}.{key} must be a list; it is a {type(inner).__name__}")
    return list(inner)


def _position(position: Any, place: str) -> tuple[float, float]:
    """Return latitude and longitude; GeoJSON has them in the other order."""
    is_position = isinstance(position, list | tuple) and len(position) in (2, 3)
    if not is_position or any(isinstance(x, bool) or not isinstance(x, int | float) for x in position):
        raise InstanceError(f"{place} must be [longitude, latitude]; it is {position!r:.60}")
    return float(position[1]), float(position[0])


def is_road_table(document: Mapping[str, Any]) -> bool:
    """Tell whether a document is a road server's answer: a table, or why there is none."""
    return "type" not in document and (any(key in document for key in (*_TABLES, _NESTED)) or _failure(document) != "")


def table_of(document: Mapping[str, Any], columns: Sequence[str] | None) -> tuple[list[Any], list[str] | None]:
    """Return the rows of a road server's table, and the names of its places if it has any.

    `columns` names the table to take. By default it is the first of several, with a warning.
    """
    tables = _tables(document)
    if not tables:
        failure = _failure(document)
        raise InstanceError(f"the road server gives no table, but {failure}" if failure else "the table is null")
    names = list(tables)
    if columns is not None and (isinstance(columns, str) or len(columns) != 1 or columns[0] not in tables):
        raise InstanceError(f"columns={columns!r} must be a list with one of the tables: {', '.join(names)}")
    chosen = names[0] if columns is None else columns[0]
    if columns is None and len(tables) > 1:
        warn_user(
            f"the road server gives {' and '.join(names)}; its {chosen} are taken, and with columns=['{names[1]}'] "
            f"(--columns {names[1]}) its {names[1]}"
        )
    _check_places(document)
    return tables[chosen], _labels(document, len(tables[chosen]))


def _tables(document: Mapping[str, Any]) -> dict[str, list[Any]]:
    """Return the tables of a document, by name."""
    nested = document.get(_NESTED)
    if isinstance(nested, Mapping):
        document = nested
    elif isinstance(nested, list):
        rows = _rows(nested)
        return {
            name: [[cell.get(key) if isinstance(cell, Mapping) else cell for cell in row] for row in rows]
            for key, name in _CELLS.items()
        }
    return {name: _rows(document[name], name) for name in _TABLES if document.get(name) is not None}


def _rows(table: Any, name: str = _NESTED) -> list[Any]:
    if not isinstance(table, list | tuple) or not all(isinstance(row, list | tuple) for row in table):
        raise InstanceError(f"{name} must be a list of rows, each a list of numbers")
    return list(table)


def _failure(document: Mapping[str, Any]) -> str:
    """Return what a server says in place of a table."""
    code = document.get("code")
    if not isinstance(code, str) or code == "Ok":
        return ""
    return f"code {code:.60}: {str(document.get('message', ''))!r:.200}"


def _check_places(document: Mapping[str, Any]) -> None:
    """Refuse a table from some places to others: a tour needs the ways between all of them."""
    sources, targets = (_places(document.get(key)) for key in ("sources", "destinations"))
    if sources is None or targets is None:
        return
    odd = next((k for k, pair in enumerate(zip(sources, targets, strict=False)) if pair[0] != pair[1]), None)
    if odd is None and len(sources) == len(targets):
        return
    found = f"there are {len(sources)} and {len(targets)}"
    if odd is not None:
        found = f"number {odd} (counted from 0) is at {sources[odd]!r:.60} and {targets[odd]!r:.60}"
    raise InstanceError(f"sources and destinations must be the same places, in the same order; {found}")


def _places(listed: Any) -> list[Any] | None:
    """Return the locations of a table's sources or destinations, if it has them."""
    if not isinstance(listed, list) or not all(isinstance(each, Mapping) and "location" in each for each in listed):
        return None
    return [each["location"] for each in listed]


def _labels(document: Mapping[str, Any], n: int) -> list[str] | None:
    """Return the names of the sources, if any has one."""
    listed = document.get("sources")
    if not isinstance(listed, list) or len(listed) != n:
        return None
    names = [str(each.get("name") or "") if isinstance(each, Mapping) else "" for each in listed]
    return names if any(names) else None
