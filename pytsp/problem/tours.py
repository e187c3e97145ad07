"""Tours: the check that one visits every city once, the random ones that climbers start from, and double bridges."""

from __future__ import annotations

import itertools

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pytsp.exceptions import TourError
from pytsp.utils.arguments import is_masked, whole_number

BRIDGED_CITIES = 8
"""The fewest cities of a tour in which a double bridge always has four new edges."""

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MASK = (1 << 64) - 1
_MOST_CITIES = 2**31 - 1


def check_tour(tour: ArrayLike, n: int) -> NDArray[np.int32]:
    """Return a tour, shape (n,), as an array of int32, or raise `TourError` that names what is wrong."""
    if n < 1:
        raise TourError(f"a tour has at least one city; n is {n}")
    try:
        cities = np.asarray(tour)
    except ValueError as error:
        raise TourError(f"a tour must be a flat sequence of integers: {error}") from error
    if is_masked(tour):
        raise TourError("a tour must hold every city; a masked array does not say what its masked elements are")
    if cities.dtype.kind not in "iu":
        raise TourError(f"a tour must hold integers; this one has dtype {cities.dtype}")
    if cities.shape != (n,):
        raise TourError(f"a tour of {n} cities must have shape ({n},); this one has shape {cities.shape}")
    outside = np.flatnonzero((cities < 0) | (cities >= n))
    if outside.size:
        p = int(outside[0])
        raise TourError(f"city {cities[p]} at position {p} of the tour is not one of 0, …, {n - 1}")
    cities = cities.astype(np.int32, copy=False)
    visits = np.bincount(cities, minlength=n)
    if visits.max(initial=1) > 1:
        city = int(np.argmax(visits > 1))
        missing = int(np.argmin(visits))
        raise TourError(f"the tour visits city {city} {visits[city]} times and city {missing} never")
    return cities


def is_tour(tour: ArrayLike, n: int) -> bool:
    """Tell whether an array visits each of the cities 0, …, n-1 once.

    Parameters
    ----------
    tour : array_like
    n : int

    Returns
    -------
    bool
    """
    try:
        check_tour(tour, n)
    except TourError:
        return False
    return True


def random_tours(n: int, climbers: int, seed: int, first: int = 0) -> NDArray[np.int32]:
    """Return the random tours from which climbers start.

    The tour of a climber is a function of (`n`, `seed`, climber) alone, uniformly distributed over all n! orders, and
    the same bit for bit as the one that a kernel makes (`core/tour.fut`): Fisher and Yates' shuffle from the end,
    drawing from SplitMix64's finalizer applied to a counter.

    Parameters
    ----------
    n : int
        The number of cities, 1 ≤ n < 2**31.
    climbers : int
        Number of tours, ≥ 0.
    seed : int
        0 ≤ seed < 2**64.
    first : int, optional
        The number of the first climber, ≥ 0.

    Returns
    -------
    numpy.ndarray of int32, shape (climbers, n)

    Raises
    ------
    ValueError
        If a number is out of its range.

    Examples
    --------
    >>> random_tours(5, 2, seed=0)
    array([[3, 4, 0, 1, 2],
           [2, 1, 0, 4, 3]], dtype=int32)
    """
    n = whole_number("n", n, 1, _MOST_CITIES)
    climbers = whole_number("climbers", climbers, 0, 2**62)
    seed = whole_number("seed", seed, 0, _MASK)
    first = whole_number("first", first, 0, 2**62)
    keys = _streams(seed, np.arange(first, first + climbers, dtype=np.uint64))
    if climbers == 1:
        return _shuffled(n, keys)[None, :]
    # Cities by position, so that a swap touches two rows, each contiguous over the climbers.
    tours = np.repeat(np.arange(n, dtype=np.int32)[:, None], climbers, axis=1)
    each = np.arange(climbers)
    steps = np.arange(n + 1, dtype=np.uint64)
    for p in range(n - 1, 0, -1):
        q = _below(keys, steps[p : p + 1], steps[p + 1 : p + 2])
        swapped = tours[q, each]
        tours[q, each] = tours[p]
        tours[p] = swapped
    return np.ascontiguousarray(tours.T)


def bridge_cuts(n: int, seed: int, kick: int) -> NDArray[np.int64]:
    """Return where a double bridge cuts a tour: the four positions, in order, whose edges from the position before go.

    They are a function of (n, `seed`, `kick`) alone: any four edges of which no two share a city, each choice as
    likely. So each stretch has two cities at least; where two neighbouring ones had one each, fewer edges would be new.

    >>> bridge_cuts(100, seed=0, kick=0)
    array([28, 39, 46, 72])
    """
    n = whole_number("n", n, BRIDGED_CITIES, _MOST_CITIES)
    seed = whole_number("seed", seed, 0, _MASK)
    kick = whole_number("kick", kick, 0, 2**62)
    key, bound = _streams(seed, np.array([kick], dtype=np.uint64)), np.array([n], dtype=np.uint64)
    # Behind the words that random tours are made of, and drawn again until no two edges share a city.
    for word in itertools.count(_MOST_CITIES + 1, 4):
        cuts = np.sort(_below(key, np.arange(word, word + 4, dtype=np.uint64), bound))
        if np.diff(cuts, append=cuts[0] + n).min() > 1:
            break
    return cuts


def double_bridge(tour: NDArray[np.int32], cuts: NDArray[np.int64]) -> NDArray[np.int32]:
    """Return a tour A B C D as A D C B, none of them reversed. `cuts` say where B, C and D begin, and A behind them.

    Martin, Otto, Felten: Large-Step Markov Chains for the Traveling Salesman Problem, Complex Systems 5, 1991.

    >>> double_bridge(np.arange(10, dtype=np.int32), np.array([2, 4, 7, 9]))
    array([0, 1, 7, 8, 4, 5, 6, 2, 3, 9], dtype=int32)
    """
    b, c, d, a = cuts
    return np.concatenate([tour[:b], tour[d:a], tour[c:d], tour[b:c], tour[a:]])


def _shuffled(n: int, key: NDArray[np.uint64]) -> NDArray[np.int32]:
    """Shuffle one tour, from a key of shape (1,): for a single climber plain lists are faster than arrays."""
    steps = np.arange(1, n, dtype=np.uint64)
    draws = _below(key, steps, steps + np.uint64(1)).tolist()
    tour = list(range(n))
    for p in range(n - 1, 0, -1):
        q = draws[p - 1]
        tour[p], tour[q] = tour[q], tour[p]
    return np.array(tour, dtype=np.int32)


def _mix(x: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Apply SplitMix64's finalizer."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    x = x ^ (x >> np.uint64(31))
    return x


def _streams(seed: int, climbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return the keys of climbers' streams."""
    base = _mix(np.array([(seed + int(_GOLDEN)) & _MASK], dtype=np.uint64))
    return _mix(base + climbers * _GOLDEN)


def _below(keys: NDArray[np.uint64], steps: NDArray[np.uint64], bounds: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Draw whole numbers below `bounds`, element by element: the high half of a word, scaled."""
    words = _mix(keys + (steps + np.uint64(1)) * _GOLDEN)
    scaled: NDArray[np.uint64] = ((words >> np.uint64(32)) * bounds) >> np.uint64(32)
    return scaled.astype(np.int64)


def numbers_of(order: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return the new number of each city, where `order` has the cities in order of these."""
    numbers = np.empty(len(order), dtype=np.int32)
    numbers[order] = np.arange(len(order), dtype=np.int32)
    return numbers
