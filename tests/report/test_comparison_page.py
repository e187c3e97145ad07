"""The page of a comparison: what it says of each way, and what it refuses."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import pytsp
from pytsp.cli.commands import main
from pytsp.exceptions import PytspError
from pytsp.plotting.figures import bars
from pytsp.report import comparison_page, is_comparison

pytest.importorskip("matplotlib", reason="a report's picture needs matplotlib: pip install 'pytsp-futhark[plot]'")


def row(backend: str = "c", **others: Any) -> dict[str, Any]:
    return {"backend": backend, "seconds": 0.5, "ratio": 1.0, "length": 23692, "equal": True, **others}


def facts(*rows: Any, **others: Any) -> dict[str, Any]:
    return {"instance": "europe", "n": 53, "metric": "GEO", "solver": "restarts", "comparison": list(rows), **others}


def test_a_page_tells_every_way_and_what_they_have_in_common() -> None:
    ways = row(least=0.4, most=0.75), row("multicore", threads=2, seconds=0.25, ratio=2.0, neighbourhood="flat")
    html = comparison_page(facts(*ways, seed=7, repeats=3, environment={"pytsp": "0.1.0"}), "x")
    assert "europe: 2 ways compared" in html and "53 cities, GEO; solver restarts; seed 7; repeats 3" in html
    assert "all ways end alike" in html and "data:image/svg+xml" in html
    for cell in ("multicore", "flat", "0.250", "0.750", "23,692", "0.1.0"):
        assert f">{cell}</td>" in html


def test_ways_that_end_otherwise_are_counted() -> None:
    html = comparison_page(facts(row(), row(equal=False), row(equal=False)), "x")
    assert "2 of 3 ways end otherwise than the first" in html and html.count(">NO</td>") == 2


def test_the_bars_are_the_medians_and_their_whiskers_the_fastest_and_the_slowest() -> None:
    axes = bars(["a", "b"], [2.0, 5.0], [(1.0, 4.0), (5.0, 5.0)], "seconds").axes[0]
    assert [patch.get_width() for patch in axes.patches] == [2.0, 5.0]
    lines = axes.collections[0].get_segments()
    assert [(line[0][0], line[1][0]) for line in lines] == [(1.0, 4.0), (5.0, 5.0)]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["a", "b"]


def test_names_are_no_markup() -> None:
    html = comparison_page(facts(row("<b>"), instance="<i>", environment={"<u>": "<s>"}), "x")
    assert not any(tag in html for tag in ("<b>", "<i>", "<u>", "<s>"))


@pytest.mark.parametrize(
    ("rows", "complaint"),
    [
        ([], "the comparison has no rows"),
        ([3], "row 1 of the comparison is no object"),
        ([row(), {"backend": "c"}], "row 2 of the comparison has no 'seconds'"),
        ([row(seconds="1")], "seconds must be a finite number of at least 0; it is '1'"),
        ([row(most=float("nan"))], "most must be a finite number of at least 0; it is nan"),
        ([row(equal=1)], "equal must be true or false; it is 1"),
    ],
)
def test_what_is_no_comparison_is_refused(rows: list[Any], complaint: str) -> None:
    with pytest.raises(PytspError, match=f"^x: .*{complaint}|^x: {complaint}"):
        comparison_page(facts(*rows), "x")


def test_runs_are_no_comparison() -> None:
    assert is_comparison(facts()) and not any(map(is_comparison, (None, [], {}, {"comparison": 3})))


def printed(capsys: pytest.CaptureFixture[str]) -> bytes:
    words = ["compare", "europe", "--backends", "c,multicore", "--climbers", "20", "--repeats", "2", "--json"]
    assert main(words) == 0
    return capsys.readouterr().out.encode()


def test_report_takes_what_compare_prints(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    data, output = printed(capsys), str(tmp_path / "page.html")
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(data)))
    assert main(["report", "-", "--output", output]) == 0
    assert capsys.readouterr().out == f"{output}\n"
    assert "europe: 2 ways compared" in Path(output).read_text(encoding="utf-8")


def test_a_comparison_is_reported_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "ways.json"
    file.write_bytes(printed(capsys))
    assert main(["report", str(file), str(file), "--output", str(tmp_path / "page.html")]) == 1
    assert f"{file}: a page is of one comparison, or of runs; give its file alone" in capsys.readouterr().err


def test_runs_on_standard_input_are_reported_as_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["solve", "europe", "--solver", "restarts", "--climbers", "5", "--json"]) == 0
    data, output = capsys.readouterr().out.encode(), str(tmp_path / "page.html")
    assert json.loads(data)["length"] == pytsp.solve(pytsp.read("europe"), solver="restarts", climbers=5, seed=0).length
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(data)))
    assert main(["report", "-", "--output", output]) == 0
    assert "Order of the visit" in Path(output).read_text(encoding="utf-8")
