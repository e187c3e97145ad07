"""Climbers that start in bulk, and rounds of moves of all cities at once: those of the oracle, on all backends."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, replace
from typing import Any

import crossing_oracle
import numpy as np
import oracle
import pytest
from cities import scattered
from crossing_oracle import Bulk
from hypothesis import example, given, settings
from hypothesis import strategies as st
from kernel_calls import all_forms, assert_exact, distances_of, lists_of, load, read
from kernel_values import bulk_plan, population_on
from numpy.typing import NDArray
from populations import populations, random_spots

from pytsp import random_tours
from pytsp.backends import Backend, Opaque, open_backend
from pytsp.exceptions import KernelError
from pytsp.problem.instance import Instance
from pytsp.problem.kernel_input import Form, form_of

PART = "flat"
WIDEST = 32
LAST_SPOT = 2**20 - 1
Population = tuple[Instance, list[list[int]]]
Spots = tuple[NDArray[np.int32], NDArray[np.int32]]
Found = tuple[list[list[int]], list[int], list[int]]


def started(
    backend: Backend, form: Form, count: int, plan: Bulk, *, lists: NDArray[np.int32] | None = None, spots: Spots
) -> Found:
    """Climbers that start, their lengths, and their steps."""
    lists = lists_of(form, 8) if lists is None else lists
    made = backend.call(
        f"{form.kind}_bulk", load(backend, form), lists, *spots, count, bulk_plan(backend, **asdict(plan))
    )
    return read(backend, "population", made)


def searched(backend: Backend, form: Form, tours: Any, plan: Bulk, *, lists: NDArray[np.int32] | None = None) -> Found:
    """Climbers on given tours after the local search."""
    lists = lists_of(form, 8) if lists is None else lists
    given_ = backend.call("population_given", np.asarray(tours, dtype=np.int32))
    entry = f"{form.kind}_rounds"
    made = backend.call(entry, load(backend, form), lists, given_, bulk_plan(backend, **asdict(plan)))
    return read(backend, "population", made)


def spots_of(n: int, seed: int = 0) -> Spots:
    return random_spots(n, np.random.default_rng(seed))


plans = st.builds(
    Bulk,
    st.integers(0, 2**64 - 1),
    st.integers(0, 2**40),
    st.booleans(),
    st.sampled_from([0, 1, 256, 4096]),
    st.sampled_from([0, 1, 3, 40]),
    st.sampled_from([0, 1, 5, 100]),
    st.sampled_from([0, 1, 2, 100]),
    st.sampled_from([0, 1, 2, 12]),
)


# The oracle takes long: it makes an exchange of each move.
@settings(max_examples=30)
@given(populations(max_n=40), plans, st.sampled_from([0, 1, 5, WIDEST]), st.integers(1, 3))
@example((Instance.from_coordinates([[0, 0]], metric="EUC_2D"), [[0]]), Bulk(rounds=9), 0, 3)
@example((Instance.from_coordinates([[0, 0]] * 2, metric="EUC_2D"), [[0, 1]]), Bulk(curved=True, rounds=9), 1, 2)
@example((Instance.from_coordinates([[7, 7]] * 12, metric="EUC_2D"), [[*range(12)]]), Bulk(rounds=9), 5, 2)
def test_starts_and_rounds_are_those_of_the_oracle(
    backend: Backend, population: Population, plan: Bulk, k: int, count: int
) -> None:
    instance, tours = population
    spots = spots_of(instance.n, plan.noise + k)
    xs, ys = (axis.tolist() for axis in spots)
    expected: list[list[list[int]]] = []
    for form in all_forms(instance):
        distances, lists = distances_of(form), lists_of(form, k)
        if not expected:
            near = lists.tolist()
            expected.append([crossing_oracle.start(distances, near, xs, ys, c, plan) for c in range(count)])
            expected.append([crossing_oracle.searched(distances, near, tour, plan) for tour in tours])
        found = started(backend, form, count, plan, lists=lists, spots=spots)
        assert found[0] == expected[0] and found[2] == [0] * count
        assert_exact(form, found)
        after = searched(backend, form, tours, plan, lists=lists)
        assert after[0] == expected[1] and after[2] == [0] * len(tours)
        assert_exact(form, after)
        assert all(length <= oracle.length(distances, tour) for length, tour in zip(after[1], tours, strict=True))


@pytest.mark.parametrize("metric", ["EUC_2D", "MAN_2D"])
@pytest.mark.parametrize(
    "plan",
    [
        Bulk(noise=0),
        Bulk(noise=4096),
        Bulk(joins=0),
        Bulk(joins=2),
        Bulk(seed=3, first=8, curved=True, rounds=30, least=20),
        Bulk(curved=True, rounds=2, wide=3),
    ],
)
def test_every_setting_of_starts_is_that_of_the_oracle(backend: Backend, metric: str, plan: Bulk) -> None:
    n, count = 60, 4
    instance, spots = scattered(n, metric, 6), spots_of(n, 1)
    xs, ys = (axis.tolist() for axis in spots)
    form = form_of(instance)
    lists = lists_of(form, 8)
    expected = [crossing_oracle.start(distances_of(form), lists.tolist(), xs, ys, c, plan) for c in range(count)]
    for each in all_forms(instance):
        assert started(backend, each, count, plan, spots=spots)[0] == expected


@given(plans, st.integers(1, 60), st.integers(0, 5), st.integers(1, 6))
def test_a_climber_depends_on_its_number_only(backend: Backend, plan: Bulk, n: int, skip: int, count: int) -> None:
    form, spots = form_of(scattered(n, "EUC_2D", 1)), spots_of(n)
    several = started(backend, form, skip + count, plan, spots=spots)
    others = started(backend, form, count, replace(plan, first=plan.first + skip), spots=spots)
    assert others == tuple(part[skip:] for part in several)


@given(populations(), plans, st.data())
def test_a_tour_comes_to_the_same_among_others(
    backend: Backend, population: Population, plan: Bulk, data: st.DataObject
) -> None:
    instance, tours = population
    form, place = form_of(instance), data.draw(st.integers(0, len(tours) - 1))
    among = searched(backend, form, tours, plan)
    # Neither the seed nor the first number matters.
    alone = searched(backend, form, [tours[place]], replace(plan, seed=plan.seed // 2, first=0))
    assert alone == tuple([part[place]] for part in among)


@pytest.mark.parametrize("curved", [False, True])
@pytest.mark.parametrize("metric", ["EUC_2D", "EXPLICIT", "MAN_2D", "EUC_3D", "EUCLIDEAN"])
@pytest.mark.parametrize(("n", "count"), [(9, 300), (400, 5)])
def test_all_backends_and_forms_make_the_same_starts(
    backend: Backend, metric: str, n: int, count: int, curved: bool
) -> None:
    instance = scattered(n, metric, 4)
    plan = Bulk(seed=5, first=7, curved=curved, rounds=60, least=3)
    alone, spots = open_backend("c"), spots_of(n)
    own = form_of(instance)
    expected = started(alone, own, count, plan, spots=spots)
    rounds = searched(alone, own, expected[0], replace(plan, wide=2, least=1))
    for form in all_forms(instance):
        assert started(backend, form, count, plan, spots=spots) == expected
        assert searched(backend, form, expected[0], replace(plan, wide=2, least=1)) == rounds
    assert_exact(own, expected)
    assert_exact(own, rounds)


def test_climbers_go_on_from_the_best_of_their_ways_and_keep_their_steps(backend: Backend) -> None:
    form, tours = form_of(scattered(40, "EUC_2D", 5)), random_tours(40, 3, 0)
    fields = {"tours": tours[:, ::-1].copy(), "bests": tours, "lengths": np.zeros(3, np.int64), "steps": np.arange(3)}
    plan = bulk_plan(backend, rounds=20)
    entry = f"{form.kind}_rounds"
    after = backend.call(entry, load(backend, form), lists_of(form, 8), backend.value("population", fields), plan)
    found = backend.fields(after)
    expected = searched(backend, form, tours, Bulk(rounds=20))
    assert found["tours"].tolist() == found["bests"].tolist() == expected[0] != tours.tolist()
    assert found["lengths"].tolist() == expected[1]
    assert found["steps"].tolist() == [0, 1, 2]


# Refusals


LAST = 2**31 - 1
BOUNDS = {
    "first": (0, 2**62),
    "noise": (0, 4096),
    "joins": (0, LAST),
    "wide": (0, LAST),
    "least": (0, LAST),
    "rounds": (0, LAST),
}
BEYOND = [("first", -1), ("noise", -1), ("noise", 4097), ("joins", -1), ("wide", -1), ("least", -1), ("rounds", -1)]


def bulk(
    backend: Backend,
    count: int = 3,
    *,
    n: int = 40,
    lists: NDArray[np.int32] | None = None,
    spot: tuple[int, int] = (0, 0),
    **fields: int | bool,
) -> Opaque:
    """Start climbers on cities of a grid by a plan, where the last city has a spot of its own."""
    form, spots = form_of(scattered(n, "EUC_2D", 8)), spots_of(n)
    for axis, x in zip(spots, spot, strict=True):
        axis[-1] = x
    lists = lists_of(form, 8) if lists is None else lists
    return backend.call("grid_bulk", load(backend, form), lists, *spots, count, bulk_plan(backend, **fields))


def rounds(backend: Backend, *, lists: NDArray[np.int32] | None = None, **fields: int) -> Opaque:
    """Bring climbers on cities of a grid through a local search."""
    form = form_of(scattered(40, "EUC_2D", 8))
    lists = lists_of(form, 8) if lists is None else lists
    given_ = population_on(backend, random_tours(40, 3, 0), np.zeros(3))
    return backend.call("grid_rounds", load(backend, form), lists, given_, bulk_plan(backend, **fields))


def refused(backend: Backend, call: Callable[[], Opaque]) -> None:
    """Make sure that a call is refused, and that climbers start as before then."""
    before = read(backend, "population", bulk(backend, rounds=9))
    with pytest.raises(KernelError):
        call()
    assert read(backend, "population", bulk(backend, rounds=9)) == before


def assert_taken(backend: Backend, found: Opaque, n: int = 40) -> None:
    assert_exact(form_of(scattered(n, "EUC_2D", 8)), read(backend, "population", found))


@pytest.mark.parametrize("curved", [False, True])
@pytest.mark.parametrize(("what", "value"), [(what, value) for what, both in BOUNDS.items() for value in both])
def test_settings_at_their_bounds_are_taken(backend: Backend, what: str, value: int, curved: bool) -> None:
    assert_taken(backend, bulk(backend, curved=curved, **{what: value}))
    assert_taken(backend, rounds(backend, **{what: value}))


@pytest.mark.parametrize("curved", [False, True])
@pytest.mark.parametrize(("what", "value"), BEYOND)
def test_settings_out_of_bounds_are_refused(backend: Backend, what: str, value: int, curved: bool) -> None:
    refused(backend, lambda: bulk(backend, curved=curved, **{what: value}))
    if what != "first":
        refused(backend, lambda: rounds(backend, **{what: value}))


@pytest.mark.parametrize("curved", [False, True])
@pytest.mark.parametrize("spot", [(0, LAST_SPOT), (LAST_SPOT, 0), (-1, 0), (0, -1), (LAST_SPOT + 1, 0), (0, 2**20)])
def test_spots_are_of_their_square(backend: Backend, spot: tuple[int, int], curved: bool) -> None:
    if all(0 <= x <= LAST_SPOT for x in spot):
        assert_taken(backend, bulk(backend, spot=spot, curved=curved))
    else:
        refused(backend, lambda: bulk(backend, spot=spot, curved=curved))


@pytest.mark.parametrize("count", [-1, 0, 1])
def test_there_is_a_climber_at_least(backend: Backend, count: int) -> None:
    if count < 1:
        refused(backend, lambda: bulk(backend, count))
    else:
        assert_taken(backend, bulk(backend, count))


@pytest.mark.parametrize("curved", [False, True])
def test_lists_for_fragments_are_not_wider_than_a_rank_can_tell(backend: Backend, curved: bool) -> None:
    form = form_of(scattered(40, "EUC_2D", 8))
    wider = lists_of(form, WIDEST + 1)
    assert_taken(backend, bulk(backend, lists=lists_of(form, WIDEST), curved=curved))
    refused(backend, lambda: bulk(backend, lists=wider, curved=curved))
    # The local search looks at any.
    assert_taken(backend, rounds(backend, lists=wider, wide=WIDEST + 1, rounds=5))


@pytest.mark.parametrize("bad", [-1, 40])
def test_lists_of_what_is_no_city_are_refused(backend: Backend, bad: int) -> None:
    lists = lists_of(form_of(scattered(40, "EUC_2D", 8)), 8)
    lists[2, 3] = bad
    for curved in (False, True):
        refused(backend, lambda curved=curved: bulk(backend, lists=lists, curved=curved))  # type: ignore[misc]
    refused(backend, lambda: rounds(backend, lists=lists))
