"""Measure the gap of Held and Karp's lower bound to the optimum, on TSPLIB's instances of the plane, and its time.

With --edges: how many of the edges of optimal tours neighbour lists have, those of all instances with such a tour.
The program ends with 1 where a bound is above the optimum, or lists by α have less than their share.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import mean

import numpy as np
from numpy.typing import NDArray

import pytsp
from bench.harness.arguments import parser, whole
from bench.harness.machine import describe
from bench.harness.tables import print_rows, store
from pytsp.backends import open_backend
from pytsp.bound import check_certificate
from pytsp.bound.alpha import alpha_lists
from pytsp.neighbours import neighbour_lists

# Of drilled boards and other lattices of groups the bound is known to be weak: the mean is without them.
APART = ("d198", "fl", "p654", "pr107", "ts225")
# Least mean percentage of the edges of optimal tours on lists of five by α.
LEAST_SHARE = 98.5


def rows(folder: Path, least: int, most: int) -> Iterator[dict[str, object]]:
    """Yield a row for each instance: its optimum, its bound, the gap between them, the seconds of both proofs."""
    instances = []
    for file in folder.glob("*.tsp.gz"):
        try:
            instance = pytsp.read(file)
        except pytsp.TsplibError:
            # Fixed edges and the like.
            continue
        if least <= instance.n <= most and instance.metric == "EUC_2D" and instance.optimum:
            instances.append(instance)
    for instance in sorted(instances, key=lambda each: (each.n, each.name)):
        assert instance.optimum
        began = time.perf_counter()
        certificate = pytsp.lower_bound(instance)
        found = time.perf_counter()
        check_certificate(instance, certificate)
        yield {
            "instance": instance.name,
            "optimum": instance.optimum,
            "bound": certificate.bound,
            "gap %": round(100 * (instance.optimum / certificate.bound - 1), 3),
            "seconds": round(found - began, 1),
            "check": round(time.perf_counter() - found, 2),
        }


def edge_rows(folder: Path) -> Iterator[dict[str, object]]:
    """Yield a row for each instance with an optimal tour: the percentage of its edges that are on lists."""
    kernels = open_backend("c", part="bound")
    for file in sorted(folder.glob("*.opt.tour.gz")):
        tour = pytsp.read_tour(file)
        instance = pytsp.read(folder / file.name.replace(".opt.tour", ".tsp"))
        has_quadrants = instance.metric in ("EUC_2D", "CEIL_2D", "ATT")
        wide = neighbour_lists(instance, 10, quadrants=has_quadrants)
        began = time.process_time()
        by_alpha = alpha_lists(instance, wide, kernels, k=5, near=0)
        took = time.process_time() - began
        yield {
            "instance": instance.name,
            "5 nearest %": listed_share(tour, neighbour_lists(instance, 5)),
            "10 of quadrants %": listed_share(tour, wide) if has_quadrants else None,
            "5 by α %": listed_share(tour, by_alpha),
            "ms": round(1000 * took, 1),
        }


def listed_share(tour: NDArray[np.int32], lists: NDArray[np.int32]) -> float:
    """Return the percentage of a tour's edges, each from both ends, that lists have."""
    ways = ((tour, np.roll(tour, -1)), (np.roll(tour, -1), tour))
    return round(100 * mean(float((lists[a] == b[:, None]).any(axis=1).mean()) for a, b in ways), 2)


def tell_edges(folder: Path, file: Path | None) -> int:
    """Print the table of edges and its means; return 1 where lists by α have less than their share."""
    print(f"{describe()}\n")
    found = print_rows(edge_rows(folder))
    if not found:
        raise SystemExit(f"no optimal tours in {folder}; name the folder of TSPLIB's files by --tsplib")
    shares = {name: [float(str(row[name])) for row in found if row[name] is not None] for name in list(found[0])[1:4]}
    print("\nmean: " + ", ".join(f"{mean(values):.2f} {name}" for name, values in shares.items()))
    store(file, {"machine": describe(), "rows": found})
    return int(mean(shares["5 by α %"]) < LEAST_SHARE)


def main() -> int:
    """Print the table, the mean, and the longest time."""
    arguments = parser(__doc__)
    arguments.add_argument("--least", type=whole, default=100, metavar="N", help="fewest cities (default: 100)")
    arguments.add_argument("--most", type=whole, default=5_000, metavar="N", help="most cities (default: 5,000)")
    arguments.add_argument("--edges", action="store_true", help="the edges of optimal tours on neighbour lists")
    arguments.add_argument("--json", type=Path, metavar="FILE", help="store the table here")
    options = arguments.parse_args()
    if options.edges:
        return tell_edges(options.tsplib, options.json)
    print(f"{describe()}\n")
    found = print_rows(rows(options.tsplib, options.least, options.most))
    if not found:
        raise SystemExit(f"no instances in {options.tsplib}; name the folder of TSPLIB's files by --tsplib")
    gaps = {str(each["instance"]): float(str(each["gap %"])) for each in found}
    usual = [gap for name, gap in gaps.items() if not name.startswith(APART)]
    slowest = max(float(str(each["seconds"])) for each in found)
    print(f"\nmean gap of {len(usual)}, without {', '.join(APART)}: {mean(usual):.3f} %; at most {slowest:.1f} s")
    store(options.json, {"machine": describe(), "rows": found})
    return int(min(gaps.values()) < 0)


if __name__ == "__main__":
    sys.exit(main())
