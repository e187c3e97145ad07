"""Edges that no short tour has, forbidden ones or those longer than a known tour, are shortened.

Distances that are scaled by the longest, or have to fit 32 bits, are precise only where the longest is not out of
proportion. An edge that is longer than a known tour is in no shorter one, so it need be no more than a little longer
than that tour. Where no tour without forbidden edges is known, each costs more than a tour of others: of two tours the
one with fewer is the shorter one.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytsp.problem.instance import FORBIDDEN
from pytsp.utils.deadline import look
from pytsp.utils.extremes import least_and_largest

# Cities from which a tour without forbidden edges is tried.
_STARTS = 5
# By how much an edge exceeds a known tour of floating-point distances: more than n of them are rounded by.
EXCESS = 1.001
# Floating-point distances up to this multiple of a tour stay: scaled, they are precise enough.
_PROPORTION = 64
# Sums of a few distances for each city stay below the largest number.
_ROOM = 16


def shorten_edges(
    d: NDArray[Any], most: float = math.inf, *, path: tuple[int | None, int | None] | None = None
) -> NDArray[Any]:
    """Return distances without those that are out of proportion: a copy, or `d` itself where there are none.

    Whole numbers change only where one exceeds `most`. `path` gives the ends of an open path, if one is sought instead
    of a tour. Tours without shortened edges keep their length. Unless `most` leaves no room, all others are longer than
    the known tour, or, if none is known, than every tour with fewer shortened edges.
    """
    n, largest, is_whole = len(d), d.max().item(), d.dtype.kind == "i"
    if n < 2 or (is_whole and largest <= most):
        return d
    if not is_whole and largest <= _PROPORTION * (n - 1) * least_and_largest(np.ascontiguousarray(d))[0] < math.inf:
        # None is forbidden or as good as that, and all are in proportion to any tour or path: none need be found.
        return d
    classes = _forbidden_classes(d, most)
    is_forbidden = np.logical_or.reduce(classes) if classes else np.zeros(d.shape, dtype=np.bool_)
    bound = _known_length(d, is_forbidden, path)
    if bound is not None:
        classes = [is_forbidden | (d > bound)]
    else:
        bound = n * np.max(d, where=~is_forbidden, initial=0).item()
    is_marked = largest == math.inf
    if not (is_whole or is_marked) and (bound == 0 or largest <= _PROPORTION * bound):
        return d
    is_long = np.logical_or.reduce(classes)
    kept = np.max(d, where=~is_long, initial=0).item()
    if not is_long.any() or (is_whole and kept > most):
        return d
    shortened: NDArray[Any] = d.copy()
    room = np.finfo(np.float64).max / (_ROOM * n)
    for each in reversed(classes):
        above = min(bound + 1, int(most)) if is_whole else min(np.nextafter(EXCESS * (bound or 1.0), math.inf), room)
        shortened[each] = max(kept, above)
        bound = n * above
    return shortened


def _forbidden_classes(d: NDArray[Any], most: float) -> list[NDArray[np.bool_]]:
    """Return where edges are that a tour has only if it must, of equal length each, the worst first.

    They are those that are forbidden, and as good as forbidden are those out of proportion that cost more than all
    shorter ones of a tour together.
    """
    n, classes = len(d), []
    others = d != FORBIDDEN[d.dtype.kind]
    if not others.all():
        classes.append(~others)
    least, times = (most, n) if d.dtype.kind == "i" else (0.0, _PROPORTION * n)
    while (largest := (np.max(d, where=others, initial=0) if classes else d.max()).item()) > least:
        is_shorter = others & (d < largest)
        if (is_shorter & (d >= largest / times)).any() or not (is_shorter & (d > 0)).any():
            break
        classes.append(others & ~is_shorter)
        others = is_shorter
    return classes


def _known_length(
    d: NDArray[Any], is_forbidden: NDArray[np.bool_], path: tuple[int | None, int | None] | None
) -> int | float | None:
    """Return the length of a tour, or path, without forbidden edges; None where none is found."""
    n = len(d)
    start, end = (None, None) if path is None else path
    if start is None and end is not None:
        d, is_forbidden, start, end = d.T, is_forbidden.T, end, None
    for first in sorted({k * n // _STARTS for k in range(_STARTS)}) if start is None else [start]:
        order = _nearest(d, first, end)
        edges = (order, np.roll(order, -1)) if path is None else (order[:-1], order[1:])
        if not is_forbidden[edges].any():
            return math.fsum(d[edges]) if d.dtype.kind == "f" else int(d[edges].sum())
    return None


def _nearest(d: NDArray[Any], start: int, end: int | None) -> NDArray[np.int64]:
    """Return the cities in an order that goes on to the nearest one that is left, and to `end` last, if it is given."""
    n = len(d)
    left = np.array([city for city in range(n) if city not in (start, end)], dtype=np.int64)
    order = np.full(n, start)
    order[n - 1] = start if end is None else end
    for step in range(1, len(left) + 1):
        count = len(left) - step + 1
        place = int(d[order[step - 1], left[:count]].argmin())
        order[step] = left[place]
        left[place] = left[count - 1]
        if step % 1024 == 0:
            look()
    return order
