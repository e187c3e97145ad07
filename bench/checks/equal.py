"""Compare GPU climbers with those of the c backend, one by one: lengths, moves and passes, on all of TSPLIB.

Every instance up to `--largest` cities, the largest first, is climbed by `--climbers` climbers (`--above` of them
above 500 cities), with k = 1, 8 and inf, one a block and one a thread, and the first of them by themselves: few
climbers have blocks of more lanes. Some climb by turns too, on a fixed number of blocks of every shape, and with k = 1
by every other neighbourhood. The c backend climbs the same in as many processes as there are cores. The program ends
with 1 if anything differs; `--json FILE` stores what is printed.
"""

from __future__ import annotations

import argparse
import gzip
import math
import multiprocessing
import re
import sys
import time
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import suppress
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import pytsp
from bench.harness.arguments import parser, whole
from bench.harness.machine import describe
from bench.harness.tables import print_head, row, store
from pytsp.backends import Backend, open_backend
from pytsp.backends.devices import usable_cores
from pytsp.problem.kernel_input import Form, form_of
from pytsp.solvers.common.placement import choose_blocks, fits_a_block, fits_with_distances
from pytsp.solvers.options.restarts import ENUMERATIONS, LANES, ROWS, RandomRestarts

KS = (1, 8, math.inf)
# How many climb by themselves besides, one a block: as many as have blocks of other lanes, at most (gpu_climbs.fut).
FEWER = (264, 528)
# How many climb by each other neighbourhood and shape of blocks, and on how many blocks they take turns.
SOME = 3_000
BLOCKS = 400
Ends = tuple[NDArray[np.generic], ...]


def ends(file: Path, backend: str, first: int, climbers: int, **options: Any) -> tuple[Ends, float]:
    """Return each climber's length, moves and passes, and the seconds that they took."""
    instance = pytsp.read(file, ignore_fixed_edges=True)
    found = pytsp.solve(instance, solver="restarts", backend=backend, climbers=climbers, first=first, **options)
    return (found.lengths, found.steps, found.passes), found.seconds


def dimension(file: Path) -> int:
    """Read the number of cities, and nothing else."""
    with gzip.open(file, "rt", encoding="latin-1") as text:
        found = re.search(r"DIMENSION\s*:\s*(\d+)", text.read(4096))
    return int(found.group(1)) if found else 0


def instances(options: argparse.Namespace) -> list[Path]:
    """Choose the files. The smallest are last: when c is through with them, the other backend has little left to do."""
    files = sorted(options.tsplib.glob("*.tsp.gz"), key=dimension, reverse=True)
    files = [file for file in files if options.smallest <= dimension(file) <= options.largest]
    if options.form is None:
        return files
    return [file for file in files if form_of(pytsp.read(file, ignore_fixed_edges=True)).kind == options.form]


def expect(
    pool: ProcessPoolExecutor, file: Path, k: float, climbers: int, jobs: int
) -> list[Future[tuple[Ends, float]]]:
    """Have the c backend climb, in as many parts as there are processes."""
    share = max(1, math.ceil(climbers / jobs))
    return [
        pool.submit(ends, file, "c", first, min(share, climbers - first), k=k) for first in range(0, climbers, share)
    ]


def by_neighbourhoods(form: Form, kernels: Backend) -> list[dict[str, Any]]:
    """Return the options of all other ways to look for the best move, as far as a block takes the cities."""
    fits = fits_a_block(form, 1, kernels, is_enumerated=True)
    found: list[dict[str, Any]] = [
        {"neighbourhood": name, "mapping": mapping}
        for name in ENUMERATIONS
        for mapping in ("thread", *["block"] * fits)
    ]
    if kernels.device is not None:
        found.append({"neighbourhood": "flat"})
    if fits_with_distances(form.whole.n, kernels):
        found += [{"neighbourhood": name, "shared_matrix": True} for name in ENUMERATIONS]
    return found


def by_turns(form: Form, kernels: Backend) -> list[dict[str, Any]]:
    """Return the options of blocks of every shape that takes the cities."""
    found = []
    for lanes, rows in product(LANES, ROWS):
        options: dict[str, Any] = {"blocks": BLOCKS, "lanes": lanes, "rows": rows}
        with suppress(ValueError):
            choose_blocks(RandomRestarts(**options), form, kernels)
            found.append(options)
    return found


