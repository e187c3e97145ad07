"""Pictures of tours, of runs and of the moves between segments, by matplotlib, which the extra "plot" installs."""

from __future__ import annotations

import io
import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pytsp.exceptions import PytspError
from pytsp.plotting import PICTURES
from pytsp.plotting.curves import draw_climbers, draw_convergence, escape, title
from pytsp.plotting.maps import Map, map_of
from pytsp.problem.instance import Instance
from pytsp.problem.tours import check_tour
from pytsp.run.result import Result
from pytsp.run.saved_runs import Run

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from pytsp.api.segments import SegmentOrder
    from pytsp.io.segments import Step

ENDINGS = (".png", ".svg", ".pdf")
# Above it a tour is pixels within an SVG or a PDF; a million lines would be 30 MB.
RASTERISED_ABOVE = 20_000
_DOTS_UP_TO = 1000
_INCHES, _AIR_INCHES = 7.0, 6.0
_DPI = 150
_DPI_OF_MANY = 200
# The grey of what two tours share, and the colours, apart for the colour-blind too, of what each has alone.
_SHARED, _FIRST, _SECOND = "0.8", "tab:blue", "tab:orange"
# The same picture is the same file, and a path of any length is drawn.
_SETTINGS: Any = {"agg.path.chunksize": 20_000, "svg.hashsalt": "pytsp"}
_NO_DATE: Mapping[str, Mapping[str, None]] = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}


def plot_result(
    result: Result, kind: str = "tour", *, other: Result | ArrayLike | None = None, ax: Axes | None = None
) -> Axes:
    """Draw a result; this is `Result.plot`, which says what the arguments are."""
    runs = [Run.of(result)]
    if isinstance(other, Result):
        runs.append(Run.of(other))
    elif other is not None:
        tour = check_tour(other, result.instance.n)
        runs.append(Run("the other", tour, result.instance, facts={"length": result.instance.tour_length(tour)}))
    size = _check_drawable(runs, kind)
    if ax is None:
        _require_matplotlib()
        from matplotlib import pyplot  # noqa: PLC0415

        _, ax = pyplot.subplots(layout="constrained", figsize=size)
    _draw(runs, kind, ax)
    return ax


def figure_of(runs: Sequence[Run], kind: str = "tour") -> Figure:
    """Return a new figure of runs, one or two of them for "tour", which no window shows."""
    figure = _new_figure(_check_drawable(runs, kind))
    _draw(runs, kind, figure.subplots())
    return figure


def bars(names: Sequence[str], values: Sequence[float], spread: Sequence[tuple[float, float]], label: str) -> Figure:
    """Return a new figure of bars, the first on top, each with a whisker from the least value to the most."""
    figure = _new_figure((_INCHES, 0.9 + 0.35 * len(names)))
    ax = figure.subplots()
    whiskers = np.array([[value - low, high - value] for value, (low, high) in zip(values, spread, strict=True)]).T
    places = np.arange(len(names))
    ax.barh(places, values, xerr=np.maximum(whiskers, 0.0), color=_FIRST, capsize=3)
    ax.set_yticks(places, [escape(name) for name in names])
    ax.invert_yaxis()
    ax.set_xlabel(label)
    return figure


def encode(figure: Figure, ending: str, *, dpi: float = 0) -> bytes:
    """Return a figure as PNG, SVG or PDF, with 150 dots an inch, or 200 for many cities; equal figures give equal
    bytes."""
    from matplotlib import rc_context  # noqa: PLC0415

    many = any(line.get_rasterized() for axes in figure.axes for line in axes.lines)
    dpi = dpi or (_DPI_OF_MANY if many else _DPI)
    stream = io.BytesIO()
    with rc_context(_SETTINGS):
        figure.savefig(stream, format=ending[1:], dpi=dpi, metadata=_NO_DATE.get(ending))
    return stream.getvalue()


def check_ending(file: str) -> str:
    """Return the ending of a picture's file, which must be of a known kind."""
    ending = Path(file).suffix.lower()
    if ending not in ENDINGS:
        raise PytspError(f"{file}: the ending {ending!r} is of no kind of picture; known: {', '.join(ENDINGS)}")
    return ending


def _draw(runs: Sequence[Run], kind: str, ax: Axes) -> None:
    {"tour": _draw_tours, "convergence": draw_convergence, "climbers": draw_climbers}[kind](runs, ax)


def figure_of_cities(instance: Instance) -> Figure:
    """Return a new figure of the cities of an instance, as dots."""
    cities = map_of(instance)
    figure = _new_figure(_size(cities))
    ax = figure.subplots()
    _remove_frame(ax)
    size = min(4.0, max(0.3, 120 / math.sqrt(instance.n)))
    many = instance.n > RASTERISED_ABOVE
    ax.plot(*cities.xy.T, "o", color=_FIRST, markersize=size, markeredgewidth=0, rasterized=many)
    ax.set_title(escape(f"{instance.name or 'instance'}: {instance.n:,} cities"))
    return figure


