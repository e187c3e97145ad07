"""The nearest cities: by a k-d tree where distances grow with a norm, else by the rows of the distance matrix.

References
----------
J. L. Bentley: K-d trees for semidynamic point sets. 6th Annual Symposium on Computational Geometry, 1990.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from types import MappingProxyType
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from pytsp.backends.devices import usable_cores
from pytsp.neighbours.coincident import places_of
from pytsp.neighbours.hilbert import hilbert_keys
from pytsp.problem.instance import Instance
from pytsp.utils.deadline import UNTIMED_CITIES, look

T = TypeVar("T")

NORMS = MappingProxyType(
    {
        **dict.fromkeys(("ATT", "CEIL_2D", "EUC_2D", "EUC_3D", "EUCLIDEAN"), 2.0),
        **dict.fromkeys(("MAN_2D", "MAN_3D"), 1.0),
        **dict.fromkeys(("MAX_2D", "MAX_3D"), np.inf),
    }
)
"""The norm with which the distances of a metric grow, for the metrics that have one."""

# So few points are asked for one by one; and so few where the module with the tree is not imported yet, which takes a
# quarter of a second or more.
FEW, FEW_AT_FIRST = 1_000, 3_000
# What that import takes, and what lists and the starts that need them take a city.
IMPORT_SECONDS, CITY_SECONDS = 0.3, 5e-6
# Fewer points lie in the cache in whatever order they are asked for.
_SCATTERED = 1 << 14
# Candidates looked at together; this bounds the memory, and how long nobody looks at the clock.
_BLOCK = 1 << 16
# By how much the tree's distances may differ from ours, relatively; far more than both roundings.
_SLACK = 1e-9


def are_few(n: int) -> bool:
    """Tell whether points are so few that asking for them one by one takes less than SciPy's tree."""
    return n <= (FEW if "scipy.spatial" in sys.modules else FEW_AT_FIRST)


