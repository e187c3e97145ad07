"""The seconds of the build, the tests and CI: the table, and when a step is warned of."""

from __future__ import annotations

from pathlib import Path

import pytest
from checkout import needs_checkout

needs_checkout("buildtools", "docs")

from buildtools import seconds  # noqa: E402

TEXT = """\
| date | commit | reference | build | suite | ci |
| --- | --- | --- | --- | --- | --- |
| 2026-11-01 | aaaaaaa | 0.200 | 100 | 300 |  |
| 2026-11-02 | bbbbbbb | 0.400 | 200 |  | 1200 |
"""


def test_the_table_of_the_documentation_is_read() -> None:
    rows = seconds.read_rows(seconds.TABLE.read_text(encoding="utf-8"))
    assert rows
    assert all(row.reference > 0 and row.steps for row in rows)
    assert {name for row in rows for name in row.steps} == set(seconds.STEPS)


def test_a_step_that_grew_by_more_than_a_fifth_is_warned_of() -> None:
    rows = seconds.read_rows(TEXT)
    assert [row.steps for row in rows] == [{"build": 100, "suite": 300}, {"build": 200, "ci": 1200}]
    assert seconds.warnings(rows, {"build": 240, "ci": 1440}, 0.4) == []
    assert len(seconds.warnings(rows, {"build": 241, "ci": 1441}, 0.4)) == 2
    (line,) = seconds.warnings(rows, {"build": 260, "ci": 1440}, 0.4)
    assert line.startswith("warning: build took 260 s, 30% more than the 200 s that the 200 s of 2026-11-02")


def test_seconds_of_machines_of_different_speed_compare() -> None:
    rows = seconds.read_rows(TEXT)
    # Half as fast as the machine of the first row, the last one that has the suite.
    assert seconds.warnings(rows, {"suite": 720}, 0.4) == []
    assert len(seconds.warnings(rows, {"suite": 721}, 0.4)) == 1
    # Twice as fast as the machine of the second.
    assert len(seconds.warnings(rows, {"build": 121}, 0.2)) == 1


def test_a_step_without_a_row_is_not_warned_of() -> None:
    assert seconds.warnings([], {"build": 1000}, 0.4) == []


def test_a_row_is_read_as_it_was_written() -> None:
    (row,) = seconds.read_rows(seconds.write_row({"build": 95, "ci": 1300}, 0.25, "ccccccc"))
    assert (row.commit, row.reference, row.steps) == ("ccccccc", 0.25, {"build": 95, "ci": 1300})


@pytest.mark.parametrize("argument", ["build", "build=", "build=-1", "build=x", "wheel=3"])
def test_what_is_no_step_is_refused(argument: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert seconds.main([argument]) == 2
    assert f"{argument!r} is not STEP=SECONDS with a step of build, suite, ci" in capsys.readouterr().err


def test_the_program_prints_a_row_and_warns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(seconds, "reference_seconds", lambda: 0.4)
    table = tmp_path / "seconds.md"
    table.write_text(TEXT)
    assert seconds.main(["build=100000", "suite=0"], table) == 0
    row, warning = capsys.readouterr().out.splitlines()
    assert seconds.read_rows(row)[0].steps == {"build": 100_000, "suite": 0}
    assert warning.startswith("warning: build took 100000 s")
