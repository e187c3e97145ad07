"""Sections of a TSPLIB file → checked arrays: points, permutations, matrices."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from pytsp.io.tsplib.lexer import Section

# A symmetric matrix read by columns is its mirror image read by rows, so that nine layouts are five.
LAYOUTS: Mapping[str, str] = {
    "FULL_MATRIX": "full",
    "UPPER_ROW": "upper",
    "LOWER_COL": "upper",
    "LOWER_ROW": "lower",
    "UPPER_COL": "lower",
    "UPPER_DIAG_ROW": "upper with diagonal",
    "LOWER_DIAG_COL": "upper with diagonal",
    "LOWER_DIAG_ROW": "lower with diagonal",
    "UPPER_DIAG_COL": "lower with diagonal",
}
"""TSPLIB's names of the parts of a symmetric matrix that a file may hold, and the part, row by row."""

_AXES = {2: "x y", 3: "x y z"}


def points(section: Section, n: int, width: int) -> NDArray[np.float64]:
    """Coordinates from lines ``node x y``, shape (n, width), in the order of the nodes; read-only."""
    values = section.numbers()
    stride = width + 1
    odd = section.first_line_without(stride) if len(values) % stride else None
    if odd is not None:
        raise section.text.error(
            f"{section.keyword}: expected {stride} numbers in this line, as before: node {_AXES[width]}", odd
        )
    _check_count(section, values, n * stride, f"DIMENSION {n} needs {n * stride} = {n} × (node {_AXES[width]})")
    rows = values.reshape(n, stride)
    result = np.empty((n, width))
    result[cities(section, rows[:, 0], stride) - 1] = rows[:, 1:]
    result.setflags(write=False)
    return result


def fixed_edges(section: Section, n: int) -> NDArray[np.int32] | None:
    """Fixed edges from lines ``node node``, up to a number -1 or the end, shape (m, 2), cities counted from 0; None
    where there are none."""
    values = section.numbers()
    ends = np.flatnonzero(values == -1)
    count = int(ends[0]) if ends.size else len(values)
    if ends.size and count + 1 < len(values):
        raise section.error_at(count + 1, "{} stands behind -1, which ends the fixed edges")
    if count % 2:
        raise section.error_at(count - 1, "{} is the first node of a fixed edge without a second one")
    nodes = values[:count]
    wrong = (nodes < 1) | (nodes > n) | (nodes != np.floor(nodes))
    if wrong.any():
        raise section.error_at(
            int(np.argmax(wrong)), f"{{}} is not a node number; accepted: 1 … {n}, and -1 at the end"
        )
    edges = nodes.reshape(-1, 2).astype(np.int32) - 1
    return edges if len(edges) else None


def cities(section: Section, values: NDArray[np.float64], stride: int = 1) -> NDArray[np.int64]:
    """The numbers 1 … n in any order, each once; `stride` numbers of the section belong to each."""
    n = len(values)
    wrong = (values < 1) | (values > n) | (values != np.floor(values))
    if wrong.any():
        where = int(np.argmax(wrong)) * stride
        raise section.error_at(where, f"{{}} is not a node number; accepted: 1 … {n}")
    result = values.astype(np.int64)
    visits = np.bincount(result, minlength=n + 1)[1:]
    if visits.max() > 1:
        again = np.ones(n, dtype=np.bool_)
        again[np.unique(result, return_index=True)[1]] = False
        where = int(np.argmax(again)) * stride
        missing = int(np.argmin(visits)) + 1
        raise section.error_at(where, f"node {{}} is given twice, and node {missing} is missing")
    return result


def matrix(section: Section, layout: str, n: int, may_be_asymmetric: bool) -> NDArray[np.int64]:
    """The matrix of which the section holds the part `layout`; read-only, with zeros for what its diagonal holds."""
    values = section.numbers()
    part = LAYOUTS[layout]
    count = n * n if part == "full" else n * (n + 1) // 2 if "diagonal" in part else n * (n - 1) // 2
    _check_count(section, values, count, f"DIMENSION {n} needs {count} as {layout}")
    # A weight of 2**53 or more may have been rounded when it became a float64.
    inexact = (values != np.floor(values)) | (np.abs(values) >= 2.0**53)
    if inexact.any():
        raise section.error_at(
            int(np.argmax(inexact)),
            "weight {} is not an integer below 2**53; Instance.from_matrix keeps fractional distances",
        )
    weights = values.astype(np.int64)
    result = _unfolded(weights, part, n)
    if result.min() < 0:
        i, j = np.argwhere(result < 0)[0]
        # The same unfolding of 0, 1, 2, … tells which number of the section an element comes from.
        where = int(_unfolded(np.arange(count), part, n)[i, j])
        raise section.error_at(where, "weight {} is negative; accepted: 0, 1, 2, …")
    if not may_be_asymmetric and not np.array_equal(result, result.T):
        i, j = (int(k) for k in np.argwhere(result != result.T)[0])
        raise section.error_at(
            j * n + i,
            f"the matrix is not symmetric: row {j + 1}, column {i + 1} is {{}}, "
            f"but row {i + 1}, column {j + 1} is {result[i, j]}; TYPE ATSP takes it",
        )
    result.setflags(write=False)
    return result


def _unfolded(values: NDArray[np.int64], part: str, n: int) -> NDArray[np.int64]:
    """The (n, n) matrix whose `part` is `values`, row by row, mirrored; with zeros on its diagonal."""
    result: NDArray[np.int64]
    if part == "full":
        result = values.reshape(n, n).copy()
        np.fill_diagonal(result, 0)
        return result
    is_upper, has_diagonal = part.startswith("upper"), part.endswith("diagonal")
    below = np.tri(n, k=-1 if is_upper == has_diagonal else 0, dtype=np.bool_)
    half = np.zeros((n, n), dtype=np.int64)
    half[~below if is_upper else below] = values
    np.fill_diagonal(half, 0)
    result = half + half.T
    return result


def _check_count(section: Section, values: NDArray[np.float64], count: int, need: str) -> None:
    held = len(values)
    if held > count:
        raise section.error_at(count, f"{{}} is one number too many: {held} are given, but {need}")
    if held == 0 and count > 0:
        raise section.error(f"{section.keyword} holds no numbers, but {need}")
    if held < count:
        raise section.error_at(held - 1, f"ends too early, after {{}}: {held} numbers are given, but {need}")
