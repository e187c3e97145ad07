"""Many instances over workers: each task has some of them, as many as take a fraction of a second."""

from __future__ import annotations

import math
import os
import time
from collections import deque
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, fields
from itertools import islice
from operator import attrgetter
from typing import Any

import numpy as np

from pytsp.api.many import SHORTENED_SECONDS, TOGETHER_CITIES, Batches
from pytsp.distributed.coordinator import Coordinator, Kept, Order, places_of
from pytsp.distributed.search import SLICE_SECONDS
from pytsp.distributed.slices import placed_here
from pytsp.distributed.worker import Shared
from pytsp.exceptions import KernelError
from pytsp.problem.instance import Instance
from pytsp.problem.instances import Instances, cities_of
from pytsp.problem.lengths import tour_lengths
from pytsp.run.monitor import Watch
from pytsp.run.result import Result
from pytsp.solvers.common.pacing import CALL_SECONDS

__all__ = ["Share", "solve_share", "solve_shares"]

# How many cities the first task of a place has, by what it works on; by how much at most one has more than the one
# before; how many the last ones have; so few are no task of their own; and into how many tasks of each place what is
# left is cut at least, so that all places end at about the same time: a GPU takes as long for few instances as for a
# thousand.
FIRST_CITIES = {"cpu": 800, "gpu": 500_000}
MOST_GROWTH = 8
LAST_CITIES = {"cpu": 800, "gpu": 100_000}
REST_CITIES = {"cpu": 0, "gpu": 50_000}
TASKS_LEFT = {"cpu": 2, "gpu": 1}
# What a result takes here; how long none is made where a task is sent, and places may end that began together with its
# own: an executor's threads, which send and hear, wait 5 ms for one that computes; how often in a row that is done for
# others; and how many are made before a place that is free has its next task.
RESULT_SECONDS = 8e-6
PAUSE_SECONDS = 0.01
MOST_ROUNDS = 2
RESULTS_AT_ONCE = 500


@dataclass(frozen=True)
class Share:
    """What a worker is asked: some instances, by their numbers, and what `Batches` has of all.

    Work on an instance that is solved alone ends where the file `ending` is there.
    """

    numbers: tuple[int, ...]
    instances: Sequence[Instance]
    climbers: int
    seed: int
    iterations: int | None
    common: dict[str, Any]
    seconds_left: float | None
    ending: str


@dataclass(frozen=True)
class Solved:
    """What a worker came to: the numbers of instances, the seconds of all, and their results without the instances.

    Each field is one value of all, or a column; arrays of one shape are the rows of one array, which is sent sooner.
    """

    numbers: tuple[int, ...]
    seconds: float
    same: dict[str, Any]
    columns: dict[str, Any]

    @classmethod
    def of(cls, numbers: Sequence[int], results: Sequence[Result]) -> Solved:
        same: dict[str, Any] = {}
        columns: dict[str, Any] = {}
        for name in (each.name for each in fields(Result) if each.name != "instance"):
            values = list(map(attrgetter(name), results))
            if not isinstance(values[0], np.ndarray):
                is_one = len(set(map(type, values))) == 1 and values.count(values[0]) == len(values)
                (same if is_one else columns)[name] = values[0] if is_one else values
            else:
                is_one = len({(value.shape, value.dtype) for value in values}) == 1
                columns[name] = np.stack(values) if is_one else values
        return cls(tuple(numbers), sum(result.seconds for result in results), same, columns)

    def results(self, instances: Sequence[Instance]) -> Iterator[tuple[int, Result]]:
        """Yield the numbers and their results, once their tours have the lengths that they say.

        Raises
        ------
        KernelError
            If one has another.
        """
        given = [instances[number] for number in self.numbers]
        lengths = tour_lengths(given, self.columns["tour"], is_rounded_once=False)
        for column in self.columns.values():
            if isinstance(column, np.ndarray):
                # Nobody else has it: a result need not copy its tour. Those of several shapes arrive as they were sent.
                column.setflags(write=False)
        names = ("instance", *self.columns)
        for number, length, *row in zip(self.numbers, lengths, given, *self.columns.values(), strict=True):
            result = Result._of_fields(self.same, zip(names, row, strict=True))
            if abs(length - result.length) > 1e-9 * abs(length):
                raise KernelError(
                    f"{result.instance.name or 'an instance'}: a worker on backend {result.backend} reports length "
                    f"{result.length} for a tour, but its length is {length}: its kernels are miscompiled; please "
                    "report this"
                )
            yield number, result


