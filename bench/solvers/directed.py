"""Asymmetric instances: edge assembly crossover beside iterated local search, and how soon they have a first tour.

The instances are drawn: "drive" has distances of the plane, three of ten ways up to 60 % longer than the others and
each city its own delay; "random" has random ways; "shop" has four quantities a city, of which only rises cost; "tmat"
has random ways, and takes detours where they are shorter.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import pytsp
from bench.harness.arguments import numbers, parser
from bench.harness.machine import describe
from bench.harness.tables import print_rows, store
from pytsp.backends import open_backend

KINDS = ("drive", "random", "shop", "tmat")
SOLVERS = ("eax", "ils")


def ways(kind: str, n: int, seed: int) -> NDArray[np.int64]:
    """Draw a matrix of a kind."""
    draw = np.random.default_rng(seed)
    if kind == "drive":
        points = draw.integers(0, 10**5, (n, 2))
        plane = pytsp.Instance.from_coordinates(points, metric="EUCLIDEAN").distance_matrix()
        longer = 1 + (draw.random((n, n)) < 0.3) * draw.uniform(0.05, 0.6, (n, n))
        return np.rint(plane * longer + draw.integers(0, 1500, (1, n))).astype(np.int64)
    if kind == "shop":
        quantities = draw.integers(0, 10**4, (4, n))
        rises: NDArray[np.int64] = np.maximum(quantities[:, None, :] - quantities[:, :, None], 0).sum(axis=0)
        return rises
    found = draw.integers(1, 10**6, (n, n))
    for city in range(n if kind == "tmat" else 0):
        np.minimum(found, found[:, city, None] + found[city], out=found)
    return found


def rows(options: dict[str, list[float]], kinds: list[str], seed: int, backend: str) -> Iterator[dict[str, object]]:
    """Yield a row for each instance and limit: the lengths, and the seconds until the first tour."""
    for n in map(int, options["cities"]):
        for kind in kinds:
            instance = pytsp.Instance.from_matrix(ways(kind, n, seed), asymmetric=True)
            for limit in options["seconds"]:
                found = {}
                for solver in SOLVERS:
                    began = time.perf_counter()
                    found[solver] = pytsp.solve(instance, solver=solver, time_limit=limit, seed=seed, backend=backend)
                    seconds = time.perf_counter() - began
                eax, ils = (found[solver].length for solver in SOLVERS)
                yield {
                    "kind": kind,
                    "n": n,
                    "limit, s": limit,
                    **{solver: found[solver].length for solver in SOLVERS},
                    "eax above ils, %": round(100 * (eax / ils - 1), 2),
                    "first tour of ils after, s": round(found["ils"].history[0].seconds, 2),
                    "in all, s": round(seconds, 2),
                }


def main() -> int:
    """Print the table."""
    arguments = parser(__doc__ or "")
    arguments.add_argument("--cities", type=numbers, default=[100, 150, 200, 300, 1000], help="default: 100 … 1000")
    arguments.add_argument("--seconds", type=numbers, default=[2.0, 5.0], help="time limits (default: 2,5)")
    arguments.add_argument("--kinds", default=",".join(KINDS), help=f"default: {','.join(KINDS)}")
    arguments.add_argument("--seed", type=int, default=0, help="of the instances and of the solvers (default: 0)")
    arguments.add_argument("--backend", default="auto", help="default: the fastest here")
    arguments.add_argument("--json", type=Path, metavar="FILE", help="store the figures here")
    options = arguments.parse_args()
    machine = f"{describe()}; {open_backend(options.backend, part='search').describe()}"
    print(machine, flush=True)
    limits = {"cities": options.cities, "seconds": options.seconds}
    shown = print_rows(rows(limits, options.kinds.split(","), options.seed, options.backend))
    store(options.json, {"machine": machine, "rows": shown})
    return 0


if __name__ == "__main__":
    sys.exit(main())
