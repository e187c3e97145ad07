"""Robinson, Vrbsky, Hong and Eddy (2018): k moves a pass (figure 6), quality (figure 12), batches (tables 2 and 3)."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import ttest_ind

import pytsp
from bench.harness.machine import tsplib
from bench.papers.tables import Cell, Figure, Series, Table, columns, listed, ratio
from bench.papers.task import Task, left_until, moment

TITLE = (
    "J. A. Robinson, S. V. Vrbsky, X. Hong, B. P. Eddy: Analysis of a High-Performance TSP Solver on the GPU. "
    "ACM Journal of Experimental Algorithmics 23, 2018 (GTX 780)"
)
INSTANCES = ("fl417", "fl1400", "fl3795", "fnl4461", "pla7397", "usa13509", "pla33810")
MOVES: tuple[int | str, ...] = (1, 2, 4, 8, 16, 32, 64, 128, 256, "inf")
RESTARTS = 1_000
# The first is not theirs; it is small enough for tests of few seconds to tell something.
COMPARED = ("fl417", "fl1400", "fl3795")
THEIR_VERDICTS = {
    ("fl1400", "equal work"): "slightly longer",
    ("fl3795", "equal work"): "shorter",
    ("fl1400", "equal time"): "shorter",
    ("fl3795", "equal time"): "shorter",
}
SAMPLES, LEVEL = 20, 0.05
RUNS = 3
# Their instance of the queues, and smaller ones for machines on which too few climbers would fit.
QUEUED, SMALLER = "fnl4461", ("fl1400", "fl417")
MANY_CLIMBERS, SWAPS_SPEEDUP = 100, 10
# Seconds for so many restarts with their queues of 1, 100, and none: GTX 780 with 10,000 and 192 blocks, GTX 650 Ti.
QUEUES = {
    10_000: ((707, 787, 689), (707, 787, 689), (2_186, 1_982, 2_186)),
    100_000: ((7_068, 7_126, 6_887), (7_069, 7_126, 6_886), (19_665, 19_664, 21_627)),
    1_000_000: ((70_688, 70_761, 68_886), (70_688, 70_749, 68_886), (197_704, 197_704, 218_752)),
}
BATCHES: tuple[tuple[str, int | None], ...] = (("1", 1), ("100", 100), ("all at once", None))
# Of the time: figure 6, the tests, the batches; a climber's time grows with this power of n.
SHARES = (0.4, 0.35, 0.25)
GROWTH = 3.0


@dataclass
class Speed:
    """How long one climber took on an instance of n cities, one move a pass."""

    n: int
    seconds: float

    def of(self, n: int) -> float:
        """Guess how long one of n cities takes."""
        return float(self.seconds * (n / self.n) ** GROWTH)


def run(task: Task) -> Iterator[Table | Figure]:
    """Make the tables and figures."""
    shares = [share * task.seconds for share in SHARES]
    lone = alone(task)
    yield from swaps(task, lone, shares[0])
    yield tests(task, lone, shares[1])
    yield batches(task, lone, shares[2])


def alone(task: Task) -> Speed:
    """Measure one climber of the smallest instance."""
    instance = tsplib(task.tsplib, INSTANCES[0])
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
        instance = tsplib(task.tsplib, name)
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


def tests(task: Task, lone: Speed, seconds: float) -> Table:
    """Compare lengths by Welch's test, as figure 12 and section 5.3 do by equal work and by equal time."""
    table = Table(
        "Section 5.3: one move a pass against any number, Welch's t-test",
        f"Equal work: as many climbers. Equal time: as many more as k = inf is faster. Of runs, {SAMPLES} a sample, "
        f"the shortest tours are compared; theirs are 1,000 runs of 1,000 climbers. fl417 is added. Level {LEVEL}.",
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
    end = moment(seconds)
    for place, name in enumerate(COMPARED):
        instance = tsplib(task.tsplib, name)
        share = left_until(end) / 2
        if 2 * lone.of(instance.n) > share / 2:
            table.left_out = list(COMPARED[place:])
            break
        climbers = max(2, task.fitting(instance, share / 2, SAMPLES * RESTARTS, k=1))
        one = task.climb(instance, climbers, k=1)
        task.climb(instance, 1, k="inf")
        first = task.climb(instance, climbers, k="inf")
        more = max(climbers, int(climbers * one.seconds / first.seconds))
        rest = [task.climb(instance, more - climbers, k="inf", first=climbers).lengths] if more > climbers else []
        many = np.concatenate([first.lengths, *rest])
        table.rows.append(compared(name, "climbers", one.lengths, first.lengths))
        if climbers >= 2 * SAMPLES:
            for label, lengths in (("equal work", many[:climbers]), ("equal time", many)):
                table.rows.append(compared(name, label, one.lengths, lengths, runs=SAMPLES))
    return table


def compared(
    name: str, label: str, ones: NDArray[np.generic], many: NDArray[np.generic], runs: int | None = None
) -> list[Cell]:
    """Test whether two samples have one mean: of all lengths, or of the shortest of each of so many runs."""
    told = [np.asarray(each, np.float64) for each in (ones, many)]
    if runs is not None:
        told = [each[: len(each) // runs * runs].reshape(runs, -1).min(axis=1) for each in told]
    test = ttest_ind(told[1], told[0], equal_var=False)
    means = [float(each.mean()) for each in told]
    found = [float(test.statistic), float(test.df), float(test.pvalue)]
    # Samples without any spread have no test.
    cells: list[Cell] = [each if np.isfinite(each) else None for each in found]
    verdict = "no different"
    if found[2] < LEVEL:
        verdict = "shorter" if found[0] < 0 else "longer"
    theirs = THEIR_VERDICTS.get((name, label), "")
    return [name, label, len(ones), len(many), *means, means[1] / means[0], *cells, verdict, theirs]


def batches(task: Task, lone: Speed, seconds: float) -> Table:
    """Write tables 2 and 3: what a block takes from the queue becomes what a call of `solve` gets."""
    name = queued(task, lone, seconds)
    instance = tsplib(task.tsplib, name)
    table = Table(
        f"Tables 2 and 3: queues, here batches of {name}",
        "Seconds a restart, k = inf. Our climbers come in batches, each a call of `solve` for a range of climbers; "
        "their blocks fetch so many tours at a time. Theirs with the queue of that name: GTX 780 with 10,000 blocks, "
        f"with 192, and GTX 650 Ti with 10,000, of 1,000,000 restarts of {QUEUED}.",
        columns(
            "batch|",
            "restarts|,",
            "time|time",
            "a restart|time",
            "GTX 780|time",
            "192 blocks|time",
            "GTX 650 Ti|time",
            "GTX 780 / pytsp|.3g",
            "shortest|,",
        ),
    )
    share = seconds / (2 * len(BATCHES))
    most = task.fitting(instance, share, min(QUEUES), k="inf")
    restarts = max(QUEUES)
    for place, (label, size) in enumerate(BATCHES):
        done, taken, shortest = batched(task, instance, min(size or most, most), most, share)
        theirs = [each[place] / restarts if name == QUEUED else None for each in QUEUES[restarts]]
        table.rows.append([label, done, taken, taken / done, *theirs, ratio(theirs[0], taken / done), shortest])
    return table


def queued(task: Task, lone: Speed, seconds: float) -> str:
    """Choose the largest instance of which many climbers fit."""
    together = 1 if task.is_gpu(task.backend) else MANY_CLIMBERS
    for name in (QUEUED, *SMALLER[:-1]):
        n = tsplib(task.tsplib, name).n
        if lone.of(n) / SWAPS_SPEEDUP * together < seconds / (2 * len(BATCHES)):
            return name
    return SMALLER[-1]


def batched(
    task: Task, instance: pytsp.Instance, size: int, most: int, seconds: float
) -> tuple[int, float, int | float]:
    """Climb in batches of a size, as many as fit the time, `most` climbers in all at most."""
    began = time.perf_counter()
    done, shortest = 0, float("inf")
    while done < most and (done == 0 or time.perf_counter() - began < seconds):
        found = task.climb(instance, min(size, most - done), k="inf", first=done)
        done += found.climbers
        shortest = min(shortest, found.length)
    return done, time.perf_counter() - began, shortest
