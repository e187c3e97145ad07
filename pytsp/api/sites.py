"""Segments, points and closed contours, which a pen draws in one go; contours may be entered at any of their points."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pytsp.exceptions import InstanceError
from pytsp.problem.instance import Instance
from pytsp.problem.metrics import metric_named

_GEOMETRIES = "Point, LineString, LinearRing, and Polygon without holes"


class Way(NamedTuple):
    """Ends of the moves of a group, if they are given."""

    home: NDArray[np.float64] | None
    goal: NDArray[np.float64] | None
    reversible: bool
    is_closed: bool

    def back(self, first: NDArray[np.float64] | None) -> NDArray[np.float64] | None:
        """Return where the last move goes, if there is one, by the first point of the sites."""
        if not self.is_closed:
            return self.goal
        return first if self.home is None else self.home


@dataclass(frozen=True)
class Sites:
    """Segments, points and contours.

    `points`, shape (t, d), has where they may be entered or left, one site behind the other: the two ends of a segment,
    one point, or all points of a contour, each once. `firsts`, shape (m + 1,), has where each begins, and t.
    """

    points: NDArray[np.float64]
    firsts: NDArray[np.int64]
    are_contours: NDArray[np.bool_]
    metric: str

    def __len__(self) -> int:
        return len(self.are_contours)

    @cached_property
    def counts(self) -> NDArray[np.int64]:
        """Number of points of each site."""
        return np.diff(self.firsts)

    @cached_property
    def are_segments(self) -> NDArray[np.bool_]:
        are_segments: NDArray[np.bool_] = ~self.are_contours & (self.counts == 2)
        return are_segments

    def some(self, numbers: NDArray[np.int32]) -> Sites:
        counts = self.counts[numbers]
        firsts = np.append(0, np.cumsum(counts))
        places = np.repeat(self.firsts[numbers] - firsts[:-1], counts) + np.arange(firsts[-1])
        return Sites(self.points[places], firsts, self.are_contours[numbers], self.metric)

    def at(self, order: NDArray[np.int32], which: NDArray[np.int32]) -> NDArray[np.float64]:
        """Return points of sites by their numbers there."""
        points: NDArray[np.float64] = self.points[self.firsts[order] + which]
        return points

    def exits(self, order: NDArray[np.int32], entries: NDArray[np.int32]) -> NDArray[np.int32]:
        """Return the numbers of the points where sites are left."""
        return np.where(self.are_segments[order], 1 - entries, entries).astype(np.int32)

    def point(self, name: str, value: ArrayLike | None) -> NDArray[np.float64] | None:
        """Return a point that is given as an argument, once it is checked."""
        if value is None:
            return None
        made = np.asarray(value, dtype=np.float64)
        wanted = self.points.shape[1]
        if made.shape != (wanted,) or not np.isfinite(made).all():
            raise ValueError(f"{name} must be a point of {wanted} finite numbers; it is {value!r:.60}")
        return made

    def air(self, order: NDArray[np.int32], entries: NDArray[np.int32], way: Way) -> float:
        """Return the length of all moves on a way through the sites."""
        begins, ends = self.at(order, entries), self.at(order, self.exits(order, entries))
        back = way.back(begins[0] if len(begins) else None)
        sources = ends if way.home is None else np.concatenate([way.home[None], ends])
        targets = begins if back is None else np.concatenate([begins, back[None]])
        targets = targets[int(way.home is None) :]
        count = min(len(sources), len(targets))
        return math.fsum(self.distances(sources[:count], targets[:count]))

    def distances(self, a: NDArray[np.float64], b: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(metric_named(self.metric).between(a, b), dtype=np.float64)

    def gates(self, entries: NDArray[np.int32]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return where sites begin and end: contours at their entry, or without one (-1) in their middle."""
        first, last = self.points[self.firsts[:-1]].copy(), self.points[self.firsts[1:] - 1].copy()
        contours = np.flatnonzero(self.are_contours)
        sums = np.add.reduceat(self.points, self.firsts[:-1], axis=0) if len(self) else self.points
        middles = sums[contours] / self.counts[contours, None]
        chosen = self.points[self.firsts[contours] + np.maximum(entries[contours], 0)]
        first[contours] = last[contours] = np.where(entries[contours, None] < 0, middles, chosen)
        return first, last


