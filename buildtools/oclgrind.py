"""Oclgrind, a simulator of OpenCL devices that finds data races, and OpenCL's headers, in a private folder.

Both come from the Debian or Ubuntu archive that this machine uses, in the release that it runs; nothing of the system
changes. `python -m buildtools.oclgrind` prints the folder, which holds bin/oclgrind and include/CL/cl.h.
"""

from __future__ import annotations

import platform
import shutil
import sys
import tempfile
from pathlib import Path

from buildtools.archive import COMPONENTS, download_packages, read_sources, unpack
from buildtools.errors import BuildError
from buildtools.paths import cache_folder
from buildtools.shell import locked

PACKAGES = ("oclgrind", "opencl-c-headers")
INSTALLED = Path("/var/lib/dpkg/status")


def oclgrind_folder() -> Path:
    """Give the place of what this module obtained, or will."""
    return cache_folder() / "oclgrind"


def oclgrind_command() -> list[str]:
    """Give the words that run a program under oclgrind: the system's, else the one in the cache; none without it."""
    on_path = shutil.which("oclgrind")
    if on_path:
        return [on_path]
    folder = oclgrind_folder()
    libraries = ":".join(sorted({str(file.parent) for file in folder.glob("lib/**/*.so*")}))
    program = folder / "bin" / "oclgrind"
    return ["env", f"LD_LIBRARY_PATH={libraries}", str(program)] if program.is_file() else []


def obtain_oclgrind() -> Path:
    """Obtain oclgrind and the headers, unless they are there, and give their folder.

    Raises
    ------
    BuildError
        If this is no Debian or Ubuntu system, or its archive does not have them.
    """
    target = oclgrind_folder()
    with locked(cache_folder()):
        for left_over in cache_folder().glob(".oclgrind-*"):
            shutil.rmtree(left_over, ignore_errors=True)
        if not target.exists():
            work = Path(tempfile.mkdtemp(prefix=".oclgrind-", dir=cache_folder()))
            try:
                _unpack_into(work).rename(target)
            finally:
                shutil.rmtree(work, ignore_errors=True)
    return target


def _unpack_into(work: Path) -> Path:
    if shutil.which("apt-get") is None or shutil.which("dpkg-deb") is None:
        raise BuildError("apt-get or dpkg-deb is not here: no Debian or Ubuntu system")
    release = platform.freedesktop_os_release()
    sources = [source for source in read_sources(Path("/etc/apt")) if source.kind == release.get("ID")]
    if not sources or not COMPONENTS.get(release["ID"]):
        raise BuildError("no Debian or Ubuntu archive of this system's stands in /etc/apt")
    stanza = sources[0].stanza(release.get("VERSION_CODENAME", ""))
    return unpack(download_packages(stanza, work / "apt", PACKAGES, INSTALLED), work / "root")


def main() -> int:
    """Print the folder; give the exit code."""
    try:
        print(obtain_oclgrind())
    except (BuildError, OSError) as error:
        print(f"oclgrind could not be obtained: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
