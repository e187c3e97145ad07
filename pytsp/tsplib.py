"""TSPLIB files in and out: path → `Instance`, tours; the only file that knows TSPLIB's keywords.

Format: G. Reinelt, *TSPLIB 95* (1995), section 1.
"""

from __future__ import annotations

import io
import os
import re
import sys
from collections.abc import Iterable
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pytsp._tsplib_data import LAYOUTS, cities, matrix, points
from pytsp._tsplib_text import Entry, Section, Source, Text, load, parts, quoted
from pytsp.distances import EXPLICIT, METRICS
from pytsp.exceptions import InstanceError
from pytsp.instance import Instance
from pytsp.optima import optimum_of
from pytsp.tours import check_tour

__all__ = ["read", "read_tour", "write_tour"]

_WEIGHT_TYPES = sorted({name for name, metric in METRICS.items() if metric.is_exact} | {EXPLICIT})
_FUNCTION = "FUNCTION"
_COORDINATES = {2: "TWOD_COORDS", 3: "THREED_COORDS"}
_KEYS: dict[str, Iterable[str] | None] = {
    "NAME": None,
    "TYPE": None,
    "COMMENT": None,
    "DIMENSION": None,
    "EDGE_WEIGHT_TYPE": _WEIGHT_TYPES,
    "EDGE_WEIGHT_FORMAT": [_FUNCTION, *LAYOUTS],
    "EDGE_DATA_FORMAT": ["EDGE_LIST", "ADJ_LIST"],
    "NODE_COORD_TYPE": [*_COORDINATES.values(), "NO_COORDS"],
    "DISPLAY_DATA_TYPE": ["COORD_DISPLAY", "TWOD_DISPLAY", "NO_DISPLAY"],
}
_TOUR_KEYS: dict[str, Iterable[str] | None] = dict.fromkeys(("NAME", "TYPE", "COMMENT", "DIMENSION"))
_SECTIONS = ("NODE_COORD_SECTION", "EDGE_WEIGHT_SECTION", "DISPLAY_DATA_SECTION", "FIXED_EDGES_SECTION")
_WHOLE = re.compile(r"[0-9]{1,18}")
_END_OF_TOUR = -1


