"""README.md: its session is true, its commands are those that CI runs, its examples are accepted."""

from __future__ import annotations

import doctest
import re
import shlex
import subprocess
from collections.abc import Iterable
from itertools import takewhile

import pytest
from checkout import needs_checkout
from paths import ROOT

from pytsp.cli.commands import _parser

README = ROOT / "README.md"
CI = ROOT / ".ci" / "run"
needs_checkout(".ci", "docs")


def blocks(language: str) -> list[list[str]]:
    """The lines of each code block of a language."""
    found = re.findall(rf"^```{language}\n(.*?)^```", README.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    return [block.splitlines() for block in found]


def commands(lines: Iterable[str]) -> list[list[str]]:
    """The words after `pytsp` of each line that runs it, up to where its output goes."""
    words = [shlex.split(line, comments=True) for line in lines]
    found = [each[each.index("pytsp") + 1 :] for each in words if "pytsp" in each]
    return [list(takewhile(lambda word: word != ">", each)) for each in found]


def test_the_session_is_true_and_ends_in_a_length(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    session = blocks("python")[0]
    outcome = doctest.testfile(str(README), module_relative=False, encoding="utf-8")
    assert outcome.attempted >= 4
    assert outcome.failed == 0
    lines = [line for line in session if line.strip()]
    assert lines[-2] == ">>> result.length"
    assert int(lines[-1]) > 0
    assert len(lines) <= 9


def test_it_is_short_and_begins_with_a_picture() -> None:
    lines = README.read_text(encoding="utf-8").splitlines()
    assert len(lines) <= 110
    assert any(line.startswith("![") for line in lines[:10])


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"])
def test_links_lead_to_files(page: str) -> None:
    links = re.findall(r"\]\(([^)#]+)", (ROOT / page).read_text(encoding="utf-8"))
    assert [link for link in links if "://" not in link and not (ROOT / link).exists()] == []


def test_ci_runs_the_commands_of_the_first_block() -> None:
    function = re.search(r"^readme_commands\(\) \{.*?^\}", CI.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    assert function is not None
    run = subprocess.run(
        ["bash", "-c", f"{function[0]}\nreadme_commands"], capture_output=True, text=True, cwd=ROOT, check=True
    )
    commands = run.stdout.splitlines()
    assert commands == blocks("sh")[0]
    assert len(commands) == 2
    assert all("python build.py" in command for command in commands)
    assert "pytest" in commands[1]


def test_the_examples_of_the_command_line_are_accepted() -> None:
    shown = [line for block in blocks("console") for line in block if line.startswith("$ ")]
    examples = commands(line for block in [*blocks("sh"), shown] for line in block)
    assert len(examples) >= 4
    for example in examples:
        _parser().parse_args(example)


def test_the_pictures_are_there_and_made_by_commands_that_are_accepted() -> None:
    script = (ROOT / "docs" / "pictures.sh").read_text(encoding="utf-8").replace("\\\n", "")
    made = {*re.findall(r"\$images/(\w+\.\w+)", script)}
    # The site's build draws the others; a page outside it shows only what git keeps.
    kept = {*re.findall(r"\$images/(\w+\.\w+)", script.partition("exit 0")[2])}
    pages = (README, *(ROOT / "docs" / "how-to" / f"{name}.md" for name in ("pictures", "plotters", "drills")))
    shown = [name for page in pages for name in re.findall(r"images/(\w+\.(?:svg|png))\)", page.read_text("utf-8"))]
    assert {*shown} == made
    assert all((ROOT / "docs" / "images" / name).is_file() for name in kept)
    assert {*re.findall(r"docs/images/(\w+\.\w+)", README.read_text("utf-8"))} <= kept
    for example in commands(script.splitlines()):
        _parser().parse_args(example)
