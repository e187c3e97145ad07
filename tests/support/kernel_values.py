"""Values that kernels take as records, made by their fields."""

from __future__ import annotations

from typing import Any

import numpy as np

from pytsp.backends import Backend, Opaque


def batch_on(backend: Backend, tours: Any) -> Opaque:
    """Climbers of random restarts on given tours."""
    tours = np.atleast_2d(np.asarray(tours, dtype=np.int32))
    count = len(tours)
    counts = {name: np.zeros(count, dtype=np.int32) for name in ("steps", "passes")}
    fields = {"tours": tours, "lengths": np.zeros(count, dtype=np.int64), "done": np.zeros(count, dtype=bool)}
    return backend.value("batch", {**fields, **counts})


def search_plan(backend: Backend, **fields: Any) -> Opaque:
    """A plan of the iterated local search: a descent by 3-opt where nothing else is said."""
    numbers = {"seed": 0, "first": 0, "from": 0, "iterations": 0, "moves": 1, "pivot": 0, "draws": 1}
    return backend.value(
        "search_plan", {**numbers, "kick": 0, "acceptance": 0, "temperature": 0.0, "cooled": 0, **fields}
    )


def generation_plan(backend: Backend, seed: int, generation: int, children: int, spread: int) -> Opaque:
    """A generation of crossover."""
    fields = {"seed": seed, "generation": generation, "children": children, "spread": spread}
    return backend.value("generation_plan", fields)
