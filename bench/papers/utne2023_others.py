"""Utne and Hansen (2023), section 7.3: 2-opt, ants and annealing on swiss42; and their formula for a move's number."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

import pytsp
from bench.harness.machine import tsplib
from bench.papers.tables import Cell, Figure, Series, Table, columns, listed
from bench.papers.task import Task

INSTANCE = "swiss42"
CLIMBERS = 1_000
# Chains of annealing and colonies of ants, whose medians are shown.
CHAINS, COLONIES = 20, 5
# They tell of 246 iterations, and report after every ten neighbours: 246 trials or, where an iteration is a report,
# 2,460.
THEIR_TRIALS, TEN_EACH, MOST_TRIALS = 246, 2_460, 1_000_000
THEIR_END = "no optimum; 246 iterations"
AS_THEIRS = "annealing, as theirs"
# Their first temperature is the third power of the number of edges; this factor takes it to 1 in their trials.
COOLING = 0.955
ANT_ITERATIONS = (10, 20, 50, 100, 200, 400, 1_000)
TRIALS = (THEIR_TRIALS, TEN_EACH, 24_600, 246_000, MOST_TRIALS)
THEIR_ANTS: dict[str, Any] = {"variant": "ant-system", "alpha": 1, "beta": 5, "evaporation": 0.5}
SIZES = 60_000


def sequential(task: Task) -> Iterator[Table | Figure]:
    """Write what section 7.3 tells, and draw figures 7 to 9."""
    instance = tsplib(task.tsplib, INSTANCE)
    optimum = float(instance.optimum or 0)
    climbs = task.climb(instance, CLIMBERS)
    each = instance.n * (instance.n - 3) // 2
    moves, shortest = np.cumsum(climbs.passes) * each, np.minimum.accumulate(climbs.lengths)
    # The climbers that found shorter tours, and the last.
    found = [*np.unique(shortest, return_index=True)[1][::-1], len(shortest) - 1]
    two_opt = Series("2-opt", listed(moves[found]), listed(shortest[found]))
    ants = [
        median_lengths("as theirs", instance, ANT_ITERATIONS, task, "ants", COLONIES, THEIR_ANTS | _all(instance)),
        median_lengths("max-min, our defaults", instance, ANT_ITERATIONS, task, "ants", COLONIES, {}),
    ]
    annealing = annealings(task, instance)
    table = Table(
        "Section 7.3: the sequential versions on swiss42",
        f"Gaps to the optimum, {optimum:.0f}: of 2-opt the shortest of all climbers so far; else medians of {CHAINS} "
        f"chains and {COLONIES} colonies. Iterations are what each counts: moves evaluated, trials, tours of each ant.",
        columns("algorithm|", "iterations|,.0f", "gap, %|.2f", "theirs|"),
    )
    hit = int(np.argmin(two_opt.y))
    table.rows = [
        ["2-opt, first climber", two_opt.x[0], 100 * (two_opt.y[0] / optimum - 1), ""],
        ["2-opt, until its best", two_opt.x[hit], 100 * (two_opt.y[hit] / optimum - 1), "the optimum, after 625"],
    ]
    for kind, said, lines in (
        ("ants", "no optimum; nothing new after 400", ants),
        ("annealing", THEIR_END, annealing),
    ):
        for place, line in enumerate(lines):
            told = "" if place else said
            table.rows.append([f"{kind}, {line.label}", line.x[-1], 100 * (line.y[-1] / optimum - 1), told])
    yield with_ten_each(table, annealing[1], optimum)
    for number, name, lines, x in (
        (7, "2-opt", [two_opt], "moves evaluated"),
        (8, "ants", ants, "iterations"),
        (9, "annealing", annealing, "trials"),
    ):
        ends = [min(min(line.x) for line in lines), max(max(line.x) for line in lines)]
        shown = [*lines, Series("optimum", ends, [optimum, optimum])]
        yield Figure(name, f"Figure {number}: convergence on swiss42, {name}", x, "length", ("log", "linear"), shown)


def with_ten_each(table: Table, slower: Series, optimum: float) -> Table:
    """Return the table with a row of chains that cool as theirs do where an iteration is ten trials, if it has none."""
    label = "annealing, as theirs, ten trials an iteration"
    rows: list[list[Cell]] = []
    for cells in table.rows:
        rows.append([*cells[:-1], THEIR_END if cells[0] == AS_THEIRS else cells[-1]])
        if cells[0] == AS_THEIRS and all(each[0] != label for each in table.rows):
            length = slower.y[slower.x.index(TEN_EACH)]
            rows.append([label, TEN_EACH, 100 * (length / optimum - 1), ""])
    return replace(table, rows=rows)


def _all(instance: pytsp.Instance) -> dict[str, Any]:
    """List all other cities as neighbours, for algorithms without lists."""
    return {"neighbours": instance.n - 1}


def median_lengths(
    label: str,
    instance: pytsp.Instance,
    ladder: tuple[int, ...],
    task: Task,
    solver: str,
    climbers: int,
    options: dict[str, Any],
) -> Series:
    """Solve by ever more iterations; where these do not say how a run cools, each is the next one's beginning."""
    lengths = [
        float(
            np.median(
                pytsp.solve(
                    instance,
                    solver=solver,
                    climbers=climbers,
                    iterations=count,
                    backend=task.backend,
                    seed=task.seed,
                    **options,
                ).lengths
            )
        )
        for count in ladder
    ]
    return Series(label, listed(ladder), lengths)


