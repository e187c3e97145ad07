"""Every exception that pytsp raises on purpose; all of them derive from `PytspError`. And `PytspWarning`."""

from __future__ import annotations

from functools import partial

__all__ = [
    "BackendError",
    "BackendUnavailable",
    "CheckpointError",
    "DatasetError",
    "DeviceMemoryError",
    "InstanceError",
    "InstanceNotFound",
    "KernelError",
    "PytspError",
    "PytspWarning",
    "TourError",
    "TsplibError",
    "WorkerLost",
]


class PytspError(Exception):
    """Base of every error that pytsp raises on purpose."""


class PytspWarning(UserWarning):
    """A request that is carried out, but is probably a mistake."""


class TsplibError(PytspError, ValueError):
    """A TSPLIB file, a tour file, or a compressed file that cannot be read.

    Parameters
    ----------
    problem : str
        What is wrong, with the offending text and what is accepted.
    file : str
        The file's name as the user gave it.
    line : int, optional
        The line, counted from 1, that the problem stands on.

    Attributes
    ----------
    file : str
    line : int or None
    """

    def __init__(self, problem: str, *, file: str, line: int | None = None) -> None:
        place = file if line is None else f"{file}:{line}"
        super().__init__(f"{place}: {problem}")
        self.problem = problem
        self.file = file
        self.line = line

    def __reduce__(self) -> tuple[object, ...]:
        # Pickle passes positional arguments only.
        return partial(TsplibError, file=self.file, line=self.line), (self.problem,)


class InstanceError(PytspError, ValueError):
    """Coordinates or distances that do not make a travelling-salesman instance, or not an accepted one."""


class InstanceNotFound(InstanceError, FileNotFoundError):
    """Neither a file nor the name of an instance."""


class TourError(PytspError, ValueError):
    """A sequence that does not visit every city of its instance exactly once."""


class DatasetError(PytspError):
    """A data set that cannot be downloaded, or is not what it should be."""


class CheckpointError(PytspError, ValueError):
    """A checkpoint that cannot be read, continued or begun."""


class BackendError(PytspError, RuntimeError):
    """A backend that failed; the subclasses say how."""


class BackendUnavailable(BackendError):
    """A backend that cannot run here: not built, no device, or no driver."""


class KernelError(BackendError):
    """An error raised inside a kernel; its text holds Futhark's backtrace."""


class DeviceMemoryError(BackendError):
    """A device with too little free memory for the request."""


class WorkerLost(PytspError, RuntimeError):
    """Workers that were lost with their tasks, more often than tasks are repeated."""
