"""Places from GeoJSON (RFC 7946): points, in their order in the file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytsp.exceptions import InstanceError
from pytsp.utils.notices import some_of, warn_user

_ACCEPTED = "Point and MultiPoint, alone or in a Feature, FeatureCollection or GeometryCollection"
# What a feature may call its place.
NAMES = ("name", "label", "city", "place", "title", "id")
_OR_A_TABLE = ", or a road server's table with durations or distances"
_NESTED = {"FeatureCollection": "features", "GeometryCollection": "geometries"}


def points(document: Mapping[str, Any]) -> tuple[NDArray[np.float64], list[str] | None]:
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
    if isinstance(kind, str) and kind in _NESTED:
        listed = _listed(node, _NESTED[kind], place)
        for index, inner in enumerate(listed):
            yield from _positions(inner, f"{place}.{_NESTED[kind]}[{index}]", name, left_out)
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
