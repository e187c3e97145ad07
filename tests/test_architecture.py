"""Packages of pytsp import only those below them, be it in functions, for types alone, or by names in strings."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytsp

PACKAGE = Path(pytsp.__file__).parent
# Low to high, first what the build makes. Of the modules beside the packages, `generate` makes instances, `networkx`
# solves, and `__init__` leads to whatever users ask for: only the command line is above them.
ORDER = (
    *(
        "_kernels",
        "exceptions",
        "distribution",
        "utils",
        "problem",
        "backends",
        "kernels",
        "io",
        "datasets",
        "generate",
    ),
    *(
        "neighbours",
        "starts",
        "bound",
        "run",
        "solvers",
        "checkpoint",
        "distributed",
        "api",
        "networkx",
        "plotting",
        "report",
    ),
    *("__init__", "cli", "__main__"),
)
# The file that imports, what it imports, and why that may be.
EXCEPTIONS = {
    ("problem/instance.py", "plotting"): "a notebook shows an instance",
    ("run/result.py", "plotting"): "a notebook shows a result, and `Result.plot` draws it",
}


def imports(file: Path) -> Iterator[str]:
    """The modules that a file imports, with the name that it takes from each: `pytsp.starts.fragments.Fragments`."""
    package = ["pytsp", *file.relative_to(PACKAGE).parts[:-1]]
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        match node:
            case ast.Import(names):
                yield from (alias.name for alias in names)
            case ast.ImportFrom(module, names, level):
                base = package[: len(package) + 1 - level] if level else []
                yield from (".".join([*base, *filter(None, [module]), alias.name]) for alias in names)
            case ast.Constant(str(text)) if re.fullmatch(r"pytsp(\.\w+)+(:\w+)?", text):
                yield text


def imported_packages(file: Path) -> set[str]:
    """The packages of pytsp that a file imports from; `__init__` where it takes a name of pytsp itself."""
    parts = [name.split(".") for name in imports(file)]
    return {each[1] if len(each) > 1 and each[1] in ORDER else "__init__" for each in parts if each[0] == "pytsp"}


def test_packages_import_only_those_below_them() -> None:
    upward = set()
    for file in (path for path in PACKAGE.rglob("*.py") if "_kernels" not in path.parts):
        path = file.relative_to(PACKAGE)
        for name in imported_packages(file):
            if ORDER.index(name) > ORDER.index(path.parts[0].removesuffix(".py")):
                upward.add((path.as_posix(), name))
    assert upward == EXCEPTIONS.keys()
