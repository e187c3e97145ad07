"""Clocks of the tests' own, and the seconds of tests that are timed: no other test looks at the machine's clock."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from pytsp.backends import Backend
from pytsp.solvers.common.pacing import CALL_SECONDS, Pace

# The names by which the package reads a clock. `time.monotonic` itself is left alone: threads and processes wait by it.
READ = ("time.perf_counter", "pytsp.bound.near_graph.monotonic", "pytsp.bound.held_karp.monotonic")
# The first words of the calls that make a greedy tour.
GREEDY = "fragments_"
# Attempts of a timed test. The best one counts: what else the machine does makes a run longer, never shorter.
ATTEMPTS = 3
# Iterations of a call that is thought to be short.
MOST_ITERATIONS = 100.0


class Clock:
    """A clock that only the test moves on, for the package to read while it is installed.

    Parameters
    ----------
    tick : float
        The seconds that pass with each look.
    """

    def __init__(self, tick: float = 0.0) -> None:
        self.seconds, self.tick = 100.0, tick

    def __call__(self) -> float:
        self.seconds += self.tick
        return self.seconds

    def install(self, patch: pytest.MonkeyPatch) -> Clock:
        """Have the package read this clock."""
        for name in READ:
            patch.setattr(name, self)
        return self


class KernelClock(Clock):
    """A clock that each kernel call moves on by the same time, however long it takes, but for those of a greedy tour.

    A call of the default length is as long as solvers aim at, so that the next one is no larger than it, or than
    `MOST_ITERATIONS`.

    Parameters
    ----------
    call_seconds : float
        The seconds of each call. After shorter ones the next is larger, up to `MOST_ITERATIONS`.
    workers : int
        The clock stands until a number of threads besides the main one have made calls.

    Attributes
    ----------
    calls : list of (str, float)
        The entry points that were called, and the seconds since the beginning at which each call began.
    """

    def __init__(self, patch: pytest.MonkeyPatch, call_seconds: float = CALL_SECONDS, workers: int = 0) -> None:
        super().__init__()
        self.calls: list[tuple[str, float]] = []
        call, began, threads = Backend.call, self.seconds, {threading.main_thread().ident}

        def counted(backend: Backend, entry: str, *arguments: object) -> Any:
            if entry.startswith(GREEDY):
                return call(backend, entry, *arguments)
            self.calls.append((entry, self.seconds - began))
            threads.add(threading.get_ident())
            try:
                return call(backend, entry, *arguments)
            finally:
                self.seconds += call_seconds * (len(threads) > workers)

        self.install(patch)
        patch.setattr(Backend, "call", counted)
        observe = Pace.observe

        def bounded(pace: Pace, *arguments: float) -> None:
            observe(pace, *arguments)
            if call_seconds < CALL_SECONDS:
                pace.most = min(pace.most, MOST_ITERATIONS)
            elif pace.hiding:
                pace.most = max(arguments[0], MOST_ITERATIONS)

        patch.setattr(Pace, "observe", bounded)

    def begun(self, *words: str, after: float = 0.0) -> int:
        """The number of calls that began at this second or later, of entry points whose names hold one of the words."""
        return sum(at >= after and any(word in entry for word in words or ("",)) for entry, at in self.calls)


def seconds_of(work: Callable[[], object]) -> float:
    """The seconds that some work takes."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def fastest(measure: Callable[[], float], bound: float) -> float:
    """The least of several measurements; those after one below the bound are not needed."""
    found = float("inf")
    for _ in range(ATTEMPTS):
        found = min(found, measure())
        if found < bound:
            break
    return found
