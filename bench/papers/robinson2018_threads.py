"""Robinson et al. (2018), by their rule: each thread of a block keeps the best move it has seen. Figure 9 and table 1.

By that rule the moves of a pass depend on the number of threads T, and so do tours. pytsp keeps the best move of each
edge, so that its tours are the same with any shape of block. To see what T does, their rule is here in NumPy.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm, pearsonr

import pytsp
from bench.papers.instances import instance_of
from bench.papers.tables import Cell, Figure, Series, Table, columns, listed
from bench.papers.task import Task, round_down

# Small enough for Python; and all the T that differ on it, as thread t of T looks at the edges t, t + T, ….
INSTANCE = "fl417"
THREADS = tuple(range(32, 449, 32))
CLIMBERS = 1_000
LEVEL = 0.05
# Their table 1: what is chosen, the instance, the correlation with the length, and p. Of each there are 32 values.
VALUES = 32
TABLE = (
    ("shared memory", "fl1400", -0.1265, 0.2467),
    ("shared memory", "fl3795", -0.4159, 0.0086),
    # Printed without its point: -5380.
    ("shared memory", "pla7397", -0.5380, 0.0006),
    ("threads", "fl1400", -0.3035, 0.0457),
    ("threads", "fl3795", -0.8332, 5.4e-11),
    ("threads", "pla7397", -0.8234, 1.6e-10),
)


def correlations(task: Task, seconds: float) -> Iterator[Table | Figure]:
    """Climb by their rule with each number of threads, as many climbers as fit; test the correlation as they do."""
    instance = instance_of(task.tsplib, INSTANCE)
    starts = pytsp.random_tours(instance.n, CLIMBERS, task.seed)
    began = time.perf_counter()
    lengths = [lengths_by_threads(instance, starts[0])]
    climbers = min(CLIMBERS, round_down(min(CLIMBERS, seconds / (time.perf_counter() - began))))
    lengths += [lengths_by_threads(instance, start) for start in starts[1:climbers]]
    by_threads = np.array(lengths, np.float64).T
    yield correlated(by_threads)
    threads = listed(THREADS)
    labels = ("shortest", "first quartile", "median", "third quartile", "longest")
    parts = np.quantile(by_threads, (0, 0.25, 0.5, 0.75, 1), axis=1)
    yield Figure(
        "threads",
        f"Figure 9 (a): lengths by threads, by their rule, {INSTANCE}",
        "threads",
        "length",
        series=[Series(label, threads, listed(each)) for label, each in zip(labels, parts, strict=True)],
    )


def lengths_by_threads(instance: pytsp.Instance, start: NDArray[np.int32]) -> list[int | float]:
    """Climb from a tour with each number of threads, and return where that ends."""
    distances = instance.distance_matrix().astype(np.int32)
    return [instance.tour_length(climb(distances, start, threads)) for threads in THREADS]


def correlated(by_threads: NDArray[np.float64]) -> Table:
    """Write table 1: theirs with p computed again, and lengths by threads, shape (threads, climbers), beside them."""
    table = Table(
        "Table 1: are tours shorter with more threads, with more shared memory?",
        "Fisher's z; what is rejected is that the correlation is not negative. Theirs: p computed again from their "
        f"correlations of {VALUES} values. The others: {INSTANCE} by their rule in NumPy, climbers from the same "
        f"{by_threads.shape[1]} random tours with each number of threads. By pytsp's rule lengths are the same with "
        "all of them, and there is nothing to correlate.",
        columns("what|", "instance|", "values|", "correlation|.4f", "p|.2g", "their p|.2g", f"at {LEVEL}|"),
    )
    for what, name, correlation, their_p in TABLE:
        table.rows.append(tested(what, name, VALUES, correlation, their_p))
    for what, lengths in (("mean", by_threads.mean(axis=1)), ("shortest", by_threads.min(axis=1))):
        correlation = float(pearsonr(THREADS, lengths).statistic)
        table.rows.append(tested(f"threads, {what} length", INSTANCE, len(THREADS), correlation, None))
    return table


def tested(what: str, name: str, values: int, correlation: float, their_p: float | None) -> list[Cell]:
    """Write a row of table 1."""
    p = fisher_p(correlation, values)
    return [what, name, values, correlation, p, their_p, "reject" if p < LEVEL else "retain"]


def fisher_p(correlation: float, values: int) -> float:
    """Return the probability of a correlation so far below zero, or further, by Fisher's z-transform."""
    return float(norm.cdf(np.arctanh(correlation) * np.sqrt(values - 3)))


def climb(distances: NDArray[np.integer[Any]], start: Sequence[int] | NDArray[Any], threads: int) -> NDArray[np.int64]:
    """Climb to where no thread has a move: passes in which each thread proposes the best of its edges' moves.

    Thread t looks at the edges i = t, t + T, … and all edges j behind them. The best proposal is made, those that
    overlap it are dropped, and so on.
    """
    tour = np.array(start, np.int64)
    n = len(tour)
    # Edges j behind edge i, but for those that touch it.
    behind = np.triu(np.ones((n, n), bool), 2)
    behind[0, n - 1] = False
    while True:
        between = distances[np.ix_(tour, tour)]
        edges = np.append(between.diagonal(1), between[-1, 0])
        after = np.roll(between, (-1, -1), axis=(0, 1))
        gains = np.where(behind, edges[:, None] + edges - between - after, 0)
        ends = gains.argmax(axis=1)
        # A column for each thread, of its edges' best gains.
        best = np.zeros((-(-n // threads), threads), np.int32)
        best.flat[:n] = gains[np.arange(n), ends]
        proposals = best.argmax(axis=0) * threads + np.arange(threads)
        moves = sorted((-best.flat[i], i) for i in proposals if best.flat[i] > 0)
        if not moves:
            return tour
        free = np.ones(n, bool)
        for _, i in moves:
            j = ends[i]
            if free[i : j + 1].all():
                free[i : j + 1] = False
                tour[i + 1 : j + 1] = tour[i + 1 : j + 1][::-1].copy()
