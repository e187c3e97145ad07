"""Islands of edge assembly crossover: populations side by side that exchange tours.

The tours depend on the seed, the number of islands and their climbers alone: islands wait for each other where they
exchange tours.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytsp.distributed.places import Places
from pytsp.distributed.search import Part, PartedSearch
from pytsp.run.state_reader import State
from pytsp.solvers import policy
from pytsp.solvers.common.task import Task
from pytsp.solvers.eax import Evolution
from pytsp.solvers.ils.starting_tours import restart_seed
from pytsp.solvers.options.eax import EAX

__all__ = ["Island", "Islands", "Migrants", "Stay", "begin_island", "round_generations"]

# The distance between the climbers' numbers of islands that have no number of climbers.
APART = 2**32
# The generations between two exchanges, and of more than MANY_CITIES cities, whose tours agree later.
GENERATIONS, MORE_GENERATIONS, MANY_CITIES = 10, 20, 20_000
# An island sends the tours of one climber in MIGRATING, at least one.
MIGRATING = 4


@dataclass(frozen=True)
class Migrants:
    """Climbers of one of an island's populations: "tours", shape (k, n), "lengths" and "steps", shape (k,)."""

    population: int
    climbers: dict[str, NDArray[Any]]

    def state(self) -> dict[str, Any]:
        """Return the climbers as a checkpoint holds them."""
        return dict(vars(self))

    @classmethod
    def restored(cls, state: State, n: int) -> Migrants:
        said = state.part("climbers")
        tours = said.tours("tours", n)
        numbers = {name: said.array(name, np.int64, (len(tours),)) for name in ("lengths", "steps")}
        return cls(state.whole("population"), {"tours": tours, **numbers})


@dataclass(frozen=True)
class Stay:
    """The time of an island between two exchanges: its number, the generation at which it ends, and the climbers that
    come first, in place of those that the island has sent."""

    round: int
    until: int
    arrivals: Migrants | None = None

    def state(self) -> dict[str, Any]:
        """Return the stay as a checkpoint holds it."""
        return vars(self) | {"arrivals": None if self.arrivals is None else self.arrivals.state()}

    @classmethod
    def restored(cls, state: State, n: int) -> Stay:
        arrivals = Migrants.restored(state.part("arrivals"), n) if "arrivals" in state else None
        return cls(state.whole("round"), state.whole("until"), arrivals)


def round_generations(n: int) -> int:
    """Return the generations between two exchanges of tours of n cities."""
    return GENERATIONS if n <= MANY_CITIES else MORE_GENERATIONS


