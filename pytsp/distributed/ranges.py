"""Ranges of climbers that are over, or told so far: what they came to, and how adjoining ones become one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytsp.distributed.slices import Told
from pytsp.run.state_reader import State
from pytsp.solvers.common.incumbent import Best

__all__ = ["Range", "Ranges"]

COLUMNS = {"lengths": (np.int64,), "steps": (np.int32, np.int64), "done": (np.bool_,)}


@dataclass(frozen=True)
class Range:
    """What the climbers first, … came to: arrays of shape (climbers,), as `Found` has them."""

    first: int
    lengths: NDArray[np.int64]
    steps: NDArray[Any]
    done: NDArray[np.bool_]
    passes: NDArray[np.int32] | None

    @classmethod
    def of(cls, first: int, told: Told) -> Range:
        return cls(first, told.lengths, told.steps, told.done, told.passes)

    @classmethod
    def alone(cls, best: Best) -> Range:
        """Return the climber of a tour of which nothing else is known."""
        steps, done = np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.bool_)
        return cls(best.climber, np.array([best.length]), steps, done, None)

    @property
    def end(self) -> int:
        return self.first + len(self.lengths)

    @classmethod
    def joined(cls, ranges: Sequence[Range]) -> Range:
        """Return ranges that adjoin each other, in their order, as one."""
        if len(ranges) == 1:
            return ranges[0]
        passes = None
        if ranges[0].passes is not None:
            passes = np.concatenate([each.passes for each in ranges])
        lengths, steps, done = (np.concatenate([getattr(each, name) for each in ranges]) for name in COLUMNS)
        return cls(ranges[0].first, lengths, steps, done, passes)

    def state(self) -> dict[str, Any]:
        """Return it as a checkpoint holds it, for `restored`."""
        return vars(self)

    @classmethod
    def restored(cls, state: State, first: int, end: int) -> Range:
        """Return what a checkpoint holds, of climbers from first to end - 1."""
        begin = state.whole("first", first, end - 1)
        count = len(state.array("lengths", np.int64, (None,)))
        state.whole("first", first, end - count)
        columns = []
        for name, dtypes in COLUMNS.items():
            given = state.any(name)
            dtype = given.dtype if isinstance(given, np.ndarray) and given.dtype in dtypes else dtypes[0]
            columns.append(state.array(name, dtype, (count,)))
        passes = state.array("passes", np.int32, (count,)) if "passes" in state else None
        lengths, steps, done = columns
        return cls(begin, lengths, steps, done, passes)


class Ranges:
    """The ranges that are over, in order; each is copied few times while they become fewer."""

    def __init__(self, ranges: Iterable[Range] = ()) -> None:
        self._ranges: list[Range] = []
        self.climbers = 0
        for each in ranges:
            self.add(each)

    def add(self, added: Range) -> None:
        """Add a range, joined with smaller ones beside it."""
        self.climbers += len(added.lengths)
        ranges = self._ranges
        at = next((at for at, each in enumerate(ranges) if each.first > added.first), len(ranges))
        ranges.insert(at, added)
        while at > 0 and self._may_join(at - 1):
            at -= 1
            ranges[at : at + 2] = [Range.joined(ranges[at : at + 2])]
        while at + 1 < len(ranges) and self._may_join(at):
            ranges[at : at + 2] = [Range.joined(ranges[at : at + 2])]

    def _may_join(self, at: int) -> bool:
        one, other = self._ranges[at : at + 2]
        return one.end == other.first and max(len(one.lengths), len(other.lengths)) <= 2 * min(
            len(one.lengths), len(other.lengths)
        )

    def with_others(self, others: Iterable[Range]) -> list[Range]:
        """Return all ranges in order, with some that are not over."""
        return sorted([*self._ranges, *others], key=lambda each: each.first)

    def missing(self, first: int, end: int, taken: Iterable[tuple[int, int]] = ()) -> list[tuple[int, int]]:
        """Return the stretches of climbers, each a first one and one behind the last, that are in no range, nor among
        those that are `taken`."""
        found, at = [], first
        for begin, behind in sorted([*((each.first, each.end) for each in self._ranges), *taken]):
            if begin > at:
                found.append((at, begin))
            at = max(at, behind)
        return [*found, (at, end)] if at < end else found
