"""The kernels of ants: the colonies of the oracle, in all forms, on all backends, cut anyhow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import ants_oracle
import numpy as np
import oracle
import pytest
import strategies
from cities import scattered
from hypothesis import given, settings
from hypothesis import strategies as st
from kernel_calls import SEGMENTS, assert_exact, distances_of, forms_of, lists_of, load, read
from numpy.typing import NDArray

from pytsp import is_tour, random_tours
from pytsp.backends import Backend, open_backend
from pytsp.exceptions import KernelError
from pytsp.problem.instance import Instance
from pytsp.problem.kernel_input import Form, form_of

PART = "comparators"


@dataclass
class Settings:
    """What the calls of a test share: ants, and how trails change."""

    ants: int = 5
    quarters: int = 4
    search: int = 0
    keep: float = 0.75
    weights: Sequence[float] = (2.0, 1.0)
    elite: float = 3.0
    turns: int = 0
    reference: float = 100.0
    floor: float = 0.0
    smoothing: float = 0.0
    patience: int = 2
    initial: float = field(default=2.0)

    def rules(self) -> dict[str, Any]:
        """What the kernel takes."""
        fields = {name: value for name, value in vars(self).items() if name != "initial"}
        return {**fields, "weights": np.array(self.weights, dtype=np.float64)}


RULES = {
    "ant-system": Settings(weights=(1.0,) * 5, elite=0.0),
    "rank": Settings(),
    "max-min": Settings(weights=(1.0,), elite=1.0, turns=2, floor=0.1, smoothing=0.5),
    "powers": Settings(quarters=7, keep=0.0),
    "faint": Settings(quarters=16, keep=1e-30, weights=(), elite=0.0),
}


class Colonies:
    """Colonies that know given tours, with the settings that their calls share."""

    def __init__(
        self,
        backend: Backend,
        form: Form,
        tours: Any,
        chosen: Settings,
        *,
        k: int | None = None,
        seed: int = 0,
        first: int = 0,
    ) -> None:
        self.backend, self.form, self.loaded = backend, form, load(backend, form)
        self.lists, self.seed, self.first, self.chosen = lists_of(form, k), seed, first, chosen
        tours = np.atleast_2d(np.asarray(tours, dtype=np.int32))
        lengths = np.array([form.whole.tour_length(tour) for tour in tours], dtype=np.int64)
        distances = np.array(distances_of(form)).reshape(form.whole.n, -1)
        near = np.take_along_axis(distances, self.lists.astype(np.int64), axis=1)
        self.etas = np.ascontiguousarray((100.0 / np.maximum(near, 0.5)) ** 2)
        k = self.lists.shape[1]
        self.handle = backend.call("colonies_given", k, tours, lengths, chosen.initial)

    def go(self, start: int, count: int) -> Colonies:
        """Go on by the iterations start, …, start + count - 1."""
        rules = self.backend.value("rules", self.chosen.rules())
        stretch = {"seed": self.seed, "first": self.first, "from": start, "iterations": count}
        given_ = (self.loaded, self.lists, self.etas, self.handle, rules, self.backend.value("stretch", stretch))
        self.handle = self.backend.call(f"{self.form.kind}_forage", *given_)
        return self

    def found(self) -> tuple[list[list[int]], list[int], list[int]]:
        """The best tours, their lengths, and how often they were improved."""
        return read(self.backend, "colonies", self.handle)

    def trails(self) -> Any:
        return self.backend.fields(self.handle)["trails"].tolist()

    def expected(self, start: list[int], number: int) -> ants_oracle.Colony:
        """The oracle's colony of a number, before its first iteration."""
        chosen, n = self.chosen, self.form.whole.n
        return ants_oracle.Colony(
            distances_of(self.form),
            self.lists.tolist(),
            self.etas.tolist(),
            self.seed,
            number,
            chosen.ants,
            chosen.quarters,
            chosen.keep,
            chosen.weights,
            chosen.elite,
            chosen.turns,
            chosen.reference,
            chosen.floor,
            chosen.smoothing,
            chosen.patience,
            start,
            [[chosen.initial] * self.lists.shape[1] for _ in range(n)],
        )


@given(
    strategies.symmetric_matrices(min_n=3, max_n=9, largest=10**5),
    st.data(),
    st.sampled_from(sorted(RULES)),
    st.integers(0, 8),
    st.integers(0, 2**64 - 1),
    st.integers(0, 2**40),
    st.integers(1, 6),
)
@settings(max_examples=60)
def test_a_colony_is_that_of_the_oracle(
    backend: Backend,
    matrix: NDArray[np.int64],
    data: st.DataObject,
    rules: str,
    k: int,
    seed: int,
    first: int,
    iterations: int,
) -> None:
    form = form_of(Instance.from_matrix(matrix))
    start = data.draw(strategies.tours(len(matrix))).tolist()
    colonies = Colonies(backend, form, start, RULES[rules], k=k, seed=seed, first=first).go(0, iterations)
    expected = colonies.expected(start, first)
    for iteration in range(iterations):
        expected.iterate(iteration)
    tours, lengths, steps = colonies.found()
    assert (tours[0], steps[0]) == (expected.best, expected.steps)
    assert colonies.trails()[0] == expected.trails
    assert_exact(form, (tours, lengths, steps))


