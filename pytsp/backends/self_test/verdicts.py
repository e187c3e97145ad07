"""The self-test at a driver's first start: where it runs, and its verdict, which is kept."""

from __future__ import annotations

import json
import logging
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from textwrap import shorten
from typing import Any

from pytsp.backends.context import Backend
from pytsp.backends.devices import Device
from pytsp.backends.kernel_cache import cache_file, checksum
from pytsp.backends.kind import PARTS, BackendStatus, Found
from pytsp.backends.kinds import KINDS, find
from pytsp.exceptions import BackendUnavailable

_log = logging.getLogger("pytsp")
# Seconds after which a self-test counts as endless; a driver compiles a part of the kernels in minutes at most.
TIMEOUT_SECONDS = 1_800
# Signals that end a process from outside, whatever the driver does.
_FROM_OUTSIDE = {signal.SIGHUP, signal.SIGINT, signal.SIGKILL, signal.SIGTERM}
# What the process of a self-test runs. Ctrl-C ends it at once, also while the driver compiles.
PROGRAM = """
import json, signal, sys
signal.signal(signal.SIGINT, signal.SIG_DFL)
sys.path, *given = json.loads(sys.argv[1])
from pytsp.backends.self_test.verdicts import report
report(*given)
"""
_RIGHT = "right"


def open_tested(found: Found, tuning: Mapping[str, int]) -> Backend | str:
    """Open a backend on its device; where the device's driver computes wrongly, say so instead."""
    kind = found.kind
    file = _file(found, tuning)
    trouble = _kept(file)
    # A frozen program would start itself.
    has_interpreter = bool(sys.executable) and not getattr(sys, "frozen", False)
    if trouble is None and kind.self_test == "apart" and has_interpreter:
        _log.info("%s: the driver is tested once, for which it compiles the kernels", _name(found))
        trouble = _test_apart(found, tuning)
        _keep(file, trouble)
    if trouble:
        return _refusal(found, file, trouble)
    backend = Backend(found, tuning)
    if trouble is None:
        trouble = _test(backend)
        _keep(file, trouble)
    if trouble:
        backend.close()
        return _refusal(found, file, trouble)
    return backend


def with_verdicts(found: Found) -> BackendStatus:
    """Return what is known of a backend, with the verdicts of earlier starts on its devices."""
    status = found.status
    if not found.kind.self_test or not status.usable:
        return status
    devices = tuple(each if each.trouble else replace(each, trouble=_failed(found, each)) for each in status.devices)
    if not all(each.trouble for each in devices):
        return replace(status, devices=devices)
    remedy = "update the device's driver, or choose another backend"
    reason = f"{devices[0].name}: {devices[0].trouble}"
    return replace(status, devices=devices, usable=False, reason=reason, remedy=remedy)


def report(name: str, index: int, part: str, tuning: dict[str, int]) -> None:
    """Run the self-test in this process, and end it with the verdict on standard output."""
    found = find(KINDS[name], part)
    found.device = next(each for each in found.status.devices if each.index == index)
    try:
        with Backend(found, tuning) as backend:
            answer = {"trouble": _test(backend)}
    except BackendUnavailable as error:
        answer = {"unavailable": str(error)}
    print(json.dumps(answer), flush=True)
    # Without what drivers do at exit.
    os._exit(0)


def _test(backend: Backend) -> str:
    """Return what a backend computes otherwise than c, or against the laws of tours; an empty string for nothing."""
    from pytsp.backends.self_test.comparison import difference  # noqa: PLC0415

    host = find(KINDS["c"])
    if not host.status.usable:
        return difference(backend, None)
    host.threads = 1
    with Backend(host, {}) as reference:
        return difference(backend, reference)


def _test_apart(found: Found, tuning: Mapping[str, int]) -> str:
    """Run the self-test in a process of its own. A driver that crashes twice there, or does not end, has failed.

    `BackendUnavailable` is raised if the process could not run the test, or was ended from outside.
    """
    assert found.device is not None
    given = [[each for each in sys.path if isinstance(each, str)], found.kind.name, found.device.index, found.part]
    command = [sys.executable, "-c", PROGRAM, json.dumps([*given, dict(tuning)])]
    # A compiler that crashes once in a while does no harm to what it has compiled.
    for _ in range(2):
        try:
            done = subprocess.run(
                command, stdin=subprocess.DEVNULL, capture_output=True, timeout=TIMEOUT_SECONDS, check=False
            )
        except subprocess.TimeoutExpired:
            return f"it has come to no end after {TIMEOUT_SECONDS} s"
        has_crashed = done.returncode < 0 and -done.returncode not in _FROM_OUTSIDE
        if not has_crashed:
            break
    else:
        return f"it crashes ({signal.Signals(-done.returncode).name})"
    answer: dict[str, Any] = {}
    with suppress(ValueError, IndexError):
        answer = dict(json.loads(done.stdout.splitlines()[-1]))
    if "trouble" in answer:
        return str(answer["trouble"])
    said = done.stderr.decode(errors="replace").strip().splitlines() or ["it says nothing"]
    reason = answer.get("unavailable", f"its process ended with exit code {done.returncode}: {said[-1]}")
    # A compiler's complaints may have hundreds of lines.
    raise BackendUnavailable(f"{_name(found)} could not be tested: {shorten(reason, 600, placeholder=' …')}")


def _failed(found: Found, device: Device) -> str:
    """Return which part failed its self-test on a device in an earlier start, and how; empty where none did."""
    for part in PARTS:
        trouble = _kept(_file(replace(found, part=part, device=device), {}))
        if trouble:
            return f"fails the self-test of part {part!r}: {trouble}"
    return ""


def _file(found: Found, tuning: Mapping[str, int]) -> Path:
    """Name the file of a verdict: it belongs to the compiled kernels beside it, and to the searches of the test."""
    kind = found.kind
    settings = (*kind.compiled_by(found, tuning), *_test_checksums())
    file = cache_file(kind.module(found.part), kind.file(found.part), settings)
    return file.with_name(f"{file.name}.verdict")


def _test_checksums() -> list[int]:
    """Return the checksums of the test's own modules, which are not imported for that."""
    specs = [find_spec(f"{__package__}.{name}") for name in ("searches", "comparison")]
    return [checksum(Path(spec.origin)) for spec in specs if spec is not None and spec.origin is not None]


def _kept(file: Path) -> str | None:
    """Return the trouble in a file, empty if the driver computes correctly; None without a verdict."""
    try:
        first, _, trouble = file.read_text(encoding="utf-8").partition(":")
    except (OSError, ValueError):
        return None
    return {_RIGHT: "", "wrong": trouble.strip()}.get(first.strip())


def _keep(file: Path, trouble: str) -> None:
    """Write a verdict down; a folder that cannot be used has the test run again at the next start."""
    new = file.with_name(f"{file.name}.{os.getpid()}")
    with suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True)
        new.write_text(f"wrong: {trouble}\n" if trouble else f"{_RIGHT}\n", encoding="utf-8")
        new.replace(file)


def _name(found: Found) -> str:
    """Name a backend, its device and the driver."""
    device = found.device
    assert device is not None
    driver = " ".join(filter(None, (device.platform, device.driver)))
    return f"backend {found.kind.name!r} on device {device.index} ({device.name}, driver {driver})"


def _refusal(found: Found, file: Path, trouble: str) -> str:
    return (
        f"{_name(found)} is refused: it fails the self-test of part {found.part!r}: {trouble}; update the driver, or "
        f"choose another device or backend (to have it tested again, delete {file})"
    )
