"""The kernels of the iterated local search: what descents and iterations promise, in all forms, on all backends."""

from __future__ import annotations

from typing import Any

import draws as draws_oracle
import numpy as np
import oracle
import pytest
import strategies
from cities import scattered
from hypothesis import example, given, settings
from hypothesis import strategies as st
from kernel_calls import (
    SEGMENTS,
    Climbers,
    assert_exact,
    climbing_entry,
    distances_of,
    forms_of,
    lists_of,
    load,
    stretch_of,
)
from kernel_values import search_plan
from numpy.typing import NDArray

from pytsp import random_tours
from pytsp.backends import Backend, open_backend
from pytsp.exceptions import KernelError
from pytsp.problem.instance import Instance
from pytsp.problem.kernel_input import form_of

PART = "search"
FLAGS = st.integers(0, 1)
KICKS = st.integers(0, 2)
PIVOTS = st.integers(0, 2)
LARGEST = 2**30 - 1


@given(strategies.instances_with_tours(max_n=7), FLAGS, FLAGS)
@settings(max_examples=60)
def test_a_descent_ends_on_a_local_optimum_of_its_neighbourhood(
    backend: Backend, given_: tuple[Instance, NDArray[np.int32]], moves: int, pivot: int
) -> None:
    instance, tour = given_
    for form in forms_of(instance):
        found = Climbers(backend, form, tour, moves=moves, pivot=pivot).go(0, 0).found()
        assert_exact(form, found)
        assert found[1][0] <= oracle.length(distances_of(form), tour.tolist())
        assert oracle.least(distances_of(form), found[0][0], SEGMENTS[moves]) == found[1][0]


@pytest.mark.parametrize("n", [8, 12, 16])
@pytest.mark.parametrize("metric", ["EUC_2D", "EXPLICIT"])
def test_so_does_one_of_more_cities(backend: Backend, n: int, metric: str) -> None:
    form = form_of(scattered(n, metric, 0))
    starts = random_tours(n, 5, 0)
    for moves in (0, 1):
        for pivot in (0, 1):
            found = Climbers(backend, form, starts, moves=moves, pivot=pivot).go(0, 0).found()
            assert_exact(form, found)
            for tour, length in zip(*found[:2], strict=True):
                assert oracle.least(distances_of(form), tour, SEGMENTS[moves]) == length


@given(
    strategies.symmetric_matrices(max_n=9, largest=LARGEST), st.data(), FLAGS, PIVOTS, KICKS, st.integers(1, 8), FLAGS
)
@settings(max_examples=60)
def test_iterations_keep_lengths_exact_and_never_lengthen(
    backend: Backend,
    matrix: NDArray[np.int64],
    data: st.DataObject,
    moves: int,
    pivot: int,
    kick: int,
    k: int,
    start: int,
) -> None:
    form = form_of(Instance.from_matrix(matrix))
    tour = data.draw(strategies.tours(len(matrix)))
    climbers = Climbers(backend, form, tour, k=k, moves=moves, pivot=pivot, kick=kick)
    lengths = [oracle.length(matrix.tolist(), tour.tolist())]
    for iteration in range(start, start + 3):
        found = climbers.go(iteration, 5).found()
        assert_exact(form, found)
        lengths += found[1]
    assert lengths == sorted(lengths, reverse=True)


@pytest.mark.parametrize("n", [*range(1, 10), 60])
@pytest.mark.parametrize("temperature", [0.0, 3.0, 1e9])
@pytest.mark.parametrize(("kick", "pivot"), [(0, 0), (1, 0), (2, 0), (3, 0), (0, 2)])
def test_cutting_a_run_changes_nothing(backend: Backend, n: int, temperature: float, kick: int, pivot: int) -> None:
    form = form_of(scattered(n, "EUC_2D", 1))
    starts = random_tours(n, 3, 0)
    rest: dict[str, Any] = {"k": 6, "kick": kick, "temperature": temperature, "seed": 5, "pivot": pivot}
    whole = Climbers(backend, form, starts, **rest).go(0, 40).found()
    cut = Climbers(backend, form, starts, **rest)
    # Another descent finds nothing on a local optimum, but other draws may.
    cut = cut if pivot == 2 else cut.go(0, 0)
    parts = cut.go(0, 1).go(1, 0).go(1, 12).go(13, 27).found()
    assert_exact(form, whole)
    assert parts == whole
    alone = Climbers(backend, form, starts[1], **rest, first=1).go(0, 40)
    assert alone.found() == tuple(column[1:2] for column in whole)
    polished = Climbers(backend, form, starts, **rest).go(0, 40).polish().found()
    assert alone.polish().found() == tuple(column[1:2] for column in polished)


