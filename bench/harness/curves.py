"""Curves of the gap over the time, medians over the seeds, or of the share of seeds that have ended on the optimum: a
panel an instance, a line a solver."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np

from bench.harness.pictures import pyplot
from bench.harness.runs import Run

PANELS_A_ROW = 5
POINTS = 80
EARLIEST = 0.02


def gap_at(run: Run, seconds: float) -> float:
    """Return the gap in per cent of the tour that a run had after the seconds; infinite if it had none."""
    reached = [length for when, length in run.history if when <= seconds]
    return 100 * (reached[-1] / run.optimum - 1) if reached and run.optimum else math.inf


def within_runs(runs: list[Run]) -> list[tuple[float, float]]:
    """Return seconds and median gaps inside the runs with the longest limit, from when half of them have a tour."""
    longest = max(run.limit or 0.0 for run in runs)
    chosen = [run for run in runs if run.limit == longest]
    times = np.geomspace(EARLIEST, longest, POINTS).tolist()
    curve = [(seconds, statistics.median(gap_at(run, seconds) for run in chosen)) for seconds in times]
    return [(seconds, gap) for seconds, gap in curve if math.isfinite(gap)]


def by_limit(runs: list[Run]) -> list[tuple[float, float]]:
    """Return the limits with the median gaps of their runs; for a solver that takes none, its median seconds."""
    limits: dict[float, list[Run]] = {}
    for run in runs:
        limits.setdefault(run.limit or 0.0, []).append(run)
    return [
        (limit or statistics.median(run.seconds for run in same), statistics.median(run.gap for run in same))
        for limit, same in sorted(limits.items())
    ]


def solved_by(runs: list[Run]) -> list[tuple[float, float]]:
    """Return seconds with the share of the seeds, in per cent, that had a tour of the optimum's length by then.

    Each seed's run of the longest limit counts.
    """
    longest = max(run.limit or 0.0 for run in runs)
    chosen = [run for run in runs if (run.limit or 0.0) == longest]
    times = sorted(run.history[-1][0] if run.history else run.seconds for run in chosen if run.length == run.optimum)
    return [(seconds, 100 * (place + 1) / len(chosen)) for place, seconds in enumerate(times)]


def draw(runs: Iterable[Run], file: Path) -> None:
    """Draw the gaps into a file of any kind that matplotlib writes.

    Marks are runs that knew their limit; dashed lines, for solvers that tell them, the tours on the way of the longest.
    """

    def gaps(panel: Any, theirs: list[Run], colour: str, peer: str) -> None:
        panel.plot(*zip(*by_limit(theirs), strict=True), "o-", color=colour, markersize=4, label=peer)
        inside = within_runs(theirs) if theirs[0].history else []
        if inside:
            panel.plot(*zip(*inside, strict=True), "--", color=colour, linewidth=1)
        panel.set(xscale="log", ylabel="gap, %")
        panel.set_yscale("symlog", linthresh=0.1)
        panel.set_ylim(bottom=0)

    draw_panels(runs, file, gaps)


def draw_solved(runs: Iterable[Run], file: Path) -> None:
    """Draw the shares of seeds that have ended on the optimum, over the time."""

    def shares(panel: Any, theirs: list[Run], colour: str, peer: str) -> None:
        points = solved_by(theirs)
        panel.step([when for when, _ in points], [share for _, share in points], where="post", color=colour, label=peer)
        panel.set(ylim=(0, 105), ylabel="seeds on the optimum, %")
        panel.set_xlim(left=0)

    draw_panels(runs, file, shares)


def draw_panels(runs: Iterable[Run], file: Path, line: Callable[[Any, list[Run], str, str], None]) -> None:
    """Draw a panel an instance, into which `line` draws each solver's runs."""
    plt = pyplot()
    done = [run for run in runs if not run.problem]
    names = list(dict.fromkeys(run.instance for run in done))
    peers = list(dict.fromkeys(run.peer for run in done))
    rows = max(1, math.ceil(len(names) / PANELS_A_ROW))
    across = max(1, min(PANELS_A_ROW, len(names)))
    figure, axes = plt.subplots(rows, across, figsize=(3.2 * across, 2.8 * rows), squeeze=False, layout="constrained")
    for place, panel in enumerate(axes.flat):
        panel.set_visible(place < len(names))
    for name, panel in zip(names, axes.flat, strict=False):
        for number, peer in enumerate(peers):
            theirs = [run for run in done if run.instance == name and run.peer == peer]
            if not theirs:
                continue
            line(panel, theirs, f"C{number}", peer)
        panel.set(title=name, xlabel="seconds")
        panel.xaxis.set_minor_formatter(lambda *_: "")
    handles, labels = axes.flat[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(peers) or 1)
    figure.savefig(file, dpi=120)
    plt.close(figure)
