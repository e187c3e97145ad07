"""O'Neil, Tamir and Burtscher (2011): table 1, five instances by 100,000 climbers, and figures 1 and 2."""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from bench.harness.tables import duration
from bench.papers.instances import instance_of
from bench.papers.tables import Cell, Figure, Report, Series, Table, columns, ratio, stored
from bench.papers.task import Task, left_until, moment
from pytsp.backends import BACKENDS, open_backend, status
from pytsp.backends.devices import usable_cores

TITLE = (
    "M. A. O'Neil, D. Tamir, M. Burtscher: A Parallel GPU Version of the Traveling Salesman Problem. PDPTA 2011 (C2050)"
)
CLIMBERS = 100_000
# Instance, climbers, their shortest tour, its number, their seconds.
TABLE = (
    ("kroA100", CLIMBERS, 21282, 33_188, 2.540),
    ("kroB100", CLIMBERS, 22141, 5_969, 2.499),
    ("kroC100", CLIMBERS, 20749, 23_092, 2.543),
    ("kroD100", CLIMBERS, 21294, 32_142, 2.497),
    ("kroE100", CLIMBERS, 22084, 16_941, 2.499),
    ("kroE100", 2 * CLIMBERS, 22068, 117_583, 4.952),
)
# What their text says of figures 1 and 2, kroE100, medians: seconds, and times as fast as the sequential program.
SEQUENTIAL, GPU, GPU_SPEEDUP, THREADS_SPEEDUP = 2.58 * 60, 2.497, 61.9, 60.9
OF_THEIRS = (
    "Theirs: the text has the times of one core (Xeon X7550) and of the GPU, and the speedups of the GPU and of 256 "
    "threads, whose time follows from theirs."
)
# The stored report whose one core, on a machine with little else to do, is what speedups are over on all pages.
BASE = "reproduce-oneil2011-2-cores.json"
SPEEDUPS = "Figure 2: speedups over one core"
# Columns of the table of figures 1 and 2: the speedup, and the median for as many climbers as theirs.
SPEEDUP, MEDIAN = 4, 5
# The share of the time that table 1 takes, and the runs of figures 1 and 2.
SHARE, RUNS = 0.5, 3


def run(task: Task) -> Iterator[Table | Figure]:
    """Make the table and the figures."""
    yield quality(task)
    yield from runtimes(task)


def quality(task: Task) -> Table:
    """Write table 1."""
    table = Table(
        "Table 1: solution quality for five 100-city inputs",
        "A tour's number is its climber's; theirs are other random tours. Where fewer climbers fit the time, the ratio "
        "is that of the times a climber. Steps are passes over the neighbourhood, the last of which finds none; they "
        "report 84 to 124 with a mean of 103.3 and 20 G moves/s.",
        columns(
            "name|",
            "optimum|,",
            "climbers|,",
            "shortest|,",
            "theirs|,",
            "tour no.|,",
            "theirs|,",
            "gap, %|.3f",
            "theirs|.3f",
            "runtime|time",
            "theirs|time",
            "ratio|.3g",
            "G moves/s|.3g",
            "steps|",
        ),
    )
    end = moment(SHARE * task.left)
    for place, (name, count, shortest, number, seconds) in enumerate(TABLE):
        instance = instance_of(task.tsplib, name, with_reference=True)
        climbers = task.fitting(instance, left_until(end) / (len(TABLE) - place), count)
        found = task.climb(instance, climbers)
        assert found.moves is not None and instance.optimum is not None and found.gap is not None
        table.rows.append(
            [
                name,
                instance.optimum,
                climbers,
                found.length,
                shortest,
                found.climber,
                number,
                100 * found.gap,
                100 * (shortest / instance.optimum - 1),
                found.seconds,
                seconds,
                ratio(seconds / count, found.seconds / climbers),
                found.moves / found.seconds / 1e9,
                f"{found.passes.min()} … {found.passes.max()}, mean {found.passes.mean():.1f}",
            ]
        )
    return table