@pytest.mark.parametrize("metric", ["EUC_2D", "CEIL_2D", "EXPLICIT"])
@pytest.mark.parametrize("moves", [0, 1])
@pytest.mark.parametrize("pivot", [0, 1, 2])
def test_all_backends_and_forms_end_alike(backend: Backend, metric: str, moves: int, pivot: int) -> None:
    instance = scattered(70, metric, 2)
    starts = random_tours(70, 4, 0)
    for acceptance, kick in ((0, 0), (0, 1), (0, 2), (1, 3)):
        rest: dict[str, Any] = {"k": 8, "moves": moves, "pivot": pivot, "temperature": 1.5}
        rest |= {"acceptance": acceptance, "kick": kick}
        expected = Climbers(open_backend("c"), form_of(instance), starts, **rest).go(0, 50).polish().found()
        for form in forms_of(instance):
            assert Climbers(backend, form, starts, **rest).go(0, 50).polish().found() == expected


@given(
    strategies.symmetric_matrices(max_n=9, largest=LARGEST),
    st.data(),
    st.integers(1, 30),
    st.integers(0, 8),
    st.integers(0, 2**64 - 1),
    st.integers(0, 2**40),
)
@settings(max_examples=60)
def test_a_descent_by_draws_is_that_of_the_oracle(
    backend: Backend, matrix: NDArray[np.int64], data: st.DataObject, draws: int, k: int, seed: int, first: int
) -> None:
    form = form_of(Instance.from_matrix(matrix))
    start = data.draw(strategies.tours(len(matrix))).tolist()
    climbers = Climbers(backend, form, start, k=k, seed=seed, first=first, pivot=2, draws=draws).go(0, 0)
    tours, lengths, steps = climbers.found()
    expected = draws_oracle.descent(matrix.tolist(), climbers.lists.tolist(), start, seed, first, draws)
    assert (tours[0], steps[0]) == expected
    assert lengths[0] == oracle.length(matrix.tolist(), tours[0])
    # It ends where draws find nothing, and so does a polish that begins there with the same draws, or goes on.
    assert climbers.polish().found()[1][0] <= lengths[0]


@given(strategies.instances_with_tours(max_n=7), FLAGS)
@settings(max_examples=20)
def test_a_descent_by_many_draws_ends_on_a_local_optimum(
    backend: Backend, given_: tuple[Instance, NDArray[np.int32]], moves: int
) -> None:
    instance, tour = given_
    form = form_of(instance)
    # Of some five hundred draws that differ, each is among these but for e^-40.
    found = Climbers(backend, form, tour, moves=moves, pivot=2, draws=20_000).go(0, 0).found()
    assert oracle.least(distances_of(form), found[0][0], SEGMENTS[moves]) == found[1][0]


@pytest.mark.parametrize("pivot", [0, 2])
def test_a_trial_that_outgrows_its_log_is_taken_back(backend: Backend, pivot: int) -> None:
    # Without a descent, the repair of a random tour goes on for hundreds of moves.
    form = form_of(scattered(400, "EUC_2D", 3))
    start = random_tours(400, 1, 0)[0]
    climbers = Climbers(backend, form, start, k=8, pivot=pivot, draws=2000).go(1, 1)
    assert climbers.found()[0] == [start.tolist()]
    assert_exact(form, climbers.go(2, 20).found())


def test_iterations_improve_on_the_descent(backend: Backend) -> None:
    form = form_of(scattered(100, "EUC_2D", 4))
    for kick, pivot in ((0, 0), (1, 0), (2, 0), (0, 2)):
        climbers = Climbers(backend, form, random_tours(100, 1, 0), k=8, kick=kick, pivot=pivot)
        descent, steps = climbers.go(0, 0).found()[1:]
        after, more = climbers.go(0, 500).found()[1:]
        assert after[0] < descent[0]
        assert more[0] > steps[0] > 0


def test_a_warm_climber_keeps_its_best_tour(backend: Backend) -> None:
    form = form_of(scattered(50, "EUC_2D", 5))
    climbers = Climbers(backend, form, random_tours(50, 1, 0), k=8, temperature=1e6)
    descent = climbers.go(0, 0).found()
    # Every kick is accepted: the climber leaves the optimum, and hardly comes back.
    after = climbers.go(1, 30).found()
    assert after[1][0] <= descent[1][0]
    assert_exact(form, after)


def test_polishing_descends_from_the_best_tours(backend: Backend) -> None:
    form = form_of(scattered(12, "EUC_2D", 6))
    starts = random_tours(12, 5, 0)
    raw = Climbers(backend, form, starts)
    assert raw.polish().found() == Climbers(backend, form, starts).go(0, 0).found()
    warm = Climbers(backend, form, starts, k=3, moves=0, temperature=5.0).go(0, 20)
    before = warm.found()[1]
    warm.choice, warm.lists = {"moves": 1, "pivot": 0, "draws": 1}, lists_of(form)
    tours, lengths, _ = warm.polish().found()
    for tour, length, least in zip(tours, lengths, before, strict=True):
        assert length <= least
        assert oracle.least(distances_of(form), tour, SEGMENTS[1]) == length


