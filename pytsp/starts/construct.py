"""Starting tours for local search: random, nearest neighbour, greedy, along a space-filling curve."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pytsp.neighbours.hilbert import hilbert_order
from pytsp.neighbours.lists import check_neighbours, neighbour_lists
from pytsp.problem.fixed_edges import held
from pytsp.problem.instance import Instance
from pytsp.problem.location import curve_points, partners_of
from pytsp.problem.tours import random_tours
from pytsp.starts.fragments import greedy_order
from pytsp.starts.nearest_unvisited import nearest_neighbour_order
from pytsp.utils.arguments import whole_number

Start: TypeAlias = Literal["random", "nearest-neighbour", "greedy", "space-filling-curve"]

STARTS: tuple[str, ...] = get_args(Start)
"""The names of the starting tours."""

GREEDY_NEIGHBOURS = 5
"""The length of the greedy tour's lists: longer ones make it no shorter, only slower."""

_MOST_SEED = 2**64 - 1


def start_tour(
    instance: Instance, start: Start, *, seed: int = 0, neighbours: ArrayLike | None = None
) -> NDArray[np.int32]:
    """Return a tour from which a local search may start.

    Parameters
    ----------
    instance : Instance
    start : {"random", "nearest-neighbour", "greedy", "space-filling-curve"}
        The rule: `random_start`, `nearest_neighbour`, `greedy`, `space_filling_curve`.
    seed : int, optional
        0 ≤ seed < 2**64. It decides random choices, if there are any.
    neighbours : array_like of integers, shape (n, k), optional
        Neighbour lists without quadrants, for the nearest-neighbour tour, if the caller has them.

    Returns
    -------
    ndarray of int32, shape (n,)
        The same for the same arguments. Pairs of cities that stay together, by the instance's coordinates, do.

    Raises
    ------
    ValueError
        If there is no such start, the seed is out of range, the neighbours are none, or a curve is asked for where
        there are no coordinates.

    Examples
    --------
    >>> line = Instance.from_coordinates([[0, 0], [7, 0], [3, 0], [1, 0]])
    >>> start_tour(line, "greedy")
    array([0, 3, 2, 1], dtype=int32)
    """
    seed = whole_number("seed", seed, 0, _MOST_SEED)
    makers: dict[str, Callable[[], NDArray[np.int32]]] = {
        "random": lambda: random_start(instance, seed=seed),
        "nearest-neighbour": lambda: nearest_neighbour(instance, seed=seed, neighbours=neighbours),
        "greedy": lambda: greedy(instance, neighbours=neighbours),
        "space-filling-curve": lambda: space_filling_curve(instance),
    }
    if start not in makers:
        raise ValueError(f"start {start!r} is not known; known: {', '.join(STARTS)}")
    tour, partners = makers[start](), partners_of(instance)
    return tour if partners is None else held(tour, partners)


def random_start(instance: Instance, *, seed: int = 0) -> NDArray[np.int32]:
    """Return the random tour of climber 0, shape (n,); see `pytsp.random_tours`."""
    tour: NDArray[np.int32] = random_tours(instance.n, 1, seed)[0]
    return tour


def nearest_neighbour(instance: Instance, *, seed: int = 0, neighbours: ArrayLike | None = None) -> NDArray[np.int32]:
    """Return the tour that always goes to the nearest unvisited city.

    It starts at city ``seed % n``. Nearness is that of `neighbour_lists`; of equally near cities the smallest is next,
    and those that coincide with it come first.

    Parameters
    ----------
    instance : Instance
    seed : int, optional
        0 ≤ seed < 2**64.
    neighbours : array_like of integers, shape (n, k), optional
        Result of `neighbour_lists` without quadrants, by default lists of 10. They do not change the tour.

    Returns
    -------
    ndarray of int32, shape (n,)

    Raises
    ------
    ValueError
        If the seed is out of range, or the neighbours are none.

    Notes
    -----
    About 25 % longer than a shortest tour on uniform cities. Work O(n k) and a question to a k-d tree, or a row of
    distances, for each city whose listed neighbours are all visited.

    References
    ----------
    J. L. Bentley: Fast algorithms for geometric traveling salesman problems. ORSA Journal on Computing 4 (1992).
    """
    seed = whole_number("seed", seed, 0, _MOST_SEED)
    lists = None if neighbours is None else check_neighbours(neighbours, instance.n)
    return nearest_neighbour_order(instance, seed % instance.n, lists)


def greedy(instance: Instance, *, neighbours: ArrayLike | None = None) -> NDArray[np.int32]:
    """Return the tour of the greedy algorithm (multiple fragment): the shortest edge first that still fits.

    The edges to listed neighbours are taken in order of (length, smaller city, larger city), if both ends have fewer
    than two edges and the edge closes no cycle. The edges from each end of a fragment to the eight nearest ends then
    join the fragments in the same way, until one is left.

    Parameters
    ----------
    instance : Instance
    neighbours : array_like of integers, shape (n, k), optional
        By default `neighbour_lists` of 5. With all others listed it is the greedy tour of all edges.

    Returns
    -------
    ndarray of int32, shape (n,)

    Raises
    ------
    ValueError
        If the neighbours are invalid.

    Notes
    -----
    13 to 20 % longer than a shortest tour on uniform cities. Where more cities coincide than a list can hold, they are
    joined first, in order of their numbers. Work O(n k log n), memory O(n k).

    References
    ----------
    J. L. Bentley: Fast algorithms for geometric traveling salesman problems. ORSA Journal on Computing 4 (1992).
    """
    if neighbours is None:
        lists = neighbour_lists(instance, GREEDY_NEIGHBOURS)
    else:
        lists = check_neighbours(neighbours, instance.n)
    return greedy_order(instance, lists)


def space_filling_curve(instance: Instance) -> NDArray[np.int32]:
    """Return the cities in order of their positions on Hilbert's curve, of the plane or, in three dimensions, of space.

    Places on a sphere are in order of the curve through equal-area maps of its halves.

    There are 2**20 cells along an axis. A cell of more than eight cities has a curve of its own. The cities of another
    cell are in order of their numbers.

    Parameters
    ----------
    instance : Instance
        Given by coordinates, of any metric.

    Returns
    -------
    ndarray of int32, shape (n,)

    Raises
    ------
    ValueError
        If the instance is given by a matrix.

    Notes
    -----
    35 to 40 % longer than a shortest tour on uniform cities. Work O(n log n), memory O(n).

    References
    ----------
    L. K. Platzman, J. J. Bartholdi: Spacefilling curves and the planar travelling salesman problem. Journal of the
    ACM 36 (1989).
    """
    points = curve_points(instance)
    if points is None:
        raise ValueError(
            f"a space-filling curve needs coordinates; {instance.name or 'the instance'} has metric {instance.metric}; "
            "take another start, such as 'greedy'"
        )
    return hilbert_order(points)
