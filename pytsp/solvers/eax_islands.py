"""An island of edge assembly crossover: a population that goes on to a given generation, with a tour from elsewhere."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytsp.solvers.common.task import Task
from pytsp.solvers.eax import POPULATIONS, Evolution
from pytsp.solvers.ils.starting_tours import restart_seed

__all__ = ["GENERATIONS", "Stay", "begin_island"]

GENERATIONS = 10
"""After so many generations each island sends its shortest tour on."""


@dataclass(frozen=True)
class Stay:
    """What an island is asked between two sendings.

    Attributes
    ----------
    number : int
        That of the island.
    until : int
        The generation at which it is to stop.
    arrival : numpy.ndarray of int32, shape (n,), or None
        The tour that has come to it.
    """

    number: int
    until: int
    arrival: NDArray[np.int32] | None = None


class Island(Evolution):
    """The populations of one island, up to a generation."""

    def __init__(self, task: Task[Any], stay: Stay) -> None:
        super().__init__(task)
        self.until = stay.until
        if stay.arrival is not None and self.standing.is_settled:
            self.receive(stay.arrival)

    @property
    def is_last(self) -> bool:
        """Never: a round ends with a generation."""
        return False

    @property
    def is_finished(self) -> bool:
        now = self.standing
        if not now.is_settled:
            return False
        has_ended = self.has_converged and (not self.is_timed or self.fruitless >= POPULATIONS)
        return has_ended or now.iteration >= self.until


def begin_island(task: Task[Any], stay: Stay) -> Island:
    """Begin the search of an island, by random numbers of its own."""
    task = replace(task, seed=restart_seed(task.seed, stay.number))
    if stay.number:
        task = replace(task, given_tour=None)
    task.prepare()
    return Island(task, stay)
