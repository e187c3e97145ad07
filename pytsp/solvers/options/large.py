"""What the search of one huge tour may be asked for."""

from __future__ import annotations

from dataclasses import dataclass

from pytsp.backends.kind import CPU_PART
from pytsp.solvers.options.fields import whole
from pytsp.solvers.options.shared import MOVES, NeighbourLists, iterations, moves, start, temperature
from pytsp.utils.arguments import is_array


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class LargeTour(NeighbourLists):
    """One huge tour by its pieces, of cities in the plane, in space and on spheres, by a CPU.

    The pieces of one tour go through an iterated local search side by side, and moves between the pieces join what lies
    across their borders; the pieces are cut elsewhere in each round [1]_. An initial tour is the one that becomes
    shorter.

    References
    ----------
    .. [1] Helsgaun: General k-opt submoves for the Lin-Kernighan TSP heuristic, Mathematical Programming Computation 1,
       2009, whose segments of a tour these pieces are.
    """

    name = "large"
    title = "one huge tour"
    part = CPU_PART

    iterations: int | None = iterations(
        "How many rounds there are, in each of which a piece tries a kick for each ten of its cities; by default 100, "
        "or as many as the time limit allows."
    )
    piece: int | None = whole(
        8,
        2**31 - 1,
        doc="How many cities a piece has, by default 5,000.",
        help="cities of a piece",
    )
    moves: str | None = moves(
        MOVES,
        'By which moves pieces become shorter (see `ILS`), by default "lk". Moves between pieces are those of 3-opt.',
    )
    start: str | None = start(
        'The tour that becomes shorter (see `pytsp.starts`), by default "space-filling-curve" with clusters in order.'
    )
    temperature: float | None = temperature(
        "What an accepted change may make a tour longer at first, a random amount of about this length; it falls to 0 "
        "with the third power of the iterations that are left, or of the time where only that ends them. By default "
        "1.2 times the mean distance between a city and its two nearest neighbours."
    )
    stripes: int = whole(
        1,
        2**16,
        default=1,
        doc="Into how many stretches the tour is cut that processes can share (see `executor`), each a path whose "
        "pieces become shorter. There are four epochs, in each of which stripes are cut elsewhere, and behind each "
        "moves over the whole tour join what lies across their borders; with a time limit alone there are two, and "
        "moves in the end. A stripe has eight cities at least.",
        help="stretches of the tour that processes can share",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.stripes > 1 and is_array(self.neighbours):
            raise ValueError(f"neighbours given as lists do not concern stripes={self.stripes}; give their number")
