"""The shortest tour that a search has found so far, and its check."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytsp.backends.context import Backend
from pytsp.exceptions import KernelError
from pytsp.problem.kernel_input import Form
from pytsp.problem.tours import check_tour
from pytsp.run.state_reader import State


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
        return {"length": self.length, "climber": self.climber, "tour": self.tour}

    @classmethod
    def restored(cls, state: State, n: int, climbers: range = range(2**62)) -> Best:
        """Return what a checkpoint holds, a tour of n cities by one of these climbers."""
        climber = state.whole("climber", climbers[0], climbers[-1])
        return cls(state.whole("length"), climber, state.tour("tour", n))


def verify(best: Best, form: Form, kernels: Backend, seed: int) -> NDArray[np.int32]:
    """Return the tour that a kernel found, shape (n,), or raise an error.

    That is a `TourError` if it is no tour, and a `KernelError` if its length, recomputed in whole numbers, is another.
    """
    tour = check_tour(best.tour, form.whole.n)
    recomputed = form.whole.tour_length(tour)
    if recomputed != best.length:
        raise KernelError(
            f"backend {kernels.name} reports length {best.length} for the tour of climber {best.climber} of "
            f"seed {seed}, but its length is {recomputed}: the kernels are miscompiled here; please report this"
        )
    return tour
