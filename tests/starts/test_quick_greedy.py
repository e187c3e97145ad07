"""The greedy tour by kernels: what it is beside an oracle, open paths, parts, and what there is time for."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from numpy.typing import NDArray

from pytsp import Instance, is_tour
from pytsp.backends import open_backend
from pytsp.generate import uniform
from pytsp.neighbours.boxes import lists_in_order
from pytsp.neighbours.hilbert import along_hilbert
from pytsp.starts import quick_greedy as module
from pytsp.starts.construct import greedy, nearest_neighbour
from pytsp.starts.quick_greedy import NEAR_CITIES, NEAR_ENDS, greedy_parts, greedy_seconds, quick_greedy

LONG = 1e9
ON_CPUS = [("c", None), ("multicore", 2)]


def along_the_curve(points: NDArray[np.float64]) -> NDArray[np.float64]:
    """The points in order along the curve."""
    return points[along_hilbert(points).order]


def drawn(n: int, seed: int, side: int = 10**6) -> NDArray[np.float64]:
    return along_the_curve(np.random.default_rng(seed).integers(0, side, (n, 2)).astype(np.float64))


def length_of(points: NDArray[np.float64], tour: NDArray[np.int32]) -> float:
    return float(np.linalg.norm(points[tour] - points[np.roll(tour, 1)], axis=1).sum())


def near(points: NDArray[np.float64], cities: list[int], k: int) -> list[list[int]]:
    """The k nearest of each of the cities among them, in order of distance and number."""
    lists = []
    for city in cities:
        squares = [(float(((points[other] - points[city]) ** 2).sum()), other) for other in cities if other != city]
        lists.append([other for _, other in sorted(squares)[:k]])
    return lists


def edges_by_rounds(
    points: NDArray[np.float64], further: int | None = None, ends: Sequence[int] = ()
) -> set[frozenset[int]]:
    """The edges of the greedy path, by sets of fragments that are searched from their beginning for every edge."""
    n = len(points)
    fragment = list(range(n))
    degree = [0] * n
    edges: set[frozenset[int]] = set()

    def join(a: int, b: int) -> None:
        if degree[a] < 2 and degree[b] < 2 and fragment[a] != fragment[b]:
            edges.add(frozenset((a, b)))
            degree[a] += 1
            degree[b] += 1
            old, new = fragment[a], fragment[b]
            fragment[:] = [new if each == old else each for each in fragment]

    for city in ends:
        join(int(further or 0), city)
    k = NEAR_CITIES
    while len({each for city, each in enumerate(fragment) if city != further or ends}) > 1:
        cities = [city for city in range(n) if degree[city] < 2 and city != further]
        lists = near(points, cities, k)
        pairs = [(city, other) for city, listed in zip(cities, lists, strict=True) for other in listed]
        # Single precision without its last 16 bits.
        squared = [np.float32(((points[a] - points[b]) ** 2).sum()).view(np.uint32) >> 16 for a, b in pairs]
        for at in np.argsort(squared, kind="stable"):
            join(*pairs[at])
        k = NEAR_ENDS
    if further is not None and not ends:
        join(further, next(city for city in range(n) if degree[city] < 2 and city != further))
    return edges


def edges_of(tour: NDArray[np.int32]) -> set[frozenset[int]]:
    return {frozenset(pair) for pair in zip(tour[:-1].tolist(), tour[1:].tolist(), strict=True)}


@given(n=st.integers(2, 60), seed=st.integers(0, 99), side=st.sampled_from([1, 3, 50, 10**6]))
@example(n=2, seed=0, side=1)
@example(n=64, seed=0, side=1)
def test_it_takes_the_shortest_edge_that_fits(n: int, seed: int, side: int) -> None:
    points = drawn(n, seed, side)
    for name, threads in ON_CPUS:
        found = quick_greedy(points, points, open_backend(name, threads=threads))
        assert found is not None and found.dtype == np.int32
        assert is_tour(found, n)
        assert edges_of(found) == edges_by_rounds(points)
        # Lists that are known take the place of the first ones, and longer ones are cut.
        lists = lists_in_order(points, min(NEAR_CITIES + seed % 3, n - 1), open_backend("c"))
        by_lists = quick_greedy(points, points, open_backend(name, threads=threads), lists=lists)
        assert by_lists is not None and np.array_equal(by_lists, found)


@given(n=st.integers(4, 50), given_ends=st.integers(0, 2), seed=st.integers(0, 99))
def test_a_further_city_joins_the_ends_of_a_path(n: int, given_ends: int, seed: int) -> None:
    points = drawn(n, seed)
    further, *ends = np.random.default_rng(seed).permutation(n)[: 1 + given_ends].tolist()
    found = quick_greedy(points, points, open_backend("c"), further, ends)
    assert found is not None and is_tour(found, n)
    assert edges_of(found) == edges_by_rounds(points, further, ends)
    beside = np.roll(found, 1 - int(np.flatnonzero(found == further)[0]))[[0, 2]]
    assert {*ends} <= {*beside.tolist()}


def test_it_is_about_as_long_as_the_greedy_tour_of_exact_lengths() -> None:
    points = drawn(20_000, 1)
    instance = Instance.from_coordinates(points, "EUC_2D")
    tours = [quick_greedy(points, points, open_backend(name, threads=threads)) for name, threads in ON_CPUS]
    assert tours[0] is not None and np.array_equal(*tours)
    length = instance.tour_length(tours[0])
    assert 0.99 < length / instance.tour_length(greedy(instance)) < 1.01
    assert length < 0.95 * instance.tour_length(nearest_neighbour(instance))


@pytest.mark.parametrize("spread", ["uniform", "villages"])
def test_in_space_it_is_shorter_than_by_nearest_neighbours(spread: str) -> None:
    rng = np.random.default_rng(2)
    places = rng.random((20_000, 3))
    villages = rng.random((100, 3))[rng.integers(0, 100, 20_000)] + rng.normal(0, 1e-3, (20_000, 3))
    points = along_the_curve(1e6 * (places if spread == "uniform" else villages))
    tours = [quick_greedy(points, points, open_backend(name, threads=threads)) for name, threads in ON_CPUS]
    assert tours[0] is not None and np.array_equal(*tours) and is_tour(tours[0], len(points))
    nearest = nearest_neighbour(Instance.from_coordinates(points, "EUC_3D"))
    assert length_of(points, tours[0]) < length_of(points, nearest)


@given(n=st.integers(2, 40), given_ends=st.integers(0, 2), side=st.sampled_from([1, 3, 10**6]), seed=st.integers(0, 99))
def test_in_space_further_cities_join_the_ends_as_well(n: int, given_ends: int, side: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    points = along_the_curve(rng.integers(0, side, (n, 3)).astype(np.float64))
    closed = quick_greedy(points, points, open_backend("c"))
    assert closed is not None and is_tour(closed, n)
    if n < 4:
        return
    further, *ends = rng.permutation(n)[: 1 + given_ends].tolist()
    found = quick_greedy(points, points, open_backend("c"), further, ends)
    assert found is not None and is_tour(found, n)
    beside = np.roll(found, 1 - int(np.flatnonzero(found == further)[0]))[[0, 2]]
    assert {*ends} <= {*beside.tolist()}


def test_lengths_count_and_not_where_cities_are_shown() -> None:
    """Nearness by the plane proposes the edges, and the points decide which of them is the shortest."""
    plane = np.array([[0.0, 0.0], [1.0, 0.0], [2.0, 0.0], [3.0, 0.0]])
    points = np.array([[0.0, 0.0, 0.0], [9.0, 0.0, 0.0], [1.0, 0.0, 0.0], [5.0, 0.0, 0.0]])
    found = quick_greedy(points, plane, open_backend("c"))
    assert found is not None and edges_of(found) == {frozenset(pair) for pair in ((0, 2), (1, 3), (2, 3))}


@pytest.mark.parametrize("beyond", [0, 1])
def test_too_many_cities_in_one_place_have_none(beyond: int) -> None:
    points = np.repeat([[0.0, 0.0], [1.0, 1.0]], [module.MOST_IN_A_PLACE + beyond, 3], axis=0)
    found = quick_greedy(points, points, open_backend("c"))
    assert (found is None) == bool(beyond)


@given(n=st.integers(1, 90), first=st.integers(0, 3), part=st.integers(4, 40), seed=st.integers(0, 99))
def test_parts_keep_their_ends(n: int, first: int, part: int, seed: int) -> None:
    points = drawn(n, seed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "FIRST_PART", begins := max(4, part // 2))
        patch.setattr(module, "PART", part)
        found = greedy_parts(points, points, open_backend("c"), LONG, first)
    assert is_tour(found, n) and found.dtype == np.int32
    assert np.array_equal(found[:first], np.arange(min(n, first)))
    for begin, end in pairwise([first, *range(first + begins, n, part), n] if n > first else []):
        size = end - begin
        assert sorted(found[begin : begin + size]) == list(range(begin, begin + size))
        assert (found[begin], found[begin + size - 1]) == (begin, begin + size - 1)


def test_as_many_parts_are_greedy_as_there_is_time_for(monkeypatch: pytest.MonkeyPatch) -> None:
    points, kernels = drawn(3_000, 0), open_backend("c")
    for name in ("PART", "FIRST_PART"):
        monkeypatch.setattr(module, name, 1_000)
    for name in ("LISTS_SECONDS", "JOINS_SECONDS"):
        monkeypatch.setattr(module, name, 5e-4)
    assert greedy_seconds(1_000, kernels) == 1.0
    assert greedy_seconds(1_000, open_backend("multicore", threads=2)) == 0.75
    # When all begins, then when each part begins and ends: a city of the next one is thought to take as long.
    for times, sizes in (
        ([0.0, 0.0, 0.99, 0.99, 1.98, 2.1, 3.0, 3.0], (1_000, 1_000, 909)),
        ([0.0, 2.7, 3.1, 3.1], (299,)),
        ([0.0, 3.0], ()),
        ([0.0, 0.1, 1.1, 1.1, 1.9, 1.9, 2.0, 2.0], (1_000, 1_000, 1_000)),
        ([0.0, 0.0, 1.6, 1.6, 2.5, 3.0], (1_000, 874)),
    ):
        seconds = iter(times)
        # What a greedy path itself asks the clock is not counted.
        monkeypatch.setattr(module, "time", SimpleNamespace(perf_counter=lambda seconds=seconds: next(seconds)))
        found = greedy_parts(points, points, kernels, 3.0)
        assert next(seconds, None) is None
        ends = [0, *accumulate(sizes)]
        assert np.array_equal(found[ends[-1] :], np.arange(ends[-1], 3_000))
        for begin, end in pairwise(ends):
            assert {begin, end - 1} <= {*np.flatnonzero(found == np.arange(3_000))}
            assert not np.array_equal(found[begin:end], np.arange(begin, end))
    monkeypatch.undo()
    monkeypatch.setattr(module, "PART", 1_000)
    assert length_of(points, greedy_parts(points, points, kernels, LONG)) < 0.9 * length_of(points, np.arange(3_000))


def test_parts_with_too_many_cities_in_one_place_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "FIRST_PART", 100)
    monkeypatch.setattr(module, "PART", 100)
    points = np.vstack([drawn(100, 0), np.full((100, 2), 7.0), drawn(100, 1)])
    found = greedy_parts(points, points, open_backend("c"), LONG)
    assert is_tour(found, 300)
    stays = [np.array_equal(found[at : at + 100], np.arange(at, at + 100)) for at in (0, 100, 200)]
    assert stays == [False, True, False]


def test_uniform_cities_are_shorter_by_a_sixth() -> None:
    points = along_the_curve(uniform(5_000, 0).coordinates.astype(np.float64))  # type: ignore[union-attr]
    found = quick_greedy(points, points, open_backend("c"))
    assert found is not None
    assert length_of(points, found) < 0.87 * length_of(points, np.arange(5_000))
