"""Climbers by ranges, of solvers whose climbers know nothing of each other; else the whole solve as one part."""

from __future__ import annotations

import math
import pickle
from collections.abc import Mapping
from importlib import import_module
from typing import Any

from pytsp.distributed.places import Place, Places
from pytsp.distributed.search import Part, PartedSearch
from pytsp.distributed.slices import Range, Report, join, missing
from pytsp.solvers.common.loop import Search
from pytsp.solvers.common.task import Plan, Task
from pytsp.solvers.registry import MODULES

# The solvers whose climbers go on by themselves, and what messages call them.
NOUNS = {"restarts": "climbers", "ils": "climbers", "annealing": "chains", "ants": "colonies"}
# The ranges of a place where all climbers go on together.
RANGES_A_PLACE = 2
# The seconds of a range of random restarts, and of the last ones.
RANGE_SECONDS, LEAST_SECONDS = 0.5, 0.03
# The most times that a range of random restarts is as large as the one before.
MOST_GROWTH = 8
# The most ranges that are over before adjoining ones are joined.
MOST_RANGES = 64


def begin_solver(task: Task[Any], _: object) -> Search:
    """Begin the search of a part as its solver does."""
    search: Search = import_module(MODULES[task.options.name]).begin(task)
    return search


class Climbers(PartedSearch):
    """The climbers of one solve; the parameters are those of `PartedSearch`."""

    kind = "climbers"

    def __init__(self, task: Task[Any], places: Places, placement: Mapping[str, Any]) -> None:
        super().__init__(task, places, placement)
        options, state = task.options, task.watch.state
        # True if climbers are counted: random restarts make no iterations.
        self.counts_climbers = options.name == "restarts"
        self.first = getattr(options, "first", 0)
        are_together = getattr(options, "exchange", None) is not None or getattr(options, "merge", False)
        # A solve that began as a whole goes on as a whole.
        self.is_cut = options.name in NOUNS and not are_together and (state is None or "plan" in state)
        self.plan = self.planned() if self.is_cut else Plan(1, 1)
        end = self.first + self.plan.climbers
        # The results of ranges that are over, their iterations, and the stretches of climbers that somebody has.
        self.over: list[Range] = []
        self.made = 0
        taken: list[tuple[int, int]] = []
        # The climbers of random restarts that a place brings to their optima in a second, and those of its last range.
        self.speeds: dict[str, float] = {}
        self.sizes: dict[str, int] = {}
        if state is not None and "parts" in state:
            self.made = state.whole("made")
            most = end if self.is_cut else 2**62
            self.over = [Range.restored(each, self.first, most) for each in state.parts("over")]
            taken = [(each.first, each.end) for each in self.over]
            for said in list(self._stored.values()):
                first, count = said.whole("first", self.first, most - 1), said.whole("count", 1, 2**40)
                self.add(self._part(first, count))
                taken.append((first, first + count))
        self.left = missing(self.first, end, taken) if self.is_cut else []
        if not self.is_cut and not self.parts and not self.over:
            self.add(self._part(0, 1))
            if state is not None and "parts" not in state:
                # That of a solve in one process.
                self.parts["all"].state = pickle.dumps(state.all, protocol=5)

    @property
    def iteration(self) -> int | None:
        """The least of all ranges that go on."""
        made = [part.iteration for part in self.parts.values() if part.iteration is not None]
        return None if self.counts_climbers else min(made, default=self.made)

    @property
    def climbers(self) -> int:
        return self.plan.climbers if self.is_cut else sum(len(each.lengths) for each in self.known())

    @property
    def climbers_done(self) -> int:
        going = sum(int(each.done.sum()) for each in super().known())
        return going + sum(len(each.lengths) for each in self.over) if self.counts_climbers else 0

    @property
    def is_finished(self) -> bool:
        return not self.left and not self.parts

    def next_part(self, place: Place) -> Part | None:
        if self.counts_climbers:
            return super().next_part(place) or self._new_part(place)
        return self._new_part(place) or super().next_part(place)

    def _new_part(self, place: Place) -> Part | None:
        """Return a range of climbers that nobody has had, of the size that suits the place."""
        if not self.left or self.is_ending:
            return None
        (first, end), *others = self.left
        count = min(end - first, self._size(place))
        self.left = [(first + count, end), *others] if first + count < end else others
        part = self._part(first, count)
        part.is_short = self.counts_climbers and place.key in self.speeds
        self.parts[part.key] = part
        return part

    def _part(self, first: int, count: int) -> Part:
        """Return some climbers, or the whole solve where it is not cut."""
        if not self.is_cut:
            return Part("all", "the whole solve", begin_solver)
        options = {**self.plan.options, "first": first, "climbers": count}
        name = f"{NOUNS[self.task.options.name]} {first} to {first + count - 1}"
        return Part(f"{first}+{count}", name, begin_solver, options=options)

    def _size(self, place: Place) -> int:
        """Choose the size of a range: random restarts end within a slice, others go on all together."""
        places, busy = len(self.coordinator.places.current()), self.plan.busy
        if not self.counts_climbers:
            # A time limit finds all of them at work, so that all make their last descent.
            ranges = places * (RANGES_A_PLACE if self.watch.time_limit is None else 1)
            share, most = (math.ceil(self.plan.climbers / count) for count in (ranges, places))
            return max(1, min(max(busy, share), most))
        speed, size = self.speeds.get(place.key, 0.0), busy
        if place.key in self.sizes:
            size = max(busy, min(int(RANGE_SECONDS * speed), MOST_GROWTH * self.sizes[place.key]))
        # The last ranges are small, so that all places end at about the same time.
        left = sum(end - first for first, end in self.left)
        size = min(size, max(busy, int(LEAST_SECONDS * speed), math.ceil(left / (2 * places))))
        self.sizes[place.key] = size
        return size

    def take(self, part: Part, reported: Report) -> None:
        super().take(part, reported)
        if part.climbers is None:
            return
        self.speeds[part.home] = max(1, int(part.climbers.done.sum())) / max(part.seconds, 1e-6)
        if part.reason == "finished":
            self.over.append(part.climbers)
            self.made = max(self.made, part.iteration or 0)
            if len(self.over) > MOST_RANGES:
                self.over = join(self.over)

    def needs_descent(self, stop_reason: str) -> bool:
        """Return whether an iterated local search that was stopped still has to come to its local optima."""
        may_end = stop_reason in ("target", "no improvement") and self.task.options.name == "ils"
        return may_end and any(not part.ends for part in self.going)

    def descend(self) -> None:
        """Have each range make its last descent."""
        self.keep_state()
        self.end_parts(self.watch.seconds_left)

    def known(self) -> list[Range]:
        """Return the results from the first climber on; those behind one that is not known count as not begun."""
        ranges = join([*self.over, *super().known()])
        return [each for each in ranges if each.first == self.first] if self.is_cut else ranges

    def own_state(self) -> dict[str, Any]:
        plan = self.plan.state() if self.is_cut else None
        return {"plan": plan, "over": [dict(vars(each)) for each in join(self.over)], "made": self.made}
