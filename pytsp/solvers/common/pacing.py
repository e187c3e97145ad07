"""How long kernel calls are: long enough to hide their overhead, short enough to stop between two."""

from __future__ import annotations

import math

__all__ = ["CALL_SECONDS", "MOST_GROWTH", "SHORT_CALL_SECONDS", "Pace"]

CALL_SECONDS = 0.15
"""How long one kernel call should take."""

SHORT_CALL_SECONDS = 0.02
"""How long it should take at first, so that early improvements are seen as they come."""

MOST_GROWTH = 8.0
"""By how much at most a call has more iterations than the one before."""


class Pace:
    """How many iterations the next kernel call has, by what those of the last call took.

    Parameters
    ----------
    seconds : float
        What an iteration is thought to take before any was seen.
    most : float, optional
        How many the first call has at most.
    """

    def __init__(self, seconds: float, most: float = math.inf) -> None:
        self.seconds, self.most = seconds, most

    def fitting(self, elapsed: float, seconds_left: float) -> float:
        """Return how many iterations fit, at least one, so long after the beginning, with so much time left."""
        seconds = min(CALL_SECONDS, max(SHORT_CALL_SECONDS, elapsed / 2), seconds_left)
        return max(1.0, min(seconds / max(self.seconds, 1e-9), self.most))

    def observe(self, count: int, seconds: float) -> None:
        """Take what a call of so many iterations has taken."""
        self.seconds, self.most = seconds / max(count, 1), MOST_GROWTH * max(count, 1)
