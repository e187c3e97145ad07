"""Exits of clusters: by an oracle in every metric, and by what they are for, in every solver's lists."""

from __future__ import annotations

from typing import Any

import clusters_oracle
import numpy as np
import pytest
import strategies
from hypothesis import assume, example, given
from hypothesis import strategies as st
from neighbour_order import unrounded
from numpy.typing import NDArray
from paths import tsplib_file

import pytsp
from pytsp import Instance
from pytsp.backends import Backend
from pytsp.generate import uniform
from pytsp.neighbours import exits as _exits
from pytsp.neighbours.boxes import boxes_by, monotone_lengths
from pytsp.neighbours.components import components
from pytsp.neighbours.exits import find_exits, may_have_far_cities, with_exits
from pytsp.neighbours.lists import neighbour_lists, way_lists
from pytsp.problem.asymmetric import JonkerVolgenant
from pytsp.problem.location import further_city, located
from pytsp.problem.metrics import METRICS
from pytsp.problem.open_paths import OpenPath
from pytsp.utils.deadline import OutOfTime, looking

PLACED = ("EUC_2D", "CEIL_2D", "EUCLIDEAN", "MAN_3D", "MAX_2D", "EUC_3D", "GEO", "HAVERSINE", "XRAY1")


def points(seed: int, clusters: int, places: int, *, d: int = 2, spread: float = 0.5) -> NDArray[np.float64]:
    """Places around random centres of a square, or a cube, whose side is 1,000."""
    random = np.random.default_rng(seed)
    centres = random.random((clusters, 1, d)) * 1000
    return (centres + random.uniform(-spread, spread, (clusters, places, d))).reshape(-1, d)


def matrix_of(places: NDArray[np.float64]) -> NDArray[np.float64]:
    """Their Euclidean distances."""
    return np.sqrt(np.square(places[:, None] - places).sum(axis=2))


def directed_matrix(seed: int, clusters: int, places: int) -> NDArray[np.int64]:
    """Ways that are up to a twentieth longer than in a straight line."""
    straight = matrix_of(points(seed, clusters, places))
    return np.rint(1000 * straight * np.random.default_rng(seed).uniform(1, 1.05, straight.shape)).astype(np.int64)


@st.composite
def towns(draw: st.DrawFn, metrics: tuple[str, ...] = PLACED) -> Instance:
    """A few places each in villages, of which some are near each other, on whole coordinates; open paths as well."""
    metric = draw(st.sampled_from(metrics))
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    count, most = draw(st.integers(1, 8)), draw(st.integers(1, 7))
    scale, far = (1, 60) if metric in ("GEO", "HAVERSINE") else (draw(st.sampled_from([1, 20])), 1000)
    villages = random.integers(0, far, (count, METRICS[metric].widths[0]))
    sizes = random.integers(1, most + 1, count)
    places = np.repeat(villages, sizes, axis=0) + random.integers(0, 4, (sizes.sum(), villages.shape[1])) / 8 * scale
    instance = Instance.from_coordinates(places[random.permutation(len(places))], metric)
    kind = draw(st.sampled_from(["closed", "matrix", "path"]))
    if kind == "closed":
        return instance
    if kind == "matrix":
        return Instance.from_matrix(instance.distance_matrix())
    ends = [None, None] if instance.n < 2 else [draw(st.sampled_from([None, end])) for end in (0, instance.n - 1)]
    return OpenPath.of(instance, *ends).instance


def anywhere_of(instance: Instance) -> list[bool]:
    """Which cities are as far from all others."""
    if instance.coordinates is not None:
        return [city == further_city(instance) for city in range(instance.n)]
    assert instance.matrix is not None
    return [clusters_oracle.is_anywhere(np.delete(row, city).tolist()) for city, row in enumerate(instance.matrix)]


def ranks_of(instance: Instance) -> NDArray[Any]:
    """Numbers in the order in which neighbours are listed; those of a further city are of no use."""
    if further_city(instance) is None:
        return unrounded(instance)
    metric = next(name for name in METRICS if instance.metric.startswith(f"{name} "))
    assert instance.coordinates is not None
    return unrounded(Instance.from_coordinates(instance.coordinates[:, :-1], metric))


def listed(exits: NDArray[np.int32]) -> list[list[int]]:
    """The exits of each city, and nothing behind them."""
    assert ((exits[:, 1:] < 0) | (exits[:, :-1] >= 0)).all()
    return [[city for city in row if city >= 0] for row in exits.tolist()]


# Against the oracle


