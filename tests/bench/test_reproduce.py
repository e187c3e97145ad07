"""The papers' reproductions: command line, tables of tiny budgets, what is stored, and the pages that show it."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import emulated
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import pytsp
from bench.harness.machine import TSPLIB
from bench.papers import (
    delevacq,
    delevacq2012,
    oneil2011,
    pages,
    robinson2018,
    robinson2018_blocks,
    robinson2018_threads,
    rocki,
    rocki2013,
    utne2023,
    utne2023_speed,
)
from bench.papers.instances import instance_of
from bench.papers.reproduce import PAPERS, arguments, main, reproduce
from bench.papers.tables import Column, Figure, Report, Series, Table, columns, stored
from bench.papers.task import Task, round_down
from bench.papers.utne2023_others import formula
from bench.papers.utne2023_tours import printed_tour, shared_edges
from pytsp import is_tour
from pytsp.backends import open_backend
from pytsp.starts.construct import greedy

CELLS = st.one_of(
    st.none(), st.text("abc |", max_size=4), st.integers(), st.floats(allow_nan=False, allow_infinity=False)
)


def test_arguments_have_defaults_and_refuse_what_is_none(capsys: pytest.CaptureFixture[str]) -> None:
    reported = arguments().parse_args(["rocki2013", "--backend", "c", "--seconds", "2.5"])
    assert (reported.paper, reported.backend, reported.seconds, reported.full, reported.seed) == (
        "rocki2013",
        "c",
        2.5,
        False,
        0,
    )
    for words in (["rocki"], [], ["utne2023", "--seconds", "0"], ["utne2023", "--seconds", "nan"]):
        with pytest.raises(SystemExit):
            arguments().parse_args(words)
    assert "must be a number of seconds above 0; it is 'nan'" in capsys.readouterr().err


@settings(max_examples=25)
@given(st.lists(st.lists(CELLS, min_size=2, max_size=2), max_size=4), st.lists(st.text(max_size=5), max_size=2))
def test_stored_reports_read_back_into_the_same_markdown(
    tmp_path_factory: pytest.TempPathFactory, rows: list[list[str | int | float | None]], left_out: list[str]
) -> None:
    table = Table("Title", "Note.", columns("a|", "b|"), rows, left_out)
    figure = Figure("name", "Title", "x", "y", ("log", "linear"), [Series("line", [1.0, 2.0], [0.5, 0.25])])
    report = Report("paper", "reference", "machine", "command", 3, 1.5, [table], [figure])
    file = tmp_path_factory.mktemp("report") / "report.json"
    report.store(file)
    assert stored(file) == report
    assert stored(file).markdown() == report.markdown()


def test_cells_are_written_by_their_column() -> None:
    assert Column("a", ",").write(12345) == "12,345"
    assert Column("a", ".2f").write(1.005) == "1.00"
    assert Column("a", "time").write(0.0025) == "2.5 ms"
    assert Column("a", ".2f").write(None) == ""
    assert Column("a", ".2f").write("inf") == "inf"


@given(st.floats(1, 1e7))
@example(math.nextafter(1000, 0))
def test_round_down_leaves_less_than_three_fifths_away(number: float) -> None:
    found = round_down(number)
    assert found <= number < 2.5 * found
    assert str(found).rstrip("0") in {"1", "2", "5"}


def test_round_down_keeps_one() -> None:
    assert [round_down(number) for number in (0, 0.99, 1, 1.99, 2, 5, 9.99, 10)] == [1, 1, 1, 1, 2, 5, 5, 10]


def test_climbers_fit_or_are_one() -> None:
    instance, task = instance_of(TSPLIB, "berlin52"), Task("c")
    assert task.fitting(instance, math.inf, 12_345) == 12_345
    assert task.fitting(instance, 0.0, 12_345) == 1
    assert 1 < task.fitting(instance, 0.2, 10**9) < 10**9


@given(st.lists(st.integers(0, 50), min_size=1, max_size=7), st.data())
def test_expected_shortest_is_the_mean_over_all_choices(lengths: list[int], data: st.DataObject) -> None:
    count = data.draw(st.integers(1, len(lengths)))
    choices = [min(chosen) for chosen in itertools.combinations(lengths, count)]
    found = utne2023.expected_shortest(np.array(lengths, np.int64), count)
    assert math.isclose(found, sum(choices) / len(choices), abs_tol=1e-6)


def their_moves(n: int, kind: type[np.float32 | np.float64]) -> Iterator[tuple[Any, Any, Any]]:
    """The moves of n cities, a million at a time: i by the listing of appendix A, and the true i and j."""
    rows = np.arange(n - 2)
    starts = rows * (n - 2) - rows * (rows - 1) // 2
    total = (n - 1) * (n - 2) // 2
    for first in range(0, total, 10**6):
        ind = np.arange(first, min(first + 10**6, total))
        d = 1 - (4 * (-2 * (total - ind)))
        tmp = (((-1 + np.sqrt(d.astype(kind))) / 2).astype(np.float64) + 0.9999).astype(kind)
        i = np.searchsorted(starts, ind, "right") - 1
        yield (n - 2) - tmp.astype(np.int64), i, i + 2 + ind - starts[i]


def test_the_true_moves_of_a_numbering_are_those_of_two_loops() -> None:
    (_, i, j), *_ = their_moves(10, np.float64)
    assert list(zip(i, j, strict=True)) == [(i, j) for i in range(8) for j in range(i + 2, 10)]


@pytest.mark.slow
def test_the_formula_holds_just_as_far_as_the_table_says() -> None:
    reported = [cities for _, cities, _ in formula().rows]
    assert reported == [2_049, 10_002, 23_171]
    for most, kind in zip(reported, (np.float32, np.float64), strict=False):
        assert all((found == i).all() for found, i, _ in their_moves(int(str(most)), kind))
        assert any((found != i).any() for found, i, _ in their_moves(int(str(most)) + 1, kind))
    # 1 - 4 * (-2 * all moves), in 32 bits.
    assert 4 * 23_169 * 23_170 + 1 < 2**31 <= 4 * 23_170 * 23_171 + 1


@given(st.integers(2, 60), st.integers(0, 3000))
def test_printed_tours_are_tours(n: int, climber: int) -> None:
    assert is_tour(printed_tour(n, climber), n)


def test_shared_edges_of_the_files_order_are_all() -> None:
    assert shared_edges(np.arange(9)) == 1
    assert shared_edges(np.array([0, 2, 4, 1, 3])) == 0


def test_bytes_are_those_of_their_table() -> None:
    # 1,000 climbers of kroA100 with 92 passes take some 4.5 ms at their 1592 GB/s, which their table 2 rounds to 5.
    assert math.isclose(utne2023_speed.their_bytes(100, 92_000, 1_000) / 1592.35e9, 4.5e-3, rel_tol=0.02)


@pytest.mark.filterwarnings("ignore:Precision loss")
def test_welchs_test_tells_what_differs() -> None:
    draws = np.random.default_rng(0)
    ones = draws.normal(100, 1, 200)
    shorter = robinson2018.compared("fl417", "climbers", ones, ones - 1)
    assert shorter[10] == "shorter"
    assert robinson2018.compared("fl417", "climbers", ones, ones + 1)[10] == "longer"
    assert robinson2018.compared("fl417", "climbers", ones, ones.copy())[10] == "no different"
    # Without any spread there is no test.
    assert robinson2018.compared("fl417", "climbers", np.ones(3), np.ones(3))[9] is None


def test_welchs_test_of_runs_takes_the_shortest_of_each() -> None:
    reported = robinson2018.compared("fl417", "equal time", np.arange(8.0), np.arange(12.0), runs=4)
    assert reported[2:6] == [8, 12, 3.0, 4.5]


def test_rows_of_rocki_are_left_out_when_time_is_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rocki2013, "CONVERGENCE", {"berlin52": (0.3, 1.0, 7542)})
    report = reproduce("rocki2013", Task("c", 0.7), "command")
    _, descents, _ = report.tables
    assert descents.rows[0][0] == "berlin52"
    assert "pla85900" in descents.markdown()
    assert "pla85900" in descents.left_out
    # One core has nothing beside it that figure 10 could tell.
    assert [each.name for each in report.figures] == ["gflops", "convergence-berlin52"]


def test_rockis_memory_is_what_their_table_says_and_what_kernels_hold() -> None:
    table = rocki2013.memory(Task("c"), open_backend("c"))
    assert [cells[0] for cells in table.rows] == list(rocki2013.MEMORY)
    for _, n, matrix, their_matrix, coordinates, their_coordinates, form, instance, tour in table.rows:
        assert isinstance(n, int) and isinstance(matrix, float) and isinstance(coordinates, float)
        assert math.isclose(matrix, float(str(their_matrix)), rel_tol=0.02)
        assert abs(coordinates - float(str(their_coordinates))) < 0.01
        # Whole coordinates take 32 bits each, others 64; a position its city's number and what it proposes.
        assert instance == {"grid": 8, "plane": 16}[str(form)] * n / 1024
        assert tour == 12 * n / 1024


@pytest.mark.slow
def test_rockis_curves_are_those_of_the_product(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rocki2013, "CONVERGENCE", {"kroA100": (1.0, 1.0, 21282)})
    task = Task("c", 3.0, seed=4)
    figure, table = rocki2013.convergences(task, open_backend("c"))
    assert isinstance(figure, Figure) and isinstance(table, Table)
    instance = instance_of(TSPLIB, "kroA100", with_reference=True)
    optimum = instance.optimum or 0
    for line, cells in zip(figure.series, table.rows, strict=True):
        assert line.y == sorted(set(line.y), reverse=True) and line.y[-1] == cells[8]
        assert line.x == sorted(line.x)
    for cells, start in zip(table.rows, ("random", "greedy"), strict=False):
        kicks = int(str(cells[5]))
        assert kicks > 0
        descent = pytsp.solve(instance, solver="two-opt", start=start, k="inf", seed=4, backend="c")
        assert cells[4] == descent.length
        # The last kick may have been cut.
        again = pytsp.solve(instance, solver="two-opt", start=start, k="inf", seed=4, backend="c", kicks=kicks)
        assert again.length <= int(str(cells[8])) <= descent.length
        assert math.isclose(float(str(cells[9])), 100 * (int(str(cells[8])) / optimum - 1), abs_tol=1e-9)
    assert [cells[2] for cells in table.rows] == ["random", "greedy", "curve"] and table.rows[2][4] is None


def test_rockis_speedup_is_their_pass_by_ours() -> None:
    one_core, cores = open_backend("c"), open_backend("multicore")
    instance = instance_of(TSPLIB, "pr2392")
    line = rocki.measure(instance, greedy(instance), one_core, 1, 60.0)
    # As if cores were a hundred times as fast as one.
    (figure,) = rocki2013.speedups(Task("multicore"), cores, [replace(line, pass_seconds=line.pass_seconds / 100)])
    (reported,) = figure.series
    assert (reported.label, reported.x) == ("multicore over c", [2392.0])
    assert 20 < reported.y[0] < 500
    assert list(rocki2013.speedups(Task("c"), one_core, [line])) == []


# A descent on kroE100 whose numbers are no machine's: a pass and a minimum half as long as theirs.
ROCKIS_LINE = rocki.Line("kroE100", 100, 1, 41e-6, 448.5e-6, 2e9, 25_000, 23_485, 11, 10, is_cut=False)


def test_rockis_ratios_are_theirs_by_ours() -> None:
    theirs = rocki.THEIRS["kroE100"]
    assert (theirs.pass_seconds, theirs.seconds, theirs.length) == (82e-6, 897e-6, 23_025)
    cut = replace(ROCKIS_LINE, is_cut=True)
    table = rocki2013.table([ROCKIS_LINE, cut], ["ch130"], "")
    heads = [column.head for column in table.columns]
    assert heads[:9] == [
        *("instance", "pass", "theirs", "ratio", "M checks/s", "theirs", "first minimum", "theirs", "ratio")
    ]
    assert heads[9:] == ["greedy", "theirs", "optimised", "theirs", "% of theirs", "state"]
    expected = ["kroE100", 41e-6, 82e-6, 2.0, 2_000.0, 282.92, 448.5e-6, 897e-6, 2.0]
    lengths = [25_000, 24_846, 23_485, 23_025, 100 * 23_485 / 23_025]
    whole, other = table.rows
    assert whole[1:-1] == pytest.approx(expected[1:] + lengths)
    assert (whole[0], whole[-1], other[-1]) == ("kroE100", "minimum", "cut")
    # A descent that was cut has a pass, and no minimum.
    assert other[3] == pytest.approx(2.0) and other[8] is None


def test_rockis_own_program_prints_the_same_ratios() -> None:
    cells = [cell.strip() for cell in rocki.show(ROCKIS_LINE).strip(" |").split("|")]
    shown = dict(zip(rocki.HEADS, cells, strict=True))
    assert len(cells) == len(rocki.HEADS)
    assert [cells[place] for place, head in enumerate(rocki.HEADS) if head == "times as fast"] == ["2.0", "2.0"]
    assert (shown["G checks/s"], shown["GFLOP/s"], shown["% of theirs"]) == ("2.00", "62", "102.00")
    cut = rocki.show(replace(ROCKIS_LINE, is_cut=True))
    assert "cut at" in cut and cut.count("| 2.0 |") == 1


@pytest.mark.slow
@pytest.mark.parametrize("paper", ["oneil2011", "utne2023", "robinson2018"])
def test_tiny_budgets_make_tables(paper: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("bench.papers.utne2023_others.TRIALS", (246, 2_460))
    monkeypatch.setattr("bench.papers.utne2023_others.ANT_ITERATIONS", (10,))
    monkeypatch.setattr("bench.papers.utne2023_others.CLIMBERS", 10)
    monkeypatch.setattr("bench.papers.utne2023_tours.PASSES", {"swiss42": 29})
    file, markdown = tmp_path / "report.json", tmp_path / "report.md"
    assert main([paper, "--backend", "c", "--seconds", "0.5", "--json", str(file), "--markdown", str(markdown)]) == 0
    report = stored(file)
    # The same tables as with all of the time, none of them empty without a word.
    whole = stored(pages.RESULTS / f"reproduce-{paper}-2-cores.json")
    assert [table.title for table in report.tables] == [table.title for table in whole.tables]
    assert all(table.rows or (table.left_out and table.reason) for table in report.tables)
    assert {figure.name for figure in report.figures} <= {figure.name for figure in whole.figures}
    assert report.markdown() == markdown.read_text(encoding="utf-8")
    assert main([paper, "--stored", str(file), "--markdown", str(tmp_path / "again.md")]) == 0
    assert (tmp_path / "again.md").read_text(encoding="utf-8") == report.markdown()


@pytest.mark.slow
def test_full_leaves_nothing_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(oneil2011, "TABLE", (("kroA100", 3, 21282, 33_188, 2.540),))
    monkeypatch.setattr(oneil2011, "CLIMBERS", 2)
    full = Task("c", math.inf)
    assert [cells[2] for cells in oneil2011.quality(full).rows] == [3]
    monkeypatch.setattr(robinson2018, "INSTANCES", ("fl417",))
    monkeypatch.setattr(robinson2018, "COMPARED", ("fl417",))
    monkeypatch.setattr(robinson2018, "RESTARTS", 2)
    monkeypatch.setattr(robinson2018, "MOVES", (1, "inf"))
    monkeypatch.setattr(robinson2018, "SAMPLES", 2)
    monkeypatch.setattr(robinson2018, "LARGE", ("berlin52",))
    monkeypatch.setattr(robinson2018, "LARGE_MOVES", (1,))
    monkeypatch.setattr(robinson2018_blocks, "RESTARTS", 2)
    monkeypatch.setattr(robinson2018_threads, "CLIMBERS", 1)
    made = [each for each in robinson2018.run(full) if isinstance(each, Table)]
    swaps, large, tests, shapes, correlations, turns, queues = made
    assert not any(each.left_out for each in (swaps, large, tests, correlations, turns))
    # There is no GPU here, and the tables say so.
    assert all("since a CPU has no thread blocks" in each.markdown() for each in (shapes, queues))
    assert [cells[1] for cells in swaps.rows] == [2, 2]
    assert [cells[1] for cells in tests.rows] == ["climbers", "equal work", "equal time"]
    assert [cells[:2] for cells in turns.rows] == [[64, 10_000], [64, 100_000], [192, 10_000], [192, 100_000]]


def test_the_first_climbers_of_a_run_are_the_run_of_fewer() -> None:
    table, figure = utne2023.accuracy(Task("c", 1.0), "berlin52", 0.05)
    assert isinstance(table, Table)
    assert isinstance(figure, Figure)
    instance = instance_of(TSPLIB, "berlin52")
    for cells in table.rows:
        assert cells[2] == Task("c").climb(instance, int(str(cells[0]))).length
    assert len(table.rows) + len(table.left_out) == len(utne2023.ACCURACY["berlin52"])


def test_delevacqs_cells_are_in_the_papers_order(monkeypatch: pytest.MonkeyPatch) -> None:
    setting = delevacq2012.TABLES[1]
    small = setting.__class__(
        setting.pivot, {"kroA100": 512}, {"kroA100": setting.theirs["kroA100"]}, {"kroA100": None}
    )
    monkeypatch.setattr(delevacq2012, "TABLES", {1: small})
    monkeypatch.setattr(delevacq2012, "SHARES", {False: {1: 1.0}})
    monkeypatch.setattr(delevacq2012, "PROBES", {1: 2})
    monkeypatch.setattr(delevacq2012, "ALONE", {1: 2})
    monkeypatch.setattr(delevacq2012, "ORDER", (64, 8))
    monkeypatch.setattr(delevacq2012, "SEEDS", 2)
    for task in (Task("c", 60.0), Task("c", math.inf)):
        table, figure = delevacq2012.run(task)
    assert isinstance(table, Table)
    heads = [column.head for column in table.columns]
    assert heads[-4:] == ["speedup", "theirs T", "theirs BG", "theirs BS"]
    assert [cells[1] for cells in table.rows] == [8, 64]
    assert all(cells[2] == 512 and cells[4] == 2 for cells in table.rows)
    assert [cells[-3:] for cells in table.rows] == [[0.06, 0.45, 0.50], [0.34, 2.83, 3.13]]
    assert isinstance(figure, Figure)


@pytest.mark.parametrize("backend", [emulated.NAMED])
def test_on_a_gpu_delevacqs_strategies_stand_apart(backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    emulated.slow_down(monkeypatch)
    first, drawn = (delevacq2012.TABLES[number] for number in (1, 3))
    kept = {"kroA100": 16}
    tables = {
        1: replace(first, totals=kept, theirs={"kroA100": first.theirs["kroA100"]}),
        3: replace(drawn, totals=kept, theirs={"kroA100": drawn.theirs["kroA100"]}, draws={"kroA100": 90}),
    }
    monkeypatch.setattr(delevacq2012, "TABLES", tables)
    monkeypatch.setattr(delevacq2012, "BLOCKS", {"kroA100": (120, 70)})
    monkeypatch.setattr(delevacq2012, "SEEDS", 1)
    monkeypatch.setattr(delevacq2012, "BLOCK_COUNTS", (1, 3))
    monkeypatch.setattr(delevacq2012, "POPULATIONS", (1, 8))
    monkeypatch.setattr(delevacq2012, "ORDER", (8, 1))
    monkeypatch.setattr(delevacq2012, "PROBES", {1: 1, 3: 1})
    monkeypatch.setattr(delevacq2012, "ALONE", {1: 1, 3: 1})
    asked: list[tuple[str, int | None]] = []

    def solved(run: delevacq.Run) -> tuple[int | float, float]:
        asked.append((run.mapping, run.draw_blocks))
        return delevacq.solved(run)

    monkeypatch.setattr(delevacq2012, "solved", solved)
    one, _, two, three, _ = delevacq2012.run(Task(backend, math.inf))
    assert isinstance(one, Table) and isinstance(two, Table) and isinstance(three, Table)
    heads = [column.head for column in one.columns]
    assert [head for head in heads if head.startswith(("speedup", "theirs "))] == [
        f"{head} {strategy}" for strategy in ("T", "BG", "BS") for head in ("speedup", "theirs")
    ]
    assert [cells[0] for cells in two.rows] == ["kroA100"]
    assert all(cell in (f"1 ({their})", f"3 ({their})") for cell, their in zip(two.rows[0][1:], (120, 70), strict=True))
    assert [cells[1] for cells in three.rows] == [1, 8]
    assert {mapping for mapping, _ in asked} == {"thread", "lockstep", "block", "auto"}
    # As many blocks as theirs, but where the number is looked for.
    assert {blocks for mapping, blocks in asked if mapping == "lockstep"} == {None, 1, 3, 120, 70}


# Of a mapping, or of one climber on one core: the seconds of a climber's first descent, and of an iteration.
COSTS = {"thread": (2e-3, 1e-3), "lockstep": (3e-3, 3e-3), "block": (5e-3, 7e-3), "c": (1e-3, 20e-3)}


def counted(run: delevacq.Run) -> tuple[int | float, float]:
    """The length and the seconds of a run whose mapping alone says how long it takes."""
    start, each = COSTS["c" if run.backend == "c" else run.mapping]
    return 21_282, run.population * (start + each * run.iterations)


@pytest.fixture
def costed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Delévacq's tables of kroA100 on a GPU that does not exist: no run takes time, and each has its cost."""
    instance = replace(pytsp.generate.uniform(100, 0), name="kroA100", optimum=21_282)
    monkeypatch.setattr(delevacq2012, "solved", counted)
    monkeypatch.setattr(delevacq2012, "instance_of", lambda *_: instance)
    monkeypatch.setattr(delevacq, "read", lambda *_: instance)
    monkeypatch.setattr(Task, "is_gpu", lambda _, backend: backend == "gpu")
    monkeypatch.setattr(delevacq2012, "SHARES", {True: {1: 0.5, 3: 0.5}})
    tables = {
        number: replace(
            setting,
            totals={"kroA100": 2**20},
            theirs={"kroA100": setting.theirs["kroA100"]},
            draws={"kroA100": setting.draws["kroA100"]},
        )
        for number, setting in delevacq2012.TABLES.items()
    }
    monkeypatch.setattr(delevacq2012, "TABLES", tables)


