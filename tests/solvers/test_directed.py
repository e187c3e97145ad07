"""Solvers on directed ways: the two cities of a pair stay side by side from the first tour on."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import pytsp
from pytsp.backends import Backend
from pytsp.neighbours.lists import way_lists, with_pairs
from pytsp.problem.asymmetric import JonkerVolgenant
from pytsp.problem.instance import Instance
from pytsp.run.monitor import Watch
from pytsp.solvers.common.local_search import LocalSearch
from pytsp.solvers.common.starting_tours import restart_tours, starting_tours
from pytsp.solvers.common.task import Task
from pytsp.solvers.common.temperature import DIRECTED_TEMPERATURE, first_temperature
from pytsp.starts.construct import greedy, nearest_neighbour

PART = "search"
N = 40


def drawn(n: int = N) -> Instance:
    """Random ways, all longer by a thousand."""
    return Instance.from_matrix(1000 + np.random.default_rng(n).integers(1, 100, (n, n)), asymmetric=True)


def task_of(backend: Backend, options: Any) -> Task[Any]:
    """What a solver is given of the doubled instance."""
    instance = JonkerVolgenant.of(drawn()).instance
    return Task(instance, options, Watch(), 3, None, lambda: backend, is_doubled=True)


def are_in_pairs(tours: NDArray[np.int32]) -> bool:
    """Whether every city is beside its other one in all tours."""
    n = tours.shape[1] // 2
    ahead = np.roll(tours, -1, axis=1) % n == tours % n
    return bool((ahead | np.roll(ahead, 1, axis=1)).all())


@pytest.mark.parametrize("start", [None, "random", "greedy", "nearest-neighbour"])
@pytest.mark.parametrize("first", [0, 60])
def test_climbers_start_on_tours_of_all_pairs(backend: Backend, start: str | None, first: int) -> None:
    task = task_of(backend, pytsp.ILS(start=start, first=first, restart=10))
    lists = way_lists(task.instance)
    for nearest in (lists, None):
        tours = starting_tours(task, 10, nearest)
        assert are_in_pairs(tours)
        assert all(pytsp.is_tour(tour, 2 * N) for tour in tours)
    restart = restart_tours(task)
    assert are_in_pairs(np.array([restart(first + climber, 1) for climber in range(10)]))


def test_climbers_of_a_population_start_on_tours_of_all_pairs(backend: Backend) -> None:
    task = task_of(backend, pytsp.EAX())
    loaded = backend.call(f"{task.form.kind}_load", *task.form.arguments)
    search = LocalSearch(task, loaded, way_lists(task.form.whole), moves=1)
    found = backend.fields(search.start(0, 20))
    assert are_in_pairs(found["tours"])
    # A near city is passed over here and there, the other one of a pair never.
    starts = backend.call("matrix_start", loaded, with_pairs(search.lists), 3, 0, 20, 128)
    tours = backend.fields(starts)["tours"]
    assert are_in_pairs(tours)
    assert len({tuple(np.roll(tour, -int(np.argmin(tour)))) for tour in tours}) == 20


def test_the_temperature_is_that_of_the_ways(backend: Backend) -> None:
    task = task_of(backend, pytsp.ILS())
    lists = way_lists(task.form.whole)
    ways = drawn().distance_matrix() + np.diag(np.full(N, 10**6))
    nearest = np.concatenate([np.sort(ways, axis=0)[:2].ravel(), np.sort(ways, axis=1)[:, :2].ravel()])
    found = first_temperature(task.form, lists, None, is_doubled=True)
    assert found == pytest.approx(DIRECTED_TEMPERATURE * (nearest.mean() - ways.min()))
    assert first_temperature(task.form, lists, 7.0, is_doubled=True) == 7.0


@pytest.mark.parametrize("solver", ["ils", "eax"])
@pytest.mark.parametrize("divisor", [1, 7.0])
def test_a_short_search_ends_below_the_greedy_and_the_nearest_neighbour_tour(
    backend: Backend, solver: str, divisor: float
) -> None:
    ways = drawn(60).distance_matrix()
    instance = Instance.from_matrix(ways / divisor if divisor > 1 else ways, asymmetric=True)
    found = pytsp.solve(instance, solver=solver, backend=backend.name, iterations=20, seed=1)
    assert found.length == instance.tour_length(found.tour)
    doubling = JonkerVolgenant.of(instance)
    lists = with_pairs(way_lists(doubling.instance))
    for start in (greedy, nearest_neighbour):
        assert found.length < instance.tour_length(doubling.directed(start(doubling.instance, neighbours=lists)))
