"""Solve many instances in one go: those of equal size together, each with a population of its own."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytsp.api.solve import solve
from pytsp.backends.context import Backend, open_backend
from pytsp.problem.instance import Instance
from pytsp.problem.kernel_input import Form, form_of
from pytsp.problem.tours import whole_number
from pytsp.run.result import Result
from pytsp.solvers.common.crossover import CHILDREN
from pytsp.solvers.common.verify import verified
from pytsp.solvers.eax.evolution import PASSES
from pytsp.utils.memory import check_room

__all__ = ["solve_many"]

# Sizes that are solved together. Smaller ones leave nothing to recombine, larger ones keep a machine busy alone.
TOGETHER_CITIES = range(8, 1_001)
CLIMBERS = 20
# The iterations of iterated local search on fewer cities.
LONE_ITERATIONS = 200
NEIGHBOURS = 8
# How long a kernel call should take, and how many instances of 100 cities the first one has.
CALL_SECONDS = 0.2
FIRST_CHUNK = {"cpu": 8, "gpu": 1_000}
# The memory that a call may take, and what a city of a climber does.
CALL_BYTES = {"cpu": 2**28, "gpu": 2**33}
CITY_BYTES = 80


def solve_many(
    instances: Iterable[Instance] | NDArray[np.generic],
    *,
    metric: str | None = None,
    climbers: int = CLIMBERS,
    seed: int = 0,
    iterations: int | None = None,
    backend: str = "auto",
    threads: int | None = None,
    device: str | int | None = None,
) -> list[Result]:
    """Solve many instances by edge assembly crossover, those of equal size together.

    An instance's result does not depend on those beside it. From 8 to 1,000 cities, climbers start from random near
    tours, descend by 3-opt over lists of the 8 nearest cities, and recombine (see `pytsp.solve`); larger
    instances are solved one by one by `solver="eax"`, smaller ones by 200 iterations of `solver="ils"`.

    Parameters
    ----------
    instances : iterable of Instance, or numpy.ndarray of numbers, shape (b, n, 2) or (b, n, 3)
        Instances of any sizes, or the coordinates of b instances of n cities each.
    metric : str, optional
        The distance between coordinates that are given as an array; by default "EUCLIDEAN", which does not round.
    climbers : int, optional
        The tours of each population, at least 1. With the default of 20, random uniform instances of 100 cities end
        about 0.04 % above the optimum on average.
    seed : int, optional
        0 ≤ seed < 2**64; the same for every instance.
    iterations : int, optional
        How many generations there are, at least 0; by default 8 + n / 50.
    backend, threads, device
        As in `pytsp.solve`.

    Returns
    -------
    list of Result
        In the order of the instances; the seconds are those of the call that solved it, shared among its instances.
        Ctrl-C ends it with the results so far, where there are any; `Result.instance` says whose they are.

    Raises
    ------
    ValueError
        If an argument is out of its range, or the array has another shape.
    InstanceError
        If an instance is none, or cannot be put before a kernel.
    BackendError
        If the backend is not built, cannot run here, or fails.

    Examples
    --------
    >>> squares = np.array([[[0, 0], [0, 1], [1, 1], [1, 0]], [[0, 0], [4, 4], [4, 0], [0, 4]]])
    >>> [result.length for result in solve_many(squares)]
    [4.0, 16.0]
    """
    climbers = whole_number("climbers", climbers, 1, 2**20)
    seed = whole_number("seed", seed, 0, 2**64 - 1)
    if iterations is not None:
        iterations = whole_number("iterations", iterations, 0, 2**31 - 1)
    checked = _instances(instances, metric)
    largest = max((instance.n for instance in checked), default=0)
    check_room("climbers", climbers, lambda count: CITY_BYTES * largest * count)
    kernels = open_backend(backend, threads=threads, device=device, part="search")
    settings = {"seed": seed, "backend": backend, "threads": threads, "device": device}

    def alone(instance: Instance) -> Result:
        # What no backend, nor its number of cores, decides.
        if instance.n < TOGETHER_CITIES[0]:
            return solve(instance, solver="ils", climbers=1, iterations=LONE_ITERATIONS, **settings)  # type: ignore[arg-type]
        return solve(instance, solver="eax", climbers=climbers, iterations=iterations, **settings)  # type: ignore[arg-type]

    results: dict[int, Result] = {}
    try:
        for place, result in _solved(checked, kernels, alone, climbers, seed, iterations):
            results[place] = result
            if result.stop_reason == "interrupted":
                break
    except KeyboardInterrupt:
        if not results:
            raise
    return [results[place] for place in sorted(results)]


def _solved(
    instances: list[Instance],
    kernels: Backend,
    alone: Callable[[Instance], Result],
    climbers: int,
    seed: int,
    iterations: int | None,
) -> Iterator[tuple[int, Result]]:
    """Solve instances, together or alone; yield the place of each, and its result."""
    forms: dict[int, Form] = {}
    groups: dict[tuple[Any, ...], list[int]] = {}
    for place, instance in enumerate(instances):
        if instance.n in TOGETHER_CITIES:
            form = forms[place] = form_of(instance)
            groups.setdefault((form.kind, instance.n, *form.arguments[2:]), []).append(place)
    for (kind, n, *flags), places in groups.items():
        generations = 8 + n // 50 if iterations is None else iterations
        for chunk, tours, lengths, seconds in _calls(
            kernels, kind, n, flags, places, forms, climbers, seed, generations
        ):
            for place, tour, length in zip(chunk, tours, lengths.tolist(), strict=True):
                share = seconds / len(chunk)
                yield place, _result(instances[place], forms[place], kernels, tour, length, seed, generations, share)
    for place, instance in enumerate(instances):
        if instance.n not in TOGETHER_CITIES:
            yield place, alone(instance)


def _calls(
    kernels: Backend,
    kind: str,
    n: int,
    flags: list[Any],
    places: list[int],
    forms: dict[int, Form],
    climbers: int,
    seed: int,
    generations: int,
) -> Iterator[tuple[list[int], NDArray[np.int32], NDArray[np.int64], float]]:
    """Solve the instances of one group, as many at a time as take a fraction of a second."""
    machine = "cpu" if kernels.device is None else "gpu"
    most = max(1, CALL_BYTES[machine] // (CITY_BYTES * n * climbers + (4 * n * n if kind == "matrix" else 0)))
    size = min(max(1, FIRST_CHUNK[machine] * (kernels.threads or 1) * 100 // n), most)
    counts = {"climbers": climbers, "generations": generations, "children": CHILDREN, "spread": 1, "passes": PASSES}
    plan = kernels.value("many_plan", {"k": min(NEIGHBOURS, n - 1), "seed": seed, **counts})
    while places:
        chunk, places = places[:size], places[size:]
        began = time.perf_counter()
        arrays = [np.stack(rows) for rows in zip(*(forms[place].arguments[:2] for place in chunk), strict=True)]
        solved = kernels.call(f"{kind}_solve_many", *arrays, *flags, plan)
        tours, lengths = kernels.call("many_tours", solved), kernels.call("many_lengths", solved)
        seconds = time.perf_counter() - began
        yield chunk, tours, lengths, seconds
        size = max(1, min(most, 4 * size, int(size * CALL_SECONDS / max(seconds, 1e-6))))


def _result(
    instance: Instance,
    form: Form,
    kernels: Backend,
    tour: NDArray[np.int32],
    length: int,
    seed: int,
    generations: int,
    seconds: float,
) -> Result:
    """Check a tour against its instance."""
    tour = verified(tour, length, 0, form, kernels, seed)
    told = instance.tour_length(tour)
    return Result(
        instance=instance,
        tour=tour,
        length=told,
        climber=0,
        lengths=np.array([told]),
        steps=np.zeros(1, dtype=np.int64),
        passes=np.empty(0, dtype=np.int32),
        done=np.ones(1, dtype=np.bool_),
        seed=seed,
        k=None,
        backend=kernels.name,
        mapping="thread",
        seconds=seconds,
        stop_reason="finished",
        solver="eax",
        iterations=generations,
    )


def _instances(instances: Iterable[Instance] | NDArray[np.generic], metric: str | None) -> list[Instance]:
    """Return the instances that are given, or those that coordinates make."""
    if isinstance(instances, np.ndarray):
        if instances.ndim != 3:
            raise ValueError(f"coordinates of many instances must have shape (b, n, 2); the shape is {instances.shape}")
        return [Instance.from_coordinates(points, metric=metric or "EUCLIDEAN") for points in instances]
    if metric is not None:
        raise ValueError(f"metric={metric!r} does not concern instances: they have their own")
    listed = list(instances)
    for place, instance in enumerate(listed):
        if not isinstance(instance, Instance):
            raise TypeError(f"instances[{place}] must be a pytsp.Instance; it is a {type(instance).__name__}")
    return listed
