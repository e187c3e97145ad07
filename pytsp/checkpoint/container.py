"""The file of a checkpoint: a tree of plain values and arrays under one checksum, put in the place of the last at once.

A line with the format's version; a line of JSON, in which an array is the number of its place; the arrays, byte by
byte; the SHA-256 of all that. Nothing in it is executed when it is read.
"""

from __future__ import annotations

import glob
import hashlib
import json
import math
import os
import re
import tempfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from pytsp.exceptions import CheckpointError

VERSION = 1
"""The version of the format; a file of a later one is refused."""

_FIRST_LINE = re.compile(rb"pytsp checkpoint ([0-9]{1,9})\n")
_MOST_FIRST_LINE = 64
_DTYPES = ("<i1", "<i2", "<i4", "<i8", "<u1", "<u2", "<u4", "<u8", "<f4", "<f8", "|i1", "|u1", "|b1")
# The key of an array in the tree; its value is the place among the arrays.
_PLACE = "array"


def pack(tree: Mapping[str, Any]) -> list[bytes | memoryview]:
    """Return a tree of dicts, lists, numbers, strings, None and arrays as the parts of a file, but for its checksum."""
    arrays: list[NDArray[Any]] = []

    def plain(value: object) -> object:
        if isinstance(value, np.ndarray):
            arrays.append(np.ascontiguousarray(value, dtype=value.dtype.newbyteorder("<")))
            return {_PLACE: len(arrays) - 1}
        if isinstance(value, np.generic):
            return value.item()
        raise TypeError(f"a checkpoint cannot hold a {type(value).__name__}")

    text = json.dumps(tree, default=plain)
    described = json.dumps([{"dtype": array.dtype.str, "shape": array.shape} for array in arrays])
    head = b"pytsp checkpoint %d\n" % VERSION + f'{{"arrays": {described}, "tree": {text}}}\n'.encode()
    return [head, *(array.reshape(-1).view(np.uint8).data for array in arrays if array.size)]


def write(stream: IO[bytes], parts: list[bytes | memoryview]) -> None:
    """Write the parts of a file, and behind them their checksum."""
    checksum = hashlib.sha256()
    for part in parts:
        checksum.update(part)
        stream.write(part)
    stream.write(checksum.digest())


def read(path: Path) -> dict[str, Any]:
    """Return the tree that a file holds; raise `CheckpointError` if it is none, of a later version, or damaged."""
    with path.open("rb") as stream:
        first = stream.readline(_MOST_FIRST_LINE)
        matched = _FIRST_LINE.fullmatch(first)
        if matched is None:
            raise CheckpointError(f"{path}: this is no checkpoint of pytsp: it does not begin with 'pytsp checkpoint'")
        version = int(matched[1])
        if version > VERSION:
            raise CheckpointError(
                f"{path}: it has version {version} of the format; this pytsp reads versions up to {VERSION}; "
                "update pytsp"
            )
        data = first + stream.read()
    size = hashlib.sha256().digest_size
    if len(data) < len(first) + size or hashlib.sha256(data[:-size]).digest() != data[-size:]:
        raise CheckpointError(f"{path}: the checkpoint is damaged: its checksum does not fit its {len(data)} bytes")
    try:
        return _unpacked(data, len(first), len(data) - size)
    except (ValueError, KeyError, TypeError, IndexError, RecursionError) as error:
        raise CheckpointError(f"{path}: the checkpoint is not as pytsp writes them: {error}") from error


def _unpacked(data: bytes, begin: int, end: int) -> dict[str, Any]:
    """Return the tree of a file whose checksum fits."""
    line_end = data.index(b"\n", begin, end)
    head = json.loads(data[begin:line_end])
    at, arrays = line_end + 1, []
    for described in head["arrays"]:
        name, shape = described["dtype"], [int(side) for side in described["shape"]]
        if name not in _DTYPES or min(shape, default=0) < 0:
            raise ValueError(f"an array of {name!r} with shape {shape}")
        dtype, count = np.dtype(name), math.prod(shape)
        if at + count * dtype.itemsize > end:
            raise ValueError(f"an array with shape {shape} leaves the file")
        # A copy, which is aligned and may be written to.
        arrays.append(np.frombuffer(data, dtype, count, at).reshape(shape).astype(dtype.newbyteorder("=")))
        at += count * dtype.itemsize

    def planted(value: Any) -> Any:
        if isinstance(value, dict):
            is_place = set(value) == {_PLACE}
            return arrays[value[_PLACE]] if is_place else {name: planted(each) for name, each in value.items()}
        return [planted(each) for each in value] if isinstance(value, list) else value

    tree = planted(head["tree"])
    if not isinstance(tree, dict):
        raise ValueError(f"the tree is a {type(tree).__name__}")
    return tree


def replace_file(path: Path, fill: Callable[[IO[bytes]], None], *, is_new: bool = False) -> None:
    """Have `fill` write a new file, and put it in the place of `path` once all of it is on the disk.

    At any instant `path` is either what it was or all of the new file, which only its owner may read; it is what it was
    if `OSError` is raised. Where it `is_new`, one of several processes puts its file there, and `FileExistsError` is
    raised in the others.
    """
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".part")
    try:
        with open(descriptor, "wb") as stream:
            fill(stream)
            stream.flush()
            os.fsync(descriptor)
        if not (is_new and _linked(name, path)):
            os.replace(name, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(name)
        raise
    # The file's new name is on the disk as well, where a folder can be synchronised.
    with suppress(OSError):
        folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def _linked(name: str, path: Path) -> bool:
    """Give a file a name that must be new, in place of its own; tell whether there are links on this disk."""
    try:
        os.link(name, path)
    except FileExistsError:
        raise
    except OSError:
        return False
    os.unlink(name)
    return True


def sweep(path: Path) -> None:
    """Remove what writers of `path` have left that were killed while they wrote."""
    for left in path.parent.glob(f".{glob.escape(path.name)}.*.part"):
        with suppress(OSError):
            left.unlink()
