"""Lengths of tours of many instances: those of each by itself."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import float_instances, instances, lattice_instances

import pytsp
from pytsp import Instance, TourError
from pytsp.problem import instances as _instances
from pytsp.problem.instances import tour_lengths

ANY = st.one_of(
    instances(max_n=9),
    float_instances(max_n=9),
    lattice_instances(("EUC_2D", "CEIL_2D", "GEO", "EUCLIDEAN", "HAVERSINE"), max_n=9),
)


@given(listed=st.lists(ANY, max_size=8), most=st.sampled_from([2, 9, 20, 1 << 14]), seed=st.integers(0, 99))
def test_they_are_those_of_each_instance(listed: list[Instance], most: int, seed: int) -> None:
    tours = [np.random.default_rng(seed).permutation(each.n).astype(np.int32) for each in listed]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_instances, "MOST_CITIES", most)
        found = tour_lengths(listed, tours)
    expected = [instance.tour_length(tour) for instance, tour in zip(listed, tours, strict=True)]
    assert found == expected
    assert [type(each) for each in found] == [type(each) for each in expected]


@given(n=st.integers(1, 9), count=st.integers(1, 9), most=st.sampled_from([9, 1 << 14]), seed=st.integers(0, 99))
def test_tours_may_be_rows_of_an_array(n: int, count: int, most: int, seed: int) -> None:
    points = np.random.default_rng(seed).random((count, n, 2))
    listed = [Instance.from_coordinates(each, "EUCLIDEAN") for each in points]
    rows = np.random.default_rng(seed).permuted(np.tile(np.arange(n, dtype=np.int32), (count, 1)), axis=1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_instances, "MOST_CITIES", most)
        assert tour_lengths(listed, rows) == tour_lengths(listed, list(rows))
        assert tour_lengths(listed, rows.astype(np.int64)) == tour_lengths(listed, list(rows))


@pytest.mark.parametrize("row", [[0, 1, 1], [0, 1, 3]])
@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_rows_that_are_no_tours_are_refused(row: list[int], dtype: type) -> None:
    listed = [pytsp.generate.uniform(3, seed=seed) for seed in range(2)]
    with pytest.raises(TourError):
        tour_lengths(listed, np.array([[0, 1, 2], row], dtype=dtype))


@pytest.mark.parametrize("tour", [[0, 1, 1], [0, 1], [0, 1, 3]])
def test_what_is_no_tour_is_refused(tour: list[int]) -> None:
    listed = [pytsp.generate.uniform(3, seed=seed) for seed in range(2)]
    with pytest.raises(TourError):
        tour_lengths(listed, [np.arange(3, dtype=np.int32), np.array(tour, dtype=np.int32)])
