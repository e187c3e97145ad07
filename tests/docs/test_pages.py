"""The documentation's pages for users: their transcripts, Python sessions and notebooks are replayed."""

from __future__ import annotations

import doctest
import importlib.util
import json
import os
import re
import shlex
import subprocess
import sys
from itertools import takewhile
from pathlib import Path

import pytest
from checkout import needs_checkout
from paths import ROOT
from processes import PATIENCE

from pytsp.cli.commands import _parser

DOCS = ROOT / "docs"
needs_checkout("docs")

PAGES = [DOCS / "first-steps.md", DOCS / "tutorial.md", *sorted((DOCS / "how-to").glob("*.md"))]
EXAMPLES = DOCS / "reference" / "commands.md"
NOTEBOOKS = sorted((DOCS / "how-to").glob("*.ipynb"))
# What a page draws or reads with; a page that needs none of them is replayed without.
OPTIONAL = {
    "matplotlib": "--picture|pytsp plot|plot\\(|pytsp report",
    "pandas": "import pandas",
    "networkx": "import networkx",
    "svgelements": "pytsp segments drawing.svg",
}
# Stands in a transcript's output where anything may stand.
ANYTHING = "…"
# Begins the line that tells the exit code of a command.
SIGN = "\x1e"
# Of a job that was killed bash tells as soon as it knows, which may be in any later command.
NOTICE = re.compile(r"^bash: line \d+: +\d+ Killed .*\n", re.MULTILINE)

pages = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)


def blocks(page: Path, language: str) -> list[str]:
    """The code blocks of a language."""
    return re.findall(rf"^```{language}\n(.*?)^```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


def transcript(page: Path) -> list[tuple[str, str]]:
    """Each command of a page, with the output that the page shows."""
    parts = [part for block in blocks(page, "console") for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]]
    return [(command, output) for command, _, output in (part.partition("\n") for part in parts)]


def needs(text: str) -> None:
    """Skip where a library is missing that a text needs."""
    for module, pattern in OPTIONAL.items():
        if re.search(pattern, text) and importlib.util.find_spec(module) is None:
            pytest.skip(f"this page needs {module}, which is not installed")


def environment(folder: Path) -> dict[str, str]:
    """An environment whose PATH begins with this very `pytsp` and this very Python."""
    programs = folder / "bin"
    programs.mkdir()
    for name, words in (("pytsp", [sys.executable, "-m", "pytsp"]), ("python", [sys.executable])):
        program = programs / name
        program.write_text(f'#!/bin/sh\nexec {shlex.join(words)} "$@"\n')
        program.chmod(0o755)
    path = f"{programs}{os.pathsep}{os.environ['PATH']}"
    # Tables are as wide as the terminal.
    return {**os.environ, "PATH": path, "COLUMNS": "160", "MPLBACKEND": "agg", "LC_ALL": "C.UTF-8"}


def replay(commands: list[str], folder: Path) -> list[tuple[str, int]]:
    """The output and the exit code of each command; one shell runs them all, and keeps its state between them."""
    lines = ["exec 2>&1", "code=0"]
    for command in commands:
        lines += [f"(exit $code)\n{command}\ncode=$?", f"printf '{SIGN}%d{SIGN}' $code"]
    work = folder / "work"
    work.mkdir()
    done = subprocess.run(
        ["bash", "-c", "\n".join(lines)],
        env=environment(folder),
        cwd=work,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
        check=False,
        timeout=PATIENCE,
    )
    parts = [NOTICE.sub("", part) for part in done.stdout.split(SIGN)]
    return [(output, int(code)) for output, code in zip(parts[::2], parts[1::2], strict=False)]


def matches(shown: str, output: str) -> bool:
    """Tell whether an output is what a page shows, which may leave out anything by an ellipsis."""
    pattern = ".*?".join(map(re.escape, shown.rstrip().split(ANYTHING)))
    return (
        re.fullmatch(pattern, "\n".join(line.rstrip() for line in output.rstrip().splitlines()), re.DOTALL) is not None
    )


