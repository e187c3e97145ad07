"""Checks of arguments: refused by name, value and bound, and never converted."""

from __future__ import annotations

import operator
import os
import sys
from numbers import Real
from typing import Any


def whole_number(name: str, value: Any, least: int, most: int) -> int:
    """Return `value` as an int, or raise if it is no whole number in [`least`, `most`]."""
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} must be a whole number; it is {value!r}") from None
    if isinstance(value, bool) or not least <= number <= most:
        raise ValueError(f"{name} must be a whole number from {least} to {most}; it is {value!r}")
    return number


def seed_number(value: Any) -> int:
    """Return a seed as an int, or raise if it is none; None draws one of 32 bits, which is short enough to type."""
    return int.from_bytes(os.urandom(4), "little") if value is None else whole_number("seed", value, 0, 2**64 - 1)


def check_real(name: str, value: object) -> None:
    """Raise if `value` is no real number: strings and truth values are none, NumPy's numbers are."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"{name} must be a number; it is {value!r}")


def check_callback(name: str, value: object) -> None:
    """Raise if `value` is neither None nor something that can be called."""
    if value is not None and not callable(value):
        raise TypeError(f"{name} must be callable; it is {value!r:.60}")


def file_name(name: str, value: Any) -> str:
    """Return the path `value` as a string, or raise if it is none."""
    if not isinstance(value, str | os.PathLike):
        raise TypeError(f"{name} must be a path; it is {value!r:.60}")
    path = os.fspath(value)
    if not path:
        raise ValueError(f"{name} must be the name of a file; it is {path!r}")
    return path


def is_masked(values: object) -> bool:
    """Tell whether an array leaves elements out; NumPy would go on with what lies under the mask."""
    # Whoever has one has loaded its module, which is not worth loading for this question.
    masked = sys.modules.get("numpy.ma")
    return masked is not None and isinstance(values, masked.MaskedArray)


def truth_value(name: str, value: object) -> bool:
    """Return `value` as a bool, or raise if it is none: any word, "no" too, would count as true."""
    numpy = sys.modules.get("numpy")
    if not isinstance(value, bool) and (numpy is None or not isinstance(value, numpy.bool_)):
        raise TypeError(f"{name} must be True or False; it is {value!r}")
    return bool(value)


def is_array(value: object) -> bool:
    """Tell whether `value` holds several values: a list or an array, but no string."""
    dimensions = getattr(value, "ndim", None)
    return hasattr(value, "__len__") and not isinstance(value, str) if dimensions is None else dimensions > 0
