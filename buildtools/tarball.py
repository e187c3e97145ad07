"""The official static build of the Futhark compiler, over HTTPS, checked against a pinned checksum."""

from __future__ import annotations

import hashlib
import platform
import sys
import tarfile
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path

from buildtools.errors import BuildError

VERSION = "0.25.27"
# As the Arch Linux package futhark-bin 0.25.27 records it for the release file.
SHA256 = "7d64854beedb640665bc837d7abb43ddb0abcbdc5b145e260377bb00219466cc"
NAME = f"futhark-{VERSION}-linux-x86_64"
ADDRESSES = (
    f"https://github.com/diku-dk/futhark/releases/download/v{VERSION}/{NAME}.tar.xz",
    f"https://futhark-lang.org/releases/{NAME}.tar.xz",
)


def unpack_from_tarball(work: Path, target: Path, ready: Callable[[], object]) -> Path:
    """Download and unpack the compiler in `work`; give the folder that works once it is moved to `target`."""
    del target, ready
    if sys.platform != "linux" or platform.machine() not in ("x86_64", "amd64"):
        raise BuildError(f"there is one for Linux on x86_64 only; this is {sys.platform} on {platform.machine()}")
    reasons = []
    for address in ADDRESSES:
        try:
            return extract(download(address, work / f"{NAME}.tar.xz"), work)
        except BuildError as error:
            reasons.append(str(error))
    raise BuildError("; ".join(reasons))


def download(address: str, file: Path) -> Path:
    """Download `address` into `file`, and refuse contents of another checksum than `SHA256`."""
    try:
        with urllib.request.urlopen(address, timeout=60) as answer:
            contents: bytes = answer.read()
    except (urllib.error.URLError, TimeoutError) as error:
        raise BuildError(f"{address}: {getattr(error, 'reason', error)}") from error
    checksum = hashlib.sha256(contents).hexdigest()
    if checksum != SHA256:
        raise BuildError(f"{address}: its SHA-256 is {checksum}, not the expected {SHA256}; it is not used")
    file.write_bytes(contents)
    return file


def extract(file: Path, work: Path) -> Path:
    """Unpack `file` in `work`; give the folder that holds ``bin/futhark``."""
    try:
        with tarfile.open(file) as contents:
            contents.extract(f"{NAME}/bin/futhark", work)
    except (tarfile.TarError, KeyError, EOFError) as error:
        raise BuildError(f"{file.name} cannot be unpacked: {error}") from error
    return work / NAME
