"""One run of one solver on one instance, as it is measured and stored."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Run:
    """One solver's run.

    Attributes
    ----------
    peer, instance : str
    n : int
    seed : int
    limit : float or None
        The time limit in seconds; None where the solver takes none.
    seconds : float
        That of the call; NaN where it failed.
    length : int, float or None
        Computed anew from the tour; None where it failed.
    optimum : int, float or None
    history : tuple of (float, int or float)
        Seconds and lengths, for solvers that tell them.
    problem : str
        Why it failed; empty where it did not.
    """

    peer: str
    instance: str
    n: int
    seed: int
    limit: float | None
    seconds: float
    length: int | float | None
    optimum: int | float | None
    history: tuple[tuple[float, int | float], ...] = ()
    problem: str = ""

    @property
    def gap(self) -> float:
        """The gap of the tour to the optimum, in per cent; infinite without a tour."""
        return 100 * (self.length / self.optimum - 1) if self.length and self.optimum else math.inf

    def seconds_to(self, length: float) -> float:
        """When a tour of at most `length` was known; infinite if never."""
        if self.length is None or self.length > length:
            return math.inf
        return next((seconds for seconds, reached in self.history if reached <= length), self.seconds)
