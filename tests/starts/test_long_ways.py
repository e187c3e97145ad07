"""Tours with their clusters in a better order: what stays, that none gets longer, and directions beside all others."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from pytsp import Instance, is_tour
from pytsp.backends import open_backend
from pytsp.problem.open_paths import OpenPath
from pytsp.starts import long_ways as module
from pytsp.starts.construct import nearest_neighbour, space_filling_curve
from pytsp.starts.long_ways import reordered_parts, reordered_tour, reordering_seconds

ON_CPUS = [("c", None), ("multicore", 2)]


def villages(count: int, each: int, seed: int, d: int = 2) -> NDArray[np.float64]:
    """Villages in the order in which they were drawn, with their places in order of their first axis."""
    rng = np.random.default_rng(seed)
    places = 1e6 * rng.random((count, 1, d)) + np.sort(rng.random((count, each, d)), axis=1)
    return places.reshape(-1, d)


def path_length(points: NDArray[np.float64]) -> float:
    return float(np.linalg.norm(np.diff(points, axis=0), axis=1).sum())


def tour_length(points: NDArray[np.float64]) -> float:
    return path_length(np.vstack([points, points[:1]]))


@given(
    count=st.integers(1, 30),
    each=st.integers(1, 30),
    d=st.sampled_from([2, 3]),
    is_path=st.booleans(),
    seed=st.integers(0, 99),
)
def test_no_tour_gets_longer_and_a_path_keeps_its_ends(count: int, each: int, d: int, is_path: bool, seed: int) -> None:
    points = villages(count, each, seed, d)
    found = [reordered_parts(points, open_backend(name, threads=threads), is_path=is_path) for name, threads in ON_CPUS]
    assert np.array_equal(*found)
    assert is_tour(found[0], len(points)) and found[0].dtype == np.int32
    length = path_length if is_path else tour_length
    assert length(points[found[0]]) <= length(points) * (1 + 1e-12)
    if is_path:
        assert (found[0][0], found[0][-1]) == (0, len(points) - 1)


@pytest.mark.parametrize("is_path", [False, True])
def test_villages_in_any_order_come_into_a_good_one(is_path: bool) -> None:
    points = villages(200, 50, 1)
    found = reordered_parts(points, open_backend("c"), is_path=is_path)
    nearest = Instance.from_coordinates(points, "EUCLIDEAN")
    assert tour_length(points[found]) < 0.95 * nearest.tour_length(nearest_neighbour(nearest))
    # Each village stays as it is, one way or the other.
    steps = np.abs(np.diff(found))
    assert ((steps == 1) | (steps == len(points) - 1)).sum() >= len(points) - 202


@given(parts=st.integers(1, 8), seed=st.integers(0, 999))
def test_directions_are_the_best_of_all(parts: int, seed: int) -> None:
    first, last = np.random.default_rng(seed).random((2, parts, 2))

    def length(turned: tuple[bool, ...]) -> float:
        ends = [(b, a) if way else (a, b) for a, b, way in zip(first, last, turned, strict=True)]
        return sum(float(np.linalg.norm(ends[i][1] - ends[i + 1][0])) for i in range(parts - 1))

    # The ends of the path stay.
    allowed = [each for each in product((False, True), repeat=parts) if not (each[0] or each[-1])]
    found = tuple(module._directions(first, last).tolist())
    assert found in allowed
    assert length(found) == pytest.approx(min(map(length, allowed)))


@pytest.mark.parametrize(("count", "is_moved"), [(3, False), (30, True)])
def test_too_few_and_too_many_parts_stay(count: int, is_moved: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    points = villages(count, 40, 3)
    kernels = open_backend("c")
    assert np.array_equal(reordered_parts(points, kernels), np.arange(len(points))) != is_moved
    for most, is_so in ((count // 2, False), (count + 1, is_moved)):
        monkeypatch.setattr(module, "MOST_PARTS", most)
        assert np.array_equal(reordered_parts(points, kernels), np.arange(len(points))) != is_so


def test_uniform_cities_stay() -> None:
    instance = Instance.from_coordinates(np.random.default_rng(0).random((2_000, 2)), "EUCLIDEAN")
    curve = space_filling_curve(instance)
    assert np.array_equal(reordered_tour(instance, curve, open_backend("c")), curve)


@pytest.mark.parametrize("metric", ["EUC_2D", "MAN_2D", "HAVERSINE", "EUC_3D"])
@pytest.mark.parametrize("is_open", [False, True])
def test_instances_of_all_metrics_with_places(metric: str, is_open: bool) -> None:
    points = villages(40, 20, 4, 3 if metric == "EUC_3D" else 2)
    if metric == "HAVERSINE":
        points = points / points.max() * 60
    instance = Instance.from_coordinates(points, metric)
    instance = OpenPath.of(instance).instance if is_open else instance
    tour = instance.canonical_tour()
    found = reordered_tour(instance, tour, open_backend("c"))
    assert is_tour(found, instance.n)
    assert instance.tour_length(found) < 0.5 * instance.tour_length(tour)


def test_its_seconds_grow_with_the_parts() -> None:
    few, many = (Instance.from_coordinates(villages(count, 4_000 // count, 0), "EUC_2D") for count in (10, 100))
    seconds = [reordering_seconds(each, each.canonical_tour(), 1.0) for each in (few, many)]
    assert seconds[0] < seconds[1]
    assert reordering_seconds(few, few.canonical_tour(), 0.0) == float("inf")
