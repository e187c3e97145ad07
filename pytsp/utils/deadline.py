"""The clock that long preparations look at between their steps: neighbour lists, and the starts that need them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# Cities below which work is done whatever the time.
UNTIMED_CITIES = 1 << 12
# The seconds that a block of work takes at most, once the blocks before tell its speed.
BLOCK_SECONDS = 0.1
# The first block has this share of the most.
FIRST_SHARE = 1 / 16


class OutOfTime(Exception):
    """A solve's time is over before its search has begun; `tour` is one that is known by then, if any is."""

    def __init__(self, tour: NDArray[np.int32] | None = None) -> None:
        super().__init__()
        self.tour = tour


# What is prepared for no solve looks at no clock.
_look: ContextVar[Callable[[float], None] | None] = ContextVar("look", default=None)


def look(cities: int = UNTIMED_CITIES, seconds: float = 0.0) -> None:
    """Raise `OutOfTime` if the time of the solve is over; `cities` is the number of cities prepared so far.

    Pass the estimated `seconds` before a step that nothing interrupts: at most these left count as no time.
    """
    if cities >= UNTIMED_CITIES and (check := _look.get()) is not None:
        check(seconds)


@contextmanager
def looking(check: Callable[[float], None]) -> Iterator[None]:
    """Have `look` call `check` with those seconds, in this thread and within the block."""
    token = _look.set(check)
    try:
        yield
    finally:
        _look.reset(token)


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """Have `look` raise `OutOfTime` within the block after `seconds`."""
    end = time.perf_counter() + seconds

    def check(more: float) -> None:
        if time.perf_counter() + more >= end:
            raise OutOfTime

    with looking(check):
        yield


def timely_blocks(n: int, most: int, cities: int = UNTIMED_CITIES, ahead: float = 0.0) -> Iterator[slice]:
    """Yield slices of n rows whose work takes about `BLOCK_SECONDS` at most, and `look` at the clock in between.

    The first block is small, because the work of a row depends on the data. A block has at most twice the rows of the
    block before, and at most `most`. Before a block it is `look(cities)` with its likely seconds, and `look()` from
    `BLOCK_SECONDS` on. Where the rows are of no use unless all are there, `ahead` times the likely seconds of all that
    are left count, if these are more.
    """
    step, first, began = max(1, int(FIRST_SHARE * most)), 0, time.perf_counter()
    while first < n:
        before = time.perf_counter()
        yield slice(first, min(first + step, n))
        now = time.perf_counter()
        first, seconds = first + step, max(now - before, 1e-9) / step
        step = max(1, min(2 * step, most, int(BLOCK_SECONDS / seconds)))
        if first < n:
            rows = max(min(step, n - first), ahead * (n - first))
            look(cities if now - began <= BLOCK_SECONDS else UNTIMED_CITIES, seconds * rows)
