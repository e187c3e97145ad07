"""The descent of a tour along a curve: what its lists hold, and that it keeps what it must."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from pytsp import is_tour
from pytsp.backends import open_backend
from pytsp.neighbours.hilbert import along_hilbert
from pytsp.starts import descent
from pytsp.starts.descent import descended, lists_along_curves

LONG = 1e9


def along_the_curve(points: NDArray[np.float64]) -> NDArray[np.int32]:
    return along_hilbert(points).order.astype(np.int32)


def length_of(points: NDArray[np.float64], tour: NDArray[np.int32]) -> float:
    return float(np.linalg.norm(points[tour] - points[np.roll(tour, 1)], axis=1).sum())


def drawn(n: int, axes: int, seed: int, *, is_crowded: bool = False) -> NDArray[np.float64]:
    """Points of a cube; where it is crowded, many of them coincide."""
    rng = np.random.default_rng(seed)
    return rng.integers(0, 4, (n, axes)).astype(np.float64) if is_crowded else rng.random((n, axes))


@given(
    n=st.integers(2, 60), axes=st.integers(2, 3), k=st.integers(1, 6), more=st.integers(0, 5), seed=st.integers(0, 99)
)
def test_lists_have_the_nearest_of_both_windows(n: int, axes: int, k: int, more: int, seed: int) -> None:
    points, window = drawn(n, axes, seed), k + more
    second = along_hilbert(points @ descent.DIRECTIONS[axes]).order.tolist()
    lists = lists_along_curves(points, k, window)
    assert lists.shape == (n, min(k, n - 1)) and lists.dtype == np.int32
    for city in range(n):
        place = second.index(city)
        near = {*range(max(0, city - window), city + window + 1), *second[max(0, place - window) : place + window + 1]}
        lengths = sorted(np.linalg.norm(points[other] - points[city]) for other in near - {city} if other < n)
        found = [np.linalg.norm(points[other] - points[city]) for other in lists[city]]
        assert len({*lists[city].tolist()} - {city}) == len(found)
        assert np.allclose(found, lengths[: len(found)], rtol=1e-5)


@pytest.mark.parametrize("axes", [2, 3])
def test_the_second_curve_goes_in_directions_at_right_angles(axes: int) -> None:
    across = descent.DIRECTIONS[axes]
    assert np.array_equal(across @ across.T, across[0] @ across[0] * np.eye(axes))


@given(
    n=st.integers(1, 70),
    axes=st.integers(2, 3),
    first=st.integers(0, 3),
    together=st.integers(1, 40),
    piece=st.integers(8, 40),
    is_crowded=st.booleans(),
    moves=st.sampled_from((descent.THREE_OPT, descent.CHAINS)),
    seed=st.integers(0, 99),
)
def test_a_descent_never_lengthens_and_keeps_ends(
    n: int, axes: int, first: int, together: int, piece: int, is_crowded: bool, moves: int, seed: int
) -> None:
    points = drawn(n, axes, seed, is_crowded=is_crowded)
    tour = along_the_curve(points)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(descent, "TOGETHER", together)
        patch.setattr(descent, "PIECE", piece)
        found = descended(points, tour, open_backend("c"), LONG, first, moves)
    assert is_tour(found, n) and found.dtype == np.int32
    assert np.array_equal(found[:first], tour[:first])
    for begin in range(first, n, together):
        assert (found[begin], found[begin : begin + together][-1]) == (tour[begin], tour[begin : begin + together][-1])
    # Distances are rounded to 2^-26 of the longest side.
    assert length_of(points, found) <= length_of(points, tour) * (1 + 1e-6)


def test_a_descent_is_the_same_on_any_number_of_threads() -> None:
    points = drawn(4_000, 3, 0)
    tour = along_the_curve(points)
    found = descended(points, tour, open_backend("c"), LONG)
    assert length_of(points, found) < 0.8 * length_of(points, tour)
    assert np.array_equal(found, descended(points, tour, open_backend("multicore", threads=2), LONG))


def test_a_descent_ends_with_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    points = drawn(3_000, 2, 0)
    tour = along_the_curve(points)
    monkeypatch.setattr(descent, "TOGETHER", 1_000)
    assert np.array_equal(descended(points, tour, open_backend("c"), 0.0), tour)
    # What a thousand takes is at most what it should take and what one has taken.
    monkeypatch.setattr(descent, "DESCENT_SECONDS", 4e-4)
    for times, expected in (([0.0, 0.6, 1.0], 2_000), ([0.0, 0.61], 1_000), ([0.0, 0.2, 0.8, 1.0], 3_000)):
        clock = SimpleNamespace(perf_counter=iter(times).__next__)
        monkeypatch.setattr(descent, "time", clock)
        found = descended(points, tour, open_backend("c"), 1.0)
        assert np.array_equal(found[expected:], tour[expected:])
        assert not np.array_equal(found[expected - 1_000 : expected], tour[expected - 1_000 : expected])
