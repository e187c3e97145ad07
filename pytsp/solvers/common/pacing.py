"""Length of kernel calls: long enough to hide their overhead, short enough to stop between two."""

from __future__ import annotations

import math

from pytsp.solvers import policy

CALL_SECONDS = 0.15
"""Seconds that one kernel call should take."""

SHORT_CALL_SECONDS = 0.02
"""Seconds of the first calls: early improvements are seen as they come."""

LATE_SECONDS = 0.02
"""By how much a call may be expected to end after the time limit."""

MOST_GROWTH = 8.0
"""By how much at most a call has more iterations than the one before."""


class Pace:
    """Number of iterations of the next kernel call, by the seconds of the last call.

    The first call has `most` iterations at most, which take about `seconds` each; 0 where that is not known. As calls
    have work beside iterations, one takes at least `hiding` times the seconds of the shortest one.
    """

    def __init__(self, most: float = 1.0, seconds: float = 0.0, hiding: float = 0.0) -> None:
        self.seconds, self.most = seconds, most
        self.hiding, self.shortest = hiding, math.inf

    def fitting(self, elapsed: float, seconds_left: float) -> float:
        """Return how many iterations fit, at least one, so long after the beginning, with so much time left."""
        least = max(SHORT_CALL_SECONDS, self.hiding * self.shortest if self.shortest < math.inf else 0.0)
        seconds = max(least, min(CALL_SECONDS, elapsed / 2))
        part = policy.CALL_SHARE * seconds_left
        seconds = min(seconds, part if part > least else seconds_left)
        return max(1.0, min(seconds / self.seconds if self.seconds else math.inf, self.most))

    def observe(self, count: float, seconds: float, least: float = 1e-9) -> None:
        """Record the seconds of a call of `count` iterations, which are thought to take `least` each at least."""
        count = max(count, 1)
        self.seconds, self.most = max(seconds / count, least), MOST_GROWTH * count
        self.shortest = min(self.shortest, seconds)
