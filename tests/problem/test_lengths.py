"""Lengths of tours of many instances: those of each by itself."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import float_instances, instances, lattice_instances

import pytsp
from pytsp import Instance, TourError
from pytsp.problem import lengths
from pytsp.problem.lengths import tour_lengths

ANY = st.one_of(
    instances(max_n=9),
    float_instances(max_n=9),
    lattice_instances(("EUC_2D", "CEIL_2D", "GEO", "EUCLIDEAN", "HAVERSINE"), max_n=9),
)


@given(listed=st.lists(ANY, max_size=8), most=st.sampled_from([2, 9, 20, 1 << 14]), seed=st.integers(0, 99))
def test_they_are_those_of_each_instance(listed: list[Instance], most: int, seed: int) -> None:
    tours = [np.random.default_rng(seed).permutation(each.n).astype(np.int32) for each in listed]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lengths, "MOST_CITIES", most)
        found = tour_lengths(listed, tours)
    expected = [instance.tour_length(tour) for instance, tour in zip(listed, tours, strict=True)]
    assert found == expected
    assert [type(each) for each in found] == [type(each) for each in expected]


@pytest.mark.parametrize("tour", [[0, 1, 1], [0, 1], [0, 1, 3]])
def test_what_is_no_tour_is_refused(tour: list[int]) -> None:
    listed = [pytsp.generate.uniform(3, seed=seed) for seed in range(2)]
    with pytest.raises(TourError):
        tour_lengths(listed, [np.arange(3, dtype=np.int32), np.array(tour, dtype=np.int32)])
