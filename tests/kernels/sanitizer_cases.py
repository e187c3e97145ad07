"""A program that buildtools.sanitize runs: each solver once, on a backend whose kernels are watched by sanitizers.

It frees what it can at its end, so that what is left is a leak. With cuda it runs under CUDA's own: see docs/trust.md.
"""

from __future__ import annotations

import gc
import sys
from itertools import product
from typing import Any

import numpy as np

import pytsp
from pytsp.backends import open_backend
from pytsp.solvers.common import task

SMALL: dict[str, dict[str, Any]] = {
    "restarts": {"climbers": 5},
    "ils": {"climbers": 3, "iterations": 60, "exchange": 20},
    "eax": {"climbers": 10},
    "large": {"iterations": 2, "piece": 20},
    "two-opt": {"k": "inf"},
    "annealing": {"climbers": 2, "iterations": 20},
    "ants": {"climbers": 1, "iterations": 5},
}


def main() -> None:
    """Solve small instances by all solvers that take them, many at once, larger ones, and call a kernel that fails."""
    name = sys.argv[1]
    rng = np.random.default_rng(0)
    points = rng.integers(0, 1000, (60, 2))
    for metric in ("EUC_2D", "EUCLIDEAN", "MAN_2D"):
        instance = pytsp.Instance.from_coordinates(points, metric)
        for solver, options in SMALL.items():
            if solver == "large" and metric == "MAN_2D":
                continue
            result = pytsp.solve(instance, solver=solver, backend=name, **options)
            print(f"{metric} {solver}: {result.length:g}", flush=True)
        # Starts in bulk, and rounds of moves of a given tour, which are not the default everywhere.
        bulk: dict[str, Any] = {**SMALL["eax"], "moves": "flat", "initial_tour": list(range(60))}
        result = pytsp.solve(instance, solver="eax", backend=name, **bulk)
        print(f"{metric} eax, in bulk: {result.length:g}", flush=True)
    for metric in ("EUC_2D", "EUCLIDEAN"):
        # More cities than a block of a GPU has threads, so that reductions take several.
        larger = pytsp.Instance.from_coordinates(rng.integers(0, 1000, (300, 2)), metric)
        many: dict[str, Any] = {"climbers": 4, "moves": "flat"}
        for solver, options in {"restarts": {"climbers": 1}, "two-opt": SMALL["two-opt"], "eax": many}.items():
            print(f"300 {metric} {solver}: {pytsp.solve(larger, solver=solver, backend=name, **options).length:g}")
    if open_backend(name).device is None:
        # Points of other metrics, which have no matrix where they are many, and open paths through them.
        task.MATRIX_CITIES = 10
        for metric, is_open in product(("MAN_2D", "HAVERSINE"), (False, True)):
            instance = pytsp.Instance.from_coordinates(points / 20, metric)
            for solver in ("ils", "eax", "large"):
                result = pytsp.solve(instance, solver=solver, backend=name, open=is_open, **SMALL[solver])
                print(f"{metric} {solver}, points, {is_open=}: {result.length:g}", flush=True)
    print(f"solve_many: {len(pytsp.solve_many(rng.random((5, 20, 2)), backend=name))} instances")
    backend = open_backend(name)
    try:
        backend.call("batch_random", 5, 0, -1, 1)
    except pytsp.KernelError as error:
        print(f"an error in a kernel: {str(error).splitlines()[0]}")
    del backend
    gc.collect()
    open_backend(name).close()


if __name__ == "__main__":
    main()