class NearestPoints:
    """A k-d tree, or few points, that answer which points are the nearest, with every tie decided.

    Points are ordered by their distance before it is rounded, then by number. At most `copies` points of each place are
    in the tree, the first ones: no list of `copies` - 1 others needs more.

    Parameters
    ----------
    points : ndarray of float64, shape (n, d)
    norm : float
        1, 2 or infinity.
    copies : int
        At least 2.
    keys : ndarray of uint64, shape (n,), optional
        What `hilbert_keys` says of the points, where they are in order of them.

    Attributes
    ----------
    order : ndarray of int64, shape (n,)
        All points; where they are many, so that consecutive ones lie close together: asked for in this order they are
        found in a third of the time.
    """

    def __init__(
        self, points: NDArray[np.float64], norm: float, copies: int, keys: NDArray[np.uint64] | None = None
    ) -> None:
        self._points = points
        self._norm = norm
        n = len(points)
        self.order: NDArray[np.int64] = np.arange(n)
        is_crowded = n > copies
        if n >= _SCATTERED:
            if keys is None:
                keys = hilbert_keys(points)
                self.order = np.argsort(keys, kind="stable")
                keys = keys[self.order]
            # One place has one key, so only a long run of equal keys may be a crowded place.
            is_crowded = bool((keys[copies:] == keys[:-copies]).any())
        self._kept = self.order
        if is_crowded:
            places = places_of(points)
            is_kept = np.zeros(n, dtype=np.bool_)
            is_kept[places.order[places.rank < copies]] = True
            self._kept = self.order[is_kept[self.order]]
        self._tree: Any = None
        if not are_few(n):
            if "scipy.spatial" not in sys.modules:
                look(seconds=IMPORT_SECONDS + CITY_SECONDS * min(n, UNTIMED_CITIES))
            from scipy.spatial import cKDTree  # noqa: PLC0415

            look(n)
            self._tree = cKDTree(points[self._kept], balanced_tree=False, compact_nodes=False)
            look(n)

    @property
    def most(self) -> int:
        """How many others there are for every point."""
        return len(self._kept) - 1

    def of(self, asked: NDArray[np.int64], k: int) -> NDArray[np.int32]:
        """The `k` nearest others of the points `asked`, shape (len(asked), k), 1 ≤ k ≤ `most`."""
        found = np.empty((len(asked), k), dtype=np.int32)
        if self._tree is None:
            step = max(1, _BLOCK // len(self._kept))
            for first in range(0, len(asked), step):
                if first > 0:
                    look()
                rows = asked[first : first + step]
                each = sizes(self._points[rows, None] - self._points[self._kept], self._norm)
                each[rows[:, None] == self._kept] = np.inf
                found[first : first + step] = self._kept[_least(each, k)]
            return found
        waiting, width = np.arange(len(asked)), k + 2
        while len(waiting):
            width = min(width, len(self._kept))
            undecided = []
            step = max(1, _BLOCK // width)
            for first in range(0, len(waiting), step):
                if first > 0:
                    look()
                rows = waiting[first : first + step]
                found[rows], is_decided = self._among(asked[rows], k, width)
                undecided.append(rows[~is_decided])
            waiting, width = np.concatenate(undecided), 2 * width
        return found

    def _among(self, asked: NDArray[np.int64], k: int, width: int) -> tuple[NDArray[Any], NDArray[np.bool_]]:
        """The `k` nearest others among the `width` points that the tree names, and whether more might tie with them."""
        _, indices = self._tree.query(self._points[asked], np.arange(1, width + 1), p=self._norm)
        cities = self._kept[indices]
        far = sizes(self._points[asked, None] - self._points[cities], self._norm)
        farthest = far.max(axis=1)
        is_self = cities == asked[:, None]
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


def in_threads(work: Callable[[NDArray[np.int64]], T], cities: NDArray[np.int64], step: int) -> Iterator[T]:
    """Yield what `work` makes of so many cities after the other, in their order, on all cores.

    Raises
    ------
    OutOfTime
        If the work is for a solve whose time is over.
    """
    blocks = [cities[first : first + step] for first in range(0, len(cities), step)]
    if len(blocks) < 2:
        yield from map(work, blocks)
        return
    from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415

    pool = ThreadPoolExecutor(usable_cores())
    try:
        for done in [pool.submit(work, block) for block in blocks]:
            yield done.result()
            look()
    finally:
        pool.shutdown(cancel_futures=True)


def sizes(differences: NDArray[np.float64], norm: float) -> NDArray[np.float64]:
    """What grows with the length of differences, shape (..., d): for the Euclidean norm its square."""
    parts = np.square(differences) if norm == 2 else np.abs(differences)
    total = parts[..., 0]
    for k in range(1, parts.shape[-1]):
        total = np.maximum(total, parts[..., k]) if np.isinf(norm) else total + parts[..., k]
    return total


def nearest_by_rows(
    instance: Instance, cities: NDArray[np.int64], k: int, *, cyclic: bool = False
) -> NDArray[np.int32]:
    """The `k` nearest others of each of `cities`, from all distances between them.

    Ties go to the one that stands first in `cities`; with `cyclic` to the next one after the city itself, cyclically,
    so that where everything ties not everybody has the same neighbours.

    Parameters
    ----------
    instance : Instance
    cities : ndarray of int64, shape (m,), m ≥ 2
    k : int
        1 ≤ k < m.
    cyclic : bool

    Returns
    -------
    ndarray of int32, shape (m, k)
        Indices into `cities`.

    Notes
    -----
    Work O(m²), memory O(m k).
    """
    m = len(cities)
    found = np.empty((m, k), dtype=np.int32)
    others = np.arange(m - 1)
    step = max(1, _BLOCK // m)
    for first in range(0, m, step):
        if first > 0:
            look()
        row = np.arange(first, min(first + step, m))[:, None]
        columns = (row + 1 + others) % m if cyclic else others + (others >= row)
        chosen = _least(instance.distances(cities[row], cities[columns]), k)
        found[row[:, 0]] = np.take_along_axis(columns, chosen, axis=1)
    return found


def _least(values: NDArray[Any], k: int) -> NDArray[np.int64]:
    """Return where the `k` least of each row stand, in order of (value, place), shape (m, k)."""
    limit = np.partition(values, k - 1, axis=1)[:, k - 1 : k]
    is_less, is_level = values < limit, values == limit
    room = k - is_less.sum(axis=1, keepdims=True)
    chosen = np.nonzero(is_less | (is_level & (is_level.cumsum(axis=1) <= room)))[1].reshape(-1, k)
    ranks = np.argsort(np.take_along_axis(values, chosen, axis=1), axis=1, kind="stable")
    found: NDArray[np.int64] = np.take_along_axis(chosen, ranks, axis=1)
    return found
