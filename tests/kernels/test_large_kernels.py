"""The kernels for one huge tour: passes that never lengthen it, pieces that keep their ends, in all forms."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
import oracle
import pytest
import strategies
from cities import uniform
from hypothesis import given, settings
from hypothesis import strategies as st
from kernel_calls import distances_of, lists_of, load
from numpy.typing import NDArray

from pytsp import is_tour, random_tours
from pytsp.backends import Backend, Opaque, open_backend
from pytsp.exceptions import KernelError
from pytsp.problem.instance import Instance
from pytsp.problem.kernel_input import Form, form_of

PLANE = ("EUC_2D", "CEIL_2D")


@pytest.fixture(scope="module")
def backend(on_the_cpu: Backend) -> Backend:
    """Every backend of the CPU: GPUs have no kernels for one huge tour."""
    return on_the_cpu


def forms_of(instance: Instance) -> list[Form]:
    """The forms in which these kernels can take an instance, its own first."""
    own = form_of(instance)
    assert instance.coordinates is not None
    xs, ys = np.ascontiguousarray(instance.coordinates.T)
    return [own, Form("plane", (xs, ys, False), own.whole)] if own.kind == "grid" else [own]


def linked(backend: Backend, form: Form, loaded: Opaque, lists: NDArray[np.int32], at_a_time: int = 7) -> Opaque:
    """Neighbours on a device, given some cities at a time."""
    links: Opaque = backend.call("links_blank", *lists.shape)
    for first in range(0, len(lists), at_a_time):
        links = backend.call(f"{form.kind}_links", loaded, links, first, lists[first : first + at_a_time])
    return links


class Tour:
    """A tour on a device, and what can be done with it."""

    def __init__(self, backend: Backend, form: Form, tour: Any, k: int | None = None) -> None:
        self.backend, self.form, self.loaded = backend, form, load(backend, form)
        self.links = linked(backend, form, self.loaded, lists_of(form, k))
        self.handle: Opaque = backend.call("large_given", np.asarray(tour, dtype=np.int32))

    def descend_more(self, limit: int, seed: int = 0, most: int = 2**62) -> Tour:
        """Make passes, with bounds on their number and their work."""
        given_ = (self.loaded, self.links, self.handle, seed, limit, most)
        self.handle = self.backend.call(f"{self.form.kind}_large_descend", *given_)
        return self

    def climb(
        self,
        piece: int,
        first: int,
        count: int,
        *,
        offset: int = 0,
        temperature: float = 0.0,
        iterations: int = 20,
        start: int = 0,
        moves: int = 1,
    ) -> Tour:
        """Let pieces climb."""
        stretch = {"seed": 5, "first": 7 << 32, "from": start, "iterations": iterations}
        pieces = {"offset": offset, "piece": piece, "first": first, "count": count}
        given_ = (self.loaded, self.links, self.handle, self.backend.value("stretch", stretch), temperature)
        range_ = self.backend.value("piece_range", pieces)
        self.handle = self.backend.call(f"{self.form.kind}_climb_pieces", *given_, moves, range_)
        return self

    def found(self) -> tuple[list[int], int, bool]:
        """The tour, its length, which is right, and whether it is a local optimum."""
        tour = self.backend.call("large_tour", self.handle).tolist()
        length = self.backend.call(f"{self.form.kind}_large_length", self.loaded, self.handle)
        assert is_tour(tour, self.form.whole.n)
        assert length == self.form.whole.tour_length(tour)
        return tour, length, bool(self.backend.call("large_done", self.handle))


@given(
    data=st.data(), instance=strategies.coordinate_instances(PLANE, min_n=1, max_n=9), seed=st.integers(0, 2**64 - 1)
)
@settings(max_examples=60)
def test_passes_end_on_a_local_optimum(backend: Backend, data: st.DataObject, instance: Instance, seed: int) -> None:
    start = data.draw(strategies.tours(instance.n))
    for form in forms_of(instance):
        tour, length, done = Tour(backend, form, start).descend_more(1000, seed).found()
        assert done
        assert length == oracle.least(distances_of(form), tour, 10**9)


@given(n=st.integers(5, 150), seed=st.integers(0, 99), k=st.integers(1, 8))
@settings(max_examples=30)
def test_no_pass_lengthens_a_tour(backend: Backend, n: int, seed: int, k: int) -> None:
    tour = Tour(backend, form_of(uniform(n, seed)), random_tours(n, 1, seed)[0], k)
    lengths, moves = [tour.found()[1]], [0]
    while not tour.found()[2]:
        tour.descend_more(1)
        lengths.append(tour.found()[1])
        moves.append(int(backend.call("large_counts", tour.handle)[0]))
    for length, other, made, after in zip(lengths, lengths[1:], moves, moves[1:], strict=False):
        assert other < length if after > made else other == length
    whole = Tour(backend, form_of(uniform(n, seed)), random_tours(n, 1, seed)[0], k).descend_more(10**6)
    assert whole.found() == tour.found()
    assert backend.call("large_counts", whole.handle).tolist() == backend.call("large_counts", tour.handle).tolist()
    assert whole.descend_more(10).found() == tour.found()
    assert Tour(backend, form_of(uniform(n, seed)), whole.found()[0], k).descend_more(0).found()[2] is False


def test_more_moves_than_are_compared_with_each_other(backend: Backend) -> None:
    form = form_of(uniform(1500, side=40_000))
    tour = Tour(backend, form, random_tours(1500, 1, 0)[0], 5)
    length = tour.found()[1]
    for _ in range(40):
        shorter = tour.descend_more(1).found()[1]
        assert shorter <= length
        length = shorter
    assert tour.descend_more(10**6).found()[2]


@given(data=st.data(), n=st.integers(2, 60), seed=st.integers(0, 99), temperature=st.sampled_from((0.0, 20.0, 1e12)))
@settings(max_examples=60)
def test_pieces_keep_their_cities_and_ends(
    backend: Backend, data: st.DataObject, n: int, seed: int, temperature: float
) -> None:
    piece, offset = data.draw(st.integers(2, n)), data.draw(st.integers(0, n - 1))
    first = data.draw(st.integers(0, n // piece - 1))
    count = data.draw(st.integers(1, n // piece - first))
    start = random_tours(n, 1, seed)[0]
    tour = Tour(backend, form_of(uniform(n, seed)), start, 6)
    before = tour.found()[1]
    places: dict[str, Any] = dict(offset=offset, temperature=temperature, start=data.draw(st.integers(0, 1)))
    # Chains of moves are made on a CPU.
    places["moves"] = data.draw(st.integers(0, 2 if backend.device is None else 1))
    found, after, done = tour.climb(piece, first, count, **places).found()
    assert not done
    assert temperature > 0 or after <= before
    old, new = (np.roll(each, -offset) for each in (start, found))
    for number in range(n // piece):
        a, b = (each[number * piece : (number + 1) * piece].tolist() for each in (old, new))
        assert (a[0], a[-1], sorted(a)) == (b[0], b[-1], sorted(b))
        assert a == b or first <= number < first + count
    assert np.array_equal(old[n // piece * piece :], new[n // piece * piece :])


def path_length(distances: oracle.Distances, path: Sequence[int]) -> int:
    """The length of a path."""
    return sum(distances[a][b] for a, b in itertools.pairwise(path))


@pytest.mark.parametrize("seed", range(5))
def test_small_pieces_come_to_shortest_paths(backend: Backend, seed: int) -> None:
    form = form_of(uniform(35, seed))
    start = random_tours(35, 1, seed)[0]
    found, _, _ = Tour(backend, form, start).climb(7, 0, 5, iterations=500).found()
    distances = distances_of(form)
    for number in range(5):
        begin, *inner, end = start[7 * number : 7 * number + 7].tolist()
        shortest = min(path_length(distances, [begin, *each, end]) for each in itertools.permutations(inner))
        assert path_length(distances, found[7 * number : 7 * number + 7]) == shortest


@pytest.mark.parametrize("temperature", [0.0, 15.0])
@pytest.mark.parametrize("n", [70, 300])
def test_all_backends_and_forms_and_cuts_end_alike(backend: Backend, n: int, temperature: float) -> None:
    start = random_tours(n, 1, 0)[0]
    rest: dict[str, Any] = dict(offset=n - 5, temperature=temperature)
    own, *others = forms_of(uniform(n))
    first = Tour(open_backend("c"), own, start, 8).climb(20, 0, n // 20, **rest)
    expected = first.found(), first.descend_more(10**6).found()
    for form in (own, *others):
        tour = Tour(backend, form, start, 8)
        for number in reversed(range(n // 20)):
            tour.climb(20, number, 1, **rest)
        assert (tour.found(), tour.descend_more(3).descend_more(10**6).found()) == expected


def test_later_rounds_begin_without_a_descent(backend: Backend) -> None:
    start = random_tours(60, 1, 0)[0]
    form = form_of(uniform(60))
    assert Tour(backend, form, start, 8).climb(20, 0, 3, start=1, iterations=0).found()[0] == start.tolist()
    assert Tour(backend, form, start, 8).climb(20, 0, 3, start=0, iterations=0).found()[0] != start.tolist()


@pytest.mark.parametrize(
    ("what", "value"),
    [
        ("piece", 1),
        ("piece", 31),
        ("offset", -1),
        ("offset", 30),
        ("first", -1),
        ("first", 3),
        ("count", 0),
        ("count", 4),
        ("iterations", -1),
        ("start", -1),
        ("temperature", -0.5),
        ("temperature", float("nan")),
        ("temperature", 1.1e12),
    ],
)
def test_what_are_no_pieces_is_refused(backend: Backend, what: str, value: float) -> None:
    tour = Tour(backend, form_of(uniform(30)), np.arange(30), 5)
    options: dict[str, Any] = dict(piece=10, first=0, count=3) | {what: value}
    with pytest.raises(KernelError):
        tour.climb(**options)
    assert tour.found()[0] == list(range(30))


@pytest.mark.parametrize("tour", [[0, 1, 1], [0, 1, 3], []])
def test_what_is_no_tour_is_refused(backend: Backend, tour: list[int]) -> None:
    with pytest.raises(KernelError):
        backend.call("large_given", np.array(tour, dtype=np.int32))


@pytest.mark.parametrize("bad", [-1, 6])
def test_lists_of_what_is_no_city_are_refused(backend: Backend, bad: int) -> None:
    form = form_of(uniform(6))
    lists: NDArray[np.int32] = lists_of(form, 3)
    lists[2, 1] = bad
    with pytest.raises(KernelError):
        linked(backend, form, load(backend, form), lists)


@pytest.mark.parametrize("first", [-1, 4, 7, 2**62])
def test_lists_of_cities_that_are_not_there_are_refused(backend: Backend, first: int) -> None:
    form = form_of(uniform(6))
    links = backend.call("links_blank", 6, 3)
    with pytest.raises(KernelError):
        backend.call(f"{form.kind}_links", load(backend, form), links, first, lists_of(form, 3)[:3])
    for n, k in ((6, -1), (-1, 3), (2**31, 0)):
        with pytest.raises(KernelError):
            backend.call("links_blank", n, k)
