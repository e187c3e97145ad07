"""TSPLIB's distance functions against plain transcriptions of TSPLIB's own C."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from strategies import EXACT_METRICS, coordinates

from pytsp.exceptions import InstanceError
from pytsp.problem.metrics import METRICS, metric_named

Point = Sequence[float]


def nint(x: float) -> int:
    return int(x + 0.5)


def euclidean(a: Point, b: Point) -> float:
    return math.sqrt(sum((p - q) * (p - q) for p, q in zip(a, b, strict=True)))


def att(a: Point, b: Point) -> int:
    xd, yd = a[0] - b[0], a[1] - b[1]
    rij = math.sqrt((xd * xd + yd * yd) / 10.0)
    tij = nint(rij)
    return tij + 1 if tij < rij else tij


def geo(a: Point, b: Point) -> int:
    def radians(x: float) -> float:
        degrees = int(x)
        return 3.141592 * (degrees + 5.0 * (x - degrees) / 3.0) / 180.0

    q1 = math.cos(radians(a[1]) - radians(b[1]))
    q2 = math.cos(radians(a[0]) - radians(b[0]))
    q3 = math.cos(radians(a[0]) + radians(b[0]))
    cosine = 0.5 * ((1.0 + q1) * q2 - (1.0 - q1) * q3)
    return int(6378.388 * math.acos(max(-1.0, min(1.0, cosine))) + 1.0)


def geom(a: Point, b: Point) -> int:
    """Concorde's `geom_edgelen`."""
    lati, latj = math.pi * a[0] / 180.0, math.pi * b[0] / 180.0
    longi, longj = math.pi * a[1] / 180.0, math.pi * b[1] / 180.0
    q1 = math.cos(latj) * math.sin(longi - longj)
    q3, q4 = math.sin((longi - longj) / 2.0), math.cos((longi - longj) / 2.0)
    q2 = math.sin(lati + latj) * q3 * q3 - math.sin(lati - latj) * q4 * q4
    q5 = math.cos(lati - latj) * q4 * q4 - math.cos(lati + latj) * q3 * q3
    return int(6378388.0 * math.atan2(math.sqrt(q1 * q1 + q2 * q2), q5) + 1.0)


def xray(a: Point, b: Point, speeds: Point) -> int:
    p, c, t = (abs(u - v) for u, v in zip(a, b, strict=True))
    p = min(p, abs(p - 360))
    return nint(100 * max(p / speeds[0], c / speeds[1], t / speeds[2]))


def haversine(p: Point, q: Point) -> float:
    """Kilometres along a great circle, by the angle between the two places' directions."""

    def direction(place: Point) -> tuple[float, float, float]:
        latitude, longitude = (math.radians(x) for x in place)
        return (
            math.cos(latitude) * math.cos(longitude),
            math.cos(latitude) * math.sin(longitude),
            math.sin(latitude),
        )

    a, b = direction(p), direction(q)
    return 6371.0088 * 2 * math.asin(min(1.0, math.dist(a, b) / 2))


ORACLE: dict[str, Callable[[Point, Point], float]] = {
    "ATT": att,
    "CEIL_2D": lambda a, b: math.ceil(euclidean(a, b)),
    "EUC_2D": lambda a, b: nint(euclidean(a, b)),
    "EUC_3D": lambda a, b: nint(euclidean(a, b)),
    "EUCLIDEAN": euclidean,
    "GEO": geo,
    "GEOM": geom,
    "HAVERSINE": haversine,
    "MAN_2D": lambda a, b: nint(sum(abs(p - q) for p, q in zip(a, b, strict=True))),
    "MAN_3D": lambda a, b: nint(sum(abs(p - q) for p, q in zip(a, b, strict=True))),
    "MAX_2D": lambda a, b: max(nint(abs(p - q)) for p, q in zip(a, b, strict=True)),
    "MAX_3D": lambda a, b: max(nint(abs(p - q)) for p, q in zip(a, b, strict=True)),
    "XRAY1": lambda a, b: xray(a, b, (1.0, 1.0, 1.0)),
    "XRAY2": lambda a, b: xray(a, b, (1.25, 1.5, 1.15)),
}


def test_every_metric_has_an_oracle() -> None:
    assert set(ORACLE) == set(METRICS)


@pytest.mark.parametrize("name", METRICS)
@given(data=st.data())
def test_a_distance_is_what_tsplibs_own_code_gives(name: str, data: st.DataObject) -> None:
    a = data.draw(coordinates(name))
    b = data.draw(coordinates(name, len(a)))
    found = METRICS[name].between(a, b)
    expected = [ORACLE[name](p, q) for p, q in zip(a.tolist(), b.tolist(), strict=True)]
    # A sine's last bit differs from library to library; roots and what is rounded do not.
    assert found.tolist() == (pytest.approx(expected, rel=1e-7, abs=1e-7) if name == "HAVERSINE" else expected)
    assert found.dtype == (np.int64 if METRICS[name].is_exact else np.float64)


