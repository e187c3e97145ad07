"""The temperature of an iterated local search: how it falls, and that neither cuts nor backends change what it does."""

from __future__ import annotations

from typing import Any

import pytest
from cities import scattered
from clocks import KernelClock
from hypothesis import given, settings
from hypothesis import strategies as st
from kernel_calls import Climbers

import pytsp
from pytsp import Instance, random_tours
from pytsp.backends import Backend, open_backend
from pytsp.problem.kernel_input import form_of

PART = "search"
COOLED = 40


def climbers(backend: Backend, temperature: float, cooled: int = COOLED, **rest: Any) -> Climbers:
    """Three climbers on two hundred cities."""
    form = form_of(scattered(200, "EUC_2D", 1))
    options: dict[str, Any] = {"k": 6, "seed": 5, "temperature": temperature, "cooled": cooled} | rest
    return Climbers(backend, form, random_tours(200, 3, 0), **options)


@given(cuts=st.lists(st.integers(1, COOLED + 9), max_size=4), temperature=st.sampled_from((0.0, 5.0, 1e9)))
@settings(max_examples=20)
def test_cuts_change_nothing(backend: Backend, cuts: list[int], temperature: float) -> None:
    whole = climbers(backend, temperature).go(0, COOLED + 10).found()
    parts = climbers(backend, temperature)
    bounds = sorted({0, COOLED + 10, *cuts})
    for begin, end in zip(bounds, bounds[1:], strict=False):
        parts.go(begin, end - begin)
    assert parts.found() == whole
    assert climbers(open_backend("c"), temperature).go(0, COOLED + 10).found() == whole


@pytest.mark.parametrize("pivot", [0, 1, 2])
@pytest.mark.parametrize("start", [COOLED, COOLED + 1, 10**12])
def test_what_has_cooled_accepts_nothing_longer(backend: Backend, start: int, pivot: int) -> None:
    hot, cold = (climbers(backend, temperature, pivot=pivot).go(0, 0) for temperature in (1e12, 0.0))
    assert hot.go(start, 60).found() == cold.go(start, 60).found()


@pytest.mark.parametrize("iteration", [1, 2, 17, COOLED - 1])
def test_the_temperature_falls_with_the_square_of_what_is_left(backend: Backend, iteration: int) -> None:
    left = (COOLED - iteration) / COOLED
    warm = climbers(backend, 50.0).go(0, 0).go(iteration, 1)
    steady = climbers(backend, 50.0 * left * left, cooled=0).go(0, 0).go(iteration, 1)
    assert warm.found() == steady.found()
    # Where they stand now shows in what they come to.
    for each in (warm, steady):
        each.rest |= {"temperature": 0.0, "cooled": 0}
    assert warm.go(COOLED, 50).found() == steady.go(COOLED, 50).found()


def test_a_cooled_search_ends_below_a_hot_one(backend: Backend) -> None:
    cooled = climbers(backend, 20.0, cooled=1000).go(0, 1000).found()[1]
    hot = climbers(backend, 20.0, cooled=0).go(0, 1000).found()[1]
    assert sum(cooled) < sum(hot)


@pytest.mark.parametrize("exchange", [None, 7])
def test_a_number_of_iterations_is_what_it_cools_by(backend: Backend, exchange: int | None) -> None:
    reported = reported_by(backend, iterations=50, temperature=3, exchange=exchange)
    assert set(reported) == {(3.0, 50)}


def test_a_time_limit_is_what_it_cools_by(backend: Backend, monkeypatch: pytest.MonkeyPatch) -> None:
    KernelClock(monkeypatch)
    # By lists that take no other kernels.
    reported = reported_by(backend, time_limit=12, temperature=3, neighbours=10)
    assert {cooled for _, cooled in reported} == {0}
    temperatures = [temperature for temperature, _ in reported]
    assert temperatures == sorted(temperatures, reverse=True)
    assert 2 < temperatures[0] <= 3
    assert temperatures[-1] < 1


def reported_by(backend: Backend, **options: Any) -> list[tuple[float, int]]:
    """The temperatures that kernels are told in a solve, and the iterations by which they have fallen."""
    reported: list[tuple[float, int]] = []
    call = Backend.call

    def record(self: Backend, entry: str, *arguments: Any) -> Any:
        if entry.startswith("grid_ils"):
            plan = self.fields(arguments[3])
            reported.append((plan["temperature"], plan["cooled"]))
        return call(self, entry, *arguments)

    instance: Instance = scattered(60, "EUC_2D", 1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Backend, "call", record)
        result = pytsp.solve(instance, solver="ils", backend=backend.name, climbers=2, **options)
    assert result.length == instance.tour_length(result.tour)
    return reported
