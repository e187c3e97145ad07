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
from typing import Any, NamedTuple

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
# The work of a GPU a second, before it is seen: cities times climbers.
FIRST_RATE = 1e7
# The results that are made before a free place has its next task.
RESULTS_AT_ONCE = 500


@dataclass(frozen=True)
class Share:
    """The arguments of a task: some instances by their numbers, and how many climbers there is time for. One that is
    solved alone ends where the file `ending` exists."""

    numbers: tuple[int, ...]
    instances: Sequence[Instance]
    timely: int
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
    place_of = place.placed(placement)
    batches = Batches(climbers, seed, iterations, place_of, watch, lambda _: os.path.exists(ending), share.timely)
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
        queue = _Queue(instances, batches, len(places.current()))
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
        numbers, climbers = queue.take(place.key, place.has_gpu)
        name = f"instances {min(numbers)} to {max(numbers)}" if len(numbers) > 1 else f"instance {numbers[0]}"
        packed, seconds = _packed(queue.instances, numbers), queue.seconds_for(numbers)
        share = Share(numbers, packed, climbers, seconds, coordinator.ending)
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


class _Task(NamedTuple):
    """Instances that go together at a place: their cities, the climbers of each, and when it had them."""

    place: str
    cities: int
    climbers: int
    began: float


class _Queue:
    """The instances that nobody has yet: equally large ones together, since a kernel call takes such only, and those
    that are solved alone first."""

    def __init__(self, instances: Sequence[Instance], batches: Batches, places: int) -> None:
        self.instances, self.watch, self.climbers, self.places = instances, batches.watch, batches.climbers, places
        self.cities = cities_of(instances)
        self.waiting = deque(sorted(range(len(instances)), key=self.cities.__getitem__, reverse=True))
        self.cities_left = sum(self.cities)
        # By place, or of all processes of a pool: the work a second, in kernels and from task to task; and the last
        # task's cities.
        self.speeds: dict[str, float] = {}
        self.rates: dict[str, float] = {}
        self.sizes: dict[str, int] = {}
        # By the least number of a task's instances.
        self.running: dict[int, _Task] = {}
        # The tasks that were given since there is no time for a climber of each instance.
        self.late_tasks = 0

    def take(self, place: str, has_gpu: bool) -> tuple[tuple[int, ...], int]:
        """Return the numbers of the instances that a place has next, and how many climbers there is time for."""
        machine = "gpu" if has_gpu else "cpu"
        climbers = self._timely(machine)
        self.late_tasks += bool(self.late_tasks or climbers == 0)
        numbers = [self.waiting.popleft()]
        cities = self.cities[numbers[0]]
        if self.late_tasks or cities in TOGETHER_CITIES:
            # Of what is late each place has an equal part.
            size = math.ceil(self.cities_left / max(1, self.places + 1 - self.late_tasks))
            if not self.late_tasks:
                size = self._size(place, machine, cities, climbers)
            while self.waiting and cities + self.cities[self.waiting[0]] <= size:
                numbers.append(self.waiting.popleft())
                cities += self.cities[numbers[-1]]
            self.sizes[place] = cities
            self.running[min(numbers)] = _Task(place, cities, climbers, time.perf_counter())
        self.cities_left -= cities
        return tuple(numbers), self.climbers if self.late_tasks else climbers

    def _timely(self, machine: str) -> int:
        """Return how many climbers of each instance there is time for."""
        if self.watch.time_limit is None:
            return self.climbers
        of_city = SPEEDS["batch, climber"] * self.cities[self.waiting[0]] ** (1 / 3)
        first = 1 / of_city if machine == "cpu" else FIRST_RATE
        rates = [*self.rates.values()] or [first]
        work = sum(rates) / len(rates) * self.places * self._seconds_left
        work -= sum(_work(self._going(task), task.climbers) for task in self.running.values())
        return max(0, min(self.climbers, int(work / self.cities_left) - 1))

    @property
    def _seconds_left(self) -> float:
        """The seconds until the time for the results of the rest."""
        return self.watch.seconds_left - RESULT_SECONDS * len(self.waiting)

    def _size(self, place: str, machine: str, cities: int, climbers: int) -> int:
        """Return the cities of a place's next task, by the cities of the instances and their climbers."""
        size = FIRST_CITIES[machine]
        if place in self.sizes:
            fitting = int(SLICE_SECONDS * self.speeds.get(place, 0.0) / _work(1, climbers))
            size = min(MOST_GROWTH * self.sizes[place], fitting)
        left = self.cities_left + sum(map(self._going, self.running.values()))
        share = math.ceil(left / (TASKS_LEFT[machine] * self.places))
        # Places that end one after the other do not wait for each other's results.
        making = RESULT_SECONDS / cities * self.rates.get(place, 0.0) / _work(1, climbers)
        share -= int(making * max(0, self.cities_left - share) / 2)
        size = min(size, max(LAST_CITIES[machine], share))
        return self.cities_left if self.cities_left - size < REST_CITIES[machine] else size

    def _going(self, task: _Task) -> int:
        """Return the cities that a task has left, by its place's rate, or that of others until it is known."""
        rate = self.rates.get(task.place, max(self.rates.values(), default=0.0)) / _work(1, task.climbers)
        return max(0, task.cities - int(rate * (time.perf_counter() - task.began)))

    def observe(self, place: str, numbers: Sequence[int], seconds: float) -> None:
        """Take the seconds of the kernels in a task that a place has done."""
        task = self.running.pop(min(numbers), None)
        if task is not None:
            work = _work(task.cities, task.climbers)
            self.speeds[place] = work / max(1e-6, seconds)
            self.rates[place] = work / max(1e-6, time.perf_counter() - task.began)

    def seconds_for(self, numbers: Sequence[int]) -> float | None:
        """Return the time limit of a task: for an instance that is solved alone, its share by its cities."""
        if self.watch.time_limit is None:
            return None
        left, cities = self._seconds_left, self.cities[numbers[0]]
        if not self.late_tasks and cities not in TOGETHER_CITIES:
            left = min(left, left * self.places * cities / (cities + self.cities_left))
        return max(1e-3, left)


def _work(cities: int, climbers: int) -> int:
    """Return the work of the climbers of some cities, of which the lists are about as much as a climber."""
    return cities * (1 + climbers)
