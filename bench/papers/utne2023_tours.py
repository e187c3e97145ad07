"""Utne and Hansen (2023): the passes of a climber, from uniform tours and from those of their printed generator."""

from __future__ import annotations

import time

import numpy as np
from numpy.typing import NDArray

import pytsp
from bench.papers.instances import instance_of
from bench.papers.tables import Table, columns
from bench.papers.task import Task, left_until, moment

# The constants of ANSI C's example of a generator; the report prints names only.
MULT, ADD, MASK = 1_103_515_245, 12_345, 0x7FFF_FFFF
BLOCK = 1_024
TOURS = 30
# With which power of the number of cities the time of a climb grows.
GROWTH = 3
# Table 4's passes.
PASSES = {"swiss42": 29, "berlin52": 43, "kroA100": 92, "kroA200": 147, "pr439": 264}


def printed_tour(n: int, climber: int) -> NDArray[np.int32]:
    """Return the tour of section 6.3.3: each place but the first exchanged with any, drawn by the lowest digits."""
    tour = np.arange(n, dtype=np.int32)
    drawn = climber + climber // BLOCK
    for place in range(1, n):
        drawn = (MULT * drawn + ADD) & MASK
        other = drawn % n
        tour[place], tour[other] = tour[other], tour[place]
    return tour


def shared_edges(tour: NDArray[np.int32]) -> float:
    """Return the share of the tour's edges that the order of the file has as well."""
    apart = np.abs(tour - np.roll(tour, -1))
    return float(np.mean((apart == 1) | (apart == len(tour) - 1)))


def passes(task: Task, seconds: float) -> Table:
    """Write how many passes climbers make from either kind of a start, on the instances that fit the time."""
    table = Table(
        "Table 4's passes, from two kinds of random tours",
        f"Means of {TOURS} climbers, by the best move of each pass. The printed generator is that of section 6.3.3 "
        "with the constants of ANSI C; a tour is what it leaves at the places 0 … n − 1.",
        columns(
            "instance|",
            "theirs|",
            "uniform|.1f",
            "printed generator|.1f",
            "edges of the file's order, uniform|.3f",
            "printed generator|.3f",
        ),
    )
    end, before = moment(seconds), (0.0, 1)
    for place, (name, theirs) in enumerate(PASSES.items()):
        instance = instance_of(task.tsplib, name)
        if place > 0 and before[0] * (instance.n / before[1]) ** GROWTH > left_until(end):
            table.left_out = list(PASSES)[place:]
            break
        began = time.perf_counter()
        kinds = [
            list(pytsp.random_tours(instance.n, TOURS, task.seed)),
            [printed_tour(instance.n, climber) for climber in range(TOURS)],
        ]
        counts = [
            [pytsp.solve(instance, solver="two-opt", initial_tour=tour, backend="c").iterations or 0 for tour in tours]
            for tours in kinds
        ]
        edges = [float(np.mean([shared_edges(tour) for tour in tours])) for tours in kinds]
        table.rows.append([name, theirs, *(float(np.mean(each)) for each in counts), *edges])
        before = (time.perf_counter() - began, instance.n)
    return table
