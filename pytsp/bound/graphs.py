"""Tours or paths of a bound, as tours of a symmetric graph whose edges are whole numbers.

A path is closed by a further city, to which the cities have edges of length 0 that may be its ends. A city of directed
ways is two nodes, one to arrive at and one to leave from, joined by an edge that every tour has; other edges lead from
the one kind to the other only. An edge that every tour has is made shorter than all others by a number that is added to
the bound, so that every spanning tree of least length has it. Nothing else is shifted, and nothing is rounded up.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pytsp.exceptions import InstanceError
from pytsp.problem.instance import Instance
from pytsp.problem.location import is_planar
from pytsp.problem.open_paths import check_distinct
from pytsp.utils.arguments import truth_value, whole_number

# The certificate looks at all pairs of nodes, or, of tours of more cities, in the plane at those that are near enough.
MOST_CITIES = 20_000
# Scaled distances are cut off here, which leaves a bound a bound, and penalties must not exceed it in size: an edge is
# then below 2**46, and the sum of a tree's edges and of all penalties below 2**62.
MOST = 1 << 44
# Length taken from an edge that every tour has: with penalties, any other edge is longer.
_FORCED = 1 << 47
# The length of an edge that is none.
_MISSING = 1 << 60


class Kind(NamedTuple):
    """Kind of tours that a bound is for: closed tours, or open paths with their ends if these are given."""

    open: bool = False
    start_city: int | None = None
    end_city: int | None = None

    @property
    def noun(self) -> str:
        return "path" if self.open else "tour"


TOURS = Kind()


@dataclass(frozen=True)
class Graph:
    """The graph whose tours are an instance's tours or paths, with distances times `scale` and rounded down.

    Its nodes are the cities and, for paths, a further one behind them; of an asymmetric instance first those where one
    arrives, then those from which one leaves.
    """

    instance: Instance
    scale: int
    kind: Kind

    @property
    def cities(self) -> int:
        """The number of cities, the further one with them."""
        return self.instance.n + self.kind.open

    @property
    def nodes(self) -> int:
        return self.cities * (2 if self.instance.asymmetric else 1)

    @property
    def further(self) -> list[int]:
        """The nodes of the further city: where one arrives at it, and leaves it."""
        nodes = [self.instance.n, 2 * self.instance.n + 1] if self.kind.open else []
        return nodes if self.instance.asymmetric else nodes[:1]

    @property
    def offset(self) -> int:
        """By how much tours of the graph are too short, for the edges that each of them has."""
        pairs = self.cities if self.instance.asymmetric else 0
        pairs += 0 if self.instance.fixed is None else len(self.instance.fixed)
        return _FORCED * (pairs + (self.kind.start_city is not None) + (self.kind.end_city is not None))

    def row(self, node: int) -> NDArray[np.int64]:
        """Return the lengths of the edges from a node to all nodes; that to itself means nothing."""
        if not self.instance.asymmetric:
            return self._ways(node)
        n = self.cities
        city = node % n
        row = np.full(2 * n, _MISSING)
        if node < n:
            row[n:] = self._ways(city, back=True)
            row[n + city] = -_FORCED
        else:
            row[:n] = self._ways(city)
            row[city] = -_FORCED
        return row

    def _ways(self, city: int, *, back: bool = False) -> NDArray[np.int64]:
        n = self.instance.n
        if city == n:
            return np.append(self._joined(is_start=not back), _MISSING)
        others = np.arange(n)
        lengths = self.instance.distances(others, city) if back else self.instance.distances(city, others)
        ways = scaled(self.instance, lengths, self.scale)
        if (fixed := self.instance.fixed) is not None:
            ways[fixed[fixed[:, 0] == city, 1]] -= _FORCED
            ways[fixed[fixed[:, 1] == city, 0]] -= _FORCED
        return np.append(ways, self._joined(is_start=back)[city]) if self.kind.open else ways

    def _joined(self, *, is_start: bool) -> NDArray[np.int64]:
        """Return the lengths of the edges that join the further city to all cities, as starts or as ends."""
        _, start, end = self.kind
        if self.instance.asymmetric:
            given, most = [start if is_start else end], 1
        else:
            given, most = [start, end], 2
        known = [city for city in given if city is not None]
        joined = np.full(self.instance.n, _MISSING if len(known) == most else 0)
        joined[known] = -_FORCED
        return joined


def scaled(instance: Instance, distances: NDArray[np.int64] | NDArray[np.float64], scale: int) -> NDArray[np.int64]:
    """Return distances times `scale` as integers that are no larger than they are, and at most `MOST`."""
    if instance.is_exact:
        whole: NDArray[np.int64] = np.minimum(distances, MOST // scale).astype(np.int64) * scale
    else:
        whole = np.floor(np.minimum(distances, MOST / scale) * scale).astype(np.int64)
    return whole


def checked_kind(instance: Instance, kind: Kind) -> Kind:
    """Return the kind of tours that is bounded, checked: too many cities raise `InstanceError`, wrong ends `ValueError`
    or `TypeError`. Closed tours in the plane without fixed edges may have any number of cities."""
    name, n = instance.name or "instance", instance.n
    is_open, *ends = truth_value("open", kind.open), kind.start_city, kind.end_city
    named = zip(("start_city", "end_city"), ends, strict=True)
    start, end = (None if city is None else whole_number(name, city, 0, n - 1) for name, city in named)
    if not is_open and (start, end) != (None, None):
        which, city = ("end_city", end) if start is None else ("start_city", start)
        raise ValueError(f"{which}={city!r} has no effect with a closed tour; it is for open=True")
    check_distinct(start, end, n)
    checked = Kind(is_open, start, end)
    most = MOST_CITIES // (2 if instance.asymmetric else 1) - is_open
    if n > most and (is_open or instance.fixed is not None or not is_planar(instance)):
        what = "asymmetric instances" if instance.asymmetric else f"{instance.metric} instances"
        what = what if instance.fixed is None else "instances with fixed edges"
        raise InstanceError(
            f"{name}: {n} cities; there are lower bounds of the {checked.noun}s of {what} of at most {most}"
        )
    return checked
