"""The tables of Delévacq, Delisle and Krajecki (2012) for 3-opt iterated local search, by pytsp beside theirs.

A population of p climbers makes 2**20 iterations in total, so 2**20 / p each. Table 1 is first improvement; table 3,
random-k-best improvement, has other totals, and a step of local search draws their k moves, by other odds than theirs
(docs/algorithms). On a GPU `--mapping` chooses among their strategies: thread, block (its shared memory), lockstep
(global memory; draws of table 3 are then shared out among as many blocks as in their table 2). Cities are shuffled by
the seed. "As good" compares what the paper's digits show; with few seeds, a frequency says little. Their climbers do
not exchange tours, nor begin anew; with `--exchange` and `--restart` pytsp's do. Theirs start from nearest-neighbour
tours, as pytsp's first one does with `--start nearest-neighbour`, the next 63 always. With `--processes` each run has a
process of its own, so that seconds are those of runs side by side. With `--until-optimum` a run ends there, as no
further iteration could shorten its tour, and seconds are those until then. `--json` keeps the rows that the file has
from other calls, so that a table may be measured in parts.

A. Delévacq, P. Delisle, M. Krajecki: Parallelization Strategies for Local Search Algorithms on Graphics Processing
Units, 2012; theirs are means over 20 runs below 1,000 cities and over 10 above, on a Fermi C2050.
"""

from __future__ import annotations

import argparse
import functools
import multiprocessing
import statistics
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

import pytsp
from bench.harness.arguments import parser, whole
from bench.harness.machine import describe
from bench.harness.shuffle import shuffled
from bench.harness.tables import load, print_head, row, written
from bench.papers.instances import instance_of
from pytsp.backends import open_backend
from pytsp.neighbours.lists import neighbour_lists
from pytsp.solvers.options.ils import KICKS, MAPPINGS
from pytsp.solvers.options.shared import MOVES
from pytsp.starts.construct import STARTS, Start

POPULATIONS = (1, 8, 64, 512, 2048)
TOTAL = 2**20
# Their frequency of the optimum and mean gap in per cent, by instance, in the order of the populations.
FIRST = {
    "kroA100": ((1.00, 0.000), (1.00, 0.000), (1.00, 0.000), (1.00, 0.000), (1.00, 0.000)),
    "lin318": ((1.00, 0.000), (1.00, 0.000), (1.00, 0.000), (1.00, 0.000), (1.00, 0.000)),
    "rat783": ((1.00, 0.000), (1.00, 0.000), (1.00, 0.000), (0.23, 0.020), (0.00, 0.145)),
    "fl1577": ((0.33, 0.182), (0.39, 0.010), (0.67, 0.003), (0.10, 0.015), (0.00, 0.074)),
    "pcb3038": ((0.00, 0.210), (0.00, 0.192), (0.00, 0.306), (0.00, 0.667), (0.00, 1.104)),
}
RANDOM_K = {
    "kroA100": ((1.00, 0.000), (1.00, 0.000), (1.00, 0.000), (1.00, 0.000), (1.00, 0.000)),
    "lin318": ((0.00, 0.482), (0.00, 0.483), (0.00, 0.633), (0.00, 0.875), (0.00, 0.886)),
    "rat783": ((0.00, 1.224), (0.00, 1.582), (0.00, 2.740), (0.00, 3.496), (0.00, 3.518)),
    "fl1577": ((0.00, 1.034), (0.00, 1.703), (0.00, 1.831), (0.00, 1.776), (0.00, 1.741)),
    "pcb3038": ((0.00, 4.636), (0.00, 4.940), (0.00, 5.162), (0.00, 5.104), (0.00, 4.970)),
}
RANDOM_K_TOTALS = {
    "kroA100": 1_120_000,
    "lin318": 1_120_000,
    "rat783": 560_000,
    "fl1577": 2_240_000,
    "pcb3038": 2_240_000,
}
DRAWS = {"kroA100": 5_500, "lin318": 11_000, "rat783": 10_000, "fl1577": 1_200, "pcb3038": 1_000}
# Among how many blocks the draws of a climber are shared out: their table 2, in the order of the populations.
BLOCKS = {
    "kroA100": (120, 70, 30, 5, 2),
    "lin318": (110, 60, 30, 5, 2),
    "rat783": (80, 100, 60, 10, 5),
    "fl1577": (140, 90, 60, 15, 15),
    "pcb3038": (120, 100, 90, 20, 20),
}
HEADS = (
    "instance",
    "climbers",
    "iterations each",
    "frequency",
    "theirs",
    "mean gap, %",
    "theirs, %",
    "as good",
    "seconds",
    "k iterations/s",
)


