"""State of a solver in a checkpoint: values that are checked when they are read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

import numpy as np
from numpy.typing import DTypeLike, NDArray

from pytsp.exceptions import CheckpointError

T = TypeVar("T")


class State:
    """A part of a checkpoint: what a `file` holds at a `place`, both named in messages.

    A file with a checksum that fits may still be another's work, and kernels look at tours without a check. So each
    value is asked for with its bounds, and `CheckpointError` says where one is not within them.
    """

    def __init__(self, values: Mapping[str, Any], file: str, place: str = "") -> None:
        self._values = values
        self._file = file
        self._place = place

    @property
    def all(self) -> Mapping[str, Any]:
        """The values as the checkpoint holds them."""
        return self._values

    def __contains__(self, name: str) -> bool:
        return self._values.get(name) is not None

    def whole(self, name: str, least: int = 0, most: int = 2**62) -> int:
        value = self._get(name)
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            raise self.wrong(name, f"a whole number from {least} to {most}", value)
        return value

    def number(self, name: str) -> float:
        """Return a number that is at least 0."""
        value = self._get(name)
        if isinstance(value, bool) or not isinstance(value, int | float) or not value >= 0:
            raise self.wrong(name, "a number, at least 0", value)
        return value

    def optional_whole(self, name: str) -> int | None:
        return self.whole(name) if name in self else None

    def flag(self, name: str) -> bool:
        return self._typed(name, bool, "true or false")

    def items(self, name: str) -> list[Any]:
        return self._typed(name, list, "a list")

    def text(self, name: str) -> str:
        return self._typed(name, str, "a text")

    def one_of(self, name: str, known: tuple[str, ...]) -> str:
        text = self.text(name)
        if text not in known:
            raise self.wrong(name, f"one of {', '.join(known)}", text)
        return text

    def part(self, name: str) -> State:
        """Return the values within one of this part's."""
        return State(self._typed(name, dict, "a group of values"), self._file, f"{self._place}{name}.")

    def parts(self, name: str, count: int | None = None) -> list[State]:
        """Return the values within each item of a list of this part's; there must be `count` of them, if given."""
        items = self.items(name)
        if count not in (None, len(items)) or not all(isinstance(item, dict) for item in items):
            raise self.wrong(name, f"a list of {'' if count is None else f'{count} '}groups of values", items)
        return [State(item, self._file, f"{self._place}{name}.{number}.") for number, item in enumerate(items)]

    def any(self, name: str) -> Any:
        """Return a value that its user checks."""
        return self._values.get(name)

    def array(self, name: str, dtype: DTypeLike, shape: tuple[int | None, ...]) -> NDArray[Any]:
        """Return an array; None in its shape stands for any length."""
        value = self._get(name)
        is_fit = isinstance(value, np.ndarray) and value.dtype == dtype and value.ndim == len(shape)
        if not is_fit or any(wanted not in (None, given) for wanted, given in zip(shape, value.shape, strict=True)):
            raise self.wrong(name, f"an array of {np.dtype(dtype)} with shape {shape}", value)
        return value  # type: ignore[no-any-return]

    def tour(self, name: str, n: int) -> NDArray[np.int32]:
        tour = self.array(name, np.int32, (n,))
        self._check_tours(name, tour[None, :])
        return tour

    def tours(self, name: str, n: int, count: int | None = None) -> NDArray[np.int32]:
        """Return tours, one a row."""
        tours = self.array(name, np.int32, (count, n))
        self._check_tours(name, tours)
        return tours

    def keys(self, name: str, n: int) -> NDArray[np.int64]:
        """Return what each of n positions proposes: none, or a gain and, in the low half, one of n positions."""
        keys = self.array(name, np.int64, (n,))
        low = keys & (2**32 - 1)
        if np.any((keys > 0) & ((low < 1) | (low > n))):
            raise self.wrong(name, f"proposals of {n} positions", keys)
        return keys

    def _check_tours(self, name: str, tours: NDArray[np.int32]) -> None:
        cities = np.arange(tours.shape[1])
        for row in tours:
            if not np.array_equal(np.sort(row), cities):
                raise self.wrong(name, f"tours of {tours.shape[1]} cities", row)

    def _get(self, name: str) -> Any:
        if name not in self._values:
            raise CheckpointError(f"{self._file}: the checkpoint has no {self._place}{name}")
        return self._values[name]

    def _typed(self, name: str, kind: type[T], expected: str) -> T:
        value = self._get(name)
        if not isinstance(value, kind):
            raise self.wrong(name, expected, value)
        return value

    def wrong(self, name: str, expected: str, value: object) -> CheckpointError:
        """Return the error that says what a value must be."""
        given = f"an array of {value.dtype} with shape {value.shape}" if isinstance(value, np.ndarray) else repr(value)
        return CheckpointError(f"{self._file}: {self._place}{name} of the checkpoint must be {expected}; it is {given}")
