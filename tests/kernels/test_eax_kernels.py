"""The kernels of edge assembly crossover: what children, generations and starting tours promise, on all backends."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import oracle
import pytest
import strategies
from cities import scattered
from hypothesis import example, given
from hypothesis import strategies as st
from kernel_calls import distances_of, forms_of, lists_of, load, read
from kernel_values import generation_plan
from numpy.typing import NDArray

from pytsp import is_tour, random_tours
from pytsp.backends import Backend, Opaque, open_backend
from pytsp.exceptions import KernelError
from pytsp.problem.instance import Instance
from pytsp.problem.kernel_input import Form, form_of
from pytsp.problem.tours import _below, _streams

PART = "search"
ALL = 10**6
LARGEST = 2**30 - 1
MOST_CYCLE = 150
MOST_CUTS = 200
MOST_UNITED = 80
MOST_SCANNED = 1500


class Crossed:
    """The generation after given tours."""

    def __init__(
        self,
        backend: Backend,
        form: Form,
        tours: Any,
        *,
        lists: NDArray[np.int32] | None = None,
        seed: int = 0,
        generation: int = 0,
        children: int = ALL,
        spread: int = 1,
    ) -> None:
        given = backend.call("population_given", np.atleast_2d(np.asarray(tours, dtype=np.int32)))
        lists = lists_of(form) if lists is None else lists
        plan = generation_plan(backend, seed, generation, children, spread)
        self.population: Opaque = backend.call(f"{form.kind}_cross", load(backend, form), lists, given, plan)
        self.tours, lengths, self.steps = read(backend, "population", self.population)
        # Tours that are given have no lengths before they climb: what is told is what they lose.
        self.gains = [-length for length in lengths]
        # The places from which each and its other parent come.
        order = random_tours(len(lengths), 1, seed, generation)[0].tolist()
        self.parents = list(zip(order, [*order[1:], order[0]], strict=True))

    @property
    def found(self) -> tuple[list[list[int]], list[int], list[int]]:
        """The tours, their gains, and the numbers of steps."""
        return self.tours, self.gains, self.steps


def assert_children(form: Form, tours: list[list[int]], crossed: Crossed) -> None:
    """What holds of every generation: tours with the gains that are told, of edges of their parents and of merges."""
    distances = distances_of(form)
    for child, gain, step, (i, j) in zip(*crossed.found, crossed.parents, strict=True):
        a, b = tours[i], tours[j]
        assert is_tour(child, form.whole.n)
        assert oracle.length(distances, a) - oracle.length(distances, child) == gain >= 0
        assert step == (gain > 0)
        if gain == 0:
            assert child == a
        mine, theirs, new = oracle.edges(a), oracle.edges(b), oracle.edges(child)
        # A cycle with m edges of B leaves m subtours at most, and each merge adds two edges.
        assert len(new - mine - theirs) <= max(0, 2 * (len(mine - new) - 1))
        if mine == theirs:
            assert (child, gain) == (a, 0)


@st.composite
def populations(draw: st.DrawFn, largest: int = 10**6) -> tuple[Instance, list[list[int]]]:
    """An instance of up to nine cities, some in one place or on a line, with up to four tours."""
    instance = draw(
        st.one_of(
            strategies.instances(max_n=9),
            strategies.lattice_instances(("EUC_2D", "MAN_2D"), max_n=9),
            strategies.symmetric_matrices(max_n=9, largest=largest).map(Instance.from_matrix),
        )
    )
    return instance, [draw(strategies.tours(instance.n)).tolist() for _ in range(draw(st.integers(1, 4)))]


@given(populations(LARGEST), st.integers(0, 2**64 - 1), st.integers(0, 99), st.integers(0, 8))
@example((Instance.from_coordinates([[0, 0]], metric="EUC_2D"), [[0]]), 0, 0, 8)
@example((Instance.from_coordinates([[0, 0], [5, 5]], metric="EUC_2D"), [[0, 1], [1, 0]]), 0, 0, 8)
@example(
    (Instance.from_coordinates([[7, 7]] * 9, metric="EUC_2D"), [[*range(9)], [0, 2, 4, 6, 8, 1, 3, 5, 7]]), 0, 0, 8
)
@example((Instance.from_matrix(np.full((8, 8), 3) - 3 * np.eye(8, dtype=int)), [[*range(8)]] * 2), 1, 2, 8)
def test_children_are_tours_of_their_parents_edges_and_of_the_lengths_that_are_told(
    backend: Backend, given_: tuple[Instance, list[list[int]]], seed: int, generation: int, k: int
) -> None:
    instance, tours = given_
    for form in forms_of(instance):
        crossed = Crossed(backend, form, tours, lists=lists_of(form, k), seed=seed, generation=generation)
        assert_children(form, tours, crossed)


@pytest.mark.parametrize("n", [*range(1, 10), 60])
@pytest.mark.parametrize("p", [1, 2, 3, 7])
def test_generations_never_lengthen_a_tour_of_scattered_cities(backend: Backend, n: int, p: int) -> None:
    form = form_of(scattered(n, "EUC_2D", 0))
    tours = random_tours(n, p, 0).tolist()
    for generation in range(5):
        crossed = Crossed(backend, form, tours, lists=lists_of(form, 6), seed=3, generation=generation)
        assert_children(form, tours, crossed)
        tours = crossed.tours


@given(populations(), st.integers(0, 99))
def test_without_merges_a_child_differs_by_edges_of_its_parents_in_turn(
    backend: Backend, given_: tuple[Instance, list[list[int]]], seed: int
) -> None:
    instance, tours = given_
    form = form_of(instance)
    crossed = Crossed(backend, form, tours, lists=lists_of(form, 0), seed=seed)
    for child, (i, j) in zip(crossed.tours, crossed.parents, strict=True):
        mine, theirs, new = (oracle.edges(tour) for tour in (tours[i], tours[j], child))
        assert new - mine <= theirs
        assert oracle.is_balanced(mine - new, new - mine)
    # Of one AB-cycle, behind which no unions are made.
    crossed = Crossed(backend, form, tours, lists=lists_of(form, 0), seed=seed, children=1)
    for child, (i, _) in zip(crossed.tours, crossed.parents, strict=True):
        mine, new = oracle.edges(tours[i]), oracle.edges(child)
        assert oracle.is_alternating(mine - new, new - mine)


def other_tour(n: int, seed: int) -> list[int]:
    """The cities 0, …, n - 1 in pieces of two and more, shuffled and turned."""
    random = np.random.default_rng([n, seed])
    bounds = np.unique(np.concatenate([[0, n], 2 * random.integers(1, n // 2, n // 3)]))
    pieces = [np.arange(low, high)[:: random.choice((-1, 1))] for low, high in zip(bounds, bounds[1:], strict=False)]
    return np.concatenate([pieces[i] for i in random.permutation(len(pieces))]).tolist()


def bridged(n: int, seed: int) -> list[int]:
    """The cities 0, …, n - 1 after double bridges, each of four edges that are still there."""
    random = np.random.default_rng([n, seed])
    tour, edges = [*range(n)], random.permutation(np.arange(0, n - 1, 2)).tolist()
    while len(edges) >= 4:
        # An edge may stand on the tour either way round.
        at = sorted(min(tour.index(c), tour.index(c + 1)) + 1 for c in (edges.pop() for _ in range(4)))
        i, j, k, m = at
        tour = [*tour[:i], *tour[k:m], *tour[j:k], *tour[i:j], *tour[m:]]
    return tour


def random_pair(n: int, seed: int, other: Callable[[int, int], list[int]]) -> tuple[Form, list[int], list[int]]:
    """Two tours of cities at random distances, of which hardly any two are equal, nor, then, two ways to merge."""
    half = np.triu(np.random.default_rng([n, seed]).integers(0, 10**6, (n, n)), 1)
    return form_of(Instance.from_matrix(half + half.T)), [*range(n)], other(n, seed)


@dataclass(frozen=True)
class Child:
    """What some AB-cycles, so many, come to where the best child so far gains `least`.

    Attributes
    ----------
    place : int
        Which AB-cycles they are.
    gain : int
        The child's, or `least` where it would gain no more.
    """

    place: int
    least: int
    gain: int
    edges: frozenset[tuple[int, int]]
    cycles: int


def children_of(form: Form, a: list[int], b: list[int], *, merges: bool) -> list[Child]:
    """The children of `a` by each AB-cycle that saves something, and by the union around it, behind each child that may
    be the best one so far."""
    distances = distances_of(form)
    cycles = oracle.ab_cycles(a, b)
    centers = [cycle for cycle in cycles if oracle.gain_of(distances, [cycle]) > 0]
    unions = [oracle.union(distances, a, cycles, center, MOST_UNITED) for center in centers]
    found, levels, seen = [], [0], set[int]()
    while levels:
        least = levels.pop()
        seen.add(least)
        for place, each in enumerate([[center] for center in centers] + unions):
            made = oracle.child(distances, a, each, MOST_CUTS if merges else 0, least)
            gain, tour = made or (least, set())
            found.append(Child(place, least, gain, frozenset(tour), len(each)))
            levels += {gain} - seen - {*levels}
    return found


@pytest.mark.parametrize("n", [8, 9, 13, 20, 30])
@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize(("merges", "other"), [(True, other_tour), (False, bridged)])
def test_the_child_is_the_best_of_all_ab_cycles_and_unions(
    backend: Backend, n: int, seed: int, merges: bool, other: Callable[[int, int], list[int]]
) -> None:
    form, a, b = random_pair(n, seed, other)
    lists = lists_of(form) if merges else lists_of(form, 0)
    crossed = Crossed(backend, form, [a, b], lists=lists, seed=seed)
    for child, gain, (i, _) in zip(crossed.tours, crossed.gains, crossed.parents, strict=True):
        mine, theirs = (a, b) if i == 0 else (b, a)
        children = children_of(form, mine, theirs, merges=merges)
        made = {(each.gain, each.edges) for each in children if each.gain > each.least}
        assert (gain, frozenset(oracle.edges(child))) in made | {(0, frozenset(oracle.edges(mine)))}
        # Each of the cycles and unions came to no more at its time.
        no_more = {each.place for each in children if each.least <= gain and each.gain <= gain}
        assert no_more == {each.place for each in children}


def test_the_best_child_is_a_union_now_and_then() -> None:
    # Else the test before would not see them.
    pairs = [children_of(*random_pair(30, seed, bridged), merges=False) for seed in range(8)]
    assert sum(max(children, key=lambda child: child.gain).cycles == 2 for children in pairs if children) >= 4


@pytest.mark.parametrize("children", [1, 2, 3])
def test_both_halves_of_a_double_bridge_come_at_once(backend: Backend, children: int) -> None:
    # Either half leaves two subtours, and lists by which they could be merged are missing. A union is made once there
    # are no more AB-cycles, which is found out behind the second one.
    a, b = [*range(8)], [0, 1, 6, 7, 4, 5, 2, 3]
    matrix = np.full((8, 8), 5) - 5 * np.eye(8, dtype=np.int64)
    for u, v in oracle.edges(b):
        matrix[u, v] = matrix[v, u] = 1
    assert sorted(map(len, oracle.ab_cycles(a, b))) == [4, 4]
    for form in forms_of(Instance.from_matrix(matrix)):
        crossed = Crossed(backend, form, [a, b], lists=lists_of(form, 0), children=children)
        gain, child = next(
            (gain, child)
            for gain, child, (i, _) in zip(crossed.gains, crossed.tours, crossed.parents, strict=True)
            if i == 0
        )
        assert gain == (16 if children > 2 else 0)
        assert oracle.edges(child) == oracle.edges(b if children > 2 else a)


@given(populations(), st.data())
def test_more_children_never_gain_less(
    backend: Backend, given_: tuple[Instance, list[list[int]]], data: st.DataObject
) -> None:
    instance, tours = given_
    form, seed = form_of(instance), data.draw(st.integers(0, 99))
    gains = [Crossed(backend, form, tours, seed=seed, children=children).gains for children in (0, 1, 2, 3, ALL)]
    assert gains[0] == [0] * len(tours)
    assert all(column == tuple(sorted(column)) for column in zip(*gains, strict=True))


@pytest.mark.parametrize("metric", ["EUC_2D", "CEIL_2D", "EXPLICIT"])
@pytest.mark.parametrize("n", [5, 9, 70])
def test_all_backends_forms_and_spreads_make_the_same_children(backend: Backend, metric: str, n: int) -> None:
    instance = scattered(n, metric, 2)
    tours = random_tours(n, 5, 0)
    lists = lists_of(form_of(instance), 8)
    expected = Crossed(open_backend("c"), form_of(instance), tours, lists=lists, seed=4, generation=9).found
    for form in forms_of(instance):
        for spread in (1, 2, 32):
            crossed = Crossed(backend, form, tours, lists=lists, seed=4, generation=9, spread=spread)
            assert crossed.found == expected


# Limits: exchanges made to measure


class Made:
    """A pair of tours whose one long AB-cycle has so many edges of A and leaves subtours of such sizes.

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
        """Segments, from which to which city, in so many rings; and the edges that close them, in one AB-cycle."""
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

    def crossed(self, backend: Backend, **options: Any) -> tuple[list[int], int]:
        """A's child with B, and its gain."""
        crossed = Crossed(backend, self.form, [self.a, self.b], lists=self.lists, **options)
        place = [i for i, _ in crossed.parents].index(0)
        assert_children(self.form, [self.a, self.b], crossed)
        return crossed.tours[place], crossed.gains[place]

    def is_made(self, backend: Backend) -> bool:
        """Whether the child takes over all that comes, by the one AB-cycle that saves something: unions come later."""
        child, gain = self.crossed(backend, children=1)
        made = self.come <= oracle.edges(child)
        assert made == (gain >= 900 * len(self.come))
        return made


