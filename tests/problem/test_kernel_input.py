"""The forms of distances that kernels compute on: which is chosen, what is refused, how floats are scaled."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import strategies
from hypothesis import example, given
from hypothesis import strategies as st

import pytsp
from pytsp import Instance
from pytsp.exceptions import InstanceError
from pytsp.problem import kernel_input as forms
from pytsp.problem.kernel_input import MOST_DISTANCE, MOST_GRID_DISTANCE, form_of, forms_of
from pytsp.problem.location import SPHERES
from pytsp.problem.long_edges import shorten_edges
from pytsp.problem.metrics import METRICS

LONG = MOST_GRID_DISTANCE


@pytest.mark.parametrize(
    ("points", "metric", "kind"),
    [
        ([[0, 0]], "EUC_2D", "grid"),
        ([[0, 0], [LONG, 0]], "EUC_2D", "grid"),
        ([[0, 0], [LONG + 1, 0]], "EUC_2D", "plane"),
        ([[-(10**9), 10**9], [-(10**9), 10**9 - LONG]], "EUC_2D", "grid"),
        ([[0.5, 0.5], [1.5, 0.5]], "EUC_2D", "grid"),
        ([[0, 0], [0.5, 0]], "EUC_2D", "plane"),
        ([[0, 0], [3, 0]], "CEIL_2D", "plane"),
        ([[0, 0], [3, 0]], "EUCLIDEAN", "plane"),
        ([[0, 0], [0, 0]], "EUCLIDEAN", "grid"),
        ([[0, 0, 0], [3, 0, 0]], "EUCLIDEAN", "matrix"),
        ([[0, 0], [3, 0]], "ATT", "matrix"),
        ([[0, 0], [3, 0]], "GEO", "matrix"),
        ([[0, 0], [3, 0]], "GEOM", "matrix"),
        ([[0, 0, 0], [3, 0, 0]], "EUC_3D", "matrix"),
    ],
)
def test_points_are_taken_where_that_is_exact(points: list[list[float]], metric: str, kind: str) -> None:
    assert form_of(Instance.from_coordinates(points, metric=metric)).kind == kind


@given(instance=strategies.instances(max_n=10), tour=st.data())
def test_whole_number_instances_are_taken_as_they_are(instance: Instance, tour: st.DataObject) -> None:
    form = form_of(instance)
    assert form.unit == 1
    assert form.is_exact == (instance.metric not in SPHERES)
    if form.is_exact:
        assert form.whole is instance
    else:
        assert np.array_equal(form.whole.distance_matrix(), instance.distance_matrix())
    if form.kind == "matrix":
        [matrix] = form.arguments
        assert isinstance(matrix, np.ndarray) and matrix.dtype == np.int32
        assert np.array_equal(matrix, instance.distance_matrix())


@given(points=strategies.coordinates(n=6, grid=True), x=st.integers(-(10**9), 10**9), y=st.integers(-(10**9), 10**9))
def test_a_grids_coordinates_are_its_cities_distances(points: np.ndarray, x: int, y: int) -> None:
    form = form_of(Instance.from_coordinates(points + [x, y], metric="EUC_2D"))
    assert form.kind == "grid"
    xs, ys = form.arguments
    assert isinstance(xs, np.ndarray) and isinstance(ys, np.ndarray)
    assert xs.dtype == ys.dtype == np.int32 and xs.flags.c_contiguous and ys.flags.c_contiguous
    assert np.array_equal(np.subtract.outer(xs, xs), np.subtract.outer(points[:, 0], points[:, 0]))
    assert np.array_equal(np.subtract.outer(ys, ys), np.subtract.outer(points[:, 1], points[:, 1]))


@pytest.mark.parametrize("metric", ["EUC_2D", "CEIL_2D", "MAN_2D", "MAX_2D", "EUC_3D"])
def test_the_longest_distance_is_bounded(metric: str) -> None:
    zeros = [0] * (METRICS[metric].widths[0] - 1)
    form_of(Instance.from_coordinates([[0, *zeros], [MOST_DISTANCE, *zeros]], metric=metric))
    far = Instance.from_coordinates([[0, *zeros], [MOST_DISTANCE + 1, *zeros]], metric=metric, name="far")
    with pytest.raises(InstanceError, match=r"far: the longest distance is 1073741824; .* up to 1073741823: divide"):
        form_of(far)


def test_the_longest_distance_of_a_matrix_is_bounded() -> None:
    form_of(Instance.from_matrix([[0, MOST_DISTANCE], [MOST_DISTANCE, 0]]))
    with pytest.raises(InstanceError, match="the longest distance is 1073741824"):
        form_of(Instance.from_matrix([[0, MOST_DISTANCE + 1], [MOST_DISTANCE + 1, 0]]))


def test_the_memory_of_a_matrix_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    instance = Instance.from_coordinates(np.zeros((10, 2)), metric="ATT", name="ten")
    monkeypatch.setattr(forms, "MATRIX_BYTES", 400)
    assert form_of(instance).kind == "matrix"
    monkeypatch.setattr(forms, "MATRIX_BYTES", 399)
    with pytest.raises(InstanceError, match=r"ten: metric ATT needs a matrix of 10 x 10 distances"):
        form_of(instance)


def test_points_need_no_matrix(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forms, "MATRIX_BYTES", 0)
    for metric in ("EUC_2D", "CEIL_2D", "EUCLIDEAN"):
        assert form_of(Instance.from_coordinates([[0, 0], [1, 7], [2, 3]], metric=metric)).kind != "matrix"


@given(instance=strategies.float_instances(min_n=2, max_n=8))
@example(instance=Instance.from_coordinates([[0, 0], [0, 1e-140]], metric="euclidean"))
@example(instance=Instance.from_matrix([[0.0, 1e-320], [1e-320, 0.0]]))
@example(instance=Instance.from_coordinates([[0, 0], [0, 1e149]], metric="euclidean"))
@example(instance=Instance.from_coordinates([[1e9, 1e9], [1e9 + 0.5, 1e9]], metric="euclidean"))
@example(instance=Instance.from_matrix([[0.0, 1e-308], [1e-308, 0.0]]))
@example(instance=Instance.from_matrix([[0.0, 1e307], [1e307, 0.0]]))
@example(instance=Instance.from_matrix([[0.0, 1.0, 5.0], [1.0, 0.0, 5.0], [5.0, 5.0, 0.0]]))
def test_floating_point_distances_are_scaled_by_a_power_of_two(instance: Instance) -> None:
    form = form_of(instance)
    distances, whole = shorten_edges(instance.distance_matrix()), form.whole.distance_matrix()
    assert not form.is_exact
    longest = distances.max()
    assert whole.max() <= 2**29 + 1
    assert form.unit == 2.0**form.exponent
    # A sine says less of antipodes.
    assert np.abs(form.to_lengths(whole) - distances).max() <= longest * 2.0 ** (
        -25 if instance.metric == "HAVERSINE" else -28
    )
    if longest > 0:
        assert whole.max() >= 2**28 - 1 or form.kind == "plane" or instance.metric == "HAVERSINE"


@pytest.mark.parametrize("solver", ["ils", "restarts", "eax", "two-opt", "annealing", "ants"])
@pytest.mark.parametrize("power", [-1030, -1050, -1000, -300])
def test_the_smallest_numbers_are_solved_as_their_multiples_are(solver: str, power: int) -> None:
    # Whole numbers of few bits, so that their multiples are exact, those below the smallest normal number too.
    ways = np.random.default_rng(0).integers(1, 2**10, (12, 12)).astype(float)
    ways += ways.T
    options: dict[str, Any] = {} if solver == "two-opt" else {"climbers": 4}
    if solver in ("ils", "annealing", "ants"):
        options["iterations"] = 20
    results = [
        pytsp.solve(Instance.from_matrix(d), solver=solver, backend="c", **options)
        for d in (ways, np.ldexp(ways, power))
    ]
    assert results[1].tour.tolist() == results[0].tour.tolist()
    assert results[1].length == np.ldexp(results[0].length, power) > 0
    assert np.array_equal(results[1].lengths, np.ldexp(results[0].lengths, power))
    assert [each.length for each in results[1].history] == [np.ldexp(each.length, power) for each in results[0].history]


# Time


@pytest.mark.parametrize(("took", "a_byte"), [(2**25 * 5e-9, 5e-9), (2**25 * 1e-10, 1e-9)])
def test_many_bytes_take_as_long_as_some_do_now_if_that_is_longer(
    took: float, a_byte: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    seconds = iter([10.0, 10.0 + took])
    monkeypatch.setattr(forms.time, "perf_counter", lambda: next(seconds))
    # Few are not tried.
    assert forms.written_seconds(2**28 - 1) == pytest.approx(2**28 * 1e-9)
    assert forms.written_seconds(2**28) == pytest.approx(2**28 * a_byte)


SEVERAL = st.one_of(
    strategies.instances(max_n=9),
    strategies.float_instances(max_n=9),
    strategies.lattice_instances(("EUC_2D", "CEIL_2D", "MAN_2D", "EUCLIDEAN", "HAVERSINE"), max_n=9),
)


@given(listed=st.lists(SEVERAL, max_size=8), block=st.sampled_from([1, 9, 20, 1 << 16]))
def test_forms_of_several_are_those_of_each(listed: list[Instance], block: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(forms, "_BLOCK", block)
        found = forms_of(listed)
    for instance, form in zip(listed, found, strict=True):
        alone = form_of(instance)
        assert (form.kind, form.exponent, form.is_exact) == (alone.kind, alone.exponent, alone.is_exact)
        assert len(form.arguments) == len(alone.arguments)
        for a, b in zip(form.arguments, alone.arguments, strict=True):
            np.testing.assert_array_equal(a, b)
            assert np.asarray(a).dtype == np.asarray(b).dtype
        np.testing.assert_array_equal(form.whole.distance_matrix(), alone.whole.distance_matrix())
        assert form.whole.name == alone.whole.name


def test_of_several_the_one_that_is_too_large_is_named() -> None:
    large = Instance.from_coordinates([[0, 0], [0, MOST_DISTANCE + 1]], "EUC_2D", "large")
    small = Instance.from_coordinates([[0, 0], [0, 1]], "EUC_2D", "small")
    with pytest.raises(InstanceError, match="^large: the longest distance is"):
        forms_of([small, large, small])
