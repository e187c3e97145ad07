"""The GPUs of this machine, for tests that need one: their parameters have the marker `gpu`."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

from pytsp.backends import BackendStatus, status

NEEDED = "no GPU is here with its driver and the kernels for it: `pytsp backends` tells what is missing"


@cache
def usable_backends() -> tuple[BackendStatus, ...]:
    """The backends that run here, looked for once the process knows which GPU is its own."""
    return tuple(each for each in status() if each.usable)


def gpu_params() -> list[Any]:
    """Parameters of tests and fixtures: the backends besides the CPU's, and without a GPU one that is skipped."""
    found, has_gpu = [], False
    for each in usable_backends():
        if each.name not in ("c", "multicore"):
            is_gpu = any(device.is_gpu for device in each.devices)
            found.append(pytest.param(each.name, marks=[pytest.mark.gpu] * is_gpu))
            has_gpu |= is_gpu
    return found if has_gpu else [*found, pytest.param("gpu", marks=[pytest.mark.gpu, pytest.mark.skip(reason=NEEDED)])]
