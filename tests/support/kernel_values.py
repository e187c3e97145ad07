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
    numbers = {"seed": 0, "first": 0, "from": 0, "iterations": 0, "moves": 1, "pivot": 0, "draws": 1, "kick": 0}
    return backend.value("search_plan", {**numbers, "acceptance": 0, "temperature": 0.0, "cooled": 0, **fields})


def population_on(backend: Backend, tours: Any, lengths: Any) -> Opaque:
    """Climbers that have come to tours of these lengths."""
    tours = np.atleast_2d(np.asarray(tours, dtype=np.int32))
    steps = np.zeros(len(tours), dtype=np.int64)
    fields = {"tours": tours, "bests": tours, "lengths": np.asarray(lengths, dtype=np.int64), "steps": steps}
    return backend.value("population", fields)


def generation_plan(backend: Backend, **fields: int) -> Opaque:
    """A generation of crossover: the first of seed 0, without unions or thrift, where nothing else is said."""
    numbers = {"seed": 0, "generation": 0, "most": 150, "cap": 1500, "rounds": 8, "unions": 0, "thrift": 0}
    return backend.value("generation_plan", {**numbers, **fields})


def bulk_plan(backend: Backend, **fields: int | bool) -> Opaque:
    """A plan of starts of fragments, with no rounds of local search behind them where nothing else is said."""
    numbers = {"seed": 0, "first": 0, "curved": False, "noise": 256, "joins": 8}
    return backend.value("bulk_plan", {**numbers, "wide": 8, "least": 1, "rounds": 0, **fields})
