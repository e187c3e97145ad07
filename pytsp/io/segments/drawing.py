"""The lines and groups of a file of segments, and its text with them in another order."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

# What files call the group of a segment, in lower case, the first of these that there is.
GROUPS = ("layer", "pen", "group", "tool")


class Order(Protocol):
    """An order of segments, as `pytsp.order_segments` returns it."""

    @property
    def order(self) -> NDArray[np.int32]: ...
    @property
    def flips(self) -> NDArray[np.bool_]: ...
    @property
    def entries(self) -> NDArray[np.int32]: ...


@dataclass(frozen=True)
class Drawing:
    """The segments of a file: their points, shape (p, 2) each, where closed contours end where they begin; the groups
    that stay together; the metric; and a function that returns the file's text in another order."""

    lines: Sequence[NDArray[np.float64]]
    groups: Sequence[Hashable] | None
    metric: str
    write: Callable[[Order], str]


def group_named(names: Sequence[str]) -> str | None:
    """Return which of some names is that of groups."""
    lower = {name.strip().lower(): name for name in names}
    return next((lower[name] for name in GROUPS if name in lower), None)


def turned(points: list[list[float]], *, is_flipped: bool, entry: int) -> list[list[float]]:
    """Return a line from its end, or a closed contour from another of its points on."""
    if is_flipped:
        return points[::-1]
    is_closed = len(points) > 2 and points[0] == points[-1]
    return [*points[entry:-1], *points[: entry + 1]] if is_closed and entry else points