@pytest.mark.parametrize(
    ("m", "made"), [(2, True), (MOST_CYCLE - 1, True), (MOST_CYCLE, True), (MOST_CYCLE + 1, False)]
)
def test_ab_cycles_make_children_up_to_the_longest(backend: Backend, m: int, made: bool) -> None:
    assert made == (m <= MOST_CYCLE)
    case = Made([6] * m, 1)
    assert case.is_made(backend) == made
    assert (case.crossed(backend)[0] == case.a) != made


@pytest.mark.parametrize(
    ("m", "subtours", "made"),
    [
        (100, 50, True),
        (100, 51, True),
        (100, 52, False),
        (149, 26, True),
        (149, 27, False),
        (150, 26, True),
        (150, 27, False),
    ],
)
def test_subtours_are_merged_up_to_the_most_cuts(backend: Backend, m: int, subtours: int, made: bool) -> None:
    assert made == (m + 2 * (subtours - 1) <= MOST_CUTS)
    assert Made([8] * m, subtours).is_made(backend) == made


@pytest.mark.parametrize(("size", "made"), [(MOST_SCANNED - 1, True), (MOST_SCANNED, True), (MOST_SCANNED + 1, False)])
def test_subtours_are_merged_up_to_the_largest(backend: Backend, size: int, made: bool) -> None:
    larger = MOST_SCANNED + 100
    assert Made([size, larger], 2).is_made(backend) == made
    assert Made([larger, size], 2).is_made(backend) == made


