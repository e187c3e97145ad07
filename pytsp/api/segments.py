"""The order of segments, and which way round each is drawn, so that a pen moves least in the air."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pytsp.api.sites import Sites, Way, best_entries, sites_of
from pytsp.api.solve import solve
from pytsp.exceptions import InstanceError
from pytsp.problem.instance import Instance
from pytsp.problem.kernel_input import MATRIX_BYTES
from pytsp.problem.metrics import DEFAULT_METRIC
from pytsp.run.limits import Limits
from pytsp.run.result import Result

# The share of the time after which closed contours are ordered again by where they are entered.
_FIRST_SHARE = 0.6
# A group has at least so many seconds of a time limit, however few segments it has.
_LEAST_SECONDS = 0.01


@dataclass(frozen=True)
class SegmentOrder:
    """An order of segments.

    Attributes
    ----------
    order : ndarray of int32, shape (m,)
        The numbers of the segments, in the order in which they are drawn.
    flips : ndarray of bool, shape (m,)
        True if the segment at that place of the order is drawn from its end to its start.
    entries : ndarray of int32, shape (m,)
        For each place of the order, the number of the point where the segment begins, counted from 0. A closed contour
        also ends there. Other segments begin at 0, or at 1 if they are flipped.
    before, after : float
        The length of all moves between segments, in the given order and in this one. Moves from `start`, to `end`, and
        back to the beginning of a closed tour count.
    results : tuple of Result
        Results of the solves: one per group, or two if the group has closed contours.
    """

    order: NDArray[np.int32]
    flips: NDArray[np.bool_]
    entries: NDArray[np.int32]
    before: float
    after: float
    results: tuple[Result, ...] = field(default=(), repr=False)


def order_segments(
    starts: ArrayLike | Iterable[Any],
    ends: ArrayLike | None = None,
    *,
    reversible: bool = True,
    open: bool = True,
    start: ArrayLike | None = None,
    end: ArrayLike | None = None,
    groups: Sequence[Any] | None = None,
    metric: str = DEFAULT_METRIC,
    time_limit: float | None = None,
    seed: int | None = 0,
    **options: Any,
) -> SegmentOrder:
    """Order segments, and choose their directions, so that the moves between them are short.

    Pen plotters, lasers and engravers draw lines; drills visit points. The drawing itself does not change. A move leads
    from the end of a segment to the start of the next one.

    Parameters
    ----------
    starts : array_like of numbers, shape (m, 2) or (m, 3), or iterable of lines
        Where the segments begin. Without `ends` it is an iterable of lines. A line is an array of points, shape (p, 2)
        or (p, 3), or a point, a line or a polygon without holes of shapely or another package with
        `__geo_interface__`. A line that ends where it begins is a closed contour; the pen may enter it at any point.
    ends : array_like of numbers, shape (m, 2) or (m, 3), optional
        Where the segments end. A segment that ends where it begins is a point.
    reversible : bool, optional
        Allow segments to be drawn from their end to their start. Without it distances are asymmetric, and there may be
        at most 11,585 segments.
    open : bool, optional
        Leave the pen where the last segment ends. Otherwise it goes back to `start`, or to where it began.
    start, end : array_like of numbers, shape (2,) or (3,), optional
        Where the pen comes from, and where it goes in the end. `end` is for open paths only.
    groups : sequence of m hashable values, optional
        The layer or pen of each segment. All segments of a group come before those of the next group. Groups keep the
        order in which they first occur. Each begins where the group before it has ended.
    metric : str, optional
        Distance between points: "EUCLIDEAN" by default, "MAX_2D" if two motors run at the same time, or another metric
        of `pytsp.as_instance`. Most others round to whole numbers.
    time_limit : float, optional
        Seconds for all groups. By default each solve ends as `pytsp.solve` without a limit does.
    seed : int or None, optional
        As for `pytsp.solve`.
    **options
        Further arguments of `pytsp.solve`, such as `backend`, `threads`, `solver` or `limits`.

    Returns
    -------
    SegmentOrder

    Raises
    ------
    InstanceError
        If the points are not finite numbers of the same dimension, or there are more segments than the solver takes.
    TypeError, ValueError
        If an argument has a wrong type, is out of its range, or has no effect.

    Notes
    -----
    A segment is two cities with a fixed edge (see `fixed` of `pytsp.solve`). A closed contour is one city: in the first
    solve its middle, in the second the point where the pen enters it. If there are contours, dynamic programming finds
    the best entries and directions for an order.

    Examples
    --------
    >>> found = order_segments([[0, 0], [9, 0], [4, 0]], [[1, 0], [8, 0], [5, 0]], start=[0, 0])
    >>> found.order, found.flips
    (array([0, 2, 1], dtype=int32), array([False, False,  True]))
    >>> found.before, found.after
    (12.0, 6.0)
    """
    began = time.perf_counter()
    sites = sites_of(starts, ends, metric)
    if not open and end is not None:
        raise ValueError("end has no effect with a closed tour; it is for open=True")
    whole = way = Way(sites.point("start", start), sites.point("end", end), reversible, not open)
    parts = _groups_of(groups, len(sites))
    limits = Limits.of(options.pop("limits", None), time_limit=time_limit)
    order, entries = np.empty((2, 0), dtype=np.int32)
    results: list[Result] = []
    for number, part in enumerate(parts):
        within = limits
        if limits.time_limit is not None:
            left = sum(len(each) for each in parts[number:])
            seconds = (limits.time_limit - time.perf_counter() + began) * len(part) / left
            within = replace(limits, time_limit=max(_LEAST_SECONDS, seconds))
        if len(parts) > 1:
            here, goal = whole.home, None
            if number:
                here = sites.at(order[-1:], sites.exits(order[-1:], entries[-1:]))[0]
            if number == len(parts) - 1:
                # A closed tour of several groups goes back to where the first one began.
                goal = whole.back(sites.at(order[:1], entries[:1])[0])
            way = Way(here, goal, reversible, is_closed=False)
        ordered, entered, solves = _order(sites.some(part), way, within, {"seed": seed, **options})
        order, entries = np.append(order, part[ordered]), np.append(entries, entered)
        results += solves
    given, nowhere = np.arange(len(sites), dtype=np.int32), np.zeros(len(sites), dtype=np.int32)
    before, after = sites.air(given, nowhere, whole), sites.air(order, entries, whole)
    if after > before and len(parts) == 1:
        # There was no time to come to anything better.
        order, entries, after = given, nowhere, before
    return SegmentOrder(order, sites.are_segments[order] & (entries != 0), entries, before, after, tuple(results))


def _groups_of(groups: Sequence[Any] | None, m: int) -> list[NDArray[np.int32]]:
    """Return the numbers of the segments of each group, in the order in which groups are first met."""
    if groups is None:
        return [np.arange(m, dtype=np.int32)] if m else []
    named = list(groups)
    if len(named) != m:
        raise ValueError(f"groups must be {m}, one a segment; there are {len(named)}")
    members: dict[Any, list[int]] = {}
    for number, name in enumerate(named):
        members.setdefault(name, []).append(number)
    return [np.array(numbers, dtype=np.int32) for numbers in members.values()]


def _order(
    sites: Sites, way: Way, limits: Limits, asked: dict[str, Any]
) -> tuple[NDArray[np.int32], NDArray[np.int32], list[Result]]:
    """Return the order of the segments of a group, where each is entered, and the results of its solves."""
    began = time.perf_counter()
    has_contours = bool(sites.are_contours.any())
    seconds = limits.time_limit
    if seconds is not None and has_contours:
        limits = replace(limits, time_limit=_FIRST_SHARE * seconds)
    entries = np.full(len(sites), -1, dtype=np.int32)
    found: list[tuple[float, NDArray[np.int32], NDArray[np.int32]]] = []
    results: list[Result] = []
    for _ in range(1 + has_contours):
        order, turned, result = _solved(sites, entries, way, {**asked, "limits": limits})
        results.append(result)
        begun = np.where(turned, sites.counts[order] - 1, 0).astype(np.int32)
        if has_contours:
            begun = best_entries(sites, order, begun, way)
        found.append((sites.air(order, begun, way), order, begun))
        entries[order] = begun
        if seconds is not None:
            limits = replace(limits, time_limit=max(_LEAST_SECONDS, seconds - (time.perf_counter() - began)))
    return *min(found, key=itemgetter(0))[1:], results


def _solved(
    sites: Sites, entries: NDArray[np.int32], way: Way, asked: dict[str, Any]
) -> tuple[NDArray[np.int32], NDArray[np.bool_], Result]:
    """Return the order of the sites, which are drawn from their end, and the result of the solve."""
    home, goal = way.home, None if way.is_closed else way.goal
    extra = [each[None] for each in (home, goal) if each is not None]
    begins, leaves = (np.concatenate([gates, *extra]) for gates in sites.gates(entries))
    m = len(sites)
    if way.reversible:
        # A segment is two cities, all else one.
        of = np.repeat(np.arange(len(begins)), 1 + np.append(sites.are_segments, np.zeros(len(extra), np.bool_)))
        are_ends = np.append(False, of[1:] == of[:-1])[: len(of)]
        seconds = np.flatnonzero(are_ends)
        points, fixed = np.where(are_ends[:, None], leaves[of], begins[of]), np.column_stack([seconds - 1, seconds])
        instance = Instance.from_coordinates(points, sites.metric, "segments", fixed=fixed)
    else:
        of, are_ends = np.arange(len(begins)), np.zeros(len(begins), np.bool_)
        instance = _directed(begins, leaves, m, sites.metric)
    start = None if home is None else instance.n - len(extra)
    end = None if goal is None else instance.n - 1
    result = solve(instance, **asked, open=not way.is_closed, start_city=start, end_city=end)
    tour, visits = result.tour, of[result.tour]
    if way.is_closed and len(visits) > 2 and visits[0] == visits[-1]:
        # The tour begins between two segments.
        tour, visits = np.roll(tour, 1), np.roll(visits, 1)
    inside = visits < m
    tour, visits = tour[inside], visits[inside]
    is_first = np.append(True, visits[1:] != visits[:-1])[: len(visits)]
    return visits[is_first].astype(np.int32), are_ends[tour[is_first]], result


def _directed(begins: NDArray[np.float64], leaves: NDArray[np.float64], m: int, metric: str) -> Instance:
    """Return the asymmetric instance of m segments that are drawn from their start, and of the path's ends."""
    points = Instance.from_coordinates(np.concatenate([begins, leaves]), metric)
    n = len(begins)
    if 16 * n * n > MATRIX_BYTES:
        most = math.isqrt(MATRIX_BYTES // 16) - (n - m)
        raise InstanceError(f"{m} segments that are not reversible are too many; there may be {most}")
    matrix = points.distances(np.arange(n, 2 * n)[:, None], np.arange(n))
    return Instance.from_matrix(matrix, "segments", asymmetric=True)
