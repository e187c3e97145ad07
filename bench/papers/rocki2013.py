"""Rocki and Suda (2013): one tour by its complete 2-opt neighbourhood; tables I and II, figures 9, 10 and 11."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import pytsp
from bench.papers.instances import instance_of, stand_ins, with_a_reference
from bench.papers.rocki import THEIRS, Line, descend, differences, measure, passes_of
from bench.papers.tables import Cell, Figure, Series, Table, columns, ratio
from bench.papers.task import Task
from pytsp.backends import Backend, open_backend
from pytsp.run.result import FLOPS_A_CHECK
from pytsp.starts.construct import greedy

TITLE = (
    "K. Rocki, R. Suda: High Performance GPU Accelerated Local Optimization in TSP. IPDPS Workshops 2013 "
    "(GeForce GTX 680)"
)
# Their table I: megabytes of the look-up table, kilobytes of the coordinates.
MEMORY = {
    "kroE100": (0.038, 0.78),
    "ch130": (0.065, 1.02),
    "ch150": (0.086, 1.17),
    "kroA200": (0.15, 1.56),
    "ts225": (0.19, 1.75),
    "pr299": (0.34, 2.34),
    "pr439": (0.74, 3.43),
    "rat783": (2.34, 6.12),
    "vm1084": (4.48, 8.47),
    "pr2392": (21.8, 18.69),
    "pcb3038": (35.21, 23.73),
    "fnl4461": (75.9, 34.85),
}
# What a descent of table II may take of the time that is left.
SHARE = 0.2
LEAST_SECONDS = 0.5
# Passes after which a GPU's tours are compared with multicore's.
COMPARED = 3
# What the descent beside each of table II may take for figure 10.
BESIDE_SECONDS = 1.0
# Their instance of figure 11, and one on which CPU cores come to kicks from a random tour, too: the share of the time
# that each takes, its seconds with `--full`, and the optimum.
CONVERGENCE = {"sw24978": (0.45, 360.0, 855_597), "pr2392": (0.1, 60.0, 378_032)}


def run(task: Task) -> Iterator[Table | Figure]:
    """Make the tables and the figures."""
    kernels = open_backend(task.backend)
    yield memory(task, kernels)
    reserved = 0.0 if task.is_full else task.seconds * sum(share for share, *_ in CONVERGENCE.values())
    lines, left_out = descents(task, kernels, reserved)
    yield table(lines, left_out, compared(task, kernels, lines))
    yield speeds(lines)
    yield from speedups(task, kernels, lines)
    yield from convergences(task, kernels)


def memory(task: Task, kernels: Backend) -> Table:
    """Write table I, and beside it what a descent of ours holds."""
    made = Table(
        "Table I: 2-opt single run, memory needed",
        "A look-up table of single-precision distances, and single-precision coordinates: 4 n² and 8 n bytes, which "
        f"their figures come to. Ours is what {kernels.name} holds: the instance, and the tour with what its positions "
        "propose; the form is how a kernel takes the instance.",
        columns(
            "instance|",
            "cities|,",
            "look-up table, MiB|.3g",
            "theirs, MB|",
            "coordinates, KiB|.2f",
            "theirs, kB|",
            "form|",
            "our instance, KiB|.2f",
            "our tour, KiB|.2f",
        ),
    )
    for name, (table_of, coordinates) in MEMORY.items():
        instance = instance_of(task.tsplib, name)
        n = instance.n
        descent, _ = descend(instance, np.arange(n, dtype=np.int32), kernels, 1, 0, None)
        held = [bytes_of(kernels.fields(each)) / 2**10 for each in (descent.loaded, descent.standing.handle)]
        made.rows.append([name, n, 4 * n * n / 2**20, table_of, 8 * n / 2**10, coordinates, descent.form.kind, *held])
    return made


def bytes_of(fields: dict[str, Any]) -> int:
    """Count the bytes of the arrays of a value."""
    parts = (bytes_of(each) if isinstance(each, dict) else getattr(each, "nbytes", 0) for each in fields.values())
    return sum(parts)


def descents(task: Task, kernels: Backend, reserved: float) -> tuple[list[Line], list[str]]:
    """Descend on the instances of their table, from the smallest, one move a pass, as long as there is time."""
    lines: list[Line] = []
    names = list(THEIRS)
    for place, name in enumerate(names):
        time_left = task.left - reserved
        if time_left < LEAST_SECONDS and lines:
            return lines, names[place:]
        instance = instance_of(task.tsplib, name)
        lines.append(measure(instance, greedy(instance), kernels, 1, SHARE * max(LEAST_SECONDS, time_left)))
        if lines[-1].is_cut:
            return lines, names[place + 1 :]
    return lines, []


def compared(task: Task, kernels: Backend, lines: list[Line]) -> str:
    """Compare a GPU's tours after some passes with multicore's, and say what came out; nothing for a CPU."""
    if kernels.device is None:
        return ""
    other, wrong = open_backend("multicore"), []
    for line in lines:
        instance = instance_of(task.tsplib, line.instance)
        found = differences(instance, greedy(instance), kernels, other, 1, COMPARED)
        wrong += [f"{line.instance}: {each}" for each in found]
    reported = f"**different**: {'; '.join(wrong)}" if wrong else "the same"
    return (
        f" Tours and lengths after {COMPARED} passes of each instance on {kernels.name} and multicore are {reported}."
    )


def table(lines: list[Line], left_out: list[str], reported: str) -> Table:
    """Write table II; `told` is said behind what explains it."""
    made = Table(
        "Table II: 2-opt, time needed for a single run",
        "From the greedy tour (multiple fragment), the best move of each pass. A pass is theirs in total, with copies; "
        "checks/s are those of their kernel alone. A minimum that was not reached is given by the time after which the "
        f"descent was cut. Ratios are theirs by ours, lengths ours by theirs.{reported}",
        columns(
            "instance|",
            "pass|time",
            "theirs|time",
            "ratio|.3g",
            "M checks/s|,.0f",
            "theirs|,.0f",
            "first minimum|time",
            "theirs|time",
            "ratio|.3g",
            "greedy|",
            "theirs|",
            "optimised|",
            "theirs|",
            "% of theirs|.2f",
            "state|",
        ),
        left_out=left_out,
    )
    for line in lines:
        theirs = THEIRS[line.instance]
        made.rows.append(
            [
                line.instance,
                line.pass_seconds,
                theirs.pass_seconds,
                ratio(theirs.pass_seconds, line.pass_seconds),
                line.checks / 1e6,
                theirs.checks / 1e6,
                line.seconds,
                theirs.seconds,
                None if line.is_cut else ratio(theirs.seconds, line.seconds),
                line.initial,
                theirs.initial,
                line.length,
                theirs.length,
                100 * line.length / theirs.length,
                "cut" if line.is_cut else "minimum",
            ]
        )
    return made


def speeds(lines: list[Line]) -> Figure:
    """Draw figure 9, their count of operations a check."""
    sizes = [float(line.n) for line in lines]
    return Figure(
        "gflops",
        f"Figure 9: GFLOP/s at {FLOPS_A_CHECK} operations a check",
        "cities",
        "GFLOP/s",
        ("log", "log"),
        [
            Series("pytsp", sizes, [FLOPS_A_CHECK * line.checks / 1e9 for line in lines]),
            Series("GTX 680", sizes, [FLOPS_A_CHECK * THEIRS[line.instance].checks / 1e9 for line in lines]),
        ],
    )


def speedups(task: Task, kernels: Backend, lines: list[Line]) -> Iterator[Figure]:
    """Draw figure 10: a pass beside the same on a CPU's cores, or of these beside one; one core has none beside it."""
    if kernels.name == "c":
        return
    beside = open_backend("c" if kernels.device is None else "multicore")
    times = []
    for line in lines:
        instance = instance_of(task.tsplib, line.instance)
        start = greedy(instance)
        descend(instance, start, beside, 1, 1, None)
        descent, taken = descend(instance, start, beside, 1, line.passes, BESIDE_SECONDS)
        times.append(taken / passes_of(descent) / line.pass_seconds)
    yield Figure(
        "speedup",
        f"Figure 10: speed of a pass, {kernels.name} over {beside.name}",
        "cities",
        "times as fast",
        ("log", "linear" if kernels.device is None else "log"),
        [Series(f"{kernels.name} over {beside.name}", [float(line.n) for line in lines], times)],
    )


