"""Hilbert's curve: consecutive cells touch, and clusters are in order at every scale."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
import strategies
from hypothesis import example, given
from numpy.typing import NDArray

from pytsp.generate import uniform
from pytsp.neighbours import hilbert as _hilbert
from pytsp.neighbours.hilbert import along_hilbert, hilbert_order


@pytest.mark.parametrize(("width", "bits"), [(2, 1), (2, 3), (2, 5), (3, 1), (3, 2), (3, 3)])
def test_consecutive_cells_of_the_curve_touch(width: int, bits: int) -> None:
    cells = np.array(list(product(range(2**bits), repeat=width)), dtype=np.float64)
    order, keys = along_hilbert(cells)
    curve = cells[order]
    assert (np.abs(np.diff(curve, axis=0)).sum(axis=1) == 1).all()
    assert len(np.unique(keys)) == len(cells)


def test_the_curve_does_not_depend_on_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    points = uniform(100, 3).coordinates
    assert points is not None
    keys = along_hilbert(points).keys
    monkeypatch.setattr(_hilbert, "_BLOCK", 7)
    assert np.array_equal(keys, along_hilbert(points).keys)


@given(points=strategies.clusters(max_n=80))
@example(points=np.zeros((20, 2)))
@example(points=np.outer(np.power(2.0, -np.arange(60)), [1.0, 1.0]))
@example(points=np.concatenate([np.random.default_rng(0).random((30, 2)) * 1e-300, np.eye(2)]))
def test_only_points_that_coincide_crowd_a_cell(points: NDArray[np.float64]) -> None:
    order, keys = along_hilbert(points)
    assert sorted(order.tolist()) == list(range(len(points)))
    assert (keys[1:] >= keys[:-1]).all()
    for key in np.unique(keys):
        cell = order[keys == key]
        assert len(cell) <= 8 or (points[cell] == points[cell[0]]).all()
        # Within a cell they are in order of their numbers.
        assert (np.diff(cell) > 0).all()


@given(points=strategies.clusters(max_n=80))
def test_points_in_order_stay_in_order(points: NDArray[np.float64]) -> None:
    order, keys = along_hilbert(points)
    again = along_hilbert(points[order])
    assert np.array_equal(again.order, np.arange(len(points)))
    assert np.array_equal(again.keys, keys)


def test_cells_of_few_points_are_left_as_they_are() -> None:
    """Two cells of eight points each: these are in order of their numbers."""
    inside = np.random.default_rng(0).random((16, 2)) * 1e-9
    inside[1::2] += 1
    assert hilbert_order(inside).tolist() == [*range(0, 16, 2), *range(1, 16, 2)]


@given(points=strategies.clusters(max_n=80))
@example(points=np.outer(np.power(2.0, -np.arange(60)), [1.0, 1.0]))
def test_without_time_cells_have_no_curves_of_their_own(points: NDArray[np.float64]) -> None:
    order, keys = along_hilbert(points, seconds=0.0)
    whole = along_hilbert(points, seconds=1e9)
    assert np.array_equal(whole.order, along_hilbert(points).order)
    cell_of, place_of = np.empty_like(order), np.empty_like(order)
    cell_of[order], place_of[whole.order] = keys, np.arange(len(points))
    for cell in np.unique(keys):
        cities = np.flatnonzero(cell_of == cell)
        # They are in order of their numbers, and where they are with time, too.
        assert order[keys == cell].tolist() == cities.tolist()
        assert sorted(place_of[cities]) == np.flatnonzero(keys == cell).tolist()


@pytest.mark.parametrize("axes", [2, 3])
@pytest.mark.parametrize("side", [1e-7, 1e-12, 1e-100])
def test_a_cluster_is_in_the_order_that_it_has_by_itself(axes: int, side: float) -> None:
    cluster = np.random.default_rng(0).random((2_000, axes)) * side
    far = 0.5 + 0.5 * np.random.default_rng(1).random((50, axes))
    order = hilbert_order(np.concatenate([far, cluster])) - 50
    assert np.array_equal(order[order >= 0], hilbert_order(cluster))
