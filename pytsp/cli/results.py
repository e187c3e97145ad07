"""Output of a result: first to its file, then to standard output; if either fails, to another file."""

from __future__ import annotations

import argparse
import os
import tempfile
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

from pytsp.cli.signals import hold_signals
from pytsp.cli.streams import try_output
from pytsp.exceptions import PytspError
from pytsp.io.results import check_output, ending_of, text_of

if TYPE_CHECKING:
    from pytsp.problem.instance import Instance
    from pytsp.run.result import Result

# The name of standard output.
STDOUT = "-"


def try_targets(options: argparse.Namespace, instance: Instance) -> None:
    """Raise an error, before the work, where what is found cannot be written to where it is to go."""
    if options.output is not None:
        check_output(options.output, instance)
    if options.output == STDOUT or (options.output is None and options.json):
        try:
            try_output()
        except OSError as error:
            raise PytspError(f"standard output: {_reason(error)}; --output FILE writes to a file") from error


def tell(result: Result, options: argparse.Namespace, text: Callable[[], str]) -> None:
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


def _rescue(result: Result, ending: str, *, beside: str | None = None) -> str | None:
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
