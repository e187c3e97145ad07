"""pytsp: travelling-salesman problems on CPUs and GPUs, by kernels in Futhark.

What the package offers is imported where it is asked for: the command opens its device before it imports NumPy.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

from pytsp.exceptions import (
    BackendError,
    BackendUnavailable,
    CheckpointError,
    DatasetError,
    DeviceMemoryError,
    InstanceError,
    KernelError,
    PytspError,
    TourError,
    TsplibError,
)

if TYPE_CHECKING:
    from pytsp import generate
    from pytsp._tsplib_write import write
    from pytsp.checkpoint import resume
    from pytsp.compare import compare as compare_backends
    from pytsp.history import Improvement, Progress
    from pytsp.inputs import as_instance
    from pytsp.instance import Instance
    from pytsp.many import solve_many
    from pytsp.result import Result
    from pytsp.solve import solve
    from pytsp.tours import is_tour, random_tours
    from pytsp.tsplib import read, read_tour, write_tour

__all__ = [
    "BackendError",
    "BackendUnavailable",
    "CheckpointError",
    "DatasetError",
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
    "as_instance",
    "compare_backends",
    "generate",
    "is_tour",
    "random_tours",
    "read",
    "read_tour",
    "resume",
    "solve",
    "solve_many",
    "write",
    "write_tour",
]

# Where each name comes from: a module of the package, and what it is called there.
_ORIGINS = {
    "Improvement": ("history", "Improvement"),
    "Instance": ("instance", "Instance"),
    "Progress": ("history", "Progress"),
    "Result": ("result", "Result"),
    "as_instance": ("inputs", "as_instance"),
    "compare_backends": ("compare", "compare"),
    "is_tour": ("tours", "is_tour"),
    "random_tours": ("tours", "random_tours"),
    "read": ("tsplib", "read"),
    "read_tour": ("tsplib", "read_tour"),
    "resume": ("checkpoint", "resume"),
    "solve": ("solve", "solve"),
    "solve_many": ("many", "solve_many"),
    "write": ("_tsplib_write", "write"),
    "write_tour": ("tsplib", "write_tour"),
}


def __getattr__(name: str) -> object:
    """Import what is asked for: one of `__all__`, or a module of the package."""
    if name in _ORIGINS:
        module, original = _ORIGINS[name]
        value = globals()[name] = getattr(import_module(f"{__name__}.{module}"), original)
        return value
    if not name.startswith("_"):
        try:
            return import_module(f"{__name__}.{name}")
        except ModuleNotFoundError as error:
            if error.name != f"{__name__}.{name}":
                raise
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


class _Package(ModuleType):
    """The package, in which `solve` is the function, whoever imports the module of that name, and when."""

    def __setattr__(self, name: str, value: object) -> None:
        # The import of a module sets it as its package's attribute.
        if name == "solve" and isinstance(value, ModuleType):
            value = value.solve
        super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
