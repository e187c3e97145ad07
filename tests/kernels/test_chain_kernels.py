"""The kernels of Lin–Kernighan chains: they come to what plain loops come to, on all backends and in all forms."""

from __future__ import annotations

from functools import partial
from typing import Any

import chains_oracle
import numpy as np
import oracle
import pytest
import strategies
from cities import scattered
from hypothesis import given, settings
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
from strategies import directed_matrices

from pytsp import random_tours
from pytsp.backends import Backend, open_backend
from pytsp.exceptions import KernelError
from pytsp.neighbours.lists import way_lists
from pytsp.problem.asymmetric import JonkerVolgenant
from pytsp.problem.instance import Instance
from pytsp.problem.kernel_input import Form, form_of

PART = "search"
CHAINS, STRAIGHT = 2, 3


@given(strategies.symmetric_matrices(max_n=10, largest=60), st.data(), st.integers(0, 9))
@settings(max_examples=80)
def test_a_descent_by_chains_is_that_of_the_oracle(
    backend: Backend, matrix: NDArray[np.int64], data: st.DataObject, k: int
) -> None:
    form = form_of(Instance.from_matrix(matrix))
    start = data.draw(strategies.tours(len(matrix))).tolist()
    climbers = Climbers(backend, form, start, k=k, moves=CHAINS)
    lists = climbers.lists.tolist()
    tours, lengths, steps = climbers.go(0, 0).found()
    assert (tours[0], steps[0]) == chains_oracle.descent(matrix.tolist(), lists, start)
    assert lengths[0] == oracle.length(matrix.tolist(), tours[0])
    polished, lengths, more = climbers.polish().found()
    expected, further = chains_oracle.descent(matrix.tolist(), lists, tours[0], again=True)
    assert (polished[0], more[0]) == (expected, steps[0] + further)
    assert lengths[0] == oracle.length(matrix.tolist(), expected)
    assert chains_oracle.descent(matrix.tolist(), lists, expected) == (expected, 0)


@given(strategies.symmetric_matrices(min_n=2, max_n=10, largest=60), st.data(), st.integers(0, 9))
@settings(max_examples=80)
def test_a_stretch_that_descends_is_that_of_the_oracle(
    backend: Backend, matrix: NDArray[np.int64], data: st.DataObject, k: int
) -> None:
    if backend.device is not None:
        pytest.skip("a GPU's descents are not cut")
    n, form = len(matrix), form_of(Instance.from_matrix(matrix))
    tour = data.draw(strategies.tours(n)).tolist()
    climbers = Climbers(backend, form, tour, k=k, moves=CHAINS)
    lists, made = climbers.lists.tolist(), 0
    for call in (partial(climbers.go, 0, 0), climbers.polish):
        stretch = data.draw(st.tuples(st.integers(0, n - 1), st.integers(1, n)))
        tours, lengths, steps = call(*stretch).found()
        tour, further = chains_oracle.descent(matrix.tolist(), lists, tour, stretch=stretch)
        made += further
        assert (tours[0], steps[0], lengths[0]) == (tour, made, oracle.length(matrix.tolist(), tour))


@pytest.mark.parametrize("stretch", [(-1, 3), (10, 3), (0, -1), (0, 11)])
def test_stretches_that_are_none_are_refused(backend: Backend, stretch: tuple[int, int]) -> None:
    if backend.device is not None:
        pytest.skip("a GPU's descents are not cut")
    climbers = Climbers(backend, form_of(scattered(10, "EUC_2D", 0)), random_tours(10, 1, 0), k=5, moves=CHAINS)
    with pytest.raises(KernelError, match="is_stretch"):
        climbers.go(0, 0, *stretch)


def test_only_the_last_descent_goes_over_all_cities_again(backend: Backend) -> None:
    form = form_of(scattered(200, "EUC_2D", 0))
    climbers = Climbers(backend, form, random_tours(200, 10, 3), k=5, moves=CHAINS).go(0, 0)
    once = climbers.found()[1]
    last = climbers.polish().found()[1]
    assert all(a >= b for a, b in zip(once, last, strict=True))
    assert once != last
    assert climbers.polish().found()[1] == last


