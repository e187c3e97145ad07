"""Time a command in fresh processes: the start, and the solve after it.

`pytsp solve uniform100 --climbers 10` by random restarts and by the default solver, which have hardly anything to
solve, the first of them from Python, and 4,000 climbers of pr439 from Python: medians, with the shortest and the
longest. A run before the first fills the caches, that of the compiled kernels too. A start is over with the first call
of a kernel: Python and all imports, reading the instance, the device and its kernels lie before it. Solving begins
there, and is over when `solve` or the command returns; then the process ends. From Python each run's tour and climbers'
lengths are compared with those of the c backend; ends with 1 where any differ.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

from bench.harness.arguments import parser
from bench.harness.machine import ROOT, describe
from bench.harness.tables import print_head, row
from pytsp.backends import status

# On standard error stand the times of the first call of a kernel and of the end of solving, and from Python the result.
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
from pytsp.cli.commands import main
sys.argv = ["pytsp", "solve", "uniform100", "--climbers", "10", "--backend", BACKEND, *OPTIONS]
code = main()
print(time.time(), file=sys.stderr)
sys.exit(code)
"""
LIBRARY = """
import pytsp
result = pytsp.solve(pytsp.read(FILE), OPTIONS, backend=BACKEND)
print(time.time(), file=sys.stderr)
print(result.length, result.lengths.tolist(), result.tour.tolist(), file=sys.stderr)
"""
UNIFORM = LIBRARY.replace("FILE", "'data/uniform100.tsp'")
PROGRAMS = {
    "restarts": HOOK + COMMAND.replace("*OPTIONS", "'--solver', 'restarts'"),
    "default": HOOK + COMMAND.replace("*OPTIONS", ""),
    "restarts, from Python": HOOK + UNIFORM.replace("OPTIONS", "solver='restarts', climbers=10"),
    "pr439, 4,000 climbers, from Python": HOOK + LIBRARY.replace("OPTIONS", "climbers=4000"),
}
# What every start is compared with.
FLOORS = {"nothing": ("-c", "pass"), "NumPy's import": ("-c", "import numpy")}


class Timed(NamedTuple):
    """The seconds of a process, of its start, and of what it solves; and what it tells of its result."""

    whole: float
    start: float
    solving: float
    result: list[str]


def alone(*words: str) -> float:
    """Run Python in a fresh process; return its seconds."""
    began = time.perf_counter()
    subprocess.run([sys.executable, *words], capture_output=True, check=True, cwd=ROOT)
    return time.perf_counter() - began


def timed(program: str) -> Timed:
    """Run a program in a fresh process."""
    began, clock = time.perf_counter(), time.time()
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=ROOT)
    whole = time.perf_counter() - began
    first, end, *result = done.stderr.splitlines()
    return Timed(whole, float(first) - clock, float(end) - float(first), result)


def spread(seconds: list[float]) -> str:
    """Write a median with the shortest and the longest."""
    return f"{statistics.median(seconds):.3f} ({min(seconds):.3f} … {max(seconds):.3f})"


def filled(program: str, backend: str, file: Path) -> str:
    """Return a program with its backend, and with the file that it reads."""
    return program.replace("BACKEND", repr(backend)).replace("FILE", repr(str(file)))


def main() -> int:
    """Print the table."""
    arguments = parser(str(__doc__))
    arguments.add_argument("--backends", metavar="B,B", help="default: all usable here")
    arguments.add_argument("--runs", type=int, default=9, help="of each command (default: 9)")
    options = arguments.parse_args()
    file = options.tsplib.resolve() / "pr439.tsp.gz"
    programs = {name: program for name, program in PROGRAMS.items() if "FILE" not in program or file.is_file()}
    usable = [found.name for found in status() if found.usable]
    print(describe())
    if len(programs) < len(PROGRAMS):
        print(f"{file} is missing, and its row: name the folder of TSPLIB's files by --tsplib")
    print_head("command", "backend", "seconds", "of which the start", "solving", "equal to c")
    for name, words in FLOORS.items():
        print(row(name, "–", spread([alone(*words) for _ in range(options.runs)]), "–", "–", "–"), flush=True)
    differ = False
    expected = {name: timed(filled(program, "c", file)).result for name, program in programs.items()}
    for backend in options.backends.split(",") if options.backends else usable:
        for name, program in programs.items():
            # The first fills the caches.
            runs = [timed(filled(program, backend, file)) for _ in range(1 + options.runs)]
            times = [spread(list(each)) for each in list(zip(*runs[1:], strict=True))[:3]]
            equal = all(run.result == expected[name] for run in runs)
            differ |= not equal
            verdict = ("yes" if equal else "NO") if expected[name] else "–"
            print(row(name, backend, *times, verdict), flush=True)
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())
