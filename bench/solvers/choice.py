"""Compare the solvers, and `solver="auto"`, within time limits, by kind of instance and number of cities.

A cell of the table is a kind of instances, a number of cities and a time limit; a seed is that of its cities and of the
solver. The gap of a solver is that of its tour to the shortest that any solver found for the same seed, in per cent,
the median over the seeds. Solvers other than "auto" do not count where they are later than 0.05 s and 2 %. Runs
count from the call of `pytsp.solve`, neighbour lists and the first tours among them.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import pytsp
from bench.harness import rivals
from bench.harness.arguments import numbers, positive, whole
from bench.harness.kinds import KINDS
from bench.harness.machine import describe
from bench.harness.runs import Run
from bench.harness.tables import load, print_head, row, store
from bench.harness.workers import Failure, Worker
from pytsp.backends.devices import usable_cores

ASKED = "plane,matrix,haversine,plane-path,asymmetric"
SIZES = "200,500,1000,1400,2000,3000,5000,8000,12000,20000"
SOLVERS = ("auto", "eax", "ils", "large")
# Seconds beyond a limit, and its share, by which a run may be late.
LATE_SECONDS, LATE_SHARE = 0.05, 0.02
# Seconds beyond its limit after which a run is ended.
PATIENCE = 120.0


class Cell(NamedTuple):
    """A kind of instances, a number of cities, a time limit."""

    kind: str
    n: int
    limit: float


@dataclass(frozen=True)
class Task:
    """A run: its cell, its seed, its solver, on which backend."""

    cell: Cell
    seed: int
    solver: str
    backend: str
    threads: int


@lru_cache(maxsize=1)
def drawn(kind: str, n: int, seed: int) -> pytsp.Instance:
    """Draw an instance."""
    return KINDS[kind].instance(n, seed, f"{kind}-{n}-{seed}")


def measure(task: Task) -> Run:
    """Make a run."""
    (name, n, limit), kind = task.cell, KINDS[task.cell.kind]
    instance = drawn(name, n, task.seed)
    options = (("solver", task.solver), *kind.options(n).items())
    asked = rivals.Task(instance, f"pytsp {task.backend}", limit, task.seed, task.threads, options=options)
    found = rivals.answer(asked)
    length = kind.length(instance, found.tour)
    return Run(task.solver, name, n, task.seed, limit, found.seconds, length, None)


def cells(kinds: list[str], sizes: list[int], limits: list[float]) -> Iterator[Cell]:
    """Return the cells of the table, those that take least time first."""
    for limit in limits:
        for kind in kinds:
            yield from (Cell(kind, n, limit) for n in sizes if n <= KINDS[kind].most)


def is_late(run: Run) -> bool:
    """Tell whether a run took longer than its limit allows."""
    assert run.limit is not None
    return run.seconds > (1 + LATE_SHARE) * run.limit + LATE_SECONDS


def gaps(runs: list[Run]) -> dict[str, float]:
    """Return the gap of each solver in a cell to the best of its seed, in per cent; its median over the seeds."""
    done = [run for run in runs if run.length is not None and (run.peer == "auto" or not is_late(run))]
    best = {run.seed: min(other.length or 0 for other in done if other.seed == run.seed) for run in done}
    compared = [replace(run, optimum=best[run.seed]) for run in done]
    return {
        solver: statistics.median(run.gap for run in compared if run.peer == solver)
        for solver in SOLVERS
        if any(run.peer == solver for run in compared)
    }


def loss(found: dict[str, float]) -> float | None:
    """Return how much longer the tours of `auto` are than those of the best solver; None where it did not run."""
    return found["auto"] - min(found.values()) if "auto" in found else None


def of_cell(cell: Cell, seeds: int, worker: Worker[Task, Run], options: argparse.Namespace) -> Iterator[Run]:
    """Make the runs of a cell."""
    for seed in range(seeds):
        for solver in SOLVERS:
            if KINDS[cell.kind].takes(solver):
                try:
                    task = Task(cell, seed, solver, options.backend, options.threads)
                    yield worker.ask(task, cell.limit + PATIENCE)
                except Failure as failure:
                    yield Run(solver, cell.kind, cell.n, seed, cell.limit, cell.limit, None, None, problem=str(failure))


def show(cell: Cell, runs: list[Run]) -> float:
    """Print a cell's row; return the loss of `auto`."""
    found = gaps(runs)
    lost = loss(found)
    reported = (f"{found[solver]:.2f}" if solver in found else "–" for solver in SOLVERS)
    print(row(*cell[:2], f"{cell.limit:g}", *reported, "–" if lost is None else f"{lost:.2f}"), flush=True)
    return lost or 0.0


