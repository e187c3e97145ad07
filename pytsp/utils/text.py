"""Texts out of files and from users, as a terminal may show them."""

from __future__ import annotations

import math
import re

# Those of ASCII and of Latin-1 but tabs and line feeds: a terminal may take them for orders.
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def one_line(text: str) -> str:
    """Return a text with one blank in place of blanks and line breaks."""
    return " ".join(text.split())


def printable(text: str) -> str:
    """Return a text with U+FFFD in place of each control character.

    >>> printable("\\x1b[2Jcleared")
    '�[2Jcleared'
    """
    return _CONTROLS.sub("\ufffd", text)


def json_number(number: int | float) -> int | float | None:
    """Return a number as JSON has it, which knows no infinity: None in its place."""
    return number if math.isfinite(number) else None
