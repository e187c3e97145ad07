"""Options of iterated local search."""

from __future__ import annotations

from dataclasses import dataclass

from pytsp.solvers.options.fields import choice, switch, whole
from pytsp.solvers.options.shared import (
    MOVES,
    PIVOTS,
    Climbers,
    NeighbourLists,
    iterations,
    moves,
    pivot,
    start,
    temperature,
)

MAPPINGS = ("auto", "block", "thread", "lockstep")
"""Mappings of climbers to a GPU."""

KICKS = ("segments", "walk", "mixed", "anywhere")
"""Cuts of a double bridge, by the kernels' numbers: close along the tour; close on the lists; either; anywhere."""

ACCEPTANCES = ("annealing", "shorter")
"""Rules of acceptance, by the kernels' numbers: longer tours by chance; shorter tours only."""


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class ILS(Climbers, NeighbourLists):
    """Iterated local search: climbers change their tours a little, repair them, and keep the better ones.

    Each climber descends from its starting tour to a local optimum. Then it repeatedly changes its tour at random in
    one place (a kick: a double bridge) and repairs it by local search. It keeps the result if that is not longer, or by
    `acceptance` [1]_ [2]_. By default there is one climber per core, or up to 4,096 on a GPU: as many as its memory
    holds and as begin within a fifth of the time limit. All climbers start from an initial tour if there is one.

    References
    ----------
    .. [1] Lourenço, Martin, Stützle: Iterated Local Search, Handbook of Metaheuristics, 2003.
    .. [2] Delévacq, Delisle, Krajecki: Parallelization Strategies for Local Search Algorithms on Graphics Processing
       Units, 2012.
    .. [3] Martin, Otto, Felten: Large-Step Markov Chains for the Traveling Salesman Problem, Complex Systems 5, 1991.
    .. [4] Cook, Seymour: Tour merging via branch-decomposition, INFORMS Journal on Computing 15, 2003.
    .. [5] Helsgaun: An Effective Implementation of the Lin–Kernighan Traveling Salesman Heuristic, European Journal of
       Operational Research 126, 2000.
    .. [6] Applegate, Cook, Rohe: Chained Lin-Kernighan for Large Traveling Salesman Problems, INFORMS Journal on
       Computing 15, 2003.
    """

    name = "ils"
    title = "iterated local search"
    part = "search"
    in_space = frozenset({"cpu"})

    iterations: int | None = iterations(
        "Kicks per climber. By default as many as the time limit allows. Without a limit the number depends on n, the "
        "climbers and the machine; up to 1,000 cities the solve ends within 3 s."
    )
    start: str | None = start(
        'First tour of climber 0. By default "greedy" with `moves` "lk" or without coordinates, else '
        '"space-filling-curve" with clusters in order. Climbers 1, …, 63 start from nearest-neighbour tours of '
        'different cities, the others from random tours. With "random" all start from random tours.'
    )
    moves: str | None = moves(
        MOVES,
        'Moves of the local search. "lk": Lin–Kernighan chains of up to 25 sequential 3-opt moves [5]_, the default if '
        '`pivot` is "first" and, on a GPU, climbers have thread blocks. "3-opt": such moves one by one, the default '
        'otherwise. "or-opt": 2-opt moves, and Or-opt moves of segments of up to three cities.',
    )
    pivot: str = pivot(
        PIVOTS,
        'Make the first move of a city that shortens the tour, or the best one. "random-k" draws `draws` moves of the '
        "waiting cities and makes the best of all; if that does not shorten the tour, the local search ends [2]_. The "
        "result then need not be a local optimum.",
    )
    draws: int | None = whole(
        1,
        2**31 - 1,
        doc='With `pivot` "random-k": moves that a step of local search draws, by default 200. The time of an '
        "iteration grows with them.",
        help="moves per step of --pivot random-k (default: 200)",
        metavar="K",
    )
    draw_blocks: int | None = whole(
        1,
        1024,
        doc='On a GPU, with `pivot` "random-k" and `mapping` "lockstep": thread blocks that share the draws of a '
        "climber [2]_. By default one.",
        help="thread blocks of a GPU that share a climber's draws",
        metavar="B",
    )
    mapping: str = choice(
        MAPPINGS,
        default="auto",
        doc='Mapping of climbers to a GPU. "block": one per thread block, with its tour in shared memory. "thread": '
        'one per thread. "lockstep": all climbers a move at a time, one per thread block, with tours in device memory '
        '[2]_. The results are the same. "auto" takes blocks if they hold a tour, else threads.',
        help="mapping of climbers to a GPU",
    )
    kick: str | None = choice(
        KICKS,
        doc='Position of the four edges of a double bridge. "segments": near each other along the tour, up to 50 '
        'positions apart, or 200 with `moves` "lk" (120 if distances are asymmetric). "walk": at the ends of random '
        'walks on the neighbour lists [6]_. "mixed": either, by chance. "anywhere": at random on the tour. By default '
        '"segments" with `moves` "lk" and symmetric distances, else "mixed".',
        help="position of the kicks (default: segments or mixed)",
    )
    acceptance: str = choice(
        ACCEPTANCES,
        default="annealing",
        doc='Rule of acceptance. "annealing": accept a longer tour by chance, if it is longer than the tour before by '
        'about the temperature at most [3]_. "shorter": accept only shorter tours [2]_.',
        help="rule of acceptance (default: annealing)",
    )
    temperature: float | None = temperature(
        "Length by which an accepted tour may be longer at first, about, as in simulated annealing [3]_. It falls to "
        "0, with the square of the share of iterations or time that is left. The climber's best tour is kept beside. "
        "By default 1.2 times the mean distance between a city and its two nearest neighbours; in asymmetric instances "
        "4 times; 0 with the default lists of a lattice."
    )
    exchange: int | None = whole(
        1,
        doc="Iterations between two exchanges, in which the quarter of the climbers with the longest tours takes over "
        "the tours of the quarter with the shortest. By default never.",
        help="exchange good tours every N iterations",
    )
    restart: int | None = whole(
        1,
        doc="Iterations between two restarts, in which the temperature falls to 0. A climber restarts from a nearest-"
        "neighbour tour of another city, or from a random one if it started from such. At a constant temperature of 0 "
        "only climbers without a shorter tour since the last restart do. Each keeps its shortest tour. By default "
        "never.",
        help="restart every N iterations",
    )
    merge: bool = switch(
        doc="Cross the climbers' shortest tours as `EAX` does, until they agree (tour merging [4]_): at the end, and "
        "before each restart together with the best tour so far. Of more than 100 climbers the best are crossed. The "
        "result of a climber then depends on the others.",
        help="merge the climbers' tours at the end",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        self.check_effect("draws", "pivot", "random-k")
        self.check_effect("draw_blocks", "pivot", "random-k")
        if self.moves == "lk":
            self.check_effect("moves", "pivot", "first")
        if self.temperature and self.acceptance == "shorter":
            raise ValueError(f"temperature={self.temperature!r} has no effect with acceptance='shorter'")
        self.check_effect("draw_blocks", "mapping", "lockstep", "auto")
        if self.merge and self.layout == "lockstep":
            raise ValueError("merge=True has no effect with mapping='lockstep', whose kernels cross no tours")

    @property
    def layout(self) -> str:
        """The mapping; only "lockstep" shares draws among blocks."""
        return self.mapping if self.draw_blocks is None else "lockstep"

    @property
    def kernels_part(self) -> str:
        return "strategies" if self.layout == "lockstep" else self.part
