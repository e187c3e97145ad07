"""Options of the search of one huge tour."""

from __future__ import annotations

from dataclasses import dataclass

from pytsp.backends.kind import CPU_PART
from pytsp.solvers.options.fields import whole
from pytsp.solvers.options.shared import MOVES, NeighbourLists, iterations, moves, start, temperature
from pytsp.utils.arguments import is_array


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class LargeTour(NeighbourLists):
    """One huge tour in pieces, through cities in the plane, in space or on a sphere, on a CPU.

    The pieces of one tour go through an iterated local search side by side. Moves between the pieces mend their
    borders, which lie elsewhere in each round [1]_. The search shortens the initial tour if there is one.

    References
    ----------
    .. [1] Helsgaun: General k-opt submoves for the Lin-Kernighan TSP heuristic, Mathematical Programming Computation 1,
       2009, whose segments of a tour these pieces are.
    """

    name = "large"
    title = "one huge tour"
    part = CPU_PART

    iterations: int | None = iterations(
        "Number of rounds, in each of which a piece tries a kick for each ten of its cities. By default 100, or as "
        "many as the time limit allows."
    )
    piece: int | None = whole(
        8,
        2**31 - 1,
        doc="Cities per piece, by default 5,000.",
        help="cities per piece",
    )
    moves: str | None = moves(
        MOVES,
        'Moves within the pieces (see `ILS`), by default "lk". Moves between pieces are those of 3-opt.',
    )
    start: str | None = start(
        'First tour (see `pytsp.starts`), by default "space-filling-curve" with clusters in order.'
    )
    temperature: float | None = temperature(
        "Length by which an accepted tour may be longer at first, about. It falls to 0 with the third power of the "
        "share of iterations that is left, or of the time if only that ends them. By default 1.2 times the mean "
        "distance between a city and its two nearest neighbours."
    )
    stripes: int = whole(
        1,
        2**16,
        default=1,
        doc="Number of stretches of the tour that processes can share (see `executor`), each a path that is searched "
        "in pieces. There are four epochs, in each of which stripes are cut elsewhere. After each, moves over the "
        "whole tour mend their borders. With a time limit alone there are two epochs, and such moves at the end. A "
        "stripe has at least eight cities.",
        help="number of stretches that processes can share",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.stripes > 1 and is_array(self.neighbours):
            raise ValueError(f"neighbours given as lists have no effect with stripes={self.stripes}; give their number")
