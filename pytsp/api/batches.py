"""Instances that are solved together on one machine, as many at a time as suit it."""

from __future__ import annotations

import math
import sys
import time
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytsp.api import rescaled
from pytsp.api.batch_pace import BatchPace
from pytsp.api.collapsed import collapse_all
from pytsp.api.dispatch import open_placed, task_of
from pytsp.api.reductions import WithFixedEdges
from pytsp.api.steps import Request, Restater
from pytsp.api.together import Together, kind_of
from pytsp.api.transforms import solve_instance
from pytsp.backends.context import Backend
from pytsp.exceptions import InstanceError
from pytsp.problem.fixed_edges import FixedEdges
from pytsp.problem.instance import Instance
from pytsp.problem.instances import cities_of, tour_lengths
from pytsp.problem.kernel_input import Form, form_of, forms_of
from pytsp.problem.location import is_planar
from pytsp.run.limits import Limits
from pytsp.run.monitor import Progress, Watch
from pytsp.run.result import Result
from pytsp.solvers.common.fallback import fallback_result, quick_tour, shortening_seconds
from pytsp.solvers.common.incumbent import Best, verify
from pytsp.solvers.options.eax import EAX
from pytsp.solvers.options.fields import Options
from pytsp.solvers.options.ils import ILS
from pytsp.solvers.policy import SHORT_CURVE_SECONDS
from pytsp.solvers.speeds import BYTES, SPEEDS
from pytsp.utils.arguments import seed_number, whole_number
from pytsp.utils.memory import check_memory

# Sizes that are solved together, and of those that have a matrix. Smaller ones leave nothing to recombine, larger ones
# keep a machine busy alone.
TOGETHER_CITIES, TOGETHER_IN_A_MATRIX = range(8, 20_001), range(8, 1_501)
# Most cities that go together with a time limit: their kernel call cannot be cut.
TIMED_CITIES = 1_000
# The iterations of iterated local search on fewer cities.
LONE_ITERATIONS = 200
# The seconds that a call should take, and the cities of the first one: a GPU takes as long for fewer.
CALL_SECONDS = {"cpu": 0.5, "gpu": 1.0}
FIRST_CITIES = {"cpu": 800, "gpu": 100_000}
# The share of the time left that the first call on cores is planned for: their pace is not seen yet.
UNSEEN_SHARE = 0.75
# The first generation takes at most this share of the seconds before it.
FIRST_GENERATION = 0.2
# Least seconds of a fallback tour that is made alone, with its descent.
SHORTENED_SECONDS = 1.5e-3
# Most cities of an instance, for each core, whose climber takes no longer than a fallback tour.
CLIMBED_CITIES = 200
# The share of the time left that a GPU's first call may take, which shows its pace.
FIRST_SHARE = 0.2
# The least time limit of an instance that is solved alone.
LEAST_SECONDS = 1e-9
# The memory that a call may take, and what a city of a climber does on a CPU.
CPU_BYTES, GPU_BYTES, CITY_BYTES = 2**28, 2**34, 80

# The number of an instance that goes with others, the instance, and its form.
_Member = tuple[int, Instance, Form]


