"""The kernels against the oracle: best moves, whole climbs, all forms of distances, both sides of every threshold."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import oracle
import pytest
import strategies
from cities import scattered
from hypothesis import example, given, settings
from hypothesis import strategies as st
from kernel_calls import distances_of, forms_of, load
from kernel_values import batch_on
from numpy.typing import NDArray

from pytsp import is_tour, random_tours
from pytsp.backends import Backend, Opaque
from pytsp.exceptions import KernelError
from pytsp.problem.instance import Instance
from pytsp.problem.kernel_input import MOST_DISTANCE, MOST_GRID_DISTANCE, Form, form_of
from pytsp.problem.metrics import METRICS
from pytsp.solvers.common.placement import fits_a_block

UNLIMITED = 2**31 - 1
SIZES = [*range(1, 14), 99, 100, 101]


def entries(backend: Backend, form: Form, k: int = 1) -> list[str]:
    """The entry points by which climbers of this instance can climb: on a GPU there are two."""
    if backend.device is None:
        return [f"{form.kind}_climb"]
    fits = fits_a_block(form, k, backend)
    return [f"{form.kind}_climb_thread", *([f"{form.kind}_climb_block"] if fits else [])]


def climbed(backend: Backend, form: Form, batch: Opaque, k: int = 1, limit: int = UNLIMITED) -> Opaque:
    """A batch after its climb, the same by every entry point."""
    loaded = load(backend, form)
    ends = [backend.call(entry, loaded, batch, k, limit) for entry in entries(backend, form, k)]
    one, *others = (backend.fields(end) for end in ends)
    assert all(np.array_equal(one[name], other[name]) for other in others for name in one)
    return ends[0]


def best_move(backend: Backend, form: Form, tour: Any) -> tuple[int, int, int]:
    """The kernel's best move: gain, i and j, read off the first step of a climb."""
    batch = batch_on(backend, tour)
    before, after = (climbed(backend, form, batch, limit=limit) for limit in (0, 1))
    gain = int(backend.call("batch_found", before)[0][0] - backend.call("batch_found", after)[0][0])
    changed = np.flatnonzero(backend.call("batch_tour", after, 0) != np.asarray(tour))
    return (gain, int(changed[0]) - 1, int(changed[-1])) if gain else (0, 0, 0)


def climbs(
    backend: Backend, form: Form, seed: int, first: int, count: int, limit: int = UNLIMITED, k: int = 1
) -> tuple[list[list[int]], list[int], list[int], list[bool]]:
    """The tours, lengths, steps and ends of the kernel's climbers."""
    batch = climbed(backend, form, backend.call("batch_random", form.whole.n, seed, first, count), k, limit)
    lengths, steps, _, done = backend.call("batch_found", batch)
    return tuple(each.tolist() for each in (backend.fields(batch)["tours"], lengths, steps, done))


@cache
def expected_climbs(n: int, metric: str, count: int) -> list[tuple[list[int], int]]:
    """The oracle's climbs from the random tours of seed 5."""
    distances = distances_of(form_of(scattered(n, metric, 1)))
    return [oracle.climb(distances, start) for start in random_tours(n, count, seed=5).tolist()]


# The oracle itself


