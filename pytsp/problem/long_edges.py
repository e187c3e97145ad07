"""Edges that no short tour has, forbidden ones or those longer than a known tour, are shortened.

Distances that are scaled by the longest, or have to fit 32 bits, are precise only where the longest is not out of
proportion. An edge that is longer than a known tour is in no shorter one, so it need be no more than a little longer
than that tour. Where no tour without forbidden edges is known, each costs more than a tour of others: of two tours the
one with fewer is the shorter one.

A distance on a finer scale is less the cities' potentials. Every tour arrives at each city once and leaves it once. A
potential is subtracted from all distances to a city, or from it, and so shortens all tours by the same length.
Potentials that leave no distance below 0 take out the two long ways to a city that is far from all others.

References
----------
H. W. Kuhn: The Hungarian method for the assignment problem. Naval Research Logistics Quarterly 2 (1955). The minima of
rows and columns.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

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
# The matrices of n² floating-point numbers that a reduction takes, with the given one where that is computed for it.
MATRICES = 3
# Ratio of the distance of a far city to that of others. A distance of 53 bits has as many left for these.
SCALE = 2.0**26


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


class ReducedCosts(NamedTuple):
    """Distances, shape (n, n), whose tours are as long as before less `offset`, the sum of all potentials, unless they
    have a distance that was cut. The known tour has `length` by `matrix`; the shortest is shorter by no more than
    this."""

    matrix: NDArray[np.float64]
    offset: float
    length: float


def reduce_costs(
    d: NDArray[np.float64], tour: NDArray[np.integer[Any]], *, asymmetric: bool, is_open: bool
) -> ReducedCosts:
    """Return the reduced distances of a matrix and a tour of finite length, in O(n²) memory and time.

    With `asymmetric`, cities have two potentials, one to arrive and one to leave; else both are equal. With `is_open`,
    the tour is an open path, and there are no potentials.
    """
    reduced: NDArray[np.float64] = np.array(d, np.float64)
    np.fill_diagonal(reduced, math.inf)
    offset = 0.0
    if not is_open:
        # The large potentials first: a small one would be lost in a large distance.
        offset = _take_out_far_cities(reduced, asymmetric) + _subtract_minima(reduced, asymmetric)
    ways = reduced[tour[:-1], tour[1:]] if is_open else reduced[tour, np.roll(tour, -1)]
    length = math.fsum(ways)
    np.minimum(reduced, np.nextafter(EXCESS * length, math.inf), out=reduced)
    np.fill_diagonal(reduced, 0.0)
    return ReducedCosts(reduced, offset, length)


def _take_out_far_cities(d: NDArray[np.float64], asymmetric: bool) -> float:
    """Bring cities that are far from all others nearer, in place; return by how much tours are shorter.

    They stay as far as the next city whose nearest one is nearer by `SCALE`.
    """
    n = len(d)
    least = np.concatenate([d.min(axis=1), d.min(axis=0)]) if asymmetric else d.min(axis=1)
    ordered = np.sort(least)
    nearer = np.searchsorted(ordered, least / SCALE)
    subtracted = []
    for line in np.argsort(-least, kind="stable").tolist():
        if nearer[line] == 0:
            break
        distances = d[line] if line < n else d[:, line - n]
        nearest, kept = float(distances.min()), float(ordered[nearer[line] - 1])
        if nearest <= SCALE * kept:
            # It is near to a city that was far itself.
            continue
        distances -= nearest
        distances += kept
        subtracted += [nearest, -kept]
        if not asymmetric:
            d[:, line] = d[line]
            subtracted += [nearest, -kept]
    return math.fsum(subtracted)


def _subtract_minima(d: NDArray[np.float64], asymmetric: bool) -> float:
    """Subtract the minima of rows, then those of columns, in place, where both are equal the mean; return their sum."""
    leaving = d.min(axis=1)
    arriving = (d - leaving[:, None]).min(axis=0)
    if not asymmetric:
        leaving = arriving = 0.5 * leaving + 0.5 * arriving
    d -= leaving[:, None] + arriving
    # Rounding may carry a difference of equal numbers below 0.
    np.maximum(d, 0.0, out=d)
    return math.fsum(leaving) + math.fsum(arriving)
