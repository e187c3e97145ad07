"""The kernels of annealing: the chains of the oracle, in all forms, on all backends, cut anyhow."""

from __future__ import annotations

from typing import Any

import annealing_oracle
import numpy as np
import pytest
import strategies
from cities import scattered
from draws import stream
from hypothesis import given, settings
from hypothesis import strategies as st
from kernel_calls import assert_exact, distances_of, forms_of, lists_of, load, read
from numpy.typing import NDArray

from pytsp import is_tour, random_tours
from pytsp.backends import Backend, open_backend
from pytsp.exceptions import KernelError
from pytsp.problem.instance import Instance
from pytsp.problem.kernel_input import Form, form_of

PART = "comparators"
LARGEST = 2**30 - 1

Found = tuple[list[list[int]], list[int], list[int]]


class Chains:
    """Chains on given tours, with the settings that their calls share."""

    def __init__(
        self,
        backend: Backend,
        form: Form,
        tours: Any,
        *,
        k: int | None = None,
        seed: int = 0,
        first: int = 0,
        trials: int = 20,
        moves: int = 1,
    ) -> None:
        self.backend, self.form, self.loaded = backend, form, load(backend, form)
        self.lists = lists_of(form, k)
        self.numbers = {"seed": seed, "first": first, "trials": trials, "moves": moves}
        self.chains = backend.call("chains_given", np.atleast_2d(np.asarray(tours, dtype=np.int32)))

    def go(self, start: int, temperatures: Any) -> Chains:
        """Go on by iterations at these temperatures, the first of them of the number `start`."""
        entry = f"{self.form.kind}_anneal"
        temperatures = np.asarray(temperatures, dtype=np.float64)
        plan = self.backend.value("annealing_plan", {**self.numbers, "from": start})
        self.chains = self.backend.call(entry, self.loaded, self.lists, self.chains, plan, temperatures)
        return self

    def found(self) -> Found:
        """The best tours, their lengths, and the numbers of steps."""
        return read(self.backend, "chains", self.chains)


def assert_is_the_oracles(
    backend: Backend,
    matrix: NDArray[np.int64],
    start: list[int],
    temperatures: list[float],
    *,
    seed: int,
    trials: int,
    moves: int,
    first: int = 0,
    k: int | None = None,
) -> None:
    """A chain from a tour comes to what the oracle's comes to."""
    form = form_of(Instance.from_matrix(matrix))
    chains = Chains(backend, form, start, k=k, seed=seed, first=first, trials=trials, moves=moves)
    tours, lengths, steps = chains.go(0, temperatures).found()
    key = stream(seed, first)
    expected = annealing_oracle.annealed(
        matrix.tolist(), chains.lists.tolist(), start, key, temperatures, trials, moves == 1
    )
    assert (tours[0], steps[0]) == expected[1:]
    assert_exact(form, (tours, lengths, steps))


@given(
    strategies.symmetric_matrices(max_n=9, largest=LARGEST),
    st.data(),
    st.lists(st.sampled_from((0.0, 1.0, 1e5, 1e9, 1e12)), max_size=4),
    st.integers(1, 12),
    st.integers(0, 1),
    st.integers(0, 8),
    st.integers(0, 2**64 - 1),
    st.integers(0, 2**40),
)
@settings(max_examples=80)
def test_a_chain_is_that_of_the_oracle(
    backend: Backend,
    matrix: NDArray[np.int64],
    data: st.DataObject,
    temperatures: list[float],
    trials: int,
    moves: int,
    k: int,
    seed: int,
    first: int,
) -> None:
    start = data.draw(strategies.tours(len(matrix))).tolist()
    assert_is_the_oracles(backend, matrix, start, temperatures, k=k, seed=seed, first=first, trials=trials, moves=moves)


