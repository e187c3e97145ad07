"""Check that all backends end on the same tours: same seed and iterations, every option of every solver.

Instances of each form (grid, plane, matrix) are solved on c and on the others: iterated local search with all
combinations of moves, pivot, kick, temperature and exchange, with each start and other neighbours, and on GPUs by each
mapping; edge assembly crossover with all moves and its pivots; random restarts with one and several moves a pass;
annealing with its moves, pairs and schedules; ants of all variants with each local search; `solve_many`. The best tour,
its climber, and every climber's length, steps and passes must be equal; of `solve_many` every tour and length. The
program builds nothing and ends with 1 where anything differs.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from itertools import groupby, product
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import pytsp
from bench.harness.arguments import parser
from bench.harness.machine import describe
from bench.harness.tables import print_head, row
from pytsp.backends import open_backend, status
from pytsp.generate import uniform
from pytsp.problem.kernel_input import form_of
from pytsp.solvers.options.annealing import PAIRS, SCHEDULES
from pytsp.solvers.options.ants import VARIANTS
from pytsp.solvers.options.ils import KICKS, MAPPINGS
from pytsp.solvers.options.shared import LOCAL_MOVES, PIVOTS, STARTS

REFERENCE = "c"
# Moves that are made one by one; chains have the first pivot only.
SINGLE_MOVES = ("or-opt", "3-opt")
SEED = 2026
# The cities of the instance that edge assembly crossover is tried on besides.
LARGER = 500
# Chains, or ants of all colonies, that fill a GPU.
MANY = 20_000
# Of each form: a file of TSPLIB, and what stands in for it where it is not there.
FORMS: dict[str, tuple[str, Callable[[np.random.Generator], pytsp.Instance]]] = {
    "grid": (
        "kroA100",
        lambda numbers: pytsp.Instance.from_coordinates(numbers.integers(0, 4_000, (100, 2)), metric="EUC_2D"),
    ),
    "plane": (
        "rd100",
        lambda numbers: pytsp.Instance.from_coordinates(1e3 * numbers.random((100, 2)), metric="EUC_2D"),
    ),
    "matrix": ("gr96", lambda numbers: pytsp.Instance.from_coordinates(180 * numbers.random((96, 2)) - 90, "GEO")),
}

# The options of one solve, or those of one `solve_many`.
Options = dict[str, object]
# What must be equal.
Ends = list[NDArray[np.generic]]


def instances(folder: Path) -> Iterator[pytsp.Instance]:
    """Give an instance of each form; the program ends where `pytsp.problem.kernel_input` takes one for another form."""
    numbers = np.random.default_rng(SEED)
    for form, (name, made) in FORMS.items():
        file = folder / f"{name}.tsp.gz"
        instance = pytsp.read(file) if file.is_file() else made(numbers)
        if form_of(instance).kind != form:
            raise SystemExit(f"{instance!r} was to have the form {form}; it has the form {form_of(instance).kind}")
        yield instance


def iterated(n: int, iterations: int, climbers: int) -> Iterator[Options]:
    """Options of iterated local search on n cities."""
    base: Options = {"solver": "ils", "seed": SEED, "iterations": iterations, "climbers": climbers, "moves": "3-opt"}
    exchange = max(1, iterations // 3)
    for each, merge, temperature in product((None, exchange), (False, True), (None, 0.0)):
        yield {**base, "restart": max(1, iterations // 5), "exchange": each, "merge": merge, "temperature": temperature}
    yield {**base, "merge": True}
    for moves, pivot, kick, temperature, each in product(SINGLE_MOVES, PIVOTS, KICKS, (None, 0.0), (None, exchange)):
        yield {**base, "moves": moves, "pivot": pivot, "kick": kick, "temperature": temperature, "exchange": each}
    for kick, temperature, merge in product(KICKS, (None, 0.0), (False, True)):
        yield {**base, "moves": "lk", "kick": kick, "temperature": temperature, "merge": merge}
    for kick, moves in product(KICKS, ("lk", *SINGLE_MOVES)):
        yield {**base, "moves": moves, "kick": kick, "acceptance": "shorter"}
    for start in STARTS:
        yield {**base, "start": start}
    yield {**base, "initial_tour": list(range(n))}
    yield {**base, "temperature": 25.0}
    for draws in (1, 1000):
        yield {**base, "pivot": "random-k", "draws": draws}
    yield {**base, "neighbours": 5, "quadrants": False}
    for mapping, pivot in product(MAPPINGS, PIVOTS):
        yield {**base, "mapping": mapping, "pivot": pivot}
    for blocks in (3, 1024):
        yield {**base, "pivot": "random-k", "draws": 1000, "draw_blocks": blocks}
    # The kernels' numbers of seeds and climbers have 64 bits.
    yield {**base, "seed": 2**64 - 1, "first": 2**33}


def crossed(generations: int, climbers: int) -> Iterator[Options]:
    """Options of edge assembly crossover."""
    # Moves by default are others on a GPU.
    base: Options = {"solver": "eax", "seed": SEED, "iterations": generations, "climbers": climbers, "moves": "flat"}
    yield base
    yield {**base, "climbers": 2}
    yield {**base, "population": climbers // 2}
    yield {**base, "neighbours": 5, "quadrants": False}
    for moves, pivot in product(SINGLE_MOVES, ("first", "best")):
        yield {**base, "moves": moves, "pivot": pivot}
    yield {**base, "seed": 2**64 - 1, "first": 2**33}


def restarted(climbers: int) -> Iterator[Options]:
    """Options of random restarts."""
    for k in (1, 8, "inf"):
        yield {"solver": "restarts", "seed": SEED, "climbers": climbers, "k": k}


def annealed(iterations: int, climbers: int) -> Iterator[Options]:
    """Options of annealing; also with enough chains to fill a GPU."""
    base: Options = {"solver": "annealing", "seed": SEED, "iterations": iterations, "climbers": climbers}
    for moves, pairs, schedule, start in product(("2-opt", "or-opt"), PAIRS, SCHEDULES, ("greedy", "random")):
        yield {**base, "moves": moves, "pairs": pairs, "schedule": schedule, "start": start}
    yield {**base, "cooling": 0.9, "temperature": 1e6, "trials": 7}
    yield {**base, "seed": 2**64 - 1, "first": 2**33}
    yield {**base, "climbers": MANY, "iterations": 20}


def foraged(iterations: int, climbers: int) -> Iterator[Options]:
    """Options of ants; also with enough ants to fill a GPU."""
    base: Options = {"solver": "ants", "seed": SEED, "iterations": iterations, "climbers": climbers, "ants": 30}
    for variant, moves in product(VARIANTS, (None, *LOCAL_MOVES)):
        yield {**base, "variant": variant, "moves": moves}
    yield {**base, "alpha": 1.75, "beta": 0.25, "evaporation": 0.9, "neighbours": 5}
    yield {**base, "seed": 2**64 - 1, "first": 2**33}
    for moves in (None, "3-opt"):
        yield {**base, "climbers": MANY // 100, "ants": 100, "iterations": 2, "moves": moves}


def solved(instance: pytsp.Instance, options: Options, backend: str) -> Ends:
    """Solve one instance; a CPU has one mapping."""
    if open_backend(backend).device is None:
        options = {name: value for name, value in options.items() if name not in ("mapping", "draw_blocks")}
    found = pytsp.solve(instance, backend=backend, **options)  # type: ignore[arg-type]
    return [
        np.asarray(part) for part in (found.tour, found.length, found.climber, found.lengths, found.steps, found.passes)
    ]


def solved_many(many: list[pytsp.Instance], options: Options, backend: str) -> Ends:
    """Solve several instances; the climbers of the smallest are as many as the backend takes by itself."""
    results = pytsp.solve_many(many, backend=backend, **options)  # type: ignore[arg-type]
    return [np.asarray(part) for found in results for part in (found.tour, found.length)]


Case = tuple[str, str, Options, Callable[[str], Ends]]


def cases(given: list[pytsp.Instance], iterations: int, climbers: int) -> Iterator[Case]:
    """Give solver, instance, options, and what solves on a backend."""
    for instance in given:
        for options in (
            *iterated(instance.n, iterations, climbers),
            *crossed(4, climbers),
            *restarted(climbers),
            *annealed(iterations, climbers),
            *foraged(max(1, iterations // 4), climbers),
        ):
            name = instance.name or form_of(instance).kind
            yield str(options["solver"]), name, options, partial(solved, instance, options)
    # Large enough for cycles, subtours and merges of all kinds.
    larger = uniform(LARGER, SEED)
    for options in crossed(4, climbers):
        yield "eax", larger.name, options, partial(solved, larger, options)
    many = several(np.random.default_rng(SEED))
    base: Options = {"seed": SEED}
    for more in ({}, {"climbers": 3, "iterations": 5}, {"iterations": 0}, {"climbers": 1, "seed": 2**64 - 1}):
        options = {**base, **more}
        yield "solve_many", f"{len(many)} instances", options, partial(solved_many, many, options)


def several(numbers: np.random.Generator) -> list[pytsp.Instance]:
    """Make instances of several sizes, some of them equal, of each form."""
    plane = [pytsp.Instance.from_coordinates(numbers.random((n, 2)), "EUCLIDEAN") for n in (1, 4, 7, 8, 9, 20, 20, 50)]
    grid = [pytsp.Instance.from_coordinates(numbers.integers(0, 500, (n, 2)), metric="EUC_2D") for n in (8, 20, 30, 20)]
    matrix = [pytsp.Instance.from_matrix(each.distance_matrix()) for each in (*plane[-3:], *grid)]
    return [*plane, *grid, *matrix]


def compared(group: list[Case], backends: list[str]) -> tuple[int, list[float], list[str]]:
    """Solve cases on several backends; return how many, each backend's seconds, and what differs from the first."""
    seconds, differences = [0.0] * len(backends), []
    for _, _, options, solve in group:
        expected: Ends = []
        for place, backend in enumerate(backends):
            began = time.perf_counter()
            found = solve(backend)
            seconds[place] += time.perf_counter() - began
            expected = expected or found
            if len(found) != len(expected) or not all(map(np.array_equal, expected, found)):
                differences.append(f"{backend} differs from {backends[0]} with {options}")
    return len(group), seconds, differences


