"""Check that solves keep their limits, for every kind of instance: python -m bench.checks.limits --pairs 300.

Kinds of instances, numbers of cities, limits, solvers and backends are drawn. A run is late where `pytsp solve`,
reading and all, takes more than 0.2 s and 2 % beyond its time limit; worse where its tour is longer than the
nearest-neighbour tour of its instance, open or directed as that is; above where its process holds more memory than
`bound_of` says. A limit below what the shortest run takes, which reads the instance and tells a tour without a search,
cannot be kept; such runs are told apart, but late all the same where they take longer than that by as much.

On a machine that others keep busy no limit can be kept by the clock on the wall. With `--clock processor` a run has one
core, and its limit and its seconds are those that the core works for it.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import IO, NamedTuple

import numpy as np

from bench.harness.arguments import positive, whole
from bench.harness.kinds import KINDS, MOST_MATRIX_POINTS
from bench.harness.machine import PYTSP, describe
from bench.harness.tables import print_head, row, store
from bench.harness.workers import Worker

SIZES = (5, 8, 52, 200, 1_000, 1_400, 3_000, 5_000, 8_000, 12_000, 13_000, 50_000, 200_000, 1_000_000)
# The most cities that a solver is drawn for, and how often it is the one that pytsp chooses.
SOLVERS = {
    "auto": 10**7,
    "eax": 20_000,
    "ils": 50_000,
    "large": 10**7,
    "restarts": 20_000,
    "two-opt": 200_000,
    "annealing": 200_000,
    "ants": 200_000,
}
AUTO_SHARE = 0.7
SECONDS, SHARE = 0.2, 0.02
# Solvers that begin at random tours, which a short limit leaves longer than any that is made with care.
RANDOM = ("restarts",)
# Lengths are printed with six digits where they are no whole numbers.
PRECISION = 1e-5
# Bytes that a process may hold: in any case, per city, and per distance of a matrix that kernels need.
BYTES, CITY_BYTES = 150 * 10**6, 500
DISTANCE_BYTES = {"whole": 30, "float": 60}
# The seconds after which an instance that is still being drawn is given up.
PATIENCE = 600.0
# The least that a solve can be asked for.
SHORTEST = "0.001"
# The clocks by which limits are kept and seconds counted.
CLOCKS = ("wall", "processor")
# A process that holds little runs a command and tells its seconds by both clocks, the most bytes that it held, and its
# exit code: to Linux, a child has held what its parent holds, too. By the processor's clock it has one core, as all
# threads count.
MEASURE = """
import json, os, random, sys, time
if sys.argv[2] == "processor":
    os.sched_setaffinity(0, [random.choice(sorted(os.sched_getaffinity(0)))])
