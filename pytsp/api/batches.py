"""Instances that are solved together on one machine, as many at a time as suit it."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from pytsp.api import rescaled
from pytsp.api.collapsed import collapse_all
from pytsp.api.dispatch import open_placed, task_of
from pytsp.api.reductions import WithFixedEdges
from pytsp.api.steps import Request, Restater
from pytsp.api.together import MOST_CITIES_OF_A_THREAD, Together, kind_of
from pytsp.api.transforms import solve_instance
from pytsp.backends.context import Backend
from pytsp.backends.registry import host_kernels
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
# How long instances that go together should take, and how many cities the first of them have: a GPU is not full of
# fewer, and takes as long for them.
CALL_SECONDS = {"cpu": 0.5, "gpu": 1.0}
FIRST_CITIES = {"cpu": 800, "gpu": 200_000}
# Least seconds of a fallback tour that is made alone, with its descent.
SHORTENED_SECONDS = 1.5e-3
# Most cities of an instance, for each core, whose climber takes no longer than a fallback tour.
CLIMBED_CITIES = 200
# The least time limit of an instance that is solved alone.
LEAST_SECONDS = 1e-9
# The memory that a call may take, and what a city of a climber does on a CPU.
CPU_BYTES, GPU_BYTES, CITY_BYTES = 2**28, 2**34, 80


@dataclass(frozen=True)
class Batches:
    """Settings of the solve of all instances, and its clock. `on_progress` may end what is solved alone."""

    climbers: int
    seed: int
    iterations: int | None
    placement: dict[str, Any]
    watch: Watch
    on_progress: Callable[[Progress], object] | None = None

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
        groups: dict[tuple[Any, ...], list[tuple[int, Instance, Form]]] = {}
        together, alone = list[tuple[int, Instance]](), list[tuple[int, Instance]]()
        for each in enumerate(instances):
            is_joining = _goes_together(each[1], is_limited=self.watch.time_limit is not None)
            (together if is_joining else alone).append(each)
        for (index, instance), form in zip(together, form_all([each for _, each in together]), strict=True):
            if isinstance(form, InstanceError):
                yield index, form
            else:
                groups.setdefault(kind_of(form), []).append((index, instance, form))
        # Of a time limit each has a share, by its cities those that are solved together.
        cities = sum(instance.n for instance in instances)
        reserve = (self.watch.time_limit or 0.0) * sum(instance.n for _, instance in alone) / max(1, cities)
        reserve += sum(self._untimely_seconds(group) for group in groups.values())
        for group in groups.values():
            reserve -= self._untimely_seconds(group)
            yield from self._solve_group(group, reserve)
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

    def _untimely_seconds(self, group: list[tuple[int, Instance, Form]]) -> float:
        """Return the seconds kept for one climber of each instance, where there is a limit."""
        if self.watch.time_limit is None:
            return 0.0
        sizes = [instance.n for _, instance, _ in group]
        # A GPU leaves those of more cities to its host.
        small = [n for n in sizes if n <= MOST_CITIES_OF_A_THREAD and self.kernels.device is not None]
        seconds = SPEEDS["climb of many"] * (sum(sizes) - sum(small)) / self._cores
        seconds += SPEEDS["climb of many, GPU"] * sum(small) + SPEEDS["climb of many, thread"] * max(small, default=0)
        return seconds

    @property
    def _cores(self) -> int:
        """The threads of the CPU, also beside a GPU."""
        host = host_kernels(self.kernels)
        return (host and host.threads) or 1

    def untimely(self, instance: Instance, left: int) -> Result:
        """Return the fallback result of an instance, one of `left`; it descends if there is time for all of them."""
        if instance.fixed is not None:
            fixed = WithFixedEdges(FixedEdges.of(instance))
            return Restater(instance, [fixed]).result(self.untimely(fixed.instance, left))
        task = task_of(instance, EAX(climbers=self.climbers), Watch(), self.seed, None, self.placement)
        if self.watch.seconds_left < left * (SHORTENED_SECONDS + shortening_seconds(task)):
            task = replace(task, given_tour=quick_tour(instance, SHORT_CURVE_SECONDS))
        return fallback_result(task, None)

    def _solve_group(self, group: list[tuple[int, Instance, Form]], reserve: float) -> Iterator[tuple[int, Result]]:
        """Solve instances of one kind, a fraction of a second at a time, until only the reserve is left."""
        machine = "cpu" if self.kernels.device is None else "gpu"
        first = FIRST_CITIES[machine] * (self.kernels.threads or 1)
        is_limited = self.watch.time_limit is not None
        # Each call of a GPU takes a while, however little it has; a time limit is met by small ones.
        cities = first // 2 if is_limited else sys.maxsize if machine == "gpu" else first
        while group and self.watch.seconds_left > reserve + self._untimely_seconds(group):
            count = self._count(group, cities)
            chunk, group = group[:count], group[count:]
            began = time.perf_counter()
            kept = reserve + self._untimely_seconds(group)
            yield from self._solve_chunk(chunk, kept)
            seconds = time.perf_counter() - began
            fitting = min(CALL_SECONDS[machine], max(0.0, self.watch.seconds_left - reserve))
            done = sum(instance.n for _, instance, _ in chunk)
            cities = max(1, min(4 * cities, int(done * fitting / max(seconds, 1e-6))))
        yield from self._leave(group, reserve)

    def _leave(self, group: list[tuple[int, Instance, Form]], reserve: float) -> Iterator[tuple[int, Result]]:
        """Yield a climber's local optimum of each instance; those of many cities may have a fallback tour only."""
        most = CLIMBED_CITIES * self._cores
        group = sorted(group, key=lambda each: each[1].n > most)
        few = sum(instance.n <= most for _, instance, _ in group)
        share = (self.watch.seconds_left - reserve) / max(self._untimely_seconds(group[few:]), 1e-9)
        count = few + int((len(group) - few) * min(1.0, max(0.0, share)))
        yield from self._climbed(group[:count])
        for done, (index, instance, _) in enumerate(group[count:], start=count):
            yield index, self.untimely(instance, len(group) - done)

    def _climbed(self, group: list[tuple[int, Instance, Form]]) -> Iterator[tuple[int, Result]]:
        """Let one climber of each instance descend, a fraction of a second at a time on a CPU."""
        seconds = CALL_SECONDS["cpu"] if self.kernels.device is None else math.inf
        while group:
            fitting = seconds / self._untimely_seconds(group)
            count = self._count(group[: max(1, int(len(group) * min(1.0, fitting)))], sys.maxsize)
            # No time is left for searches on finer scales either.
            yield from self._solve_chunk(group[:count], math.inf, climbers=1)
            group = group[count:]

    def _count(self, group: Sequence[tuple[int, Instance, Form]], cities: int) -> int:
        """Return how many of the first instances go together: up to `cities` in all, that fit the memory."""
        device = self.kernels.device
        # A GPU's share leaves room for what comes of the tours.
        room = CPU_BYTES if device is None else min(GPU_BYTES, (device.memory or GPU_BYTES) // 2)
        city_bytes = self.climbers * (CITY_BYTES if device is None else BYTES["device, city in bulk"])
        some = group[: min(cities, room // city_bytes) // TOGETHER_CITIES[0] + 1]
        sizes = np.array([instance.n for _, instance, _ in some], dtype=np.int64)
        matrices = np.array(
            [4 * n * n if form.kind == "matrix" else 0 for n, (*_, form) in zip(sizes, some, strict=True)]
        )
        fitting = np.searchsorted(np.cumsum(sizes), cities, side="right")
        return max(1, int(min(fitting, np.searchsorted(np.cumsum(city_bytes * sizes + matrices), room, side="right"))))

    def _solve_chunk(
        self, chunk: list[tuple[int, Instance, Form]], kept: float, climbers: int | None = None
    ) -> Iterator[tuple[int, Result]]:
        """Solve instances together, until only `kept` seconds of the time are left; or let `climbers` only descend."""
        began = time.perf_counter()
        forms, instances = [form for *_, form in chunk], [instance for _, instance, _ in chunk]
        together = Together(self.kernels, self.climbing, forms)
        iterations = self.iterations if climbers is None else 0
        most = [20 + each.n // 10 if iterations is None else iterations for each in instances]
        generations = np.array(most, dtype=np.int32)
        looked = began

        def go_on() -> bool:
            nonlocal looked
            # A generation takes less than the one before, and the first one less than all before it.
            took, looked = time.perf_counter() - looked, time.perf_counter()
            return self.watch.seconds_left - kept > took

        tours, lengths = together.solved(self.seed, climbers or self.climbers, generations, go_on)
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
        }
        results = self._results(columns, seconds / len(chunk), "finished" if climbers is None else "time limit")
        is_coarse = together.are_coarse(tours, given, units)
        for (index, *_), result, may_be in zip(chunk, results, is_coarse, strict=True):
            yield index, self._finer(result, kept) if may_be else result

    def _finer(self, result: Result, reserve: float) -> Result:
        """Return the result of searches on finer scales, if there is time for them."""
        options = EAX(climbers=self.climbers, iterations=result.iterations, moves="lk")
        request = self._request(options, self.watch.seconds_left - reserve)
        finer = rescaled.solve_finer(result, request)
        return replace(finer, history=(), seconds=result.seconds + time.perf_counter() - request.began)

    def _results(self, columns: dict[str, Any], seconds: float, stop_reason: str) -> Iterator[Result]:
        """Yield the results of a kernel call, by the values of each field, which took the seconds each."""
        first = Result(
            **{name: column[0] for name, column in columns.items()},
            climber=0,
            seed=self.seed,
            k=None,
            backend=self.kernels.name,
            mapping="thread",
            seconds=seconds,
            stop_reason=stop_reason,
            solver="eax",
        )
        for row in zip(*columns.values(), strict=True):
            yield Result._of_fields(vars(first), zip(columns, row, strict=True))


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
