"""Solve many instances in one go: all together whatever their sizes, each with a population of its own."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import islice
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pytsp.api.collapsed import collapse_all
from pytsp.api.dispatch import dispatch, task_of
from pytsp.api.request import Request
from pytsp.api.restating import WithFixedEdges, restate_result
from pytsp.api.together import Together, kind_of
from pytsp.backends.context import Backend
from pytsp.backends.registry import open_backend
from pytsp.exceptions import InstanceError
from pytsp.io.convert import as_instance
from pytsp.io.protocols import array_of_many
from pytsp.problem.cut_off import warn_of_cut_off
from pytsp.problem.fixed_edges import FixedEdges
from pytsp.problem.instance import Instance
from pytsp.problem.instances import Instances, cities_of
from pytsp.problem.kernel_input import Form, form_of, forms_of
from pytsp.problem.lengths import tour_lengths
from pytsp.problem.location import is_planar
from pytsp.problem.metrics import DEFAULT_METRIC
from pytsp.problem.rounding import warn_of_rounding
from pytsp.run.batch import BatchResult
from pytsp.run.coarse import warn_of_resolution
from pytsp.run.monitor import Progress, Watch
from pytsp.run.result import Result
from pytsp.solvers.common.fallback import SHORT_SECONDS, fallback_result, quick_seconds, quick_tour
from pytsp.solvers.common.flat_search import DEVICE_CITY_BYTES
from pytsp.solvers.common.incumbent import Best
from pytsp.solvers.common.shortening import shortening_seconds
from pytsp.solvers.common.verify import verify
from pytsp.solvers.options.eax import EAX
from pytsp.solvers.options.fields import Options
from pytsp.solvers.options.ils import ILS
from pytsp.utils.arguments import check_callback, seed_number, whole_number
from pytsp.utils.memory import check_memory
from pytsp.utils.notices import some_of, warn_user

if TYPE_CHECKING:
    from concurrent.futures import Executor

__all__ = ["Batches", "solve_each", "solve_many"]

# Sizes that are solved together, and of those that have a matrix. Smaller ones leave nothing to recombine, larger ones
# keep a machine busy alone.
TOGETHER_CITIES, TOGETHER_IN_A_MATRIX = range(8, 20_001), range(8, 1_501)
# With a time limit so many at most go together: what is done together cannot be cut.
TIMED_CITIES = 1_000
CLIMBERS = 20
# The iterations of iterated local search on fewer cities.
LONE_ITERATIONS = 200
# How long instances that go together should take, and how many cities the first of them have: a GPU is not full of
# fewer, and takes as long for them.
CALL_SECONDS = {"cpu": 0.5, "gpu": 1.0}
FIRST_CITIES = {"cpu": 800, "gpu": 200_000}
# What a tour takes at least of an instance that there is no time for, and with its descent.
QUICK_SECONDS, SHORTENED_SECONDS = 5e-4, 1.5e-3
# How many cities, and instances, are taken from an iterator at a time.
WINDOW_CITIES, WINDOW_INSTANCES = 400_000, 10_000
# The memory that a call may take, and what a city of a climber does on a CPU.
CPU_BYTES, GPU_BYTES, CITY_BYTES = 2**28, 2**34, 80


def solve_many(
    instances: Iterable[Instance | Any] | Any,
    *,
    metric: str | None = None,
    climbers: int = CLIMBERS,
    seed: int | None = 0,
    iterations: int | None = None,
    time_limit: float | None = None,
    progress: Callable[[int, int], object] | None = None,
    backend: str = "auto",
    threads: int | None = None,
    device: str | int | None = None,
    executor: Executor | Any | None = None,
    devices: str | Sequence[int | str] | None = None,
) -> BatchResult:
    """Solve many instances by edge assembly crossover, all together whatever their sizes.

    An instance's result does not depend on those beside it. From 8 to 20,000 cities in the plane, or to 1,500 of other
    metrics or of a matrix (to 1,000 with a time limit), climbers start from random near tours, climb by chains over
    lists of the 8 nearest cities, and recombine until none of an instance's tours changes any more (see `pytsp.solve`).
    Larger instances, and those with fixed edges, are solved one by one by `solver="eax"` with `moves="lk"`, smaller
    ones by 200 iterations of `solver="ils"` with `moves="3-opt"`.

    Parameters
    ----------
    instances : iterable of Instance, or array of numbers, shape (b, n, 2) or (b, n, 3)
        Instances of any sizes, or what `pytsp.as_instance` makes them of, such as arrays; or the coordinates of b
        instances of n cities each, an array of NumPy or of another package that gives it by DLPack (torch, CuPy, JAX).
        From a GPU's memory it is copied to the host's, where lengths are computed.
    metric : str, optional
        The distance between coordinates that are given as arrays; by default "EUCLIDEAN", which does not round.
    climbers : int, optional
        The tours of each population, at least 1. With the default of 20, random uniform instances of 100 cities end
        about 0.005 % above the optimum on average, with 50 about 0.001 %.
    seed : int or None, optional
        0 ≤ seed < 2**64; the same for every instance. None draws one.
    iterations : int, optional
        How many generations there are at most, at least 0; by default 20 + n / 10.
    time_limit : float, optional
        Seconds for all of them. Instances that are not reached by then have a tour that takes next to no time.
    progress : callable, optional
        Called with each result: how many there are, and of how many. True, returned, ends it as Ctrl-C does.
    backend, threads, device
        As in `pytsp.solve`.
    executor, devices
        Who is to solve them, as `pytsp.solve` takes it: each task has as many instances as take a fraction of a second
        by the speed that was seen. The results are those of one process.

    Returns
    -------
    BatchResult
        A sequence of `Result` in the order of the instances, and their tours and lengths as arrays; the seconds of a
        result are those of the call that solved it, shared among its instances. What is no instance has no result:
        `BatchResult.failures` says why. Ctrl-C ends it with the results so far, where there are any.
        `BatchResult.numbers` says whose they are.

    Raises
    ------
    TypeError, ValueError
        If an argument is none or out of its range, or the array has another shape.
    InstanceError
        If no instance is one that a kernel can be given.
    BackendError
        If the backend is not built, cannot run here, or fails.
    WorkerLost
        If workers are lost with an instance more than three times.

    Warns
    -----
    PytspWarning
        If some instances have no result; if rounding leaves nothing of most distances between neighbours in the first
        instance; and of each instance whose floating-point distances span so many decades that its tour may be longer
        than it could be.

    Examples
    --------
    >>> squares = np.array([[[0, 0], [0, 1], [1, 1], [1, 0]], [[0, 0], [4, 4], [4, 0], [0, 4]]])
    >>> [result.length for result in solve_many(squares)]
    [4.0, 16.0]
    """
    placed = {"backend": backend, "threads": threads, "device": device}
    batches = Batches.of(climbers, seed, iterations, Watch(time_limit=time_limit), placed)
    check_callback("progress", progress)
    numbers, listed, failures = _list_instances(instances, metric)
    # One stands for all: each takes as long as a small instance does.
    for instance in listed[:1]:
        warn_of_rounding(instance, stacklevel=2)
    warn_of_cut_off(listed)
    batches.check_memory(listed)
    results: dict[int, Result] = {}
    total = len(listed) + len(failures)
    if executor is None and devices is None:
        # What cannot run here is known before anything is prepared.
        _ = batches.kernels
        solved = batches.solve(list(listed))
    else:
        from pytsp.api.many_in_parts import solve_shares  # noqa: PLC0415

        # A worker is given none that fails.
        forms = _formed(listed)
        refused = {place: form for place, form in enumerate(forms) if isinstance(form, InstanceError)}
        failures |= {numbers[place]: _named(error, numbers[place]) for place, error in refused.items()}
        if refused:
            kept = [place for place in range(len(listed)) if place not in refused]
            numbers, listed = [numbers[place] for place in kept], [listed[place] for place in kept]
        solved = solve_shares(listed, batches, executor, devices)
    try:
        for place, result in solved:
            if isinstance(result, InstanceError):
                failures[numbers[place]] = _named(result, numbers[place])
            else:
                results[numbers[place]] = result
                if result.is_coarse:
                    warn_of_resolution(result, stacklevel=2)
                if result.stop_reason == "interrupted":
                    break
            if progress is not None and progress(len(results) + len(failures), total) is True:
                break
    except KeyboardInterrupt:
        if not results:
            raise
    finally:
        solved.close()
    found = sorted(results)
    failures = dict(sorted(failures.items()))
    if failures and not results:
        raise next(iter(failures.values()))
    if failures:
        _warn_of_failures(failures)
    return BatchResult(tuple(results[number] for number in found), np.array(found, dtype=np.int64), failures)


def solve_each(
    instances: Iterable[Instance | Any],
    *,
    metric: str | None = None,
    ordered: bool = True,
    climbers: int = CLIMBERS,
    seed: int | None = 0,
    iterations: int | None = None,
    backend: str = "auto",
    threads: int | None = None,
    device: str | int | None = None,
) -> Iterator[tuple[int, Result]]:
    """Solve instances of an iterator as `solve_many` does, in bounded memory: so many at a time, however many come.

    An instance's result is that of `solve_many`. Instances are taken when results are asked for.

    Parameters
    ----------
    instances : iterable of Instance, or of what `pytsp.as_instance` makes them of
    metric, climbers, seed, iterations, backend, threads, device
        As in `pytsp.solve_many`; a seed of None is drawn once for all.
    ordered : bool, optional
        Give results in the order of the instances; else as they come, those first that are solved together.

    Yields
    ------
    (int, Result)
        The number of an instance, counted from 0, and its result. What is no instance has none.

    Raises
    ------
    TypeError, ValueError, BackendError
        As `solve_many` does, before an instance is taken.

    Warns
    -----
    PytspWarning
        If an instance has no result, and as `solve_many` does.

    Examples
    --------
    >>> squares = ([[0, 0], [0, side], [side, side], [side, 0]] for side in range(1, 4))
    >>> [(number, result.length) for number, result in solve_each(squares)]
    [(0, 4.0), (1, 8.0), (2, 12.0)]
    """
    placed = {"backend": backend, "threads": threads, "device": device}
    batches = Batches.of(climbers, seed, iterations, Watch(), placed)
    _ = batches.kernels
    return _solve_windows(enumerate(instances), batches, metric, ordered=ordered)


def _solve_windows(
    numbered: Iterator[tuple[int, Any]], batches: Batches, metric: str | None, *, ordered: bool
) -> Iterator[tuple[int, Result]]:
    """Solve instances of an iterator, so many at a time."""
    while window := list(_window(numbered)):
        numbers, listed, failures = _listed(window, partial(as_instance, metric=metric))
        if 0 in numbers:
            warn_of_rounding(listed[0], stacklevel=2)
        warn_of_cut_off(listed)
        batches.check_memory(listed)
        solved = ((numbers[place], result) for place, result in batches.solve(list(listed)))
        for number, result in sorted(solved, key=itemgetter(0)) if ordered else solved:
            if isinstance(result, Result):
                if result.is_coarse:
                    warn_of_resolution(result, stacklevel=2)
                yield number, result
            else:
                failures[number] = _named(result, number)
        if failures:
            _warn_of_failures(failures)


def _window(numbered: Iterator[tuple[int, Any]]) -> Iterator[tuple[int, Any]]:
    """Yield the next instances, as many as are taken at a time."""
    cities = 0
    for number, instance in islice(numbered, WINDOW_INSTANCES):
        yield number, instance
        cities += instance.n if isinstance(instance, Instance) else len(instance) if hasattr(instance, "__len__") else 1
        if cities >= WINDOW_CITIES:
            return


@dataclass(frozen=True)
class Batches:
    """What all instances are solved with, and the clock; `common` are the arguments of each that is solved alone,
    and `heed` is what is called while one is, and may end it."""

    climbers: int
    seed: int
    iterations: int | None
    common: dict[str, Any]
    watch: Watch
    heed: Callable[[Progress], object] | None = None

    @classmethod
    def of(
        cls, climbers: int, seed: int | None, iterations: int | None, watch: Watch, placed: dict[str, Any]
    ) -> Batches:
        """Check the arguments of a call, whose kernels are placed by these."""
        climbers = whole_number("climbers", climbers, 1, 2**20)
        seed = seed_number(seed)
        if iterations is not None:
            iterations = whole_number("iterations", iterations, 0, 2**31 - 1)
        return cls(climbers, seed, iterations, {"seed": seed, **placed}, watch)

    def check_memory(self, instances: Sequence[Instance]) -> None:
        """Refuse climbers that do not fit the memory."""
        largest = max(cities_of(instances), default=0)
        check_memory("climbers", self.climbers, lambda count: CITY_BYTES * largest * count)

    @cached_property
    def kernels(self) -> Backend:
        """The kernels of crossover, open."""
        return self._open("flat")

    @cached_property
    def climbing(self) -> Backend:
        """The kernels of local search, open: on a CPU the same."""
        return self._open("search")

    def _open(self, part: str) -> Backend:
        placed = {name: value for name, value in self.common.items() if name != "seed"}
        return open_backend(placed.pop("backend"), part=part, **placed)

    def solve(self, instances: list[Instance]) -> Generator[tuple[int, Result | InstanceError], None, None]:
        """Yield the number of each instance, and its result or why it has none: first of those that go together.

        Instances with crowded places are solved with few cities in each.
        """
        crowded = collapse_all(instances)
        few = [crowded[index].instance if index in crowded else each for index, each in enumerate(instances)]
        for index, result in self._solve_all(few):
            if index in crowded and isinstance(result, Result):
                yield index, restate_result(result, crowded[index])
            else:
                yield index, result

    def _solve_all(self, instances: list[Instance]) -> Iterator[tuple[int, Result | InstanceError]]:
        groups: dict[tuple[Any, ...], list[tuple[int, Instance, Form]]] = {}
        is_limited = self.watch.time_limit is not None
        go_together = [_goes_together(instance, is_limited=is_limited) for instance in instances]
        together = [each for each, may_join in zip(enumerate(instances), go_together, strict=True) if may_join]
        for (index, instance), form in zip(together, _formed([each for _, each in together]), strict=True):
            if isinstance(form, InstanceError):
                yield index, form
            else:
                groups.setdefault(kind_of(form), []).append((index, instance, form))
        alone = [each for each, may_join in zip(enumerate(instances), go_together, strict=True) if not may_join]
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
        return dispatch(instance, self._request(options, seconds))

    def _request(self, options: Options, seconds: float) -> Request:
        """Return the request to solve an instance alone, in so many seconds."""
        limit = None if seconds == math.inf else seconds
        began = time.perf_counter()
        return Request(solver=options, time_limit=limit, progress=self.heed, began=began, **self.common)

    def _untimely_seconds(self, group: list[tuple[int, Instance, Form]]) -> float:
        """Return how long is kept for instances that are not solved: for their descent too, in half of the limit."""
        if self.watch.time_limit is None:
            return 0.0
        quick = sum(max(QUICK_SECONDS, quick_seconds(instance)) for _, instance, _ in group)
        return max(quick, min(len(group) * SHORTENED_SECONDS, self.watch.time_limit / 2))

    def untimely(self, instance: Instance, left: int) -> Result:
        """Return what an instance comes to that there is no time to solve: it descends where there is time for so many
        to descend."""
        if instance.fixed is not None:
            fixed = WithFixedEdges(FixedEdges.of(instance))
            return restate_result(self.untimely(fixed.fixed.instance, left), fixed)
        placed = {name: value for name, value in self.common.items() if name != "seed"}
        task = task_of(instance, EAX(climbers=self.climbers), Watch(), self.seed, None, placed)
        if self.watch.seconds_left < left * (SHORTENED_SECONDS + shortening_seconds(task)):
            task = replace(task, given_tour=quick_tour(instance, SHORT_SECONDS))
        return fallback_result(task, None)

    def _solve_group(self, group: list[tuple[int, Instance, Form]], reserve: float) -> Iterator[tuple[int, Result]]:
        """Solve instances of one kind, as many at a time as take a fraction of a second, until only the reserve of the
        time is left."""
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
        for left, (index, instance, _) in enumerate(group):
            yield index, self.untimely(instance, len(group) - left)

    def _count(self, group: Sequence[tuple[int, Instance, Form]], cities: int) -> int:
        """Return how many of the first instances go together: of so many cities in all, and within a call's memory."""
        device = self.kernels.device
        # A GPU's share leaves room for what comes of the tours.
        room = CPU_BYTES if device is None else min(GPU_BYTES, (device.memory or GPU_BYTES) // 2)
        city_bytes = self.climbers * (CITY_BYTES if device is None else DEVICE_CITY_BYTES)
        some = group[: min(cities, room // city_bytes) // TOGETHER_CITIES[0] + 1]
        sizes = np.array([instance.n for _, instance, _ in some], dtype=np.int64)
        matrices = np.array(
            [4 * n * n if form.kind == "matrix" else 0 for n, (*_, form) in zip(sizes, some, strict=True)]
        )
        fitting = np.searchsorted(np.cumsum(sizes), cities, side="right")
        return max(1, int(min(fitting, np.searchsorted(np.cumsum(city_bytes * sizes + matrices), room, side="right"))))

    def _solve_chunk(self, chunk: list[tuple[int, Instance, Form]], kept: float) -> Iterator[tuple[int, Result]]:
        """Solve instances together, until only `kept` seconds of the time are left."""
        began = time.perf_counter()
        forms, instances = [form for *_, form in chunk], [instance for _, instance, _ in chunk]
        together = Together(self.kernels, self.climbing, forms)
        generations = np.array([self._generations(instance.n) for instance in instances], dtype=np.int32)
        looked = began

        def go_on() -> bool:
            nonlocal looked
            # A generation takes less than the one before, and the first one less than all before it.
            took, looked = time.perf_counter() - looked, time.perf_counter()
            return self.watch.seconds_left - kept > took

        tours, lengths = together.solved(self.seed, self.climbers, generations, go_on)
        if self.kernels.device is None:
            self.kernels.release_memory()
        seconds = time.perf_counter() - began
        recomputed = tour_lengths([form.whole for form in forms], tours)
        given = tour_lengths(instances, tours)
        for number, form in enumerate(forms):
            if recomputed[number] != lengths[number]:
                verify(Best(int(lengths[number]), 0, tours[number]), form, self.kernels, self.seed)
        units = [0.0 if instance.is_exact else float(form.unit) for _, instance, form in chunk]
        results = self._results(instances, tours, given, units, generations.tolist(), seconds)
        is_coarse = together.are_coarse(tours, given, units)
        for (index, *_), result, may_be in zip(chunk, results, is_coarse, strict=True):
            yield index, self._finer(result, kept) if may_be else result

    def _generations(self, n: int) -> int:
        """Return the most generations of an instance of n cities."""
        return 20 + n // 10 if self.iterations is None else self.iterations

    def _finer(self, result: Result, reserve: float) -> Result:
        """Return what a solve on finer scales makes of a result, where there is time for one."""
        from pytsp.api.rescaled import solve_finer  # noqa: PLC0415

        options = EAX(climbers=self.climbers, iterations=result.iterations, moves="lk")
        request = self._request(options, self.watch.seconds_left - reserve)
        finer = solve_finer(result, request)
        return replace(finer, history=(), seconds=result.seconds + time.perf_counter() - request.began)

    def _results(
        self,
        instances: Sequence[Instance],
        tours: Sequence[NDArray[np.int32]],
        lengths: Sequence[int | float],
        units: Sequence[float],
        generations: Sequence[int],
        seconds: float,
    ) -> Iterator[Result]:
        """Return the results of a kernel call that took so many seconds."""
        # Nobody else has these arrays: each result has its rows.
        columns: dict[str, Any] = {
            "instance": instances,
            "tour": tours,
            "length": lengths,
            "resolution": units,
            "iterations": generations,
            "lengths": np.array(lengths)[:, None],
            "steps": np.zeros((len(instances), 1), dtype=np.int64),
            "passes": np.empty((len(instances), 0), dtype=np.int32),
            "done": np.ones((len(instances), 1), dtype=np.bool_),
        }
        first = Result(
            **{name: column[0] for name, column in columns.items()},
            climber=0,
            seed=self.seed,
            k=None,
            backend=self.kernels.name,
            mapping="thread",
            seconds=seconds / len(instances),
            stop_reason="finished",
            solver="eax",
        )
        for row in zip(*columns.values(), strict=True):
            yield Result._of_fields(vars(first), zip(columns, row, strict=True))


def _goes_together(instance: Instance, *, is_limited: bool = False) -> bool:
    """Tell whether an instance is solved together with others, in a limited time perhaps."""
    if instance.fixed is not None or (is_limited and instance.n > TIMED_CITIES):
        return False
    return instance.n in (TOGETHER_CITIES if is_planar(instance) else TOGETHER_IN_A_MATRIX)


def _formed(instances: Sequence[Instance]) -> list[Form] | list[Form | InstanceError]:
    """Return the form of each instance, or why it has none."""
    try:
        return forms_of(instances)
    except InstanceError:
        return [_form_or_error(instance) for instance in instances]


def _form_or_error(instance: Instance) -> Form | InstanceError:
    try:
        return form_of(instance)
    except InstanceError as error:
        return error


# The numbers of instances, these, and why others are none, by number.
_Listed = tuple[Sequence[int], Sequence[Instance], dict[int, Exception]]


def _list_instances(instances: Iterable[Instance | Any] | Any, metric: str | None) -> _Listed:
    """Return the instances that are given, or those that coordinates make."""
    array = array_of_many(instances)
    if array is None:
        return _listed(enumerate(instances), partial(as_instance, metric=metric))
    if array.ndim != 3:
        raise ValueError(f"coordinates of many instances must have shape (b, n, 2); the shape is {array.shape}")
    named = metric or DEFAULT_METRIC
    together = Instances.checked(array, named)
    if together is not None:
        return range(len(together)), together, {}
    return _listed(enumerate(array), partial(Instance.from_coordinates, metric=named))


def _listed(numbered: Iterable[tuple[int, Any]], make: Callable[[Any], Instance]) -> _Listed:
    numbers, listed, failures = [], [], {}
    for number, data in numbered:
        try:
            listed.append(make(data))
        except (TypeError, InstanceError) as error:
            failures[number] = _named(error, number)
        else:
            numbers.append(number)
    return numbers, listed, failures


def _named(error: Exception, number: int) -> Exception:
    """Return an error that begins with the instance's number."""
    named = type(error)(f"instances[{number}]: {error}")
    named.__cause__ = error
    return named


def _warn_of_failures(failures: dict[int, Exception]) -> None:
    count = "1 instance has" if len(failures) == 1 else f"{len(failures)} instances have"
    warn_user(f"{count} no result: {some_of([*map(str, failures.values())])}")
