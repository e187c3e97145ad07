"""A tour along a curve made shorter in next to no time: its pieces descend, with neighbours along two curves."""

from __future__ import annotations

import math
import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytsp.backends.context import Backend
from pytsp.neighbours.hilbert import along_hilbert
from pytsp.problem.instance import Instance
from pytsp.problem.kernel_input import form_of
from pytsp.utils.extremes import extremes

# The numbers by which kernels know moves of 3-opt, and chains of them.
THREE_OPT, CHAINS = 1, 2
# About what a city takes of a core by 3-opt, and at most as many times as long by chains, from a tour by 3-opt.
DESCENT_SECONDS, CHAINS_FACTOR = 3e-6, 1.5
# Neighbours of a city, and the distance in positions along either curve within which they are chosen.
NEIGHBOURS, WINDOW = 6, 8
# The axes of the second curve, at right angles to each other.
DIRECTIONS = {
    2: np.array([[4.0, 3.0], [-3.0, 4.0]]),
    3: np.array([[2.0, -1.0, 2.0], [2.0, 2.0, -1.0], [-1.0, 2.0, 2.0]]),
}
# The cities that descend between two looks at the clock, and those of a piece, whose ends stay.
TOGETHER, PIECE = 1 << 13, 1_000
# Fewer cities have nothing to gain.
LEAST = 8
# The longest side of the points as kernels have them, as a power of two: distances are rounded to whole numbers.
SIDE_EXPONENT = 26


def descended(
    points: NDArray[np.float64],
    tour: NDArray[np.int32],
    kernels: Backend,
    seconds: float,
    first: int = 0,
    moves: int = THREE_OPT,
) -> NDArray[np.int32]:
    """Return the tour after a descent of as many of its pieces, from the position `first`, as the time suffices for.

    Straight distances of `points`, shape (n, 2) or (n, 3), become shorter along a tour whose near cities follow each
    other. 3-opt leaves 0.8 of a tour along a curve in the plane and 0.74 in space, some 10 % above the shortest tour of
    uniform cities; chains leave 0.96 to 0.98 of that. Cities far apart along both curves stay so. `kernels` are a
    CPU's. The whole descent does not depend on the number of threads.
    """
    now = time.perf_counter()
    expected = DESCENT_SECONDS * (CHAINS_FACTOR if moves == CHAINS else 1.0)
    end, took = now + seconds, expected * min(TOGETHER, len(tour))
    found: NDArray[np.int32] = tour.copy()
    for begin in range(first, len(tour), TOGETHER):
        cities = tour[begin : begin + TOGETHER]
        if now + took > end or len(cities) < LEAST:
            break
        found[begin : begin + TOGETHER] = cities[_descended_path(points[cities], kernels, moves)]
        began, now = now, time.perf_counter()
        # Some take longer where others keep the machine busy.
        took = min(took, now - began)
    kernels.release_memory()
    return found


def lists_along_curves(points: NDArray[np.float64], k: int, window: int) -> NDArray[np.int32]:
    """Return for each of `points`, shape (n, d), d = 2 or 3, the `k` nearest of those that are at most `window`
    positions away in their order, or along a curve in other directions, which does not part what the first one does.

    In order of distance, shape (n, min(k, n - 1)), 1 ≤ k ≤ `window`. Work O(n (`window` + k²)), memory O(n `window`).
    """
    k = min(k, len(points) - 1)
    order = along_hilbert(points @ DIRECTIONS[points.shape[1]]).order
    near, lengths = _nearest_in_window(points, k, window)
    ranks, others_lengths = _nearest_in_window(points[order], k, window)
    others = np.empty_like(near)
    others[order] = order[ranks]
    others_lengths[order] = others_lengths.copy()
    # One that both have counts once.
    others_lengths[(others[:, :, None] == near[:, None, :]).any(axis=2)] = np.inf
    both, both_lengths = np.hstack([near, others]), np.hstack([lengths, others_lengths])
    nearest = np.argsort(both_lengths, axis=1, kind="stable")[:, :k]
    lists: NDArray[np.int32] = np.take_along_axis(both, nearest, axis=1).astype(np.int32)
    return lists


def _nearest_in_window(
    points: NDArray[np.float64], k: int, window: int
) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """Return the `k` nearest of those at most `window` positions away, and their squared distances, shape (n, k)."""
    n, axes = len(points), [np.ascontiguousarray(axis) for axis in points.T]
    ways = np.concatenate([np.arange(-window, 0), np.arange(1, window + 1)])
    by_way = np.full((len(ways), n), np.inf, dtype=np.float32)
    for step in range(1, min(window, n - 1) + 1):
        squared = sum((axis[step:] - axis[:-step]) ** 2 for axis in axes)
        by_way[window + step - 1, : n - step] = by_way[window - step, step:] = squared
    lengths = np.ascontiguousarray(by_way.T)
    near = np.argpartition(lengths, k - 1, axis=1)[:, :k]
    return np.arange(n)[:, None] + ways[near], np.take_along_axis(lengths, near, axis=1)


def _descended_path(points: NDArray[np.float64], kernels: Backend, moves: int) -> NDArray[np.int32]:
    """Return the order of a path through the points, shape (m, d), after its descent; it ends where it did."""
    m = len(points)
    low, high = extremes(points)
    side = float((high - low).max())
    if side == 0:
        return np.arange(m, dtype=np.int32)
    scaled = np.ldexp(points - low, SIDE_EXPONENT - math.frexp(side)[1])
    form = form_of(Instance.from_coordinates(scaled, "EUC_2D" if points.shape[1] == 2 else "EUC_3D"), in_space_above=0)
    loaded = kernels.call(f"{form.kind}_load", *form.arguments)

    def call(entry: str, *arguments: Any) -> Any:
        return kernels.call(f"{form.kind}_{entry}", loaded, *arguments)

    lists = lists_along_curves(scaled, NEIGHBOURS, WINDOW)
    links = call("links", kernels.call("links_blank", *lists.shape), 0, lists)
    count = math.ceil(m / PIECE)
    stretch = kernels.value("stretch", {"seed": 0, "first": 0, "from": 0, "iterations": 0})
    pieces = kernels.value("piece_range", {"offset": 0, "piece": m // count, "first": 0, "count": count})
    given = kernels.call("large_given", np.arange(m, dtype=np.int32))
    order: NDArray[np.int32] = kernels.call(
        "large_tour", call("climb_pieces", links, given, stretch, 0.0, moves, pieces)
    )
    return order
