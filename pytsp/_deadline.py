"""The clock that long preparations look at between their steps: neighbour lists, and the starts that need them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

__all__ = ["OutOfTime", "look", "looking"]


class OutOfTime(Exception):
    """A solve's time is over before its search has begun."""


def _nothing() -> None:
    """Look at no clock: what is prepared for no solve takes the time that it takes."""


_look: ContextVar[Callable[[], None]] = ContextVar("look", default=_nothing)


def look() -> None:
    """Raise `OutOfTime` where the preparations are for a solve whose time is over."""
    _look.get()()


@contextmanager
def looking(check: Callable[[], None]) -> Iterator[None]:
    """Have `look` call `check`, in this thread and within the block."""
    token = _look.set(check)
    try:
        yield
    finally:
        _look.reset(token)
