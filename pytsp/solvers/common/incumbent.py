"""The shortest tour that a search has found so far."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytsp.run.state_reader import State

__all__ = ["Best"]


@dataclass(frozen=True)
class Best:
    """The shortest tour so far, with its length in the kernels' units and the number of the climber that had it."""

    length: int
    climber: int
    tour: NDArray[np.int32]

    @classmethod
    def of(cls, lengths: NDArray[np.int64], tours: NDArray[np.int32], first: int) -> Best:
        """Return the shortest of the climbers' tours, the first of whom has the number `first`."""
        place = int(lengths.argmin())
        return cls(int(lengths[place]), first + place, tours[place].copy())

    def state(self) -> dict[str, Any]:
        """Return it as a checkpoint holds it, for `restored`."""
        return {"length": self.length, "climber": self.climber, "tour": self.tour}

    @classmethod
    def restored(cls, state: State, n: int, climbers: range = range(2**62)) -> Best:
        """Return what a checkpoint holds, a tour of n cities by one of these climbers."""
        climber = state.whole("climber", climbers[0], climbers[-1])
        return cls(state.whole("length"), climber, state.tour("tour", n))
