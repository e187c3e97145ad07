"""The command `pytsp segments`: what it writes, draws and tells, and what it refuses."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from pytsp.cli.commands import main
from pytsp.cli.segments import _default_output

LINES = "x1,y1,x2,y2,note\n0,0,1,0,a\n9,0,8,0,b\n2,0,7,0,c\n"


@pytest.fixture
def lines(tmp_path: Path) -> Path:
    file = tmp_path / "lines.csv"
    file.write_text(LINES)
    return file


def test_a_file_is_written_beside_it_in_its_new_order(lines: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["segments", str(lines), "--start", "0,0"]) == 0
    ordered = lines.with_name("lines-ordered.csv")
    assert capsys.readouterr().out.splitlines() == [
        "segments  3; 1 turned round",
        "air       14 before, 2 after (14.3 %)",
        str(ordered),
    ]
    assert ordered.read_text() == "x1,y1,x2,y2,note\n0,0,1,0,a\n2,0,7,0,c\n8,0,9,0,b\n"
    assert lines.read_text() == LINES


def test_results_are_told_as_json(lines: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = lines.with_name("new.csv")
    words = ["segments", str(lines), "--start", "0,0", "--one-way", "--closed", "--json", "-o", str(output)]
    assert main(words) == 0
    reported = json.loads(capsys.readouterr().out)
    # One way the second one is entered from behind, and all of it goes back.
    assert reported == {"segments": 3, "groups": 1, "flipped": 0, "before": 21.0, "after": 11.0, "output": str(output)}


def test_a_picture_shows_the_moves(lines: Path) -> None:
    pytest.importorskip("matplotlib")
    picture = lines.with_name("moves.svg")
    assert main(["segments", str(lines), "--picture", str(picture)]) == 0
    assert "before" in picture.read_text() or picture.stat().st_size > 1000


def test_standard_input_is_ordered_to_standard_output(lines: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["segments", str(lines), "--start", "9,0", "--output", "-"]) == 0
    assert capsys.readouterr().out == "x1,y1,x2,y2,note\n9,0,8,0,b\n7,0,2,0,c\n1,0,0,0,a\n"
    assert _default_output("-") == "-" and _default_output("a/b.svg.gz") == "a/b-ordered.svg"


def test_layers_of_an_svg_stay_together(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("svgelements")
    numbers = np.random.default_rng(1)
    layers = [
        "".join(f'<path id="{name}{k}" d="M{x:.3f},{y:.3f} l1,1"/>' for k, (x, y) in enumerate(points))
        for name, points in zip("ab", numbers.uniform(0, 100, (2, 20, 2)), strict=True)
    ]
    file = tmp_path / "drawing.svg"
    head = '<svg xmlns="http://www.w3.org/2000/svg">'
    file.write_text(f'{head}<g id="A">{layers[0]}</g><g id="B">{layers[1]}</g></svg>')
    assert main(["segments", str(file)]) == 0
    assert "40, in 2 groups" in capsys.readouterr().out
    first, second = (tmp_path / "drawing-ordered.svg").read_text().split('<g id="B">')
    assert first.count('id="a') == 20 and second.count('id="b') == 20


def test_geojson_starts_where_it_is_asked_to(tmp_path: Path) -> None:
    ways = [[[13.0, 52.0], [13.1, 52.0]], [[13.4, 52.0], [13.3, 52.0]], [[13.6, 52.0], [13.5, 52.0]]]
    features = [{"type": "Feature", "geometry": {"type": "LineString", "coordinates": way}} for way in ways]
    file, output = tmp_path / "ways.geojson", tmp_path / "new.geojson"
    file.write_text(json.dumps({"type": "FeatureCollection", "features": features}))
    assert main(["segments", str(file), "--start", "13.7,52", "--output", str(output)]) == 0
    found = [each["geometry"]["coordinates"] for each in json.loads(output.read_text())["features"]]
    assert found == [ways[2], ways[1], ways[0][::-1]]
    assert main(["segments", str(file), "--metric", "MAX_2D"]) == 1


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["nowhere.csv"], "nowhere.csv"),
        (["lines.dxf"], "the ending '.dxf' is of no kind of drawing"),
        (["lines.csv", "--picture", "x.bmp"], "'.bmp' is of no kind of picture"),
        (["lines.csv", "--closed", "--end", "1,1"], "end has no effect with a closed tour"),
    ],
)
def test_what_is_wrong_is_told_in_one_line(
    lines: Path, words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    lines.with_name("lines.dxf").write_text("x")
    assert main(["segments", str(lines.with_name(words[0])), *words[1:]]) == 1
    reported = capsys.readouterr().err
    assert reported.count("\n") == 1 and message in reported


def test_every_row_is_kept_once(tmp_path: Path) -> None:
    numbers = np.random.default_rng(3)
    rows = [
        ["x", "y", "tool"],
        *([f"{x:.2f}", f"{y:.2f}", f"T{k % 3}"] for k, (x, y) in enumerate(numbers.uniform(0, 9, (60, 2)))),
    ]
    file = tmp_path / "holes.csv"
    with file.open("w", newline="") as stream:
        csv.writer(stream).writerows(rows)
    assert main(["segments", str(file), "--closed", "--start", "0,0"]) == 0
    with (tmp_path / "holes-ordered.csv").open(newline="") as stream:
        found = list(csv.reader(stream))
    assert sorted(found) == sorted(rows) and [row[2] for row in found[1:]] == ["T0"] * 20 + ["T1"] * 20 + ["T2"] * 20
