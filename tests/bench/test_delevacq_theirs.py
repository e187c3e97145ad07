"""Delévacq, Delisle and Krajecki's own algorithm: what the solver is asked for, and how populations are shared out."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from checkout import needs_checkout

needs_checkout("bench", "docs")

import pytsp  # noqa: E402
from bench.papers import delevacq, delevacq_theirs  # noqa: E402
from pytsp.solvers.common.starting_tours import NEAREST_NEIGHBOUR_CLIMBERS  # noqa: E402

NAME = "kroA100"


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """The options of each solve; lengths fall by one a solve of a population's part."""
    reported: list[dict[str, Any]] = []
    solve = pytsp.solve

    def record(instance: pytsp.Instance, **options: Any) -> pytsp.Result:
        if "acceptance" in options:
            reported.append(options)
        return solve(instance, **options)

    instance = replace(pytsp.generate.uniform(100, 3), name=NAME, optimum=1)
    monkeypatch.setattr(delevacq, "instance_of", lambda *_, **__: instance)
    monkeypatch.setattr(delevacq_theirs.pytsp, "solve", record)
    delevacq.read.cache_clear()
    return reported


def run(monkeypatch: pytest.MonkeyPatch, *words: object) -> int:
    """Run the program."""
    monkeypatch.setattr("sys.argv", ["delevacq_theirs", *map(str, words)])
    return delevacq_theirs.main()


def test_the_solver_is_asked_for_their_algorithm(
    asked: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    words = ("--instances", NAME, "--backend", "c", "--total", 640, "--json", tmp_path / "rows.json")
    assert run(monkeypatch, *words, "--populations", "8,512", "--seeds", 2) == 0
    for options in asked:
        assert {name: options[name] for name in ("solver", "moves", "pivot", "start", "kick", "acceptance")} == {
            "solver": "ils",
            "moves": "3-opt",
            "pivot": "first",
            "start": "nearest-neighbour",
            "kick": "anywhere",
            "acceptance": "shorter",
        }
        assert (options["neighbours"], options["quadrants"], options.get("temperature")) == (40, False, None)
    # Every climber of a part starts from a nearest-neighbour tour, and no two parts draw the same numbers.
    most = NEAREST_NEIGHBOUR_CLIMBERS
    assert [each["climbers"] for each in asked] == [8, 8, *[most] * (2 * 512 // most)]
    assert [each["iterations"] for each in asked] == [80, 80, *[1] * (2 * 512 // most)]
    assert len({each["seed"] for each in asked[2:]}) == 2 * 512 // most
    rows = json.loads((tmp_path / "rows.json").read_text(encoding="utf-8"))["rows"]
    assert [(each["population"], len(each["lengths"])) for each in rows] == [(8, 2), (512, 2)]


def test_the_best_part_counts_and_an_optimum_ends_a_run(asked: list[dict[str, Any]]) -> None:
    seen = delevacq.read(Path(), NAME)
    run = replace(made(), population=3 * NEAREST_NEIGHBOUR_CLIMBERS, iterations=2)
    length, seconds = delevacq_theirs.solved(run)
    parts = [delevacq_theirs.solved(replace(run, population=each))[0] for each in (NEAREST_NEIGHBOUR_CLIMBERS,)]
    assert length <= min(parts) and seconds > 0 and len(asked) == 4
    # The whole is as short as its best part.
    mixed = [pytsp.solve(delevacq_theirs.shuffled(seen, run.seed)[0], **options).length for options in asked[:3]]
    assert length == min(mixed)
    asked.clear()
    first = replace(seen, optimum=parts[0])
    delevacq.read.cache_clear()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(delevacq, "instance_of", lambda *_, **__: first)
        assert delevacq_theirs.solved(run)[0] == parts[0] and len(asked) == 1


def made() -> delevacq.Run:
    """A run of a small population."""
    return delevacq.Run(Path(), NAME, 8, 5, None, None, False, 1, "c", "first", None)


@pytest.mark.parametrize(("n", "seeds"), [(999, 20), (1_000, 10)])
def test_there_are_as_many_seeds_as_they_had_trials(n: int, seeds: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(delevacq_theirs, "read", lambda *_: pytsp.generate.uniform(n, 0))
    runs = delevacq_theirs.runs_of(delevacq_theirs.arguments().parse_args([]), NAME, 8)
    assert [run.seed for run in runs] == list(range(seeds))
    assert {run.iterations for run in runs} == {2**20 // 8}


def test_what_is_not_in_their_tables_is_refused(
    asked: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for words in (("--instances", "pr76"), ("--populations", "7")):
        with pytest.raises(SystemExit):
            run(monkeypatch, *words)
        assert f"{words[1]} is not in their tables" in capsys.readouterr().err
