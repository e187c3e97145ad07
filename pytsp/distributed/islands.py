"""Islands of edge assembly crossover: populations side by side, of which each sends its shortest tour on to the next.

All of it is a function of the seed, the number of islands and of their climbers: islands wait for each other where they
send tours on, and it does not matter which worker has which.
"""

from __future__ import annotations

import pickle
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytsp.distributed.parts import Part
from pytsp.distributed.places import Places
from pytsp.distributed.plan import restored_plan
from pytsp.distributed.ranges import Range
from pytsp.distributed.search import PartedSearch, tree_of
from pytsp.run.state_reader import State
from pytsp.solvers.common.loop import Found
from pytsp.solvers.common.task import Task
from pytsp.solvers.eax_islands import GENERATIONS, Stay, begin_island
from pytsp.solvers.options.eax import EAX

__all__ = ["Islands"]

# With a time limit alone, whose populations have no number of climbers, those of islands are numbered so far apart.
APART = 2**32


@dataclass
class _Island:
    """Where an island stands: its state, what its climbers came to, its shortest tour and generation, and its length
    when it was last sent on; `part` is there where it goes on."""

    state: bytes | None = None
    heard: Range | None = None
    tour: NDArray[np.int32] | None = None
    length: int | None = None
    generation: int = 0
    sent: int | None = None
    part: Part | None = None


class Islands(PartedSearch):
    """The islands of one solve.

    Parameters
    ----------
    As `PartedSearch` has them.
    """

    def __init__(self, task: Task[EAX], places: Places, placed: Mapping[str, Any]) -> None:
        super().__init__(task, places, placed, task.options)
        state = task.watch.state
        self.plan = restored_plan(state.part("plan")) if state is not None else self.ask_for_plan()
        self.islands = [_Island() for _ in range(task.options.islands)]
        self.round = 0
        self.has_ended = False
        if state is None:
            self._begin_round()
        else:
            self._restore(state)

    @property
    def iteration(self) -> int:
        return max(island.generation for island in self.islands)

    @property
    def climbers(self) -> int:
        return sum(0 if island.heard is None else len(island.heard.lengths) for island in self.islands)

    @property
    def is_finished(self) -> bool:
        return self.has_ended

    def advance(self) -> None:
        if self.parts.all:
            super().advance()
        if not self.parts.all and not self.is_cut_short:
            self._end_round()

    def take(self, part: Part) -> None:
        super().take(part)
        told = part.told
        if told is None:
            return
        island = self.islands[int(part.key.partition(" ")[0])]
        island.heard = Range.of(0, told)
        island.generation = told.iteration or 0
        if part.tour is not None:
            island.tour, island.length = part.tour, told.best[0]
        if part.reason == "finished":
            island.state, island.part = part.state, None

    def _begin_round(self) -> None:
        """Let each island go on, with the tour that the one before it sends."""
        before = [(island.tour if self.round else None) for island in self.islands]
        for number, island in enumerate(self.islands):
            island.sent = island.length
            self._begin(number, before[number - 1] if len(self.islands) > 1 else None)

    def _begin(self, number: int, arrival: NDArray[np.int32] | None) -> None:
        """Let an island go on from its state to the end of the round."""
        island, options = self.islands[number], self.task.options
        until = (self.round + 1) * GENERATIONS
        if options.iterations is not None:
            until = min(until, options.iterations)
        size = self.plan.climbers if "climbers" in self.plan.options or options.climbers is not None else APART
        stride = size + (self.task.given_tour is not None)
        more = {**self.plan.options, "first": options.first + number * stride}
        name = f"island {number} of {len(self.islands)} to generation {until}"
        island.part = Part(f"{number} round {self.round}", name, begin_island, Stay(number, until, arrival))
        # A tour comes once.
        island.part.later, island.part.options = Stay(number, until), more
        island.part.state, island.part.hands_on = island.state, True
        self.parts.add(island.part)

    def _end_round(self) -> None:
        """Send tours on, or end: where nobody has found a shorter one, or all generations are made."""
        limit = self.task.options.iterations
        is_over = limit is not None and (self.round + 1) * GENERATIONS >= limit
        is_idle = self.round > 0 and all(island.length == island.sent for island in self.islands)
        have_converged = all(island.generation < (self.round + 1) * GENERATIONS for island in self.islands)
        if is_over or (is_idle and have_converged) or (len(self.islands) == 1 and have_converged):
            self.has_ended = True
            return
        self.round += 1
        self._begin_round()

    def gathered(self) -> Found:
        best, facts = self._best, self.facts
        assert best is not None and facts is not None
        heard = [island.heard for island in self.islands if island.heard is not None]
        found = Range.joined(heard) if heard else Range.alone(best)
        return Found(best, found.lengths, found.steps, found.done, found.passes, facts.k, facts.mapping)

    def state_now(self) -> dict[str, Any]:
        islands = []
        for island in self.islands:
            part = island.part
            # A tour that has come is in a state of the part's own.
            is_new = part is not None and part.state_version == 0
            stay = None if part is None else part.arguments
            islands.append(
                {
                    "state": tree_of(island.state if part is None else part.state),
                    "arrival": stay.arrival if is_new and stay is not None else None,
                    "goes_on": part is not None,
                    "heard": None if island.heard is None else island.heard.state(),
                    "tour": island.tour,
                    "length": island.length,
                    "generation": island.generation,
                    "sent": island.sent,
                }
            )
        plan = self.plan.state()
        if "climbers" in self.plan.options:
            plan["population"] = self.plan.climbers
        told = {"parts": "islands", "plan": plan, "round": self.round, "has_ended": self.has_ended}
        return {**told, "islands": islands, **self.told()}

    def _restore(self, state: State) -> None:
        """Stand where `state` says."""
        n = self.task.instance.n
        self.recall_told(state)
        self.round, self.has_ended = state.whole("round"), state.flag("has_ended")
        for number, island in enumerate(self.islands):
            said = state.item("islands", number)
            island.state = pickle.dumps(said.tree("state"), protocol=5) if "state" in said else None
            island.heard = Range.restored(said.part("heard"), 0, 2**62) if "heard" in said else None
            island.tour = said.tour("tour", n) if "tour" in said else None
            island.length, island.sent = said.optional_whole("length"), said.optional_whole("sent")
            island.generation = said.whole("generation")
            if said.flag("goes_on"):
                self._begin(number, said.tour("arrival", n) if "arrival" in said else None)
