"""pytsp: travelling-salesman problems on CPUs and GPUs, by kernels in Futhark.

What the package offers is imported where it is asked for: the command opens its device before it imports NumPy.
The first of these names that needs NumPy brings the solver with it.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING

from pytsp import exceptions as exceptions
from pytsp.distribution import VERSION, warn_of_namesake
from pytsp.utils.lazy import attach, register

if TYPE_CHECKING:
    from pytsp import backends as backends
    from pytsp import datasets as datasets
    from pytsp import generate as generate
    from pytsp import neighbours as neighbours
    from pytsp import networkx as networkx
    from pytsp import report as report
    from pytsp import starts as starts
    from pytsp.api.compare import compare as _compare
    from pytsp.api.many import solve_each as solve_each
    from pytsp.api.many import solve_many as solve_many
    from pytsp.api.resume import resume as resume
    from pytsp.api.segments import SegmentOrder as SegmentOrder
    from pytsp.api.segments import order_segments as order_segments
    from pytsp.api.solve import solve as solve
    from pytsp.bound.bound import lower_bound as lower_bound
    from pytsp.datasets.reading import read as read
    from pytsp.exceptions import BackendError as BackendError
    from pytsp.exceptions import BackendUnavailable as BackendUnavailable
    from pytsp.exceptions import CheckpointError as CheckpointError
    from pytsp.exceptions import DatasetError as DatasetError
    from pytsp.exceptions import DeviceMemoryError as DeviceMemoryError
    from pytsp.exceptions import InstanceError as InstanceError
    from pytsp.exceptions import InstanceNotFound as InstanceNotFound
    from pytsp.exceptions import KernelError as KernelError
    from pytsp.exceptions import PytspError as PytspError
    from pytsp.exceptions import PytspWarning as PytspWarning
    from pytsp.exceptions import TourError as TourError
    from pytsp.exceptions import TsplibError as TsplibError
    from pytsp.exceptions import WorkerLost as WorkerLost
    from pytsp.io.convert import as_instance as as_instance
    from pytsp.io.tsplib.reader import read_tour as read_tour
    from pytsp.io.tsplib.writer import write as write
    from pytsp.io.tsplib.writer import write_tour as write_tour
    from pytsp.problem.instance import Instance as Instance
    from pytsp.problem.tours import is_tour as is_tour
    from pytsp.problem.tours import random_tours as random_tours
    from pytsp.run.batch import BatchResult as BatchResult
    from pytsp.run.limits import Limits as Limits
    from pytsp.run.monitor import Improvement as Improvement
    from pytsp.run.monitor import Progress as Progress
    from pytsp.run.result import Result as Result
    from pytsp.solvers.options.annealing import Annealing as Annealing
    from pytsp.solvers.options.ants import AntColony as AntColony
    from pytsp.solvers.options.eax import EAX as EAX
    from pytsp.solvers.options.ils import ILS as ILS
    from pytsp.solvers.options.large import LargeTour as LargeTour
    from pytsp.solvers.options.restarts import RandomRestarts as RandomRestarts
    from pytsp.solvers.options.two_opt import TwoOpt as TwoOpt

    compare_backends = _compare

__version__ = VERSION

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
_ORIGINS |= dict.fromkeys(exceptions.__all__, "pytsp.exceptions")
_attribute, _names = attach(__name__, _ORIGINS)
# What draws instances and results, which lie below.
_NOTEBOOK = ("html_of_instance", "png_of_instance", "html_of_result", "png_of_result")
register({"plot_result": "pytsp.plotting.figures:plot_result"})
register({name: f"pytsp.plotting.notebook:{name}" for name in _NOTEBOOK})
warn_of_namesake(__path__[0])


# Type checkers read the imports above, and tell a name that is none.
if not TYPE_CHECKING:
    __all__ = ["generate"] + list(_ORIGINS)

    def __getattr__(name: str) -> object:
        """Import one of `__all__`, or a module of the package, on its first use."""
        if name not in _ORIGINS and not name.startswith("_"):
            try:
                return import_module(f"{__name__}.{name}")
            except ModuleNotFoundError as error:
                if error.name != f"{__name__}.{name}":
                    raise
        found = _attribute(name)
        if "numpy" in sys.modules:
            # Who has an instance solves it next, and this takes longer than the shortest time limits.
            import_module("pytsp.api.solve")
        return found

    def __dir__() -> list[str]:
        return sorted({*_names(), *__all__})
