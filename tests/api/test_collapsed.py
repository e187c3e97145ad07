"""Cities in one place: a city repeated adds nothing, whatever the metric, and what is solved in its place fits."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import strategies
from held_karp import shortest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import pytsp
from pytsp import Improvement, Instance
from pytsp.api.batches import TOGETHER_CITIES
from pytsp.api.collapsed import MOST_COPIES, Collapsed, collapse_all
from pytsp.exceptions import CheckpointError
from pytsp.io.convert import degrees_and_minutes
from pytsp.neighbours.lists import neighbour_lists
from pytsp.problem.metrics import METRICS
from pytsp.run.monitor import Improved

PART = "search"
# Of MAX_3D and the like: the metrics of coordinates, and what a city more in the same place adds to a tour.
ADDED = dict.fromkeys((name for name in METRICS if " " not in name), 0) | {"GEO": 1, "GEOM": 1}


def repeated(instance: Instance, order: NDArray[np.int64]) -> Instance:
    """The instance whose city i is city `order[i]` of another."""
    if instance.coordinates is not None:
        return Instance.from_coordinates(instance.coordinates[order], instance.metric)
    matrix = instance.distance_matrix()[np.ix_(order, order)]
    return Instance.from_matrix(matrix, asymmetric=True)


@st.composite
def crowded(draw: st.DrawFn, most: int = 6, copies: int = 12) -> tuple[Instance, NDArray[np.int64]]:
    """An instance of some places, and how often each is repeated: each number as often, in any order."""
    places = draw(
        st.one_of(
            strategies.coordinate_instances(tuple(ADDED), min_n=1, max_n=most),
            strategies.matrix_instances(max_n=most),
            strategies.float_instances(max_n=most),
            strategies.directed_matrices(max_n=most).map(lambda d: Instance.from_matrix(d, asymmetric=True)),
        )
    )
    counts = [draw(st.integers(1, copies)) for _ in range(places.n)]
    return places, np.array(draw(st.permutations(np.repeat(np.arange(places.n), counts).tolist())))


def added(places: Instance, order: NDArray[np.int64]) -> int:
    return ADDED.get(places.metric, 0) * (len(order) - places.n)


def returning(places: Instance, order: NDArray[np.int64]) -> int:
    """Return what the way back adds where all cities are in one place: a tour of one city has none."""
    return ADDED.get(places.metric, 0) * (places.n == 1 < len(order))


# Laws


@settings(max_examples=60)
@given(case=crowded(), is_open=st.booleans())
@example(case=(Instance.from_coordinates([[0, 0]], "GEO"), np.array([0, 0])), is_open=False)
def test_a_city_repeated_adds_nothing(case: tuple[Instance, NDArray[np.int64]], is_open: bool) -> None:
    places, order = case
    result = pytsp.solve(repeated(places, order), open=is_open, backend="c")
    assert pytsp.is_tour(result.tour, len(order))
    # A tour that comes by a place twice may even be shorter, where distances break the triangle inequality.
    optimum = shortest(places, is_open=is_open)
    more = added(places, order) + (0 if is_open else returning(places, order))
    assert result.length <= (optimum + more) * (1 + 1e-7)


@settings(max_examples=60)
@given(case=crowded(most=3, copies=3), is_open=st.booleans())
@example(case=(Instance.from_coordinates([[0, 0], [1, 1], [2, 2]], "EUC_2D"), np.array([0, 1, 1, 2])), is_open=False)
@example(case=(Instance.from_matrix([[0, 1, 1], [1, 0, 1000], [1, 1000, 0]]), np.array([0, 0, 1, 2])), is_open=False)
def test_few_cities_in_few_places_are_solved_to_the_optimum(
    case: tuple[Instance, NDArray[np.int64]], is_open: bool
) -> None:
    places, order = case
    instance = repeated(places, order)
    result = pytsp.solve(instance, open=is_open, backend="c")
    assert result.length == pytest.approx(shortest(instance, is_open=is_open), rel=1e-7)


def test_two_ends_in_the_only_place_leave_nothing_out() -> None:
    instance = repeated(Instance.from_matrix([[0]]), np.array([0, 0]))
    assert Collapsed.of(instance, 0, 1) is None
    assert Collapsed.of(instance, 0) is not None
    assert pytsp.solve(instance, open=True, start_city=1, end_city=0, backend="c").tour.tolist() == [1, 0]


@settings(max_examples=100)
@given(case=crowded(), data=st.data())
def test_a_tour_of_few_is_restated_with_every_city_and_its_length(
    case: tuple[Instance, NDArray[np.int64]], data: st.DataObject
) -> None:
    instance = repeated(*case)
    ends = data.draw(st.permutations(range(instance.n)))
    start = data.draw(st.sampled_from((None, ends[0])))
    end = data.draw(st.sampled_from((None, ends[-1]))) if instance.n > 1 else None
    collapsed = Collapsed.of(instance, start, end)
    if collapsed is None:
        return
    few = data.draw(strategies.tours(collapsed.instance.n))
    first, last = collapsed.city(start), collapsed.city(end)
    few = np.array([city for city in few if city not in (first, last)], dtype=np.int32)
    few = np.concatenate([[first] if first is not None else [], few, [last] if last not in (None, first) else []])
    tour = collapsed.restate(few.astype(np.int32))
    assert sorted(tour.tolist()) == list(range(instance.n))
    length = collapsed.instance.path_length(few.astype(np.int32)) + collapsed.offset
    assert instance.path_length(tour) == pytest.approx(length, rel=1e-12)
    assert start in (None, tour[0])
    assert end in (None, tour[-1])
    assert collapsed.tour(tour).tolist() == few.tolist()
    _, counts = np.unique(collapsed.instance.distance_matrix(), axis=0, return_counts=True)
    assert collapsed.instance.n < instance.n
    # As many as places may have a shorter way by this one, and the ends.
    assert counts.max() <= max(MOST_COPIES, case[0].n) + 2


@settings(max_examples=60)
@given(cases=st.lists(crowded(copies=2), max_size=5))
def test_many_instances_are_looked_through_as_each_by_itself(cases: list[tuple[Instance, NDArray[np.int64]]]) -> None:
    instances = [repeated(*case) for case in cases]
    found = collapse_all(instances)
    for number, instance in enumerate(instances):
        alone = Collapsed.of(instance)
        assert (number in found) == (alone is not None)
        if alone is not None:
            assert found[number].kept.tolist() == alone.kept.tolist()


def test_callbacks_are_checked_before_they_are_wrapped() -> None:
    for name in ("progress", "on_improvement"):
        with pytest.raises(TypeError, match=f"{name} must be callable; it is 5"):
            pytsp.solve(ADDRESSES[[0, 1, 2, 3] * 9], backend="c", **{name: 5})


# Which cities share a place


def test_rows_that_are_nearly_equal_are_different_places() -> None:
    rng = np.random.default_rng(0)
    matrix = rng.integers(1, 5, (60, 60))
    matrix = np.repeat(np.repeat(matrix + matrix.T, 2, axis=0), 2, axis=1)
    np.fill_diagonal(matrix, 0)
    pairs = np.arange(0, 120, 2)
    matrix[pairs, pairs + 1] = matrix[pairs + 1, pairs] = 0
    # One pair is apart from each other, one from another city.
    matrix[0, 1] = matrix[1, 0] = 1
    matrix[7, 100] = matrix[100, 7] = 99
    assert Collapsed.of(Instance.from_matrix(np.maximum(matrix, matrix.T))) is None
    metric = np.array([[abs(a // 2 - b // 2) for a in range(40)] for b in range(40)])
    collapsed = Collapsed.of(Instance.from_matrix(metric))
    assert collapsed is not None
    assert collapsed.kept.tolist() == list(range(0, 40, 2))
    # Four cities are then each in a place of its own.
    metric[5, 30] = metric[30, 5] = metric[5, 30] + 1
    collapsed = Collapsed.of(Instance.from_matrix(metric))
    assert collapsed is None
    metric[5, 30] = metric[30, 5] = metric[5, 30] - 2
    collapsed = Collapsed.of(Instance.from_matrix(metric))
    assert collapsed is not None
    assert collapsed.kept.tolist() == sorted([*range(0, 40, 2), 5, 31])


def test_a_way_that_is_as_long_in_one_direction_only_keeps_cities_apart() -> None:
    matrix = np.zeros((6, 6))
    matrix[1:5, 0], matrix[0, 1:5] = 1.0, 2.0
    matrix[1:5, 5], matrix[5, 1:5] = 1.0, 2.0
    matrix[0, 5] = matrix[5, 0] = 3.0
    collapsed = Collapsed.of(Instance.from_matrix(matrix, asymmetric=True))
    assert collapsed is not None
    assert collapsed.kept.tolist() == [0, 1, 5]
    matrix[0, 3] = 1.5
    collapsed = Collapsed.of(Instance.from_matrix(matrix, asymmetric=True))
    assert collapsed is not None
    assert collapsed.kept.tolist() == [0, 1, 3, 5]


@pytest.mark.parametrize("copies", [1, MOST_COPIES, MOST_COPIES + 1])
@pytest.mark.parametrize("metric", ["EUC_2D", "EUCLIDEAN"])
def test_places_keep_one_city_or_some(metric: str, copies: int) -> None:
    places = np.random.default_rng(1).integers(0, 50, (9, 2)) + np.arange(9)[:, None] * 100
    collapsed = Collapsed.of(Instance.from_coordinates(np.repeat(places, copies, axis=0), metric))
    kept = 1 if metric == "EUCLIDEAN" else MOST_COPIES
    if copies <= kept:
        assert collapsed is None
    else:
        assert collapsed is not None
        assert collapsed.instance.n == 9 * kept


def test_zero_has_no_sign() -> None:
    assert Collapsed.of(Instance.from_coordinates([[0.0, 1.0], [-0.0, 1.0], [2.0, 2.0]])) is not None


# Every kind of solve

ADDRESSES = np.array([[5, 8], [2, 9], [8, 9], [2, 5], [1, 5]])


def towns(seed: int, copies: int = 40) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Twelve towns by latitude and longitude, and some orders in each."""
    rng = np.random.default_rng(seed)
    few = np.column_stack([rng.uniform(48, 54, 12), rng.uniform(7, 14, 12)])
    return few, np.repeat(few, copies, axis=0)[rng.permutation(12 * copies)]