@dataclass(frozen=True)
class Batches:
    """Settings of the solve of all instances, and its clock. `on_progress` may end what is solved alone."""

    climbers: int
    seed: int
    iterations: int | None
    placement: dict[str, Any]
    watch: Watch
    on_progress: Callable[[Progress], object] | None = None
    # The climbers that others leave time for.
    timely: int = sys.maxsize

    @classmethod
    def of(cls, climbers: int, seed: int | None, iterations: int | None, **others: Any) -> Batches:
        """Return the settings once they are checked."""
        if iterations is not None:
            iterations = whole_number("iterations", iterations, 0, 2**31 - 1)
        return cls(whole_number("climbers", climbers, 1, 2**20), seed_number(seed), iterations, **others)

    def check_memory(self, instances: Sequence[Instance]) -> None:
        largest = max(cities_of(instances), default=0)
        check_memory("climbers", self.climbers, lambda count: CITY_BYTES * largest * count)

    @cached_property
    def kernels(self) -> Backend:
        return open_placed(self.placement, "flat")

    @cached_property
    def climbing(self) -> Backend:
        """The kernels of local search: on a CPU those of crossover."""
        return open_placed(self.placement, "search")

    def solve(self, instances: list[Instance]) -> Generator[tuple[int, Result | InstanceError], None, None]:
        """Yield the number of each instance, and its result or why it has none: first of those that go together.

        Instances with crowded places are solved with few cities in each.
        """
        crowded = collapse_all(instances)
        few = [crowded[index].instance if index in crowded else each for index, each in enumerate(instances)]
        for index, result in self._solve_all(few):
            if index in crowded and isinstance(result, Result):
                yield index, Restater(instances[index], [crowded[index]]).result(result)
            else:
                yield index, result

    def _solve_all(self, instances: list[Instance]) -> Iterator[tuple[int, Result | InstanceError]]:
        groups: dict[tuple[Any, ...], list[_Member]] = {}
        together, alone = list[tuple[int, Instance]](), list[tuple[int, Instance]]()
        for each in enumerate(instances):
            is_joining = _goes_together(each[1], is_limited=self.watch.time_limit is not None)
            (together if is_joining else alone).append(each)
        for (index, instance), form in zip(together, form_all([each for _, each in together]), strict=True):
            if isinstance(form, InstanceError):
                yield index, form
            else:
                groups.setdefault(kind_of(form), []).append((index, instance, form))
        # Of a time limit each has a share by its cities.
        cities = sum(instance.n for instance in instances)
        reserve = (self.watch.time_limit or 0.0) * sum(instance.n for _, instance in alone) / max(1, cities)
        waiting = deque(groups.values())
        while waiting:
            yield from self._solve_group(waiting.popleft(), [each for group in waiting for each in group], reserve)
        for done, (index, instance) in enumerate(alone):
            left = len(alone) - done
            seconds = self.watch.seconds_left / left
            try:
                yield index, self.untimely(instance, left) if seconds <= 0 else self._solve_alone(instance, seconds)
            except InstanceError as error:
                yield index, error

    def _solve_alone(self, instance: Instance, seconds: float) -> Result:
        # What no backend, nor its number of cores, decides.
        options: Options = EAX(climbers=self.climbers, iterations=self.iterations, moves="lk")
        if instance.n < TOGETHER_CITIES[0]:
            options = ILS(climbers=1, iterations=LONE_ITERATIONS, moves="3-opt")
        return solve_instance(instance, self._request(options, seconds))

    def _request(self, options: Options, seconds: float) -> Request:
        return Request(
            solver=options,
            seed=self.seed,
            placement=self.placement,
            limits=Limits(time_limit=None if seconds == math.inf else max(LEAST_SECONDS, seconds)),
            progress=self.on_progress,
            began=time.perf_counter(),
        )

    @cached_property
    def _pace(self) -> BatchPace:
        return BatchPace(self.kernels, self.climbers)

    def untimely(self, instance: Instance, left: int) -> Result:
        """Return the fallback result of an instance, one of `left`; it descends if there is time for all of them."""
        if instance.fixed is not None:
            fixed = WithFixedEdges(FixedEdges.of(instance))
            return Restater(instance, [fixed]).result(self.untimely(fixed.instance, left))
        task = task_of(instance, EAX(climbers=self.climbers), Watch(), self.seed, None, self.placement)
        if self.watch.seconds_left < left * (SHORTENED_SECONDS + shortening_seconds(task)):
            task = replace(task, given_tour=quick_tour(instance, SHORT_CURVE_SECONDS))
        return fallback_result(task, None)

    def _solve_group(self, group: list[_Member], later: list[_Member], reserve: float) -> Iterator[tuple[int, Result]]:
        """Solve instances of one kind, a fraction of a second at a time, by as many climbers as there is time for until
        only the reserve is left, in which the `later` instances are solved, too."""
        is_limited = self.watch.time_limit is not None
        sizes, done, cities = _sizes_of([*group, *later]), 0, self._first_cities
        climbers, kept = min(self.climbers, self.timely), 0.0
        while done < len(group):
            if is_limited:
                left = self.watch.seconds_left - reserve
                # What a GPU's threads take varies less than what cores do.
                is_sure = self._pace.is_seen or self._pace.waits(sizes[done:])
                timely = self._pace.climbers(sizes[done:], left if is_sure else UNSEEN_SHARE * left)
                if timely == 0 and self._pace.is_seen:
                    yield from self._leave(group[done:], left)
                    return
                climbers = max(1, min(self.climbers, self.timely, timely))
                cities = self._timely_cities(sizes[done : len(group)], climbers, left, cities)
            began, count = time.perf_counter(), self._count(group, done, cities)
            of_call, chunk = sizes[done : done + count], group[done : done + count]
            called, done = int(of_call.sum()), done + count
            if is_limited:
                kept = reserve + self._pace.seconds(sizes[done:], climbers) + SPEEDS["batch, results"] * called
            yield from self._solve_chunk(chunk, kept, climbers)
            seconds = max(time.perf_counter() - began, 1e-6)
            self._pace.observe(of_call, climbers, seconds)
            cities = max(1, min(4 * cities, int(called * CALL_SECONDS[self._machine] / seconds)))

    @property
    def _machine(self) -> str:
        return "cpu" if self.kernels.device is None else "gpu"

    @property
    def _first_cities(self) -> int:
        """The most cities of the first call."""
        if self._machine == "gpu" and self.watch.time_limit is None:
            # Each call of a GPU takes a while, however little it has.
            return sys.maxsize
        return FIRST_CITIES[self._machine] * (self.kernels.threads or 1)

    def _timely_cities(self, sizes: NDArray[np.int64], climbers: int, left: float, cities: int) -> int:
        """Return the cities of the next call where there is a limit: at most `cities` on a CPU."""
        total, whole, call = int(sizes.sum()), self._pace.seconds(sizes, climbers), CALL_SECONDS[self._machine]
        if self._machine == "cpu":
            return max(1, min(cities, int(total * min(call, left) / whole)))
        first = sizes[: 1 + int(len(sizes) * FIRST_CITIES["gpu"] / total)]
        if not self._pace.is_seen and self._pace.seconds(first, climbers) < FIRST_SHARE * left:
            return FIRST_CITIES["gpu"]
        return total if whole < 2 * call else int(total * max(call, left / 2) / whole)

    def _leave(self, group: list[_Member], left: float) -> Iterator[tuple[int, Result]]:
        """Yield a climber's local optimum of each instance; those of many cities may have a fallback tour only."""
        most = CLIMBED_CITIES * self._pace.cores
        group = sorted(group, key=lambda each: each[1].n > most)
        few = sum(instance.n <= most for _, instance, _ in group)
        share = left / max(self._pace.seconds(_sizes_of(group[few:]), 1), 1e-9)
        count = few + int((len(group) - few) * min(1.0, max(0.0, share)))
        yield from self._climbed(group[:count])
        for done, (index, instance, _) in enumerate(group[count:], start=count):
            yield index, self.untimely(instance, len(group) - done)

    def _climbed(self, group: list[_Member]) -> Iterator[tuple[int, Result]]:
        """Let one climber of each instance descend, a fraction of a second at a time on a CPU."""
        cities, done = sys.maxsize, 0
        if self.kernels.device is None:
            sizes = _sizes_of(group)
            cities = int(sizes.sum() * CALL_SECONDS["cpu"] / max(self._pace.seconds(sizes, 1), 1e-9))
        while done < len(group):
            count = self._count(group, done, cities)
            # No time is left for generations, nor for searches on finer scales.
            yield from self._solve_chunk(group[done : done + count], math.inf, 1)
            done += count

    def _count(self, group: Sequence[_Member], first: int, cities: int) -> int:
        """Return how many instances from the `first` on go together: up to `cities` in all, that fit the memory."""
        device = self.kernels.device
        # A GPU's share leaves room for what comes of the tours.
        room = CPU_BYTES if device is None else min(GPU_BYTES, (device.memory or GPU_BYTES) // 2)
        city_bytes = self.climbers * (CITY_BYTES if device is None else BYTES["device, city in bulk"])
        some = group[first : first + min(cities, room // city_bytes) // TOGETHER_CITIES[0] + 1]
        sizes = np.array([instance.n for _, instance, _ in some], dtype=np.int64)
        matrices = np.array(
            [4 * n * n if form.kind == "matrix" else 0 for n, (*_, form) in zip(sizes, some, strict=True)]
        )
        fitting = np.searchsorted(np.cumsum(sizes), cities, side="right")
        return max(1, int(min(fitting, np.searchsorted(np.cumsum(city_bytes * sizes + matrices), room, side="right"))))

    def _solve_chunk(self, chunk: list[_Member], kept: float, climbers: int) -> Iterator[tuple[int, Result]]:
        """Solve instances together by populations of `climbers`, until only `kept` seconds of the time are left."""
        began = time.perf_counter()
        forms, instances = [form for *_, form in chunk], [instance for _, instance, _ in chunk]
        together = Together(self.kernels, self.climbing, forms)
        # One tour has nothing to recombine.
        iterations = 0 if climbers == 1 < self.climbers else self.iterations
        most = [20 + each.n // 10 if iterations is None else iterations for each in instances]
        generations = np.array(most, dtype=np.int32)
        looked, share = began, FIRST_GENERATION

        def go_on() -> bool:
            nonlocal looked, share
            # A generation takes about as long as the one before.
            likely, looked, share = share * (time.perf_counter() - looked), time.perf_counter(), 1.0
            return self.watch.seconds_left - kept > likely

        tours, lengths, are_cut = together.solved(self.seed, climbers, generations, go_on)
        if kept == math.inf or climbers < self.climbers:
            are_cut[:] = True
        if self.kernels.device is None:
            self.kernels.release_memory()
        seconds = time.perf_counter() - began
        recomputed = tour_lengths([form.whole for form in forms], tours)
        given = tour_lengths(instances, tours)
        for number, form in enumerate(forms):
            if recomputed[number] != lengths[number]:
                verify(Best(int(lengths[number]), 0, tours[number]), form, self.kernels, self.seed)
        units = [0.0 if instance.is_exact else float(form.unit) for _, instance, form in chunk]
        # Nobody else has these arrays: each result has its rows.
        columns: dict[str, Any] = {
            "instance": instances,
            "tour": tours,
            "length": given,
            "resolution": units,
            "iterations": most,
            "lengths": np.array(given)[:, None],
            "steps": np.zeros((len(chunk), 1), dtype=np.int64),
            "passes": np.empty((len(chunk), 0), dtype=np.int32),
            "done": np.ones((len(chunk), 1), dtype=np.bool_),
            "stop_reason": ["time limit" if is_cut else "finished" for is_cut in are_cut.tolist()],
        }
        results = self._results(columns, seconds / len(chunk))
        is_coarse = together.are_coarse(tours, given, units)
        for (index, *_), result, may_be in zip(chunk, results, is_coarse, strict=True):
            yield index, self._finer(result, kept) if may_be else result

    def _finer(self, result: Result, reserve: float) -> Result:
        """Return the result of searches on finer scales, if there is time for them."""
        options = EAX(climbers=self.climbers, iterations=result.iterations, moves="lk")
        request = self._request(options, self.watch.seconds_left - reserve)
        finer = rescaled.solve_finer(result, request)
        return replace(finer, history=(), seconds=result.seconds + time.perf_counter() - request.began)

    def _results(self, columns: dict[str, Any], seconds: float) -> Iterator[Result]:
        """Yield the results of a kernel call, by the values of each field, which took the seconds each."""
        first = Result(
            **{name: column[0] for name, column in columns.items()},
            climber=0,
            seed=self.seed,
            k=None,
            backend=self.kernels.name,
            mapping="thread",
            seconds=seconds,
            solver="eax",
        )
        for row in zip(*columns.values(), strict=True):
            yield Result._of_fields(vars(first), zip(columns, row, strict=True))


def _sizes_of(group: Sequence[_Member]) -> NDArray[np.int64]:
    return np.array([instance.n for _, instance, _ in group], dtype=np.int64)


def _goes_together(instance: Instance, *, is_limited: bool = False) -> bool:
    """Tell whether an instance is solved together with others, in a limited time perhaps."""
    if instance.fixed is not None or (is_limited and instance.n > TIMED_CITIES):
        return False
    return instance.n in (TOGETHER_CITIES if is_planar(instance) else TOGETHER_IN_A_MATRIX)


def form_all(instances: Sequence[Instance]) -> list[Form] | list[Form | InstanceError]:
    """Return the form of each instance, or why it has none."""

    def form_or_error(instance: Instance) -> Form | InstanceError:
        try:
            return form_of(instance)
        except InstanceError as error:
            return error

    try:
        return forms_of(instances)
    except InstanceError:
        return list(map(form_or_error, instances))
