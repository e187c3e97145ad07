"""TSPLIB's tour files in and out."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pytsp.io.streams import Source, check_target, is_path, write_text
from pytsp.io.tsplib.fields import Fields, dimension
from pytsp.io.tsplib.lexer import load
from pytsp.io.tsplib.sections import cities
from pytsp.problem.tours import check_tour
from pytsp.utils.text import one_line

_KEYS = dict.fromkeys(("NAME", "TYPE", "COMMENT", "DIMENSION"))
_END_OF_TOUR = -1


def read_tour(source: Source, n: int | None = None) -> NDArray[np.int32]:
    """Read a TSPLIB tour file.

    Parameters
    ----------
    source : str, path-like or stream
        As for `read`.
    n : int, optional
        The number of cities that the tour must have.

    Returns
    -------
    ndarray of int32, shape (n,)
        Cities counted from 0, in the order of the visit.

    Raises
    ------
    TsplibError
        If the file is malformed, or its tour does not visit every city exactly once.
    OSError
        If the file cannot be opened or read.
    """
    fields = Fields(load(source), ("TOUR",), _KEYS, ("TOUR_SECTION",))
    section = fields.required_section("TOUR_SECTION", "a tour file")
    if "DIMENSION" in fields.entries:
        entry = fields.entries["DIMENSION"]
        given = dimension(entry)
        if n is not None and n != given:
            raise entry.error(f"DIMENSION is {given}, but the instance has {n} cities")
        n = given
    values = section.numbers()
    ends = np.flatnonzero(values == _END_OF_TOUR)
    if len(ends):
        surplus = np.flatnonzero(values[ends[0] :] != _END_OF_TOUR)
        if len(surplus):
            where = int(ends[0] + surplus[0])
            raise section.error_at(where, "{} follows the tour's end (-1); accepted: one tour")
        values = values[: ends[0]]
    n = max(1, len(values)) if n is None else n
    if len(values) < n:
        raise section.error(f"TOUR_SECTION holds {len(values)} cities, but there are {n}")
    if len(values) > n:
        raise section.error_at(n, f"{{}} is one city too many: there are {n}")
    return (cities(section, values) - 1).astype(np.int32)


def write_tour(
    target: Source, tour: ArrayLike, *, name: str | None = None, comment: str = "", length: int | float | None = None
) -> None:
    """Write a TSPLIB tour file; `read_tour` reads it back unchanged.

    Parameters
    ----------
    target : str, path-like or stream
        A path, ``"-"`` for standard output, or an open stream of bytes or text.
    tour : array_like of integers, shape (n,)
        Cities counted from 0, each once.
    name : str, optional
        The file's NAME; by default the path's last part.
    comment : str
        Any number of lines.
    length : int or float, optional
        The tour's length, written as a comment.

    Raises
    ------
    TourError
        If `tour` does not visit every city exactly once; nothing is written then.
    TypeError
        If `target` is not one of these.
    OSError
        If the file cannot be written.
    """
    check_target(target)
    cities = check_tour(tour, np.size(tour))
    if name is None:
        name = Path(target).name if is_path(target) else "tour"
    comments = [*comment.splitlines(), *([] if length is None else [f"Length {length}"])]
    lines = [
        f"NAME : {one_line(name)}",
        *(f"COMMENT : {one_line(line)}" for line in comments),
        "TYPE : TOUR",
        f"DIMENSION : {len(cities)}",
        "TOUR_SECTION",
        *map(str, (cities.astype(np.int64) + 1).tolist()),
        "-1",
        "EOF\n",
    ]
    write_text(target, "\n".join(lines))
