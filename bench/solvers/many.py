"""Thousands of small instances: how long pytsp takes for all, and how far from elkai's tours it ends.

The instances are uniformly random in the unit square, 10,000 of 100 cities unless told otherwise: the usual test set
of learned heuristics. elkai, with LKH in it, solves the first `--sample` of them on one core; the gap of a solver is
that of its tour to the shorter of the two, in real lengths.
"""

from __future__ import annotations

import statistics
import sys
import time
from importlib.util import find_spec
from pathlib import Path

import numpy as np

import pytsp
from bench.harness.arguments import parser
from bench.harness.machine import describe
from bench.harness.rivals import Task, by_elkai
from bench.harness.tables import print_rows, store
from pytsp.backends import open_backend

# elkai takes whole distances: those of the unit square times this.
SCALE = 10**6


def elkai_length(instance: pytsp.Instance) -> tuple[float, float]:
    """Return the length of elkai's tour, and its seconds."""
    whole = pytsp.Instance.from_matrix(np.rint(SCALE * instance.distance_matrix()).astype(np.int64))
    found = by_elkai(Task(whole, "elkai", 0.0))
    return float(instance.tour_length(found.tour)), found.seconds


def gaps(found: list[float], others: list[float]) -> tuple[float, float]:
    """Return the mean gaps in per cent of two solvers to the shorter of their tours, instance by instance."""
    best = np.minimum(found, others)
    ours, theirs = (100 * float(np.mean(np.asarray(lengths) / best - 1)) for lengths in (found, others))
    return ours, theirs


def main() -> int:
    """Print the table."""
    arguments = parser(__doc__ or "")
    arguments.add_argument("--count", type=int, default=10_000, help="how many instances (default: 10,000)")
    arguments.add_argument("--n", type=int, default=100, help="cities of each (default: 100)")
    arguments.add_argument("--sample", type=int, default=100, help="how many elkai solves too (default: 100)")
    arguments.add_argument("--seed", type=int, default=0, help="of the cities and of the solver (default: 0)")
    arguments.add_argument("--iterations", type=int, help="generations (default: pytsp's own choice)")
    arguments.add_argument("--climbers", type=int, help="of each instance (default: pytsp's own choice)")
    arguments.add_argument("--backend", default="auto", help="default: the fastest here")
    arguments.add_argument("--json", type=Path, metavar="FILE", help="store the figures here")
    options = arguments.parse_args()
    points = np.random.default_rng(options.seed).random((options.count, options.n, 2))
    asked = {"climbers": options.climbers, "iterations": options.iterations, "seed": options.seed}
    how = {name: value for name, value in asked.items() if value is not None}
    machine = f"{describe()}; {open_backend(options.backend, part='search').describe()}"
    print(machine, flush=True)
    # Warm before the clock starts.
    pytsp.solve_many(points[:2], backend=options.backend, **how)
    began = time.perf_counter()
    results = pytsp.solve_many(points, backend=options.backend, **how)
    seconds = time.perf_counter() - began
    lengths = [float(result.length) for result in results]
    sample = min(options.sample, len(results)) if find_spec("elkai") else 0
    others = [elkai_length(result.instance) for result in results[:sample]]
    shown: dict[str, object] = {
        "instances": len(results),
        "n": options.n,
        "climbers": options.climbers or "default",
        "iterations": results[0].iterations,
        "seconds": round(seconds, 2),
        "ms each": round(1e3 * seconds / len(results), 3),
        "mean length": round(statistics.mean(lengths), 5),
    }
    if others:
        ours, theirs = gaps(lengths[:sample], [length for length, _ in others])
        shown |= {
            "sample": sample,
            "mean gap, %": round(ours, 4),
            "elkai's mean gap, %": round(theirs, 4),
            "elkai's ms each": round(1e3 * statistics.mean(spent for _, spent in others), 1),
        }
    print_rows([shown])
    store(options.json, {"machine": machine, **shown})
    return 0


if __name__ == "__main__":
    sys.exit(main())
