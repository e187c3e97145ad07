"""The compiled kernels by themselves, through futhark-ffi: entry points that take and return NumPy arrays.

The solvers call the same entry points through `open_backend`, which refuses what does not fit. Here nothing is refused:
futhark-ffi converts numbers as C does, so that 2**32 + 3 becomes 3.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytsp.backends.kind import PARTS, Found
from pytsp.backends.kinds import BACKENDS, KINDS, find
from pytsp.exceptions import BackendError, BackendUnavailable
from pytsp.utils.text import hint

if TYPE_CHECKING:
    from futhark_ffi import Futhark

__all__ = ["EntryPoint", "entry_points", "load"]


@dataclass(frozen=True)
class EntryPoint:
    """Types of an entry point.

    Attributes
    ----------
    name : str
    inputs : tuple of (str, str)
        The name and the type of each argument, as Futhark has them: "[][]i32" is a matrix of 32-bit integers, and a
        type with a name is a value that stays on the device.
    outputs : tuple of str
        The types of what it returns.
    """

    name: str
    inputs: tuple[tuple[str, str], ...]
    outputs: tuple[str, ...]

    def __str__(self) -> str:
        arguments = ", ".join(f"{name}: {kind}" for name, kind in self.inputs)
        return f"{self.name}({arguments}) -> {', '.join(self.outputs)}"


def load(backend: str = "c", part: str = PARTS[0]) -> Futhark:
    """Return the compiled kernels of a backend: a `futhark_ffi.Futhark`, with a context of its own.

    Its methods are the entry points; `from_futhark` makes a NumPy array of an array that one returned.

    Parameters
    ----------
    backend : str, optional
        "c", "multicore", or on a machine with a GPU "cuda" or "opencl".
    part : str, optional
        On a GPU the part of the kernels, by default that of random restarts; those of a CPU have all.

    Raises
    ------
    BackendError
        If there is no such backend or part.
    BackendUnavailable
        If it is not built, or cannot run here.
    """
    from futhark_ffi import Futhark  # noqa: PLC0415

    found = _found(backend, part)
    if not found.status.usable:
        status = found.status
        raise BackendUnavailable(f"backend {backend!r} cannot run here: {status.reason}; {status.remedy}")
    return Futhark(found.module)


def entry_points(backend: str = "c", part: str = PARTS[0]) -> dict[str, EntryPoint]:
    """Return the entry points of a backend that is built, by their names.

    Parameters
    ----------
    backend, part
        As of `load`; the backend need not be able to run here.

    Raises
    ------
    BackendError, BackendUnavailable
        As `load`.
    """
    manifest = _found(backend, part).manifest
    if not manifest:
        raise BackendUnavailable(f"backend {backend!r} is not built; run 'python build.py --backends {backend}'")
    return {
        name: EntryPoint(
            name,
            tuple((each["name"], each["type"]) for each in entry["inputs"]),
            tuple(each["type"] for each in entry["outputs"]),
        )
        for name, entry in manifest["entry_points"].items()
    }


def _found(backend: str, part: str) -> Found:
    if backend not in KINDS:
        raise BackendError(f"backend {backend!r} is not known; known: {', '.join(BACKENDS)}{hint(backend, BACKENDS)}")
    if part not in PARTS:
        raise BackendError(f"part {part!r} of the kernels is not known; known: {', '.join(PARTS)}{hint(part, PARTS)}")
    return find(KINDS[backend], part)
