"""Ctrl-C, SIGTERM and SIGHUP while a command runs."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

# Signals that end a command, and their descriptions.
_TOLD = {signal.SIGINT: "interrupted", signal.SIGTERM: "ended by SIGTERM", signal.SIGHUP: "ended by SIGHUP"}
# Seconds within which a second signal means the same as the first: the command is about to end.
_ENDING_SECONDS = 5.0


class Ended(KeyboardInterrupt):
    """A signal that ends a solve with the best tour so far; `number` is its number."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.number = number


class _Handler:
    """Raises `Ended`; not again while the command ends, and while signals are held only once they are not."""

    held: list[int] | None = None
    raised = float("-inf")

    def __call__(self, number: int, _frame: object) -> None:
        if self.held is not None:
            self.held.append(number)
        elif time.monotonic() > self.raised + _ENDING_SECONDS:
            self.raised = time.monotonic()
            raise Ended(number)


_handler = _Handler()


@contextmanager
def end_on_signals(*, for_good: bool = False) -> Iterator[None]:
    """Have each signal end a solve: with the best tour so far, and a last checkpoint.

    One that is ignored, as by nohup, stays ignored. Afterwards they do what they did, or `for_good` nothing.
    """
    defaults = (signal.SIG_DFL, signal.default_int_handler)
    ours = {number: was for number in _TOLD if (was := signal.getsignal(number)) in defaults}
    if threading.current_thread() is not threading.main_thread():
        ours = {}
    _handler.raised = float("-inf")
    for number in ours:
        signal.signal(number, _handler)
    try:
        yield
    finally:
        for number, was in ours.items():
            signal.signal(number, signal.SIG_IGN if for_good else was)


@contextmanager
def hold_signals(*, drop: bool = False) -> Iterator[None]:
    """Have signals wait for the end of a block, or none of them be heeded: of imports, which NumPy takes for a broken
    installation of its own where they are interrupted, and of writing what was found."""
    held: list[int] = []
    _handler.held = held
    try:
        yield
    finally:
        _handler.held = None
    if held and not drop:
        _handler(held[0], None)


def describe_interruption(error: KeyboardInterrupt) -> tuple[str, int]:
    """Return what to say of a command that a signal has ended before there was a tour, and its exit code."""
    number = error.number if isinstance(error, Ended) else signal.SIGINT
    return _TOLD[signal.Signals(number)], 128 + number
