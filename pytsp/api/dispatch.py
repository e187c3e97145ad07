"""Find the solver of a request, check its options, and run it."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from functools import cache
from importlib import import_module
from typing import Any

from pytsp.api.steps import Request
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

_log = logging.getLogger("pytsp")


def solve_symmetric(instance: Instance, request: Request) -> Result:
    """Solve for closed tours of a symmetric instance."""
    request = _without_matrix(instance, request)
    task, work = task_for(instance, request), (request.executor, request.devices, request.placement)
    if request.checkpoint is None:
        return run(task, *work)
    from pytsp.checkpoint.checkpoint import Checkpoint, head_of  # noqa: PLC0415

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
    """Return the task of a request."""
    watch, seed = watch_of(instance, request), seed_number(request.seed)
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


def timely(watch: Watch, kept_seconds: Callable[[], float]) -> AbstractContextManager[None]:
    """Have preparations look at the clock, and end in time for another tour, which takes `kept_seconds`."""
    return looking(lambda seconds: watch.look(seconds + kept_seconds()))


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
        threads = kernels_of("eax").threads
        if threads is not None:
            return limit < population_seconds(instance, threads)
        return may_be_large and limit < population_seconds(instance, None)

    def kernels_of(name: str) -> Backend:
        return open_placed(request.placement, OPTIONS[name].part)

    backend, device = request.placement["backend"], request.placement["device"]
    return choose(
        solver,
        given_of(request.keywords),
        instance,
        is_short,
        lambda: kernels_of("eax").device is None,
        lambda: most_cities(kernels_of("eax")),
        lambda: are_chained(instance.n, watch.time_limit, lambda: kernels_of("ils").threads),
        has_initial_tour=request.initial_tour is not None,
        may_take_the_cpu=request.devices is None and device is None and backend not in ("cuda", "opencl"),
    )


def open_placed(placement: Mapping[str, Any], part: str) -> Backend:
    """Return a part of a backend, open."""
    return open_backend(placement["backend"], threads=placement["threads"], device=placement["device"], part=part)


def task_of(
    instance: Instance, options: Options, watch: Watch, seed: int, initial_tour: Any, placement: Mapping[str, Any]
) -> Task[Options]:
    """Return the task of a solver, which may be another one if there are few cities."""
    if options.name == "large" and instance.n < LEAST_PIECE:
        # Too few cities have no pieces.
        options = as_chains(options)
    return Task(instance, options, watch, seed, initial_tour, lambda: open_placed(placement, options.kernels_part))


def as_chains(options: Options) -> Options:
    """Return the options of "large" as those of iterated local search over the whole tour."""
    return ILS(**{name: value for name, value in options.given().items() if name not in ("piece", "stripes")})


def run(task: Task[Options], executor: Any, devices: Any, placement: Mapping[str, Any]) -> Result:
    """Run a solver from the start, or from the state in its watch; in parts if workers or options ask for that."""
    is_in_parts = executor is not None or devices is not None or _asks_for_parts(task)
    instance, watch, solver = task.instance, task.watch, task.options.name
    # "large" follows the curve anyway, and looks at the clock before. What is kept is asked for at each look.
    kept_seconds = cache(lambda: (0.0 if solver == "large" else quick_seconds(instance)) + reserved_seconds(task))
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
        with timely(watch, kept_seconds) if watch.state is None else nullcontext():
            found = search()
    except OutOfTime as late:
        found = fallback_result(task, late.tour, early)
    _log.info(
        "%s: length %s after %.2f s on %s; %s", name, found.length, found.seconds, found.backend, found.stop_reason
    )
    return found


def _asks_for_parts(task: Task[Options]) -> bool:
    """Tell whether the options or the checkpoint of a solve ask for parts."""
    state, options = task.watch.state, task.options
    has_parts = max(getattr(options, "islands", 1), getattr(options, "stripes", 1)) > 1
    return has_parts or (state is not None and "parts" in state)
