"""Robinson, Vrbsky, Hong and Eddy (2018): k moves a pass (figure 6) and the quality of tours (figure 12, section 5.3).

What concerns thread blocks is in `robinson2018_blocks`, their own rule of choosing moves in `robinson2018_threads`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray
from scipy.stats import ttest_ind

import pytsp
from bench.papers.instances import instance_of
from bench.papers.robinson2018_blocks import queues, shapes, turns
from bench.papers.robinson2018_threads import correlations
from bench.papers.tables import Cell, Figure, Series, Table, columns, listed, ratio
from bench.papers.task import Task, left_until, moment

TITLE = (
    "J. A. Robinson, S. V. Vrbsky, X. Hong, B. P. Eddy: Analysis of a High-Performance TSP Solver on the GPU. "
    "ACM Journal of Experimental Algorithmics 23, 2018 (GTX 780)"
)
INSTANCES = ("fl417", "fl1400", "fl3795", "fnl4461", "pla7397", "usa13509", "pla33810")
MOVES: tuple[int | str, ...] = (1, 2, 4, 8, 16, 32, 64, 128, 256, "inf")
# Climbed one at a time by the whole machine, with k = inf first; the others are those of their largest instance.
LARGE, BEFORE_LARGE = INSTANCES[2:], INSTANCES[1]
LARGE_MOVES = (1, 4, 64, 128, 256)
# The first is not theirs; it is small enough for tests of few seconds to tell something.
COMPARED = ("fl417", "fl1400", "fl3795")
THEIR_VERDICTS = {
    ("fl1400", "equal work"): "slightly longer",
    ("fl3795", "equal work"): "shorter",
    ("fl1400", "equal time"): "shorter",
    ("fl3795", "equal time"): "shorter",
}
RESTARTS = 1_000
SAMPLES, LEVEL = 20, 0.05
RUNS = 3
# Of the time, on a CPU and on a GPU: figure 6, larger instances, tests, shapes of blocks, their rule, turns, queues.
SHARES = {False: (0.25, 0.33, 0.25, 0.0, 0.12, 0.03, 0.0), True: (0.15, 0.15, 0.15, 0.12, 0.06, 0.02, 0.35)}
# With which power of n a climber's time grows where k = 1, and its passes where k = inf.
GROWTH, PASSES_GROWTH = 3.0, 0.65
# Passes of a climber on n cities with k = 1, a city.
PASSES_A_CITY = 1.4


@dataclass
class Speed:
    """The seconds of one climber on an instance of n cities, one move a pass."""

    n: int
    seconds: float

    def of(self, n: int) -> float:
        """Guess how long one of n cities takes."""
        return float(self.seconds * (n / self.n) ** GROWTH)


def run(task: Task) -> Iterator[Table | Figure]:
    """Make the tables and figures."""
    shares = [share * task.seconds if share else 0.0 for share in SHARES[task.is_gpu(task.backend)]]
    lone = alone(task)
    yield from swaps(task, lone, shares[0])
    yield large(task, shares[1])
    yield from tests(task, lone, shares[2])
    yield from shapes(task, shares[3])
    yield from correlations(task, shares[4])
    yield turns(task, shares[5])
    yield queues(task, shares[6])


def alone(task: Task) -> Speed:
    """Measure one climber of the smallest instance."""
    instance = instance_of(task.tsplib, INSTANCES[0])
    task.climb(instance, 1)
    return Speed(instance.n, min(task.climb(instance, 1).seconds for _ in range(RUNS)))


def swaps(task: Task, lone: Speed, seconds: float) -> Iterator[Table | Figure]:
    """Measure figure 6, on the instances that fit."""
    table = Table(
        "Figure 6: k moves a pass against one",
        "From the same random tours. Theirs: 1.48 to 23.48 times as fast as their original, 4.5 at 1,400 to 22.9 at "
        "33,810 cities; shortest tours 0.9947 to 1.0046 times as long, 0.9992 in the mean. They take 1,000 climbers "
        "and compare with their older program; here it is k = 1.",
        columns(
            "instance|",
            "climbers|,",
            "k|",
            "time|time",
            "times as fast|.3g",
            "passes|.1f",
            "shortest|,",
            "by that of k = 1|.4f",
            "mean by that of k = 1|.4f",
        ),
    )
    faster = Figure(
        "speedup", "Figure 6 (a): k moves a pass", "k (512: any number)", "times as fast", ("log", "linear")
    )
    longer = Figure(
        "lengths", "Figure 6 (b): k moves a pass", "k (512: any number)", "shortest by that of k = 1", ("log", "linear")
    )
    places = [2.0**power for power in range(len(MOVES))]
    end = moment(seconds)
    for place, name in enumerate(INSTANCES):
        instance = instance_of(task.tsplib, name)
        share = left_until(end) / 2
        if lone.of(instance.n) > share / 2:
            table.left_out = list(INSTANCES[place:])
            break
        climbers = task.fitting(instance, share / 3, RESTARTS, k=1)
        found = []
        for k in MOVES:
            task.climb(instance, 1, k=k)
            found.append(task.climb(instance, climbers, k=k))
        first = found[0]
        for k, each in zip(MOVES, found, strict=True):
            table.rows.append(
                [
                    name,
                    climbers,
                    k,
                    each.seconds,
                    ratio(first.seconds, each.seconds),
                    float(each.passes.mean()),
                    each.length,
                    each.length / first.length,
                    float(each.lengths.mean() / first.lengths.mean()),
                ]
            )
        faster.series.append(Series(name, places, listed(first.seconds / each.seconds for each in found)))
        longer.series.append(Series(name, places, listed(each.length / first.length for each in found)))
    yield table
    yield faster
    yield longer


def large(task: Task, seconds: float) -> Table:
    """Climb on the larger instances, the whole machine at one tour; the k that fit, and the instances."""
    table = Table(
        "Figure 6, larger instances: one climber by the whole machine",
        '`solver="two-opt"` from the random tour of climber 0: the climber that random restarts begin with, move by '
        "move, whose passes are spread over the whole machine. Theirs: 1,000 climbers each, one a block.",
        columns("instance|", "k|", "time|time", "times as fast|.3g", "passes|,", "moves|,", "length|,"),
    )
    end = moment(seconds)
    warm = instance_of(task.tsplib, BEFORE_LARGE)
    descended(task, warm, "inf")
    # What the last climb with k = inf tells of the next: on how many cities it was, its passes, and a pass's seconds.
    found = descended(task, warm, "inf")
    n, passes, pass_seconds = warm.n, passes_of(found), found.seconds / passes_of(found)
    climbs: dict[str, dict[int | str, pytsp.Result]] = {}
    for name in LARGE:
        instance = instance_of(task.tsplib, name)
        growth = instance.n / n
        if passes * growth**PASSES_GROWTH * pass_seconds * growth**2 > left_until(end):
            break
        found = descended(task, instance, "inf")
        climbs[name] = {"inf": found}
        n, passes, pass_seconds = instance.n, passes_of(found), found.seconds / passes_of(found)
    for k, name in product(LARGE_MOVES, climbs):
        found = climbs[name]["inf"]
        expected = max(passes_of(found), PASSES_A_CITY * found.instance.n / k) * found.seconds / passes_of(found)
        if expected < left_until(end):
            climbs[name][k] = descended(task, found.instance, k)
    for name, by_k in climbs.items():
        base = by_k[1].seconds if 1 in by_k else None
        for moves, found in sorted(by_k.items(), key=lambda each: float(each[0])):
            faster, steps = ratio(base, found.seconds), int(found.steps[0])
            table.rows.append([name, moves, found.seconds, faster, passes_of(found), steps, found.length])
        missed = [str(k) for k in LARGE_MOVES if k not in by_k]
        table.left_out += [f"{name} with k = {' and '.join(missed)}"] if missed else []
    table.left_out += LARGE[len(climbs) :]
    return table


def descended(task: Task, instance: pytsp.Instance, k: int | str) -> pytsp.Result:
    """Climb from the tour of climber 0, all lanes or threads of the machine at one tour."""
    return pytsp.solve(instance, solver="two-opt", start="random", k=k, backend=task.backend, seed=task.seed)


def passes_of(found: pytsp.Result) -> int:
    """Return the passes of the one climber that there is."""
    return int(found.passes[0])


def tests(task: Task, lone: Speed, seconds: float) -> Iterator[Table | Figure]:
    """Compare lengths by Welch's test, as figure 12 and section 5.3 do by equal work and by equal time."""
    table = Table(
        "Section 5.3: one move a pass against any number, Welch's t-test",
        f"Equal work: as many climbers. Equal time: as many more as k = inf is faster. Of runs, {SAMPLES} a sample, "
        f"the shortest tours are compared; theirs are 1,000 runs of 1,000 climbers. fl417 is added. Level {LEVEL}. The "
        "samples are independent: climbers of k = inf start from other random tours than those of k = 1.",
        columns(
            "instance|",
            "compared|",
            "climbers, k = 1|,",
            "k = inf|,",
            "mean, k = 1|,.1f",
            "k = inf|,.1f",
            "ratio|.5f",
            "t|.2f",
            "freedom|.1f",
            "p|.2g",
            "k = inf is|",
            "theirs|",
        ),
    )
    figures = []
    end = moment(seconds)
    for place, name in enumerate(COMPARED):
        instance = instance_of(task.tsplib, name)
        share = left_until(end) / 2
        if 2 * lone.of(instance.n) > share / 2:
            table.left_out = list(COMPARED[place:])
            break
        climbers = max(2, task.fitting(instance, share / 2, SAMPLES * RESTARTS, k=1))
        one = task.climb(instance, climbers, k=1)
        task.climb(instance, 1, k="inf")
        first = task.climb(instance, climbers, k="inf", first=climbers)
        more = max(climbers, int(climbers * one.seconds / first.seconds))
        after = 2 * climbers
        rest = [task.climb(instance, more - climbers, k="inf", first=after).lengths] if more > climbers else []
        many = np.concatenate([first.lengths, *rest])
        table.rows.append(compared(name, "climbers", one.lengths, first.lengths))
        if climbers >= 2 * SAMPLES:
            for label, lengths in (("equal work", many[:climbers]), ("equal time", many)):
                table.rows.append(compared(name, label, one.lengths, lengths, runs=SAMPLES))
            reported = {"k = 1": one.lengths, "k = inf, equal work": many[:climbers], "k = inf, equal time": many}
            figures.append(distribution(name, reported))
    yield table
    yield from figures


