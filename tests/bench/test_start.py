"""The benchmark of starting: its table, the parts of a process, and results that differ."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import pytsp
from bench.solvers import start

LARGE = "pr439, 4,000 climbers, from Python"


@pytest.mark.slow
def test_the_benchmark_tells_every_solver_and_the_floors(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["start", "--backends", "c", "--runs", "1", "--tsplib", str(tmp_path)])
    assert start.main() == 0
    _, missing, *lines = capsys.readouterr().out.splitlines()
    assert missing.startswith(f"{tmp_path.resolve() / 'pr439.tsp.gz'} is missing, and its row")
    rows = [line.split(" | ") for line in lines[2:]]
    assert [cells[:2] for cells in rows] == [
        ["| nothing", "–"],
        ["| NumPy's import", "–"],
        ["| restarts", "c"],
        ["| default", "c"],
        ["| restarts, from Python", "c"],
    ]
    assert all(0 < float(cells[3].split()[0]) < float(cells[2].split()[0]) for cells in rows[2:])
    assert [cells[5] for cells in rows[2:]] == ["– |", "– |", "yes |"]


def test_the_benchmark_splits_a_process_and_keeps_its_result() -> None:
    file = start.ROOT / "data" / "uniform100.tsp"
    found = start.timed(start.filled(start.PROGRAMS[LARGE].replace("4000", "20"), "c", file))
    assert 0 < found.start < found.start + found.solving < found.whole
    result = pytsp.solve(pytsp.read(file), climbers=20, backend="c")
    assert found.result == [f"{result.length} {result.lengths.tolist()} {result.tour.tolist()}"]


def test_the_benchmark_tells_a_result_that_is_not_cs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "pr439.tsp.gz").touch()
    monkeypatch.setattr(sys, "argv", ["start", "--backends", "c", "--runs", "1", "--tsplib", str(tmp_path)])
    monkeypatch.setattr(start, "PROGRAMS", {LARGE: start.PROGRAMS[LARGE]})
    results = iter("aaba")
    monkeypatch.setattr(start, "timed", lambda _: start.Timed(3.0, 1.0, 2.0, [next(results)]))
    assert start.main() == 1
    spreads = " | ".join(f"{each:.3f} ({each:.3f} … {each:.3f})" for each in (3, 1, 2))
    assert f"| {LARGE} | c | {spreads} | NO |" in capsys.readouterr().out


def test_a_spread_is_a_median_with_its_bounds() -> None:
    assert start.spread([0.5, 0.25, 1.0]) == "0.500 (0.250 … 1.000)"
