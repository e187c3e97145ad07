"""What solvers may be asked for; light to import, as other work does without them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pytsp.solvers.registry import KICKS, LOCAL_MOVES, MOVES, PAIRS, PIVOTS, SCHEDULES, STARTS, TRIED_MOVES, VARIANTS
from pytsp.utils.arguments import check_real, whole_number
from pytsp.utils.powers import quarters_of

if TYPE_CHECKING:
    from pytsp.starts.construct import Start

__all__ = ["KICKS", "MOVES", "PIVOTS", "STARTS", "Cooling", "Foraging", "Options", "options_type"]

# The options that are whole numbers, and their bounds.
NUMBERS = (
    ("climbers", 1, 2**40),
    ("seed", 0, 2**64 - 1),
    ("first", 0, 2**62),
    ("iterations", 0, 2**62),
    ("exchange", 1, 2**62),
    ("restart", 1, 2**62),
    ("population", 1, 2**40),
    ("draws", 1, 2**31 - 1),
    ("piece", 8, 2**31 - 1),
)

# The parameters of a variant of ants where they are not given. Those of "rank" and "ant-system" are Utne and Hansen's.
ALPHA = 1.0
BETA = {"max-min": 3.0, "rank": 5.0, "ant-system": 5.0}
EVAPORATION = {"max-min": 0.1, "rank": 0.5, "ant-system": 0.5}
# With a local search, ants are few and trails change fast (Stützle, Hoos 2000).
SEARCHING_ANTS = 25
SEARCHING_EVAPORATION = 0.2
# Without one there are as many ants as cities, but at most so many divided by the cities, so that an iteration, which
# no limit cuts, takes a fraction of a second; and at least so many as search.
ANTS_TIMES_CITIES = 500_000


@dataclass(frozen=True)
class Options:
    """What a solve is asked for; the fields are arguments of `pytsp.solve`.

    Raises
    ------
    TypeError, ValueError
        If a number is out of its range or a name is not known.
    """

    climbers: int | None = None
    seed: int = 0
    first: int = 0
    iterations: int | None = None
    initial_tour: ArrayLike | None = None
    start: Start | None = None
    neighbours: int | ArrayLike | None = None
    quadrants: bool | None = None
    moves: str | None = None
    pivot: str = "first"
    draws: int | None = None
    kick: str = "mixed"
    temperature: float | None = None
    exchange: int | None = None
    restart: int | None = None
    merge: bool = False
    population: int | None = None
    piece: int | None = None

    known_moves: ClassVar[tuple[str, ...]] = MOVES

    def __post_init__(self) -> None:
        for name, least, most in NUMBERS:
            value = getattr(self, name)
            if value is not None:
                object.__setattr__(self, name, whole_number(name, value, least, most))
        known_moves = (*self.known_moves, None)
        for name, known in (("start", (*STARTS, None)), ("moves", known_moves), ("pivot", PIVOTS), ("kick", KICKS)):
            if getattr(self, name) not in known:
                names = ", ".join(filter(None, known))
                raise ValueError(f"{name} {getattr(self, name)!r} is not known; known: {names}")
        if self.draws is not None and self.pivot != "random-k":
            raise ValueError(f"draws={self.draws!r} does not concern pivot={self.pivot!r}; it is for pivot='random-k'")
        if self.temperature is not None:
            check_real("temperature", self.temperature)
        if self.temperature is not None and not 0 <= self.temperature < float("inf"):
            raise ValueError(f"temperature must be a length, at least 0; it is {self.temperature!r}")
        if self.initial_tour is not None and self.start is not None:
            raise ValueError(f"initial_tour is where all climbers start; start={self.start!r} says otherwise")
        if self.quadrants is not None and np.ndim(self.neighbours if self.neighbours is not None else 0) > 0:
            raise ValueError(f"quadrants={self.quadrants!r} does not concern neighbours that are given as lists")

    @property
    def local_moves(self) -> int:
        """What a descent tries, by the kernels' number; by default all of 3-opt."""
        return MOVES.index(self.moves or "3-opt")