def instance_at(degrees: NDArray[np.float64], metric: str) -> Instance:
    """The instance of places by latitude and longitude, in any metric of two coordinates, finer than it rounds."""
    points = degrees_and_minutes(degrees) if metric == "GEO" else degrees if metric == "HAVERSINE" else 100 * degrees
    return Instance.from_coordinates(points, metric)


def test_orders_at_an_address_cost_no_way(backend: Any) -> None:
    d = np.abs(ADDRESSES[:, None] - ADDRESSES[None]).sum(axis=2)
    order = np.repeat(np.arange(5), 6)
    assert pytsp.solve(Instance.from_matrix(d[np.ix_(order, order)]), backend=backend.name).length == 22


@pytest.mark.parametrize("metric", ["HAVERSINE", "GEO", "EUC_2D", "EUCLIDEAN", "CEIL_2D", "ATT", "MAN_2D"])
@pytest.mark.parametrize("is_open", [False, True])
def test_towns_with_many_orders_have_the_length_of_the_towns(metric: str, is_open: bool) -> None:
    few, many = towns(3)
    lengths = [pytsp.solve(instance_at(x, metric), open=is_open, backend="c").length for x in (few, many)]
    assert lengths[1] - ADDED[metric] * (480 - 12) <= lengths[0] * (1 + 1e-9)


