"""Oclgrind, a simulator of OpenCL devices that finds data races, and OpenCL's headers, in a private folder.

Both come from the Debian or Ubuntu archive that this machine uses, in the release that it runs; nothing of the system
changes. `python -m buildtools.oclgrind` prints the folder, which holds bin/oclgrind and include/CL/cl.h.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from buildtools.errors import BuildError
from buildtools.private import obtain, private_folder, private_libraries

NAME = "oclgrind"
PACKAGES = ("oclgrind", "opencl-c-headers")


def oclgrind_command() -> list[str]:
    """Give the words that run a program under oclgrind: the system's, else the one in the cache; none without it."""
    on_path = shutil.which("oclgrind")
    if on_path:
        return [on_path]
    program = private_folder(NAME) / "bin" / "oclgrind"
    return ["env", f"LD_LIBRARY_PATH={private_libraries(NAME)}", str(program)] if program.is_file() else []


def obtain_oclgrind() -> Path:
    """Obtain oclgrind and the headers, unless they are there, and give their folder.

    `BuildError` is raised if this is no Debian or Ubuntu system, or its archive does not have them.
    """
    return obtain(NAME, PACKAGES)


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
