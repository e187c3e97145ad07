"""Neighbour lists by a tree of boxes: those of `neighbour_lists`, on every backend, however cities tie and crowd."""

from __future__ import annotations

from unittest.mock import create_autospec

import numpy as np
import oracle
import pytest
import strategies
from hypothesis import example, given
from hypothesis import strategies as st
from numpy.typing import NDArray

import pytsp
from pytsp import Instance
from pytsp.backends import Backend
from pytsp.exceptions import KernelError
from pytsp.generate import clustered, uniform
from pytsp.neighbours import boxes as _boxes
from pytsp.neighbours import quadrants as _quadrants
from pytsp.neighbours.boxes import MOST_LISTED, lists_along
from pytsp.neighbours.hilbert import along_hilbert
from pytsp.neighbours.kdtree import boxes_by
from pytsp.neighbours.lists import along_tree, neighbour_lists
from pytsp.starts.construct import greedy
from pytsp.utils.deadline import OutOfTime, looking

PART = "lists"


def sorted_along(instance: Instance) -> tuple[Instance, NDArray[np.uint64]]:
    """Cities in order of the curve, with their keys."""
    assert instance.coordinates is not None
    order, keys = along_hilbert(instance.coordinates)
    return Instance.from_coordinates(instance.coordinates[order], metric=instance.metric), keys


@given(
    instance=strategies.lattice_instances(("EUC_2D", "CEIL_2D"), max_n=60),
    k=st.integers(1, 70),
    step=st.integers(1, 30),
)
@example(instance=Instance.from_coordinates([[0, 0]] * 30 + [[1, 0]] * 3 + [[2, 5]], metric="EUC_2D"), k=4, step=7)
@example(instance=Instance.from_coordinates([[0, 0], [1, 1]], metric="EUC_2D"), k=1, step=1)
def test_the_lists_are_those_of_all_pairs(backend: Backend, instance: Instance, k: int, step: int) -> None:
    if instance.n < 2:
        return
    ordered, keys = sorted_along(instance)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_boxes, "MOST_LISTED", 100)
        patch.setattr(_boxes, "CITIES", {"cpu": step, "gpu": step})
        lists = lists_along(ordered, keys, k, backend)
    assert lists.dtype == np.int32
    assert np.array_equal(lists, neighbour_lists(ordered, k))


@pytest.mark.parametrize(
    "instance",
    [
        uniform(40_000, 3),
        clustered(20_000, 3),
        Instance.from_coordinates(np.random.default_rng(0).random((5_000, 2)) * 1e-9, metric="EUCLIDEAN"),
        Instance.from_coordinates(np.stack([np.arange(3_000.0), np.zeros(3_000)], axis=1), metric="EUC_2D"),
    ],
    ids=["uniform", "clustered", "tiny", "a line"],
)
def test_many_cities_have_the_lists_of_a_k_d_tree(backend: Backend, instance: Instance) -> None:
    ordered, keys = sorted_along(instance)
    assert np.array_equal(lists_along(ordered, keys, 8, backend), neighbour_lists(ordered, 8))


def test_crowded_places_need_no_tree(backend: Backend, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_boxes, "along_tree", None)
    far = uniform(1_000, 5).coordinates
    assert far is not None
    ordered, keys = sorted_along(
        Instance.from_coordinates(np.concatenate([far, np.full((300, 2), 5.0)]), metric="EUC_2D")
    )
    assert np.array_equal(lists_along(ordered, keys, 5, backend), neighbour_lists(ordered, 5))


@given(points=strategies.clusters(max_n=80), k=st.integers(1, 8))
def test_clusters_of_any_size_have_the_lists_of_all_pairs(
    backend: Backend, points: NDArray[np.float64], k: int
) -> None:
    if len(points) < 2:
        return
    ordered, keys = sorted_along(Instance.from_coordinates(points, metric="EUCLIDEAN"))
    assert ordered.coordinates is not None
    differences = ordered.coordinates[:, None] - ordered.coordinates
    expected = oracle.nearest(np.square(differences).sum(axis=2).tolist(), k)
    assert lists_along(ordered, keys, k, backend).tolist() == expected


@pytest.mark.parametrize("k", [MOST_LISTED, MOST_LISTED + 1])
def test_long_lists_come_from_the_tree(backend: Backend, k: int, monkeypatch: pytest.MonkeyPatch) -> None:
    tree = create_autospec(along_tree, side_effect=along_tree)
    monkeypatch.setattr(_boxes, "along_tree", tree)
    ordered, keys = sorted_along(uniform(300, 5))
    assert np.array_equal(lists_along(ordered, keys, k, backend), neighbour_lists(ordered, k))
    assert tree.called == (k > MOST_LISTED)


