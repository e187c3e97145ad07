"""Standard input, output and error of the process: closed, full, broken or narrow ones cost nobody a result."""

from __future__ import annotations

import atexit
import io
import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from pytsp.exceptions import PytspWarning
from pytsp.utils.text import one_line, printable


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


@contextmanager
def tell_warnings() -> Iterator[None]:
    """Print pytsp's warnings on standard error, each in a line, as errors are."""
    show = warnings.showwarning

    def tell(message: Warning | str, category: type[Warning], *place: Any) -> None:
        if issubclass(category, PytspWarning):
            print(f"pytsp: {printable(one_line(str(message)))}", file=sys.stderr)
        else:
            show(message, category, *place)

    warnings.showwarning = tell  # type: ignore[assignment]
    try:
        yield
    finally:
        warnings.showwarning = show


def try_output() -> None:
    """Raise `OSError` where nothing can be written to standard output."""
    with suppress(io.UnsupportedOperation):
        os.write(sys.stdout.fileno(), b"")


def _abandon() -> None:
    """Discard output that standard output does not take: Python would report it again, with an exit code of its own."""
    try:
        sys.stdout.flush()
    except OSError:
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, sys.stdout.fileno())
        os.close(null)
