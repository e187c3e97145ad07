"""Gaps of a GPU and of the cores of its host over the time: python -m bench.solvers.devices.

A run is a call of `pytsp.solve` with an instance, a time limit and a seed, in a process whose kernels are open and
compiled. Gaps are above the best known lengths, in per cent: the median over the seeds, and the largest. Before the
runs each device solves each instance with the same climbers and generations; tours and lengths have to be equal.
"gpus" among the backends is all GPUs of the host, an island each.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

import pytsp
from bench.harness.arguments import numbers, whole
from bench.harness.machine import TSPLIB, describe, find
from bench.harness.tables import print_head, row, store
from pytsp.backends import open_backend
from pytsp.distributed import Devices

# The best known lengths of TSPLIB's instances, of the DIMACS challenge's, and of others too large for TSPLIB.
BEST = {
    "pr1002": 259045,
    "pr2392": 378032,
    "pcb3038": 137694,
    "fnl4461": 182566,
    "rl5915": 565530,
    "rl5934": 556045,
    "pla7397": 23260728,
    "E10k.0": 71865826,
    "usa13509": 19982859,
    "d18512": 645238,
    "pla85900": 142382641,
    "E100k.0": 225784127,
    "mona-lisa100K": 5757191,
    "usa115475": 6204999,
    "E1M.0": 713187688,
}
# The solve that every device makes of an instance before its runs, to compare tours.
COMPARED: dict[str, Any] = {"solver": "eax", "moves": "flat", "climbers": 8, "iterations": 6, "seed": 1}


@dataclass(frozen=True)
class Run:
    """One run: what was asked, and what it came to."""

    instance: str
    backend: str
    limit: float
    seed: int
    solver: str
    length: int
    seconds: float
    gap: float


def load(folder: Path, name: str) -> pytsp.Instance:
    """Read an instance from a folder, or from those beside the checkout."""
    for suffix in (".tsp", ".tsp.gz"):
        if (folder / f"{name}{suffix}").is_file():
            return pytsp.read(folder / f"{name}{suffix}")
    return find(TSPLIB, name)


def placement(backend: str, gpus: Devices | None, solver: str = "eax", **options: Any) -> dict[str, Any]:
    """Return what `solve` is asked for a device, or for all GPUs."""
    if backend != "gpus" or gpus is None:
        return {"backend": backend, "solver": solver, **options}
    names = {"moves", "climbers", "iterations"}
    asked = {name: options.pop(name) for name in names & options.keys()}
    return {"executor": gpus, "solver": pytsp.EAX(islands=len(gpus.current()), **asked), **options}


def is_equal(instance: pytsp.Instance, backends: list[str], gpus: Devices | None) -> bool:
    """Tell whether all backends make the same of an instance, and all GPUs what one makes of as many islands."""
    first, *others = (
        pytsp.solve(instance, **placement(backend, gpus, **COMPARED)) for backend in backends if backend != "gpus"
    )
    if gpus is not None:
        asked = placement("gpus", gpus, **COMPARED)
        by_all = pytsp.solve(instance, **asked)
        with Devices([0]) as one:
            by_one = pytsp.solve(instance, **{**asked, "executor": one})
        if not np.array_equal(by_all.tour, by_one.tour) or not np.array_equal(by_all.lengths, by_one.lengths):
            return False
    return all(
        np.array_equal(first.tour, other.tour) and np.array_equal(first.lengths, other.lengths) for other in others
    )


def solved(
    instance: pytsp.Instance, name: str, backend: str, limit: float, seed: int, solver: str, gpus: Devices | None
) -> Run:
    """Make one run."""
    asked = placement(backend, gpus, solver, time_limit=limit, seed=seed)
    began = time.perf_counter()
    result = pytsp.solve(instance, **asked)
    seconds = time.perf_counter() - began
    length = int(result.length)
    return Run(name, backend, limit, seed, result.solver, length, seconds, 100 * (length / BEST[name] - 1))


def main() -> int:
    """Run the benchmark; return the exit code."""
    parser = argparse.ArgumentParser(description="Compare a GPU with the cores of its host.")
    parser.add_argument("runs", nargs="+", metavar="NAME:SECONDS", help="an instance, and limits, as E10k.0:1,5")
    parser.add_argument("--folder", type=Path, default=Path(), help="where other instances lie (default: here)")
    parser.add_argument("--backends", default="cuda,multicore", help="default: cuda,multicore")
    parser.add_argument("--solver", default="auto", help="default: auto")
    parser.add_argument("--seeds", type=whole, default=3, help="how many (default: 3)")
    parser.add_argument("--json", type=Path, help="store all runs in this file")
    options = parser.parse_args()
    asked = [(name, numbers(limits)) for name, _, limits in (text.partition(":") for text in options.runs)]
    if unknown := [name for name, _ in asked if name not in BEST]:
        parser.error(f"no best known length of {', '.join(unknown)}; known: {', '.join(BEST)}")
    backends = options.backends.split(",")
    gpus = Devices("all") if "gpus" in backends else None
    for backend in backends:
        if backend == "gpus":
            continue
        for part in ("flat", "lists", "search"):
            open_backend(backend, part=part)
    print(describe(), flush=True)
    print_head("instance", "seconds", *(f"{backend}: median, most, s" for backend in backends), "equal")
    runs: list[Run] = []
    different = 0
    for name, limits in asked:
        instance = load(options.folder, name)
        equal = is_equal(instance, [*backends, "multicore"], gpus)
        different += not equal
        for limit in limits:
            cells = []
            for backend in backends:
                seeds = range(1, options.seeds + 1)
                made = [solved(instance, name, backend, limit, seed, options.solver, gpus) for seed in seeds]
                runs += made
                gaps = [run.gap for run in made]
                late = max(run.seconds for run in made)
                cells.append(f"{statistics.median(gaps):.4f}, {max(gaps):.4f}, {late:.2f}")
            print(row(name, f"{limit:g}", *cells, "yes" if equal else "NO"), flush=True)
    if gpus is not None:
        gpus.close()
    store(options.json, {"about": describe(), "runs": [asdict(run) for run in runs]})
    return int(different > 0)


if __name__ == "__main__":
    sys.exit(main())
