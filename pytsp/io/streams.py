"""Where files are read from and written to: paths, ``"-"``, and streams that are open."""

from __future__ import annotations

import io
import os
import stat
import sys
from pathlib import Path
from typing import IO, TypeAlias, TypeGuard

from pytsp.utils.arguments import file_name

Source: TypeAlias = str | os.PathLike[str] | IO[bytes] | IO[str]
"""A path, ``"-"`` for standard input or output, or an open stream."""


def is_path(source: Source) -> TypeGuard[str | os.PathLike[str]]:
    """Tell whether it is a path, and neither ``"-"`` nor a stream."""
    return isinstance(source, (str, os.PathLike)) and source != "-"


def check_target(target: object) -> None:
    """Refuse what nothing can be written to: most likely, arguments in another order.

    Raises
    ------
    TypeError, ValueError
    """
    if not hasattr(target, "write"):
        file_name("target, the first argument,", target)


def try_path(path: str | os.PathLike[str]) -> None:
    """Raise `OSError` where a file cannot be written: it is a folder, there is none, or no right. It stays as it is."""
    if not os.path.exists(path):
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT, 0o666))
        os.unlink(os.path.realpath(path))
    # A pipe would wait for its reader.
    elif not stat.S_ISFIFO(os.stat(path).st_mode):
        os.close(os.open(path, os.O_WRONLY))


def write_text(target: Source, text: str, errors: str = "replace") -> None:
    """Write a text in UTF-8, its lines as they are; `errors` says what becomes of characters that UTF-8 lacks."""
    if is_path(target):
        Path(target).write_bytes(text.encode("utf-8", errors))
        return
    stream = sys.stdout if isinstance(target, (str, os.PathLike)) else target
    if isinstance(stream, io.TextIOBase):
        stream.write(text)
    else:
        stream.write(text.encode("utf-8", errors))  # type: ignore[arg-type]
