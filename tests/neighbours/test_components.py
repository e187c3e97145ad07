"""The components of neighbour lists, whichever way an edge is listed."""

from __future__ import annotations

import clusters_oracle
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from numpy.typing import NDArray

from pytsp.neighbours import components as _components
from pytsp.neighbours.components import components, join_labels


@st.composite
def graphs(draw: st.DrawFn) -> NDArray[np.int32]:
    """Lists of any cities, in blocks that list each other's cities seldom, in any order."""
    n, k, size = draw(st.integers(1, 60)), draw(st.integers(1, 7)), draw(st.integers(1, 60))
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    own = np.arange(n)[:, None]
    lists = own // size * size + random.integers(0, size, (n, k))
    lists = np.where((random.random((n, k)) < draw(st.sampled_from([0.0, 0.02]))) | (lists >= n), own, lists)
    order = random.permutation(n)
    numbers = np.argsort(order)
    return numbers[lists[order]].astype(np.int32)


@given(lists=graphs(), sources=st.integers(1, 5), followed=st.integers(1, 7))
@example(lists=np.zeros((1, 1), np.int32), sources=1, followed=4)
@example(lists=np.array([[1], [2], [3], [3]], np.int32), sources=1, followed=4)
@example(lists=np.array([[0, 1], [1, 1], [2, 1]], np.int32), sources=1, followed=1)
def test_they_are_those_of_a_search_from_city_to_city(lists: NDArray[np.int32], sources: int, followed: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_components, "_SOURCES", sources)
        patch.setattr(_components, "_FOLLOWED", followed)
        labels = components(lists)
    assert labels.dtype == np.int32
    assert labels.tolist() == clusters_oracle.components(lists.tolist())


def test_there_are_none_of_no_cities() -> None:
    assert components(np.empty((0, 3), np.int32)).tolist() == []


def test_a_long_line_is_one() -> None:
    n = 100_000
    order = np.random.default_rng(0).permutation(n)
    lists = np.empty((n, 1), np.int32)
    lists[order[:-1], 0], lists[order[-1], 0] = order[1:], order[-2]
    assert not components(lists).any()


@given(
    count=st.integers(1, 30),
    pairs=st.lists(st.tuples(st.integers(0, 29), st.integers(0, 29)), max_size=40),
    seed=st.integers(0, 99),
)
def test_labels_that_are_joined_are_one(count: int, pairs: list[tuple[int, int]], seed: int) -> None:
    labels = np.random.default_rng(seed).permutation(np.arange(2 * count) % count).astype(np.int32)
    joined = [(a % count, b % count) for a, b in pairs]
    a, b = (np.array([pair[end] for pair in joined], dtype=np.int32) for end in (0, 1))
    found = join_labels(labels, a, b)
    cities = [np.flatnonzero(labels == label).tolist() for label in range(count)]
    edges = [cities[label] + [d for a, b in joined for d in cities[b] if a == label] for label in labels.tolist()]
    assert found.tolist() == clusters_oracle.components(edges)
