"""pytsp: travelling-salesman problems on CPUs and GPUs, by kernels in Futhark.

What the package offers is imported where it is asked for: the command opens its device before it imports NumPy.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from pytsp.distribution import VERSION, warn_of_namesake
from pytsp.exceptions import (
    BackendError,
    BackendUnavailable,
    CheckpointError,
    DatasetError,
    DeviceMemoryError,
    InstanceError,
    KernelError,
    PytspError,
    PytspWarning,
    TourError,
    TsplibError,
    WorkerLost,
)
from pytsp.utils.lazy import attach, register

if TYPE_CHECKING:
    from pytsp import backends as backends
    from pytsp import datasets as datasets
    from pytsp import exceptions as exceptions
    from pytsp import generate
    from pytsp import neighbours as neighbours
    from pytsp import networkx as networkx
    from pytsp import report as report
    from pytsp import starts as starts
    from pytsp.api.compare import compare as compare_backends
    from pytsp.api.many import solve_each, solve_many
    from pytsp.api.resume import resume
    from pytsp.api.segments import SegmentOrder, order_segments
    from pytsp.api.solve import solve
    from pytsp.bound.bound import lower_bound
    from pytsp.datasets.reading import read
    from pytsp.io.convert import as_instance
    from pytsp.io.tsplib.reader import read_tour
    from pytsp.io.tsplib.writer import write, write_tour
    from pytsp.problem.instance import Instance
    from pytsp.problem.tours import is_tour, random_tours
    from pytsp.run.batch import BatchResult
    from pytsp.run.limits import Limits
    from pytsp.run.monitor import Improvement, Progress
    from pytsp.run.result import Result
    from pytsp.solvers.options.annealing import Annealing
    from pytsp.solvers.options.ants import AntColony
    from pytsp.solvers.options.eax import EAX
    from pytsp.solvers.options.ils import ILS
    from pytsp.solvers.options.large import LargeTour
    from pytsp.solvers.options.restarts import RandomRestarts
    from pytsp.solvers.options.two_opt import TwoOpt

__version__ = VERSION

__all__ = [
    "Annealing",
    "AntColony",
    "EAX",
    "ILS",
    "LargeTour",
    "RandomRestarts",
    "TwoOpt",
    "BackendError",
    "BackendUnavailable",
    "CheckpointError",
    "DatasetError",
    "DeviceMemoryError",
    "Improvement",
    "Instance",
    "InstanceError",
    "KernelError",
    "Limits",
    "Progress",
    "PytspError",
    "PytspWarning",
    "BatchResult",
    "Result",
    "SegmentOrder",
    "TourError",
    "TsplibError",
    "WorkerLost",
    "as_instance",
    "compare_backends",
    "generate",
    "is_tour",
    "lower_bound",
    "order_segments",
    "random_tours",
    "read",
    "read_tour",
    "resume",
    "solve",
    "solve_each",
    "solve_many",
    "write",
    "write_tour",
]

# Where each name comes from, and the folders and modules that need no import of their own.
_ORIGINS = {
    "Annealing": "pytsp.solvers.options.annealing",
    "AntColony": "pytsp.solvers.options.ants",
    "EAX": "pytsp.solvers.options.eax",
    "ILS": "pytsp.solvers.options.ils",
    "LargeTour": "pytsp.solvers.options.large",
    "RandomRestarts": "pytsp.solvers.options.restarts",
    "TwoOpt": "pytsp.solvers.options.two_opt",
    "Improvement": "pytsp.run.monitor",
    "Instance": "pytsp.problem.instance",
    "Limits": "pytsp.run.limits",
    "Progress": "pytsp.run.monitor",
    "BatchResult": "pytsp.run.batch",
    "Result": "pytsp.run.result",
    "SegmentOrder": "pytsp.api.segments",
    "as_instance": "pytsp.io.convert",
    "compare_backends": "pytsp.api.compare:compare",
    "is_tour": "pytsp.problem.tours",
    "lower_bound": "pytsp.bound.bound",
    "order_segments": "pytsp.api.segments",
    "random_tours": "pytsp.problem.tours",
    "read": "pytsp.datasets.reading",
    "read_tour": "pytsp.io.tsplib.reader",
    "resume": "pytsp.api.resume",
    "solve": "pytsp.api.solve",
    "solve_each": "pytsp.api.many",
    "solve_many": "pytsp.api.many",
    "write": "pytsp.io.tsplib.writer",
    "write_tour": "pytsp.io.tsplib.writer",
}
_attribute, _names = attach(__name__, _ORIGINS)
# What draws instances and results, which lie below.
_NOTEBOOK = ("html_of_instance", "png_of_instance", "html_of_result", "png_of_result")
register({"plot_result": "pytsp.plotting.figures:plot_result"})
register({name: f"pytsp.plotting.notebook:{name}" for name in _NOTEBOOK})
warn_of_namesake(__path__[0])


# Type checkers read the imports above, and tell a name that is none.
if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        """Import one of `__all__`, or a module of the package, on its first use."""
        if name not in _ORIGINS and not name.startswith("_"):
            try:
                return import_module(f"{__name__}.{name}")
            except ModuleNotFoundError as error:
                if error.name != f"{__name__}.{name}":
                    raise
        return _attribute(name)


def __dir__() -> list[str]:
    return sorted({*_names(), *__all__})
