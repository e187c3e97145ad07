"""Find the solver of a request, check its options, and run it."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import replace
from functools import cache
from importlib import import_module
from typing import Any

from pytsp.api.request import HERE, Request
from pytsp.backends.context import Backend
from pytsp.backends.registry import open_backend
from pytsp.problem.instance import Instance
from pytsp.problem.kernel_input import is_in_space_only
from pytsp.run.monitor import Watch
from pytsp.run.result import Result
from pytsp.solvers.common.fallback import early_tour, fallback_result, quick_seconds, reserved_seconds
from pytsp.solvers.common.flat_search import most_cities
from pytsp.solvers.common.loop import run as run_search
from pytsp.solvers.common.task import Task
from pytsp.solvers.options.fields import Options
from pytsp.solvers.options.ils import ILS
from pytsp.solvers.policy import LEAST_PIECE, are_chained, population_seconds
from pytsp.solvers.registry import MODULES, OPTIONS
from pytsp.solvers.selection import check_initial_tour, choose, given_of
from pytsp.utils.arguments import seed_number
from pytsp.utils.deadline import OutOfTime, looking

__all__ = [
    "as_chains",
    "open_placed",
    "options_of",
    "run",
    "run_out",
    "solve_symmetric",
    "task_for",
    "task_of",
    "timely",
    "watch_of",
]

_log = logging.getLogger("pytsp")


def solve_symmetric(instance: Instance, request: Request) -> Result:
    """Solve for closed tours of a symmetric instance, as its solver takes it."""
    request = _without_matrix(instance, request)
    task, work = task_for(instance, request), (request.executor, request.devices, request.placement)
    if request.checkpoint is None:
        return run(task, *work)
    from pytsp.checkpoint.writer import Checkpoint, head_of  # noqa: PLC0415

    watch = task.watch
    head = head_of(task, request.placement, request.bounded, [step.stored() for step in request.steps])
    watch.checkpoint = Checkpoint(request.checkpoint, head, request.checkpoint_interval)
    watch.checkpoint.begin(watch)
    try:
        return run(task, *work)
    except Exception:
        watch.checkpoint.discard()
        raise


def _without_matrix(instance: Instance, request: Request) -> Request:
    """Return a request whose backend needs no matrix that is too large, as most solvers do on a GPU."""
    if request.placement["backend"] != "auto" or not is_in_space_only(instance):
        return request
    limit = request.limits.time_limit
    if limit is None or limit >= population_seconds(instance, None):
        options = options_of(instance, request, watch_of(instance, request))
        if "gpu" in options.in_space:
            return request
    return replace(request, placement={**request.placement, "backend": "multicore"})


def run_out(instance: Instance, request: Request) -> Result:
    """Return the fallback result without preparing kernels."""
    return fallback_result(task_for(instance, request), None)


def task_for(instance: Instance, request: Request) -> Task[Options]:
    """Return what the solver is given that a request means."""
    watch = watch_of(instance, request)
    seed = seed_number(request.seed)
    options = options_of(instance, request, watch)
    if request.initial_tour is not None:
        check_initial_tour(options)
    task = task_of(instance, options, watch, seed, request.initial_tour, request.placement)
    task.quick_tour, task.is_doubled = request.quick_tour, request.is_doubled
    task.may_change_solver = request.solver == "auto" and not options.given()
    return task


def watch_of(instance: Instance, request: Request) -> Watch:
    """Return the clock of a request, with its limits and callbacks."""
    callbacks: dict[str, Any] = {"progress": request.progress, "on_improvement": request.on_improvement}
    return Watch(request.limits.with_target(instance), **callbacks, spent=time.perf_counter() - request.began)


def timely(watch: Watch, telling: Callable[[], float]) -> Callable[[float], None]:
    """Return what `looking` takes to end preparations in time for another tour, which takes as many seconds as
    `telling` says."""

    def check(seconds: float) -> None:
        watch.look(seconds + telling())

    return check


def options_of(instance: Instance, request: Request, watch: Watch) -> Options:
    """Return the options of the solver that a request means."""
    solver = request.solver
    if isinstance(solver, Options):
        if request.keywords:
            names = ", ".join(request.keywords)
            raise TypeError(f"solver={solver!r} says what it is asked for; give {names} there")
        return solver

    def is_short(may_be_large: bool) -> bool:
        """Tell whether there is too little time for a population, on a GPU only for one that "large" may replace."""
        limit = watch.time_limit
        # The limit, not what is left of it, so that a call takes the same solver each time.
        if limit is None or limit >= population_seconds(instance):
            return False
        kernels = kernels_of(request, OPTIONS["eax"].part)
        if kernels.threads is not None:
            return limit < population_seconds(instance, kernels.threads)
        return may_be_large and limit < population_seconds(instance, None)

    def is_on_the_cpu() -> bool:
        return kernels_of(request, OPTIONS["eax"].part).device is None

    def most_on_a_gpu() -> int:
        return most_cities(kernels_of(request, OPTIONS["eax"].part))

    has_tour, given = request.initial_tour is not None, given_of(request.keywords)
    backend, device = request.placement["backend"], request.placement["device"]
    may_take_the_cpu = request.devices is None and device is None and backend not in ("cuda", "opencl")
    return choose(
        solver,
        given,
        instance,
        is_short,
        is_on_the_cpu,
        most_on_a_gpu,
        lambda: are_chained(instance.n, watch.time_limit, lambda: kernels_of(request, OPTIONS["ils"].part).threads),
        has_initial_tour=has_tour,
        may_take_the_cpu=may_take_the_cpu,
    )


def kernels_of(request: Request, part: str) -> Backend:
    """Return a part of the backend that a request means, open."""
    return open_placed(request.placement, part)


def open_placed(placement: Mapping[str, Any], part: str) -> Backend:
    """Return a part of a backend, open."""
    return open_backend(placement["backend"], threads=placement["threads"], device=placement["device"], part=part)


def task_of(
    instance: Instance, options: Options, watch: Watch, seed: int, initial_tour: Any, placement: Mapping[str, Any]
) -> Task[Options]:
    """Return what the solver is given."""
    if options.name == "large" and instance.n < LEAST_PIECE:
        # Too few cities have no pieces.
        options = as_chains(options)
    return Task(instance, options, watch, seed, initial_tour, lambda: open_placed(placement, options.kernels_part))


def as_chains(options: Options) -> Options:
    """Return the options of "large" as those of iterated local search over the whole tour."""
    return ILS(**{name: value for name, value in options.given().items() if name not in ("piece", "stripes")})


def run(task: Task[Options], executor: Any = None, devices: Any = None, placement: Mapping[str, Any] = HERE) -> Result:
    """Run a solver, from the start or from the state in its watch; in parts, with an executor or options that ask for
    parts."""
    is_in_parts = executor is not None or devices is not None or _asks_for_parts(task)
    instance, watch, solver = task.instance, task.watch, task.options.name
    # "large" follows the curve anyway, and looks at the clock before. What is kept is asked for at each look.
    kept_seconds = cache(lambda: (0.0 if solver == "large" else quick_seconds(instance)) + reserved_seconds(task))
    watching = timely(watch, kept_seconds)
    name = instance.name or "instance"
    _log.info("%s: %d cities, %s; solver %s", name, instance.n, instance.metric, solver)

    def search() -> Result:
        if not is_in_parts:
            return run_search(import_module(MODULES[solver]).begin(task))
        from pytsp.distributed.solving import solve_in_parts  # noqa: PLC0415

        return solve_in_parts(task, executor, devices, placement)

    early = None if is_in_parts else early_tour(task)
    try:
        # Resuming is exempt from the deadline: restoring the state always pays.
        with looking(watching) if watch.state is None else nullcontext():
            found = search()
    except OutOfTime as late:
        found = fallback_result(task, late.tour, early)
    _log.info(
        "%s: length %s after %.2f s on %s; %s", name, found.length, found.seconds, found.backend, found.stop_reason
    )
    return found


def _asks_for_parts(task: Task[Options]) -> bool:
    """Tell whether a solve runs in parts anywhere, by its options or by its checkpoint."""
    state, options = task.watch.state, task.options
    has_parts = max(getattr(options, "islands", 1), getattr(options, "stripes", 1)) > 1
    return has_parts or (state is not None and "parts" in state)
