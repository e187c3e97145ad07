"""The cells of the papers' tables: what they say is what a solve comes to, beside the paper's numbers."""

from __future__ import annotations

import math
import re
import types
from dataclasses import replace
from typing import Any

import emulated
import numpy as np
import pytest

import pytsp
from bench.harness.machine import TSPLIB
from bench.kernels import enumerations
from bench.papers import (
    delevacq,
    delevacq2012,
    oneil2011,
    pages,
    rocki2013,
    utne2023_others,
    utne2023_programs,
    utne2023_speed,
    utne2023_tours,
)
from bench.papers.instances import instance_of
from bench.papers.tables import Figure, Table
from bench.papers.task import Task
from pytsp.backends import open_backend

FULL = Task("c", math.inf)


def climbed(name: str, climbers: int) -> pytsp.Result:
    """What so many climbers come to."""
    return pytsp.solve(instance_of(TSPLIB, name), solver="restarts", climbers=climbers, seed=0, backend="c")


def test_oneils_table_tells_the_shortest_tour_and_times_a_climber(monkeypatch: pytest.MonkeyPatch) -> None:
    reported = (("kroA100", 3, 21282, 33_188, 2.540), ("kroE100", 10, 22084, 16_941, 2.499))
    monkeypatch.setattr(oneil2011, "TABLE", reported)
    # Of ten, five fit the time.
    monkeypatch.setattr(Task, "fitting", lambda *words: min(words[-1], 5))
    for name, cells in zip(("kroA100", "kroE100"), oneil2011.quality(FULL).rows, strict=True):
        optimum, climbers = instance_of(TSPLIB, name, with_reference=True).optimum, int(str(cells[2]))
        found, (_, count, shortest, number, seconds) = climbed(name, climbers), reported[name == "kroE100"]
        assert optimum is not None and found.moves is not None
        assert climbers == min(count, 5)
        assert cells[:7] == [name, optimum, climbers, found.length, shortest, found.climber, number]
        assert cells[7:9] == pytest.approx([100 * found.length / optimum - 100, 100 * shortest / optimum - 100])
        taken: Any = cells[9]
        a_climber = taken / climbers
        assert cells[10:13] == pytest.approx([seconds, seconds / count / a_climber, found.moves / taken / 1e9])
        assert found.moves == found.passes.sum() * 100 * 97 // 2
        assert cells[13] == f"{found.passes.min()} … {found.passes.max()}, mean {found.passes.mean():.1f}"


def test_oneils_runtimes_are_medians_for_as_many_climbers_as_theirs(monkeypatch: pytest.MonkeyPatch) -> None:
    times = iter([7.0, 3.0, 5.0, 1.0, 1.0, 2.5])
    real = Task.climb

    def climb(self: Task, instance: pytsp.Instance, climbers: int, **options: Any) -> pytsp.Result:
        found = real(self, instance, climbers, **options)
        return replace(found, seconds=next(times)) if climbers == 4 else found

    monkeypatch.setattr(Task, "climb", climb)
    monkeypatch.setattr(oneil2011, "CLIMBERS", 20)
    monkeypatch.setattr(Task, "fitting", lambda *_, **__: 4)
    two = [("c", {"backend": "c"}), ("multicore, 1", {"backend": "multicore", "threads": 1})]
    monkeypatch.setattr(oneil2011, "ways", lambda _: two)
    table, runtimes, speedups = oneil2011.runtimes(FULL)
    assert isinstance(table, Table) and isinstance(runtimes, Figure) and isinstance(speedups, Figure)
    length = climbed("kroE100", 4).length
    assert table.rows[:2] == [
        ["c", 3.0, 5.0, 7.0, 1.0, 25.0, length],
        ["multicore, 1", 1.0, 1.0, 2.5, 5.0, 5.0, length],
    ]
    assert [line.y for line in runtimes.series][:2] == [[25.0], [5.0]]
    assert [line.y for line in speedups.series][:2] == [[1.0], [5.0]]


