"""Readers of the numbers of the command line."""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable


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
