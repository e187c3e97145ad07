"""Where cities are: lists by chords are those by arcs, curves go through near places, a further city is anywhere."""

from __future__ import annotations

import numpy as np
import pytest

from pytsp import Instance
from pytsp.neighbours.lists import nearest_among, neighbour_lists
from pytsp.problem.location import curve_points, further_city, is_located, located
from pytsp.problem.metrics import METRICS
from pytsp.problem.open_paths import OpenPath
from pytsp.starts.construct import space_filling_curve


def places(n: int, seed: int, middle: tuple[float, float] = (0, 0), width: float = 180) -> Instance:
    draws = np.random.default_rng(seed)
    latitude = np.clip(middle[0] + draws.uniform(-width / 2, width / 2, n), -90, 90)
    longitude = (middle[1] + draws.uniform(-width, width, n) + 180) % 360 - 180
    return Instance.from_coordinates(np.column_stack([latitude, longitude]), metric="HAVERSINE")


@pytest.mark.parametrize("middle", [(0, 0), (0, 179.9), (89, 10), (-50, -180)])
def test_lists_by_chords_have_the_nearest_places(middle: tuple[float, float]) -> None:
    instance = places(400, 5, middle, 8)
    lists = neighbour_lists(instance, 7)
    distances = instance.distance_matrix()
    np.fill_diagonal(distances, np.inf)
    near = np.take_along_axis(distances, lists.astype(np.int64), axis=1)
    assert np.allclose(near, np.sort(distances, axis=1)[:, :7], rtol=1e-9, atol=1e-9)
    assert (np.diff(near, axis=1) >= -1e-9).all()


@pytest.mark.parametrize("middle", [(0, 0), (0, 179.9), (89, 10), (-50, -180)])
def test_a_curve_over_the_globe_goes_through_near_places(middle: tuple[float, float]) -> None:
    # 25 % over nearest neighbour would be a curve; the order of input is 20 times as long.
    instance = places(3000, 2, middle, 10)
    curve = instance.tour_length(space_filling_curve(instance))
    assert curve < 0.06 * instance.tour_length(np.arange(3000))


def test_a_map_of_the_sphere_keeps_areas() -> None:
    # Uniform on the sphere is uniform on each of two disks of radius sqrt(2): half of a disk's places lie within 1.
    draws = np.random.default_rng(1).normal(size=(20_000, 3))
    draws /= np.linalg.norm(draws, axis=1)[:, None]
    latitude, longitude = np.degrees(np.arcsin(draws[:, 2])), np.degrees(np.arctan2(draws[:, 1], draws[:, 0]))
    points = curve_points(Instance.from_coordinates(np.column_stack([latitude, longitude]), metric="HAVERSINE"))
    assert points is not None and points.shape == (20_000, 2)
    is_front = points[:, 0] <= np.sqrt(2) + 1e-9
    assert is_front.mean() == pytest.approx(0.5, abs=0.02)
    for disk in (points[is_front], points[~is_front] - [3, 0]):
        radius = np.linalg.norm(disk, axis=1)
        assert radius.max() <= np.sqrt(2) + 1e-9
        assert np.mean(radius < 1) == pytest.approx(0.5, abs=0.02)


@pytest.mark.parametrize("metric", [name for name, metric in METRICS.items() if metric.norm is not None])
def test_norms_are_those_of_the_metrics(metric: str) -> None:
    points = np.random.default_rng(3).uniform(0, 1e6, (50, METRICS[metric].widths[0]))
    instance = Instance.from_coordinates(points, metric=metric)
    found = located(instance)
    assert found is not None
    norms = np.linalg.norm(found.points[:, None] - found.points, ord=found.norm, axis=2)
    order = np.argsort(norms.ravel(), kind="stable")
    assert (np.diff(instance.distance_matrix().ravel()[order]) >= 0).all()


@pytest.mark.parametrize("k", [1, 5, 40])
@pytest.mark.parametrize("ends", [(None, None), (3, None), (3, 9)])
@pytest.mark.parametrize("metric", ["EUC_2D", "EUCLIDEAN", "HAVERSINE", "MAN_2D"])
def test_a_further_city_is_near_where_a_path_may_end(metric: str, ends: tuple[int | None, int | None], k: int) -> None:
    points = np.random.default_rng(4).uniform(-80, 80, (40, 2))
    problem = OpenPath.of(Instance.from_coordinates(points, metric=metric), *ends)
    instance = problem.instance
    assert instance.n == 41 and further_city(instance) == 40 and further_city(problem.original) is None
    distances = instance.distance_matrix().astype(float)
    np.fill_diagonal(distances, np.inf)
    for cities in (None, np.array([3, 40, 7, 9, 20, 1])):
        chosen = np.arange(41) if cities is None else cities
        some = distances[np.ix_(chosen, chosen)]
        lists = nearest_among(instance, cities, min(k, len(chosen) - 1))
        near = np.take_along_axis(some, lists.astype(np.int64), axis=1)
        assert np.allclose(near, np.sort(some, axis=1)[:, : lists.shape[1]])
        assert (lists != np.arange(len(chosen))[:, None]).all()


@pytest.mark.parametrize("metric", list(METRICS))
def test_what_is_located_is_known_without_the_points(metric: str) -> None:
    points = np.random.default_rng(3).integers(0, 80, (50, METRICS[metric].widths[0]))
    instance = Instance.from_coordinates(points, metric)
    for each in (instance, OpenPath.of(instance, None, None).instance):
        assert is_located(each) is (located(each) is not None)


def test_a_matrix_is_located_nowhere() -> None:
    instance = Instance.from_matrix(np.ones((5, 5)))
    assert not is_located(instance) and located(instance) is None
