"""Islands exchange tours: none is lost, none is there twice, and it does not matter what a worker still has."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from typing import Any

import cities
import emulated
import numpy as np
import pytest
from results import assert_same
from workers import short_slices

import pytsp
from pytsp.backends.context import Backend
from pytsp.backends.devices import Probe
from pytsp.backends.registry import open_backend
from pytsp.distributed import places, search, slices
from pytsp.distributed.islands import (
    GENERATIONS,
    MANY_CITIES,
    MIGRATING,
    MORE_GENERATIONS,
    Island,
    Islands,
    Migrants,
    Stay,
    begin_island,
    round_generations,
)
from pytsp.run.monitor import Watch
from pytsp.solvers.common.task import Task

PART = "flat"
uniform = partial(cities.uniform, side=10_000)


def island(backend: Backend, number: int, climbers: int = 20, **more: Any) -> Island:
    options = pytsp.EAX(climbers=climbers, iterations=100, **more)
    task = Task(uniform(200), options, Watch(), 5, None, lambda: backend)
    return begun(task, number, Stay(GENERATIONS))


def begun(task: Task[Any], number: int, *stays: Stay) -> Island:
    island = begin_island(task, number)
    for stay in stays:
        island.hear(stay)
    return island


def to_its_end(island: Island) -> Migrants:
    while not island.is_finished:
        island.advance()
    answer = island.answer()
    assert answer is not None
    return answer


def tours_of(*islands: Island) -> Counter[bytes]:
    fields = [each.kernels.fields(each.standing.handle)["bests"] for each in islands]
    return Counter(tour.tobytes() for tour in np.concatenate(fields))


@pytest.mark.parametrize("moves", ["lk", "flat"])
def test_an_exchange_loses_no_tour_and_doubles_none(backend: Backend, moves: str) -> None:
    islands = [island(backend, number, moves=moves) for number in range(3)]
    sent = [to_its_end(each) for each in islands]
    before, best = tours_of(*islands), min(int(each.standing.lengths.min()) for each in islands)
    for number, each in enumerate(islands):
        each.hear(Stay(2 * GENERATIONS, sent[number - 1]))
        each.advance()
    assert tours_of(*islands) == before
    assert min(int(each.standing.lengths.min()) for each in islands) == best
    for number, each in enumerate(islands):
        # Who has come stands behind the others, with the lengths of before.
        fields, came = each.kernels.fields(each.standing.handle), sent[number - 1].climbers
        assert len(came["lengths"]) == 20 // MIGRATING
        for field, name in (("bests", "tours"), ("lengths", "lengths")):
            np.testing.assert_array_equal(fields[field][-len(came["lengths"]) :], came[name])
        np.testing.assert_array_equal(each.standing.lengths, fields["lengths"])


def test_an_island_that_begins_again_lives_through_all_its_stays() -> None:
    backend = open_backend("c")
    one, other = island(backend, 0), island(backend, 1)
    to_its_end(one)
    stays = [Stay(GENERATIONS), Stay(2 * GENERATIONS, to_its_end(other))]
    one.hear(stays[1])
    to_its_end(one)
    again = begun(Task(uniform(200), one.options, Watch(), 5, None, lambda: backend), 0, *stays)
    to_its_end(again)
    assert tours_of(again) == tours_of(one)


@pytest.mark.parametrize(
    ("populations", "come"),
    [([1, 1, 1], [2, 0, 1]), ([1, 3, 1], [None] * 3), ([1, None, 1], [None] * 3), ([1], [None])],
)
def test_only_tours_of_the_same_population_are_exchanged(populations: list[int | None], come: list[int | None]) -> None:
    class Stands:
        def __init__(self, migrants: Migrants | None) -> None:
            self.migrants = migrants

    sent = [None if each is None else Migrants(each, {"number": np.array(at)}) for at, each in enumerate(populations)]
    islands = object.__new__(Islands)
    islands.islands = [Stands(each) for each in sent]  # type: ignore[misc]
    assert islands._exchanged() == [None if each is None else sent[each] for each in come]


@pytest.mark.parametrize("workers", [None, 1, 2])
def test_islands_give_way_to_each_other_and_lose_nothing(workers: int | None, monkeypatch: pytest.MonkeyPatch) -> None:
    instance = uniform(500)
    options = {"solver": "eax", "islands": 3, "climbers": 16, "moves": "flat", "backend": "c"}
    expected = pytsp.solve(instance, **options)
    # A worker keeps but the last search, and tells where one stands only where it has to.
    monkeypatch.setattr(slices, "MOST_CITIES", 1)
    monkeypatch.setattr(search, "STATE_SECONDS_A_BYTE", 1e9)
    executor = None if workers is None else ThreadPoolExecutor(workers)
    with short_slices(0.0):
        result = pytsp.solve(instance, executor=executor, **options)
    assert_same(result, expected)
    assert result.iterations is not None and result.iterations > GENERATIONS


@pytest.mark.parametrize("name", [emulated.NAMED])
def test_gpus_of_one_process_find_what_the_cpu_does(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    gpus = [emulated.GPU, replace(emulated.GPU, index=1)]
    monkeypatch.setattr(emulated.Emulated, "probe", lambda _: Probe(tuple(gpus)))
    monkeypatch.setattr(places, "_devices_of", lambda *_: (name, gpus))
    instance, options = uniform(300), {"solver": "eax", "islands": 3, "climbers": 12, "moves": "flat"}
    with pytsp.distributed.Devices() as executor:
        opened = set()
        for _ in range(2):
            result = pytsp.solve(instance, executor=executor, progress=lambda now: opened.add(now.workers), **options)
            expected = pytsp.solve(instance, backend="c", **options)
            assert np.array_equal(result.tour, expected.tour) and np.array_equal(result.lengths, expected.lengths)
        points = np.random.default_rng(0).random((30, 40, 2))
        many = pytsp.solve_many(points, executor=executor, climbers=6)
    assert np.array_equal(many.tours, pytsp.solve_many(points, climbers=6, backend="c").tours)
    assert opened == {2} and result.backend == name


def test_rounds_of_many_cities_are_longer() -> None:
    assert [round_generations(n) for n in (8, MANY_CITIES)] == [GENERATIONS] * 2
    assert round_generations(MANY_CITIES + 1) == MORE_GENERATIONS


def test_a_solve_that_has_ended_leaves_no_population_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    jobs: list[slices.Job] = []

    def noted(*given: Any) -> slices.Job:
        jobs.append(slices.Job(*given))
        return jobs[-1]

    monkeypatch.setattr(search, "Job", noted)
    pytsp.solve(uniform(60), solver="eax", islands=2, climbers=8, iterations=3, backend="c")
    assert [job.live for job in jobs] == [{}]
