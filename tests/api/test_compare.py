"""Comparing backends: one row each, measured against the first, and honest about differences."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import emulated
import numpy as np
import pytest

import pytsp
from pytsp import Instance, Result
from pytsp.api.compare import Comparison, compare
from pytsp.backends import status
from pytsp.exceptions import BackendError, BackendUnavailable
from pytsp.solvers.policy import default_population

CITIES = Instance.from_coordinates(np.random.default_rng(0).integers(0, 100, (20, 2)), metric="EUC_2D")


def test_backends_are_compared_with_the_first() -> None:
    rows = compare(CITIES, ["c", "multicore", "c"], climbers=50, seed=3, k=2)
    assert [row.backend for row in rows] == ["c", "multicore", "c"]
    result = pytsp.solve(CITIES, climbers=50, seed=3, k=2, backend="c")
    assert {(row.length, row.moves, row.equal) for row in rows} == {(result.length, result.moves, True)}
    assert rows[0].ratio == 1
    assert all(row.ratio == pytest.approx(rows[0].seconds / row.seconds) for row in rows)


def test_a_bound_is_found_once_and_said_of_each() -> None:
    rows = compare(CITIES, ["c", "c"], climbers=3, neighbourhoods=["flat", "diagonals"], bound=True)
    bound = pytsp.lower_bound(CITIES).bound
    assert [row.gap_bound for row in rows] == [row.length / bound - 1 for row in rows]
    assert "gap_bound" in rows[0].to_dict() and "gap_bound" not in compare(CITIES, ["c"], climbers=3)[0].to_dict()


def test_all_backends_that_run_are_compared_unless_some_are_named() -> None:
    assert [row.backend for row in compare(CITIES, climbers=5)] == [each.name for each in status() if each.usable]


@pytest.mark.parametrize("field", ["lengths", "steps", "passes", "tour", "climber"])
def test_a_difference_in_any_climber_is_told(field: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def faulty(*arguments: Any, **options: Any) -> Result:
        result = pytsp.solve(*arguments, **options)
        if options["backend"] != "multicore":
            return result
        found = getattr(result, field)
        return replace(result, **{field: found + 1 if field == "climber" else np.append(found[:-1], found[-1] + 1)})

    monkeypatch.setattr("pytsp.api.compare.solve", faulty)
    rows = compare(CITIES, ["c", "multicore"], climbers=9)
    assert [row.equal for row in rows] == [True, False]


@pytest.mark.parametrize("solver", ["ils", "eax"])
def test_other_solvers_are_compared_by_what_the_first_backend_chose(solver: str) -> None:
    rows = compare(CITIES, ["c", "multicore"], solver=solver, seed=3)
    chosen: dict[str, Any] = {"climbers": default_population(CITIES.n, "cpu")} if solver == "eax" else {}
    result = pytsp.solve(CITIES, solver=solver, seed=3, backend="c", **chosen)
    assert result.iterations is not None
    assert {(row.length, row.iterations) for row in rows} == {(result.length, result.iterations * result.climbers)}
    assert all((row.equal, row.moves) == (True, None) for row in rows)


def test_neighbourhoods_are_compared_on_every_backend() -> None:
    rows = compare(CITIES, ["c", "multicore"], climbers=20, neighbourhoods=["diagonals", "flat", "closed-form"])
    assert [(row.backend, row.neighbourhood) for row in rows] == [
        (backend, name) for backend in ("c", "multicore") for name in ("diagonals", "flat", "closed-form")
    ]
    assert len({(row.length, row.moves, row.equal) for row in rows}) == 1
    with pytest.raises(ValueError, match="neighbourhood 'round' is not known"):
        compare(CITIES, ["c"], neighbourhoods=["round"])


def test_a_row_is_plain_data() -> None:
    row = Comparison("c", 2.0, 1.0, 10, 36, True)
    assert row.to_dict() == dict(backend="c", seconds=2.0, ratio=1.0, moves=10, length=36, equal=True)


def test_unknown_and_unusable_backends_are_refused_before_any_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pytsp.api.compare.solve", lambda *_, **__: pytest.fail("it ran"))
    with pytest.raises(BackendError, match="'cobol' is not known"):
        compare(CITIES, ["c", "cobol"], climbers=1)
    for found in status():
        if not found.usable:
            with pytest.raises(BackendUnavailable, match=f"{found.name!r} cannot run here"):
                compare(CITIES, ["c", found.name], climbers=1)


def test_a_comparison_of_nothing_is_empty() -> None:
    assert list(compare(CITIES, [])) == []


def test_repeats_take_turns_and_tell_their_spread(monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[str] = []

    def timed(*arguments: Any, **options: Any) -> Result:
        ran.append(options["backend"])
        return replace(pytsp.solve(*arguments, **options), seconds=float(len(ran)))

    monkeypatch.setattr("pytsp.api.compare.solve", timed)
    rows = compare(CITIES, ["c", "multicore"], climbers=5, repeats=3)
    # The first two make ready.
    assert ran == ["c", "multicore"] * 4
    assert [(row.least, row.seconds, row.most) for row in rows] == [(3.0, 5.0, 7.0), (4.0, 6.0, 8.0)]
    assert rows[1].ratio == 5 / 6
    assert compare(CITIES, ["c"], climbers=5)[0].least is None


def test_a_difference_in_a_later_run_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = iter(range(99))

    def faulty(*arguments: Any, **options: Any) -> Result:
        result = pytsp.solve(*arguments, **options)
        return replace(result, lengths=result.lengths + 1) if next(calls) == 5 else result

    monkeypatch.setattr("pytsp.api.compare.solve", faulty)
    assert [row.equal for row in compare(CITIES, ["c", "multicore"], climbers=9, repeats=2)] == [True, False]


def test_ways_concern_the_backends_that_have_them() -> None:
    rows = compare(CITIES, ["c", "multicore"], climbers=9, threads=[1, 2], mappings=["block"], devices=[0])
    assert [(row.backend, row.threads, row.mapping, row.device) for row in rows] == [
        ("c", None, None, None),
        ("multicore", 1, None, None),
        ("multicore", 2, None, None),
    ]
    assert all(row.equal for row in rows)


def test_a_gpus_ways_are_all_combinations() -> None:
    if not emulated.IS_BUILT:
        pytest.skip("the emulated GPU is not built: run `python -m buildtools.emulated`")
    with_blocks = Instance.from_coordinates(np.random.default_rng(1).integers(0, 100, (30, 2)), metric="EUC_2D")
    chosen = {"neighbourhoods": ["flat", "zipped"], "mappings": ["block", "thread"]}
    rows = compare(with_blocks, ["c", emulated.NAME], climbers=4, **chosen)
    assert [(row.neighbourhood, row.mapping) for row in rows] == [
        *[("flat", None), ("zipped", None)],
        *[(name, mapping) for name in ("flat", "zipped") for mapping in ("block", "thread")],
    ]
    assert all(row.equal for row in rows) and rows[2].device


def test_a_comparison_tells_what_its_rows_have_in_common() -> None:
    found = compare(CITIES, ["c", "multicore"], solver="ils", climbers=2, iterations=7, seed=4)
    reported = found.to_dict()
    assert reported["comparison"] == [row.to_dict() for row in found]
    expected = {"n": 20, "metric": "EUC_2D", "solver": "ils", "seed": 4, "climbers": 2, "iterations": 7, "repeats": 1}
    assert expected.items() <= reported.items()
    assert {"date", "environment"} <= set(reported) and found[:1] == (found[0],)


@pytest.mark.parametrize("repeats", [0, True, 1001, 1.5])
def test_repeats_are_a_whole_number(repeats: Any) -> None:
    with pytest.raises((TypeError, ValueError), match="repeats must be a whole number"):
        compare(CITIES, ["c"], climbers=1, repeats=repeats)
