"""Open paths: the closed tours that stand for them, by the permutations of few cities; and what `solve` finds."""

from __future__ import annotations

import itertools
import re
import tracemalloc
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import strategies
from hypothesis import example, given, settings
from hypothesis import strategies as st
from strategies import directed_matrices

import pytsp
from pytsp import Improvement, Instance, InstanceError, Progress, TourError
from pytsp.api import reductions as _reductions
from pytsp.api.steps import Request
from pytsp.backends import Backend
from pytsp.problem import open_paths
from pytsp.problem.kernel_input import MOST_DISTANCE, form_of
from pytsp.problem.open_paths import OpenPath
from pytsp.run.monitor import Improved
from pytsp.utils.deadline import OutOfTime, looking

PART = "search"


def any_instances(max_n: int = 6) -> st.SearchStrategy[Instance]:
    """Instances with whole-number lengths, symmetric and asymmetric."""
    directed = directed_matrices(max_n=max_n).map(lambda d: Instance.from_matrix(d, asymmetric=True))
    return st.one_of(strategies.instances(max_n=max_n), directed)


@st.composite
def problems(draw: st.DrawFn, max_n: int = 6) -> OpenPath:
    """Open paths with none, one or both ends given."""
    instance = draw(any_instances(max_n))
    ends = draw(st.permutations(range(instance.n)))
    start = draw(st.sampled_from((None, ends[0])))
    return OpenPath.of(instance, start, draw(st.sampled_from((None, ends[-1]))))


def paths_of(problem: OpenPath) -> list[tuple[int, ...]]:
    """Every path with the ends that are given."""
    return [
        path
        for path in itertools.permutations(range(problem.original.n))
        if problem.start_city in (None, path[0]) and problem.end_city in (None, path[-1])
    ]


# The closed tours that stand for paths


@given(problems(max_n=5))
@settings(max_examples=80)
def test_the_shortest_tour_is_that_of_the_shortest_path(problem: OpenPath) -> None:
    shortest = min(problem.original.path_length(path) for path in paths_of(problem))
    tours = itertools.permutations(range(problem.original.n + 1))
    assert min(problem.instance.tour_length(tour) for tour in tours) - problem.offset == shortest


@given(problems(), st.data())
def test_a_path_is_restored_from_its_tour_and_keeps_its_length(problem: OpenPath, data: st.DataObject) -> None:
    path = data.draw(st.sampled_from(paths_of(problem)))
    tour = problem.tour(path)
    assert problem.path(tour).tolist() == list(path)
    assert problem.instance.tour_length(tour) == problem.original.path_length(path) + problem.offset


@given(problems(max_n=8), st.data())
def test_the_path_of_any_tour_has_the_ends_and_is_no_longer(problem: OpenPath, data: st.DataObject) -> None:
    tour = data.draw(strategies.tours(problem.original.n + 1))
    path = problem.path(tour)
    assert path.dtype == np.int32
    assert problem.start_city in (None, path[0])
    assert problem.end_city in (None, path[-1])
    assert problem.original.path_length(path) <= problem.instance.tour_length(tour) - problem.offset


@given(instance=strategies.float_instances(min_n=2, max_n=5), both=st.booleans())
@example(instance=Instance.from_matrix([[0.0, 0.0], [0.0, 0.0]]), both=False)
@example(instance=Instance.from_matrix([[0.0, 7.5], [7.5, 0.0]]), both=False)
def test_floating_point_distances_are_reduced_as_whole_ones_are(instance: Instance, both: bool) -> None:
    problem = OpenPath.of(instance, 0, instance.n - 1 if both else None)
    shortest = min(instance.path_length(path) for path in paths_of(problem))
    tours = itertools.permutations(range(instance.n + 1))
    best = min(tours, key=problem.instance.tour_length)
    assert instance.path_length(problem.path(best)) == pytest.approx(shortest, rel=1e-12)


@pytest.mark.parametrize(("start", "end"), [(-1, None), (3, None), (None, 3), (0, -1)])
def test_ends_that_are_no_cities_are_refused(start: int | None, end: int | None) -> None:
    with pytest.raises(ValueError, match="must be a whole number from 0 to 2"):
        OpenPath.of(Instance.from_coordinates([[0, 0], [1, 0], [2, 0]], metric="EUC_2D"), start, end)


