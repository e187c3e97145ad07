"""Measure one huge tour by stripes, per city: seconds, bytes and memory, and model these at any scale.

A tour of `--cities` is searched by one process for some seconds, and in stripes by `--workers` for as long, divided by
their number. The gaps are to 0.7124 sqrt(n A), near which shortest tours of uniformly random cities are (Johnson and
McGeoch, 1997). What parts of the solve took is told by city; the model adds them up for other numbers of cities and
workers. `--check` has the model foretell solves of given numbers of rounds, and measures them.
"""

from __future__ import annotations

import math
import resource
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

import pytsp
from bench.harness.arguments import parser, positive, whole
from bench.harness.machine import describe
from bench.harness.tables import print_rows, store
from pytsp import generate
from pytsp.distributed import Processes
from pytsp.distributed.search import Part
from pytsp.distributed.slices import Report
from pytsp.distributed.stripes import EPOCHS, Stripes

SHORTEST = 0.7124
# What a city takes: of the coordinator its coordinates, three tours and what is being sent; of a worker its instance,
# and of each city of its stripe lists, links and states (docs/algorithms/huge-tours.md).
COORDINATOR_BYTES, INSTANCE_BYTES, STRIPE_BYTES = 60, 32, 160
# What is sent: the instance once, and of each epoch a path there and back.
ONCE_BYTES, EPOCH_BYTES = 16, 8


@dataclass
class Costs:
    """Seconds a city, of one core: of the coordinator before the first stripe, of a worker to begin a stripe, to begin
    passes over all cities and to make them, each time; and of a kick."""

    first: float = 0.0
    begin: float = 0.0
    whole: float = 0.0
    kick: float = 0.0
    parts: list[tuple[str, float, float, int]] = field(default_factory=list)

    def seconds(self, n: float, workers: int, rounds: int) -> float:
        """Return the prediction of the model for a solve of `rounds` rounds, a tenth of a kick a city in each."""
        epochs = min(EPOCHS, rounds)
        by_one = n * (self.first + epochs * self.whole)
        return by_one + n / workers * (epochs * self.begin + 0.1 * rounds * self.kick)


def recorded(instance: pytsp.Instance, **how: Any) -> tuple[pytsp.Result, Costs]:
    """Solve in stripes, and return what the parts took."""
    costs, taken, began = Costs(), Stripes.take, time.perf_counter()
    first: list[float] = []

    def take(search: Stripes, part: Part, reported: Report) -> None:
        if not first:
            first.append(time.perf_counter() - began - part.seconds)
        kicks = 0 if reported.climbers is None else int(reported.climbers.steps.sum())
        costs.parts.append((part.key, reported.began_seconds, reported.seconds, kicks))
        taken(search, part, reported)

    with patch.object(Stripes, "take", take):
        result = pytsp.solve(instance, solver="large", **how)
    n, stripes = instance.n, how["stripes"]
    begun = [began for key, began, _, _ in costs.parts if key.startswith("stripe") and began > 0.01]
    climbed = sum(seconds - began for key, began, seconds, _ in costs.parts if key.startswith("stripe"))
    passes = {key for key, *_ in costs.parts if key.startswith("passes")}
    costs.first = max(0.0, first[0]) / n
    costs.begin = float(np.mean(begun)) * stripes / n if begun else 0.0
    costs.whole = sum(s for key, _, s, _ in costs.parts if key in passes) / max(1, len(passes)) / n
    costs.kick = climbed / max(1, int(result.steps[0]))
    return result, costs


def peak() -> tuple[float, float]:
    """Return the most memory that this process has had, and the largest of its children, in GB."""
    return tuple(resource.getrusage(who).ru_maxrss / 2**20 for who in (0, resource.RUSAGE_CHILDREN))  # type: ignore[return-value]


def compare(n: int, seconds: float, workers: int) -> list[dict[str, object]]:
    """Return a row of one process and one of several, for as much time of cores."""
    instance = generate.uniform(n, seed=n)
    assert instance.coordinates is not None
    low, high = instance.coordinates.min(axis=0), instance.coordinates.max(axis=0)
    shortest = SHORTEST * math.sqrt(n * float(np.prod(high - low)))
    rows: list[dict[str, object]] = []

    def tell(name: str, result: pytsp.Result) -> None:
        gap = 100 * (float(result.length) / shortest - 1)
        rows.append({"by": name, "s": round(result.seconds, 1), "gap %": round(gap, 2), "kicks": int(result.steps[0])})
        print(rows[-1], result.tasks, peak(), flush=True)

    with Processes(workers, threads=1) as processes:
        limit = seconds / workers
        result, costs = recorded(instance, stripes=workers, executor=processes, backend="c", time_limit=limit)
        tell(f"{workers} processes", result)
        print({name: value for name, value in vars(costs).items() if name != "parts"}, flush=True)
    tell("one process", pytsp.solve(instance, solver="large", backend="c", time_limit=seconds))
    return rows


def check(costs: Costs, points: list[tuple[int, int]], rounds: int) -> list[dict[str, object]]:
    """Return a row for each number of cities and workers: what the model foretells, and what it took."""
    rows: list[dict[str, object]] = []
    for n, workers in points:
        instance = generate.uniform(n, seed=n)
        with Processes(workers, threads=1) as processes:
            how: dict[str, Any] = {"executor": processes, "backend": "c", "iterations": rounds, "stripes": 2}
            pytsp.solve(generate.uniform(5_000, seed=1), solver="large", **how)
            began = time.perf_counter()
            result, _ = recorded(instance, **how)
            took = time.perf_counter() - began
        tasks = result.tasks
        assert tasks is not None
        foretold = costs.seconds(n, workers, rounds)
        sent = (tasks.bytes_sent + tasks.bytes_received) / n
        rows.append(
            {"n": n, "workers": workers, "foretold s": round(foretold, 1), "s": round(took, 1), "B a city": sent}
        )
        print(rows[-1], flush=True)
    return rows


def main() -> int:
    """Print the tables."""
    arguments = parser(__doc__ or "")
    arguments.add_argument("--cities", type=whole, default=10_000_000, metavar="N", help="default: 10,000,000")
    arguments.add_argument("--seconds", type=positive, default=400.0, help="of one core (default: 400)")
    arguments.add_argument("--workers", type=whole, default=2, help="default: 2")
    arguments.add_argument("--check", action="store_true", help="foretell and measure 500,000 and 1,000,000 cities")
    arguments.add_argument("--json", type=Path, metavar="FILE", help="store the figures here")
    options = arguments.parse_args()
    print(describe(), flush=True)
    if options.check:
        rounds = 4
        with Processes(1, threads=1) as processes:
            how: dict[str, Any] = {"executor": processes, "backend": "c", "iterations": rounds, "stripes": 2}
            pytsp.solve(generate.uniform(5_000, seed=1), solver="large", **how)
            _, costs = recorded(generate.uniform(250_000, seed=1), **how)
        print({name: f"{value:.3g}" for name, value in vars(costs).items() if name != "parts"}, flush=True)
        rows = check(costs, [(500_000, 1), (1_000_000, 2)], rounds)
    else:
        rows = compare(options.cities, options.seconds, options.workers)
    print_rows(rows)
    store(options.json, {"machine": describe(), "rows": rows})
    return 0


if __name__ == "__main__":
    sys.exit(main())
