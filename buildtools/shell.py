"""Run other programs, hold locks, speak to the user."""

from __future__ import annotations

import contextlib
import fcntl
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from buildtools.errors import BuildError

TAIL_LINES = 25


def say(message: str) -> None:
    """Print one line of progress, whole also where threads print theirs."""
    sys.stdout.write(f"{message}\n")
    sys.stdout.flush()


def run(
    command: Sequence[str | Path],
    *,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    timeout: float | None = None,
) -> str:
    """Run a program without input and give its standard output.

    `BuildError` is raised if it cannot be started, fails, or takes over `timeout` seconds; with the end of what it
    printed.
    """
    words = [str(word) for word in command]
    try:
        done = subprocess.run(
            words,
            cwd=cwd,
            env={**os.environ, **(env or {})},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=timeout,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise BuildError(f"{words[0]} did not finish within {timeout:g} s: {' '.join(words)}") from None
    except OSError as error:
        raise BuildError(f"{words[0]} cannot be run: {error.strerror}") from error
    if done.returncode != 0:
        printed = (done.stderr.strip() or done.stdout.strip()).splitlines()[-TAIL_LINES:]
        raise BuildError(f"{Path(words[0]).name} failed (exit code {done.returncode}): {os.linesep.join(printed)}")
    return done.stdout


def available_cores() -> int:
    """Give how many of the machine's cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Create `folder` and hold its lock, so that two builds do not write there at once."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".lock").open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print(f"waiting for another build that works in {folder}", file=sys.stderr, flush=True)
            fcntl.flock(file, fcntl.LOCK_EX)
        yield
