"""An instance before the kernels, which are called one step at a time."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pytsp import Instance
from pytsp.backends import Backend, open_backend
from pytsp.neighbours.lists import neighbour_lists
from pytsp.problem.kernel_input import Form, form_of
from pytsp.solvers.options.ils import KICKS
from pytsp.solvers.options.shared import MOVES, PIVOTS

# A length, in mean distances between a city and its two nearest, by which every longer tour is accepted.
HOT = 1000.0


@dataclass(frozen=True)
class Ground:
    """An instance before the kernels of a backend; what comes is the same on all of them."""

    instance: Instance
    seed: int = 0

    @cached_property
    def kernels(self) -> Backend:
        """The backend; one core's kernels are there wherever any are."""
        return open_backend("c")

    @cached_property
    def form(self) -> Form:
        """The instance as the kernels take it."""
        return form_of(self.instance)

    @cached_property
    def loaded(self) -> Any:
        """The instance, as the kernels have it."""
        return self.call("load", *self.form.arguments)

    @cached_property
    def lists(self) -> NDArray[np.int32]:
        """The neighbours that local search looks at."""
        return neighbour_lists(self.instance, 8)

    def call(self, verb: str, *arguments: Any) -> Any:
        """Call the entry point of a verb for the instance's form."""
        return self.kernels.call(f"{self.form.kind}_{verb}", *arguments)

    def climbed(self, tour: ArrayLike, passes: int, k: int = 1) -> tuple[NDArray[np.int32], int]:
        """Return the tour of a climber of random restarts after `passes` passes from a tour, and the passes made."""
        counts = {name: np.zeros(1, dtype=np.int32) for name in ("steps", "passes")}
        fields = {"tours": np.asarray(tour, dtype=np.int32)[None, :], "lengths": np.zeros(1, dtype=np.int64), **counts}
        batch = self.kernels.value("batch", {**fields, "done": np.zeros(1, dtype=bool)})
        batch = self.call("climb", self.loaded, batch, k, passes)
        _, _, made, _ = self.kernels.call("batch_found", batch)
        return self.kernels.call("batch_tour", batch, 0), int(made[0])

    def descended(self, tour: ArrayLike, moves: str = "3-opt") -> NDArray[np.int32]:
        """Return the local optimum along the lists to which a tour descends."""
        return self._iterated(tour, moves, "first", "mixed", 0, 0, 0.0)

    def kicked(self, tour: ArrayLike, kick: str, iteration: int) -> NDArray[np.int32]:
        """Return a tour after the kick of an iteration; one draw of a move seldom improves anything."""
        return self._iterated(tour, "3-opt", "random-k", kick, iteration, 1, HOT)

    def repaired(self, tour: ArrayLike, kick: str, iteration: int) -> NDArray[np.int32]:
        """Return a tour after an iteration: the kick, and the local search that follows it."""
        return self._iterated(tour, "3-opt", "first", kick, iteration, 1, HOT)

    def _iterated(
        self, tour: ArrayLike, moves: str, pivot: str, kick: str, start: int, count: int, heat: float
    ) -> NDArray[np.int32]:
        near = float(self.form.whole.distances(np.arange(self.instance.n)[:, None], self.lists[:, :2]).mean())
        names = {
            "moves": MOVES.index(moves),
            "pivot": PIVOTS.index(pivot),
            "draws": 1,
            "kick": KICKS.index(kick),
            "acceptance": 0,
        }
        stretch = {"seed": self.seed, "first": 0, "from": start, "iterations": count}
        plan = self.kernels.value("search_plan", {**stretch, **names, "temperature": heat * near, "cooled": 0})
        population = self.kernels.call("population_given", np.asarray(tour, dtype=np.int32)[None, :])
        # Behind the plan the stretch that descends: all of the tour.
        population = self.call("ils", self.loaded, self.lists, population, plan, 0, 0)
        tours: NDArray[np.int32] = self.kernels.fields(population)["tours"]
        return np.array(tours[0])