def figure_of_air(lines: Sequence[NDArray[np.float64]], found: SegmentOrder, *, is_down: bool = False) -> Figure:
    """Return a new figure: all lines, shape (p, 2) each, grey, and the moves between them red, before and after.

    With `is_down` the second axis points downwards, as that of an SVG does.
    """
    figure = _new_figure((2 * _AIR_INCHES, _AIR_INCHES))
    from matplotlib.collections import LineCollection  # noqa: PLC0415

    dots = np.array([line[0] for line in lines if np.array_equal(line[0], line[-1]) and len(line) < 3])
    given = ((number, False, 0) for number in range(len(lines)))
    better = zip(found.order.tolist(), found.flips.tolist(), found.entries.tolist(), strict=True)
    sides = (("before", found.before, given), ("after", found.after, better))
    for ax, (when, length, order) in zip(figure.subplots(1, 2), sides, strict=True):
        ax.add_collection(LineCollection([*lines], colors="0.75", linewidths=0.6))
        if len(dots):
            ax.plot(*dots.T, "o", color="0.4", markersize=2.5, markeredgewidth=0)
        ax.add_collection(LineCollection(_moves(lines, order), colors="tab:red", linewidths=0.5))
        ax.set_title(f"{when}: {length:,.6g} in the air")
        ax.set_aspect("equal")
        ax.autoscale_view()
        if is_down:
            ax.invert_yaxis()
    return figure


def _moves(lines: Sequence[NDArray[np.float64]], order: Iterable[Step]) -> list[NDArray[np.float64]]:
    begins, ends = [], []
    for number, is_flipped, entry in order:
        line = lines[number]
        is_closed = len(line) > 2 and np.array_equal(line[0], line[-1])
        begins.append(line[entry] if is_closed else line[-1 if is_flipped else 0])
        ends.append(line[entry] if is_closed else line[0 if is_flipped else -1])
    return [np.array(move) for move in zip(ends[:-1], begins[1:], strict=True)]


def _new_figure(size: tuple[float, float]) -> Figure:
    """Return a figure of a width and a height in inches, which no window shows."""
    _require_matplotlib()
    from matplotlib.figure import Figure  # noqa: PLC0415

    return Figure(figsize=size, layout="constrained")


def _require_matplotlib() -> None:
    try:
        import matplotlib  # noqa: PLC0415, F401
    except ImportError as error:
        raise PytspError(
            "pictures need matplotlib, which is not installed: pip install 'pytsp-futhark[plot]'"
        ) from error


def _check_drawable(runs: Sequence[Run], kind: str) -> tuple[float, float]:
    """Return the size of a figure of runs that hold what is to be drawn."""
    if kind not in PICTURES:
        raise PytspError(f"the kind of picture {kind!r} is not known; known: {', '.join(PICTURES)}")
    for run in runs:
        if kind == "convergence" and not len(run.history):
            raise PytspError(f"{run.label} has no history of improvements; results have one, tour files do not")
        if kind == "climbers" and not len(run.lengths):
            raise PytspError(f"{run.label} does not hold the climbers' lengths; tour files and old results do not")
    if kind != "tour":
        return _INCHES, 0.6 * _INCHES
    if len(runs) > 2:
        raise PytspError(f"one tour is drawn, or the difference of two; there are {len(runs)}")
    maps = [_map(run) for run in runs]
    if not np.array_equal(maps[0].xy, maps[-1].xy):
        raise PytspError(f"{runs[0].label} and {runs[-1].label} are tours of different instances")
    return _size(maps[0])


def _map(run: Run) -> Map:
    if run.instance is None:
        raise PytspError(f"{run.label}: its instance is needed to draw it")
    return map_of(run.instance)


def _size(cities: Map) -> tuple[float, float]:
    """Return a width and a height in inches that suit a map."""
    width, height = np.ptp(cities.xy, axis=0)
    ratio = height / width if width > 0 else 1.0
    return _INCHES, _INCHES * min(1.5, max(0.3, ratio)) + 0.4


def _remove_frame(ax: Axes) -> None:
    ax.set_aspect("equal")
    ax.margins(0.02)
    ax.axis("off")


def _draw_tours(runs: Sequence[Run], ax: Axes) -> None:
    cities = _map(runs[0])
    n = len(cities.xy)
    _remove_frame(ax)
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
    names = [escape(f"only {run.label} ({run.facts['length']:,.10g})") for run in runs]
    for edges, colour, label in (
        (shared, _SHARED, "both"),
        (np.setdiff1d(first, second, assume_unique=True), _FIRST, names[0]),
        (np.setdiff1d(second, first, assume_unique=True), _SECOND, names[1]),
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
