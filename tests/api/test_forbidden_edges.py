"""Forbidden and huge edges, solved: avoided where that is possible, told where it is not, else of no weight."""

from __future__ import annotations

import itertools
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from results import assert_improves

import pytsp
from pytsp import Instance, Progress, Result
from pytsp.cli.commands import main
from pytsp.cli.progress import Display
from pytsp.problem.instance import FORBIDDEN
from pytsp.run.saved_runs import Run, read_runs

INT_MAX = 2**31 - 1
SEARCHES: dict[str, dict[str, Any]] = {
    "restarts": {"climbers": 60},
    "two-opt": {"kicks": 60},
    "ils": {"climbers": 3, "iterations": 200},
    "eax": {"climbers": 20},
    "annealing": {"climbers": 3, "iterations": 300},
    "ants": {"climbers": 1, "iterations": 60, "moves": "3-opt"},
}


def edges_of(d: NDArray[Any], order: Any, *, is_open: bool) -> NDArray[Any]:
    order = list(order)
    return np.array([d[edge] for edge in [*itertools.pairwise(order), *([] if is_open else [(order[-1], order[0])])]])


def best_of(d: NDArray[Any], *, is_open: bool) -> tuple[int, float]:
    """The fewest forbidden edges of a tour or path, and the least that its other edges come to."""
    forbidden = FORBIDDEN[d.dtype.kind]
    costs = []
    for order in itertools.permutations(range(len(d))):
        if is_open or order[0] == 0:
            edges = edges_of(d, order, is_open=is_open)
            costs.append((int((edges == forbidden).sum()), math.fsum(edges[edges != forbidden])))
    return min(costs)


@st.composite
def barred(draw: st.DrawFn) -> NDArray[Any]:
    """Distances of which some are forbidden and a few far too long."""
    n, is_float, is_directed = draw(st.integers(3, 6)), draw(st.booleans()), draw(st.booleans())
    numbers = np.random.default_rng(draw(st.integers(0, 2**32)))
    d: NDArray[Any] = numbers.integers(1, 100, (n, n))
    d = d / 7 if is_float else d
    d[numbers.random((n, n)) < draw(st.sampled_from([0.0, 0.3, 0.6]))] = math.inf if is_float else INT_MAX
    if draw(st.booleans()):
        d[0, n - 1] = 1e12 if is_float else 2**40
    d = d if is_directed else np.triu(d, 1) + np.triu(d, 1).T
    np.fill_diagonal(d, 0)
    return d


@settings(max_examples=60)
@given(d=barred(), is_open=st.booleans(), solver=st.sampled_from(["ils", "eax"]))
def test_no_tour_has_a_forbidden_edge_that_can_do_without(d: NDArray[Any], is_open: bool, solver: str) -> None:
    instance = Instance.from_matrix(d, asymmetric=True)
    fewest, rest = best_of(d, is_open=is_open)
    try:
        result = pytsp.solve(instance, open=is_open, solver=solver, backend="c", **SEARCHES[solver])
    except pytsp.InstanceError as error:
        # No tour is known that needs neither this nor forbidden edges.
        assert "divide" in str(error) and (d == 2**40).any()
        return
    edges = edges_of(d, result.tour.tolist(), is_open=is_open)
    assert result.forbidden_edges == (edges == FORBIDDEN[d.dtype.kind]).sum() == fewest
    if rest < 1e12:
        assert math.fsum(edges[edges != FORBIDDEN[d.dtype.kind]]) == pytest.approx(rest, rel=1e-6)
    # Climbers' lengths are the kernel's, whose unit is the larger the more what forbids an edge has to outweigh.
    assert result.length == math.fsum(edges) == pytest.approx(result.lengths.min(), rel=1e-5)
    if not (d == 2**40).any():
        # Which is longer than what forbids an edge.
        assert assert_improves(result.history)[-1] == pytest.approx(result.length)
    assert ("forbidden" in str(result)) == (fewest > 0)
    json.dumps(result.to_dict(), allow_nan=False)


@pytest.mark.parametrize(
    ("solver", "asymmetric"), [*((solver, False) for solver in SEARCHES), ("ils", True), ("eax", True), ("ants", True)]
)
def test_edges_that_no_tour_needs_have_no_weight(solver: str, asymmetric: bool) -> None:
    numbers = np.random.default_rng(3)
    half = np.triu(numbers.random((9, 9)), 1)
    d = half + half.T + 1
    if asymmetric:
        d += numbers.random((9, 9)) / 100
    np.fill_diagonal(d, 0)

    def solved(matrix: NDArray[Any]) -> Result:
        instance = Instance.from_matrix(matrix, asymmetric=asymmetric)
        return pytsp.solve(instance, solver=solver, backend="c", **SEARCHES[solver])

    known = solved(d)
    used = {frozenset(edge) for edge in itertools.pairwise([*known.tour.tolist(), int(known.tour[0])])}
    others = [edge for edge in itertools.combinations(range(9), 2) if frozenset(edge) not in used]
    for huge in (1e10, 1e12, 1e300, math.inf):
        longer = d.copy()
        for i, j in others[::5]:
            longer[i, j] = longer[j, i] = huge
        found = solved(longer)
        assert found.length == known.length
        assert found.forbidden_edges == 0
        assert assert_improves(found.history)[-1] == pytest.approx(found.length)


