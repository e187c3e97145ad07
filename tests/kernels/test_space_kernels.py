"""Distances that kernels compute as they go, of any metric on coordinates and to a further city: the instance's."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kernel_calls import load
from numpy.typing import NDArray
from paths import tsplib_file

import pytsp
from pytsp import Instance
from pytsp.backends import Backend
from pytsp.io.convert import degrees_and_minutes
from pytsp.problem import kernel_input
from pytsp.problem.kernel_input import form_of
from pytsp.problem.location import SPHERES
from pytsp.problem.metrics import METRICS
from pytsp.problem.open_paths import OpenPath
from pytsp.solvers.common import task

IN_SPACE = ("ATT", "EUC_3D", "GEO", "GEOM", "HAVERSINE", "MAN_2D", "MAN_3D", "MAX_2D", "MAX_3D")


def cities(metric: str, n: int, seed: int) -> Instance:
    """Cities that the metric can tell apart, some of them in one place."""
    draws = np.random.default_rng(seed)
    width = METRICS[metric].widths[-1]
    most = np.array([89.5, 179.5]) if metric in SPHERES else np.full(width, 1_000.0)
    points = draws.uniform(-most, most, (n, width))
    if metric == "GEO":
        points = degrees_and_minutes(points)
    points[draws.integers(n, size=n // 10)] = points[0]
    return Instance.from_coordinates(points, metric=metric)


def reported(kernels: Backend, form: kernel_input.Form, tour: NDArray[np.int32]) -> int:
    """The length of a tour by the kernel's distances."""
    return int(kernels.call(f"{form.kind}_large_length", load(kernels, form), kernels.call("large_given", tour)))


@pytest.mark.parametrize("ends", [None, (None, None), (2, None), (2, 5)])
@pytest.mark.parametrize("metric", [*IN_SPACE, "EUCLIDEAN", "EUC_2D", "CEIL_2D"])
def test_kernels_compute_the_distances_of_the_instance(
    on_the_cpu: Backend, metric: str, ends: tuple[int | None, int | None] | None
) -> None:
    for seed in range(20):
        instance = cities(metric, 60, seed)
        if ends is not None:
            instance = OpenPath.of(instance, *ends).instance
        form = form_of(instance, in_space_above=0)
        if ends is not None or metric in IN_SPACE or instance.coordinates.shape[1] == 3:  # type: ignore[union-attr]
            assert form.kind == "space"
        tour = np.random.default_rng(seed).permutation(instance.n).astype(np.int32)
        assert reported(on_the_cpu, form, tour) == form.whole.tour_length(tour)
        if form.is_exact:
            assert form.whole.tour_length(tour) == instance.tour_length(tour)
        else:
            length = float(form.to_lengths(np.array([form.whole.tour_length(tour)]))[0])
            assert length == pytest.approx(instance.tour_length(tour), rel=1e-7)


# Places are the same, or a millionth of a degree apart.
degrees = st.integers(-(90 * 10**6), 90 * 10**6).map(lambda x: x / 10**6)


@given(st.lists(st.tuples(degrees, degrees), min_size=2, max_size=2))
@settings(max_examples=500)
def test_arcs_are_those_of_the_sphere(places: list[tuple[float, float]]) -> None:
    whole = form_of(Instance.from_coordinates(places, metric="HAVERSINE"))
    instance = Instance.from_coordinates(places, metric="HAVERSINE")
    # Antipodes are half a circle apart but for the square root of what a sine is rounded by.
    assert abs(whole.whole.distance(0, 1) * whole.unit - instance.distance(0, 1)) <= 0.5 * whole.unit + 3e-4


@pytest.mark.parametrize("name", ["burma14", "ulysses16", "ulysses22", "gr96", "gr137", "gr229", "gr666"])
def test_geo_is_tsplibs_to_the_kilometre(name: str) -> None:
    instance = pytsp.read(tsplib_file(f"{name}.tsp"))
    assert np.array_equal(form_of(instance).whole.distance_matrix(), instance.distance_matrix())


@pytest.mark.parametrize("is_open", [False, True])
@pytest.mark.parametrize("metric", IN_SPACE)
@pytest.mark.parametrize("solver", ["ils", "eax"])
def test_points_and_matrices_end_on_the_same_tour(
    on_the_cpu: Backend, monkeypatch: pytest.MonkeyPatch, solver: str, metric: str, is_open: bool
) -> None:
    instance = cities(metric, 80, 7)
    given_ = {"climbers": 2, "iterations": 100} if solver == "ils" else {"population": 8, "iterations": 3}
    found = []
    for most in (10, 10**6):
        monkeypatch.setattr(task, "MATRIX_CITIES", most)
        found.append(pytsp.solve(instance, solver=solver, backend=on_the_cpu.name, open=is_open, **given_))
    assert np.array_equal(found[0].tour, found[1].tour) and found[0].length == found[1].length


@pytest.mark.parametrize("ends", [None, (None, None), (2, None), (2, 5)])
@pytest.mark.parametrize("metric", [*IN_SPACE, "EUC_2D", "EUCLIDEAN"])
def test_huge_tours_of_every_metric(
    on_the_cpu: Backend, metric: str, ends: tuple[int | None, int | None] | None
) -> None:
    instance = cities(metric, 300, 3)
    asked = {} if ends is None else {"open": True, "start_city": ends[0], "end_city": ends[1]}
    large, near = (
        pytsp.solve(instance, solver=solver, backend=on_the_cpu.name, iterations=iterations, **asked)
        for solver, iterations in (("large", 20), ("ils", 300))
    )
    assert large.length <= 1.05 * near.length
    if ends is not None:
        assert all(end in (None, city) for end, city in zip(ends, large.tour[[0, -1]], strict=True))
