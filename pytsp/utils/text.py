"""Texts out of files and from users, as a terminal may show them; suggestions for mistyped names."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable

# Those of ASCII and of Latin-1 but tabs and line feeds: a terminal may take them for orders.
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")

# The share of its letters that a name must have in common with the one that it is taken for; and the most of these.
_LIKENESS, _MOST = 0.6, 3


def one_line(text: str) -> str:
    """Return a text with one blank in place of blanks and line breaks."""
    return " ".join(text.split())


def printable(text: str) -> str:
    """Return a text with U+FFFD in place of each control character.

    >>> printable("\\x1b[2Jcleared")
    '�[2Jcleared'
    """
    return _CONTROLS.sub("\ufffd", text)


def json_number(number: int | float | None) -> int | float | None:
    """Return a number as JSON has it, which knows no infinity: None in its place."""
    return None if number is None or not math.isfinite(number) else number


def suggest(name: str, known: Iterable[str], likeness: float = _LIKENESS) -> str:
    """Return ``did you mean …?``, or nothing where no known name is like this one; case does not matter.

    >>> suggest("eaxx", ["ils", "eax"])
    'did you mean eax?'
    >>> suggest("eaxx", ["ils"])
    ''
    """
    # Only a mistake needs it, and it is slow to import.
    import difflib  # noqa: PLC0415

    by_lower = {each.lower(): each for each in known}
    close = difflib.get_close_matches(name.lower(), by_lower, n=_MOST, cutoff=likeness)
    return f"did you mean {' or '.join(by_lower[each] for each in close)}?" if close else ""


def hint(name: str, known: Iterable[str], likeness: float = _LIKENESS) -> str:
    """Return the suggestion as the end of a message, after a semicolon; nothing where there is none."""
    close = suggest(name, known, likeness)
    return f"; {close}" if close else ""
