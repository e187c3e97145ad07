"""The name and version under which pytsp is distributed, and a look for another project's distribution of its name."""

from __future__ import annotations

import os
import sys

NAME = "pytsp-futhark"
VERSION = "0.1.0"

# On PyPI, `pytsp` is another project, whose files lie in a folder of the same name.
_NAMESAKE = "pytsp"
_RECORDS = ("dist-info", "egg-info", "egg-link")


def find_namesake(package: str) -> tuple[str, str] | None:
    """Find a distribution named `pytsp` installed beside this `package`, a folder, or on the path.

    Return its version, empty where that is not told, and the folder in which it is recorded.
    """
    # `importlib.metadata` would take longer to import than the rest of pytsp.
    beside = os.path.dirname(package)
    for folder in dict.fromkeys((beside, *sys.path)):
        installed = folder.endswith(("site-packages", "dist-packages"))
        # A checkout may hold the record of a build from the time when it was called pytsp.
        if not installed and (folder != beside or os.path.exists(os.path.join(folder, "setup.py"))):
            continue
        try:
            names = os.listdir(folder)
        except OSError:
            continue
        for name in names:
            if name.startswith(_NAMESAKE):
                stem, _, kind = name.rpartition(".")
                found, _, version = stem.partition("-")
                if found == _NAMESAKE and kind in _RECORDS:
                    return version.partition("-")[0], folder
    return None


def warn_of_namesake(package: str) -> None:
    """Warn in one line if a distribution named `pytsp` is installed beside this one."""
    found = find_namesake(package)
    if found is None:
        return
    import warnings  # noqa: PLC0415

    from pytsp.exceptions import PytspWarning  # noqa: PLC0415

    version, folder = found
    remedy = f"`pip uninstall {_NAMESAKE}`"
    if folder == os.path.dirname(package):
        remedy = f"`pip uninstall {_NAMESAKE} {NAME}`, then install {NAME} again, as files of both lie there"
    text = f"{' '.join(filter(None, (_NAMESAKE, version)))} in {folder} is not this package, which is {NAME} {VERSION}"
    # A file that is none: the line of the import would be shown below the warning.
    warnings.warn_explicit(f"{text}: {remedy}", PytspWarning, filename="pytsp", lineno=1, module="pytsp")
