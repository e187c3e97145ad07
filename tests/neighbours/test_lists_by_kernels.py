"""Neighbour lists of many cities by a GPU's kernels: those of the host, joined by what a GPU sees as a CPU does."""

from __future__ import annotations

from unittest.mock import create_autospec

import numpy as np
import pytest
import strategies
from hypothesis import example, given
from numpy.typing import NDArray

import pytsp
from pytsp import EAX, Instance
from pytsp.backends import Backend
from pytsp.generate import clustered, uniform
from pytsp.neighbours import boxes as _boxes
from pytsp.neighbours import exits as _exits
from pytsp.neighbours.boxes import boxes_by
from pytsp.neighbours.exits import find_exits
from pytsp.neighbours.hilbert import along_hilbert
from pytsp.neighbours.lists import neighbour_lists
from pytsp.problem.location import is_planar

PART = "lists"


@given(points=strategies.clusters(max_n=80))
@example(points=np.zeros((20, 2)))
@example(points=np.outer(np.power(2.0, -np.arange(60)), [1.0, 1.0]))
@example(points=np.array([[3.0, 5.0]]))
def test_the_curve_is_the_same_by_kernels(backend: Backend, points: NDArray[np.float64]) -> None:
    found, expected = along_hilbert(points, backend), along_hilbert(points)
    assert np.array_equal(found.order, expected.order)
    assert np.array_equal(found.keys, expected.keys)
    assert (found.order.dtype, found.keys.dtype) == (np.int64, np.uint64)


@pytest.fixture
def listed_on_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """However few the cities are, a GPU lists them."""
    monkeypatch.setattr(_boxes, "LISTED_ON_A_GPU", 0)


KINDS = {
    "uniform": uniform(3_000, 3),
    "clustered": clustered(3_000, 3),
    "a lattice": Instance.from_coordinates(np.random.default_rng(0).integers(0, 60, (4_000, 2)), metric="EUC_2D"),
    "a crowd": Instance.from_coordinates(
        np.append(np.zeros((80, 2)), np.random.default_rng(1).random((2_000, 2)), 0), "CEIL_2D"
    ),
    "two scales": Instance.from_coordinates(
        np.append(np.random.default_rng(1).random((2_000, 2)) * 1e-9, np.eye(2), 0), metric="EUCLIDEAN"
    ),
    "a globe": Instance.from_coordinates(np.random.default_rng(2).uniform(-80, 80, (3_000, 2)), metric="HAVERSINE"),
    "space": Instance.from_coordinates(np.random.default_rng(3).integers(0, 20, (3_000, 3)), metric="EUC_3D"),
}


@pytest.mark.usefixtures("listed_on_a_gpu")
@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("together", [1 << 20, 5_000])
def test_lists_are_those_of_the_host(
    backend: Backend, name: str, together: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_boxes, "CITIES", {"cpu": together, "gpu": together})
    instance = KINDS[name]
    for quadrants in (False, True) if is_planar(instance) else (False,):
        expected = neighbour_lists(instance, 6, quadrants=quadrants)
        with boxes_by(backend):
            found = neighbour_lists(instance, 6, quadrants=quadrants)
            exits = find_exits(instance, found)
        assert np.array_equal(found, expected)
        assert np.array_equal(exits, find_exits(instance, expected))


@pytest.mark.usefixtures("listed_on_a_gpu")
@pytest.mark.parametrize("is_apart", [False, True])
def test_what_a_gpu_sees_joined_is_not_searched(
    backend: Backend, is_apart: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    points = uniform(1_500, 3).coordinates
    assert points is not None
    instance = Instance.from_coordinates(points + 1e9 * is_apart * (np.arange(1_500) % 2)[:, None], metric="EUC_2D")
    lists = neighbour_lists(instance, 8)
    searched = create_autospec(_exits.components, side_effect=_exits.components)
    monkeypatch.setattr(_exits, "components", searched)
    with boxes_by(backend):
        exits = find_exits(instance, lists)
    assert (exits.shape[1] > 0) == is_apart
    assert searched.called == (is_apart or backend.device is None)


@pytest.mark.usefixtures("listed_on_a_gpu")
@pytest.mark.parametrize("is_open", [False, True])
def test_solves_end_alike(backend: Backend, is_open: bool) -> None:
    instance = clustered(1_100, 5)
    solver = EAX(climbers=2, iterations=1, moves="lk")
    found, expected = (pytsp.solve(instance, open=is_open, solver=solver, backend=name) for name in (backend.name, "c"))
    assert (found.length, found.tour.tolist()) == (expected.length, expected.tour.tolist())
