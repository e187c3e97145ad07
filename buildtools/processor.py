"""The processors that c and multicore are compiled for: a level of the x86-64 psABI, this machine's by default."""

from __future__ import annotations

import platform
from pathlib import Path

from buildtools.errors import BuildError

PORTABLE = "portable"
# What each level adds to the one before it, in the words of Linux's /proc/cpuinfo. Source: System V Application
# Binary Interface, AMD64 Architecture Processor Supplement, section 3.1.1.
ADDED = {
    "x86-64-v2": ("cx16", "lahf_lm", "popcnt", "sse4_1", "sse4_2", "ssse3"),
    "x86-64-v3": ("abm", "avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "movbe", "xsave"),
    "x86-64-v4": ("avx512bw", "avx512cd", "avx512dq", "avx512f", "avx512vl"),
}
CHOICES = (PORTABLE, *ADDED)
# gcc would use half of the registers' width: seen to halve the speed of 2-opt.
WIDE = {"x86-64-v4": ("-mprefer-vector-width=512",)}


def features_of(level: str) -> tuple[str, ...]:
    """Give the processor's features that code of `level` needs."""
    if level not in ADDED:
        return ()
    levels = tuple(ADDED)
    return tuple(name for each in levels[: levels.index(level) + 1] for name in ADDED[each])


def level_of(features: set[str]) -> str:
    """Give the highest level whose features are all there."""
    return next((level for level in reversed(ADDED) if features.issuperset(features_of(level))), PORTABLE)


def level_here(cpuinfo: Path = Path("/proc/cpuinfo")) -> str:
    """Give this machine's level; ``portable`` where it is no x86-64 or does not tell."""
    try:
        lines = cpuinfo.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return PORTABLE
    flags = next((line.partition(":")[2] for line in lines if line.startswith("flags")), "")
    return level_of(set(flags.split()))


def check_level(level: str) -> str:
    """Give `level`, or raise BuildError if this machine's C compiler can have no such level."""
    if level not in CHOICES:
        raise BuildError(f"no such level of processors: {level!r}; there are {', '.join(CHOICES)}")
    if level != PORTABLE and platform.machine().lower() not in ("x86_64", "amd64"):
        raise BuildError(f"level {level} is x86-64's, but this machine is {platform.machine()}; take {PORTABLE}")
    return level


def flags_of_level(level: str) -> list[str]:
    """Give the C compiler's flags for a level."""
    return [] if level == PORTABLE else [f"-march={level}", *WIDE.get(level, ())]
