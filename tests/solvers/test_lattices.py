"""Lattices: chains along few neighbours by α-nearness, at temperature 0, in place of a population."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from cities import uniform
from tasks import task_of

import pytsp
from pytsp import Instance
from pytsp.backends import Backend, open_backend
from pytsp.neighbours import neighbour_lists
from pytsp.run.monitor import Watch
from pytsp.solvers import policy
from pytsp.solvers.common.candidates import are_by_alpha, is_on_a_lattice
from pytsp.solvers.ils.solver import begin
from pytsp.solvers.options.ils import ILS
from pytsp.solvers.options.shared import MOVES


def lattice(rows: int, columns: int, share: float = 1.0, step: float = 100.0) -> Instance:
    """Crossings of a lattice, a share of them."""
    points = np.stack(np.meshgrid(np.arange(rows), np.arange(columns)), axis=-1).reshape(-1, 2) * step
    kept = np.random.default_rng(0).random(len(points)) < share
    return Instance.from_coordinates(points[kept], "EUC_2D")


def coarse(n: int) -> Instance:
    """Houses of villages, most a whole kilometre from each other."""
    random = np.random.default_rng(0)
    centres = random.uniform(0, 500, (n // 30, 2))
    return Instance.from_coordinates(centres[np.arange(n) % len(centres)] + random.normal(0, 0.3, (n, 2)), "CEIL_2D")


@pytest.mark.parametrize(
    ("instance", "expected"),
    [
        (lattice(30, 30), True),
        # Rounding makes distances differ a little.
        (lattice(30, 30, step=4321.7), True),
        (lattice(40, 40, share=0.92), True),
        (lattice(40, 40, share=0.7), False),
        (uniform(900), False),
        (uniform(900, side=100_000), False),
        # Rounded distances are equal, places are not.
        (coarse(900), False),
        # Too few for eight neighbours.
        (lattice(2, 4), False),
        (Instance.from_matrix(1 - np.eye(50, dtype=np.int64)), False),
    ],
)
def test_a_lattice_has_equal_distances_between_places(instance: Instance, expected: bool) -> None:
    assert policy.is_lattice(instance, neighbour_lists(instance, min(10, instance.n - 1))) is expected


@pytest.mark.parametrize(
    ("rows", "columns", "options", "solver"),
    [
        (38, 40, {}, "ils"),
        # No more than 1,500 cities; a population asked for.
        (30, 50, {}, "eax"),
        (38, 40, {"solver": "eax"}, "eax"),
        (38, 40, {"climbers": 4}, "eax"),
    ],
)
def test_auto_takes_chains_for_many_cities_of_a_lattice(
    rows: int, columns: int, options: dict[str, Any], solver: str, backend: Backend
) -> None:
    instance = lattice(rows, columns)
    found = pytsp.solve(instance, backend=backend.name, seed=1, target=10**9, **options)
    # A GPU has populations.
    assert found.solver == ("eax" if backend.device else solver)
    assert found.length == instance.tour_length(found.tour)


def test_chains_of_a_lattice_find_its_optimum() -> None:
    # An even number of cities leaves no edge longer than the others.
    found = pytsp.solve(lattice(39, 40), backend="c", seed=0, target=39 * 40 * 100)
    assert (found.solver, found.length) == ("ils", 39 * 40 * 100)


def test_lists_and_temperature_of_a_lattice(backend: Backend, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[float | None] = []

    def first(form: Any, lists: Any, given: float | None, **rest: Any) -> float:
        asked.append(given)
        return 0.0

    monkeypatch.setattr("pytsp.solvers.ils.solver.first_temperature", first)
    kernels = open_backend(backend.name, part="search") if backend.device else backend
    for options, width, temperature in (
        ({}, 4, 0.0),
        ({"temperature": 2.5}, 4, 2.5),
        ({"neighbours": 6}, 6, None),
        ({"neighbours": "alpha"}, 7, None),
    ):
        task = task_of(lattice(20, 20), ILS(climbers=1, iterations=0, **options), kernels=kernels)
        assert begin(task).local_search.lists.shape[1] == width
        assert is_on_a_lattice(task) is ("neighbours" not in options)
        assert asked.pop() == temperature


def test_the_lists_of_a_lattice_may_take_a_fifth_of_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(policy.SPEEDS, "lists by alpha", 1e-3)
    for instance, limit, expected in (
        # 0.4 s are a twentieth, a fifth, and more.
        (uniform(400), 8.0, True),
        (uniform(400), 7.9, False),
        (lattice(20, 20), 7.9, True),
        (lattice(20, 20), 2.0, True),
        (lattice(20, 20), 1.9, False),
    ):
        task = task_of(instance, ILS(), kernels=open_backend("c"))
        task.watch = Watch(time_limit=limit)
        assert are_by_alpha(task, MOVES.index("lk")) is expected
