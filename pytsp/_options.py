"""What iterated local search and crossover may be asked for; light to import, as other work does without them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from pytsp._names import KICKS, MOVES, PIVOTS, STARTS
from pytsp.tours import whole_number

if TYPE_CHECKING:
    from pytsp.starts import Start

__all__ = ["KICKS", "MOVES", "PIVOTS", "STARTS", "Options"]

# The options that are whole numbers, and their bounds.
NUMBERS = (
    ("climbers", 1, 2**40),
    ("seed", 0, 2**64 - 1),
    ("first", 0, 2**62),
    ("iterations", 0, 2**62),
    ("exchange", 1, 2**62),
    ("draws", 1, 2**31 - 1),
    ("piece", 8, 2**31 - 1),
)


@dataclass(frozen=True)
class Options:
    """What a solve by iterated local search is asked for; the fields are arguments of `pytsp.solve`.

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
    moves: str = "3-opt"
    pivot: str = "first"
    draws: int | None = None
    kick: str = "mixed"
    temperature: float | None = None
    exchange: int | None = None
    piece: int | None = None

    def __post_init__(self) -> None:
        for name, least, most in NUMBERS:
            value = getattr(self, name)
            if value is not None:
                object.__setattr__(self, name, whole_number(name, value, least, most))
        for name, known in (("start", (*STARTS, None)), ("moves", MOVES), ("pivot", PIVOTS), ("kick", KICKS)):
            if getattr(self, name) not in known:
                names = ", ".join(filter(None, known))
                raise ValueError(f"{name} {getattr(self, name)!r} is not known; known: {names}")
        if self.draws is not None and self.pivot != "random-k":
            raise ValueError(f"draws={self.draws!r} does not concern pivot={self.pivot!r}; it is for pivot='random-k'")
        if self.temperature is not None and not 0 <= self.temperature < float("inf"):
            raise ValueError(f"temperature must be a length, at least 0; it is {self.temperature!r}")
        if self.initial_tour is not None and self.start is not None:
            raise ValueError(f"initial_tour is where all climbers start; start={self.start!r} says otherwise")
        if self.quadrants is not None and np.ndim(self.neighbours if self.neighbours is not None else 0) > 0:
            raise ValueError(f"quadrants={self.quadrants!r} does not concern neighbours that are given as lists")
