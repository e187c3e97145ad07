"""TSPLIB's distance functions in NumPy: the exact reference that every kernel is compared with.

The formulas are those of G. Reinelt, *TSPLIB 95* (1995), section 2, and of TSPLIB's list of questions and
answers, in double arithmetic and in TSPLIB's order of operations. ``nint(x)`` is ``(int) (x + 0.5)``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache, reduce
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pytsp.exceptions import InstanceError
from pytsp.utils.text import hint

Floats: TypeAlias = NDArray[np.float64]

EXPLICIT = "EXPLICIT"
"""Name of the metric of an instance whose distances are given as a matrix."""

DEFAULT_METRIC = "EUCLIDEAN"
"""The metric of coordinates that come without one: the plain distance, not rounded."""

# TSPLIB's own constants: its optimal lengths hold for these digits only.
_GEO_PI = 3.141592
GEO_RADIUS = 6378.388
"""The radius of GEO's Earth in kilometres."""

GEOM_RADIUS = 6_378_388.0
"""The radius of GEOM's Earth in metres."""

EARTH_RADIUS = 6371.0088
"""The mean radius of the Earth in kilometres, that of the International Union of Geodesy and Geophysics."""

# What the arc sine of h has beyond h + h t, a polynomial of t = h^2 up to 1/4, from the lowest power up.
_ARC_SINE = (
    0.16666666666666669,
    0.07499999999998433,
    0.04464285714635543,
    0.030381944138531247,
    0.02237217294214989,
    0.017352392720869945,
    0.013971212973553311,
    0.011479177415181617,
    0.0103228143502052,
    0.005457506718563782,
    0.01740087944288715,
    -0.014851887071528912,
    0.028757851367602328,
)
# What parts the name of a metric from what there is besides.
_AND = " AND "
# The formulas of `futhark/core/space.fut`.
_ROOT, _ROOT_UP, _ATT, _SUM, _MOST, _ARC, _ARC_UP = range(7)


@dataclass(frozen=True)
class Metric:
    """A distance function on coordinates, of which a city has a number in `widths`.

    `length` takes two broadcastable float64 arrays of shape (..., d) and returns lengths of shape (...), of which
    `rounding` makes whole numbers. No length exceeds `stretch` times the sum of the coordinates' absolute differences,
    plus 1. `limits` are the largest absolute values of coordinates. Lengths grow with a `norm`, 1, 2 or infinity, or
    None. Kernels compute them by a `formula` (`futhark/core/space.fut`), or take a matrix if it is None.

    A `radius` is that of the sphere on which the places lie, in the unit of lengths. With `has_further`, a coordinate
    behind those of the place tells how far the further city is from each, -1 for itself (`with_further`). Distances
    are `longer` but those of pairs, whose number is the last coordinate (`with_pairs`).
    """

    name: str
    widths: tuple[int, ...]
    length: Callable[[Floats, Floats], Floats]
    rounding: Callable[[Floats], Floats] | None
    stretch: float = 1.0
    limits: tuple[float, ...] | None = None
    norm: float | None = None
    formula: int | None = None
    radius: float = 0.0
    has_further: bool = False
    longer: float | None = None

    @property
    def alone(self) -> str:
        """The name of the metric of the places, without the further city and pairs."""
        return self.name.split(_AND)[0]

    @property
    def beside(self) -> int:
        """Number of coordinates behind those of the place."""
        return self.has_further + (self.longer is not None)

    @property
    def is_exact(self) -> bool:
        """True if every length is an integer."""
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
    return GEO_RADIUS * np.arccos(cosine)


