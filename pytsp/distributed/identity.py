"""Which pytsp this is: processes that work on one solve must have the same, or their tours would differ."""

from __future__ import annotations

import hashlib
import json
import os
import socket
from functools import cache
from pathlib import Path

from pytsp.distribution import VERSION

__all__ = ["identity", "worker_name"]


@cache
def identity() -> str:
    """Return the version, and a checksum of Python's sources and of what the kernels were made from.

    Kernels that were compiled for another processor from the same sources are the same: they compute alike.
    """
    folder = Path(__file__).parents[1]
    checksum = hashlib.sha256()
    for file in sorted(folder.rglob("*.py")):
        if "_kernels" not in file.parts:
            checksum.update(f"{file.relative_to(folder)}\n".encode() + file.read_bytes())
    try:
        modules = json.loads((folder / "_kernels" / "build.json").read_text())["modules"]
        sources = sorted({str(module.get("source_hash")) for module in modules.values()})
    except (OSError, ValueError, KeyError):
        sources = []
    checksum.update("\n".join(sources).encode())
    return f"{VERSION} (build {checksum.hexdigest()[:12]})"


def worker_name() -> str:
    """Return the name of this process among all of a network."""
    return f"{socket.gethostname()}:{os.getpid()}"
