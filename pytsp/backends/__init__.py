"""What runs the kernels: the devices, their drivers, and the one gate through which values pass."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytsp.utils.lazy import attach

if TYPE_CHECKING:
    from pytsp.backends.context import BACKENDS, PARTS, Backend, BackendStatus, Device, Opaque, open_backend, status

__all__ = ["BACKENDS", "Backend", "BackendStatus", "Device", "Opaque", "PARTS", "open_backend", "status"]

__getattr__, __dir__ = attach(__name__, dict.fromkeys(__all__, "pytsp.backends.context"))
