"""A stand-in for a device with a driver: c's kernels, as right or as wrong as the environment says.

A process that imports it knows the kind "standin". The variable STANDIN names what its driver does: one of `FAULTS`;
STANDIN_MARKER is a file that tells whether it has crashed before.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from pytsp.backends import Backend, Device
from pytsp.backends.cpu import Sequential
from pytsp.backends.devices import Probe
from pytsp.backends.kind import DeviceKind
from pytsp.backends.kinds import KINDS

NAME = "standin"
GPU = Device(0, "Stand-in GPU", 2**30, "1.2", "7.0", "Stand-in platform", selector="#0")
FAULTS = ("", "wrong", "crash", "crash once", "exit", "memory", "killed", "hang")


class StandIn(Sequential):
    """The device, whose driver is tested in a process of its own."""

    name = NAME
    on_the_cpu = False
    self_test = "apart"
    threads = DeviceKind.threads

    def module(self, part: str | None) -> str:
        return "c"

    def probe(self) -> Probe:
        return Probe((GPU,))


KINDS[NAME] = StandIn()


def replace_driver(version: str, index: int = 0) -> Device:
    """Return the device with another version of its driver."""
    return replace(GPU, driver=version, index=index)


def fail(fault: str) -> None:
    """Do what a faulty driver does in the middle of a search."""
    if fault == "crash once":
        marker = Path(os.environ["STANDIN_MARKER"])
        fault = "" if marker.exists() else "crash"
        marker.touch()
    if fault == "crash":
        os.abort()
    if fault == "exit":
        print("the compiler has no more ideas", file=sys.stderr, flush=True)
        os._exit(3)
    if fault == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    if fault == "hang":
        time.sleep(3_600)
    if fault == "memory":
        from pytsp.exceptions import DeviceMemoryError  # noqa: PLC0415

        raise DeviceMemoryError("the device is full")


def apply_fault() -> None:
    """Have this process's stand-in do what the environment says; backends of the CPU stay as they are."""
    fields, fault = Backend.fields, os.environ.get("STANDIN", "")
    assert fault in FAULTS

    def faulty(self: Backend, value: Any) -> dict[str, Any]:
        found = fields(self, value)
        if self.name == NAME:
            fail(fault)
            if fault == "wrong":
                found["lengths"] = found["lengths"] + 1
        return found

    Backend.fields = faulty  # type: ignore[method-assign]
