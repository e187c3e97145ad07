"""Best tours of climbers before their restarts, which no later tour replaces unless it is shorter."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytsp.run.state_reader import State

# More than the length of any tour.
NONE = np.int64(np.iinfo(np.int64).max)


@dataclass(frozen=True)
class Archive:
    """Best tours that climbers had when they restarted, shape (climbers, n), and their lengths, shape (climbers,).

    Climbers that never restarted have any tour, of length `NONE`. `seen` are the lengths of all climbers when it was
    last looked who is stuck.
    """

    lengths: NDArray[np.int64]
    tours: NDArray[np.int32]
    seen: NDArray[np.int64]

    @classmethod
    def empty(cls, climbers: int, n: int) -> Archive:
        """Return what climbers have left behind of whom none has been looked at."""
        none = np.full(climbers, NONE)
        return cls(none, np.broadcast_to(np.arange(n, dtype=np.int32), (climbers, n)), none)

    @classmethod
    def restored(cls, state: State, climbers: int, n: int) -> Archive:
        lengths, seen = (state.array(name, np.int64, (climbers,)) for name in ("lengths", "seen"))
        return cls(lengths, state.tours("tours", n, climbers), seen)

    def state(self) -> dict[str, NDArray[Any]]:
        return {"lengths": self.lengths, "tours": np.ascontiguousarray(self.tours), "seen": self.seen}

    def stuck(self, lengths: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return the climbers that found nothing shorter since the last look; none at the first look."""
        return lengths >= self.seen

    def with_tour(self, place: int, length: int, tour: NDArray[np.int32]) -> Archive:
        """Return what climbers have left behind where the one at this place has left that tour besides."""
        lengths, tours = self.lengths.copy(), self.tours.copy()
        lengths[place], tours[place] = length, tour
        return Archive(lengths, tours, self.seen)

    def begun(
        self, population: dict[str, Any], fresh: dict[str, Any], stuck: NDArray[np.bool_]
    ) -> tuple[dict[str, Any], Archive]:
        """Replace stuck climbers by fresh ones, and set their shortest tours aside; `population` is consumed."""
        is_shorter = stuck & (population["lengths"] < self.lengths)
        lengths = np.where(is_shorter, population["lengths"], self.lengths)
        tours = self.tours.copy()
        tours[is_shorter] = population["bests"][is_shorter]
        for name in ("tours", "bests", "lengths"):
            population[name][stuck] = fresh[name][stuck]
        population["steps"][stuck] += fresh["steps"][stuck]
        return population, Archive(lengths, tours, population["lengths"].copy())

    def shortest(self, lengths: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the shortest that each climber has had, which has tours of these lengths now."""
        return np.minimum(self.lengths, lengths)

    def returned(self, population: dict[str, Any]) -> dict[str, Any]:
        """Give climbers back their tours that are shorter than those which they have; `population` is not kept."""
        is_shorter = self.lengths < population["lengths"]
        population["bests"][is_shorter] = self.tours[is_shorter]
        population["lengths"][is_shorter] = self.lengths[is_shorter]
        return population
