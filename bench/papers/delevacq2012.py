"""Delévacq, Delisle and Krajecki (2012): tables 1 and 3, iterated local search by 3-opt, with `delevacq`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytsp
from bench.harness.machine import tsplib
from bench.papers.delevacq import POPULATIONS, TABLES, Line, Run, line_of, solved
from bench.papers.tables import Cell, Figure, Series, Table, columns
from bench.papers.task import Task, left_until, moment

TITLE = (
    "A. Delévacq, P. Delisle, M. Krajecki: Parallelization Strategies for Local Search Algorithms on Graphics "
    "Processing Units. 2012 (C2050)"
)
# The speedups of their fastest variant over their sequential program, in the order of the populations.
SPEEDUPS = {
    1: {
        "kroA100": (0.08, 0.50, 3.13, 7.01, 7.83),
        "lin318": (0.10, 0.57, 3.54, 7.61, 8.51),
        "rat783": (0.08, 0.49, 2.69, 5.77, 6.37),
        "fl1577": (0.08, 0.40, 1.73, 4.59, 5.20),
        "pcb3038": (0.08, 0.46, 2.91, 5.20, 5.60),
    },
    3: {
        "kroA100": (25.06, 37.21, 45.29, 42.12, 42.32),
        "lin318": (27.55, 38.35, 45.40, 43.21, 43.58),
        "rat783": (14.76, 16.74, 17.02, 16.24, 16.74),
        "fl1577": (30.40, 29.47, 29.52, 28.02, 28.85),
        "pcb3038": (31.23, 31.20, 31.70, 30.31, 33.59),
    },
}
# Which populations come first; the first is measured briefly to plan the others.
ORDER = (64, 512, 8, 2048, 1)
SHARES = {1: 0.65, 3: 0.35}
# The iterations of each climber by which a table's speed is learnt, and those of one climber on one core.
PROBES = {1: 256, 3: 16}
ALONE = {1: 16_384, 3: 256}
# Draws of a step of table 3 where time is short; theirs are 1,000 to 11,000.
FEW_DRAWS = 50
SEEDS, LARGE_SEEDS, LARGE = 20, 10, 1_000


def run(task: Task) -> Iterator[Table | Figure]:
    """Make both tables, and figures of the gaps over the population."""
    for number, share in SHARES.items():
        lines, speeds, table = cells(task, number, share * task.seconds)
        lines.sort(key=lambda line: (list(SPEEDUPS[number]).index(line.instance), line.population))
        table.rows = [written(task, line, number, speeds[line.instance]) for line in lines]
        yield table
        yield gaps(number, lines)


def cells(task: Task, number: int, seconds: float) -> tuple[list[Line], dict[str, float], Table]:
    """Measure a table's cells, as many as fit; and how many iterations a second one core makes."""
    setting = TABLES[number]
    table = Table(
        f"Table {number}: {setting.pivot} improvement",
        "Climbers share the iterations out. A frequency is the share of seeds, from 0 on, that end on the optimum; "
        "theirs are 20 trials below 1,000 cities and 10 above. A speedup is over a sequential program: theirs, and "
        "here the c backend with one climber, by iterations a second. A share marks fewer iterations than "
        "theirs, for which no speedup is told.",
        columns(
            "instance|",
            "climbers|,",
            "iterations|,",
            "share|.3g",
            "draws|,",
            "theirs|,",
            "seeds|",
            "frequency|.2f",
            "theirs|.2f",
            "mean gap, %|.3f",
            "theirs|.3f",
            "time|time",
            "k iterations/s|.3g",
            "speedup|.3g",
            "theirs|.3g",
        ),
    )
    lines: list[Line] = []
    speeds: dict[str, float] = {}
    costs: dict[str, tuple[float, float]] = {}
    missing: dict[str, list[str]] = {}
    end = moment(seconds)
    # Table 3's steps cost thousands of draws: where time is short, few of them, and one population.
    populations = ORDER if task.is_full or number == 1 else ORDER[:1]
    for population in populations:
        for place, name in enumerate(setting.theirs):
            instance, total = tsplib(task.tsplib, name), setting.totals[name]
            if name not in costs:
                if lines and not left_until(end):
                    missing.setdefault(name, []).append(f"{population:,}")
                    continue
                costs[name] = probe(task, instance, number, task.backend, ORDER[0], PROBES[number])
                speeds[name] = 1 / probe(task, instance, number, "c", 1, ALONE[number])[1]
            start, each = costs[name]
            left = left_until(end)
            if number != 1:
                left /= len(setting.theirs) - place
                while start + each * total > left and total > population:
                    total //= 2
            elif lines and start * population / ORDER[0] + each * total > left:
                missing.setdefault(name, []).append(f"{population:,}")
                continue
            line = cell(task, instance, number, population, total)
            lines.append(line)
    table.left_out = [f"{name} with {' / '.join(each)} climbers" for name, each in missing.items()]
    return lines, speeds, table


