"""Provenance of a result: the time, the versions and the machine."""

from __future__ import annotations

import os
import platform
from contextlib import suppress
from datetime import datetime, timezone
from pathlib import Path

from pytsp.distribution import VERSION


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