@pytest.mark.parametrize("subtours", [1, 4])
def test_gains_do_not_leave_their_bits(backend: Backend, subtours: int) -> None:
    # 148 (2**30 - 1) is -148 in 32 bits; the gain of its reverse, 148.
    m = MOST_CYCLE - MOST_CYCLE % 4
    case = Made([8] * m, subtours, gone=LARGEST, come=0)
    child, gain = case.crossed(backend)
    assert case.come <= oracle.edges(child)
    assert gain == m * LARGEST - 2 * (subtours - 1)
    case = Made([8] * m, subtours, gone=0, come=LARGEST)
    assert not case.come <= oracle.edges(case.crossed(backend)[0])


# Starts


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


@pytest.mark.parametrize(
    ("what", "value"), [("generation", -1), ("children", -1), ("spread", 0), ("spread", 33), ("spread", -1)]
)
def test_settings_out_of_bounds_are_refused(backend: Backend, what: str, value: int) -> None:
    form = form_of(scattered(6, "EUC_2D", 8))
    with pytest.raises(KernelError):
        Crossed(backend, form, random_tours(6, 2, 0), **{what: value})


@pytest.mark.parametrize("bad", [-1, 6])
def test_lists_of_what_is_no_city_are_refused(backend: Backend, bad: int) -> None:
    form = form_of(scattered(6, "EUC_2D", 8))
    lists = lists_of(form)
    lists[2, 3] = bad
    with pytest.raises(KernelError):
        Crossed(backend, form, random_tours(6, 2, 0), lists=lists)
    with pytest.raises(KernelError):
        started(backend, form, lists, 0, 0, 1, 0)


