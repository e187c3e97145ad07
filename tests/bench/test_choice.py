"""The table behind `solver="auto"`: cells, gaps to the best solver, what `auto` takes, and what is stored."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from checkout import needs_checkout
from clocks import KernelClock
from paths import ROOT

needs_checkout("bench")

from bench.harness.runs import Run  # noqa: E402
from bench.solvers import choice  # noqa: E402
from bench.solvers.choice import Cell, Task  # noqa: E402

RUN = Run("eax", "plane", 9, 0, 1.0, 1.0, 110, None)


def run(monkeypatch: pytest.MonkeyPatch, *words: object) -> int:
    """Run the program."""
    monkeypatch.setattr(sys, "argv", ["choice", *map(str, words)])
    return choice.main()


def test_gaps_are_those_to_the_best_of_each_seed() -> None:
    runs = [RUN, replace(RUN, peer="ils", length=100), replace(RUN, peer="large", length=None, problem="it died")]
    assert choice.gaps(runs) == pytest.approx({"eax": 10, "ils": 0})
    runs += [replace(RUN, seed=1, length=50), replace(RUN, seed=1, peer="ils", length=51)]
    found = choice.gaps(runs)
    assert found == pytest.approx({"eax": 5, "ils": 1})
    assert choice.loss(found) is None
    assert choice.loss({**found, "auto": 1.5}) == pytest.approx(0.5)
    assert choice.gaps([]) == {}


def test_cells_that_take_least_time_come_first_and_none_is_too_large_for_its_kind() -> None:
    found = list(choice.cells(["plane", "matrix"], [100, 20_000], [0.5, 2]))
    assert [cell.limit for cell in found] == [0.5] * 3 + [2] * 3
    assert [cell[:2] for cell in found[:3]] == [("plane", 100), ("plane", 20_000), ("matrix", 100)]


@pytest.mark.parametrize("kind", ["plane", "haversine", "plane-path", "asymmetric"])
def test_runs_are_those_of_the_solver_that_is_asked_for(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    KernelClock(monkeypatch)
    task = Task(Cell(kind, 12, 60.0), 3, "ils", "c", 1)
    found = choice.measure(task)
    assert (found.peer, found.instance, found.n, found.seed, found.limit) == ("ils", kind, 12, 3, 60.0)
    for solver in ("eax", "auto"):
        assert choice.measure(replace(task, solver=solver)).length == found.length


@pytest.mark.slow
def test_the_program_shows_stores_and_shows_what_is_stored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    stored = tmp_path / "choice.json"
    grid = ("--kinds", "plane,asymmetric", "--sizes", "9,12", "--limits", 0.1, "--backend", "c")
    assert run(monkeypatch, *grid, "--seeds", 2, "--json", stored) == 0
    shown = capsys.readouterr().out
    assert shown.count("\n| plane | ") == shown.count("\n| asymmetric | ") == 2
    assert "4 of 4 cells; auto is worse by 0.00 % in the mean, by 0.00 % at most" in shown
    runs = json.loads(stored.read_text(encoding="utf-8"))["runs"]
    assert [each["peer"] for each in runs[:8]] == ["auto", "eax", "ils", "large"] * 2
    assert len(runs) == 2 * 2 * (4 + 3) and all(each["length"] > 0 for each in runs)
    assert run(monkeypatch, "--stored", stored, "--backend", "c") == 0
    assert capsys.readouterr().out == shown


def test_no_cell_begins_that_does_not_fit_the_budget(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    grid = ("--kinds", "plane", "--sizes", 9, "--limits", "0.1,900", "--seeds", 1, "--backend", "c")
    assert run(monkeypatch, *grid, "--budget", 600) == 0
    assert "\n1 of 2 cells" in capsys.readouterr().out


def test_a_run_that_fails_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    stored = tmp_path / "choice.json"
    grid = ("--kinds", "plane", "--sizes", 9, "--limits", 0.1, "--seeds", 1)
    assert run(monkeypatch, *grid, "--backend", "none", "--json", stored) == 1
    runs = json.loads(stored.read_text(encoding="utf-8"))["runs"]
    assert {each["problem"].partition(":")[0] for each in runs} == {"BackendError"}
    assert run(monkeypatch, "--stored", stored, "--backend", "c") == 1
    assert "\nlarge, plane, 9 cities, 0.1 s, seed 0: BackendError: backend 'none'" in capsys.readouterr().out


@pytest.mark.parametrize(("read", "text"), [(choice.kinds, "plain"), (choice.sizes, "0"), (choice.sizes, "1,x")])
def test_kinds_and_sizes_that_are_none_are_refused(read: object, text: str) -> None:
    assert callable(read)
    with pytest.raises(argparse.ArgumentTypeError, match="it is|is not known"):
        read(text)


def test_auto_is_near_the_best_wherever_that_was_measured() -> None:
    stored = json.loads((ROOT / "bench" / "results" / "choice-1-core.json").read_text(encoding="utf-8"))
    cells = choice.stored_cells([Run(**each) for each in stored["runs"]])
    plane = {cell: choice.gaps(runs) for cell, runs in cells.items() if cell.kind == "plane" and cell.limit > 0.1}
    assert len(plane) >= 18
    for cell, found in plane.items():
        lost = choice.loss(found)
        assert lost is not None and lost < 0.1, cell
