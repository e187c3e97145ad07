"""Length of kernel calls: long enough to hide their overhead, short enough to stop between two."""

from __future__ import annotations

import math

__all__ = ["CALL_SECONDS", "LATE_SECONDS", "MOST_GROWTH", "SHORT_CALL_SECONDS", "Pace"]

CALL_SECONDS = 0.15
"""How long one kernel call should take."""

SHORT_CALL_SECONDS = 0.02
"""How long it should take at first, so that early improvements are seen as they come."""

LATE_SECONDS = 0.02
"""By how much a call may be expected to end after the time limit."""

MOST_GROWTH = 8.0
"""By how much at most a call has more iterations than the one before."""


class Pace:
    """Number of iterations of the next kernel call, by the speed of the last call.

    Parameters
    ----------
    speed : float
        The iterations a second that the first call counts on.
    most : float, optional
        How many it has at most.
    """

    def __init__(self, speed: float, most: float = math.inf) -> None:
        self.speed, self.most = speed, most

    @property
    def seconds(self) -> float:
        """About what an iteration takes."""
        return 1 / self.speed

    def fitting(self, elapsed: float, seconds_left: float) -> float:
        """Return how many iterations fit, at least one, so long after the beginning, with so much time left."""
        seconds = min(CALL_SECONDS, max(SHORT_CALL_SECONDS, elapsed / 2), seconds_left)
        return max(1.0, min(seconds * self.speed, self.most))

    def observe(self, count: int, seconds: float) -> None:
        """Record the seconds of a call of `count` iterations."""
        self.speed, self.most = max(count, 1) / max(seconds, 1e-9), MOST_GROWTH * max(count, 1)
