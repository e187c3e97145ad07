"""The compiled kernels of a GPU backend, kept between runs in a file of the user's cache folder."""

from __future__ import annotations

import os
import warnings
import zlib
from collections.abc import Mapping
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import platformdirs

if TYPE_CHECKING:
    from pytsp.backends.kind import Found

_MARK = b"FUTHARK\0"


class KernelCache:
    """The file for one set of kernels, compiled in one way. A folder that cannot be used gives a warning.

    It is named by the contents of the compiled module and by `settings`, all else that the kernels depend on. `path` is
    what Futhark is to read, where they are `warm`, or else write; None where nothing can be kept. It is written beside
    the final place, so that another process never reads half of it; `keep` then moves it there.
    """

    def __init__(self, name: str, module: Path, settings: tuple[object, ...]) -> None:
        # Futhark compares a checksum of its own with the file's: two that share a name cost time only.
        self._file = cache_file(name, module, settings)
        self.path: Path | None = None
        self.warm = False
        try:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            if not os.access(self._file.parent, os.W_OK | os.X_OK):
                raise PermissionError(f"{self._file.parent} is not writable")
            self.warm = self._file.exists() and self._is_whole()
            if not self.warm and self._file.exists():
                _warn(f"the compiled kernels in {self._file} are damaged and are made again")
                self._file.unlink()
        except OSError as error:
            _warn(f"compiled kernels are not kept between runs: {error}")
            self.warm = False
            return
        self.path = self._file if self.warm else self._file.with_name(f"{self._file.name}.{os.getpid()}")

    def _is_whole(self) -> bool:
        """Tell whether Futhark wrote the file to its end: it begins with a mark and its own size."""
        with self._file.open("rb") as stream:
            start = stream.read(16)
        size = self._file.stat().st_size
        return len(start) == 16 and start[:8] == _MARK and int.from_bytes(start[8:], "little") == size

    def keep(self) -> None:
        """Move what Futhark wrote to its place, if it wrote something."""
        if self.path is not None and not self.warm:
            with suppress(OSError):
                self.path.replace(self._file)


def _warn(text: str) -> None:
    warnings.warn(text, RuntimeWarning, stacklevel=2)


def cache_file(name: str, module: Path, settings: tuple[object, ...]) -> Path:
    """Name the file of the kernels of a compiled module that are compiled further by `settings`."""
    file = f"{name}-{checksum(module):08x}{zlib.crc32(repr(settings).encode()):08x}"
    return Path(platformdirs.user_cache_dir("pytsp")) / "kernels" / file


def checksum(file: Path) -> int:
    """Return the checksum of a file, which is read once a process unless it changes."""
    state = file.stat()
    return _checksum(file, state.st_size, state.st_mtime_ns)


@lru_cache(maxsize=32)
def _checksum(file: Path, size: int, changed: int) -> int:
    return zlib.crc32(file.read_bytes())


def set_cache(found: Found, config: Any, tuning: Mapping[str, int]) -> KernelCache:
    """Have the context of a configuration read its kernels from their file, or else write them."""
    kind = found.kind
    cache = KernelCache(kind.module(found.part), kind.file(found.part), kind.compiled_by(found, tuning))
    if cache.path is not None:
        found.module.lib.futhark_context_config_set_cache_file(config, os.fsencode(cache.path))
    return cache
