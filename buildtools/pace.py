"""Estimate the time of building a module: that of the last build, or by the entry points of its program."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from buildtools.entries import text_of
from buildtools.report import Entry

# Seconds an entry point on one core of an Intel Xeon of 2023, of which two were at work: translating, compiling.
PACE = {"c": (0.5, 0.3), "multicore": (0.65, 0.45), "opencl": (1.2, 0.3), "cuda": (1.2, 0.3), "emulated": (0.7, 0.15)}


@dataclass(frozen=True)
class Expected:
    """The seconds that two steps are likely to take."""

    translating: float
    compiling: float

    @property
    def total(self) -> float:
        return self.translating + self.compiling


def expect(backend: str, program: Path, last: Entry) -> Expected:
    """Give what a module of a backend is likely to take."""
    if len(last.seconds) == 2:
        return Expected(*last.seconds)
    entries = len(re.findall(r"(?m)^entry\b", text_of(program))) if program.is_file() else 0
    return Expected(*(entries * pace for pace in PACE[backend]))


def expect_all(each: Sequence[Expected], cores: int) -> float:
    """Give what several modules take side by side, each on one core."""
    return max(*(one.total for one in each), sum(one.total for one in each) / cores)


def about(seconds: float) -> str:
    """Write an expected time."""
    return f"about {max(1, round(seconds)) if seconds < 10 else 5 * round(seconds / 5)} s"
