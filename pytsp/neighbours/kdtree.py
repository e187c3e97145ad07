"""The nearest cities: by a k-d tree where distances grow with a norm, else by the rows of the distance matrix.

Where a solver has kernels open, their tree of boxes takes the place of SciPy's for Euclidean distances, in the plane
and in space: it is faster, and SciPy need not be imported.

J. L. Bentley: K-d trees for semidynamic point sets. 6th Annual Symposium on Computational Geometry, 1990.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from pytsp.backends.context import Backend
from pytsp.backends.devices import usable_cores
from pytsp.backends.marshal import Opaque
from pytsp.backends.registry import host_kernels, other_part
from pytsp.neighbours.coincident import group_coincident
from pytsp.neighbours.hilbert import along_hilbert
from pytsp.problem.instance import Instance
from pytsp.utils.deadline import UNTIMED_CITIES, look, timely_blocks

T = TypeVar("T")

# Cities of the plane from which on a GPU makes the lists, if the solver has one: with fewer the host is faster.
LISTED_ON_A_GPU = 50_000
# Most points without a tree; the second number holds until SciPy is imported, which takes a quarter of a second.
FEW, FEW_AT_FIRST = 1_000, 3_000
# Seconds of that import; seconds per city of lists, and of the starts that need them.
IMPORT_SECONDS, CITY_SECONDS = 0.3, 5e-6
# Fewer points fit the cache, in whatever order the tree is queried for them.
_SCATTERED = 1 << 14
# Candidates compared together: this bounds the memory, and the time between two looks at the clock.
_BLOCK = 1 << 16
# Most cities that a GPU lists together.
_LISTED_TOGETHER = 1 << 20
# Values per group, by whose minima the least values of a row are found.
_GROUP = 16
# Fewest groups per wanted value, and most candidates per wanted value: more may tie.
_GROUPS_A_VALUE, _MOST_PLACES = 2, 4
# Neighbours of a short list.
SHORT = 64
# Most numbers that insertion moves in longer lists before a tree pays.
MOST_INSERTED = 1 << 27
# By how much the tree's distances may differ from ours, relatively; far more than both roundings.
_SLACK = 1e-9


def are_few(n: int, few: int = FEW, few_at_first: int = FEW_AT_FIRST) -> bool:
    """Tell whether comparing all pairs of points, or what else is as fast for so few, takes less time than SciPy's
    tree, or before that is imported."""
    return n <= (few if "scipy.spatial" in sys.modules else few_at_first)


# The kernels that take the place of SciPy's tree.
_KERNELS: ContextVar[Backend | None] = ContextVar("kernels", default=None)


@contextmanager
def boxes_by(kernels: Backend) -> Iterator[None]:
    """Have a solver's kernels, or those beside a GPU's, find near points in this block. The result is the same."""
    token = _KERNELS.set(kernels)
    try:
        yield
    finally:
        _KERNELS.reset(token)


def listing_kernels(n: int) -> Backend | None:
    """Return the kernels that list n cities of the plane; None where a solver has none open, or no CPU's beside it."""
    kernels = _KERNELS.get()
    if kernels is None or kernels.device is None or n < LISTED_ON_A_GPU:
        return host_beside()
    return other_part(kernels, "lists")


def host_beside() -> Backend | None:
    """Return the CPU's kernels, a solver's or beside it; None where a solver has none open, or none can run here."""
    kernels = _KERNELS.get()
    return None if kernels is None else host_kernels(kernels)


def boxes_around(kernels: Backend, points: NDArray[np.float64]) -> Opaque:
    """Return boxes around points of the plane or of space, shape (n, 2) or (n, 3), in order along a curve."""
    axes = [np.ascontiguousarray(axis) for axis in points.T]
    made: Opaque = kernels.call("boxes_around", *axes, *[np.zeros(len(points))] * (3 - len(axes)))
    return made