@dataclass(frozen=True)
class Setting:
    """One of their tables: the pivoting rule; by instance the iterations in total, their figures, the draws a step."""

    pivot: str
    totals: Mapping[str, int]
    theirs: Mapping[str, tuple[tuple[float, float], ...]]
    draws: Mapping[str, int | None]


TABLES = {
    1: Setting("first", dict.fromkeys(FIRST, TOTAL), FIRST, dict.fromkeys(FIRST)),
    3: Setting("random-k", RANDOM_K_TOTALS, RANDOM_K, DRAWS),
}


@dataclass(frozen=True)
class Line:
    """A row: what pytsp came to over the seeds, and their figures.

    Attributes
    ----------
    instance : str
    population, iterations : int
        The number of climbers, and how many iterations each makes.
    lengths : list of int
        By seed.
    frequency, theirs : float
        How often the optimum was found, by pytsp and by them.
    gap, their_gap : float
        The mean gap in per cent.
    seconds : float
        The median.
    """

    instance: str
    population: int
    iterations: int
    lengths: list[int | float]
    frequency: float
    theirs: float
    gap: float
    their_gap: float
    seconds: float

    @property
    def is_as_good(self) -> bool:
        """True if neither figure is worse than theirs, to the digits that they print."""
        return round(self.frequency, 2) >= self.theirs and round(self.gap, 3) <= self.their_gap


@dataclass(frozen=True)
class Run:
    """One solve: `iterations` are each climber's, and so are `exchange` and `restart`; on a GPU by that mapping."""

    folder: Path
    name: str
    population: int
    iterations: int
    exchange: int | None
    restart: int | None
    merge: bool
    seed: int
    backend: str
    pivot: str
    draws: int | None
    start: Start | None = None
    kick: str = "mixed"
    heat: float | None = None
    moves: str = "3-opt"
    mapping: str = "auto"
    blocks: int | None = None
    until_optimum: bool = False

    @property
    def draw_blocks(self) -> int | None:
        """Among how many blocks the draws of a climber are shared out: as many as theirs, where any are."""
        if self.draws is None or self.mapping != "lockstep":
            return None
        return self.blocks or BLOCKS[self.name][POPULATIONS.index(self.population)]


@functools.cache
def read(folder: Path, name: str) -> pytsp.Instance:
    """Read an instance of TSPLIB, once a process."""
    return instance_of(folder, name, with_reference=True)


def nearness(folder: Path, name: str) -> float:
    """Return the mean distance between a city and its two nearest."""
    instance = read(folder, name)
    return float(instance.distances(np.arange(instance.n)[:, None], neighbour_lists(instance, 2)).mean())


@functools.cache
def warm(backend: str, pivot: str, draws: int | None, mapping: str) -> None:
    """Load the kernels before the clock starts."""
    cities = pytsp.generate.uniform(10, 0)
    asked: dict[str, Any] = {"pivot": pivot, "draws": draws, "mapping": mapping}
    pytsp.solve(cities, solver="ils", climbers=1, iterations=1, backend=backend, **asked)


