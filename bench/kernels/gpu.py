"""Speed of the climbers on a GPU: whole solve calls, blocks against threads, moves a pass.

Builds nothing. Times are those of the whole solve call, with the instance in memory and the kernels compiled, medians
of `--repeat` runs. `bench.checks.equal` checks results against the c backend, and every solve computes its best length
again on the host. `--json FILE` stores what is printed.
"""

from __future__ import annotations

import ctypes
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytsp
from bench.harness.arguments import parser
from bench.harness.machine import describe, tsplib
from bench.harness.tables import print_rows, store
from pytsp.backends import Backend, open_backend

SPEED = (
    ("kroA100", 100_000),
    ("kroA200", 20_000),
    ("lin318", 8_000),
    ("rd400", 4_000),
    ("pcb442", 4_000),
    ("pr439", 4_000),
    ("rat783", 2_000),
    ("pr1002", 1_000),
    ("gr666", 1_000),
    ("fl1400", 528),
    ("pcb3038", 264),
)
MAPPINGS = (
    ("kroA100", (1, 10, 100, 1_000, 10_000, 100_000)),
    ("pcb442", (1, 100, 1_000)),
)
K_SWAP = (("fl417", 2_112), ("fl1400", 528), ("pcb3038", 264), ("fnl4461", 264))
KS: tuple[int | str, ...] = (1, 2, 4, 8, 16, 32, 64, 128, 256, "inf")


class Energy:
    """The joules that the first visible GPU has used, where its driver tells."""

    def __init__(self) -> None:
        self.handle = ctypes.c_void_p()
        try:
            self.library = ctypes.CDLL("libnvidia-ml.so.1")
            failed = self.library.nvmlInit_v2() or self.library.nvmlDeviceGetHandleByIndex_v2(
                first_visible(), ctypes.byref(self.handle)
            )
        except (OSError, AttributeError):
            failed = True
        self.known = not failed

    def joules(self) -> float:
        """Return the energy used since the driver was loaded, or NaN."""
        millijoules = ctypes.c_ulonglong()
        if not self.known or self.library.nvmlDeviceGetTotalEnergyConsumption(self.handle, ctypes.byref(millijoules)):
            return float("nan")
        return millijoules.value / 1000


def first_visible() -> int:
    """Return the number, among all, of the first GPU that CUDA shows; 0 where it is named by other than numbers."""
    first = os.environ.get("CUDA_VISIBLE_DEVICES", "0").split(",")[0].strip()
    return int(first) if first.isdecimal() else 0


class Clock:
    """The time that a backend spends in kernel calls."""

    def __init__(self, kernels: Backend) -> None:
        self.seconds = 0.0
        call = kernels.call

        def timed(entry: str, *arguments: object) -> Any:
            began = time.perf_counter()
            try:
                return call(entry, *arguments)
            finally:
                self.seconds += time.perf_counter() - began

        kernels.call = timed  # type: ignore[method-assign]


def runs(instance: pytsp.Instance, repeat: int, **options: Any) -> list[pytsp.Result]:
    """Solve by random restarts, once to warm up, and then `repeat` times."""
    options["solver"] = "restarts"
    pytsp.solve(instance, **options | {"climbers": 1})
    return [pytsp.solve(instance, **options) for _ in range(repeat)]


def median(results: list[pytsp.Result]) -> float:
    """Return the median of the seconds."""
    return statistics.median(result.seconds for result in results)


def speed(folder: Path, backend: str, repeat: int) -> Iterator[dict[str, object]]:
    """Whole solves of one climber a block, k = 1."""
    energy, clock = Energy(), Clock(open_backend(backend))
    for name, climbers in SPEED:
        instance = tsplib(folder, name)
        pytsp.solve(instance, solver="restarts", climbers=1, backend=backend)
        before, clock.seconds = energy.joules(), 0.0
        began = time.perf_counter()
        found = [pytsp.solve(instance, solver="restarts", climbers=climbers, backend=backend) for _ in range(repeat)]
        whole = time.perf_counter() - began
        seconds = median(found)
        yield {
            "instance": name,
            "n": instance.n,
            "climbers": climbers,
            "ms": round(1e3 * seconds, 2),
            "G moves/s": round((found[0].moves or 0) / seconds / 1e9),
            "climbers/s": round(climbers / seconds),
            "busy %": round(100 * clock.seconds / whole, 1),
            "J": round((energy.joules() - before) / repeat, 1),
            "best": found[0].length,
            "optimum": instance.optimum,
        }


