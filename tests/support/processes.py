"""Python and the command line, in processes of their own; and what the command line refuses."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import pytest
from paths import ROOT

from pytsp.cli.commands import main

# The seconds that nothing takes on any machine, however busy: what has not ended by then hangs.
PATIENCE = 600
COMMAND = [sys.executable, "-c", "import sys; from pytsp.cli.commands import main; sys.exit(main())"]


def run_python(
    *words: object, check: bool = False, timeout: float = PATIENCE, **options: Any
) -> subprocess.CompletedProcess[str]:
    """Run Python from the checkout, with pipes for its output."""
    command = [sys.executable, *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, check=check, cwd=ROOT, timeout=timeout, **options)


def run_command(*arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
    """Run `pytsp`."""
    return run_python(*COMMAND[1:], *arguments, **options)


def wait_until(happens: Callable[[], bool]) -> None:
    """Wait for something that another process does."""
    end = time.monotonic() + PATIENCE
    while not happens():
        assert time.monotonic() < end
        time.sleep(0.01)


def refusal(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """What is said on standard error, in one line, by a command that fails."""
    assert main(arguments) == 1
    said = capsys.readouterr().err
    assert said.startswith("pytsp: ") and said.count("\n") == 1
    return said
