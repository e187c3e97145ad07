"""The nearest cities by rows of a distance matrix."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytsp.problem.instance import Instance
from pytsp.utils.deadline import look

# Candidates compared together: this bounds the memory, and the time between two looks at the clock.
_BLOCK = 1 << 16
# Values per group, by whose minima the least values of a row are found.
_GROUP = 16
# Fewest groups per wanted value, and most candidates per wanted value: more may tie.
_GROUPS_A_VALUE, _MOST_PLACES = 2, 4


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
    groups, places = values.shape[1] // _GROUP, None
    if groups >= _GROUPS_A_VALUE * k:
        # The k-th least of the groups' least values is no less than that of all, and hardly more.
        least = values[:, :groups].copy()
        for first in range(groups, groups * _GROUP, groups):
            np.minimum(least, values[:, first : first + groups], out=least)
        places = np.flatnonzero(values <= np.partition(least, k - 1, axis=1)[:, k - 1 : k])
    if places is None or len(places) > _MOST_PLACES * k * len(values):
        places = np.flatnonzero(values <= np.partition(values, k - 1, axis=1)[:, k - 1 : k])
    rows, columns = np.divmod(places, values.shape[1])
    order = np.lexsort((values[rows, columns], rows))
    first_of_rows = np.searchsorted(rows, np.arange(len(values)))
    nearest: NDArray[np.int64] = columns[order[first_of_rows[:, None] + np.arange(k)]]
    return nearest