def convergences(task: Task, kernels: Backend) -> Iterator[Table | Figure]:
    """Draw figure 11, and tell in a table what its curves come to."""
    made = Table(
        "Figure 11: convergence of iterated local search",
        '`solver="two-opt"` with `kicks="inf"`: the complete 2-opt descent, then a double bridge anywhere and the '
        'descent again, kept if it is not longer. Beside it `solver="ils"`, 3-opt along neighbour lists, whose first '
        "minimum no call ends at. Where there is no kick, the time was up on the way to the first minimum. Each "
        "has the same time limit.",
        columns(
            "instance|",
            "local search|",
            "start|",
            "first minimum|time",
            "its length|",
            "kicks|,",
            "that shortened the tour|,",
            "seconds|.0f",
            "length|",
            "% above the optimum|.2f",
        ),
    )
    for name in CONVERGENCE:
        runs = converged(task, kernels, name)
        optimum = with_a_reference(name).optimum if name in stand_ins() else CONVERGENCE[name][2]
        made.rows += [[name, *cells_of(*run, optimum)] for run in runs]
        yield Figure(
            f"convergence-{name}",
            f"Figure 11: convergence of iterated local search, {name}",
            "seconds",
            "length",
            ("log", "log"),
            [
                Series(
                    f"{search}, {start}",
                    [each.seconds for each in found.history],
                    [float(each.length) for each in found.history],
                )
                for search, start, found in runs
            ],
        )
    yield made


