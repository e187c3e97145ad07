"""Utne and Hansen (2023), sections 7.6.3 and 7.7: what their optimisations gain, and throughput."""

from __future__ import annotations

import statistics
from collections.abc import Iterator

import pytsp
from bench.kernels import enumerations
from bench.papers.instances import instance_of
from bench.papers.tables import Cell, Figure, Series, Table, columns
from bench.papers.task import Task
from pytsp.solvers.options.restarts import ENUMERATIONS

# Section 7.6.3: what two versions gain over the original, which reads zipped indices, with so many climbers of kroA100;
# by neighbourhood, and whether each block has all distances in its shared memory.
GAINS = {("zipped", False): 1.0, ("closed-form", False): 1.03, ("zipped", True): 1.11}
OPTIMISED = 200_000
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
QUICK, RUNS = 1.0, 5


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


def optimisations(task: Task, seconds: float) -> Table:
    """Measure what section 7.6.3 does: indices from memory and calculated, distances in a block's shared memory."""
    table = Table(
        "Section 7.6.3: what their optimisations gain",
        f"kroA100 as a matrix of distances, as theirs, by one program with one option changed; medians of {RUNS} runs. "
        "Their original reads zipped indices; of the others the report has no figure. A CPU has no memory that a block "
        "would share.",
        columns(
            "backend|",
            "neighbourhood|",
            "climbers|,",
            "time|time",
            "G moves/s|.3g",
            "times as fast as zipped|.3f",
            "theirs|.2f",
        ),
    )
    instance = pytsp.Instance.from_matrix(instance_of(task.tsplib, "kroA100").distance_matrix())
    backends = enumerations.backends_of(task.backend)
    for name in backends:
        ways = [
            (label, options | {"neighbourhood": neighbourhood})
            for label, options, neighbourhoods in enumerations.layouts([name], instance.n)
            for neighbourhood in neighbourhoods
            if options.get("mapping") != "thread"
        ]
        each = seconds / len(backends) / len(ways) / (RUNS + 1)
        counts = [task.fitting(instance, each, OPTIMISED, **options) for _, options in ways]
        # In turn, so that what else a machine does falls on all of them.
        rounds = [
            [task.climb(instance, count, **options) for (_, options), count in zip(ways, counts, strict=True)]
            for _ in range(RUNS)
        ]
        medians = [statistics.median(found.seconds for found in runs) for runs in zip(*rounds, strict=True)]
        speeds = [(found.moves or 0) / taken / 1e9 for found, taken in zip(rounds[0], medians, strict=True)]
        zipped = speeds[ENUMERATIONS.index("zipped")]
        for (label, options), count, taken, speed in zip(ways, counts, medians, speeds, strict=True):
            theirs = GAINS.get((options["neighbourhood"], options.get("shared_matrix", False)))
            table.rows.append([label, options["neighbourhood"], count, taken, speed, speed / zipped, theirs])
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
        "how busy a memory is. Moves/s of theirs are their GB/s by 16. Fewer climbers where 1,000 do not fit the time. "
        f"Theirs are means of 100 runs; ours are medians of {RUNS}, or one run of a second or more.",
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
        instance = instance_of(task.tsplib, name)
        line = Series(name, [], [])
        for count, found, taken in ascending(task, instance, SWEEP, seconds / len(THROUGHPUT)):
            speed = their_bytes(instance.n, int(found.passes.sum()), count) / taken / 1e9
            line.x.append(count)
            line.y.append(speed)
            if count <= TABLE_4:
                moves, theirs = (found.moves or 0) / taken / 1e9, gigabytes / BYTES_A_MOVE
                mean = float(found.passes.mean())
                reported: list[Cell] = [
                    name,
                    count,
                    mean,
                    their_passes,
                    moves,
                    theirs,
                    speed,
                    gigabytes,
                    speed / gigabytes,
                ]
        table.rows.append(reported)
        figure.series.append(line)
    figure.series.append(Series("A100's memory", [1, max(SWEEP)], [1555, 1555]))
    yield table
    yield figure
    yield passes_and_speed(table)


def passes_and_speed(table: Table) -> Figure:
    """Draw figure 22 from the rows of table 4: what the passes of a climber do to the throughput."""
    reported = sorted([[float(str(cell)) for cell in cells[2:]] for cells in table.rows])
    theirs = sorted(THROUGHPUT.values())
    return Figure(
        "passes",
        "Figure 22: throughput over the passes of a climber",
        "passes a climber",
        "GB/s by their count",
        ("linear", "log"),
        [
            Series("pytsp", [cells[0] for cells in reported], [cells[4] for cells in reported]),
            Series("theirs", [float(count) for count, _ in theirs], [speed for _, speed in theirs]),
        ],
    )
