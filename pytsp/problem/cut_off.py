"""Cities whose ways are all forbidden: every tour has forbidden edges, most likely by a mistake in the data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytsp.problem.instance import Instance
from pytsp.problem.instances import Instances
from pytsp.problem.validation import FORBIDDEN
from pytsp.utils.notices import some_of, warn_user

# Elements of a row that are checked first: most cities have an edge among them.
_FEW = 32
# Elements of rows that are compared together.
_BLOCK = 1 << 20


def warn_of_cut_off(instances: Sequence[Instance], *, is_open: bool = False) -> None:
    """Warn of instances with cities whose ways are all forbidden, by the names of these cities."""
    # Coordinates forbid nothing.
    for instance in () if isinstance(instances, Instances) else instances:
        cities = cut_off_cities(instance, is_open=is_open)
        if len(cities):
            noun, both = ("path", "and") if is_open else ("tour", "or")
            ways = f"to {both} from" if instance.asymmetric else "of"
            named = some_of(instance.names_of(cities))
            warn_user(
                f"{instance.name or 'instance'}: every {noun} has forbidden edges, since all ways {ways} {len(cities)} "
                f"of {instance.n} cities are forbidden: {named}"
            )


def cut_off_cities(instance: Instance, *, is_open: bool = False) -> NDArray[np.int64]:
    """Return the cities that have no way to any other, or none from any other; for an open path both.

    Work: O(n) where most ways are allowed, at most O(n²).
    """
    if instance.matrix is None or instance.n < 2:
        return np.empty(0, dtype=np.int64)
    without = _without_way(instance.matrix)
    if not instance.asymmetric:
        return without
    to_them = _without_way(instance.matrix.T)
    return np.intersect1d(without, to_them) if is_open else np.union1d(without, to_them)


def _without_way(matrix: NDArray[Any]) -> NDArray[np.int64]:
    """Return the rows that forbid all but the diagonal."""
    n, forbidden = len(matrix), FORBIDDEN[matrix.dtype.kind]
    rows: NDArray[np.int64] = np.arange(n)
    for step in range(1, min(n, _FEW + 1)):
        rows = rows[matrix[rows, (rows + step) % n] == forbidden]
        if not rows.size:
            return rows
    blocks = np.array_split(rows, -(-len(rows) * n // _BLOCK))
    counts = [np.count_nonzero(matrix[block] == forbidden, axis=1) for block in blocks]
    rows = rows[np.concatenate(counts) == n - 1]
    return rows
