"""Data of other packages, by what they offer: Arrow's stream, DLPack, GeoJSON's interface, networkx's graphs.

None of their packages is imported, but for Arrow's stream, which pyarrow or polars reads.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytsp.exceptions import InstanceError
from pytsp.problem.instance import Instance

# DLPack's number of a CPU's memory.
_CPU = 1


class ArrowTable:
    """A table of pyarrow, with what data frames have that are read here."""

    def __init__(self, table: Any) -> None:
        self.columns: list[str] = list(table.column_names)
        self._columns = [table.column(place) for place in range(len(self.columns))]
        self._n = int(table.num_rows)

    def __len__(self) -> int:
        return self._n

    def __getitem__(self, label: Any) -> Any:
        """Return a column, or a table of some."""
        if not isinstance(label, list):
            return self._columns[self.columns.index(label)].to_numpy()
        some = object.__new__(ArrowTable)
        some.columns, some._n = label, self._n
        some._columns = [self._columns[self.columns.index(each)] for each in label]
        return some

    def to_numpy(self) -> NDArray[Any]:
        """Return all columns, shape (rows, columns); as objects, among them None, where a value is missing."""
        has_missing = any(each.null_count for each in self._columns)
        columns = [
            np.array(each.to_pylist(), dtype=object) if has_missing else each.to_numpy() for each in self._columns
        ]
        return np.column_stack(columns)


def has_arrow_table(data: Any) -> bool:
    """Tell whether data are a table of Arrow: a column alone is an array."""
    return hasattr(data, "__arrow_c_stream__") and (not hasattr(data, "__array__") or hasattr(data, "column_names"))


def arrow_table(data: Any) -> Any:
    """Return a table of Arrow as a data frame, by pyarrow or polars."""
    for package in ("pyarrow", "polars"):
        try:
            module = import_module(package)
        except ImportError:
            continue
        try:
            return ArrowTable(module.table(data)) if package == "pyarrow" else module.DataFrame(data)
        except (TypeError, ValueError, NotImplementedError) as error:
            raise InstanceError(f"{package} cannot read {_named(data)} as a table: {error}") from error
    raise TypeError(f"{_named(data)} is a table of Arrow, which pyarrow or polars reads; neither is installed")


def dlpack_array(data: Any) -> NDArray[Any]:
    """Return the array that data give by DLPack, without a copy; refuse the memory of another device."""
    device = data.__dlpack_device__()[0] if hasattr(data, "__dlpack_device__") else _CPU
    if device != _CPU:
        raise InstanceError(f"{_named(data)} is in the memory of another device; copy it to the CPU's first")
    try:
        return np.from_dlpack(data)
    except (TypeError, ValueError, RuntimeError, BufferError) as error:
        raise InstanceError(f"{_named(data)} cannot be read as an array: {error}") from error


def array_of_many(data: Any) -> NDArray[Any] | None:
    """Return the array of NumPy that data are, or give by DLPack, copied from another device; else None."""
    if isinstance(data, np.ndarray) or not hasattr(data, "__dlpack__"):
        return data if isinstance(data, np.ndarray) else None
    if data.__dlpack_device__()[0] == _CPU:
        return dlpack_array(data.detach() if hasattr(data, "detach") else data)
    # torch and CuPy copy by these, others where NumPy asks for it.
    for way in ("cpu", "get"):
        if hasattr(data, way):
            return array_of_many(getattr(data, way)())
    return np.asarray(data)


def geo_mapping(data: Any) -> Mapping[str, Any]:
    """Return the GeoJSON that data give by `__geo_interface__`."""
    document = data.__geo_interface__
    if not isinstance(document, Mapping):
        raise InstanceError(f"__geo_interface__ of {_named(data)} must be a mapping; it is a {type(document).__name__}")
    return document


def _named(data: Any) -> str:
    return f"a {type(data).__name__}"


def instance_of(G: Any, weight: str = "weight", *, name: str = "") -> Instance:
    """Return the instance of a complete graph of networkx: city i is the node ``list(G)[i]``.

    Of several edges between two nodes the shortest counts. If no edge has the attribute `weight`, all have length 1.
    The instance is exact if all weights are whole numbers, and asymmetric if a directed graph is.
    """
    numbers = {node: number for number, node in enumerate(G)}
    n = len(numbers)
    if n == 0:
        raise InstanceError("the graph has no nodes; an instance has at least one city")
    edges = [(u, v, length) for u, v, length in G.edges(data=weight) if u != v]
    without = [(u, v) for u, v, length in edges if length is None]
    if without and len(without) < len(edges):
        u, v = without[0]
        raise InstanceError(
            f"the edge from {u!r} to {v!r} has no {weight!r}, but others have; give all edges their length"
        )
    lengths = np.array([1] * len(edges) if without else [_number(*edge, weight) for edge in edges])
    joined = {(u, v) for u, v, _ in edges}
    if not G.is_directed():
        joined |= {(v, u) for u, v in joined}
    if len(joined) < n * (n - 1):
        u, v = next((u, v) for u in G for v in G if u != v and (u, v) not in joined)
        raise InstanceError(
            f"the graph has no edge from {u!r} to {v!r}; complete graphs are solved, others with "
            "networkx.approximation.traveling_salesman_problem(G, method=pytsp.networkx.solve)"
        )
    is_whole = lengths.dtype.kind == "i"
    matrix = np.full((n, n), np.iinfo(np.int64).max if is_whole else np.inf, np.int64 if is_whole else np.float64)
    sources = np.array([numbers[u] for u, _, _ in edges], dtype=np.int64)
    targets = np.array([numbers[v] for _, v, _ in edges], dtype=np.int64)
    np.minimum.at(matrix, (sources, targets), lengths)
    if not G.is_directed():
        matrix = np.minimum(matrix, matrix.T)
    np.fill_diagonal(matrix, 0)
    return Instance.from_matrix(matrix, name or str(getattr(G, "name", "")), asymmetric=True, labels=numbers)


def _number(u: Hashable, v: Hashable, length: Any, weight: str) -> int | float:
    if isinstance(length, bool | np.bool_) or not isinstance(length, int | float | np.integer | np.floating):
        law = "a number"
    elif not np.isfinite(float(length)) or abs(length) >= 2**63:
        law = "finite and below 2**63"
    else:
        return length.item() if isinstance(length, np.generic) else length
    raise InstanceError(f"the {weight!r} of the edge from {u!r} to {v!r} must be {law}; it is {length!r:.60}")
