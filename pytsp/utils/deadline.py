"""The clock that long preparations look at between their steps: neighbour lists, and the starts that need them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# What fewer cities take is done whatever the time.
UNTIMED_CITIES = 1 << 16


class OutOfTime(Exception):
    """A solve's time is over before its search has begun; `tour` is one that is known by then, if any is."""

    def __init__(self, tour: NDArray[np.int32] | None = None) -> None:
        super().__init__()
        self.tour = tour


# What is prepared for no solve looks at no clock.
_look: ContextVar[Callable[[float], None] | None] = ContextVar("look", default=None)


def look(cities: int = UNTIMED_CITIES, seconds: float = 0.0) -> None:
    """Raise `OutOfTime` where the preparations, of so many cities so far, are for a solve whose time is over.

    Before something that nothing interrupts and that takes so many seconds, the time is over where no more are left.
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
