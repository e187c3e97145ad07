"""Command lines: TSPLIB's folder, and numbers that are refused where they make no sense."""

from __future__ import annotations

import argparse
import math
from pathlib import Path

from bench.harness.machine import TSPLIB


def parser(purpose: str) -> argparse.ArgumentParser:
    """Make a parser of command lines that knows where TSPLIB's files are."""
    made = argparse.ArgumentParser(description=purpose)
    made.add_argument("--tsplib", type=Path, default=TSPLIB, metavar="DIR", help=f"TSPLIB's files (default: {TSPLIB})")
    return made


def whole(text: str) -> int:
    """Read a whole number from 1 on."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"must be a whole number, at least 1; it is {text!r}")
    return int(text)


def positive(text: str) -> float:
    """Read a number of seconds."""
    try:
        found = float(text)
    except ValueError:
        found = 0.0
    if not 0 < found < math.inf:
        raise argparse.ArgumentTypeError(f"must be a number of seconds above 0; it is {text!r}")
    return found


def numbers(text: str) -> list[float]:
    """Read seconds with commas between them."""
    try:
        found = sorted({float(number) for number in text.split(",")})
    except ValueError:
        found = []
    if not found or not found[0] > 0:
        raise argparse.ArgumentTypeError(f"must be positive numbers with commas between them; it is {text!r}")
    return found
