"""Compare many climbers at a time with those of multicore: crossover, iterated local search, random restarts through a
matrix of each size of numbers and of cities that has blocks of its own (gpu_climbs.fut), and many instances.

Some faults of a GPU's code show with ten thousands of climbers only. One instance of each form of distances; every
climber's length and improvements, and the best tour, must be equal. Builds nothing; ends with 1 where anything differs.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import pytsp
from bench.harness.arguments import parser
from bench.harness.machine import describe, tsplib
from bench.harness.tables import print_head, row
from pytsp import Result

INSTANCES = ("kroA100", "ch130", "gr120")
SEARCHES: tuple[dict[str, Any], ...] = (
    {"solver": "eax", "iterations": 6, "moves": "flat"},
    {"solver": "ils", "iterations": 30, "moves": "3-opt"},
    {"solver": "ils", "iterations": 4, "moves": "lk"},
    {"solver": "ils", "iterations": 6, "pivot": "random-k"},
    {"solver": "eax", "iterations": 6, "moves": "flat", "population": 300},
    {"solver": "ils", "iterations": 6, "restart": 3, "merge": True, "moves": "3-opt"},
)
# Cities, the side of their square, and how many climbers at most: taxicab distances of both sides of 2^16.
MATRICES = (
    *((24, 200_000, 20_000), (25, 3, 20_000), (33, 200_000, 3_000), (100, 200_000, 265), (100, 200_000, 20_000)),
    *((249, 200_000, 2_000), (249, 20_000, 2_000), (250, 20_000, 2_000), (319, 200_000, 1_000), (320, 200_000, 1_000)),
    *((400, 200_000, 20), (499, 20_000, 400), (500, 20_000, 400), (1500, 20_000, 2), (1500, 200_000, 2)),
)


def are_equal(a: Result, b: Result) -> bool:
    """Tell whether two results are the same but for their times."""
    arrays = ((a.lengths, b.lengths), (a.steps, b.steps), (a.tour, b.tour))
    return (a.length, a.climber) == (b.length, b.climber) and all(np.array_equal(x, y) for x, y in arrays)


def cases(folder: Path, most: int) -> Iterator[tuple[str, pytsp.Instance, dict[str, Any]]]:
    """Yield what an instance is called, itself, and the options of a solve with that many climbers at most."""
    for name in INSTANCES:
        for options in SEARCHES:
            yield name, tsplib(folder, name), options | {"climbers": most}
    for n, side, climbers in MATRICES:
        points = np.random.default_rng(n).integers(0, side, (n, 2))
        instance = pytsp.Instance.from_coordinates(points, metric="MAN_2D")
        yield f"{n} cities, side {side}", instance, {"solver": "restarts", "climbers": min(climbers, most)}


def main() -> int:
    """Print a row for each solve, and one for many instances."""
    arguments = parser(str(__doc__))
    arguments.add_argument("--backend", default="cuda", help="what is compared with multicore (default: cuda)")
    arguments.add_argument("--climbers", type=int, default=20_000, help="of one instance (default: 20,000)")
    arguments.add_argument("--count", type=int, default=10_000, help="how many instances at once (default: 10,000)")
    options = arguments.parse_args()
    backends = (options.backend, "multicore")
    print(describe())
    print_head("instance", "solver", "climbers", "equal")
    differ = 0
    for name, instance, chosen in cases(options.tsplib, options.climbers):
        one, other = (pytsp.solve(instance, backend=backend, **chosen) for backend in backends)
        equal = are_equal(one, other)
        differ += not equal
        print(row(name, chosen["solver"], chosen["climbers"], "yes" if equal else "NO"), flush=True)
    points = np.random.default_rng(9).random((options.count, 100, 2))
    some, others = (pytsp.solve_many(points, backend=backend) for backend in backends)
    unequal = sum(not are_equal(one, other) for one, other in zip(some, others, strict=True))
    print(row(f"{options.count} of 100 cities", "solve_many", 20 * options.count, "NO" if unequal else "yes"))
    return 1 if differ or unequal else 0


if __name__ == "__main__":
    sys.exit(main())
