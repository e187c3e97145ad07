"""Arguments that several commands share, and what they stand for: numbers, instances, limits, and the time left.

What reads instances is imported where it is used, as in the command line itself.
"""

from __future__ import annotations

import argparse
import math
import os
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytsp
from pytsp.backends.cuda import driver
from pytsp.io.results import ending_of
from pytsp.run.limits import Limits

# The field of /proc/self/stat behind the command's name that says when the process began, in ticks from the boot.
_STARTTIME = 19
# Seconds of printing the result and ending the process, and more if CUDA's driver ends with it.
_END_SECONDS, _DRIVER_SECONDS = 0.08, 0.1
# Seconds left of a time limit that is over before the solve begins: enough for one tour.
_LEAST_SECONDS = 1e-3


def whole(least: int, *words: str) -> Callable[[str], int | str]:
    """Return what reads a whole number that is at least so large, or one of some words."""

    def read(text: str) -> int | str:
        if text in words:
            return text
        number = int(text)
        if number < least:
            raise argparse.ArgumentTypeError(f"must be at least {least}; it is {number}")
        return number

    read.__name__ = "whole number"
    return read


def file_name(text: str) -> str:
    if not text:
        raise argparse.ArgumentTypeError("must name a file; it is ''")
    return text


def words(text: str) -> list[str]:
    """Return the words of a list with commas between them."""
    return [word.strip() for word in text.split(",")]


def seconds(text: str) -> float:
    """Return a positive number of seconds."""
    number = float(text)
    if not 0 < number < math.inf:
        raise argparse.ArgumentTypeError(f"must be positive; it is {text}")
    return number


def interval(text: str) -> float:
    """Return a number of seconds that may be 0."""
    return _check_not_negative(float(text), text)


def share(text: str) -> float:
    """Return a fraction, which may be written as a percentage, such as 0.01 or 1%."""
    return _check_not_negative(float(text.removesuffix("%")) / (100 if text.endswith("%") else 1), text)


def _check_not_negative(number: float, text: str) -> float:
    if not 0 <= number < math.inf:
        raise argparse.ArgumentTypeError(f"must be at least 0; it is {text}")
    return number


seconds.__name__ = interval.__name__ = "number of seconds"
share.__name__ = "fraction"


def add_path(group: Any, said: str, start: str = "first city of the path") -> None:
    """Add the options of open paths; `said` is the help of `--open`."""
    group.add_argument("--open", action="store_true", help=said)
    group.add_argument("--start-city", metavar="CITY", help=f"{start}: a label, or a number from 0")
    group.add_argument("--end-city", metavar="CITY", help="last city of the path: a label, or a number from 0")


def city_of(instance: pytsp.Instance, name: str, text: str | None) -> int | None:
    """Return the number of the city that an option names: a label, or else a number."""
    from pytsp.problem.instance import city_number  # noqa: PLC0415

    is_number = text is not None and text.isdecimal() and text not in (instance.labels or ())
    return city_number(instance, name, int(text) if is_number else text)  # type: ignore[arg-type]


def path_of(instance: pytsp.Instance, options: argparse.Namespace) -> dict[str, Any]:
    """Return whether a path is asked for, and its ends."""
    ends = {name: city_of(instance, name, getattr(options, name)) for name in ("start_city", "end_city")}
    return {"open": options.open, **ends}


def add_instance(command: Any) -> None:
    words = "TSPLIB, CSV, JSON or .npy file, name, or - (stdin)"
    command.add_argument("instance", metavar="FILE|NAME", help=words)


def add_reading(group: Any) -> None:
    """Add the options for files that do not name their metric."""
    group.add_argument("--metric", metavar="M", help="default: euclidean, or haversine on the globe")
    group.add_argument("--columns", type=words, metavar="X,Y", help="columns of coordinates, or table of a road server")
    group.add_argument("--asymmetric", action="store_true", help="accept distances that are not symmetric")


def reading(options: argparse.Namespace) -> dict[str, Any]:
    """Return the given options for reading the instance."""
    said = {name: getattr(options, name, None) for name in ("metric", "columns", "asymmetric")}
    return {name: value for name, value in said.items() if value}


def output_file(path: str) -> str:
    """Return a path that results can be written to, as its ending says."""
    try:
        ending_of(file_name(path))
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error
    return path


def read_instance(options: argparse.Namespace) -> pytsp.Instance:
    """Read the instance that a command is of. An open path has no optimum that is known."""
    instance = pytsp.read(options.instance, **reading(options))
    return replace(instance, optimum=None) if getattr(options, "open", False) else instance


def add_limits(command: argparse.ArgumentParser, more: argparse._ActionsContainer) -> None:
    """Add the limits of a solve, and to `more` the less common ones."""
    command.add_argument("-t", "--time-limit", type=seconds, metavar="SEC", help="stop SEC seconds after the start")
    command.add_argument("--target-gap", type=share, metavar="GAP", help="stop near the optimum or bound: 0.01 or 1%%")
    more.add_argument("--target", type=float, metavar="LENGTH", help="stop at a tour of this length or less")
    more.add_argument("--patience", type=seconds, metavar="SEC", help="stop after SEC seconds without a shorter tour")


def add_interval(command: argparse._ActionsContainer) -> None:
    words = "seconds between two checkpoints (default: 30)"
    command.add_argument("--checkpoint-interval", type=interval, default=30.0, metavar="SEC", help=words)


def limits_of(options: argparse.Namespace) -> Limits:
    """Return the limits that `add_limits` has read, with what is left of the time."""
    gap, patience = options.target_gap, options.patience
    return Limits(time_limit=time_left(options), target=options.target, target_gap=gap, patience=patience)


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
            # The command's name is in brackets, and may hold blanks and brackets.
            ticks = int(stream.read().rpartition(b")")[2].split()[_STARTTIME])
    except (OSError, ValueError, IndexError):
        return 0.0
    return max(0.0, time.clock_gettime(time.CLOCK_BOOTTIME) - ticks / os.sysconf("SC_CLK_TCK"))
