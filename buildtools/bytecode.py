"""The byte code of pytsp and of what it requires, compiled once, as pip does where it installs a wheel.

Where `PYTHONDONTWRITEBYTECODE` keeps Python from writing byte code, each process compiles every module that it imports.
Some modules are imported within the time limit of a process's first solve.
"""

from __future__ import annotations

import compileall
import importlib
import importlib.metadata
import re
from collections.abc import Iterator
from pathlib import Path

from buildtools.install import list_in_pyproject
from buildtools.paths import ROOT


def required_distributions() -> list[importlib.metadata.Distribution]:
    """Give the installed distributions that pytsp requires, with those that they require in turn."""
    waits, found = list_in_pyproject("dependencies"), {}
    while waits:
        requirement, _, marker = waits.pop().partition(";")
        name = re.match(r"[\w.-]+", requirement)
        if name is None or "extra" in marker or name.group() in found:
            continue
        try:
            found[name.group()] = importlib.metadata.distribution(name.group())
        except importlib.metadata.PackageNotFoundError:
            # A marker may say that this Python does without.
            continue
        waits += found[name.group()].requires or []
    return list(found.values())


def modules() -> Iterator[Path]:
    """Yield the files of all modules, but for the tests of other packages."""
    yield from sorted((ROOT / "pytsp").rglob("*.py"))
    for distribution in required_distributions():
        for file in distribution.files or []:
            if file.suffix == ".py" and "tests" not in file.parts:
                yield Path(str(distribution.locate_file(file)))


def compile_modules() -> None:
    """Compile every module whose byte code is missing or older than the module; leave out what cannot be written."""
    importlib.invalidate_caches()
    for file in modules():
        compileall.compile_file(file, quiet=2)
