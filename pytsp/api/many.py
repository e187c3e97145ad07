"""Solve many instances in one go: all together whatever their sizes, each with a population of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import islice
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from pytsp.api.batches import Batches, form_all
from pytsp.exceptions import InstanceError
from pytsp.io.convert import as_instance
from pytsp.io.protocols import array_of_many
from pytsp.problem.instance import Instance
from pytsp.problem.instances import Instances
from pytsp.problem.metrics import DEFAULT_METRIC
from pytsp.problem.mistakes import warn_of_cut_off, warn_of_rounding
from pytsp.run.batch import BatchResult
from pytsp.run.coarse import warn_of_resolution
from pytsp.run.limits import Limits
from pytsp.run.monitor import Watch
from pytsp.run.result import Result
from pytsp.utils.arguments import check_callback
from pytsp.utils.notices import some_of, warn_user

if TYPE_CHECKING:
    from concurrent.futures import Executor

CLIMBERS = 20
# The cities, and instances, that are taken from an iterator at a time.
WINDOW_CITIES, WINDOW_INSTANCES = 400_000, 10_000


def solve_many(
    instances: Iterable[Instance | Any] | Any,
    *,
    metric: str | None = None,
    climbers: int = CLIMBERS,
    seed: int | None = 0,
    iterations: int | None = None,
    time_limit: float | None = None,
    limits: Limits | None = None,
    progress: Callable[[int, int], object] | None = None,
    backend: str = "auto",
    threads: int | None = None,
    device: str | int | None = None,
    executor: Executor | Any | None = None,
    devices: str | Sequence[int | str] | None = None,
) -> BatchResult:
    """Solve many instances by edge assembly crossover, all together, whatever their sizes.

    An instance's result does not depend on the other instances. The climbers of an instance start from
    nearest-neighbour tours that pass over some near cities at random. They descend by Lin–Kernighan chains along lists
    of the 8 nearest cities, and recombine until no tour of the instance changes (see `pytsp.EAX`).

    Instances in the plane of 8 to 20,000 cities are solved together, others up to 1,500 cities; with a time limit up to
    1,000. Larger instances, and those with fixed edges, are solved one by one by `solver="eax"` with `moves="lk"`.
    Smaller ones take 200 iterations of `solver="ils"` with `moves="3-opt"`.

    Parameters
    ----------
    instances : iterable of Instance, or array of numbers, shape (b, n, 2) or (b, n, 3)
        Instances of any sizes, or data that `pytsp.as_instance` takes. Or the coordinates of b instances of n cities
        each, as an array of NumPy or of a package with DLPack (torch, CuPy, JAX). An array on a GPU is copied to the
        host.
    metric : str, optional
        Metric of coordinates that are given as arrays. By default "EUCLIDEAN", which does not round.
    climbers : int, optional
        Tours per population, at least 1. With the default of 20, random uniform instances of 100 cities end
        about 0.005 % above the optimum on average, with 50 about 0.001 %.
    seed : int or None, optional
        0 ≤ seed < 2**64; the same for every instance. None draws one.
    iterations : int, optional
        Largest number of generations, at least 0. By default 20 + n / 10.
    time_limit : float, optional
        Seconds for all instances. Populations then have as many climbers as there is time for, at most `climbers`. If
        there is no time for one climber each, instances of more than 200 cities a core get a quick tour.
    limits : Limits, optional
        The time limit as a `pytsp.Limits`, whose other fields are refused.
    progress : callable, optional
        Called with each result, with the number of results and of instances. Return True to stop, as Ctrl-C does.
    backend, threads, device
        As in `pytsp.solve`.
    executor, devices
        Workers, as in `pytsp.solve`. Each task takes a fraction of a second. The results are those of one process.

    Returns
    -------
    BatchResult
        A sequence of `Result` in the order of the instances, with all tours and lengths also as arrays. Instances of
        one kernel call divide its seconds. An invalid instance has no result; `BatchResult.failures` has its error.
        Ctrl-C returns the results so far, if there are any. `BatchResult.numbers` has the numbers of the solved
        instances.

    Raises
    ------
    TypeError, ValueError
        If an argument has a wrong type or is out of its range, or the array has another shape.
    InstanceError
        If kernels can take none of the instances.
    BackendError
        If the backend is not built, cannot run here, or fails.
    WorkerLost
        If workers are lost with a task more than three times, or no worker is there for a minute.

    Warns
    -----
    PytspWarning
        If some instances have no result; if the metric rounds away most distances between neighbours in the first
        instance; and for each instance whose floating-point distances span too many decades for an exact search.

    Examples
    --------
    >>> squares = np.array([[[0, 0], [0, 1], [1, 1], [1, 0]], [[0, 0], [4, 4], [4, 0], [0, 4]]])
    >>> [result.length for result in solve_many(squares)]
    [4.0, 16.0]
    """
    watch = Watch(Limits.of(limits, time_limit=time_limit).only("time_limit", "solve_many"))
    placement = {"backend": backend, "threads": threads, "device": device}
    batches = Batches.of(climbers, seed, iterations, placement=placement, watch=watch)
    check_callback("progress", progress)
    numbers, listed, failures = _list_instances(instances, metric)
    # One stands for all: each takes as long as a small instance does.
    for instance in listed[:1]:
        warn_of_rounding(instance)
    warn_of_cut_off(listed)
    batches.check_memory(listed)
    results, total = dict[int, Result](), len(listed) + len(failures)
    if executor is None and devices is None:
        # What cannot run here is known before anything is prepared.
        _ = batches.kernels
        solved = batches.solve(list(listed))
    else:
        from pytsp.api.many_in_parts import solve_shares  # noqa: PLC0415

        # A worker is given none that fails.
        numbers, listed, refused = _without_refused(numbers, listed)
        failures |= refused
        solved = solve_shares(listed, batches, executor, devices)
    try:
        for place, result in solved:
            if isinstance(result, InstanceError):
                failures[numbers[place]] = _named(result, numbers[place])
            else:
                results[numbers[place]] = result
                if result.is_coarse:
                    warn_of_resolution(result)
                if result.stop_reason == "interrupted":
                    break
            if progress is not None and progress(len(results) + len(failures), total) is True:
                break
    except KeyboardInterrupt:
        if not results:
            raise
    finally:
        solved.close()
    found, failures = sorted(results), dict(sorted(failures.items()))
    if failures and not results:
        raise next(iter(failures.values()))
    _warn_of_failures(failures)
    return BatchResult(tuple(results[number] for number in found), np.array(found, dtype=np.int64), failures)


def _without_refused(numbers: Sequence[int], listed: Sequence[Instance]) -> _Listed:
    """Return the instances that kernels take, with their numbers, and the errors of others, by number."""
    forms = enumerate(form_all(listed))
    refused = {place: form for place, form in forms if isinstance(form, InstanceError)}
    failures: dict[int, Exception] = {numbers[place]: _named(error, numbers[place]) for place, error in refused.items()}
    if not refused:
        return numbers, listed, failures
    kept = [place for place in range(len(listed)) if place not in refused]
    return [numbers[place] for place in kept], [listed[place] for place in kept], failures


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
    """Solve instances of an iterator as `solve_many` does, in bounded memory.

    An instance's result is that of `solve_many`. Instances are taken when results are asked for.

    Parameters
    ----------
    instances : iterable of Instance, or of data that `pytsp.as_instance` takes
    metric, climbers, seed, iterations, backend, threads, device
        As in `pytsp.solve_many`; a seed of None is drawn once for all.
    ordered : bool, optional
        Yield results in the order of the instances. Otherwise they come as soon as they are solved.

    Yields
    ------
    (int, Result)
        The number of an instance, counted from 0, and its result. Invalid instances have none.

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
    placement = {"backend": backend, "threads": threads, "device": device}
    batches = Batches.of(climbers, seed, iterations, placement=placement, watch=Watch())
    _ = batches.kernels
    return _solve_windows(enumerate(instances), batches, metric, ordered=ordered)


