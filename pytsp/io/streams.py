"""Sources and targets of files: paths, ``"-"``, and open streams."""

from __future__ import annotations

import io
import os
import stat
import sys
from pathlib import Path
from typing import IO, TypeAlias, TypeGuard

from pytsp.exceptions import InstanceError, TsplibError
from pytsp.utils.arguments import file_name
from pytsp.utils.notices import warn_user

Source: TypeAlias = str | os.PathLike[str] | IO[bytes] | IO[str]
"""A path, ``"-"`` for standard input or output, or an open stream."""


_GZIP_MAGIC = b"\x1f\x8b"
_CHUNK = 1 << 20
# The end of a text of CP/M and MS-DOS, what may follow it, and as many bytes as are looked at.
_END_MARK, _BLANKS, _LONGEST_END = b"\x1a", b" \t\r\n", 1 << 10
# Numbers shrink three- to twentyfold; what grows past both bounds was made to exhaust the memory.
_MOST_EXPANSION = 200
_ALWAYS_ALLOWED = 64 << 20


def is_path(source: Source) -> TypeGuard[str | os.PathLike[str]]:
    """Tell whether it is a path, and neither ``"-"`` nor a stream."""
    return isinstance(source, (str, os.PathLike)) and source != "-"


def read_bytes(source: Source) -> tuple[bytes, str]:
    """Return the bytes of a source, decompressed where they are gzip, and the name under which errors speak of it.

    Damaged gzip, and gzip that expands out of all proportion, raise `TsplibError`.
    """
    data: bytes | str
    if is_path(source):
        file = file_name("source", source)
        try:
            data = Path(file).read_bytes()
        except MemoryError:
            raise TsplibError(f"its {os.stat(file).st_size} bytes do not fit into memory", file=file) from None
    elif isinstance(source, (str, os.PathLike)):
        data, file = sys.stdin.buffer.read(), "<stdin>"
    elif hasattr(source, "read"):
        data, name = source.read(), getattr(source, "name", None)
        file = name if isinstance(name, str) else "<stream>"
    else:
        raise TypeError(f"source must be a path, '-' or an open stream; it is a {type(source).__name__}")
    if isinstance(data, str):
        data = data.encode("utf-8", errors="surrogateescape")
    return (_expanded(data, file) if data.startswith(_GZIP_MAGIC) else data), file


def without_end_mark(data: bytes) -> bytes:
    """Return a text without the bytes 0x1A at its end, by which old systems mark that; warn of them."""
    if not data[-_LONGEST_END:].rstrip(_BLANKS).endswith(_END_MARK):
        return data
    rest = data.rstrip(_BLANKS + _END_MARK)
    count = data.count(_END_MARK, len(rest))
    warn_user(f"{count} byte{'s' if count > 1 else ''} 0x1A at its end left out")
    return rest + b"\n"


def decoded(data: bytes) -> str:
    """Return the text that bytes are in UTF-8."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InstanceError(f"it is not a text in UTF-8: {error}") from error


def _expanded(data: bytes, file: str) -> bytes:
    # Few files are compressed, and the command line imports this module first.
    import gzip  # noqa: PLC0415
    import zlib  # noqa: PLC0415

    limit = max(_ALWAYS_ALLOWED, _MOST_EXPANSION * len(data))
    expanded = bytearray()
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as stream:
            while (chunk := stream.read(_CHUNK)) and len(expanded) <= limit:
                expanded += chunk
    except (EOFError, OSError, zlib.error) as error:
        raise TsplibError(f"the gzip data is damaged or cut short: {error}", file=file) from error
    if len(expanded) > limit:
        raise TsplibError(
            f"the gzip data of {len(data)} bytes expands to more than {limit} bytes; "
            f"expand it with gunzip first if that is meant",
            file=file,
        )
    return bytes(expanded)


def check_target(target: object) -> None:
    """Refuse a target that nothing can be written to: most likely, arguments in another order."""
    if not hasattr(target, "write"):
        file_name("target, the first argument,", target)


def try_path(path: str | os.PathLike[str]) -> None:
    """Raise `OSError` if a file cannot be written: it is a folder, its folder is missing, or the permission. It is
    unchanged."""
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
