"""The kernels of 1-trees, of the ascent and of α-nearness: they come to what plain loops come to."""

from __future__ import annotations

import numpy as np
import one_tree_oracle as oracle
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from pytsp.backends import Backend, Opaque, open_backend
from pytsp.exceptions import KernelError

PART = "bound"
MOST_PENALTY = 1 << 44


@st.composite
def graphs(draw: st.DrawFn, *, is_complete: bool | None = None) -> tuple[int, dict[tuple[int, int], int], list[int]]:
    """A graph of 1 ... 9 cities, in one part or several, with few lengths or many, and penalties: n, lengths, those."""
    n = draw(st.integers(1, 9))
    most = draw(st.sampled_from([1, 4, 10**6, 1 << 44]))
    has_all = draw(st.booleans()) if is_complete is None else is_complete
    lengths = {
        (i, j): draw(st.integers(0, most)) for i in range(n) for j in range(i + 1, n) if has_all or draw(st.booleans())
    }
    size = draw(st.sampled_from([0, 2, most]))
    return n, lengths, draw(st.lists(st.integers(-size, size), min_size=n, max_size=n))


def rows_of(
    n: int, lengths: dict[tuple[int, int], int]
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int64]]:
    """The rows that the kernels take."""
    entries = sorted([(i, j, x) for (i, j), x in lengths.items()] + [(j, i, x) for (i, j), x in lengths.items()])
    ends = np.cumsum([sum(i == city for i, _, _ in entries) for city in range(n)], dtype=np.int32)
    return ends, np.array([j for _, j, _ in entries], np.int32), np.array([x for *_, x in entries], np.int64)


def load(backend: Backend, n: int, lengths: dict[tuple[int, int], int]) -> Opaque:
    """The graph on the device."""
    return backend.call("near_graph_load", *rows_of(n, lengths))  # type: ignore[no-any-return]


@given(graphs())
@settings(max_examples=150)
def test_the_one_tree_is_prims(backend: Backend, drawn: tuple[int, dict[tuple[int, int], int], list[int]]) -> None:
    n, lengths, penalties = drawn
    cost, degrees, parts = backend.call("one_tree", load(backend, n, lengths), np.array(penalties, np.int64))
    assert (cost, degrees.tolist(), parts) == oracle.one_tree(n, lengths, penalties)


@given(graphs(is_complete=True))
@settings(max_examples=150)
def test_alpha_is_by_how_much_a_one_tree_grows_that_must_have_the_edge(
    backend: Backend, drawn: tuple[int, dict[tuple[int, int], int], list[int]]
) -> None:
    n, lengths, penalties = drawn
    found = backend.call("alphas", load(backend, n, lengths), np.array(penalties, np.int64))
    ends, others, _ = rows_of(n, lengths)
    cities = np.repeat(np.arange(n), np.diff(ends, prepend=0))
    expected = oracle.alphas(n, lengths, penalties)
    pairs = zip(cities.tolist(), others.tolist(), strict=True)
    assert found.tolist() == [expected[min(i, j), max(i, j)] for i, j in pairs]
    tree = oracle.spanning_tree(n, oracle.costs_under(lengths, penalties))
    assert all(expected[edge] == 0 for edge in tree)


