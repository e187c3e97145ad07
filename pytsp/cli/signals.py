"""The command line's part in long runs: limits, checkpoints, signals, and `pytsp resume`."""

from __future__ import annotations

import argparse
import math
import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from pytsp.backends.cuda import driver

# The field of /proc/self/stat behind the command's name that says when the process began, in ticks from the boot.
_STARTTIME = 19
# What telling the result and the end of the process take, and how much more where CUDA's driver ends with it.
_END_SECONDS, _DRIVER_SECONDS = 0.08, 0.1
# What is left of a time limit that is over before the solve begins: enough for one tour.
_LEAST_SECONDS = 1e-3


def seconds(text: str) -> float:
    """Return a positive number of seconds."""
    number = float(text)
    if not 0 < number < math.inf:
        raise argparse.ArgumentTypeError(f"must be positive; it is {text}")
    return number


def interval(text: str) -> float:
    """Return a number of seconds that may be 0."""
    number = float(text)
    if not 0 <= number < math.inf:
        raise argparse.ArgumentTypeError(f"must be at least 0; it is {text}")
    return number


def share(text: str) -> float:
    """Return a fraction, which may be written as a percentage, such as 0.01 or 1%."""
    number = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    if not 0 <= number < math.inf:
        raise argparse.ArgumentTypeError(f"must be at least 0; it is {text}")
    return number


seconds.__name__ = interval.__name__ = "number of seconds"
share.__name__ = "fraction"


def add_limits(command: argparse.ArgumentParser) -> None:
    """Add what ends a solve early."""
    command.add_argument("--time-limit", type=seconds, metavar="SEC", help="stop so many seconds after the start")
    command.add_argument("--target", type=float, metavar="LENGTH", help="stop at a tour that is no longer")
    command.add_argument("--target-gap", type=share, metavar="GAP", help="stop so near the optimum: 0.01, or 1%%")
    command.add_argument("--patience", type=seconds, metavar="SEC", help="stop after so long without a shorter tour")


def add_checkpoint(command: argparse.ArgumentParser) -> None:
    """Add where and how often a solve writes down how it stands."""
    command.add_argument("--checkpoint", metavar="FILE", help="write here how the solve stands, for 'pytsp resume'")
    add_interval(command)


def add_interval(command: argparse.ArgumentParser) -> None:
    """Add how often a solve writes down how it stands."""
    command.add_argument(
        "--checkpoint-interval", type=interval, default=30.0, metavar="SEC", help="how often (default: every 30 s)"
    )


def time_left(options: argparse.Namespace) -> float | None:
    """Return what is left of the time limit, which counts from the start of the process."""
    if options.time_limit is None:
        return None
    spent = time.perf_counter() - options.began + _END_SECONDS + (_DRIVER_SECONDS if driver.has_begun() else 0.0)
    return float(max(options.time_limit - spent, _LEAST_SECONDS))


def seconds_since_start() -> float:
    """Return how long ago this process began, reading and imports with it; 0 where the system does not say."""
    try:
        with open("/proc/self/stat", "rb") as stream:
            # The name stands in brackets, and may hold blanks and brackets.
            ticks = int(stream.read().rpartition(b")")[2].split()[_STARTTIME])
    except (OSError, ValueError, IndexError):
        return 0.0
    return max(0.0, time.clock_gettime(time.CLOCK_BOOTTIME) - ticks / os.sysconf("SC_CLK_TCK"))


class Terminated(KeyboardInterrupt):
    """SIGTERM, which ends a solve as Ctrl-C does."""


def _terminated(_number: int, _frame: object) -> None:
    raise Terminated


@contextmanager
def ended_by_sigterm() -> Iterator[None]:
    """Have SIGTERM end a solve as Ctrl-C does: with the best tour so far, and a last checkpoint."""
    is_default = signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    if not is_default or threading.current_thread() is not threading.main_thread():
        yield
        return
    signal.signal(signal.SIGTERM, _terminated)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


@contextmanager
def late_signals() -> Iterator[None]:
    """Have Ctrl-C and SIGTERM come after a block of imports: NumPy takes them for a broken installation of its own."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    ours = (signal.default_int_handler, _terminated)
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


def told_interruption(error: KeyboardInterrupt) -> tuple[str, int]:
    """Return what is said of a command that a signal has ended before there was a tour, and its exit code."""
    is_terminated = isinstance(error, Terminated)
    said = "ended by SIGTERM" if is_terminated else "interrupted"
    return said, 128 + (signal.SIGTERM if is_terminated else signal.SIGINT)
