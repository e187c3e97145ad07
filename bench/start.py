"""How long a command takes that has hardly anything to solve, in a fresh process each time: what starting costs.

`python -m pytsp solve uniform100 --climbers 10` by random restarts and by the default solver, on each backend: medians,
with the shortest and the longest. A run before the first fills the caches, that of the compiled kernels too. What is
not the solve's own time went into starting Python, imports, reading the instance, and ending; the solve's own begins
with the wait for the device, as far as that is not open yet, and holds SciPy's import where the solver needs it.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import time

from bench.machine import ROOT, describe, row
from pytsp.backends import status

COMMAND = ("-m", "pytsp", "solve", "uniform100", "--climbers", "10", "--json")
SOLVERS: dict[str, tuple[str, ...]] = {"restarts": ("--solver", "restarts"), "default": ()}
# What every start is compared with.
FLOORS = {"nothing": ("-c", "pass"), "NumPy's import": ("-c", "import numpy")}


def timed(*words: str) -> tuple[float, str]:
    """Run Python in a fresh process; return its seconds and its output."""
    began = time.perf_counter()
    done = subprocess.run([sys.executable, *words], stdout=subprocess.PIPE, text=True, check=True, cwd=ROOT)
    return time.perf_counter() - began, done.stdout


def spread(seconds: list[float]) -> str:
    """Write a median with the shortest and the longest."""
    return f"{statistics.median(seconds):.3f} ({min(seconds):.3f} … {max(seconds):.3f})"


def measure(backend: str, solver: str, runs: int) -> tuple[list[float], list[float]]:
    """Return the seconds of each process, and those that are not the solve's own."""
    words = (*COMMAND, *SOLVERS[solver], "--backend", backend)
    timed(*words)
    walls, rests = [], []
    for _ in range(runs):
        wall, out = timed(*words)
        walls.append(wall)
        rests.append(wall - json.loads(out)["seconds"])
    return walls, rests


def main() -> int:
    """Print the table."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--backends", metavar="B,B", help="default: all usable here")
    arguments.add_argument("--runs", type=int, default=9, help="of each command (default: 9)")
    options = arguments.parse_args()
    usable = [found.name for found in status() if found.usable]
    print(describe())
    print(row("command", "backend", "seconds", "of which not the solve's own"))
    print(row(*["---"] * 4), flush=True)
    for name, words in FLOORS.items():
        print(row(name, "–", spread([timed(*words)[0] for _ in range(options.runs)]), "–"), flush=True)
    for backend in options.backends.split(",") if options.backends else usable:
        for solver in SOLVERS:
            print(row(solver, backend, *map(spread, measure(backend, solver, options.runs))), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