@pytest.mark.slow
@pytest.mark.parametrize(("n", "k"), [(30, 5), (40, 8), (40, 9), (60, 10)])
def test_so_is_one_of_more_cities(backend: Backend, n: int, k: int) -> None:
    form = form_of(scattered(n, "EUC_2D", n))
    start = random_tours(n, 1, 3)[0].tolist()
    climbers = Climbers(backend, form, start, k=k, moves=CHAINS).go(0, 0)
    tours, _, steps = climbers.found()
    expected = chains_oracle.descent(distances_of(form), climbers.lists.tolist(), start)
    assert (tours[0], steps[0]) == expected


# Straight chains, of directed ways


def doubled(ways: NDArray[np.int64]) -> tuple[Form, NDArray[np.int32]]:
    """The form of a doubled instance, and the lists of its ways."""
    form = form_of(JonkerVolgenant.of(Instance._of_lawful(ways, asymmetric=True)).instance)
    return form, way_lists(form.whole, 6)


def in_pairs(directed: Any) -> NDArray[np.int32]:
    """The tours of the doubled instance for directed ones, shape (climbers, 2 n)."""
    tours = np.atleast_2d(directed)
    return np.stack([tours, tours + tours.shape[1]], axis=2).reshape(len(tours), -1).astype(np.int32)


def are_in_pairs(tours: Any) -> bool:
    """Whether every city is beside its other one in all tours."""
    found = np.asarray(tours)
    n = found.shape[1] // 2
    ahead = np.roll(found, -1, axis=1) % n == found % n
    return bool((ahead | np.roll(ahead, 1, axis=1)).all())


@given(directed_matrices(min_n=2, max_n=7), st.data())
@settings(max_examples=80)
def test_a_descent_by_straight_chains_is_that_of_the_oracle(
    backend: Backend, ways: NDArray[np.int64], data: st.DataObject
) -> None:
    form, lists = doubled(ways)
    start = in_pairs(data.draw(strategies.tours(len(ways))))[0].tolist()
    climbers = Climbers(backend, form, start, lists=lists, moves=STRAIGHT).go(0, 0)
    tours, lengths, steps = climbers.found()
    assert (tours[0], steps[0]) == chains_oracle.descent(distances_of(form), lists.tolist(), start, straight=True)
    assert lengths[0] == oracle.length(distances_of(form), tours[0])


@pytest.mark.parametrize("n", [30, 60])
def test_so_is_one_by_straight_chains_of_more_cities(backend: Backend, n: int) -> None:
    form, lists = doubled(np.random.default_rng(n).integers(1, 1000, (n, n)))
    start = in_pairs(np.arange(n))[0].tolist()
    tours, _, steps = Climbers(backend, form, start, lists=lists, moves=STRAIGHT).go(0, 0).found()
    assert (tours[0], steps[0]) == chains_oracle.descent(distances_of(form), lists.tolist(), start, straight=True)


@given(directed_matrices(min_n=2, max_n=9), st.data(), st.integers(0, 3))
@settings(max_examples=60)
def test_straight_chains_and_kicks_keep_all_pairs(
    backend: Backend, ways: NDArray[np.int64], data: st.DataObject, kick: int
) -> None:
    form, lists = doubled(ways)
    starts = in_pairs([data.draw(strategies.tours(len(ways))) for _ in range(2)])
    # Every kick is accepted.
    rest: dict[str, Any] = {"lists": lists, "moves": STRAIGHT, "kick": kick, "temperature": 1e9}
    climbers = Climbers(backend, form, starts, **rest).go(0, 20)
    assert are_in_pairs(backend.fields(climbers.population)["tours"])
    assert are_in_pairs(climbers.found()[0])
    assert_exact(form, climbers.found())


def test_straight_chains_of_all_backends_end_alike(backend: Backend) -> None:
    form, lists = doubled(np.random.default_rng(0).integers(1, 1000, (120, 120)))
    starts = in_pairs(random_tours(120, 3, 0))
    rest: dict[str, Any] = {"lists": lists, "moves": STRAIGHT, "kick": 2, "temperature": 40.0}
    found = Climbers(backend, form, starts, **rest).go(0, 60).polish().found()
    assert_exact(form, found)
    assert found == Climbers(open_backend("c"), form, starts, **rest).go(0, 60).polish().found()
    assert are_in_pairs(found[0])