def sites_of(starts: ArrayLike | Iterable[Any], ends: ArrayLike | None, metric: str) -> Sites:
    """Return the sites of segments by their ends, or of lines and geometries."""
    named = metric_named(metric).name
    if ends is not None:
        first, last = _points("starts", starts), _points("ends", ends)
        if first.shape != last.shape:
            raise InstanceError(f"starts and ends must have the same shape; they have {first.shape} and {last.shape}")
        lines = [np.stack(pair) for pair in zip(first, last, strict=True)]
    elif isinstance(starts, str) or not isinstance(starts, Iterable):
        raise TypeError(f"segments must be starts and ends, or lines; they are {starts!r:.60}")
    else:
        lines = [_line(number, each) for number, each in enumerate(starts)]
    widths = {line.shape[1] for line in lines}
    if len(widths) > 1:
        raise InstanceError(f"segments must have points of as many coordinates each; they have {sorted(widths)}")
    are_closed = [len(line) > 2 and np.array_equal(line[0], line[-1]) for line in lines]
    kept = [
        line[:-1] if is_closed else line[:1] if np.array_equal(line[0], line[-1]) else line[[0, -1]]
        for line, is_closed in zip(lines, are_closed, strict=True)
    ]
    firsts = np.append(0, np.cumsum([len(line) for line in kept], dtype=np.int64)).astype(np.int64)
    points = np.concatenate(kept) if kept else np.empty((0, 2))
    if len(points):
        # Its laws are those of the metric.
        Instance.from_coordinates(points, named)
    return Sites(points, firsts, np.array(are_closed, dtype=np.bool_), named)


def _points(name: str, given: Any) -> NDArray[np.float64]:
    try:
        points = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InstanceError(f"{name} must be numbers of shape (m, 2) or (m, 3): {error}") from error
    if points.ndim != 2 or points.shape[1] not in (2, 3):
        if points.size == 0:
            return np.empty((0, 2))
        raise InstanceError(f"{name} must have shape (m, 2) or (m, 3); the shape is {points.shape}")
    wrong = np.flatnonzero(~np.isfinite(points).all(axis=1))
    if wrong.size:
        raise InstanceError(f"{name} must be finite, but [{wrong[0]}] is {points[wrong[0]].tolist()}")
    return points


def _line(number: int, given: Any) -> NDArray[np.float64]:
    """Return the points of a line."""
    said = getattr(given, "__geo_interface__", given if isinstance(given, dict) else None)
    if said is None:
        points = _points(f"line {number}", given)
    else:
        kind = said.get("type")
        positions: Any = said.get("coordinates")
        if kind == "Feature":
            return _line(number, said.get("geometry"))
        if kind == "Polygon" and len(positions) == 1:
            positions = positions[0]
        elif kind == "Point":
            positions = [positions]
        elif kind not in ("LineString", "LinearRing"):
            what = "a Polygon with holes" if kind == "Polygon" else f"a {kind}"
            raise InstanceError(f"line {number} is {what}; accepted: {_GEOMETRIES}")
        points = _points(f"line {number}", positions)
    if len(points) == 0:
        raise InstanceError(f"line {number} has no points")
    return points


def best_entries(sites: Sites, order: NDArray[np.int32], begun: NDArray[np.int32], way: Way) -> NDArray[np.int32]:
    """Return where each site of an order is best entered, by dynamic programming.

    Of a tour that is closed without `home`, the first site stays as it is begun.
    """
    are_free = sites.are_contours | way.reversible
    choices = [np.arange(sites.counts[site] if are_free[site] else 1, dtype=np.int32) for site in order.tolist()]
    if way.is_closed and way.home is None:
        choices[0] = begun[:1]
    rows = [np.full(len(each), site) for site, each in zip(order, choices, strict=True)]
    enters = [sites.at(row, each) for row, each in zip(rows, choices, strict=True)]
    leaves = [sites.at(row, sites.exits(row, each)) for row, each in zip(rows, choices, strict=True)]
    costs = np.zeros(len(choices[0])) if way.home is None else sites.distances(enters[0], way.home[None])
    before: list[NDArray[np.int64]] = []
    for ends, begins in zip(leaves[:-1], enters[1:], strict=True):
        moves = costs[:, None] + sites.distances(ends[:, None], begins[None])
        before.append(moves.argmin(axis=0))
        costs = moves.min(axis=0)
    back = way.back(enters[0][0])
    if back is not None:
        costs = costs + sites.distances(leaves[-1], back[None])
    chosen = [int(costs.argmin())]
    for each in reversed(before):
        chosen.append(int(each[chosen[-1]]))
    return np.array([each[at] for each, at in zip(choices, reversed(chosen), strict=True)], dtype=np.int32)
