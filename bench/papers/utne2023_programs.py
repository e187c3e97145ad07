"""Utne and Hansen (2023), tables 2 and 3: each of their four programs beside ours of the same design.

Theirs are O'Neil's program (a climber a thread) and three versions of their own (a climber a block): zipped indices,
the same with all distances in the block's memory, and calculated indices. Ours are options of one program; all of them
end on the same climbers, which is checked. A CPU has neither threads nor blocks of a GPU, and two of the four columns.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytsp
from bench.harness.arguments import parser, positive
from bench.harness.machine import describe
from bench.kernels.enumerations import agree
from bench.papers.instances import ABOUT_STAND_INS, instance_of, stand_ins
from bench.papers.tables import Cell, Report, Table, columns, ratio
from bench.papers.task import Task, left_until, moment
from pytsp.backends import open_backend
from pytsp.solvers.common.placement import fits_with_distances

# Milliseconds on an A100: O'Neil's program (Texas), and their versions: original, 100 cities, calculated.
TIMES = {
    "kroA100": {
        1_000: (136, 5, 4, 5),
        10_000: (143, 40, 36, 39),
        50_000: (144, 198, 179, 191),
        100_000: (144, 396, 357, 382),
        200_000: (337, 792, 714, 765),
        300_000: (546, 1187, 1070, 1150),
    },
    "berlin52": {
        1_000: (17, 2, 2, 2),
        10_000: (17, 12, 11, 12),
        50_000: (17, 59, 54, 59),
        100_000: (18, 117, 108, 118),
    },
}
# Runs of a cell, whose median counts; one run where it takes that many seconds.
RUNS, QUICK = 5, 1.0
# Climbers whose time says whether the first row of a program fits.
PROBE = 10


@dataclass(frozen=True, eq=False)
class Program:
    """A program of ours: its column, the column of theirs beside it, and its options by backend's kind."""

    name: str
    theirs: str
    cpu: dict[str, Any] | None
    gpu: dict[str, Any]

    def options(self, task: Task, n: int) -> dict[str, Any] | None:
        """Return the options on n cities, or None where the backend has no such program."""
        if not task.is_gpu(task.backend):
            return self.cpu
        kernels = open_backend(task.backend)
        return None if "shared_matrix" in self.gpu and not fits_with_distances(n, kernels) else self.gpu


PROGRAMS = (
    Program("thread", "Texas", None, {"mapping": "thread"}),
    Program("zipped", "original", {"neighbourhood": "zipped"}, {"mapping": "block", "neighbourhood": "zipped"}),
    Program(
        "zipped, distances in the block",
        "100 cities",
        None,
        {"mapping": "block", "neighbourhood": "zipped", "shared_matrix": True},
    ),
    Program(
        "closed form",
        "calculated",
        {"neighbourhood": "closed-form"},
        {"mapping": "block", "neighbourhood": "closed-form"},
    ),
    Program("default", "", {}, {}),
)


def times(task: Task, name: str, seconds: float) -> Table:
    """Write table 2 or 3: by each program as many climbers as fit its share of the time."""
    theirs = TIMES[name]
    table = Table(
        f"Table {2 if name == 'kroA100' else 3}: run times on {name}",
        f"Each program of theirs, on an A100, behind ours of the same design; both take distances from a matrix. Ours "
        f"are medians of {RUNS} runs where one takes less than a second. `default` takes distances from coordinates by "
        "our fastest kernel. All end on the same climbers.",
        columns(
            "climbers|,",
            *(f"{head}|time" for each in PROGRAMS for head in filter(None, (each.name, each.theirs))),
            "Texas / thread|.3g",
            "original / zipped|.3g",
            "thread / zipped|.3g",
        ),
    )
    matrix = pytsp.Instance.from_matrix(instance_of(task.tsplib, name).distance_matrix())
    end, spent = moment(seconds), dict.fromkeys(PROGRAMS, 0.0)
    for count, reported in theirs.items():
        cells = dict.fromkeys(PROGRAMS, None) | dict(measured(task, name, matrix, count, spent, end))
        if not any(cells.values()):
            break
        row: list[Cell] = [count]
        for program, their in zip(PROGRAMS, (*reported, None), strict=True):
            row += [cells[program]] if their is None else [cells[program], their / 1e3]
        thread, zipped = cells[PROGRAMS[0]], cells[PROGRAMS[1]]
        row += [ratio(reported[0] / 1e3, thread), ratio(reported[1] / 1e3, zipped), ratio(thread, zipped)]
        table.rows.append(row)
    table.left_out = [f"{count:,} climbers" for count in list(theirs)[len(table.rows) :]]
    return table


def measured(
    task: Task, name: str, matrix: pytsp.Instance, count: int, spent: dict[Program, float], end: float
) -> Iterator[tuple[Program, float]]:
    """Give the median seconds of each program that the backend has and the time allows.

    `spent` holds the seconds that each program has taken for a climber so far, or 0.
    """
    first: pytsp.Result | None = None
    for program in PROGRAMS:
        options = program.options(task, matrix.n)
        if options is None:
            continue
        instance = matrix if program.theirs else instance_of(task.tsplib, name)
        if not spent[program] and left_until(end):
            task.climb(instance, 1, **options)
            spent[program] = task.climb(instance, PROBE, **options).seconds / PROBE
        if spent[program] * count > left_until(end) or not left_until(end):
            continue
        found = task.climb(instance, count, **options)
        runs = [found.seconds]
        if found.seconds < QUICK:
            runs += [task.climb(instance, count, **options).seconds for _ in range(RUNS - 1)]
        if first is not None and not agree(first, found):
            raise SystemExit(f"{name}: {program.name} ends on other climbers than {PROGRAMS[0].name}")
        first = first or found
        spent[program] = sum(runs) / count
        yield program, statistics.median(runs)


def arguments() -> argparse.ArgumentParser:
    """Make the parser of the command line."""
    made = parser(__doc__ or "")
    made.add_argument("--backend", default="auto", help="default: the fastest here")
    made.add_argument("--seconds", type=positive, default=60.0, help="of each table, about (default: 60)")
    made.add_argument("--seed", type=int, default=0, help="default: 0")
    made.add_argument("--json", type=Path, metavar="FILE", help="store the tables here")
    return made


def main(words: list[str] | None = None) -> int:
    """Print tables 2 and 3, and store them."""
    options = arguments().parse_args(words)
    task = Task(options.backend, 2 * options.seconds, options.seed, options.tsplib)
    machine = f"{describe()}; {open_backend(options.backend, part='restarts').describe()}"
    command = f"python -m bench.papers.utne2023_programs --backend {options.backend} --seconds {options.seconds:g}"
    report = Report("utne2023", "J. Utne, H. N. W. Hansen, 2023: tables 2 and 3", machine, command, options.seed)
    print(report.titled(), flush=True)
    for name in TIMES:
        report.tables.append(times(task, name, options.seconds))
        if stand_ins():
            report.remark(ABOUT_STAND_INS)
        print(report.tables[-1].markdown(), flush=True)
        if options.json:
            report.store(options.json)
    return 0


if __name__ == "__main__":
    sys.exit(main())
