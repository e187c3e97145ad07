"""Islands of edge assembly crossover: populations side by side that exchange tours.

The tours depend on the seed, the number of islands and their climbers alone: islands wait for each other where they
exchange tours.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytsp.distributed.places import Places
from pytsp.distributed.search import Part, PartedSearch
from pytsp.distributed.slices import Report
from pytsp.run.state_reader import State
from pytsp.solvers import policy
from pytsp.solvers.common.starting_tours import restart_seed
from pytsp.solvers.common.task import Task
from pytsp.solvers.eax import Evolution
from pytsp.solvers.options.eax import EAX

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

    @classmethod
    def restored(cls, state: State, name: str, n: int) -> Migrants | None:
        """Return the climbers that a checkpoint holds by that name, if any."""
        if name not in state:
            return None
        here = state.part(name)
        said = here.part("climbers")
        tours = said.tours("tours", n)
        numbers = {each: said.array(each, np.int64, (len(tours),)) for each in ("lengths", "steps")}
        return cls(here.whole("population"), {"tours": tours, **numbers})


@dataclass(frozen=True)
class Stay:
    """The time of an island between two exchanges: the generation at which it ends, and the climbers that come first,
    in place of those that the island has sent."""

    until: int
    arrivals: Migrants | None = None

    @classmethod
    def all_restored(cls, state: State, n: int) -> list[Stay]:
        """Return the stays that a checkpoint holds."""
        return [cls(each.whole("until"), Migrants.restored(each, "arrivals", n)) for each in state.parts("stays")]


def round_generations(n: int) -> int:
    """Return the generations between two exchanges of tours of n cities."""
    return GENERATIONS if n <= MANY_CITIES else MORE_GENERATIONS


class Island(Evolution):
    """The populations of one island, through its stays."""

    # A round ends with a generation.
    is_last = False

    def __init__(self, task: Task[Any]) -> None:
        self.until = 0
        self.stays: list[Stay] = []
        super().__init__(task)

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
        if not self._is_over:
            super().advance()
            return
        stay = self.stays.pop(0)
        self.until = stay.until
        if stay.arrivals is not None:
            self.receive(stay.arrivals.climbers)

    def state(self) -> dict[str, Any]:
        return super().state() | {"until": self.until, "stays": list(map(asdict, self.stays))}

    def _restore(self, state: State) -> None:
        super()._restore(state)
        self.until, self.stays = state.whole("until"), Stay.all_restored(state, self.task.instance.n)


def begin_island(task: Task[Any], number: int) -> Island:
    """Begin the search of the island of that number, by random numbers of its own."""
    task = replace(task, seed=restart_seed(task.seed, number))
    if number:
        task = replace(task, given_tour=None)
    task.prepare()
    return Island(task)


@dataclass
class _Island(Part):
    """An island: its length now and when the round began, and its migrants where its stay is over."""

    length: int | None = None
    sent: int | None = None
    migrants: Migrants | None = None


class Islands(PartedSearch):
    """The islands of one solve; the parameters are those of `PartedSearch`."""

    kind = "islands"
    is_finished = False

    def __init__(self, task: Task[EAX], places: Places, placement: Mapping[str, Any]) -> None:
        super().__init__(task, places, placement)
        self.plan = self.planned()
        size = self.plan.options.get("climbers", APART) + (task.given_tour is not None)
        firsts = [task.options.first + number * size for number in range(task.options.islands)]
        self.islands = [
            _Island(f"{number}", "", begin_island, number, {**self.plan.options, "first": first}, hears=True)
            for number, first in enumerate(firsts)
        ]
        self.round = 0
        if task.watch.state is None:
            self._begin_round()
        else:
            self._restore(task.watch.state)

    @property
    def iteration(self) -> int:
        return max(island.iteration or 0 for island in self.islands)

    @property
    def until(self) -> int:
        """The generation at which the round ends."""
        end, limit = (self.round + 1) * round_generations(self.task.instance.n), self.task.options.iterations
        return end if limit is None else min(end, limit)

    @property
    def climbers(self) -> int:
        return sum(len(each.lengths) for each in self.known())

    def advance(self) -> None:
        if self.going:
            super().advance()
        if not self.going and not self.are_cut:
            self._end_round()

    def take(self, part: Part, reported: Report) -> None:
        super().take(part, reported)
        assert isinstance(part, _Island)
        if part.best is not None:
            part.length = part.best.length
        if part.reason == "finished":
            part.migrants = reported.answer

    def _begin_round(self) -> None:
        """Let each island go on to the end of the round, with the climbers that come to it."""
        sent = self._exchanged()
        for island, arrivals in zip(self.islands, sent, strict=True):
            island.sent, island.migrants = island.length, None
            island.hear(Stay(self.until, arrivals))
            self._begin(island)

    def _begin(self, island: _Island) -> None:
        island.name = f"island {island.key} of {len(self.islands)} to generation {self.until}"
        self.add(island)

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
        have_converged = all((island.iteration or 0) < self.until for island in self.islands)
        if is_over or (have_converged and (is_idle or len(self.islands) == 1)):
            self.is_finished = True
            return
        self.round += 1
        self._begin_round()

    def own_state(self) -> dict[str, Any]:
        islands = [
            {
                "stays": list(map(asdict, island.messages)),
                "goes_on": island.reason != "finished",
                "length": island.length,
                "sent": island.sent,
                "migrants": island.migrants and asdict(island.migrants),
            }
            for island in self.islands
        ]
        return {"plan": self.plan.state(), "round": self.round, "has_ended": self.is_finished, "islands": islands}

    def _restore(self, state: State) -> None:
        n = self.task.instance.n
        self.round, self.is_finished = state.whole("round"), state.flag("has_ended")
        for island, said in zip(self.islands, state.parts("islands", len(self.islands)), strict=True):
            island.messages = Stay.all_restored(said, n)
            island.length, island.sent = said.optional_whole("length"), said.optional_whole("sent")
            island.migrants = Migrants.restored(said, "migrants", n)
            self._begin(island)
            if not said.flag("goes_on"):
                island.reason = "finished"
                self.waiting.remove(island)
