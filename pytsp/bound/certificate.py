"""The numbers that prove a lower bound, and the check of them, by a minimum spanning tree of all pairs of cities.

M. Held, R. M. Karp: The traveling-salesman problem and minimum spanning trees. Operations Research 18, 1970.

Every city has a penalty. It is added to the edges at the city, so that every tour grows by twice the sum of all
penalties. A tour without the longer of its two edges at a city is a spanning tree, and that edge is no shorter than the
second shortest at the city. So minimum spanning tree + second shortest edge of any city - 2 x the penalties is a bound,
whatever these are.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from pytsp.exceptions import InstanceError
from pytsp.problem.instance import Instance

# The certificate looks at all pairs of cities, or, of more cities, in the plane at those that are near enough.
MOST_CITIES = 20_000
PLANE_METRICS = ("EUC_2D", "CEIL_2D", "EUCLIDEAN")
# Scaled distances are cut off here, which leaves a bound a bound, and penalties must not exceed it in size: an edge is
# then below 2**46, and the sum of a tree's edges and of all penalties below 2**62.
MOST = 1 << 44


@dataclass(frozen=True)
class Certificate:
    """A lower bound of all tours' lengths, and what proves it.

    Attributes
    ----------
    bound : int or float
        No tour is shorter. A float where the instance is not exact: no tour's length, correctly rounded, is below it.
    scale : int
        A power of two; distances are multiplied by it and rounded down.
    penalties : ndarray of int64, shape (n,)
        In units of the distances divided by `scale`.
    """

    bound: int | float
    scale: int
    penalties: NDArray[np.int64] = field(repr=False)


@dataclass(frozen=True)
class OneTree:
    """A minimum spanning tree of all cities under penalties, and what follows from it: edges (i, j), and the bound."""

    bound: int | float
    edges: NDArray[np.int64]


def scaled(instance: Instance, distances: NDArray[np.int64] | NDArray[np.float64], scale: int) -> NDArray[np.int64]:
    """Return distances times `scale` as integers that are no larger than they are, and at most `MOST`."""
    if instance.is_exact:
        whole: NDArray[np.int64] = np.minimum(distances, MOST // scale).astype(np.int64) * scale
    else:
        whole = np.floor(np.minimum(distances, MOST / scale) * scale).astype(np.int64)
    return whole


def dense_one_tree(instance: Instance, penalties: NDArray[np.int64], scale: int) -> OneTree:
    """Return the minimum spanning tree of the complete graph under penalties, by Prim, and the bound: work O(n²).

    Raises
    ------
    InstanceError
        If the instance is asymmetric, or has more than 20,000 cities.
    ValueError
        If penalties are not n integers of at most 2**44 in size, or the scale is no power of two of 1 ... 2**30.
    """
    n = instance.n
    check_instance(instance)
    check_numbers(n, penalties, scale)
    if n < 3:
        return OneTree(instance.tour_length(np.arange(n)), np.empty((0, 2), np.int64))
    cities = np.arange(n)
    outside = np.ones(n, bool)
    nearest = np.full(n, np.iinfo(np.int64).max)
    parents = np.zeros(n, np.int64)
    edges = np.empty((n - 1, 2), np.int64)
    city, total, second = 0, 0, -4 * MOST
    for found in range(n):
        outside[city] = False
        row = scaled(instance, instance.distances(city, cities), scale) + penalties[city] + penalties
        row[city] = np.iinfo(np.int64).max
        second = max(second, int(np.partition(row, 1)[1]))
        closer = outside & (row < nearest)
        nearest[closer] = row[closer]
        parents[closer] = city
        if found < n - 1:
            city = int(np.where(outside, nearest, np.iinfo(np.int64).max).argmin())
            total += int(nearest[city])
            edges[found] = parents[city], city
    return OneTree(bound_of(instance, total + second - 2 * int(penalties.sum()), scale), edges)


def check_numbers(n: int, penalties: NDArray[np.int64], scale: int) -> None:
    """Refuse penalties that are not n integers of at most 2**44 in size, and scales that are no power of two."""
    if not isinstance(scale, int) or not 1 <= scale <= 1 << 30 or scale & (scale - 1):
        raise ValueError(f"scale is {scale!r}, but must be a power of two of 1 … 2**30")
    if penalties.dtype != np.int64 or penalties.shape != (n,):
        raise ValueError(f"penalties are {penalties.dtype} of shape {penalties.shape}, but must be int64 of ({n},)")
    if n and (penalties.min() < -MOST or penalties.max() > MOST):
        raise ValueError("penalties hold a number beyond 2**44, whose sums may overflow")


def bound_of(instance: Instance, cost: int, scale: int) -> int | float:
    """Return the bound that a 1-tree's cost without its penalties is."""
    # Python divides integers exactly before it rounds; a tour's float length is rounded in the same way.
    return max(0, -(-cost // scale)) if instance.is_exact else max(0.0, cost / scale)


def check_certificate(instance: Instance, certificate: Certificate) -> None:
    """Prove a bound again, from its penalties and all distances, without a kernel: work O(n²), memory O(n).

    More than 20,000 cities are proved by kernels, in about O(n log n).

    Raises
    ------
    ValueError
        If the penalties prove another bound of this instance than the certificate says, or break a law.
    InstanceError
        If the instance is asymmetric, or has more than 20,000 cities that are not in the plane.
    """
    if instance.n > MOST_CITIES:
        from pytsp.bound.exact import proved_in_plane  # noqa: PLC0415

        check_instance(instance)
        proved = proved_in_plane(instance, certificate.penalties, certificate.scale)
    else:
        proved = dense_one_tree(instance, certificate.penalties, certificate.scale).bound
    if proved != certificate.bound:
        raise ValueError(f"the certificate says {certificate.bound}, but its penalties prove {proved}")


def check_instance(instance: Instance) -> None:
    """Refuse an instance that there is no bound for."""
    name = instance.name or "instance"
    if instance.asymmetric:
        raise InstanceError(f"{name}: there is no lower bound of asymmetric distances yet")
    if instance.n > MOST_CITIES and instance.metric not in PLANE_METRICS:
        raise InstanceError(
            f"{name}: {instance.n} cities, {instance.metric}; there are lower bounds of more than {MOST_CITIES} for "
            f"{', '.join(PLANE_METRICS)} only"
        )
