"""The benchmarks: they run, they compute lengths anew, and they tell failures and differences."""

from __future__ import annotations

import argparse
import gzip
import json
import math
import os
import sys
import threading
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any

import emulated
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from processes import PATIENCE
from strategies import instances_with_tours

import pytsp
from bench.checks import equal, same
from bench.harness.arguments import numbers, whole
from bench.harness.curves import by_limit, gap_at, solved_by, within_runs
from bench.harness.rivals import MODULES, Answer, Task, answer, at_hand
from bench.harness.runs import Run
from bench.harness.shuffle import shuffled
from bench.harness.tables import duration
from bench.harness.workers import Failure, Worker
from bench.kernels import counters
from bench.papers import delevacq, rocki
from bench.solvers import batches, directed, large, peers
from bench.solvers.large_runs import BEST_KNOWN, UNIFORM, Line, made, measure
from pytsp import Instance, Result
from pytsp.backends import open_backend
from pytsp.problem.kernel_input import form_of
from pytsp.starts.construct import greedy

RUN = Run("pytsp c", "square", 4, 0, 1.0, 0.5, 110, 100, history=((0.1, 150), (0.5, 110)))


@given(instances_with_tours(), st.integers(0, 2**32))
def test_shuffling_keeps_lengths(case: tuple[Instance, NDArray[np.int32]], seed: int) -> None:
    instance, tour = case
    mixed, order = shuffled(instance, seed)
    assert instance.tour_length(order[tour]) == mixed.tour_length(tour)


def test_shuffling_is_by_seed_and_changes_the_order() -> None:
    instance = pytsp.generate.uniform(50, 0)
    orders = [shuffled(instance, seed)[1] for seed in (0, 0, 1)]
    assert np.array_equal(orders[0], orders[1])
    assert not np.array_equal(orders[0], orders[2])
    assert not np.array_equal(orders[0], np.arange(50))


def double(task: float) -> float:
    """Answer with twice the task; -1 fails, -2 dies, and 60 has no answer before anybody has given up waiting."""
    if task == -1:
        raise ValueError("first line\nsecond line")
    if task == -2:
        os._exit(7)
    if task == 60:
        threading.Event().wait(PATIENCE)
    return 2 * task


def test_a_worker_answers_and_survives_failures_deaths_and_delays() -> None:
    worker = Worker(double)
    try:
        assert worker.ask(0.01, PATIENCE) == 0.02
        with pytest.raises(Failure, match="^ValueError: first line$"):
            worker.ask(-1, PATIENCE)
        with pytest.raises(Failure, match=r"^its process died with exit code 7$"):
            worker.ask(-2, PATIENCE)
        with pytest.raises(Failure, match=r"^no answer in 0.1 s$"):
            worker.ask(60, 0.1)
        assert worker.ask(0, PATIENCE) == 0
    finally:
        worker.end()
    assert worker.process is None


@pytest.mark.parametrize("peer", ["pytsp c", "pytsp multicore", *MODULES])
def test_every_solver_returns_a_tour(peer: str) -> None:
    if not peer.startswith("pytsp") and peer not in at_hand():
        pytest.skip(f"{peer} is not installed")
    instance = pytsp.read("data/europe.tsp") if Path("data/europe.tsp").is_file() else pytsp.generate.uniform(50, 0)
    # OR-Tools' clock has no patience for less.
    found = answer(Task(instance, peer, 0.5, threads=1))
    assert pytsp.is_tour(found.tour, instance.n)
    assert found.seconds > 0
    assert [length for _, length in found.history][-1:] in ([], [instance.tour_length(found.tour)])


def test_gaps_and_times_of_a_run() -> None:
    assert RUN.gap == pytest.approx(10)
    assert [RUN.seconds_to(length) for length in (150, 149, 110, 109)] == [0.1, 0.5, 0.5, math.inf]
    assert replace(RUN, length=None).gap == replace(RUN, length=None).seconds_to(1000) == math.inf
    assert [gap_at(RUN, seconds) for seconds in (0.05, 0.1, 0.5)] == pytest.approx([math.inf, 50, 10])


