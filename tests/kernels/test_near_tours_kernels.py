"""The starting tours of near cities: the nearest-neighbour tour and what is passed over, on all backends."""

from __future__ import annotations

from typing import Any

import numpy as np
import oracle
import pytest
import strategies
from cities import scattered
from hypothesis import example, given
from hypothesis import strategies as st
from kernel_calls import distances_of, forms_of, lists_of, load
from numpy.typing import NDArray

from pytsp import is_tour
from pytsp.backends import Backend, open_backend
from pytsp.exceptions import KernelError
from pytsp.problem.instance import Instance
from pytsp.problem.kernel_input import Form, form_of
from pytsp.problem.tours import _below, _streams

PART = "search"


def started(
    backend: Backend, form: Form, lists: NDArray[np.int32], seed: int, first: int, count: int, passes: int
) -> Any:
    """The starting tours of climbers."""
    numbers = (seed, first, count, passes)
    population = backend.call(f"{form.kind}_start", load(backend, form), lists, *numbers)
    return backend.fields(population)["bests"].tolist()


@given(strategies.instances(max_n=9), st.integers(0, 2**64 - 1), st.integers(0, 2**40), st.integers(0, 8))
@example(Instance.from_coordinates([[3, 3]] * 7, metric="EUC_2D"), 0, 0, 3)
@example(Instance.from_coordinates([[0, 0]], metric="EUC_2D"), 0, 0, 0)
def test_starts_are_nearest_neighbour_tours_from_random_cities(
    backend: Backend, instance: Instance, seed: int, first: int, k: int
) -> None:
    n = instance.n
    keys = _streams(seed, np.arange(first, first + 3, dtype=np.uint64))
    cities = _below(keys, np.zeros(3, dtype=np.uint64), np.full(3, n, dtype=np.uint64)).tolist()
    for form in forms_of(instance):
        expected = [oracle.nearest_neighbour_tour(distances_of(form), city) for city in cities]
        assert started(backend, form, lists_of(form, k), seed, first, 3, 0) == expected
        assert started(backend, form, lists_of(form, k), seed, first + 1, 1, 0) == expected[1:2]


@pytest.mark.parametrize("n", [1, 2, 9, 200])
@pytest.mark.parametrize("passes", [0, 1, 40, 256])
def test_starts_follow_the_lists_in_their_order(backend: Backend, n: int, passes: int) -> None:
    form = form_of(scattered(n, "EUC_2D", 3))
    lists = lists_of(form, 5)[:, ::-1].copy()
    tours = started(backend, form, lists, 1, 0, 4, passes)
    assert all(is_tour(tour, n) for tour in tours)
    if passes in (0, 256):
        # Where all are passed over, it is as if none was, but for those at distance 0.
        distances, passing = distances_of(form), passes == 256
        assert tours == [oracle.near_tour(lists.tolist(), distances, tour[0], passing=passing) for tour in tours]
    assert tours == started(open_backend("c"), form, lists, 1, 0, 4, passes)


def test_starts_differ_by_what_is_passed_over(backend: Backend) -> None:
    form = form_of(scattered(200, "EUC_2D", 3))
    without, few, many = (started(backend, form, lists_of(form, 8), 1, 0, 1, passes)[0] for passes in (0, 13, 128))
    lengths = [oracle.length(distances_of(form), tour) for tour in (without, few, many)]
    assert without[0] == few[0] == many[0]
    assert lengths[2] > max(lengths[:2]) and without != few


# Refusals


@pytest.mark.parametrize("bad", [-1, 6])
def test_lists_of_what_is_no_city_are_refused(backend: Backend, bad: int) -> None:
    form = form_of(scattered(6, "EUC_2D", 8))
    lists = lists_of(form)
    lists[2, 3] = bad
    with pytest.raises(KernelError):
        started(backend, form, lists, 0, 0, 1, 0)


@pytest.mark.parametrize(("first", "count", "passes"), [(-1, 1, 0), (0, 0, 0), (0, 1, -1), (0, 1, 257)])
def test_starts_out_of_bounds_are_refused(backend: Backend, first: int, count: int, passes: int) -> None:
    form = form_of(scattered(6, "EUC_2D", 8))
    with pytest.raises(KernelError):
        started(backend, form, lists_of(form), 0, first, count, passes)
