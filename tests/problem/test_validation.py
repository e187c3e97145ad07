"""None among distances is no way; what else is no number is refused by its row and column."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import pytsp
from pytsp import Instance, InstanceError
from pytsp.problem.instance import FORBIDDEN

HOLED: list[list[Any]] = [[0, 1.5, None, 4], [1.5, 0, 2, 3], [None, 2, 0, 1], [4, 3, 1, 0]]


@pytest.mark.parametrize("make", [list, tuple, lambda rows: np.array(rows, dtype=object)])
@pytest.mark.parametrize("way", [Instance.from_matrix, pytsp.as_instance])
def test_none_is_no_way(make: Any, way: Any) -> None:
    instance = way(make(HOLED))
    assert instance.matrix.dtype == np.float64 and instance.distance(0, 2) == math.inf
    assert pytsp.solve(make(HOLED), backend="c").length == 8.5
    assert pytsp.solve(make(HOLED), backend="c", open=True).length == 4.5


def test_whole_numbers_stay_whole_beside_none() -> None:
    instance = Instance.from_matrix([[0, 2, None], [2, None, 3], [None, 3, 0]])
    assert instance.is_exact and instance.distance_matrix().tolist() == [
        [0, 2, 2**31 - 1],
        [2, 0, 3],
        [2**31 - 1, 3, 0],
    ]
    condensed = pytsp.as_instance([2, None, 3])
    assert np.array_equal(condensed.distance_matrix(), instance.distance_matrix())
    assert pytsp.as_instance(np.array([1, 2, 3], dtype=object)).distance(0, 1) == 1


def test_directed_ways_may_be_missing_one_way() -> None:
    ways = [[0, 1, None], [None, 0, 1], [1, None, 0]]
    assert pytsp.solve(ways, asymmetric=True, backend="c").length == 3
    with pytest.raises(InstanceError, match=r"must be symmetric, but \[0, 1\] is 1 and \[1, 0\] is 2147483647; asym"):
        Instance.from_matrix(ways)


def test_all_may_be_missing() -> None:
    instance = Instance.from_matrix([[None, None], [None, None]])
    assert instance.distance(0, 1) == FORBIDDEN["f"]


@pytest.mark.parametrize(
    ("matrix", "words"),
    [
        ([[0, "x"], [1, 0]], r"dtype is <U\d+: row 0, column 1 \(counted from 0\) is 'x'"),
        ([[0, None], ["y", 0]], "dtype is object: row 1, column 0 .* is 'y'"),
        ([[0, None], [True, 0]], "row 1, column 0 .* is True"),
        ([[0, None], [2**63, 0]], "row 1, column 0 .* is 9223372036854775808"),
        ([[0, 1j], [None, 0]], "row 0, column 1 .* is 1j"),
        (
            [[0, None, 2], [1, 2]],
            "matrix must be a rectangular array of numbers: row 1 has 2 elements, but row 0 has 3",
        ),
        ([[0, math.nan], [None, 0]], r"must hold numbers, but \[0, 1\] is nan"),
        ([[0, None], [-1, 0]], r"must not be negative, but \[1, 0\] is -1"),
    ],
)
@pytest.mark.parametrize("is_array", [False, True])
def test_what_is_no_number_is_refused_with_row_and_column(matrix: Any, words: str, is_array: bool) -> None:
    if is_array and len({*map(len, matrix)}) > 1:
        return
    given = np.array(matrix, dtype=object) if is_array else matrix
    with pytest.raises(InstanceError, match=words.replace(r"<U\d+", "object") if is_array else words):
        Instance.from_matrix(given, asymmetric=True)


def test_a_breach_names_the_cities_that_have_names() -> None:
    with pytest.raises(
        InstanceError, match=r"must be symmetric, but \[0, 1\] \('Ulm' to 'Bonn'\) is 1 and \[1, 0\] is 2"
    ):
        Instance.from_matrix([[0, 1], [2, 0]], labels=["Ulm", "Bonn"])


def test_no_coordinate_may_be_missing() -> None:
    with pytest.raises(InstanceError, match=r"the dtype is object: row 1, column 0 \(counted from 0\) is None"):
        pytsp.as_instance([[0, 1], [None, 2], [3, 4]])