def test_cells_tell_medians_spreads_seconds_and_failures() -> None:
    failed = replace(RUN, seed=2, length=None, problem="no answer in 61 s")
    full = replace(RUN, seed=1, seconds=1.0, length=104)
    assert peers.gap_cell([]) == "–"
    assert peers.gap_cell([failed]) == "no answer in 61 s"
    assert peers.gap_cell([full]) == "4.000"
    assert peers.gap_cell([replace(RUN, limit=None)]) == "10.000, 0.5 s"
    assert peers.gap_cell([full, replace(full, length=106), failed]) == "5.000 (4.000 … 6.000), 1 failed"
    assert peers.time_cell([RUN, full], 2, 10) == "0.5 s"
    assert peers.time_cell([RUN, full], 2, 5) == "not reached, 1 of 2"
    assert peers.time_cell([failed], 1, 5) == "no answer in 61 s"


FAKE_LINKERN = """\
#!{python}
import sys
words = dict(zip(sys.argv[2:-1:2], sys.argv[3:-1:2]))
n = int(next(line for line in open(sys.argv[-1]) if line.startswith("DIMENSION")).split(":")[1])
assert "-Q" in sys.argv and int(words["-s"]) == 4 and float(words["-t"]) == 0.1 and int(words["-R"]) >= 10**9
with open(words["-o"], "w") as file:
    print(n, n, *(f"\\n{{city}} {{(city + 1) % n}} 1" for city in range(n)), file=file, sep="")
sys.exit({code})
"""


