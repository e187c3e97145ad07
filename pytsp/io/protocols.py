"""Data of other packages, by what they offer to everyone: Arrow's stream, DLPack, GeoJSON's interface.

None of their packages is imported, but for Arrow's stream, which pyarrow or polars reads.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytsp.exceptions import InstanceError

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


def is_projected(data: Any) -> bool:
    """Tell whether geometries say that their coordinates are those of a plane, not longitudes and latitudes."""
    return getattr(getattr(data, "crs", None), "is_geographic", True) is False


def _named(data: Any) -> str:
    return f"a {type(data).__name__}"
