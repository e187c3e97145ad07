"""Speed of random-restart 2-opt on the CPU: moves a second on one thread and on all cores, and the peak memory.

For each instance the backends run in turn, `--repeat` times; the figures are medians. A move counts as evaluated when
its gain was computed: n (n - 3) / 2 a step. Times are those of the whole solve call, with the instance in memory.
"""

from __future__ import annotations

import resource
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytsp
from bench.harness.arguments import parser
from bench.harness.machine import describe, tsplib
from bench.harness.tables import print_head, row
from pytsp.backends.devices import usable_cores

INSTANCES = ("kroA100", "kroA200", "pcb442", "pr1002")
PLENTY = 10**7
MEMORY_INSTANCE = "kroA100"


def rate(instance: pytsp.Instance, backend: str, seconds: float) -> float:
    """Return the moves a second of one solve, in thousand millions."""
    return speed_of(climbed(instance, backend, seconds))


def climbed(instance: pytsp.Instance, backend: str, seconds: float, **options: Any) -> pytsp.Result:
    """Climb for `seconds`."""
    return pytsp.solve(instance, solver="restarts", climbers=PLENTY, backend=backend, time_limit=seconds, **options)


def speed_of(result: pytsp.Result) -> float:
    """Return the moves a second, in thousand millions."""
    return (result.moves or 0) / result.seconds / 1e9


def speed(folder: Path, seconds: float, repeat: int) -> None:
    """Print the table of moves a second."""
    cores = usable_cores()
    print_head("instance", "n", "c, G moves/s", f"multicore on {cores} cores", "ratio", "spread of c")
    for name in INSTANCES:
        instance = tsplib(folder, name)
        rates: dict[str, list[float]] = {"c": [], "multicore": []}
        for backend in rates:
            rate(instance, backend, seconds / 4)
        for _ in range(repeat):
            for backend, found in rates.items():
                found.append(rate(instance, backend, seconds))
        c, multicore = (statistics.median(found) for found in rates.values())
        spread = f"{min(rates['c']):.2f} … {max(rates['c']):.2f}"
        print(row(name, instance.n, f"{c:.2f}", f"{multicore:.2f}", f"{multicore / c:.2f}", spread), flush=True)


def memory(folder: Path, climbers: int) -> None:
    """Print the peak memory of one solve by many climbers, in a process of its own."""
    file = folder / f"{MEMORY_INSTANCE}.tsp.gz"
    program = "import sys; from pytsp.cli.commands import main; sys.exit(main(sys.argv[1:]))"
    command = [sys.executable, "-c", program, "solve", str(file), "--solver", "restarts", "--climbers", str(climbers)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    print(f"{MEMORY_INSTANCE}, {climbers} climbers: peak memory {peak / 2**10:.0f} MiB")
    print(done.stdout, end="")


def main() -> None:
    """Print the tables that the command line asks for."""
    arguments = parser(__doc__ or "")
    arguments.add_argument("--seconds", type=float, default=2.0, help="of each run (default: 2)")
    arguments.add_argument("--repeat", type=int, default=5, help="runs of each backend (default: 5)")
    arguments.add_argument(
        "--memory", type=int, metavar="CLIMBERS", help="measure the memory of this number of climbers only"
    )
    options = arguments.parse_args()
    print(describe())
    if options.memory:
        memory(options.tsplib, options.memory)
    else:
        speed(options.tsplib, options.seconds, options.repeat)


if __name__ == "__main__":
    main()