def _solve_windows(
    numbered: Iterator[tuple[int, Any]], batches: Batches, metric: str | None, *, ordered: bool
) -> Iterator[tuple[int, Result]]:
    while window := list(_window(numbered)):
        numbers, listed, failures = _listed(window, partial(as_instance, metric=metric))
        if 0 in numbers:
            warn_of_rounding(listed[0])
        warn_of_cut_off(listed)
        batches.check_memory(listed)
        solved = ((numbers[place], result) for place, result in batches.solve(list(listed)))
        for number, result in sorted(solved, key=itemgetter(0)) if ordered else solved:
            if isinstance(result, Result):
                if result.is_coarse:
                    warn_of_resolution(result)
                yield number, result
            else:
                failures[number] = _named(result, number)
        _warn_of_failures(failures)


def _window(numbered: Iterator[tuple[int, Any]]) -> Iterator[tuple[int, Any]]:
    """Yield the next instances, as many as are taken at a time."""
    cities = 0
    for number, instance in islice(numbered, WINDOW_INSTANCES):
        yield number, instance
        cities += instance.n if isinstance(instance, Instance) else len(instance) if hasattr(instance, "__len__") else 1
        if cities >= WINDOW_CITIES:
            return


# The numbers of instances, these, and why others are none, by number.
_Listed = tuple[Sequence[int], Sequence[Instance], dict[int, Exception]]


def _list_instances(instances: Iterable[Instance | Any] | Any, metric: str | None) -> _Listed:
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
    if failures:
        count = "1 instance has" if len(failures) == 1 else f"{len(failures)} instances have"
        warn_user(f"{count} no result: {some_of([*map(str, failures.values())])}")
