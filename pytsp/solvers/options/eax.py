"""What edge assembly crossover may be asked for."""

from __future__ import annotations

from dataclasses import dataclass

from pytsp.solvers.options.fields import whole
from pytsp.solvers.options.shared import (
    FLAT,
    MOVES,
    PIVOTS,
    Climbers,
    NeighbourLists,
    check_chains,
    check_flat,
    iterations,
    moves,
    pivot,
)


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class EAX(Climbers, NeighbourLists):
    """Edge assembly crossover: climbers take over from each other what makes their tours shorter.

    The climbers of a population descend, and then cross until they agree [1]_: each tour takes over all exchanges of
    edges with another one that shorten it and fit together. By default there are 100 (from 2,000 cities on fewer, down
    to 24), or on a GPU 512, and where a time limit is all that ends them as many as it lets converge. An initial tour
    belongs to the population.

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
        "How many generations of one population there are at most, with a time limit too; by default, and without a "
        "time limit, as many as shorten any tour. With a time limit alone, populations follow each other, until ten in "
        "a row have found nothing shorter; with nothing at all, and up to 1,500 cities, until another one has."
    )
    moves: str | None = moves(
        (*MOVES, FLAT),
        'The local search\'s moves: "lk", Lin–Kernighan chains (see `ILS`), the default where `pivot` is "first"; '
        '"3-opt", sequential 3-opt moves, the default else; "or-opt", 2-opt moves and Or-opt moves of segments of up '
        'to three cities; "flat", tours that are made in bulk, with 2-opt and Or-opt moves of all cities at once: the '
        "default on a GPU from 1,000 cities on, but for matrices. The others are made by the cores of a GPU's host.",
    )
    pivot: str = pivot(PIVOTS[:2], "Make the first move of a city that shortens the tour, or the best.")
    population: int | None = whole(
        1,
        2**40,
        doc="Of how many climbers a population is made at most, those with the shortest tours. By default of all; but "
        'of 300 where `solver` is "auto" and `climbers` is given: a population takes time that grows faster than its '
        "size.",
        help="cross the best N climbers",
    )
    islands: int = whole(
        1,
        2**16,
        default=1,
        doc="How many populations there are side by side, of `climbers` each, which GPUs or processes can share (see "
        "`devices` and `executor`). After every ten generations, above 20,000 cities twenty, each sends a quarter of "
        "its tours to the next one and takes as many [2]_. They end where all agree and none has found a shorter tour "
        "since the last time.",
        help="populations side by side that exchange tours",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        check_chains(self.moves, self.pivot)
        check_flat(self.moves, self.pivot)
