"""Lengths over the time, and how those of the climbers are distributed; titles of pictures."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from pytsp.run.saved_runs import Run

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

_MOST_BINS = 60
# A legend of more runs hides the curves, whose colours begin again anyway.
_MOST_NAMES = 10
# From here on linear, where a logarithm would show a gap of 0 infinitely far below.
_SMALL_GAP = 0.1
# Ratio of the times of the last and first improvement from which on a run is drawn over the logarithm of time.
_LONG = 10


def draw_convergence(runs: Sequence[Run], ax: Axes) -> None:
    """Draw lengths, or gaps, of the best tours over the time."""
    as_gaps = all(run.optimum for run in runs)
    for run in runs:
        seconds, lengths = run.history[:, 0], run.history[:, 2]
        # The last tour stays the best until the end.
        end = max(float(run.facts.get("seconds") or 0), seconds[-1])
        values = _values(run, lengths, as_gaps)
        ax.step(np.append(seconds, end), np.append(values, values[-1]), where="post", label=escape(run.label))
    times = np.concatenate([run.history[:, 0] for run in runs])
    if times.min() > 0 and times.max() > _LONG * times.min():
        ax.set_xscale("log")
        ax.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    if as_gaps:
        ax.set_yscale("symlog", linthresh=_SMALL_GAP)
        ax.set_ylim(bottom=min(0.0, ax.get_ylim()[0]) if ax.get_ylim()[0] < -_SMALL_GAP else 0.0)
        ax.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
    else:
        ax.yaxis.set_major_formatter(_in_full)
    ax.set_xlabel("seconds")
    ax.set_ylabel("gap to the optimum, %" if as_gaps else "length of the best tour")
    _finish(runs, ax)


def draw_climbers(runs: Sequence[Run], ax: Axes) -> None:
    """Draw how the lengths, or gaps, of climbers are distributed."""
    as_gaps = all(run.optimum for run in runs)
    values = [_values(run, run.lengths, as_gaps) for run in runs]
    most = max(len(each) for each in values)
    bins = np.histogram_bin_edges(np.concatenate(values), min(_MOST_BINS, 5 + math.isqrt(most)))
    # Of several runs the shares are compared, since they may have had few climbers and many.
    alone = len(runs) == 1
    for k, (run, each) in enumerate(zip(runs, values, strict=True)):
        weights = None if alone else np.full(len(each), 100 / len(each))
        style: Literal["stepfilled", "step"] = "stepfilled" if alone else "step"
        ax.hist(each, bins=bins.tolist(), weights=weights, histtype=style, label=escape(run.label), color=f"C{k}")
        # The last population of a crossover need not be the one that found the best tour.
        best = _values(run, run.facts["length"], as_gaps)
        ax.axvline(best, color="black" if alone else f"C{k}", linestyle="--", linewidth=1, label="_best")
    if not as_gaps:
        ax.xaxis.set_major_formatter(_in_full)
    ax.set_xlabel("gap to the optimum, %" if as_gaps else "length of the climber's best tour")
    ax.set_ylabel("climbers" if alone else "climbers, % of the run's")
    # More numbers of eight digits would touch.
    ax.locator_params(axis="x", nbins=5)
    _finish(runs, ax)


def _values(run: Run, lengths: NDArray[Any] | float, as_gaps: bool) -> Any:
    return 100 * (lengths / run.optimum - 1) if as_gaps and run.optimum else lengths


def _in_full(length: float, _: object) -> str:
    return f"{length:,.10g}"


def _finish(runs: Sequence[Run], ax: Axes) -> None:
    ax.grid(alpha=0.3)
    ax.spines[["top", "right"]].set_visible(False)
    if len(runs) == 1:
        ax.set_title(title(runs[0]))
    elif len(runs) <= _MOST_NAMES:
        ax.legend(frameon=False, fontsize="small")


def title(run: Run) -> str:
    """Say what a run found."""
    return escape(f"{run.label}: {len(run.tour):,} cities, length {run.facts['length']:,.10g}{run.describe_gap(2)}")


def escape(text: str) -> str:
    """Keep matplotlib from taking a name for a formula, or for one that the legend leaves out."""
    text = text.replace("$", r"\$")
    return f" {text}" if text.startswith("_") else text
