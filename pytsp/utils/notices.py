"""Warnings about what a user gave: each names the file it is about and points at the user's own line."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar

from pytsp.exceptions import PytspWarning

_PACKAGE = __name__.partition(".")[0]
# A warning names at most this many places.
MOST_NAMED = 3

_subject: ContextVar[str] = ContextVar("subject", default="")


@contextmanager
def about(subject: str) -> Iterator[None]:
    """Begin warnings with the name of a file, while it is read."""
    token = _subject.set(subject)
    try:
        yield
    finally:
        _subject.reset(token)


def warn_user(text: str) -> None:
    """Give a `PytspWarning` whose place is the line that called pytsp."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == _PACKAGE:
        frame, level = frame.f_back, level + 1
    subject = _subject.get()
    warnings.warn(f"{subject}: {text}" if subject else text, PytspWarning, stacklevel=level)


def some_of(names: Sequence[str], count: int | None = None) -> str:
    """List the first few names, and say how many more there are of `count`, by default of all names.

    >>> some_of(["a", "b", "c", "d", "e"])
    'a, b, c and 2 more'
    """
    more = (len(names) if count is None else count) - MOST_NAMED
    return ", ".join(names[:MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
