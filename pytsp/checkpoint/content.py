"""Content of a checkpoint that other packages make: an instance, and the lower bound of a solve."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytsp.problem.instance import Instance
from pytsp.problem.metrics import EXPLICIT
from pytsp.run.state_reader import State


@dataclass(frozen=True)
class Bounded:
    """Settings and state of the lower bound of a solve.

    `time_limit` is that of search and bound together. `lower_bound` is None where it is still to come; `near` is the
    length that is near enough to it.
    """

    time_limit: float | None
    lower_bound: int | float | None = None
    near: int | float | None = None

    @classmethod
    def restored(cls, state: State) -> Bounded:
        names = ("time_limit", "lower_bound", "near")
        return cls(*(state.number(name) if name in state else None for name in names))


def stored_instance(instance: Instance) -> dict[str, Any]:
    """Return an instance as a checkpoint holds it: coordinates, or a matrix below its diagonal in few bytes."""
    names = ("name", "metric", "coordinates", "n", "comment", "optimum", "display", "labels", "fixed")
    triangle = None if instance.matrix is None else _triangle(instance.matrix)
    return {**{name: getattr(instance, name) for name in names}, "triangle": triangle}


def instance_of(state: State) -> Instance:
    """Return the instance that a checkpoint holds."""
    n = state.whole("n", 1, 2**31 - 1)
    said: dict[str, Any] = {"name": state.text("name"), "comment": state.text("comment")}
    said |= {"optimum": state.any("optimum"), "display": state.any("display")}
    said["labels"] = tuple(map(str, state.items("labels"))) if "labels" in state else None
    said["fixed"] = state.array("fixed", np.int32, (None, 2)) if "fixed" in state else None
    if "triangle" in state:
        return Instance(metric=EXPLICIT, matrix=_matrix(state, n), **said)
    coordinates = state.array("coordinates", np.float64, (n, None))
    return Instance(metric=state.text("metric"), coordinates=coordinates, **said)


def _triangle(matrix: NDArray[Any]) -> NDArray[Any]:
    """Return what is below the diagonal, row by row."""
    dtype = np.dtype(np.float64) if matrix.dtype.kind == "f" else np.min_scalar_type(int(matrix.max()))
    triangle = np.empty(len(matrix) * (len(matrix) - 1) // 2, dtype=dtype)
    for row in range(len(matrix)):
        triangle[row * (row - 1) // 2 : row * (row + 1) // 2] = matrix[row, :row]
    return triangle


def _matrix(state: State, n: int) -> NDArray[Any]:
    """Return the matrix of what is below its diagonal."""
    given = state.any("triangle")
    triangle = state.array("triangle", given.dtype if isinstance(given, np.ndarray) else np.int64, (n * (n - 1) // 2,))
    matrix = np.zeros((n, n), dtype=np.float64 if triangle.dtype.kind == "f" else np.int64)
    for row in range(n):
        matrix[row, :row] = matrix[:row, row] = triangle[row * (row - 1) // 2 : row * (row + 1) // 2]
    return matrix