def ways(task: Task) -> list[tuple[str, dict[str, Any]]]:
    """Name the compared programs: c, which is the sequential one, multicore with numbers of threads, and a GPU."""
    cores = usable_cores()
    counts = sorted({2**power for power in range(cores.bit_length()) if 2**power <= cores} | {cores})
    reported: list[tuple[str, dict[str, Any]]] = [("c", {"backend": "c"})]
    reported += [(f"multicore, {count}", {"backend": "multicore", "threads": count}) for count in counts]
    named = open_backend(task.backend).name
    usable = {each.name for each in status() if each.usable}
    wanted = {named} if task.backend != "auto" else usable
    return reported + [(name, {"backend": name}) for name in BACKENDS if name in wanted - {"c", "multicore"}]


def runtimes(task: Task) -> Iterator[Table | Figure]:
    """Measure figures 1 and 2: the same climbers by all that runs here."""
    instance = instance_of(task.tsplib, "kroE100")
    reported = ways(task)
    # The sequential program takes as long as all others together, or longer.
    climbers = task.fitting(instance, task.left / RUNS / 3, CLIMBERS, backend="c")
    table = Table(
        "Figures 1 and 2: runtimes and speedups on kroE100",
        f"{climbers:,} climbers here, 100,000 in the paper; runtimes of {RUNS} runs, speedups of the medians over one "
        f"core of the same machine. {OF_THEIRS}",
        columns(
            "program|",
            "shortest|time",
            "median|time",
            "longest|time",
            "speedup|.3g",
            "median for 100,000|time",
            "shortest tour|,",
        ),
    )
    medians: dict[str, float] = {}
    for name, options in reported:
        task.climb(instance, 1, **options)
        runs = [task.climb(instance, climbers, **options) for _ in range(RUNS)]
        times = [each.seconds for each in runs]
        medians[name] = statistics.median(times)
        cells: list[Cell] = [name, min(times), medians[name], max(times), medians["c"] / medians[name]]
        table.rows.append([*cells, medians[name] * CLIMBERS / climbers, runs[0].length])
    table.rows += [
        ["theirs, one core", None, SEQUENTIAL, None, 1.0, SEQUENTIAL, 22084],
        [
            "theirs, 256 threads",
            None,
            SEQUENTIAL / THREADS_SPEEDUP,
            None,
            THREADS_SPEEDUP,
            SEQUENTIAL / THREADS_SPEEDUP,
            22084,
        ],
        ["theirs, C2050", None, GPU, None, GPU_SPEEDUP, GPU, 22084],
    ]
    yield table
    yield bars("runtimes", "Figure 1: runtimes for 100,000 climbers of kroE100", "seconds", table, MEDIAN)
    yield bars("speedups", SPEEDUPS, "times as fast", table, SPEEDUP)


def bars(name: str, title: str, axis: str, table: Table, column: int) -> Figure:
    """Draw a column of the table, a bar for each program."""
    series = [Series(str(cells[0]), [0.0], [float(cells[column] or 0)]) for cells in table.rows]
    return Figure(name, title, "", axis, ("linear", "log"), series, is_bars=True)


def revised(report: Report, folder: Path) -> Report:
    """Return a stored report with all its speedups over one core of one machine, that of `BASE`.

    The report's own core may have had other things to do.
    """
    _, base = stored(folder / BASE).tables
    core = float(str(base.rows[0][MEDIAN]))
    quality, runtimes = report.tables
    own = float(str(runtimes.rows[0][MEDIAN]))
    rows = [
        [*cells[:SPEEDUP], core / float(str(cells[MEDIAN])), *cells[MEDIAN:]]
        if not str(cells[0]).startswith("theirs")
        else cells
        for cells in runtimes.rows
    ]
    counts = runtimes.note.partition(";")[0]
    note = (
        f"{counts}; runtimes of {RUNS} runs. Speedups are of the medians: theirs over their own core, ours over one of "
        f"the two-core machine, which takes {duration(core)} for 100,000"
    )
    if core != own:
        note += f" (this host's takes {duration(own)}, which would make them {own / core:.3g} times as large)"
    table = replace(runtimes, rows=rows, note=f"{note}. {OF_THEIRS}")
    figures = [
        bars("speedups", SPEEDUPS, "times as fast", table, SPEEDUP) if each.name == "speedups" else each
        for each in report.figures
    ]
    return replace(report, tables=[quality, table], figures=figures)
