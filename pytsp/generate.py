"""Generated instances: uniformly random cities, the same for the same numbers everywhere."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pytsp.instance import Instance
from pytsp.tours import whole_number

__all__ = ["uniform"]

# Knuth's subtractive generator: a number is the difference of the ones 55 and 24 places before it.
_MODULUS = 10**9
_LONG, _SHORT = 55, 24
_WARM_UP = 165
_SIDE = 10**6
_MOST_CITIES = 10**8


def uniform(n: int, seed: int) -> Instance:
    """Return uniformly random cities with whole coordinates in the square [0, 10**6)², metric EUC_2D.

    They are those of the DIMACS Implementation Challenge: E1k.0 is ``uniform(1000, 1000)``, E1k.i for i > 0 is
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
