"""Utne and Hansen (2023): accuracy over climbers, run times, throughput; modules beside this one have the rest."""

from __future__ import annotations

import statistics
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

import pytsp
from bench.harness.machine import tsplib
from bench.papers.tables import Cell, Figure, Series, Table, columns, ratio
from bench.papers.task import Task
from bench.papers.utne2023_others import formula, sequential
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
# Tables 2 and 3: milliseconds of O'Neil's program, and of theirs: the original, for 100 cities, i and j calculated.
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
# Table 4, 1,000 climbers: passes of a climber, and GB/s.
THROUGHPUT = {
    "swiss42": (29, 399.94),
    "berlin52": (43, 596.84),
    "kroA100": (92, 1592.35),
    "kroB100": (92, 1584.71),
    "kroA200": (147, 2487.95),
    "pr439": (264, 2521.72),
}
SWEEP = (1, 10, 100, 1_000, 5_000, 10_000)
TABLE_4 = 1_000
# What a move reads by their count: four distances of four bytes.
BYTES_A_MOVE = 16
# Of the time: accuracy, tables 2 and 3, table 4 and its figures; the rest is for the sequential algorithms.
SHARES = (0.4, 0.2, 0.2)
QUICK, RUNS = 1.0, 5


def run(task: Task) -> Iterator[Table | Figure]:
    """Make the tables and figures."""
    shares = [share * task.seconds for share in SHARES]
    for part, name in zip((0.03, 0.37, 0.6), ACCURACY, strict=True):
        yield from accuracy(task, name, part * shares[0])
    for name in TIMES:
        yield times(task, name, shares[1] / 2)
    yield from throughput(task, shares[2])
    yield from sequential(task)
    yield passes(task)
    yield formula()


def accuracy(task: Task, name: str, seconds: float) -> Iterator[Table | Figure]:
    """Write a table of section 7.4 and its figure: one run, whose first climbers are the run of fewer."""
    instance = tsplib(task.tsplib, name)
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
    """Return the mean of the shortest of `count` of the lengths, over all choices of so many."""
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


def ascending(
    task: Task, instance: pytsp.Instance, counts: tuple[int, ...], seconds: float
) -> Iterator[tuple[int, pytsp.Result, float]]:
    """Climb by ever more climbers as long as the next fits; tell their number, a result and the median seconds."""
    task.climb(instance, 1)
    spent = 0.0
    before: tuple[int, float] | None = None
    for count in counts:
        if before is not None and spent + before[1] * count / before[0] > seconds:
            return
        found = task.climb(instance, count)
        runs = [found.seconds]
        if found.seconds < QUICK:
            runs += [task.climb(instance, count).seconds for _ in range(RUNS - 1)]
        spent += sum(runs)
        before = (count, statistics.median(runs))
        yield count, found, before[1]


def times(task: Task, name: str, seconds: float) -> Table:
    """Write table 2 or 3."""
    theirs = TIMES[name]
    table = Table(
        f"Table {2 if name == 'kroA100' else 3}: run times on {name}",
        f"Theirs on an A100: O'Neil's program (Texas) and their three versions; medians of {RUNS} runs here where one "
        "takes less than a second. Ratios are theirs by ours.",
        columns(
            "climbers|,",
            "pytsp|time",
            "Texas|time",
            "original|time",
            "100 cities|time",
            "calculated|time",
            "calculated / pytsp|.3g",
            "Texas / pytsp|.3g",
            "G moves/s|.3g",
        ),
    )
    instance = tsplib(task.tsplib, name)
    for count, found, taken in ascending(task, instance, tuple(theirs), seconds):
        told = [each / 1e3 for each in theirs[count]]
        moves = (found.moves or 0) / taken / 1e9
        table.rows.append([count, taken, *told, ratio(told[3], taken), ratio(told[0], taken), moves])
    table.left_out = [f"{count:,} climbers" for count in list(theirs)[len(table.rows) :]]
    return table


def their_bytes(n: int, passes: int, climbers: int) -> int:
    """Count the bytes that their kernel reads and writes: section 7.7.1 and appendix B."""
    once = 2 * (n + 1) + 4 * n + 4 * (n + 1) + 8
    return passes * (n - 1) * (n - 2) // 2 * BYTES_A_MOVE + climbers * once


def throughput(task: Task, seconds: float) -> Iterator[Table | Figure]:
    """Write table 4 and draw figures 13 to 21."""
    table = Table(
        "Table 4: throughput at 1,000 climbers",
        "GB/s by their count: 16 bytes a move, four distances of their matrix, and each tour once. Our kernels compute "
        "distances from coordinates in registers and read fewer bytes; it says how fast moves are evaluated, not "
        "how busy a memory is. Moves/s of theirs are their GB/s by 16. Fewer climbers where 1,000 do not fit the time.",
        columns(
            "instance|",
            "climbers|,",
            "passes a climber|.1f",
            "theirs|",
            "G moves/s|.3g",
            "theirs|.3g",
            "GB/s by their count|.4g",
            "theirs|",
            "ours by theirs|.3g",
        ),
    )
    figure = Figure(
        "throughput", "Figures 13 to 21: throughput over climbers", "climbers", "GB/s by their count", ("log", "log")
    )
    for name, (their_passes, gigabytes) in THROUGHPUT.items():
        instance = tsplib(task.tsplib, name)
        line = Series(name, [], [])
        for count, found, taken in ascending(task, instance, SWEEP, seconds / len(THROUGHPUT)):
            speed = their_bytes(instance.n, int(found.passes.sum()), count) / taken / 1e9
            line.x.append(count)
            line.y.append(speed)
            if count <= TABLE_4:
                moves, theirs = (found.moves or 0) / taken / 1e9, gigabytes / BYTES_A_MOVE
                mean = float(found.passes.mean())
                told: list[Cell] = [name, count, mean, their_passes, moves, theirs, speed, gigabytes, speed / gigabytes]
        table.rows.append(told)
        figure.series.append(line)
    figure.series.append(Series("A100's memory", [1, max(SWEEP)], [1555, 1555]))
    yield table
    yield figure
