"""Translations that Futhark made before, in this checkout or another: in the cache, for each program and compiler.

An entry is a packed folder of `buildtools.translations`: the C with a manifest, by whose checksums a damaged one is
told. It bears the checksum of all that it was made from as its name, so that two builds can write it at once, and none
is ever out of date. $PYTSP_STORE=off leaves the store out, and `build.py --clean` removes it.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import tarfile
import tempfile
import time
import zlib
from collections.abc import Iterable
from pathlib import Path

from buildtools.errors import BuildError
from buildtools.paths import cache_folder
from buildtools.shell import say
from buildtools.translations import describe, read_translations, write_translations

# All programs for all backends have 12 MB packed.
MOST_BYTES = 400_000_000
SWITCH = "PYTSP_STORE"
# Packing takes a second; what is older was left by a build that was killed.
SECONDS_OF_WORK = 3600


def store_folder() -> Path:
    """Give the folder of the store."""
    return cache_folder() / "translations"


def is_on() -> bool:
    """Tell whether the store is to be used.

    `BuildError` is raised if $PYTSP_STORE is neither "on" nor "off".
    """
    asked = os.environ.get(SWITCH) or "on"
    if asked not in ("on", "off"):
        raise BuildError(f"${SWITCH} must be on or off, got {asked!r}")
    return asked == "on"


def entry_of(key: str) -> Path:
    """Give the place of an entry, whether it is there or not."""
    return store_folder() / f"{key}.tar.gz"


def take(key: str, name: str, target: Path) -> bool:
    """Unpack the translation of the module `name` into the folder `target`; tell whether there was a whole one.

    A damaged one is removed.
    """
    entry = entry_of(key)
    if not entry.is_file():
        return False
    try:
        with tempfile.TemporaryDirectory(dir=target) as work:
            with tarfile.open(entry, "r:gz") as packed:
                for member in packed:
                    # Files only, each by its last name: none is written elsewhere.
                    file = packed.extractfile(member)
                    if file is not None:
                        with (Path(work) / Path(member.name).name).open("wb") as unpacked:
                            shutil.copyfileobj(file, unpacked)
            read_translations(Path(work))[name].copy(target)
        # The oldest are those that were not used for the longest time.
        os.utime(entry)
    except (BuildError, OSError, EOFError, KeyError, tarfile.TarError, zlib.error):
        say(f"{name}: {entry} is damaged; it is made again")
        with contextlib.suppress(OSError):
            entry.unlink()
        return False
    return True


def keep(key: str, name: str, folder: Path, futhark: str, sources: str, files: Iterable[str] = ()) -> None:
    """Pack the translation of the module `name` that lies in `folder`, or of another program these files.

    Room is made for it. Where the cache cannot be written to, or its disk is full, nothing is kept, and a build
    goes on.
    """
    try:
        store_folder().mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".work-", dir=store_folder()) as work:
            tree = Path(work) / name
            write_translations({name: describe(folder, name, futhark, sources, files)}, tree)
            packed = Path(work) / "packed"
            with tarfile.open(packed, "w:gz", compresslevel=6) as file:
                for each in sorted(tree.iterdir()):
                    file.add(each, each.name)
            packed.replace(entry_of(key))
        remove_oldest()
    except OSError as error:
        say(f"{name}: its translation cannot be kept in {store_folder()}: {error.strerror}")


def remove_oldest() -> None:
    """Remove the entries used longest ago, until the others have `MOST_BYTES` at most, and what killed builds left."""
    found = []
    for left_over in store_folder().glob(".work-*"):
        with contextlib.suppress(FileNotFoundError):
            if time.time() - left_over.stat().st_mtime > SECONDS_OF_WORK:
                shutil.rmtree(left_over, ignore_errors=True)
    for entry in store_folder().glob("*.tar.gz"):
        # Another build may remove it at the same time.
        with contextlib.suppress(FileNotFoundError):
            found.append((entry.stat().st_mtime, entry.stat().st_size, entry))
    room = MOST_BYTES
    for _, size, entry in sorted(found, reverse=True):
        room -= size
        if room < 0:
            entry.unlink(missing_ok=True)
