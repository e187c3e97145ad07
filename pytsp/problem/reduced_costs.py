"""Distances on a finer scale: less the cities' potentials, and cut above a known tour.

Every tour arrives at each city once and leaves it once. A potential is subtracted from all distances to a city, or from
it, and so shortens all tours by the same length. Potentials that leave no distance below 0 take out the two long ways
to a city that is far from all others. A distance that is then longer than a known tour is in no shorter one. It is cut
to little more than that tour.

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

from pytsp.problem.long_edges import EXCESS

# The matrices of n² floating-point numbers that a reduction takes, with the given one where that is computed for it.
MATRICES = 3
# Ratio of the distance of a far city to that of others. A distance of 53 bits has as many left for these.
SCALE = 2.0**26


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
