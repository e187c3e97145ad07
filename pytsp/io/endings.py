"""The endings of files that results are written to; the command line checks them before it solves."""

from __future__ import annotations

from os.path import splitext

ENDINGS = (".tour", ".csv", ".json", ".geojson", ".txt")


def ending_of(path: str) -> str:
    """Return the ending that says how a result is written to a path: ".tour" where there is none.

    Raises
    ------
    ValueError
        If it is another than these.
    """
    ending = splitext(path)[1].lower() or ".tour"
    if ending not in ENDINGS:
        raise ValueError(f"{path}: results are not written as {ending}; the endings are {', '.join(ENDINGS)}")
    return ending
