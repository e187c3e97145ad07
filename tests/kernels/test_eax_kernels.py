"""The kernels of edge assembly crossover: what generations promise, on all backends and in every form of distances."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from typing import Any

import crossing_oracle
import numpy as np
import oracle
import pytest
from cities import scattered
from crossing_oracle import Plan
from hypothesis import example, given, settings
from hypothesis import strategies as st
from kernel_calls import all_forms, distances_of, lists_of, load, read
from kernel_values import generation_plan, population_on
from numpy.typing import NDArray
from populations import populations

from pytsp import is_tour, random_tours
from pytsp.backends import Backend, Opaque, open_backend
from pytsp.exceptions import KernelError
from pytsp.problem.instance import Instance
from pytsp.problem.kernel_input import Form, form_of

PART = "flat"
LARGEST = 2**30 - 1
WIDE = 8
Population = tuple[Instance, list[list[int]]]


class Crossed:
    """The generation after given tours."""

    def __init__(
        self,
        backend: Backend,
        form: Form,
        tours: Any,
        plan: Plan | None = None,
        *,
        lists: NDArray[np.int32] | None = None,
        seed: int = 0,
        generation: int = 0,
    ) -> None:
        before = [oracle.length(distances_of(form), tour) for tour in tours]
        given_ = population_on(backend, tours, before)
        lists = lists_of(form, WIDE) if lists is None else lists
        numbers = generation_plan(backend, seed=seed, generation=generation, **asdict(plan or Plan()))
        self.population: Opaque = backend.call(f"{form.kind}_cross", load(backend, form), lists, given_, numbers)
        self.found = read(backend, "population", self.population)
        self.tours, self.lengths, self.steps = self.found
        self.gains = [length - after for length, after in zip(before, self.lengths, strict=True)]
        self.mates = crossing_oracle.mates(crossing_oracle.streams(len(before), seed, generation))


def assert_children(form: Form, tours: Sequence[list[int]], crossed: Crossed) -> None:
    """What holds of every generation: tours with the gains that are told, of edges of their parents and of merges."""
    distances = distances_of(form)
    reported = zip(crossed.tours, crossed.gains, crossed.steps, tours, crossed.mates, strict=True)
    for child, gain, step, before, mate in reported:
        assert is_tour(child, form.whole.n)
        assert oracle.length(distances, before) - oracle.length(distances, child) == gain >= 0
        assert step == (gain > 0)
        # A tour that does not change keeps its places, too.
        if gain == 0 or oracle.edges(before) == oracle.edges(tours[mate]):
            assert (child, gain) == (before, 0)


plans = st.builds(
    Plan,
    st.sampled_from([0, 2, 5, 150]),
    st.sampled_from([0, 1, 5, 1500]),
    st.sampled_from([0, 1, 2, 8]),
    st.sampled_from([0, 1, 3]),
    st.sampled_from([0, 1, 70, 10_000]),
)
# Where few subtours may be merged there are unions.
PLANS = (Plan(), Plan(rounds=1, unions=1), Plan(most=20, cap=3, unions=3, thrift=70))
seeds = st.integers(0, 2**64 - 1)
some_populations = st.one_of(populations(), populations(related=True))


# Laws


@given(some_populations, seeds, st.integers(0, 2**40), st.integers(0, 60), plans)
@example((Instance.from_coordinates([[0, 0]], metric="EUC_2D"), [[0]]), 0, 0, 8, Plan())
@example((Instance.from_coordinates([[0, 0], [5, 5]], metric="EUC_2D"), [[0, 1], [1, 0]]), 0, 0, 8, Plan(unions=3))
@example((Instance.from_coordinates([[7, 7]] * 9), [[*range(9)], [0, 2, 4, 6, 8, 1, 3, 5, 7]]), 0, 0, 8, Plan())
@example((Instance.from_matrix(np.full((8, 8), 3) - 3 * np.eye(8, dtype=int)), [[*range(8)]] * 2), 1, 2, 8, Plan())
def test_children_are_tours_of_the_lengths_that_are_told(
    backend: Backend, population: Population, seed: int, generation: int, k: int, plan: Plan
) -> None:
    instance, tours = population
    for form in all_forms(instance):
        lists = lists_of(form, k)
        crossed = Crossed(backend, form, tours, plan, lists=lists, seed=seed, generation=generation)
        assert_children(form, tours, crossed)


@pytest.mark.parametrize("n", [*range(1, 10), 60])
@pytest.mark.parametrize("p", [1, 2, 3, 7])
def test_generations_never_lengthen_a_tour_of_scattered_cities(backend: Backend, n: int, p: int) -> None:
    form = form_of(scattered(n, "EUC_2D", 0))
    tours = random_tours(n, p, 0).tolist()
    for generation in range(5):
        plan = Plan(unions=generation % 2, thrift=70 * (generation // 3))
        crossed = Crossed(backend, form, tours, plan, seed=3, generation=generation)
        assert_children(form, tours, crossed)
        tours = crossed.tours


@given(some_populations, seeds, plans)
def test_without_lists_a_child_has_edges_of_its_parents_only(
    backend: Backend, population: Population, seed: int, plan: Plan
) -> None:
    instance, tours = population
    form = form_of(instance)
    crossed = Crossed(backend, form, tours, plan, lists=lists_of(form, 0), seed=seed)
    for child, before, mate in zip(crossed.tours, tours, crossed.mates, strict=True):
        mine, theirs, new = (oracle.edges(tour) for tour in (before, tours[mate], child))
        assert new - mine <= theirs
        assert oracle.is_balanced(mine - new, new - mine)


@given(some_populations, seeds, plans, st.data())
def test_a_pair_comes_to_the_same_among_others(
    backend: Backend, population: Population, seed: int, plan: Plan, data: st.DataObject
) -> None:
    # With thrift the edges of all tours count, as far as they are in the lists.
    plan = replace(plan, thrift=0)
    instance, tours = population
    form, a = form_of(instance), data.draw(st.integers(0, len(tours) - 1))
    lists = lists_of(form)
    crossed = Crossed(backend, form, tours, plan, lists=lists, seed=seed)
    others = random_tours(instance.n, len(tours), data.draw(st.integers(0, 99))).tolist()
    for place in (a, crossed.mates[a]):
        others[place] = tours[place]
    again = Crossed(backend, form, others, plan, lists=lists, seed=seed)
    for before, after in zip(crossed.found, again.found, strict=True):
        assert before[a] == after[a]


def test_tours_cross_on_from_the_best_of_their_ways(backend: Backend) -> None:
    form = form_of(scattered(40, "EUC_2D", 5))
    tours = random_tours(40, 4, 0)
    crossed = Crossed(backend, form, tours.tolist())
    lengths = np.array([oracle.length(distances_of(form), tour) for tour in tours.tolist()])
    steps = np.arange(4)
    fields = {"tours": tours[:, ::-1].copy(), "bests": tours, "lengths": lengths, "steps": steps}
    given_ = backend.value("population", fields)
    entry = f"{form.kind}_cross"
    after = backend.call(entry, load(backend, form), lists_of(form, WIDE), given_, generation_plan(backend))
    found = backend.fields(after)
    assert found["tours"].tolist() == found["bests"].tolist() == crossed.tours
    assert found["lengths"].tolist() == crossed.lengths
    assert found["steps"].tolist() == (steps + crossed.steps).tolist()
    assert any(crossed.steps)


# The oracle's generations


# The oracle takes long for many tours of many cities.
@settings(max_examples=30)
@given(st.one_of(populations(max_n=40), populations(max_n=40, related=True)), seeds, st.integers(0, 60), plans)
def test_generations_are_those_of_the_oracle(
    backend: Backend, population: Population, seed: int, k: int, plan: Plan
) -> None:
    instance, tours = population
    expected = None
    for form in all_forms(instance):
        lists = lists_of(form, k)
        if expected is None:
            expected = crossing_oracle.generation(distances_of(form), lists.tolist(), tours, seed, 7, plan)
        assert Crossed(backend, form, tours, plan, lists=lists, seed=seed, generation=7).tours == expected


@pytest.mark.parametrize("metric", ["EUC_2D", "EXPLICIT", "MAN_2D", "EUCLIDEAN"])
@pytest.mark.parametrize("plan", PLANS)
def test_generation_after_generation_is_that_of_the_oracle(backend: Backend, metric: str, plan: Plan) -> None:
    n, p = 60, 5
    instance = scattered(n, metric, 1)
    for form in all_forms(instance):
        distances, lists = distances_of(form), lists_of(form, WIDE)
        tours, changed = random_tours(n, p, 0).tolist(), 0
        for generation in range(5):
            crossed = Crossed(backend, form, tours, plan, seed=9, generation=generation)
            expected = crossing_oracle.generation(distances, lists.tolist(), tours, 9, generation, plan)
            assert crossed.tours == expected
            tours, changed = crossed.tours, changed + sum(crossed.steps)
        assert changed > p


@pytest.mark.parametrize("metric", ["EUC_2D", "EXPLICIT", "MAN_2D", "EUC_3D"])
@pytest.mark.parametrize(("n", "p"), [(5, 3), (9, 40), (300, 24)])
def test_all_backends_and_forms_make_the_same_generations(backend: Backend, metric: str, n: int, p: int) -> None:
    instance = scattered(n, metric, 2)
    alone, lists = open_backend("c"), lists_of(form_of(instance), WIDE)
    for plan in PLANS:
        tours = random_tours(n, p, 0).tolist()
        for generation in range(4):
            fields: dict[str, Any] = {"lists": lists, "seed": 4, "generation": generation}
            expected = Crossed(alone, form_of(instance), tours, plan, **fields)
            for form in all_forms(instance):
                assert Crossed(backend, form, tours, plan, **fields).found == expected.found
            tours = expected.tours


# Limits: exchanges made to measure


class Made:
    """A pair of tours whose one long AB-cycle has a number of edges of A and leaves subtours of given sizes.

    A is 0, …, n - 1. What goes costs `gone`, what comes costs `come`, the other edges of A 10, everything else 11; so
    the cycle's child gains by far the most, if it is made. B joins the subtours by exchanges of two edges.
    """

    def __init__(self, sizes: list[int], subtours: int, gone: int = 1000, come: int = 0) -> None:
        m, n = len(sizes), sum(sizes)
        bounds = np.cumsum([0, *sizes])
        parts, come_edges = self._closed(bounds, m, subtours)
        self.a = list(range(n))
        self.come = come_edges
        cut = {(int(bound) - 1, int(bound) % n) for bound in bounds[1:]}
        self.b = self._threaded(bounds, parts)
        matrix = np.full((n, n), 11, dtype=np.int64)
        for pairs, cost in ((oracle.edges(self.a), 10), (cut, gone), (come_edges, come)):
            for u, v in pairs:
                matrix[u, v] = matrix[v, u] = cost
        np.fill_diagonal(matrix, 0)
        self.form = form_of(Instance.from_matrix(matrix))
        random = np.random.default_rng(n)
        self.lists = np.array([random.choice(n - 1, 6, replace=False) for _ in range(n)], dtype=np.int32)
        self.lists += self.lists >= np.arange(n)[:, None]

    @staticmethod
    def _closed(bounds: NDArray[np.int64], m: int, subtours: int) -> tuple[list[list[Any]], set[tuple[int, int]]]:
        """Segments, from which to which city, in some rings; and the edges that close them, in one AB-cycle."""
        n = int(bounds[-1])
        for seed in range(10_000):
            random = np.random.default_rng(seed)
            segments = [(int(low), int(high) - 1) for low, high in zip(bounds, bounds[1:], strict=False)]
            turned = [segments[i][:: random.choice((-1, 1))] for i in random.permutation(m)]
            marks = [0, *sorted(random.choice(np.arange(1, m), subtours - 1, replace=False).tolist()), m]
            parts = [turned[low:high] for low, high in zip(marks, marks[1:], strict=False)]
            links = {}
            for part in parts:
                for (_, u), (v, _) in zip(part, [*part[1:], part[0]], strict=True):
                    links[u], links[v] = v, u
            city, length = links[0], 1
            while True:
                # On along an edge of A that goes, which joins the end of a segment to the start of the next.
                city = (city - 1) % n if city in bounds else (city + 1) % n
                if city == 0:
                    break
                city, length = links[city], length + 1
            new = {(min(u, v), max(u, v)) for u, v in links.items()}
            if length == m and not new & oracle.edges(range(n)):
                return parts, new
        raise AssertionError("no such exchange was found")

    @staticmethod
    def _threaded(bounds: NDArray[np.int64], parts: list[list[tuple[int, int]]]) -> list[int]:
        """One tour of all rings: each takes up the next one between the fourth and fifth city of its first segment."""

        def walk(segment: tuple[int, int]) -> list[int]:
            low, high = sorted(segment)
            return list(range(low, high + 1))[:: 1 if segment[0] < segment[1] else -1]

        tour: list[int] = []
        for part in reversed(parts):
            ring = [city for segment in part for city in walk(segment)]
            # The ring so far is opened between its second and third city.
            tour = [*ring[:4], *tour[2:], *tour[:2], *ring[4:]]
        return tour

    def crossed(self, backend: Backend, plan: Plan) -> tuple[list[int], int]:
        """A's child with B, and its gain."""
        crossed = Crossed(backend, self.form, [self.a, self.b], plan, lists=self.lists)
        assert_children(self.form, [self.a, self.b], crossed)
        return crossed.tours[0], crossed.gains[0]

    def is_made(self, backend: Backend, **plan: int) -> bool:
        """Tell whether the child takes over all that comes, by the one AB-cycle that saves something."""
        child, gain = self.crossed(backend, Plan(**plan))
        made = self.come <= oracle.edges(child)
        assert made == (gain >= 900 * len(self.come))
        assert made or child == self.a
        return made


