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

from pytsp.api.batches import TOGETHER_CITIES, Batches
from pytsp.distributed.coordinator import Coordinator, Order, places_of
from pytsp.distributed.places import Place
from pytsp.distributed.search import SLICE_SECONDS
from pytsp.exceptions import KernelError
from pytsp.problem.instance import Instance
from pytsp.problem.instances import Instances, cities_of, tour_lengths
from pytsp.run.monitor import Watch
from pytsp.run.result import Result
from pytsp.solvers.common.pacing import CALL_SECONDS
from pytsp.solvers.speeds import SPEEDS

# The cities of a place's first task.
FIRST_CITIES = {"cpu": 800, "gpu": 500_000}
# The most times that a task is as large as the place's last one.
MOST_GROWTH = 8
# The cities of the last tasks. A GPU takes as long for few instances as for a thousand.
LAST_CITIES = {"cpu": 800, "gpu": 100_000}
# Fewer cities than these are left to no task of their own.
REST_CITIES = {"cpu": 0, "gpu": 50_000}
# The tasks of each place into which the rest is cut, so that all places end at about the same time.
TASKS_LEFT = {"cpu": 2, "gpu": 1}
# The seconds of this process for a result.
RESULT_SECONDS = 8e-6
# The seconds without results after a task was sent, and how often in a row: threads of an executor wait 5 ms for one
# that computes, and places that began together may end together.
PAUSE_SECONDS, MOST_ROUNDS = 0.01, 2
# The results that are made before a free place has its next task.
RESULTS_AT_ONCE = 500


@dataclass(frozen=True)
class Share:
    """The arguments of a task: some instances by their numbers. One that is solved alone ends where the file `ending`
    exists."""

    numbers: tuple[int, ...]
    instances: Sequence[Instance]
    seconds_left: float | None
    ending: str


