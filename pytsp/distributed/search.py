"""A search whose parts other processes search, as the loop of all solvers sees it."""

from __future__ import annotations

import pickle
import time
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytsp.distributed.coordinator import Coordinator, Order
from pytsp.distributed.places import Place, Places
from pytsp.distributed.slices import Begin, Job, Range, Report, Slice, advance, plan
from pytsp.exceptions import KernelError
from pytsp.problem.tours import check_tour
from pytsp.run.result import Tasks
from pytsp.run.state_reader import State
from pytsp.solvers.common.incumbent import Best
from pytsp.solvers.common.loop import Found, Search
from pytsp.solvers.common.pacing import CALL_SECONDS
from pytsp.solvers.common.task import Plan, Task
from pytsp.utils.deadline import OutOfTime

# The seconds of a part's first slice, and of others.
FIRST_SECONDS, SLICE_SECONDS = 0.15, 0.6
# The last slice before a time limit may be this many times as long.
LAST_SLICES = 1.5
# Where any worker may have the next slice, one lasts this many times as long as it takes to begin, up to MOST_SECONDS.
TIMES_BEGUN, MOST_SECONDS = 8.0, 20.0
# The seconds between two states that are told, a byte: they take a twentieth of the time at most.
STATE_SECONDS_A_BYTE = 2e-7
# The most messages since the last state that was told.
MESSAGES = 16
# The relative error of lengths that are recomputed in floating-point numbers.
ROUNDING = 1e-9
# The fields of a report without which a result cannot be made.
FACTS = ("backend", "mapping", "phase", "k", "iterations", "exponent", "is_shortened")


@dataclass
class Part:
    """A search that goes on slice by slice: a range of climbers, an island, a stripe.

    `name` is for messages; one that `hears` may go on with a message after it has finished, and one that `is_short`
    should be over after a slice. `reported` is the outcome of the last slice, the others the last that was told.
    The state is that after `state_version` of `version` slices; `messages` came since, of which its search has not
    heard the `unheard`. `home` is the place that has the search. Nothing is left but the last descent if it
    `ends`.
    """

    key: str
    name: str
    begin: Begin
    arguments: Any = None
    options: Mapping[str, Any] = field(default_factory=dict)
    hears: bool = False
    is_short: bool = False
    reported: Report | None = None
    best: Best | None = None
    climbers: Range | None = None
    iteration: int | None = None
    state: bytes | None = None
    state_version: int = 0
    state_at: float = 0.0
    version: int = 0
    seconds: float = 0.0
    reason: str | None = None
    home: str = ""
    ends: bool = False
    unheard: list[Any] = field(default_factory=list)
    messages: list[Any] = field(default_factory=list)

    def take(self, reported: Report) -> None:
        """Take the outcome of a slice."""
        self.version += 1
        self.seconds += reported.seconds
        self.reported, self.reason, self.unheard = reported, reported.reason, []
        self.best, self.climbers = reported.best or self.best, reported.climbers or self.climbers
        self.iteration = self.iteration if reported.iteration is None else reported.iteration
        if reported.state is not None:
            self.state, self.state_version, self.state_at = reported.state, self.version, time.perf_counter()
            self.messages = []

    def hear(self, message: Any) -> None:
        """Have the search go on with a message."""
        self.unheard.append(message)
        self.messages.append(message)

    def stored(self) -> dict[str, Any]:
        """Return the part as a checkpoint holds it."""
        state, climbers = pickle.loads(self.state) if self.state else None, self.climbers
        reported = {"iteration": self.iteration, "climbers": None if climbers is None else dict(vars(climbers))}
        numbers = {"first": self.options.get("first", 0), "count": self.options.get("climbers", 1)}
        return {"key": self.key, "state": state, **numbers, **reported}

    def restore(self, state: State) -> None:
        """Take what a checkpoint holds."""
        self.state = pickle.dumps(state.part("state").all, protocol=5) if "state" in state else None
        self.iteration = state.optional_whole("iteration")
        self.climbers = Range.restored(state.part("climbers")) if "climbers" in state else None


