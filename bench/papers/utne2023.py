"""Utne and Hansen (2023): accuracy over climbers; the modules beside this one have the rest."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from bench.kernels import enumerations
from bench.papers.instances import instance_of
from bench.papers.tables import Cell, Figure, Report, Series, Table, columns
from bench.papers.task import Task
from bench.papers.utne2023_others import formula, sequential, with_ten_each
from bench.papers.utne2023_programs import TIMES, times
from bench.papers.utne2023_speed import optimisations, passes_and_speed, throughput
from bench.papers.utne2023_tours import passes

TITLE = "J. Utne, H. N. W. Hansen: Solving TSP on the GPU based on heuristic algorithms. Copenhagen, 2023 (A100)"
# Section 7.4: the shortest tour by the number of climbers.
ACCURACY = {
    "berlin52": {1: 8401, 2: 8401, 5: 8118, 10: 7713, 20: 7542, 50: 7542, 100: 7542, 200: 7542},
    "kroA100": {
        1: 22805,
        10: 22236,
        100: 21601,
        1_000: 21450,
        10_000: 21292,
        20_000: 21292,
        50_000: 21292,
        75_000: 21282,
        100_000: 21282,
        125_000: 21282,
    },
    "kroA200": {
        1: 46062,
        100: 31119,
        1_000: 30346,
        10_000: 30200,
        50_000: 29974,
        100_000: 29974,
        500_000: 29850,
        1_000_000: 29850,
        1_500_000: 29689,
        5_000_000: 29665,
        10_000_000: 29665,
    },
}
# Shares of the time: accuracy, tables 2 and 3, section 7.6.3, table 4 and its figures, section 7.3, the passes.
# A run of the neighbourhoods' table has a share of its own.
SHARES, RUN = (0.35, 0.15, 0.15, 0.15, 0.06, 0.04), 0.003


def run(task: Task) -> Iterator[Table | Figure]:
    """Make the tables and figures."""
    shares = [share * task.seconds for share in SHARES]
    for part, name in zip((0.03, 0.37, 0.6), ACCURACY, strict=True):
        yield from accuracy(task, name, part * shares[0])
    for name in TIMES:
        yield times(task, name, shares[1] / 2)
    yield optimisations(task, shares[2])
    yield from throughput(task, shares[3])
    each = enumerations.SECONDS if task.is_full else RUN * task.seconds
    yield enumerations.table(task.tsplib, task.backend, each, read=instance_of)
    yield from sequential(task, shares[4])
    yield passes(task, shares[5])
    yield formula()


def accuracy(task: Task, name: str, seconds: float) -> Iterator[Table | Figure]:
    """Write a table of section 7.4 and its figure: one run, whose first climbers are the run of fewer."""
    instance = instance_of(task.tsplib, name, with_reference=True)
    theirs = ACCURACY[name]
    climbers = task.fitting(instance, seconds, max(theirs))
    found = task.climb(instance, climbers)
    optimum = instance.optimum or 0
    table = Table(
        f"Section 7.4: accuracy of {name} over climbers",
        f"Accuracy is optimum / length. Of {climbers:,} climbers, the first ones count, and in the mean any so many. "
        f"The worst climber ended at {int(found.lengths.max()):,}.",
        columns(
            "climbers|,",
            "theirs|,",
            "first ones|,",
            "in the mean|,.0f",
            "accuracy, %|.3f",
            "theirs|.3f",
            "ours by theirs|.4f",
        ),
    )
    for count, length in theirs.items():
        if count > climbers:
            table.left_out.append(f"{count:,} climbers")
            continue
        first = int(found.lengths[:count].min())
        mean = expected_shortest(found.lengths, count)
        cells: list[Cell] = [count, length, first, mean, 100 * optimum / first, 100 * optimum / length, first / length]
        table.rows.append(cells)
    yield table
    counts = [float(str(cells[0])) for cells in table.rows]
    yield Figure(
        f"accuracy-{name}",
        f"Figures 10 to 12: accuracy over climbers, {name}",
        "climbers",
        "optimum / length, %",
        ("log", "linear"),
        [
            Series("pytsp", counts, [float(str(cells[4])) for cells in table.rows]),
            Series(
                "theirs", [float(count) for count in theirs], [100 * optimum / length for length in theirs.values()]
            ),
        ],
    )


def expected_shortest(lengths: NDArray[np.int64] | NDArray[np.float64], count: int) -> float:
    """Return the mean of the shortest of `count` of the lengths, over all choices of that number."""
    ordered = np.sort(lengths)
    after = np.arange(len(ordered) - 1, -1, -1)
    beyond = np.zeros(len(ordered))
    # The probability that all lie behind a place: C(after, count) / C(all, count).
    enough = after >= count
    left = after[enough]
    total = len(ordered)
    beyond[enough] = np.exp(
        gammaln(left + 1.0) - gammaln(left - count + 1.0) - gammaln(total + 1.0) + gammaln(total - count + 1.0)
    )
    return float(np.dot(ordered, -np.diff(beyond, prepend=1.0)))


def revised(report: Report, folder: Path) -> Report:
    """Return a stored report with what older ones have all figures for: figure 22, and a row of section 7.3."""
    del folder
    figures = {figure.name: figure for figure in report.figures}
    tables = list(report.tables)
    for place, table in enumerate(tables):
        if table.title.startswith("Table 4: "):
            figures["passes"] = passes_and_speed(table)
        if table.title.startswith("Section 7.3: "):
            lines = figures["annealing"].series
            tables[place] = with_ten_each(table, lines[1], lines[-1].y[0])
    return replace(report, tables=tables, figures=list(figures.values()))