def test_a_path_has_two_ends_unless_it_has_one_city() -> None:
    with pytest.raises(ValueError, match="start_city and end_city are both 1; a path through 2 cities has two ends"):
        OpenPath.of(Instance.from_coordinates([[0, 0], [1, 0]], metric="EUC_2D"), 1, 1)
    alone = OpenPath.of(Instance.from_coordinates([[0, 0]], metric="EUC_2D"), 0, 0)
    assert alone.path([1, 0]).tolist() == [0]
    assert alone.instance.tour_length([0, 1]) == alone.offset == 0


def test_a_path_with_other_ends_is_none_of_its_paths() -> None:
    problem = OpenPath.of(Instance.from_coordinates([[0, 0], [1, 0], [2, 0]], metric="EUC_2D"), 0, 1)
    with pytest.raises(TourError, match="the path begins in city 2, but start_city is 0"):
        problem.tour([2, 0, 1])
    with pytest.raises(TourError, match="the path ends in city 2, but end_city is 1"):
        problem.tour([0, 1, 2])
    with pytest.raises(TourError, match="visits city 0 3 times"):
        problem.tour([0, 0, 0])


@pytest.mark.parametrize("asymmetric", [False, True])
def test_distances_are_as_far_apart_as_kernels_take(asymmetric: bool) -> None:
    times = 2 if asymmetric else 1
    most = (MOST_DISTANCE - 1) // times
    # City 1 cannot be avoided.
    matrix = np.array([[0, most, 0], [most, 0, most], [0, most - asymmetric, 0]])
    problem = OpenPath.of(Instance.from_matrix(matrix, asymmetric=asymmetric), start_city=0)
    assert problem.instance.distance_matrix().max() == times * most + 1 <= MOST_DISTANCE
    if not asymmetric:
        form_of(problem.instance)
    matrix += matrix > 0
    with pytest.raises(
        InstanceError, match="far: distances from 0 to .* are too far apart for a path with a given end"
    ):
        OpenPath.of(Instance.from_matrix(matrix, "far", asymmetric=asymmetric), start_city=0)
    OpenPath.of(Instance.from_matrix(matrix, asymmetric=asymmetric))


def test_a_path_in_a_metric_without_a_norm_makes_its_matrix_by_blocks() -> None:
    instance = Instance.from_coordinates(np.random.default_rng(0).random((1000, 3)) * 90, "XRAY1")
    tracemalloc.start()
    try:
        OpenPath.of(instance)
        # The distances, those with the further city, and a block's temporaries.
        assert tracemalloc.get_traced_memory()[1] < 12 * 1001**2 + 2**23
    finally:
        tracemalloc.stop()


def test_more_cities_than_a_matrix_holds_are_refused_before_there_is_one() -> None:
    cities = Instance.from_coordinates(np.zeros((23_170, 3)), "XRAY1", name="many")
    with pytest.raises(InstanceError, match=r"many: an open path needs a matrix of 23171 x 23171 .* \(23169 cities\)"):
        OpenPath.of(cities)


# Solving


@pytest.mark.parametrize("asymmetric", [False, True])
@pytest.mark.parametrize("ends", [(None, None), (3, None), (None, 3), (1, 5)])
def test_paths_of_seven_cities_are_shortest(
    backend: Backend, asymmetric: bool, ends: tuple[int | None, int | None]
) -> None:
    d = np.random.default_rng(7).integers(1, 100, (7, 7))
    instance = Instance.from_matrix(d if asymmetric else d + d.T, asymmetric=asymmetric)
    result = pytsp.solve(instance, open=True, start_city=ends[0], end_city=ends[1], backend=backend.name)
    problem = OpenPath.of(instance, *ends)
    assert tuple(result.tour.tolist()) in paths_of(problem)
    assert result.length == instance.path_length(result.tour)
    assert result.length == min(instance.path_length(path) for path in paths_of(problem))
    assert result.is_open and result.to_dict()["open"] is True
    assert "open path" in str(result)
    assert result.history[-1].length == result.lengths.min() == result.length


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"solver": "ils", "iterations": 200, "climbers": 3},
        {"solver": "restarts", "climbers": 50},
        {"solver": "two-opt"},
        {"solver": "ils", "climbers": 2, "iterations": 50, "pivot": "random-k", "draws": 3},
        {"solver": "ils", "iterations": 0, "climbers": 40, "start": "random"},
    ],
)
def test_every_solver_finds_paths_with_their_ends(backend: Backend, options: dict[str, Any]) -> None:
    points = np.random.default_rng(2).random((60, 2))
    for metric in ("EUCLIDEAN", "HAVERSINE"):
        instance = Instance.from_coordinates(points, metric)
        result = pytsp.solve(instance, open=True, start_city=7, end_city=0, backend=backend.name, seed=3, **options)
        assert (result.tour[0], result.tour[-1]) == (7, 0)
        assert result.length == instance.path_length(result.tour)
        assert result.instance is instance
        assert result.lengths.min() == pytest.approx(result.length, rel=1e-6)
        assert result.history[-1].length == pytest.approx(result.length, rel=1e-6)


