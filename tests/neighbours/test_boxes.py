"""Neighbour lists by a tree of boxes: those of `neighbour_lists`, on every backend, however cities tie and crowd."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import oracle
import pytest
import strategies
from clocks import Clock
from hypothesis import example, given
from hypothesis import strategies as st
from numpy.typing import NDArray

from pytsp import Instance
from pytsp.backends import Backend, open_backend
from pytsp.exceptions import KernelError
from pytsp.generate import clustered, uniform
from pytsp.neighbours import boxes as _boxes
from pytsp.neighbours.boxes import boxes_by, lists_in_order, nearest_points
from pytsp.neighbours.hilbert import along_hilbert, hilbert_order
from pytsp.neighbours.lists import lists_along, neighbour_lists
from pytsp.utils.deadline import OutOfTime, looking

PART = "lists"


def sorted_along(instance: Instance) -> Instance:
    """Cities in order of the curve."""
    assert instance.coordinates is not None
    return Instance.from_coordinates(instance.coordinates[hilbert_order(instance.coordinates)], metric=instance.metric)


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
    ordered = sorted_along(instance)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_boxes, "CITIES", {"cpu": step, "gpu": step})
        lists = lists_along(ordered, k, backend)
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
def test_many_cities_have_the_lists_of_any_order(backend: Backend, instance: Instance) -> None:
    ordered = sorted_along(instance)
    assert np.array_equal(lists_along(ordered, 8, backend), neighbour_lists(ordered, 8))


def test_crowded_places_have_the_lists_of_all_pairs(backend: Backend) -> None:
    far = uniform(1_000, 5).coordinates
    assert far is not None
    ordered = sorted_along(Instance.from_coordinates(np.concatenate([far, np.full((300, 2), 5.0)]), metric="EUC_2D"))
    assert np.array_equal(lists_along(ordered, 5, backend), neighbour_lists(ordered, 5))


@given(points=strategies.clusters(max_n=80), k=st.integers(1, 8))
def test_clusters_of_any_size_have_the_lists_of_all_pairs(
    backend: Backend, points: NDArray[np.float64], k: int
) -> None:
    if len(points) < 2:
        return
    ordered = sorted_along(Instance.from_coordinates(points, metric="EUCLIDEAN"))
    assert ordered.coordinates is not None
    differences = ordered.coordinates[:, None] - ordered.coordinates
    expected = oracle.nearest(np.square(differences).sum(axis=2).tolist(), k)
    assert lists_along(ordered, k, backend).tolist() == expected


def test_lists_end_with_the_time(backend: Backend) -> None:
    def out_of_time(_: float) -> None:
        raise OutOfTime

    ordered = sorted_along(uniform(70_000, 1))
    with looking(out_of_time), pytest.raises(OutOfTime):
        lists_along(ordered, 5, backend)


def test_lists_are_given_up_as_soon_as_not_all_can_be_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    kernels, points = open_backend("c"), sorted_along(uniform(10_000, 1)).coordinates
    assert points is not None
    clock = Clock()
    clock.install(monkeypatch)
    seconds: list[float] = []

    def called(entry: str, *arguments: Any) -> Any:
        clock.seconds += 1e-6 * len(arguments[-1]) if entry == "boxes_nearest" else 0.0
        return kernels.call(entry, *arguments)

    timed = cast("Any", SimpleNamespace(call=called, threads=1))
    for ahead in (0.0, 1.5):
        seconds.clear()
        with looking(seconds.append):
            lists_in_order(points, 5, timed, ahead)
        # The first look is before the first block; each block has twice the cities of the one before.
        blocks, left = (2_048, 4_096, 2_832), (8_976, 6_928, 2_832)
        expected = [1e-6 * max(block, ahead * rest) for block, rest in zip(blocks, left, strict=True)]
        assert seconds == pytest.approx([0.0, *expected])


@pytest.mark.parametrize(("k", "cities"), [(0, [0, 5]), (9, [0, 5]), (3, [-1, 5]), (3, [9, 0])])
def test_what_are_no_cities_is_refused(backend: Backend, k: int, cities: list[int]) -> None:
    boxed = backend.call("boxes_around", np.arange(9.0), np.zeros(9), np.zeros(9))
    with pytest.raises(KernelError):
        backend.call("boxes_nearest", boxed, k, np.array(cities, dtype=np.int32))
    some = np.array([8, 0, 3, 3], dtype=np.int32)
    assert backend.call("boxes_nearest", boxed, 1, some).tolist() == [[7], [1], [2], [2]]


CITIES_OF_THE_PLANE = [
    uniform(5_000, 3),
    clustered(6_000, 3),
    Instance.from_coordinates(np.random.default_rng(0).integers(0, 60, (4_000, 2)), metric="EUC_2D"),
    Instance.from_coordinates(np.append(np.zeros((80, 2)), np.random.default_rng(1).random((4_000, 2)), 0), "CEIL_2D"),
    Instance.from_coordinates(np.random.default_rng(2).integers(0, 9, (1_100, 2)), metric="EUC_2D"),
]


def nearest_of_all(points: NDArray[np.float64], norm: float, k: int) -> list[list[int]]:
    """The lists by all pairs of points, from distances that are not rounded."""
    differences = np.abs(points[:, None] - points)
    lengths = {1.0: differences.sum(axis=2), 2.0: np.square(differences).sum(axis=2), np.inf: differences.max(axis=2)}
    np.fill_diagonal(lengths[norm], np.inf)
    return np.argsort(lengths[norm], axis=1, kind="stable")[:, :k].tolist()


@pytest.mark.parametrize("instance", CITIES_OF_THE_PLANE, ids=["uniform", "clustered", "a lattice", "a crowd", "few"])
@pytest.mark.parametrize("k", [1, 5, 10, 100])
def test_a_solver_s_kernels_find_the_nearest_of_all_pairs(backend: Backend, instance: Instance, k: int) -> None:
    assert instance.coordinates is not None
    points = instance.coordinates[:1_500]
    with boxes_by(backend):
        for norm in (1.0, 2.0, np.inf):
            expected = nearest_of_all(points, norm, k)
            assert nearest_points(points, norm, k).tolist() == expected
            order, keys = along_hilbert(points)
            along = nearest_points(points[order], norm, k, keys=keys)
            assert along.tolist() == nearest_of_all(points[order], norm, k)


CITIES_OF_SPACE = [
    np.random.default_rng(3).random((1_000, 3)),
    np.random.default_rng(4).integers(0, 9, (1_000, 3)).astype(float),
    np.append(np.zeros((90, 3)), np.random.default_rng(5).random((500, 3)), 0),
]


@pytest.mark.parametrize("points", CITIES_OF_SPACE, ids=["uniform", "a lattice", "a crowd"])
@pytest.mark.parametrize("norm", [1.0, 2.0, np.inf])
def test_a_solver_s_kernels_find_the_nearest_in_space(
    backend: Backend, points: NDArray[np.float64], norm: float
) -> None:
    with boxes_by(backend):
        assert nearest_points(points, norm, 10).tolist() == nearest_of_all(points, norm, 10)


def test_a_solver_s_kernels_make_its_lists(backend: Backend, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[Backend, str]] = []
    call = Backend.call

    def record(self: Backend, entry: str, *arguments: object) -> object:
        asked.append((self, entry))
        return call(self, entry, *arguments)

    with boxes_by(backend):
        host = _boxes.host_beside()
        monkeypatch.setattr(Backend, "call", record)
        neighbour_lists(uniform(5_000, 3), 5)
        neighbour_lists(uniform(5_000, 3), 5, quadrants=True)
    assert {each for each, _ in asked} == {host}
    assert {entry for _, entry in asked} == {"boxes_around", "boxes_outside", "boxes_quadrants"}