def probe(
    task: Task, instance: pytsp.Instance, number: int, backend: str, climbers: int, iterations: int
) -> tuple[float, float]:
    """Measure the seconds until so many climbers have their local optima, and those of an iteration."""
    start, more = (
        cell(task, instance, number, climbers, climbers * count, 1, backend).seconds for count in (1, 1 + iterations)
    )
    return start, max(more - start, 1e-3 * more) / (climbers * iterations)


def cell(
    task: Task,
    instance: pytsp.Instance,
    number: int,
    population: int,
    total: int,
    seeds: int | None = None,
    backend: str | None = None,
) -> Line:
    """Measure one of their cells."""
    setting = TABLES[number]
    if seeds is None:
        seeds = 1 if not task.is_full else SEEDS if instance.n < LARGE else LARGE_SEEDS
    run = Run(
        folder=task.tsplib,
        name=instance.name,
        population=population,
        iterations=max(1, total // population),
        exchange=None,
        restart=None,
        merge=False,
        seed=0,
        backend=backend or task.backend,
        pivot=setting.pivot,
        draws=draws(task, number, instance.name),
    )
    theirs = setting.theirs[instance.name][POPULATIONS.index(population)]
    return line_of(run, [solved(replace(run, seed=seed)) for seed in range(seeds)], theirs)


def written(task: Task, line: Line, number: int, alone: float) -> list[Cell]:
    """Write a row; `alone` is the number of iterations that one core makes in a second."""
    made = line.iterations * line.population
    speed = made / line.seconds
    return [
        line.instance,
        line.population,
        made,
        made / TABLES[number].totals[line.instance],
        draws(task, number, line.instance),
        TABLES[number].draws[line.instance],
        len(line.lengths),
        line.frequency,
        line.theirs,
        line.gap,
        line.their_gap,
        line.seconds,
        speed / 1e3,
        speed / alone if is_whole(line, number) else None,
        SPEEDUPS[number][line.instance][POPULATIONS.index(line.population)],
    ]


def draws(task: Task, number: int, name: str) -> int | None:
    """Return how many moves a step draws: as many as theirs, or few; None where it draws none."""
    theirs = TABLES[number].draws[name]
    return theirs if theirs is None or task.is_full else FEW_DRAWS


def is_whole(line: Line, number: int) -> bool:
    """Whether a row has as many iterations as theirs, but for what the division among climbers leaves."""
    return line.iterations == TABLES[number].totals[line.instance] // line.population


def gaps(number: int, lines: list[Line]) -> Figure:
    """Draw the gaps over the population, theirs beside ours; the paper has them in its tables only."""
    figure = Figure(
        f"gaps-{number}", f"Table {number}: mean gaps over the population", "climbers", "gap, %", ("log", "linear")
    )
    whole = [line for line in lines if is_whole(line, number)]
    for name in dict.fromkeys(line.instance for line in lines):
        ours = [line for line in whole if line.instance == name]
        theirs = [gap for _, gap in TABLES[number].theirs[name]]
        figure.series.append(Series(name, [float(line.population) for line in ours], [line.gap for line in ours]))
        figure.series.append(Series(f"{name}, theirs", [float(each) for each in POPULATIONS], theirs))
    return figure
