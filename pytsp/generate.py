"""Generated instances: uniformly random cities, in clusters, on a grid; the same for the same numbers everywhere."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from pytsp.problem.instance import Instance
from pytsp.utils.arguments import whole_number

__all__ = ["clustered", "grid", "uniform"]

# Knuth's subtractive generator: a number is the difference of the ones 55 and 24 places before it.
_MODULUS = 10**9
_LONG, _SHORT = 55, 24
_WARM_UP = 165
_SIDE = 10**6
_MOST_CITIES = 10**8
# Cities per cluster of the challenge, on average.
_CLUSTER = 100
# The distance of neighbouring places of a grid: whole lengths then tell its ties from its near-ties.
_SPACING = 100


def uniform(n: int, seed: int) -> Instance:
    """Return uniformly random cities with whole coordinates in the square [0, 10**6)², metric EUC_2D.

    These are instances of the DIMACS Implementation Challenge: E1k.0 is ``uniform(1000, 1000)``, E1k.i for i > 0 is
    ``uniform(1000, 10000 + i)``, E10k.0 ``uniform(10_000, 10_000)``, E100k.0 ``uniform(100_000, 100_000)`` and E1M.0
    ``uniform(1_000_000, 1_000_000)``.

    Parameters
    ----------
    n : int
        The number of cities, 1 ≤ n ≤ 10**8.
    seed : int
        0 ≤ seed < 10**9.

    Returns
    -------
    Instance
        Named ``portgen-n-seed``.

    Raises
    ------
    ValueError
        If a number is out of its range.

    Notes
    -----
    A million cities take about a second.

    References
    ----------
    D. S. Johnson, L. A. McGeoch: Experimental analysis of heuristics for the STSP, in: The Traveling Salesman Problem
    and its Variations, Kluwer 2002. The random numbers: D. E. Knuth, The Art of Computer Programming 2, section 3.2.2.

    Examples
    --------
    >>> uniform(3, 1000).coordinates
    array([[140237., 801141.],
           [169837., 196125.],
           [685585., 729516.]])
    """
    n = whole_number("n", n, 1, _MOST_CITIES)
    seed = whole_number("seed", seed, 0, _MODULUS - 1)
    numbers = _subtractive(seed, _WARM_UP + 2 * n)[_WARM_UP:]
    points = (numbers // (_MODULUS // _SIDE)).reshape(n, 2)
    return Instance.from_coordinates(points, metric="EUC_2D", name=f"portgen-{n}-{seed}")


def clustered(n: int, seed: int, clusters: int | None = None) -> Instance:
    """Return cities in clusters, normally distributed around uniformly random centres, metric EUC_2D.

    These are instances of the DIMACS Implementation Challenge: C1k.0 is ``clustered(1000, 1000)``, C1k.i for i > 0 is
    ``clustered(1000, 10000 + i)``, C10k.0 ``clustered(10_000, 10_000)``, C100k.0 ``clustered(100_000, 100_000)``.

    Parameters
    ----------
    n : int
        The number of cities, 1 ≤ n ≤ 10**8.
    seed : int
        0 ≤ seed < 10**9.
    clusters : int, optional
        The number of centres, at least 1; by default n // 100, as in the challenge, or 1 below 100 cities, for which
        the challenge's program has no centre.

    Returns
    -------
    Instance
        Named ``portcgen-n-seed``, with ``-clusters`` where these are given. Coordinates are whole, the centres within
        [0, 10**6)², the standard deviation of a cluster is 10**6 / √n along each axis, rounded towards its centre;
        cities may lie outside the square.

    Raises
    ------
    ValueError
        If a number is out of its range.

    Notes
    -----
    A million cities take a few seconds. The logarithm is the C library's: where two libraries' differ in the last bit,
    a coordinate may, in theory, differ by one.

    References
    ----------
    D. S. Johnson, L. A. McGeoch: Experimental analysis of heuristics for the STSP, in: The Traveling Salesman Problem
    and its Variations, Kluwer 2002. The normal deviates: D. E. Knuth, The Art of Computer Programming 2, section 3.4.1,
    algorithm P.

    Examples
    --------
    >>> clustered(3, 1).name
    'portcgen-3-1'
    """
    n = whole_number("n", n, 1, _MOST_CITIES)
    seed = whole_number("seed", seed, 0, _MODULUS - 1)
    name = f"portcgen-{n}-{seed}" if clusters is None else f"portcgen-{n}-{seed}-{clusters}"
    count = max(1, n // _CLUSTER) if clusters is None else whole_number("clusters", clusters, 1, _MOST_CITIES)
    # Of the pairs, π / 4 lie within the circle: a city draws 3.55 numbers on average, and this number never runs out.
    shares = _subtractive(seed, _WARM_UP + 2 * count + 4 * n + 1000)[_WARM_UP:] / _MODULUS
    centres = (shares[: 2 * count] * _SIDE).astype(np.int64).reshape(count, 2)
    chosen, deviates = _deviates(shares[2 * count :], n)
    nearby = (deviates * (1.0 / math.sqrt(n)) * _SIDE).astype(np.int64)
    return Instance.from_coordinates(centres[(chosen * count).astype(np.int64)] + nearby, metric="EUC_2D", name=name)


def _deviates(shares: NDArray[np.float64], n: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return for each of n cities a number of [0, 1), and two normal deviates, shape (n, 2), in the order of the draws.

    A city draws its number, then pairs until one lies within the circle.
    """
    signed = 2.0 * shares - 1.0
    squares = signed[:-1] * signed[:-1] + signed[1:] * signed[1:]
    is_within = ((squares < 1.0) & (squares > 0.0)).tolist()
    numbers, pairs, at = [], [], 0
    for _ in range(n):
        numbers.append(at)
        at += 1
        while not is_within[at]:
            at += 2
        pairs.append(at)
        at += 2
    drawn = np.array(pairs)
    scale = np.array([math.sqrt(-2.0 * math.log(square) / square) for square in squares[drawn].tolist()])
    return shares[numbers], np.column_stack((signed[drawn + 1] * scale, signed[drawn] * scale))