@given(found=strategies.instances_with_tours(max_n=8))
def test_the_oracles_moves_keep_a_permutation_and_gain_the_difference_of_lengths(
    found: tuple[Instance, NDArray[np.int32]],
) -> None:
    instance, tour = found
    distances = instance.distance_matrix().tolist()
    moves = list(oracle.all_moves(instance.n))
    assert len(moves) == max(0, instance.n * (instance.n - 3) // 2)
    for i, j in moves:
        after = oracle.apply_move(tour.tolist(), i, j)
        assert sorted(after) == list(range(instance.n))
        exact = instance.tour_length(tour) - instance.tour_length(after)
        assert oracle.gain(distances, tour, i, j) == oracle.gain_of_edges(distances, tour, i, j) == exact


# Small cases, by Hypothesis


@given(found=strategies.instances_with_tours(max_n=13))
def test_a_kernels_move_keeps_a_permutation_and_gains_the_difference_of_lengths(
    backend: Backend, found: tuple[Instance, NDArray[np.int32]]
) -> None:
    instance, tour = found
    for form in forms_of(instance):
        moved = climbed(backend, form, batch_on(backend, tour), limit=1)
        after = backend.call("batch_tour", moved, 0)
        [length], [steps], _, _ = backend.call("batch_found", moved)
        assert is_tour(after, instance.n)
        assert length == instance.tour_length(after) == instance.tour_length(tour) - best_move(backend, form, tour)[0]
        assert steps == (length < instance.tour_length(tour))


@st.composite
def crowded(draw: st.DrawFn) -> Instance:
    """Points of a tiny grid, such as [[0, 1], [0, 1], [2, 0]]: many are equal, most distances occur often."""
    n = draw(st.integers(1, 13))
    side = draw(st.integers(0, 3))
    points = [[draw(st.integers(0, side)), draw(st.integers(0, side))] for _ in range(n)]
    return Instance.from_coordinates(points, metric=draw(st.sampled_from(("EUC_2D", "CEIL_2D", "MAN_2D", "EUCLIDEAN"))))


ANY_INSTANCE = st.one_of(strategies.instances(max_n=13), strategies.float_instances(max_n=13), crowded())


@settings(max_examples=300)
@given(instance=ANY_INSTANCE, data=st.data())
def test_the_best_move_is_the_oracles(backend: Backend, instance: Instance, data: st.DataObject) -> None:
    tour = data.draw(strategies.tours(instance.n)).tolist()
    for form in forms_of(instance):
        assert best_move(backend, form, tour) == oracle.best_move(distances_of(form), tour)


@settings(max_examples=200)
@given(instance=ANY_INSTANCE, seed=st.integers(0, 2**64 - 1), first=st.integers(0, 2**62 - 10))
@example(instance=Instance.from_coordinates([[0, 0], [0, 0]], metric="EUC_2D"), seed=0, first=0)
@example(instance=Instance.from_coordinates([[3, 4]] * 9, metric="EUC_2D"), seed=0, first=0)
def test_a_climber_ends_where_the_oracle_does(backend: Backend, instance: Instance, seed: int, first: int) -> None:
    starts = random_tours(instance.n, 3, seed, first).tolist()
    for form in forms_of(instance):
        distances = distances_of(form)
        ends = [oracle.climb(distances, start) for start in starts]
        tours, lengths, steps, done = climbs(backend, form, seed, first, 3)
        assert tours == [tour for tour, _ in ends]
        assert steps == [count for _, count in ends]
        assert lengths == [oracle.length(distances, tour) for tour in tours]
        assert all(done)
        for start, tour, length in zip(starts, tours, lengths, strict=True):
            assert oracle.best_move(distances, tour) == (0, 0, 0)
            assert length <= oracle.length(distances, start)


@given(instance=ANY_INSTANCE, limit=st.integers(0, 9))
def test_a_limited_climber_makes_the_oracles_first_moves(backend: Backend, instance: Instance, limit: int) -> None:
    form = form_of(instance)
    distances = distances_of(form)
    [tour], [length], [steps], [done] = climbs(backend, form, 7, 0, 1, limit)
    expected = random_tours(instance.n, 1, seed=7)[0].tolist()
    for _ in range(steps):
        gain, i, j = oracle.best_move(distances, expected)
        assert gain > 0
        expected = oracle.apply_move(expected, i, j)
    assert tour == expected
    assert length == oracle.length(distances, tour)
    assert steps <= limit
    assert done or steps == limit
    assert not done or oracle.best_move(distances, tour) == (0, 0, 0)


# Invariances


@given(data=st.data(), n=st.integers(1, 12))
def test_the_best_move_does_not_depend_on_the_cities_numbers(backend: Backend, data: st.DataObject, n: int) -> None:
    points = data.draw(strategies.coordinates(n=n, grid=True))
    tour, numbers = data.draw(strategies.tours(n)), data.draw(strategies.tours(n))
    renumbered = np.empty_like(points)
    renumbered[numbers] = points
    plain = best_move(backend, form_of(Instance.from_coordinates(points, metric="EUC_2D")), tour)
    assert plain == best_move(backend, form_of(Instance.from_coordinates(renumbered, metric="EUC_2D")), numbers[tour])


@given(data=st.data(), n=st.integers(1, 12))
def test_the_best_move_does_not_depend_on_where_the_plane_lies(backend: Backend, data: st.DataObject, n: int) -> None:
    points = data.draw(strategies.coordinates(n=n, grid=True))
    tour = data.draw(strategies.tours(n))
    x, y = data.draw(st.integers(-1000, 1000)), data.draw(st.integers(-(10**6), 10**6))
    plain = best_move(backend, form_of(Instance.from_coordinates(points, metric="EUC_2D")), tour)
    for moved in (points + [x, y], points[:, ::-1], points * [-1, 1], points[:, ::-1] * [1, -1], -points):
        assert plain == best_move(backend, form_of(Instance.from_coordinates(moved, metric="EUC_2D")), tour)


@given(data=st.data(), n=st.integers(1, 12))
def test_the_best_gain_does_not_depend_on_where_a_tour_begins_and_which_way_it_goes(
    backend: Backend, data: st.DataObject, n: int
) -> None:
    form = form_of(Instance.from_coordinates(data.draw(strategies.coordinates(n=n)), metric="EUC_2D"))
    tour = data.draw(strategies.tours(n))
    turned = np.roll(tour, data.draw(st.integers(0, n)))
    gains = {best_move(backend, form, each)[0] for each in (tour, turned, tour[::-1], turned[::-1])}
    assert len(gains) == 1


@given(data=st.data(), n=st.integers(1, 12), factor=st.sampled_from((2, 3, 1000)))
def test_scaled_distances_give_the_same_climb(backend: Backend, data: st.DataObject, n: int, factor: int) -> None:
    matrix = data.draw(strategies.symmetric_matrices(n, n, largest=10**5))
    tours, lengths, steps, _ = climbs(backend, form_of(Instance.from_matrix(matrix)), 1, 0, 2)
    scaled = climbs(backend, form_of(Instance.from_matrix(matrix * factor)), 1, 0, 2)
    assert scaled[0] == tours
    assert scaled[1] == [factor * length for length in lengths]
    assert scaled[2] == steps


# Every metric at every size that the issue names


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("metric", ["EUC_2D", "CEIL_2D", "EXPLICIT"])
def test_climbers_of_these_sizes_end_where_the_oracle_does(backend: Backend, metric: str, n: int) -> None:
    ends = expected_climbs(n, metric, 2)
    for form in forms_of(scattered(n, metric, 1)):
        tours, lengths, steps, done = climbs(backend, form, 5, 0, 2)
        assert tours == [tour for tour, _ in ends]
        assert steps == [count for _, count in ends]
        assert lengths == [form.whole.tour_length(tour) for tour in tours]
        assert all(done)


@pytest.mark.parametrize("metric", [*METRICS, "EXPLICIT"])
def test_climbers_of_every_metric_end_where_the_oracle_does(backend: Backend, metric: str) -> None:
    form = form_of(scattered(31, metric, 1))
    ends = expected_climbs(31, metric, 2)
    tours, lengths, steps, _ = climbs(backend, form, 5, 0, 2)
    assert (tours, steps) == ([tour for tour, _ in ends], [count for _, count in ends])
    assert lengths == [form.whole.tour_length(tour) for tour in tours]


# Thresholds of exact rounding


def squares_around_halves(longest: int) -> list[tuple[int, int]]:
    """Differences (x, y) whose distance is as near to a half as whole numbers allow, up to `longest`."""
    found = []
    for d in [1, 2, 3, 1000, 1400, 4096, 20_000, longest - 2, longest - 1]:
        for square in (d * d + d, d * d + d + 1, d * d, d * d - 1, d * d + 1):
            found += sums_of_two_squares(square)[:2]
    return [(x, y) for x, y in found if x * x + y * y <= longest * longest]


def sums_of_two_squares(square: int) -> list[tuple[int, int]]:
    """All x ≥ y ≥ 0 with x² + y² = `square`."""
    xs = np.arange(int(square**0.5) + 2, dtype=np.int64)
    rest = square - xs * xs
    ys = np.rint(np.sqrt(np.maximum(rest, 0))).astype(np.int64)
    return [(int(x), int(y)) for x, y in zip(xs, ys, strict=True) if x * x + y * y == square and x >= y]


@pytest.mark.parametrize("metric", ["EUC_2D", "CEIL_2D"])
def test_distances_next_to_a_half_are_rounded_as_tsplib_says(backend: Backend, metric: str) -> None:
    differences = squares_around_halves(MOST_GRID_DISTANCE)
    assert len(differences) > 20
    for x, y in differences:
        form = form_of(Instance.from_coordinates([[0, 0], [x, y]], metric=metric))
        assert form.kind == ("grid" if metric == "EUC_2D" else "plane")
        _, [length], _, _ = climbs(backend, form, 0, 0, 1)
        assert length == form.whole.tour_length([0, 1])


@pytest.mark.parametrize(
    ("x", "y", "kind"),
    [
        (MOST_GRID_DISTANCE, 0, "grid"),
        (MOST_GRID_DISTANCE + 1, 0, "plane"),
        (27_600, 36_800, "grid"),
        (27_600, 36_801, "plane"),
        (1.5, 0, "plane"),
        (MOST_DISTANCE, 0, "plane"),
    ],
)
def test_both_sides_of_the_grids_limit_are_exact(backend: Backend, x: float, y: float, kind: str) -> None:
    corners = [[0, 0], [x, y], [0, y], [x, 0], [x, y], [0, 0]]
    form = form_of(Instance.from_coordinates(np.array(corners) - [x, 0], metric="EUC_2D"))
    assert form.kind == kind
    tour = [0, 1, 2, 3, 5, 4]
    assert best_move(backend, form, tour) == oracle.best_move(distances_of(form), tour)
    tours, lengths, _, _ = climbs(backend, form, 0, 0, 5)
    assert lengths == [form.whole.tour_length(tour) for tour in tours]


def test_the_largest_gain_stays_in_32_bits(backend: Backend) -> None:
    n = 6
    matrix = np.zeros((n, n), np.int64)
    for a, b in ((0, 1), (3, 4)):
        matrix[a, b] = matrix[b, a] = MOST_DISTANCE
    form = form_of(Instance.from_matrix(matrix))
    assert best_move(backend, form, range(n)) == (2 * MOST_DISTANCE, 0, 3)
    # The tour that has the long edges in the place of the short ones loses as much by any move that brings them in.
    dear = Instance.from_matrix(MOST_DISTANCE - matrix)
    assert best_move(backend, form_of(dear), range(n)) == oracle.best_move(dear.distance_matrix().tolist(), range(n))


@pytest.mark.parametrize("metric", ["EUC_2D", "CEIL_2D", "EUC_3D", "MAN_2D", "MAX_2D", "ATT", "EUCLIDEAN"])
def test_distant_clusters_of_fractional_points_are_exact(backend: Backend, metric: str) -> None:
    random = np.random.default_rng(3)
    width = METRICS[metric].widths[0]
    points = random.normal(0, 3, (24, width)) + random.integers(-1, 2, (24, 1)) * 3e7
    form = form_of(Instance.from_coordinates(points, metric=metric))
    tours, lengths, steps, _ = climbs(backend, form, 0, 0, 3)
    distances = distances_of(form)
    ends = [oracle.climb(distances, start) for start in random_tours(24, 3, seed=0).tolist()]
    assert (tours, steps) == ([tour for tour, _ in ends], [count for _, count in ends])
    assert lengths == [form.whole.tour_length(tour) for tour in tours]


# Several moves a pass


@given(instance=strategies.instances(max_n=12), k=st.integers(1, 5) | st.just(UNLIMITED), seed=st.integers(0, 99))
@example(instance=Instance.from_coordinates([[c % 4, c // 4] for c in range(12)], metric="EUC_2D"), k=UNLIMITED, seed=1)
def test_k_swap_is_the_oracles(backend: Backend, instance: Instance, k: int, seed: int) -> None:
    form = form_of(instance)
    tours, lengths, steps, done = climbs(backend, form, seed, 0, 4, k=k)
    distances = distances_of(form)
    ends = [oracle.k_swap(distances, start, k) for start in random_tours(instance.n, 4, seed).tolist()]
    assert (tours, steps) == ([tour for tour, _ in ends], [count for _, count in ends])
    assert lengths == [form.whole.tour_length(tour) for tour in tours]
    assert all(done)


@pytest.mark.parametrize("n", [23, 24, 25, 63, 64, 65, 100])
@pytest.mark.parametrize("k", [1, 2, 8, UNLIMITED])
def test_k_swap_is_the_oracles_around_the_tiles(backend: Backend, n: int, k: int) -> None:
    points = np.random.default_rng(n).integers(0, n, (n, 2))
    form = form_of(Instance.from_coordinates(points, metric="EUC_2D"))
    tours, _, steps, _ = climbs(backend, form, 1, 0, 2, k=k)
    distances = distances_of(form)
    ends = [oracle.k_swap(distances, start, k) for start in random_tours(n, 2, 1).tolist()]
    assert (tours, steps) == ([tour for tour, _ in ends], [count for _, count in ends])


@given(instance=strategies.instances(max_n=12), seed=st.integers(0, 99))
def test_one_move_a_pass_is_best_improvement(instance: Instance, seed: int) -> None:
    distances = distances_of(form_of(instance))
    start = random_tours(instance.n, 1, seed)[0].tolist()
    assert oracle.k_swap(distances, start, 1) == oracle.climb(distances, start)


# Batches


def test_a_batch_goes_on_as_if_it_had_not_stopped(backend: Backend) -> None:
    form = form_of(scattered(40, "EUC_2D", 0))
    batch = climbed(backend, form, backend.call("batch_random", 40, 2, 5, 9), limit=0)
    lengths, steps, passes, done = backend.call("batch_found", batch)
    assert lengths.tolist() == [form.whole.tour_length(tour) for tour in random_tours(40, 9, 2, 5)]
    assert not (steps.any() or passes.any() or done.any())
    while not done.all():
        batch = climbed(backend, form, batch, limit=3)
        lengths, steps, _, done = backend.call("batch_found", batch)
    tours, wanted, moves, _ = climbs(backend, form, 2, 5, 9)
    assert (lengths.tolist(), steps.tolist()) == (wanted, moves)
    assert [backend.call("batch_tour", batch, place).tolist() for place in range(9)] == tours


@pytest.mark.parametrize("tour", [[0, 1, 1, 2], [0, 1, 2, 4], [-1, 0, 1, 2]])
def test_a_kernel_refuses_what_is_no_tour(backend: Backend, tour: list[int]) -> None:
    with pytest.raises(KernelError, match="is_tour"):
        backend.call("descent_given", np.array(tour, np.int32))


@pytest.mark.parametrize(("first", "count"), [(-1, 1), (0, 0), (0, -1)])
def test_a_kernel_refuses_what_is_no_range_of_climbers(backend: Backend, first: int, count: int) -> None:
    form = form_of(scattered(4, "EUC_2D", 0))
    with pytest.raises(KernelError, match="are_climbers"):
        climbs(backend, form, 0, first, count)
