"""TSPLIB instances: path → `Instance`; the only file that knows the keywords of each.

Format: G. Reinelt, *TSPLIB 95* (1995), section 1.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pytsp.exceptions import InstanceError
from pytsp.io.tsplib.fields import check_agrees, collected, dimension, required, required_section, type_of
from pytsp.io.tsplib.lexer import Entry, Section, Source, Text, load
from pytsp.io.tsplib.sections import LAYOUTS, matrix, points
from pytsp.io.tsplib.tours import read_tour, write_tour
from pytsp.problem.instance import Instance
from pytsp.problem.metrics import EXPLICIT, METRICS
from pytsp.problem.optima import directed_optimum_of, optimum_of

__all__ = ["read", "read_tour", "write_tour"]

_WEIGHT_TYPES = sorted({name for name, metric in METRICS.items() if metric.is_exact} | {EXPLICIT})
_SYMMETRIC, _DIRECTED = "TSP", "ATSP"
_FUNCTION = "FUNCTION"
_FULL = "FULL_MATRIX"
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
_SECTIONS = ("NODE_COORD_SECTION", "EDGE_WEIGHT_SECTION", "DISPLAY_DATA_SECTION", "FIXED_EDGES_SECTION")


def read(source: Source, name: str | None = None, *, ignore_fixed_edges: bool = False) -> Instance:
    """Read a TSPLIB instance, of TYPE TSP or ATSP.

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
        With `optimum` set where it is a known instance of TSPLIB. That of a file of TYPE ATSP is `asymmetric`, unless
        its matrix is symmetric all the same.

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
    keys, sections, comments = collected(text, (_SYMMETRIC, _DIRECTED), _KEYS, _SECTIONS)
    kind = required(text, keys, "EDGE_WEIGHT_TYPE").value.upper()
    is_directed = "TYPE" in keys and type_of(keys["TYPE"]) == _DIRECTED
    if is_directed:
        check_agrees(keys, "EDGE_WEIGHT_TYPE", f"TYPE {_DIRECTED}", [EXPLICIT])
        check_agrees(keys, "EDGE_WEIGHT_FORMAT", f"TYPE {_DIRECTED}", [_FULL])
    n = dimension(required(text, keys, "DIMENSION"))
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
    optimum = None
    if fixed is None:
        optimum = directed_optimum_of(name, n) if is_directed else optimum_of(name, n, kind)
    try:
        if kind == EXPLICIT:
            weights, coordinates = _weights(text, keys, sections, n, is_directed), None
        else:
            weights, coordinates = None, _coordinates(text, kind, keys, sections, n)
        display = _display(kind, keys, sections, n)
        return Instance(name, kind, coordinates, weights, "\n".join(comments), optimum, display, is_directed)
    except InstanceError as error:
        section = sections["EDGE_WEIGHT_SECTION" if kind == EXPLICIT else "NODE_COORD_SECTION"]
        raise section.error(f"{section.keyword}: {error}") from error


def _coordinates(
    text: Text, kind: str, keys: dict[str, Entry], sections: dict[str, Section], n: int
) -> NDArray[np.float64]:
    """The coordinates of an instance whose lengths follow from them."""
    width = METRICS[kind].widths[0]
    check_agrees(keys, "EDGE_WEIGHT_FORMAT", f"EDGE_WEIGHT_TYPE {kind}", [_FUNCTION])
    check_agrees(keys, "NODE_COORD_TYPE", f"EDGE_WEIGHT_TYPE {kind}", [_COORDINATES[width]])
    if "EDGE_WEIGHT_SECTION" in sections:
        weights = sections["EDGE_WEIGHT_SECTION"]
        raise weights.error(f"EDGE_WEIGHT_SECTION contradicts EDGE_WEIGHT_TYPE {kind}; accepted: {EXPLICIT}")
    return points(required_section(text, sections, "NODE_COORD_SECTION", kind), n, width)


def _weights(
    text: Text, keys: dict[str, Entry], sections: dict[str, Section], n: int, is_directed: bool
) -> NDArray[np.int64]:
    """The matrix of an EXPLICIT instance."""
    layout = required(text, keys, "EDGE_WEIGHT_FORMAT").value.upper()
    check_agrees(keys, "EDGE_WEIGHT_FORMAT", f"EDGE_WEIGHT_TYPE {EXPLICIT}", LAYOUTS)
    return matrix(required_section(text, sections, "EDGE_WEIGHT_SECTION", EXPLICIT), layout, n, is_directed)


def _display(kind: str, keys: dict[str, Entry], sections: dict[str, Section], n: int) -> NDArray[np.float64] | None:
    """Where to draw the cities, if the file says so beside what the lengths follow from."""
    if "DISPLAY_DATA_SECTION" in sections:
        return points(sections["DISPLAY_DATA_SECTION"], n, 2)
    if kind != EXPLICIT or "NODE_COORD_SECTION" not in sections:
        return None
    has_three = "NODE_COORD_TYPE" in keys and keys["NODE_COORD_TYPE"].value.upper() == _COORDINATES[3]
    return points(sections["NODE_COORD_SECTION"], n, 3 if has_three else 2)


def _name_of(value: str) -> str:
    """The name proper: some files of TSPLIB call themselves by their file's name, ulysses16.tsp."""
    return Path(value).name.removesuffix(".gz").removesuffix(".tsp").removesuffix(".atsp")