@pytest.mark.parametrize(("first", "count", "passes"), [(-1, 1, 0), (0, 0, 0), (0, 1, -1), (0, 1, 257)])
def test_starts_out_of_bounds_are_refused(backend: Backend, first: int, count: int, passes: int) -> None:
    form = form_of(scattered(6, "EUC_2D", 8))
    with pytest.raises(KernelError):
        started(backend, form, lists_of(form), 0, first, count, passes)


# The oracle itself


@given(st.integers(4, 20).flatmap(strategies.rearranged))
def test_ab_cycles_share_all_that_differs(b: NDArray[np.int32]) -> None:
    a, other = list(range(len(b))), b.tolist()
    cycles = oracle.ab_cycles(a, other)
    pairs = [list(zip(cycle, [*cycle[1:], cycle[0]], strict=True)) for cycle in cycles]
    gone = [(min(pair), max(pair)) for each in pairs for pair in each[::2]]
    come = [(min(pair), max(pair)) for each in pairs for pair in each[1::2]]
    assert sorted(gone) == sorted(oracle.edges(a) - oracle.edges(other))
    assert sorted(come) == sorted(oracle.edges(other) - oracle.edges(a))
    for each in pairs:
        ends = [{(min(pair), max(pair)) for pair in each[start::2]} for start in (0, 1)]
        assert oracle.is_alternating(*ends)
