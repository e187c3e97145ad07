"""Many instances over workers: each task has some of them, as many as take a fraction of a second."""

from __future__ import annotations

import math
import os
import time
from collections import deque
from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytsp.api.many import SHORTENED_SECONDS, TOGETHER_CITIES, Batches
from pytsp.distributed.coordinator import Coordinator, Kept, Order
from pytsp.distributed.parts import SLICE_SECONDS
from pytsp.distributed.places import places_of
from pytsp.distributed.slices import placed_here
from pytsp.distributed.worker import Shared
from pytsp.exceptions import KernelError
from pytsp.problem.instance import Instance
from pytsp.problem.lengths import tour_lengths
from pytsp.run.monitor import Watch
from pytsp.run.result import Result
from pytsp.solvers.common.pacing import CALL_SECONDS

__all__ = ["Share", "solve_share", "solve_shares"]

# How many cities the first task of a place has, by what it works on; by how much at most one has more than the one
# before; how many the last ones have; so few are no task of their own; and into how many tasks of each place what is
# left is cut at least, so that all places end at about the same time: a GPU takes as long for few instances as for a
# thousand.
FIRST_CITIES = {"cpu": 800, "gpu": 200_000}
MOST_GROWTH = 8
LAST_CITIES = {"cpu": 800, "gpu": 100_000}
REST_CITIES = {"cpu": 0, "gpu": 50_000}
TASKS_LEFT = {"cpu": 2, "gpu": 1}


@dataclass(frozen=True)
class Points:
    """Instances of equally many cities that are solved together, on their way to a worker.

    Their coordinates are one array, which is sent sooner.
    """

    metric: str
    names: tuple[str, ...]
    points: NDArray[np.float64]

    @classmethod
    def of(cls, instances: Sequence[Instance]) -> Points | tuple[Instance, ...]:
        """Return them, or the instances themselves where these are others."""
        points = [each.coordinates for each in instances if each.coordinates is not None and type(each) is Instance]
        (metric, shape), *others = {(each.metric, each._array.shape) for each in instances}
        if others or len(points) < len(instances) or shape[0] not in TOGETHER_CITIES:
            return tuple(instances)
        return cls(metric, tuple(each.name for each in instances), np.stack(points))

    def __iter__(self) -> Iterator[Instance]:
        self.points.setflags(write=False)
        for name, points in zip(self.names, self.points, strict=True):
            yield Instance._of_lawful_coordinates(points, self.metric, name)


@dataclass(frozen=True)
class Share:
    """What a worker is asked: some instances, by their numbers, and what `Batches` has of all.

    Work on an instance that is solved alone ends where the file `ending` is there.
    """

    numbers: tuple[int, ...]
    instances: Iterable[Instance]
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
            values = [getattr(result, name) for result in results]
            if not isinstance(values[0], np.ndarray):
                is_one = all(type(value) is type(values[0]) and value == values[0] for value in values)
                (same if is_one else columns)[name] = values[0] if is_one else values
            else:
                is_one = len({(value.shape, value.dtype) for value in values}) == 1
                columns[name] = np.stack(values) if is_one else values
        return cls(tuple(numbers), sum(result.seconds for result in results), same, columns)

    def results(self, instances: Sequence[Instance]) -> Iterator[tuple[int, Result]]:
        """Yield the numbers and their results."""
        for column in self.columns.values():
            if isinstance(column, np.ndarray):
                # Nobody else has it: a result need not copy its tour. Those of several shapes arrive as they were sent.
                column.setflags(write=False)
        for number, row in zip(self.numbers, zip(*self.columns.values(), strict=True), strict=True):
            values = self.same | dict(zip(self.columns, row, strict=True))
            yield number, Result._of_fields(values | {"instance": instances[number]})


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
        are_timed=True,
    )
    solved = list(batches.solve(list(share.instances)))
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
        try:
            while queue.waiting or coordinator.running:
                _hand_out(coordinator, queue, batches)
                if not coordinator.running:
                    if queue.is_over:
                        break
                    # Nobody is there; workers may come.
                    time.sleep(CALL_SECONDS)
                heard = coordinator.wait(CALL_SECONDS)
                for order, _, solved in heard:
                    queue.observe(order.owner, solved.numbers, solved.seconds)
                # Nobody waits for the check of what was heard.
                _hand_out(coordinator, queue, batches)
                for _, _, solved in heard:
                    yield from _checked(list(solved.results(instances)))
            for done, number in enumerate(queue.waiting):
                yield number, batches.untimely(instances[number], len(queue.waiting) - done)
        finally:
            coordinator.end()
            coordinator.close()