@pytest.mark.usefixtures("costed")
def test_delevacqs_columns_are_those_of_their_strategies() -> None:
    """Thread, global memory and shared memory have their own times, speeds and speedups, beside the paper's own."""
    one, _, three, _ = delevacq2012.run(Task("gpu", math.inf))
    assert isinstance(one, Table) and isinstance(three, Table)
    for table, strategies in ((one, ("thread", "lockstep", "block")), (three, ("lockstep",))):
        names = {"thread": " T", "lockstep": " BG", "block": " BS"} if table is one else {"lockstep": ""}
        heads = [column.head for column in table.columns]
        assert [cells[1] for cells in table.rows] == list(delevacq.POPULATIONS)
        for cells in table.rows:
            population = int(str(cells[1]))
            for strategy in strategies:
                name = names[strategy]
                start, each = COSTS[strategy]
                seconds = population * start + 2**20 * each
                speed = 2**20 / seconds
                place = heads.index(f"time{name}")
                assert heads[place : place + 4] == [
                    *(f"time{name}", f"k iterations/s{name}", f"speedup{name}", f"theirs{name}")
                ]
                # One core makes 50 iterations a second.
                assert cells[place : place + 3] == pytest.approx([seconds, speed / 1e3, speed / 50])
                their_name = name.strip()
                theirs = delevacq2012.SPEEDUPS[1 if table is one else 3][their_name]["kroA100"]
                assert cells[place + 3] == theirs[delevacq.POPULATIONS.index(population)]


