"""Many instances over workers: each task has some of them, as many as take a fraction of a second."""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Generator, Sequence
from dataclasses import dataclass, fields
from typing import Any

from pytsp.api.many import SHORTENED_SECONDS, TOGETHER_CITIES, Batches
from pytsp.distributed.coordinator import Coordinator, Kept, Order
from pytsp.distributed.parts import SLICE_SECONDS
from pytsp.distributed.places import places_of
from pytsp.distributed.slices import placed_here
from pytsp.distributed.worker import Shared
from pytsp.exceptions import KernelError
from pytsp.problem.instance import Instance
from pytsp.run.monitor import Watch
from pytsp.run.result import Result
from pytsp.solvers.common.pacing import CALL_SECONDS

__all__ = ["Share", "solve_share", "solve_shares"]

# How many cities the first task of a place has, by what it works on; by how much at most one has more than the one
# before; and how many the last ones have.
FIRST_CITIES = {"cpu": 800, "gpu": 100_000}
MOST_GROWTH = 8
LAST_CITIES = 800


@dataclass(frozen=True)
class Share:
    """What a worker is asked: some instances, by their numbers, and what `Batches` has of all.

    Work on an instance that is solved alone ends where the file `ending` is there.
    """

    numbers: tuple[int, ...]
    instances: tuple[Instance, ...]
    climbers: int
    seed: int
    iterations: int | None
    common: dict[str, Any]
    seconds_left: float | None
    ending: str


def solve_share(_: Shared, share: Share) -> list[tuple[int, dict[str, Any]]]:
    """Solve some instances; return their numbers and the fields of their results but the instance."""
    placed = placed_here({name: share.common[name] for name in ("backend", "threads", "device")})
    batches = Batches(
        share.climbers,
        share.seed,
        share.iterations,
        share.common | placed,
        Watch(time_limit=share.seconds_left),
        lambda _: os.path.exists(share.ending),
    )
    names = [each.name for each in fields(Result) if each.name != "instance"]
    return [
        (share.numbers[number], {name: getattr(result, name) for name in names})
        for number, result in batches.solve(list(share.instances))
    ]


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
                for place in coordinator.free():
                    if queue.is_over:
                        break
                    key = place.name if place.is_sticky else ""
                    numbers = queue.take(key, place.has_gpu)
                    coordinator.give(place, _order(numbers, key, queue, batches, coordinator.ending))
                if not coordinator.running:
                    if queue.is_over:
                        break
                    # Nobody is there; workers may come.
                    time.sleep(CALL_SECONDS)
                for order, _, solved in coordinator.wait(CALL_SECONDS):
                    queue.observe(order.owner, solved)
                    for number, found in solved:
                        yield number, _checked(instances[number], found)
            for done, number in enumerate(queue.waiting):
                yield number, batches.untimely(instances[number], len(queue.waiting) - done)
        finally:
            coordinator.end()
            coordinator.close()


def _order(numbers: tuple[int, ...], key: str, queue: _Queue, batches: Batches, ending: str) -> Order:
    """Return the task of solving some instances, for a place."""
    given, seconds = tuple(queue.instances[number] for number in numbers), queue.seconds_for(numbers)
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
        # The cities a second of each place, and those of its last task.
        self.speeds: dict[str, float] = {}
        self.sizes: dict[str, int] = {}

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
            first = FIRST_CITIES["gpu" if has_gpu else "cpu"]
            size = first if before is None else min(MOST_GROWTH * before, int(SLICE_SECONDS * speed))
            # The last ones are small, so that all places end at about the same time.
            size = min(size, max(LAST_CITIES, self.cities_left // (2 * self.places)))
            while self.waiting and cities + self.instances[self.waiting[0]].n <= size:
                numbers.append(self.waiting.popleft())
                cities += self.instances[numbers[-1]].n
            self.sizes[place] = cities
        self.cities_left -= cities
        return tuple(numbers)

    def observe(self, place: str, solved: Sequence[tuple[int, dict[str, Any]]]) -> None:
        """Take what a task of a place has taken."""
        cities = sum(self.instances[number].n for number, _ in solved)
        self.speeds[place] = cities / max(1e-6, sum(found["seconds"] for _, found in solved))

    def seconds_for(self, numbers: Sequence[int]) -> float | None:
        """Return how long a task may take: what is left, and of that, where an instance is solved alone, its share by
        its cities."""
        if self.watch.time_limit is None:
            return None
        left, cities = max(1e-3, self.watch.seconds_left - self.reserve), self.instances[numbers[0]].n
        if cities in TOGETHER_CITIES:
            return left
        return max(1e-3, min(left, left * self.places * cities / (cities + self.cities_left)))


def _checked(instance: Instance, found: dict[str, Any]) -> Result:
    """Return a worker's result, once its tour has the length that it says.

    Raises
    ------
    KernelError
        If it has another.
    """
    result = Result(instance=instance, **found)
    length = instance.tour_length(result.tour)
    if abs(length - result.length) > 1e-9 * abs(length):
        raise KernelError(
            f"{instance.name or 'an instance'}: a worker on backend {result.backend} reports length {result.length} "
            f"for a tour, but its length is {length}: its kernels are miscompiled; please report this"
        )
    return result
