"""Climbers by ranges: of random restarts, iterated local search, annealing and ants, which know nothing of each other;
and what is one part as a whole, because its climbers do."""

from __future__ import annotations

import math
import pickle
from collections.abc import Mapping
from importlib import import_module
from typing import Any

from pytsp.distributed.parts import Part
from pytsp.distributed.places import Place, Places
from pytsp.distributed.plan import Plan, restored_plan
from pytsp.distributed.ranges import Range, Ranges
from pytsp.distributed.search import PartedSearch, tree_of
from pytsp.run.state_reader import State
from pytsp.solvers.common.loop import Found, Search
from pytsp.solvers.common.pacing import CALL_SECONDS
from pytsp.solvers.common.task import Task
from pytsp.solvers.options.fields import Options
from pytsp.solvers.registry import MODULES

__all__ = ["Climbers", "begin_solver", "is_cut"]

# The solvers whose climbers go on by themselves.
CUT = ("restarts", "ils", "annealing", "ants")
# How many ranges a place has where all climbers go on together.
RANGES_A_PLACE = 2
# How long a range of random restarts takes, a slice as a rule, and the least of them.
RANGE_SECONDS, LEAST_SECONDS = 0.5, 0.03
# By how much at most a range of random restarts is larger than those before it.
MOST_GROWTH = 8


def begin_solver(task: Task[Any], _: object) -> Search:
    """Begin the search of a part as its solver does."""
    search: Search = import_module(MODULES[task.options.name]).begin(task)
    return search


def is_cut(options: Options) -> bool:
    """Tell whether climbers go on by themselves, so that ranges of them can."""
    are_together = getattr(options, "exchange", None) is not None or getattr(options, "merge", False)
    return options.name in CUT and not are_together


