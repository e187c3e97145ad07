"""The process of a command: its standard streams, the signals that end it, and the output of its result.

No result is lost where streams are closed, full, broken or narrow, or where a signal comes meanwhile.
"""

from __future__ import annotations

import argparse
import atexit
import io
import os
import signal
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import pytsp
from pytsp.exceptions import PytspError, PytspWarning
from pytsp.io.results import check_output, ending_of, text_of
from pytsp.utils.text import one_line, printable

# The name of standard output.
STDOUT = "-"

# Signals that end a command, and their descriptions.
_TOLD = {signal.SIGINT: "interrupted", signal.SIGTERM: "ended by SIGTERM", signal.SIGHUP: "ended by SIGHUP"}
# Seconds within which a second signal means the same as the first: the command is about to end.
_ENDING_SECONDS = 5.0


class _Lossy(io.FileIO):
    """A file that drops what it cannot take."""

    def write(self, data: object) -> int:
        with suppress(OSError):
            return super().write(data)  # type: ignore[arg-type]
        return len(data)  # type: ignore[arg-type]


def secure() -> None:
    """Put the streams in order, before anything else is opened.

    No file that is opened later takes the number of a stream that is closed. Standard input is empty then; writing to
    standard output fails, as it does where that is full or broken; what standard error cannot take is dropped. A
    character that an encoding lacks becomes a question mark.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            # The lowest number that is free.
            os.open(os.devnull, os.O_WRONLY if number == 2 else os.O_RDONLY)
    sys.stdin = sys.stdin or os.fdopen(0, closefd=False)
    sys.stdout = sys.stdout or os.fdopen(1, "w", closefd=False)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")
    encoding = getattr(sys.stderr, "encoding", None) or "utf-8"
    raw = io.BufferedWriter(_Lossy(2, "w", closefd=False))
    sys.stderr = io.TextIOWrapper(raw, encoding, "backslashreplace", line_buffering=True)
    atexit.register(_abandon)


def complain(text: str) -> None:
    """Say in one line on standard error what is wrong."""
    print(f"pytsp: {printable(one_line(text))}", file=sys.stderr)


@contextmanager
def tell_warnings() -> Iterator[None]:
    """Print pytsp's warnings on standard error, each in a line, as errors are."""
    show = warnings.showwarning

    def tell(message: Warning | str, category: type[Warning], *place: Any) -> None:
        if issubclass(category, PytspWarning):
            complain(str(message))
        else:
            show(message, category, *place)

    warnings.showwarning = tell  # type: ignore[assignment]
    try:
        yield
    finally:
        warnings.showwarning = show


def _abandon() -> None:
    """Discard output that standard output does not take: Python would report it again, with an exit code of its own."""
    try:
        sys.stdout.flush()
    except OSError:
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, sys.stdout.fileno())
        os.close(null)


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


def try_targets(options: argparse.Namespace, instance: pytsp.Instance) -> None:
    """Raise an error, before the work, where what is found cannot be written to where it is to go."""
    if options.output is not None:
        check_output(options.output, instance)
    if options.output == STDOUT or (options.output is None and options.json):
        try:
            with suppress(io.UnsupportedOperation):
                os.write(sys.stdout.fileno(), b"")
        except OSError as error:
            raise PytspError(f"standard output: {_reason(error)}; --output FILE writes to a file") from error


def tell_result(result: pytsp.Result, options: argparse.Namespace, text: Callable[[], str]) -> None:
    """Write the tour into its file, then print what `text` returns; no signal comes between the tour and its file.

    If either fails, `PytspError` says in which file the tour is.
    """
    place, faults = None if options.output == STDOUT else options.output, []
    if place is not None:
        with hold_signals(drop=True):
            try:
                result.write(place)
            except Exception as error:
                faults.append(f"{place}: {_reason(error)}")
                place = _rescue(result, ending_of(place), beside=place)
    try:
        # At once, for a reader who needs only the beginning.
        print(f"{text()}\n", end="", flush=True)
    except (OSError, KeyboardInterrupt) as error:
        faults.append(f"standard output: {_reason(error)}")
        with hold_signals(drop=True):
            place = place or _rescue(result, ".json" if options.json else ".tour")
    if faults:
        raise PytspError("; ".join([*faults, f"the tour is in {place}" if place else "the tour could not be kept"]))


def _rescue(result: pytsp.Result, ending: str, *, beside: str | None = None) -> str | None:
    """Write the result into a new file beside another, or in the temporary folder, or at home; return its path."""
    folders = [os.path.expanduser("~")]
    with suppress(OSError):
        folders.insert(0, tempfile.gettempdir())
    if beside is not None and not os.path.realpath(beside).startswith("/dev/"):
        folders.insert(0, os.path.dirname(beside) or os.curdir)
    content = text_of(result, ending).encode("utf-8", "replace")
    for folder in folders:
        with suppress(OSError):
            descriptor, path = tempfile.mkstemp(prefix="pytsp-", suffix=ending, dir=folder)
            try:
                with open(descriptor, "wb") as file:
                    file.write(content)
            except OSError:
                os.unlink(path)
                raise
            return path
    return None


def _reason(error: BaseException) -> str:
    if isinstance(error, KeyboardInterrupt):
        return "interrupted while it was written"
    return (error.strerror if isinstance(error, OSError) else None) or str(error) or type(error).__name__