@dataclass(frozen=True)
class Cooling(Options):
    """What annealing is asked for.

    Raises
    ------
    TypeError, ValueError
        If a number is out of its range or a name is not known, or two say different things.
    """

    schedule: str | ArrayLike | None = None
    cooling: float | None = None
    trials: int | None = None
    pairs: str = "neighbours"

    known_moves = TRIED_MOVES

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.schedule, str) and self.schedule not in SCHEDULES:
            raise ValueError(f"schedule {self.schedule!r} is not known; known: {', '.join(SCHEDULES)}, or temperatures")
        if self.schedule is not None and not isinstance(self.schedule, str):
            object.__setattr__(self, "schedule", self._temperatures(self.schedule))
        if self.pairs not in PAIRS:
            raise ValueError(f"pairs {self.pairs!r} is not known; known: {', '.join(PAIRS)}")
        if self.cooling is not None:
            check_real("cooling", self.cooling)
        if self.cooling is not None and not 0 < self.cooling < 1:
            raise ValueError(f"cooling must be a factor between 0 and 1; it is {self.cooling!r}")
        is_geometric = self.schedule is None or (isinstance(self.schedule, str) and self.schedule == "geometric")
        if self.cooling is not None and not is_geometric:
            raise ValueError(f"cooling={self.cooling!r} is for schedule='geometric'; another schedule is given")
        if self.trials is not None:
            object.__setattr__(self, "trials", whole_number("trials", self.trials, 1, 2**40))

    def _temperatures(self, schedule: ArrayLike) -> NDArray[np.float64]:
        """Return the temperatures of a schedule that is given by them."""
        given = np.array(schedule, dtype=np.float64)
        if given.ndim != 1 or not np.all((given >= 0) & (given < np.inf)):
            raise ValueError(f"schedule must be lengths, at least 0, in one dimension; it is {schedule!r}")
        for name in ("temperature", "iterations"):
            value = getattr(self, name)
            if value is not None and not (name == "iterations" and value == len(given)):
                raise ValueError(f"{name}={value!r} and a schedule of {len(given)} temperatures say different things")
        return given


@dataclass(frozen=True)
class Foraging(Options):
    """What ants are asked for.

    Raises
    ------
    TypeError, ValueError
        If a number is out of its range, a name is not known, or an argument does not concern the variant.
    """

    variant: str = "max-min"
    ants: int | None = None
    alpha: float | None = None
    beta: float | None = None
    evaporation: float | None = None
    ranks: int | None = None
    smoothing: float | None = None

    known_moves = LOCAL_MOVES

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.variant not in VARIANTS:
            raise ValueError(f"variant {self.variant!r} is not known; known: {', '.join(VARIANTS)}")
        for name, variant in (("ranks", "rank"), ("smoothing", "max-min")):
            value = getattr(self, name)
            if value is not None and self.variant != variant:
                raise ValueError(
                    f"{name}={value!r} does not concern variant={self.variant!r}; it is for variant={variant!r}"
                )
        for name in ("ants", "ranks"):
            value = getattr(self, name)
            if value is not None:
                object.__setattr__(self, name, whole_number(name, value, 1, 2**20))
        for name in ("alpha", "beta", "evaporation", "smoothing"):
            if getattr(self, name) is not None:
                check_real(name, getattr(self, name))
        quarters_of("alpha", self.powers[0], 4)
        quarters_of("beta", self.powers[1], 16)
        if not 0 < self.share_lost <= 1:
            raise ValueError(f"evaporation must be a share, more than 0 and at most 1; it is {self.evaporation!r}")
        if self.smoothing is not None and not 0 <= self.smoothing <= 1:
            raise ValueError(f"smoothing must be a share from 0 to 1; it is {self.smoothing!r}")

    @property
    def powers(self) -> tuple[float, float]:
        """The powers of the trails and of the inverse distances."""
        return (
            ALPHA if self.alpha is None else self.alpha,
            BETA[self.variant] if self.beta is None else self.beta,
        )

    @property
    def share_lost(self) -> float:
        """The share of a trail that is lost in an iteration."""
        if self.evaporation is not None:
            return self.evaporation
        return SEARCHING_EVAPORATION if self.moves and self.variant == "max-min" else EVAPORATION[self.variant]

    def ants_of(self, n: int) -> int:
        """Return the number of ants on n cities."""
        few = SEARCHING_ANTS
        return self.ants or (few if self.moves else min(n, max(few, ANTS_TIMES_CITIES // n)))


def options_type(solver: str) -> type[Options]:
    """Return what a solver's options are: annealing and ants take some that no other does."""
    return {"annealing": Cooling, "ants": Foraging}.get(solver, Options)
