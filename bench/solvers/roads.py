"""Asymmetric instances that are like roads: the gap of pytsp to LKH's tour over the time.

Places of a drawn street network (`bench.harness.roads`); an instance's number is the seed that draws it. elkai runs LKH
once on each, on hundredths of a second, and takes the time that it takes; pytsp runs for each of `--seconds` and each
of `--seeds`, knowing the limit and nothing else. Each solver has a process of its own. Every tour's length is computed
anew from the matrix. Cells: the median gap in per cent to LKH's tour, with the smallest and the largest; below 0
pytsp's tour is the shorter one. Where elkai is not here, gaps are to the best tour of all that were found.
"""

from __future__ import annotations

import statistics
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import pytsp
from bench.harness.arguments import numbers, parser, whole
from bench.harness.machine import describe
from bench.harness.rivals import Answer, Task, answer, at_hand
from bench.harness.roads import road_matrix
from bench.harness.tables import print_rows, store
from bench.harness.workers import Worker

# LKH takes whole numbers.
HUNDREDTHS = 100
# Seconds after which LKH is ended, and pytsp beyond its limit.
LKH_PATIENCE, PATIENCE = 3_600.0, 60.0


def lkh_row(instance: pytsp.Instance, worker: Worker[Task, Answer]) -> tuple[float, float]:
    """Return the length of LKH's tour of one run, and its seconds."""
    assert instance.matrix is not None
    whole_ones = pytsp.Instance.from_matrix(np.rint(HUNDREDTHS * instance.matrix).astype(np.int64), asymmetric=True)
    found = worker.ask(Task(whole_ones, "elkai", 0.0, runs=1), LKH_PATIENCE)
    return float(instance.tour_length(found.tour)), found.seconds


def lengths_of(
    instance: pytsp.Instance, limit: float, seeds: int, backend: str, worker: Worker[Task, Answer]
) -> list[float]:
    """Return the lengths of pytsp's tours after the limit, a seed each."""
    task = Task(instance, f"pytsp {backend}", limit, threads=1)
    found = [worker.ask(replace(task, seed=seed), limit + PATIENCE) for seed in range(seeds)]
    return [float(instance.tour_length(each.tour)) for each in found]


def reported(lengths: list[float], best: float) -> str:
    """Tell the gaps of some tours in per cent: the median, the smallest and the largest."""
    gaps = [100 * (length / best - 1) for length in lengths]
    return f"{statistics.median(gaps):.2f} ({min(gaps):.2f} … {max(gaps):.2f})"


def rows(
    places: list[int],
    instances: int,
    limits: list[float],
    seeds: int,
    backend: str,
    workers: dict[str, Worker[Task, Answer]],
) -> Iterator[dict[str, object]]:
    """Yield a row for each instance."""
    for n in places:
        for number in range(instances):
            matrix: NDArray[np.float64] = road_matrix(n, number)
            instance = pytsp.Instance.from_matrix(matrix, f"roads{n}-{number}", asymmetric=True)
            lkh = lkh_row(instance, workers["elkai"]) if "elkai" in workers else None
            ours = {limit: lengths_of(instance, limit, seeds, backend, workers["pytsp"]) for limit in limits}
            best = min(min(each) for each in ours.values()) if lkh is None else lkh[0]
            yield {
                "places": n,
                "number": number,
                **{f"{limit:g} s": reported(lengths, best) for limit, lengths in ours.items()},
                "LKH, s": None if lkh is None else round(lkh[1], 1),
                "LKH": None if lkh is None else round(lkh[0], 2),
            }


def main() -> int:
    """Print the table."""
    arguments = parser(__doc__ or "")
    arguments.add_argument("--places", type=numbers, default=[500, 1000, 2000], help="default: 500,1000,2000")
    arguments.add_argument("--instances", type=whole, default=2, help="of each number of places (default: 2)")
    arguments.add_argument("--seconds", type=numbers, default=[1.0, 5.0, 10.0], help="time limits (default: 1,5,10)")
    arguments.add_argument("--seeds", type=whole, default=3, help="pytsp's (default: 3)")
    arguments.add_argument("--backend", default="c", help="pytsp's (default: c)")
    arguments.add_argument("--json", type=Path, metavar="FILE", help="store the table here")
    options = arguments.parse_args()
    print(f"{describe()}; backend {options.backend}, {options.seeds} seeds", flush=True)
    workers = {peer: Worker(answer) for peer in ("pytsp", *(["elkai"] if "elkai" in at_hand() else []))}
    try:
        places = [int(n) for n in options.places]
        shown = print_rows(rows(places, options.instances, options.seconds, options.seeds, options.backend, workers))
    finally:
        for worker in workers.values():
            worker.end()
    store(options.json, {"machine": describe(), "backend": options.backend, "seeds": options.seeds, "rows": shown})
    return 0


if __name__ == "__main__":
    sys.exit(main())
