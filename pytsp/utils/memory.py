"""Check that a solve fits the machine's memory before anything of that size is made; and release free memory."""

from __future__ import annotations

import sys
from bisect import bisect_right
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from pytsp.exceptions import InstanceError

# To ask takes longer than to have fewer bytes.
ASKED_BYTES = 1 << 24
# Memory that the system would give to a new process, and that a container may have.
_SYSTEM = Path("/proc/meminfo")
_CONTAINERS = (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"))


def check_memory(name: str, count: int, needed: Callable[[int], int]) -> None:
    """Raise `ValueError` where a `count`, given as the argument `name`, of something does not fit the free memory.

    `needed` returns the estimated bytes for a count. It is not called if the system does not report its free memory.
    """
    room = free_bytes()
    if room is None or needed(count) <= room:
        return
    most = bisect_right(range(1, count), room, key=needed)
    raise ValueError(
        f"{name}={count} would take about {needed(count) / 2**30:,.1f} GiB of memory, and {room / 2**30:,.1f} GiB are "
        f"free: at most {most} fit"
    )


def check_room(what: str, needed: int) -> None:
    """Raise `InstanceError` if the bytes that `what` needs are more than are free."""
    room = free_bytes() if needed >= ASKED_BYTES else None
    if room is not None and needed > room:
        raise InstanceError(
            f"{what} would take about {needed:,} bytes ({needed / 2**30:,.1f} GiB) of memory, and {room:,} "
            f"({room / 2**30:,.1f} GiB) are free"
        )


def free_bytes() -> int | None:
    """Return how much memory there is for this process; None where the system does not say."""
    bounds = []
    with suppress(OSError, ValueError, StopIteration):
        lines = _SYSTEM.read_text(encoding="ascii").splitlines()
        bounds.append(1024 * int(next(line for line in lines if line.startswith("MemAvailable:")).split()[1]))
    for file in _CONTAINERS:
        # It says "max" where there is no limit.
        with suppress(OSError, ValueError):
            bounds.append(int(file.read_text(encoding="ascii")))
    return min(bounds, default=None)


def trim() -> None:
    """Give back to the system what the C library keeps of freed memory, where it is glibc, which can.

    Between large arrays it keeps holes that the next ones do not fit into.
    """
    if sys.platform == "linux":
        import ctypes  # noqa: PLC0415

        give_back = getattr(ctypes.CDLL(None), "malloc_trim", None)
        if give_back is not None:
            give_back(0)
