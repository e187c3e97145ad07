"""Solving many instances: each as by itself, in their order."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import strategies
from hypothesis import given, settings
from hypothesis import strategies as st

import pytsp
from pytsp import Instance, Result
from pytsp.backends import Backend
from pytsp.exceptions import InstanceError


def assert_same(a: Result, b: Result) -> None:
    """Everything but the time."""
    assert (a.length, a.climber, a.iterations, a.stop_reason) == (b.length, b.climber, b.iterations, b.stop_reason)
    assert a.tour.tolist() == b.tour.tolist()
    assert a.lengths.tolist() == b.lengths.tolist()


@settings(max_examples=20)
@given(
    instances=st.lists(st.one_of(strategies.instances(), strategies.float_instances()), max_size=4),
    options=st.fixed_dictionaries(
        dict(climbers=st.integers(1, 3), seed=st.integers(0, 9), iterations=st.integers(0, 20))
    ),
)
def test_each_is_solved_as_by_itself(backend: Backend, instances: list[Instance], options: dict[str, Any]) -> None:
    results = pytsp.solve_many(iter(instances), start="random", **options)
    assert len(results) == len(instances)
    for instance, result in zip(instances, results, strict=True):
        assert result.instance is instance
        assert_same(result, pytsp.solve(instance, start="random", **options))


@pytest.mark.parametrize("metric", [None, "EUC_2D"])
def test_an_array_of_coordinates_is_many_instances(metric: str | None) -> None:
    points = np.random.default_rng(0).random((5, 12, 2)) * 100
    results = pytsp.solve_many(points, metric=metric, iterations=50, backend="c")
    for cities, result in zip(points, results, strict=True):
        instance = Instance.from_coordinates(cities, metric=metric or "EUCLIDEAN")
        assert result.length == instance.tour_length(result.tour)
        assert_same(result, pytsp.solve(instance, climbers=1, iterations=50, backend="c"))


def test_nothing_is_solved_to_nothing() -> None:
    assert pytsp.solve_many([], backend="c") == []
    assert pytsp.solve_many(np.empty((0, 5, 2)), backend="c") == []


@pytest.mark.parametrize("at", [0, 7, 20, 25])
def test_an_interruption_ends_the_list(at: int, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = 0
    call = Backend.call

    def interrupted(self: Backend, entry: str, *arguments: object) -> Any:
        nonlocal calls
        calls += 1
        if calls == at + 1:
            raise KeyboardInterrupt
        return call(self, entry, *arguments)

    monkeypatch.setattr(Backend, "call", interrupted)
    points = np.random.default_rng(0).random((50, 8, 2))
    if at == 0:
        with pytest.raises(KeyboardInterrupt):
            pytsp.solve_many(points, iterations=1, backend="c")
        return
    results = pytsp.solve_many(points, iterations=1, backend="c")
    assert 1 <= len(results) < 5
    assert {each.stop_reason for each in results[:-1]} <= {"finished"}
    assert all(each.length == each.instance.tour_length(each.tour) for each in results)


@pytest.mark.parametrize(
    ("instances", "options", "error", "words"),
    [
        (np.zeros((5, 2)), {}, ValueError, r"must have shape \(b, n, 2\); the shape is \(5, 2\)"),
        (np.zeros((2, 5, 4)), {}, InstanceError, "EUCLIDEAN needs"),
        ([np.zeros((5, 2))], {}, TypeError, r"instances\[0\] must be a pytsp.Instance; it is a ndarray"),
        ([], {"metric": "EUC_2D"}, ValueError, "metric='EUC_2D' does not concern instances"),
        ([], {"climbers": 0}, ValueError, "climbers must be a whole number from 1"),
        ([], {"neighbours": [[1], [0]]}, ValueError, "neighbours must be a number"),
    ],
)
def test_what_is_wrong_is_refused_before_any_is_solved(
    instances: Any, options: Any, error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        pytsp.solve_many(instances, backend="c", **options)