def grid(n: int, seed: int, share: float = 0.5) -> Instance:
    """Return cities on random places of a square grid, each on one of its own, metric EUC_2D.

    Many distances are equal there, as among the holes of a circuit board.

    Parameters
    ----------
    n : int
        The number of cities, 1 ≤ n ≤ 10**8.
    seed : int
        0 ≤ seed < 10**9.
    share : float, optional
        Share of the places that are taken, more than 0 and at most 1; the grid is the smallest square one that keeps
        it. With 1 and a square number of cities only the order of the cities is random.

    Returns
    -------
    Instance
        Named ``grid-n-seed``; places are 100 apart.

    Raises
    ------
    ValueError
        If a number is out of its range, or the grid would have more than 10**8 places.

    Examples
    --------
    >>> grid(4, 0, share=1).tour_length([0, 1, 2, 3]) >= 400
    True
    """
    n = whole_number("n", n, 1, _MOST_CITIES)
    seed = whole_number("seed", seed, 0, _MODULUS - 1)
    if not 0 < share <= 1:
        raise ValueError(f"share must be more than 0 and at most 1; it is {share!r}")
    if n > _MOST_CITIES * share:
        raise ValueError(f"n={n} cities with share={share!r} need a grid of more than {_MOST_CITIES} places")
    side = math.isqrt(math.ceil(n / share) - 1) + 1
    keys = _subtractive(seed, _WARM_UP + side * side)[_WARM_UP:]
    # Each place has a random number; those with the smallest ones are taken, in their order.
    places = np.argsort(keys, kind="stable")[:n]
    points = np.column_stack((places % side, places // side)) * _SPACING
    return Instance.from_coordinates(points, metric="EUC_2D", name=f"grid-{n}-{seed}")


def _subtractive(seed: int, count: int) -> NDArray[np.int64]:
    """Return the first `count` numbers of the generator, each in [0, 10**9)."""
    state = [0] * _LONG
    state[0] = last = seed
    following = 1
    for i in range(1, _LONG):
        slot = (21 * i) % _LONG
        state[slot] = following
        following = (last - following) % _MODULUS
        last = state[slot]
    numbers = np.empty(_LONG + count, dtype=np.int64)
    # The generator walks through its state from the end.
    numbers[:_LONG] = state[::-1]
    for first in range(_LONG, len(numbers), _SHORT):
        end = min(first + _SHORT, len(numbers))
        block = numbers[first:end]
        np.subtract(numbers[first - _LONG : end - _LONG], numbers[first - _SHORT : end - _SHORT], out=block)
        block[block < 0] += _MODULUS
    return numbers[_LONG:]