def test_lists_end_with_the_time(backend: Backend) -> None:
    def out_of_time(_: float) -> None:
        raise OutOfTime

    ordered, keys = sorted_along(uniform(70_000, 1))
    with looking(out_of_time), pytest.raises(OutOfTime):
        lists_along(ordered, keys, 5, backend)


@pytest.mark.parametrize(("k", "cities"), [(0, [0, 5]), (9, [0, 5]), (3, [-1, 5]), (3, [9, 0])])
def test_what_are_no_cities_is_refused(backend: Backend, k: int, cities: list[int]) -> None:
    boxed = backend.call("boxes_around", np.arange(9.0), np.zeros(9), np.zeros(9))
    with pytest.raises(KernelError):
        backend.call("boxes_nearest", boxed, k, np.array(cities, dtype=np.int32))
    some = np.array([8, 0, 3, 3], dtype=np.int32)
    assert backend.call("boxes_nearest", boxed, 1, some).tolist() == [[7], [1], [2], [2]]


def test_a_large_solve_needs_no_tree(on_the_cpu: Backend, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_boxes, "along_tree", None)
    found = pytsp.solve(uniform(5_000, 5), solver="large", backend=on_the_cpu.name, iterations=1)
    assert pytsp.is_tour(found.tour, 5_000)


CITIES_OF_THE_PLANE = [
    uniform(5_000, 3),
    clustered(6_000, 3),
    Instance.from_coordinates(np.random.default_rng(0).integers(0, 60, (4_000, 2)), metric="EUC_2D"),
    Instance.from_coordinates(np.append(np.zeros((80, 2)), np.random.default_rng(1).random((4_000, 2)), 0), "CEIL_2D"),
    Instance.from_coordinates(np.random.default_rng(2).integers(0, 9, (1_100, 2)), metric="EUC_2D"),
]


@pytest.mark.parametrize("instance", CITIES_OF_THE_PLANE, ids=["uniform", "clustered", "a lattice", "a crowd", "few"])
@pytest.mark.parametrize("k", [1, 5, 10])
def test_a_solver_s_kernels_find_what_a_k_d_tree_finds(backend: Backend, instance: Instance, k: int) -> None:
    expected = [neighbour_lists(instance, k, quadrants=quadrants) for quadrants in (False, True)]
    tour = greedy(instance)
    with boxes_by(backend):
        assert np.array_equal(neighbour_lists(instance, k), expected[0])
        assert np.array_equal(neighbour_lists(instance, k, quadrants=True), expected[1])
        assert np.array_equal(greedy(instance), tour)


CITIES_OF_SPACE = [
    Instance.from_coordinates(np.random.default_rng(3).random((4_000, 3)), metric="EUC_3D"),
    Instance.from_coordinates(np.random.default_rng(4).integers(0, 9, (4_000, 3)), metric="EUC_3D"),
    Instance.from_coordinates(np.random.default_rng(5).uniform(-80, 80, (4_000, 2)), metric="HAVERSINE"),
    Instance.from_coordinates(np.random.default_rng(6).integers(-80, 80, (4_000, 2)), metric="GEO"),
]


@pytest.mark.parametrize("instance", CITIES_OF_SPACE, ids=["uniform", "a lattice", "a globe", "whole degrees"])
@pytest.mark.parametrize("k", [1, 10])
def test_a_solver_s_kernels_find_in_space_what_a_k_d_tree_finds(backend: Backend, instance: Instance, k: int) -> None:
    expected = neighbour_lists(instance, k)
    with boxes_by(backend):
        assert np.array_equal(neighbour_lists(instance, k), expected)


@pytest.mark.slow
@pytest.mark.parametrize("instance", CITIES_OF_THE_PLANE[1:3], ids=["clustered", "a lattice"])
@pytest.mark.parametrize("widths", [(1,), (2,), (2, 3), (2, 400)])
def test_quadrants_have_none_but_the_nearest_so_many(
    backend: Backend, instance: Instance, widths: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_quadrants, "_WIDTHS", widths)
    expected = neighbour_lists(instance, 8, quadrants=True)
    with boxes_by(backend):
        assert np.array_equal(neighbour_lists(instance, 8, quadrants=True), expected)


def test_they_are_asked_inside_the_block_only(backend: Backend, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    call = Backend.call

    def record(self: Backend, entry: str, *arguments: object) -> object:
        assert self.device is None
        asked.append(entry)
        return call(self, entry, *arguments)

    monkeypatch.setattr(Backend, "call", record)
    with boxes_by(backend):
        neighbour_lists(uniform(5_000, 3), 5)
        neighbour_lists(uniform(5_000, 3), 5, quadrants=True)
    assert set(asked) == {"boxes_around", "boxes_nearest", "boxes_quadrants"}
    asked.clear()
    neighbour_lists(uniform(5_000, 3), 5)
    assert not asked