def test_a_line_is_followed_from_its_middle_to_an_end() -> None:
    line = Instance.from_coordinates([[x, 0] for x in range(30)], metric="EUC_2D")
    free = pytsp.solve(line, open=True)
    assert free.length == 29
    assert sorted((free.tour[0], free.tour[-1])) == [0, 29]
    assert pytsp.solve(line, open=True, start_city=10).length == 39
    assert pytsp.solve(line, open=True, start_city=10, end_city=11).length == 10 + 29 + 18


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_few_cities_have_paths(n: int) -> None:
    line = Instance.from_coordinates([[x * x, 0] for x in range(n)], metric="EUC_2D")
    result = pytsp.solve(line, open=True, start_city=0)
    assert result.tour.tolist() == list(range(n))
    assert result.length == (n - 1) ** 2


def test_lengths_are_told_in_those_of_paths() -> None:
    instance = Instance.from_coordinates(np.random.default_rng(0).integers(0, 1000, (80, 2)), metric="EUC_2D")
    lengths: list[Progress] = []
    improvements: list[Improvement] = []
    result = pytsp.solve(
        instance, open=True, start_city=0, progress=lengths.append, on_improvement=improvements.append, seed=1
    )
    assert lengths[-1].length == result.length
    assert tuple(improvements) == result.history
    again = pytsp.solve(instance, open=True, start_city=0, target=result.length + 50, seed=1)
    assert again.stop_reason == "target"
    assert result.length <= again.length <= result.length + 50
    better = pytsp.solve(instance, open=True, start_city=0, initial_tour=again.tour, solver="ils", iterations=1)
    assert better.length <= again.length


def test_a_tours_optimum_is_not_the_paths() -> None:
    square = Instance.from_coordinates([[0, 0], [0, 9], [9, 9], [9, 0]], metric="EUC_2D", optimum=36)
    result = pytsp.solve(square, open=True)
    assert (result.length, result.optimum, result.gap) == (27, None, None)
    assert square.optimum == 36
    assert pytsp.solve(square).is_open is False


def test_a_tour_has_no_end() -> None:
    line = Instance.from_coordinates([[x, 0] for x in range(5)], metric="EUC_2D")
    with pytest.raises(ValueError, match="end_city=0 has no effect with a closed tour; it is for open=True"):
        pytsp.solve(line, end_city=0)
    with pytest.raises(ValueError, match="start_city must be a whole number from 0 to 4; it is 5"):
        pytsp.solve(line, start_city=5)


@pytest.mark.parametrize("asymmetric", [False, True])
def test_a_tour_is_told_from_a_city_on(asymmetric: bool) -> None:
    rng = np.random.default_rng(0)
    d = rng.integers(1, 100, (9, 9))
    instance = Instance.from_matrix(d if asymmetric else d + d.T, asymmetric=asymmetric)
    plain = pytsp.solve(instance, backend="c")
    tours = []
    reported = pytsp.solve(instance, start_city=4, backend="c", on_improvement=lambda now: tours.append(now.tour))
    assert reported.tour.tolist() == np.roll(plain.tour, -plain.tour.tolist().index(4)).tolist()
    assert reported.length == plain.length
    assert {tour[0] for tour in tours} == {4}


