"""TSPLIB's distance functions in NumPy: the exact reference that every kernel is compared with.

The formulas are those of G. Reinelt, *TSPLIB 95* (1995), section 2, and of TSPLIB's list of questions and
answers, in double arithmetic and in TSPLIB's order of operations. ``nint(x)`` is ``(int) (x + 0.5)``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import reduce
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pytsp.exceptions import InstanceError
from pytsp.utils.suggestions import hint

__all__ = ["DEFAULT_METRIC", "EXPLICIT", "METRICS", "Metric", "metric_named"]

Floats: TypeAlias = NDArray[np.float64]

EXPLICIT = "EXPLICIT"
"""Name of the metric of an instance whose distances are given as a matrix."""

DEFAULT_METRIC = "EUCLIDEAN"
"""The metric of coordinates that come without one: the plain distance, not rounded."""

# TSPLIB's own constants: its optimal lengths hold for these digits only.
_GEO_PI = 3.141592
_GEO_RADIUS = 6378.388

EARTH_RADIUS = 6371.0088
"""The mean radius of the Earth in kilometres, that of the International Union of Geodesy and Geophysics."""


@dataclass(frozen=True)
class Metric:
    """A distance function on coordinates.

    Attributes
    ----------
    name : str
        TSPLIB's EDGE_WEIGHT_TYPE, or ``"EUCLIDEAN"`` or ``"HAVERSINE"``.
    widths : tuple of int
        The numbers of coordinates that a city may have.
    length : callable
        Takes two broadcastable float64 arrays of shape (..., d) and returns float64 lengths of shape (...), not yet
        rounded.
    rounding : callable or None
        What makes whole numbers of such lengths; None where they are not rounded.
    stretch : float
        No length exceeds ``stretch`` times the sum of the coordinates' absolute differences, plus 1.
    limits : tuple of float, or None
        The largest absolute value of each coordinate, where a larger one has no meaning.
    """

    name: str
    widths: tuple[int, ...]
    length: Callable[[Floats, Floats], Floats]
    rounding: Callable[[Floats], Floats] | None
    stretch: float = 1.0
    limits: tuple[float, ...] | None = None

    @property
    def is_exact(self) -> bool:
        """Whether every length is an integer."""
        return self.rounding is not None

    def between(self, a: Floats, b: Floats) -> NDArray[Any]:
        """Distances between the points `a` and `b`, shape (..., d) each; int64, or float64 if not exact."""
        lengths = self.length(a, b)
        return lengths if self.rounding is None else self.rounding(lengths).astype(np.int64)


def _nint(x: Floats) -> Floats:
    return np.floor(x + 0.5)


def _differences(a: Floats, b: Floats) -> list[Floats]:
    """|a - b|, one array for each coordinate."""
    return [np.abs(a[..., k] - b[..., k]) for k in range(a.shape[-1])]


def _sum_of_squares(a: Floats, b: Floats) -> Floats:
    return reduce(np.add, map(np.square, _differences(a, b)))


def _euclidean(a: Floats, b: Floats) -> Floats:
    return np.sqrt(_sum_of_squares(a, b))


def _manhattan(a: Floats, b: Floats) -> Floats:
    return reduce(np.add, _differences(a, b))


def _maximum(a: Floats, b: Floats) -> Floats:
    return reduce(np.maximum, _differences(a, b))


def _att(a: Floats, b: Floats) -> Floats:
    return np.sqrt(_sum_of_squares(a, b) / 10.0)


def _att_nint(root: Floats) -> Floats:
    rounded = _nint(root)
    return np.where(rounded < root, rounded + 1.0, rounded)


def _radians(x: Floats) -> Floats:
    """DDD.MM (degrees and minutes) in radians; the degrees are cut off, not rounded."""
    degrees = np.trunc(x)
    return _GEO_PI * (degrees + 5.0 * (x - degrees) / 3.0) / 180.0


def _geo(a: Floats, b: Floats) -> Floats:
    latitude_a, longitude_a = _radians(a[..., 0]), _radians(a[..., 1])
    latitude_b, longitude_b = _radians(b[..., 0]), _radians(b[..., 1])
    q1 = np.cos(longitude_a - longitude_b)
    q2 = np.cos(latitude_a - latitude_b)
    q3 = np.cos(latitude_a + latitude_b)
    # Rounding may carry the cosine of a vanishing angle past one, where acos is undefined.
    cosine = np.clip(0.5 * ((1.0 + q1) * q2 - (1.0 - q1) * q3), -1.0, 1.0)
    return _GEO_RADIUS * np.arccos(cosine)


def _cut_off_plus_one(x: Floats) -> Floats:
    return np.trunc(x + 1.0)


def _haversine(a: Floats, b: Floats) -> Floats:
    """Kilometres along a great circle; accurate for places close together, where an arc cosine is not."""
    latitude_a, latitude_b = np.radians(a[..., 0]), np.radians(b[..., 0])
    half_latitude = np.sin(0.5 * (latitude_a - latitude_b))
    half_longitude = np.sin(0.5 * np.radians(a[..., 1] - b[..., 1]))
    square = half_latitude * half_latitude + np.cos(latitude_a) * np.cos(latitude_b) * half_longitude * half_longitude
    # Rounding may carry that of antipodes past one.
    kilometres: Floats = 2.0 * EARTH_RADIUS * np.arcsin(np.sqrt(np.minimum(square, 1.0)))
    return kilometres


def _xray(phi: float, chi: float, two_theta: float) -> Callable[[Floats, Floats], Floats]:
    """Time in which a diffractometer turns its slowest axis, given the speeds of its motors."""

    def length(a: Floats, b: Floats) -> Floats:
        x, y, z = _differences(a, b)
        turn = np.minimum(x, np.abs(x - 360.0))
        return 100.0 * reduce(np.maximum, (turn / phi, y / chi, z / two_theta))

    return length


METRICS: Mapping[str, Metric] = MappingProxyType(
    {
        metric.name: metric
        for metric in (
            Metric("ATT", (2,), _att, _att_nint),
            Metric("CEIL_2D", (2,), _euclidean, np.ceil),
            Metric("EUC_2D", (2,), _euclidean, _nint),
            Metric("EUC_3D", (3,), _euclidean, _nint),
            Metric("EUCLIDEAN", (2, 3), _euclidean, None),
            Metric("GEO", (2,), _geo, _cut_off_plus_one, stretch=200.0),
            Metric("HAVERSINE", (2,), _haversine, None, stretch=120.0, limits=(90.0, 360.0)),
            Metric("MAN_2D", (2,), _manhattan, _nint),
            Metric("MAN_3D", (3,), _manhattan, _nint),
            Metric("MAX_2D", (2,), _maximum, _nint),
            Metric("MAX_3D", (3,), _maximum, _nint),
            Metric("XRAY1", (3,), _xray(1.0, 1.0, 1.0), _nint, stretch=100.0),
            Metric("XRAY2", (3,), _xray(1.25, 1.5, 1.15), _nint, stretch=100.0),
        )
    }
)
"""Every metric on coordinates, by name: TSPLIB's, and two whose lengths are not rounded: ``EUCLIDEAN``, and
``HAVERSINE``, the kilometres between places that are given by latitude and longitude in decimal degrees.
"""


def metric_named(name: str) -> Metric:
    """The metric called `name`, in upper or lower case; `InstanceError` where there is none names those that there are.

    Examples
    --------
    >>> metric_named("euc_2d").widths
    (2,)
    """
    metric = METRICS.get(name.upper()) if isinstance(name, str) else None
    if metric is None:
        raise InstanceError(f"metric {name!r} is not known; known: {', '.join(METRICS)}{hint(str(name), METRICS)}")
    return metric
