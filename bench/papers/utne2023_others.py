"""Utne and Hansen (2023), section 7.3: 2-opt, ants and annealing on swiss42; and their formula for a move's number."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

import pytsp
from bench.papers.instances import instance_of
from bench.papers.tables import Cell, Figure, Series, Table, columns, listed
from bench.papers.task import Task, left_until, moment

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


def sequential(task: Task, seconds: float) -> Iterator[Table | Figure]:
    """Write what section 7.3 tells, and draw figures 7 to 9, with as many iterations as fit the time."""
    end = moment(seconds)
    instance = instance_of(task.tsplib, INSTANCE, with_reference=True)
    optimum = float(instance.optimum or 0)
    climbs = task.climb(instance, CLIMBERS)
    each = instance.n * (instance.n - 3) // 2
    moves, shortest = np.cumsum(climbs.passes) * each, np.minimum.accumulate(climbs.lengths)
    # The climbers that found shorter tours, and the last.
    found = [*np.unique(shortest, return_index=True)[1][::-1], len(shortest) - 1]
    two_opt = Series("2-opt", listed(moves[found]), listed(shortest[found]))
    ants = [
        median_lengths(label, instance, ANT_ITERATIONS, Runs(task, "ants", COLONIES, options), left_until(end) / share)
        for label, options, share in (("as theirs", THEIR_ANTS | _all(instance), 4), ("max-min, our defaults", {}, 3))
    ]
    annealing = annealings(task, instance, end)
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
            reported = "" if place else said
            table.rows.append([f"{kind}, {line.label}", line.x[-1], 100 * (line.y[-1] / optimum - 1), reported])
            most = ANT_ITERATIONS[-1] if kind == "ants" else THEIR_TRIALS if line.label == "as theirs" else TRIALS[-1]
            if line.x[-1] < most:
                table.left_out.append(f"{kind}, {line.label}, beyond {line.x[-1]:,.0f} iterations")
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


@dataclass(frozen=True)
class Runs:
    """Runs of a solver: that many climbers each, by those options."""

    task: Task
    solver: str
    climbers: int
    options: dict[str, Any]

    def median_length(self, instance: pytsp.Instance, iterations: int, **more: Any) -> float:
        """Solve once; return the median of the climbers' lengths."""
        reported: dict[str, Any] = {"backend": self.task.backend, "seed": self.task.seed, **self.options, **more}
        found = pytsp.solve(instance, solver=self.solver, climbers=self.climbers, iterations=iterations, **reported)
        return float(np.median(found.lengths))


def median_lengths(
    label: str,
    instance: pytsp.Instance,
    ladder: tuple[int, ...],
    runs: Runs,
    seconds: float,
    more: Callable[[int], dict[str, Any]] = lambda count: {},
    a_unit: int = 1,
) -> Series:
    """Solve by ever more iterations, two rungs of the ladder at least, and then as many as fit the time.

    `more` gives options that depend on the rung; a rung has one iteration for `a_unit` of its count.
    """
    end, line, taken = moment(seconds), Series(label, [], []), 0.0
    for place, count in enumerate(ladder):
        if place > 1 and taken * count / ladder[place - 1] > left_until(end):
            break
        began = time.perf_counter()
        line.y.append(runs.median_length(instance, max(1, count // a_unit), **more(count)))
        line.x.append(float(count))
        taken = time.perf_counter() - began
    return line


def annealings(task: Task, instance: pytsp.Instance, end: float) -> list[Series]:
    """Anneal by their schedule as far as it goes, by one as slow as its trials allow, and by our defaults."""
    plain: dict[str, Any] = {
        "temperature": float(instance.n) ** 3,
        "trials": 1,
        "moves": "2-opt",
        "pairs": "random",
        "start": "random",
    } | _all(instance)
    ladder = (*range(10, THEIR_TRIALS, 10), THEIR_TRIALS)
    theirs, ours = (Runs(task, "annealing", CHAINS, options) for options in (plain, {}))

    def cooled(trials: int) -> dict[str, Any]:
        return {"cooling": COOLING ** (THEIR_TRIALS / trials)}

    label = "as theirs, cooled as slowly as trials allow"
    return [
        median_lengths("as theirs", instance, ladder, theirs, left_until(end), lambda _: {"cooling": COOLING}),
        median_lengths(label, instance, TRIALS, theirs, left_until(end) / 2, cooled),
        median_lengths("our defaults", instance, TRIALS, ours, left_until(end), a_unit=instance.n),
    ]


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