@pytest.mark.parametrize("m", [2, 3, 40, 149])
def test_ab_cycles_make_children_up_to_the_longest(backend: Backend, m: int) -> None:
    case = Made([6] * m, 1)
    assert [case.is_made(backend, most=most) for most in (0, m - 1, m, m + 1)] == [False, False, True, True]


@pytest.mark.parametrize("size", [6, 7, 1500])
def test_subtours_are_merged_up_to_the_largest(backend: Backend, size: int) -> None:
    larger = size + 100
    for sizes in ([size, larger], [larger, size]):
        case = Made(sizes, 2)
        assert [case.is_made(backend, cap=cap) for cap in (0, size - 1, size, size + 1)] == [False, False, True, True]


@pytest.mark.parametrize("subtours", [2, 26])
def test_subtours_are_merged_in_rounds(backend: Backend, subtours: int) -> None:
    case = Made([8] * 60, subtours)
    made = [case.is_made(backend, rounds=rounds) for rounds in (0, 1, 2, 4, 8, 1000)]
    # Without a round none is merged, and each round merges half of them or more.
    assert made == sorted(made) and not made[0] and made[-2:] == [True, True]
    assert made[1] == (subtours == 2)


@pytest.mark.parametrize("thrift", [0, 100, 10_000])
@pytest.mark.parametrize("p", [2, 3])
def test_children_wait_that_cost_more_entropy_than_they_save(backend: Backend, thrift: int, p: int) -> None:
    # The one child saves what its pair saves on the average: it waits for more than that only.
    case = Made([6] * 4, 1)
    tours = [case.a, case.b, *[case.a] * (p - 2)]
    plan = Plan(thrift=thrift)
    crossed = Crossed(backend, case.form, tours, plan, lists=case.lists)
    distances, lists = distances_of(case.form), case.lists.tolist()
    assert crossed.tours == crossing_oracle.generation(distances, lists, tours, 0, 0, plan)


