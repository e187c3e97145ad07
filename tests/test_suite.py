"""The tests themselves: which are left out, which need a GPU, and that none depends on how busy the machine is."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from checkout import needs_checkout
from hypothesis import HealthCheck, settings
from paths import ROOT, TESTS
from processes import run_python

SUPPORT = TESTS / "support"
# Only these read the machine's clock, or sleep.
READERS = [SUPPORT / "clocks.py", SUPPORT / "processes.py", SUPPORT / "standin.py"]
CLOCKS = {"monotonic", "perf_counter", "process_time", "thread_time", "time", "sleep"}
# What times some work, and what gives a test a clock of its own.
TIMERS, OWN = {"fastest", "seconds_of"}, {"Clock", "KernelClock", "clock"}


@pytest.fixture
def suite(pytestconfig: pytest.Config) -> Any:
    """The module conftest.py."""
    return pytestconfig.pluginmanager.get_plugin(str(TESTS / "conftest.py"))


def collected(*words: str) -> set[str]:
    """The tests that pytest finds with these words."""
    done = run_python("-m", "pytest", "--collect-only", "-q", *words)
    return {line for line in done.stdout.splitlines() if "::" in line}


# Left out


def test_slow_tests_are_left_out_where_nobody_asks_for_them_but_not_by_ci(
    suite: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    for ci, asked, left_out in [("", "", True), ("true", "", False), ("", "slow", False), ("", suite.ALL, False)]:
        monkeypatch.setenv("CI", ci)
        assert suite.leaves_out_slow(asked) == left_out


def test_a_process_of_the_suite_leaves_out_what_the_suite_does(suite: Any) -> None:
    node = SimpleNamespace(workerinput={}, config=SimpleNamespace(option=SimpleNamespace(markexpr=suite.QUICK)))
    suite.pytest_configure_node(node)
    process = SimpleNamespace(workerinput=node.workerinput, option=SimpleNamespace(markexpr=""))
    suite.pytest_configure(process)
    assert process.option.markexpr == suite.QUICK
    alone = SimpleNamespace(option=SimpleNamespace(markexpr="browser"))
    suite.pytest_configure(alone)
    assert alone.option.markexpr == "browser"


@pytest.mark.parametrize(
    ("asked", "is_named"),
    [
        ("", False),
        ("timed", True),
        ("not timed", False),
        ("slow or not slow", False),
        ("slow or timed", True),
        ("gpu and not timed", False),
        ("untimed", False),
    ],
)
def test_timed_tests_run_where_they_are_named(suite: Any, asked: str, is_named: bool) -> None:
    assert suite.names(asked, suite.TIMED) == is_named


def test_timed_tests_are_left_out_of_all_others() -> None:
    file = str(TESTS / "io" / "test_tsplib.py")
    timed, others = collected("-m", "timed", file), collected("-m", "slow or not slow", file)
    assert len(timed) > 2 and others and not others & timed


def test_ci_runs_timed_tests_alone() -> None:
    needs_checkout(".ci")
    lines = (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()
    assert "export CI=true" in lines
    (step,) = (number for number, line in enumerate(lines) if line.startswith('step "timed tests'))
    # Before the rows begin, which go along the other jobs side by side.
    assert step < lines.index("row 1 &")


# GPUs


def test_tests_of_a_gpu_are_marked_and_run_or_say_what_is_missing() -> None:
    """Without a GPU they are left out, and skipped with the reason where they are asked for."""
    file = str(TESTS / "kernels" / "test_one_tree_kernels.py")
    done = run_python("-m", "pytest", "-m", "gpu", "-rs", "-q", file)
    assert done.returncode == 0
    assert " passed" in done.stdout or "no GPU is here with its driver and the kernels for it" in done.stdout


def test_without_a_gpu_its_tests_are_left_out_where_nobody_asks_for_them(suite: Any) -> None:
    found = collected(str(TESTS / "kernels" / "test_one_tree_kernels.py"))
    assert any("[c" in name for name in found)
    assert suite.HAS_GPU or not any("[gpu" in name for name in found)


# Time


def test_hypothesis_has_no_limits_of_time() -> None:
    for name in ("default", "ci", "few", "thorough"):
        profile = settings.get_profile(name)
        assert profile.deadline is None and HealthCheck.too_slow in profile.suppress_health_check


@cache
def programs() -> list[tuple[Path, ast.Module]]:
    """The files of the tests, as Python reads them."""
    return [(file, ast.parse(file.read_text(encoding="utf-8"))) for file in sorted(TESTS.rglob("*.py"))]


def test_only_support_reads_the_clock() -> None:
    found = [
        f"{file.relative_to(TESTS)}:{node.lineno}"
        for file, tree in programs()
        if file not in READERS
        for node in ast.walk(tree)
        if (isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "time")
        and node.attr in CLOCKS
        or isinstance(node, ast.ImportFrom)
        and node.module == "time"
    ]
    assert found == []


def uses(tree: ast.AST) -> set[str]:
    """The names that a piece of a program uses."""
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}


def is_marked(function: ast.FunctionDef) -> bool:
    return any(ast.unparse(each) == "pytest.mark.timed" for each in function.decorator_list)


def has_clock(function: ast.FunctionDef) -> bool:
    """Tell whether a test has a clock of its own."""
    return bool(OWN & {*uses(function), *(each.arg for each in function.args.args)})


def is_of_seconds(side: ast.expr) -> bool:
    """Tell whether one side of a comparison is called seconds, or is an item or attribute of that name."""
    if isinstance(side, ast.Subscript):
        return isinstance(side.slice, ast.Constant) and side.slice.value == "seconds"
    return (side.attr if isinstance(side, ast.Attribute) else getattr(side, "id", "")) == "seconds"


def is_number(side: ast.expr) -> bool:
    return isinstance(side, ast.Constant) and isinstance(side.value, (int, float)) and side.value > 0


def bounds_of_seconds(function: ast.FunctionDef) -> Iterator[int]:
    """The lines of comparisons by which seconds must be fewer than a number."""
    for node in ast.walk(function):
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            for less, relation, more in zip(sides, node.ops, sides[1:], strict=False):
                if isinstance(relation, (ast.Gt, ast.GtE)):
                    less, more = more, less  # noqa: PLW2901
                if is_of_seconds(less) and is_number(more) and not isinstance(relation, (ast.Eq, ast.NotEq)):
                    yield node.lineno


def test_what_times_work_or_bounds_seconds_is_marked_or_has_a_clock_of_its_own() -> None:
    wrong = []
    for file, tree in programs():
        for function in ast.walk(tree):
            if isinstance(function, ast.FunctionDef) and function.name.startswith("test_") and not is_marked(function):
                place = f"{file.relative_to(TESTS)}::{function.name}"
                if TIMERS & uses(function):
                    wrong.append(place)
                if not has_clock(function):
                    wrong += [f"{place}, line {line}" for line in bounds_of_seconds(function)]
    assert wrong == []