@pytest.mark.parametrize("solver", ["auto", "eax", "ils", "large", "ants"])
def test_every_solver_along_lists_has_places_looked_for(solver: str, monkeypatch: pytest.MonkeyPatch) -> None:
    class LookedFor(Exception):
        """Ends a solve where it looks for places."""

    def look(*_: object, **__: object) -> None:
        raise LookedFor

    monkeypatch.setattr(Collapsed, "of", look)
    with pytest.raises(LookedFor):
        pytsp.solve(towns(4)[1], solver=solver, backend="c")


@pytest.mark.parametrize("solver", ["auto", "eax", "ils", "large", "ants"])
def test_every_solver_along_lists_takes_few_cities_a_place(solver: str) -> None:
    few, many = towns(4, copies=9)
    expected = pytsp.solve(few, backend="c").length
    tours: list[NDArray[np.int32]] = []
    reported: list[Improvement] = []

    def take(now: Improved) -> None:
        reported.append(now)
        tours.append(now.tour)

    result = pytsp.solve(
        many,
        solver=solver,
        backend="c",
        iterations=20,
        progress=lambda now: tours.append(now.tour),
        on_improvement=take,
    )
    assert result.length == pytest.approx(expected)
    assert result.solver == ("ils" if solver == "auto" else solver)
    assert all(pytsp.is_tour(tour, len(many)) for tour in tours)
    assert [reported[-1].length, result.history[-1].length] == pytest.approx([result.length] * 2)
    assert result.lengths.min() == pytest.approx(result.length)


