"""How near the optimum Held and Karp's lower bound is, on TSPLIB's instances of the plane, and what it takes.

The program ends with 1 where a bound is above the optimum.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import mean

import pytsp
from bench.harness.arguments import parser, whole
from bench.harness.machine import describe
from bench.harness.tables import print_rows, store
from pytsp.bound import check_certificate

# Of drilled boards and other lattices of groups the bound is known to be weak: the mean is without them.
APART = ("d198", "fl", "p654", "pr107", "ts225")


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


def main() -> int:
    """Print the table, the mean, and the longest time."""
    arguments = parser(__doc__)
    arguments.add_argument("--least", type=whole, default=100, metavar="N", help="fewest cities (default: 100)")
    arguments.add_argument("--most", type=whole, default=5_000, metavar="N", help="most cities (default: 5,000)")
    arguments.add_argument("--json", type=Path, metavar="FILE", help="store the table here")
    options = arguments.parse_args()
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