@pytest.mark.parametrize("subtours", [1, 4])
def test_gains_do_not_leave_their_bits(backend: Backend, subtours: int) -> None:
    # 148 (2**30 - 1) is -148 in 32 bits; the gain of its reverse, 148.
    m = 148
    case = Made([8] * m, subtours, gone=LARGEST, come=0)
    child, gain = case.crossed(backend, Plan())
    assert case.come <= oracle.edges(child)
    assert gain == m * LARGEST - 2 * (subtours - 1)
    case = Made([8] * m, subtours, gone=0, come=LARGEST)
    assert case.crossed(backend, Plan())[0] == case.a


@pytest.mark.parametrize("thrift", [0, 70])
@pytest.mark.parametrize("rounds", [0, 1, 3])
def test_both_halves_of_a_double_bridge_come_at_once(backend: Backend, rounds: int, thrift: int) -> None:
    # Either half leaves two subtours, and lists by which they could be merged are missing: a union of both leaves none.
    a, b = [*range(8)], [0, 1, 6, 7, 4, 5, 2, 3]
    matrix = np.full((8, 8), 5) - 5 * np.eye(8, dtype=np.int64)
    for u, v in oracle.edges(b):
        matrix[u, v] = matrix[v, u] = 1
    form = form_of(Instance.from_matrix(matrix))
    key = crossing_oracle.streams(2, 0, 0)[0]
    assert [len(each.cuts) for each in crossing_oracle.cycles(matrix.tolist(), a, b, key, 8)] == [2, 2]
    crossed = Crossed(backend, form, [a, b], Plan(unions=rounds, thrift=thrift), lists=lists_of(form, 0))
    assert crossed.gains == [16 if rounds else 0, 0]
    assert oracle.edges(crossed.tours[0]) == oracle.edges(b if rounds else a)


