"""Count what a GPU is launched to do for each generation of crossover, and time it: python -m bench.kernels.launches.

Futhark's profiling records every kernel and every copy, with its seconds on the device; a generation's wall-clock
seconds are taken with that and are longer than without. A generation has unions where the one before changed few tours.
"""

from __future__ import annotations

import ctypes
import json
import statistics
import sys
import time
from collections import Counter
from ctypes.util import find_library
from pathlib import Path
from typing import Any

import pytsp
from bench.harness.arguments import parser, whole
from bench.harness.machine import describe, find
from bench.harness.tables import print_head, row, store
from pytsp.backends.context import Backend
from pytsp.backends.kinds import KINDS
from pytsp.solvers.common.local_search import LocalSearch, crossing_plan


def record_events(backend: str) -> None:
    """Have every context of a backend that is opened from now on record its events.

    CUDA's are made by its runtime, which nothing else needs: it has to be loaded before the kernels' modules.
    """
    if backend == "cuda":
        ctypes.CDLL(find_library("cudart") or "libcudart.so.13", ctypes.RTLD_GLOBAL)
    kind = KINDS[backend]
    configure = kind.configure

    def with_profiling(found: Any, config: Any, tuning: Any) -> Any:
        found.module.lib.futhark_context_config_set_profiling(config, 1)
        return configure(found, config, tuning)

    kind.configure = with_profiling  # type: ignore[method-assign]


def events_of(kernels: Backend) -> list[tuple[str, float]]:
    """Return the events since the last report: names, and microseconds on the device."""
    text = kernels.lib.futhark_context_report(kernels.context)
    found = json.loads(kernels.ffi.string(text).decode())
    return [(event["name"], event.get("duration", 0.0)) for event in found["events"]]


def generations(instance: pytsp.Instance, backend: str, climbers: int, limit: int) -> list[dict[str, Any]]:
    """Return what each generation of a population took."""
    made: list[dict[str, Any]] = []
    breed = LocalSearch.breed

    def counted(search: LocalSearch, *arguments: Any, changed: float = 1.0) -> Any:
        search.lengths(arguments[0])
        events_of(search.kernels)
        began = time.perf_counter()
        bred = breed(search, *arguments, changed=changed)
        search.lengths(bred)
        seconds = time.perf_counter() - began
        events = events_of(search.kernels)
        kernels = [(name, spent) for name, spent in events if not name.startswith("copy")]
        made.append(
            {
                "unions": crossing_plan(changed)["unions"] > 0,
                "launches": len(kernels),
                "copies": len(events) - len(kernels),
                "device_ms": sum(spent for _, spent in events) / 1000,
                "wall_ms": 1000 * seconds,
                "kernels": [(name, spent) for name, spent in events],
            }
        )
        return bred

    LocalSearch.breed = counted  # type: ignore[method-assign, assignment]
    try:
        options = pytsp.EAX(climbers=climbers, iterations=limit, moves="flat")
        pytsp.solve(instance, solver=options, backend=backend, seed=1)
    finally:
        LocalSearch.breed = breed  # type: ignore[method-assign]
    return made


def print_longest(events: list[tuple[str, float]], count: int, most: int) -> None:
    """Print the kernels that take longest in some generations: microseconds and launches of each."""
    spent: dict[str, float] = {}
    launched = Counter[str]()
    for name, microseconds in events:
        spent[name] = spent.get(name, 0.0) + microseconds
        launched[name] += 1
    for name, microseconds in sorted(spent.items(), key=lambda item: -item[1])[:most]:
        print(f"    {name:60s} {microseconds / count:9.1f} us {launched[name] / count:7.1f} launches", flush=True)


def main() -> int:
    """Run the benchmark; return the exit code."""
    options = parser(__doc__.partition("\n")[0])
    options.add_argument("instances", nargs="*", default=["pr2392", "fnl4461", "pla7397"], help="names of TSPLIB's")
    options.add_argument("--backend", default="cuda", choices=("cuda", "opencl"), help="default: cuda")
    options.add_argument("--climbers", type=whole, default=300, help="default: 300")
    options.add_argument("--generations", type=whole, default=60, help="most generations (default: 60)")
    options.add_argument("--kernels", type=int, default=0, help="number of the longest kernels to name (default: 0)")
    options.add_argument("--json", type=Path, help="store the table in this file")
    given = options.parse_args()
    record_events(given.backend)
    print(describe(), flush=True)
    print_head("instance", "unions", "generations", "launches: median, most", "copies", "device ms", "wall ms")
    rows: list[dict[str, Any]] = []
    for name in given.instances:
        made = generations(find(given.tsplib, name), given.backend, given.climbers, given.generations)
        for unions in (False, True):
            some = [each for each in made if each["unions"] == unions]
            if not some:
                continue
            middle = {key: statistics.median(each[key] for each in some) for key in made[0] if key != "kernels"}
            most = max(each["launches"] for each in some)
            rows.append({"instance": name, "generations": len(some), **middle, "unions": unions, "most": most})
            counts = f"{middle['launches']:g}, {most}"
            times = [f"{middle[key]:.2f}" for key in ("device_ms", "wall_ms")]
            union = "with" if unions else "without"
            print(row(name, union, len(some), counts, f"{middle['copies']:g}", *times), flush=True)
            if given.kernels:
                print_longest([event for each in some for event in each["kernels"]], len(some), given.kernels)
    store(given.json, {"about": describe(), "rows": rows})
    return 0


if __name__ == "__main__":
    sys.exit(main())
