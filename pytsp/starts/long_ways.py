"""A tour whose parts between its long ways follow each other in a better order: villages, one after the other."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from pytsp.backends.context import Backend
from pytsp.problem.instance import Instance
from pytsp.problem.location import further_city, straight_points
from pytsp.starts.descent import CHAINS, THREE_OPT, descended

# Ratio of a long edge to the mean one.
LONG = 10.0
# Least share of the tour that the long edges have together.
LEAST_SHARE = 0.1
# More parts take too long, fewer have one order.
MOST_PARTS, LEAST_PARTS = 1 << 13, 5
# About what a city takes where there are no long ways, and a part.
CITY_SECONDS, PART_SECONDS = 6e-8, 1e-5


def reordering_seconds(instance: Instance, tour: NDArray[np.int32], seconds: float) -> float:
    """Return the estimated seconds of `reordered_tour`; infinity if `seconds` do not suffice for the estimate."""
    if CITY_SECONDS * instance.n > seconds:
        return math.inf
    parts = len(_beginnings(straight_points(instance)[tour], is_path=False))
    return CITY_SECONDS * instance.n + PART_SECONDS * parts


def reordered_tour(instance: Instance, tour: NDArray[np.int32], kernels: Backend) -> NDArray[np.int32]:
    """Return a tour after `reordered_parts`; the further city of a path stays between its ends."""
    points, further = straight_points(instance), further_city(instance)
    if further is None:
        return tour[reordered_parts(points[tour], kernels)]
    path = np.roll(tour, -int(np.flatnonzero(tour == further)[0]))
    path[1:] = path[1:][reordered_parts(points[path[1:]], kernels, is_path=True)]
    return path


def reordered_parts(points: NDArray[np.float64], kernels: Backend, *, is_path: bool = False) -> NDArray[np.int32]:
    """Return the positions of a tour's cities after the parts between its long ways got a better order and direction,
    which is not longer.

    A part moves as its first city does in a descent by 3-opt moves and chains. The directions are the best for that
    order. It sees the ways that `descended` never looks at: those between clusters. `points`, shape (n, 2) or (n, 3),
    are in order of the tour. With `is_path` the first and the last part stay where they are.
    """
    n = len(points)
    first = _beginnings(points, is_path=is_path)
    if not len(first):
        return np.arange(n, dtype=np.int32)
    if not is_path:
        # A tour begins, and ends, within its longest part.
        sizes = np.diff(first, append=first[0] + n)
        middle = int((first + sizes // 2)[sizes.argmax()])
        rolled = reordered_parts(np.roll(points, -middle, axis=0), kernels, is_path=True)
        return (rolled + middle) % n
    last = np.append(first[1:] - 1, n - 1)
    heads, order = points[first], np.arange(len(first), dtype=np.int32)
    for moves in (THREE_OPT, CHAINS):
        order = descended(heads, order, kernels, math.inf, moves=moves)
    before = _ways(points[last[:-1]], points[first[1:]]).sum()
    first, last = first[order], last[order]
    is_turned = _directions(points[first], points[last])
    begins, ends = np.where(is_turned, last, first), np.where(is_turned, first, last)
    if _ways(points[ends[:-1]], points[begins[1:]]).sum() >= before:
        return np.arange(n, dtype=np.int32)
    sizes = last - first + 1
    offsets = np.arange(n) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    turns = np.repeat(np.where(is_turned, -1, 1), sizes)
    found: NDArray[np.int32] = (np.repeat(begins, sizes) + turns * offsets).astype(np.int32)
    return found


def _beginnings(points: NDArray[np.float64], *, is_path: bool) -> NDArray[np.int64]:
    """Return where parts begin, behind long ways; nowhere where these are too many, too few, or too short in all."""
    n = len(points)
    ways = np.append(0.0, _ways(points[:-1], points[1:]))
    if n and not is_path:
        ways[0] = _ways(points[-1:], points[:1])[0]
    first = np.flatnonzero(ways > LONG * ways.mean()) if n else np.empty(0, dtype=np.int64)
    if not LEAST_PARTS <= len(first) <= MOST_PARTS or ways[first].sum() < LEAST_SHARE * ways.sum():
        return first[:0]
    return np.union1d(0, first) if is_path else first


def _ways(begins: NDArray[np.float64], ends: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the straight distances from points to points, shape (m,)."""
    squared: NDArray[np.float64] = sum((a - b) ** 2 for a, b in zip(begins.T, ends.T, strict=True))
    return np.sqrt(squared)


def _directions(first: NDArray[np.float64], last: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return which of the parts, in their order, are to be turned round so that the ways between them are shortest.

    Of the first and the last one the outer end stays. A dynamic programme over the parts, of two states.
    """
    ends = np.stack([last, first]), np.stack([first, last])
    # From a part in direction a to the next one in direction b.
    ways = np.linalg.norm(ends[0][:, None, :-1] - ends[1][None, :, 1:], axis=-1).transpose(2, 0, 1).tolist()
    here, before = (0.0, math.inf), []
    for way in ways:
        by = [min((here[a] + way[a][b], a) for a in (0, 1)) for b in (0, 1)]
        here = (by[0][0], by[1][0])
        before.append((by[0][1], by[1][1]))
    turned = [0]
    for choice in reversed(before):
        turned.append(choice[turned[-1]])
    return np.array(turned[::-1], dtype=np.bool_)