def _geom(a: Floats, b: Floats) -> Floats:
    """Metres along a great circle by the formula of Concorde's `geom_edgelen`, with the two places in one order.

    The formula names one place first, and may differ in the last bit when the places change roles.
    """
    is_turned = (a[..., 0] > b[..., 0]) | ((a[..., 0] == b[..., 0]) & (a[..., 1] > b[..., 1]))
    first, second = np.where(is_turned[..., None], b, a), np.where(is_turned[..., None], a, b)
    latitude_a, longitude_a = np.pi * first[..., 0] / 180.0, np.pi * first[..., 1] / 180.0
    latitude_b, longitude_b = np.pi * second[..., 0] / 180.0, np.pi * second[..., 1] / 180.0
    half = (longitude_a - longitude_b) / 2.0
    q1 = np.cos(latitude_b) * np.sin(longitude_a - longitude_b)
    q3, q4 = np.sin(half), np.cos(half)
    q2 = np.sin(latitude_a + latitude_b) * q3 * q3 - np.sin(latitude_a - latitude_b) * q4 * q4
    q5 = np.cos(latitude_a - latitude_b) * q4 * q4 - np.cos(latitude_a + latitude_b) * q3 * q3
    metres: Floats = GEOM_RADIUS * np.arctan2(np.sqrt(q1 * q1 + q2 * q2), q5)
    return metres


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


def _arc(a: Floats, b: Floats) -> Floats:
    """The arc between two points of a sphere of radius 1: `arc_over` of `futhark/core/space.fut`, bit for bit."""
    half_chord = np.minimum(0.5 * _euclidean(a, b), 1.0)
    is_far = half_chord > 0.5
    square = np.where(is_far, 0.5 * (1.0 - half_chord), half_chord * half_chord)
    root = np.where(is_far, np.sqrt(square), half_chord)
    # By pairs of powers, as there.
    terms: list[Any] = [*_ARC_SINE]
    power = square
    while len(terms) > 1:
        pairs = zip(terms[::2], terms[1::2], strict=False)
        terms = [low + high * power for low, high in pairs] + terms[len(terms) & ~1 :]
        power = power * power
    series = terms[0]
    half = root + root * square * series
    arc: Floats = np.where(is_far, np.pi - 4.0 * half, 2.0 * half)
    return arc


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
            Metric("ATT", (2,), lambda a, b: np.sqrt(_sum_of_squares(a, b) / 10.0), _att_nint, norm=2, formula=_ATT),
            Metric("CEIL_2D", (2,), _euclidean, np.ceil, norm=2, formula=_ROOT_UP),
            Metric("EUC_2D", (2,), _euclidean, _nint, norm=2, formula=_ROOT),
            Metric("EUC_3D", (3,), _euclidean, _nint, norm=2, formula=_ROOT),
            Metric("EUCLIDEAN", (2, 3), _euclidean, None, norm=2),
            Metric("GEO", (2,), _geo, _cut_off_plus_one, stretch=200.0, limits=(90.0, 180.0), radius=GEO_RADIUS),
            Metric("GEOM", (2,), _geom, _cut_off_plus_one, stretch=120_000.0, limits=(90.0, 360.0), radius=GEOM_RADIUS),
            Metric("HAVERSINE", (2,), _haversine, None, stretch=120.0, limits=(90.0, 360.0), radius=EARTH_RADIUS),
            Metric("MAN_2D", (2,), _manhattan, _nint, norm=1, formula=_SUM),
            Metric("MAN_3D", (3,), _manhattan, _nint, norm=1, formula=_SUM),
            Metric("MAX_2D", (2,), _maximum, _nint, norm=np.inf, formula=_MOST),
            Metric("MAX_3D", (3,), _maximum, _nint, norm=np.inf, formula=_MOST),
            Metric("XRAY1", (3,), _xray(1.0, 1.0, 1.0), _nint, stretch=100.0),
            Metric("XRAY2", (3,), _xray(1.25, 1.5, 1.15), _nint, stretch=100.0),
        )
    }
)
"""Every metric on coordinates, by name: those of TSPLIB, and three others.

``GEOM`` is Concorde's: whole metres between latitudes and longitudes in decimal degrees. ``EUCLIDEAN`` and
``HAVERSINE`` do not round; ``HAVERSINE`` is in kilometres, between latitudes and longitudes in decimal degrees.
"""


def metric_named(name: str) -> Metric:
    """Return the metric called `name`, in upper or lower case; `InstanceError` names the known ones."""
    metric = METRICS.get(name.upper()) if isinstance(name, str) else None
    if metric is None and isinstance(name, str):
        metric = _derived(name)
    if metric is None:
        raise InstanceError(f"metric {name!r} is not known; known: {', '.join(METRICS)}{hint(str(name), METRICS)}")
    return metric


