"""Suggestions for a mistyped name."""

from __future__ import annotations

from collections.abc import Iterable

# The share of its letters that a name must have in common with the one that it is taken for.
_LIKENESS = 0.6
_MOST = 3


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
    """Return what `meant` does as the end of a message, after a semicolon; nothing where no known name is like it."""
    close = suggest(name, known, likeness)
    return f"; {close}" if close else ""
