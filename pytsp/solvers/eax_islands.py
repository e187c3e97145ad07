"""An island of edge assembly crossover: a population that goes on to a given generation, with tours from elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytsp.run.state_reader import State
from pytsp.solvers.common.task import Task
from pytsp.solvers.eax import POPULATIONS, Evolution
from pytsp.solvers.ils.starting_tours import restart_seed

__all__ = ["Island", "Migrants", "Stay", "begin_island", "round_generations"]

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
        """Whether the stay is."""
        now = self.standing
        if not now.is_settled:
            return False
        has_ended = self.has_converged and (not self.is_timed or self.fruitless >= POPULATIONS)
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
