"""Find the Futhark compiler, or obtain one into a private cache."""

from __future__ import annotations

import errno
import os
import re
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from buildtools.archive import unpack_from_archive
from buildtools.errors import BuildError
from buildtools.paths import cache_folder
from buildtools.shell import locked, run, say
from buildtools.tarball import unpack_from_tarball

MINIMUM = (0, 25, 27)
WAYS = (
    ("the machine's own Debian or Ubuntu archive", unpack_from_archive),
    ("the official static tarball", unpack_from_tarball),
)
BY_HAND = """\
Three ways by hand:
  1. the system's package manager: `apt install futhark` (Debian 13, Ubuntu 25.04 or later),
     `brew install futhark`, `nix-env -i futhark`; then run this again;
  2. unpack futhark-X.Y.Z-linux-x86_64.tar.xz from https://futhark-lang.org/releases/ anywhere, then
     `python build.py --futhark FOLDER/bin/futhark`;
  3. put any Futhark of version {minimum} or later on PATH, or name it in the environment variable FUTHARK."""


@dataclass(frozen=True)
class Compiler:
    """A Futhark compiler that was seen to run."""

    path: Path
    version: str


def check_compiler(path: Path, whence: str) -> Compiler:
    """Ask the program at `path` for its version, and refuse one that is older than `MINIMUM`."""
    try:
        printed = run([path, "--version"], timeout=60)
    except BuildError as error:
        raise BuildError(f"the Futhark compiler of {whence}, {path}, does not work: {error}") from error
    found = re.search(r"Futhark (\d+)\.(\d+)\.(\d+)", printed)
    if found is None:
        raise BuildError(f"{path} ({whence}) is no Futhark compiler: its --version printed {printed[:80]!r}")
    version = tuple(int(part) for part in found.groups())
    if version < MINIMUM:
        raise BuildError(
            f"the Futhark compiler of {whence}, {path}, is version {dotted(version)}; "
            f"{dotted(MINIMUM)} or later is needed: give a newer one, or leave it out and one is obtained"
        )
    return Compiler(path, dotted(version))


def dotted(version: tuple[int, ...]) -> str:
    """Write a version with dots."""
    return ".".join(map(str, version))


def cached_path() -> Path:
    """Give the place of the compiler that the build obtained, or will."""
    return cache_folder() / "futhark" / "bin" / "futhark"


def find_compiler(explicit: str | None = None) -> Compiler | None:
    """Find a compiler: `explicit`, $FUTHARK, PATH, the cache. One that was named must work."""
    for named, whence in ((explicit, "--futhark"), (os.environ.get("FUTHARK"), "$FUTHARK")):
        if named:
            return check_compiler(Path(shutil.which(named) or named).absolute(), whence)
    on_path = shutil.which("futhark")
    for path, whence in ((on_path, "PATH"), (cached_path(), "the cache")):
        if path is None or not os.path.exists(path):
            continue
        try:
            return check_compiler(Path(path), whence)
        except BuildError as error:
            say(f"passed over: {error}")
    return None


def obtain_compiler(ready: Callable[[], object] = lambda: None) -> Compiler:
    """Obtain a compiler into the cache, by the first of `WAYS` that works; the system is not touched.

    `ready` returns once pip has installed what the build needs, which may go on meanwhile. The compiler is unpacked
    beside its place, moved there in one step, and run: no half of one is ever used.
    """
    cache = cache_folder()
    try:
        with locked(cache):
            return _obtain_into(cache, ready)
    except OSError as error:
        raise BuildError(
            f"the Futhark compiler cannot be kept in {cache}: {error.strerror}; make room or make it "
            "writable, name another folder in the environment variable XDG_CACHE_HOME, or install Futhark "
            "yourself and give --futhark PATH"
        ) from error


def _obtain_into(cache: Path, ready: Callable[[], object]) -> Compiler:
    for left_over in cache.glob(".futhark-*"):
        shutil.rmtree(left_over, ignore_errors=True)
    reasons = []
    for name, unpack in WAYS:
        say(f"no Futhark compiler at hand: obtaining one from {name}, into {cache}")
        work = Path(tempfile.mkdtemp(prefix=".futhark-", dir=cache))
        try:
            target = cached_path().parent.parent
            tree = unpack(work, target, ready)
            if target.exists():
                target.rename(work / "replaced")
            tree.rename(target)
            return _check_in_place(target)
        except BuildError as error:
            if os.strerror(errno.ENOSPC) in str(error):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)) from error
            say("  that did not work")
            reasons.append(f"from {name}: {error}")
        finally:
            shutil.rmtree(work, ignore_errors=True)
    tried = "\n".join(reasons)
    raise BuildError(f"no Futhark compiler could be obtained.\n{tried}\n{BY_HAND.format(minimum=dotted(MINIMUM))}")


def _check_in_place(target: Path) -> Compiler:
    try:
        return check_compiler(cached_path(), "the cache")
    except BuildError:
        shutil.rmtree(target, ignore_errors=True)
        raise