def solve_share(_: Shared, share: Share) -> Solved:
    """Solve some instances."""
    placed = placed_here({name: share.common[name] for name in ("backend", "threads", "device")})
    batches = Batches(
        share.climbers,
        share.seed,
        share.iterations,
        share.common | placed,
        Watch(time_limit=share.seconds_left),
        lambda _: os.path.exists(share.ending),
    )
    solved = []
    for number, result in batches.solve(list(share.instances)):
        if not isinstance(result, Result):
            raise result
        solved.append((number, result))
    return Solved.of([share.numbers[number] for number, _ in solved], [result for _, result in solved])


def solve_shares(
    instances: Sequence[Instance], batches: Batches, executor: Any, devices: Any
) -> Generator[tuple[int, Result], None, None]:
    """Yield the number of each instance, and its result, as workers solve them."""
    placed = {name: batches.common[name] for name in ("backend", "threads", "device")}
    entered = places_of(executor, devices, placed)
    assert entered is not None
    with entered as places:
        coordinator = Coordinator(places, Kept())
        queue = _Queue(instances, batches.watch, len(places.current()))
        # What was heard, and is not told yet.
        heard: deque[Iterator[tuple[int, Result]]] = deque()
        rounds = 0
        try:
            while queue.waiting or coordinator.running or heard:
                is_sending = _hand_out(coordinator, queue, batches)
                if not coordinator.running and not heard:
                    if queue.is_over:
                        break
                    # Nobody is there; workers may come.
                    time.sleep(CALL_SECONDS)
                replies = coordinator.wait((PAUSE_SECONDS if is_sending else 0.0) if heard else CALL_SECONDS)
                for order, solved in replies:
                    queue.observe(order.owner, solved.numbers, solved.seconds)
                    heard.append(solved.results(instances))
                # A place that has done its task waits for no results of others, but neither do these wait on and on.
                rounds = rounds + 1 if replies and rounds < MOST_ROUNDS else 0
                if rounds == 0:
                    yield from _some(heard)
            for done, number in enumerate(queue.waiting):
                yield number, batches.untimely(instances[number], len(queue.waiting) - done)
        finally:
            coordinator.end()
            coordinator.close()


def _some(heard: deque[Iterator[tuple[int, Result]]]) -> Iterator[tuple[int, Result]]:
    """Yield some of the results that were heard."""
    left = RESULTS_AT_ONCE
    while heard and left > 0:
        made = list(islice(heard[0], left))
        yield from made
        left -= len(made)
        if left > 0:
            heard.popleft()


def _hand_out(coordinator: Coordinator, queue: _Queue, batches: Batches) -> bool:
    """Give each free place a task; return whether any was given."""
    is_any = False
    for place in coordinator.free():
        if queue.is_over:
            break
        is_any = True
        key = place.name if place.is_sticky else ""
        numbers = queue.take(key, place.has_gpu)
        coordinator.give(place, _order(numbers, key, queue, batches, coordinator.ending))
    return is_any


def _order(numbers: tuple[int, ...], key: str, queue: _Queue, batches: Batches, ending: str) -> Order:
    """Return the task of solving some instances, for a place."""
    given, seconds = _packed(queue.instances, numbers), queue.seconds_for(numbers)
    share = Share(numbers, given, batches.climbers, batches.seed, batches.iterations, batches.common, seconds, ending)
    several = f"instances {min(numbers)} to {max(numbers)}"
    return Order(several if len(numbers) > 1 else f"instance {numbers[0]}", solve_share, share, owner=key)


