"""The byte code that the build leaves: of every module that pytsp requires, also where Python may write none itself."""

from __future__ import annotations

import os
import sys
from importlib.util import cache_from_source
from pathlib import Path

import pytest
from checkout import needs_checkout
from processes import run_python

needs_checkout("buildtools")

import build  # noqa: E402
from buildtools import bytecode  # noqa: E402
from buildtools.paths import ROOT  # noqa: E402

COMPILE = "from buildtools.bytecode import compile_modules; compile_modules()"
# The number of modules that a solve imports, and those that lack their byte code.
SOLVE = """if True:
    import os, sys
    import pytsp
    pytsp.solve([[x % 7, x * x % 11] for x in range(900)], time_limit=0.1, backend="c")
    ours = [each for name, each in sys.modules.items() if name.split(".")[0] in ("pytsp", "numpy", "scipy")]
    files = {each.__cached__ for each in ours if getattr(each, "__cached__", None)}
    print(len(files), sorted(file for file in files if not os.path.exists(file)))
"""


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """An environment without any byte code, in which Python writes none itself."""
    return {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONPYCACHEPREFIX": str(tmp_path / "byte code")}


def test_byte_code_is_made_where_python_makes_none_and_made_again_where_it_is_old(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = [tmp_path / f"{name}.py" for name in ("one", "two")]
    for file in files:
        file.write_text("x = 1\n")
    monkeypatch.setattr(bytecode, "modules", lambda: files)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    bytecode.compile_modules()
    made = [Path(cache_from_source(file)) for file in files]
    times = [file.stat().st_mtime_ns for file in made]
    files[1].write_text("x = 22\n")
    os.utime(files[1], (2_000_000_000, 2_000_000_000))
    bytecode.compile_modules()
    assert made[0].stat().st_mtime_ns == times[0] and made[1].stat().st_mtime_ns > times[1]


@pytest.mark.slow
def test_every_module_has_byte_code_and_a_solve_imports_no_other(environment: dict[str, str], tmp_path: Path) -> None:
    run_python("-c", COMPILE, env=environment, check=True)
    made = {file: file.stat().st_mtime_ns for file in tmp_path.rglob("*.pyc")}
    for module in bytecode.modules():
        file = tmp_path / "byte code" / module.relative_to("/").parent
        assert list(file.glob(f"{module.stem}.*.pyc")), module
    count, missing = run_python("-c", SOLVE, env=environment, check=True).stdout.split(" ", 1)
    assert int(count) > 100 and missing == "[]\n"
    # What is up to date is left as it is.
    run_python("-c", COMPILE, env=environment, check=True)
    assert made == {file: file.stat().st_mtime_ns for file in tmp_path.rglob("*.pyc")}


def test_what_is_compiled_is_pytsp_and_what_it_requires_but_no_tests() -> None:
    found = list(bytecode.modules())
    assert {file for file in found if ROOT in file.parents} >= {*(ROOT / "pytsp").glob("*.py")}
    names = {each.metadata["Name"].lower() for each in bytecode.required_distributions()}
    assert {"numpy", "scipy", "cffi", "pycparser"} <= names and not {"pytest", "matplotlib"} & names
    assert not any("tests" in file.relative_to(ROOT).parts for file in found if ROOT in file.parents)


@pytest.mark.parametrize("is_installed", [False, True])
def test_the_build_compiles_what_it_installs_and_what_has_changed(
    is_installed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[str] = []
    steps = ("install_build_requirements", "install_requirements", "install_pytsp", "compile_modules", "write_stamp")
    for name in steps:
        monkeypatch.setattr(build, name, lambda *_, name=name: done.append(name))
    monkeypatch.setattr(build, "is_installed", lambda: is_installed)
    monkeypatch.setattr(build, "placement", list)
    monkeypatch.setattr(build, "tell_path", lambda _: None)
    report = type("Report", (), {"table": lambda _: ""})()
    monkeypatch.setattr(build, "build_kernels", lambda *_, **__: report)
    build.build(build.parse_arguments([]))
    assert done == (["compile_modules"] if is_installed else list(steps))
    done.clear()
    build.build(build.parse_arguments(["--no-install"]))
    assert done == []
