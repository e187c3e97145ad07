"""Packages of the Debian or Ubuntu release that this machine runs, in a private folder; nothing of the system changes.

They come from the archive that the system uses, with what they depend on and the system lacks.
"""

from __future__ import annotations

import platform
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

from buildtools.archive import COMPONENTS, download_packages, read_sources, unpack
from buildtools.errors import BuildError
from buildtools.paths import cache_folder
from buildtools.shell import locked

INSTALLED = Path("/var/lib/dpkg/status")


def private_folder(name: str) -> Path:
    """Give the place of what was obtained by this name, or will be."""
    return cache_folder() / name


def private_libraries(name: str) -> str:
    """Give the folders of its libraries, as LD_LIBRARY_PATH takes them."""
    return ":".join(sorted({str(file.parent) for file in private_folder(name).glob("lib/**/*.so*")}))


def obtain(name: str, packages: Sequence[str]) -> Path:
    """Obtain packages, unless they are there, and give the folder that holds what they have in /usr.

    `BuildError` is raised if this is no Debian or Ubuntu system, or its archive does not have them.
    """
    target = private_folder(name)
    with locked(cache_folder()):
        for left_over in cache_folder().glob(f".{name}-*"):
            shutil.rmtree(left_over, ignore_errors=True)
        if not target.exists():
            work = Path(tempfile.mkdtemp(prefix=f".{name}-", dir=cache_folder()))
            try:
                _unpack_into(work, packages).rename(target)
            finally:
                shutil.rmtree(work, ignore_errors=True)
    return target


def _unpack_into(work: Path, packages: Sequence[str]) -> Path:
    if shutil.which("apt-get") is None or shutil.which("dpkg-deb") is None:
        raise BuildError("apt-get or dpkg-deb is not here: no Debian or Ubuntu system")
    release = platform.freedesktop_os_release()
    sources = [source for source in read_sources(Path("/etc/apt")) if source.kind == release.get("ID")]
    if not sources or not COMPONENTS.get(release["ID"]):
        raise BuildError("no Debian or Ubuntu archive of this system's stands in /etc/apt")
    stanza = sources[0].stanza(release.get("VERSION_CODENAME", ""))
    return unpack(download_packages(stanza, work / "apt", packages, INSTALLED), work / "root")