@pytest.mark.usefixtures("costed")
def test_delevacqs_speed_of_a_share_leaves_the_first_descents_out() -> None:
    plan = delevacq2012.Plan(Task("gpu", 100.0), 1, delevacq2012.STRATEGIES)
    plan.learn(delevacq2012.instance_of(plan.task.tsplib, "kroA100"))
    assert plan.alone == {"kroA100": pytest.approx(50.0)}
    assert plan.costs["kroA100", "T"] == pytest.approx((64 * (2e-3 + 1e-3), 1e-3))
    line = delevacq2012.cell(plan, delevacq2012.instance_of(plan.task.tsplib, "kroA100"), "thread", 64, 64 * 1_000)
    # Of 64 s, 64 climbers' first descents took 0.2 s.
    speed = 64_000 / (line.seconds - plan.costs["kroA100", "T"][0])
    assert delevacq2012.speed_of(plan, "T", line) == pytest.approx(speed)
    assert speed == pytest.approx(1_000, rel=0.01)
    # Two iterations take as long as a first descent: no speed.
    short = delevacq2012.cell(plan, delevacq2012.instance_of(plan.task.tsplib, "kroA100"), "thread", 64, 64 * 2)
    assert delevacq2012.speed_of(plan, "T", short) is None


def test_delevacqs_own_program_prints_iterations_a_second() -> None:
    line = delevacq.Line("kroA100", 8, 1_000, [21_282], 1.0, 1.0, 0.0, 0.0, 4.0)
    cells = [cell.strip() for cell in delevacq.show(line, until_optimum=False).strip(" |").split("|")]
    assert dict(zip(delevacq.HEADS, cells, strict=True))["k iterations/s"] == "2"
    # A run that ended on the optimum has made fewer.
    assert delevacq.show(line, until_optimum=True).strip(" |").endswith("-")


