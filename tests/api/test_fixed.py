"""Fixed edges, solved: every tour of every solver has all of them, open or not, and small ones are the shortest."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import cities
import numpy as np
import pytest
from fixed import best_length, has_all, instances_with_edges, some_edges
from hypothesis import given, settings
from hypothesis import strategies as st
from paths import tsplib_file
from results import assert_improves

import pytsp
from pytsp import Instance, InstanceError, Progress, TourError
from pytsp.bound import check_certificate
from pytsp.problem.kernel_input import MATRIX_CITIES

SEARCHES: dict[str, dict[str, Any]] = {
    "restarts": {"climbers": 20},
    "two-opt": {"kicks": 20},
    "ils": {"climbers": 2, "iterations": 100},
    "ils by 3-opt": {"solver": "ils", "climbers": 2, "iterations": 100, "moves": "3-opt"},
    "eax": {"climbers": 20},
    "eax all at once": {"solver": "eax", "climbers": 20, "moves": "flat"},
}


def solved(instance: Instance, search: str, **arguments: Any) -> pytsp.Result:
    """A solve by one of the searches."""
    return pytsp.solve(
        instance, backend="c", **{"solver": search.split(maxsplit=1)[0], **SEARCHES[search], **arguments}
    )


def scattered_segments(n: int, seed: int = 0, share: float = 0.5, metric: str = "EUC_2D") -> Instance:
    """Uniformly random cities, of which paths of some are fixed."""
    numbers = np.random.default_rng([n, seed])
    instance = cities.uniform(n, seed, side=1000, metric=metric)
    return replace(instance, fixed=some_edges(numbers.permutation(n).tolist(), share, numbers))


@settings(max_examples=25)
@given(given_edges=instances_with_edges(1, 8), ends=st.integers(0, 3), data=st.data())
@pytest.mark.parametrize("search", SEARCHES)
def test_few_cities_have_the_shortest_tour_with_all_edges(
    search: str, given_edges: Any, ends: int, data: st.DataObject
) -> None:
    instance, edges = given_edges
    order, kind = data.draw(st.permutations(range(instance.n))), dict[str, Any]()
    if ends:
        kind["open"] = True
    if ends in (2, 3):
        kind["start_city"] = order[0]
    if ends == 3 and instance.n > 1:
        kind["end_city"] = order[1]
    found = {"start": kind.get("start_city"), "end": kind.get("end_city"), "is_open": "open" in kind}
    try:
        best = best_length(instance, edges, **found)
    except ValueError:
        with pytest.raises(InstanceError, match="no tour has all fixed edges"):
            solved(instance, search, fixed=edges, **kind)
        return
    result = solved(instance, search, fixed=edges, **kind)
    assert has_all(result.tour, edges, is_open=result.is_open) and result.is_open == ("open" in kind)
    assert ends < 2 or result.tour[0] == order[0]
    assert ends < 3 or instance.n == 1 or result.tour[-1] == order[1]
    assert result.length == (instance.path_length if result.is_open else instance.tour_length)(result.tour)
    if search in ("ils", "ils by 3-opt", "eax"):
        assert result.length == pytest.approx(best, rel=1e-9)
    assert result.length >= best * (1 - 1e-12)
    assert_improves(result.history)


@pytest.mark.parametrize("is_open", [False, True])
@pytest.mark.parametrize("metric", ["EUC_2D", "EUCLIDEAN", "MAN_2D", "GEO", "matrix"])
@pytest.mark.parametrize("search", SEARCHES)
def test_every_tour_that_is_told_has_all_edges(search: str, metric: str, is_open: bool) -> None:
    points = np.random.default_rng(3).integers(-80, 80, (90, 2))
    instance = Instance.from_coordinates(points, "EUC_2D" if metric == "matrix" else metric)
    if metric == "matrix":
        instance = Instance.from_matrix(instance.distance_matrix())
    edges = some_edges(np.random.default_rng(4).permutation(90).tolist(), 0.5, np.random.default_rng(4))
    reported: list[Any] = []

    def tell(now: Any) -> None:
        reported.append(now.tour)

    result = solved(instance, search, fixed=edges, open=is_open, progress=tell, on_improvement=tell)
    assert reported and all(has_all(tour, edges, is_open=is_open) for tour in [*reported, result.tour])
    assert_improves(result.history)
    free = solved(instance, search, open=is_open)
    # The edges are a detour; without them tours are shorter.
    assert result.length > free.length
    if search.startswith(("ils", "eax")):
        # As good as tours of cities with nothing fixed are.
        inside = sum(instance.distance(a, b) for a, b in edges)
        assert result.length - inside < free.length


@pytest.mark.parametrize("n", [MATRIX_CITIES - 30, MATRIX_CITIES + 300])
@pytest.mark.parametrize("solver", ["ils", "eax", "large"])
def test_matrices_and_places_of_many_cities_keep_all_edges(solver: str, n: int) -> None:
    # Beside a matrix of fewer cities these are points beyond the plane.
    instance = scattered_segments(n)
    options: dict[str, Any] = {"eax": {"climbers": 10}, "ils": {"iterations": 2 * n, "climbers": 1}}.get(solver, {})
    limit = None if options else 1.0
    results = [
        pytsp.solve(instance, solver=solver, backend=each, open=is_open, time_limit=limit, **options)
        for each, is_open in [("c", False), ("multicore", False), ("c", True)]
    ]
    assert instance.fixed is not None
    for result, is_open in zip(results, [False, False, True], strict=True):
        assert has_all(result.tour, instance.fixed, is_open=is_open)
    assert limit or np.array_equal(results[0].tour, results[1].tour)
    # Nothing is lost by what all distances are longer by: about as short as tours are of that many pairs.
    free = n - 2 * len(instance.fixed)
    air = results[0].length - sum(instance.distance(a, b) for a, b in instance.fixed)
    assert free >= 0 or air > 0
    assert air < 0.95 * math.sqrt(n * 1000 * 1000)


def test_stripes_of_a_tour_keep_all_edges_and_lose_nothing() -> None:
    instance = scattered_segments(4000)
    assert instance.fixed is not None
    inside = sum(instance.distance(a, b) for a, b in instance.fixed.tolist())
    asked: dict[str, Any] = {"solver": "large", "piece": 500, "iterations": 4, "backend": "c"}
    one, two = pytsp.solve(instance, **asked), pytsp.solve(instance, stripes=2, **asked)
    assert has_all(one.tour, instance.fixed) and has_all(two.tour, instance.fixed)
    # A pair that was parted on the way, and joined in the end, would be a long way round.
    assert two.length - inside < 1.3 * (one.length - inside)


def test_linhp318_has_its_optimum() -> None:
    instance = pytsp.read(tsplib_file("linhp318.tsp"))
    result = pytsp.solve(instance, backend="multicore", target_gap=0, time_limit=60)
    assert (result.gap, result.stop_reason) == (0, "target")
    assert has_all(result.tour, [(0, 213)])
    # The path between the ends of the edge.
    assert result.length - instance.distance(0, 213) == 41345


def test_edges_that_are_given_are_in_place_of_those_of_the_instance() -> None:
    instance = pytsp.read(tsplib_file("linhp318.tsp"))
    own = pytsp.solve(instance, climbers=10, solver="eax", backend="c")
    assert own.optimum == instance.optimum and np.array_equal(own.instance.fixed, instance.fixed)  # type: ignore[arg-type]
    other = pytsp.solve(instance, climbers=10, solver="eax", backend="c", fixed=[(5, 300)])
    assert has_all(other.tour, [(5, 300)]) and other.optimum is None
    free = pytsp.solve(instance, climbers=10, solver="eax", backend="c", fixed=[])
    assert free.instance.fixed is None and free.optimum is None and free.length >= 42029
    same = pytsp.solve(instance, climbers=10, solver="eax", backend="c", fixed=[(213, 0)])
    assert same.optimum == instance.optimum and np.array_equal(same.tour, own.tour)


def test_labels_name_cities_of_edges() -> None:
    named = Instance.from_coordinates([[x, 0] for x in range(6)], "EUC_2D", labels=list("abcdef"))
    assert has_all(pytsp.solve(named, fixed=[("a", "d"), ("c", 5)]).tour, [(0, 3), (2, 5)])
    with pytest.raises(ValueError, match="fixed='x' is no city's label"):
        pytsp.solve(named, fixed=[("a", "x")])


@pytest.mark.parametrize(
    ("fixed", "message"),
    [
        ("ab", "fixed must be pairs of cities; it is 'ab'"),
        (5, "fixed must be pairs of cities; it is 5"),
        ([(0, 1, 2)], r"fixed must be pairs of cities; one is \(0, 1, 2\)"),
        ([(0, None)], "fixed"),
        (["ab"], "fixed must be pairs of cities; one is 'ab'"),
        ([(0, 99)], "fixed must be .* it is 99"),
    ],
)
def test_what_are_no_pairs_is_refused(fixed: Any, message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        pytsp.solve(cities.uniform(10), fixed=fixed)


@pytest.mark.parametrize("solver", ["annealing", "ants"])
def test_solvers_whose_moves_part_pairs_refuse_them(solver: str) -> None:
    with pytest.raises(ValueError, match=rf"fixed edges have no effect with solver='{solver}'; they are for solver="):
        pytsp.solve(cities.uniform(10), fixed=[(0, 1)], solver=solver)


def test_lists_of_neighbours_are_refused_beside_fixed_edges() -> None:
    lists = pytsp.neighbours.neighbour_lists(cities.uniform(20), 5)
    with pytest.raises(
        ValueError, match="neighbours given as lists have no effect with .* fixed edges; give their number"
    ):
        pytsp.solve(cities.uniform(20), fixed=[(0, 1)], neighbours=lists)


def test_an_initial_tour_has_all_edges() -> None:
    instance = scattered_segments(40)
    assert instance.fixed is not None
    tour = pytsp.solve(instance, solver="ils", iterations=0, backend="c").tour
    result = pytsp.solve(instance, solver="ils", iterations=50, initial_tour=tour, backend="c")
    assert result.length <= instance.tour_length(tour) and has_all(result.tour, instance.fixed)
    with pytest.raises(TourError, match="the tour does not have the fixed edge"):
        pytsp.solve(instance, solver="ils", iterations=5, initial_tour=np.random.default_rng(0).permutation(40))


def test_a_tour_of_no_time_has_all_edges() -> None:
    for instance in (scattered_segments(3000), replace(scattered_segments(900, metric="EUCLIDEAN"))):
        for is_open in (False, True):
            result = pytsp.solve(instance, time_limit=1e-4, open=is_open)
            assert result.stop_reason == "time limit" and has_all(result.tour, instance.fixed, is_open=is_open)
            assert_improves(result.history)


def test_targets_and_first_cities_are_those_of_the_tour() -> None:
    instance = scattered_segments(60)
    best = pytsp.solve(instance, solver="eax", climbers=20, backend="c")
    reached = pytsp.solve(instance, solver="ils", target=1.2 * best.length, backend="c", start_city=7, time_limit=60)
    assert reached.stop_reason == "target" and reached.length <= 1.2 * best.length and reached.tour[0] == 7
    assert has_all(reached.tour, instance.fixed)


def test_a_solve_goes_on_from_its_checkpoint(tmp_path: Path) -> None:
    for metric in ("EUC_2D", "EUCLIDEAN", "matrix"):
        instance = scattered_segments(60, metric="EUC_2D" if metric == "matrix" else metric)
        if metric == "matrix":
            instance = Instance.from_matrix(instance.distance_matrix(), fixed=instance.fixed)
        asked: dict[str, Any] = {"solver": "ils", "climbers": 2, "iterations": 4000, "backend": "c", "seed": 3}
        whole = pytsp.solve(instance, **asked)
        calls = itertools.count()

        def stop(now: Progress, calls: Any = calls) -> bool:
            return next(calls) > 1

        file = tmp_path / f"{metric}.checkpoint"
        pytsp.solve(instance, **asked, checkpoint=file, progress=stop)
        rest = pytsp.resume(file)
        assert np.array_equal(rest.tour, whole.tour) and rest.length == pytest.approx(whole.length)
        assert np.array_equal(rest.instance.fixed, instance.fixed)  # type: ignore[arg-type]
        assert has_all(rest.tour, instance.fixed)


def test_many_instances_keep_their_edges() -> None:
    some = [scattered_segments(n, seed) for n, seed in ((5, 1), (40, 2), (200, 3))]
    some = [*some, cities.uniform(40), Instance.from_matrix(some[1].distance_matrix(), fixed=some[1].fixed)]
    for arguments in ({}, {"time_limit": 1e-4}, {"executor": 2, "threads": 1}):
        results = pytsp.solve_many(some, backend="c" if arguments.get("executor") is None else "multicore", **arguments)
        for instance, result in zip(some, results, strict=True):
            assert instance.fixed is None or has_all(result.tour, instance.fixed)
            assert result.length == instance.tour_length(result.tour)


def test_workers_keep_all_edges() -> None:
    instance = scattered_segments(60)
    asked: dict[str, Any] = {"solver": "ils", "climbers": 4, "iterations": 200, "backend": "c", "seed": 1}
    assert np.array_equal(pytsp.solve(instance, **asked, executor=2).tour, pytsp.solve(instance, **asked).tour)


# Bounds


@settings(max_examples=20)
@given(given_edges=instances_with_edges(3, 8), is_open=st.booleans())
def test_no_tour_with_all_edges_is_below_the_bound(given_edges: Any, is_open: bool) -> None:
    instance, edges = given_edges
    instance = replace(instance, fixed=edges)
    try:
        best = best_length(instance, edges, is_open=is_open)
    except ValueError:
        return
    certificate = pytsp.lower_bound(instance, open=is_open, iterations=100)
    assert certificate.bound <= best * (1 + 1e-9)
    check_certificate(instance, certificate)


@pytest.mark.parametrize("is_open", [False, True])
@pytest.mark.parametrize("metric", ["EUC_2D", "EUCLIDEAN"])
def test_the_bound_is_near_the_optimum(metric: str, is_open: bool) -> None:
    instance = scattered_segments(120, metric=metric)
    result = pytsp.solve(instance, solver="eax", climbers=30, backend="c", open=is_open)
    free = pytsp.lower_bound(replace(instance, fixed=None), open=is_open, iterations=500).bound
    bound = pytsp.lower_bound(instance, open=is_open, iterations=500).bound
    assert free < 0.9 * bound and 0.98 * result.length <= bound <= result.length


def test_linhp318_is_not_below_its_bound() -> None:
    instance = pytsp.read(tsplib_file("linhp318.tsp"))
    certificate = pytsp.lower_bound(instance, iterations=1000)
    assert instance.optimum is not None and 0.99 * instance.optimum <= certificate.bound <= instance.optimum
    check_certificate(instance, certificate)
