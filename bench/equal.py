"""Compare GPU climbers with those of the c backend, one by one: lengths, moves and passes, on all of TSPLIB.

Every instance up to `--largest` cities is climbed by `--climbers` climbers (a tenth above 500 cities), with k = 1, 8
and inf, one a block and one a thread, and the first of them by themselves: few climbers have blocks of more lanes. The
c backend climbs the same in as many processes as there are cores. The program ends with 1 if anything differs.
"""

from __future__ import annotations

import gzip
import math
import multiprocessing
import os
import re
import sys
import time
from concurrent.futures import Future, ProcessPoolExecutor
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import pytsp
from bench.machine import describe, parser, row
from pytsp.backends import open_backend
from pytsp.forms import form_of
from pytsp.search import fits_a_block

KS = (1, 8, math.inf)
# How many climb by themselves besides, one a block: as many as have blocks of other lanes, at most (gpu_restarts.fut).
FEWER = (264, 528)
Ends = tuple[NDArray[np.generic], ...]


def ends(file: Path, backend: str, mapping: str, k: float, first: int, climbers: int) -> tuple[Ends, float]:
    """Return each climber's length, moves and passes, and the seconds that they took."""
    instance = pytsp.read(file, ignore_fixed_edges=True)
    options = {"climbers": climbers, "first": first, "backend": backend, "mapping": mapping, "k": k}
    found = pytsp.solve(instance, solver="restarts", **options)  # type: ignore[arg-type]
    return (found.lengths, found.steps, found.passes), found.seconds


def climbers_of(n: int, most: int) -> int:
    """Return how many climbers an instance gets."""
    return most if n <= 500 else max(1, most // 10)


def dimension(file: Path) -> int:
    """Read the number of cities, and nothing else."""
    with gzip.open(file, "rt", encoding="latin-1") as text:
        found = re.search(r"DIMENSION\s*:\s*(\d+)", text.read(4096))
    return int(found.group(1)) if found else 0


def main() -> None:
    """Compare, and print a line an instance."""
    arguments = parser(__doc__ or "")
    arguments.add_argument("--backend", default="cuda", help="what is compared with c (default: cuda)")
    arguments.add_argument("--climbers", type=int, default=20_000, help="climbers up to 500 cities")
    arguments.add_argument("--smallest", type=int, default=1, help="the smallest number of cities")
    arguments.add_argument("--largest", type=int, default=1000, help="the largest number of cities")
    arguments.add_argument("--form", choices=("grid", "plane", "matrix"), help="only instances with such distances")
    arguments.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes of the c backend")
    options = arguments.parse_args()
    files = sorted(options.tsplib.glob("*.tsp.gz"), key=dimension)
    files = [file for file in files if options.smallest <= dimension(file) <= options.largest]
    if options.form is not None:
        files = [file for file in files if form_of(pytsp.read(file, ignore_fixed_edges=True)).kind == options.form]
    kernels = open_backend(options.backend)
    print(f"{describe()}; {kernels.describe()}", flush=True)
    print(row("instance", "n", "climbers", "k", "block, s", "thread, s", "c, core s", "equal"))
    print(row(*["---"] * 8))
    began, compared, wrong = time.perf_counter(), 0, 0
    with ProcessPoolExecutor(options.jobs, mp_context=multiprocessing.get_context("spawn")) as pool:
        expected: dict[tuple[Path, float], list[Future[tuple[Ends, float]]]] = {}
        for file in files:
            climbers = climbers_of(dimension(file), options.climbers)
            share = max(1, math.ceil(climbers / options.jobs))
            for k in KS:
                expected[file, k] = [
                    pool.submit(ends, file, "c", "auto", k, first, min(share, climbers - first))
                    for first in range(0, climbers, share)
                ]
        for file in files:
            n = dimension(file)
            climbers = climbers_of(n, options.climbers)
            form = form_of(pytsp.read(file, ignore_fixed_edges=True))
            for k in KS:
                parts = [part.result() for part in expected[file, k]]
                whole = [np.concatenate(each) for each in zip(*(part for part, _ in parts), strict=True)]
                seconds, same = {"block": math.nan, "thread": math.nan}, True
                for mapping in seconds:
                    if mapping == "block" and not fits_a_block(form, 2, kernels):
                        continue
                    for count in (*(FEWER if (mapping, k) == ("block", 1) else ()), climbers):
                        found, seconds[mapping] = ends(file, options.backend, mapping, k, 0, count)
                        same = same and all(map(np.array_equal, found, [each[:count] for each in whole]))
                        compared += count
                wrong += not same
                cores = sum(spent for _, spent in parts)
                name = file.name.removesuffix(".tsp.gz")
                times = [f"{seconds[mapping]:.3f}" for mapping in seconds]
                print(row(name, n, climbers, k, *times, f"{cores:.1f}", "yes" if same else "NO"), flush=True)
    print(
        f"{len(files)} instances, {compared} climbs compared, {wrong} rows differ; {time.perf_counter() - began:.0f} s"
    )
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
