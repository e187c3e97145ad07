"""Segments of GeoJSON (RFC 7946): the features of a collection that are lines, points or polygons without holes."""

from __future__ import annotations

import copy
import json
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytsp.exceptions import InstanceError
from pytsp.io.segments.drawing import Drawing, Order, group_named, turned

_ACCEPTED = "a FeatureCollection of features with a LineString, a Point or a Polygon without holes"


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
    group = group_named(list(dict.fromkeys(name for each in known for name in each)))
    groups = None if group is None else [str(each.get(group)) for each in known]

    def write(order: Order) -> str:
        made = []
        ways = zip(order.order.tolist(), order.flips.tolist(), order.entries.tolist(), strict=True)
        for number, is_flipped, entry in ways:
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
    """Return the positions of a feature."""
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
