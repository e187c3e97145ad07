"""Robinson et al. (2018), thread blocks: their lanes and rows (figures 7, 8, 10, 11), and queues (tables 2 and 3)."""

from __future__ import annotations

import heapq
import time
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from bench.papers.instances import instance_of
from bench.papers.tables import Cell, Figure, Series, Table, columns, listed, ratio
from bench.papers.task import Task, left_until, moment
from pytsp.solvers.options.restarts import LANES, ROWS

SHAPED = ("fl1400", "fl3795")
RESTARTS = 1_000
NEEDS_A_GPU = (
    "since a CPU has no thread blocks (`python -m bench.papers.reproduce robinson2018 --backend cuda` measures them)"
)
TOO_LARGE = "pla7397, of which a block's shared memory does not hold tour and proposals"
# Their instance of the queues, their restarts, and one whose climbers' passes are counted where there is no GPU.
QUEUED = "fnl4461"
QUEUED_RESTARTS = (10_000, 100_000, 1_000_000)
COUNTED = "fl417"
# Blocks: as many as they start at most; as an H200 has multiprocessors, of which each holds one such block.
BLOCKS = (10_000, 132)
# Seconds of their cards for numbers of restarts, with queues of 1, of 100, and none.
THEIRS = {
    "GTX 650 Ti, 10,000 blocks": ((2_186, 1_982, 2_186), (19_665, 19_664, 21_627), (197_704, 197_704, 218_752)),
    "GTX 780, 10,000 blocks": ((707, 787, 689), (7_068, 7_126, 6_887), (70_688, 70_761, 68_886)),
    "GTX 650 Ti, 64 blocks": ((1_963, 1_192, 2_178), (19_653, 19_662, 21_853), (196_564, 196_564, 218_711)),
    "GTX 780, 192 blocks": ((707, 787, 689), (7_069, 7_126, 6_886), (70_688, 70_749, 68_886)),
}
# Resident blocks of their two cards.
RESIDENT = (64, 192)


def shapes(task: Task, seconds: float) -> Iterator[Table | Figure]:
    """Measure figures 7, 8, 10 and 11: the time with each number of lanes and of rows."""
    table = Table(
        "Figures 7, 8, 10 and 11: time by lanes and rows of a block, k = inf",
        "Lanes are their threads T; rows, the cities whose distances a lane keeps, stand for their shared elements S. "
        "Least, mean and most over the other of both, and with which of these it was the least. All end on the same "
        "lengths, which is figure 9.",
        columns(
            "instance|",
            "climbers|,",
            "of|",
            "number|",
            "least|time",
            "mean|time",
            "most|time",
            "least with|",
            "shortest|,",
        ),
    )
    if not task.is_gpu(task.backend):
        table.left_out, table.reason = ["all of it"], NEEDS_A_GPU
        yield table
        return
    figures = {
        of: Figure(f"{of}-time", f"Figure {number}: least, mean and most time by {of}", of, "seconds", ("log", "log"))
        for of, number in (("lanes", 7), ("rows", 10))
    }
    end = moment(seconds)
    table.left_out, table.reason = [TOO_LARGE], "of their instances"
    for place, name in enumerate(SHAPED):
        instance = instance_of(task.tsplib, name)
        share = left_until(end) / (len(SHAPED) - place) / (len(LANES) * len(ROWS) + 1)
        climbers = task.fitting(instance, share, RESTARTS, k="inf", lanes=LANES[0], rows=ROWS[0])
        taken, lengths = np.empty((len(LANES), len(ROWS))), set()
        for a, lanes in enumerate(LANES):
            for b, rows in enumerate(ROWS):
                task.climb(instance, 1, k="inf", lanes=lanes, rows=rows)
                found = task.climb(instance, climbers, k="inf", lanes=lanes, rows=rows)
                taken[a, b] = found.seconds
                lengths.add(tuple(found.lengths.tolist()))
        if len(lengths) > 1:
            raise RuntimeError(f"climbers of {name} end on other lengths with other lanes or rows")
        shortest = min(lengths.pop())
        for of, numbers, others, times in (("lanes", LANES, ROWS, taken), ("rows", ROWS, LANES, taken.T)):
            least, mean, most = times.min(axis=1), times.mean(axis=1), times.max(axis=1)
            for at, number in enumerate(numbers):
                with_ = others[int(times[at].argmin())]
                reported: list[Cell] = [float(each[at]) for each in (least, mean, most)]
                table.rows.append([name, climbers, of, number, *reported, with_, shortest])
            for label, each in (("least", least), ("mean", mean), ("most", most)):
                figures[of].series.append(Series(f"{name}, {label}", listed(numbers), listed(each)))
    yield table
    yield from figures.values()


