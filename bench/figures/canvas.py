"""Tools of the figures: panels, edges, cities; colours that can be seen on white and on black."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable
from importlib import import_module
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pytsp import Instance

Edge: TypeAlias = tuple[int, int]

# What stays, what was, what is new, and what else there is to tell apart.
INK, BLUE, ORANGE, GREEN, PINK = "#808080", "#3b82c4", "#e07b1a", "#2a9d5c", "#c2549d"
INCHES = 2.6
# Texts stay texts, every point is drawn, and the same figure is the same file.
SETTINGS: Any = {
    "svg.fonttype": "none",
    "svg.hashsalt": "pytsp",
    "path.simplify": False,
    "font.size": 8.0,
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": INK,
    "axes.titlesize": 8.0,
    "axes.titlecolor": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "legend.fontsize": 7.5,
}
_FRACTION = re.compile(r"-?\d+\.\d+")


def panels(count: int, *, rows: int = 1) -> tuple[Any, list[Any]]:
    """Return a figure without a window or a ground, and `count` axes, row by row."""
    across = count // rows
    figure = import_module("matplotlib.figure").Figure(figsize=(INCHES * across, (INCHES + 0.15) * rows))
    figure.set_layout_engine("constrained")
    figure.patch.set_visible(False)
    axes = [figure.add_subplot(rows, across, place + 1) for place in range(count)]
    for each in axes:
        each.patch.set_visible(False)
    return figure, axes


def curves(axes: Any, title: str, x: str, y: str) -> None:
    """Make axes those of curves, which have been drawn there."""
    axes.set(xlabel=x, ylabel=y)
    axes.set_title(title)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False)


def place(axes: Any, instance: Instance, title: str, *, dots: float = 2.0) -> None:
    """Make axes a map of an instance, with its cities as dots of a width, if it is not 0."""
    axes.set_aspect("equal")
    axes.axis("off")
    axes.margins(0.03)
    axes.set_title(title)
    cities = np.arange(instance.n if dots else 0)
    _draw(axes, instance, np.column_stack((cities, cities)), INK, linewidth=dots, solid_capstyle="round", zorder=3)


def draw(axes: Any, instance: Instance, edges: Iterable[Edge], colour: str, **style: Any) -> None:
    """Draw edges; those that are gone are best dashed."""
    pairs = np.array(sorted(edges), dtype=np.int64).reshape(-1, 2)
    _draw(axes, instance, pairs, colour, **{"linewidth": 1.0, **style})


def _draw(axes: Any, instance: Instance, pairs: NDArray[np.int64], colour: str, **style: Any) -> None:
    assert instance.coordinates is not None
    lines = np.full((len(pairs), 3, 2), np.nan)
    lines[:, :2] = instance.coordinates[pairs]
    axes.plot(*lines.reshape(-1, 2).T, color=colour, **style)


def edges_of(tour: ArrayLike, *, is_open: bool = False) -> set[Edge]:
    """Return the edges of a tour, the smaller city first."""
    cities = [int(city) for city in np.asarray(tour)]
    following = cities[1:] if is_open else [*cities[1:], cities[0]]
    return {(min(a, b), max(a, b)) for a, b in zip(cities, following, strict=False)}


def change(axes: Any, instance: Instance, before: ArrayLike, after: ArrayLike) -> None:
    """Draw what one tour has of another: edges that stay, that go (dashed), and that come."""
    old, new = edges_of(before), edges_of(after)
    draw(axes, instance, old & new, INK, linewidth=0.8, alpha=0.6)
    draw(axes, instance, old - new, ORANGE, linewidth=1.2, linestyle=(0, (3, 2)))
    draw(axes, instance, new - old, BLUE, linewidth=1.4)


def written(figure: Any, file: Path) -> None:
    """Write a figure as an SVG file, coordinates to a tenth of a point."""
    stream = io.StringIO()
    figure.savefig(stream, format="svg", metadata={"Date": None}, transparent=True)
    short = re.sub(r' d="[^"]*"', lambda path: _shorter(path[0]), stream.getvalue())
    file.write_text(re.sub(r"[ ]+\n", "\n", short), encoding="utf-8")


def _shorter(path: str) -> str:
    """Write a path's numbers to a tenth, and its commands without blanks around them."""
    return re.sub(r"\s*\b([MLz])\s*", r"\1", _FRACTION.sub(_tenth, path))


def _tenth(number: re.Match[str]) -> str:
    return f"{float(number[0]):.1f}".removesuffix(".0")