def test_comparisons_are_left_as_they_are() -> None:
    _, many = towns(5, copies=3)
    for solver in ("restarts", "two-opt", "annealing", "ants"):
        options = {} if solver in ("restarts", "two-opt") else {"iterations": 3}
        result = pytsp.solve(many, solver=solver, backend="c", **options)
        assert pytsp.is_tour(result.tour, len(many))
    listed = neighbour_lists(pytsp.as_instance(many), 5)
    assert pytsp.is_tour(pytsp.solve(many, backend="c", neighbours=listed, iterations=5).tour, len(many))
    with pytest.raises(pytsp.InstanceError, match="needs cities in the plane"):
        pytsp.solve(Instance.from_matrix(np.zeros((20, 20))), solver="large", backend="c")


def test_directed_ways_between_crowded_places(backend: Any) -> None:
    rng = np.random.default_rng(6)
    d = rng.uniform(1, 2, (8, 8))
    np.fill_diagonal(d, 0)
    order = rng.permutation(np.repeat(np.arange(8), 7))
    few = Instance.from_matrix(d, asymmetric=True)
    for is_open in (False, True):
        many = repeated(few, order)
        result = pytsp.solve(many, open=is_open, backend=backend.name)
        assert result.length == pytest.approx(shortest(few, is_open=is_open))


def test_paths_begin_and_end_in_given_cities_of_crowded_places() -> None:
    few, many = towns(7, copies=5)
    instance = Instance.from_coordinates(many, "HAVERSINE")
    place = [int(np.flatnonzero((few == city).all(axis=1))[0]) for city in many]
    same = [city for city in range(60) if place[city] == place[0]]
    for start, end in (
        (0, None),
        (None, same[2]),
        (0, same[1]),
        (0, next(c for c in range(60) if place[c] != place[0])),
    ):
        result = pytsp.solve(instance, open=True, start_city=start, end_city=end, backend="c")
        assert start in (None, result.tour[0])
        assert end in (None, result.tour[-1])
        ends = [None if city is None else place[city] for city in (start, end)]
        if ends[0] == ends[1]:
            expected = shortest(Instance.from_coordinates(few, "HAVERSINE"))
        else:
            expected = shortest(Instance.from_coordinates(few, "HAVERSINE"), is_open=True, start=ends[0], end=ends[1])
        assert result.length == pytest.approx(expected)


@pytest.mark.parametrize("metric", ["EUCLIDEAN", "GEO"])
def test_bounds_targets_and_initial_tours_are_those_of_all_cities(metric: str) -> None:
    _, many = towns(8, copies=6)
    instance = instance_at(many, metric)
    result = pytsp.solve(instance, bound=True, backend="c")
    assert result.lower_bound is not None
    assert result.lower_bound <= result.length
    target = pytsp.solve(instance, target=result.length, backend="c", solver="ils", iterations=10**6)
    assert (target.stop_reason, target.length) == ("target", result.length)
    known = replace(instance, optimum=result.length)
    assert pytsp.solve(known, target_gap=0, backend="c", solver="ils", iterations=10**6).stop_reason == "target"
    again = pytsp.solve(instance, initial_tour=result.tour, solver="ils", iterations=0, backend="c")
    assert again.length == result.length