@given(graphs(), st.lists(st.integers(0, 10**6), max_size=12), st.integers(0, 12))
def test_the_ascent_is_that_of_plain_loops_however_it_is_cut(
    backend: Backend, drawn: tuple[int, dict[tuple[int, int], int], list[int]], sizes: list[int], cut: int
) -> None:
    n, lengths, penalties = drawn
    # Beyond most_penalty the kernel cuts off.
    penalties = [penalty // 4 for penalty in penalties]
    graph, steps = load(backend, n, lengths), np.array(sizes, np.int64)
    state = backend.call("ascent_given", np.array(penalties, np.int64))
    state = backend.call("ascend", graph, state, steps[:cut])
    state = backend.call("ascend", graph, state, steps[cut:])
    best, (bound, is_tour) = backend.call("ascent_best", state), backend.call("ascent_bound", state)
    assert (best.tolist(), bound, is_tour) == oracle.ascent(n, lengths, penalties, sizes)


@given(st.integers(3, 9), st.integers(0, 2**32 - 1), st.data())
def test_lists_have_the_nearest_and_those_of_least_alpha_in_order(
    backend: Backend, n: int, seed: int, data: st.DataObject
) -> None:
    draws = np.random.default_rng(seed)
    lengths = {(i, j): int(draws.integers(0, 20)) for i in range(n) for j in range(i + 1, n)}
    penalties = draws.integers(-9, 10, n).tolist()
    k = data.draw(st.integers(1, n - 1))
    near = data.draw(st.integers(0, k))
    lists = backend.call("alpha_lists", load(backend, n, lengths), np.array(penalties, np.int64), near, k)
    alpha = oracle.alphas(n, lengths, penalties)
    for city in range(n):
        others = [other for other in range(n) if other != city]
        pair = {other: (min(city, other), max(city, other)) for other in others}
        others.sort(key=lambda other: (lengths[pair[other]], other))
        nearest, rest = others[:near], others[near:]
        rest.sort(key=lambda other: (alpha[pair[other]], lengths[pair[other]], other))
        listed = sorted(nearest + rest[: k - near], key=lambda other: (lengths[pair[other]], other))
        assert lists[city].tolist() == listed


@pytest.mark.parametrize("other", [n for n in ("c", "multicore")])
def test_many_cities_have_the_same_tree_on_every_backend(backend: Backend, other: str) -> None:
    draws = np.random.default_rng(2)
    n = 3000
    pairs = {(int(i), int(j)) for i, j in draws.integers(0, n, (12_000, 2)) if i < j}
    lengths = {pair: int(x) for pair, x in zip(sorted(pairs), draws.integers(0, 1000, len(pairs)), strict=True)}
    penalties, steps = draws.integers(-300, 300, n), np.array([6400, 3200, 1600, 800], np.int64)
    found = []
    for kernels in (backend, open_backend(other, part=PART)):
        graph = load_many(kernels, n, lengths)
        state = kernels.call("ascend", graph, kernels.call("ascent_given", penalties), steps)
        best, (bound, _) = kernels.call("ascent_best", state), kernels.call("ascent_bound", state)
        cost, degrees, parts = kernels.call("one_tree", graph, penalties)
        found.append(
            [bound, cost, parts, *best.tolist(), *degrees.tolist(), *kernels.call("alphas", graph, best).tolist()]
        )
    assert found[0] == found[1]


def load_many(kernels: Backend, n: int, lengths: dict[tuple[int, int], int]) -> Opaque:
    """The graph of many cities on the device."""
    pairs, values = np.array([*lengths]), np.array([*lengths.values()])
    ways = np.concatenate([pairs, pairs[:, ::-1]])
    order = np.lexsort(ways.T[::-1])
    ends = np.cumsum(np.bincount(ways[:, 0], minlength=n)).astype(np.int32)
    arguments = ends, ways[order, 1].astype(np.int32), np.tile(values, 2)[order]
    return kernels.call("near_graph_load", *arguments)  # type: ignore[no-any-return]


def test_what_is_no_graph_and_what_may_overflow_is_refused(backend: Backend) -> None:
    ends, others, lengths = rows_of(3, {(0, 1): 1, (1, 2): 1, (0, 2): 1})
    for wrong in (ends[::-1].copy(), ends - 1):
        with pytest.raises(KernelError, match="are_rows"):
            backend.call("near_graph_load", wrong, others, lengths)
        with pytest.raises(KernelError, match="are_rows"):
            backend.call("near_rows_load", wrong, others)
    for wrong in (others - 1, others + 1):
        with pytest.raises(KernelError, match="are_cities"):
            backend.call("near_graph_load", ends, wrong, lengths)
        with pytest.raises(KernelError, match="are_cities"):
            backend.call("near_rows_load", ends, wrong)
    graph = backend.call("near_graph_load", ends, others, lengths)
    for penalty in (MOST_PENALTY + 1, -MOST_PENALTY - 1, np.iinfo(np.int64).min):
        for entry, more in (("one_tree", ()), ("alphas", ()), ("alpha_lists", (0, 1))):
            with pytest.raises(KernelError, match="are_penalties"):
                backend.call(entry, graph, np.array([0, penalty, 0], np.int64), *more)
    for step in (-1, (1 << 38) + 1):
        with pytest.raises(KernelError, match="are_steps"):
            backend.call("ascend", graph, backend.call("ascent_given", np.zeros(3, np.int64)), np.array([step]))
    for near, k in ((-1, 1), (2, 1), (0, 3), (0, 0)):
        with pytest.raises(KernelError, match="is_lawful"):
            backend.call("alpha_lists", graph, np.zeros(3, np.int64), near, k)
