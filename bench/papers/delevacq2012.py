"""Delévacq, Delisle and Krajecki (2012): tables 1, 2 and 3, iterated local search by 3-opt, with `delevacq`.

A CPU has one strategy, and shows lengths; on a GPU each of theirs has its own column.
"""

from __future__ import annotations

import itertools
import statistics
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytsp
from bench.papers.delevacq import BLOCKS, POPULATIONS, TABLES, Line, Run, line_of, solved
from bench.papers.instances import instance_of
from bench.papers.tables import Cell, Column, Figure, Report, Series, Table, columns
from bench.papers.task import Task, left_until, moment

TITLE = (
    "A. Delévacq, P. Delisle, M. Krajecki: Parallelization Strategies for Local Search Algorithms on Graphics "
    "Processing Units. 2012 (C2050)"
)
# Their strategies as table 1 calls them, and the mapping that is like each.
STRATEGIES = {"T": "thread", "BG": "lockstep", "BS": "block"}
# The speedups of their strategies over their sequential program, in the order of the populations.
SPEEDUPS: dict[int, dict[str, dict[str, tuple[float, ...]]]] = {
    1: {
        "T": {
            "kroA100": (0.01, 0.06, 0.34, 0.93, 2.02),
            "lin318": (0.01, 0.06, 0.35, 0.84, 1.72),
            "rat783": (0.01, 0.06, 0.34, 0.80, 1.49),
            "fl1577": (0.01, 0.05, 0.23, 0.54, 0.79),
            "pcb3038": (0.01, 0.06, 0.39, 0.76, 1.27),
        },
        "BG": {
            "kroA100": (0.08, 0.45, 2.83, 6.40, 7.07),
            "lin318": (0.09, 0.51, 3.23, 6.92, 7.77),
            "rat783": (0.07, 0.43, 2.69, 5.77, 6.37),
            "fl1577": (0.07, 0.33, 1.73, 4.59, 5.20),
            "pcb3038": (0.08, 0.46, 2.91, 5.20, 5.60),
        },
        "BS": {
            "kroA100": (0.08, 0.50, 3.13, 7.01, 7.83),
            "lin318": (0.10, 0.57, 3.54, 7.61, 8.51),
            "rat783": (0.08, 0.49, 2.18, 3.13, 3.27),
            "fl1577": (0.08, 0.40, 0.97, 1.14, 1.13),
        },
    },
    3: {
        "": {
            "kroA100": (25.06, 37.21, 45.29, 42.12, 42.32),
            "lin318": (27.55, 38.35, 45.40, 43.21, 43.58),
            "rat783": (14.76, 16.74, 17.02, 16.24, 16.74),
            "fl1577": (30.40, 29.47, 29.52, 28.02, 28.85),
            "pcb3038": (31.23, 31.20, 31.70, 30.31, 33.59),
        }
    },
}
# Which populations come first; the first is measured briefly to plan the others.
ORDER = (64, 512, 8, 2048, 1)
# What share of the time each table has, on a CPU and on a GPU.
SHARES = {False: {1: 0.8, 3: 0.2}, True: {1: 0.5, 2: 0.3, 3: 0.2}}
# The iterations of each climber by which a table's speed is learnt, and those of one climber on one core.
PROBES = {1: 256, 3: 16}
ALONE = {1: 16_384, 3: 256}
# More iterations are timed where these take less than this share of the time: for the plans, and for the speedups.
LEAST_SHARES = {"plan": 0.1, "alone": 0.5}
# Draws of a step of table 3 on a CPU, where time is short; theirs are 1,000 to 11,000.
FEW_DRAWS = 50
# Among how many blocks a climber's draws are shared out, to find the fastest; and the iterations that are timed.
BLOCK_COUNTS = (1, 2, 5, 10, 20, 30, 60, 120)
BLOCK_ITERATIONS = 4
# How many times as long as the fastest a number of blocks may take to be timed again.
CLOSE = 1.5
SEEDS, LARGE_SEEDS, LARGE = 20, 10, 1_000
# The share of their iterations that a cell of a page has at least.
LEAST_SHOWN = 0.1
# Of a solve with fewer iterations than theirs a speed is told where the first descents took less than this share of it.
DESCENT_SHARE = 0.1
NOTE = (
    "Climbers share the iterations out. A frequency is the share of seeds, from 0 on, that end on the optimum; "
    "theirs are 20 trials below 1,000 cities and 10 above. A speedup is over a sequential program: theirs, and "
    "here the c backend with one climber, by iterations a second. Of a share of the iterations a speed is told only "
    "where the first descents took less than a tenth of the time, which is left out then."
)


