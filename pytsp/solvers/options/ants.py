"""Options of ant colonies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pytsp.solvers.options.fields import choice, number, whole
from pytsp.solvers.options.shared import LOCAL_MOVES, Climbers, NeighbourLists, iterations, moves, start

VARIANTS = ("max-min", "rank", "ant-system")
"""Ants that strengthen the trails: the best, within limits; the best few by their ranks; all."""

# The power of inverse distances and the share of a trail that is lost, by variants, where they are not given. Those of
# "rank" and "ant-system" are Utne and Hansen's.
_DEFAULTS = {"max-min": (3.0, 0.1), "rank": (5.0, 0.5), "ant-system": (5.0, 0.5)}


def _power(most: int, *, doc: str, help: str, metavar: str) -> Any:
    """Return an option that takes multiples of a quarter, which kernels take to a power by products and roots only."""

    def holds(value: float) -> bool:
        return 0 <= value <= most and 4 * value == int(4 * value)

    return number(holds, f"a multiple of 0.25 from 0 to {most}", doc=doc, help=help, metavar=metavar)


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class AntColony(Climbers, NeighbourLists):
    """Ant colonies: ants make tours edge by edge, and prefer short edges and the trails of good tours.

    They serve comparison. The climbers are the colonies: one by default, or on a GPU as many as have 16,384 ants
    together. An initial tour is the first best tour.

    References
    ----------
    .. [1] Dorigo, Maniezzo, Colorni: Ant System: Optimization by a Colony of Cooperating Agents, IEEE Transactions on
       Systems, Man, and Cybernetics B 26, 1996.
    .. [2] Bullnheimer, Hartl, Strauss: A New Rank Based Version of the Ant System, Central European Journal of
       Operations Research 7, 1999.
    .. [3] Stützle, Hoos: MAX-MIN Ant System, Future Generation Computer Systems 16, 2000.
    .. [4] Utne, Hansen: Solving TSP on the GPU based on heuristic algorithms, University of Copenhagen, 2023.
    """

    name = "ants"
    title = "ant colonies"
    part = "comparators"

    iterations: int | None = iterations(
        "Tours per ant. By default 1,000, fewer above 200 cities, at least 50; with a time limit as many as it allows."
    )
    start: str | None = start('First best tour, by default "nearest-neighbour".')
    moves: str | None = moves(LOCAL_MOVES, "Moves of a local search of each ant's tour. By default there is none.")
    variant: str = choice(
        VARIANTS,
        default="max-min",
        doc='Tours that strengthen the trails of their edges. "max-min": the best of an iteration, or each second time '
        'the best so far, with limits to the trails [3]_. "rank": the best few of an iteration by their ranks, and the '
        'best so far [2]_. "ant-system": all [1]_, as Utne and Hansen have it [4]_.',
        help="ants that strengthen trails (default: max-min)",
    )
    ants: int | None = whole(
        1,
        2**20,
        doc="Ants per colony. By default n, fewer above 700 cities, at least 25; with `moves` 25.",
        help="ants per colony (default: by size)",
    )
    alpha: float | None = _power(
        4,
        doc="Power of the trail in the choice of an edge, a multiple of 0.25 up to 4. By default 1.",
        help="power of the trails (default: 1)",
        metavar="A",
    )
    beta: float | None = _power(
        16,
        doc='Power of the inverse distance, a multiple of 0.25 up to 16. By default 5; with "max-min" 3.',
        help="power of the inverse distances (default: by variant)",
        metavar="B",
    )
    evaporation: float | None = number(
        lambda value: 0 < value <= 1,
        "a share, more than 0 and at most 1",
        doc='Share of a trail that is lost per iteration. By default 0.5; with "max-min" 0.1, with `moves` too 0.2.',
        help="share of a trail lost per iteration",
        metavar="R",
    )
    ranks: int | None = whole(
        1,
        2**20,
        doc='With "rank": weight of the best tour so far; an ant weighs one less for each rank. By default 6.',
        help="weight of the best tour (rank; default: 6)",
    )
    smoothing: float | None = number(
        lambda value: 0 <= value <= 1,
        "a share from 0 to 1",
        doc='With "max-min": after long without a shorter tour, trails move this share of their way up to the '
        "strongest. By default 0.5.",
        help="share by which idle trails recover (max-min)",
        metavar="S",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        self.check_effect("ranks", "variant", "rank")
        self.check_effect("smoothing", "variant", "max-min")

    @property
    def powers(self) -> tuple[float, float]:
        """The powers of the trails and of the inverse distances."""
        return (
            1.0 if self.alpha is None else self.alpha,
            _DEFAULTS[self.variant][0] if self.beta is None else self.beta,
        )

    @property
    def share_lost(self) -> float:
        """The share of a trail that is lost in an iteration."""
        if self.evaporation is not None:
            return self.evaporation
        # With a local search trails change fast (Stützle, Hoos 2000).
        return 0.2 if self.moves and self.variant == "max-min" else _DEFAULTS[self.variant][1]

    def ants_of(self, n: int) -> int:
        """Return the number of ants on n cities."""
        # With a local search ants are few (Stützle, Hoos 2000). Without, an iteration, which no limit cuts, takes a
        # fraction of a second.
        return self.ants or (25 if self.moves else min(n, max(25, 500_000 // n)))
