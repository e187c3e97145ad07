"""Devices, their drivers, and the one gate through which values pass to the kernels."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytsp.utils.lazy import attach

if TYPE_CHECKING:
    from pytsp.backends.context import Backend
    from pytsp.backends.devices import Device
    from pytsp.backends.kind import CPU_PART, PARTS, BackendStatus
    from pytsp.backends.kinds import BACKENDS
    from pytsp.backends.marshal import Opaque
    from pytsp.backends.registry import open_backend, status

__all__ = ["BACKENDS", "Backend", "BackendStatus", "CPU_PART", "Device", "Opaque", "PARTS", "open_backend", "status"]

_ORIGINS = dict.fromkeys(__all__, f"{__name__}.registry") | {"Opaque": f"{__name__}.marshal"}
__getattr__, __dir__ = attach(__name__, _ORIGINS)
