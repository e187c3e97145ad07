"""The backends by name: which are built and usable here, the best of them, and those that are open.

Only here, and through a `DeviceKind`, does pytsp load a compiled module. The modules are built through futhark-ffi; the
contexts are made here, by cffi, because futhark-ffi's own wrapper converts values silently and cannot set
threads, memory or compiler options.
"""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Mapping
from weakref import WeakKeyDictionary

from pytsp.backends.context import Backend
from pytsp.backends.devices import Device, usable_cores
from pytsp.backends.kind import CPU_PART, PARTS, BackendStatus, Found
from pytsp.backends.kinds import BACKENDS, KINDS, find
from pytsp.exceptions import BackendError, BackendUnavailable
from pytsp.utils.text import hint

_MOST_THREADS = 1024
_log = logging.getLogger("pytsp")


def status() -> list[BackendStatus]:
    """Return for every backend if it is built and usable here, and if not, the reason and the remedy.

    Returns
    -------
    list of BackendStatus
        In the order of `BACKENDS`. Never raises for a missing driver, device or module.
    """
    every = [find(KINDS[name]) for name in BACKENDS]
    if any(each.status.devices for each in every):
        from pytsp.backends.self_test.verdicts import with_verdicts  # noqa: PLC0415

        return [with_verdicts(each) for each in every]
    return [each.status for each in every]


def open_backend(
    name: str = "auto",
    *,
    threads: int | None = None,
    device: int | str | None = None,
    tuning: Mapping[str, int] | None = None,
    part: str = "restarts",
) -> Backend:
    """Open a backend, or return the one that is open already with the same settings in this process.

    Parameters
    ----------
    name : str, optional
        One of `BACKENDS`, or ``"auto"`` for the fastest that works here: cuda, then opencl if it has a GPU,
        then multicore where more than one core is usable, then c.
    threads : int, optional
        Threads of the multicore backend; every usable core by default.
    device : int or str, optional
        The GPU to use, by its number in `status` or by a part of its name; the first usable one by default.
    tuning : mapping of str to int, optional
        Futhark's tuning parameters, as in a ``.tuning`` file.
    part : str, optional
        One of `PARTS`: on a GPU, the kernels to open. The CPU's backends are the same for every part; `CPU_PART` is
        what they alone have.

    Returns
    -------
    Backend

    Raises
    ------
    BackendUnavailable
        If the backend is not built or cannot run here, or its device's driver computes wrongly. The message says what
        to do. At a driver's first start a self-test compares small searches with the CPU's; its verdict is kept.
    BackendError
        If the name, the thread count, the device, a tuning parameter or the part is not one.
    """
    if part not in (*PARTS, CPU_PART):
        raise BackendError(f"part {part!r} of the kernels is not known; known: {', '.join((*PARTS, CPU_PART))}")
    if name not in (*KINDS, "auto"):
        close = hint(str(name), BACKENDS)
        raise BackendError(f"backend {name!r} is not known; known: auto, {', '.join(BACKENDS)}{close}")
    if threads is not None and (isinstance(threads, bool) or not isinstance(threads, int)):
        raise BackendError(f"threads must be an int, got {type(threads).__name__} {threads!r}")
    if threads is not None and not 1 <= threads <= _MOST_THREADS:
        raise BackendError(f"threads must be from 1 to {_MOST_THREADS}, got {threads}")
    if isinstance(device, bool) or not isinstance(device, int | str | None):
        raise BackendError(f"device must be a number or a name, got {type(device).__name__} {device!r}")
    if part == CPU_PART:
        name = _cpu_name(name, threads, device)
    settings = (name, threads, device, repr(sorted((tuning or {}).items())))
    with _registry_lock:
        for each in (part, None):
            backend = _registry.get((settings, each))
            if backend is not None and not backend.closed:
                return backend
        if name == "auto":
            backend = _open_auto(threads, device, tuning, part)
        else:
            backend = _open(find(KINDS[name], part), threads, device, tuning)
        _registry[settings, backend.part] = backend
        return backend


def _cpu_name(name: str, threads: int | None, device: int | str | None) -> str:
    """Return the backend that runs what GPUs do not have, or refuse one that is a GPU's."""
    if device is not None or (name in KINDS and not KINDS[name].on_the_cpu):
        asked = f"backend={name!r}" if device is None else f"device={device!r}"
        raise BackendError(
            f"one huge tour by its pieces is searched by the CPU, got {asked}; take solver='eax' on a GPU, or "
            "backend='multicore'"
        )
    # With threads, "auto" takes no GPU by itself.
    return (on_the_cpu() or "multicore") if name == "auto" and threads is None else name


_registry: dict[tuple[object, ...], Backend] = {}
# The CPU's kernels beside those of a GPU.
_hosts: WeakKeyDictionary[Backend, Backend] = WeakKeyDictionary()
_registry_lock = threading.Lock()


