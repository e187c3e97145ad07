"""What this machine offers to run kernels on: devices as every probe describes them, cores, shared libraries.

Nothing here raises for a machine that lacks something: a probe returns what it found and, where that is
nothing, why and what to do.
"""

from __future__ import annotations

import ctypes
import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Device", "Probe", "missing_features", "missing_functions", "preload", "usable_cores"]


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
        What one thread block may have of shared (OpenCL: local) memory, bytes.
    trouble : str
        Why kernels cannot run on it; empty where they can.
    selector : str
        What names this device to a Futhark context.
    """

    index: int
    name: str
    memory: int
    capability: str
    driver: str
    platform: str = ""
    is_gpu: bool = True
    shared_memory: int = 48 * 2**10
    trouble: str = ""
    selector: str = ""

    def __str__(self) -> str:
        return f"{self.name}, {self.memory / 2**30:.1f} GiB, {self.capability}, driver {self.driver}"


@dataclass(frozen=True)
class Probe:
    """What a search found: `devices`, and where no device is usable the `reason` and the `remedy`."""

    devices: tuple[Device, ...] = ()
    reason: str = ""
    remedy: str = ""

    @property
    def usable(self) -> tuple[Device, ...]:
        """The devices that kernels can run on."""
        return tuple(device for device in self.devices if not device.trouble)


def usable_cores(
    membership: Path = Path("/proc/self/cgroup"),
    mount: Path = Path("/sys/fs/cgroup"),
    affinity: int | None = None,
) -> int:
    """Count the cores that this process may keep busy: its CPU affinity, cut by its control groups' quotas.

    Parameters
    ----------
    membership, mount : Path, optional
        Where the kernel says which control groups the process is in, and where they are mounted.
    affinity : int, optional
        The cores of the process's CPU mask; asked of the system by default.

    Returns
    -------
    int
        At least 1. A quota of 2.5 cores counts as 2.

    Notes
    -----
    Versions 1 and 2 of control groups are read, with every parent: the tightest quota holds. Source: the
    Linux kernel's documentation, "Control Group v2" (cpu.max) and "CFS Bandwidth Control" (cpu.cfs_quota_us).
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
    """Name the features that this processor lacks, of those that a compiled module needs.

    Parameters
    ----------
    needs : iterable of str
        Features as Linux names them, such as ``"avx2"``.
    cpuinfo : Path, optional
        Where the system tells its processor's features; where it does not, none counts as missing.
    """
    try:
        lines = cpuinfo.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []
    flags = next((line.partition(":")[2].split() for line in lines if line.startswith("flags")), None)
    return [] if flags is None else sorted(set(needs) - set(flags))


def preload(name: str) -> bool:
    """Load a shared library with global symbols, found when needed; return whether it could be loaded."""
    try:
        ctypes.CDLL(name, mode=ctypes.RTLD_GLOBAL | os.RTLD_LAZY)
    except OSError:
        return False
    return True


def missing_functions(module: Path, pattern: bytes) -> list[str]:
    """Name the functions that a compiled module calls and no library in the process has.

    The module's references are weak, so that it loads without a driver; calling a missing one would end the
    process.

    Parameters
    ----------
    module : Path
        The compiled module; the names are read from its table of symbols.
    pattern : bytes
        A regular expression of the names to look for, without groups that capture.
    """
    process = ctypes.CDLL(None)
    # A pattern that begins with a literal is searched for ten times as fast as one that begins with a look behind.
    names = {match.decode() for match in re.findall(rb"\0(" + pattern + rb")(?=\0)", module.read_bytes())}
    # Events are for measuring times, which pytsp never asks Futhark for.
    return sorted(name for name in names if "Event" not in name and not hasattr(process, name))
