"""Packages of pytsp import only those below them, files import each other in no circle, and functions are short.

Imports count in functions, too; those of packages also for types alone, and by names in strings.
"""

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
        "run",
        "bound",
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
MOST_LINES = 60


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


def runs(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a syntax tree, but for what only type checkers see."""
    for child in ast.iter_child_nodes(node):
        if not (isinstance(child, ast.If) and "TYPE_CHECKING" in ast.dump(child.test)):
            yield child
            yield from runs(child)


def imported_files(file: Path) -> set[Path]:
    """The files of pytsp that a file imports, at its beginning or in a function."""
    found = set()
    for node in runs(ast.parse(file.read_text(encoding="utf-8"))):
        match node:
            case ast.Import(names):
                modules = [alias.name for alias in names]
            case ast.ImportFrom(str(module), names, 0):
                modules = [f"{module}.{alias.name}" for alias in names]
            case _:
                continue
        for module in modules:
            place = PACKAGE.parent.joinpath(*module.split("."))
            # A module, a package, or a name of one.
            tried = [each for at in (place, place.parent) for each in (at.with_suffix(".py"), at / "__init__.py")]
            found.update([each for each in tried if module.startswith("pytsp") and each.is_file()][:1])
    return found - {file}


def reached(start: Path, arrows: dict[Path, set[Path]]) -> set[Path]:
    """The files that one leads to, over others."""
    found: set[Path] = set()
    left = [*arrows[start]]
    while left:
        if (file := left.pop()) not in found:
            found.add(file)
            left.extend(arrows.get(file, ()))
    return found


def sources() -> list[Path]:
    return [path for path in PACKAGE.rglob("*.py") if "_kernels" not in path.parts]


def lines_of(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """The lines of a function without its docstring."""
    ends = (each.end_lineno or 0 for each in (function, function.body[0]))
    whole, first = (end - node.lineno + 1 for end, node in zip(ends, (function, function.body[0]), strict=True))
    return whole - (first if ast.get_docstring(function, clean=False) is not None else 0)


def imported_packages(file: Path) -> set[str]:
    """The packages of pytsp that a file imports from; `__init__` where it takes a name of pytsp itself."""
    parts = [name.split(".") for name in imports(file)]
    return {each[1] if len(each) > 1 and each[1] in ORDER else "__init__" for each in parts if each[0] == "pytsp"}


def test_packages_import_only_those_below_them() -> None:
    upward = set()
    for file in sources():
        path = file.relative_to(PACKAGE)
        for name in imported_packages(file):
            if ORDER.index(name) > ORDER.index(path.parts[0].removesuffix(".py")):
                upward.add((path.as_posix(), name))
    assert upward == set()


def test_files_import_each_other_in_no_circle() -> None:
    arrows = {file: imported_files(file) for file in sources()}
    there = {file: reached(file, arrows) for file in arrows}
    circles = {frozenset(other for other in there[file] if file in there[other]) for file in arrows} - {frozenset()}
    assert [sorted(file.relative_to(PACKAGE).as_posix() for file in circle) for circle in circles] == []


def test_functions_are_short() -> None:
    long = {}
    for file in sources():
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and lines_of(node) > MOST_LINES:
                long[f"{file.relative_to(PACKAGE).as_posix()}:{node.name}"] = lines_of(node)
    assert long == {}
