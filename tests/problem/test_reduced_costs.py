"""Reduced distances: tours keep their order and are shorter by the potentials. Those that have a distance which was cut
are longer than the known tour."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from numpy.typing import NDArray

from pytsp.problem.long_edges import reduce_costs


@st.composite
def distances(draw: st.DrawFn) -> NDArray[np.float64]:
    """A matrix of some decades, with distances that are infinite or equal, and a diagonal that says nothing."""
    n, decades = draw(st.integers(1, 6)), draw(st.integers(0, 12))
    numbers = np.random.default_rng(draw(st.integers(0, 2**32)))
    d: NDArray[np.float64] = 10.0 ** numbers.uniform(0, decades, (n, n))
    d = np.round(d, draw(st.sampled_from([0, 3])))
    d[numbers.random((n, n)) < draw(st.sampled_from([0.0, 0.3]))] = draw(st.sampled_from([0.0, math.inf]))
    d[np.diag_indices(n)] = 7.0
    return d


def length(d: NDArray[np.float64], order: Any, *, is_open: bool) -> float:
    order = list(order)
    ways = itertools.pairwise(order if is_open else [*order, order[0]])
    return math.fsum(d[way] for way in ways if way[0] != way[1])


@given(d=distances(), asymmetric=st.booleans(), is_open=st.booleans(), data=st.data())
@example(d=np.array([[0.0]]), asymmetric=False, is_open=False, data=None)
def test_tours_keep_their_order(d: NDArray[np.float64], asymmetric: bool, is_open: bool, data: Any) -> None:
    n = len(d)
    d = d if asymmetric else np.maximum(d, d.T)
    orders = [order for order in itertools.permutations(range(n)) if math.isfinite(length(d, order, is_open=is_open))]
    if not orders or n == 1:
        return
    known = data.draw(st.sampled_from(orders))
    given_ = d.copy()
    costs = reduce_costs(d, np.array(known), asymmetric=asymmetric, is_open=is_open)
    assert np.array_equal(d, given_)
    matrix = costs.matrix
    assert (matrix >= 0).all() and np.isfinite(matrix).all() and not matrix.diagonal().any()
    assert asymmetric or np.array_equal(matrix, matrix.T)
    largest = np.max(d, where=np.isfinite(d), initial=0.0)
    rounding = 1e-14 * n * n * largest
    assert costs.length == pytest.approx(length(d, known, is_open=is_open) - costs.offset, abs=rounding)
    assert length(matrix, known, is_open=is_open) == pytest.approx(costs.length, rel=1e-12)
    for order in orders:
        reduced = length(matrix, order, is_open=is_open)
        before = length(d, order, is_open=is_open) - costs.offset
        # A tour that has a distance which was cut is longer than the known one.
        assert reduced == pytest.approx(before, abs=rounding) or (costs.length < reduced <= before + rounding)


def test_a_city_far_from_all_others_is_taken_out() -> None:
    points = np.vstack([np.random.default_rng(0).random((9, 2)), [[1e9, 0]]])
    d = np.hypot(*(points[:, None] - points[None]).T)
    for asymmetric in (False, True):
        costs = reduce_costs(d, np.arange(10), asymmetric=asymmetric, is_open=False)
        assert costs.length < 20 and costs.matrix.max() < 20
        assert costs.offset == pytest.approx(2e9, rel=1e-6)
    # An open path has one way there or two.
    assert reduce_costs(d, np.arange(10), asymmetric=False, is_open=True).offset == 0


def test_small_potentials_are_not_lost_in_large_distances() -> None:
    # A city is equally far from all others, which have their own nearest ones.
    d = np.array([[0, 1, 5, 9], [1, 0, 4, 9], [5, 4, 0, 9], [9, 9, 9, 0]], np.float64)
    d[3, :3] = d[:3, 3] = 1e30
    for asymmetric in (False, True):
        # By the longest tour no distance is cut.
        costs = reduce_costs(d, np.array([0, 2, 1, 3]), asymmetric=asymmetric, is_open=False)
        tours = [(0, 1, 2, 3), (0, 2, 1, 3), (1, 0, 2, 3)]
        lengths = [length(costs.matrix, tour, is_open=False) for tour in tours]
        assert np.diff(lengths).tolist() == [9 - 5, 6 - 9]


def test_a_tour_by_potentials_alone_is_the_shortest() -> None:
    d = np.full((4, 4), 5.0)
    assert reduce_costs(d, np.arange(4), asymmetric=False, is_open=False).length == 0