def _hand_out(coordinator: Coordinator, queue: _Queue, batches: Batches) -> None:
    """Give each free place a task."""
    for place in coordinator.free():
        if queue.is_over:
            break
        key = place.name if place.is_sticky else ""
        numbers = queue.take(key, place.has_gpu)
        coordinator.give(place, _order(numbers, key, queue, batches, coordinator.ending))


def _order(numbers: tuple[int, ...], key: str, queue: _Queue, batches: Batches, ending: str) -> Order:
    """Return the task of solving some instances, for a place."""
    given, seconds = Points.of([queue.instances[number] for number in numbers]), queue.seconds_for(numbers)
    share = Share(numbers, given, batches.climbers, batches.seed, batches.iterations, batches.common, seconds, ending)
    several = f"instances {min(numbers)} to {max(numbers)}"
    return Order(several if len(numbers) > 1 else f"instance {numbers[0]}", solve_share, share, owner=key)


class _Queue:
    """The instances that nobody has yet: equally large ones together, since a kernel call takes such only, and those
    that are solved alone first."""

    def __init__(self, instances: Sequence[Instance], watch: Watch, places: int) -> None:
        self.instances, self.watch, self.places = instances, watch, places
        self.waiting = deque(sorted(range(len(instances)), key=lambda number: -instances[number].n))
        self.cities_left = sum(instance.n for instance in instances)
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
        cities = self.instances[numbers[0]].n
        if cities in TOGETHER_CITIES:
            before, speed = self.sizes.get(place), self.speeds.get(place, 0.0)
            machine = "gpu" if has_gpu else "cpu"
            fitting = min(MOST_GROWTH * (before or 0), int(SLICE_SECONDS * speed))
            size = FIRST_CITIES[machine] if before is None else fitting
            left = self.cities_left + sum(self._going(other) for other in self.sizes if other != place)
            size = min(size, max(LAST_CITIES[machine], math.ceil(left / (TASKS_LEFT[machine] * self.places))))
            if self.cities_left - size < REST_CITIES[machine]:
                size = self.cities_left
            while self.waiting and cities + self.instances[self.waiting[0]].n <= size:
                numbers.append(self.waiting.popleft())
                cities += self.instances[numbers[-1]].n
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
        cities = sum(self.instances[number].n for number in numbers)
        self.speeds[place] = cities / max(1e-6, seconds)
        if place in self.began:
            self.rates[place] = cities / max(1e-6, time.perf_counter() - self.began[place])

    def seconds_for(self, numbers: Sequence[int]) -> float | None:
        """Return how long a task may take: what is left, and of that, where an instance is solved alone, its share by
        its cities."""
        if self.watch.time_limit is None:
            return None
        left, cities = max(1e-3, self.watch.seconds_left - self.reserve), self.instances[numbers[0]].n
        if cities in TOGETHER_CITIES:
            return left
        return max(1e-3, min(left, left * self.places * cities / (cities + self.cities_left)))


def _checked(solved: Sequence[tuple[int, Result]]) -> Iterator[tuple[int, Result]]:
    """Yield results of workers, once their tours have the lengths that they say.

    Raises
    ------
    KernelError
        If one has another.
    """
    instances, tours = [result.instance for _, result in solved], [result.tour for _, result in solved]
    lengths = tour_lengths(instances, tours, is_rounded_once=False)
    for (number, result), length in zip(solved, lengths, strict=True):
        if abs(length - result.length) > 1e-9 * abs(length):
            raise KernelError(
                f"{result.instance.name or 'an instance'}: a worker on backend {result.backend} reports length "
                f"{result.length} for a tour, but its length is {length}: its kernels are miscompiled; please report "
                "this"
            )
        yield number, result
