"""Rocki and Suda (2013): table II, one tour by its complete 2-opt neighbourhood, and their figures 9 and 11."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

import pytsp
from bench.harness.machine import find
from bench.papers.rocki import THEIRS, Line, descend, differences, measure, tour_of
from bench.papers.tables import Figure, Series, Table, columns, listed, ratio
from bench.papers.task import Task
from pytsp.backends import Backend, open_backend
from pytsp.run.result import FLOPS_A_CHECK
from pytsp.starts.construct import greedy

TITLE = (
    "K. Rocki, R. Suda: High Performance GPU Accelerated Local Optimization in TSP. IPDPS Workshops 2013 "
    "(GeForce GTX 680)"
)
# What a descent of the table, and the convergence, may take of the time that is left.
SHARE, CONVERGENCE = 0.2, 0.3
# Their instance of figure 11, and the one for machines on which it would not reach its first minimum; the passes from
# a random tour to it, where a pass makes all moves that do not overlap, are fewer than this.
CONVERGING, SMALLER, MANY_PASSES = "sw24978", "pr2392", 1_500
LEAST_SECONDS = 0.5
FULL_CONVERGENCE = 120.0
# On a GPU, tours after so many passes are compared with multicore's.
COMPARED = 3


def run(task: Task) -> Iterator[Table | Figure]:
    """Make the table and the figures."""
    kernels = open_backend(task.backend)
    reserved = 0.0 if task.is_full else CONVERGENCE * task.seconds
    lines, left_out = descents(task, kernels, reserved)
    yield table(lines, left_out, compared(task, kernels, lines))
    yield speeds(lines)
    yield convergence(task, kernels)


def descents(task: Task, kernels: Backend, reserved: float) -> tuple[list[Line], list[str]]:
    """Descend on the instances of their table, from the smallest, one move a pass, as long as there is time."""
    lines: list[Line] = []
    names = list(THEIRS)
    for place, name in enumerate(names):
        time_left = task.left - reserved
        if time_left < LEAST_SECONDS and lines:
            return lines, names[place:]
        instance = find(task.tsplib, name)
        lines.append(measure(instance, greedy(instance), kernels, 1, SHARE * time_left))
        if lines[-1].is_cut:
            return lines, names[place + 1 :]
    return lines, []


def compared(task: Task, kernels: Backend, lines: list[Line]) -> str:
    """Compare a GPU's tours after some passes with multicore's, and say what came out; nothing for a CPU."""
    if kernels.device is None:
        return ""
    other, wrong = open_backend("multicore"), []
    for line in lines:
        instance = find(task.tsplib, line.instance)
        found = differences(instance, greedy(instance), kernels, other, 1, COMPARED)
        wrong += [f"{line.instance}: {each}" for each in found]
    told = f"**different**: {'; '.join(wrong)}" if wrong else "the same"
    return f" Tours and lengths after {COMPARED} passes of each instance on {kernels.name} and multicore are {told}."


def table(lines: list[Line], left_out: list[str], told: str) -> Table:
    """Write table II; `told` is said behind what explains it."""
    made = Table(
        "Table II: 2-opt, time needed for a single run",
        "From the greedy tour (multiple fragment), the best move of each pass. A pass is theirs in total, with copies; "
        "checks/s are those of their kernel alone. A minimum that was not reached is given by the time after which the "
        f"descent was cut. Ratios are theirs by ours, lengths ours by theirs.{told}",
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


def convergence(task: Task, kernels: Backend) -> Figure:
    """Draw figure 11: iterated local search by double bridges and the complete neighbourhood, from a random tour."""
    seconds = FULL_CONVERGENCE if task.is_full else max(LEAST_SECONDS, task.left)
    instance = find(task.tsplib, CONVERGING)
    start = pytsp.random_tours(instance.n, 1, task.seed)[0]
    descend(instance, start, kernels, "inf", 1, seconds)
    _, a_pass = descend(instance, start, kernels, "inf", 1, seconds)
    if MANY_PASSES * a_pass > seconds:
        instance = find(task.tsplib, SMALLER)
        start = pytsp.random_tours(instance.n, 1, task.seed)[0]
    whole = iterated(instance, start, kernels, task.seed, 0.6 * seconds)
    lists = pytsp.solve(instance, solver="ils", backend=task.backend, seed=task.seed, time_limit=0.3 * seconds)
    return Figure(
        "convergence",
        f"Figure 11: convergence of iterated local search, {instance.name}",
        "seconds",
        "length",
        ("log", "linear"),
        [
            Series("complete 2-opt, as theirs", *(listed(each) for each in zip(*whole, strict=True))),
            Series(
                "3-opt on neighbour lists",
                [each.seconds for each in lists.history],
                [float(each.length) for each in lists.history],
            ),
        ],
    )


def iterated(
    instance: pytsp.Instance, start: NDArray[np.int32], kernels: Backend, seed: int, seconds: float
) -> list[tuple[float, float]]:
    """Return seconds and lengths of their algorithm 1; what is not longer is kept, all moves that fit are a pass's."""
    draws = np.random.default_rng(seed)
    began = time.perf_counter()
    curve: list[tuple[float, float]] = []
    best, tour, length = start, start, math.inf
    while (left := seconds - (time.perf_counter() - began)) > 0 or not curve:
        descent, _ = descend(instance, tour, kernels, "inf", None, max(left, LEAST_SECONDS))
        if descent.standing.length <= length:
            best = tour_of(descent)
            if descent.standing.length < length:
                length = descent.standing.length
                curve.append((time.perf_counter() - began, length))
        tour = double_bridge(best, draws)
    return curve


def double_bridge(tour: NDArray[np.int32], draws: np.random.Generator) -> NDArray[np.int32]:
    """Return the tour with two stretches behind each other exchanged, the three cuts anywhere."""
    a, b, c = sorted(draws.choice(np.arange(1, len(tour)), 3, replace=False))
    return np.concatenate([tour[:a], tour[b:c], tour[a:b], tour[c:]])
