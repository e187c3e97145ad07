"""Close, break, fill and narrow a solve's streams, or hang up on it, again and again, and see that its tour is there:
`python -m bench.checks.losses`."""

from __future__ import annotations

import argparse
import fcntl
import os
import pty
import signal
import subprocess
import sys
import tempfile
import termios
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import numpy as np

import pytsp
from bench.harness.machine import PYTSP
from bench.harness.tables import print_head, row
from pytsp.run.saved_runs import read_runs

# What a shell adds to the words of a solve that writes a file, or whose summary is all that it is asked for.
STREAMS = {
    "stdin closed": "--output found.tour <&-",
    "stdout closed": "--output found.tour >&-",
    "stdout closed, no file": ">&-",
    "stderr closed": "--output found.tour 2>&-",
    "all closed": "--output found.tour <&- >&- 2>&-",
    "all closed, no file": "<&- >&- 2>&-",
    "broken pipe": "| :",
    "broken pipe, JSON": "--json | :",
    "full disk": "--output /dev/full",
    "full disk, stdout": "> /dev/full",
    "full disk, stdout and stderr": "> /dev/full 2>&1",
    "latin-1": "--output found.tour",
    "ascii": "--output found.tour",
}
ENCODINGS = {"latin-1", "ascii"}
# What is longer than any solve here needs.
PATIENCE = 600


def streamed(case: str, seed: int, folder: Path) -> None:
    """Solve with streams that are closed, broken, full, or of few characters."""
    script = f'"$@" {STREAMS[case]}'
    words = ["solve", "uniform100", "--seed", str(seed), "--solver", "ils", "--iterations", "200"]
    environment = environment_of(folder) | ({"PYTHONIOENCODING": case} if case in ENCODINGS else {})
    done = subprocess.run(
        ["sh", "-c", script, "sh", *PYTSP, *words],
        cwd=folder,
        env=environment,
        capture_output=True,
        check=False,
        timeout=PATIENCE,
    )
    if case in ENCODINGS and b"length" not in done.stdout:
        raise SystemExit(f"{case}: the summary is not there: {done.stderr!r}")


def hung_up(case: str, seed: int, folder: Path) -> None:
    """Solve, and end it by SIGHUP at a random instant: one that is sent, or by closing its terminal."""
    words = ["solve", "uniform1000", "--seed", str(seed), "--solver", "ils", "--iterations", "1000000000"]
    words += ["--output", "found.tour", "--verbose"]
    has_terminal = case == "terminal closed"
    ours, theirs = pty.openpty() if has_terminal else os.pipe()

    def adopt() -> None:
        """Have the process heed the signal, and lead a session whose terminal is its standard error."""
        signal.signal(signal.SIGHUP, signal.SIG_DFL)
        if has_terminal:
            os.setsid()
            fcntl.ioctl(2, termios.TIOCSCTTY, 0)

    with subprocess.Popen(
        [*PYTSP, *words],
        cwd=folder,
        env=environment_of(folder),
        stdout=theirs if has_terminal else subprocess.DEVNULL,
        stderr=theirs,
        preexec_fn=adopt,  # noqa: PLW1509
    ) as process:
        os.close(theirs)
        reported = b""
        # The log tells of a tour.
        while b": length " not in reported:
            reported += os.read(ours, 4096)
        time.sleep(float(np.random.default_rng(seed).uniform(0, 0.5)))
        if has_terminal:
            os.close(ours)
        else:
            process.send_signal(signal.SIGHUP)
            while os.read(ours, 4096):
                pass
            os.close(ours)
        process.wait(PATIENCE)


def environment_of(folder: Path) -> dict[str, str]:
    """Return an environment in which temporary files go to a folder."""
    path = os.pathsep.join(filter(None, [str(Path(pytsp.__file__).parents[1]), *sys.path]))
    return {**os.environ, "TMPDIR": str(folder), "PYTHONPATH": path}


CASES: dict[str, Callable[[str, int, Path], None]] = {
    **dict.fromkeys(STREAMS, streamed),
    **dict.fromkeys(("SIGHUP", "terminal closed"), hung_up),
}


def is_kept(case: str, seed: int) -> bool:
    """Tell whether a tour is in a file that the solve has left, after what happens to it in that case."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        CASES[case](case, seed, folder)
        kept = 0
        for file in folder.iterdir():
            with suppress(ValueError):
                tour = read_runs([str(file)], needs_instance=False)[0].tour
                kept += len(tour) in (100, 1000)
        return kept == 1


def main() -> int:
    """Print a line for each case; the exit code tells whether every tour was there."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cases", nargs="*", metavar="CASE", help=f"some of: {', '.join(CASES)} (default: all)")
    parser.add_argument("--runs", type=int, default=50, help="of each case")
    options = parser.parse_args()
    print_head("what happens", "runs", "the tour is there")
    lost = 0
    for case in options.cases or CASES:
        kept = sum(is_kept(case, seed) for seed in range(options.runs))
        lost += options.runs - kept
        print(row(case, options.runs, kept), flush=True)
    return 1 if lost else 0


if __name__ == "__main__":
    sys.exit(main())
