"""TSPLIB's instances and tours out of their files; the only module that knows the keywords of each.

Format: G. Reinelt, *TSPLIB 95* (1995), section 1.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pytsp.exceptions import InstanceError
from pytsp.io.streams import Source, read_bytes
from pytsp.io.tsplib.lexer import Fields, Text, as_text, dimension
from pytsp.io.tsplib.sections import LAYOUTS, cities, fixed_edges, matrix, points
from pytsp.problem.instance import Instance
from pytsp.problem.metrics import EXPLICIT, METRICS
from pytsp.problem.optima import directed_optimum_of, optimum_of
from pytsp.problem.validation import warn_of_minutes
from pytsp.utils.notices import about

_WEIGHT_TYPES = sorted({name for name, metric in METRICS.items() if metric.is_exact} | {EXPLICIT})
_SYMMETRIC, _DIRECTED = "TSP", "ATSP"
_FUNCTION = "FUNCTION"
_FULL = "FULL_MATRIX"
_COORDINATES = {2: "TWOD_COORDS", 3: "THREED_COORDS"}
_TOUR_KEYS = dict.fromkeys(("NAME", "TYPE", "COMMENT", "DIMENSION"))
_END_OF_TOUR = -1
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
_SECTIONS = ("NODE_COORD_SECTION", "EDGE_WEIGHT_SECTION", "DISPLAY_DATA_SECTION", "FIXED_EDGES_SECTION")


def read(source: Source, name: str | None = None, *, ignore_fixed_edges: bool = False) -> Instance:
    """Read a TSPLIB instance, of TYPE TSP or ATSP; `pytsp.read` explains the arguments."""
    return parse(as_text(*read_bytes(source)), name, ignore_fixed_edges=ignore_fixed_edges)


def parse(text: Text, name: str | None = None, *, ignore_fixed_edges: bool = False) -> Instance:
    """Return the instance of a file's text: see `read`."""
    fields = Fields(text, (_SYMMETRIC, _DIRECTED), _KEYS, _SECTIONS)
    kind = fields.required("EDGE_WEIGHT_TYPE").value.upper()
    is_directed = fields.type == _DIRECTED
    if is_directed:
        fields.check_agrees("EDGE_WEIGHT_TYPE", f"TYPE {_DIRECTED}", [EXPLICIT])
        fields.check_agrees("EDGE_WEIGHT_FORMAT", f"TYPE {_DIRECTED}", [_FULL])
    n = dimension(fields.required("DIMENSION"))
    section = fields.sections.get("FIXED_EDGES_SECTION")
    fixed = None if section is None else fixed_edges(section, n)
    if name is None:
        name = _name_of(fields.entries["NAME"].value if "NAME" in fields.entries else fields.text.file)
    has_fixed, optimum = fixed is not None, None
    if not (has_fixed and ignore_fixed_edges):
        optimum = directed_optimum_of(name, n) if is_directed else optimum_of(name, n, kind, has_fixed=has_fixed)
    source_of_lengths = "EDGE_WEIGHT_SECTION" if kind == EXPLICIT else "NODE_COORD_SECTION"
    try:
        weights = coordinates = None
        if kind == EXPLICIT:
            layout = fields.required("EDGE_WEIGHT_FORMAT").value.upper()
            fields.check_agrees("EDGE_WEIGHT_FORMAT", f"EDGE_WEIGHT_TYPE {EXPLICIT}", LAYOUTS)
            weights = matrix(fields.required_section("EDGE_WEIGHT_SECTION", EXPLICIT), layout, n, is_directed)
        else:
            coordinates = _coordinates(fields, kind, n)
        display = _display(fields, kind, n)
        instance = Instance(name, kind, coordinates, weights, "\n".join(fields.comments), optimum, display, is_directed)
    except InstanceError as error:
        raise fields.sections[source_of_lengths].error(f"{source_of_lengths}: {error}") from error
    if section is not None and fixed is not None and not ignore_fixed_edges:
        try:
            instance = replace(instance, fixed=fixed)
            if optimum is not None:
                # Tours have the fixed edges, which TSPLIB does not count.
                inside = int(instance.distances(fixed[:, 0], fixed[:, 1]).sum())
                instance = replace(instance, optimum=optimum + inside)
        except InstanceError as error:
            raise section.error(f"FIXED_EDGES_SECTION: {error} (cities count from 0)") from error
    if coordinates is not None:
        with about(text.file):
            warn_of_minutes(coordinates, kind)
    return instance


def _coordinates(fields: Fields, kind: str, n: int) -> NDArray[np.float64]:
    width = METRICS[kind].widths[0]
    fields.check_agrees("EDGE_WEIGHT_FORMAT", f"EDGE_WEIGHT_TYPE {kind}", [_FUNCTION])
    fields.check_agrees("NODE_COORD_TYPE", f"EDGE_WEIGHT_TYPE {kind}", [_COORDINATES[width]])
    if "EDGE_WEIGHT_SECTION" in fields.sections:
        weights = fields.sections["EDGE_WEIGHT_SECTION"]
        raise weights.error(f"EDGE_WEIGHT_SECTION contradicts EDGE_WEIGHT_TYPE {kind}; accepted: {EXPLICIT}")
    return points(fields.required_section("NODE_COORD_SECTION", kind), n, width)


def _display(fields: Fields, kind: str, n: int) -> NDArray[np.float64] | None:
    """Return where to draw the cities, if the file says so beside what the lengths follow from."""
    if "DISPLAY_DATA_SECTION" in fields.sections:
        return points(fields.sections["DISPLAY_DATA_SECTION"], n, 2)
    if kind != EXPLICIT or "NODE_COORD_SECTION" not in fields.sections:
        return None
    width = 3 if fields.value("NODE_COORD_TYPE") == _COORDINATES[3] else 2
    return points(fields.sections["NODE_COORD_SECTION"], n, width)


def _name_of(value: str) -> str:
    """Return the name proper: some files of TSPLIB call themselves by their file's name, ulysses16.tsp."""
    return Path(value).name.removesuffix(".gz").removesuffix(".tsp").removesuffix(".atsp")


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
    fields = Fields(as_text(*read_bytes(source)), ("TOUR",), _TOUR_KEYS, ("TOUR_SECTION",))
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
