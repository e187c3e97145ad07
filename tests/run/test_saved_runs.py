"""Runs as they are read: results, tour files, the instance that they are of, and what is refused."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from paths import ROOT

import pytsp
from pytsp.cli.commands import main
from pytsp.datasets import registry as datasets
from pytsp.exceptions import PytspError
from pytsp.run.saved_runs import Run, label_runs, read_runs

EUROPE = ROOT / "data" / "europe.tsp"


@pytest.fixture(scope="module")
def reported() -> dict[str, Any]:
    """What a solve of europe tells."""
    instance = pytsp.read(EUROPE)
    return json.loads(json.dumps(pytsp.solve(instance, seed=1, climbers=20, solver="restarts", backend="c").to_dict()))


def stored(folder: Path, reported: object, name: str = "run.json") -> str:
    """The path of a file that holds it."""
    path = folder / name
    path.write_text(json.dumps(reported))
    return str(path)


@pytest.mark.parametrize("name", ["tour", "environment", "extra"])
@pytest.mark.parametrize("depth", [100, 900, 10**5])
@pytest.mark.parametrize("brackets", ["[]", ('{"a":', "}")])
def test_nesting_without_end_does_no_harm(
    name: str, depth: int, brackets: tuple[str, str], reported: dict[str, Any], tmp_path: Path
) -> None:
    path = tmp_path / "deep.json"
    opened, closed = brackets
    path.write_text(json.dumps(reported | {name: None}).replace("null", opened * depth + "1" + closed * depth, 1))
    command = ["report", str(path), "--instance", "europe", "--output", str(tmp_path / "deep.html")]
    assert main(command) in (0, 1)


def test_what_solve_prints_is_read_with_its_instance(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    # The instance's own name is no other's: only the path leads to it.
    copy = tmp_path / "copy.tsp"
    copy.write_text(EUROPE.read_text().replace("europe", "elsewhere"))
    assert main(["solve", str(copy), "--climbers", "10", "--json"]) == 0
    printed = capsys.readouterr().out
    path = tmp_path / "run.json"
    path.write_text(printed)
    [run] = read_runs([str(path)])
    reported = json.loads(printed)
    assert (run.label, run.tour.tolist(), run.lengths.tolist()) == ("run", reported["tour"], reported["lengths"])
    assert run.history.tolist() == reported["history"]
    assert run.instance is not None and run.instance.name == "elsewhere"
    assert reported["file"] == str(copy)
    assert {"file", "date", "device", "environment"} <= set(run.facts)
    assert reported["environment"]["cores"] >= 1


def test_a_solve_of_standard_input_names_no_file(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(EUROPE.read_bytes())))
    assert main(["solve", "-", "--climbers", "10", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["file"] is None


def test_a_result_at_hand_is_the_run_that_it_prints(reported: dict[str, Any], tmp_path: Path) -> None:
    [read] = read_runs([stored(tmp_path, reported)])
    result = pytsp.solve(pytsp.read(EUROPE), seed=1, climbers=20, solver="restarts", backend="c")
    run = Run.of(result)
    for name in ("tour", "lengths"):
        assert np.array_equal(getattr(run, name), getattr(read, name))
    assert run.facts["length"] == read.facts["length"]
    assert run.optimum == read.optimum


def test_the_instance_is_found_by_its_name_among_those_that_come_with_pytsp(
    reported: dict[str, Any], tmp_path: Path
) -> None:
    for file in (None, str(tmp_path / "gone.tsp")):
        [run] = read_runs([stored(tmp_path, {**reported, "file": file})])
        assert run.instance is not None and run.instance.name == "europe"


@pytest.mark.parametrize("name", ["trip.tour", "trip.opt.tour"])
def test_the_instance_of_a_tour_file_lies_beside_it(name: str, tmp_path: Path) -> None:
    (tmp_path / "trip.tsp").write_bytes(EUROPE.read_bytes())
    pytsp.write_tour(tmp_path / name, range(53))
    [run] = read_runs([str(tmp_path / name)])
    assert run.instance is not None
    assert run.facts == {"length": run.instance.tour_length(range(53))}
    assert run.label == "trip"


def test_an_open_path_of_places_in_a_table_is_read_back(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = tmp_path / "places.csv"
    table.write_text("latitude,longitude\n" + "".join(f"{10 + k * k % 7}.25,{k}.5\n" for k in range(9)))
    words = ["solve", str(table), "--metric", "GEO", "--open", "--backend", "c", "--climbers", "9", "--json"]
    assert main(words) == 0
    (tmp_path / "run.json").write_text(capsys.readouterr().out)
    [run] = read_runs([str(tmp_path / "run.json")])
    assert run.instance is not None
    assert (run.is_open, run.instance.metric, run.optimum) == (True, "GEO", None)
    assert run.facts["length"] == run.instance.path_length(run.tour) < run.instance.tour_length(run.tour)


def test_runs_of_one_instance_share_it(reported: dict[str, Any], tmp_path: Path) -> None:
    first, second = read_runs([stored(tmp_path, reported, "a.json"), stored(tmp_path, reported, "b.json")])
    assert first.instance is second.instance
    assert [run.instance for run in read_runs([stored(tmp_path, reported)], needs_instance=False)] == [None]


def test_standard_input_is_read(reported: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(json.dumps(reported).encode())))
    [run] = read_runs(["-"])
    assert run.tour.tolist() == reported["tour"]


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"tour": None}, "tour is not there, or no list"),
        ({"tour": []}, "at least one city"),
        ({"tour": [0, 0, 1]}, "visits city 0 2 times"),
        ({"tour": [0, 1.5]}, "must hold integers"),
        ({"tour": ["x"]}, "tour must hold finite numbers"),
        ({"tour": [[0], [1, 2]]}, "tour must hold numbers"),
        ({"tour": [0, 1, 2]}, "the tour has 3 cities, but 'europe' has 53"),
        ({"length": 7}, "the tour's length is said to be 7, but in 'europe' it is"),
        ({"length": "7"}, "length must be a finite number; it is '7'"),
        ({"length": True}, "length must be a finite number"),
        ({"seconds": float("nan")}, "seconds must be a finite number; it is nan"),
        ({"optimum": "?"}, "optimum must be a finite number"),
        ({"open": True}, "the tour's length is said to be"),
        ({"history": 3}, "history is not there, or no list"),
        ({"history": [[1, 2]]}, "history must hold"),
        ({"history": [[1, 2, float("inf")]]}, "history must hold finite numbers"),
        ({"lengths": {}}, "lengths is not there, or no list"),
        ({"file": None, "instance": "nowhere"}, "the instance 'nowhere' is not to be found; name its file with"),
        ({"file": "/no.tsp", "instance": "nowhere"}, r"not to be found \(looked for /no.tsp\)"),
    ],
)
def test_what_is_no_result_is_refused_with_its_place(
    changes: dict[str, Any], complaint: str, reported: dict[str, Any], tmp_path: Path
) -> None:
    path = stored(tmp_path, reported | changes)
    with pytest.raises(PytspError, match=complaint) as refusal:
        read_runs([path])
    assert str(refusal.value).startswith(f"{path}: ")


@pytest.mark.parametrize(("text", "complaint"), [("{", "this is no JSON"), ("[]", "this is a list"), ("", "empty")])
def test_what_is_no_object_is_refused(text: str, complaint: str, tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    path.write_text(text)
    with pytest.raises(PytspError, match=complaint):
        read_runs([str(path)])


def test_another_instance_is_refused(reported: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(PytspError, match="the tour has 53 cities, but 'capitals' has 242"):
        read_runs([stored(tmp_path, reported)], "capitals")
    assert datasets.find("capitals").is_file()


def test_labels_say_what_differs_and_are_never_equal(reported: dict[str, Any], tmp_path: Path) -> None:
    def labels(*changes: dict[str, Any]) -> list[str]:
        files = [stored(tmp_path, reported | each, f"{k}.json") for k, each in enumerate(changes)]
        return [run.label for run in read_runs(files)]

    assert labels({}) == ["0"]
    assert labels({}, {"seed": 2}) == ["seed 1", "seed 2"]
    assert labels({}, {"seed": 2, "solver": "ils"}) == ["restarts", "ils"]
    crossed = [{"seed": seed, "solver": solver, "k": None} for solver in ("eax", "ils") for seed in (1, 2)]
    assert labels(*crossed) == ["eax, seed 1", "eax, seed 2", "ils, seed 1", "ils, seed 2"]
    assert labels({}, {"k": None}) == ["0: k 1", "1"]
    assert labels({}, {}, {"seed": 2}) == ["0: seed 1", "1: seed 1", "2: seed 2"]
    [run] = read_runs([stored(tmp_path, reported)])
    assert [each.label for each in label_runs([run, run])] == ["run (1)", "run (2)"]
