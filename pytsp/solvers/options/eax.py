"""Options of edge assembly crossover."""

from __future__ import annotations

from dataclasses import dataclass

from pytsp.solvers.options.fields import whole
from pytsp.solvers.options.shared import (
    FLAT,
    MOVES,
    PIVOTS,
    Climbers,
    NeighbourLists,
    iterations,
    moves,
    pivot,
)


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class EAX(Climbers, NeighbourLists):
    """Edge assembly crossover: climbers take over edges from each other that shorten their tours.

    The climbers of a population descend, then cross until they agree [1]_: each tour takes over all exchanges of edges
    with another one that shorten it and fit together. By default there are 100 climbers (fewer from 2,000 cities on,
    down to 24), or 512 on a GPU. With nothing but a time limit there are as many as have time to converge. An initial
    tour joins the population.

    References
    ----------
    .. [1] Nagata, Kobayashi: A Powerful Genetic Algorithm Using Edge Assembly Crossover for the Traveling Salesman
       Problem, INFORMS Journal on Computing 25(2), 2013.
    .. [2] Honda, Nagata, Ono: A parallel genetic algorithm with edge assembly crossover for 100,000-city scale TSPs,
       IEEE Congress on Evolutionary Computation, 2013.
    """

    name = "eax"
    title = "edge assembly crossover"
    part = "flat"
    in_space = frozenset({"cpu", "gpu"})

    iterations: int | None = iterations(
        "Most generations of one population, also with a time limit. By default a population ends when no tour becomes "
        "shorter. With a time limit alone more populations follow, until ten in a row find nothing shorter. Without "
        "any limit, up to 1,500 cities, they follow until several agree."
    )
    moves: str | None = moves(
        (*MOVES, FLAT),
        'Moves of the local search. "lk": Lin–Kernighan chains (see `ILS`), the default if `pivot` is "first". '
        '"3-opt": sequential 3-opt moves, the default otherwise. "or-opt": 2-opt moves, and Or-opt moves of segments '
        'of up to three cities. "flat": tours made in bulk, with 2-opt and Or-opt moves of all cities at once, the '
        "default on a GPU from 1,000 cities on without a matrix. A GPU's host makes the others.",
    )
    pivot: str = pivot(PIVOTS[:2], "Make the first move of a city that shortens the tour, or the best one.")
    population: int | None = whole(
        1,
        2**40,
        doc="Most climbers that cross, those with the shortest tours. By default all; 300 if `solver` is "
        '"auto" and `climbers` is given, because the time grows faster than the population.',
        help="cross the best N climbers",
    )
    islands: int = whole(
        1,
        2**16,
        default=1,
        doc="Number of populations of `climbers` each, which GPUs or processes can share (see `devices` and "
        "`executor`). After every ten generations, or twenty above 20,000 cities, each sends a quarter of its tours to "
        "the next one and takes as many [2]_. They end when all agree and none found a shorter tour since the last "
        "exchange.",
        help="number of populations that exchange tours",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.moves == "lk":
            self.check_effect("moves", "pivot", "first")
        if self.moves == FLAT and self.pivot != "first":
            raise ValueError(f"moves='flat' has no effect with pivot={self.pivot!r}: every city makes its best move")