def test_ends_may_be_labels() -> None:
    d = [[0, 12, 10, 19], [12, 0, 3, 7], [10, 3, 0, 6], [19, 7, 6, 0]]
    named = Instance.from_matrix(d, labels=["A", "B", "C", "C"])
    assert pytsp.solve(named, start_city="B", backend="c").order[0] == "B"
    path = pytsp.solve(named, open=True, start_city="A", end_city="B", backend="c")
    assert (path.order[0], path.order[-1]) == ("A", "B")
    assert pytsp.lower_bound(named, open=True, start_city="A", end_city="B").start_city == 0
    with pytest.raises(ValueError, match="start_city='Bee' is no city's label"):
        pytsp.solve(named, start_city="Bee")
    with pytest.raises(ValueError, match="start_city='C' is the label of 2 cities; give the number of one: 2, 3"):
        pytsp.solve(named, start_city="C")
    with pytest.raises(ValueError, match="end_city='A' is a label, but the cities of the instance have none"):
        pytsp.solve(d, open=True, end_city="A")


def test_lists_of_neighbours_and_limits_out_of_range_are_refused_for_paths() -> None:
    line = Instance.from_coordinates([[x, 0] for x in range(5)], metric="EUC_2D")
    with pytest.raises(ValueError, match="neighbours given as lists have no effect with open paths"):
        pytsp.solve(line, open=True, neighbours=[[1], [0], [1], [2], [3]])
    with pytest.raises(ValueError, match="checkpoint has no effect with open paths and asymmetric instances"):
        pytsp.solve(line, open=True, checkpoint="line.checkpoint")
    with pytest.raises(
        ValueError, match="target_gap has no effect with open paths; optima .* are those of closed tours"
    ):
        pytsp.solve(line, open=True, target_gap=0.1)
    with pytest.raises(ValueError, match="time_limit must be a positive number of seconds; it is -1"):
        pytsp.solve(line, open=True, time_limit=-1)
    with pytest.raises(ValueError, match="target must be a length, at least 0; it is -1"):
        pytsp.solve(line, open=True, target=-1)


def test_a_tour_with_an_end_out_of_its_place_is_put_right_and_told(monkeypatch: pytest.MonkeyPatch) -> None:
    line = Instance.from_coordinates([[x, 0] for x in range(6)], metric="EUC_2D")
    reported: list[Improvement] = []

    def halted(instance: Instance, request: Request) -> pytsp.Result:
        # City 6, the further one, stands between 2 and 3, though the path is to begin in 0.
        tour = np.array([0, 1, 2, 6, 3, 4, 5], dtype=np.int32)
        length = instance.tour_length(tour)
        improvement = Improvement(0.1, 1, length)
        assert request.on_improvement is not None
        request.on_improvement(Improved.of(improvement, tour.copy))
        result = solve(instance, replace(request, on_improvement=None))
        return replace(result, tour=tour, length=length, lengths=np.array([length]), history=(improvement,))

    solve = _reductions.solve_symmetric
    monkeypatch.setattr(_reductions, "solve_symmetric", halted)
    result = pytsp.solve(line, open=True, start_city=0, on_improvement=reported.append)
    assert result.tour[0] == 0
    assert result.length == line.path_length(result.tour) == result.history[-1].length == result.lengths.min()
    assert tuple(reported) == result.history
    assert len(reported) == 2
    assert reported[0].length > reported[1].length


@pytest.mark.parametrize("name", ["open", "quadrants"])
@pytest.mark.parametrize("value", ["yes", "no", "", 1, 0, 1.0, [], [True]])
def test_what_is_no_truth_value_is_refused(name: str, value: object) -> None:
    square = Instance.from_coordinates([[0, 0], [0, 9], [9, 9], [9, 0]], metric="EUC_2D")
    with pytest.raises(TypeError, match=f"{name} must be True or False; it is {re.escape(repr(value))}"):
        pytsp.solve(square, **{name: value})
    assert pytsp.solve(square, **{name: np.True_}).is_open is (name == "open")


def test_whether_a_path_is_sought_is_not_left_open() -> None:
    with pytest.raises(TypeError, match="open must be True or False; it is None"):
        pytsp.solve([[0, 0], [0, 9], [9, 9]], open=None)


def test_the_copy_of_a_matrix_ends_when_the_time_does(monkeypatch: pytest.MonkeyPatch) -> None:
    looks = 0

    def check(_: float) -> None:
        nonlocal looks
        looks += 1
        if looks == 3:
            raise OutOfTime

    monkeypatch.setattr(open_paths, "_BLOCK", 1 << 14)
    ways = np.ones((600, 600), np.int64)
    np.fill_diagonal(ways, 0)
    with pytest.raises(OutOfTime), looking(check):
        OpenPath.of(Instance.from_matrix(ways))
