"""How far runs overrun their time limits, process and reading included: python -m bench.limits --pairs 200.

Numbers of cities, limits, solvers and backends are drawn. A run's time is that from the start of `pytsp solve` to its
end, which the calling process measures. A limit below what the shortest run takes, which reads the instance and tells a
tour without a search, cannot be kept; such runs are told apart.
"""

from __future__ import annotations

import argparse
import functools
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np

import pytsp
from bench.harness.machine import PYTSP
from bench.harness.tables import print_head, row
from pytsp import generate

SIZES = (1, 5, 8, 52, 200, 1_000, 3_000, 8_000, 12_000, 13_000, 50_000, 200_000, 1_000_000)
# The most cities that a solver is drawn for.
SOLVERS = {
    "auto": 10**7,
    "ils": 50_000,
    "restarts": 20_000,
    "two-opt": 200_000,
    "large": 10**7,
    "annealing": 200_000,
    "ants": 200_000,
}
SECONDS, SHARE = 0.2, 0.02


class Run(NamedTuple):
    """One run: what it was asked, how long it took, and how long the shortest one takes."""

    n: int
    limit: float
    solver: str
    backend: str
    seconds: float
    least: float
    stop_reason: str

    @property
    def overrun(self) -> float:
        """The seconds beyond the limit; none for a run that ends by itself before."""
        return self.seconds - self.limit

    @property
    def is_kept(self) -> bool:
        """Whether the limit was kept."""
        return self.overrun <= SECONDS + SHARE * self.limit

    @property
    def word(self) -> str:
        """What to say of it."""
        return "" if self.is_kept else "TOO SHORT" if self.least > self.limit else "LATE"


def timed(*words: str) -> tuple[float, str]:
    """Run the command; return its seconds and what it printed."""
    began = time.perf_counter()
    done = subprocess.run([*PYTSP, *words], capture_output=True, text=True, check=True)
    return time.perf_counter() - began, done.stdout


def ran(n: int, limit: float, solver: str, backend: str, file: str, least: float) -> Run:
    """Make one run."""
    words = ["solve", file, "--time-limit", str(limit), "--solver", solver, "--backend", backend]
    # The tour of a huge instance takes longer to print than the limit allows for.
    seconds, printed = timed(*words, *(["--json"] if n <= 10_000 else []))
    reason = json.loads(printed)["stop_reason"] if n <= 10_000 else printed.rpartition("stopped: ")[2].strip()
    return Run(n, limit, solver, backend, seconds, least, reason)


def main() -> int:
    """Print a line for each run, and those that are late; the exit code tells whether all limits were kept."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=200)
    parser.add_argument("--backends", default="c,multicore")
    parser.add_argument("--solvers", default=",".join(SOLVERS))
    parser.add_argument("--longest", type=float, default=8.0, help="the longest limit, in seconds")
    parser.add_argument("--most", type=int, default=SIZES[-1], help="the most cities")
    parser.add_argument("--least", type=int, default=1, help="the fewest cities")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    rng = np.random.default_rng(options.seed)
    sizes = [n for n in SIZES if options.least <= n <= options.most]
    runs = []
    with tempfile.TemporaryDirectory() as folder:

        @functools.cache
        def file_of(n: int) -> tuple[str, float]:
            path = Path(folder) / f"uniform{n}.tsp"
            pytsp.write(path, generate.uniform(n, n))
            return str(path), timed("solve", str(path), "--time-limit", "0.001")[0]

        print_head("n", "limit", "solver", "backend", "seconds", "overrun", "stopped")
        for _ in range(options.pairs):
            n = int(rng.choice(sizes))
            solver = str(rng.choice([name for name in options.solvers.split(",") if n <= SOLVERS[name]]))
            limit = round(float(np.exp(rng.uniform(np.log(0.5), np.log(options.longest)))), 2)
            run = ran(n, limit, solver, str(rng.choice(options.backends.split(","))), *file_of(n))
            runs.append(run)
            cells = (n, limit, solver, run.backend, f"{run.seconds:.2f}", f"{run.overrun:+.2f}", run.stop_reason)
            print(row(*cells), run.word, flush=True)
    late = [run for run in runs if run.word == "LATE"]
    short = sum(run.word == "TOO SHORT" for run in runs)
    print(f"\n{len(runs)} runs, {len(late)} late, {short} with limits that are too short for any tour")
    for run in sorted(late, key=lambda run: run.overrun):
        print(run)
    return 1 if late else 0


if __name__ == "__main__":
    sys.exit(main())
