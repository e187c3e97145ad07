"""Chromium without a window, for the tests of the report, in a private folder.

It comes from the Debian archive that this machine uses, in the release that it runs; nothing of the system changes.
`python -m buildtools.chromium` prints the words that run it.
"""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from buildtools.errors import BuildError
from buildtools.private import obtain, private_folder, private_libraries

NAME = "chromium"
PACKAGES = ("chromium-headless-shell", "fonts-dejavu-core")
ON_PATH = ("chromium-headless-shell", "chromium", "google-chrome")
# As the package lays it out: the wrapper in bin/ names its folder in /usr, where nothing is.
PROGRAM = Path("lib/chromium/chromium-headless-shell")


@dataclass(frozen=True)
class Browser:
    """A program, and what its environment needs beside the process's own."""

    program: Path
    environment: Mapping[str, str] = field(default_factory=dict)


def find_chromium() -> Browser | None:
    """Find Chromium: the system's, else the one in the cache; None without it."""
    for name in ON_PATH:
        on_path = shutil.which(name)
        if on_path:
            return Browser(Path(on_path))
    program = private_folder(NAME) / PROGRAM
    if not program.is_file():
        return None
    return Browser(program, {"LD_LIBRARY_PATH": private_libraries(NAME)})


def obtain_chromium() -> Browser:
    """Obtain Chromium, unless there is one.

    `BuildError` is raised if this is no Debian system, or its archive does not have it.
    """
    found = find_chromium()
    if found is None:
        obtain(NAME, PACKAGES)
        found = find_chromium()
    if found is None:
        raise BuildError(f"the packages {', '.join(PACKAGES)} do not hold {PROGRAM}")
    return found


def main() -> int:
    """Print the words that run it; give the exit code."""
    try:
        browser = obtain_chromium()
    except (BuildError, OSError) as error:
        print(f"Chromium could not be obtained: {error}", file=sys.stderr)
        return 1
    settings = [f"{name}={value}" for name, value in browser.environment.items()]
    print(shlex.join([*(["env", *settings] if settings else []), os.fspath(browser.program)]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