class Climbers(PartedSearch):
    """The climbers of one solve, or all of it as one part.

    Parameters
    ----------
    As `PartedSearch` has them.
    """

    def __init__(self, task: Task[Any], places: Places, placed: Mapping[str, Any]) -> None:
        options, state = task.options, task.watch.state
        super().__init__(task, places, placed, options)
        # What went on as a whole goes on as a whole.
        self.is_cut_in_ranges = is_cut(options) and (state is None or "plan" in state)
        self.first = getattr(options, "first", 0)
        self.plan = Plan(1, 1, {})
        if self.is_cut_in_ranges:
            self.plan = restored_plan(state.part("plan")) if state is not None else self.ask_for_plan()
        self.end = self.first + self.plan.climbers
        # What is over, what was told of the ranges that go on, by part, and how many iterations these have made.
        self.ranges = Ranges()
        self.heard: dict[str, Range] = {}
        self.made: dict[str, int] = {}
        self.made_by_all = 0
        # The first climber that was handed out to nobody; stretches that are to be handed out again.
        self.following = self.first if self.is_cut_in_ranges else self.end
        self.left: list[tuple[int, int]] = []
        # How many climbers of random restarts a second a place brings to their optima, by place, and its last range.
        self.speeds: dict[str, float] = {}
        self.sizes: dict[str, int] = {}
        if state is not None:
            self._restore(state)
        elif not self.is_cut_in_ranges:
            self.parts.add(self._whole())

    @property
    def counts_climbers(self) -> bool:
        """Whether climbers are counted, as in random restarts, which make no iterations."""
        return bool(self.task.options.name == "restarts")

    @property
    def iteration(self) -> int | None:
        """The least of all ranges that go on."""
        return None if self.counts_climbers else min(self.made.values(), default=self.made_by_all)

    @property
    def climbers(self) -> int:
        return self.plan.climbers if self.is_cut_in_ranges else sum(len(each.lengths) for each in self._known())

    @property
    def climbers_done(self) -> int:
        if not self.counts_climbers:
            return 0
        return self.ranges.climbers + sum(int(each.done.sum()) for each in self.heard.values())

    @property
    def is_finished(self) -> bool:
        # Ranges that a time limit has cut short are not over, though nothing of them goes on.
        return self.following >= self.end and not self.left and not self.parts.unfinished

    def advance(self) -> None:
        seconds = min(CALL_SECONDS, max(0.0, self.watch.seconds_left))
        self.absorb(self.parts.go_on(seconds, self._new_part, new_first=not self.counts_climbers))

    def take(self, part: Part) -> None:
        super().take(part)
        told, first = part.told, part.options.get("first", self.first)
        if told is None:
            return
        self.heard[part.key] = Range.of(first, told)
        if told.iteration is not None:
            self.made[part.key] = told.iteration
        self.speeds[part.home or ""] = max(1, int(told.done.sum())) / max(part.seconds, 1e-6)
        if part.reason == "finished":
            self.ranges.add(self.heard.pop(part.key))
            self.made_by_all = max(self.made_by_all, self.made.pop(part.key, 0))
            part.tour = None

    def _new_part(self, place: Place) -> Part | None:
        """Return a range of climbers that nobody has had, of the size that suits the place."""
        if not self.left and self.following >= self.end:
            return None
        if self.left:
            first, end = self.left.pop()
        else:
            first, end = self.following, self.end
        count = min(end - first, self._size(place, end - first))
        if end == self.end and first == self.following:
            self.following = first + count
        elif first + count < end:
            self.left.append((first + count, end))
        part = self._part(first, count)
        part.is_one_slice = self.counts_climbers and (place.name if place.is_sticky else "") in self.speeds
        return part

    def _part(self, first: int, count: int) -> Part:
        options = {**self.plan.options, "first": first, "climbers": count}
        noun = {"annealing": "chains", "ants": "colonies"}.get(self.task.options.name, "climbers")
        return Part(f"{first}+{count}", f"{noun} {first} to {first + count - 1}", begin_solver, options=options)

    def _size(self, place: Place, left: int) -> int:
        """Choose how many climbers a new range has: in random restarts, as many as end within a
        slice; else all go on together, in as many ranges as there are places, and more where each keeps its worker
        busy."""
        places = len(self.coordinator.places.current())
        if self.task.options.name != "restarts":
            # A time limit finds all of them at work, so that all make their last descent.
            ranges = RANGES_A_PLACE if self.watch.time_limit is None else 1
            share = math.ceil(self.plan.climbers / (ranges * places))
            return max(1, min(max(self.plan.busy, share), math.ceil(self.plan.climbers / places)))
        key = place.name if place.is_sticky else ""
        before = self.sizes.get(key)
        if before is None:
            size = self.plan.busy
        else:
            fitting = int(RANGE_SECONDS * self.speeds.get(key, 0.0))
            size = max(self.plan.busy, min(fitting, MOST_GROWTH * before))
        # The last ranges are small, so that all places end at about the same time.
        least = max(self.plan.busy, int(LEAST_SECONDS * self.speeds.get(key, 0.0)))
        size = min(size, max(least, math.ceil(left / (2 * places))))
        self.sizes[key] = size
        return size

    def needs_descent(self, stop_reason: str) -> bool:
        """An iterated local search makes sure of its local optima where it does not end by itself."""
        may_end = stop_reason in ("target", "no improvement") and self.task.options.name == "ils"
        return may_end and any(not part.ends for part in self.parts.all)

    def descend(self) -> None:
        """Have each range make its last descent."""
        self.keep_state()
        self.parts.waiting = [part for part in self.parts.waiting if part.told is not None]
        for part in self.parts.all:
            part.ends = True
        while self.parts.all:
            self.absorb(self.parts.go_on(CALL_SECONDS))
            if self.watch.seconds_left <= 0:
                return

    def _known(self) -> list[Range]:
        """Return the ranges of which something was told; climbers of whom nothing was, and those behind them, count as
        if they had not begun."""
        known: list[Range] = []
        for each in self.ranges.with_others(self.heard.values()):
            if each.first == (known[-1].end if known else self.first):
                known.append(each)
        return known

    def gathered(self) -> Found:
        best, facts, known = self._best, self.facts, self._known()
        assert best is not None and facts is not None
        found = Range.joined(known) if known else Range.alone(best)
        return Found(best, found.lengths, found.steps, found.done, found.passes, facts.k, facts.mapping)

    def state_now(self) -> dict[str, Any]:
        going = [part for part in self.parts.unfinished if part.state is not None]
        return {
            "parts": "climbers",
            "plan": self.plan.state() if self.is_cut_in_ranges else None,
            "over": [each.state() for each in self.ranges.with_others(())],
            "made": self.made_by_all,
            "going": [
                {
                    "first": part.options.get("first", self.first),
                    "count": part.options.get("climbers", 1),
                    "state": tree_of(part.state),
                    "made": self.made.get(part.key, 0),
                    "heard": self.heard[part.key].state() if part.key in self.heard else None,
                }
                for part in going
            ],
            **self.told(),
        }

    def _restore(self, state: State) -> None:
        """Stand where `state` says."""
        if "parts" not in state:
            # That of a solve in one process.
            self.parts.add(self._whole(state.all))
            return
        self.recall_told(state)
        self.made_by_all = state.whole("made")
        most = self.end if self.is_cut_in_ranges else 2**62
        for number in range(len(state.items("over"))):
            self.ranges.add(Range.restored(state.item("over", number), self.first, most))
        taken = []
        for number in range(len(state.items("going"))):
            said = state.item("going", number)
            first, count = said.whole("first"), said.whole("count", 1, 2**40)
            part = self._part(first, count) if self.is_cut_in_ranges else self._whole()
            part.state = pickle.dumps(said.tree("state"), protocol=5)
            self.made[part.key] = said.whole("made")
            if "heard" in said:
                self.heard[part.key] = Range.restored(said.part("heard"), self.first, most)
            self.parts.add(part)
            taken.append((first, first + count))
        self.following = self.end
        if self.is_cut_in_ranges:
            self.left = list(reversed(self.ranges.missing(self.first, self.end, taken)))
        elif not taken and not self.ranges.climbers:
            self.parts.add(self._whole())

    def _whole(self, state: Mapping[str, Any] | None = None) -> Part:
        packed = None if state is None else pickle.dumps(state, protocol=5)
        return Part("all", "the whole solve", begin_solver, state=packed)
