"""Measure the speedup of several workers, the cost of one, and check that they find the same tours.

Each kind of work is done in this process ("alone"), by one worker and by all, which are warm before the clock starts:
random restarts of 100 cities, many instances of 100, and, of a CPU, one huge tour in stripes within a time limit, whose
kicks are counted. Without --devices, workers are processes of one thread. Tours must be those of one worker, of the
huge tour by a smaller one without a limit; on GPUs those of less work must be c's as well.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import pytsp
from bench.harness.arguments import parser, positive, whole
from bench.harness.machine import describe, find
from bench.harness.tables import print_rows, store
from pytsp import generate
from pytsp.distributed import Devices, Processes

# Climbers and instances on a CPU and on GPUs; the cities of the huge tour, and of the smaller one.
SIZES = {"cpu": (20_000, 2_000), "gpu": (10_000_000, 10_000)}
CITIES, SMALL_CITIES = 200_000, 20_000


@dataclass(frozen=True)
class Work:
    """A kind of work: what is counted, what does it with an executor, the count of that, and what was found, which
    nobody waits for."""

    name: str
    unit: str
    do: Callable[..., Any]
    count: Callable[[Any], float]
    found: Callable[[Any], list[NDArray[Any]]]

    def prints(self, done: object) -> str:
        """Return a fingerprint of what was found."""
        return hashlib.sha256(b"".join(each.tobytes() for each in self.found(done))).hexdigest()


def restarts(climbers: int, options: argparse.Namespace) -> Work:
    try:
        instance = find(options.tsplib, "kroA100")
    except SystemExit:
        # TSPLIB is not everywhere.
        instance = generate.uniform(100, seed=100)

    def do(**how: Any) -> pytsp.Result:
        return pytsp.solve(instance, solver="restarts", climbers=climbers, **how)

    name = f"restarts, {instance.name}, {climbers:,} climbers"
    return Work(name, "climbers", do, lambda _: climbers, lambda result: [result.tour, result.lengths])


def many(count: int) -> Work:
    points = np.random.default_rng(0).random((count, 100, 2))

    def do(**how: Any) -> pytsp.BatchResult:
        return pytsp.solve_many(points, **how)

    name = f"{count:,} instances of 100 cities"
    return Work(name, "instances", do, lambda _: count, lambda results: [result.tour for result in results])


def large(n: int, small: int, seconds: float, stripes: int) -> Work:
    instance, other = (generate.uniform(each, seed=each) for each in (n, small))

    def do(**how: Any) -> tuple[pytsp.Result, pytsp.Result]:
        options: dict[str, Any] = {"solver": "large", "stripes": stripes, **how}
        return pytsp.solve(other, iterations=4, **options), pytsp.solve(instance, time_limit=seconds, **options)

    def count(results: tuple[pytsp.Result, pytsp.Result]) -> float:
        # What the limit is not of is not counted.
        return float(results[1].steps.sum()) / results[1].seconds

    name = f"{n:,} cities in {stripes} stripes, {seconds:g} s"
    return Work(name, "kicks a second", do, count, lambda results: [results[0].tour])


@dataclass(frozen=True)
class Measured:
    """Work per second, seconds, seconds of all cores, and the result."""

    speed: float
    seconds: float
    core_seconds: float
    found: str


def core_seconds(how: dict[str, Any]) -> float:
    """Return what this process and the workers have had of the cores."""
    pool, ticks = how.get("executor"), 0
    for pid in pool.pids if isinstance(pool, Processes) else ():
        ticks += sum(map(int, Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13]))
    return time.process_time() + ticks / os.sysconf("SC_CLK_TCK")


def measure(work: Work, how: dict[str, Any]) -> Measured:
    cores, began = core_seconds(how), time.perf_counter()
    done = work.do(**how)
    seconds = time.perf_counter() - began
    cores = core_seconds(how) - cores
    count = work.count(done)
    return Measured(count if work.unit.endswith("a second") else count / seconds, seconds, cores, work.prints(done))


def times(a: float, b: float, digits: int = 2) -> float | None:
    """Return how many times b is in a; None where b is nothing, as of workers that have made no kick."""
    return round(a / b, digits) if b else None


def overhead(a: float, b: float) -> float | None:
    """Return by how many per cent a is more than b; None where b is nothing."""
    return round(100 * (a / b - 1), 1) if b else None


def median(measured: Sequence[Measured]) -> Measured:
    """Return the one of middle speed; of an even count the slower one."""
    return sorted(measured, key=lambda each: each.speed)[(len(measured) - 1) // 2]


def row_of(
    work: Work, hows: Sequence[dict[str, Any]], workers: int, is_c_equal: bool, repeats: int
) -> dict[str, object]:
    # In turn, so that what else the machine does is shared.
    rounds = [[measure(work, how) for how in hows] for _ in range(repeats)]
    alone, one, several = (median(column) for column in zip(*rounds, strict=True))
    found = [each.found for measured in rounds for each in measured]
    # What a second of a core does, which others on the machine change little.
    alone_a_core, one_a_core, several_a_core = (
        each.speed * each.seconds / each.core_seconds for each in (alone, one, several)
    )
    return {
        "work": work.name,
        "unit": work.unit,
        "alone": round(alone.speed),
        "one worker": round(one.speed),
        f"{workers} workers": round(several.speed),
        "times": times(several.speed, one.speed),
        "overhead %": overhead(alone.speed, one.speed),
        "times a core": times(several_a_core, one_a_core, 3),
        "overhead a core %": overhead(alone_a_core, one_a_core),
        "s": ", ".join(f"{each.seconds:.1f}" for each in (alone, one, several)),
        "equal": "yes" if is_c_equal and all(each == found[0] for each in found) else "NO",
    }


def main() -> int:
    """Print the table."""
    arguments = parser(__doc__ or "")
    arguments.add_argument("--workers", type=whole, default=2, help="processes of one thread (default: 2)")
    arguments.add_argument("--devices", metavar="D,…", help="GPUs instead, a process each: their numbers, or all")
    arguments.add_argument("--seconds", type=positive, default=60.0, help="of the huge tour (default: 60)")
    arguments.add_argument("--repeats", type=whole, default=1, metavar="N", help="the medians of N (default: 1)")
    arguments.add_argument("--only", choices=("restarts", "many", "large"), help="one kind of work")
    for name, noun in (("climbers", "climbers"), ("count", "instances"), ("cities", "cities of the huge tour")):
        arguments.add_argument(f"--{name}", type=whole, metavar="N", help=f"how many {noun}")
    arguments.add_argument("--json", type=Path, metavar="FILE", help="store the figures here")
    options = arguments.parse_args()
    few = 50 if options.devices is None else 2_000
    climbers, count = SIZES["cpu" if options.devices is None else "gpu"]
    with ExitStack() as stack:
        if options.devices is None:
            pools: list[Any] = [stack.enter_context(Processes(each, threads=1)) for each in (1, options.workers)]
            backend: dict[str, Any] = {"backend": "c"}
            workers = options.workers
        else:
            devices = (
                options.devices if options.devices == "all" else [int(each) for each in options.devices.split(",")]
            )
            several = stack.enter_context(Devices(devices))
            one = [0] if devices == "all" else devices[:1]
            pools, backend = [stack.enter_context(Devices(one)), several], {}
            workers = len(several.current())
        print(f"{describe()}; workers: {', '.join(place.name for place in pools[1].current())}", flush=True)
        hows = [backend, *({**backend, "executor": pool} for pool in pools)]
        kinds: dict[str, Callable[[], tuple[Work, Work]]] = {
            # Enough for each worker to have some of it.
            "restarts": lambda: (restarts(2_000 * workers, options), restarts(options.climbers or climbers, options)),
            "many": lambda: (many(few * workers), many(options.count or count)),
            "large": lambda: (
                large(20_000, 2_000, 1.0, workers),
                large(options.cities or CITIES, SMALL_CITIES, options.seconds, workers),
            ),
        }
        rows = []
        for name, made in kinds.items():
            if options.only in (None, name) and (name != "large" or options.devices is None):
                warm, work = made()
                found = [warm.prints(warm.do(**how)) for how in hows]
                if options.devices is not None:
                    found.append(warm.prints(warm.do(backend="c")))
                rows.append(row_of(work, hows, workers, all(each == found[0] for each in found), options.repeats))
                print(rows[-1], flush=True)
    print_rows(rows)
    store(options.json, {"machine": describe(), "rows": rows})
    return 0 if all(row["equal"] == "yes" for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