def _packed(instances: Sequence[Instance], numbers: tuple[int, ...]) -> Sequence[Instance]:
    """Return some instances, on their way to a worker."""
    if isinstance(instances, Instances):
        return instances.some(numbers)
    some = [instances[number] for number in numbers]
    # What is solved alone may ask for more of an instance than its coordinates.
    return Instances.stacked(some) if some[0].n in TOGETHER_CITIES else some


class _Queue:
    """The instances that nobody has yet: equally large ones together, since a kernel call takes such only, and those
    that are solved alone first."""

    def __init__(self, instances: Sequence[Instance], watch: Watch, places: int) -> None:
        self.instances, self.watch, self.places = instances, watch, places
        self.cities = cities_of(instances)
        self.waiting = deque(sorted(range(len(instances)), key=self.cities.__getitem__, reverse=True))
        self.cities_left = sum(self.cities)
        # The cities a second of each place, in kernels and until it was heard of; those of its last task, and when it
        # had that.
        self.speeds: dict[str, float] = {}
        self.rates: dict[str, float] = {}
        self.sizes: dict[str, int] = {}
        self.began: dict[str, float] = {}

    @property
    def reserve(self) -> float:
        """How long is kept for instances that are not solved, in half of the limit."""
        limit = self.watch.time_limit
        return 0.0 if limit is None else min(len(self.waiting) * SHORTENED_SECONDS, limit / 2)

    @property
    def is_over(self) -> bool:
        return not self.waiting or self.watch.seconds_left <= self.reserve

    def take(self, place: str, has_gpu: bool) -> tuple[int, ...]:
        """Return the numbers of the instances that a place has next."""
        numbers = [self.waiting.popleft()]
        cities = self.cities[numbers[0]]
        if cities in TOGETHER_CITIES:
            before, speed = self.sizes.get(place), self.speeds.get(place, 0.0)
            machine = "gpu" if has_gpu else "cpu"
            fitting = min(MOST_GROWTH * (before or 0), int(SLICE_SECONDS * speed))
            size = FIRST_CITIES[machine] if before is None else fitting
            left = self.cities_left + sum(self._going(other) for other in self.sizes if other != place)
            share = math.ceil(left / (TASKS_LEFT[machine] * self.places))
            # Places that end one after the other do not wait for each other's results.
            making = RESULT_SECONDS / cities * self.rates.get(place, 0.0)
            share -= int(making * max(0, self.cities_left - share) / 2)
            size = min(size, max(LAST_CITIES[machine], share))
            if self.cities_left - size < REST_CITIES[machine]:
                size = self.cities_left
            while self.waiting and cities + self.cities[self.waiting[0]] <= size:
                numbers.append(self.waiting.popleft())
                cities += self.cities[numbers[-1]]
            self.sizes[place], self.began[place] = cities, time.perf_counter()
        self.cities_left -= cities
        return tuple(numbers)

    def _going(self, place: str) -> int:
        """Return how many cities a place has before it, by its rate, or that of others until it is heard of."""
        rate = self.rates.get(place, max(self.rates.values(), default=0.0))
        done = rate * (time.perf_counter() - self.began[place])
        return max(0, self.sizes[place] - int(done))

    def observe(self, place: str, numbers: Sequence[int], seconds: float) -> None:
        """Take how long the kernels of a place's task have taken, and the place until now."""
        cities = sum(self.cities[number] for number in numbers)
        self.speeds[place] = cities / max(1e-6, seconds)
        if place in self.began:
            self.rates[place] = cities / max(1e-6, time.perf_counter() - self.began[place])

    def seconds_for(self, numbers: Sequence[int]) -> float | None:
        """Return how long a task may take: what is left, and of that, where an instance is solved alone, its share by
        its cities."""
        if self.watch.time_limit is None:
            return None
        left, cities = max(1e-3, self.watch.seconds_left - self.reserve), self.cities[numbers[0]]
        if cities in TOGETHER_CITIES:
            return left
        return max(1e-3, min(left, left * self.places * cities / (cities + self.cities_left)))