@given(instance=towns(), k=st.integers(1, 10))
@example(instance=Instance.from_coordinates([[0, 0]] * 9 + [[5, 0]] * 9, "EUC_2D"), k=4)
@example(instance=Instance.from_matrix(np.ones((12, 12))), k=3)
@example(instance=Instance.from_coordinates(points(1, 4, 3), "EUCLIDEAN"), k=2)
def test_exits_are_those_of_all_pairs(instance: Instance, k: int) -> None:
    assume(instance.n >= 2)
    lists = neighbour_lists(instance, k)
    exits = find_exits(instance, lists)
    assert exits.dtype == np.int32
    assert exits.shape[1] <= lists.shape[1] // 2
    distances = instance.distance_matrix().tolist()
    expected = clusters_oracle.exits(lists.tolist(), ranks_of(instance).tolist(), distances, anywhere_of(instance))
    assert listed(exits) == expected
    made = with_exits(instance, lists, exits)
    known = clusters_oracle.with_exits(lists.tolist(), expected, distances)
    if instance.metric == "HAVERSINE":
        # Their distances differ in the last digit by how many are computed together, which orders what is as far.
        assert np.sort(made).tolist() == np.sort(known).tolist()
    else:
        assert made.tolist() == known


@given(
    seed=st.integers(0, 2**32), clusters=st.integers(1, 6), places=st.integers(2, 5), k=st.integers(1, 8),
    start=st.sampled_from([None, "closed", 0]),
)  # fmt: skip
def test_so_are_those_of_directed_ways(seed: int, clusters: int, places: int, k: int, start: Any) -> None:
    instance = Instance.from_matrix(directed_matrix(seed, clusters, places), asymmetric=True)
    if start != "closed":
        instance = OpenPath.of(instance, start).instance
    doubled, n = JonkerVolgenant.of(instance).instance, instance.n
    assert doubled.matrix is not None
    lists = way_lists(doubled, k)
    anywhere = []
    for place, row in enumerate(doubled.matrix):
        ways = row[n:] if place < n else row[:n]
        anywhere.append(clusters_oracle.is_anywhere(np.delete(ways, place % n).tolist()))
    distances = doubled.matrix.tolist()
    exits = find_exits(doubled, lists, is_doubled=True)
    expected = clusters_oracle.exits(lists.tolist(), distances, distances, anywhere, is_doubled=True)
    assert listed(exits) == expected
    made = with_exits(doubled, lists, exits)
    assert made.tolist() == clusters_oracle.with_exits(lists.tolist(), expected, distances)


# Laws


@given(instance=towns(), k=st.integers(1, 10), length=st.integers(1, 10))
def test_lists_with_exits_are_lists_in_order_that_begin_alike(instance: Instance, k: int, length: int) -> None:
    assume(instance.n >= 2)
    exits = find_exits(instance, neighbour_lists(instance, k))
    # Lists by α-nearness are shorter than those of which the exits are.
    lists = neighbour_lists(instance, length)
    made = with_exits(instance, lists, exits)
    assert made.shape == lists.shape
    assert (made != np.arange(instance.n)[:, None]).all()
    assert all(len(set(row)) == len(row) for row in made.tolist())
    lengths = instance.distances(np.arange(instance.n)[:, None], made)
    # A tree has cities of a globe in order of chords: equal ones give haversines that differ by their rounding.
    slack = 1e-12 * lengths[:, :-1] if instance.metric == "HAVERSINE" else 0
    assert (np.diff(lengths, axis=1) >= -slack).all()
    half = (lists.shape[1] + 1) // 2
    assert all({*before[:half]} <= {*after} for before, after in zip(lists.tolist(), made.tolist(), strict=True))
    again = with_exits(instance, made, exits)
    assert np.array_equal(again, made)


@pytest.mark.parametrize("kind", ["plane", "space", "globe", "matrix", "path", "path through a matrix"])
@pytest.mark.parametrize("k", [2, 3, 5, 8, 10])
def test_what_falls_apart_is_joined_and_each_city_leads_out(kind: str, k: int) -> None:
    places = points(3, 30, 12, d=3 if kind == "space" else 2)
    if kind == "globe":
        places = np.column_stack([places[:, 0] / 10 - 50, places[:, 1] / 10])
    metric = {"space": "EUC_3D", "globe": "HAVERSINE"}.get(kind, "EUCLIDEAN")
    instance = Instance.from_coordinates(places * (1000 if kind == "space" else 1), metric)
    if "matrix" in kind:
        instance = Instance.from_matrix(instance.distance_matrix())
    if "path" in kind:
        instance = OpenPath.of(instance).instance
    lists = neighbour_lists(instance, k)
    made = with_exits(instance, lists, find_exits(instance, lists))
    # The further city of a path does not count.
    before, after = lists[:360], made[:360]
    own = np.arange(360, dtype=np.int32)[:, None]
    before, after = (np.where(each == 360, own, each) for each in (before, after))
    if k < 2 + ("path" in kind):
        assert made is lists
        return
    assert components(before).max() >= 29
    assert components(after).max() == 0
    clusters = np.arange(360) // 12
    leads_out = (clusters[after] != clusters[:, None]).any(axis=1)
    # The clusters of shorter lists are parts of these.
    assert leads_out.all() or k <= 3


