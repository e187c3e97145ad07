"""Instances by a name or out of a file, by its ending or by what it holds: TSPLIB's, tables, NumPy's arrays, JSON."""

from __future__ import annotations

import codecs
import io
import json
import math
import mmap
import os
import re
from collections.abc import Sequence
from pathlib import Path, PurePath
from typing import Any

import numpy as np

from pytsp.datasets.registry import find
from pytsp.exceptions import InstanceError
from pytsp.io.convert import as_instance, concerns_not
from pytsp.io.streams import Source, decoded, is_path, read_bytes, without_end_mark
from pytsp.io.tables import of_table
from pytsp.io.tsplib.lexer import as_text
from pytsp.io.tsplib.reader import parse
from pytsp.problem.instance import Instance
from pytsp.problem.validation import MappedFile
from pytsp.utils.arguments import file_name
from pytsp.utils.notices import about

_KINDS = {
    ".tsp": "TSPLIB",
    ".atsp": "TSPLIB",
    ".csv": "table",
    ".tsv": "table",
    ".npy": "array",
    ".geojson": "GeoJSON",
    ".json": "JSON",
}
_ARRAY = b"\x93NUMPY"
# Readers of the headers of its versions.
_HEADERS = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
# What the first line of a table begins with, if it is no header, and what parts its fields.
_NUMBER = re.compile(rb"[-+.\d\"]|sep=", re.IGNORECASE)
_SEPARATOR = re.compile(rb"[,;\t]")
_BEGINNING = 1 << 16
# Bytes from which on an array's file is mapped.
_LARGE = 1 << 20


def read(
    source: Source,
    name: str | None = None,
    *,
    metric: str | None = None,
    columns: Sequence[str] | None = None,
    asymmetric: bool = False,
    ignore_fixed_edges: bool = False,
) -> Instance:
    """Read an instance from a file, or by the name of one that comes with pytsp or was downloaded.

    ====================  =============================================================================================
    file                  read as
    ====================  =============================================================================================
    ``.tsp``, ``.atsp``   TSPLIB's files, of TYPE TSP or ATSP
    ``.csv``, ``.tsv``    a table. Below a header: coordinates in columns x and y (and z), or latitude and longitude in
                          decimal degrees, a city a line; or distances, where the first field of each line is its
                          column's name. Without a header: an array of coordinates or distances. Fields are parted by
                          semicolons, tabs, commas or blanks, and decimal signs may be commas where commas part nothing.
                          A first line with a number is a header only where its fields are labels of the lines. In
                          distances ``inf``, ``NA``, ``null``, ``-`` or an empty field forbids an edge
    ``.npy``              an array, as `pytsp.as_instance` takes it
    ``.geojson``          points of longitude and latitude
    ``.json``             GeoJSON; a road server's table with durations or distances, which may be asymmetric, and where
                          null forbids an edge; or a list of rows, as an array
    any other             the one of these that it looks like; so is standard input, and any stream
    ====================  =============================================================================================

    Each may be compressed by gzip. Cities have names, `Instance.labels`, where a column or a feature's property name,
    label, city, place, title or id says them.

    Parameters
    ----------
    source : str, path-like or stream
        A path or a name, ``"-"`` for standard input, or an open stream of bytes or text.
    name : str, optional
        Name of the instance, in place of the file's NAME or of the name of the file.
    metric : str, optional
        Metric of coordinates, as in `pytsp.as_instance`. TSPLIB's files name their own.
    columns : sequence of str, optional
        Columns of the coordinates in a table; or the table of a road server to use, as ``["distances"]``, by default
        durations.
    asymmetric : bool, optional
        Accept distances that are not symmetric. TSPLIB's files of TYPE ATSP need no option.
    ignore_fixed_edges : bool, optional
        Read a TSPLIB file with a FIXED_EDGES_SECTION as if it had none. Its optimum is then taken as unknown.

    Returns
    -------
    Instance
        With `optimum` set for a known instance of TSPLIB, and `fixed` if its file has fixed edges. A file of TYPE ATSP
        gives an `asymmetric` instance, unless its matrix is symmetric.

    Raises
    ------
    TsplibError
        If a TSPLIB file is malformed or of a kind that is not supported, or gzip is damaged; the message names file,
        line, the offending text and what is accepted.
    InstanceError
        If another file makes no instance; the message names file and line.
    InstanceNotFound
        If there is no such file or name; it is an `InstanceError` and a `FileNotFoundError`.
    OSError
        If the file cannot be opened or read.

    Warns
    -----
    PytspWarning
        If part of the file is left out, such as a row without any value, a feature without a place or one of two
        tables; if a field without a number forbids an edge; or if minutes of metric GEO are 60 or more. The warning
        names file and place.

    Notes
    -----
    Of TSPLIB's files missing TYPE means TSP, a missing EOF the end of the file; whatever follows EOF is not read.

    Examples
    --------
    >>> read("europe").n
    53
    """
    mapped = None
    if is_path(source):
        source = find(os.fspath(file_name("source", source)))
        mapped = _mapped(source)
    data, file = read_bytes(source) if mapped is None else (_ARRAY, str(source))
    path = PurePath(PurePath(file).name.removesuffix(".gz"))
    kind = _KINDS.get(path.suffix.lower()) or _kind_of(data)
    try:
        with about(file):
            if kind == "TSPLIB":
                instance = parse(as_text(data, file), name, ignore_fixed_edges=ignore_fixed_edges)
                if metric is not None and metric.upper() != instance.metric:
                    concerns_not(f"a TSPLIB file, which says its own, {instance.metric}", metric=metric)
                concerns_not("a TSPLIB file", columns=columns, asymmetric=asymmetric and not instance.asymmetric)
                return instance
            if name is None:
                name = "" if file.startswith("<") else path.stem
            concerns_not("a file that is not TSPLIB's", ignore_fixed_edges=ignore_fixed_edges)
            if kind == "table":
                return of_table(decoded(without_end_mark(data)), metric, columns, asymmetric, name)
            document = _array(mapped or data) if kind == "array" else _json(data, kind)
            return as_instance(document, metric=metric, columns=columns, asymmetric=asymmetric, name=name)
    except InstanceError as error:
        raise InstanceError(f"{file}: {error}") from error


