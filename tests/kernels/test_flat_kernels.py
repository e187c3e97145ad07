"""The steps of the flattened edge assembly crossover, on c: each compared with an oracle, pair by pair."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import astuple, dataclass, replace
from typing import Any

import crossing_oracle
import flat_oracle
import numpy as np
import oracle
import pytest
from crossing_oracle import Plan
from flat_oracle import Exchange
from flat_program import FlatProgram, whole
from hypothesis import given, settings
from hypothesis import strategies as st
from populations import populations, random_spots

from pytsp import Instance

# Their program is compiled for these tests alone.
pytestmark = pytest.mark.slow
MOST = 150
LEAST = -(2**62)
# The mates of a pair by itself: the second tour is its own.
ALONE = [1, 1]


@pytest.fixture(scope="session")
def flat() -> FlatProgram:
    return FlatProgram()


@dataclass(frozen=True)
class Case:
    """Tours of one instance, the mate of each, and the stream of random numbers of each."""

    distances: list[list[int]]
    tours: list[list[int]]
    mates: list[int]
    numbers: list[int]
    seed: int

    @property
    def n(self) -> int:
        return len(self.distances)

    @property
    def pairs(self) -> tuple[Any, ...]:
        """The tours with their mates, as arguments."""
        return whole(self.tours), whole(self.mates), self.seed, np.array(self.numbers, dtype=np.int64)

    def mate(self, a: int) -> list[int]:
        return self.tours[self.mates[a]]

    def key(self, a: int) -> int:
        return flat_oracle.stream(self.seed, self.numbers[a])

    def alone(self, a: int) -> Case:
        """Tour a with its mate, which has itself for a mate."""
        return Case(self.distances, [self.tours[a], self.mate(a)], ALONE, [self.numbers[a], 0], self.seed)


@st.composite
def cases(draw: st.DrawFn, min_n: int = 1, max_n: int = 60, related: bool = False) -> Case:
    """Cases of any population; where they are to be `related`, as `populations` says."""
    instance, tours = draw(populations(min_n, max_n, related=related))
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    p = len(tours)
    mates = random.integers(0, p, p) if draw(st.booleans()) else np.roll(np.arange(p), -1)
    distances = instance.distance_matrix().astype(int).tolist()
    return Case(distances, tours, mates.tolist(), random.integers(0, 2**40, p).tolist(), draw(st.integers(0, 99)))


def exchanges_of(pair: Any, size: Any, gain: Any, cut: Any, link: Any) -> list[tuple[int, Exchange]]:
    """Exchanges from arrays, each with the tour that it is of."""
    found, off = [], 0
    for a, m, won in zip(pair, size, gain, strict=True):
        ends = [end for both in link[off : off + m] for end in both]
        found.append((a, Exchange(cut[off : off + m], ends, won)))
        off += m
    assert off == len(cut) == len(link)
    return found


def arrays_of(exchanges: Iterable[tuple[int, Exchange]]) -> tuple[Any, ...]:
    """Exchanges as arguments."""
    chosen = list(exchanges)
    link = [end for _, each in chosen for end in each.link]
    return (
        whole([a for a, _ in chosen]),
        whole([len(each.cuts) for _, each in chosen]),
        np.array([each.gain for _, each in chosen], dtype=np.int64),
        whole([cut for _, each in chosen for cut in each.cuts]),
        whole(link).reshape(-1, 2),
    )


def cycles_of(flat: FlatProgram, case: Case, most: int = MOST, least: int = LEAST) -> list[tuple[int, Exchange]]:
    """The AB-cycles that save more than `least`."""
    *arrays, _, _ = flat.call("cycles", whole(case.distances), *case.pairs, most, least)
    return exchanges_of(*arrays)


# AB-cycles


def expected_cycles(case: Case, a: int, most: int = MOST) -> list[Exchange]:
    """The AB-cycles of a pair by the oracle, with what they save."""
    return crossing_oracle.cycles(case.distances, case.tours[a], case.mate(a), case.key(a), most)


@given(cases(), st.sampled_from([1, 2, 3, 4, 5, 16, 17, MOST]), st.sampled_from([LEAST, 0]))
def test_ab_cycles_are_those_of_the_oracle(flat: FlatProgram, case: Case, most: int, least: int) -> None:
    expected = [(a, each) for a in range(len(case.tours)) for each in expected_cycles(case, a, most)]
    assert cycles_of(flat, case, most, least) == [(a, each) for a, each in expected if each.gain > least]


@given(cases())
def test_each_edge_that_differs_is_in_one_ab_cycle(flat: FlatProgram, case: Case) -> None:
    *arrays, edges, own = flat.call("cycles", whole(case.distances), *case.pairs, case.n, LEAST)
    found = exchanges_of(*arrays)
    for a, tour in enumerate(case.tours):
        mine, theirs = oracle.edges(tour), oracle.edges(case.mate(a))
        gone, come = ([edge for b, each in found if b == a for edge in each.edges(tour)[k]] for k in (0, 1))
        assert sorted(gone) == sorted(mine - theirs) and sorted(come) == sorted(theirs - mine)
    for _, each in found:
        ends = range(len(each.link))
        assert [each.link[each.link[end]] for end in ends] == [*ends]
        # One closed walk over edges of both in turn: across a cut, then along a link.
        reached, end = set[int](), 0
        while end // 2 not in reached:
            reached.add(end // 2)
            end = each.link[end ^ 1]
        assert reached == set(range(len(each.cuts)))
    # The exchange of each edge holds that edge.
    for edge, o in zip(edges, own, strict=True):
        assert edge // case.n == found[o][0] and edge % case.n in found[o][1].cuts


# Subtours


@given(cases())
def test_subtours_are_those_of_union_and_find(flat: FlatProgram, case: Case) -> None:
    found = cycles_of(flat, case, case.n)
    most = max((len(each.cuts) for _, each in found), default=1)
    subtour, counts, sizes, largest = flat.call("subtours", case.n, most, *arrays_of(found))
    off = 0
    for (_, each), count, most_cities in zip(found, counts, largest, strict=True):
        expected = flat_oracle.subtours(case.n, each)
        m = len(expected)
        assert [label - off for label in subtour[off : off + m]] == expected
        assert count == len(set(expected))
        cities = [0] * m
        for r, label in enumerate(expected):
            cities[label] += len(flat_oracle.segment(case.n, each.cuts, r))
        assert sizes[off : off + m] == cities
        assert most_cities - off == max(range(m), key=lambda label: (cities[label], label))
        off += m


@given(cases(), st.data())
def test_exchanges_are_chosen_and_put_together(flat: FlatProgram, case: Case, data: st.DataObject) -> None:
    found = cycles_of(flat, case)
    chosen = data.draw(st.lists(st.booleans(), min_size=len(found), max_size=len(found)))
    parts = [[each for each, taken in zip(found, chosen, strict=True) if taken == want] for want in (True, False)]
    assert exchanges_of(*flat.call("select", *arrays_of(found), whole(chosen))) == parts[0] + parts[1]


# Merging


def lists_of(case: Case, k: int) -> list[list[int]]:
    """The k nearest neighbours of each city, or all."""
    return oracle.nearest(case.distances, min(k, case.n - 1))


def listed(lists: list[list[int]]) -> Any:
    return whole(lists).reshape(len(lists), -1)


widths = st.sampled_from([0, 1, 5, 60])
caps = st.sampled_from([1, 2, 5, 1500])
round_numbers = st.sampled_from([0, 1, 2, 8])


@given(cases(), widths, caps, round_numbers, st.sampled_from([0, 2**40]))
def test_subtours_are_merged_as_by_the_oracle(
    flat: FlatProgram, case: Case, k: int, cap: int, rounds: int, more: int
) -> None:
    lists = lists_of(case, k)
    # As if they saved so much more: else few are merged.
    cycles = [(a, Exchange(each.cuts, each.link, each.gain + more)) for a, each in cycles_of(flat, case)]
    arguments = (whole(case.distances), listed(lists), whole(case.tours), *arrays_of(cycles))
    *arrays, left = flat.call("merge", *arguments, MOST, cap, rounds)
    expected = [flat_oracle.merged(case.distances, lists, case.tours[a], each, cap, rounds) for a, each in cycles]
    found = exchanges_of(*arrays)
    assert [each for _, each in found] == [each for each, _ in expected]
    assert left == [subtours for _, subtours in expected]
    for (a, each), subtours in zip(found, left, strict=True):
        # The gain is exact, and the subtours are counted right.
        assert each.gain == flat_oracle.saved(case.distances, case.tours[a], each) + more
        assert subtours == len(set(flat_oracle.subtours(case.n, each)))
        if subtours == 1:
            assert sorted(flat_oracle.applied(case.tours[a], each)) == [*range(case.n)]


# Union and tours


@given(cases(), st.data())
def test_of_children_that_share_a_cut_the_better_one_is_taken(
    flat: FlatProgram, case: Case, data: st.DataObject
) -> None:
    # Cycles of several pairings share edges.
    cycles = [pair for shift in range(3) for pair in cycles_of(flat, shifted(case, shift))]
    gains = st.integers(1, 3) if data.draw(st.booleans()) else st.integers(-(2**40), 2**40)
    children = [(a, Exchange(each.cuts, each.link, data.draw(gains))) for a, each in cycles]
    chosen = [data.draw(st.booleans()) for _ in children]
    found = exchanges_of(*flat.call("unite", len(case.tours), case.n, *arrays_of(children), whole(chosen)))
    taken = [[each for (b, each), f in zip(children, chosen, strict=True) if f and b == a] for a in range(len(found))]
    assert found == [(a, flat_oracle.united(each)) for a, each in enumerate(taken)]


def shifted(case: Case, shift: int) -> Case:
    """The same pairs with other random numbers."""
    return replace(case, numbers=[number + shift for number in case.numbers])


@given(cases(), st.data())
def test_tours_take_over_exchanges_that_leave_one_tour(flat: FlatProgram, case: Case, data: st.DataObject) -> None:
    cycles = cycles_of(flat, case)
    exchanges = []
    for a in range(len(case.tours)):
        mine = [each for b, each in cycles if b == a and data.draw(st.booleans())]
        exchanges.append((a, flat_oracle.put_together(mine)))
    good = [data.draw(st.booleans()) for _ in exchanges]
    tours, places, lengths, made = flat.call(
        "apply", whole(case.distances), whole(case.tours), *arrays_of(exchanges), whole(good)
    )
    for (a, each), is_good, is_made, tour in zip(exchanges, good, made, tours, strict=True):
        expected = flat_oracle.applied(case.tours[a], each) if each.cuts else []
        assert is_made == (is_good and len(expected) == case.n)
        assert tour == (expected if is_made else case.tours[a])
    assert_exact(case, tours, places, lengths)


def assert_exact(case: Case, tours: list[list[int]], places: list[list[int]], lengths: list[int]) -> None:
    """Each tour visits every city once, and its positions and length are right."""
    for tour, place, length in zip(tours, places, lengths, strict=True):
        assert [tour[q] for q in place] == [*range(case.n)] and sorted(place) == [*range(case.n)]
        assert length == oracle.length(case.distances, tour)


# Unions around cycles


@given(
    st.one_of(cases(), cases(related=True)),
    st.sampled_from([2, 5, MOST]),
    st.sampled_from([4, 8, 2 * MOST]),
    st.sampled_from([0, 1, 3]),
)
def test_unions_around_cycles_are_those_of_the_oracle(
    flat: FlatProgram, case: Case, most: int, limit: int, rounds: int
) -> None:
    found = exchanges_of(*flat.call("unions", whole(case.distances), *case.pairs, most, limit, rounds))
    for a, tour in enumerate(case.tours):
        cycles = expected_cycles(case, a, most)
        centers = [each for each in cycles if each.gain > 0]
        mine = [each for b, each in found if b == a]
        # An exchange of more cuts than the limit has no subtours to tell.
        if all(len(each.cuts) <= limit for each in centers):
            assert mine == flat_oracle.unions(case.n, cycles, centers, limit, rounds)
        assert all(each.gain == flat_oracle.saved(case.distances, tour, each) > 0 for each in mine)


# Entropy


@given(cases(), widths, st.sampled_from([1, 30, 100, 300]))
def test_children_that_cost_much_entropy_wait(flat: FlatProgram, case: Case, k: int, thrift: int) -> None:
    lists, found = lists_of(case, k), [(a, each) for a, each in cycles_of(flat, case, MOST, 0)]
    lost, chosen = flat.call("worthy", listed(lists), whole(case.tours), *arrays_of(found), thrift)
    assert lost == [flat_oracle.entropy_lost(lists, case.tours, case.tours[a], each) for a, each in found]
    for a in range(len(case.tours)):
        mine = [x for x, (b, _) in enumerate(found) if b == a]
        expected = flat_oracle.worthy(thrift, [found[x][1] for x in mine], [lost[x] for x in mine])
        assert [bool(chosen[x]) for x in mine] == expected


@pytest.mark.parametrize("p", [1, 2, 3, 5, 300, 1000])
def test_entropy_is_nearly_that_of_real_numbers(p: int) -> None:
    for f in {1, p // 3, p // 2, p - 1, p} - {0}:
        exact = -f / p * math.log2(f / p) * 2**20
        assert abs(flat_oracle.entropy(p, f) - exact) <= 3


# Generations


plans = st.builds(
    Plan, st.sampled_from([2, 5, MOST]), caps, round_numbers, st.sampled_from([0, 1, 3]), st.sampled_from([0, 70])
)


def crossed(
    flat: FlatProgram, case: Case, lists: list[list[int]], plan: Plan, population: list[list[int]] | None = None
) -> tuple[Any, ...]:
    """The tours after they take over edges from their mates, their positions and lengths, and which changed.

    The edges are counted in the population, by default the case's own tours.
    """
    population = population or case.tours
    counts = flat.call("counts", listed(lists), whole(population))
    arrays = (whole(case.distances), listed(lists), len(population), listed(counts), *case.pairs)
    found: tuple[Any, ...] = flat.call("cross", *arrays, *astuple(plan))
    return found


def expected_child(case: Case, a: int, lists: list[list[int]], plan: Plan) -> list[int]:
    """Tour a after it takes over edges from its mate, by the oracle."""
    return crossing_oracle.child(case.distances, lists, case.tours, case.tours[a], case.mate(a), case.key(a), plan)


@given(st.one_of(cases(), cases(related=True)), widths, plans)
def test_tours_take_over_what_the_oracle_says(flat: FlatProgram, case: Case, k: int, plan: Plan) -> None:
    lists = lists_of(case, k)
    tours, places, lengths, made = crossed(flat, case, lists, plan)
    assert tours == [expected_child(case, a, lists, plan) for a in range(len(tours))]
    assert_exact(case, tours, places, lengths)
    for before, length, is_made in zip(case.tours, lengths, made, strict=True):
        assert (oracle.length(case.distances, before) - length > 0) == is_made


@given(cases(), widths, st.data())
def test_unions_that_save_less_than_their_best_child_are_not_taken(
    flat: FlatProgram, case: Case, k: int, data: st.DataObject
) -> None:
    lists, gains = lists_of(case, k), st.integers(1, 10 ** data.draw(st.integers(1, 4)))
    # From local optima on, merging costs something.
    arguments: tuple[Any, ...] = (whole(case.distances), listed(lists))
    case = replace(case, tours=flat.call("search", *arguments, whole(case.tours), 60, 1, 100)[0])
    children = [(a, Exchange(each.cuts, each.link, data.draw(gains))) for a, each in cycles_of(flat, case)]
    chosen = [data.draw(st.booleans()) for _ in children]
    tours, _ = flat.call("take_over", *arguments, whole(case.tours), *arrays_of(children), whole(chosen))
    for a, tour in enumerate(tours):
        mine = [each for (b, each), taken in zip(children, chosen, strict=True) if taken and b == a]
        assert tour == flat_oracle.child_of(case.distances, lists, case.tours[a], mine)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("plan", [Plan(), Plan(most=20, unions=3, thrift=70)])
def test_generations_of_local_optima_are_those_of_the_oracle(flat: FlatProgram, seed: int, plan: Plan) -> None:
    n, p = 150, 6
    points = np.random.default_rng(seed).integers(0, 1000, (n, 2))
    distances = Instance.from_coordinates(points, metric="EUC_2D").distance_matrix().astype(int).tolist()
    case = Case(distances, [], [], [*range(p)], seed)
    lists, spots = lists_of(case, 8), whole(points * 1000)
    arguments = whole(distances), listed(lists), spots[:, 0].copy(), spots[:, 1].copy(), *keys_of(case)
    tours = flat.call("greedy", *arguments, 256, 8)[0]
    tours = flat.call("search", *arguments[:2], whole(tours), 5, 5, 100)[0]
    for generation in range(6):
        mates = np.roll(np.arange(p), -1 - generation % (p - 1)).tolist()
        case = Case(distances, tours, mates, [p * generation + a for a in range(p)], seed)
        tours = crossed(flat, case, lists, plan)[0]
        assert tours == [expected_child(case, a, lists, plan) for a in range(p)]


@given(st.one_of(cases(), cases(related=True)), widths, plans)
def test_a_pair_alone_is_the_same_as_among_others(flat: FlatProgram, case: Case, k: int, plan: Plan) -> None:
    lists = lists_of(case, k)
    tours = crossed(flat, case, lists, plan)[0]
    for a, tour in enumerate(tours):
        assert crossed(flat, case.alone(a), lists, plan, case.tours)[0] == [tour, case.mate(a)]


@pytest.mark.parametrize("p", [1, 2, 3, 50])
def test_mates_are_a_random_cycle_of_all_tours(flat: FlatProgram, p: int) -> None:
    tours = whole([[0]] * p)
    arguments = (whole([[0]]), whole([]).reshape(1, 0), tours)
    found = [flat.call("generation", *arguments, seed, 0, *astuple(Plan()))[2] for seed in range(5)]
    for mates in found:
        around = [0]
        while len(around) < p:
            around.append(mates[around[-1]])
        assert sorted(around) == [*range(p)] and mates[around[-1]] == 0
    assert p < 4 or len({tuple(mates) for mates in found}) == 5


@pytest.mark.parametrize("p", [2, 3, 10])
def test_generations_shorten_tours_until_they_are_alike(flat: FlatProgram, p: int) -> None:
    random = np.random.default_rng(p)
    points = random.integers(0, 1000, (40, 2))
    distances = Instance.from_coordinates(points, metric="EUC_2D").distance_matrix().astype(int).tolist()
    case = Case(distances, [random.permutation(40).tolist() for _ in range(p)], [], [], 0)
    lists, tours = lists_of(case, 8), case.tours
    means = [np.mean([oracle.length(distances, tour) for tour in tours])]
    for generation in range(10):
        arguments = (whole(distances), listed(lists), whole(tours), 5, generation)
        tours, lengths, _ = flat.call("generation", *arguments, *astuple(Plan()))
        assert lengths == [oracle.length(distances, tour) for tour in tours]
        means.append(np.mean(lengths))
    assert means == sorted(means, reverse=True) and means[-1] < 0.9 * means[0]


# Local search


# The oracle takes long: it makes an exchange of each move.
@settings(max_examples=30)
@given(cases(max_n=40), widths, st.sampled_from([1, 5, 100]), st.integers(1, 12), st.sampled_from([1, 2, 100]))
def test_local_search_is_that_of_the_oracle(
    flat: FlatProgram, case: Case, k: int, wide: int, least: int, rounds: int
) -> None:
    lists = lists_of(case, k)
    arguments = whole(case.distances), listed(lists), whole(case.tours)
    tours, places, lengths = flat.call("search", *arguments, wide, least, rounds)
    assert tours == [flat_oracle.searched(case.distances, lists, tour, wide, least, rounds) for tour in case.tours]
    assert_exact(case, tours, places, lengths)
    assert all(length <= oracle.length(case.distances, tour) for length, tour in zip(lengths, case.tours, strict=True))


@given(cases(min_n=8), widths, st.sampled_from([1, 5, 100]))
def test_a_search_alone_is_the_same_as_among_others(flat: FlatProgram, case: Case, k: int, wide: int) -> None:
    arguments = whole(case.distances), listed(lists_of(case, k))
    tours = flat.call("search", *arguments, whole(case.tours), wide, 3, 50)[0]
    for before, tour in zip(case.tours, tours, strict=True):
        assert flat.call("search", *arguments, whole([before]), wide, 3, 50)[0] == [tour]


# Starts


def spots_of(case: Case) -> tuple[Any, Any]:
    """Spots of the cities, also at the borders, many of them equal."""
    return random_spots(case.n, np.random.default_rng(case.seed))


def keys_of(case: Case) -> tuple[int, Any]:
    return case.seed, np.array(case.numbers, dtype=np.int64)


def curve_places(case: Case, a: int) -> list[int]:
    """The places of the cities along the curve of tour a."""
    spots = zip(*(each.tolist() for each in spots_of(case)), strict=True)
    return [flat_oracle.place_along(case.key(a), x, y) for x, y in spots]


@given(cases())
def test_curves_go_along_a_curve_of_their_own(flat: FlatProgram, case: Case) -> None:
    places = [curve_places(case, a) for a in range(len(case.tours))]
    assert flat.call("places", *spots_of(case), *keys_of(case)) == places
    found = flat.call("curves", whole(case.distances), *spots_of(case), *keys_of(case))
    assert found[0] == [sorted(range(case.n), key=lambda city: (place[city], city)) for place in places]
    assert_exact(case, *found)


@given(cases(), st.sampled_from([0, 1, 5, 32]), st.sampled_from([0, 256, 4096]), st.sampled_from([0, 1, 8, 40]))
def test_fragments_join_as_by_the_oracle(flat: FlatProgram, case: Case, k: int, noise: int, joins: int) -> None:
    lists = lists_of(case, k)
    arguments = whole(case.distances), listed(lists), *spots_of(case), *keys_of(case)
    found = flat.call("greedy", *arguments, noise, joins)
    for a, tour in enumerate(found[0]):
        fragments = flat_oracle.Greedy(case.distances, lists, case.key(a), noise, joins)
        assert tour == fragments.tour(curve_places(case, a))
    assert_exact(case, *found)


@given(cases(), st.sampled_from([0, 5, 32]))
def test_a_start_alone_is_the_same_as_among_others(flat: FlatProgram, case: Case, k: int) -> None:
    arguments = whole(case.distances), listed(lists_of(case, k)), *spots_of(case)
    tours = flat.call("greedy", *arguments, *keys_of(case), 256, 8)[0]
    for a, tour in enumerate(tours):
        assert flat.call("greedy", *arguments, *keys_of(case.alone(a)), 256, 8)[0][0] == tour


@pytest.mark.parametrize(("k", "noise", "joins"), [(33, 0, 8), (5, -1, 8), (5, 4097, 8), (5, 0, -1)])
def test_starts_out_of_bounds_are_refused(flat: FlatProgram, k: int, noise: int, joins: int) -> None:
    case = Case(np.zeros((40, 40), dtype=int).tolist(), [], [], [0], 0)
    arguments = whole(case.distances), listed(lists_of(case, k)), *spots_of(case), *keys_of(case)
    with pytest.raises(ValueError, match="is_joining"):
        flat.call("greedy", *arguments, noise, joins)