@dataclass
class Plan:
    """The cells of a table before they are measured.

    Attributes
    ----------
    number : int
        The table's.
    mappings : dict
        The mapping by the strategy's name in the paper, or by no name on a CPU.
    costs : dict
        By instance and strategy the seconds of the first descents of `ORDER[0]` climbers, and those of an iteration.
    alone : dict
        By instance the iterations a second of one climber on one core.
    """

    task: Task
    number: int
    mappings: dict[str, str]
    costs: dict[tuple[str, str], tuple[float, float]] = field(default_factory=dict)
    alone: dict[str, float] = field(default_factory=dict)

    def learn(self, instance: pytsp.Instance) -> None:
        """Measure an instance briefly."""
        if instance.name not in self.alone:
            for strategy, mapping in self.mappings.items():
                self.costs[instance.name, strategy] = probe(self, instance, mapping, ORDER[0], PROBES[self.number])
            alone = probe(self, instance, "auto", 1, ALONE[self.number], "c", LEAST_SHARES["alone"])
            self.alone[instance.name] = 1 / alone[1]

    def seconds(self, name: str, strategy: str, population: int, total: int) -> tuple[float, float]:
        """Return about how long the first descents and the iterations of a cell take.

        A CPU's cores have as much to do whoever does it; a GPU takes for few climbers as long as for `ORDER[0]`.
        """
        start, each = self.costs[name, strategy]
        times = population / ORDER[0]
        if self.task.is_gpu(self.task.backend):
            return start * max(1.0, times / 4), each * total / min(times, 4.0)
        return start * times, each * total

    def fitting(self, name: str, population: int, seconds: float, share: float) -> int | None:
        """Return how many iterations of all climbers fit: all, within the first time, or halved, within the second.

        None where not even one each does.
        """
        total = TABLES[self.number].totals[name]
        if self.task.is_full or self._needed(name, population, total) <= seconds:
            return total
        while self._needed(name, population, total) > share:
            if total < 2 * population:
                return None
            total //= 2
        return total

    def least(self, population: int, name: str) -> float:
        """Return about how long one iteration of each climber takes."""
        return self._needed(name, population, population)

    def _needed(self, name: str, population: int, total: int) -> float:
        return sum(sum(self.seconds(name, strategy, population, total)) for strategy in self.mappings)


def run(task: Task) -> Iterator[Table | Figure]:
    """Make the tables, and figures of the gaps over the population."""
    is_gpu = task.is_gpu(task.backend)
    for number, share in SHARES[is_gpu].items():
        if number == 2:
            yield blocks(task, share * task.seconds)
            continue
        mappings = {"": "auto"} if not is_gpu else STRATEGIES if number == 1 else {"": "lockstep"}
        plan = Plan(task, number, mappings)
        lines, table = cells(plan, share * task.seconds)
        names = list(TABLES[number].theirs)
        lines.sort(key=lambda each: (names.index(each[""].instance), each[""].population))
        table.rows = [written(plan, line) for line in lines]
        yield table
        yield gaps(number, [line[""] for line in lines])


def cells(plan: Plan, seconds: float) -> tuple[list[dict[str, Line]], Table]:
    """Measure a table's cells, by each strategy, with as many of the iterations as fit."""
    task, setting = plan.task, TABLES[plan.number]
    table = Table(f"Table {plan.number}: {setting.pivot} improvement", NOTE, heads(plan))
    lines: list[dict[str, Line]] = []
    missing: dict[str, list[str]] = {}
    end = moment(seconds)
    for name in setting.theirs:
        if left_until(end):
            plan.learn(instance_of(task.tsplib, name))
    wanted = [(population, name) for population in ORDER for name in setting.theirs]
    kept = affordable(plan, wanted, left_until(end))
    for place, (population, name) in enumerate(wanted):
        total = None
        if (population, name) in kept and left_until(end):
            # An iteration of each climber of the cells that follow is left; more of them where this cell has its share.
            following = [each for each in wanted[place + 1 :] if each in kept]
            left = left_until(end) - sum(plan.least(*each) for each in following)
            share = min(left, left_until(end) / (1 + len(following)))
            share = max(share, plan.least(population, name))
            total = plan.fitting(name, population, left if plan.number == 1 else share, share)
        if total is None:
            missing.setdefault(name, []).append(f"{population:,}")
            continue
        instance = instance_of(task.tsplib, name)
        line = {
            strategy: cell(plan, instance, mapping, population, total) for strategy, mapping in plan.mappings.items()
        }
        if any(each.lengths != next(iter(line.values())).lengths for each in line.values()):
            raise SystemExit(f"{name} with {population} climbers: strategies differ in their lengths: {line}")
        lines.append({"": next(iter(line.values())), **line})
    table.left_out = [f"{name} with {' / '.join(each)} climbers" for name, each in missing.items()]
    return lines, table