def main() -> int:
    """Print a row a solver and instance, and what differs."""
    arguments = parser(__doc__ or "")
    arguments.add_argument("--backends", metavar="B,B", help="compared with c (default: all others usable here)")
    arguments.add_argument("--iterations", type=int, default=60, help="of iterated local search (default: 60)")
    arguments.add_argument("--climbers", type=int, default=24, help="default: 24")
    options = arguments.parse_args()
    usable = [found.name for found in status() if found.usable]
    others = options.backends.split(",") if options.backends else [name for name in usable if name != REFERENCE]
    if not others:
        raise SystemExit(f"there is nothing to compare {REFERENCE} with; usable: {', '.join(usable)}")
    print("; ".join([describe(), *(open_backend(name).describe() for name in (REFERENCE, *others))]))
    heads = ("solver", "instance", "options", *(f"{name}, s" for name in (REFERENCE, *others)), "equal")
    print_head(*heads)
    wrong = 0
    every = cases(list(instances(options.tsplib)), options.iterations, options.climbers)
    for (solver, name), group in groupby(every, key=lambda case: case[:2]):
        count, seconds, differences = compared(list(group), [REFERENCE, *others])
        print(row(solver, name, count, *(f"{spent:.2f}" for spent in seconds), "NO" if differences else "yes"))
        print("".join(f"{difference}\n" for difference in differences), end="", flush=True)
        wrong += len(differences)
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