def solved(run: Run) -> tuple[int | float, float]:
    """Solve an instance, its cities shuffled by the seed; return the length and the seconds."""
    instance = read(run.folder, run.name)
    warm(run.backend, run.pivot, run.draws, run.mapping)
    mixed, order = shuffled(instance, run.seed)
    found = pytsp.solve(
        mixed,
        solver="ils",
        climbers=run.population,
        iterations=run.iterations,
        exchange=run.exchange,
        restart=run.restart,
        merge=run.merge,
        seed=run.seed,
        backend=run.backend,
        moves=run.moves,
        pivot=run.pivot,
        draws=run.draws,
        start=run.start,
        kick=run.kick,
        mapping=run.mapping,
        draw_blocks=run.draw_blocks,
        temperature=None if run.heat is None else run.heat * nearness(run.folder, run.name),
        target=instance.optimum if run.until_optimum else None,
    )
    return instance.tour_length(order[found.tour]), found.seconds


def found_by(
    runs: Iterable[Run], processes: int, solve: Callable[[Run], tuple[int | float, float]] = solved
) -> Iterator[tuple[int | float, float]]:
    """Solve in that number of processes side by side; what comes is in the order of the runs."""
    if processes == 1:
        yield from map(solve, runs)
        return
    # Processes that are spawned open the backend themselves.
    with multiprocessing.get_context("spawn").Pool(processes) as pool:
        yield from pool.imap(solve, runs)


