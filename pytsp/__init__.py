"""pytsp: travelling-salesman problems on CPUs and GPUs, by kernels in Futhark."""

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
from pytsp.instance import Instance
from pytsp.result import Result
from pytsp.solve import Progress, solve
from pytsp.tours import is_tour, random_tours
from pytsp.tsplib import read, read_tour, write_tour

__all__ = [
    "BackendError",
    "BackendUnavailable",
    "DeviceMemoryError",
    "Instance",
    "InstanceError",
    "KernelError",
    "Progress",
    "PytspError",
    "Result",
    "TourError",
    "TsplibError",
    "is_tour",
    "random_tours",
    "read",
    "read_tour",
    "solve",
    "write_tour",
]
