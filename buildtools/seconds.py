"""Compare the seconds of the build, the tests and CI with docs/seconds.md: `python -m buildtools.seconds ci=9`.

It warns of a step that takes a fifth longer than in the last row. Machines differ, so each row holds the seconds of a
constant piece of work on its machine, which make rows comparable.
"""

from __future__ import annotations

import re
import sys
import time
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from buildtools.paths import ROOT

TABLE = ROOT / "docs" / "seconds.md"
STEPS = ("build", "suite", "ci")
# More than this many times the last row's seconds are warned of.
MOST = 1.2


@dataclass(frozen=True)
class Row:
    """The seconds of steps at a commit, without those that were not measured; `reference` is `reference_seconds`."""

    when: str
    commit: str
    reference: float
    steps: Mapping[str, float]


def read_rows(text: str) -> list[Row]:
    """Read the rows of the table: date, commit, the reference's seconds, and those of each step, or nothing."""
    rows = []
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if len(cells) >= 3 + len(STEPS) and re.fullmatch(r"\d{4}-\d\d-\d\d", cells[0]):
            steps = {name: float(cell) for name, cell in zip(STEPS, cells[3:], strict=False) if cell}
            rows.append(Row(cells[0], cells[1], float(cells[2]), steps))
    return rows


def reference_seconds() -> float:
    """Give the processor's seconds for a piece of work that never changes, on one core: the least of five times."""

    def once() -> float:
        began = time.process_time()
        data, word = bytearray(), 1
        for _ in range(2_000_000):
            word = (word * 6364136223846793005 + 1442695040888963407) % 2**64
            data.append(word >> 59)
        zlib.compress(bytes(data), 9)
        return time.process_time() - began

    return min(once() for _ in range(5))


def warnings(rows: list[Row], now: Mapping[str, float], reference: float) -> list[str]:
    """Give a line for each step that takes longer than in the last row that has it, as far as machines compare."""
    found = []
    for name, seconds in now.items():
        last = next((row for row in reversed(rows) if name in row.steps), None)
        if last is None:
            continue
        expected = last.steps[name] * reference / last.reference
        if seconds > MOST * expected:
            found.append(
                f"warning: {name} took {seconds:.0f} s, {seconds / expected - 1:.0%} more than the {expected:.0f} s "
                f"that the {last.steps[name]:.0f} s of {last.when}, commit {last.commit}, are on this machine"
            )
    return found


def write_row(now: Mapping[str, float], reference: float, commit: str) -> str:
    """Write a row of the table, for what was measured now."""
    cells = [time.strftime("%Y-%m-%d"), commit, f"{reference:.3f}"]
    return f"| {' | '.join([*cells, *(f'{now[name]:.0f}' if name in now else '' for name in STEPS)])} |"


def read_steps(arguments: list[str]) -> dict[str, float]:
    """Read steps and their seconds, as in ``build=95``.

    `ValueError` is raised if one is no such step, or not a number of seconds.
    """
    steps = {}
    for argument in arguments:
        name, _, seconds = argument.partition("=")
        if name not in STEPS or not re.fullmatch(r"\d+(\.\d+)?", seconds):
            raise ValueError(f"{argument!r} is not STEP=SECONDS with a step of {', '.join(STEPS)}")
        steps[name] = float(seconds)
    return steps


def main(arguments: list[str], table: Path = TABLE) -> int:
    """Print a row for the table, and what to be warned of; give the exit code, which is 0 nonetheless."""
    try:
        now = read_steps(arguments)
    except ValueError as error:
        print(f"seconds: {error}", file=sys.stderr)
        return 2
    reference = reference_seconds()
    print(write_row(now, reference, "now"))
    for line in warnings(read_rows(table.read_text(encoding="utf-8")), now, reference):
        print(line)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
