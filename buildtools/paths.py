"""Paths that the build reads and writes."""

from __future__ import annotations

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCES = ROOT / "futhark"
# The entry points of all programs (`buildtools.entries`).
ENTRIES = SOURCES / "entries" / "entries.fut.in"
# The program of the CPU backends; those of the GPU backends, in parts that solvers load by themselves.
CPU_PROGRAM = SOURCES / "entries" / "cpu.fut"
PARTS = (
    "restarts",
    "search",
    "flat",
    "lists",
    "comparators",
    "neighbourhoods",
    "strategies",
    "blocks",
    "bound",
)
GPU_PROGRAMS = {part: SOURCES / "entries" / f"gpu_{part}.fut" for part in PARTS}
# The programs as C, which a source distribution has.
TRANSLATIONS = ROOT / "translations"
KERNELS = ROOT / "pytsp" / "_kernels"
# The GPU programs as C, for tests: never shipped.
EMULATED = ROOT / "build" / "emulated"
INCLUDE = Path(__file__).resolve().parent / "include"
# Headers included before the C of a backend.
COMPAT = {backend: INCLUDE / f"{backend}_compat.h" for backend in ("cuda", "opencl")}
# Repairs of the C that Futhark writes.
REPAIRS = Path(__file__).resolve().parent / "repairs.py"
FALLBACK = INCLUDE / "fallback"


def cache_folder() -> Path:
    """Give the folder for what the build obtains: ``$XDG_CACHE_HOME/pytsp``, else ``~/.cache/pytsp``."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(base) if os.path.isabs(base) else Path.home() / ".cache") / "pytsp"
