"""The numbers that prove a lower bound, by a minimum spanning tree of all pairs of cities.

M. Held, R. M. Karp: The traveling-salesman problem and minimum spanning trees. Operations Research 18, 1970.

Every city has a penalty. It is added to the edges at the city, so that every tour grows by twice the sum of all
penalties. A tour without the longer of its two edges at a city is a spanning tree, and that edge is no shorter than the
second shortest at the city. So minimum spanning tree + second shortest edge of any city - 2 x the penalties is a bound,
whatever these are.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytsp.bound.graphs import MOST, TOURS, Graph, Kind, checked_kind
from pytsp.exceptions import InstanceError, PytspError
from pytsp.io.streams import Source, read_bytes
from pytsp.problem.instance import Instance
from pytsp.utils.text import one_line

# The value of "format", which other formats of later versions will not have.
FORMAT = "pytsp lower bound 1"


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


def check_instance(instance: Instance) -> None:
    """Refuse an instance for which there is no ascent."""
    if instance.asymmetric:
        raise InstanceError(
            f"{instance.name or 'instance'}: asymmetric distances are bounded through their symmetric instance"
        )
    checked_kind(instance, TOURS)


def certificate_text(instance: Instance, certificate: Certificate) -> str:
    """Return the file of a certificate, a JSON object: its numbers, and of which instance they are."""
    facts = {"format": FORMAT, "instance": instance.name, "n": instance.n, "metric": instance.metric}
    numbers = {"bound": certificate.bound, "scale": certificate.scale, "penalties": certificate.penalties.tolist()}
    kind = certificate.kind._asdict() if certificate.open else {}
    return json.dumps(facts | kind | numbers) + "\n"


def read_certificate(source: Source) -> Certificate:
    """Read a certificate from a path or file, compressed or not; `check_certificate` proves it.

    It raises `PytspError` if the file is no certificate, with the file and the reason.
    """
    data, file = read_bytes(source)
    try:
        said = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise PytspError(f"{file}: it is not JSON: {one_line(str(error))}") from error
    if not isinstance(said, dict) or said.get("format") != FORMAT:
        raise PytspError(f'{file}: it is no certificate of a lower bound, whose "format" is {FORMAT!r}')

    def lawful(name: str, law: str, is_lawful: Callable[[Any], bool], default: Any = None) -> Any:
        value = said.get(name, default)
        if not is_lawful(value):
            raise PytspError(f"{file}: {name} must be {law}; it is {value!r:.40}")
        return value

    bound = lawful("bound", "a number of at least 0", lambda x: type(x) in (int, float) and 0 <= x < math.inf)
    scale = lawful("scale", "a whole number", lambda x: type(x) is int)
    is_open = lawful("open", "true or false", lambda x: type(x) is bool, False)
    start, end = (
        lawful(name, "a whole number or null", lambda x: x is None or type(x) is int)
        for name in ("start_city", "end_city")
    )
    penalties = lawful("penalties", "a list", lambda x: isinstance(x, list))
    for place, value in enumerate(penalties):
        if type(value) is not int or not -MOST <= value <= MOST:
            raise PytspError(
                f"{file}: penalty {place} must be a whole number of at most 2**44 in size; it is {value!r:.40}"
            )
    return Certificate(bound, scale, np.array(penalties, np.int64), is_open, start, end)
