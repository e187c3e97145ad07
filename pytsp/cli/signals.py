"""Ctrl-C and SIGTERM while a command runs."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


class Terminated(KeyboardInterrupt):
    """SIGTERM, which ends a solve as Ctrl-C does."""


def _raise_terminated(_number: int, _frame: object) -> None:
    raise Terminated


@contextmanager
def end_on_sigterm() -> Iterator[None]:
    """Have SIGTERM end a solve as Ctrl-C does: with the best tour so far, and a last checkpoint."""
    is_default = signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    if not is_default or threading.current_thread() is not threading.main_thread():
        yield
        return
    signal.signal(signal.SIGTERM, _raise_terminated)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


@contextmanager
def delay_signals() -> Iterator[None]:
    """Have Ctrl-C and SIGTERM wait for a block of imports: NumPy takes them for a broken installation of its own."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    ours = (signal.default_int_handler, _raise_terminated)
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    late = {number: handler for number, handler in handlers.items() if callable(handler) and handler in ours}
    pressed: list[int] = []
    for number in late:
        signal.signal(number, lambda number, _: pressed.append(number))
    try:
        yield
    finally:
        for number, handler in late.items():
            signal.signal(number, handler)
    if pressed:
        raise Terminated if pressed[0] == signal.SIGTERM else KeyboardInterrupt


def describe_interruption(error: KeyboardInterrupt) -> tuple[str, int]:
    """Return what to say of a command that a signal has ended before there was a tour, and its exit code."""
    if isinstance(error, Terminated):
        return "ended by SIGTERM", 128 + signal.SIGTERM
    return "interrupted", 128 + signal.SIGINT