def mappings(folder: Path, backend: str, repeat: int) -> Iterator[dict[str, object]]:
    """One climber a block against one a thread."""
    for name, counts in MAPPINGS:
        instance = tsplib(folder, name)
        for climbers in counts:
            block, thread = (
                median(runs(instance, repeat, backend=backend, climbers=climbers, mapping=mapping))
                for mapping in ("block", "thread")
            )
            yield {
                "instance": name,
                "climbers": climbers,
                "block, ms": round(1e3 * block, 2),
                "thread, ms": round(1e3 * thread, 2),
                "thread / block": round(thread / block, 2),
            }


def k_swap(folder: Path, backend: str) -> Iterator[dict[str, object]]:
    """Up to k moves a pass, from random tours to local optima."""
    for name, climbers in K_SWAP:
        instance = tsplib(folder, name)
        one: pytsp.Result | None = None
        for k in KS:
            (found,) = runs(instance, 1, backend=backend, climbers=climbers, k=k, mapping="block")
            one = one or found
            yield {
                "instance": name,
                "climbers": climbers,
                "k": k,
                "ms": round(1e3 * found.seconds, 1),
                "times k = 1": round(one.seconds / found.seconds, 2),
                "passes": round(float(found.passes.mean()), 1),
                "moves": round(float(found.steps.mean()), 1),
                "mean length, % of k = 1": round(100 * float(found.lengths.mean() / one.lengths.mean()), 2),
                "best, % of k = 1": round(100 * found.length / one.length, 2),
            }


def starts(folder: Path, backend: str) -> Iterator[dict[str, object]]:
    """A process from its start to its end, its kernels compiled before."""
    file = folder / "pr439.tsp.gz"
    program = (
        "import time; began = time.perf_counter(); import pytsp; "
        f"found = pytsp.solve(pytsp.read({str(file)!r}), solver='restarts', climbers=4000, backend={backend!r}); "
        "print(found.seconds, time.perf_counter() - began)"
    )
    for attempt in ("first", "second", "third"):
        began = time.perf_counter()
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
        solving, inside = map(float, done.stdout.split())
        yield {
            "process": attempt,
            "solve call, s": round(solving, 3),
            "import to result, s": round(inside, 3),
            "whole process, s": round(time.perf_counter() - began, 3),
        }


def show(title: str, rows: Iterator[dict[str, object]]) -> list[dict[str, object]]:
    """Print a table below its title, a row as soon as it is there."""
    print(f"\n{title}")
    return print_rows(rows)


def main() -> None:
    """Print the tables."""
    arguments = parser(__doc__ or "")
    arguments.add_argument("--backend", default="cuda", help="cuda (default) or opencl")
    arguments.add_argument("--repeat", type=int, default=5, help="runs of which the median is taken")
    arguments.add_argument("--json", type=Path, metavar="FILE", help="store the tables here")
    arguments.add_argument("--tables", default="starts,speed,mappings,k_swap", help="which, with commas between")
    options = arguments.parse_args()
    wanted = options.tables.split(",")
    reported: dict[str, object] = {}
    if "starts" in wanted:
        reported["starts"] = show("Processes: pr439, 4,000 climbers", starts(options.tsplib, options.backend))
    reported["machine"] = f"{describe()}; {open_backend(options.backend).describe()}"
    print(f"\n{reported['machine']}")
    if "speed" in wanted:
        reported["speed"] = show("Blocks, k = 1", speed(options.tsplib, options.backend, options.repeat))
    if "mappings" in wanted:
        reported["mappings"] = show("Blocks against threads", mappings(options.tsplib, options.backend, options.repeat))
    if "k_swap" in wanted:
        reported["k_swap"] = show("Moves a pass", k_swap(options.tsplib, options.backend))
    store(options.json, reported)


if __name__ == "__main__":
    main()
