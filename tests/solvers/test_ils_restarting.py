"""Climbers of an iterated local search that begin anew where they are stuck."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest
from cities import uniform
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from tasks import task_of

import pytsp
from pytsp import random_tours
from pytsp.backends import Backend
from pytsp.solvers.common.starting_tours import restart_tours
from pytsp.solvers.common.task import Task
from pytsp.solvers.ils.archive import NONE, Archive
from pytsp.solvers.options.ils import ILS
from pytsp.starts.construct import nearest_neighbour

population_module = importlib.import_module("pytsp.solvers.ils.population")


def asked(n: int, seed: int, **options: Any) -> Task[ILS]:
    """A solve of n cities by iterated local search."""
    return task_of(uniform(n), ILS(**options), seed=seed)


def population(lengths: list[int], tag: int) -> dict[str, Any]:
    """A population of two cities whose tours tell whose they are."""
    tours = np.array([[tag, place] for place in range(len(lengths))], dtype=np.int32)
    numbers = np.array(lengths, dtype=np.int64)
    return {"tours": tours, "bests": 10 + tours, "lengths": numbers, "steps": numbers % 7}


@given(st.lists(st.lists(st.integers(0, 2), min_size=4, max_size=4), min_size=1, max_size=9))
def test_each_climber_keeps_the_shortest_tour_that_it_has_had(rounds: list[list[int]]) -> None:
    """By so much tours become shorter from look to look; beside goes a list of all that a climber had at a look."""
    had: list[list[tuple[int, list[int]]]] = [[], [], [], []]
    archive, lengths, seen = Archive.empty(4, 2), [50, 51, 52, 53], [int(NONE)] * 4
    for number, shorter in enumerate(rounds):
        lengths = [length - by for length, by in zip(lengths, shorter, strict=True)]
        now, before = population(lengths, tag=number), population(lengths, tag=number)
        for place in range(4):
            had[place].append((lengths[place], now["bests"][place].tolist()))
        stuck = archive.stuck(now["lengths"])
        assert stuck.tolist() == [length >= last for length, last in zip(lengths, seen, strict=True)]
        fresh = population([54, 40, 52, 56], tag=100 + number)
        now, archive = archive.begun(now, fresh, stuck)
        for place in range(4):
            source = fresh if stuck[place] else before
            assert all(np.array_equal(now[name][place], source[name][place]) for name in ("tours", "bests", "lengths"))
            assert now["steps"][place] == before["steps"][place] + (fresh["steps"][place] if stuck[place] else 0)
            if stuck[place]:
                had[place].append((int(fresh["lengths"][place]), fresh["bests"][place].tolist()))
        lengths = seen = now["lengths"].tolist()
        assert archive.seen.tolist() == seen
        shortest = [min(length for length, _ in each) for each in had]
        assert archive.shortest(now["lengths"]).tolist() == shortest
        given_back = archive.returned({name: column.copy() for name, column in now.items()})
        assert given_back["lengths"].tolist() == shortest
        assert all((shortest[place], given_back["bests"][place].tolist()) in had[place] for place in range(4))


def test_tours_from_which_climbers_begin_anew_are_their_own() -> None:
    instance = uniform(40)
    begins, random = (restart_tours(asked(40, 4, start=start)) for start in (None, "random"))
    tours = {(climber, turn): random(climber, turn) for climber in (0, 1, 70) for turn in (1, 2)}
    assert len({tuple(tour) for tour in tours.values()}) == len(tours)
    assert not any(np.array_equal(random_tours(40, 1, 4, climber)[0], tours[climber, 1]) for climber in (0, 1, 70))
    for (climber, turn), tour in tours.items():
        assert pytsp.is_tour(tour, 40)
        kind = tour if climber == 70 else nearest_neighbour(instance, seed=int(tour[0]))
        assert np.array_equal(begins(climber, turn), kind)
        assert np.array_equal(restart_tours(asked(40, 4))(climber, turn), kind)
    # The streams go round where a climber's number leaves no room.
    assert pytsp.is_tour(random(2**62 - 1, 2**62), 40)


def starts_of(backend: Backend, monkeypatch: pytest.MonkeyPatch, **options: Any) -> list[tuple[int, NDArray[np.int32]]]:
    """The tours from which climbers descend, and after how many iterations."""
    seen: list[tuple[int, NDArray[np.int32]]] = []
    made = 0
    call = Backend.call

    def record(self: Backend, entry: str, *arguments: Any) -> Any:
        nonlocal made
        if "_ils" in entry:
            made += self.fields(arguments[3])["iterations"]
        if entry == "population_given":
            seen.append((made, arguments[0].copy()))
        return call(self, entry, *arguments)

    with monkeypatch.context() as patch:
        patch.setattr(Backend, "call", record)
        pytsp.solve(uniform(7), solver="ils", backend=backend.name, **{"temperature": 0.0} | options)
    return seen


@pytest.mark.parametrize("first", [0, 2])
def test_climbers_without_success_begin_anew(backend: Backend, first: int, monkeypatch: pytest.MonkeyPatch) -> None:
    # Seven cities are at their optimum after the first descent or the first kicks.
    seen = starts_of(backend, monkeypatch, iterations=400, restart=100, climbers=3, first=first, seed=6)
    assert [at for at, _ in seen] == [0, 200, 300]
    anew = restart_tours(asked(7, 6))
    for at, tours in seen[1:]:
        assert np.array_equal(tours, [anew(first + place, at // 100) for place in range(3)])
    # Not in the end, and not where there was no second look.
    for iterations in (100, 101, 200):
        assert len(starts_of(backend, monkeypatch, iterations=iterations, restart=100, climbers=3)) == 1


def test_no_climber_begins_anew_where_there_is_no_time(backend: Backend, monkeypatch: pytest.MonkeyPatch) -> None:
    options: dict[str, Any] = dict(iterations=400, restart=100, climbers=3, time_limit=600.0)
    assert len(starts_of(backend, monkeypatch, **options)) > 1
    monkeypatch.setattr("pytsp.solvers.policy.ANEW_DESCENTS", 1e12)
    assert len(starts_of(backend, monkeypatch, **options)) == 1


def test_what_was_set_aside_is_told_after_an_interruption(backend: Backend) -> None:
    class Stop(KeyboardInterrupt):
        pass

    def stop(reported: pytsp.Progress) -> None:
        if reported.iteration >= 300:
            raise Stop

    found = pytsp.solve(
        uniform(7), solver="ils", backend=backend.name, climbers=3, iterations=400, restart=100, seed=6, progress=stop
    )
    assert found.stop_reason == "interrupted"
    assert found.length == found.lengths.min() == uniform(7).tour_length(found.tour)


def test_climbers_that_may_begin_anew_take_more_memory() -> None:
    with pytest.raises(ValueError, match="climbers") as plain:
        pytsp.solve(uniform(50), solver="ils", climbers=2**40, backend="c")
    with pytest.raises(ValueError, match="climbers") as anew:
        pytsp.solve(uniform(50), solver="ils", climbers=2**40, restart=5, backend="c")
    assert str(plain.value) != str(anew.value)