def converged(task: Task, kernels: Backend, name: str) -> list[tuple[str, str, pytsp.Result]]:
    """Let each local search go on from its start for as long: its name, its start, and what it found."""
    instance = instance_of(task.tsplib, name)
    share, full, _ = CONVERGENCE[name]
    # One move a pass, as theirs, takes n passes and more from a random tour.
    complete: list[tuple[str, Any]] = [("random", "inf"), ("greedy", "inf")]
    complete = complete if kernels.device is None else [("random", 1), *complete]
    seconds = (full if task.is_full else share * task.seconds) / (len(complete) + 1)
    said: dict[str, Any] = {"backend": task.backend, "seed": task.seed, "time_limit": max(LEAST_SECONDS, seconds)}
    runs = [
        (
            f"complete 2-opt, k = {k}",
            start,
            pytsp.solve(instance, solver="two-opt", start=start, k=k, kicks="inf", **said),
        )
        for start, k in complete
    ]
    return [*runs, ("3-opt along lists", "curve", pytsp.solve(instance, solver="ils", moves="3-opt", **said))]


def cells_of(search: str, start: str, found: pytsp.Result, optimum: int | float | None) -> list[Cell]:
    """Write what a curve of figure 11 comes to."""
    before = [each for each in found.history if each.iteration == 0]
    has_minimum = found.solver == "two-opt" and bool(found.iterations)
    return [
        search,
        start,
        before[-1].seconds if has_minimum else None,
        int(before[-1].length) if has_minimum else None,
        found.iterations,
        len({each.iteration for each in found.history if each.iteration}) if has_minimum else None,
        found.seconds,
        int(found.length),
        100 * (found.length / optimum - 1) if optimum else None,
    ]
