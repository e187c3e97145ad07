"""Compare many climbers at a time with those of multicore: crossover, iterated local search, and many instances.

Some faults of a GPU's code show with ten thousands of climbers only. One instance of each form of distances; every
climber's length and improvements, and the best tour, must be equal. Builds nothing; ends with 1 where anything differs.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

import pytsp
from bench.machine import describe, parser, row, tsplib
from pytsp import Result

INSTANCES = ("kroA100", "ch130", "gr120")


def are_equal(a: Result, b: Result) -> bool:
    """Tell whether two results are the same but for their times."""
    arrays = ((a.lengths, b.lengths), (a.steps, b.steps), (a.tour, b.tour))
    return (a.length, a.climber) == (b.length, b.climber) and all(np.array_equal(x, y) for x, y in arrays)


def main() -> int:
    """Print a row for each instance and solver, and one for many instances."""
    arguments = parser(str(__doc__))
    arguments.add_argument("--backend", default="cuda", help="what is compared with multicore (default: cuda)")
    arguments.add_argument("--climbers", type=int, default=20_000, help="of one instance (default: 20,000)")
    arguments.add_argument("--count", type=int, default=10_000, help="how many instances at once (default: 10,000)")
    options = arguments.parse_args()
    print(describe())
    print(row("instance", "solver", "climbers", "equal"))
    print(row(*["---"] * 4))
    differ = 0
    solvers: tuple[dict[str, Any], ...] = (
        {"solver": "eax", "iterations": 6},
        {"solver": "ils", "iterations": 30},
        {"solver": "ils", "iterations": 6, "pivot": "random-k"},
        {"solver": "eax", "iterations": 6, "population": 300},
        {"solver": "ils", "iterations": 6, "restart": 3, "merge": True},
    )
    for name in INSTANCES:
        instance = tsplib(options.tsplib, name)
        for solver in solvers:
            one, other = (
                pytsp.solve(instance, backend=backend, climbers=options.climbers, **solver)
                for backend in (options.backend, "multicore")
            )
            equal = are_equal(one, other)
            differ += not equal
            print(row(name, solver["solver"], options.climbers, "yes" if equal else "NO"), flush=True)
    points = np.random.default_rng(9).random((options.count, 100, 2))
    some, others = (pytsp.solve_many(points, backend=backend) for backend in (options.backend, "multicore"))
    unequal = sum(not are_equal(one, other) for one, other in zip(some, others, strict=True))
    print(row(f"{options.count} of 100 cities", "solve_many", 20 * options.count, "NO" if unequal else "yes"))
    return 1 if differ or unequal else 0


if __name__ == "__main__":
    sys.exit(main())
