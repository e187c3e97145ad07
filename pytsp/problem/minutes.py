"""Coordinates of metric GEO that are no degrees and minutes: most likely decimal degrees."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pytsp.problem.validation import coordinate_of
from pytsp.utils.notices import some_of, warn_user

# GEO's coordinates are DDD.MM, so 0.60 is a whole degree. Decimal fractions are not exact.
_HOUR = 0.6 - 1e-9


def warn_of_minutes(points: NDArray[np.generic], metric: str, labels: Sequence[object] | None = None) -> None:
    """Warn of minutes of 60 and more in GEO's coordinates, shape (n, 2), or (b, n, 2) of many instances."""
    if metric != "GEO" or points.dtype.kind != "f":
        return
    is_odd = np.abs(points - np.trunc(points)) >= _HOUR
    if not is_odd.any():
        return
    places = np.argwhere(is_odd).tolist()
    named = [
        f"{coordinate_of(city, axis, labels)}{f' of instance {number[0]}' if number else ''} is {value}"
        for (*number, city, axis), value in zip(places, points[is_odd], strict=True)
    ]
    warn_user(
        f"metric GEO takes degrees and minutes, DDD.MM, but the minutes are 60 or more in {len(places)} of "
        f"{points.size} coordinates: {some_of(named)} (cities count from 0); decimal degrees are for "
        "metric HAVERSINE or GEOM"
    )