# Metrics that instances get on the way to a kernel: a name says all of them, so that any process knows it.
_ARCS, _FURTHER, _PAIRS = "ARCS", f"{_AND}A FURTHER CITY", f"{_AND}PAIRS "


ARCS_UP = {"GEO": f"{_ARCS} UP", "GEOM": f"{_ARCS} UP IN METRES"}
"""The metrics of arcs that count a unit begun as one, by the metric with the same lengths."""

_UP_RADII = {up: METRICS[name].radius for name, up in ARCS_UP.items()}


def arcs(exponent: int) -> str:
    """Return the name of the metric of arcs between points of a sphere of radius 1, in 2**exponent kilometres."""
    return f"{_ARCS} {exponent}"


def with_further(name: str) -> str:
    """Return the name of the metric of the same cities and a further one, whose distances are a coordinate."""
    return name + _FURTHER


def with_pairs(name: str, longer: float) -> str:
    """Return the name of the metric of the same cities where pairs are at distance 0 and all others are farther apart
    by `longer`, a whole number where the metric rounds: cities with the same last coordinate are a pair."""
    return f"{name}{_PAIRS}{longer!r}"


@lru_cache(maxsize=256)
def _derived(name: str) -> Metric | None:
    base, paired, longer = name.rpartition(_PAIRS)
    if paired:
        try:
            return _and_pairs(metric_named(base), float(longer))
        except ValueError:
            return None
    if name.endswith(_FURTHER):
        return _and_further(metric_named(name.removesuffix(_FURTHER)))
    kind, _, unit = name.partition(" ")
    if kind != _ARCS:
        return None
    if name in _UP_RADII:
        return _of_arcs(name, _UP_RADII[name], _cut_off_plus_one, _ARC_UP)
    try:
        radius = math.ldexp(EARTH_RADIUS, -int(unit))
    except (ValueError, OverflowError):
        return None
    return _of_arcs(name, radius, _nint, _ARC)


def _of_arcs(name: str, radius: float, rounding: Callable[[Floats], Floats], formula: int) -> Metric:
    return Metric(name, (3,), lambda a, b: radius * _arc(a, b), rounding, norm=2, formula=formula, radius=radius)


def _rounded(metric: Metric, a: Floats, b: Floats) -> Floats:
    """Lengths between places that have a further coordinate, rounded as the metric does."""
    near = metric.length(a[..., :-1], b[..., :-1])
    return near if metric.rounding is None else metric.rounding(near)


def _beside(metric: Metric, name: str, length: Callable[[Floats, Floats], Floats], **more: Any) -> Metric:
    """Return a metric with a further coordinate, whose lengths are whole already where the metric rounds."""
    limits = None if metric.limits is None else (*metric.limits, np.inf)
    rounding = None if metric.rounding is None else np.positive
    widths = tuple(width + 1 for width in metric.widths)
    return replace(metric, name=name, widths=widths, length=length, rounding=rounding, limits=limits, **more)


def _and_further(metric: Metric) -> Metric:
    def length(a: Floats, b: Floats) -> Floats:
        farther = np.maximum(a[..., -1], b[..., -1])
        return np.where(np.minimum(a[..., -1], b[..., -1]) < 0, farther, _rounded(metric, a, b))

    return _beside(metric, with_further(metric.name), length, has_further=True)


def _and_pairs(metric: Metric, longer: float) -> Metric:
    def length(a: Floats, b: Floats) -> Floats:
        return np.where(a[..., -1] == b[..., -1], 0.0, _rounded(metric, a, b) + longer)

    return _beside(metric, with_pairs(metric.name, int(longer) if metric.is_exact else longer), length, longer=longer)


def unit_vectors(metric: str, places: Floats) -> Floats:
    """Return points of a sphere of radius 1, shape (n, 3), of latitudes and longitudes as the metric has them."""
    latitude, longitude = (_radians if metric == "GEO" else np.radians)(places).T
    x, y = np.cos(latitude) * np.cos(longitude), np.cos(latitude) * np.sin(longitude)
    return np.column_stack([x, y, np.sin(latitude)])


def arc_over(chord: float) -> float:
    """Return the arc of a sphere of radius 1 over a chord: of pi over those that are too long."""
    return 2.0 * math.asin(min(1.0, 0.5 * chord))
