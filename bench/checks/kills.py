"""Kill a solve at random instants, again and again, and see that nothing is lost: `python -m bench.checks.kills`."""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import pytsp
from bench.harness.machine import PYTSP
from bench.harness.tables import print_head, row
from pytsp.checkpoint import container as _container

# Instances, as words of `pytsp generate` where they have no name, and solves of some ten seconds on two cores.
SOLVERS = {
    "ils": ("uniform1000", ["--solver", "ils", "--iterations", "400000", "--climbers", "2"]),
    "eax": ("uniform1000", ["--solver", "eax", "--climbers", "3000"]),
    "large": ("uniform1000", ["--solver", "large", "--iterations", "3000", "--piece", "300"]),
    "restarts": ("uniform1000", ["--solver", "restarts", "--climbers", "60"]),
    "two-opt": ("uniform --n 3500 --seed 1", ["--solver", "two-opt", "--start", "random"]),
}


def killed(file: Path, words: list[str], pause: float) -> bool:
    """Kill a run after a while; tell whether it was not over before."""
    with subprocess.Popen([*PYTSP, *words, "--checkpoint-interval", "0"], stdout=subprocess.DEVNULL) as process:
        while not file.exists() and process.poll() is None:
            time.sleep(0.005)
        try:
            process.wait(pause)
        except subprocess.TimeoutExpired:
            process.kill()
            return True
    return False


def shortest(file: Path) -> float:
    """Return the length of the best tour that a checkpoint holds; it raises where the file is not whole."""
    history = _container.read(file)["history"]
    return float(history[-1][2]) if history else float("inf")


def endured(solver: str, kills: int, folder: Path, longest: float) -> tuple[int, bool]:
    """Kill one solve repeatedly; return the number of kills, and whether it ends as an undisturbed one."""
    instance, words = SOLVERS[solver]
    if " " in instance:
        made = str(folder / f"{solver}.tsp")
        subprocess.run([*PYTSP, "generate", *instance.split(), "--output", made], check=True, stdout=subprocess.DEVNULL)
        instance = made
    file, found, wanted = folder / f"{solver}.checkpoint", folder / "found.tour", folder / "wanted.tour"
    run = ["solve", instance, *words]
    subprocess.run([*PYTSP, *run, "--output", str(wanted)], check=True, stdout=subprocess.DEVNULL)
    words, best, done = [*run, "--checkpoint", str(file)], float("inf"), 0
    for pause in np.random.default_rng(len(solver)).uniform(0, longest, kills):
        if not killed(file, words, float(pause)):
            break
        done += 1
        now = shortest(file)
        if now > best:
            raise SystemExit(f"{solver}: after kill {done} the checkpoint has a tour of length {now}, not {best}")
        best, words = now, ["resume", str(file)]
    subprocess.run([*PYTSP, "resume", str(file), "--output", str(found)], check=True, stdout=subprocess.DEVNULL)
    return done, bool(np.array_equal(pytsp.read_tour(found), pytsp.read_tour(wanted)))


def main() -> int:
    """Print a line for each solver; the exit code tells whether all were killed, and ended as they should."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=100, help="altogether")
    parser.add_argument("--solvers", default=",".join(SOLVERS), help="whose solves are killed (default: all of these)")
    parser.add_argument("--longest", type=float, default=2.0, help="seconds that a run may live")
    options = parser.parse_args()
    print_head("solver", "kills", "ends as without them")
    are_same = True
    with tempfile.TemporaryDirectory() as folder:
        solvers = options.solvers.split(",")
        for solver in solvers:
            done, is_same = endured(solver, options.kills // len(solvers), Path(folder), options.longest)
            are_same = are_same and is_same and done > 0
            print(row(solver, done, "yes" if is_same else "NO"), flush=True)
    return 0 if are_same else 1


if __name__ == "__main__":
    sys.exit(main())
