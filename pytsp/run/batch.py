"""Results of many instances, with all tours and lengths as arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from pytsp.run.result import Result

# Filler behind shorter tours if all tours are one array.
NO_CITY = -1


@dataclass(frozen=True, eq=False, repr=False)
class BatchResult(Sequence[Result]):
    """The results of many instances, in their order.

    A sequence of `Result`. Other packages take its tours by DLPack: ``torch.from_dlpack(batch)`` shares the memory of
    `to_numpy`.

    Attributes
    ----------
    results : tuple of Result
        Result of each solved instance.
    numbers : numpy.ndarray of int64, shape (len(results),)
        Numbers of these instances, counted from 0: all, unless some are invalid, or the call was stopped.
    failures : mapping of int to Exception
        Error of each instance without a result, by its number.

    Examples
    --------
    >>> from pytsp import solve_many
    >>> batch = solve_many([[[0, 0], [0, 1], [1, 1], [1, 0]], [[0, 0], [3, 0], [3, 4]]])
    >>> batch.lengths
    array([ 4., 12.])
    >>> batch.to_numpy()
    array([[ 0,  1,  2,  3],
           [ 0,  2,  1, -1]], dtype=int32)
    """

    results: tuple[Result, ...]
    numbers: NDArray[np.int64]
    failures: Mapping[int, Exception]

    @overload
    def __getitem__(self, which: int) -> Result: ...

    @overload
    def __getitem__(self, which: slice) -> BatchResult: ...

    def __getitem__(self, which: int | slice) -> Result | BatchResult:
        if isinstance(which, slice):
            return BatchResult(self.results[which], self.numbers[which], self.failures)
        return self.results[which]

    def __len__(self) -> int:
        return len(self.results)

    def __repr__(self) -> str:
        failed = f", {len(self.failures)} without a result" if self.failures else ""
        return f"BatchResult({len(self)} results{failed})"

    @property
    def tours(self) -> NDArray[np.int32] | list[NDArray[np.int32]]:
        """The best tours: an array of int32, shape (b, n), where all instances have as many cities, else a list."""
        if len({len(result.tour) for result in self.results}) <= 1:
            return self.to_numpy()
        return [result.tour for result in self.results]

    @property
    def lengths(self) -> NDArray[Any]:
        """The lengths of the best tours, shape (b,): int64, or float64 where one is not a whole number."""
        return np.array([result.length for result in self.results], dtype=None if self.results else np.float64)

    def to_numpy(self) -> NDArray[np.int32]:
        """Return the best tours as a new array, shape (b, n) for the most cities n; shorter ones are filled with -1."""
        longest = max((len(result.tour) for result in self.results), default=0)
        tours = np.full((len(self), longest), NO_CITY, dtype=np.int32)
        for row, result in zip(tours, self.results, strict=True):
            row[: len(result.tour)] = result.tour
        return tours

    def to_dataframe(self) -> Any:
        """Return a data frame of pandas with a row for each result: name, n, length, gap, seconds, iterations, solver,
        backend and stop_reason, by the number of the instance.

        Raises
        ------
        ImportError
            If pandas is not installed.
        """
        pandas = import_module("pandas")
        columns = {"name": [each.instance.name for each in self], "n": [each.instance.n for each in self]}
        fields = ("length", "gap", "seconds", "iterations", "solver", "backend", "stop_reason")
        facts = {name: [getattr(each, name) for each in self] for name in fields}
        return pandas.DataFrame({**columns, **facts}, index=pandas.Index(self.numbers, name="number"))

    def __dlpack__(self, **options: Any) -> Any:
        return self.to_numpy().__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.to_numpy().__dlpack_device__()
