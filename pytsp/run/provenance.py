"""Provenance of a result in `pytsp solve --json`: the instance's file, the machine and the time."""

from __future__ import annotations

import os
import platform
from contextlib import suppress
from datetime import datetime, timezone
from pathlib import Path

from pytsp.distribution import VERSION
from pytsp.run.result import Result


def record(result: Result, *, file: Path | None, device: str | None, **reading: object) -> dict[str, object]:
    """Return the facts that are printed of a result as JSON, with its provenance; long lists are arrays.

    `file` is what the instance was read from, None for standard input, and `reading` how, where that
    was said; `device` what the kernels ran on, if known.
    """
    return {
        **result.with_arrays(),
        "file": None if file is None else str(file.resolve()),
        **reading,
        "device": device,
        **made_now(),
    }


def made_now() -> dict[str, object]:
    """Return the time and place of a run, as in a report."""
    return {"date": f"{datetime.now(timezone.utc):%Y-%m-%dT%H:%M:%SZ}", "environment": environment()}


def environment() -> dict[str, str | int]:
    """Return versions and the machine, as in a report."""
    return {
        "pytsp": VERSION,
        "Python": platform.python_version(),
        "system": platform.platform(),
        "processor": _processor(),
        "cores": len(os.sched_getaffinity(0)),
    }


def _processor() -> str:
    with suppress(OSError, StopIteration):
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
        return next(line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return platform.machine()
