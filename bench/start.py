"""How long a command takes that has hardly anything to solve, in a fresh process each time: what starting costs.

`pytsp solve uniform100 --climbers 10` by random restarts and by the default solver, and the first of them from Python,
on each backend: medians, with the shortest and the longest. A run before the first fills the caches, that of the
compiled kernels too. A start is over with the first call of a kernel: Python and all imports, the device and its
kernels, reading the instance lie before it. The whole process also solves, and ends.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import time

from bench.machine import ROOT, describe, row
from pytsp.backends import status

# On standard error stands the time of the first call of a kernel.
HOOK = """
import sys, time
from pytsp import backends
call = backends.Backend.call
def first(*arguments):
    backends.Backend.call = call
    print(time.time(), file=sys.stderr)
    return call(*arguments)
backends.Backend.call = first
"""
COMMAND = """
from pytsp.cli import main
sys.argv = ["pytsp", "solve", "uniform100", "--climbers", "10", "--backend", BACKEND, *OPTIONS]
sys.exit(main())
"""
LIBRARY = """
import pytsp
pytsp.solve(pytsp.read("data/uniform100.tsp"), solver="restarts", climbers=10, backend=BACKEND)
"""
PROGRAMS = {
    "restarts": HOOK + COMMAND.replace("*OPTIONS", "'--solver', 'restarts'"),
    "default": HOOK + COMMAND.replace("*OPTIONS", ""),
    "restarts, from Python": HOOK + LIBRARY,
}
# What every start is compared with.
FLOORS = {"nothing": ("-c", "pass"), "NumPy's import": ("-c", "import numpy")}


def timed(*words: str) -> tuple[float, float]:
    """Run Python in a fresh process; return its seconds, and those up to the time that it tells, if it tells one."""
    began, clock = time.perf_counter(), time.time()
    done = subprocess.run([sys.executable, *words], capture_output=True, text=True, check=True, cwd=ROOT)
    return time.perf_counter() - began, float(done.stderr or clock) - clock


def spread(seconds: list[float]) -> str:
    """Write a median with the shortest and the longest."""
    return f"{statistics.median(seconds):.3f} ({min(seconds):.3f} … {max(seconds):.3f})"


def measure(backend: str, program: str, runs: int) -> tuple[list[float], list[float]]:
    """Return the seconds of each process, and those up to its first call of a kernel."""
    program = program.replace("BACKEND", repr(backend))
    timed("-c", program)
    walls, starts = zip(*(timed("-c", program) for _ in range(runs)), strict=True)
    return list(walls), list(starts)


def main() -> int:
    """Print the table."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--backends", metavar="B,B", help="default: all usable here")
    arguments.add_argument("--runs", type=int, default=9, help="of each command (default: 9)")
    options = arguments.parse_args()
    usable = [found.name for found in status() if found.usable]
    print(describe())
    print(row("command", "backend", "seconds", "of which the start"))
    print(row(*["---"] * 4), flush=True)
    for name, words in FLOORS.items():
        print(row(name, "–", spread([timed(*words)[0] for _ in range(options.runs)]), "–"), flush=True)
    for backend in options.backends.split(",") if options.backends else usable:
        for name, program in PROGRAMS.items():
            print(row(name, backend, *map(spread, measure(backend, program, options.runs))), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
