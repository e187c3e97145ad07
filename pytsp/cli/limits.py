"""Limits and checkpoints of a solve: their arguments, and how much of the time limit is left."""

from __future__ import annotations

import argparse
import os
import time
from typing import Any

from pytsp.backends.cuda import driver
from pytsp.cli.arguments import interval, seconds, share

# The field of /proc/self/stat behind the command's name that says when the process began, in ticks from the boot.
_STARTTIME = 19
# Seconds of printing the result and ending the process, and more if CUDA's driver ends with it.
_END_SECONDS, _DRIVER_SECONDS = 0.08, 0.1
# Seconds left of a time limit that is over before the solve begins: enough for one tour.
_LEAST_SECONDS = 1e-3


def add_limits(command: argparse.ArgumentParser, more: argparse._ActionsContainer | None = None) -> None:
    """Add the limits of a solve, and to `more` the less common ones."""
    more = command if more is None else more
    command.add_argument("-t", "--time-limit", type=seconds, metavar="SEC", help="stop SEC seconds after the start")
    command.add_argument("--target-gap", type=share, metavar="GAP", help="stop near the optimum or bound: 0.01 or 1%%")
    more.add_argument("--target", type=float, metavar="LENGTH", help="stop at a tour of this length or less")
    more.add_argument("--patience", type=seconds, metavar="SEC", help="stop after SEC seconds without a shorter tour")


def add_checkpoint(command: argparse.ArgumentParser, more: argparse._ActionsContainer | None = None) -> None:
    """Add the checkpoint of a solve, and to `more` its interval."""
    command.add_argument("--checkpoint", metavar="FILE", help="save the state here, for 'pytsp resume'")
    add_interval(command if more is None else more)


def add_interval(command: argparse._ActionsContainer) -> None:
    """Add the interval between two checkpoints."""
    words = "seconds between two checkpoints (default: 30)"
    command.add_argument("--checkpoint-interval", type=interval, default=30.0, metavar="SEC", help=words)


def time_left(options: argparse.Namespace) -> float | None:
    """Return what is left of the time limit, which counts from the start of the process."""
    if options.time_limit is None:
        return None
    spent = time.perf_counter() - options.began + _END_SECONDS + (_DRIVER_SECONDS if driver.has_begun() else 0.0)
    return float(max(options.time_limit - spent, _LEAST_SECONDS))


def limits_of(options: argparse.Namespace) -> dict[str, Any]:
    """Return the limits of a solve; the time limit as what is left of it."""
    others = {name: getattr(options, name) for name in ("target", "target_gap", "patience")}
    return {"time_limit": time_left(options), **others}


def seconds_since_start() -> float:
    """Return how long ago this process began, reading and imports with it; 0 where the system does not say."""
    try:
        with open("/proc/self/stat", "rb") as stream:
            # The command's name is in brackets, and may hold blanks and brackets.
            ticks = int(stream.read().rpartition(b")")[2].split()[_STARTTIME])
    except (OSError, ValueError, IndexError):
        return 0.0
    return max(0.0, time.clock_gettime(time.CLOCK_BOOTTIME) - ticks / os.sysconf("SC_CLK_TCK"))