@dataclass(frozen=True)
class Solved:
    """The results of a task without their instances: each field is one value of all, or a column.

    Arrays of one shape are the rows of one array, which is sent sooner.
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
            if isinstance(values[0], np.ndarray):
                is_one = len({(value.shape, value.dtype) for value in values}) == 1
                columns[name] = np.stack(values) if is_one else values
            elif len(set(map(type, values))) == 1 and values.count(values[0]) == len(values):
                same[name] = values[0]
            else:
                columns[name] = values
        return cls(tuple(numbers), sum(result.seconds for result in results), same, columns)

    def results(self, instances: Sequence[Instance]) -> Iterator[tuple[int, Result]]:
        """Yield the numbers and their results; raise `KernelError` if a tour has another length than it says."""
        given = [instances[number] for number in self.numbers]
        lengths = tour_lengths(given, self.columns["tour"], is_rounded_once=False)
        for column in self.columns.values():
            if isinstance(column, np.ndarray):
                # A result need not copy its row, which nobody else has.
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


def solve_share(settings: tuple[int, int, int | None, dict[str, Any]], place: Place, share: Share) -> Solved:
    """Solve some instances, by the settings of all."""
    climbers, seed, iterations, placement = settings
    watch, ending = Watch(time_limit=share.seconds_left), share.ending
    batches = Batches(climbers, seed, iterations, place.placed(placement), watch, lambda _: os.path.exists(ending))
    return Solved.of(*zip(*_solved(batches, share.instances, share.numbers), strict=True))


def _solved(batches: Batches, instances: Sequence[Instance], numbers: Sequence[int]) -> Iterator[tuple[int, Result]]:
    """Yield the numbers and the results of instances that go together."""
    for index, result in batches.solve(list(instances)):
        if not isinstance(result, Result):
            raise result
        yield numbers[index], result


def solve_shares(
    instances: Sequence[Instance], batches: Batches, executor: Any, devices: Any
) -> Generator[tuple[int, Result], None, None]:
    """Yield the number of each instance, and its result, as workers solve them."""
    with places_of(executor, devices, batches.placement) as places:
        coordinator = Coordinator(places, (batches.climbers, batches.seed, batches.iterations, batches.placement))
        queue = _Queue(instances, batches.watch, len(places.current()))
        # The results that are not told yet.
        heard: deque[Iterator[tuple[int, Result]]] = deque()
        rounds = 0
        try:
            while queue.waiting or coordinator.running or heard:
                is_sending = _hand_out(coordinator, queue)
                if not coordinator.running and not heard:
                    if queue.watch.seconds_left <= 0:
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
            # There was no place, or one has gone with them.
            yield from _solved(batches, [instances[number] for number in queue.waiting], queue.waiting)
        finally:
            coordinator.end()
            coordinator.close()


def _some(heard: deque[Iterator[tuple[int, Result]]]) -> Iterator[tuple[int, Result]]:
    """Yield `RESULTS_AT_ONCE` of the results."""
    left = RESULTS_AT_ONCE
    while heard and left > 0:
        made = list(islice(heard[0], left))
        yield from made
        left -= len(made)
        if left > 0:
            heard.popleft()


def _hand_out(coordinator: Coordinator, queue: _Queue) -> bool:
    """Give each free place a task; return whether any was given."""
    is_given = False
    for place in coordinator.free():
        if not queue.waiting:
            break
        numbers = queue.take(place.key, place.has_gpu)
        name = f"instances {min(numbers)} to {max(numbers)}" if len(numbers) > 1 else f"instance {numbers[0]}"
        share = Share(numbers, _packed(queue.instances, numbers), queue.seconds_for(numbers), coordinator.ending)
        coordinator.give(place, Order(name, solve_share, share, owner=place.key))
        is_given = True
    return is_given


def _packed(instances: Sequence[Instance], numbers: tuple[int, ...]) -> Sequence[Instance]:
    """Return some instances, on their way to a worker."""
    if isinstance(instances, Instances):
        return instances.some(numbers)
    some = [instances[number] for number in numbers]
    # An instance that is solved alone may be asked for more than its coordinates.
    return Instances.stacked(some) if some[0].n in TOGETHER_CITIES else some


class _Queue:
    """The instances that nobody has yet: equally large ones together, since a kernel call takes such only, and those
    that are solved alone first."""

    def __init__(self, instances: Sequence[Instance], watch: Watch, places: int) -> None:
        self.instances, self.watch, self.places = instances, watch, places
        self.cities = cities_of(instances)
        self.waiting = deque(sorted(range(len(instances)), key=self.cities.__getitem__, reverse=True))
        self.cities_left = sum(self.cities)
        # By place: cities a second, in kernels and from task to task; the cities of the last task, and its beginning.
        self.speeds: dict[str, float] = {}
        self.rates: dict[str, float] = {}
        self.sizes: dict[str, int] = {}
        self.began: dict[str, float] = {}
        # The tasks that were given since the time is for the rest.
        self.late_tasks = 0

    @property
    def reserve(self) -> float:
        """The seconds in which all places take the rest to local optima, and are heard."""
        return SPEEDS["climb of many"] * self.cities_left / self.places + RESULT_SECONDS * len(self.waiting)

    @property
    def is_late(self) -> bool:
        """True when the time is for the rest, of which each place has an equal part."""
        return self.watch.seconds_left <= self.reserve

    def take(self, place: str, has_gpu: bool) -> tuple[int, ...]:
        """Return the numbers of the instances that a place has next."""
        self.late_tasks += self.is_late
        numbers = [self.waiting.popleft()]
        cities = self.cities[numbers[0]]
        if self.late_tasks or cities in TOGETHER_CITIES:
            size = math.ceil(self.cities_left / max(1, self.places + 1 - self.late_tasks))
            if not self.late_tasks:
                size = self._size(place, "gpu" if has_gpu else "cpu", cities)
            while self.waiting and cities + self.cities[self.waiting[0]] <= size:
                numbers.append(self.waiting.popleft())
                cities += self.cities[numbers[-1]]
            self.sizes[place], self.began[place] = cities, time.perf_counter()
        self.cities_left -= cities
        return tuple(numbers)

    def _size(self, place: str, machine: str, cities: int) -> int:
        """Return the cities of a place's next task, by the cities of the instances."""
        size = FIRST_CITIES[machine]
        if place in self.sizes:
            size = min(MOST_GROWTH * self.sizes[place], int(SLICE_SECONDS * self.speeds.get(place, 0.0)))
        left = self.cities_left + sum(self._going(other) for other in self.sizes if other != place)
        share = math.ceil(left / (TASKS_LEFT[machine] * self.places))
        # Places that end one after the other do not wait for each other's results.
        making = RESULT_SECONDS / cities * self.rates.get(place, 0.0)
        share -= int(making * max(0, self.cities_left - share) / 2)
        size = min(size, max(LAST_CITIES[machine], share))
        return self.cities_left if self.cities_left - size < REST_CITIES[machine] else size

    def _going(self, place: str) -> int:
        """Return the cities that a place has left, by its rate, or that of others until it is known."""
        rate = self.rates.get(place, max(self.rates.values(), default=0.0))
        return max(0, self.sizes[place] - int(rate * (time.perf_counter() - self.began[place])))

    def observe(self, place: str, numbers: Sequence[int], seconds: float) -> None:
        """Take the seconds of the kernels in a place's task, which ends now."""
        cities = sum(self.cities[number] for number in numbers)
        self.speeds[place] = cities / max(1e-6, seconds)
        if place in self.began:
            self.rates[place] = cities / max(1e-6, time.perf_counter() - self.began[place])

    def seconds_for(self, numbers: Sequence[int]) -> float | None:
        """Return the time limit of a task: for an instance that is solved alone, its share by its cities."""
        if self.watch.time_limit is None:
            return None
        if self.late_tasks:
            return max(1e-3, self.watch.seconds_left)
        left, cities = max(1e-3, self.watch.seconds_left - self.reserve), self.cities[numbers[0]]
        if cities in TOGETHER_CITIES:
            return left
        return max(1e-3, min(left, left * self.places * cities / (cities + self.cities_left)))