class NearestPoints:
    """A k-d tree, or few points, that find the nearest points by their distance before it is rounded, then by number.

    `points` have shape (n, d), `norm` is 1, 2 or infinity; `keys` are the Hilbert keys of points that are in order of
    them. Of points that coincide only the first `copies` are in the tree, at least 2: no list of `copies` - 1 others
    needs more. `order` has all points; where they are many, consecutive ones lie close together: queried in this order
    they are found in a third of the time.
    """

    def __init__(
        self, points: NDArray[np.float64], norm: float, copies: int, keys: NDArray[np.uint64] | None = None
    ) -> None:
        self._points, self._norm, self._together = points, norm, _BLOCK
        n = len(points)
        self.order: NDArray[np.int64] = np.arange(n)
        is_crowded = n > copies
        kernels = listing_kernels(n) if norm == 2 and n > FEW else None  # noqa: PLR2004
        if n >= _SCATTERED or kernels is not None:
            if keys is None:
                is_on_a_gpu = kernels is not None and kernels.device is not None and points.shape[1] == 2
                self.order, keys = along_hilbert(points, kernels if is_on_a_gpu else None)
            # Points that coincide have one key, so only a long run of equal keys may be a crowd.
            is_crowded = bool((keys[copies:] == keys[:-copies]).any())
        self._kept, self.is_crowded = self.order, is_crowded
        if is_crowded:
            groups = group_coincident(points)
            is_kept = np.zeros(n, dtype=np.bool_)
            is_kept[groups.order[groups.rank < copies]] = True
            self._kept = self.order[is_kept[self.order]]
        self._tree: Any = None
        self._boxes: Any = None
        self._inserted = 0
        if kernels is not None and not is_crowded:
            self._call = kernels.call
            if kernels.device is not None:
                self._together = _LISTED_TOGETHER
            self._places = np.empty(n, dtype=np.int32)
            self._places[self.order] = np.arange(n, dtype=np.int32)
            self._boxes = boxes_around(kernels, points[self.order])
        elif not are_few(n):
            self._make_tree()

    def _make_tree(self) -> None:
        n = len(self._points)
        if "scipy.spatial" not in sys.modules:
            look(seconds=IMPORT_SECONDS + CITY_SECONDS * min(n, UNTIMED_CITIES))
        from scipy.spatial import cKDTree  # noqa: PLC0415

        look(n)
        self._tree = cKDTree(self._points[self._kept], balanced_tree=False, compact_nodes=False)
        look(n)

    @property
    def most(self) -> int:
        """The number of other cities at each point."""
        return len(self._kept) - 1

    def nearest(self, queries: NDArray[np.int64], k: int) -> NDArray[np.int32]:
        """Return the `k` nearest others of the points `queries`, shape (len(queries), k), 1 ≤ k ≤ `most`."""
        found = np.empty((len(queries), k), dtype=np.int32)
        if self._tree is None and self._boxes is None:
            kept = np.sort(self._kept)
            for block in _blocks(queries, len(kept)):
                cities = queries[block, None]
                each = monotone_lengths(self._points[cities] - self._points[kept], self._norm)
                each[cities == kept] = np.inf
                found[block] = kept[_argleast(each, k)]
            return found
        open_rows, width = np.arange(len(queries)), k + 2
        while len(open_rows):
            width = min(width, len(self._kept))
            undecided = []
            for block in timely_blocks(len(open_rows), max(1, self._together // width)):
                rows = open_rows[block]
                found[rows], is_decided = self._nearest_among(queries[rows], k, width)
                undecided.append(rows[~is_decided])
            open_rows, width = np.concatenate(undecided), 2 * width
        return found

    @property
    def has_boxes(self) -> bool:
        """True if a kernel may list the nearest by quadrants: `in_quadrants`."""
        return self._boxes is not None and self._points.shape[1] == 2

    def in_quadrants(self, queries: NDArray[np.int64], k: int, most: int) -> NDArray[np.int32]:
        """Return the `k` // 4 nearest of each quadrant of the `most` nearest others, filled up with the nearest
        overall, by distance, shape (len(queries), k), 1 ≤ k ≤ `most`."""
        found = np.empty((len(queries), k), dtype=np.int32)
        numbers = self.order.astype(np.int32)
        for block in timely_blocks(len(queries), max(1, self._together // k)):
            places = self._call("boxes_quadrants", self._boxes, numbers, k, most, self._places[queries[block]])
            found[block] = places
        return found

    def _nearest_among(self, queries: NDArray[np.int64], k: int, width: int) -> tuple[NDArray[Any], NDArray[np.bool_]]:
        """Return the `k` nearest others among the tree's `width` nearest, and whether no other point ties with them."""
        cities = self._around(queries, width)
        far = monotone_lengths(self._points[queries, None] - self._points[cities], self._norm)
        farthest = far.max(axis=1)
        is_self = cities == queries[:, None]
        # Most rows need no sorting: the point itself, then the others, each farther than the one before.
        is_plain = is_self[:, 0] & (far[:, 1:] > far[:, :-1]).all(axis=1)
        nearest, last = cities[:, 1 : k + 1].copy(), far[:, min(k, width - 1)].copy()
        mixed = np.flatnonzero(~is_plain)
        if len(mixed):
            own = np.where(is_self[mixed], np.inf, far[mixed])
            ranks = np.lexsort((cities[mixed], own), axis=1)[:, :k]
            nearest[mixed] = np.take_along_axis(cities[mixed], ranks, axis=1)
            last[mixed] = np.take_along_axis(own, ranks[:, -1:], axis=1)[:, 0]
        return nearest, (farthest > last * (1 + _SLACK)) | (width == len(self._kept))

    def _around(self, queries: NDArray[np.int64], width: int) -> NDArray[np.int64]:
        """Return the `width` nearest points, themselves among them, about in order of their distances."""
        # The kernels keep their lists in order by insertion: of very long ones the tree makes up for its import.
        self._inserted += 0 if width <= SHORT else len(queries) * width**2
        if self._boxes is not None and self._tree is None and self._inserted > MOST_INSERTED:
            self._make_tree()
        if self._tree is not None and (self._boxes is None or width > SHORT):
            _, indices = self._tree.query(self._points[queries], np.arange(1, width + 1), p=self._norm)
            nearest: NDArray[np.int64] = self._kept[indices]
            return nearest
        others = self._call("boxes_nearest", self._boxes, width - 1, self._places[queries])
        return np.concatenate([queries[:, None], self.order[others]], axis=1)


def map_in_threads(work: Callable[[NDArray[np.int64]], T], cities: NDArray[np.int64], step: int) -> Iterator[T]:
    """Yield the results of `work` for each `step` cities, in their order, on all cores; `OutOfTime` ends it."""
    blocks = [cities[first : first + step] for first in range(0, len(cities), step)]
    if len(blocks) < 2:
        yield from map(work, blocks)
        return
    from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415

    pool = ThreadPoolExecutor(usable_cores())
    try:
        for done in [pool.submit(copy_context().run, work, block) for block in blocks]:
            yield done.result()
            look()
    finally:
        pool.shutdown(cancel_futures=True)


def monotone_lengths(differences: NDArray[np.float64], norm: float) -> NDArray[np.float64]:
    """Return numbers in the order of the lengths of differences, shape (..., d): for the Euclidean norm the squares."""
    parts = np.square(differences) if norm == 2 else np.abs(differences)
    total = parts[..., 0]
    for k in range(1, parts.shape[-1]):
        total = np.maximum(total, parts[..., k]) if np.isinf(norm) else total + parts[..., k]
    return total


def nearest_by_rows(
    instance: Instance, cities: NDArray[np.int64], k: int, *, cyclic: bool = False
) -> NDArray[np.int32]:
    """Return the `k` nearest others of each of `cities`, from all distances: indices into `cities`, shape (m, k).

    1 ≤ k < m. Ties go to the one that comes first in `cities`; with `cyclic` to the next one after the city itself,
    cyclically, so that where everything ties not all have the same neighbours. Work O(m²), memory O(m k).
    """
    m = len(cities)
    found = np.empty((m, k), dtype=np.int32)
    others = np.arange(m - 1)
    for block in _blocks(cities, m):
        row = np.arange(m)[block, None]
        if m == instance.n and not cyclic:
            chosen = _argleast(_others(instance.distance_rows(block.start, block.stop), block.start), k)
            found[block] = chosen + (chosen >= row)
            continue
        columns = (row + 1 + others) % m if cyclic else others + (others >= row)
        chosen = _argleast(instance.distances(cities[row], cities[columns]), k)
        found[block] = np.take_along_axis(columns, chosen, axis=1)
    return found


def nearest_in_rows(distances: NDArray[Any], k: int) -> NDArray[np.int64]:
    """Return the columns of the `k` least distances of each row of a square but for its diagonal, shape (n, k).

    1 ≤ k < n. Of equal ones the first. Work O(n²), memory O(n k).
    """
    n = len(distances)
    found = np.empty((n, k), dtype=np.int64)
    for block in _blocks(np.arange(n), n):
        chosen = _argleast(_others(distances[block], block.start), k)
        found[block] = chosen + (chosen >= np.arange(n)[block, None])
    return found


def _others(rows: NDArray[Any], first: int) -> NDArray[Any]:
    """Return rows of a matrix, from its row `first` on, without what is on the diagonal."""
    others = np.empty((len(rows), rows.shape[1] - 1), rows.dtype)
    for city, (row, other) in enumerate(zip(rows, others, strict=True), first):
        other[:city], other[city:] = row[:city], row[city + 1 :]
    return others


def _blocks(rows: NDArray[np.int64], width: int) -> Iterator[slice]:
    """Yield slices of `rows`, which have `width` candidates each, and check the clock between two."""
    step = max(1, _BLOCK // width)
    for first in range(0, len(rows), step):
        if first > 0:
            look()
        yield slice(first, first + step)


def _argleast(values: NDArray[Any], k: int) -> NDArray[np.int64]:
    """Return the columns of the `k` least values of each row, in order of (value, column), shape (m, k)."""
    groups = values.shape[1] // _GROUP
    if groups >= _GROUPS_A_VALUE * k:
        # The k-th least of the groups' least values is no less than that of all, and hardly more.
        least = values[:, :groups].copy()
        for first in range(groups, groups * _GROUP, groups):
            np.minimum(least, values[:, first : first + groups], out=least)
        places = np.flatnonzero(values <= np.partition(least, k - 1, axis=1)[:, k - 1 : k])
        if len(places) <= _MOST_PLACES * k * len(values):
            rows, columns = np.divmod(places, values.shape[1])
            order = np.lexsort((values[rows, columns], rows))
            first_of_rows = np.searchsorted(rows, np.arange(len(values)))
            nearest: NDArray[np.int64] = columns[order[first_of_rows[:, None] + np.arange(k)]]
            return nearest
    limit = np.partition(values, k - 1, axis=1)[:, k - 1 : k]
    rows, columns = np.divmod(np.flatnonzero(values <= limit), values.shape[1])
    if len(columns) > limit.size * k:
        # Of those that tie with the k-th the first that there is room for.
        is_level = values[rows, columns] == limit[rows, 0]
        level, levels = np.cumsum(is_level), np.bincount(rows[is_level], minlength=len(limit))
        missing = k - (np.bincount(rows, minlength=len(limit)) - levels)
        is_chosen = ~is_level | (level <= (np.cumsum(levels) - levels + missing)[rows])
        columns = columns[is_chosen]
    chosen = columns.reshape(-1, k)
    ranks = np.argsort(np.take_along_axis(values, chosen, axis=1), axis=1, kind="stable")
    found: NDArray[np.int64] = np.take_along_axis(chosen, ranks, axis=1)
    return found