def turns(task: Task, seconds: float) -> Table:
    """Count what a queue is worth: the passes of the block that has most to do, by ways of giving out climbers."""
    instance = instance_of(task.tsplib, COUNTED)
    climbers = task.fitting(instance, seconds, RESTARTS, k="inf")
    passes = task.climb(instance, climbers, k="inf").passes
    table = Table(
        f"Tables 2 and 3: what a queue is worth, counted in passes of {COUNTED}",
        f"Restarts drawn from {climbers:,} climbers with k = inf. The passes of the block that has most to do, by "
        "those of a block in the mean: about how much longer a run takes than it has to. Queues give a block its next "
        "climbers when it is done; without one each block has its climbers in advance, those that follow one another "
        "(theirs), or block i the climbers i, i + blocks, i + 2 blocks, … (pytsp's).",
        columns(
            "blocks|",
            "restarts|,",
            "queue of 1|.3f",
            "of 100|.3f",
            "none, theirs|.3f",
            "none, pytsp|.3f",
        ),
    )
    for blocks in RESIDENT:
        for restarts in QUEUED_RESTARTS[:2]:
            drawn = np.random.default_rng(task.seed).choice(passes, restarts).astype(np.int64)
            mean = float(drawn.sum()) / blocks
            most = (
                queued(drawn, blocks, 1),
                queued(drawn, blocks, 100),
                in_ranges(drawn, blocks),
                by_turns(drawn, blocks),
            )
            table.rows.append([blocks, restarts, *(each / mean for each in most)])
    return table


def queued(passes: NDArray[np.integer], blocks: int, portion: int) -> int:
    """Return the most passes of a block if each takes `portion` climbers from a queue whenever it is done."""
    busy = [0] * blocks
    for first in range(0, len(passes), portion):
        heapq.heapreplace(busy, busy[0] + int(passes[first : first + portion].sum()))
    return max(busy)


def in_ranges(passes: NDArray[np.integer], blocks: int) -> int:
    """Return the same where each block has climbers that follow one another."""
    return max(int(each.sum()) for each in np.array_split(passes, blocks))


def by_turns(passes: NDArray[np.integer], blocks: int) -> int:
    """Return the same where block b has the climbers b, b + blocks, …."""
    return max(int(passes[block::blocks].sum()) for block in range(blocks))


def queues(task: Task, seconds: float) -> Table:
    """Write tables 2 and 3: theirs whole, and on a GPU fixed blocks beside a block for each climber."""
    table = Table(
        f"Tables 2 and 3: restarts of {QUEUED} by a fixed number of blocks, k = inf",
        "Theirs give a block the next 1 or 100 climbers when it is done, or all of its climbers in advance (none). "
        "Those of pytsp have their climbers in advance, as Futhark has no atomic fetch-and-add; or each climber has a "
        "block of its own. The last column is without a queue.",
        columns(
            "blocks|",
            "restarts|,",
            "queue of 1|time",
            "of 100|time",
            "none|time",
            "none / queue of 1|.3f",
            "a restart|time",
        ),
    )
    for card, cells in THEIRS.items():
        for restarts, (one, many, none) in zip(QUEUED_RESTARTS, cells, strict=True):
            table.rows.append([card, restarts, one, many, none, ratio(none, one), none / restarts])
    if not task.is_gpu(task.backend):
        table.left_out, table.reason = ["pytsp's rows"], NEEDS_A_GPU
        return table
    instance = instance_of(task.tsplib, QUEUED)
    end = moment(seconds)
    for place, blocks in enumerate((*BLOCKS, None)):
        options = {"k": "inf", "blocks": blocks, "lanes": LANES[-1]}
        most = task.fitting(instance, left_until(end) / (len(BLOCKS) + 1 - place), max(QUEUED_RESTARTS), **options)
        if blocks and most < blocks:
            table.left_out.append(f"{blocks:,} blocks, which are more than the {most:,} restarts that the time has")
            continue
        began = time.perf_counter()
        task.climb(instance, most, **options)
        taken = time.perf_counter() - began
        name = f"pytsp, {blocks:,} blocks" if blocks else "pytsp, a block each"
        table.rows.append([name, most, None, None, taken, None, taken / most])
    return table