def test_climbers_take_the_places_of_others(backend: Backend) -> None:
    form = form_of(scattered(30, "EUC_2D", 7))
    starts = random_tours(30, 4, 0)
    climbers = Climbers(backend, form, starts, k=6).go(0, 10)
    tours, lengths, steps = climbers.found()
    best = lengths.index(min(lengths))
    assert backend.call("population_best", climbers.population) == best
    assert backend.call("population_tour", climbers.population, best).tolist() == tours[best]
    copied = climbers.copy([best, 0], [1, 3]).found()
    assert copied == ([tours[0], tours[best], tours[2], tours[0]], [lengths[c] for c in (0, best, 2, 0)], steps)
    again = climbers.copy([], []).found()
    assert again == copied
    # They stand there, too: the same climber goes on from either place.
    assert_exact(form, climbers.go(10, 10).found())


def test_a_new_population_has_the_given_tours_and_no_lengths(backend: Backend) -> None:
    starts = random_tours(9, 3, 0)
    population = backend.call("population_given", starts)
    assert backend.fields(population)["bests"].tolist() == starts.tolist()
    assert backend.call("population_lengths", population).tolist() == [0, 0, 0]
    assert backend.call("population_best", population) == 0


BAD = [
    ("first", -1),
    ("from", -1),
    ("iterations", -1),
    ("moves", 4),
    ("pivot", -1),
    ("pivot", 3),
    ("draws", 0),
    ("kick", -1),
    ("kick", 4),
    ("acceptance", -1),
    ("acceptance", 2),
    ("temperature", -0.5),
    ("temperature", float("nan")),
    ("temperature", float("inf")),
    ("cooled", -1),
]


@pytest.mark.parametrize(("what", "value"), BAD)
def test_settings_out_of_bounds_are_refused(backend: Backend, what: str, value: float) -> None:
    form = form_of(scattered(6, "EUC_2D", 8))
    population = backend.call("population_given", random_tours(6, 1, 0))
    with pytest.raises(KernelError):
        entry = climbing_entry("grid_ils", form, backend)
        plan = search_plan(backend, **{"iterations": 1, what: value})
        backend.call(entry, load(backend, form), lists_of(form), population, plan, *stretch_of(backend))


@pytest.mark.parametrize("bad", [-1, 6])
def test_lists_of_what_is_no_city_are_refused(backend: Backend, bad: int) -> None:
    form = form_of(scattered(6, "EUC_2D", 8))
    lists = lists_of(form)
    lists[2, 3] = bad
    population = backend.call("population_given", random_tours(6, 1, 0))
    with pytest.raises(KernelError):
        entry = climbing_entry("grid_polish", form, backend)
        backend.call(entry, load(backend, form), lists, population, search_plan(backend), *stretch_of(backend))


@pytest.mark.parametrize(("start", "to"), [([0], [2]), ([-1], [0]), ([2], [0]), ([0, 0], [1, 1])])
def test_places_that_are_none_or_twice_are_refused(backend: Backend, start: list[int], to: list[int]) -> None:
    population = backend.call("population_given", random_tours(6, 2, 0))
    places = (np.array(start, dtype=np.int32), np.array(to, dtype=np.int32))
    with pytest.raises(KernelError):
        backend.call("population_copy", population, *places)


@pytest.mark.parametrize("places", [[0], [2, 0], [1, 1, 1], []])
def test_climbers_may_be_chosen_in_any_order(backend: Backend, places: list[int]) -> None:
    population = backend.call("population_given", random_tours(6, 3, 0))
    chosen = backend.fields(backend.call("population_chosen", population, np.array(places, dtype=np.int32)))
    for name, values in backend.fields(population).items():
        assert np.array_equal(chosen[name], values[places]), name


@pytest.mark.parametrize("place", [-1, 2])
def test_a_chosen_place_that_is_none_is_refused(backend: Backend, place: int) -> None:
    population = backend.call("population_given", random_tours(6, 2, 0))
    with pytest.raises(KernelError):
        backend.call("population_chosen", population, np.array([0, place], dtype=np.int32))


@pytest.mark.parametrize("tours", [[[0, 1, 1]], [[0, 1, 3]], np.empty((0, 3))])
def test_what_is_no_tour_is_refused(backend: Backend, tours: Any) -> None:
    with pytest.raises(KernelError):
        backend.call("population_given", np.asarray(tours, dtype=np.int32))


@given(strategies.tours(6), st.integers(0, 2))
@example(np.arange(6, dtype=np.int32), 0)
def test_the_oracles_neighbourhoods_contain_each_other(tour: NDArray[np.int32], shift: int) -> None:
    """Or-opt moves are 2-opt moves or 3-opt moves with a segment of up to three cities."""

    def edges(other: list[int]) -> frozenset[frozenset[int]]:
        return frozenset(frozenset(edge) for edge in zip(other, [*other[1:], other[0]], strict=True))

    turned = np.roll(tour, shift).tolist()
    wide = {edges(other) for size, other in oracle.three_opt_tours(turned) if size <= 3}
    wide |= {edges(oracle.apply_move(turned, i, j)) for i, j in oracle.all_moves(6)} | {edges(turned)}
    assert {edges(other) for other in oracle.or_opt_tours(turned)} <= wide
