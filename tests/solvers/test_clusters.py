"""Searches that start with clusters in a better order."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tasks import task_of

import pytsp
from pytsp import Instance
from pytsp.backends import open_backend
from pytsp.solvers.common import starting_tours
from pytsp.solvers.common.starting_tours import with_clusters_in_order
from pytsp.solvers.options.ils import ILS


def villages(metric: str, count: int = 120, each: int = 20) -> Instance:
    """Villages of places within a millionth of the way between them."""
    rng = np.random.default_rng(5)
    places = (60 * rng.random((count, 1, 2)) + 6e-5 * rng.random((count, each, 2))).reshape(-1, 2)
    return Instance.from_coordinates(rng.permutation(places), metric)


@pytest.mark.parametrize("metric", ["EUCLIDEAN", "HAVERSINE"])
@pytest.mark.parametrize(
    ("solver", "options"),
    [("eax", {"climbers": 4, "iterations": 0}), ("ils", {"iterations": 0}), ("large", {"iterations": 0})],
)
def test_tours_of_villages_start_shorter(
    solver: str, options: dict[str, Any], metric: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    instance = villages(metric)
    found = [pytsp.solve(instance, solver=solver, backend=name, **options) for name in ("c", "multicore")]
    assert np.array_equal(found[0].tour, found[1].tour)
    monkeypatch.setattr(starting_tours, "reordered_tour", lambda instance, tour, kernels: tour)
    before = pytsp.solve(instance, solver=solver, backend="c", **options)
    assert found[0].length < 0.99 * before.length


def test_matrices_have_no_clusters_that_are_seen() -> None:
    matrix = Instance.from_matrix(villages("EUC_2D", 10, 5).distance_matrix())
    task = task_of(matrix, ILS(), kernels=open_backend("c"))
    assert np.array_equal(with_clusters_in_order(task, matrix.canonical_tour()), np.arange(50))
