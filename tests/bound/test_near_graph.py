"""Laws of graphs of near cities: their rows, and the lengths that kernels compute."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from pytsp import Instance
from pytsp.backends import Backend
from pytsp.bound.exact import InPlane
from pytsp.bound.near_graph import joined, listed, load
from pytsp.neighbours.lists import neighbour_lists
from pytsp.problem.location import PLANE_METRICS

PART = "bound"


@given(st.integers(2, 40), st.integers(1, 5), st.integers(0, 50), st.integers(0, 2**32 - 1))
def test_rows_have_each_edge_both_ways_and_once(n: int, k: int, pairs: int, seed: int) -> None:
    draws = np.random.default_rng(seed)
    lists = np.array([draws.permutation(np.delete(np.arange(n), city))[:k] for city in range(n)], np.int32)
    further = np.array([draws.permutation(n)[:2] for _ in range(pairs)], np.int64).reshape(pairs, 2)
    expected = {(city, int(other)) for city in range(n) for other in lists[city]}
    expected |= {(int(a), int(b)) for a, b in further}
    expected |= {(b, a) for a, b in expected}
    rows = joined(listed(lists), further)
    cities = rows.cities(0, len(rows.others))
    assert list(zip(cities.tolist(), rows.others.tolist(), strict=True)) == sorted(expected)
    assert rows.ends.dtype == rows.others.dtype == np.int32


def test_rows_of_many_cities_are_made_a_block_at_a_time() -> None:
    n = 100_000
    around = (np.arange(n)[:, None] + [1, 2]) % n
    rows = joined(listed(around.astype(np.int32)), np.array([[0, n // 2]]))
    assert np.array_equal(np.diff(rows.ends, prepend=0), 4 + np.isin(np.arange(n), [0, n // 2]))
    assert rows.others[:5].tolist() == [1, 2, n // 2, n - 2, n - 1]
    assert rows.others[-4:].tolist() == [0, 1, n - 3, n - 2]


@given(
    st.integers(3, 60),
    st.sampled_from(PLANE_METRICS),
    st.sampled_from([1, 60, 10**4, 10**12]),
    st.integers(1, 4),
    st.sampled_from([1, 128, 1 << 30]),
    st.integers(0, 2**32 - 1),
)
@settings(max_examples=60)
def test_kernels_compute_the_lengths_of_a_graph(
    backend: Backend, n: int, metric: str, side: int, near: int, scale: int, seed: int
) -> None:
    draws = np.random.default_rng(seed)
    cities = InPlane(backend, Instance.from_coordinates(draws.integers(0, side, (n, 2)) / 8, metric))
    rows = listed(neighbour_lists(cities.ordered, near))
    penalties = draws.integers(-side, side + 1, n)
    further = draws.permutation(n)[:2].reshape(1, 2).astype(np.int32)
    cities.begin(rows)
    cities.join(further)
    given_lengths, computed = load(backend, cities.ordered, joined(rows, further), scale), cities.graph(scale)
    assert (
        backend.call("alphas", given_lengths, penalties).tolist()
        == backend.call("alphas", computed, penalties).tolist()
    )
    (cost, degrees, _), (cost_too, degrees_too, _) = (
        backend.call("one_tree", graph, penalties) for graph in (given_lengths, computed)
    )
    assert (cost, degrees.tolist()) == (cost_too, degrees_too.tolist())
