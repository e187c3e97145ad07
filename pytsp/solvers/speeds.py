"""Speeds that must be known before a first kernel call has shown any, and the memory that kernels take.

A search that has made calls goes by what it has seen of them.
"""

from __future__ import annotations

from typing import NamedTuple

EPYC, H200, FITTED = "one core of an AMD EPYC", "an H200", "fitted"


class Speed(NamedTuple):
    """A row of the table: a speed, its machine and date, and the program that measured it, or "fitted"."""

    name: str
    value: float
    unit: str
    machine: str
    date: str
    program: str


TABLE = (
    # The first local optimum of chains over a whole tour; the least limit of a population on asymmetric instances.
    Speed("chains, start", 0.02, "s", EPYC, "2026-11-30", FITTED),
    Speed("chains", 1e-5, "s/city", EPYC, "2026-11-30", FITTED),
    Speed("population of roads", 5e-6, "s/city²", EPYC, "2026-11-27", "bench.solvers.directed"),
    Speed("directed population", 1e-3, "s/city", EPYC, "2026-11-27", "bench.solvers.directed"),
    # The least limit of a population on a GPU: with lists by its host; in the plane; elsewhere. Then its start in bulk.
    Speed("GPU, lists of its host", 7e-6, "s/city", H200, "2026-11-30", FITTED),
    Speed("GPU, start", 0.15, "s", H200, "2026-11-30", FITTED),
    Speed("GPU, plane", 8e-7, "s/city", H200, "2026-11-30", FITTED),
    Speed("GPU, space", 4e-6, "s/city", H200, "2026-11-30", FITTED),
    Speed("GPU, bulk", 4e6, "cities/s", H200, "2026-11-30", FITTED),
    # From a good start to a local optimum. On a core: more through a matrix, and longer by chains. On a GPU: in blocks
    # together, by threads that share a multiprocessor, and in step, for the launches of a move.
    Speed("descent", 1 / 300_000, "s/city", EPYC, "2026-11-22", FITTED),
    Speed("descent, matrix", 2e-9, "s/city²", EPYC, "2026-11-23", FITTED),
    Speed("descent, chains", 2.5, "descents", EPYC, "2026-11-27", FITTED),
    Speed("descent, block", 4e-5, "s/city", H200, "2026-11-23", FITTED),
    Speed("descent, thread", 8e-6, "s/city", H200, "2026-11-23", FITTED),
    Speed("descent, lockstep", 2e-4, "s/city", H200, "2026-11-23", FITTED),
    # First tours: cities in order of nearness, in random order, along the curve, by strips; greedy ones in space.
    Speed("nearest-neighbour tour", 1.5e5, "cities/s", EPYC, "2026-11-30", FITTED),
    Speed("random tour", 7e6, "cities/s", EPYC, "2026-11-30", FITTED),
    Speed("curve", 5e-7, "s/city", EPYC, "2026-11-22", FITTED),
    Speed("strips", 3e-7, "s/city", EPYC, "2026-11-22", FITTED),
    Speed("greedy tour, space", 2.0, "greedy tours", EPYC, "2026-11-30", FITTED),
    Speed("lists by alpha", 1.5e-5, "s/city", EPYC, "2026-11-30", FITTED),
    # One huge tour: lists and a first descent, a look of a pass at a city, and a piece's first kicks with their
    # descent. Faster pieces are not believed: their distances are rounded to 0.
    Speed("pieces, start", 3e-6, "s/city", EPYC, "2026-11-24", FITTED),
    Speed("pieces, look", 2e6, "cities/s", EPYC, "2026-11-29", FITTED),
    Speed("pieces, first kicks", 8.0, "descents by chains", EPYC, "2026-11-30", FITTED),
    Speed("pieces, fastest kicks", 9e3, "kicks/s", EPYC, "2026-11-29", FITTED),
    Speed("pieces, fastest descent", 1e6, "cities/s", EPYC, "2026-11-30", FITTED),
    # Many instances: their lists, the climbers of each, and the results, on a core. On a GPU the same lists; its
    # multiprocessors share the climbers; a thread takes long for a city, and generations for however few cities.
    Speed("batch", 3e-6, "s/city", EPYC, "2026-12-01", FITTED),
    Speed("batch, climber", 7e-7, "s/city^(4/3)", EPYC, "2026-12-01", FITTED),
    Speed("batch, results", 2e-7, "s/city", EPYC, "2026-12-01", FITTED),
    Speed("batch, GPU", 2.5e-7, "s/city", H200, "2026-12-01", FITTED),
    Speed("batch, multiprocessor", 2.3e-6, "s/city^(4/3)", H200, "2026-12-01", FITTED),
    Speed("batch, thread", 2.6e-3, "s/city", H200, "2026-12-01", FITTED),
    Speed("batch, generations", 0.15, "s", H200, "2026-12-01", FITTED),
    # Moves of 2-opt by climbers and of one tour, and how many take as long as the launches of a pass.
    Speed("2-opt, cpu", 1.3e8, "moves/s", EPYC, "2026-11-23", FITTED),
    Speed("2-opt, gpu", 5e11, "moves/s", H200, "2026-11-23", FITTED),
    Speed("2-opt of one tour, cpu", 1.3e8, "moves/s", EPYC, "2026-11-20", FITTED),
    Speed("2-opt of one tour, gpu", 1e10, "moves/s", H200, "2026-11-20", FITTED),
    Speed("2-opt launches, cpu", 5e3, "moves", EPYC, "2026-11-20", FITTED),
    Speed("2-opt launches, gpu", 5e6, "moves", H200, "2026-11-20", FITTED),
    # A trial of annealing: on a GPU for each city of the tour, a part of which it turns; on a core, and more for each
    # city, most from a random tour, of which it turns much.
    Speed("trial, gpu", 2.6e-8, "s/city", H200, "2026-11-22", FITTED),
    Speed("trial", 1e-7, "s", EPYC, "2026-11-22", FITTED),
    Speed("trial, city", 5e-12, "s/city", EPYC, "2026-11-22", FITTED),
    Speed("trial, random city", 2.5e-10, "s/city", EPYC, "2026-11-22", FITTED),
    # A step of an ant: on a core, its share of the search for a city where all neighbours are visited, and the local
    # search of a city; on a GPU that is busy with all its ants, for each city.
    Speed("ant, step", 2e-7, "s", EPYC, "2026-11-21", FITTED),
    Speed("ant, lonely", 6e-11, "s/city", EPYC, "2026-11-21", FITTED),
    Speed("ant, descent", 3e-6, "s", EPYC, "2026-11-21", FITTED),
    Speed("ant, gpu", 9e-8, "s/city", H200, "2026-11-22", FITTED),
)

