"""Neighbour lists: for every city the nearest others, which local search looks at instead of all."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pytsp.backends.context import Backend
from pytsp.neighbours.boxes import lists_in_order, nearest_points
from pytsp.neighbours.rows import nearest_by_rows, nearest_in_rows
from pytsp.problem.instance import Instance
from pytsp.problem.location import further_city, located, partners_of
from pytsp.utils.arguments import whole_number
from pytsp.utils.deadline import look
from pytsp.utils.memory import check_memory

_MOST_NEIGHBOURS = 2**31 - 1
# The memory of a listed neighbour while the lists are made, and in a kernel.
LISTED_BYTES = 16
# Cities whose lists a thread makes together.
_BLOCK = 1 << 12
# Distances computed together, so that what that needs in between stays in the cache.
_DISTANCES = 1 << 16


def neighbour_lists(instance: Instance, k: int = 10, *, quadrants: bool = False) -> NDArray[np.int32]:
    """Return for every city the nearest others, in order of distance.

    Where the metric's distances grow with a norm of the plane or of space (EUC_2D, EUC_3D, CEIL_2D, ATT, EUCLIDEAN,
    MAN_2D, MAN_3D, MAX_2D, MAX_3D), or with the chords of a sphere (GEO, GEOM, HAVERSINE), the order is that of the
    distances before they are rounded, which is an order of the rounded ones too. For the others (XRAY1, XRAY2,
    matrices) it is that of the distances. Equally near cities are in order of their numbers.

    Parameters
    ----------
    instance : Instance
    k : int, optional
        The length of a list, at least 1; above n - 1 it is n - 1.
    quadrants : bool, optional
        Take the k // 4 nearest of each of the four quadrants around the city, filled up with the nearest overall. That
        joins clusters. Only the nearest 80 k cities are searched.

    Returns
    -------
    ndarray of int32, shape (n, min(k, n - 1))
        A city is not in its own list.

    Raises
    ------
    ValueError
        If `k` is out of range, such lists do not fit the memory, or `quadrants` are asked for where a metric has none.

    Notes
    -----
    With a norm, a tree of boxes: work O(n (k + log n)), memory O(n k). Else the rows of the distance matrix: work
    O(n²), memory O(n k).

    Examples
    --------
    >>> line = Instance.from_coordinates([[0, 0], [1, 0], [3, 0], [7, 0]])
    >>> neighbour_lists(line, 2)
    array([[1, 2],
           [0, 2],
           [1, 0],
           [2, 1]], dtype=int32)
    """
    k = check_length(k, instance.n)
    found = located(instance)
    if quadrants and (found is None or found.points.shape[1] != 2 or further_city(instance) is not None):
        raise ValueError(
            f"quadrants need a metric that grows with a norm of the plane, such as EUC_2D; that of "
            f"{instance.name or 'the instance'} is {instance.metric}"
            + ("" if found is None else f" with {found.points.shape[1]} coordinates")
        )
    if k == 0:
        return np.empty((instance.n, 0), dtype=np.int32)
    if quadrants and found is not None:
        return _with_partners(instance, nearest_points(*found, k, quadrants=True))
    return nearest_among(instance, None, k)


def along_tree(instance: Instance, keys: NDArray[np.uint64], k: int) -> NDArray[np.int32]:
    """Return `neighbour_lists` of located cities that are in order of their Hilbert keys, which are known."""
    found = located(instance)
    assert found is not None
    if further_city(instance) is not None:
        return nearest_among(instance, None, k)
    return _with_partners(instance, nearest_points(*found, k, keys=keys))


def lists_along(instance: Instance, k: int, kernels: Backend) -> NDArray[np.int32]:
    """Return `neighbour_lists` of two or more cities of the plane in order along Hilbert's curve, by these kernels.

    Work O(n (k + log n)), memory O(n k).
    """
    assert instance.coordinates is not None
    lists = lists_in_order(instance.coordinates, check_length(k, instance.n), kernels)
    # What comes next needs other sizes.
    kernels.release_memory()
    return lists


def check_length(k: int, n: int) -> int:
    """Return the length of the lists of `n` cities for which `k` is asked, or say why there are none."""
    k = min(whole_number("k", k, 1, _MOST_NEIGHBOURS), n - 1)
    check_memory("k", k, lambda count: LISTED_BYTES * n * count)
    return k


def nearest_among(
    instance: Instance, cities: NDArray[np.int64] | None, k: int, *, cyclic: bool = False
) -> NDArray[np.int32]:
    """Return the `k` nearest others of each of `cities`, by default of all, as `nearest_by_rows` does."""
    found, further = located(instance), further_city(instance)
    if cities is None:
        cities = np.arange(instance.n)
    if found is None:
        return nearest_by_rows(instance, cities, k, cyclic=cyclic)
    place = np.flatnonzero(cities == further)
    if len(place) and len(cities) > 2:
        return _lists_with_further(instance, cities, int(place[0]), k)
    return _with_partners(instance, nearest_points(found.points[cities], found.norm, k), cities)


def _with_partners(
    instance: Instance, lists: NDArray[np.int32], cities: NDArray[np.int64] | None = None
) -> NDArray[np.int32]:
    """Return lists with the city first that a city stays together with, if there is one and it is one of `cities`."""
    partners = partners_of(instance)
    if partners is None or lists.shape[1] == 0:
        return lists
    own = np.arange(len(lists), dtype=np.int32)
    if cities is not None:
        places = np.full(instance.n, -1, dtype=np.int32)
        places[cities] = own
        partners = np.where(places[partners[cities]] < 0, own, places[partners[cities]])
    paired = np.flatnonzero(partners != own)
    first = partners[paired, None]
    longer = np.concatenate([first, lists[paired]], axis=1)
    # What is left out is the second one of the same number, or the last one.
    out = np.where(longer[:, 1:] == first, np.arange(lists.shape[1]), lists.shape[1] - 1).min(axis=1) + 1
    lists[paired] = longer[np.arange(longer.shape[1]) != out[:, None]].reshape(len(paired), lists.shape[1])
    return lists


def _lists_with_further(instance: Instance, cities: NDArray[np.int64], place: int, k: int) -> NDArray[np.int32]:
    """Return the lists of `nearest_among` where the further city, which is anywhere, is the one at `place`."""
    m = len(cities)
    others = np.delete(np.arange(m), place)
    near = nearest_among(instance, cities[others], min(k, m - 2))
    found = np.empty((m, k), dtype=np.int32)
    for first in range(0, m - 1, _BLOCK):
        block = others[first : first + _BLOCK]
        candidates = np.column_stack([others[near[first : first + _BLOCK]], np.full(len(block), place)])
        distances = instance.distances(cities[block, None], cities[candidates])
        ranks = np.argsort(distances, axis=1, kind="stable")[:, :k]
        found[block] = np.take_along_axis(candidates, ranks, axis=1)
    found[place] = others[np.argsort(instance.distances(cities[place], cities[others]), kind="stable")[:k]]
    return _with_partners(instance, found, cities)


def check_neighbours(neighbours: ArrayLike, n: int) -> NDArray[np.int32]:
    """Return neighbour lists as an array, or raise if they are invalid.

    Parameters
    ----------
    neighbours : array_like of integers, shape (n, k)
        Other cities for each city, in any order.
    n : int

    Returns
    -------
    ndarray of int32, shape (n, k)

    Raises
    ------
    ValueError
        If it has another shape or type, or a city is out of range or in its own list.
    """
    lists = np.asarray(neighbours)
    if lists.dtype.kind not in "iu" or lists.ndim != 2 or len(lists) != n:
        raise ValueError(
            f"neighbours must be integers of shape ({n}, k); they are {lists.dtype} of shape {lists.shape}"
        )
    for is_wrong, words in (
        ((lists < 0) | (lists >= n), f"is not one of 0, …, {n - 1}"),
        (lists == np.arange(n)[:, None], "is the city itself"),
    ):
        if is_wrong.any():
            city, column = (int(x) for x in np.argwhere(is_wrong)[0])
            raise ValueError(f"neighbour {lists[city, column]} of city {city} {words}")
    return lists.astype(np.int32, copy=False)


def distances_to(instance: Instance, cities: NDArray[Any], others: NDArray[Any]) -> NDArray[Any]:
    """Return the distances from cities to some others each, shape (m, k), block by block: spheres take memory."""
    lengths = []
    step = max(1, _DISTANCES // max(1, others.shape[1]))
    for first in range(0, max(1, len(cities)), step):
        look(instance.n)
        lengths.append(instance.distances(cities[first : first + step, None], others[first : first + step]))
    return np.concatenate(lengths)


def in_order(instance: Instance, lists: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return neighbour lists, shape (n, k), each in order of the instance's distances; equals keep their order."""
    ranks = np.argsort(instance.distances(np.arange(instance.n)[:, None], lists), axis=1, kind="stable")
    return np.ascontiguousarray(np.take_along_axis(lists, ranks, axis=1))


def way_lists(doubled: Instance, k: int = 10) -> NDArray[np.int32]:
    """Return for every city of a doubled instance the others with the shortest ways, in order of distance, then of
    number: shape (2 n, min(k, n - 1)).

    City i is where one arrives at a city, city n + i where one leaves it (`JonkerVolgenant`). The edge between the two
    is in no list: it is in every tour, and never goes. Work O(n²), memory O(n k).
    """
    matrix, n = doubled.matrix, doubled.n // 2
    assert matrix is not None
    k = min(check_length(k, doubled.n), n - 1)
    if k == 0:
        return np.empty((2 * n, 0), dtype=np.int32)
    return np.concatenate([nearest_in_rows(matrix[:n, n:], k) + n, nearest_in_rows(matrix[n:, :n], k)]).astype(np.int32)


def with_pairs(lists: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return lists of a doubled instance with each city's other one before them: one column more."""
    return np.column_stack([np.roll(np.arange(len(lists), dtype=np.int32), len(lists) // 2), lists])