@pytest.mark.slow
@pytest.mark.parametrize("page", [ROOT / "README.md", *PAGES], ids=lambda page: page.stem)
def test_a_transcript_is_what_comes(page: Path, tmp_path: Path) -> None:
    commands = transcript(page)
    needs("\n".join(command for command, _ in commands))
    if not commands:
        pytest.skip("this page has no transcript")
    found = replay([command for command, _ in commands], tmp_path)
    assert len(found) == len(commands)
    for number, ((command, shown), (output, code)) in enumerate(zip(commands, found, strict=True)):
        assert matches(shown, output), f"$ {command}\nshown:\n{shown}\ncame:\n{output}"
        # A page that shows a failure asks for its code.
        asked = number + 1 < len(commands) and commands[number + 1][0] == "echo $?"
        assert code == 0 or asked, f"$ {command}\nexit code {code}\n{output}"


@pytest.mark.slow
@pages
def test_a_session_is_true(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    session = "\n".join(blocks(page, "python"))
    if not session:
        pytest.skip("this page has no Python session")
    needs(session)
    folder = tmp_path / "work"
    # A session may read what the transcript has written.
    if "read_csv" in session:
        replay([command for command, _ in transcript(page)], tmp_path)
    folder.mkdir(exist_ok=True)
    monkeypatch.chdir(folder)
    examples = doctest.DocTestParser().get_doctest(session, {}, page.stem, str(page), 0)
    reported: list[str] = []
    outcome = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(examples, out=reported.append)
    assert outcome.attempted >= 3
    assert outcome.failed == 0, "".join(reported)


@pytest.mark.slow
@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda notebook: notebook.stem)
def test_a_notebook_runs_from_top_to_bottom(notebook: Path, tmp_path: Path) -> None:
    cells = [cell for cell in json.loads(notebook.read_text(encoding="utf-8"))["cells"] if cell["cell_type"] == "code"]
    # What cells print is made anew for the site, and kept nowhere.
    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in cells)
    program = "\n".join("".join(cell["source"]) for cell in cells)
    needs("plot( import pandas" if "pandas" in program else program)
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=environment(tmp_path),
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("page", [*PAGES, EXAMPLES], ids=lambda page: page.stem)
def test_commands_that_are_not_replayed_are_accepted(page: Path) -> None:
    lines = [shlex.split(line) for block in blocks(page, "sh") for line in block.splitlines()]
    for words in lines:
        if words[:1] == ["pytsp"]:
            _parser().parse_args(list(takewhile(lambda word: word != ">", words[1:])))


def test_pages_have_something_to_replay() -> None:
    assert len(PAGES) >= 6 and NOTEBOOKS
    assert all(transcript(page) or blocks(page, "python") for page in PAGES)


@pytest.mark.parametrize(
    ("shown", "output", "good"),
    [
        ("", "", True),
        ("a\n", "a\n", True),
        ("a\n", "b\n", False),
        ("", "b\n", False),
        ("a …\n", "a b\nc\n", True),
        ("…\nc\n", "a\nb\nc\n", True),
        ("…\nc\n", "a\nb\n", False),
        ("a.c\n", "abc\n", False),
    ],
)
def test_an_ellipsis_stands_for_anything_and_nothing_else_does(shown: str, output: str, good: bool) -> None:
    assert matches(shown, output) is good


def test_a_replay_keeps_the_state_and_tells_codes(tmp_path: Path) -> None:
    found = replay(["a=3", "false", "echo $? $a", "sh -c 'exit 7'", "exit 5"], tmp_path)
    assert found == [("", 0), ("", 1), ("1 3\n", 0), ("", 7)]


def test_ci_installs_by_the_first_block_of_the_first_steps() -> None:
    script = re.search(r"awk '.*first-steps\.md", (ROOT / ".ci" / "run").read_text(encoding="utf-8"))
    assert script is not None
    done = subprocess.run(["bash", "-c", script[0]], capture_output=True, text=True, cwd=ROOT, check=True)
    assert done.stdout == blocks(DOCS / "first-steps.md", "sh")[0]
    assert "pip wheel" in done.stdout and "pip install" in done.stdout