def test_pages_show_what_is_stored() -> None:
    shown = sorted(pages.PAGES.glob("*.md"))
    assert {page.stem for page in shown} >= set(PAPERS)
    for page in shown:
        text = page.read_text(encoding="utf-8")
        assert pages.filled(text) == text, f"{page}: run python -m bench.papers.pages"
        for found in pages.MARKED.finditer(text):
            report = pages.selected(found)
            assert report.tables


def test_delevacqs_page_shows_no_cell_with_few_of_its_iterations() -> None:
    file = "reproduce-delevacq2012-h200.json"
    whole, report = stored(pages.RESULTS / file), pages.shown(file)
    for before, table in zip(whole.tables, report.tables, strict=True):
        heads = [column.head for column in table.columns]
        if "share" not in heads:
            assert table == before
            continue
        shares = [float(str(cells[heads.index("share")])) for cells in before.rows]
        few = sum(share < 0.1 for share in shares)
        assert [cells for cells, share in zip(before.rows, shares, strict=True) if share >= 0.1] == table.rows
        assert 0 < few < len(shares) and table.left_out[-1].startswith(f"{few} cells with less than a tenth")


def test_a_page_leaves_out_what_its_mark_says() -> None:
    def reported(mark: str) -> list[str]:
        return re.findall(r"^### (.+)$", pages.filled(f"<!-- {mark} -->\n<!-- end -->"), re.MULTILINE)

    file = "reproduce-rocki2013-2-cores.json"
    whole = reported(file)
    assert len(whole) == 3 and reported(f'{file} without "Table I:"') == whole[1:]
    assert "from the greedy tour" not in pages.filled(f"<!-- {file} -->\n<!-- end -->").lower()
    with pytest.raises(ValueError, match="no table or figure whose title begins with 'Table 9'"):
        reported(f'{file} without "Table 9"')


def test_figures_are_drawn_alike(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="matplotlib draws the figures")
    lines = [Series("one", [1.0, 2.0], [1.0, 3.0])]
    for name, is_bars in (("bars", True), ("lines", False)):
        figure = Figure(name, "Title", "x", "y", ("log", "log"), lines, is_bars)
        files = [tmp_path / place / "drawn.svg" for place in "ab"]
        for file in files:
            file.parent.mkdir(exist_ok=True)
            pages.draw(figure, file)
        assert files[0].read_bytes() == files[1].read_bytes()
