"""The command line: data sets, generated instances, files by their endings, open paths."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from paths import tsplib_file
from processes import refusal, run_command

import pytsp
from pytsp import datasets, generate
from pytsp.cli.commands import main

PLACES = [[13.41, 52.52], [2.35, 48.86], [-0.13, 51.51], [4.9, 52.37], [16.37, 48.21]]


@pytest.fixture
def places(tmp_path: Path) -> str:
    """The path of a GeoJSON file of five places."""
    path = tmp_path / "places.geojson"
    path.write_text(json.dumps({"type": "MultiPoint", "coordinates": PLACES}))
    return str(path)


def wrong_usage(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """What is said of arguments that are none."""
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    return capsys.readouterr().err


# datasets


def test_datasets_lists_the_library(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert main(["datasets", "--json"]) == 0
    reported = json.loads(capsys.readouterr().out)
    assert reported == [each.to_dict() for each in datasets.tsplib()]
    assert {"name": "pr2392", "n": 2392, "type": "EUC_2D", "optimum": 378032}.items() <= next(
        each for each in reported if each["name"] == "pr2392"
    ).items()
    assert not any(each["is_cached"] for each in reported)
    assert main(["datasets"]) == 0
    table = capsys.readouterr().out
    assert all(each["name"] in table for each in reported)
    assert "378032" in table


def test_datasets_downloads_what_is_asked_for(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []

    def fetch(name: str, *, url: str | None = None) -> Path:
        asked.append((name, url))
        return Path("/cache") / name

    monkeypatch.setattr(datasets, "fetch", fetch)
    assert main(["datasets", "--fetch", "pr76", "a280", "--url", "http://127.0.0.1:9/"]) == 0
    assert capsys.readouterr().out == "/cache/pr76\n/cache/a280\n"
    assert asked == [("pr76", "http://127.0.0.1:9/"), ("a280", "http://127.0.0.1:9/")]
    assert main(["datasets", "--fetch", "pr76", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"pr76": "/cache/pr76"}


def test_datasets_refuses_what_it_cannot_download(capsys: pytest.CaptureFixture[str]) -> None:
    assert "TSPLIB has no symmetric instance 'pr1'" in refusal(capsys, "datasets", "--fetch", "pr1")
    assert "--url is where --fetch downloads from" in refusal(capsys, "datasets", "--url", "http://127.0.0.1:9/")


def test_a_name_of_tsplib_is_not_downloaded_by_a_solve(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(
        "pytsp.datasets.registry.fetch", lambda *_, **__: pytest.fail("a download that nobody asked for")
    )
    assert "pytsp datasets --fetch pr2392 downloads it" in refusal(capsys, "solve", "pr2392")


# generate


@pytest.mark.parametrize(
    ("words", "made"),
    [
        (["uniform"], generate.uniform(12, 7)),
        (["clustered"], generate.clustered(12, 7)),
        (["clustered", "--clusters", "3"], generate.clustered(12, 7, 3)),
        (["grid"], generate.grid(12, 7)),
        (["grid", "--share", "1"], generate.grid(12, 7, 1)),
    ],
)
def test_generate_makes_every_kind(words: list[str], made: pytsp.Instance, tmp_path: Path) -> None:
    path = tmp_path / "made.tsp"
    assert main(["generate", *words, "--n", "12", "--seed", "7", "--output", str(path)]) == 0
    again = pytsp.read(path)
    assert (again.name, again.metric) == (made.name, made.metric)
    assert np.array_equal(again.coordinates, made.coordinates)


def test_generate_refuses_what_concerns_another_kind(capsys: pytest.CaptureFixture[str]) -> None:
    said = refusal(capsys, "generate", "uniform", "--n", "9", "--seed", "1", "--clusters", "3")
    assert "--clusters has no effect with uniform instances; it is for clustered ones" in said
    said = refusal(capsys, "generate", "clustered", "--n", "9", "--seed", "1", "--share", "1")
    assert "--share has no effect with clustered instances; it is for grid ones" in said
    assert "share must be more than 0" in refusal(capsys, "generate", "grid", "--n", "9", "--seed", "1", "--share", "2")


# solve


@pytest.mark.parametrize("command", ["info", "solve", "bound"])
def test_what_is_left_out_of_a_file_is_told_in_a_line(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "towns.csv"
    file.write_text("sep=;\nname;lat;lon\nA;52.5;13.4\nB;48.1;11.6\nC;53.6;10.0\n;;\n")
    assert main([command, str(file), *(["--verbose"] if command == "solve" else [])]) == 0
    lines = [line for line in capsys.readouterr().err.splitlines() if "towns.csv" in line]
    assert lines == [
        f"pytsp: {file}: line 1, 'sep=;', is no row: it says what parts the fields",
        f"pytsp: {file}: 1 row without any value left out: line 6",
    ]


def test_a_warning_of_a_file_is_safe_for_a_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    places = [{"type": "Feature", "properties": {"name": "\x1b[2J\nlost"}, "geometry": None}]
    places += [{"type": "Feature", "geometry": {"type": "Point", "coordinates": [1, 2]}}]
    (tmp_path / "x.json").write_text(json.dumps({"type": "FeatureCollection", "features": places}))
    assert main(["info", str(tmp_path / "x.json")]) == 0
    [line] = capsys.readouterr().err.splitlines()
    assert line.endswith("GeoJSON.features[0] (\ufffd[2J lost)")


def test_places_on_the_globe_are_solved_and_written(
    places: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    way = tmp_path / "way.geojson"
    assert main(["solve", places, "--output", str(way), "--json"]) == 0
    reported = json.loads(capsys.readouterr().out)
    line, *points = json.loads(way.read_text())["features"]
    assert [each["properties"]["city"] for each in points] == reported["tour"]
    assert line["properties"]["length"] == reported["length"]
    assert len(line["geometry"]["coordinates"]) == 6
    assert main(["solve", places, "--metric", "geo", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["length"] == pytest.approx(reported["length"], rel=0.005)
    assert main(["info", places]) == 0


def test_open_paths_have_their_ends(places: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = tmp_path / "way.csv"
    words = ["--open", "--start-city", "4", "--end-city", "2", "--output", str(table)]
    assert main(["solve", places, *words]) == 0
    assert "5 cities, HAVERSINE, open path" in capsys.readouterr().out
    cities = [int(row.split(",")[1]) for row in table.read_text().splitlines()[1:]]
    assert (cities[0], cities[-1]) == (4, 2)
    assert sorted(cities) == [0, 1, 2, 3, 4]


def test_cities_are_named_by_label_or_number(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = tmp_path / "orders.csv"
    table.write_text("name,x,y\nA,0,0\n3,5,0\nC,9,0\nD,7,3\n")

    def tour(*words: str) -> list[int]:
        assert main(["solve", str(table), "--json", *words]) == 0
        found: list[int] = json.loads(capsys.readouterr().out)["tour"]
        return found

    assert tour("--start-city", "C")[0] == 2
    assert tour("--start-city", "2")[0] == 2
    # What is a label is no number.
    assert tour("--start-city", "3")[0] == 1
    path = tour("--open", "--start-city", "D", "--end-city", "A")
    assert (path[0], path[-1]) == (3, 0)
    assert "start_city='E' is no city's label" in refusal(capsys, "solve", str(table), "--start-city", "E")
    assert main(["bound", str(table), "--open", "--start-city", "D", "--end-city", "A"]) == 0


def test_an_open_path_has_no_gap_to_the_optimum_of_tours(capsys: pytest.CaptureFixture[str]) -> None:
    path = str(tsplib_file("gr17.tsp"))
    assert main(["solve", path, "--open", "--json"]) == 0
    reported = json.loads(capsys.readouterr().out)
    assert (reported["optimum"], reported["gap"], reported["open"]) == (None, None, True)
    assert reported["length"] < 2085


def test_ends_and_metrics_that_mean_nothing_are_refused(places: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert "end_city=1 has no effect with a closed tour" in refusal(capsys, "solve", places, "--end-city", "1")
    assert "must be a whole number from 0 to 4" in refusal(capsys, "solve", places, "--open", "--end-city", "5")
    said = refusal(capsys, "solve", "europe", "--metric", "euc_2d")
    assert said.endswith("metric='euc_2d' has no effect with a TSPLIB file, which says its own, GEO\n")
    assert "is not for latitudes and longitudes" in refusal(capsys, "solve", places, "--metric", "EUC_2D")


TOWNS = "Ort;Breite;Länge\nBerlin;52,52;13,41\nParis;48,86;2,35\nLondon;51,51;-0,13\nRom;41,89;12,48\n"


def test_a_table_on_standard_input_is_solved_and_told_in_order(tmp_path: Path) -> None:
    words = [
        "solve",
        "-",
        "--metric",
        "haversine",
        "--columns",
        "Breite,Länge",
        "--order",
        "-o",
        str(tmp_path / "t.csv"),
    ]
    done = run_command(*words, input=TOWNS.replace("Ort", "name"))
    assert (done.returncode, done.stderr) == (0, "")
    order = done.stdout.splitlines()[-4:]
    assert sorted(order) == ["Berlin", "London", "Paris", "Rom"]
    assert [line.split(",")[2] for line in (tmp_path / "t.csv").read_text().splitlines()] == ["name", *order]
    reported = json.loads(run_command("solve", "europe", "--json").stdout)
    listed = run_command("solve", "europe", "--order").stdout.splitlines()[-53:]
    assert listed == [*map(str, reported["tour"])]


def test_a_report_reads_what_the_solve_was_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("matplotlib", reason="a report's curves need matplotlib: pip install 'pytsp-futhark[plot]'")
    (tmp_path / "towns.csv").write_text(TOWNS, encoding="utf-8")
    (tmp_path / "ways.csv").write_text(";a;b;c\na;0;1;9\nb;9;0;1\nc;1;9;0\n")
    for file, words in (
        ("towns.csv", ["--columns", "Breite,Länge", "--metric", "geo"]),
        ("ways.csv", ["--asymmetric"]),
    ):
        assert main(["solve", str(tmp_path / file), *words, "--json"]) == 0
        reported = capsys.readouterr().out
        (tmp_path / "run.json").write_text(reported)
        assert main(["report", str(tmp_path / "run.json"), "-o", str(tmp_path / "page.html")]) == 0
        assert main(["info", str(tmp_path / file), *words]) == 0
        for name, value in (("columns", 5), ("columns", [5]), ("metric", ["x"]), ("asymmetric", "yes")):
            (tmp_path / "run.json").write_text(json.dumps(json.loads(reported) | {name: value}))
            assert f"{name}" in refusal(capsys, "report", str(tmp_path / "run.json"))
        capsys.readouterr()


def test_an_ending_that_nothing_is_written_as_is_refused_before_the_solve(
    places: str, capsys: pytest.CaptureFixture[str]
) -> None:
    said = wrong_usage(capsys, "solve", places, "--output", "found.png")
    assert "found.png: results are not written as .png; the endings are .tour, .csv, .json, .geojson, .txt" in said