def read(source: Source, name: str | None = None, *, ignore_fixed_edges: bool = False) -> Instance:
    """Read a symmetric TSPLIB instance.

    Parameters
    ----------
    source : str, path-like or stream
        A path, ``"-"`` for standard input, or an open stream of bytes or text; gzip is recognised by its
        content.
    name : str, optional
        The instance's name, in place of the file's NAME.
    ignore_fixed_edges : bool
        Read a file with a FIXED_EDGES_SECTION as if it had none. Its optimum is then taken as unknown.

    Returns
    -------
    Instance
        With `optimum` set where it is a known instance of TSPLIB.

    Raises
    ------
    TsplibError
        If the file is malformed or of a kind that is not supported; the message names file, line, the
        offending text and what is accepted.
    OSError
        If the file cannot be opened or read.

    Notes
    -----
    Missing TYPE means TSP, a missing EOF the end of the file; whatever follows EOF is not read.
    """
    text = load(source)
    keys, sections, comments = _collected(text, "TSP", _KEYS, _SECTIONS)
    kind = _required(text, keys, "EDGE_WEIGHT_TYPE").value.upper()
    n = _dimension(_required(text, keys, "DIMENSION"))
    fixed = sections.get("FIXED_EDGES_SECTION")
    if fixed is not None:
        if not ignore_fixed_edges:
            raise fixed.error(
                "FIXED_EDGES_SECTION is not supported: tours would not contain those edges; "
                "ignore_fixed_edges=True reads the instance without them"
            )
        fixed.numbers()
    if name is None:
        name = _name_of(keys["NAME"].value if "NAME" in keys else text.file)
    optimum = optimum_of(name, n, kind) if fixed is None else None
    try:
        if kind == EXPLICIT:
            weights, coordinates = _weights(text, keys, sections, n), None
        else:
            weights, coordinates = None, _coordinates(text, kind, keys, sections, n)
        display = _display(kind, keys, sections, n)
        return Instance(name, kind, coordinates, weights, "\n".join(comments), optimum, display)
    except InstanceError as error:
        section = sections["EDGE_WEIGHT_SECTION" if kind == EXPLICIT else "NODE_COORD_SECTION"]
        raise section.error(f"{section.keyword}: {error}") from error


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
    text = load(source)
    keys, sections, _ = _collected(text, "TOUR", _TOUR_KEYS, ("TOUR_SECTION",))
    section = _required_section(text, sections, "TOUR_SECTION", "a tour file")
    if "DIMENSION" in keys:
        given = _dimension(keys["DIMENSION"])
        if n is not None and n != given:
            raise keys["DIMENSION"].error(f"DIMENSION is {given}, but the instance has {n} cities")
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
    target: Source,
    tour: ArrayLike,
    *,
    name: str | None = None,
    comment: str = "",
    length: int | float | None = None,
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
    OSError
        If the file cannot be written.
    """
    cities = check_tour(tour, np.size(tour))
    is_path = isinstance(target, (str, os.PathLike)) and target != "-"
    if name is None:
        name = Path(str(target)).name if is_path else "tour"
    comments = [*comment.splitlines(), *([] if length is None else [f"Length {length}"])]
    lines = [
        f"NAME : {_one_line(name)}",
        *(f"COMMENT : {_one_line(line)}" for line in comments),
        "TYPE : TOUR",
        f"DIMENSION : {len(cities)}",
        "TOUR_SECTION",
        *map(str, (cities.astype(np.int64) + 1).tolist()),
        "-1",
        "EOF\n",
    ]
    text = "\n".join(lines)
    if isinstance(target, (str, os.PathLike)):
        if target != "-":
            Path(target).write_bytes(_encoded(text))
            return
        target = sys.stdout
    if isinstance(target, io.TextIOBase):
        target.write(text)
    else:
        target.write(_encoded(text))  # type: ignore[arg-type]


def _collected(
    text: Text, kind: str, keys: dict[str, Iterable[str] | None], sections: Iterable[str]
) -> tuple[dict[str, Entry], dict[str, Section], list[str]]:
    """Every keyword line and section by name, and the comments.

    Refuses what is unknown or doubled, and another TYPE than `kind`.
    """
    entries: dict[str, Entry] = {}
    found: dict[str, Section] = {}
    comments: list[str] = []
    for part in parts(text):
        if part.keyword not in (sections if isinstance(part, Section) else keys):
            what = "section" if isinstance(part, Section) else "keyword"
            accepted = ", ".join((*keys, *sections, "EOF"))
            raise part.error(f"{what} {quoted(part.keyword)} is not supported; accepted: {accepted}")
        earlier = found.get(part.keyword) or entries.get(part.keyword)
        if earlier is not None:
            raise part.error(f"{part.keyword} is given twice; first in line {text.line(earlier.offset)}")
        if isinstance(part, Section):
            found[part.keyword] = part
        elif part.keyword == "COMMENT":
            comments.append(part.value)
        else:
            _check_value(part, kind, keys[part.keyword])
            entries[part.keyword] = part
    return entries, found, comments


def _check_value(entry: Entry, kind: str, accepted: Iterable[str] | None) -> None:
    if accepted is not None and entry.value.upper() not in accepted:
        listed = ", ".join(accepted)
        raise entry.error(f"{entry.keyword} {quoted(entry.value)} is not supported; supported: {listed}")
    if entry.keyword == "TYPE":
        # Some files of TSPLIB name their author here, in parentheses.
        given = entry.value.upper().split(maxsplit=1)[:1]
        if given != [kind]:
            hint = {"TOUR": "; read tours with read_tour", "TSP": "; read instances with read"}
            advice = hint.get(given[0], "") if given else ""
            raise entry.error(f"TYPE {quoted(entry.value)} is not supported here; supported: {kind}{advice}")


def _required(text: Text, keys: dict[str, Entry], keyword: str) -> Entry:
    if keyword not in keys:
        raise text.error(f"{keyword} is missing; every instance needs a line '{keyword} : …'")
    return keys[keyword]


def _required_section(text: Text, sections: dict[str, Section], keyword: str, whom: str) -> Section:
    if keyword not in sections:
        raise text.error(f"{keyword} is missing; {whom} needs it")
    return sections[keyword]


def _dimension(entry: Entry) -> int:
    n = int(entry.value) if _WHOLE.fullmatch(entry.value) else 0
    if n < 1:
        raise entry.error(f"DIMENSION {quoted(entry.value)} is not a number of cities; accepted: 1, 2, 3, …")
    return n


def _coordinates(
    text: Text, kind: str, keys: dict[str, Entry], sections: dict[str, Section], n: int
) -> NDArray[np.float64]:
    """The coordinates of an instance whose lengths follow from them."""
    width = METRICS[kind].widths[0]
    _check_agrees(keys, "EDGE_WEIGHT_FORMAT", kind, [_FUNCTION])
    _check_agrees(keys, "NODE_COORD_TYPE", kind, [_COORDINATES[width]])
    if "EDGE_WEIGHT_SECTION" in sections:
        weights = sections["EDGE_WEIGHT_SECTION"]
        raise weights.error(f"EDGE_WEIGHT_SECTION contradicts EDGE_WEIGHT_TYPE {kind}; accepted: {EXPLICIT}")
    return points(_required_section(text, sections, "NODE_COORD_SECTION", kind), n, width)


def _weights(text: Text, keys: dict[str, Entry], sections: dict[str, Section], n: int) -> NDArray[np.int64]:
    """The matrix of an EXPLICIT instance."""
    layout = _required(text, keys, "EDGE_WEIGHT_FORMAT").value.upper()
    _check_agrees(keys, "EDGE_WEIGHT_FORMAT", EXPLICIT, LAYOUTS)
    return matrix(_required_section(text, sections, "EDGE_WEIGHT_SECTION", EXPLICIT), layout, n)


def _display(kind: str, keys: dict[str, Entry], sections: dict[str, Section], n: int) -> NDArray[np.float64] | None:
    """Where to draw the cities, if the file says so beside what the lengths follow from."""
    if "DISPLAY_DATA_SECTION" in sections:
        return points(sections["DISPLAY_DATA_SECTION"], n, 2)
    if kind != EXPLICIT or "NODE_COORD_SECTION" not in sections:
        return None
    has_three = "NODE_COORD_TYPE" in keys and keys["NODE_COORD_TYPE"].value.upper() == _COORDINATES[3]
    return points(sections["NODE_COORD_SECTION"], n, 3 if has_three else 2)


def _check_agrees(keys: dict[str, Entry], keyword: str, kind: str, accepted: Iterable[str]) -> None:
    entry = keys.get(keyword)
    if entry is not None and entry.value.upper() not in accepted:
        listed = ", ".join(accepted)
        raise entry.error(f"{keyword} {quoted(entry.value)} contradicts EDGE_WEIGHT_TYPE {kind}; accepted: {listed}")


def _name_of(value: str) -> str:
    """The name proper: some files of TSPLIB call themselves by their file's name, ulysses16.tsp."""
    return Path(value).name.removesuffix(".gz").removesuffix(".tsp")


def _one_line(value: str) -> str:
    return " ".join(value.split())


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", errors="replace")