def distribution(name: str, reported: dict[str, NDArray[np.generic]]) -> Figure:
    """Draw figure 12: how the shortest tours of runs are distributed, as the share of runs that are no longer."""
    figure = Figure(
        f"distribution-{name}",
        f"Figure 12: the shortest tours of runs, {name}",
        "length",
        "share of runs",
    )
    for label, lengths in reported.items():
        shortest = np.sort(shortest_of_runs(lengths, SAMPLES))
        figure.series.append(Series(label, listed(shortest), listed(np.arange(1, SAMPLES + 1) / SAMPLES)))
    return figure


def shortest_of_runs(lengths: NDArray[np.generic], runs: int) -> NDArray[np.float64]:
    """Return the shortest length of each of `runs` runs, into which climbers are cut."""
    cut = np.asarray(lengths, np.float64)[: len(lengths) // runs * runs]
    return np.asarray(cut.reshape(runs, -1).min(axis=1))


def compared(
    name: str, label: str, ones: NDArray[np.generic], many: NDArray[np.generic], runs: int | None = None
) -> list[Cell]:
    """Test whether two samples have one mean: of all lengths, or of the shortest of each of `runs` runs."""
    reported = [np.asarray(each, np.float64) for each in (ones, many)]
    if runs is not None:
        reported = [shortest_of_runs(each, runs) for each in reported]
    test = ttest_ind(reported[1], reported[0], equal_var=False)
    means = [float(each.mean()) for each in reported]
    found = [float(test.statistic), float(test.df), float(test.pvalue)]
    # Samples without any spread have no test.
    cells: list[Cell] = [each if np.isfinite(each) else None for each in found]
    verdict = "no different"
    if found[2] < LEVEL:
        verdict = "shorter" if found[0] < 0 else "longer"
    theirs = THEIR_VERDICTS.get((name, label), "")
    return [name, label, len(ones), len(many), *means, means[1] / means[0], *cells, verdict, theirs]