began = time.perf_counter()
child = os.posix_spawnp(sys.argv[3], sys.argv[3:], os.environ)
_, status, usage = os.wait4(child, 0)
seconds = {"wall": time.perf_counter() - began, "processor": usage.ru_utime + usage.ru_stime}
told = [seconds[sys.argv[2]], 1024 * usage.ru_maxrss, os.waitstatus_to_exitcode(status)]
os.write(int(sys.argv[1]), json.dumps(told).encode())
"""
# The command line as it is, and with the processor's clock in place of the one by which limits are kept.
BY_PROCESSOR = """
import time
time.perf_counter = time.process_time
import pytsp.cli.arguments
pytsp.cli.arguments.seconds_since_start = time.process_time
from pytsp.__main__ import main
raise SystemExit(main())
"""
COMMANDS = {"wall": PYTSP, "processor": [PYTSP[0], "-c", BY_PROCESSOR]}


class Drawn(NamedTuple):
    """An instance: its file, the length of its nearest-neighbour tour, and whether its lengths are whole numbers."""

    file: str
    nearest: float
    is_exact: bool


@dataclass(frozen=True)
class Run:
    """One run: what it was asked, what it came to, and what it is compared with.

    Attributes
    ----------
    kind : str
    n : int
    limit : float
    solver, backend : str
    least : float
        The seconds of the shortest run.
    nearest : float
        The length of the nearest-neighbour tour.
    bound : int
        The bytes that it may take.
    seconds : float
        From the start of the process to its end, as the calling process measures them by the clock.
    length : float
    bytes : int
        The most memory that it has held.
    stop_reason : str
    problem : str
        Why it failed; empty where it did not.
    """

    kind: str
    n: int
    limit: float
    solver: str
    backend: str
    least: float
    nearest: float
    bound: int
    seconds: float
    length: float
    bytes: int
    stop_reason: str
    problem: str = ""

    @property
    def overrun(self) -> float:
        """The seconds beyond the limit; below 0 for a run that ends by itself before."""
        return self.seconds - self.limit

    @property
    def ratio(self) -> float:
        """The length over that of the nearest-neighbour tour."""
        return self.length / self.nearest if self.nearest else 1.0

    @property
    def verdicts(self) -> tuple[str, ...]:
        """The faults of the run."""
        if self.problem:
            return ("FAILED",)
        allowed, is_too_short = SECONDS + SHARE * self.limit, self.least > self.limit
        is_late = self.seconds > max(self.limit, self.least) + allowed
        is_worse = self.ratio > 1 + PRECISION and self.solver not in RANDOM
        is_excused = is_too_short and not is_late and (self.overrun > allowed or is_worse)
        found = {
            "LATE": is_late,
            "WORSE": is_worse and not is_too_short,
            "ABOVE": self.bytes > self.bound,
            "TOO SHORT": is_excused,
        }
        return tuple(word for word, is_so in found.items() if is_so)


def bound_of(n: int, distances: int, *, is_exact: bool) -> int:
    """Return the bytes that a solve of n cities may hold, with the distances of a matrix that kernels need."""
    return BYTES + CITY_BYTES * n + DISTANCE_BYTES["whole" if is_exact else "float"] * distances


def draw(task: tuple[str, int, int, str]) -> Drawn:
    """Draw an instance of a kind, with n cities, by a seed, into a folder."""
    name, n, seed, folder = task
    kind = KINDS[name]
    file, instance = kind.write(Path(folder), n, seed, f"{name}-{n}")
    # A disk that is still writing would be slow to read from.
    os.sync()
    nearest = kind.length(instance, kind.nearest_neighbour(instance))
    return Drawn(str(file), float(nearest), instance.is_exact)


def measured(clock: str, *words: str) -> tuple[float, int, str, str]:
    """Run the command; return its seconds by the clock, the most bytes that it held, what it printed, and why it
    failed."""

    def content(file: IO[str]) -> str:
        file.seek(0)
        return file.read()

    with (
        tempfile.TemporaryFile("w+") as printed,
        tempfile.TemporaryFile("w+") as errors,
        tempfile.TemporaryFile("w+") as reported,
    ):
        command = [sys.executable, "-I", "-S", "-c", MEASURE, str(reported.fileno()), clock, *COMMANDS[clock], *words]
        subprocess.run(command, stdout=printed, stderr=errors, pass_fds=[reported.fileno()], check=True)
        seconds, held, code = json.loads(content(reported))
        why = (content(errors).splitlines() or [""])[-1] or f"exit code {code}"
        return seconds, held, content(printed), why if code else ""


def ran(clock: str, asked: tuple[str, int, float, str, str], drawn: Drawn, least: float) -> Run:
    """Make one run."""
    name, n, limit, solver, backend = asked
    words = ["solve", drawn.file, *KINDS[name].words(n)]
    words += ["--time-limit", str(limit), "--solver", solver, "--backend", backend]
    seconds, held, printed, problem = measured(clock, *words)
    bound = bound_of(n, KINDS[name].distances(n, solver), is_exact=drawn.is_exact)
    reported = re.search(r"^length +(\S+)(?s:.*)stopped: (.+)$", printed, re.MULTILINE)
    if reported is None:
        return Run(*asked, least, drawn.nearest, bound, seconds, 0.0, held, "", problem or "it printed no length")
    return Run(*asked, least, drawn.nearest, bound, seconds, float(reported[1]), held, reported[2], problem)


def asked_for(options: argparse.Namespace) -> Iterator[tuple[str, int, float, str, str]]:
    """Draw what runs are asked for: kind, number of cities, limit, solver and backend."""
    rng = np.random.default_rng(options.seed)
    solvers = [name for name in options.solvers.split(",") if name != "auto"]
    auto_share = AUTO_SHARE if solvers else 1.0
    if "auto" not in options.solvers.split(","):
        auto_share = 0.0
    for _ in range(options.pairs):
        name = str(rng.choice(options.kinds.split(",")))
        kind = KINDS[name]
        n = int(rng.choice([n for n in SIZES if options.least <= n <= min(options.most, kind.most)]))
        fitting = [solver for solver in solvers if n <= SOLVERS[solver] and kind.takes(solver)]
        is_small = kind.metric is None or n <= MOST_MATRIX_POINTS
        fitting = [solver for solver in fitting if is_small or kind.distances(n, solver) == 0]
        solver = "auto" if not fitting or rng.random() < auto_share else str(rng.choice(fitting))
        limit = round(float(np.exp(rng.uniform(np.log(options.shortest), np.log(options.longest)))), 2)
        yield name, n, limit, solver, str(rng.choice(options.backends.split(",")))


def show(runs: list[Run]) -> None:
    """Print the table by kind."""
    heads = ("kind", "runs", "late", "worse", "above", "failed", "too short", "worst overrun, s")
    print_head(*heads, "length / nearest neighbour", "memory, MB", "of the bound, %")
    for name in [name for name in KINDS if any(run.kind == name for run in runs)] + ["all"]:
        theirs = [run for run in runs if name in (run.kind, "all")]
        counts = [sum(word in run.verdicts for run in theirs) for word in ("LATE", "WORSE", "ABOVE", "FAILED")]
        done = [run for run in theirs if not run.problem]
        # What a limit that is too short comes to says nothing of others.
        judged = [run for run in done if run.least <= run.limit]
        ratios = [run.ratio for run in judged if run.solver not in RANDOM]
        print(
            row(
                name,
                len(theirs),
                *counts,
                sum("TOO SHORT" in run.verdicts for run in theirs),
                f"{max((run.overrun for run in judged), default=0):+.2f}",
                f"{max(ratios, default=0):.3f}",
                f"{max((run.bytes for run in done), default=0) / 1e6:.0f}",
                f"{100 * max((run.bytes / run.bound for run in done), default=0):.0f}",
            )
        )


def main() -> int:
    """Print a line for each run, then the table by kind; the exit code is 1 if a run breaks what is promised."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=whole, default=200, help="how many runs (default: 200)")
    parser.add_argument("--kinds", default=",".join(KINDS), help="with commas between (default: all)")
    parser.add_argument("--clock", choices=CLOCKS, default="wall", help="by which limits are kept (default: wall)")
    parser.add_argument("--backends", help="with commas between (default: c,multicore; c by the processor's clock)")
    parser.add_argument("--solvers", default=",".join(SOLVERS))
    parser.add_argument("--shortest", type=positive, default=0.1, help="the shortest limit, in seconds (default: 0.1)")
    parser.add_argument("--longest", type=positive, default=10.0, help="the longest limit, in seconds (default: 10)")
    parser.add_argument("--most", type=whole, default=200_000, help="the most cities (default: 200,000)")
    parser.add_argument("--least", type=whole, default=5, help="the fewest cities (default: 5)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", type=Path, metavar="FILE", help="store all runs here")
    options = parser.parse_args()
    options.backends = options.backends or ("c,multicore" if options.clock == "wall" else "c")
    for option, known in (("kinds", KINDS), ("solvers", SOLVERS)):
        for name in getattr(options, option).split(","):
            if name not in known:
                parser.error(f"argument --{option}: {name!r} is not known; known: {', '.join(known)}")
    print(describe(), flush=True)
    runs: list[Run] = []
    # A process that is started counts the memory of the one that starts it, which therefore draws no instances itself.
    worker = Worker(draw)
    with tempfile.TemporaryDirectory() as folder:

        @cache
        def drawn(name: str, n: int) -> tuple[Drawn, float]:
            found = worker.ask((name, n, options.seed, folder), PATIENCE)
            return found, measured(options.clock, "solve", found.file, *KINDS[name].words(n), "--time-limit", SHORTEST)[
                0
            ]

        print_head("kind", "n", "limit", "solver", "backend", "seconds", "overrun", "ratio", "MB", "stopped")
        try:
            for asked in asked_for(options):
                run = ran(options.clock, asked, *drawn(*asked[:2]))
                runs.append(run)
                cells = (f"{run.seconds:.2f}", f"{run.overrun:+.2f}", f"{run.ratio:.3f}", f"{run.bytes / 1e6:.0f}")
                print(row(*asked, *cells, run.stop_reason or run.problem), *run.verdicts, flush=True)
        finally:
            worker.end()
            store(options.json, {"machine": describe(), "clock": options.clock, "runs": [asdict(run) for run in runs]})
    print()
    show(runs)
    wrong = [run for run in runs if {*run.verdicts} - {"TOO SHORT"}]
    for run in wrong:
        print(run)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