def runs_of(options: argparse.Namespace, name: str, population: int) -> list[Run]:
    """Make the runs of a row, one a seed."""
    setting = TABLES[options.table]
    iterations = max(1, (options.total or setting.totals[name]) // population)
    run = Run(
        folder=options.tsplib,
        name=name,
        population=population,
        iterations=iterations,
        exchange=None if options.exchange is None else max(1, int(iterations * options.exchange)),
        restart=None if options.restart is None or options.restart >= iterations else options.restart,
        merge=options.merge,
        moves=options.moves,
        seed=0,
        backend=options.backend,
        pivot=setting.pivot,
        draws=setting.draws[name] if options.draws is None else options.draws,
        start=options.start,
        kick=options.kick,
        heat=options.heat,
        mapping=options.mapping,
        until_optimum=options.until_optimum,
    )
    return [replace(run, seed=seed) for seed in range(options.seeds)]


def line_of(run: Run, found: Iterable[tuple[int | float, float]], theirs: tuple[float, float]) -> Line:
    """Make a row of what the seeds' runs, of which `run` is one, came to."""
    lengths, seconds = map(list, zip(*found, strict=True))
    optimum = read(run.folder, run.name).optimum or 0
    frequency = sum(length == optimum for length in lengths) / len(lengths)
    gap = 100 * (statistics.mean(lengths) / optimum - 1)
    median = statistics.median(seconds)
    return Line(run.name, run.population, run.iterations, lengths, frequency, theirs[0], gap, theirs[1], median)


def store(file: Path, reported: dict[str, object], line: Line) -> None:
    """Write a row to a JSON file, beside those that it has; a row measured anew takes the place of the old one."""
    before = load(file)["rows"] if file.exists() else []
    row = reported | asdict(line)
    keys = ("table", "instance", "population", "mapping")
    kept = [each for each in before if any(each.get(key, "auto") != row[key] for key in keys)]
    file.write_text(written({"rows": [*kept, row]}), encoding="utf-8")


def share(text: str) -> Fraction:
    """Read a share of the iterations, such as 1/32."""
    try:
        found = Fraction(text)
    except (ValueError, ZeroDivisionError):
        found = Fraction(0)
    if not 0 < found <= 1:
        raise argparse.ArgumentTypeError(f"must be a share of the iterations, such as 1/32; it is {text!r}")
    return found


def show(line: Line, *, until_optimum: bool) -> str:
    """Write a row of the table, with the speed where all iterations were made."""
    speed = f"{line.iterations * line.population / line.seconds / 1e3:.0f}"
    return row(
        line.instance,
        f"{line.population:,}",
        f"{line.iterations:,}",
        f"{line.frequency:.2f}",
        f"{line.theirs:.2f}",
        f"{line.gap:.3f}",
        f"{line.their_gap:.3f}",
        "yes" if line.is_as_good else "no",
        f"{line.seconds:.2f}",
        "-" if until_optimum and line.frequency > 0 else speed,
    )


def main() -> int:
    """Print the table that the command line asks for."""
    arguments = parser(__doc__ or "")
    arguments.add_argument("--table", type=int, choices=sorted(TABLES), default=1, help="theirs (default: 1)")
    arguments.add_argument("--instances", help="with commas between (default: all of the table)")
    arguments.add_argument("--populations", default=",".join(map(str, POPULATIONS)), help="some of theirs")
    arguments.add_argument("--total", type=int, help="iterations of all climbers (default: the table's)")
    arguments.add_argument("--draws", type=int, metavar="K", help="moves a step of table 3 (default: theirs)")
    arguments.add_argument("--seeds", type=whole, default=10, metavar="N", help="how many (default: 10)")
    arguments.add_argument("--backend", default="auto", help="default: the fastest here")
    arguments.add_argument("--exchange", type=share, help="after this share of the iterations, such as 1/32")
    arguments.add_argument("--restart", type=whole, metavar="N", help="begin anew after each N iterations of a climber")
    arguments.add_argument("--merge", action="store_true", help="merge the climbers' tours")
    arguments.add_argument(
        "--moves", choices=MOVES, default="3-opt", help="of local search (default: 3-opt, as theirs)"
    )
    arguments.add_argument("--start", choices=STARTS, help="of the first climber (default: pytsp's)")
    arguments.add_argument("--kick", choices=KICKS, default="mixed", help="where a double bridge cuts the tour")
    arguments.add_argument(
        "--heat", type=float, help="the first temperature, in mean distances to the two nearest (default: pytsp's)"
    )
    arguments.add_argument("--mapping", choices=MAPPINGS, default="auto", help="of climbers on a GPU (default: auto)")
    arguments.add_argument("--until-optimum", action="store_true", help="end a run on the optimum")
    arguments.add_argument("--processes", type=whole, default=1, metavar="N", help="runs side by side (default: 1)")
    arguments.add_argument("--json", type=Path, metavar="FILE", help="store the rows here, beside those of other calls")
    options = arguments.parse_args()
    setting = TABLES[options.table]
    populations = [int(population) for population in options.populations.split(",")]
    names = options.instances.split(",") if options.instances else list(setting.theirs)
    for strange in [*(set(names) - set(setting.theirs)), *(set(populations) - set(POPULATIONS))]:
        arguments.error(f"{strange} is not in their tables; they have {', '.join(setting.theirs)} and {POPULATIONS}")
    if options.draws is not None and setting.pivot != "random-k":
        arguments.error(f"--draws {options.draws} is for table 3; table {options.table} draws no moves")
    machine = f"{describe()}; {open_backend(options.backend, part='search').describe()}"
    print(
        f"{machine}; table {options.table}, pivot {setting.pivot}, draws {options.draws or 'theirs'}, "
        f"exchange {options.exchange}, restart {options.restart}, merge {options.merge}, "
        f"moves {options.moves}, start {options.start or 'default'}, "
        f"kick {options.kick}, heat {options.heat or 'default'}, mapping {options.mapping}, {options.seeds} seeds"
        f"{', until the optimum' if options.until_optimum else ''}"
    )
    print_head(*HEADS)
    reported = {"machine": machine, "table": options.table, "exchange": str(options.exchange), "draws": options.draws}
    kept = ("restart", "merge", "moves", "start", "kick", "heat", "mapping", "until_optimum")
    reported |= {name: getattr(options, name) for name in kept}
    rows = [runs_of(options, name, population) for name in names for population in populations]
    found = found_by((run for runs in rows for run in runs), options.processes)
    lines = []
    for runs in rows:
        theirs = setting.theirs[runs[0].name][POPULATIONS.index(runs[0].population)]
        line = line_of(runs[0], [next(found) for _ in runs], theirs)
        print(show(line, until_optimum=options.until_optimum), flush=True)
        lines.append(line)
        if options.json:
            store(options.json, reported, line)
    good = sum(line.is_as_good for line in lines)
    print(f"{good} of {len(lines)} rows are at least as good as theirs")
    return 0


if __name__ == "__main__":
    sys.exit(main())
