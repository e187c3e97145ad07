"""The numbers that prove a lower bound, by a minimum spanning tree of all pairs of cities.

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

from pytsp.bound.graphs import MOST, TOURS, Graph, Kind, checked_kind
from pytsp.exceptions import InstanceError
from pytsp.problem.instance import Instance


@dataclass(frozen=True)
class Certificate:
    """A lower bound of all tours' lengths, or of all paths', and what proves it.

    Attributes
    ----------
    bound : int or float
        No tour is shorter. A float where the instance is not exact: no tour's length, correctly rounded, is below it.
    scale : int
        A power of two; distances are multiplied by it and rounded down.
    penalties : ndarray of int64, shape (nodes,)
        In units of the distances divided by `scale`: one a city, for open paths a further one behind them, and of an
        asymmetric instance first those of arriving, then those of leaving.
    open : bool
        Whether the bound is one of open paths.
    start_city, end_city : int or None
        Where those begin and end, if that was given.
    """

    bound: int | float
    scale: int
    penalties: NDArray[np.int64] = field(repr=False)
    open: bool = False
    start_city: int | None = None
    end_city: int | None = None

    @property
    def kind(self) -> Kind:
        """The kind of tours that the bound is for."""
        return Kind(self.open, self.start_city, self.end_city)


@dataclass(frozen=True)
class OneTree:
    """A minimum spanning tree of all cities under penalties, and what follows from it: edges (i, j), and the bound."""

    bound: int | float
    edges: NDArray[np.int32]


def dense_one_tree(instance: Instance, penalties: NDArray[np.int64], scale: int, kind: Kind = TOURS) -> OneTree:
    """Return the minimum spanning tree of the complete graph under penalties, by Prim, and the bound: work O(n²).

    It raises `InstanceError` above 20,000 nodes, and `ValueError` for a wrong scale, wrong penalties or wrong ends.
    """
    check_scale(scale)
    graph = Graph(instance, scale, checked_kind(instance, kind))
    n = graph.nodes
    check_numbers(n, penalties, scale)
    if n < 3:
        measure = instance.path_length if kind.open else instance.tour_length
        return OneTree(measure(np.arange(instance.n)), np.empty((0, 2), np.int32))
    none = np.iinfo(np.int64).max
    outside = np.ones(n, bool)
    nearest = np.full(n, none)
    parents = np.zeros(n, np.int64)
    edges = np.empty((n - 1, 2), np.int32)
    node, total, second = 0, graph.offset, -none
    for found in range(n):
        outside[node] = False
        row = graph.row(node) + penalties[node] + penalties
        row[node] = none
        second = max(second, int(np.partition(row, 1)[1]))
        closer = outside & (row < nearest)
        nearest[closer] = row[closer]
        parents[closer] = node
        if found < n - 1:
            node = int(np.where(outside, nearest, none).argmin())
            total += int(nearest[node])
            edges[found] = parents[node], node
    return OneTree(bound_of(instance, total + second - 2 * int(penalties.sum()), scale), edges)


def check_scale(scale: int) -> None:
    """Refuse a scale that is no power of two."""
    if not isinstance(scale, int) or not 1 <= scale <= 1 << 30 or scale & (scale - 1):
        raise ValueError(f"scale is {scale!r}, but must be a power of two of 1 … 2**30")


def check_numbers(n: int, penalties: NDArray[np.int64], scale: int) -> None:
    """Refuse penalties that are not n integers of at most 2**44 in size, and scales that are no power of two."""
    check_scale(scale)
    if penalties.dtype != np.int64 or penalties.shape != (n,):
        raise ValueError(f"penalties are {penalties.dtype} of shape {penalties.shape}, but must be int64 of ({n},)")
    if n and (penalties.min() < -MOST or penalties.max() > MOST):
        raise ValueError("penalties hold a number beyond 2**44, whose sums may overflow")


def bound_of(instance: Instance, cost: int, scale: int) -> int | float:
    """Return the bound that a 1-tree's cost without its penalties is."""
    # Python divides integers exactly before it rounds; a tour's float length is rounded in the same way.
    return max(0, -(-cost // scale)) if instance.is_exact else max(0.0, cost / scale)


def check_instance(instance: Instance) -> None:
    """Refuse an instance for which there is no ascent."""
    if instance.asymmetric:
        raise InstanceError(
            f"{instance.name or 'instance'}: asymmetric distances are bounded through their symmetric instance"
        )
    checked_kind(instance, TOURS)
