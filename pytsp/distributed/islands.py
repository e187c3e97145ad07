"""Islands of edge assembly crossover: populations side by side that exchange tours.

All of it is a function of the seed, the number of islands and of their climbers: islands wait for each other where they
exchange tours, and it does not matter which worker has which.
"""

from __future__ import annotations

import pickle
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pytsp.distributed.parts import Part
from pytsp.distributed.places import Places
from pytsp.distributed.plan import restored_plan
from pytsp.distributed.ranges import Range
from pytsp.distributed.search import PartedSearch, tree_of
from pytsp.run.state_reader import State
from pytsp.solvers.common.loop import Found
from pytsp.solvers.common.task import Task
from pytsp.solvers.eax_islands import Migrants, Stay, begin_island, round_generations
from pytsp.solvers.options.eax import EAX

__all__ = ["Islands"]

# With a time limit alone, whose populations have no number of climbers, those of islands are numbered so far apart.
APART = 2**32


@dataclass
class _Island:
    """Where an island stands: the part that searches it, its stays since the part's state, what its climbers came to,
    its generation, its shortest length now and when the round began; and who is sent from it, where its stay is
    over."""

    part: Part
    stays: list[Stay]
    heard: Range | None = None
    generation: int = 0
    length: int | None = None
    sent: int | None = None
    migrants: Migrants | None = None


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
        self.islands = [self._island(number) for number in range(task.options.islands)]
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
    def until(self) -> int:
        """The generation at which the round ends."""
        end, limit = (self.round + 1) * round_generations(self.task.instance.n), self.task.options.iterations
        return end if limit is None else min(end, limit)

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
        island = self.islands[int(part.key)]
        island.heard = Range.of(0, told)
        island.generation = told.iteration or 0
        if part.tour is not None:
            island.length = told.best[0]
        if told.state is not None:
            island.stays[:] = [stay for stay in island.stays if told.round is None or stay.round > told.round]
        if part.reason == "finished":
            island.migrants = told.answer

    def _island(self, number: int) -> _Island:
        """Return an island that has not begun."""
        options = self.task.options
        size = self.plan.climbers if "climbers" in self.plan.options or options.climbers is not None else APART
        stride = size + (self.task.given_tour is not None)
        more = {**self.plan.options, "first": options.first + number * stride}
        stays: list[Stay] = []
        return _Island(Part(f"{number}", "", begin_island, (number, stays), options=more, rests=True), stays)

    def _begin_round(self) -> None:
        """Let each island go on to the end of the round, with those who come to it."""
        arrivals = self._exchanged()
        for number, island in enumerate(self.islands):
            island.sent, island.migrants = island.length, None
            island.part.message = Stay(self.round, self.until, arrivals[number])
            island.stays.append(island.part.message)
            self._begin(number)

    def _begin(self, number: int) -> None:
        """Let an island go on through its stays."""
        island = self.islands[number]
        island.part.name = f"island {number} of {len(self.islands)} to generation {self.until}"
        island.part.reason = None
        island.part.message_bytes = sum(stay.nbytes for stay in island.stays)
        self.parts.add(island.part)

    def _exchanged(self) -> list[Migrants | None]:
        """Return who comes to each island: the climbers of the one before it, where all islands are at the same of
        their populations."""
        sent = [island.migrants for island in self.islands]
        if len(sent) == 1 or len({None if each is None else each.population for each in sent}) > 1:
            return [None] * len(sent)
        return [sent[number - 1] for number in range(len(sent))]

    def _end_round(self) -> None:
        """Exchange tours, or end: where nobody has found a shorter one, or all generations are made."""
        limit = self.task.options.iterations
        is_over = limit is not None and self.until >= limit
        is_idle = self.round > 0 and all(island.length == island.sent for island in self.islands)
        have_converged = all(island.generation < self.until for island in self.islands)
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
        islands = [
            {
                "state": tree_of(island.part.state),
                "stays": [stay.state() for stay in island.stays],
                "goes_on": island.part.reason != "finished",
                "heard": None if island.heard is None else island.heard.state(),
                "length": island.length,
                "generation": island.generation,
                "sent": island.sent,
                "migrants": None if island.migrants is None else island.migrants.state(),
            }
            for island in self.islands
        ]
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
            island.part.state = pickle.dumps(said.tree("state"), protocol=5) if "state" in said else None
            count = len(said.items("stays"))
            island.stays += [Stay.restored(said.item("stays", each), n) for each in range(count)]
            island.heard = Range.restored(said.part("heard"), 0, 2**62) if "heard" in said else None
            island.length, island.sent = said.optional_whole("length"), said.optional_whole("sent")
            island.generation = said.whole("generation")
            island.migrants = Migrants.restored(said.part("migrants"), n) if "migrants" in said else None
            if said.flag("goes_on"):
                self._begin(number)
            else:
                island.part.reason = "finished"