def on_the_cpu() -> str | None:
    """Return the name of the CPU's backend that "auto" takes where there is no GPU; None where none can run here."""
    names = ("multicore", "c") if usable_cores() > 1 else ("c", "multicore")
    return next((name for name in names if find(KINDS[name]).status.usable), None)


def host_kernels(kernels: Backend) -> Backend | None:
    """Return kernels of the CPU beside those of a solver, which are on a GPU perhaps; None where none can run here."""
    if kernels.device is None:
        return kernels
    host = _hosts.get(kernels)
    # To see what can run here takes milliseconds.
    if host is None or host.closed:
        name = on_the_cpu()
        if name is None:
            return None
        host = _hosts[kernels] = open_backend(name)
    return host


def other_part(kernels: Backend, part: str) -> Backend:
    """Return another part of a solver's kernels on the same device; on a CPU they are the same."""
    if kernels.device is None:
        return kernels
    return open_backend(kernels.name, device=kernels.device.index, part=part)


def _forget() -> None:
    """Leave the parent's backends to the parent: neither threads nor GPU contexts outlive a fork."""
    global _registry_lock  # noqa: PLW0603
    _registry.clear()
    _hosts.clear()
    _registry_lock = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)


def _open_auto(threads: int | None, device: int | str | None, tuning: Mapping[str, int] | None, part: str) -> Backend:
    """Open the fastest backend that works here and that the settings concern."""
    if threads is not None and device is not None:
        raise BackendError(f"threads={threads} is for the CPU and device={device!r} for a GPU; give one of the two")
    candidates = [] if threads is not None else ["cuda", "opencl"]
    if threads is not None and threads > 1:
        candidates = ["multicore"]
    elif device is None:
        candidates += ["multicore", "c"] if threads is None and usable_cores() > 1 else ["c", "multicore"]
    failures = []
    for name in candidates:
        found = find(KINDS[name], part)
        if device is None and not KINDS[name].beats_the_cpu(_usable(found.status)):
            continue
        if not found.status.usable:
            failures.append(f"{name}: {found.status.reason} ({found.status.remedy})")
            continue
        try:
            return _open(found, threads if name == "multicore" else None, device, tuning)
        except BackendUnavailable as error:
            _log.warning("passed over: %s", error)
            failures.append(f"{name}: {error}")
    what = "no backend can run here" if device is None else f"device={device!r} is for a GPU, and none can run here"
    raise BackendUnavailable(f"{what}: {'; '.join(failures)}")


def _usable(found: BackendStatus) -> list[Device]:
    """The devices of a backend that kernels can run on, GPUs first."""
    return sorted((each for each in found.devices if not each.trouble), key=lambda each: not each.is_gpu)


def _open(found: Found, threads: int | None, device: int | str | None, tuning: Mapping[str, int] | None) -> Backend:
    """Open a backend that was found, with these settings."""
    kind, status = found.kind, found.status
    found.threads = kind.threads(threads)
    if device is not None and kind.on_the_cpu:
        raise BackendError(f"backend {kind.name!r} runs on the CPU and takes no device, got device={device!r}")
    if not status.usable:
        raise BackendUnavailable(f"backend {kind.name!r} cannot run here: {status.reason}; to use it, {status.remedy}")
    if kind.self_test:
        return _open_first(found, _usable(status) if device is None else [choose(status, device)], tuning or {})
    found.device = None if kind.on_the_cpu else choose(status, device)
    return Backend(found, tuning or {})


def _open_first(found: Found, devices: list[Device], tuning: Mapping[str, int]) -> Backend:
    """Open a backend on the first of some devices whose driver computes rightly."""
    from pytsp.backends.self_test.verdicts import open_tested  # noqa: PLC0415

    refusals: list[str] = []
    for found.device in devices:
        backend = open_tested(found, tuning)
        if isinstance(backend, Backend):
            for refusal in refusals:
                _log.warning("passed over: %s", refusal)
            return backend
        refusals.append(backend)
    raise BackendUnavailable("; ".join(refusals))


def choose(found: BackendStatus, wanted: int | str | None) -> Device:
    """Pick the device that the user names by its number or a part of its name."""
    if wanted is None:
        return _usable(found)[0]
    listed = "; ".join(f"{each.index}: {each.name}" for each in found.devices)
    if isinstance(wanted, str) and not wanted.removeprefix("#").isdecimal():
        fit = [each for each in found.devices if wanted.lower() in each.name.lower()]
        # Several of one model are as good as each other.
        fit = fit[:1] if len({each.name for each in fit}) == 1 else fit
    else:
        number = int(wanted.removeprefix("#")) if isinstance(wanted, str) else wanted
        fit = [each for each in found.devices if each.index == number]
    if len(fit) != 1:
        problem = "fits several devices" if fit else "fits no device"
        raise BackendError(f"device {wanted!r} {problem} of backend {found.name!r}; it has {listed}")
    if fit[0].trouble:
        raise BackendUnavailable(f"device {fit[0].index} ({fit[0].name}) cannot run kernels: {fit[0].trouble}")
    return fit[0]
