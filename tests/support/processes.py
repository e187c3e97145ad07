"""Python and the command line, in processes of their own; and what the command line refuses."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest
from paths import ROOT

from pytsp.cli.commands import main

COMMAND = [sys.executable, "-c", "import sys; from pytsp.cli.commands import main; sys.exit(main())"]


def run_python(
    *words: object, check: bool = False, timeout: float | None = 60, **options: Any
) -> subprocess.CompletedProcess[str]:
    """Run Python from the checkout, with pipes for its output."""
    command = [sys.executable, *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, check=check, cwd=ROOT, timeout=timeout, **options)


def run_command(*arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
    """Run `pytsp`."""
    return run_python(*COMMAND[1:], *arguments, **options)


def refusal(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """What is said on standard error, in one line, by a command that fails."""
    assert main(arguments) == 1
    said = capsys.readouterr().err
    assert said.startswith("pytsp: ") and said.count("\n") == 1
    return said
