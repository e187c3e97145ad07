"""Compare 42 searches by crossover on all backends: python -m bench.checks.searches.

They are of all forms of distances, of 5 to 100,000 cities, and of 2 to 300 tours. The best tour, and every climber's
length and steps, must be equal. Builds nothing; ends with 1 where anything differs.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator

import numpy as np

import pytsp
from bench.harness.arguments import parser
from bench.harness.machine import describe
from bench.harness.tables import print_head, row
from pytsp import Instance, Result
from pytsp.problem.validation import FORBIDDEN

# Cities and tours: few and many of both, and no more than seconds on one core.
SIZES = ((5, 2), (8, 300), (13, 40), (60, 3), (100, 300), (480, 60), (1_000, 100), (1_002, 2), (5_000, 20), (20_000, 6))
LARGE = ((50_000, 3), (100_000, 2))
# The most cities of a matrix.
MOST_OF_A_MATRIX = 1_002
GENERATIONS = 5


def places(kind: str, n: int, rng: np.random.Generator) -> Instance:
    """Return cities of one kind of places."""
    if kind == "lattice":
        side = int(np.ceil(n**0.5))
        return Instance.from_coordinates(np.array(np.divmod(np.arange(n), side)).T * 10, metric="EUC_2D")
    if kind == "clusters":
        centers = rng.integers(0, 10**6, (max(1, n // 50), 2))
        cities = centers[rng.integers(0, len(centers), n)] + rng.normal(0, 500, (n, 2)).astype(np.int64)
        return Instance.from_coordinates(cities, metric="EUC_2D")
    if kind == "globe":
        degrees = np.column_stack((rng.uniform(-80, 80, n), rng.uniform(-180, 180, n)))
        return Instance.from_coordinates(degrees, metric="HAVERSINE")
    if kind == "space":
        return Instance.from_coordinates(rng.integers(0, 10**4, (n, 3)), metric="EUC_3D")
    if kind == "floats":
        return Instance.from_coordinates(rng.uniform(0, 1, (n, 2)), metric="EUCLIDEAN")
    return Instance.from_coordinates(rng.integers(0, 10**6, (n, 2)), metric="EUC_2D")


def matrix(kind: str, n: int, rng: np.random.Generator) -> Instance:
    """Return ways of one kind between cities."""
    ways = rng.integers(1, 10**4, (n, n))
    if kind == "directed":
        return Instance.from_matrix(ways, asymmetric=True)
    ways = np.triu(ways, 1)
    ways = ways + ways.T
    if kind == "forbidden":
        cut = np.triu(rng.random((n, n)) < 0.2, 2)
        ways[cut | cut.T] = FORBIDDEN["i"]
    return Instance.from_matrix(ways)


def searches() -> Iterator[tuple[str, Instance, int, bool]]:
    """Return names, instances, tours, and whether the path is open."""
    rng = np.random.default_rng(53)
    kinds = ("uniform", "lattice", "clusters", "globe", "space", "floats")
    for number, (n, climbers) in enumerate(SIZES):
        for kind in (kinds[number % 6], kinds[(number + 3) % 6]):
            yield kind, places(kind, n, rng), climbers, False
        if n <= MOST_OF_A_MATRIX:
            kind = ("directed", "symmetric", "forbidden")[number % 3]
            yield kind, matrix(kind, n, rng), climbers, False
        yield "uniform, open", places("uniform", n, rng), climbers, True
    for kind in ("uniform", "clusters"):
        for n, climbers in LARGE:
            yield kind, places(kind, n, rng), climbers, False


def solved(instance: Instance, backend: str, climbers: int, is_open: bool) -> Result:
    """Make one search."""
    options = pytsp.EAX(climbers=climbers, iterations=GENERATIONS, moves="flat")
    return pytsp.solve(instance, solver=options, backend=backend, seed=7, open=is_open)


def main() -> int:
    """Run the benchmark; return the exit code."""
    options = parser(__doc__.partition("\n")[0])
    options.add_argument("--backends", default="c,multicore,cuda", help="the first is compared with the others")
    first, *others = options.parse_args().backends.split(",")
    print(describe(), flush=True)
    print_head("cities", "kind", "tours", "length", *(f"{each}, s" for each in (first, *others)), "equal")
    different = count = 0
    for kind, instance, climbers, is_open in searches():
        found, seconds = [], []
        for backend in (first, *others):
            began = time.perf_counter()
            found.append(solved(instance, backend, climbers, is_open))
            seconds.append(f"{time.perf_counter() - began:.2f}")
        equal = all(
            np.array_equal(found[0].tour, other.tour)
            and np.array_equal(found[0].lengths, other.lengths)
            and np.array_equal(found[0].steps, other.steps)
            for other in found[1:]
        )
        count, different = count + 1, different + (not equal)
        print(row(instance.n, kind, climbers, found[0].length, *seconds, "yes" if equal else "NO"), flush=True)
    print(f"{count} searches, {different} differ")
    return int(different > 0)


if __name__ == "__main__":
    sys.exit(main())
