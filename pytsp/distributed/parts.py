"""The parts of a solve as the coordinator sees them: which have slices, where they stand, and which are over."""

from __future__ import annotations

import pickle
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytsp.distributed.coordinator import Coordinator, Order
from pytsp.distributed.places import Place
from pytsp.distributed.slices import Begin, Job, Slice, Told, advance
from pytsp.run.monitor import Watch

__all__ = ["Part", "Parts"]

# How long a slice lasts: at first, and later. All of them end within a second of an order to stop.
FIRST_SECONDS, SLICE_SECONDS = 0.15, 0.6
# Slices up to which the rest of the time limit is one slice.
LAST_SLICES = 1.5
# If any worker may have the next slice, one lasts at least this multiple of the time to go on elsewhere, but
# no longer than this.
TIMES_BEGUN, MOST_SECONDS = 8.0, 20.0
# The seconds between two states that are told, a byte: so that they take a twentieth of the time at most.
STATE_SECONDS_A_BYTE = 2e-7
# Most bytes of messages that are kept since a state, in multiples of the state.
MESSAGES = 4


@dataclass
class Part:
    """An independent part of a solve: a range of climbers, an island, a stripe.

    Attributes
    ----------
    key : str
        What it is among all of the job.
    name : str
        As messages tell it.
    begin, options
        As a `Slice` has them.
    arguments : Any
        What `begin` takes besides its task.
    version : int
        How many slices it has had.
    state : bytes or None
        Where it stood after `state_version` slices.
    told : Told or None
        What was last told of it, with the tour that was told last as `tour`.
    seconds : float
        What its slices took.
    home : str or None
        The place that has its search.
    ends, is_quiet : bool
        As a `Slice` has them.
    rests : bool
        Whether it may go on after it has finished, with a message.
    message : Any
        What its search is told at the next slice; where it begins from a state, `arguments` say so.
    message_bytes : int
        The bytes of messages since the state that is known.
    is_one_slice : bool
        Whether it is expected to be over after its first slice.
    """

    key: str
    name: str
    begin: Begin
    arguments: Any = None
    options: Mapping[str, Any] = field(default_factory=dict)
    version: int = 0
    state: bytes | None = None
    state_version: int = 0
    state_at: float = 0.0
    told: Told | None = None
    tour: NDArray[np.int32] | None = None
    reason: str | None = None
    seconds: float = 0.0
    home: str | None = None
    ends: bool = False
    is_quiet: bool = False
    rests: bool = False
    message: Any = None
    message_bytes: int = 0
    is_one_slice: bool = False

    @property
    def best(self) -> tuple[int, int] | None:
        return None if self.told is None or self.tour is None else self.told.best

    def take(self, told: Told) -> None:
        """Take what a worker tells after a slice."""
        self.version += 1
        self.seconds += told.seconds
        if told.tour is not None:
            self.tour = told.tour
        self.told, self.reason, self.message = told, told.reason, None
        if told.state is not None:
            self.state, self.state_version, self.state_at = told.state, self.version, time.perf_counter()
        if told.reason == "finished" and not self.rests:
            # Where a limit has cut it short, it may go on yet.
            self.arguments = self.state = None

    def blob(self, version: int) -> bytes | None:
        """Return what a worker begins with, pickled; None where that version is not known any more."""
        if version != self.state_version:
            return None
        return pickle.dumps((self.arguments, self.state), protocol=5)

    def go_back(self) -> None:
        """Go back to the last state that is known, the search being gone."""
        self.version, self.home = self.state_version, None


