"""Searches that start with clusters in a better order."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tasks import task_of

import pytsp
from pytsp import Instance
from pytsp.backends import open_backend
from pytsp.generate import uniform
from pytsp.solvers import policy
from pytsp.solvers.common import starting_tours
from pytsp.solvers.common.candidates import lists_without_exits
from pytsp.solvers.common.starting_tours import with_clusters_in_order
from pytsp.solvers.options.ils import ILS
from pytsp.solvers.speeds import SPEEDS


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


@pytest.mark.parametrize("is_of_villages", [False, True])
def test_chains_start_along_the_curve_where_the_greedy_tour_is_far_longer(
    is_of_villages: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(policy, "QUICK_GREEDY_CITIES", 1_000)
    instance = villages("EUC_2D") if is_of_villages else uniform(1_500, 1)
    task = task_of(instance, ILS(), kernels=open_backend("c"))
    curve = starting_tours.space_filling_curve(instance)
    along = with_clusters_in_order(task, curve)
    assert np.array_equal(along, curve) != is_of_villages
    greedy = starting_tours.greedy_along(task, curve, 1e9, lists_without_exits(task))
    assert greedy is not None
    greedy = with_clusters_in_order(task, greedy)
    share = instance.tour_length(along) / instance.tour_length(greedy)
    for least, expected in ((0.999 * share, greedy), (1.001 * share, along if is_of_villages else greedy)):
        monkeypatch.setattr(policy, "CURVE_SHARE", least)
        assert np.array_equal(starting_tours.starting_tours(task, 1, moves=2)[0], expected)


def test_chains_in_place_of_pieces_start_without_exits_from_clusters(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(policy, "RECOMBINED_CITIES", range(8, 300))
    monkeypatch.setattr(policy, "QUICK_GREEDY_CITIES", 300)
    monkeypatch.setattr(policy, "chains_fit", lambda *_: True)
    monkeypatch.setattr(policy, "QUADRANTS_LISTS", 1e9)
    monkeypatch.setitem(SPEEDS, "chains, start", 2.0)
    make, seen = starting_tours.greedy_along, []

    def noted(task: Any, tour: Any, seconds: float, lists: Any) -> Any:
        seen.append((task.instance, lists))
        return make(task, tour, seconds, lists)

    monkeypatch.setattr(starting_tours, "greedy_along", noted)
    assert pytsp.solve(villages("EUCLIDEAN"), time_limit=0.3, backend="c").solver == "ils"
    assert len(seen) == 1
    ordered, lists = seen[0]
    ways = ordered.distances(np.arange(ordered.n)[:, None], lists)
    # None leads to another village.
    assert (ways < 1e-3).all()


def test_matrices_have_no_clusters_that_are_seen() -> None:
    matrix = Instance.from_matrix(villages("EUC_2D", 10, 5).distance_matrix())
    task = task_of(matrix, ILS(), kernels=open_backend("c"))
    assert np.array_equal(with_clusters_in_order(task, matrix.canonical_tour()), np.arange(50))