# Refusals


BOUNDS = {
    "generation": (0, 2**63 - 1),
    "most": (0, 2**20),
    "cap": (0, 2**31 - 1),
    "rounds": (0, 1000),
    "unions": (0, 1000),
    "thrift": (0, 10_000),
}
BEYOND = [
    (what, value)
    for what, (low, high) in BOUNDS.items()
    for value in (low - 1, high + 1)
    if -(2**31) <= value < (2**63 if what == "generation" else 2**31)
]


def cross(backend: Backend, tours: NDArray[np.int32], lists: NDArray[np.int32], **fields: int) -> Opaque:
    """Cross tours of cities of a grid by a plan."""
    form = form_of(scattered(tours.shape[1], "EUC_2D", 8))
    given_ = population_on(backend, tours, np.zeros(len(tours)))
    return backend.call("grid_cross", load(backend, form), lists, given_, generation_plan(backend, **fields))


def refused(backend: Backend, call: Callable[[], Opaque]) -> None:
    """Make sure that a call is refused, and that the backend crosses tours as before then."""
    form, tours = form_of(scattered(20, "EUC_2D", 8)), random_tours(20, 6, 0).tolist()
    before = Crossed(backend, form, tours).found
    with pytest.raises(KernelError):
        call()
    assert Crossed(backend, form, tours).found == before


@pytest.mark.parametrize(("what", "value"), [(what, value) for what, both in BOUNDS.items() for value in both])
def test_settings_at_their_bounds_are_taken(backend: Backend, what: str, value: int) -> None:
    form = form_of(scattered(12, "EUC_2D", 8))
    found = cross(backend, random_tours(12, 3, 0), lists_of(form), **{what: value})
    assert all(is_tour(tour, 12) for tour in read(backend, "population", found)[0])


@pytest.mark.parametrize(("what", "value"), BEYOND)
def test_settings_out_of_bounds_are_refused(backend: Backend, what: str, value: int) -> None:
    form = form_of(scattered(12, "EUC_2D", 8))
    refused(backend, lambda: cross(backend, random_tours(12, 3, 0), lists_of(form), **{what: value}))


@pytest.mark.parametrize("bad", [-1, 12])
def test_lists_of_what_is_no_city_are_refused(backend: Backend, bad: int) -> None:
    lists = lists_of(form_of(scattered(12, "EUC_2D", 8)))
    lists[2, 3] = bad
    refused(backend, lambda: cross(backend, random_tours(12, 3, 0), lists))