def test_an_initial_tour_is_never_lengthened_by_what_is_left_out() -> None:
    # A place that is on the way between any two others, whose direct way is long.
    matrix = np.full((12, 12), 1000)
    matrix[:6] = matrix[:, :6] = 1
    matrix[:6, :6] = 0
    np.fill_diagonal(matrix, 0)
    instance = Instance.from_matrix(matrix)
    tour = np.column_stack([np.arange(6), np.arange(6, 12)]).ravel()
    assert instance.tour_length(tour) == 12
    assert pytsp.solve(instance, initial_tour=tour, solver="ils", iterations=3, backend="c").length == 12
    assert pytsp.solve(instance, backend="c").length == 12


@pytest.mark.parametrize("metric", ["EUCLIDEAN", "GEO", "EUC_2D"])
def test_a_checkpoint_goes_on_with_few_and_tells_all(tmp_path: Path, metric: str) -> None:
    _, many = towns(9, copies=7)
    instance = instance_at(many, metric)
    options: dict[str, Any] = {"solver": "ils", "iterations": 3000, "climbers": 2, "backend": "c", "start_city": 3}
    whole = pytsp.solve(instance, **options)
    file = tmp_path / "checkpoint"
    halted = pytsp.solve(instance, **options, checkpoint=file, progress=lambda _: True)
    assert halted.stop_reason == "callback"
    tours: list[NDArray[np.int32]] = []
    resumed = pytsp.resume(file, progress=lambda now: tours.append(now.tour))
    assert resumed.tour.tolist() == whole.tour.tolist()
    assert resumed.tour[0] == 3
    assert (resumed.length, resumed.instance.n) == (whole.length, 84)
    assert [each.length for each in resumed.history][-1] == whole.length
    assert tours
    assert all(tour[0] == 3 and pytsp.is_tour(tour, 84) for tour in tours)
    reached = pytsp.resume(file, target=whole.length)
    assert (reached.stop_reason, reached.length) == ("target", whole.length)


def test_solve_many_takes_few_cities_a_place(backend: Any) -> None:
    pairs = [towns(seed) for seed in range(3)]
    few = [pytsp.solve(each, metric="haversine", backend=backend.name).length for each, _ in pairs]
    assert 480 in TOGETHER_CITIES
    solved = pytsp.solve_many([each for _, each in pairs], metric="haversine", backend=backend.name)
    assert [result.length for result in solved] == pytest.approx(few)
    assert all(pytsp.is_tour(result.tour, 480) for result in solved)


def test_a_checkpoint_with_steps_of_another_is_refused(tmp_path: Path) -> None:
    from pytsp.checkpoint import container  # noqa: PLC0415

    _, many = towns(9, copies=7)
    file = tmp_path / "checkpoint"
    options: dict[str, Any] = {"solver": "ils", "iterations": 3000, "backend": "c", "start_city": 3}
    pytsp.solve(many, **options, checkpoint=file, progress=lambda _: True)
    tree = container.read(file)
    for step, name, value, words in (
        (0, "city", 84, "city of the checkpoint must be a whole number from 0 to 83"),
        (1, "kept", tree["steps"][1]["kept"][::-1].copy(), "kept of the checkpoint must be cities from 0 to 83"),
        (1, "owner", tree["steps"][1]["owner"] + np.int32(1), "owner of the checkpoint must be kept cities"),
    ):
        kept = tree["steps"][step][name]
        tree["steps"][step][name] = value
        container.replace_file(file, lambda stream: container.write(stream, container.pack(tree)))
        with pytest.raises(CheckpointError, match=words):
            pytsp.resume(file)
        tree["steps"][step][name] = kept
