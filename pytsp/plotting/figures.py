"""Pictures of tours, of the way to them, and of the climbers; they need matplotlib, the extra "plot"."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pytsp.exceptions import PytspError
from pytsp.plotting.curves import draw_climbers, draw_convergence, plain, title
from pytsp.plotting.maps import Map, map_of
from pytsp.plotting.runs import Run, run_of
from pytsp.problem.instance import Instance
from pytsp.problem.tours import check_tour
from pytsp.solvers.registry import PICTURES

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from pytsp.run.result import Result

__all__ = ["draw", "figure_of", "figure_of_cities", "plot_result", "save"]

ENDINGS = (".png", ".svg", ".pdf")
# Above it a tour is pixels within an SVG or a PDF; a million lines would be 30 MB.
RASTERISED_ABOVE = 20_000
_DOTS_UP_TO = 1000
_INCHES = 7.0
_DPI = 150
_DPI_OF_MANY = 200
# The grey of what two tours share, and the colours, apart for the colour-blind too, of what each has alone.
_SHARED, _FIRST, _SECOND = "0.8", "tab:blue", "tab:orange"
# The same pictures are the same files, and a path of any length is drawn.
_SETTINGS: Any = {"agg.path.chunksize": 20_000, "svg.hashsalt": "pytsp"}
_NO_DATE: Mapping[str, Mapping[str, None]] = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}


def plot_result(
    result: Result, kind: str = "tour", *, other: Result | ArrayLike | None = None, ax: Axes | None = None
) -> Axes:
    """Draw a result; this is `Result.plot`, which says what the arguments are."""
    runs = [run_of(result)]
    if other is not None:
        runs.append(_other_run(result.instance, other))
    if ax is None:
        _require_matplotlib()
        from matplotlib import pyplot  # noqa: PLC0415

        _check_drawable(runs, kind)
        _, ax = pyplot.subplots(layout="constrained", figsize=_size(runs, kind))
    draw(runs, kind, ax)
    return ax


def figure_of(runs: Sequence[Run], kind: str = "tour") -> Figure:
    """Return a new figure of runs, which no window shows.

    Parameters
    ----------
    runs : sequence of Run
        One or two for "tour", any number for the others.
    kind : str
        "tour", "convergence" or "climbers".

    Raises
    ------
    PytspError
        If matplotlib is not installed, or the runs do not hold what is to be drawn.
    """
    _require_matplotlib()
    from matplotlib.figure import Figure  # noqa: PLC0415

    _check_drawable(runs, kind)
    figure = Figure(figsize=_size(runs, kind), layout="constrained")
    draw(runs, kind, figure.subplots())
    return figure


def save(figure: Figure, target: str | os.PathLike[str] | BinaryIO, *, ending: str = "", dpi: float = 0) -> None:
    """Write a figure as PNG, SVG or PDF, by the ending of the file's name; the same figure gives the same bytes.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
    target : path, or a stream of bytes
    ending : str, optional
        ".png", ".svg" or ".pdf", for a stream.
    dpi : float, optional
        By default 150, and 200 where a tour has many cities.

    Raises
    ------
    PytspError
        If the ending is another; nothing is written then.
    OSError
        If the file cannot be written.
    """
    from matplotlib import rc_context  # noqa: PLC0415

    ending = ending or check_ending(os.fspath(target))  # type: ignore[arg-type]
    many = any(line.get_rasterized() for axes in figure.axes for line in axes.lines)
    with rc_context(_SETTINGS):
        figure.savefig(
            target, format=ending[1:], dpi=dpi or (_DPI_OF_MANY if many else _DPI), metadata=_NO_DATE.get(ending)
        )


def check_ending(file: str) -> str:
    """Return the ending of a picture's file, which says its kind.

    Raises
    ------
    PytspError
        If no such kind is written.
    """
    ending = Path(file).suffix.lower()
    if ending not in ENDINGS:
        raise PytspError(f"{file}: the ending {ending!r} is of no kind of picture; known: {', '.join(ENDINGS)}")
    return ending


def draw(runs: Sequence[Run], kind: str, ax: Axes) -> None:
    """Draw runs into the axes of a figure of matplotlib's.

    Raises
    ------
    PytspError
        If the runs do not hold what is to be drawn.
    """
    _check_drawable(runs, kind)
    {"tour": _draw_tours, "convergence": draw_convergence, "climbers": draw_climbers}[kind](runs, ax)


def figure_of_cities(instance: Instance) -> Figure:
    """Return a new figure of the cities of an instance, as dots; for the rest as `figure_of`."""
    _require_matplotlib()
    from matplotlib.figure import Figure  # noqa: PLC0415

    cities = map_of(instance)
    figure = Figure(figsize=_size_of(cities), layout="constrained")
    ax = figure.subplots()
    _bare(ax)
    size = min(4.0, max(0.3, 120 / math.sqrt(instance.n)))
    many = instance.n > RASTERISED_ABOVE
    ax.plot(*cities.xy.T, "o", color=_FIRST, markersize=size, markeredgewidth=0, rasterized=many)
    ax.set_title(plain(f"{instance.name or 'instance'}: {instance.n:,} cities"))
    return figure


def _other_run(instance: Instance, other: Result | ArrayLike) -> Run:
    from pytsp.run.result import Result  # noqa: PLC0415

    if isinstance(other, Result):
        return run_of(other)
    tour = check_tour(other, instance.n)
    return Run("the other", tour, instance, facts={"length": instance.tour_length(tour)})


def _require_matplotlib() -> None:
    try:
        import matplotlib  # noqa: PLC0415, F401
    except ImportError as error:
        raise PytspError("pictures need matplotlib, which is not installed: pip install 'pytsp[plot]'") from error


def _check_drawable(runs: Sequence[Run], kind: str) -> None:
    if kind not in PICTURES:
        raise PytspError(f"the kind of picture {kind!r} is not known; known: {', '.join(PICTURES)}")
    for run in runs:
        if kind == "convergence" and not len(run.history):
            raise PytspError(f"{run.label} has no history of improvements; results have one, tour files do not")
        if kind == "climbers" and not len(run.lengths):
            raise PytspError(f"{run.label} does not hold the climbers' lengths; tour files and old results do not")
    if kind == "tour":
        if len(runs) > 2:
            raise PytspError(f"one tour is drawn, or the difference of two; there are {len(runs)}")
        maps = [_map(run) for run in runs]
        if len(runs) == 2 and (len(maps[0].xy) != len(maps[1].xy) or not np.array_equal(maps[0].xy, maps[1].xy)):
            raise PytspError(f"{runs[0].label} and {runs[1].label} are tours of different instances")


def _map(run: Run) -> Map:
    if run.instance is None:
        raise PytspError(f"{run.label}: its instance is needed to draw it")
    return map_of(run.instance)


def _size(runs: Sequence[Run], kind: str) -> tuple[float, float]:
    return _size_of(_map(runs[0])) if kind == "tour" else (_INCHES, 0.6 * _INCHES)


def _size_of(cities: Map) -> tuple[float, float]:
    """Return a width and a height in inches that suit a map."""
    width, height = np.ptp(cities.xy, axis=0)
    ratio = height / width if width > 0 else 1.0
    return _INCHES, _INCHES * min(1.5, max(0.3, ratio)) + 0.4


def _bare(ax: Axes) -> None:
    ax.set_aspect("equal")
    ax.margins(0.02)
    ax.axis("off")


def _draw_tours(runs: Sequence[Run], ax: Axes) -> None:
    cities = _map(runs[0])
    n = len(cities.xy)
    _bare(ax)
    if len(runs) == 1:
        ax.plot(*cities.tour_line(runs[0].tour, is_open=runs[0].is_open).T, **_line(n, _FIRST))
        ax.set_title(title(runs[0]))
    else:
        _draw_difference(runs, cities, ax)
    if n <= _DOTS_UP_TO:
        ax.plot(*cities.xy.T, ".", color="black", markersize=min(5.0, 90 / math.sqrt(n)), markeredgewidth=0)
    if cities.note:
        ax.text(0.5, 0, cities.note, transform=ax.transAxes, ha="center", va="top", fontsize="small", color="0.4")


def _draw_difference(runs: Sequence[Run], cities: Map, ax: Axes) -> None:
    first, second = (_edges(run.tour, is_open=run.is_open) for run in runs)
    n = len(cities.xy)
    shared = np.intersect1d(first, second, assume_unique=True)
    for edges, colour, label in (
        (shared, _SHARED, "both"),
        (np.setdiff1d(first, second, assume_unique=True), _FIRST, _name(runs[0])),
        (np.setdiff1d(second, first, assume_unique=True), _SECOND, _name(runs[1])),
    ):
        ax.plot(*cities.edge_lines(*np.divmod(edges, n)).T, **_line(n, colour), label=f"{label}: {len(edges):,} edges")
    legend = ax.legend(loc="upper center", bbox_to_anchor=(0.5, 0), frameon=False, fontsize="small")
    for line in legend.get_lines():
        line.set_linewidth(1.5)


def _edges(tour: NDArray[np.int32], *, is_open: bool = False) -> NDArray[np.int64]:
    """Return the edges of a tour as numbers, smaller city times n plus larger, each once, in order."""
    a, b = tour.astype(np.int64), np.roll(tour, -1).astype(np.int64)
    edges = np.minimum(a, b) * len(tour) + np.maximum(a, b)
    edges = np.sort(edges[:-1] if is_open else edges)
    # What np.unique does, in a tenth of its time.
    once: NDArray[np.int64] = edges[np.append(True, np.diff(edges) > 0)[: len(edges)]]
    return once


def _line(n: int, colour: str) -> dict[str, Any]:
    width = min(1.2, max(0.1, 60 / math.sqrt(n)))
    return {"color": colour, "linewidth": width, "solid_joinstyle": "round", "rasterized": n > RASTERISED_ABOVE}


def _name(run: Run) -> str:
    return plain(f"only {run.label} ({run.facts['length']:,.10g})")
