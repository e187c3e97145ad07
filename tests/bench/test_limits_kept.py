"""The check of limits: kinds of instances, their nearest-neighbour tours, and which runs break what is promised."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from checkout import needs_checkout
from hypothesis import given
from hypothesis import strategies as st

import pytsp
from pytsp.cli import commands as cli
from pytsp.cli.arguments import city_of

needs_checkout("bench")

from bench.checks import limits  # noqa: E402
from bench.harness.kinds import KINDS  # noqa: E402

MEGA = 10**6
RUN = limits.Run("plane", 9, 1.0, "auto", "c", 0.1, 100.0, 200 * MEGA, 1.0, 90.0, 100 * MEGA, "time limit")
EVERY = st.sampled_from(sorted(KINDS))


@given(EVERY, st.integers(2, 70), st.integers(0, 9))
def test_the_nearest_neighbour_tour_goes_to_the_nearest_city_that_waits(name: str, n: int, seed: int) -> None:
    kind = KINDS[name]
    instance = kind.instance(n, seed)
    order = kind.nearest_neighbour(instance)
    first, *last = kind.given_ends(n) or [0]
    assert pytsp.is_tour(order, n)
    assert [order[0], *order[n - len(last) :]] == [first, *last]
    d = instance.distance_matrix()
    for step in range(1, n - len(last)):
        waiting = order[step : n - len(last)]
        # Chords are not rounded as GEO's whole kilometres are, which its π makes a little shorter.
        slack = 1 if instance.metric == "GEO" else 1e-9 * d.max()
        assert d[order[step - 1], order[step]] <= d[order[step - 1], waiting].min() + slack


@given(EVERY, st.integers(2, 30), st.integers(0, 9))
def test_a_path_has_no_way_back_and_a_directed_tour_one_direction(name: str, n: int, seed: int) -> None:
    kind = KINDS[name]
    instance = kind.instance(n, seed)
    d, tour = instance.distance_matrix(), np.random.default_rng(seed).permutation(n)
    along = d[tour[:-1], tour[1:]].sum() + (d[tour[-1], tour[0]] if kind.ends is None else 0)
    assert kind.length(instance, tour) == pytest.approx(along)


def test_there_is_every_kind() -> None:
    drawn = {name: kind.instance(5, 0) for name, kind in KINDS.items()}
    assert {instance.metric for instance in drawn.values()} == {
        *("EUC_2D", "EUCLIDEAN", "HAVERSINE", "GEO", "EUC_3D", "ATT", "EXPLICIT")
    }
    assert {(drawn[name].asymmetric, kind.ends) for name, kind in KINDS.items() if kind.metric is None} == {
        (is_asymmetric, ends) for is_asymmetric in (False, True) for ends in (None, (), (0,), (0, -1))
    }
    assert {drawn[name].is_exact for name in KINDS if "float" in name} == {False}


@pytest.mark.parametrize("name", KINDS)
def test_the_command_line_reads_the_instance_that_was_drawn(name: str, tmp_path: Path) -> None:
    kind = KINDS[name]
    file, instance = kind.write(tmp_path, 6, 3, name)
    read = cli._parser().parse_args(["solve", str(file), *kind.words(6)])
    again = pytsp.read(file, metric=read.metric, asymmetric=read.asymmetric)
    assert np.array_equal(again.distance_matrix(), instance.distance_matrix())
    ends = {"open": kind.ends is not None, "start_city": 0 if kind.ends else None}
    ends["end_city"] = 5 if kind.ends == (0, -1) else None
    assert ends == {**dict.fromkeys(ends), "open": False} | kind.options(6)
    named = {name: city_of(instance, name, getattr(read, name)) for name in ("start_city", "end_city")}
    assert ends == {"open": read.open, **named}
    found = pytsp.solve(instance, backend="c", time_limit=0.2, **kind.options(6))  # type: ignore[arg-type]
    # Kernels compare lengths to a precision of 2**-28.
    nearest = kind.length(instance, kind.nearest_neighbour(instance))
    assert found.length == kind.length(instance, found.tour) <= nearest * (1 + 1e-7)


def test_what_is_late_worse_or_above() -> None:
    edge = limits.SECONDS + limits.SHARE * RUN.limit
    assert RUN.verdicts == ()
    assert replace(RUN, seconds=RUN.limit + edge - 1e-9).verdicts == ()
    assert replace(RUN, seconds=RUN.limit + edge + 1e-9).verdicts == ("LATE",)
    assert replace(RUN, length=100 * (1 + 0.9e-5)).verdicts == ()
    assert replace(RUN, length=100 * (1 + 1.1e-5)).verdicts == ("WORSE",)
    assert replace(RUN, length=200.0, solver="restarts").verdicts == ()
    assert replace(RUN, bytes=200 * MEGA).verdicts == ()
    assert replace(RUN, bytes=200 * MEGA + 1).verdicts == ("ABOVE",)
    assert replace(RUN, seconds=2.0, length=101.0, bytes=201 * MEGA).verdicts == ("LATE", "WORSE", "ABOVE")
    assert replace(RUN, problem="exit code 1").verdicts == ("FAILED",)


def test_a_limit_below_the_shortest_run_excuses_what_that_takes_and_how_long_the_tour_is() -> None:
    assert replace(RUN, length=101.0, least=1.0).verdicts == ("WORSE",)
    assert replace(RUN, length=101.0, least=1.0 + 1e-9).verdicts == ("TOO SHORT",)
    late = replace(RUN, seconds=2.0)
    edge = limits.SECONDS + limits.SHARE * RUN.limit
    assert replace(late, least=2.0 - edge + 1e-9).verdicts == ("TOO SHORT",)
    assert replace(late, least=2.0 - edge - 1e-9).verdicts == ("LATE",)
    assert replace(late, length=101.0, least=1.5).verdicts == ("LATE",)
    assert replace(late, least=2.0, bytes=201 * MEGA).verdicts == ("ABOVE", "TOO SHORT")
    assert replace(RUN, least=1.5).verdicts == ()


def test_all_cities_in_one_place_are_no_worse() -> None:
    assert replace(RUN, nearest=0.0, length=0.0).verdicts == ()


@pytest.mark.parametrize(
    ("name", "distances"), [("plane", 0), ("geo", 100), ("matrix", 100), ("plane-path", 121), ("asymmetric", 400)]
)
def test_the_bound_is_that_of_the_matrix_that_is_needed(name: str, distances: int) -> None:
    assert KINDS[name].distances(10, "auto") == distances
    assert (KINDS[name].distances(1_501, "ils") == 0) == (name in ("plane", "geo", "plane-path"))
    assert (KINDS[name].distances(1_501, "restarts") == 0) == (name == "plane")
    whole, real = (limits.bound_of(10, distances, is_exact=is_exact) for is_exact in (True, False))
    assert (whole, real) == (150 * MEGA + 5000 + 30 * distances, 150 * MEGA + 5000 + 60 * distances)


def test_seconds_memory_and_failures_are_those_of_the_process(monkeypatch: pytest.MonkeyPatch) -> None:
    program = "import sys, time; held = bytearray(int(sys.argv[1])); time.sleep(0.1); print(len(held))"
    monkeypatch.setitem(limits.COMMANDS, "wall", [sys.executable, "-c", program])
    # What the process that measures holds does not count.
    ours = np.ones(400 * MEGA, np.uint8)
    seconds, held, printed, problem = limits.measured("wall", str(100 * MEGA))
    assert seconds > 0.1
    assert 100 * MEGA < held < ours.nbytes
    assert (printed, problem) == (f"{100 * MEGA}\n", "")
    assert limits.measured("wall", "many")[3].startswith("ValueError: invalid literal")
    monkeypatch.setitem(limits.COMMANDS, "wall", [sys.executable, "-c", "import os; os._exit(7)"])
    assert limits.measured("wall")[3] == "exit code 7"


@pytest.mark.timed
def test_by_the_processor_s_clock_only_work_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    program = "import os, time; time.sleep(1.0); print(len(os.sched_getaffinity(0)))"
    monkeypatch.setitem(limits.COMMANDS, "processor", [sys.executable, "-c", program])
    seconds, _, printed, problem = limits.measured("processor")
    assert (seconds < 0.9, printed, problem) == (True, "1\n", "")
    assert "time.process_time" in limits.BY_PROCESSOR


def options(**changes: object) -> argparse.Namespace:
    """Options of the command line."""
    given_ = {"pairs": 400, "kinds": ",".join(KINDS), "solvers": ",".join(limits.SOLVERS), "backends": "c,multicore"}
    return argparse.Namespace(
        **(given_ | {"shortest": 0.1, "longest": 10.0, "most": 200_000, "least": 5, "seed": 0} | changes)
    )


def test_every_kind_solver_and_backend_is_drawn_within_its_bounds() -> None:
    every = list(limits.asked_for(options()))
    names, sizes, seconds, solvers, backends = map(set, zip(*every, strict=True))
    assert (names, solvers, backends) == ({*KINDS}, {*limits.SOLVERS}, {"c", "multicore"})
    assert min(seconds) >= 0.1 and max(seconds) <= 10
    assert min(sizes) == 5 and max(sizes) == 200_000
    for name, n, _, solver, _ in every:
        assert n <= min(KINDS[name].most, limits.SOLVERS[solver]) and KINDS[name].takes(solver)
    assert sum(solver == "auto" for *_, solver, _ in every) > 200
    assert {solver for *_, solver, _ in limits.asked_for(options(solvers="ils", most=8000))} == {"ils"}
    assert {solver for *_, solver, _ in limits.asked_for(options(solvers="auto"))} == {"auto"}
    assert list(limits.asked_for(options(seed=1))) != every == list(limits.asked_for(options()))


def run(monkeypatch: pytest.MonkeyPatch, *words: object) -> int:
    """Run the program."""
    monkeypatch.setattr(sys, "argv", ["limits", *map(str, words)])
    return limits.main()


@pytest.mark.slow
def test_the_program_prints_a_table_by_kind_and_stores_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    stored = tmp_path / "runs.json"
    words = ("--kinds", "geo,asymmetric-path", "--pairs", 4, "--most", 52, "--shortest", 1, "--longest", 1.2)
    run(monkeypatch, *words, "--backends", "c", "--solvers", "auto", "--json", stored)
    reported = json.loads(stored.read_text(encoding="utf-8"))["runs"]
    assert (
        sorted((each["kind"], each["problem"]) for each in reported)
        == [("asymmetric-path", "")] * 2 + [("geo", "")] * 2
    )
    assert all(0 < each["length"] <= (1 + 1e-5) * each["nearest"] for each in reported)
    assert all(each["least"] > 0.1 and min(each["bytes"], each["bound"]) > 20 * MEGA for each in reported)
    shown = capsys.readouterr().out
    assert all(f"\n| {name} | {count} | " in shown for name, count in (("geo", 2), ("asymmetric-path", 2), ("all", 4)))


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({}, 0),
        ({"seconds": 2.0}, 1),
        ({"length": 101.0}, 1),
        ({"bytes": 201 * MEGA}, 1),
        ({"problem": "pytsp: the memory does not suffice"}, 1),
        ({"seconds": 2.0, "least": 1.9}, 0),
    ],
)
def test_the_exit_code_tells_whether_promises_were_kept(
    changes: dict[str, object], code: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(limits, "ran", lambda *_: replace(RUN, **changes))  # type: ignore[arg-type]
    monkeypatch.setattr(limits, "measured", lambda *_: (0.1, MEGA, "", ""))
    monkeypatch.setattr(
        limits, "Worker", lambda _: SimpleNamespace(ask=lambda *_: limits.Drawn("", 1.0, True), end=lambda: None)
    )
    words = ("--kinds", "plane", "--pairs", 1, "--most", 5)
    assert run(monkeypatch, *words) == code
    *_, reported = capsys.readouterr().out.rstrip().splitlines()
    assert reported.startswith("Run(" if code else "| all | 1 |")


def test_kinds_and_solvers_that_are_none_are_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for option in ("kinds", "solvers"):
        with pytest.raises(SystemExit):
            run(monkeypatch, f"--{option}", "plain")
        assert f"argument --{option}: 'plain' is not known; known: " in capsys.readouterr().err