@pytest.mark.parametrize("name", EXACT_METRICS)
@given(data=st.data())
def test_a_distance_is_symmetric_and_within_its_stretch(name: str, data: st.DataObject) -> None:
    a = data.draw(coordinates(name))
    metric = METRICS[name]
    there = metric.between(a[:, None], a[None, :])
    assert np.array_equal(there, there.T)
    assert (there >= 0).all()
    assert (there <= metric.stretch * np.abs(a[:, None] - a[None, :]).sum(axis=-1) + 1.0).all()


@given(st.integers(0, 2**40))
@example(0)
@example(1419)
def test_halves_are_rounded_up(k: int) -> None:
    origin, half = np.zeros((1, 2)), np.array([[k + 0.5, 0.0]])
    assert METRICS["EUC_2D"].between(origin, half).tolist() == [k + 1]
    assert METRICS["CEIL_2D"].between(origin, half).tolist() == [k + 1]
    assert METRICS["MAN_2D"].between(origin, half).tolist() == [k + 1]


def test_the_diffractometer_turns_the_short_way() -> None:
    a, b = np.array([[5.0, 1.0, 2.0]]), np.array([[355.0, 2.0, 4.5]])
    assert METRICS["XRAY1"].between(a, b).tolist() == [1000]
    assert METRICS["XRAY2"].between(a, b).tolist() == [800]


def test_antipodes_and_neighbours_on_the_globe() -> None:
    geo_metric = METRICS["GEO"]
    pole, antipole = np.array([[90.0, 0.0]]), np.array([[-90.0, 0.0]])
    assert geo_metric.between(pole, antipole).tolist() == [20039]
    assert geo_metric.between(pole, pole).tolist() == [1]


def test_antipodes_and_neighbours_of_geom() -> None:
    metric = METRICS["GEOM"]
    pole, antipole, near = np.array([[90.0, 0.0]]), np.array([[-90.0, 0.0]]), np.array([[90.0 - 1e-5, 77.0]])
    assert metric.between(pole, antipole).tolist() == [math.ceil(math.pi * 6378388)]
    assert metric.between(pole, near).tolist() == [2]
    # A place is one metre from another one at the same place, as in Concorde.
    assert metric.between(near, near).tolist() == [1]
    random = np.random.default_rng(0)
    a, b = random.uniform([-90, -180], [90, 180], (2, 20_000, 2))
    assert np.array_equal(metric.length(a, b), metric.length(b, a))


@pytest.mark.parametrize(
    ("a", "b", "kilometres"),
    [
        ((90, 0), (-90, 123), math.pi * 6371.0088),
        ((0, 179.5), (0, -179.5), math.pi * 6371.0088 / 180),
        ((0, -90), (0, 270), 0),
        ((10, 20), (10, 20 + 1e-9), math.cos(math.radians(10)) * 6371.0088 * math.radians(1e-9)),
    ],
)
def test_great_circles(a: Point, b: Point, kilometres: float) -> None:
    found = METRICS["HAVERSINE"].between(np.array([a], dtype=float), np.array([b], dtype=float)).item()
    assert found == pytest.approx(kilometres, rel=1e-6, abs=1e-11)


@given(data=st.data())
def test_a_haversine_distance_is_within_its_stretch(data: st.DataObject) -> None:
    a = data.draw(coordinates("GEO"))
    metric = METRICS["HAVERSINE"]
    there = metric.between(a[:, None], a[None, :])
    assert np.allclose(there, there.T, rtol=1e-12)
    assert (there <= metric.stretch * np.abs(a[:, None] - a[None, :]).sum(axis=-1) + 1e-9).all()


@pytest.mark.parametrize("name", ["euc_2d", "EUC_2D", "Euc_2D"])
def test_a_metrics_name_may_be_in_either_case(name: str) -> None:
    assert metric_named(name) is METRICS["EUC_2D"]


@pytest.mark.parametrize("name", ["XRAY3", "", "EXPLICIT", None, 7])
def test_an_unknown_metric_is_refused_with_the_known_ones(name: object) -> None:
    with pytest.raises(InstanceError, match=r"is not known; known: ATT, CEIL_2D"):
        metric_named(name)


@pytest.mark.parametrize("name", ["ARCS", "ARCS x", "ARCS 1e9", "ARCS -99999999", "ARCS 5 5", "X AND A FURTHER CITY"])
def test_what_only_looks_like_a_metric_on_the_way_to_a_kernel_is_refused(name: str) -> None:
    with pytest.raises(InstanceError, match="is not known; known: ATT"):
        metric_named(name)