@pytest.mark.parametrize("code", [0, 3])
def test_linkern_is_a_program_that_writes_its_tour(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    program = tmp_path / "lk"
    program.write_text(FAKE_LINKERN.format(python=sys.executable, code=code), encoding="ascii")
    program.chmod(0o755)
    monkeypatch.setenv("LINKERN", str(program))
    assert "linkern" in at_hand()
    task = Task(pytsp.read(folder / "square.tsp"), "linkern", 0.1, seed=3)
    if code == 0:
        found = answer(task)
        assert found.tour.tolist() == list(range(16)) and found.seconds > 0
    else:
        with pytest.raises(RuntimeError, match="linkern ended with 3"):
            answer(task)
    monkeypatch.setenv("LINKERN", str(tmp_path / "nowhere"))
    assert "linkern" not in at_hand()


def test_standings_tell_where_others_are_ahead() -> None:
    def runs(instance: str, *lengths: int | None) -> list[Run]:
        named = zip(("pytsp c", "one", "two"), lengths, strict=True)
        return [replace(RUN, peer=peer, instance=instance, optimum=10_000, length=length) for peer, length in named]

    plan = peers.Plan(["pytsp c", "one", "two"], [1.0], 1, 1, 0, (), None)
    reported = [
        *runs("a", 10_001, 10_002, 10_009),
        *runs("b", 10_004, 10_002, 10_003),
        *runs("c", 10_100, 10_200, 10_050),
    ]
    reported += runs("d", 10_001, None, None)
    assert list(peers.standings(reported, plan)) == [["pytsp c, 1 s", "1: a", "1: b", "1: c by 0.500"]]
    assert list(peers.standings(reported, replace(plan, peers=["pytsp c"]))) == []


def test_no_solver_is_told_the_optimum_but_for_a_target(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Task] = []

    class Asked:
        def ask(self, task: Task, _: float) -> Answer:
            asked.append(task)
            return Answer(np.arange(16), 0.1)

    instance = replace(pytsp.read(folder / "square.tsp"), optimum=160)
    plan = peers.Plan(["pytsp c"], [1.0], 1, 1, 0, (), None)
    for target in (None, 0.0, 10.0):
        list(peers.measure(instance, replace(plan, target=target), {"pytsp c": Asked()}))  # type: ignore[dict-item]
    assert [(task.instance.optimum, task.target) for task in asked] == [(None, None), (None, 160), (None, 176)]


def test_best_known_lengths_count_as_optima(folder: Path) -> None:
    challenge = peers.read(folder, "E10k.0")
    assert (challenge.name, challenge.n, challenge.optimum) == ("E10k.0", 10_000, BEST_KNOWN["E10k.0"])
    assert peers.read(folder, "square").n == 16
    with pytest.raises(SystemExit, match="E2k.0.tsp.gz is not in"):
        peers.read(folder, "E2k.0")


def test_curves_are_medians_over_seeds() -> None:
    other = replace(RUN, seed=1, length=100, history=((0.3, 100),))
    assert by_limit([RUN, other]) == [(1.0, pytest.approx(5))]
    seconds, gaps = zip(*within_runs([RUN, other]), strict=True)
    assert min(seconds) >= 0.3
    assert gaps[-1] == pytest.approx(5)
    assert within_runs([replace(RUN, history=((5.0, 100),))]) == []


@pytest.mark.parametrize("text", ["", "1,x", "0", "-1,2"])
def test_limits_that_are_none_are_refused(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match="positive numbers"):
        numbers(text)


@pytest.mark.parametrize(("text", "target"), [("optimum", 0), ("0.5", 0.5), ("1%", 1)])
def test_targets_are_the_optimum_or_per_cents(text: str, target: float) -> None:
    assert peers.gap(text) == target


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with square.tsp, sixteen cities of a lattice."""
    cities = "\n".join(f"{4 * y + x + 1} {10 * x} {10 * y}" for x in range(4) for y in range(4))
    lines = ("NAME: square", "TYPE: TSP", "DIMENSION: 16", "EDGE_WEIGHT_TYPE: EUC_2D", "NODE_COORD_SECTION", cities)
    (tmp_path / "square.tsp").write_text("\n".join((*lines, "EOF\n")), encoding="ascii")
    return tmp_path


def run(monkeypatch: pytest.MonkeyPatch, module: Any, *words: object) -> int:
    """Run a benchmark's main program."""
    monkeypatch.setattr(sys, "argv", [module.__name__, *map(str, words)])
    code: int = module.main()
    return code


def test_peers_stores_every_run(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    stored = folder / "runs.json"
    # So few cities are solved long before.
    words = ("--tsplib", folder, "--instances", "square", "--seconds", "500,600", "--seeds", 2, "--backend", "c")
    assert run(monkeypatch, peers, *words, "--peers", "", "--json", stored) == 0
    runs = json.loads(stored.read_text(encoding="utf-8"))["runs"]
    assert [(each["seed"], each["limit"], each["length"]) for each in runs] == [
        (0, 500, 160),
        (0, 600, 160),
        (1, 500, 160),
        (1, 600, 160),
    ]
    assert "| square | 16 |" in capsys.readouterr().out


def test_peers_plots(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("matplotlib")
    drawn = folder / "gaps.png"
    runs = [RUN, replace(RUN, seed=1), replace(RUN, peer="other", history=())]
    peers.draw(runs, drawn)
    assert drawn.stat().st_size > 1000
    stored, solved = folder / "stored.json", folder / "solved.png"
    stored.write_text(json.dumps({"runs": [asdict(each) for each in runs]}), encoding="utf-8")
    assert run(monkeypatch, peers, "--stored", stored, "--solved", solved) == 0
    assert solved.stat().st_size > 1000


def test_the_share_of_seeds_on_the_optimum_counts_those_that_never_came_there() -> None:
    reached = replace(RUN, length=RUN.optimum, history=((0.3, RUN.optimum),))
    sooner = replace(reached, seed=1, history=((0.1, 2 * RUN.optimum), (0.2, RUN.optimum)))
    missed = replace(RUN, seed=2, length=RUN.optimum + 1)
    shorter = replace(sooner, limit=0.5)
    shares = [(0.2, pytest.approx(100 / 3)), (0.3, pytest.approx(200 / 3))]
    assert solved_by([reached, sooner, missed, shorter]) == shares


def test_peers_refuses_solvers_that_are_not_there(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        run(monkeypatch, peers, "--tsplib", folder, "--peers", "concorde")
    assert "'concorde' is not here" in capsys.readouterr().err


def test_peers_refuses_to_plot_runs_to_a_target(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        run(monkeypatch, peers, "--tsplib", folder, "--target", "optimum", "--plot", folder / "gaps.png")
    assert "unlucky seeds" in capsys.readouterr().err


def test_delevacq_counts_optima_and_gaps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(delevacq, "read", lambda *_: replace(pytsp.generate.uniform(12, 0), optimum=1000))
    options = argparse.Namespace(
        table=1,
        total=100,
        exchange=delevacq.share("1/4"),
        restart=2,
        merge=True,
        moves="lk",
        draws=None,
        start="nearest-neighbour",
        kick="segments",
        mapping="thread",
        heat=0.5,
        seeds=4,
        backend="c",
        tsplib=Path(),
        until_optimum=False,
    )
    runs = delevacq.runs_of(options, "kroA100", 8)
    assert [run.seed for run in runs] == [0, 1, 2, 3]
    assert {(run.iterations, run.exchange, run.restart, run.merge, run.moves) for run in runs} == {
        (12, 3, 2, True, "lk")
    }
    for restart, each in ((11, 11), (12, None), (13, None)):
        options.restart = restart
        assert {run.restart for run in delevacq.runs_of(options, "kroA100", 8)} == {each}
    cities = pytsp.generate.uniform(12, 0)
    assert delevacq.solved(runs[0])[0] == pytsp.solve(cities, backend="c").length
    asked: list[Any] = []
    found = pytsp.solve(cities, backend="c")
    monkeypatch.setattr(pytsp, "solve", lambda *_, target, **__: asked.append(target) or found)
    for until_optimum in (False, True):
        delevacq.solved(replace(runs[0], until_optimum=until_optimum))
    assert asked == [None, 1000]
    line = delevacq.line_of(runs[0], [(1000, 2.0), (1010, 1.0), (1010, 0.5), (1000, 1.0)], (0.5, 0.5))
    assert (line.iterations, line.lengths, line.frequency, line.seconds) == (12, [1000, 1010, 1010, 1000], 0.5, 1.0)
    assert line.gap == pytest.approx(0.5)
    assert line.is_as_good
    assert not replace(line, theirs=0.51).is_as_good
    assert not replace(line, their_gap=0.499).is_as_good


@pytest.mark.slow
def test_delevacq_in_parts_and_processes_makes_one_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cities = "".join(f"{city} {city * city % 101} {city}\n" for city in range(1, 101))
    head = "NAME: kroA100\nTYPE: TSP\nDIMENSION: 100\nEDGE_WEIGHT_TYPE: EUC_2D\nNODE_COORD_SECTION\n"
    (tmp_path / "kroA100.tsp").write_text(f"{head}{cities}EOF\n", encoding="utf-8")
    words = ("--tsplib", tmp_path, "--instances", "kroA100", "--total", 80, "--seeds", 2, "--backend", "c")
    for file, populations, processes in (("whole", "1,8", 1), ("parts", "8", 2), ("parts", "1", 2), ("parts", "8", 1)):
        more = ("--populations", populations, "--processes", processes, "--json", tmp_path / file)
        assert run(monkeypatch, delevacq, *words, *more) == 0
    whole, parts = (json.loads((tmp_path / file).read_text())["rows"] for file in ("whole", "parts"))
    assert [each["population"] for each in parts] == [1, 8]
    for each in (*whole, *parts):
        assert each.pop("seconds") > 0
    assert whole == parts


@pytest.mark.parametrize("text", ["0", "-1", "1.5", "many"])
def test_numbers_that_are_none_are_refused(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match="a whole number, at least 1; it is"):
        whole(text)


@pytest.mark.parametrize("text", ["0", "1/0", "3/2", "-1/2", "half"])
def test_shares_that_are_none_are_refused(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match="share of the iterations, such as 1/32"):
        delevacq.share(text)


def test_delevacq_draws_as_many_moves_as_they_do(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    solve, drawn = pytsp.solve, []

    def record(instance: Instance, **options: Any) -> Result:
        drawn.append((options["pivot"], options["draws"]))
        return solve(instance, **options)

    monkeypatch.setattr(
        delevacq, "instance_of", lambda *_, **__: replace(pytsp.read(folder / "square.tsp"), optimum=160)
    )
    monkeypatch.setattr(delevacq.pytsp, "solve", record)
    words = ("--instances", "kroA100", "--populations", 8, "--total", 80, "--seeds", 1, "--backend", "c")
    for more, expected in (
        (("--table", 1), ("first", None)),
        (("--table", 3), ("random-k", 5500)),
        (("--table", 3, "--draws", 9), ("random-k", 9)),
    ):
        drawn.clear()
        assert run(monkeypatch, delevacq, *words, *more) == 0
        assert set(drawn) == {expected}
    assert capsys.readouterr().out.count("1 of 1 rows are at least as good as theirs") == 3
    with pytest.raises(SystemExit):
        run(monkeypatch, delevacq, *words, "--draws", 9)
    assert "--draws 9 is for table 3; table 1 draws no moves" in capsys.readouterr().err


def test_batches_tells_the_gap_to_optimal_tours(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lengths = np.array([1.1, 2.0])
    assert batches.gap_of(lengths, np.array([1.0, 2.0]), 9.0) == pytest.approx(5)
    assert batches.gap_of(lengths, None, 1.0) == pytest.approx(55)
    corners = np.array([[0, 0], [0, 1], [1, 1], [1, 0]], dtype=np.float64)
    np.savez(folder / "tsp500.npz", xy=np.stack([corners, corners[[0, 2, 1, 3]], 2 * corners]), optimal=[4.0, 4.0, 4.0])
    stored = folder / "batches.json"
    words = ("tsp500", "--folder", folder, "--seeds", 2, "--backend", "c", "--json", stored)
    assert run(monkeypatch, batches, *words) == 0
    rows = json.loads(stored.read_text(encoding="utf-8"))["rows"]
    assert [(each["seed"], each["gap, %"]) for each in rows] == [(1, 33.3333), (2, 33.3333)]
    assert "| LKH-3, CPU |" in capsys.readouterr().out
    with pytest.raises(SystemExit, match="tsp1000.npz is not in"):
        run(monkeypatch, batches, "tsp1000", "--folder", folder)


def test_the_cities_of_the_smallest_set_are_those_of_the_literature() -> None:
    points, optimal = batches.points_of("tsp100", Path())
    np.random.seed(1234)  # noqa: NPY002
    assert optimal is None and np.array_equal(points, np.random.uniform(size=(10_000, 100, 2)))  # noqa: NPY002


@pytest.mark.parametrize("kind", directed.KINDS)
def test_directed_draws_ways_that_differ_there_and_back(
    kind: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn = directed.ways(kind, 12, 3)
    assert drawn.dtype == np.int64 and drawn.min() >= 0 and (drawn != drawn.T).any()
    assert np.array_equal(drawn, directed.ways(kind, 12, 3))
    stored = folder / "directed.json"
    words = ("--cities", 12, "--seconds", 0.05, "--kinds", kind, "--backend", "c", "--json", stored)
    assert run(monkeypatch, directed, *words) == 0
    [reported] = json.loads(stored.read_text(encoding="utf-8"))["rows"]
    assert (reported["kind"], reported["n"], reported["limit, s"]) == (kind, 12, 0.05)
    assert reported["eax above ils, %"] == pytest.approx(100 * (reported["eax"] / reported["ils"] - 1), abs=0.01)


@pytest.mark.parametrize("field", ["tour", "lengths", "steps", "climber"])
def test_same_tells_a_difference(field: str, monkeypatch: pytest.MonkeyPatch) -> None:
    cities = pytsp.generate.uniform(20, 0)

    def solve(*_: object, backend: str, **__: object) -> Result:
        result = solve_really(cities, solver="restarts", climbers=5, backend="c")
        found = getattr(result, field)
        changed = found + 1 if field == "climber" else np.append(found[:-1], found[-1] + 1)
        return replace(result, **{field: changed}) if backend == "multicore" else result

    solve_really = pytsp.solve
    monkeypatch.setattr(same.pytsp, "solve", solve)
    case: same.Case = ("restarts", "cities", {"k": 1}, partial(same.solved, cities, {"k": 1}))
    assert same.compared([case], ["c", "c"])[::2] == (1, [])
    assert same.compared([case], ["c", "multicore"])[::2] == (1, ["multicore differs from c with {'k': 1}"])


def test_same_runs_every_solver_on_every_form(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    given = list(same.instances(folder))
    assert [form_of(instance).kind for instance in given] == list(same.FORMS)
    every = list(same.cases(given, 4, 2))
    assert {case[0] for case in every} == {"ils", "eax", "restarts", "annealing", "ants", "solve_many"}
    # One of each solver is enough here; the program itself runs them all.
    few = [
        next(case for case in every if case[0] == solver)
        for solver in ("ils", "restarts", "annealing", "ants", "solve_many")
    ]
    monkeypatch.setattr(same, "cases", lambda *_: iter(few))
    assert run(monkeypatch, same, "--tsplib", folder, "--backends", "multicore") == 0
    assert capsys.readouterr().out.count("yes") == len(few)


def test_rocki_cuts_descents_and_compares_backends(tmp_path: Path) -> None:
    instance = pytsp.generate.uniform(300, 0)
    kernels = open_backend("c")
    start = greedy(instance)
    line = rocki.measure(instance, start, kernels, 1, 60)
    assert (line.n, line.is_cut, line.passes) == (300, False, line.moves + 1)
    assert line.initial == instance.tour_length(start) > line.length
    assert line.checks == pytest.approx(300 * 297 / 2 / line.pass_seconds)
    cut = rocki.measure(pytsp.generate.uniform(30_000, 0), np.arange(30_000, dtype=np.int32), kernels, 1, 0.2)
    assert cut.is_cut
    assert rocki.differences(instance, start, kernels, open_backend("multicore"), "inf", 3) == []
    other = pytsp.random_tours(300, 1, 0)[0]
    descent, _ = rocki.descend(instance, other, kernels, "inf", 2, 60)
    assert descent.standing.passes == 2
    assert "cut at" in rocki.show(replace(cut, instance="pr2392"))
    assert duration(0.000363) == "363 µs"
    assert duration(26497) == "26497 s"


def test_rocki_prints_their_table(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: Any) -> None:
    monkeypatch.setattr(rocki, "instance_of", lambda folder, name: replace(pytsp.generate.uniform(52, 0), name=name))
    file = tmp_path / "table.json"
    words = ["rocki", "--instances", "berlin52", "--backend", "c", "--k", "1,inf", "--check", "multicore"]
    monkeypatch.setattr(sys, "argv", [*words, "--json", str(file)])
    assert rocki.main() == 0
    assert "after 3 passes on c and multicore: the same" in capsys.readouterr().out
    stored = json.loads(file.read_text(encoding="utf-8"))
    assert [each["k"] for each in stored["rows"]] == [1, "inf"]
    assert stored["rows"][0]["theirs"]["length"] == 8930


def large_line(**changes: Any) -> Line:
    """A run of ten seconds that had tours 20 and 5 % over the best known."""
    given = {"instance": "E10k.0", "backend": "c", "n": 10_000, "seed": 0, "limit": 10.0, "read": 0.1, "listed": 0.2}
    ends = {"renumbered": 0.1, "begins": 0.5, "seconds": 9.5, "rounds": 7, "length": 105, "best_known": 100}
    flags = {"is_valid": True, "is_exact": True, "is_optimum": True, "mebibytes": 80.0}
    return Line(**(given | ends | flags | {"history": ((0.5, 120), (4.0, 105))} | changes))


def test_large_tells_gaps_inside_a_run() -> None:
    line = large_line()
    assert [line.gap_at(moment) for moment in (0.5, 3, 4, 10)] == pytest.approx([20, 20, 5, 5])
    assert all(math.isnan(line.gap_at(moment)) for moment in (0.4, 11))
    assert math.isnan(large_line(limit=None).gap_at(3))
    assert math.isnan(large_line(best_known=None).gap_at(3))
    assert "| 5.000 |  | 20.00 | 5.00 |  |" in large.show(large_line(history=((1.5, 120), (4.0, 105))))
    assert large.show_scaling(large_line(limit=None)).startswith("| 10000 | 7 | 50.00 | 900.00 | 950.00 |")


def test_large_knows_the_instances_of_the_challenge(folder: Path) -> None:
    assert set(UNIFORM) < set(BEST_KNOWN)
    assert made("uniform-50", folder).name == "portgen-50-50"
    assert made("square", folder).n == 16
    with pytest.raises(FileNotFoundError, match="circle.tsp.gz is not in"):
        made("circle", folder)


def test_large_measures_every_seed_and_limit_and_compares_backends(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    task = large.Task("uniform-300", folder, "c", (0.1, 0.2), 2, 2, 100, "multicore")
    lines, is_equal = measure(task)
    assert is_equal
    assert [(line.seed, line.limit, line.n) for line in lines] == [
        (s, limit, 300) for s in (0, 1) for limit in (0.1, 0.2)
    ]
    assert all(line.is_valid and line.is_exact and line.mebibytes > 1 for line in lines)
    assert all(0 < line.begins == line.history[0][0] <= line.seconds for line in lines)
    assert all(line.length == line.history[-1][1] for line in lines)
    (rounds,), _ = measure(replace(task, limits=(), seeds=1, check=None))
    assert (rounds.limit, rounds.rounds, rounds.is_optimum) == (None, 2, True)
    solve = pytsp.solve

    def differ(instance: Instance, **options: Any) -> Result:
        return solve(instance, **(options | {"seed": int(options["backend"] == "multicore")}))

    monkeypatch.setattr(pytsp, "solve", differ)
    assert measure(replace(task, limits=(), seeds=1))[1] is False


def test_large_stores_runs_and_tells_what_is_wrong(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    stored, scaling = folder / "runs.json", folder / "scaling.png"
    words = ("--tsplib", folder, "--backend", "c", "--instances", "square,circle", "--seconds", 0.1, "--rounds", 1)
    more = ("--check", "multicore", "--sizes", "20,30", "--scaling", scaling, "--json", stored)
    assert run(monkeypatch, large, *words, *more) == 1
    shown = capsys.readouterr().out
    assert "square: after 1 rounds on multicore: the same" in shown
    assert "circle: FileNotFoundError" in shown
    reported = json.loads(stored.read_text(encoding="utf-8"))
    assert [each["n"] for each in reported["runs"]] == [16, 20, 30]
    assert len(reported["wrong"]) == 1


def test_large_draws_what_is_stored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    stored, gaps, scaling = (tmp_path / name for name in ("runs.json", "gaps.png", "scaling.png"))
    lines = [large_line(), large_line(seed=1), large_line(limit=None, n=1000), large_line(limit=None)]
    stored.write_text(json.dumps({"runs": [asdict(line) for line in lines]}), encoding="utf-8")
    words = ("--stored", stored, "--plot", gaps, "--scaling", scaling)
    with monkeypatch.context() as without:
        without.setattr(large, "find_spec", lambda _: None)
        assert run(without, large, *words) == 0
    assert "not drawn: matplotlib is not installed" in capsys.readouterr().out
    pytest.importorskip("matplotlib")
    assert run(monkeypatch, large, *words) == 0
    assert min(gaps.stat().st_size, scaling.stat().st_size) > 1000


def test_counters_reads_what_ncu_prints() -> None:
    names = ["ID", "Kernel Name", *reversed(counters.METRICS.values())]
    values = [f"{1000 * place:,}" for place in range(len(counters.METRICS))]
    table = [names, [""] * len(names), ["0", "climb_block", *values], ["1", "climb_block", *reversed(values)]]
    lines = [",".join(f'"{cell}"' for cell in line) for line in table]
    found = counters.counted("\n".join(["==PROF== Connected", *lines, "==PROF== Disconnected"]))
    keys = list(counters.METRICS)
    assert found[0] == {key: 1000 * (len(keys) - 1 - place) for place, key in enumerate(keys)}
    assert found[1] == {key: 1000 * place for place, key in enumerate(keys)}


def test_counters_says_what_ncu_said_instead() -> None:
    with pytest.raises(SystemExit, match="permission"):
        counters.counted("==ERROR== no permission to access counters")


def test_equal_tells_a_climb_that_differs(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "square.tsp.gz").write_bytes(gzip.compress((folder / "square.tsp").read_bytes()))
    stored = folder / "equal.json"
    words = ("--tsplib", folder, "--backend", "multicore", "--climbers", 20, "--jobs", 1, "--json", stored)
    assert run(monkeypatch, equal, *words) == 0
    assert [
        (reported["k"], reported["equal"]) for reported in json.loads(stored.read_text(encoding="utf-8"))["rows"]
    ] == [
        ("1", "yes"),
        ("8", "yes"),
        ("inf", "yes"),
    ]
    honest = pytsp.solve

    def astray(instance: Instance, **options: Any) -> Result:
        # In this process only; the c backend climbs in others.
        found = honest(instance, **options)
        lengths = found.lengths.copy()
        lengths[-1] += options["k"] == 8
        return replace(found, lengths=lengths)

    monkeypatch.setattr(pytsp, "solve", astray)
    assert run(monkeypatch, equal, *words) == 1
    # With k = 1 also by each of the four other neighbourhoods.
    assert "140 climbs compared, 1 rows differ" in capsys.readouterr().out


@pytest.mark.parametrize("name", [emulated.NAMED])
def test_equal_takes_blocks_of_every_shape_where_a_gpu_is(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    form = form_of(Instance.from_coordinates(np.random.default_rng(0).integers(0, 99, (30, 2)), metric="EUC_2D"))
    kernels = open_backend(name)
    assert kernels.device is not None
    small = equal.by_turns(form, kernels)
    monkeypatch.setattr(kernels, "device", replace(kernels.device, shared_memory=227 * 2**10))
    shapes = equal.by_turns(form, kernels)
    assert shapes == [{"blocks": equal.BLOCKS, "lanes": a, "rows": b} for a in (32, 128, 512) for b in (3, 7)]
    # A block of 512 lanes and 7 rows needs more than the least that a GPU has.
    assert small == shapes[:-1]
    assert equal.by_turns(form, open_backend("c")) == []


@pytest.mark.parametrize("name", [emulated.NAMED])
def test_equal_tells_a_block_that_differs(name: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = folder / "thirty.tsp.gz"
    points = np.random.default_rng(0).integers(0, 99, (30, 2))
    lines = "".join(f"{city + 1} {x} {y}\n" for city, (x, y) in enumerate(points))
    head = "NAME: thirty\nTYPE: TSP\nDIMENSION: 30\nEDGE_WEIGHT_TYPE: EUC_2D\nNODE_COORD_SECTION\n"
    file.write_bytes(gzip.compress(f"{head}{lines}EOF\n".encode()))
    parts = [equal.ends(file, "c", 0, 4, k=8)]
    reported, compared = equal.compare(file, 8, 4, open_backend(name), parts)
    assert (reported["equal"], compared) == ("yes", 4 * (2 + 5))
    honest = pytsp.solve

    def astray(instance: Instance, **options: Any) -> Result:
        found = honest(instance, **options)
        return replace(found, steps=found.steps + (options.get("lanes") == 128))

    monkeypatch.setattr(pytsp, "solve", astray)
    assert equal.compare(file, 8, 4, open_backend(name), parts)[0]["equal"] == "NO"


def test_equal_does_not_do_without_instances(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SystemExit, match="holds no such"):
        run(monkeypatch, equal, "--tsplib", folder)
