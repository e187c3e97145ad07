"""Laws of the lower bound: no tour is below it, whatever the penalties, and what was changed is refused."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import pairwise, permutations
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from paths import all_tsplib, tsplib_file

import pytsp
from pytsp import Instance, InstanceError
from pytsp.bound import Certificate, check_certificate, lower_bound
from pytsp.bound.certificate import MOST, dense_one_tree
from pytsp.bound.graphs import TOURS, Graph, Kind
from pytsp.bound.held_karp import default_iterations
from pytsp.io.convert import degrees_and_minutes

# A distance of 64 bits is a whole number of these.
LEAST_FLOAT = Fraction(1, 2**1074)


def shortest(instance: Instance, kind: Kind = TOURS) -> int | float:
    """Return the length of the shortest tour or path, by the last city and the set of those before it.

    M. Held, R. M. Karp: A dynamic programming approach to sequencing problems. Journal of SIAM 10, 1962.
    """
    n = instance.n
    infinite = 2**3000
    d = [
        [infinite if each == float("inf") else int(Fraction(each) / LEAST_FLOAT) for each in row]
        for row in instance.distance_matrix().tolist()
    ]
    starts = [0] if not kind.open else range(n) if kind.start_city is None else [kind.start_city]
    reached = {(1 << city, city): 0 for city in starts}
    for _ in range(n - 1):
        longer: dict[tuple[int, int], int] = {}
        for (seen, city), length in reached.items():
            for other in range(n):
                if not seen >> other & 1:
                    key, total = (seen | 1 << other, other), length + d[city][other]
                    longer[key] = min(total, longer.get(key, total))
        reached = longer
    ends = {city: length for (_, city), length in reached.items()}
    if not kind.open:
        ends = {city: length + d[city][0] for city, length in ends.items()}
    elif kind.end_city is not None:
        ends = {kind.end_city: ends[kind.end_city]}
    total = min(ends.values())
    if total >= infinite:
        return float("inf")
    return int(total * LEAST_FLOAT) if instance.is_exact else float(total * LEAST_FLOAT)


@st.composite
def small_instances(draw: st.DrawFn, most_cities: int = 7, *, directed: bool = False) -> Instance:
    """Whole and floating-point coordinates and matrices, some with forbidden edges, of 1 city and more."""
    n = draw(st.integers(1, most_cities))
    if not directed and draw(st.booleans()):
        most = draw(st.sampled_from([3, 100, 10**6]))
        cities = draw(st.lists(st.tuples(st.integers(0, most), st.integers(0, most)), min_size=n, max_size=n))
        return Instance.from_coordinates(cities, draw(st.sampled_from(["EUC_2D", "CEIL_2D", "euclidean"])))
    is_float = draw(st.booleans())
    length = st.floats(0, 1e6) | st.just(float("inf")) if is_float else st.integers(0, 100) | st.just(2**31 - 1)
    matrix = np.zeros((n, n), np.float64 if is_float else np.int64)
    for i in range(n):
        for j in range(i):
            matrix[i, j] = draw(length)
            matrix[j, i] = draw(length) if directed else matrix[i, j]
    return Instance.from_matrix(matrix, asymmetric=directed)


@st.composite
def kinds(draw: st.DrawFn, n: int) -> Kind:
    """Closed tours, and open paths of n cities, ends given or not."""
    if draw(st.booleans()):
        return TOURS
    start, end = (draw(st.none() | st.integers(0, n - 1)) for _ in range(2))
    return Kind(True, start, None if n > 1 and start == end else end)


@st.composite
def asked(draw: st.DrawFn, most_cities: int) -> tuple[Instance, Kind]:
    """Instances, symmetric and not, and what a bound is asked of."""
    instance = draw(small_instances(most_cities) | small_instances(most_cities, directed=True))
    return instance, draw(kinds(instance.n))


@given(asked(7))
def test_the_oracle_tries_all(given: tuple[Instance, Kind]) -> None:
    instance, kind = given
    n = instance.n
    assume(n < 6)
    if not kind.open:
        assert shortest(instance) == min(instance.tour_length(order) for order in permutations(range(n)))
        return
    paths = [
        order
        for order in permutations(range(n))
        if kind.start_city in (None, order[0]) and kind.end_city in (None, order[-1])
    ]
    assert shortest(instance, kind) == min(map(instance.path_length, paths))


@given(asked(10), st.data())
def test_no_penalties_prove_more_than_the_shortest_tour(given: tuple[Instance, Kind], data: st.DataObject) -> None:
    instance, kind = given
    size = data.draw(st.sampled_from([0, 100, 10**6, MOST]))
    scale = data.draw(st.sampled_from([1, 128, 1 << 30]))
    nodes = Graph(instance, scale, kind).nodes
    drawn = data.draw(st.lists(st.integers(-size, size), min_size=nodes, max_size=nodes))
    proved = dense_one_tree(instance, np.array(drawn, np.int64), scale, kind).bound
    assert proved <= shortest(instance, kind)
    assert type(proved) is (int if instance.is_exact else float)


@example((Instance.from_matrix([[0, 2**31 - 1], [0, 0]], asymmetric=True), Kind(True)))
@given(asked(9))
def test_the_ascent_proves_a_bound_of_what_is_asked(given: tuple[Instance, Kind]) -> None:
    instance, kind = given
    certificate = lower_bound(instance, **kind._asdict(), iterations=40)
    assert certificate.kind == kind
    check_certificate(instance, certificate)
    assert certificate.bound <= shortest(instance, kind)


@pytest.mark.parametrize("is_float", [False, True])
@pytest.mark.parametrize("kind", [TOURS, Kind(True), Kind(True, 3), Kind(True, None, 4), Kind(True, 5, 1)])
@pytest.mark.parametrize("directed", [False, True])
def test_the_bound_is_near_the_shortest(directed: bool, kind: Kind, is_float: bool) -> None:
    """In the mean of some instances, so that a bound that is none, or leaves something out, is seen."""
    draws, gaps = np.random.default_rng(1), []
    for _ in range(6):
        points = draws.integers(0, 1000, (9, 2))
        d = Instance.from_coordinates(points, "EUC_2D").distance_matrix() + 1
        longer = draws.integers(0, 200, d.shape) if directed else 0
        matrix = np.where(np.eye(9, dtype=bool), 0, d + longer) * (0.1 if is_float else 1)
        instance = Instance.from_matrix(matrix, asymmetric=directed)
        bound = lower_bound(instance, **kind._asdict(), iterations=600).bound
        gaps.append(bound / shortest(instance, kind) - 1)
    assert max(gaps) <= 0
    assert np.mean(gaps) > -0.02


def test_a_bound_of_few_cities_is_their_length() -> None:
    ways = Instance.from_matrix([[0, 3], [5, 0]], asymmetric=True)
    one = Instance.from_matrix([[0]])
    assert [lower_bound(ways, open=True, start_city=start).bound for start in (None, 0, 1)] == [3, 3, 5]
    assert [lower_bound(ways, open=True, end_city=end).bound for end in (0, 1)] == [5, 3]
    assert lower_bound(ways).bound == 8
    assert (lower_bound(one).bound, lower_bound(one, open=True, start_city=0, end_city=0).bound) == (0, 0)


def test_a_certificate_of_paths_proves_nothing_of_others() -> None:
    instance = Instance.from_coordinates(np.random.default_rng(2).integers(0, 1000, (12, 2)), "EUC_2D")
    certificate = lower_bound(instance, open=True, start_city=2, iterations=100)
    check_certificate(instance, certificate)
    for changes in ({"start_city": 3}, {"end_city": 4}, {"start_city": None}, {"open": False, "start_city": None}):
        with pytest.raises(ValueError, match="prove|must be int64 of"):
            check_certificate(instance, replace(certificate, **changes))


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"start_city": 3}, "has no effect with a closed tour"),
        ({"end_city": 0}, "has no effect with a closed tour"),
        ({"open": True, "start_city": 4}, "start_city must be a whole number from 0 to 3"),
        ({"open": True, "end_city": -1}, "end_city must be a whole number from 0 to 3"),
        ({"open": True, "start_city": 1, "end_city": 1}, "start_city and end_city are both 1"),
    ],
)
def test_ends_that_are_none_are_refused(changes: dict[str, Any], said: str) -> None:
    square = Instance.from_coordinates([[0, 0], [1, 0], [1, 1], [0, 1]], "EUC_2D")
    with pytest.raises(ValueError, match=said):
        lower_bound(square, **changes)
    with pytest.raises(ValueError, match=said):
        check_certificate(square, Certificate(0, 1, np.zeros(4, np.int64), **changes))


@pytest.mark.parametrize("kind", [TOURS, Kind(True, 1)])
@pytest.mark.parametrize("directed", [False, True])
def test_the_bound_so_far_only_rises_and_true_ends_the_ascent(directed: bool, kind: Kind) -> None:
    d = np.random.default_rng(4).integers(1, 1000, (30, 30))
    instance = Instance.from_matrix(d if directed else d + d.T, asymmetric=directed)
    reported: list[Certificate] = []
    last = lower_bound(instance, **kind._asdict(), iterations=300, progress=reported.append)
    assert len(reported) == 13 and all(a.bound <= b.bound for a, b in pairwise(reported))
    assert last == reported[-1]
    for certificate in reported:
        check_certificate(instance, certificate)
    assert reported[0].bound < reported[-1].bound
    first = lower_bound(instance, **kind._asdict(), iterations=300, progress=lambda now: now.bound > reported[0].bound)
    assert first.bound == next(each.bound for each in reported if each.bound > reported[0].bound)


@pytest.mark.parametrize("kind", [TOURS, Kind(True)])
def test_control_c_leaves_the_best_bound_so_far(kind: Kind) -> None:
    d = np.random.default_rng(4).integers(1, 1000, (30, 30))
    instance, reported = Instance.from_matrix(d, asymmetric=True), []

    def interrupt(now: Certificate) -> None:
        reported.append(now)
        if len(reported) == 5:
            raise KeyboardInterrupt

    found = lower_bound(instance, **kind._asdict(), progress=interrupt)
    assert found.bound == reported[-1].bound
    check_certificate(instance, found)
    with pytest.raises(KeyboardInterrupt), pytest.MonkeyPatch.context() as patch:
        patch.setattr("pytsp.bound.held_karp.check_instance", Mock(side_effect=KeyboardInterrupt))
        lower_bound(instance)


@given(small_instances())
def test_the_ascent_is_proved_and_no_lower_than_without_it(instance: Instance) -> None:
    certificate = lower_bound(instance, iterations=40)
    check_certificate(instance, certificate)
    assert lower_bound(instance, iterations=0).bound <= certificate.bound <= shortest(instance)


@given(st.integers(2, 12), st.integers(0, 2**32 - 1))
def test_the_tree_is_as_light_as_kruskals(n: int, seed: int) -> None:
    draws = np.random.default_rng(seed)
    instance = Instance.from_coordinates(draws.integers(0, 30, (n, 2)), "EUC_2D")
    penalties = draws.integers(-20, 20, n)
    tree = dense_one_tree(instance, penalties, 1)
    cost = {(i, j): instance.distance(i, j) + penalties[i] + penalties[j] for i in range(n) for j in range(i)}
    part, weight = list(range(n)), 0
    for (i, j), length in sorted(cost.items(), key=lambda item: item[1]):
        if part[i] != part[j]:
            weight += length
            part = [part[i] if each == part[j] else each for each in part]
    if n > 2:
        assert weight == sum(cost[max(i, j), min(i, j)] for i, j in tree.edges.tolist())
        second = max(sorted(cost[max(i, j), min(i, j)] for j in range(n) if j != i)[1] for i in range(n))
        assert tree.bound == max(0, weight + second - 2 * penalties.sum())


def test_the_bound_is_near_the_optimum_of_uniform_cities() -> None:
    instance = pytsp.read("uniform100")
    tour = pytsp.solve(instance, solver="ils", backend="c", seed=1, climbers=4, iterations=2_000)
    bound = lower_bound(instance).bound
    assert 0.97 * tour.length <= bound <= tour.length


@pytest.mark.parametrize("name", [name for name in all_tsplib(400) if name != "linhp318"])
def test_no_optimum_of_tsplib_is_below_its_bound(name: str) -> None:
    instance = pytsp.read(tsplib_file(f"{name}.tsp"))
    if instance.asymmetric or not instance.optimum:
        pytest.skip("asymmetric, or its optimum is not known")
    bound = lower_bound(instance, iterations=200).bound
    assert 0.8 * instance.optimum <= bound <= instance.optimum


def test_more_cities_have_fewer_steps() -> None:
    assert [default_iterations(n) for n in (0, 375, 1_000, 5_000, 100_000, 10**6)] == [
        8_000,
        8_000,
        3_000,
        600,
        600,
        100,
    ]


def test_what_was_changed_is_refused() -> None:
    cities = np.random.default_rng(5).integers(0, 1000, (40, 2))
    instance = Instance.from_coordinates(cities, "EUC_2D")
    certificate = lower_bound(instance)
    check_certificate(instance, certificate)
    with pytest.raises(ValueError, match=f"says {certificate.bound + 1}, but its penalties prove {certificate.bound}"):
        check_certificate(instance, replace(certificate, bound=certificate.bound + 1))
    with pytest.raises(ValueError, match="penalties prove"):
        check_certificate(instance, replace(certificate, penalties=certificate.penalties[::-1].copy()))
    with pytest.raises(ValueError, match="penalties prove"):
        check_certificate(Instance.from_coordinates(cities // 2, "EUC_2D"), certificate)
    with pytest.raises(ValueError, match="must be int64 of"):
        check_certificate(Instance.from_coordinates(cities[1:], "EUC_2D"), certificate)


@pytest.mark.parametrize("penalty", [MOST + 1, -MOST - 1, np.iinfo(np.int64).min, np.iinfo(np.int64).max])
def test_penalties_that_may_overflow_are_refused(penalty: int) -> None:
    instance = Instance.from_coordinates([[0, 0], [1, 0], [1, 1]], "EUC_2D")
    penalties = np.array([0, penalty, 0], np.int64)
    with pytest.raises(ValueError, match="may overflow"):
        check_certificate(instance, Certificate(0, 1, penalties))


@pytest.mark.parametrize("scale", [0, 3, -1, 1 << 31])
def test_a_scale_that_is_no_power_of_two_is_refused(scale: int) -> None:
    instance = Instance.from_coordinates([[0, 0], [1, 0], [1, 1]], "EUC_2D")
    with pytest.raises(ValueError, match="power of two"):
        check_certificate(instance, Certificate(0, scale, np.zeros(3, np.int64)))


def test_what_there_is_no_bound_of_is_refused() -> None:
    many = Instance.from_coordinates(np.zeros((20_001, 2)), "MAN_2D")
    with pytest.raises(InstanceError, match="20001 cities; there are lower bounds of the tours .* at most 20000"):
        lower_bound(many)
    with pytest.raises(InstanceError, match="the paths of MAN_2D instances of at most 19999"):
        lower_bound(many, open=True)
    ways = Instance._of_lawful(np.broadcast_to(np.int32(1), (10_001, 10_001)), asymmetric=True)
    with pytest.raises(InstanceError, match="asymmetric instances of at most 10000"):
        lower_bound(ways)
    square = Instance.from_coordinates([[0, 0], [1, 0], [1, 1], [0, 1]], "EUC_2D")
    with pytest.raises(ValueError, match="iterations is -1"):
        lower_bound(square, iterations=-1)
    with pytest.raises(ValueError, match="time_limit must be a positive number of seconds; it is 0"):
        lower_bound(square, time_limit=0)


@pytest.mark.parametrize(
    "metric", ["EUC_2D", "CEIL_2D", "ATT", "GEO", "GEOM", "HAVERSINE", "EUCLIDEAN", "MAN_2D", "MAX_2D", "EUC_3D"]
)
def test_a_distance_is_the_same_wherever_it_is_asked_for(metric: str) -> None:
    """The bound takes them by rows, tours by pairs: one that differed in its last bit could make a bound too high."""
    draws = np.random.default_rng(3)
    n = 301
    cities = np.column_stack([draws.uniform(-90, 90, n), draws.uniform(-180, 180, n), draws.uniform(-90, 90, n)])
    points = degrees_and_minutes(cities[:, :2]) if metric == "GEO" else cities[:, :2]
    instance = Instance.from_coordinates(cities if metric == "EUC_3D" else points, metric)
    rows = np.stack([instance.distances(city, np.arange(n)) for city in range(n)])
    assert np.array_equal(rows, rows.T)
    one, other = draws.integers(0, n, (2, 5_000))
    assert np.array_equal(instance.distances(one, other), rows[one, other])
    for first in range(1, 20):
        assert np.array_equal(instance.distances(7, np.arange(first, n)), rows[7, first:])
    assert [instance.distance(i, j) for i, j in zip(one[:500], other[:500], strict=True)] == rows[one, other][
        :500
    ].tolist()