def annealings(task: Task, instance: pytsp.Instance) -> list[Series]:
    """Anneal by their schedule as far as it goes, by one as slow as its trials allow, and by our defaults."""
    plain: dict[str, Any] = {
        "temperature": float(instance.n) ** 3,
        "trials": 1,
        "moves": "2-opt",
        "pairs": "random",
        "start": "random",
    } | _all(instance)
    ladder = tuple(range(10, THEIR_TRIALS, 10)) + (THEIR_TRIALS,)
    theirs = median_lengths("as theirs", instance, ladder, task, "annealing", CHAINS, plain | {"cooling": COOLING})
    slower = Series("as theirs, cooled as slowly as trials allow", listed(TRIALS), [])
    ours = Series("our defaults", listed(TRIALS), [])
    for trials in TRIALS:
        cooled = plain | {"cooling": COOLING ** (THEIR_TRIALS / trials)}
        slower.y += median_lengths("", instance, (trials,), task, "annealing", CHAINS, cooled).y
        ours.y += median_lengths("", instance, (max(1, trials // instance.n),), task, "annealing", CHAINS, {}).y
    return [theirs, slower, ours]


def wrong_rows(rows: NDArray[np.int64], single: bool) -> NDArray[np.bool_]:
    """Tell for which rows of the triangle their formula finds another row for its first or its last move.

    Row u, counted from the end, has the moves whose numbers from the end are u (u - 1) / 2 + 1, …, u (u + 1) / 2.
    """
    kind = np.float32 if single else np.float64
    wrong = np.zeros(len(rows), bool)
    for rest in (rows * (rows - 1) // 2 + 1, rows * (rows + 1) // 2):
        root = (np.sqrt((1 + 8 * rest).astype(kind)) - kind(1)) / kind(2)
        # The constant is of double precision in their listing; the sum is stored as its root was.
        found = (root.astype(np.float64) + 0.9999).astype(kind).astype(np.int64)
        wrong |= found != rows
    return wrong


def formula() -> Table:
    """Tell up to how many cities the formula of section 6.5, which rounds up by adding 0.9999, holds."""
    rows = np.arange(1, SIZES, dtype=np.int64)
    table = Table(
        "Section 6.5: from how many cities on the formula with + 0.9999 finds a wrong move",
        "Their kernel computes the row of a move's number in 32-bit integers and single precision. Computed here for "
        f"all rows of up to {SIZES:,} cities.",
        columns("arithmetic|", "right up to cities|,", "their largest instance|"),
    )
    for label, single in (("single precision, as in their listing", True), ("double precision", False)):
        first = int(rows[np.argmax(wrong_rows(rows, single))])
        # n cities have n - 2 rows.
        table.rows.append([label, first + 1, "439 cities"])
    overflow = int(rows[np.argmax(1 + 8 * (rows * (rows + 1) // 2) > np.iinfo(np.int32).max)])
    table.rows.append(["32-bit integers under the root", overflow + 1, "439 cities"])
    return table
