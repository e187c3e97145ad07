"""Hardware of this machine: devices as every probe describes them, cores, shared libraries."""

from __future__ import annotations

import ctypes
import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path


@dataclass(frozen=True)
class Device:
    """One device that kernels could run on.

    Attributes
    ----------
    index : int
        Its number among the backend's devices, as the driver counts them from 0.
    name : str
    memory : int
        Total memory, bytes.
    capability : str
        CUDA's compute capability (``"9.0"``) or the OpenCL version of the device.
    driver : str
        The driver's version: for CUDA, the newest CUDA that it supports (``"13.0"``).
    platform : str
        The OpenCL platform's name; empty for CUDA.
    is_gpu : bool
    shared_memory : int
        Shared (OpenCL: local) memory of a thread block, bytes.
    multiprocessors : int
        Its multiprocessors (OpenCL: compute units).
    trouble : str
        Reason why kernels cannot run on it; empty if they can.
    selector : str
        Name of this device for a Futhark context.
    """

    index: int
    name: str
    memory: int
    capability: str
    driver: str
    platform: str = ""
    is_gpu: bool = True
    shared_memory: int = 48 * 2**10
    multiprocessors: int = 1
    trouble: str = ""
    selector: str = ""

    def __str__(self) -> str:
        return f"{self.name}, {self.memory / 2**30:.1f} GiB, {self.capability}, driver {self.driver}"


@dataclass(frozen=True)
class Probe:
    """Result of a search: `devices`, and if none is usable the `reason` and the `remedy`."""

    devices: tuple[Device, ...] = ()
    reason: str = ""
    remedy: str = ""


class DriverContext:
    """Facts that a driver reports about an open context; by default none."""

    def attach(self) -> None:
        """Make it current in this thread."""

    def detach_all(self) -> None:
        """See to it that it is not current in this thread."""

    def free_memory(self) -> int | None:
        """Return its device's free memory in bytes, or None where the driver does not say."""
        return None


def usable_cores(
    membership: Path = Path("/proc/self/cgroup"),
    mount: Path = Path("/sys/fs/cgroup"),
    affinity: int | None = None,
) -> int:
    """Count the cores that this process may keep busy, at least 1: its CPU mask, cut by its control groups' quotas.

    The tightest quota of all parents holds, in version 1 or 2; one of 2.5 cores counts as 2. `membership` is where the
    kernel says which groups the process is in, `mount` where they lie, `affinity` the cores of the mask.

    Source: the Linux kernel's documentation, "Control Group v2" (cpu.max) and "CFS Bandwidth Control"
    (cpu.cfs_quota_us).
    """
    if affinity is None:
        available = getattr(os, "sched_getaffinity", None)
        affinity = len(available(0)) if available else os.cpu_count() or 1
    return max(1, min([affinity, *(int(quota) for quota in _quotas(membership, mount))]))


def _quotas(membership: Path, mount: Path) -> Iterator[float]:
    """Yield every CPU quota, in cores, that bounds the process."""
    try:
        lines = membership.read_text().splitlines()
    except OSError:
        return
    for line in lines:
        _, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        if controllers and "cpu" not in controllers.split(","):
            continue
        names = (controllers, "cpu", "cpu,cpuacct") if controllers else ("", "unified")
        # Inside a container the path may be the host's, and the mount point itself the group.
        parts = [part for part in path.split("/") if part]
        for depth in range(len(parts), -1, -1):
            for name in dict.fromkeys(names):
                quota = _quota(mount.joinpath(name, *parts[:depth]))
                if quota is not None:
                    yield quota


def _quota(group: Path) -> float | None:
    """Read the quota of one control group in cores, or None where it has none."""
    try:
        if (group / "cpu.max").exists():
            limit, period = (group / "cpu.max").read_text().split()
        else:
            limit = (group / "cpu.cfs_quota_us").read_text()
            period = (group / "cpu.cfs_period_us").read_text()
        return int(limit) / int(period) if int(limit) > 0 and int(period) > 0 else None
    except (OSError, ValueError):
        # Also "max": no quota.
        return None


def missing_features(needs: Iterable[str], cpuinfo: Path = Path("/proc/cpuinfo")) -> list[str]:
    """Name the features that this processor lacks, of those that a module needs, such as ``"avx2"``.

    Where the system does not tell its processor's features, none counts as missing.
    """
    features = _features(cpuinfo)
    return [] if features is None else sorted(set(needs) - features)


@cache
def _features(cpuinfo: Path) -> frozenset[str] | None:
    """Return the features of the first processor; None if the system does not report them."""
    try:
        with cpuinfo.open(encoding="utf-8", errors="replace") as lines:
            flags = next((line for line in lines if line.startswith("flags")), None)
    except OSError:
        return None
    return None if flags is None else frozenset(flags.partition(":")[2].split())


def preload(name: str) -> bool:
    """Load a shared library with global symbols, found when needed; return whether it could be loaded."""
    try:
        ctypes.CDLL(name, mode=ctypes.RTLD_GLOBAL | os.RTLD_LAZY)
    except OSError:
        return False
    return True


def missing_functions(module: Path, pattern: bytes) -> list[str]:
    """Name the functions, of those that a pattern fits, that a compiled module calls and no library in the process has.

    The module's references are weak, so that it loads without a driver; calling a missing one would end the process.
    """
    process = ctypes.CDLL(None)
    # A pattern that begins with a literal is searched for ten times as fast as one that begins with a look behind.
    names = {match.decode() for match in re.findall(rb"\0(" + pattern + rb")(?=\0)", module.read_bytes())}
    # Events are for measuring times, which pytsp never asks Futhark for.
    return sorted(name for name in names if "Event" not in name and not hasattr(process, name))
