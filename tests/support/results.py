"""Results: what solves them, what holds of all of them, and whether two are the same."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

import pytsp
from pytsp import Improvement, Instance, Result
from pytsp.backends import Backend
from pytsp.problem.kernel_input import form_of

SQUARE = [[0, 0], [0, 9], [9, 9], [9, 0]]


def solving(solver: str, **usual: Any) -> Callable[..., Result]:
    """A function that solves by this solver on an open backend's kind, with these options if nothing else is said."""

    def solved(instance: Instance, backend: Backend, **options: Any) -> Result:
        return pytsp.solve(instance, solver=solver, backend=backend.name, **usual | options)

    return solved


def assert_same(a: Result, b: Result) -> None:
    """Everything that may not depend on how a run was cut."""
    for field in ("length", "climber", "stop_reason", "iterations", "tour", "lengths", "steps", "passes", "done"):
        assert np.array_equal(getattr(a, field), getattr(b, field)), field


def assert_is_tour(result: Result) -> None:
    """The tour is one, and has the length that is told."""
    assert result.tour.dtype == np.int32
    assert pytsp.is_tour(result.tour, result.instance.n)
    assert result.length == result.instance.tour_length(result.tour)
    assert len(result.lengths) == len(result.steps) == len(result.done) == result.climbers > 0


def assert_best_climber(result: Result) -> None:
    """The result is that of the first among the climbers with the shortest tours."""
    assert result.length == result.lengths.min()
    assert result.climber == int(np.argmin(result.lengths))


def assert_kernels_least_length(result: Result) -> None:
    """The least of the climbers' lengths is that of the tour in the kernel's units, if no edge of it is shortened."""
    form = form_of(result.instance)
    reported = form.to_lengths(np.array([form.whole.tour_length(result.tour)]))[0]
    assert result.lengths.min() == (max(reported, result.length) if form.is_shortened else reported)


def assert_improves(history: Iterable[Improvement]) -> list[int | float]:
    """Each improvement is shorter than the one before, and later; return their lengths."""
    history = list(history)
    lengths = [each.length for each in history]
    assert lengths == sorted(set(lengths), reverse=True)
    assert all(a.seconds <= b.seconds and a.iteration <= b.iteration for a, b in itertools.pairwise(history))
    return lengths


def square_result(instance: Instance | None = None, **changes: Any) -> Result:
    """A result of three climbers on a square, or of the cities of another instance in their order."""
    instance = instance or Instance.from_coordinates(SQUARE, metric="EUC_2D", name="square", optimum=36)
    fields: dict[str, Any] = {
        "instance": instance,
        "tour": np.arange(instance.n, dtype=np.int32),
        "length": instance.tour_length(range(instance.n)),
        "climber": 1,
        "lengths": np.array([44, 36, 36]),
        "steps": np.array([0, 1, 2], np.int32),
        "passes": np.array([0, 2, 3], np.int32),
        "done": np.array([True, True, True]),
        "seed": 7,
        "k": 1,
        "backend": "c",
        "mapping": "thread",
        "seconds": 2.0,
        "stop_reason": "finished",
        "history": (Improvement(0.5, 1, 44), Improvement(1.5, 2, 36)),
    }
    return Result(**(fields | changes))
