"""Download a file of TSPLIB through pooch: bounded in time and size, kept only if it is the right one."""

from __future__ import annotations

import io
import logging
import time
import zlib
from pathlib import Path
from typing import Any

from pytsp.exceptions import DatasetError, PytspError, TsplibError
from pytsp.io.tsplib.reader import read
from pytsp.problem.optima import FILES
from pytsp.utils.text import one_line

# The longest file has 0.45 MB, and 1.8 MB when it is decompressed.
MOST_BYTES = 1 << 23


class _Bounded(io.BytesIO):
    """A buffer with a bound on its bytes, and on the time to fill it."""

    def __init__(self, name: str, timeout: float) -> None:
        super().__init__()
        self._name = name
        self._timeout = timeout
        self._ends = time.monotonic() + timeout

    def write(self, chunk: Any) -> int:
        if time.monotonic() > self._ends:
            raise DatasetError(f"{self._name}: the download took longer than {self._timeout:g} s")
        if self.tell() + len(chunk) > MOST_BYTES:
            raise _too_long(self._name)
        return super().write(chunk)


def download(name: str, url: str, folder: Path, timeout: float) -> Path:
    """Return the path of an instance's file in a folder; download it where it is not there, or damaged."""
    try:
        import pooch  # noqa: PLC0415
    except ModuleNotFoundError as error:
        if error.name != "pooch":
            raise
        raise DatasetError(
            f"{name}: downloading needs pooch, which is not installed; pip install 'pytsp-futhark[datasets]'"
        ) from None
    checksum = FILES[name][2]

    def fetched(address: str, target: str, _: object) -> None:
        buffer = _Bounded(name, timeout)
        pooch.HTTPDownloader(timeout=timeout)(address, buffer, None)
        content = _decompressed(buffer.getvalue(), name)
        if checksum is None:
            _check(name, content)
        Path(target).write_bytes(content)

    file, known = f"{name}.tsp", None if checksum is None else f"sha256:{checksum}"
    # It would write notes about its work to standard error.
    level = pooch.get_logger().level
    pooch.get_logger().setLevel(logging.WARNING)
    try:
        return Path(pooch.retrieve(f"{url}{file}.gz", known, fname=file, path=folder, downloader=fetched))
    except PytspError:
        raise
    except OSError as error:
        raise DatasetError(f"{name}: it could not be downloaded from {url}: {_reason(error)}") from error
    except ValueError as error:
        raise DatasetError(f"{name}: what came from {url} is not TSPLIB's file: {one_line(str(error))}") from error
    finally:
        pooch.get_logger().setLevel(level)


def _decompressed(content: bytes, name: str) -> bytes:
    """Return what a gzip file holds."""
    stream = zlib.decompressobj(wbits=16 + zlib.MAX_WBITS)
    try:
        plain = stream.decompress(content, MOST_BYTES)
    except zlib.error as error:
        raise DatasetError(f"{name}: what came is no gzip file, or a damaged one: {error}") from error
    if stream.unconsumed_tail:
        raise _too_long(name)
    if not stream.eof:
        raise DatasetError(f"{name}: what came is cut off after {len(content)} bytes")
    return plain


def _check(name: str, content: bytes) -> None:
    """Refuse a file that is not the instance, as far as that shows without its checksum."""
    n, kind, _ = FILES[name]
    try:
        instance = read(io.BytesIO(content))
    except TsplibError as error:
        place = "" if error.line is None else f"line {error.line}: "
        raise DatasetError(f"{name}: what came is no instance: {place}{error.problem}") from error
    if (instance.name.lower(), instance.n) != (name.lower(), n) or kind not in (None, instance.metric):
        raise DatasetError(
            f"{name}: what came is {instance.name!r} of {instance.n} cities, {instance.metric}, but it has {n} cities"
            f"{f', {kind}' if kind else ''}"
        )


def _reason(error: OSError) -> str:
    """Say in words why a download failed; the classes are those of requests, which pooch downloads with."""
    kinds = {cls.__name__ for cls in type(error).__mro__}
    status = getattr(getattr(error, "response", None), "status_code", None)
    if status is not None:
        return f"the server answers {status}{', it has no such file' if status == 404 else ''}"
    # A pause within the file arrives as a lost connection whose cause is the time.
    if "Timeout" in kinds or type(error.args[0] if error.args else None).__name__ == "ReadTimeoutError":
        return "the server does not answer in time"
    if "ChunkedEncodingError" in kinds:
        return f"the connection broke: {one_line(str(error))}"
    if "ConnectionError" in kinds:
        return "the server cannot be reached; is this machine offline?"
    return one_line(str(error))


def _too_long(name: str) -> DatasetError:
    return DatasetError(f"{name}: the file is longer than any of TSPLIB's ({MOST_BYTES >> 20} MiB)")