def affordable(plan: Plan, wanted: list[tuple[int, str]], seconds: float) -> set[tuple[int, str]]:
    """Choose the cells, the cheapest first, of which one iteration of each climber fits the time together."""
    known = sorted((plan.least(*each), each) for each in wanted if each[1] in plan.alone)
    sums = itertools.accumulate(least for least, _ in known)
    return {each for (_, each), total in zip(known, sums, strict=True) if total <= seconds}


def revised(report: Report, folder: Path) -> Report:
    """Return a stored report without the cells that made too few iterations to be compared with the paper's."""
    del folder
    tables = []
    for table in report.tables:
        heads = [column.head for column in table.columns]
        rows = table.rows
        if "share" in heads:
            rows = [cells for cells in rows if float(str(cells[heads.index("share")])) >= LEAST_SHOWN]
        few = len(table.rows) - len(rows)
        left_out = (
            [*table.left_out, f"{few} cells with less than a tenth of their iterations"] if few else table.left_out
        )
        tables.append(replace(table, rows=rows, left_out=left_out))
    return replace(report, tables=tables)


def heads(plan: Plan) -> list[Column]:
    """Make a table's columns."""
    reported = ["instance|", "climbers|,", "iterations|,", "share|.3g"]
    reported += ["draws|,", "theirs|,"] if plan.number == 3 else []
    reported += ["seeds|", "frequency|.2f", "theirs|.2f", "mean gap, %|.3f", "theirs|.3f"]
    for strategy in plan.mappings:
        reported += [
            f"{head} {strategy}".strip() + form for head, form in (("time", "|time"), ("k iterations/s", "|.3g"))
        ]
        reported += [f"speedup {strategy}".strip() + "|.3g"]
        reported += [f"theirs {each}|.3g" for each in ([strategy] if strategy else SPEEDUPS[plan.number])]
    return columns(*(each.replace(" |", "|") for each in reported))


def speedup_of(number: int, strategy: str, name: str, population: int) -> float | None:
    """Return a speedup of theirs; None where they have none."""
    table = SPEEDUPS[number][strategy]
    return table[name][POPULATIONS.index(population)] if name in table else None


def probe(
    plan: Plan,
    instance: pytsp.Instance,
    mapping: str,
    climbers: int,
    iterations: int,
    backend: str | None = None,
    least_share: float = LEAST_SHARES["plan"],
) -> tuple[float, float]:
    """Measure the seconds until some climbers have their local optima, and those of an iteration.

    More climbers are measured if they take less than that share of the time.
    """

    def seconds(count: int) -> float:
        return cell(plan, instance, mapping, climbers, climbers * count, 1, backend).seconds

    start = seconds(1)
    while (more := seconds(1 + iterations)) - start < least_share * more:
        iterations *= 4
    return start, (more - start) / (climbers * iterations)


