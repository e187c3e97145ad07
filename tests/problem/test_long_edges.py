"""Edges that no short tour has: shortened only where they are out of proportion, and so that no order changes."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.typing import NDArray

from pytsp import Instance
from pytsp.problem.instance import FORBIDDEN
from pytsp.problem.kernel_input import MOST_DISTANCE, form_of
from pytsp.problem.long_edges import shorten_edges

INT_MAX = 2**31 - 1


@st.composite
def mixed(draw: st.DrawFn, longest: list[Any], *, max_n: int = 5) -> NDArray[Any]:
    """A matrix, not symmetric, of short distances and of those that are out of proportion."""
    n = draw(st.integers(2, max_n))
    kind: Any = np.float64 if isinstance(longest[0], float) else np.int64
    elements = st.one_of(st.integers(0, 100), st.integers(0, 100), st.sampled_from(longest))
    d = np.array(draw(st.lists(st.lists(elements, min_size=n, max_size=n), min_size=n, max_size=n)), kind)
    np.fill_diagonal(d, 0)
    return d


def lengths_of(d: NDArray[Any], order: tuple[int, ...], *, is_path: bool) -> NDArray[Any]:
    """The lengths of the edges of a tour or path."""
    edges = [*itertools.pairwise(order)] + ([] if is_path else [(order[-1], order[0])])
    return np.array([d[edge] for edge in edges])


def paths(n: int, start: int | None, end: int | None) -> list[tuple[int, ...]]:
    return [
        order for order in itertools.permutations(range(n)) if start in (None, order[0]) and end in (None, order[-1])
    ]


@given(d=mixed([1e10, 1e12, 3e12, math.inf]), is_path=st.booleans(), data=st.data())
@example(d=np.array([[0.0, math.inf], [math.inf, 0.0]]), is_path=False, data=None)
def test_shortest_tours_stay_shortest_and_no_float_is_out_of_proportion(
    d: NDArray[Any], is_path: bool, data: Any
) -> None:
    assert_order_stays(d, is_path, data)
    shortened = shorten_edges(d)
    assert np.isfinite(shortened).all()


@given(d=mixed([2**30, INT_MAX, 2**40]), is_path=st.booleans(), data=st.data())
def test_shortest_tours_stay_shortest_and_whole_numbers_fit_if_they_can(
    d: NDArray[Any], is_path: bool, data: Any
) -> None:
    assert_order_stays(d, is_path, data, MOST_DISTANCE)


def assert_order_stays(d: NDArray[Any], is_path: bool, data: Any, *most: int) -> None:
    """Whatever is shortest over the shortened distances has as few forbidden edges as can be, and is then shortest."""
    n = len(d)
    end = data.draw(st.integers(1, n - 1)) if is_path and data.draw(st.booleans()) else None
    start = 0 if is_path and data.draw(st.booleans()) else None
    shortened = shorten_edges(d, *most, path=(start, end) if is_path else None)
    if most and shortened.max() > most[0]:
        # What cannot be avoided does not fit.
        assert shortened is d
        return
    assert shortened is d or (shortened <= d).all()
    is_shorter = shortened < d
    orders = paths(n, start, end)
    before = [lengths_of(d, order, is_path=is_path) for order in orders]
    after = [math.fsum(lengths_of(shortened, order, is_path=is_path)) for order in orders]
    best = before[int(np.argmin(after))]
    forbidden = FORBIDDEN[d.dtype.kind]
    fewest = min(int((each == forbidden).sum()) for each in before)
    assert (best == forbidden).sum() == fewest
    if fewest == 0 and not lengths_of(is_shorter, orders[int(np.argmin(after))], is_path=is_path).any():
        assert math.fsum(best) == min(math.fsum(each) for each in before)
    for length, order in zip(after, orders, strict=True):
        if not lengths_of(is_shorter, order, is_path=is_path).any():
            assert length == math.fsum(lengths_of(d, order, is_path=is_path))


@given(
    hnp.arrays(np.float64, (6, 6), elements=st.floats(0, 100)),
    st.sampled_from([1.0, 1e-3, 1e9]),
)
def test_what_is_in_proportion_is_left_as_it_is(d: NDArray[np.float64], unit: float) -> None:
    d = (np.triu(d + 10, 1) + np.triu(d + 10, 1).T) * unit
    assert shorten_edges(d) is d
    assert shorten_edges(np.floor(d).astype(np.int64), 2**62) is not d


def test_whole_numbers_that_fit_are_left_as_they_are() -> None:
    d = np.array([[0, 1, MOST_DISTANCE], [1, 0, 1], [MOST_DISTANCE, 1, 0]])
    instance = Instance.from_matrix(d)
    assert form_of(instance).whole is instance
    assert shorten_edges(d, MOST_DISTANCE) is d


def test_an_edge_longer_than_a_known_tour_is_little_longer_than_that() -> None:
    d = np.full((6, 6), 10.0)
    np.fill_diagonal(d, 0)
    d[1, 4] = d[4, 1] = 1e12
    shortened = shorten_edges(d)
    assert 60 < shortened.max() < 61
    assert form_of(Instance.from_matrix(d)).whole.distance_matrix()[0, 1] > 2**28 / 8
    whole = shorten_edges(d.astype(np.int64), MOST_DISTANCE)
    assert whole[1, 4] == 61
    assert shorten_edges(d.astype(np.int64), 50)[1, 4] == 50


def test_without_a_known_tour_an_edge_costs_more_than_all_others_together() -> None:
    # A star has no tour: all but two of its edges are forbidden ones.
    d = np.full((6, 6), math.inf)
    d[0, 1:] = d[1:, 0] = 7.0
    np.fill_diagonal(d, 0)
    assert 6 * 7 < shorten_edges(d).max() < 6 * 7 + 1
    assert shorten_edges(np.where(d == math.inf, INT_MAX, d).astype(np.int64), MOST_DISTANCE).max() == 6 * 7 + 1
    # So does what is only that long, and the same everywhere.
    assert 6 * 7 < shorten_edges(np.where(d == math.inf, 1e12, d)).max() < 6 * 7 + 1


@pytest.mark.parametrize(("path", "longest"), [((None, 5), 5), ((0, None), 5), ((0, 5), 5), ((5, 0), 203), (None, 105)])
def test_the_known_tour_goes_where_it_has_to(path: tuple[int | None, int | None] | None, longest: float) -> None:
    # One way from 0 to 5 is short.
    d = np.where(np.eye(6, k=1), 1.0, 100.0)
    d[4, 2] = 1e12
    np.fill_diagonal(d, 0)
    assert longest < shorten_edges(d, path=path)[4, 2] < longest + 1


@pytest.mark.parametrize("huge", [1e300, 2e306])
def test_numbers_near_the_largest_stay_numbers(huge: float) -> None:
    d = np.array([[0, huge, math.inf], [huge, 0, huge], [math.inf, huge, 0]])
    assert np.isfinite(shorten_edges(d)).all()
