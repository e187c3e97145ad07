"""The learning literature's test sets, each in one call: python -m bench.solvers.batches tsp100 tsp500.

Uniformly random cities of the unit square, with unrounded distances. A set's gap is by how many per cent its tours are
longer than optimal ones on average; where only a mean of those is known, their mean. The seconds are those of the whole
call, kernels compiled and open. Below stand the rows that the literature prints for whole sets, on its own hardware.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import pytsp
from bench.harness.arguments import parser, positive, whole
from bench.harness.machine import NEURAL, describe
from bench.harness.tables import print_head, print_rows, row, store
from pytsp.backends import open_backend


@dataclass(frozen=True)
class Kind:
    """A number of instances of n cities, the mean length of their best known tours, and its source."""

    count: int
    n: int
    mean: float
    whose: str


SETS = {
    "tsp100": Kind(10_000, 100, 7.764537515183, "the shortest of twelve searches of each"),
    "tsp500": Kind(128, 500, 16.545805334644392, "optimal"),
    "tsp1000": Kind(128, 1_000, 23.11812, "optimal"),
    "tsp10000": Kind(16, 10_000, 71.77, "LKH-3's"),
}
# Per cent above LKH-3's tours, and how long the whole set took, as the papers print them; None where they do not.
LITERATURE = {
    "LKH-3, CPU": ("0, 56 min", "0, 32 min", "0, 8.2 h", "0, 33 min each"),
    "POMO, 8 augmentations": ("0.134, 1 min", "22", "41", None),
    "BQ, beam of 16": ("0.046, 11 min", "0.90, 6 min", "2.6, 38 min", None),
    "LEHD, 1,000 reconstructions": ("0.0016, 2.2 h", "0.167, 1.2 h", "0.72, 7 h", None),
    "DIFUSCO with MCTS": (None, "0.46", "1.17", "2.58"),
    "GLOP": (None, "1.99", "2.85", "4.4, 1.9 min"),
    "SIL, 1,000 reconstructions": (None, None, "0.38", "1.82, 5.2 h"),
}


def points_of(name: str, folder: Path) -> tuple[NDArray[np.float64], NDArray[np.float64] | None]:
    """Return a set's cities, shape (b, n, 2), and the lengths of optimal tours, shape (b,), where they are known."""
    if name == "tsp100":
        kind = SETS[name]
        # The literature draws them so, by the generator that NumPy keeps for such.
        return np.random.RandomState(1234).uniform(size=(kind.count, kind.n, 2)), None
    file = folder / f"{name}.npz"
    if not file.is_file():
        raise SystemExit(f"{file.name} is not in {folder}; name the folder of the test sets by --folder")
    with np.load(file) as stored:
        return stored["xy"], stored.get("optimal")


def gap_of(lengths: NDArray[np.float64], optimal: NDArray[np.float64] | None, mean: float) -> float:
    """Return by how many per cent tours are longer than the best known ones."""
    if optimal is not None:
        return 100 * float(np.mean(lengths / optimal - 1))
    return 100 * (float(lengths.mean()) / mean - 1)


def solved(options: argparse.Namespace, how: dict[str, Any]) -> Iterator[dict[str, object]]:
    """Yield a row for each set and seed, as soon as it is solved."""
    for name in options.sets:
        kind = SETS[name]
        points, optimal = points_of(name, options.folder)
        # Warm before the clock starts.
        pytsp.solve_many(points[:2], **how)
        for seed in range(1, options.seeds + 1):
            began = time.perf_counter()
            results = pytsp.solve_many(points, seed=seed, **how)
            seconds = time.perf_counter() - began
            lengths = np.array([result.length for result in results], dtype=np.float64)
            yield {
                "set": f"{kind.count} x {kind.n}",
                "seed": seed,
                "seconds": round(seconds, 2),
                "mean length": round(float(lengths.mean()), 6),
                "gap, %": round(gap_of(lengths, optimal, kind.mean), 4),
                "above": kind.whose,
            }


def main() -> int:
    """Print the table."""
    arguments = parser(__doc__ or "")
    arguments.add_argument("sets", nargs="+", choices=SETS, metavar="SET", help=f"{', '.join(SETS)}")
    arguments.add_argument("--folder", type=Path, default=NEURAL, help=f"where they lie (default: {NEURAL})")
    arguments.add_argument("--climbers", type=whole, help="of each instance (default: pytsp's own choice)")
    arguments.add_argument("--iterations", type=whole, help="generations (default: pytsp's own choice)")
    arguments.add_argument("--time-limit", type=positive, metavar="SECONDS", help="for a whole set (default: none)")
    arguments.add_argument("--seeds", type=whole, default=1, help="how many (default: 1)")
    arguments.add_argument("--backend", default="auto", help="default: the fastest here")
    arguments.add_argument("--json", type=Path, metavar="FILE", help="store the figures here")
    options = arguments.parse_args()
    machine = f"{describe()}; {open_backend(options.backend, part='search').describe()}"
    print(machine, flush=True)
    given = {name: getattr(options, name) for name in ("climbers", "iterations", "time_limit")}
    how = {name: value for name, value in given.items() if value is not None} | {"backend": options.backend}
    rows = print_rows(solved(options, how))
    print()
    print_head("as printed: gap, %, time", *SETS)
    for who, cells in LITERATURE.items():
        print(row(who, *(cell or "-" for cell in cells)))
    store(options.json, {"machine": machine, "asked": given, "rows": rows})
    return 0


if __name__ == "__main__":
    sys.exit(main())
