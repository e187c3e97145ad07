"""The laws of an instance: what it accepts, what it refuses, and its lengths."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst
from numpy.typing import NDArray
from strategies import (
    EXACT_METRICS,
    coordinates,
    float_instances,
    instances,
    instances_with_tours,
    symmetric_matrices,
    tours,
)

from pytsp.exceptions import InstanceError, TourError
from pytsp.problem.instance import Instance
from pytsp.problem.instances import Instances

SQUARE = [[0, 0], [0, 3], [4, 3], [4, 0]]


@given(instances_with_tours())
def test_a_tours_length_is_the_sum_of_its_edges(pair: tuple[Instance, NDArray[np.int32]]) -> None:
    instance, tour = pair
    edges = zip(tour.tolist(), np.roll(tour, -1).tolist(), strict=True)
    length = instance.tour_length(tour)
    assert type(length) is int
    assert length == sum(instance.distance(i, j) for i, j in edges)


@given(st.data(), st.one_of(instances(), float_instances()))
def test_length_is_invariant_under_rotation_and_reversal(data: st.DataObject, instance: Instance) -> None:
    tour = data.draw(tours(instance.n))
    turned = np.roll(tour, data.draw(st.integers(0, instance.n)))
    assert instance.tour_length(turned) == instance.tour_length(tour) == instance.tour_length(turned[::-1])


@given(st.one_of(instances(), float_instances()))
def test_the_matrix_holds_every_distance(instance: Instance) -> None:
    matrix = instance.distance_matrix()
    n = instance.n
    assert matrix.shape == (n, n)
    assert matrix.dtype == (np.int64 if instance.is_exact else np.float64)
    assert np.array_equal(matrix, matrix.T)
    assert not matrix.diagonal().any()
    assert matrix.tolist() == [[instance.distance(i, j) for j in range(n)] for i in range(n)]
    cities = np.arange(n)
    assert np.array_equal(instance.distances(cities[:, None], cities[None, :]), matrix)
    assert np.allclose(instance.distance_rows(1, n + 1), matrix[1:], rtol=0 if instance.is_exact else 1e-12)


@given(instances())
def test_an_instance_and_its_matrix_have_the_same_lengths(instance: Instance) -> None:
    copy = Instance.from_matrix(instance.distance_matrix())
    tour = instance.canonical_tour()
    assert copy.is_exact
    assert copy.tour_length(tour) == instance.tour_length(tour)


def test_a_matrix_is_built_in_blocks_of_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    instance = Instance.from_coordinates(np.random.default_rng(0).integers(0, 100, (37, 2)), metric="EUC_2D")
    whole = instance.distance_matrix()
    for block in (1, 36, 37, 38, 80, 37 * 37):
        monkeypatch.setattr("pytsp.problem.instance._BLOCK", block)
        assert np.array_equal(instance.distance_matrix(), whole)


@pytest.mark.parametrize("metric", EXACT_METRICS)
def test_lists_integers_and_floats_give_the_same_instance(metric: str) -> None:
    width = 3 if metric.endswith("3D") or metric.startswith("XRAY") else 2
    whole = np.arange(5 * width).reshape(5, width)
    made = [
        Instance.from_coordinates(xy, metric.lower()) for xy in (whole, whole.tolist(), whole / 1.0, whole.astype("f4"))
    ]
    for instance in made:
        assert instance.metric == metric and instance.is_exact
        assert np.array_equal(instance.distance_matrix(), made[0].distance_matrix())


def test_euclidean_lengths_are_not_rounded() -> None:
    instance = Instance.from_coordinates([[0, 0], [1, 1]], metric="euclidean")
    assert not instance.is_exact
    assert instance.tour_length([0, 1]) == 2 * 2**0.5
    solid = Instance.from_coordinates([[0, 0, 0], [1, 1, 1]], metric="EUCLIDEAN")
    assert solid.distance(0, 1) == 3**0.5


@given(symmetric_matrices())
def test_a_float_matrix_stays_in_floating_point(matrix: NDArray[np.int64]) -> None:
    for dtype in (np.float32, np.float64):
        instance = Instance.from_matrix(matrix.astype(dtype))
        assert instance.matrix is not None and instance.matrix.dtype == np.float64
        assert not instance.is_exact
        assert isinstance(instance.tour_length(instance.canonical_tour()), float)


@given(symmetric_matrices())
def test_an_integer_matrix_stays_whole(matrix: NDArray[np.int64]) -> None:
    for given_matrix in (matrix, matrix.tolist(), matrix.astype(np.int32), matrix.astype(np.uint64)):
        instance = Instance.from_matrix(given_matrix)
        assert instance.matrix is not None and instance.matrix.dtype == np.int64
        assert instance.is_exact
        assert np.array_equal(instance.matrix, matrix)


def test_the_diagonal_is_ignored() -> None:
    matrix = np.array([[np.inf, 1.5], [1.5, np.nan]])
    assert Instance.from_matrix(matrix).distance_matrix().tolist() == [[0.0, 1.5], [1.5, 0.0]]
    assert Instance.from_matrix([[-9, 1], [1, 9999]]).distance(1, 1) == 0
    assert np.isinf(matrix[0, 0])


def test_a_city_is_at_no_distance_from_itself_on_the_globe() -> None:
    instance = Instance.from_coordinates([[10.0, 20.0], [10.0, 20.0]], metric="GEO")
    assert instance.distance_matrix().tolist() == [[0, 1], [1, 0]]
    assert Instance.from_coordinates([[10.0, 20.0]], metric="GEO").tour_length([0]) == 0


@given(coordinates())
def test_arrays_are_copies_and_read_only(points: NDArray[np.float64]) -> None:
    original = points.copy()
    instance = Instance.from_coordinates(points, metric="EUC_2D")
    points += 1.0
    assert np.array_equal(instance.coordinates, original)
    assert instance.coordinates is not None
    with pytest.raises(ValueError, match="read-only"):
        instance.coordinates[0, 0] = 1.0
    with pytest.raises(dataclasses.FrozenInstanceError):
        instance.name = "other"


def test_a_read_only_view_of_a_writable_array_is_copied() -> None:
    base = np.array([[0, 1], [1, 0]])
    view = base[:]
    view.setflags(write=False)
    instance = Instance.from_matrix(view)
    base[0, 1] = base[1, 0] = 7
    assert instance.distance(0, 1) == 1


def test_a_read_only_view_is_taken_as_it_is_only_where_nobody_can_change_what_it_is_of() -> None:
    values = np.array([[0, 1], [1, 0]])
    owner = values.copy()
    owner.setflags(write=False)
    seen = np.frombuffer(memory := bytearray(values.tobytes()), np.int64).reshape(2, 2)
    seen.setflags(write=False)
    instances = [Instance.from_matrix(each) for each in (owner[:], seen)]
    owner.setflags(write=True)
    owner[0, 1] = owner[1, 0] = 7
    memory[:] = bytes(len(memory))
    assert [instance.distance(0, 1) for instance in instances] == [1, 1]
    lasting = np.frombuffer(values.tobytes(), np.int64).reshape(2, 2)
    matrix = Instance.from_matrix(lasting).matrix
    assert matrix is not None and np.shares_memory(matrix, lasting)
    # Of another layout there is a copy.
    apart = np.frombuffer(b" " + values.tobytes(), np.uint8)[1:].view(np.int64).reshape(2, 2)
    for other in (np.frombuffer(values.astype(">i8").tobytes(), ">i8").reshape(2, 2), lasting.T, apart):
        assert np.array_equal(Instance.from_matrix(other).distance_matrix(), values)


def test_the_matrix_that_is_returned_is_the_callers_own() -> None:
    instance = Instance.from_matrix([[0, 1], [1, 0]])
    instance.distance_matrix()[0, 1] = 5
    assert instance.distance(0, 1) == 1


def test_the_text_of_an_instance_is_short() -> None:
    instance = Instance.from_coordinates(SQUARE, metric="EUC_2D", name="square", optimum=14)
    assert repr(instance) == "Instance(name='square', n=4, metric='EUC_2D', optimum=14)"
    assert instance.tour_length(instance.canonical_tour()) == 14


@pytest.mark.parametrize(
    ("points", "fragment"),
    [
        ([], r"shape \(n, 2\)"),
        ([1, 2], r"shape \(n, 2\)"),
        ([[1, 2, 3]], r"EUC_2D needs 2 coordinates a city; the shape is \(1, 3\)"),
        ([[0, 0], [0, np.nan]], r"must be finite, but \[1, 1\] is nan"),
        ([[0, 0], [-np.inf, 0]], r"must be finite, but \[1, 0\] is -inf"),
        ([[0, 0], [0]], "rectangular array"),
        ([["0", "0"]], "dtype is <U1"),
        ([[True, False]], "dtype is bool"),
        ([[1j, 0]], "dtype is complex128"),
        ([[None, 0]], "dtype is object"),
        ([[10**30, 0]], "dtype is object"),
        (np.zeros((2, 2), np.longdouble), "dtype is float128|dtype is float96|dtype is longdouble"),
        ([[2**53 + 1, 0]], r"must not exceed 2\*\*53"),
        ([[-(2**63), 0]], r"must not exceed 2\*\*53"),
        ([[0, 0], [1e16, 0]], "scale the coordinates down"),
        ([[1e308, 1e308], [-1e308, -1e308]], "scale the coordinates down"),
    ],
)
def test_what_are_no_coordinates_is_refused(points: Any, fragment: str) -> None:
    with pytest.raises(InstanceError, match=fragment):
        Instance.from_coordinates(points, metric="EUC_2D")


@pytest.mark.parametrize(
    ("matrix", "fragment"),
    [
        ([], r"shape \(n, n\)"),
        (5, r"shape \(n, n\)"),
        ([[0, 1, 2], [1, 0, 3]], r"the shape is \(2, 3\)"),
        ([[0, 1], [2, 0]], r"must be symmetric, but \[0, 1\] is 1 and \[1, 0\] is 2"),
        ([[0, -1], [-1, 0]], r"must not be negative, but \[0, 1\] is -1"),
        ([[0, np.nan], [np.nan, 0]], r"must hold numbers, but \[0, 1\] is nan .*; inf forbids an edge"),
        ([[0, -np.inf], [-np.inf, 0]], r"must not be negative, but \[0, 1\] is -inf"),
        ([[0, np.inf], [1.0, 0]], r"must be symmetric, but \[0, 1\] is inf and \[1, 0\] is 1.0"),
        ([[0, np.inf, 1e308], [np.inf, 0, 1], [1e308, 1, 0]], r"must not exceed .*, but \[0, 2\] is 1e\+308"),
        ([[0, 2**62], [2**62, 0]], r"must not exceed \d+, for a tour of 2 cities"),
        (np.array([[0, 2**63], [2**63, 0]], np.uint64), "must not exceed int64"),
        ([[0.0, 1e308], [1e308, 0.0]], r"must not exceed .*, for a tour of 2 cities"),
        ([[0, 1], [1]], "rectangular array"),
        ([["0"]], "dtype is <U1"),
        ([[False]], "dtype is bool"),
    ],
)
def test_what_is_no_matrix_of_distances_is_refused(matrix: Any, fragment: str) -> None:
    with pytest.raises(InstanceError, match=fragment):
        Instance.from_matrix(matrix)


def test_an_instance_has_coordinates_or_a_matrix() -> None:
    points, matrix = np.zeros((2, 2)), np.zeros((2, 2))
    with pytest.raises(InstanceError, match="either coordinates or a matrix"):
        Instance("none", "EUC_2D")
    with pytest.raises(InstanceError, match="either coordinates or a matrix"):
        Instance("both", "EUC_2D", points, matrix)
    with pytest.raises(InstanceError, match="the metric of a matrix is 'EXPLICIT', not 'EUC_2D'"):
        Instance("odd", "EUC_2D", None, matrix)
    with pytest.raises(InstanceError, match="metric 'EXPLICIT' is not known"):
        Instance("odd", "EXPLICIT", points)
    with pytest.raises(InstanceError, match="display has 3 rows, but the instance has 2 cities"):
        Instance.from_matrix(matrix, display=np.zeros((3, 2)))


def test_cities_out_of_range_are_refused() -> None:
    instance = Instance.from_coordinates(SQUARE, metric="EUC_2D")
    with pytest.raises(InstanceError, match="city 4 is not one of 0 … 3"):
        instance.distance(0, 4)
    with pytest.raises(InstanceError, match="city -1 is not one of 0 … 3"):
        instance.distances([0, -1], 0)
    with pytest.raises(InstanceError, match="dtype is float64"):
        instance.distances([0.5], 0)
    assert instance.distances([], []).shape == (0,)


@pytest.mark.parametrize("tour", [[0, 1, 2], [0, 1, 2, 2], [0, 1, 2, 4], [0.0, 1.0, 2.0, 3.0], [[0, 1, 2, 3]]])
def test_what_is_no_tour_has_no_length(tour: Any) -> None:
    with pytest.raises(TourError):
        Instance.from_coordinates(SQUARE, metric="EUC_2D").tour_length(tour)


def test_lengths_beyond_32_bits_are_exact() -> None:
    far = 2**49
    instance = Instance.from_coordinates([[0, 0], [far, 0], [0, 0], [far, 0]], metric="EUC_2D")
    assert instance.tour_length([0, 1, 2, 3]) == 4 * far
    weight = 2**60
    matrix = weight - weight * np.eye(3, dtype=np.int64)
    assert Instance.from_matrix(matrix).tour_length([0, 1, 2]) == 3 * weight


@pytest.mark.parametrize("metric", ["EUCLIDEAN", "HAVERSINE"])
def test_coordinates_whose_squares_underflow_are_refused(metric: str) -> None:
    line = np.array([[0, 0], [0.5, 0], [1, 0]])
    far, near = (Instance.from_coordinates(line * unit, metric).tour_length([0, 1, 2]) for unit in (1, 2e-140))
    assert near == pytest.approx(far * 2e-140, rel=1e-9, abs=0)
    with pytest.raises(InstanceError, match=r"within 9e-141 .* extend over 1e-140 .*scale the coordinates up"):
        Instance.from_coordinates(line * 9e-141, metric)
    assert Instance.from_coordinates(line * 0, metric).tour_length([0, 1, 2]) == 0
    assert Instance.from_coordinates(line * 9e-141, metric="EUC_2D").tour_length([0, 1, 2]) == 0


# Many at once

NUMBERS = st.one_of(
    st.integers(-(2**54), 2**54).map(float),
    st.sampled_from([0.0, 1.0, 1e-150, 1e-139, 90.0, 91.0, 180.0, 2.0**51, 1e149, 1e151, np.inf, np.nan]),
)


@given(
    points=npst.arrays(
        np.float64, st.tuples(st.integers(1, 3), st.integers(1, 4), st.integers(1, 4)), elements=NUMBERS
    ),
    metric=st.sampled_from(["euclidean", "EUC_2D", "EUC_3D", "GEO", "HAVERSINE", "MAX_3D"]),
    dtype=st.sampled_from([np.float64, np.float32, np.int64]),
)
def test_instances_of_an_array_are_those_of_its_rows(points: Any, metric: str, dtype: Any) -> None:
    with np.errstate(all="ignore"):
        points = points.astype(dtype)
    found = Instances.checked(points, metric)
    try:
        expected = [Instance.from_coordinates(each, metric) for each in points]
    except InstanceError:
        assert found is None
        return
    for made, other in zip(found or expected, expected, strict=True):
        assert vars(other) | vars(made) | {"coordinates": None} == vars(other) | {"coordinates": None}
        assert made.coordinates is not None
        assert not made.coordinates.flags.writeable
        np.testing.assert_array_equal(made.coordinates, other.coordinates)


def test_instances_of_an_array_do_not_follow_it() -> None:
    points = np.random.default_rng(0).random((2, 4, 2))
    instances = Instances.checked(points, "EUCLIDEAN")
    assert instances is not None
    points[:] = 0
    assert instances[1].tour_length([0, 1, 2, 3]) > 0


@pytest.mark.parametrize("metric", ["EUCLIDEAN", "EUC_2D", "GEO"])
def test_instances_of_an_ordinary_array_are_checked_together(metric: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(Instance, "from_coordinates")
    found = Instances.checked(np.random.default_rng(0).random((3, 5, 2)) / 2, metric)
    assert found is not None
    assert len(found) == 3
