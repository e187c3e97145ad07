"""Instances out of files, by their endings or by what they hold: TSPLIB's, tables, NumPy's arrays, JSON."""

from __future__ import annotations

import codecs
import io
import json
import math
import mmap
import os
import re
from collections.abc import Sequence
from pathlib import PurePath
from typing import Any

import numpy as np

from pytsp.exceptions import InstanceError
from pytsp.io.convert import as_instance, concerns_not
from pytsp.io.streams import Source, is_path, read_bytes, without_end_mark
from pytsp.io.tables import of_table
from pytsp.io.tsplib.lexer import as_text
from pytsp.io.tsplib.reader import parse
from pytsp.problem.instance import Instance
from pytsp.problem.validation import MappedFile
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


def read_any(
    source: Source,
    name: str | None,
    metric: str | None,
    columns: Sequence[str] | None,
    asymmetric: bool,
    ignore_fixed_edges: bool,
) -> Instance:
    """Read an instance: see `pytsp.read`, which knows names beside files."""
    mapped = _mapped(source)
    data, file = (_ARRAY, os.fspath(source)) if is_path(source) and mapped is not None else read_bytes(source)
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
                return of_table(_decoded(data), metric, columns, asymmetric, name)
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


def _decoded(data: bytes) -> str:
    try:
        return without_end_mark(data).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InstanceError(f"it is not a text in UTF-8: {error}") from error


def _mapped(source: Source) -> MappedFile | None:
    """Return a large file of `numpy.save`, mapped, so that it takes no memory but the system's cache; None for others.

    The file must not become shorter while the array is used.
    """
    if not is_path(source) or not os.path.isfile(source) or os.path.getsize(source) < _LARGE:
        return None
    with open(source, "rb", buffering=0) as file:
        if file.read(len(_ARRAY)) != _ARRAY or _KINDS.get(PurePath(source).suffix.lower(), "array") != "array":
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
        document = json.loads(_decoded(data))
    except (json.JSONDecodeError, RecursionError) as error:
        raise InstanceError(f"it is not JSON: {error}") from error
    if kind == "GeoJSON" and not isinstance(document, dict):
        raise InstanceError(f"GeoJSON is an object; this is a {type(document).__name__}")
    if not isinstance(document, dict | list):
        raise InstanceError(
            f"it is a {type(document).__name__}; JSON is read as a list of rows, GeoJSON, or a road server's table"
        )
    return document
