"""Neighbour lists of directed ways: by all ways of few cities."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from strategies import directed_matrices

from pytsp.neighbours.lists import way_lists, with_pairs
from pytsp.problem.asymmetric import JonkerVolgenant
from pytsp.problem.instance import Instance


def doubled(ways: NDArray[np.int64]) -> Instance:
    return JonkerVolgenant.of(Instance._of_lawful(ways, asymmetric=True)).instance


@given(directed_matrices(max_n=8), st.integers(1, 9))
def test_lists_hold_the_shortest_ways_into_and_out_of_each_city(ways: NDArray[np.int64], k: int) -> None:
    n = len(ways)
    lists = way_lists(doubled(ways), k)
    assert lists.dtype == np.int32
    assert lists.shape == (2 * n, min(k, n - 1))
    for city in range(n):
        others = [other for other in range(n) if other != city]
        into = sorted(others, key=lambda other: (ways[other, city], other))[:k]
        out = sorted(others, key=lambda other: (ways[city, other], other))[:k]
        assert lists[city].tolist() == [n + other for other in into]
        assert lists[n + city].tolist() == out


def test_a_list_has_a_length_of_at_least_one() -> None:
    with pytest.raises(ValueError, match="k must be a whole number from 1"):
        way_lists(doubled(np.array([[0, 1], [2, 0]])), 0)


def test_pairs_come_before_all_others() -> None:
    lists = way_lists(doubled(np.array([[0, 1, 5], [2, 0, 3], [4, 6, 0]])), 1)
    assert with_pairs(lists).tolist() == [[3, 4], [4, 3], [5, 4], [0, 1], [1, 0], [2, 0]]
