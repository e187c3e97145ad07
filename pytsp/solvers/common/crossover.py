"""Generations of tours that cross, by one kernel call each, and climbers' tours that are merged by them."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytsp.backends.context import Backend
from pytsp.problem.kernel_input import Form

__all__ = ["CHILDREN", "PATIENCE", "Crossing", "elected"]

# How many children a pair has.
CHILDREN = 30
# How many neighbours the merging of subtours looks at.
MERGED_NEIGHBOURS = 8
# Tours have come as far as they can after so many generations without a shorter one.
PATIENCE = 5
# So many threads of a GPU are started for a pair, of which one works: pairs take their own ways.
SPREAD = {"cpu": 1, "gpu": 32}
# Of more climbers than these the best are merged.
MOST_MERGED = 100


def elected(kernels: Backend, population: Any, lengths: NDArray[np.int64], most: int) -> tuple[Any, NDArray[np.intp]]:
    """Return at most so many climbers of a population, those with the shortest tours, and their places in it."""
    places = np.sort(np.argsort(lengths, kind="stable")[:most])
    return kernels.call("population_chosen", population, places.astype(np.int32)), places


@dataclass
class Crossing:
    """How tours of one instance cross.

    Parameters
    ----------
    form : Form
    kernels : Backend
    loaded : Opaque
        The instance on the device.
    lists : numpy.ndarray of int32, shape (n, k)
    """

    form: Form
    kernels: Backend
    loaded: Any
    lists: NDArray[np.int32]
    near: NDArray[np.int32] = field(init=False)

    def __post_init__(self) -> None:
        self.near = np.ascontiguousarray(self.lists[:, :MERGED_NEIGHBOURS])

    def bred(self, population: Any, seed: int, generation: int) -> Any:
        """Return the next generation of a population on the device."""
        spread = SPREAD["cpu" if self.kernels.device is None else "gpu"]
        fields = {"seed": seed, "generation": generation, "children": CHILDREN, "spread": spread}
        plan = self.kernels.value("generation_plan", fields)
        return self.kernels.call(f"{self.form.kind}_cross", self.loaded, self.near, population, plan)

    def merged(self, population: Any, seed: int, seconds_left: float = math.inf) -> NDArray[np.int32]:
        """Return the shortest tour, shape (n,), after the climbers' shortest tours have crossed until they agree.

        A generation is not begun where less time is left than the one before took.
        """
        call: Callable[..., Any] = self.kernels.call
        population, _ = elected(self.kernels, population, call("population_lengths", population), MOST_MERGED)
        lengths = call("population_lengths", population)
        end, took, generation, idle = time.perf_counter() + seconds_left, 0.0, 0, 0
        while len(lengths) > 1 and idle < PATIENCE and time.perf_counter() + took < end:
            # Equally long tours need not be the same, at first.
            if generation and lengths.min() == lengths.max():
                break
            began, before = time.perf_counter(), int(lengths.sum())
            population = self.bred(population, seed, generation)
            lengths = call("population_lengths", population)
            idle = 0 if int(lengths.sum()) < before else idle + 1
            took, generation = time.perf_counter() - began, generation + 1
        shortest: NDArray[np.int32] = call("population_tour", population, call("population_best", population))
        return shortest