def _kind_of(data: bytes) -> str:
    """Tell by its beginning what a file holds whose ending does not."""
    if data.startswith(_ARRAY):
        return "array"
    beginning = data[:_BEGINNING].removeprefix(codecs.BOM_UTF8).lstrip()
    if beginning.startswith((b"{", b"[")):
        return "JSON"
    line = beginning.partition(b"\n")[0].strip()
    # TSPLIB's keywords have a colon, or a line for themselves.
    is_table = _NUMBER.match(line) or (_SEPARATOR.search(line) and b":" not in line)
    return "table" if is_table else "TSPLIB"


def _mapped(path: Path) -> MappedFile | None:
    """Return a large file of `numpy.save`, mapped, so that it takes no memory but the system's cache; None for others.

    The file must not become shorter while the array is used.
    """
    if not path.is_file() or path.stat().st_size < _LARGE:
        return None
    with open(path, "rb", buffering=0) as file:
        if file.read(len(_ARRAY)) != _ARRAY or _KINDS.get(path.suffix.lower(), "array") != "array":
            return None
        return MappedFile(file.fileno(), 0, access=mmap.ACCESS_READ)


def _array(data: bytes | MappedFile) -> object:
    """Return the array that a file holds, where it can be as a view of what was read: it may be as large as memory."""
    stream: Any = io.BytesIO(data) if isinstance(data, bytes) else data
    try:
        version = np.lib.format.read_magic(stream)
        if read_header := _HEADERS.get(version):
            shape, is_fortran, dtype = read_header(stream)
            count = math.prod(shape)
            if count and not dtype.hasobject:
                items = np.frombuffer(data, dtype, count, stream.tell())
                return items.reshape(shape, order="F" if is_fortran else "C")
        stream.seek(0)
        return np.load(stream, allow_pickle=False)
    # What its header says is not checked before it is used.
    except Exception as error:
        raise InstanceError(f"it is not an array as numpy.save writes them: {error}") from error


def _json(data: bytes, kind: str) -> object:
    """Return what JSON says: an object, or where it need not be GeoJSON a list, of coordinates or distances."""
    try:
        document = json.loads(decoded(without_end_mark(data)))
    except (json.JSONDecodeError, RecursionError) as error:
        raise InstanceError(f"it is not JSON: {error}") from error
    if kind == "GeoJSON" and not isinstance(document, dict):
        raise InstanceError(f"GeoJSON is an object; this is a {type(document).__name__}")
    if not isinstance(document, dict | list):
        raise InstanceError(
            f"it is a {type(document).__name__}; JSON is read as a list of rows, GeoJSON, or a road server's table"
        )
    return document
