"""pytsp: travelling-salesman problems on CPUs and GPUs, by kernels in Futhark."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from pytsp.exceptions import (
    BackendError,
    BackendUnavailable,
    DeviceMemoryError,
    InstanceError,
    KernelError,
    PytspError,
    TourError,
    TsplibError,
)
from pytsp.history import Improvement, Progress
from pytsp.instance import Instance
from pytsp.result import Result
from pytsp.solve import solve
from pytsp.tours import is_tour, random_tours
from pytsp.tsplib import read, read_tour, write_tour

if TYPE_CHECKING:
    from pytsp import generate
    from pytsp._tsplib_write import write
    from pytsp.compare import compare as compare_backends
    from pytsp.many import solve_many

__all__ = [
    "BackendError",
    "BackendUnavailable",
    "DeviceMemoryError",
    "Improvement",
    "Instance",
    "InstanceError",
    "KernelError",
    "Progress",
    "PytspError",
    "Result",
    "TourError",
    "TsplibError",
    "compare_backends",
    "generate",
    "is_tour",
    "random_tours",
    "read",
    "read_tour",
    "solve",
    "solve_many",
    "write",
    "write_tour",
]


def __getattr__(name: str) -> object:
    """Import what few programs need where it is asked for."""
    if name == "generate":
        return import_module("pytsp.generate")
    if name == "write":
        return import_module("pytsp._tsplib_write").write
    if name == "solve_many":
        return import_module("pytsp.many").solve_many
    if name == "compare_backends":
        return import_module("pytsp.compare").compare
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