@pytest.mark.parametrize(("cores", "counts"), [(1, [1]), (2, [1, 2]), (6, [1, 2, 4, 6])])
def test_threads_are_tried_up_to_the_usable_cores(
    cores: int, counts: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(oneil2011, "usable_cores", lambda: cores)
    reported = [(name, options) for name, options in oneil2011.ways(FULL) if options["backend"] == "multicore"]
    assert reported == [(f"multicore, {count}", {"backend": "multicore", "threads": count}) for count in counts]


@pytest.mark.parametrize("backend", ["c", emulated.NAMED])
def test_utnes_programs_are_beside_theirs(backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each column is the median time of the program that its head names, and theirs stand behind ours."""
    theirs = {2: (136, 5, 4, 5), 4: (143, 40, 36, 39)}
    monkeypatch.setattr(utne2023_programs, "TIMES", {"kroA100": theirs, "berlin52": theirs})
    monkeypatch.setattr(utne2023_programs, "PROBE", 1)
    seconds = {
        ("thread", None, False): 0.5,
        ("block", "zipped", False): 0.25,
        ("block", "zipped", True): 0.2,
        ("block", "closed-form", False): 0.125,
        (None, "zipped", False): 0.25,
        (None, "closed-form", False): 0.125,
        (None, None, False): 0.1,
    }
    real = Task.climb

    def climb(self: Task, instance: pytsp.Instance, climbers: int, **options: Any) -> pytsp.Result:
        way = options.get("mapping"), options.get("neighbourhood"), options.get("shared_matrix", False)
        return replace(real(self, instance, climbers, **options), seconds=climbers * seconds[way])

    monkeypatch.setattr(Task, "climb", climb)
    is_gpu = backend != "c"
    for name, number in (("kroA100", 2), ("berlin52", 3)):
        table = utne2023_programs.times(Task(backend, math.inf), name, math.inf)
        assert table.title == f"Table {number}: run times on {name}" and table.left_out == []
        heads = [column.head for column in table.columns]
        for cells, (count, reported) in zip(table.rows, theirs.items(), strict=True):
            row = dict(zip(heads, cells, strict=True))
            assert row["climbers"] == count
            assert [row[each] for each in ("Texas", "original", "100 cities", "calculated")] == [
                each / 1e3 for each in reported
            ]
            ours = {"zipped": 0.25, "closed form": 0.125, "default": 0.1}
            ours |= {"thread": 0.5} if is_gpu else {}
            # A block of the emulated GPU has 48 KiB, too few for the distances of 100 cities.
            ours |= {"zipped, distances in the block": 0.2} if is_gpu and name == "berlin52" else {}
            assert {head: row[head] for head in heads if row[head] is not None and head in ours} == {
                head: pytest.approx(count * each) for head, each in ours.items()
            }
            assert (row["thread"] is None) is (row["thread / zipped"] is None) is not is_gpu
            assert row["original / zipped"] == pytest.approx(reported[1] / 1e3 / (count * 0.25))
            if is_gpu:
                assert row["thread / zipped"] == pytest.approx(2.0)


def test_utnes_programs_leave_out_what_does_not_fit() -> None:
    table = utne2023_programs.times(Task("c", 1e-3), "kroA100", 1e-9)
    assert table.rows == [] and len(table.left_out) == len(utne2023_programs.TIMES["kroA100"])


def test_utnes_programs_that_disagree_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(utne2023_programs, "TIMES", {"berlin52": {2: (1, 1, 1, 1)}})
    real = Task.climb

    def climb(self: Task, instance: pytsp.Instance, climbers: int, **options: Any) -> pytsp.Result:
        found = real(self, instance, climbers, **options)
        is_wrong = options.get("neighbourhood") == "closed-form"
        return replace(found, lengths=found.lengths + 1) if is_wrong else found

    monkeypatch.setattr(Task, "climb", climb)
    with pytest.raises(SystemExit, match="berlin52: closed form ends on other climbers"):
        utne2023_programs.times(FULL, "berlin52", math.inf)


def test_utnes_throughput_counts_their_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(utne2023_speed, "SWEEP", (1, 10))
    monkeypatch.setattr(utne2023_speed, "THROUGHPUT", {"kroA100": (92, 1592.35), "swiss42": (29, 399.94)})
    table, sweep, passes = utne2023_speed.throughput(Task("c", 60.0), 60.0)
    assert isinstance(table, Table) and isinstance(sweep, Figure) and isinstance(passes, Figure)
    for cells, name in zip(table.rows, ("kroA100", "swiss42"), strict=True):
        n, found = {"kroA100": 100, "swiss42": 42}[name], climbed(name, 10)
        their_passes, gigabytes = utne2023_speed.THROUGHPUT[name]
        assert cells[:4] == [name, 10, found.passes.mean(), their_passes]
        speed, rate = (float(str(cells[place])) for place in (6, 4))
        # Four distances of four bytes a move, (n - 1) (n - 2) / 2 moves a pass, and little else.
        pairs = (n - 1) * (n - 2) / (n * (n - 3))
        assert speed == pytest.approx(16 * pairs * rate, rel=0.01) and speed > 16 * pairs * rate
        assert cells[5] == pytest.approx(gigabytes / 16)
        assert cells[7:] == [gigabytes, pytest.approx(speed / gigabytes)]
    # Figure 22: the passes and the speeds of both rows, from the fewest passes on.
    assert [line.label for line in passes.series] == ["pytsp", "theirs"]
    assert passes.series[0].x == [table.rows[1][2], table.rows[0][2]]
    assert passes.series[0].y == [table.rows[1][6], table.rows[0][6]]
    assert (passes.series[1].x, passes.series[1].y) == ([29, 92], [399.94, 1592.35])


@pytest.mark.parametrize("backend", ["c", emulated.NAMED])
def test_utnes_gains_are_over_zipped_indices(backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(utne2023_speed, "OPTIMISED", 2)
    monkeypatch.setattr(utne2023_speed, "RUNS", 1)
    # Distances that fit the blocks of the emulated GPU.
    monkeypatch.setattr(utne2023_speed, "instance_of", lambda *_: instance_of(TSPLIB, "berlin52"))
    table = utne2023_speed.optimisations(Task(backend, math.inf), math.inf)
    reported = {(cells[0], cells[1]): cells[2:] for cells in table.rows}
    plain, shared = f"{backend}, block" if backend != "c" else "c", f"{backend}, block, all distances in its memory"
    assert {key: cells[4] for key, cells in reported.items() if cells[4] is not None} == {
        (plain, "zipped"): 1.0,
        (plain, "closed-form"): 1.03,
        **({(shared, "zipped"): 1.11} if backend != "c" else {}),
    }
    base = float(str(reported[plain, "zipped"][2]))
    for count, _, speed, times, _ in reported.values():
        assert count == 2 and times == pytest.approx(float(str(speed)) / base)
    assert len(reported) == (4 if backend == "c" else 10)


@pytest.mark.parametrize("backend", ["c", emulated.NAMED])
def test_every_neighbourhood_has_its_cell(backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bench.kernels.cpu.PLENTY", 10)
    table = enumerations.table(TSPLIB, backend, 0.02, ("berlin52",), read=instance_of)
    has_cells = [[cell is not None for cell in cells[2:]] for cells in table.rows]
    if backend == "c":
        assert has_cells == [[True] * 4 + [False]]
    else:
        assert [cells[1] for cells in table.rows] == [
            f"{backend}{way}"
            for way in (", block", ", block, all distances in its memory", ", thread", ", all climbers together")
        ]
        assert has_cells == [[True] * 5, [True] * 4 + [False], [True] * 4 + [False], [True, *[False] * 4]]
    assert all(0 < float(str(cell)) < 1e3 for cells in table.rows for cell in cells[2:] if cell is not None)


def test_distances_in_a_blocks_memory_are_for_short_tours() -> None:
    if not emulated.IS_BUILT:
        pytest.skip("the emulated GPU is not built: run `python -m buildtools.emulated`")
    open_backend(emulated.NAME)
    counts = [len(list(enumerations.layouts([emulated.NAME], n))) for n in (23, 24, 94, 95)]
    assert counts == [3, 4, 4, 3]


def test_neighbourhoods_that_disagree_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    one = climbed("berlin52", 5)
    other = replace(one, lengths=one.lengths + np.array([0, 0, 0, 0, 1]))
    assert enumerations.agree(one, one) and enumerations.agree(one, climbed("berlin52", 3))
    assert not enumerations.agree(one, other)
    # A climber that was cut says nothing.
    assert enumerations.agree(one, replace(other, done=one.done & np.array([True] * 4 + [False])))
    results = iter([one, one, one, other])
    monkeypatch.setattr(enumerations, "climbed", lambda *_, **__: next(results))
    with pytest.raises(
        SystemExit, match="berlin52: {'backend': 'c', 'neighbourhood': 'zipped'} ends on other climbers"
    ):
        enumerations.table(TSPLIB, "c", 1.0, ("berlin52",), read=instance_of)


def test_annealing_of_246_iterations_is_of_as_many_trials_or_ten_times_as_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(utne2023_others, "TRIALS", (246, 2_460))
    monkeypatch.setattr(utne2023_others, "ANT_ITERATIONS", (1,))
    monkeypatch.setattr(utne2023_others, "CLIMBERS", 10)
    monkeypatch.setattr(utne2023_others, "CHAINS", 3)
    table = next(iter(utne2023_others.sequential(FULL, math.inf)))
    optimum = instance_of(TSPLIB, "swiss42", with_reference=True).optimum or 0
    assert isinstance(table, Table)
    rows = {str(cells[0]): cells for cells in table.rows}
    options: dict[str, Any] = {
        "temperature": 42.0**3,
        "trials": 1,
        "moves": "2-opt",
        "pairs": "random",
        "start": "random",
    }
    options |= {"climbers": 3, "neighbours": 41, "seed": 0, "backend": "c"}
    for label, trials in (("as theirs", 246), ("as theirs, ten trials an iteration", 2_460)):
        # Both end at the same temperature.
        cooling = 0.955 ** (246 / trials)
        found = pytsp.solve(
            instance_of(TSPLIB, "swiss42"), solver="annealing", iterations=trials, cooling=cooling, **options
        )
        gap = 100 * (float(np.median(found.lengths)) / optimum - 1)
        assert rows[f"annealing, {label}"][1:3] == [trials, pytest.approx(gap)]
    assert rows["2-opt, first climber"][1] == climbed("swiss42", 1).moves
    assert rows["2-opt, first climber"][2] == pytest.approx(100 * (climbed("swiss42", 1).length / optimum - 1))


def test_sequential_algorithms_and_passes_have_a_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(utne2023_others, "CLIMBERS", 5)
    monkeypatch.setattr(utne2023_others, "CHAINS", 2)
    monkeypatch.setattr(utne2023_others, "COLONIES", 1)
    monkeypatch.setattr(utne2023_tours, "TOURS", 2)
    table = next(iter(utne2023_others.sequential(FULL, 1e-9)))
    assert isinstance(table, Table)
    made = {str(cells[0]): cells[1] for cells in table.rows}
    # Two rungs of each ladder, and a word on what follows.
    assert made["ants, as theirs"] == 20 and made["annealing, our defaults"] == 2_460
    assert "ants, as theirs, beyond 20 iterations" in table.left_out
    assert "annealing, our defaults, beyond 2,460 iterations" in table.left_out
    passes = utne2023_tours.passes(FULL, 1e-9)
    assert [cells[0] for cells in passes.rows] == ["swiss42"]
    assert passes.left_out == list(utne2023_tours.PASSES)[1:]
    monkeypatch.setattr(utne2023_tours, "PASSES", {"swiss42": 29, "berlin52": 43})
    assert utne2023_tours.passes(FULL, math.inf).left_out == []


def test_speedups_of_all_pages_are_over_one_core() -> None:
    base, other = (pages.shown(f"reproduce-oneil2011-{tag}.json") for tag in ("2-cores", "h200"))
    core: Any = base.tables[1].rows[0][5]
    assert base.tables[1].rows[0][:1] + base.tables[1].rows[0][4:5] == ["c", pytest.approx(1.0)]
    for report in (base, other):
        ours = [cells for cells in report.tables[1].rows if not str(cells[0]).startswith("theirs")]
        theirs = [cells[4] for cells in report.tables[1].rows if str(cells[0]).startswith("theirs")]
        assert [cells[4] for cells in ours] == pytest.approx([core / float(str(cells[5])) for cells in ours])
        assert theirs == [1.0, oneil2011.THREADS_SPEEDUP, oneil2011.GPU_SPEEDUP]
        (speedups,) = [figure for figure in report.figures if figure.name == "speedups"]
        assert [line.y for line in speedups.series] == [[cells[4]] for cells in report.tables[1].rows]
    # What is stored is not what is shown: its host's core had other things to do.
    stored_core: Any = other.tables[1].rows[0][5]
    assert stored_core > core and f"would make them {stored_core / core:.3g} times as large" in other.tables[1].note


def test_older_reports_get_what_their_figures_tell() -> None:
    for tag in ("2-cores", "h200"):
        report = pages.shown(f"reproduce-utne2023-{tag}.json")
        assert [figure.name for figure in report.figures].count("passes") == 1
        (table,) = [each for each in report.tables if each.title.startswith("Section 7.3: ")]
        labels = [str(cells[0]) for cells in table.rows]
        place = labels.index("annealing, as theirs")
        assert labels[place + 1] == "annealing, as theirs, ten trials an iteration"
        assert table.rows[place][3] == "no optimum; 246 iterations"
        assert table.rows[place + 1][1:3] == [2_460, pytest.approx(37.31, abs=0.01)]
        assert len(set(labels)) == len(labels)


@pytest.mark.parametrize(("paper", "tables", "figures"), [("oneil2011", 1, 2), ("utne2023", 4, 23)])
def test_a_page_lists_every_table_and_figure(paper: str, tables: int, figures: int) -> None:
    page = (pages.PAGES / f"{paper}.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| ([^|]*) \| [^|]+ \|$", page.partition("\n## ")[0], re.MULTILINE)
    for kind, count in (("table", tables), ("figure", figures)):
        listed: set[int] = set()
        for reported in rows:
            for many, numbers in re.findall(rf"{kind}(s?) ([\d, to and]+)", reported):
                found = [int(number) for number in re.findall(r"\d+", numbers)]
                listed |= set(range(found[0], found[1] + 1)) if many and " to " in numbers else set(found[:1])
                listed |= set(found)
        assert listed >= set(range(1, count + 1)), kind


def test_local_search_of_the_papers_is_3_opt(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the default of the solver: theirs is, and so is that of the tables that are stored."""
    asked: list[str | None] = []
    solve = pytsp.solve

    def noted(instance: pytsp.Instance, **options: Any) -> pytsp.Result:
        if options["solver"] == "ils":
            asked.append(options.get("moves"))
        options.pop("time_limit", None)
        few = {"iterations": 1} if options["solver"] == "ils" else {"kicks": 0, "k": "inf"}
        return solve(instance, **options | few)

    monkeypatch.setattr(pytsp, "solve", noted)
    monkeypatch.setattr(delevacq, "warm", lambda *_: None)
    plan = delevacq2012.Plan(Task("c"), 1, {"": "auto"})
    delevacq.solved(delevacq2012.run_of(plan, "kroA100", "auto", 1, 1))
    monkeypatch.setattr(rocki2013, "instance_of", lambda *_: instance_of(TSPLIB, "kroA100"))
    rocki2013.converged(Task("c", seconds=1.0), open_backend("c"), "pr2392")
    assert asked == ["3-opt", "3-opt"]


@pytest.mark.parametrize("start", [0.0, 1.0, 100.0])
def test_a_baseline_is_timed_as_long_as_its_first_descent(start: float, monkeypatch: pytest.MonkeyPatch) -> None:
    a_second, counts = 1000.0, []

    def cell(_: Any, __: Any, ___: str, climbers: int, total: int, *____: Any) -> Any:
        counts.append(total // climbers)
        return types.SimpleNamespace(seconds=start + total / a_second)

    monkeypatch.setattr(delevacq2012, "cell", cell)
    instance = pytsp.generate.uniform(8, 0)
    found = delevacq2012.probe(None, instance, "auto", 2, 16, "c", 0.5)  # type: ignore[arg-type]
    assert found[0] == pytest.approx(start + 2 / a_second)
    assert found[1] == pytest.approx(1 / a_second)
    assert 2 * counts[-1] / a_second >= 0.9 * start
