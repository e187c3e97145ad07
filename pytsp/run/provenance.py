"""What `pytsp solve --json` prints beside the result: the instance's file, and where and when the run was made."""

from __future__ import annotations

import os
import platform
from datetime import datetime, timezone
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from pytsp.run.result import Result

__all__ = ["environment", "record"]


def record(result: Result, *, file: Path | None, device: str | None) -> dict[str, object]:
    """Return a result as a JSON object that tells by itself how it came to be.

    Parameters
    ----------
    result : Result
    file : path or None
        What the instance was read from; None for standard input.
    device : str or None
        What the kernels ran on, if that is known.
    """
    return {
        **result.to_dict(),
        "file": None if file is None else str(file.resolve()),
        "date": f"{datetime.now(timezone.utc):%Y-%m-%dT%H:%M:%SZ}",
        "device": device,
        "environment": environment(),
    }


def environment() -> dict[str, str | int]:
    """Return versions and the machine, as a report tells them."""
    return {
        "pytsp": _version(),
        "Python": platform.python_version(),
        "system": platform.platform(),
        "processor": _processor(),
        "cores": len(os.sched_getaffinity(0)),
    }


def _version() -> str:
    try:
        return version("pytsp")
    except PackageNotFoundError:
        # A checkout on PYTHONPATH is not installed.
        return "not installed"


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()