@given(instance=st.one_of(strategies.instances(max_n=25), strategies.float_instances(max_n=25)), k=st.integers(1, 12))
def test_connected_lists_stay_the_same(instance: Instance, k: int) -> None:
    assume(instance.n >= 2)
    lists = neighbour_lists(instance, k)
    if max(clusters_oracle.components(lists.tolist())) > 0:
        return
    exits = find_exits(instance, lists)
    assert instance.matrix is not None or exits.shape == (instance.n, 0)
    if exits.shape[1] == 0:
        assert with_exits(instance, lists, exits) is lists


@pytest.mark.parametrize("k", [8, 10])
def test_uniform_instances_have_none(k: int) -> None:
    for instance in (
        uniform(20_000, 1),
        Instance.from_coordinates(np.random.default_rng(1).random((5_000, 3)), "EUC_3D"),
    ):
        lists = neighbour_lists(instance, k)
        assert find_exits(instance, lists).shape == (instance.n, 0)


@pytest.mark.parametrize("name", ["fl417.tsp", "fl1577.tsp", "p654.tsp", "pr226.tsp"])
def test_quadrants_that_join_all_have_none(name: str) -> None:
    instance = pytsp.read(tsplib_file(name))
    lists = neighbour_lists(instance, 10, quadrants=True)
    assert find_exits(instance, lists).shape == (instance.n, 0)


# Many cities


@given(instance=towns(tuple(sorted(set(PLACED) - {"XRAY1"}))), count=st.integers(1, 4), seed=st.integers(0, 99))
def test_boxes_find_what_all_pairs_say(backend: Backend, instance: Instance, count: int, seed: int) -> None:
    assume(instance.n > 1 and (place := located(instance)) is not None)
    labels = np.random.default_rng(seed).integers(0, 5, instance.n).astype(np.int32)
    ways = _exits._Ways(instance, neighbour_lists(instance, 3), instance.n)
    places = np.flatnonzero(~ways.are_anywhere)
    with boxes_by(backend):
        found = _exits._nearest_outside(ways, labels, places, count)
    for city, exits in zip(places.tolist(), found.tolist(), strict=True):
        lengths = monotone_lengths(place.points[city] - place.points, place.norm)
        nearest: dict[int, int] = {}
        for other in sorted(places.tolist(), key=lambda each: (lengths[each], each)):
            if labels[other] != labels[city]:
                nearest.setdefault(labels[other], other)
        assert exits == [*nearest.values(), *[-1] * count][:count]


@pytest.mark.parametrize("kind", ["plane", "globe", "path", "most in one"])
def test_the_cities_amid_most_of_them_have_none(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    places = points(5, 14, 9)
    if kind == "most in one":
        places = np.concatenate([np.random.default_rng(0).random((400, 2)) * 100, places])
    instance = Instance.from_coordinates(places / 20, "HAVERSINE" if kind == "globe" else "EUCLIDEAN")
    if kind == "path":
        instance = OpenPath.of(instance).instance
    lists = neighbour_lists(instance, 8)
    of_all = find_exits(instance, lists)
    monkeypatch.setattr(_exits, "_MOST_DISTANCES", 0)
    of_some = find_exits(instance, lists)
    small = np.arange(instance.n) >= instance.n - 14 * 9 - (kind == "path")
    assert of_some[small].tolist() == of_all[small].tolist()
    # Few of those have exits that are many and lie together.
    assert ((of_some >= 0).any(axis=1) <= (of_all >= 0).any(axis=1)).all()
    assert components(with_exits(instance, lists, of_some)).max() == 0


def test_exits_end_with_the_time() -> None:
    def out_of_time(_: float) -> None:
        raise OutOfTime

    instance = Instance.from_matrix(matrix_of(points(1, 90, 10)))
    lists = neighbour_lists(instance, 8)
    with looking(out_of_time), pytest.raises(OutOfTime):
        find_exits(instance, lists)


# Many instances


def test_a_city_that_is_as_far_from_all_others_joins_no_clusters() -> None:
    closed = np.pad(np.rint(1000 * matrix_of(points(1, 6, 10))), (0, 1)).astype(np.int32)
    instance = Instance.from_matrix(closed.astype(np.int64))
    lists = neighbour_lists(instance, 8)
    assert components(lists).max() == 0
    starts = np.zeros(1, dtype=np.int64)
    rows = np.arange(61)[:, None]
    assert may_have_far_cities(starts, 61, lambda others: closed[rows, others]).tolist() == [True]
    assert (find_exits(instance, lists)[:60, 0] >= 0).all()
    other = uniform(61, 1).distance_matrix().astype(np.int32)
    assert may_have_far_cities(starts, 61, lambda others: other[rows, others]).tolist() == [False]
    # Among others, and where few cities are sampled several times.
    both = np.concatenate([closed, other])
    starts, rows = np.array([0, 61]), np.arange(122)[:, None]
    assert may_have_far_cities(starts, 122, lambda others: both[rows, others]).tolist() == [True, False]
    small = np.repeat([0, 10], 10)
    assert may_have_far_cities(np.array([0, 10]), 20, lambda others: others.astype(np.int32) + small[:, None]).all()