@given(strategies.instances_with_tours(max_n=7))
@settings(max_examples=60)
def test_a_descent_by_chains_ends_on_a_local_optimum_of_3_opt(
    backend: Backend, given_: tuple[Instance, NDArray[np.int32]]
) -> None:
    instance, tour = given_
    for form in forms_of(instance):
        found = Climbers(backend, form, tour, moves=CHAINS).go(0, 0).found()
        assert_exact(form, found)
        assert found[1][0] <= oracle.length(distances_of(form), tour.tolist())
        assert oracle.least(distances_of(form), found[0][0], SEGMENTS[1]) == found[1][0]


@given(strategies.symmetric_matrices(max_n=9, largest=2**30 - 1), st.data(), st.integers(1, 8), st.integers(0, 3))
@settings(max_examples=60)
def test_iterations_by_chains_keep_lengths_exact_and_never_lengthen(
    backend: Backend, matrix: NDArray[np.int64], data: st.DataObject, k: int, kick: int
) -> None:
    form = form_of(Instance.from_matrix(matrix))
    tour = data.draw(strategies.tours(len(matrix)))
    climbers = Climbers(backend, form, tour, k=k, moves=CHAINS, kick=kick)
    lengths = [oracle.length(matrix.tolist(), tour.tolist())]
    for iteration in range(3):
        found = climbers.go(iteration, 5).found()
        assert_exact(form, found)
        lengths += found[1]
    assert lengths == sorted(lengths, reverse=True)


@pytest.mark.parametrize("n", [*range(1, 10), 60, 200])
@pytest.mark.parametrize("temperature", [0.0, 3.0, 1e9])
def test_cutting_a_run_of_chains_changes_nothing(backend: Backend, n: int, temperature: float) -> None:
    form = form_of(scattered(n, "EUC_2D", 1))
    starts = random_tours(n, 3, 0)
    rest: dict[str, Any] = {"k": 6, "kick": 2, "temperature": temperature, "seed": 5, "moves": CHAINS}
    whole = Climbers(backend, form, starts, **rest).go(0, 40).found()
    assert_exact(form, whole)
    assert Climbers(backend, form, starts, **rest).go(0, 1).go(1, 12).go(13, 27).found() == whole
    alone = Climbers(backend, form, starts[1], **rest, first=1).go(0, 40)
    assert alone.found() == tuple(column[1:2] for column in whole)


@pytest.mark.parametrize("metric", ["EUC_2D", "CEIL_2D", "EXPLICIT"])
def test_chains_of_all_backends_and_forms_end_alike(backend: Backend, metric: str) -> None:
    instance = scattered(300, metric, 2)
    starts = random_tours(300, 4, 0)
    rest: dict[str, Any] = {"k": 8, "moves": CHAINS, "temperature": 1.5}
    expected = Climbers(open_backend("c"), form_of(instance), starts, **rest).go(0, 100).polish().found()
    for form in forms_of(instance):
        assert Climbers(backend, form, starts, **rest).go(0, 100).polish().found() == expected


def test_chains_end_below_3_opt(backend: Backend) -> None:
    form = form_of(scattered(400, "EUC_2D", 5))
    starts = random_tours(400, 8, 0)
    means = [np.mean(Climbers(backend, form, starts, k=8, moves=moves).go(0, 0).found()[1]) for moves in (1, CHAINS)]
    assert means[1] < 0.985 * means[0]


@pytest.mark.parametrize(
    "choice", [{"moves": 4}, {"moves": -1}, {"moves": CHAINS, "pivot": 1}, {"moves": STRAIGHT, "pivot": 2}]
)
def test_other_plans_of_chains_are_refused(backend: Backend, choice: dict[str, int]) -> None:
    form = form_of(scattered(10, "EUC_2D", 0))
    population = backend.call("population_given", random_tours(10, 1, 0))
    entry = climbing_entry(f"{form.kind}_ils", form, backend)
    with pytest.raises(KernelError, match="moves"):
        plan = search_plan(backend, **choice)
        backend.call(entry, load(backend, form), lists_of(form), population, plan, *stretch_of(backend))
