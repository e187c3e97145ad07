"""The nearest points by norms of the plane and of space, by kernels: a tree of boxes around points along a curve."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cached_property, reduce

import numpy as np
from numpy.typing import NDArray

from pytsp.backends.context import Backend
from pytsp.backends.marshal import Opaque
from pytsp.backends.registry import host_kernels, on_the_cpu, open_backend, other_part
from pytsp.neighbours.hilbert import along_hilbert
from pytsp.neighbours.rows import nearest_in_rows
from pytsp.problem.location import group_coincident
from pytsp.utils.deadline import look, timely_blocks

# Cities of the plane from which on a GPU makes the lists, if the solver has one: with fewer the host is faster.
LISTED_ON_A_GPU = 50_000
# The most cities whose lists one call makes, on a core or on a GPU.
CITIES = {"cpu": 1 << 14, "gpu": 1 << 18}
# Most points whose pairs are all compared, or that are not put in order of the curve, which takes longer.
FEW = 200
# Nearest cities, in units of k, that are searched for the quadrants: more if fewer do not fill them.
WIDTHS = (2, 5, 20, 80)
# Candidates whose quadrants are compared together: this bounds the memory.
_BLOCK = 1 << 16
# By how much distances on a GPU may differ from the host's, relatively; far more than both roundings.
_SLACK = 1e-9

# The kernels of a solver, on a GPU perhaps.
_KERNELS: ContextVar[Backend | None] = ContextVar("kernels", default=None)


@contextmanager
def boxes_by(kernels: Backend) -> Iterator[None]:
    """Have a solver's kernels, or those beside a GPU's, find near points in this block. The result is the same."""
    token = _KERNELS.set(kernels)
    try:
        yield
    finally:
        _KERNELS.reset(token)


def gpu_listing(n: int) -> Backend | None:
    """Return the kernels of a solver's GPU that list n cities of the plane, if they are enough for it."""
    kernels = _KERNELS.get()
    return None if kernels is None or kernels.device is None or n < LISTED_ON_A_GPU else other_part(kernels, "lists")


def host_beside() -> Backend:
    """Return the CPU's kernels: a solver's, those beside its GPU's, or what "auto" takes where there is no solver."""
    kernels = _KERNELS.get()
    return (None if kernels is None else host_kernels(kernels)) or open_backend(on_the_cpu() or "c")


def boxes_around(kernels: Backend, points: NDArray[np.float64]) -> Opaque:
    """Return boxes around points of the plane or of space, shape (n, 2) or (n, 3), in order along a curve."""
    axes = [np.ascontiguousarray(axis) for axis in points.T]
    made: Opaque = kernels.call("boxes_around", *axes, *[np.zeros(len(points))] * (3 - len(axes)))
    return made


def lists_in_order(points: NDArray[np.float64], k: int, kernels: Backend, ahead: float = 0.0) -> NDArray[np.int32]:
    """Return the `k` nearest others of each of `points`, shape (n, 2), in order of (distance, number), 1 ≤ k < n.

    Points in order along a curve take less time; the lists are the same in any order. `ahead` is that of
    `timely_blocks`.
    """
    n = len(points)
    boxed = boxes_around(kernels, points)
    lists = np.empty((n, k), dtype=np.int32)
    look(n)
    for block in timely_blocks(n, _most(kernels), n, ahead):
        lists[block] = kernels.call("boxes_nearest", boxed, k, np.arange(block.start, block.stop, dtype=np.int32))
    boxed.free()
    return lists


def monotone_lengths(differences: NDArray[np.float64], norm: float) -> NDArray[np.float64]:
    """Return numbers in the order of the lengths of differences, shape (..., d): for the Euclidean norm the squares."""
    parts = np.moveaxis(np.square(differences) if norm == 2 else np.abs(differences), -1, 0)
    total: NDArray[np.float64] = reduce(np.maximum if np.isinf(norm) else np.add, parts)
    return total


def _most(kernels: Backend) -> int:
    return CITIES["gpu"] if kernels.threads is None else kernels.threads * CITIES["cpu"]


def nearest_points(
    points: NDArray[np.float64], norm: float, k: int, *, quadrants: bool = False, keys: NDArray[np.uint64] | None = None
) -> NDArray[np.int32]:
    """Return the `k` nearest others of each of `points`, shape (n, 2) or (n, 3), by distances not rounded, then number.

    The norm is 1, 2 or infinity; 1 ≤ k < n. By `quadrants`, they are the k // 4 nearest of each quadrant, filled up
    with the nearest overall, by distance. A quadrant has the axis at its clockwise side and not the other one; a city
    at the same point counts to the last. Only the nearest 80 k cities are searched, at most k + 1 at a point. `keys`
    are the Hilbert keys of points that are in order of them. Work about O(n (k + log n)), memory O(n k).
    """
    n = len(points)
    if n <= FEW and not quadrants:
        return nearest_in_rows(monotone_lengths(points[:, None] - points, norm), k).astype(np.int32)
    gpu = gpu_listing(n) if norm == 2 and points.shape[1] == 2 else None
    order: NDArray[np.int64] = np.arange(n)
    if keys is None and n > FEW:
        order, keys = along_hilbert(points, gpu)
    found = np.empty((n, k), dtype=np.int32)
    beyond = last = order[:0]
    # Points that coincide have one key, so only a long run of equal keys may be a crowd.
    if n > k + 1 if keys is None else (keys[k + 1 :] == keys[: -k - 1]).any():
        # A city that more than k of its place precede lists the same cities as the one that k precede.
        groups = group_coincident(points)
        is_beyond = groups.rank > k
        beyond, last = groups.order[is_beyond], groups.order[np.repeat(groups.first[:-1], groups.sizes)[is_beyond] + k]
        order = order[~np.isin(order, beyond)]
    tree = Tree(points, norm, order, gpu if k + 1 < len(order) else None)
    if not quadrants:
        tree.search(found, k)
    elif norm == 2:
        tree.search(found, k, min(WIDTHS[-1] * k, len(order) - 1))
    else:
        _search_quadrants(tree, found, k)
    found[beyond] = found[last]
    return found