SPEEDS = {row.name: row.value for row in TABLE}
"""The values by their names."""

BYTES = {
    # A city and a climber of `ils` on the host; the same of a population; a trail of ants, and a city of an ant's tour.
    "ils, city": 24,
    "ils, climber": 256,
    "eax, city": 64,
    "eax, climber": 1_024,
    "ants, trail": 32,
    "ants, city": 5,
    # On a device, a city of a climber, of one that starts in bulk, and of an ant; what climbers may have together.
    "device, city": 32,
    "device, city in bulk": 200,
    "device, city of an ant": 36,
    "device, climbers": 2**31,
    # In the shared memory of a block (`futhark/`): a city of a local search, and what lanes and reductions need.
    "search block, city": 20,
    "search block": 26 * 2**10,
    # Blocks of random restarts (`futhark/two_opt`): a city by the form of distances, and more with k > 1; what lanes
    # and reductions need, on a grid more with k > 1 and many cities; what there is beside all distances.
    "block, grid": 16,
    "block, plane": 24,
    "block, matrix": 12,
    "block, k": 8,
    "block": 40 * 2**10,
    "block, many lanes": 58 * 2**10,
    "block, distances": 12 * 2**10,
    # The same of blocks whose number and shape are chosen: a city, a lane and each of its rows, a climber's turn.
    "chosen block, grid": 32,
    "chosen block, plane": 36,
    "chosen block, matrix": 28,
    "chosen block, lane": 44,
    "chosen block, row": 8,
    "chosen block, turn": 17,
    # The tours of one batch of random restarts; kernels hold a few such arrays.
    "batch, cpu": 64 * 2**20,
    "batch, gpu": 2**30,
}
"""Memory that kernels take, in bytes."""