def compare(
    file: Path, k: float, climbers: int, kernels: Backend, parts: list[tuple[Ends, float]]
) -> tuple[dict[str, object], int]:
    """Climb by both mappings, and return a row of the table and the number of climbs that were compared with c's."""
    whole = [np.concatenate(each) for each in zip(*(part for part, _ in parts), strict=True)]
    form = form_of(pytsp.read(file, ignore_fixed_edges=True))
    seconds: dict[str, float | None] = {"block": None, "thread": None}
    same, compared = True, 0
    for mapping in seconds:
        if mapping == "block" and not fits_a_block(form, 2, kernels):
            continue
        fewer = FEWER if (mapping, k) == ("block", 1) else ()
        for count in (*(count for count in fewer if count < climbers), climbers):
            found, took = ends(file, kernels.name, 0, count, mapping=mapping, k=k)
            seconds[mapping] = round(took, 3)
            same = same and all(map(np.array_equal, found, [each[:count] for each in whole]))
            compared += count
    for options in [*by_turns(form, kernels), *(by_neighbourhoods(form, kernels) if k == 1 else ())]:
        count = min(climbers, SOME)
        found, _ = ends(file, kernels.name, 0, count, k=k, **options)
        same = same and all(map(np.array_equal, found, [each[:count] for each in whole]))
        compared += count
    reported: dict[str, object] = {
        "instance": file.name.removesuffix(".tsp.gz"),
        "n": dimension(file),
        "climbers": climbers,
        "k": str(k),
        "block, s": seconds["block"],
        "thread, s": seconds["thread"],
        "c, core s": round(sum(spent for _, spent in parts), 1),
        "equal": "yes" if same else "NO",
    }
    return reported, compared


def main() -> int:
    """Compare, and print a line an instance and a k."""
    arguments = parser(__doc__ or "")
    arguments.add_argument("--backend", default="cuda", help="what is compared with c (default: cuda)")
    arguments.add_argument("--climbers", type=whole, default=20_000, help="climbers up to 500 cities")
    arguments.add_argument("--above", type=whole, help="climbers above 500 cities (default: a tenth of --climbers)")
    arguments.add_argument("--smallest", type=int, default=1, help="the smallest number of cities")
    arguments.add_argument("--largest", type=int, default=1000, help="the largest number of cities")
    arguments.add_argument("--form", choices=("grid", "plane", "matrix"), help="only instances with such distances")
    arguments.add_argument("--jobs", type=whole, default=usable_cores(), help="processes of the c backend")
    arguments.add_argument("--json", type=Path, metavar="FILE", help="store the table here")
    options = arguments.parse_args()
    above = max(1, options.climbers // 10) if options.above is None else options.above
    climbers = {file: options.climbers if dimension(file) <= 500 else above for file in instances(options)}
    if not climbers:
        raise SystemExit(f"{options.tsplib} holds no such *.tsp.gz; name the folder of TSPLIB's files by --tsplib")
    kernels = open_backend(options.backend)
    machine = f"{describe()}; {kernels.describe()}"
    print(machine, flush=True)
    began, compared = time.perf_counter(), 0
    rows: list[dict[str, object]] = []
    with ProcessPoolExecutor(options.jobs, mp_context=multiprocessing.get_context("spawn")) as pool:
        expected = {
            (file, k): expect(pool, file, k, count, options.jobs) for file, count in climbers.items() for k in KS
        }
        for (file, k), futures in expected.items():
            reported, climbs = compare(file, k, climbers[file], kernels, [future.result() for future in futures])
            if not rows:
                print_head(*reported)
            print(row(*("-" if cell is None else cell for cell in reported.values())), flush=True)
            rows.append(reported)
            compared += climbs
    wrong = sum(reported["equal"] != "yes" for reported in rows)
    summary = f"{len(climbers)} instances, {compared} climbs compared, {wrong} rows differ"
    print(f"{summary}; {time.perf_counter() - began:.0f} s")
    store(options.json, {"machine": machine, "summary": summary, "rows": rows})
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