@pytest.mark.parametrize("rules", sorted(RULES))
@pytest.mark.parametrize(("n", "k"), [(40, 6), (40, 39), (12, 1)])
def test_so_are_larger_ones(backend: Backend, rules: str, n: int, k: int) -> None:
    form = form_of(scattered(n, "EUC_2D", 3))
    starts = random_tours(n, 2, 0)
    colonies = Colonies(backend, form, starts, RULES[rules], k=k, seed=4, first=7).go(0, 6)
    for place, start in enumerate(starts.tolist()):
        expected = colonies.expected(start, 7 + place)
        for iteration in range(6):
            expected.iterate(iteration)
        tours, _, steps = colonies.found()
        assert (tours[place], steps[place]) == (expected.best, expected.steps)
        assert colonies.trails()[place] == expected.trails


@pytest.mark.parametrize("n", [1, 2, 3])
def test_the_smallest_have_ants_too(backend: Backend, n: int) -> None:
    form = form_of(scattered(n, "EUC_2D", 3))
    for search in (0, 3):
        found = Colonies(backend, form, random_tours(n, 2, 0), Settings(search=search)).go(0, 3).found()
        assert_exact(form, found)


@given(st.lists(st.integers(1, 9), max_size=3), st.sampled_from(sorted(RULES)), st.integers(0, 3))
@settings(max_examples=20)
def test_cuts_and_ranges_change_nothing(backend: Backend, cuts: list[int], rules: str, search: int) -> None:
    form = form_of(scattered(30, "EUC_2D", 1))
    starts = random_tours(30, 3, 0)
    chosen = Settings(**{**vars(RULES[rules]), "search": search})
    whole = Colonies(backend, form, starts, chosen, k=6).go(0, 10)
    parts = Colonies(backend, form, starts, chosen, k=6)
    bounds = sorted({0, 10, *cuts})
    for begin, end in zip(bounds, bounds[1:], strict=False):
        parts.go(begin, end - begin)
    assert parts.found() == whole.found()
    assert parts.trails() == whole.trails()
    alone = Colonies(backend, form, starts[1], chosen, k=6, first=1).go(0, 10)
    assert alone.found() == tuple(column[1:2] for column in whole.found())


@pytest.mark.parametrize("metric", ["EUC_2D", "CEIL_2D", "EXPLICIT"])
@pytest.mark.parametrize("search", [0, 1, 2, 3])
@pytest.mark.parametrize("rules", ["max-min", "ant-system"])
def test_all_backends_and_forms_end_alike(backend: Backend, metric: str, search: int, rules: str) -> None:
    instance = scattered(50, metric, 2)
    starts = random_tours(50, 3, 0)
    chosen = Settings(**{**vars(RULES[rules]), "search": search})
    expected = Colonies(open_backend("c"), form_of(instance), starts, chosen, k=8).go(0, 12)
    for form in forms_of(instance):
        found = Colonies(backend, form, starts, chosen, k=8).go(0, 12)
        assert found.found() == expected.found()
        assert found.trails() == expected.trails()
        assert_exact(form, found.found())


@pytest.mark.parametrize(("search", "segment"), [(1, 0), (2, SEGMENTS[0]), (3, SEGMENTS[1])])
def test_local_search_ends_on_local_optima(backend: Backend, search: int, segment: int) -> None:
    form = form_of(scattered(10, "EUC_2D", 0))
    # The best tour is an ant's, if a random one was no local optimum.
    for seed in range(10):
        start = random_tours(10, 1, seed)[0]
        tours, lengths, steps = Colonies(backend, form, start, Settings(search=search), seed=seed).go(0, 1).found()
        distances = distances_of(form)
        if steps[0]:
            assert least(distances, tours[0], segment) == lengths[0]
        else:
            assert tours[0] == start.tolist()


def least(distances: Any, tour: list[int], segment: int) -> int:
    """The least length of a tour and its neighbours: of 2-opt only where no segment may move."""
    if segment:
        return oracle.least(distances, tour, segment)
    tours = [tour, *(oracle.apply_move(tour, i, j) for i, j in oracle.all_moves(len(tour)))]
    return min(oracle.length(distances, each) for each in tours)


@pytest.mark.slow
def test_ten_thousands_of_ants_end_where_those_of_c_do(backend: Backend) -> None:
    if backend.name == "c":
        pytest.skip("others are compared with c")
    form = form_of(scattered(50, "EUC_2D", 1))
    starts = random_tours(50, 200, 0)
    chosen = Settings(**{**vars(RULES["rank"]), "ants": 50, "search": 2})
    found, expected = (Colonies(each, form, starts, chosen, k=8).go(0, 2) for each in (backend, open_backend("c")))
    assert found.found() == expected.found()
    assert found.trails() == expected.trails()
    assert all(is_tour(tour, 50) for tour in found.found()[0])


@pytest.mark.parametrize(
    "wrong",
    [
        {"ants": 0},
        {"ants": 1},
        {"quarters": 17},
        {"search": 4},
        {"keep": 1.5},
        {"keep": 1.0, "floor": 0.5},
        {"elite": -1.0},
        {"turns": -1},
        {"reference": 0.0},
        {"floor": 2.0},
        {"smoothing": float("nan")},
        {"patience": 0},
    ],
)
def test_a_kernel_refuses_what_is_out_of_range(backend: Backend, wrong: dict[str, Any]) -> None:
    form = form_of(scattered(6, "EUC_2D", 1))
    with pytest.raises(KernelError):
        Colonies(backend, form, random_tours(6, 1, 0), Settings(**wrong)).go(0, 1).found()