class PartedSearch(Search):
    """A search that owns other searches, its parts, and has them go on at some places; it calls no kernel itself.

    The kernels of the task are not opened. `placement` has the backend, threads and device that were asked for.
    """

    kind: str
    """The name of such searches in a checkpoint."""
    # The best of all parts, with its length as users see it.
    best: Best | None = None
    length: int | float = float("inf")

    def __init__(self, task: Task[Any], places: Places, placement: Mapping[str, Any]) -> None:
        # Not that of `Search`, which loads the instance onto a device.
        self.task, self.watch = task, task.watch
        shared = (task.options, task.seed, task.initial_tour, dict(placement), task.quick_tour, task.is_doubled)
        self.job = Job(task.instance, *shared)
        self.coordinator = Coordinator(places, self.job)
        # All parts that are not over, and those that wait for a place.
        self.parts: dict[str, Part] = {}
        self.waiting: list[Part] = []
        # The outcome of the last slice of all.
        self.last = Report()
        # Whether nothing new begins.
        self.is_ending = False
        # The state before a last descent, from which iterations go on.
        self._kept_state: dict[str, Any] | None = None
        state = self.watch.state
        self._stored = {} if state is None or "parts" not in state else self._recall(state)

    def planned(self) -> Plan:
        """Return the plan of the solve, from the checkpoint or from a worker, or raise `OutOfTime`."""
        if self.watch.state is not None:
            return Plan.restored(self.watch.state.part("plan"))
        places = self.coordinator.places.current()
        ask = len(places), self.watch.time_limit, self.watch.seconds
        self.coordinator.give(places[0], Order("the plan of the solve", plan, ask))
        heard: list[tuple[Order, Plan]] = []
        while not heard:
            if self.watch.seconds_left <= 0:
                self.coordinator.end(0.0)
                raise OutOfTime
            heard = self.coordinator.wait(CALL_SECONDS)
        return heard[0][1]

    @property
    def resolution(self) -> float:
        return 0.0 if self.task.instance.is_exact else float(np.ldexp(1.0, self.last.exponent))

    @property
    def phase(self) -> str:  # type: ignore[override]
        return self.last.phase

    @property
    def backend_name(self) -> str:
        return self.last.backend

    @property
    def iterations(self) -> int | None:  # type: ignore[override]
        return self.last.iterations

    @property
    def workers(self) -> int:
        return len(self.coordinator.places.current())

    @property
    def tasks(self) -> Tasks:
        return Tasks(**self.coordinator.counts)

    @property
    def going(self) -> list[Part]:
        """The parts that go on."""
        return [part for part in self.parts.values() if part.reason is None]

    @property
    def are_cut(self) -> bool:
        """True if a time limit has cut parts short."""
        return any(part.reason == "time limit" for part in self.parts.values())

    def stop_reason(self) -> str | None:
        reason = self.watch.stop_reason() if self.has_begun else None
        return "time limit" if reason is None and self.are_cut else reason

    def add(self, part: Part) -> None:
        """Let a part go on, from where a checkpoint says that it was."""
        if part.key in self._stored:
            part.restore(self._stored.pop(part.key))
        part.reason = None
        self.parts[part.key] = part
        self.waiting.append(part)

    def next_part(self, place: Place) -> Part | None:
        """Return the part that goes on at a place: the one that waits the longest and has its search there or nowhere,
        or else can go on from its state."""
        places = {each.name for each in self.coordinator.places.current()}
        near = [part for part in self.waiting if part.home in ("", place.name)]
        movable = [part for part in self.waiting if part.version == part.state_version or part.home not in places]
        if not near and not movable:
            return None
        part = (near or movable)[0]
        self.waiting.remove(part)
        return part

    def advance(self) -> None:
        self.go_on(min(CALL_SECONDS, max(0.0, self.watch.seconds_left)))

    def go_on(self, seconds: float) -> None:
        """Give a slice to each free place, and take what is told in some seconds."""
        for place in self.coordinator.free():
            part = self.next_part(place)
            if part is not None:
                self._give(place, part)
        if not self.coordinator.running:
            # Nobody is there; workers may come.
            time.sleep(seconds)
        self._hear(self.coordinator.wait(seconds))

    def end_parts(self, seconds: float) -> None:
        """Have the parts that have begun make their last descents, as far as they do in some seconds."""
        end, self.is_ending = self.watch.seconds + seconds, True
        self.waiting = [part for part in self.waiting if part.reported is not None]
        for part in self.going:
            part.ends = True
        while (self.waiting or self.coordinator.running) and self.watch.seconds < end:
            self.go_on(CALL_SECONDS)

    def _give(self, place: Place, part: Part) -> None:
        """Send the next slice of a part to a place, with its state where its search is elsewhere, or nowhere."""
        is_new = part.version == 0 or part.home != place.name
        if is_new:
            part.version = part.state_version
        reported, watch = part.reported, self.watch
        seconds = FIRST_SECONDS if part.version == 0 and not part.is_short else SLICE_SECONDS
        if reported is not None and not place.is_sticky:
            seconds = min(MOST_SECONDS, max(seconds, TIMES_BEGUN * reported.began_seconds))
        if watch.seconds_left < LAST_SLICES * seconds:
            # The last descent belongs to the slice that meets the limit: a short one behind this might not be begun.
            seconds = watch.seconds_left + SLICE_SECONDS
        size = None if part.state is None or not place.is_sticky else len(part.state)
        ask = Slice(
            part=part.key,
            version=part.version,
            begin=part.begin,
            start=(part.arguments, part.state) if is_new else None,
            options=part.options,
            seconds=seconds,
            time_limit=None if watch.time_limit is None else watch.time_limit - watch.reserve,
            spent=watch.seconds,
            known=None if part.best is None else (part.best.length, part.best.climber),
            keeps=size is None
            or len(part.messages) > MESSAGES
            or time.perf_counter() - part.state_at > STATE_SECONDS_A_BYTE * size,
            ends=part.ends,
            messages=[*(part.messages if is_new else part.unheard)],
            ending=self.coordinator.ending,
        )
        self.coordinator.give(place, Order(part.name, advance, ask, part))

    def _hear(self, heard: list[tuple[Order, Any]]) -> None:
        """Take the outcomes of slices."""
        for order, reported in heard:
            part: Part = order.owner
            if reported is None:
                # Its search is lost; it goes on from the last state.
                part.home = ""
                self.waiting.insert(0, part)
                continue
            part.home = order.place.key
            part.take(reported)
            self.last = reported if reported.backend else self.last
            if part.reason is None:
                self.waiting.append(part)
            elif part.reason == "finished" and not part.hears:
                del self.parts[part.key]
            self.take(part, reported)

    def take(self, part: Part, reported: Report) -> None:
        """Take a part's best tour, if none is better; of equals the last one of the smallest climber."""
        best, now = reported.best, self.best
        if best is not None and (now is None or (best.length, best.climber) <= (now.length, now.climber)):
            self.best, self.length = best, reported.length

    def state(self) -> dict[str, Any]:
        return self._kept_state or self._state()

    def keep_state(self) -> None:
        """Write the state of this moment into the last checkpoint."""
        if self.watch.checkpoint is not None and self._kept_state is None:
            self._kept_state = self._state()

    def _state(self) -> dict[str, Any]:
        best: dict[str, Any] = {}
        if self.best is not None and self.last.backend:
            facts = {name: getattr(self.last, name) for name in FACTS}
            best = {"best": self.best.state(), "length": self.length, "facts": facts}
        return {
            "parts": self.kind,
            **best,
            "going": [part.stored() for part in self.parts.values() if part.state is not None],
            **self.own_state(),
        }

    @abstractmethod
    def own_state(self) -> dict[str, Any]:
        """Return the state of the search besides that of its parts."""

    def _recall(self, state: State) -> dict[str, State]:
        """Take what a checkpoint holds of the best tour, and return what it holds of parts."""
        if "best" in state:
            self.best = Best.restored(state.part("best"), self.task.instance.n)
            self.length = state.number("length")
            said = state.part("facts")
            facts: dict[str, Any] = {name: said.text(name) for name in ("backend", "mapping", "phase")}
            facts |= {name: said.optional_whole(name) for name in ("k", "iterations")}
            facts |= {"exponent": said.whole("exponent", -(2**12), 2**12), "is_shortened": said.flag("is_shortened")}
            self.last = Report(**facts)
        return {each.text("key"): each for each in state.parts("going")}

    def found(self) -> Found:
        # At a time limit parts end by themselves, by clocks that differ a little: a signal might cost a last descent.
        self._hear(self.coordinator.end(is_reported=self.stop_reason() != "time limit"))
        return self.gathered()

    def gathered(self) -> Found:
        """Return the results of all parts, as far as they are known."""
        best = self.best
        assert best is not None
        nobody = Range(best.climber, np.array([best.length]), np.zeros(1, np.int64), np.zeros(1, np.bool_))
        found = Range.joined(self.known() or [nobody])
        return Found(best, found.lengths, found.steps, found.done, found.passes, self.last.k, self.last.mapping)

    def known(self) -> list[Range]:
        """Return the results of climbers, in their order."""
        return [part.climbers for part in self.parts.values() if part.climbers is not None]

    def checked(self, found: Found) -> tuple[NDArray[np.int32], int | float, NDArray[Any]]:
        last, instance = self.last, self.task.instance
        tour = check_tour(found.best.tour, instance.n)
        length = instance.tour_length(tour)
        is_near = isinstance(length, float) and abs(length - self.length) <= ROUNDING * abs(length)
        if length != self.length and not is_near:
            raise KernelError(
                f"a worker on backend {last.backend} reports length {self.length} for the tour of climber "
                f"{found.best.climber} of seed {self.task.seed}, but its length is {length}: its kernels are "
                "miscompiled; please report this"
            )
        lengths: NDArray[Any] = found.lengths
        if last.exponent or not instance.is_exact:
            lengths = np.ldexp(lengths.astype(np.float64), last.exponent)
        return tour, length, np.maximum(lengths, length) if last.is_shortened else lengths
