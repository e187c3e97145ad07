"""The kernels of many instances: each comes to what it does alone, whatever stands beside it, on all backends."""

from __future__ import annotations

from typing import Any

import numpy as np
import oracle
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kernel_values import generation_plan
from numpy.typing import NDArray

from pytsp import is_tour
from pytsp.backends import Backend, open_backend
from pytsp.exceptions import KernelError
from pytsp.neighbours.components import components
from pytsp.solvers.common.local_search import PASSES, crossing_plan

K = 8


def drawn(seed: int, sizes: list[int]) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
    """Whole coordinates of instances of given sizes, shape (2, n), some of them equal; and the sizes."""
    each = [np.random.default_rng([seed, number]).integers(0, 60, (2, n)) for number, n in enumerate(sizes)]
    return np.concatenate(each, axis=1).astype(np.float64), np.array(sizes, np.int32)


def part_of(backend: Backend, part: str) -> Backend:
    """The part of the backend that has local search, or crossover."""
    return open_backend(backend.name, part=part)


def lists_of(backend: Backend, axes: NDArray[np.float64], sizes: NDArray[np.int32]) -> NDArray[np.int32]:
    kernels = part_of(backend, "search")
    found: NDArray[np.int32] = kernels.call("plane_many_lists", kernels.call("plane_load", *axes, False), sizes, K)
    return found


def solved(backend: Backend, seed: int, sizes: list[int], limits: list[int], p: int = 5) -> list[tuple[Any, Any]]:
    """The tour and the length of each instance after its generations."""
    axes, each = drawn(seed, sizes)
    lists, ends = lists_of(backend, axes, each), np.cumsum(sizes)
    # As many random tours of each, which follow from its size.
    tours = np.concatenate(
        [
            np.random.default_rng(n).permuted(np.tile(np.arange(n), (p, 1)), axis=1) + end - n
            for n, end in zip(sizes, ends, strict=True)
        ],
        axis=1,
    ).astype(np.int32)
    kernels = part_of(backend, "flat")
    loaded = kernels.call("plane_load", *axes, False)
    many = kernels.call("plane_many_given", loaded, lists, each, np.array(limits, np.int32), tours)
    for generation in range(max(limits)):
        going = kernels.call("many_going", many)
        assert not (going & (generation >= np.array(limits))).any()
        plan = generation_plan(kernels, seed=3, generation=generation, **crossing_plan(0.5))
        many = kernels.call("plane_many_cross", loaded, many, plan)
    found, lengths = kernels.call("many_bests", many)
    return list(zip([tour.tolist() for tour in np.split(found, ends[:-1])], lengths.tolist(), strict=True))


@settings(max_examples=25)
@given(
    st.lists(st.sampled_from([1, 2, 3, 5, 8, 13, 40]), min_size=1, max_size=6),
    st.integers(0, 1000),
    st.data(),
)
def test_each_comes_to_what_it_does_alone(backend: Backend, sizes: list[int], seed: int, data: st.DataObject) -> None:
    limits = data.draw(st.lists(st.integers(0, 5), min_size=len(sizes), max_size=len(sizes)))
    together = solved(backend, seed, sizes, limits)
    axes, each = drawn(seed, sizes)
    for number, (n, (tour, length)) in enumerate(zip(sizes, together, strict=True)):
        first = int(each[:number].sum())
        own = axes[:, first : first + n]
        away = np.rint(np.hypot(*(own[:, :, None] - own[:, None, :]))).astype(int).tolist()
        assert is_tour(np.array(tour, np.int32), n)
        assert length == oracle.length(away, tour)
    assert together == solved(open_backend("c"), seed, sizes, limits)
    # Beside a copy of itself, and of another one.
    twice = solved(backend, seed, [*sizes, *sizes], [*limits, *limits])
    assert twice[: len(sizes)] == together


@settings(max_examples=50)
@given(st.lists(st.integers(1, 12), min_size=1, max_size=5), st.integers(1, 3), st.data())
def test_connected_graphs_are_those_of_one_component(
    backend: Backend, sizes: list[int], k: int, data: st.DataObject
) -> None:
    starts = np.cumsum(sizes) - sizes
    own = [data.draw(st.lists(st.integers(0, n - 1), min_size=n * k, max_size=n * k)) for n in sizes]
    each = [np.array(names, np.int32).reshape(n, k) for names, n in zip(own, sizes, strict=True)]
    lists = np.concatenate([names + np.int32(start) for names, start in zip(each, starts, strict=True)])
    found = part_of(backend, "search").call("many_connected", lists.astype(np.int32), np.array(sizes, np.int32))
    assert found.tolist() == [components(names).max() == 0 for names in each]


@pytest.mark.parametrize("sizes", [[2, 3, 9, 30, 1], [9], [30, 30]])
def test_lists_are_the_nearest_of_the_same_instance(backend: Backend, sizes: list[int]) -> None:
    axes, each = drawn(1, sizes)
    lists = lists_of(backend, axes, each)
    for start, n in zip(np.cumsum(sizes) - sizes, sizes, strict=True):
        own = axes[:, start : start + n]
        away = np.rint(np.hypot(*(own[:, :, None] - own[:, None, :])))
        np.fill_diagonal(away, np.inf)
        nearest = np.argsort(away, axis=1, kind="stable")[:, : min(K, n - 1)]
        nearest = nearest if n > 1 else np.zeros((1, 1), dtype=np.int64)
        nearest = np.concatenate([nearest, *[nearest[:, -1:]] * (K - nearest.shape[1])], axis=1)
        assert (lists[start : start + n] == nearest + start).all()


@pytest.mark.parametrize("n", [2, 8, 50])
def test_climbs_are_those_of_each_by_itself(backend: Backend, n: int) -> None:
    axes, sizes = drawn(2, [n, n, n])
    kernels, lists = part_of(backend, "search"), lists_of(backend, axes, sizes)

    def climbed(axes: NDArray[np.float64], lists: NDArray[np.int32]) -> NDArray[np.int32]:
        loaded = kernels.call("plane_load", *np.ascontiguousarray(axes), False)
        made: NDArray[np.int32] = kernels.call("plane_many_climbed", loaded, n, lists, lists, 7, 4, PASSES)
        return made.reshape(-1, 4, n)

    together = climbed(axes, lists)
    assert all(is_tour(tour, n) for tour in together.reshape(-1, n))
    for at in range(3):
        part = slice(at * n, at * n + n)
        assert (climbed(axes[:, part], lists[part] - np.int32(at * n))[0] == together[at]).all()


@pytest.mark.parametrize(
    ("sizes", "city"),
    [([2, 4], 0), ([3, 2], 0), ([3, 0, 3], 0), ([3, 3], 3), ([3, 3], 0)],
)
def test_what_makes_no_rows_is_refused(backend: Backend, sizes: list[int], city: int) -> None:
    """Sizes of other cities than there are, or tours that leave their row."""
    kernels = part_of(backend, "flat")
    loaded = kernels.call("plane_load", np.arange(6.0), np.zeros(6), False)
    lists = np.array([[1], [0], [1], [4], [3], [4]], np.int32)
    tours = np.array([[0, 1, 2, 3, 4, 5]], np.int32)
    tours[0, [0, city]] = tours[0, [city, 0]]
    given_ = (loaded, lists, np.array(sizes, np.int32), np.full(len(sizes), 2, np.int32), tours)
    if (sizes, city) == ([3, 3], 0):
        kernels.call("plane_many_given", *given_)
        return
    with pytest.raises(KernelError):
        kernels.call("plane_many_given", *given_)
