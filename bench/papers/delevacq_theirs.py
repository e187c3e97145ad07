"""Table 1 or 3 of Delévacq, Delisle and Krajecki (2012) by their own algorithm, beside the paper's figures.

Lists hold the 40 nearest cities. Every climber starts from a nearest-neighbour tour. A kick is a double bridge anywhere
on the tour. A tour is accepted only if it is shorter. There are 20 seeds below 1,000 cities and 10 above. Climbers do
not exchange tours, so a population of more than 64 climbers is solved as several populations of 64 with other seeds.
A run ends early on the optimum, because no further iteration could shorten its tour; seconds are those until then.

The paper does not say where its double bridge cuts a tour. Here each of its three gaps is up to a third of the tour.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import pytsp
from bench.harness.arguments import parser, whole
from bench.harness.machine import describe
from bench.harness.shuffle import shuffled
from bench.harness.tables import print_head
from bench.papers.delevacq import HEADS, POPULATIONS, TABLES, Line, Run, found_by, line_of, read, show, store, warm
from pytsp.backends import open_backend
from pytsp.solvers.common.starting_tours import NEAREST_NEIGHBOUR_CLIMBERS

# Trials of an instance below and from `LARGE` cities on: their section 5.
SEEDS, LARGE_SEEDS, LARGE = 20, 10, 1_000
NEIGHBOURS = 40


def solved(run: Run) -> tuple[int | float, float]:
    """Solve a run by their algorithm; return the shortest length of all its climbers, and the seconds."""
    instance = read(run.folder, run.name)
    warm(run.backend, run.pivot, run.draws, run.mapping)
    mixed, order = shuffled(instance, run.seed)
    lengths, seconds = [], 0.0
    for part, climbers in enumerate(parts_of(run.population)):
        found = pytsp.solve(
            mixed,
            solver="ils",
            climbers=climbers,
            iterations=run.iterations,
            seed=run.seed * max(POPULATIONS) + part,
            backend=run.backend,
            moves="3-opt",
            pivot=run.pivot,
            draws=run.draws,
            neighbours=min(NEIGHBOURS, instance.n - 1),
            quadrants=False,
            start="nearest-neighbour",
            kick="anywhere",
            acceptance="shorter",
            mapping=run.mapping,
            target=instance.optimum,
        )
        lengths.append(instance.tour_length(order[found.tour]))
        seconds += found.seconds
        if lengths[-1] == instance.optimum:
            break
    return min(lengths), seconds


def parts_of(population: int) -> list[int]:
    """Share a population out among solves of which every climber starts from a nearest-neighbour tour."""
    most = NEAREST_NEIGHBOUR_CLIMBERS
    return [min(most, population - first) for first in range(0, population, most)]


def runs_of(options: argparse.Namespace, name: str, population: int) -> list[Run]:
    """Make the runs of a row, one a seed."""
    setting = TABLES[options.table]
    seeds = options.seeds or (SEEDS if read(options.tsplib, name).n < LARGE else LARGE_SEEDS)
    return [
        Run(
            folder=options.tsplib,
            name=name,
            population=population,
            iterations=max(1, (options.total or setting.totals[name]) // population),
            exchange=None,
            restart=None,
            merge=False,
            seed=seed,
            backend=options.backend,
            pivot=setting.pivot,
            draws=setting.draws[name],
            mapping=options.mapping,
            until_optimum=True,
        )
        for seed in range(seeds)
    ]


def arguments() -> argparse.ArgumentParser:
    """Make the parser of the command line."""
    made = parser(__doc__ or "")
    made.add_argument("--table", type=int, choices=sorted(TABLES), default=1, help="theirs (default: 1)")
    made.add_argument("--instances", help="with commas between (default: all of the table)")
    made.add_argument("--populations", default=",".join(map(str, POPULATIONS)), help="some of theirs")
    made.add_argument("--total", type=whole, metavar="N", help="iterations of all climbers (default: the table's)")
    made.add_argument("--seeds", type=whole, metavar="N", help=f"default: {SEEDS}, for large ones {LARGE_SEEDS}")
    made.add_argument("--backend", default="auto", help="default: the fastest here")
    made.add_argument("--mapping", choices=("auto", "block", "thread", "lockstep"), default="auto", help="on a GPU")
    made.add_argument("--processes", type=whole, default=1, metavar="N", help="runs side by side (default: 1)")
    made.add_argument("--json", type=Path, metavar="FILE", help="store the rows here, beside those of other calls")
    return made


def main() -> int:
    """Print the rows that the command line asks for."""
    asked = arguments()
    options = asked.parse_args()
    theirs = TABLES[options.table].theirs
    populations = [int(population) for population in options.populations.split(",")]
    names = options.instances.split(",") if options.instances else list(theirs)
    for strange in [*(set(names) - set(theirs)), *(set(populations) - set(POPULATIONS))]:
        asked.error(f"{strange} is not in their tables; they have {', '.join(theirs)} and {POPULATIONS}")
    machine = f"{describe()}; {open_backend(options.backend, part='search').describe()}"
    print(f"{machine}; table {options.table} by their algorithm")
    print_head(*HEADS)
    reported = {"machine": machine, "table": options.table, "mapping": options.mapping}
    lines: list[Line] = []
    for name in names:
        for population in populations:
            runs = runs_of(options, name, population)
            found = found_by(runs, options.processes, solved)
            lines.append(line_of(runs[0], found, theirs[name][POPULATIONS.index(population)]))
            print(show(lines[-1], until_optimum=True), flush=True)
            if options.json:
                store(options.json, reported, lines[-1])
    good = sum(line.is_as_good for line in lines)
    print(f"{good} of {len(lines)} rows are at least as good as theirs")
    return 0


if __name__ == "__main__":
    sys.exit(main())