class Parts:
    """The parts of a solve that are not over, and the places that they have.

    Parameters
    ----------
    coordinator : Coordinator
    job : Job
    watch : Watch
    """

    def __init__(self, coordinator: Coordinator, job: Job, watch: Watch) -> None:
        self.coordinator, self.job, self.watch = coordinator, job, watch
        self.waiting: list[Part] = []
        self.running: dict[str, Part] = {}
        # Those that a time limit has cut short.
        self.cut: list[Part] = []

    def add(self, part: Part) -> None:
        self.waiting.append(part)

    @property
    def unfinished(self) -> list[Part]:
        """All that may go on, those that a time limit has cut short, too."""
        return [*self.all, *self.cut]

    @property
    def all(self) -> list[Part]:
        """Those that go on."""
        return [*self.running.values(), *self.waiting]

    def go_on(
        self, seconds: float, more: Callable[[Place], Part | None] = lambda _: None, *, new_first: bool = False
    ) -> list[Part]:
        """Give each free place a slice, of a part that waits or one that `more` makes for the place, as `new_first`
        says; return the parts with a report within `seconds`."""
        for place in self.coordinator.free():
            part = (more(place) or self._next(place)) if new_first else (self._next(place) or more(place))
            if part is not None:
                self._give(place, part)
        if not self.coordinator.running:
            # Nobody is there; workers may come.
            time.sleep(seconds)
        return [part for each in self.coordinator.wait(seconds) if (part := self._take(*each)) is not None]

    def end(self, *, at_limit: bool = False) -> list[Part]:
        """Begin nothing more; return the parts of which something is told yet.

        At a time limit all parts end by themselves, by clocks that differ a little: who was told to end a moment before
        it would leave out the last descent.
        """
        ended = self.coordinator.end(is_told=not at_limit)
        return [part for each in ended if (part := self._take(*each)) is not None]

    def _next(self, place: Place) -> Part | None:
        """Return the part that goes on at a place: of those whose search is there or nowhere the one that waits the
        longest, else one that can go on from a state that is known."""
        for at, part in enumerate(self.waiting):
            if part.home in (None, place.name):
                return self.waiting.pop(at)
        for at, part in enumerate(self.waiting):
            if part.version == part.state_version or not self._exists(part.home or ""):
                return self.waiting.pop(at)
        return None

    def _exists(self, home: str) -> bool:
        return any(place.name == home for place in self.coordinator.places.current())

    def _give(self, place: Place, part: Part) -> None:
        told = part.told
        seconds = FIRST_SECONDS if part.version == 0 and not part.is_one_slice else SLICE_SECONDS
        if told is not None and not place.is_sticky:
            seconds = min(MOST_SECONDS, max(seconds, TIMES_BEGUN * told.began_seconds))
        if self.watch.seconds_left < LAST_SLICES * seconds:
            # The last descent belongs to the slice that meets the limit: a short one behind this might not be begun.
            seconds = self.watch.seconds_left + SLICE_SECONDS
        ask = Slice(
            job=self.job.key,
            part=part.key,
            version=part.version,
            begin=part.begin,
            options=part.options,
            seconds=seconds,
            time_limit=None if self.watch.time_limit is None else self.watch.time_limit - self.watch.reserve,
            spent=self.watch.seconds,
            known=part.best,
            keeps=self._keeps(place, part),
            ends=part.ends,
            is_quiet=part.is_quiet,
            message=part.message,
            ending=self.coordinator.ending,
        )
        part.home = place.name if place.is_sticky else None
        self.running[part.key] = part
        order = Order(part.name, advance, ask, ask.state_key, lambda: part.blob(ask.version), part)
        first = part.blob(0) if part.version == 0 else None
        self.coordinator.give(place, order, None if first is None else {ask.state_key: first})

    def _keeps(self, place: Place, part: Part) -> bool:
        if not place.is_sticky or part.state is None or part.message_bytes > MESSAGES * len(part.state):
            return True
        return time.perf_counter() - part.state_at > STATE_SECONDS_A_BYTE * len(part.state)

    def _take(self, order: Order, place: Place, value: Told | None) -> Part | None:
        part: Part = order.owner
        self.running.pop(part.key, None)
        if order.is_lost:
            part.go_back()
            self.waiting.insert(0, part)
            return None
        if value is None:
            part.reason = "time limit"
        else:
            part.take(value)
        if part.reason is None:
            self.waiting.append(part)
        elif part.reason == "time limit":
            self.cut.append(part)
        return part
