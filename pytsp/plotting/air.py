"""The picture of a drawing's moves in the air, in the order of its file and in another one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pytsp.api.segments import SegmentOrder
from pytsp.plotting.figures import require_matplotlib

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_INCHES, _DRAWN, _DOTS, _AIR = 6.0, "0.75", "0.4", "tab:red"


def figure_of_air(lines: Sequence[NDArray[np.float64]], found: SegmentOrder, *, is_down: bool = False) -> Figure:
    """Return a new figure: all lines, shape (p, 2) each, grey, and the moves between them red, before and after.

    With `is_down` the second axis points downwards, as that of an SVG does.
    """
    require_matplotlib()
    from matplotlib.collections import LineCollection  # noqa: PLC0415
    from matplotlib.figure import Figure  # noqa: PLC0415

    figure = Figure(figsize=(2 * _INCHES, _INCHES), layout="constrained")
    given = np.arange(len(lines))
    dots = np.array([line[0] for line in lines if np.array_equal(line[0], line[-1]) and len(line) < 3])
    orders = ((given, np.zeros(len(lines), bool), np.zeros(len(lines), int)), (found.order, found.flips, found.entries))
    for ax, (order, flips, entries), length, when in zip(
        figure.subplots(1, 2), orders, (found.before, found.after), ("before", "after"), strict=True
    ):
        ax.add_collection(LineCollection([*lines], colors=_DRAWN, linewidths=0.6))
        if len(dots):
            ax.plot(*dots.T, "o", color=_DOTS, markersize=2.5, markeredgewidth=0)
        ax.add_collection(LineCollection(_moves(lines, order, flips, entries), colors=_AIR, linewidths=0.5))
        ax.set_title(f"{when}: {length:,.6g} in the air")
        ax.set_aspect("equal")
        ax.autoscale_view()
        if is_down:
            ax.invert_yaxis()
    return figure


def _moves(lines: Sequence[NDArray[np.float64]], order: Any, flips: Any, entries: Any) -> list[NDArray[np.float64]]:
    """Return the moves between lines."""
    begins, ends = [], []
    for number, is_flipped, entry in zip(order.tolist(), flips.tolist(), entries.tolist(), strict=True):
        line = lines[number]
        is_closed = len(line) > 2 and np.array_equal(line[0], line[-1])
        begins.append(line[entry] if is_closed else line[-1 if is_flipped else 0])
        ends.append(line[entry] if is_closed else line[0 if is_flipped else -1])
    return [np.array(move) for move in zip(ends[:-1], begins[1:], strict=True)]
