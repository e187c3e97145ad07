"""What an iterated local search may be asked for."""

from __future__ import annotations

from dataclasses import dataclass

from pytsp.solvers.options.fields import choice, switch, whole
from pytsp.solvers.options.shared import (
    MOVES,
    PIVOTS,
    Climbers,
    NeighbourLists,
    check_chains,
    iterations,
    moves,
    pivot,
    start,
    temperature,
)

MAPPINGS = ("auto", "block", "thread", "lockstep")
"""How climbers are laid out on a GPU."""

KICKS = ("segments", "walk", "mixed", "anywhere")
"""Where a double bridge cuts the tour, by the kernels' numbers: close along the tour; close on the lists; either;
anywhere along the tour."""

ACCEPTANCES = ("annealing", "shorter")
"""Which tours are accepted, by the kernels' numbers: some longer ones, by chance; shorter ones only."""


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class ILS(Climbers, NeighbourLists):
    """Iterated local search: climbers change their local optima a little, repair them, and keep what is not longer.

    Each climber goes from its starting tour to a local optimum, and from there on changes its tour at random in one
    place (a kick: a double bridge), repairs it by local search, and keeps what is not longer than before [1]_ [2]_. By
    default there is one climber a core, or on a GPU 4,096 as far as its memory holds them and they begin in a fifth of
    the time limit. An initial tour is the one from which all climbers start.

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
        "How many kicks each climber tries. By default as many as the time limit allows; without one, a number that "
        "depends on n, the number of climbers and the kind of machine, so that the solve ends by itself, within 3 s "
        "for up to 1,000 cities."
    )
    start: str | None = start(
        'The tour from which climber 0 starts, by default "greedy" with `moves` "lk" or without coordinates, else '
        '"space-filling-curve", with clusters in order. '
        "Climbers 1, …, 63 start from nearest-neighbour tours that begin in different cities, all others from random "
        'tours; with "random" all do.'
    )
    moves: str | None = moves(
        MOVES,
        'The local search\'s moves: "lk", Lin–Kernighan chains of up to 25 sequential 3-opt moves [5]_, the default '
        'where `pivot` is "first", on a GPU where climbers have thread blocks. "3-opt", such moves one by one, the '
        "default else; "
        '"or-opt", 2-opt moves and Or-opt moves of segments of up to three cities.',
    )
    pivot: str = pivot(
        PIVOTS,
        'Make the first move of a city that shortens the tour, or the best; with "random-k", draw `draws` moves of the '
        "cities that wait and make the best of all; where it does not shorten the tour, local search ends [2]_. The "
        "result then need not be a local optimum.",
    )
    draws: int | None = whole(
        1,
        2**31 - 1,
        doc='With `pivot` "random-k": how many moves a step of local search draws. By default 200. The time of an '
        "iteration grows with them.",
        help="moves a step draws by --pivot random-k",
        metavar="K",
    )
    draw_blocks: int | None = whole(
        1,
        1024,
        doc='On a GPU, with `pivot` "random-k": among how many thread blocks the draws of each climber are shared out '
        '[2]_, by `mapping` "lockstep". By default one.',
        help="thread blocks of a GPU that share a climber's draws",
        metavar="B",
    )
    mapping: str = choice(
        MAPPINGS,
        default="auto",
        doc="How climbers are laid out on a GPU: one a thread block, with its tour in the block's shared memory; one a "
        'thread; or "lockstep", all of them a move at a time, by a thread block each, with tours in the device\'s '
        'memory [2]_. The results are the same; "auto" takes blocks where they hold a tour, else threads.',
        help="climbers on a GPU",
    )
    kick: str | None = choice(
        KICKS,
        doc="The double bridge's four edges lie near each other along the tour, up to 50 positions apart, with `moves` "
        '"lk" up to 200, but for asymmetric instances; or are found by random walks on the neighbour lists [6]_, or '
        'either, as it is drawn; or by "anywhere" they lie at random on the tour. By default "segments" with `moves` '
        '"lk", but not for asymmetric instances; else "mixed".',
        help="where a tour changes (default: segments; directed ways, other moves: mixed)",
    )
    acceptance: str = choice(
        ACCEPTANCES,
        default="annealing",
        doc="The tours that are accepted: as in simulated annealing [3]_ such as are longer than the one before by no "
        'more than a random amount of about the temperature; by "shorter" no tour that is longer or as long [2]_.',
        help="which tours are accepted (default: annealing)",
    )
    temperature: float | None = temperature(
        "How much longer an accepted change may make a tour at first, a random amount of about this length as in "
        "simulated annealing [3]_. It falls to 0, with the square of the iterations or "
        "the time that are left. The climber's best tour is kept beside. By default 1.2 times the mean distance "
        "between a city and its two nearest neighbours."
    )
    exchange: int | None = whole(
        1,
        doc="After each so many iterations the quarter of the climbers with the longest tours takes over the tours of "
        "the quarter with the shortest. By default never.",
        help="exchange good tours after so many iterations",
    )
    restart: int | None = whole(
        1,
        doc="After each so many iterations, in which the temperature falls to 0, climbers begin anew, from a nearest-"
        "neighbour tour of another city, or from a random one where they started from such; where the temperature is 0 "
        "all the time, those that have found nothing shorter since the last time. Each keeps the shortest tour that it "
        "has had. By default never.",
        help="begin anew after N iterations",
    )
    merge: bool = switch(
        doc="The climbers' shortest tours, of more than 100 climbers the best of them, are crossed as by `EAX` until "
        "they agree, in the end and each time before climbers begin anew, then with the best tour from before (tour "
        "merging [4]_). Where a climber ends then depends on the others.",
        help="merge the climbers' tours in the end",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("draws", "draw_blocks"):
            if getattr(self, name) is not None and self.pivot != "random-k":
                told = f"{name}={getattr(self, name)!r} does not concern pivot={self.pivot!r}"
                raise ValueError(f"{told}; it is for pivot='random-k'")
        check_chains(self.moves, self.pivot)
        if self.temperature and self.acceptance == "shorter":
            raise ValueError(f"temperature={self.temperature!r} has no effect with acceptance='shorter'")
        if self.draw_blocks is not None and self.mapping not in ("auto", "lockstep"):
            told = f"draw_blocks={self.draw_blocks!r} does not concern mapping={self.mapping!r}"
            raise ValueError(f"{told}; it is for mapping='lockstep'")
        if self.merge and self.layout == "lockstep":
            raise ValueError("merge=True does not concern mapping='lockstep', whose kernels cross no tours")

    @property
    def layout(self) -> str:
        """The mapping that is meant: draws are shared out among blocks by one of them only."""
        return self.mapping if self.draw_blocks is None else "lockstep"

    @property
    def kernels_part(self) -> str:
        return "strategies" if self.layout == "lockstep" else self.part