class Tree:
    """Boxes around the points `order`, which are in order of the curve perhaps."""

    def __init__(
        self, points: NDArray[np.float64], norm: float, order: NDArray[np.int64], gpu: Backend | None = None
    ) -> None:
        self.points, self.norm, self.order = points, norm, order
        self._numbers, self._each = order.astype(np.int32), np.arange(len(order), dtype=np.int32)
        self._gpu = None if gpu is None else (gpu, boxes_around(gpu, points[order]))

    @cached_property
    def _host(self) -> tuple[Backend, Opaque]:
        kernels = host_beside()
        return kernels, boxes_around(kernels, self.points[self.order])

    def search(self, found: NDArray[np.int32], k: int, most: int | None = None) -> None:
        """Put the `k` nearest of each point into `found`, or with `most` those by quadrants of the most nearest."""
        kernels, boxed = self._gpu or self._host
        for block in timely_blocks(len(self.order), _most(kernels)):
            places = self._each[block]
            if most is not None:
                lists = kernels.call("boxes_quadrants", boxed, self._numbers, k, most, places)
            else:
                lists = self.nearest(places, k) if self._gpu is None else self._on_a_gpu(*self._gpu, places, k)
            found[self.order[block]] = lists

    def nearest(self, places: NDArray[np.int32], k: int) -> NDArray[np.int32]:
        """Return the `k` nearest of the points at some places of the order."""
        # Each point is a cluster of its own.
        return self.outside(self._each, places, k)

    def outside(self, clusters: NDArray[np.int32], places: NDArray[np.int32], k: int) -> NDArray[np.int32]:
        """Return the nearest point of each of the `k` nearest other clusters, -1 where there are fewer."""
        kernels, boxed = self._host
        norm = 0 if np.isinf(self.norm) else int(self.norm)
        lists: NDArray[np.int32] = kernels.call("boxes_outside", boxed, clusters, self._numbers, norm, k, places)
        return lists

    def _on_a_gpu(self, kernels: Backend, boxed: Opaque, places: NDArray[np.int32], k: int) -> NDArray[np.int32]:
        """Return the nearest by a GPU; the host looks again where distances tie, which a GPU orders by places."""
        near: NDArray[np.int32] = self._numbers[kernels.call("boxes_nearest", boxed, k + 1, places)]
        far = monotone_lengths(self.points[self.order[places], None] - self.points[near], 2)
        is_plain = (far[:, 1:] > far[:, :-1]).all(axis=1) & (far[:, k] > far[:, k - 1] * (1 + _SLACK))
        lists = near[:, :k]
        if not is_plain.all():
            lists[~is_plain] = self.nearest(places[~is_plain], k)
        return lists


def _search_quadrants(tree: Tree, found: NDArray[np.int32], k: int) -> None:
    """Put the nearest by quadrants into `found`, for norms that no kernel has."""
    places, most = np.arange(len(tree.order), dtype=np.int32), len(tree.order) - 1
    for width in (min(factor * k, most) for factor in WIDTHS):
        left = [places[:0]]
        for block in timely_blocks(len(places), max(1, _BLOCK // width)):
            cities, near = tree.order[places[block]], tree.nearest(places[block], width)
            found[cities], is_filled = _choose(tree.points[near] - tree.points[cities, None], near, k)
            left.append(places[block][~is_filled])
        places = np.concatenate(left)
        if width == most:
            break


def _choose(ways: NDArray[np.float64], near: NDArray[np.int32], k: int) -> tuple[NDArray[np.int32], NDArray[np.bool_]]:
    """Choose k of the cities `near` by the ways to them, in order, and tell whether each quadrant had its share."""
    x, y = ways[..., 0], ways[..., 1]
    is_upper = (y > 0) | ((y == 0) & (x > 0))
    quadrants = np.where(is_upper, np.where(x > 0, 0, 1), np.where(x < 0, 2, 3))
    is_inside = quadrants[:, None] == np.arange(4)[:, None]
    is_chosen = (is_inside & (is_inside.cumsum(axis=2, dtype=np.int16) <= k // 4)).any(axis=1)
    kept = np.sort(np.argsort(~is_chosen, axis=1, kind="stable")[:, :k], axis=1)
    chosen: NDArray[np.int32] = np.take_along_axis(near, kept, axis=1)
    return chosen, (is_inside.sum(axis=2) >= k // 4).all(axis=1)