@given(
    strategies.tied_matrices(min_n=5),
    st.data(),
    st.lists(st.sampled_from((0.0, 0.5, 1.0, 2.0)), min_size=1, max_size=4),
    st.integers(5, 30),
    st.integers(0, 1),
    st.integers(0, 2**64 - 1),
)
@settings(max_examples=40)
def test_so_is_a_chain_among_ties(
    backend: Backend,
    matrix: NDArray[np.int64],
    data: st.DataObject,
    temperatures: list[float],
    trials: int,
    moves: int,
    seed: int,
) -> None:
    """A chain makes a move of change 0 at any temperature, and a move that is longer by exactly what it may be."""
    start = data.draw(strategies.tours(len(matrix))).tolist()
    assert_is_the_oracles(backend, matrix, start, temperatures, seed=seed, trials=trials, moves=moves)


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 6, 7, 8, 9, 40])
@pytest.mark.parametrize("moves", [0, 1])
@pytest.mark.parametrize("k", [0, 5])
def test_so_are_chains_of_many_trials(backend: Backend, n: int, moves: int, k: int) -> None:
    form = form_of(scattered(n, "EUC_2D", 3))
    temperatures = [40.0, 10.0, 4.0, 1.0, 0.0]
    starts = random_tours(n, 2, 0)
    chains = Chains(backend, form, starts, k=k, seed=4, first=7, trials=50, moves=moves)
    tours, lengths, steps = chains.go(0, temperatures).found()
    for place, start in enumerate(starts.tolist()):
        key = stream(4, 7 + place)
        expected = annealing_oracle.annealed(
            distances_of(form), chains.lists.tolist(), start, key, temperatures, 50, moves == 1
        )
        assert (tours[place], steps[place]) == expected[1:]
    assert_exact(form, (tours, lengths, steps))


@given(st.lists(st.integers(1, 29), max_size=4), st.sampled_from((0.0, 4.0, 1e12)))
@settings(max_examples=20)
def test_cuts_and_ranges_change_nothing(backend: Backend, cuts: list[int], hot: float) -> None:
    form = form_of(scattered(60, "EUC_2D", 1))
    temperatures = hot * np.arange(30, 0, -1) / 30
    starts = random_tours(60, 3, 0)
    whole = Chains(backend, form, starts, k=6).go(0, temperatures).found()
    parts = Chains(backend, form, starts, k=6)
    bounds = sorted({0, 30, *cuts})
    for begin, end in zip(bounds, bounds[1:], strict=False):
        parts.go(begin, temperatures[begin:end])
    assert parts.found() == whole
    alone = Chains(backend, form, starts[1], k=6, first=1).go(0, temperatures).found()
    assert alone == tuple(column[1:2] for column in whole)


@pytest.mark.parametrize("metric", ["EUC_2D", "CEIL_2D", "EXPLICIT"])
@pytest.mark.parametrize(("moves", "k"), [(0, 8), (1, 8), (1, 0)])
def test_all_backends_and_forms_end_alike(backend: Backend, metric: str, moves: int, k: int) -> None:
    instance = scattered(70, metric, 2)
    starts = random_tours(70, 4, 0)
    temperatures = np.geomspace(30, 0.5, 60)
    rest: dict[str, Any] = {"k": k, "moves": moves, "trials": 70}
    expected = Chains(open_backend("c"), form_of(instance), starts, **rest).go(0, temperatures).found()
    for form in forms_of(instance):
        found = Chains(backend, form, starts, **rest).go(0, temperatures).found()
        assert found == expected
        assert_exact(form, found)


def test_cooling_makes_tours_shorter_than_heat_and_cold_alone(backend: Backend) -> None:
    form = form_of(scattered(200, "EUC_2D", 1))
    starts = random_tours(200, 4, 0)

    def total(temperatures: Any) -> int:
        chains = Chains(backend, form, starts, k=8, trials=200).go(0, temperatures)
        return sum(chains.found()[1])

    cooled = total(np.geomspace(3, 0.2, 300))
    assert cooled < total(np.zeros(300))
    assert cooled < total(np.full(300, 3.0))


@pytest.mark.slow
def test_many_chains_end_where_those_of_c_do(backend: Backend) -> None:
    if backend.name == "c":
        pytest.skip("others are compared with c")
    form = form_of(scattered(50, "EUC_2D", 1))
    starts = random_tours(50, 20_000, 0)
    temperatures = np.geomspace(30, 1, 8)
    found, expected = (
        Chains(each, form, starts, k=8, trials=50).go(0, temperatures).found() for each in (backend, open_backend("c"))
    )
    assert found == expected
    assert all(is_tour(tour, 50) for tour in found[0][:100])


@pytest.mark.parametrize(
    ("start", "trials", "moves", "temperatures"),
    [(-1, 1, 0, [1.0]), (0, 0, 0, [1.0]), (0, 1, 2, [1.0]), (0, 1, 0, [-1.0]), (0, 1, 0, [float("nan")])],
)
def test_a_kernel_refuses_what_is_out_of_range(
    backend: Backend, start: int, trials: int, moves: int, temperatures: list[float]
) -> None:
    form = form_of(scattered(6, "EUC_2D", 1))
    with pytest.raises(KernelError):
        Chains(backend, form, random_tours(6, 1, 0), trials=trials, moves=moves).go(start, temperatures).found()
