"""When a tour is in doubt: by its length in units, and by that of the ways between cities that are not far."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from results import square_result

from pytsp import Instance, PytspWarning
from pytsp.run import coarse
from pytsp.run.coarse import is_coarse, may_be_coarse, warn_of_resolution, with_doubt

LINE = Instance.from_coordinates([[x, 0] for x in (0, 1, 2, 3, 4, 5)])
TOUR = np.arange(6, dtype=np.int32)


def far(distance: float, n: int = 12) -> Instance:
    """Places on a circle of length 10, and one far from them."""
    angles = 2 * np.pi * np.arange(n) / n
    radius = 10 / 2 / np.pi
    return Instance.from_coordinates(np.vstack([radius * np.c_[np.cos(angles), np.sin(angles)], [[distance, 0]]]))


def test_a_unit_is_a_millionth_of_the_mean_way_at_most() -> None:
    length = LINE.tour_length(TOUR)
    finest = 1e-6 * length / 6
    assert not is_coarse(LINE, TOUR, length, 0.999 * finest)
    assert is_coarse(LINE, TOUR, length, 1.001 * finest)
    many = Instance.from_coordinates(np.random.default_rng(0).random((1000, 2)))
    tour = np.arange(1000, dtype=np.int32)
    finest = 1e-6 * many.tour_length(tour) / 128
    assert not is_coarse(many, tour, many.tour_length(tour), 0.999 * finest)
    assert is_coarse(many, tour, many.tour_length(tour), 1.001 * finest)


@pytest.mark.parametrize(("length", "resolution"), [(10.0, 0.0), (0.0, 1.0), (math.inf, 1.0)])
def test_lengths_that_are_exact_or_say_nothing_are_in_no_doubt(length: float, resolution: float) -> None:
    assert not is_coarse(LINE, TOUR, length, resolution)


@pytest.mark.parametrize("is_open", [False, True])
def test_a_far_city_leaves_the_others_units_enough_or_a_doubt(is_open: bool) -> None:
    # The path begins at one side of the far city, so that the way back is between other cities, and none of its own.
    instance, tour = far(1e4), np.array([*range(6, 13), *range(6)], np.int32)
    length = (instance.path_length if is_open else instance.tour_length)(tour)
    finest = 1e-4 * instance.distance(0, 1) * (10 if is_open else 11) / 13
    assert not is_coarse(instance, tour, length, 0.99 * finest, is_open=is_open)
    assert is_coarse(instance, tour, length, 1.01 * finest, is_open=is_open)


def test_cities_in_one_place_are_in_no_doubt() -> None:
    instance = Instance.from_coordinates([[0, 0]] * 6 + [[1e9, 0]])
    tour = np.arange(7, dtype=np.int32)
    assert not is_coarse(instance, tour, instance.tour_length(tour), 2.0)


def test_only_cities_far_from_all_others_and_few_are_far() -> None:
    tour = np.arange(8, dtype=np.int32)
    d = np.where(np.eye(8, dtype=bool), 0.0, 1e9)
    for i in range(6):
        d[i, i + 1] = d[i + 1, i] = 1.0
    length = float(Instance.from_matrix(d).tour_length(tour))
    assert is_coarse(Instance.from_matrix(d), tour, length, 2.0)
    # It is near to one that does not follow it.
    d[7, 3] = d[3, 7] = 1.0
    assert not is_coarse(Instance.from_matrix(d), tour, length, 2.0)
    d[7, 3] = d[3, 7] = d[6, 5] = d[5, 6] = d[5, 4] = d[4, 5] = 1e9
    assert not is_coarse(Instance.from_matrix(d), tour, float(Instance.from_matrix(d).tour_length(tour)), 2.0)


@given(seed=st.integers(0, 2**32), n=st.integers(3, 12), distance=st.sampled_from([0.5, 1e3, 1e9, 1e15]))
def test_no_tour_of_many_that_is_coarse_is_left_out(seed: int, n: int, distance: float) -> None:
    draw = np.random.default_rng(seed)
    points = draw.random((4, n, 2)) * draw.choice([1.0, 1e-3])
    points[:, 0] = [distance, 0]
    tours = np.array([draw.permutation(n) for _ in points], np.int32)
    units = 2.0 ** draw.integers(-60, 10, 4)
    instances = [Instance.from_coordinates(each) for each in points]
    lengths = np.array([instance.tour_length(tour) for instance, tour in zip(instances, tours, strict=True)])

    def ways(numbers: Any) -> Any:
        reported = [
            instances[at].distances(tours[at], np.roll(tours[at], -1)) / units[at]
            for at in np.asarray(numbers).tolist()
        ]
        return np.array(reported)

    found = may_be_coarse(ways, n, lengths, units)
    for at, instance in enumerate(instances):
        assert found[at] or not is_coarse(instance, tours[at], lengths[at], units[at])


def test_a_warning_says_why_and_what_to_do() -> None:
    instance = far(1e9, 40)
    tour = np.arange(41, dtype=np.int32)
    changes: dict[str, Any] = {"tour": tour, "length": instance.tour_length(tour)}
    result = with_doubt(square_result(instance, resolution=4.0, **changes))
    assert result.is_coarse
    with pytest.warns(PytspWarning, match=r"city 40 at \[1000000000.0, 0.0\] is too far .* of 4, .* missing data"):
        warn_of_resolution(result)
    fine = square_result(instance, resolution=1e-9, **changes)
    assert with_doubt(fine) is fine
    # The distances themselves are 2^-22 apart.
    assert not with_doubt(fine, is_rescaled=True).is_coarse
    far_away = far(1e14, 40)
    lost = square_result(far_away, tour=tour, length=far_away.tour_length(tour), resolution=1e-9)
    assert not with_doubt(lost).is_coarse and with_doubt(lost, is_rescaled=True).is_coarse
    several = Instance.from_coordinates(np.vstack([far(1e9, 40).coordinates, *([[k * 1e9, 1e9]] for k in range(5))]))
    tour = np.arange(46, dtype=np.int32)
    result = with_doubt(square_result(several, tour=tour, length=several.tour_length(tour), resolution=8.0))
    with pytest.warns(PytspWarning, match=r"city 40 at .*, city 41 .* and 3 more are too far from all others"):
        warn_of_resolution(result)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert coarse.MOST_WAYS == 128