class Island(Evolution):
    """The populations of one island, through its stays; the task's state may have been through some of these."""

    def __init__(self, task: Task[Any], stays: Sequence[Stay]) -> None:
        self.round, self.until = -1, 0
        super().__init__(task)
        self.stays = [stay for stay in stays if stay.round > self.round]
        if self.round < 0:
            self._begin_stay()

    def hear(self, stay: Stay) -> None:
        """Take a further stay, behind those that are known."""
        self.stays.append(stay)

    def answer(self) -> Migrants | None:
        """Return who is sent from here when the stay is over."""
        if not self._is_over:
            return None
        now = self.standing
        count = max(1, len(now.lengths) // MIGRATING)
        return Migrants(2 * len(now.elites) + now.has_met_elites, self.first_climbers(count))

    @property
    def is_last(self) -> bool:
        """Never: a round ends with a generation."""
        return False

    @property
    def is_finished(self) -> bool:
        return self._is_over and not self.stays

    @property
    def _is_over(self) -> bool:
        """True if the stay is done."""
        now = self.standing
        if not now.is_descended:
            return False
        has_ended = self.has_converged and (not self.is_timed or self.fruitless >= policy.POPULATIONS)
        return has_ended or now.iteration >= self.until

    def advance(self) -> None:
        if self._is_over:
            self._begin_stay()
        else:
            super().advance()

    def _begin_stay(self) -> None:
        stay = self.stays.pop(0)
        self.round, self.until = stay.round, stay.until
        if stay.arrivals is not None:
            self.receive(stay.arrivals.climbers)

    def state(self) -> dict[str, Any]:
        return super().state() | {"round": self.round, "until": self.until}

    def _restore(self, state: State) -> None:
        super()._restore(state)
        self.round, self.until = state.whole("round"), state.whole("until")


def begin_island(task: Task[Any], stays: tuple[int, Sequence[Stay]]) -> Island:
    """Begin the search of the island of that number, by random numbers of its own."""
    number, there = stays
    task = replace(task, seed=restart_seed(task.seed, number))
    if number:
        task = replace(task, given_tour=None)
    task.prepare()
    return Island(task, there)


@dataclass
class _Island:
    """An island: its part, its stays since the part's state, its length now and when the round began, and its migrants
    where its stay is over."""

    part: Part
    stays: list[Stay] = field(default_factory=list)
    length: int | None = None
    sent: int | None = None
    migrants: Migrants | None = None


class Islands(PartedSearch):
    """The islands of one solve; the parameters are those of `PartedSearch`."""

    kind = "islands"

    def __init__(self, task: Task[EAX], places: Places, placement: Mapping[str, Any]) -> None:
        super().__init__(task, places, placement)
        self.plan = self.planned()
        self.islands = [self._island(number) for number in range(task.options.islands)]
        self.round = 0
        self.has_ended = False
        if task.watch.state is None:
            self._begin_round()
        else:
            self._restore(task.watch.state)

    def _island(self, number: int) -> _Island:
        size, options = self.plan.options.get("climbers", APART), self.task.options
        first = options.first + number * (size + (self.task.given_tour is not None))
        part = Part(f"{number}", "", begin_island, options={**self.plan.options, "first": first}, hears=True)
        island = _Island(part)
        part.arguments = number, island.stays
        return island

    @property
    def iteration(self) -> int:
        return max(island.part.iteration or 0 for island in self.islands)

    @property
    def until(self) -> int:
        """The generation at which the round ends."""
        end, limit = (self.round + 1) * round_generations(self.task.instance.n), self.task.options.iterations
        return end if limit is None else min(end, limit)

    @property
    def climbers(self) -> int:
        return sum(len(each.lengths) for each in self.known())

    @property
    def is_finished(self) -> bool:
        return self.has_ended

    def advance(self) -> None:
        if self.going:
            super().advance()
        if not self.going and not self.cut:
            self._end_round()

    def take(self, part: Part) -> None:
        super().take(part)
        island, reported = self.islands[int(part.key)], part.reported
        if reported is None:
            return
        if part.best is not None:
            island.length = part.best.length
        if reported.state is not None:
            island.stays[:] = [stay for stay in island.stays if reported.round is None or stay.round > reported.round]
        if part.reason == "finished":
            island.migrants = reported.answer

    def _begin_round(self) -> None:
        """Let each island go on to the end of the round, with the climbers that come to it."""
        sent = self._exchanged()
        for island, arrivals in zip(self.islands, sent, strict=True):
            island.sent, island.migrants = island.length, None
            island.part.message = Stay(self.round, self.until, arrivals)
            island.stays.append(island.part.message)
            self._begin(island)

    def _begin(self, island: _Island) -> None:
        island.part.name = f"island {island.part.key} of {len(self.islands)} to generation {self.until}"
        self.add(island.part)

    def _exchanged(self) -> list[Migrants | None]:
        """Return the climbers that come to each island, from the one before it, where all islands are at the same of
        their populations."""
        sent = [island.migrants for island in self.islands]
        if len(sent) == 1 or len({None if each is None else each.population for each in sent}) > 1:
            return [None] * len(sent)
        return [sent[-1], *sent[:-1]]

    def _end_round(self) -> None:
        """Exchange tours, or end: where no island has found a shorter one, or all generations are made."""
        limit = self.task.options.iterations
        is_over = limit is not None and self.until >= limit
        is_idle = self.round > 0 and all(island.length == island.sent for island in self.islands)
        have_converged = all((island.part.iteration or 0) < self.until for island in self.islands)
        if is_over or (have_converged and (is_idle or len(self.islands) == 1)):
            self.has_ended = True
            return
        self.round += 1
        self._begin_round()

    def own_state(self) -> dict[str, Any]:
        islands = [
            {
                "stays": [stay.state() for stay in island.stays],
                "goes_on": island.part.reason != "finished",
                "length": island.length,
                "sent": island.sent,
                "migrants": None if island.migrants is None else island.migrants.state(),
            }
            for island in self.islands
        ]
        return {"plan": self.plan.state(), "round": self.round, "has_ended": self.has_ended, "islands": islands}

    def _restore(self, state: State) -> None:
        n = self.task.instance.n
        self.round, self.has_ended = state.whole("round"), state.flag("has_ended")
        for number, island in enumerate(self.islands):
            said = state.item("islands", number)
            island.stays += [Stay.restored(said.item("stays", each), n) for each in range(len(said.items("stays")))]
            island.length, island.sent = said.optional_whole("length"), said.optional_whole("sent")
            island.migrants = Migrants.restored(said.part("migrants"), n) if "migrants" in said else None
            self._begin(island)
            if not said.flag("goes_on"):
                island.part.reason = "finished"
                self.waiting.remove(island.part)
