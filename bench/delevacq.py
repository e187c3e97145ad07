"""The tables of Delévacq, Delisle and Krajecki (2012) for 3-opt iterated local search, by pytsp beside theirs.

A population of p climbers makes 2**20 iterations in total, so 2**20 / p each. Table 1 is first improvement; table 3,
random-k-best improvement, has other totals, and a step of local search draws their k moves, by other odds than theirs
(docs/algorithms.md). Cities are shuffled by the seed. "As good" compares what the paper's digits show; with few seeds,
a frequency says little. Their climbers do not exchange tours; with `--exchange` pytsp's do.

A. Delévacq, P. Delisle, M. Krajecki: Parallelization Strategies for Local Search Algorithms on Graphics Processing
Units, 2012; theirs are means over 20 runs below 1,000 cities and over 10 above, on a Fermi C2050.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from fractions import Fraction
from pathlib import Path

import pytsp
from bench.machine import describe, parser, row, tsplib
from bench.shuffle import shuffled
from pytsp.backends import open_backend

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
        """Whether neither figure is worse than theirs, as far as they print."""
        return round(self.frequency, 2) >= self.theirs and round(self.gap, 3) <= self.their_gap


def measure(
    instance: pytsp.Instance,
    population: int,
    total: int,
    seeds: int,
    theirs: tuple[float, float],
    exchange: Fraction | None = None,
    **options: object,
) -> Line:
    """Solve an instance by one population, once a seed; `exchange` is a share of each climber's iterations."""
    iterations = max(1, total // population)
    interval = None if exchange is None else max(1, int(iterations * exchange))
    lengths, seconds = [], []
    for seed in range(seeds):
        mixed, order = shuffled(instance, seed)
        found = pytsp.solve(
            mixed,
            solver="ils",
            climbers=population,
            iterations=iterations,
            seed=seed,
            exchange=interval,
            **options,  # type: ignore[arg-type]
        )
        lengths.append(instance.tour_length(order[found.tour]))
        seconds.append(found.seconds)
    optimum = instance.optimum or 0
    frequency = sum(length == optimum for length in lengths) / seeds
    gap = 100 * (statistics.mean(lengths) / optimum - 1)
    median = statistics.median(seconds)
    return Line(instance.name, population, iterations, lengths, frequency, theirs[0], gap, theirs[1], median)


def share(text: str) -> Fraction:
    """Read a share of the iterations, such as 1/32."""
    try:
        found = Fraction(text)
    except (ValueError, ZeroDivisionError):
        found = Fraction(0)
    if not 0 < found <= 1:
        raise argparse.ArgumentTypeError(f"must be a share of the iterations, such as 1/32; it is {text!r}")
    return found


def show(line: Line) -> str:
    """Write a row of the table."""
    speed = line.iterations * line.population / line.seconds / 1e3
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
        f"{speed:.0f}",
    )


def main() -> int:
    """Print the table that the command line asks for."""
    arguments = parser(__doc__ or "")
    arguments.add_argument("--table", type=int, choices=sorted(TABLES), default=1, help="theirs (default: 1)")
    arguments.add_argument("--instances", help="with commas between (default: all of the table)")
    arguments.add_argument("--populations", default=",".join(map(str, POPULATIONS)), help="some of theirs")
    arguments.add_argument("--total", type=int, help="iterations of all climbers (default: the table's)")
    arguments.add_argument("--draws", type=int, metavar="K", help="moves a step of table 3 (default: theirs)")
    arguments.add_argument("--seeds", type=int, default=10, metavar="N", help="how many (default: 10)")
    arguments.add_argument("--backend", default="auto", help="default: the fastest here")
    arguments.add_argument("--exchange", type=share, help="after this share of the iterations, such as 1/32")
    arguments.add_argument("--json", type=Path, metavar="FILE", help="store the table here")
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
        f"exchange {options.exchange}, {options.seeds} seeds"
    )
    print(row(*HEADS))
    print(row(*["---"] * len(HEADS)), flush=True)
    lines = []
    for name in names:
        instance = tsplib(options.tsplib, name)
        draws = setting.draws[name] if options.draws is None else options.draws
        choice = {"backend": options.backend, "pivot": setting.pivot, "draws": draws}
        # Warm before the clock starts.
        pytsp.solve(instance, solver="ils", climbers=1, iterations=1, **choice)
        for population in populations:
            theirs = setting.theirs[name][POPULATIONS.index(population)]
            line = measure(
                instance,
                population,
                options.total or setting.totals[name],
                options.seeds,
                theirs,
                exchange=options.exchange,
                **choice,
            )
            print(show(line), flush=True)
            lines.append(line)
    good = sum(line.is_as_good for line in lines)
    print(f"{good} of {len(lines)} rows are at least as good as theirs")
    if options.json:
        told = {
            "machine": machine,
            "exchange": str(options.exchange),
            "draws": options.draws,
            "rows": [asdict(line) for line in lines],
        }
        options.json.write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
