"""Run `pytsp.solve`: find the solver, check its options, and run it."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import nullcontext
from dataclasses import replace
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from pytsp.api.request import Request
from pytsp.backends.context import Backend
from pytsp.backends.registry import open_backend
from pytsp.problem.cut_off import warn_of_cut_off
from pytsp.problem.fixed_edges import check_has_fixed
from pytsp.problem.insertion import is_partial, with_insertions
from pytsp.problem.instance import Instance
from pytsp.problem.kernel_input import is_in_space_only
from pytsp.problem.labels import city_number
from pytsp.problem.location import is_located
from pytsp.problem.open_paths import check_ends
from pytsp.problem.rounding import warn_of_rounding
from pytsp.problem.tours import check_tour
from pytsp.run.monitor import Watch, target_length
from pytsp.run.result import Result
from pytsp.solvers.common.fallback import early_tour, fallback_result, quick_seconds
from pytsp.solvers.common.flat_search import most_cities
from pytsp.solvers.common.loop import run as run_search
from pytsp.solvers.common.shortening import reserved_seconds
from pytsp.solvers.common.task import Task
from pytsp.solvers.large.requirements import LEAST_CITIES
from pytsp.solvers.options.fields import Options
from pytsp.solvers.options.ils import ILS
from pytsp.solvers.policy import are_chained, population_seconds
from pytsp.solvers.registry import MODULES, OPTIONS, fields
from pytsp.solvers.selection import check_initial_tour, choose, given_of
from pytsp.utils.arguments import check_callback, is_array, seed_number, truth_value
from pytsp.utils.deadline import OutOfTime, looking

if TYPE_CHECKING:
    from pytsp.api.restating import Step

__all__ = [
    "dispatch",
    "dispatch_read",
    "options_of",
    "run",
    "run_out",
    "solve_once",
    "task_of",
    "timely",
    "watch_of",
]

# Solvers whose moves come from lists of near cities.
LISTING = ("eax", "ils", "large", "ants")

_log = logging.getLogger("pytsp")


def dispatch(instance: Instance | Any, request: Request) -> Result:
    """Run a request of `pytsp.solve`."""
    if not isinstance(instance, Instance) or any(value not in (None, False) for value in request.reading.values()):
        from pytsp.io.convert import as_instance  # noqa: PLC0415

        instance = as_instance(instance, **request.reading)
    instance = _with_fixed(instance, request.fixed)
    # Attribute the warning to the caller of `solve`.
    warn_of_rounding(instance, stacklevel=3)
    warn_of_cut_off([instance], is_open=request.open is True)
    solve = dispatch_read
    if truth_value("bound", request.bound):
        from pytsp.api.bounded import solve_bounded as solve  # noqa: PLC0415
    request = replace(
        request,
        start_city=city_number(instance, "start_city", request.given_ends[0]),
        end_city=city_number(instance, "end_city", request.given_ends[1]),
    )
    request = _with_insertions(instance, request)
    if truth_value("open", request.open):
        return solve(instance, request)
    if request.end_city is not None:
        raise ValueError(f"end_city={request.end_city} has no effect with a closed tour; it is for open=True")
    if request.start_city is None:
        return solve(instance, request)
    from pytsp.api.restating import FirstCity  # noqa: PLC0415

    return _solve_within(FirstCity(instance, request.start_city), solve, instance, replace(request, start_city=None))


def _with_insertions(instance: Instance, request: Request) -> Request:
    """Return a request whose initial tour has all cities, if there is one."""
    if truth_value("keep", request.keep) and request.initial_tour is None:
        raise ValueError("keep=True keeps the initial tour; give initial_tour")
    if request.initial_tour is None or not is_partial(request.initial_tour, instance.n):
        return request
    is_open = truth_value("open", request.open)
    ends = {"start_city": request.start_city, "end_city": request.end_city} if is_open else {}
    return replace(request, initial_tour=with_insertions(instance, request.initial_tour, is_open=is_open, **ends))


def _kept(instance: Instance, request: Request) -> Result:
    """Return the initial tour as it is."""
    if request.checkpoint is not None:
        raise ValueError("checkpoint has no effect with keep=True, which searches nothing")
    tour = check_tour(request.initial_tour, instance.n)  # type: ignore[arg-type]
    if request.open:
        check_ends(tour, request.start_city, request.end_city)
    if instance.fixed is not None:
        check_has_fixed(instance.fixed, tour, is_open=bool(request.open))
    # What it is told of is as of a search without time.
    alone = replace(request, time_limit=None, target=None, target_gap=None, initial_tour=tour, keep=False)
    alone = replace(alone, progress=None, on_improvement=None)
    found = fallback_result(_task_for(replace(instance, fixed=None), alone), None)
    length = instance.path_length(tour) if request.open else instance.tour_length(tour)
    reported = found.history[-1]._replace(length=length)
    return replace(
        found,
        instance=replace(instance, optimum=None) if request.open and instance.optimum is not None else instance,
        tour=tour,
        length=length,
        lengths=np.array([length]),
        history=(reported,),
        is_open=bool(request.open),
        stop_reason="finished",
    )


def _with_fixed(instance: Instance, fixed: Any) -> Instance:
    """Return an instance with the fixed edges that are given, by numbers or labels, in place of its own."""
    if fixed is None:
        return instance
    if isinstance(fixed, str) or not isinstance(fixed, Iterable):
        raise TypeError(f"fixed must be pairs of cities; it is {fixed!r:.60}")
    if not isinstance(fixed, np.ndarray):
        fixed = [_cities_of(instance, pair) for pair in fixed]
    made = replace(instance, fixed=fixed)
    if made.fixed is None and instance.fixed is None:
        return instance
    is_same = np.array_equal(made.fixed, instance.fixed)  # type: ignore[arg-type]
    # An optimum that is known is that with the instance's own.
    return made if is_same or made.optimum is None else replace(made, optimum=None)


def _cities_of(instance: Instance, pair: Any) -> list[int]:
    """Return the numbers of the cities of a fixed edge."""
    if isinstance(pair, str) or not isinstance(pair, Iterable) or len(cities := [*pair]) != 2:
        raise ValueError(f"fixed must be pairs of cities; one is {pair!r:.60}")
    return [number for city in cities if (number := city_number(instance, "fixed", city)) is not None]


def dispatch_read(instance: Instance, request: Request) -> Result:
    """Solve an instance, with or without a bound; with few cities per place, if the solver allows."""
    from pytsp.api.rescaled import solve_rescaled  # noqa: PLC0415

    if request.keep:
        return _kept(instance, request)
    if instance.fixed is None and _takes_lists(instance, request):
        from pytsp.api.collapsed import Collapsed  # noqa: PLC0415

        ends = request.start_city, request.end_city
        collapsed = Collapsed.of(instance, *ends, has_initial_tour=request.initial_tour is not None)
        if collapsed is not None:
            start, end = map(collapsed.city, ends)
            tour = None if request.initial_tour is None else collapsed.tour(request.initial_tour)
            inner = replace(request, start_city=start, end_city=end, initial_tour=tour)
            if collapsed.offset:
                # Of a path the gap is refused where it is solved.
                target = watch_of(instance, replace(request, target_gap=None) if request.open else request).target
                gap = request.target_gap if request.open else None
                target = None if target is None else max(0, target - collapsed.offset)
                inner = replace(inner, target=target, target_gap=gap)
            return _solve_within(collapsed, solve_rescaled, collapsed.instance, inner)
    return solve_rescaled(instance, request)


def _takes_lists(instance: Instance, request: Request) -> bool:
    """Tell whether a request may be for a solver that looks for moves along lists of near cities, made by itself."""
    solver = request.solver
    name = solver.name if isinstance(solver, Options) else solver
    if name == "auto" and request.keywords:
        concerned = [fields().get(each, {}) for each in request.keywords]
        if not any(all(solver in each for each in concerned) for solver in LISTING):
            return False
    if name == "large" and not is_located(instance):
        # It refuses the instance, however few cities there are.
        return False
    given = request.keywords.get("neighbours", getattr(solver, "neighbours", None))
    return name in ("auto", *LISTING) and not is_array(given)


def _solve_within(
    step: Step, solve: Callable[[Instance, Request], Result], instance: Instance, request: Request
) -> Result:
    """Solve an instance that a step leads to, and restate what is found."""
    from pytsp.api.restating import restate_result, restating  # noqa: PLC0415

    # A callback that is wrapped would pass for one.
    check_callback("progress", request.progress)
    check_callback("on_improvement", request.on_improvement)
    inner = replace(
        request,
        progress=restating(request.progress, [step]),
        on_improvement=restating(request.on_improvement, [step]),
        steps=(*request.steps, step),
    )
    return restate_result(solve(instance, inner), step)


def solve_once(instance: Instance, request: Request) -> Result:
    """Solve an instance with its distances rounded once."""
    if request.open or instance.asymmetric or instance.fixed is not None:
        from pytsp.api.reductions import solve_reduced  # noqa: PLC0415

        return solve_reduced(instance, request)
    request = _without_matrix(instance, request)
    task, work = _task_for(instance, request), (request.executor, request.devices, _placement_of(request))
    if request.checkpoint is None:
        return run(task, *work)
    from pytsp.api.restating import stored_step  # noqa: PLC0415
    from pytsp.checkpoint.writer import Checkpoint, head_of  # noqa: PLC0415

    watch = task.watch
    watch.checkpoint = Checkpoint(
        request.checkpoint,
        head_of(task, _placement_of(request), request.bounded, list(map(stored_step, request.steps))),
        request.checkpoint_interval,
    )
    watch.checkpoint.begin(watch)
    try:
        return run(task, *work)
    except Exception:
        watch.checkpoint.discard()
        raise


def _without_matrix(instance: Instance, request: Request) -> Request:
    """Return a request whose backend needs no matrix that is too large, as most solvers do on a GPU."""
    if request.backend != "auto" or not is_in_space_only(instance):
        return request
    limit = request.time_limit
    if limit is None or limit >= population_seconds(instance, None):
        options = options_of(instance, request, watch_of(instance, request))
        if "gpu" in options.in_space:
            return request
    return replace(request, backend="multicore")


def run_out(instance: Instance, request: Request) -> Result:
    """Return the fallback result without preparing kernels."""
    return fallback_result(_task_for(instance, request), None)


def _task_for(instance: Instance, request: Request) -> Task[Options]:
    """Return what the solver is given that a request means."""
    watch = watch_of(instance, request)
    seed = seed_number(request.seed)
    options = options_of(instance, request, watch)
    if request.initial_tour is not None:
        check_initial_tour(options)
    task = task_of(instance, options, watch, seed, request.initial_tour, _placement_of(request))
    task.quick_tour, task.is_doubled = request.quick_tour, request.is_doubled
    task.may_change_solver = request.solver == "auto" and not options.given()
    return task


def _placement_of(request: Request) -> dict[str, Any]:
    return {"backend": request.backend, "threads": request.threads, "device": request.device}


def watch_of(instance: Instance, request: Request) -> Watch:
    """Return the clock of a request, with its limits and callbacks."""
    return Watch(
        time_limit=request.time_limit,
        target=target_length(instance, request.target, request.target_gap),
        patience=request.patience,
        progress=request.progress,
        on_improvement=request.on_improvement,
        spent=time.perf_counter() - request.began,
    )


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
    may_take_the_cpu = request.devices is None and request.device is None and request.backend not in ("cuda", "opencl")
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
    return open_backend(request.backend, threads=request.threads, device=request.device, part=part)


def task_of(
    instance: Instance, options: Options, watch: Watch, seed: int, initial_tour: Any, placement: dict[str, Any]
) -> Task[Options]:
    """Return what the solver is given."""
    if options.name == "large" and instance.n < LEAST_CITIES:
        # Too few cities have no pieces.
        shared = options.given()
        for name in ("piece", "stripes"):
            shared.pop(name, None)
        options = ILS(**shared)

    def open_kernels() -> Backend:
        return open_backend(
            placement["backend"], threads=placement["threads"], device=placement["device"], part=options.kernels_part
        )

    return Task(instance, options, watch, seed, initial_tour, open_kernels)


def run(
    task: Task[Options], executor: Any = None, devices: Any = None, placement: Mapping[str, Any] | None = None
) -> Result:
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

        return solve_in_parts(task, executor, devices, placement or {})

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
