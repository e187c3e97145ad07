"""The results of ranges of climbers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytsp.run.state_reader import State

COLUMNS = {"lengths": (np.int64,), "steps": (np.int32, np.int64), "done": (np.bool_,), "passes": (np.int32,)}


@dataclass(frozen=True)
class Range:
    """The results of climbers with numbers from `first` on: arrays of shape (climbers,), as `Found` has them."""

    first: int
    lengths: NDArray[np.int64]
    steps: NDArray[Any]
    done: NDArray[np.bool_]
    passes: NDArray[np.int32] | None = None

    @property
    def end(self) -> int:
        return self.first + len(self.lengths)

    @classmethod
    def joined(cls, ranges: Sequence[Range]) -> Range:
        """Return ranges as one, in the order given."""
        parts = {name: [getattr(each, name) for each in ranges] for name in COLUMNS}
        columns = {name: np.concatenate(part) for name, part in parts.items() if part[0] is not None}
        return ranges[0] if len(ranges) == 1 else cls(ranges[0].first, **columns)

    def __getstate__(self) -> dict[str, Any]:
        """Return the range with columns of as few bytes as their values need."""
        return {name: _narrow(value) if isinstance(value, np.ndarray) else value for name, value in vars(self).items()}

    def __setstate__(self, sent: dict[str, Any]) -> None:
        vars(self).update({name: _widen(*value) if isinstance(value, tuple) else value for name, value in sent.items()})

    @classmethod
    def restored(cls, state: State, first: int = 0, end: int = 2**62) -> Range:
        """Return the range that a checkpoint holds, of climbers from first to end - 1."""
        count = len(state.array("lengths", np.int64, (None,)))
        columns = {}
        for name in (name for name in COLUMNS if name != "passes" or name in state):
            dtypes: Sequence[Any] = COLUMNS[name]
            given = getattr(state.any(name), "dtype", None)
            columns[name] = state.array(name, next((each for each in dtypes if each == given), dtypes[0]), (count,))
        return cls(state.whole("first", first, end - count), **columns)


def _narrow(column: NDArray[Any]) -> tuple[np.dtype[Any], int, NDArray[Any]]:
    """Return the type and the length of a column, and its values in the smallest type, truth values as bits."""
    if column.dtype == np.bool_:
        return column.dtype, len(column), np.packbits(column)
    # A signed type that holds -1 - x holds x.
    least = min(int(column.min(initial=0)), -1 - int(column.max(initial=0)))
    return column.dtype, len(column), column.astype(np.min_scalar_type(least))


def _widen(dtype: np.dtype[Any], count: int, narrow: NDArray[Any]) -> NDArray[Any]:
    return (np.unpackbits(narrow, count=count) if dtype == np.bool_ else narrow).astype(dtype)


def join(ranges: Iterable[Range]) -> list[Range]:
    """Return ranges in order, with adjoining ones as one."""
    runs: list[list[Range]] = []
    for each in sorted(ranges, key=lambda each: each.first):
        if runs and runs[-1][-1].end == each.first:
            runs[-1].append(each)
        else:
            runs.append([each])
    return list(map(Range.joined, runs))


def missing(first: int, end: int, taken: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the stretches from first to end that lie in none of those that are taken; each has its end behind it."""
    found, at = [], first
    for begin, behind in sorted(taken):
        if begin > at:
            found.append((at, begin))
        at = max(at, behind)
    return [*found, (at, end)] if at < end else found
