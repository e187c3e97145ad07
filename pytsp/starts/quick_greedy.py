"""The greedy tour of many cities in next to no time, by kernels of a CPU, where they are in order along a curve."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pytsp.backends.context import Backend
from pytsp.neighbours.boxes import lists_in_order
from pytsp.starts.descent import WINDOW, lists_along_curves
from pytsp.utils.deadline import OutOfTime, look, within

# Near cities of each city, and near ends of each end of a fragment, whose edges are candidates.
NEAR_CITIES, NEAR_ENDS = 5, 8
# About what a city takes: of each core together, and of one.
LISTS_SECONDS, JOINS_SECONDS = 8e-7, 4e-7
# The cities of one place above which each of them would list the same few, and rounds would join only those.
MOST_IN_A_PLACE = 64
# The seconds that a greedy tour may take longer than expected: without one, the tour is worse than late.
SLACK_SECONDS = 0.01
# The most cities that get a greedy path between two looks at the clock; the first ones tell how long it takes.
PART, FIRST_PART = 1 << 14, 1 << 11


def greedy_seconds(n: int, kernels: Backend) -> float:
    """Return about how long `quick_greedy` takes."""
    return n * (LISTS_SECONDS / (kernels.threads or 1) + JOINS_SECONDS)


def quick_greedy(
    points: NDArray[np.float64],
    plane: NDArray[np.float64],
    kernels: Backend,
    further: int | None = None,
    ends: Sequence[int] = (),
    seconds: float = math.inf,
    lists: NDArray[np.int32] | None = None,
) -> NDArray[np.int32] | None:
    """Return a greedy tour of cities that are in order along a curve; None where the time is over before, or where many
    of them lie in one place.

    It differs from `greedy` in the order of edges whose lengths differ by less than 0.4 %. Uniform cities give tours 14
    to 18 % above the shortest. In space edges are looked for along two curves only; there it is as long as that by
    nearest neighbours, and shorter of clusters.

    Straight distances of `points`, shape (n, d), decide which edge is the shortest; `plane`, shape (n, 2) or (n, 3),
    has the same cities near each other. `lists` have near cities of each, the nearest first, where there is no further
    city and they are known. The `further` city joins the `ends` of an open path, at most two given ones. It
    is given up where it would not end `SLACK_SECONDS` after `seconds`. The number of threads changes nothing. Work
    about O(n log n).
    """
    if (plane[MOST_IN_A_PLACE:] == plane[:-MOST_IN_A_PLACE]).all(axis=1).any():
        return None
    try:
        with within(seconds + SLACK_SECONDS):
            return _greedy_order(np.ascontiguousarray(points), plane, kernels, further, ends, lists)
    except OutOfTime:
        return None
    finally:
        # What comes next needs other sizes.
        kernels.release_memory()


def _greedy_order(
    points: NDArray[np.float64],
    plane: NDArray[np.float64],
    kernels: Backend,
    further: int | None,
    ends: Sequence[int],
    lists: NDArray[np.int32] | None,
) -> NDArray[np.int32]:
    """Return what `quick_greedy` does, or raise `OutOfTime` between kernel calls."""
    fragments = kernels.call("fragments_of", len(points))

    def joined(cities: NDArray[np.int32], lists: NDArray[np.int32]) -> None:
        nonlocal fragments
        fragments = kernels.call("fragments_joined", points, fragments, cities, lists)

    def join_further(city: int) -> None:
        joined(np.array([further, city], dtype=np.int32), np.array([[1], [0]], dtype=np.int32))

    for city in ends:
        join_further(city)
    # A further city that has no end yet waits for the path.
    last = 2 if further is not None and not ends else 1
    near, ahead = NEAR_CITIES, 1 + JOINS_SECONDS / LISTS_SECONDS
    if lists is not None:
        joined(np.arange(len(points), dtype=np.int32), lists[:, :near])
        near = NEAR_ENDS
    while kernels.call("fragments_count", fragments) > last:
        cities = kernels.call("fragments_ends", fragments)
        if further is not None:
            cities = cities[cities != further]
        where, k = plane[cities], min(near, len(cities) - 1)
        # They are in order along a curve, and in the plane a kernel finds the nearest.
        is_planar = where.shape[1] == 2
        joined(cities, lists_in_order(where, k, kernels, ahead) if is_planar else lists_along_curves(where, k, WINDOW))
        look()
        near = NEAR_ENDS
    if last == 2:
        join_further(next(city for city in kernels.call("fragments_ends", fragments).tolist() if city != further))
    order: NDArray[np.int32] = kernels.call("fragments_path", fragments)
    return order


def greedy_parts(
    points: NDArray[np.float64], plane: NDArray[np.float64], kernels: Backend, seconds: float, first: int = 0
) -> NDArray[np.int32]:
    """Return a tour of cities that are in order along a curve, of which as many as there is time for, from the
    position `first` on, are on greedy paths from part to part of the curve; the others stay in their order.

    The arguments are those of `quick_greedy`.
    """
    n, end = len(points), time.perf_counter() + seconds
    found = np.arange(n, dtype=np.int32)
    # The seconds of a city, as the part before took them.
    pace, most, begin = greedy_seconds(1, kernels), FIRST_PART, first
    while True:
        began = time.perf_counter()
        left = end - began
        size = int(min(n - begin, most, max(left, 0.0) / pace))
        if size < 4:
            return found
        part = np.arange(begin, begin + size)
        # A further city joins the ends, which thus stay where they are.
        joined = np.append(part, begin)
        order = quick_greedy(points[joined], plane[joined], kernels, size, (0, size - 1), left)
        begin, most = begin + size, PART
        if order is None:
            continue
        order = np.roll(order, -int(np.flatnonzero(order == size)[0]))[1:]
        found[part] = part[order if order[0] == 0 else order[::-1]]
        pace = max(time.perf_counter() - began, 1e-9) / size