def run_of(plan: Plan, name: str, mapping: str, population: int, total: int, backend: str | None = None) -> Run:
    """Make a run of one of their cells."""
    return Run(
        folder=plan.task.tsplib,
        name=name,
        population=population,
        iterations=max(1, total // population),
        exchange=None,
        restart=None,
        merge=False,
        seed=0,
        backend=backend or plan.task.backend,
        pivot=TABLES[plan.number].pivot,
        draws=draws(plan.task, plan.number, name),
        mapping=mapping,
    )


def cell(
    plan: Plan,
    instance: pytsp.Instance,
    mapping: str,
    population: int,
    total: int,
    seeds: int | None = None,
    backend: str | None = None,
) -> Line:
    """Measure one of their cells."""
    if seeds is None:
        seeds = 1 if not plan.task.is_full else SEEDS if instance.n < LARGE else LARGE_SEEDS
    run = run_of(plan, instance.name, mapping, population, total, backend)
    theirs = TABLES[plan.number].theirs[instance.name][POPULATIONS.index(population)]
    return line_of(run, [solved(replace(run, seed=seed)) for seed in range(seeds)], theirs)


def written(plan: Plan, lines: dict[str, Line]) -> list[Cell]:
    """Write a row: what all strategies come to, and the times of each."""
    line, number = lines[""], plan.number
    made = line.iterations * line.population
    row: list[Cell] = [line.instance, line.population, made, made / TABLES[number].totals[line.instance]]
    if number == 3:
        row += [draws(plan.task, number, line.instance), TABLES[number].draws[line.instance]]
    row += [len(line.lengths), line.frequency, line.theirs, line.gap, line.their_gap]
    for strategy in plan.mappings:
        seconds = lines[strategy].seconds
        speed = speed_of(plan, strategy, lines[strategy])
        row += [seconds, speed / 1e3 if speed else None, speed / plan.alone[line.instance] if speed else None]
        for each in [strategy] if strategy else SPEEDUPS[number]:
            row.append(speedup_of(number, each, line.instance, line.population))
    return row


def speed_of(plan: Plan, strategy: str, line: Line) -> float | None:
    """Return the iterations a second of a cell; None where too much of its time were the first descents."""
    made = line.iterations * line.population
    if is_whole(line, plan.number):
        return made / line.seconds
    start = plan.seconds(line.instance, strategy, line.population, made)[0]
    return made / (line.seconds - start) if start < DESCENT_SHARE * line.seconds else None


def draws(task: Task, number: int, name: str) -> int | None:
    """Return how many moves a step draws: as many as theirs, or few on a CPU; None where it draws none."""
    theirs = TABLES[number].draws[name]
    return theirs if theirs is None or task.is_full or task.is_gpu(task.backend) else FEW_DRAWS


def is_whole(line: Line, number: int) -> bool:
    """True if a row has as many iterations as theirs, up to the remainder of the division among climbers."""
    return line.iterations == TABLES[number].totals[line.instance] // line.population


def blocks(task: Task, seconds: float) -> Table:
    """Find among how many blocks the draws of a climber are best shared out."""
    reported = [f"{population:,}|" for population in POPULATIONS]
    table = Table(
        "Table 2: blocks a solution",
        f"The number, of {', '.join(map(str, BLOCK_COUNTS))}, by which the first descents and {BLOCK_ITERATIONS} "
        "iterations of so many climbers take least time, the median of three; behind it theirs.",
        columns("instance|", *reported),
    )
    plan, end = Plan(task, 3, {"": "lockstep"}), moment(seconds)
    for name, theirs in BLOCKS.items():
        row: list[Cell] = [name]
        for population, their in zip(POPULATIONS, theirs, strict=True):
            if left_until(end):
                row.append(
                    f"{fastest(run_of(plan, name, 'lockstep', population, BLOCK_ITERATIONS * population))} ({their})"
                )
            else:
                row.append(f"({their})")
                table.left_out.append(f"{name} with {population:,} climbers")
        table.rows.append(row)
    return table


def fastest(run: Run) -> int:
    """Return the number of blocks by which a run takes least time, the median of three.

    What takes far longer than the fastest the first time is not run again; a run that is not timed loads the kernels.
    """
    solved(replace(run, blocks=BLOCK_COUNTS[0]))
    seconds = {count: [solved(replace(run, blocks=count))[1]] for count in BLOCK_COUNTS}
    near = CLOSE * min(first for (first,) in seconds.values())
    for count, taken in seconds.items():
        if taken[0] <= near:
            taken += [solved(replace(run, blocks=count))[1] for _ in range(2)]
    return min(BLOCK_COUNTS, key=lambda count: statistics.median(seconds[count]))


def gaps(number: int, lines: list[Line]) -> Figure:
    """Draw the gaps over the population, theirs beside ours; the paper has them in its tables only."""
    title = f"Table {number}: mean gaps over the population"
    are_whole = all(is_whole(line, number) for line in lines)
    title += "" if are_whole else ", ours with the table's share of the iterations"
    figure = Figure(f"gaps-{number}", title, "climbers", "gap, %", ("log", "linear"))
    for name in dict.fromkeys(line.instance for line in lines):
        ours = [line for line in lines if line.instance == name]
        theirs = [gap for _, gap in TABLES[number].theirs[name]]
        figure.series.append(Series(name, [float(line.population) for line in ours], [line.gap for line in ours]))
        figure.series.append(Series(f"{name}, theirs", [float(each) for each in POPULATIONS], theirs))
    return figure