@pytest.mark.parametrize("huge", [1e10, 1e12, math.inf])
def test_one_huge_edge_costs_a_long_tour_nothing(huge: float) -> None:
    half = np.triu(np.random.default_rng(0).random((150, 150)) * 100, 1)
    d = half + half.T
    known = pytsp.solve(Instance.from_matrix(d), backend="c", climbers=30)
    d[3, 7] = d[7, 3] = huge
    found = pytsp.solve(Instance.from_matrix(d), backend="c", climbers=30)
    assert found.length == pytest.approx(known.length, rel=0.005)
    assert found.lengths.max() < 2 * found.length


@pytest.mark.parametrize("kind", [np.float64, np.int64])
@pytest.mark.parametrize("solver", SEARCHES)
def test_a_path_in_a_sparse_graph_is_found(solver: str, kind: Any) -> None:
    # All edges but those between neighbours of a ring, and a few chords, are forbidden.
    n = 12
    d = np.full((n, n), FORBIDDEN[np.dtype(kind).kind], kind)
    ring = np.arange(n)
    for step, length in ((1, 5), (3, 9)):
        d[ring, (ring + step) % n] = d[(ring + step) % n, ring] = length
    order = np.random.default_rng(1).permutation(n)
    result = pytsp.solve(Instance.from_matrix(d[np.ix_(order, order)]), solver=solver, backend="c", **SEARCHES[solver])
    assert (result.length, result.forbidden_edges) == (5 * n, 0)


# What is told where a tour cannot do without


def star(forbidden: float = math.inf) -> Instance:
    """A centre and four cities around it: two of the edges of a tour are forbidden, and one is not of a path."""
    d = np.full((5, 5), forbidden)
    d[0], d[:, 0] = 1, 1
    return Instance.from_matrix(d, "star")


def test_an_infinite_length_is_told_and_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    reported: list[float] = []
    path = tmp_path / "star.checkpoint"
    options: dict[str, Any] = {"solver": "ils", "climbers": 2, "iterations": 50, "checkpoint": path}
    result = pytsp.solve(star(), backend="c", progress=lambda now: reported.append(now.length), **options)
    assert result.length == math.inf and set(reported) == {math.inf} and result.forbidden_edges == 3
    assert "length    inf" in str(result) and "forbidden 3 of the edges" in str(result)
    facts = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    assert (facts["length"], facts["forbidden_edges"], facts["history"]) == (None, 3, [])
    assert "Infinity" not in path.read_bytes().decode("latin-1")
    again = pytsp.resume(path)
    assert again.length == math.inf and np.array_equal(again.tour, result.tour)
    result.to_json(str(tmp_path / "star.json"))
    [run] = read_runs([str(tmp_path / "star.json")], needs_instance=False)
    assert run.facts["length"] == Run.of(result).facts["length"] == math.inf
    assert run.history.size == 0


def test_an_infinite_length_is_shown() -> None:
    pytest.importorskip("matplotlib")
    cities = Instance.from_matrix(star().distance_matrix(), "star", display=np.random.default_rng(0).random((5, 2)))
    result = pytsp.solve(cities, backend="c", climbers=4)
    page = pytsp.report.page([result, pytsp.solve(cities, backend="c", solver="restarts", climbers=9)])
    assert "tour of length inf" in page and "forbidden edges" in page
    assert "forbidden edges" in result._repr_html_()
    result.plot()
    with pytest.raises(pytsp.PytspError):
        result.plot("convergence")


def test_progress_shows_a_length_that_was_infinite_before() -> None:
    display = Display("star", None, clock=lambda: 0.0)
    for seconds, length in ((0.0, math.inf), (1.0, math.inf), (2.0, 9.0), (3.0, 5.0)):
        display.take(Progress(1, 0, length, seconds))
        assert f"length {length:g}" in " ".join(display._headline())
    assert display._headline()[1]


def test_json_of_commands_stays_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = tmp_path / "star.csv"
    np.savetxt(table, star().distance_matrix(), delimiter=",")
    for words in (["info"], ["solve", "--backend", "c"], ["compare", "--backends", "c"]):
        assert main([words[0], str(table), *words[1:], "--json"]) == 0
        printed = capsys.readouterr().out
        assert "Infinity" not in printed and "inf" not in printed.replace('"info"', "")
        json.loads(printed)
    assert main(["info", str(table)]) == 0
    assert "canonical length  inf" in capsys.readouterr().out


def test_whole_numbers_have_a_length_all_the_same(tmp_path: Path) -> None:
    instance = Instance.from_matrix(star(INT_MAX).distance_matrix().astype(np.int64))
    result = pytsp.solve(instance, backend="c")
    assert isinstance(result.length, int)
    assert result.length == 3 * INT_MAX + 2 and result.forbidden_edges == 3
    pytsp.write(str(tmp_path / "star.tsp"), instance)
    assert main(["solve", str(tmp_path / "star.tsp"), "--backend", "c"]) == 0
    way = pytsp.solve(instance, backend="c", open=True, start_city=0)
    assert way.length == 3 * INT_MAX + 1 and way.is_open


def test_a_target_is_reached_by_the_lengths_that_are_told() -> None:
    d = np.random.default_rng(0).integers(1, 9, (12, 12)) * 1.0
    d[0, 1:7] = math.inf
    np.fill_diagonal(d, 0)
    instance = Instance.from_matrix(d, asymmetric=True)
    found: list[float] = []
    result = pytsp.solve(
        instance, backend="c", target=1e9, on_improvement=lambda now: found.append(now.length), solver="restarts"
    )
    assert result.stop_reason == "target" and result.length <= 1e9
    assert found == [each.length for each in result.history] and found[-1] == result.length