def stored_cells(runs: list[Run]) -> dict[Cell, list[Run]]:
    """Return runs by their cells, in their order."""
    every: dict[Cell, list[Run]] = {}
    for run in runs:
        assert run.limit is not None
        every.setdefault(Cell(run.instance, run.n, run.limit), []).append(run)
    return every


def sizes(text: str) -> list[int]:
    """Read numbers of cities with commas between them."""
    return sorted({whole(number) for number in text.split(",")})


def kinds(text: str) -> list[str]:
    """Read kinds of instances with commas between them."""
    for name in text.split(","):
        if name not in KINDS:
            raise argparse.ArgumentTypeError(f"{name!r} is not known; known: {', '.join(KINDS)}")
    return text.split(",")


def main() -> int:
    """Print the table; the exit code is 1 if a run failed."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--kinds", type=kinds, default=ASKED.split(","), metavar="K,K", help=f"default: {ASKED}")
    arguments.add_argument("--sizes", type=sizes, default=sizes(SIZES), metavar="N,N", help=f"default: {SIZES}")
    arguments.add_argument("--limits", type=numbers, default=numbers("0.5,1,2,5,10,30"), metavar="S,S")
    arguments.add_argument("--seeds", type=whole, default=3, metavar="N", help="how many (default: 3)")
    arguments.add_argument("--backend", default="multicore", help="default: multicore")
    arguments.add_argument("--threads", type=whole, default=usable_cores(), help="of multicore")
    arguments.add_argument("--budget", type=positive, metavar="SECONDS", help="begin no cell that would take longer")
    arguments.add_argument("--json", type=Path, metavar="FILE", help="store all runs here")
    arguments.add_argument("--stored", type=Path, metavar="FILE", help="run nothing, show what --json has stored here")
    options = arguments.parse_args()
    began = time.perf_counter()
    stored = load(options.stored) if options.stored else None
    known = stored_cells([Run(**run) for run in stored["runs"]]) if stored else {}
    every = list(known) or list(cells(options.kinds, options.sizes, options.limits))
    machine = stored["machine"] if stored else f"{describe()}; {options.threads} threads"
    print(machine, flush=True)
    print_head("kind", "n", "limit, s", *(f"{solver}, %" for solver in SOLVERS), "auto worse by, %")
    worker: Worker[Task, Run] = Worker(measure)
    runs: list[Run] = []
    losses: list[float] = []
    try:
        for cell in every:
            needed = options.seeds * sum(KINDS[cell.kind].takes(solver) for solver in SOLVERS) * cell.limit
            if not stored and options.budget and time.perf_counter() - began + needed > options.budget:
                continue
            found = known[cell] if stored else list(of_cell(cell, options.seeds, worker, options))
            runs += found
            losses.append(show(cell, found))
    finally:
        worker.end()
        store(options.json, {"machine": machine, "runs": [asdict(run) for run in runs]})
    mean, most = statistics.fmean(losses or [0.0]), max(losses, default=0.0)
    print(f"\n{len(losses)} of {len(every)} cells; auto is worse by {mean:.2f} % in the mean, by {most:.2f} % at most")
    for run in runs:
        if run.problem:
            print(f"{run.peer}, {run.instance}, {run.n} cities, {run.limit:g} s, seed {run.seed}: {run.problem}")
    return int(any(run.problem for run in runs))


if __name__ == "__main__":
    sys.exit(main())
