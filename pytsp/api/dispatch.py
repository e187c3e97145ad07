"""What `pytsp.solve` does: find the solver that the arguments mean, check its options, and run it."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import fields
from functools import partial
from inspect import signature
from typing import Any

import numpy as np

from pytsp.api.solve import solve
from pytsp.backends.context import Backend
from pytsp.backends.registry import open_backend
from pytsp.problem.instance import Instance
from pytsp.problem.kernel_input import form_of
from pytsp.run.monitor import Watch, target_length
from pytsp.run.result import Result
from pytsp.solvers.common.fallback import CURVE_SECONDS, unsearched
from pytsp.solvers.large.requirements import LEAST_CITIES
from pytsp.solvers.options import Cooling, Foraging, Options, options_type
from pytsp.solvers.registry import PART_OF
from pytsp.solvers.restarts.solver import moves_a_pass, restarts
from pytsp.solvers.selection import chosen, given_of
from pytsp.utils.deadline import OutOfTime, looking

__all__ = ["run", "solved"]

# "auto" makes no population whose first tours take more of the time.
SLOW_SHARE = 0.15
# Of more climbers than these it crosses the best: all of them would take far longer to agree.
MOST_CROSSED = 300
# Read once: that takes as long as a small instance does.
_SIGNATURE = signature(solve)

_log = logging.getLogger("pytsp")


def solved(arguments: dict[str, Any], began: float) -> Result:
    """Solve what `pytsp.solve` was called for with these arguments, all of them, at that time of the clock."""
    instance: Instance | Any = arguments["instance"]
    if not isinstance(instance, Instance):
        from pytsp.io.convert import as_instance  # noqa: PLC0415

        instance = arguments["instance"] = as_instance(instance)
    # Any word, "no" too, would count as true.
    for name in ("open", "quadrants", "merge"):
        value = arguments[name]
        if value is not None or name != "quadrants":
            if not isinstance(value, bool | np.bool_):
                raise TypeError(f"{name} must be True or False; it is {value!r}")
            arguments[name] = bool(value)
    ends = arguments["start_city"], arguments["end_city"]
    if arguments["open"] or ends != (None, None) or instance.asymmetric:
        from pytsp.api.reductions import solve_reduced  # noqa: PLC0415

        return solve_reduced(**arguments)
    watch = Watch(
        time_limit=arguments["time_limit"],
        target=target_length(instance, arguments["target"], arguments["target_gap"]),
        patience=arguments["patience"],
        progress=arguments["progress"],
        on_improvement=arguments["on_improvement"],
        spent=time.perf_counter() - began,
    )
    on = {name: arguments[name] for name in ("backend", "threads", "device")}

    is_slow = partial(_starts_slowly, instance.n, watch, **on)
    solver = chosen(arguments["solver"], given_of(arguments, _SIGNATURE), instance, is_slow)
    kind = options_type(solver)
    is_chosen = (solver, arguments["solver"]) == ("eax", "auto")
    if is_chosen and arguments["climbers"] is not None and arguments["population"] is None:
        arguments["population"] = MOST_CROSSED
    options = kind(**{each.name: arguments[each.name] for each in fields(kind)})
    if solver == "large" and instance.n < LEAST_CITIES:
        solver = "ils"
    on |= {"mapping": arguments["mapping"], "solver": solver, "k": moves_a_pass(arguments["k"])}
    if arguments["checkpoint"] is None:
        return run(instance, options, watch, **on)
    from pytsp.checkpoint.writer import Checkpoint, head_of  # noqa: PLC0415

    head = head_of(instance, options, watch, **on)
    watch.checkpoint = Checkpoint(arguments["checkpoint"], head, arguments["checkpoint_interval"])
    watch.checkpoint.begin(watch)
    try:
        return run(instance, options, watch, **on)
    except Exception:
        watch.checkpoint.discard()
        raise


def _starts_slowly(n: int, watch: Watch, *, backend: str, threads: int | None, device: str | int | None) -> bool:
    """Tell whether a GPU would need much of the time that is left for the first tours of a population."""
    if watch.time_limit is None:
        return False
    from pytsp.solvers.eax.evolution import first_seconds, gpu_climbers  # noqa: PLC0415

    kernels = open_backend(backend, threads=threads, device=device, part=PART_OF["eax"])
    return first_seconds(n, gpu_climbers(n, watch.time_limit), kernels) > SLOW_SHARE * watch.seconds_left


def run(
    instance: Instance,
    options: Options,
    watch: Watch,
    *,
    solver: str,
    backend: str,
    threads: int | None,
    device: str | int | None,
    mapping: str,
    k: int,
) -> Result:
    """Run one solver, from the beginning or from where `watch` says that it stood."""

    def opened() -> Backend:
        return open_backend(backend, threads=threads, device=device, part=PART_OF[solver])

    # "large" follows the curve anyway, and looks at the clock before.
    telling = 0.0 if solver == "large" else CURVE_SECONDS * instance.n

    def timely(seconds: float) -> None:
        watch.look(seconds + telling)

    name = instance.name or "instance"
    _log.info("%s: %d cities, %s; solver %s", name, instance.n, instance.metric, solver)
    try:
        # What was found before is worth the time that it takes to go back there.
        with looking(timely) if watch.state is None else nullcontext():
            found = _searched(instance, options, watch, opened, solver=solver, mapping=mapping, k=k)
    except OutOfTime as late:
        found = unsearched(instance, watch, options, late.tour, solver=solver, backend=opened().name, k=k)
    _log.info(
        "%s: length %s after %.2f s on %s; %s", name, found.length, found.seconds, found.backend, found.stop_reason
    )
    return found


def _searched(
    instance: Instance,
    options: Options,
    watch: Watch,
    opened: Callable[[], Backend],
    *,
    solver: str,
    mapping: str,
    k: int,
) -> Result:
    """Run one solver.

    Raises
    ------
    OutOfTime
        If the time is over before it has a tour.
    """
    if solver == "large":
        from pytsp.solvers.large.solver import large  # noqa: PLC0415

        return large(instance, opened(), watch, options)
    form = form_of(instance)
    if solver == "two-opt":
        from pytsp.solvers.two_opt import descended  # noqa: PLC0415

        return descended(instance, form, opened(), watch, options, k)
    if isinstance(options, Cooling):
        from pytsp.solvers.annealing import annealed  # noqa: PLC0415

        return annealed(instance, form, opened(), watch, options)
    if isinstance(options, Foraging):
        from pytsp.solvers.ants import foraged  # noqa: PLC0415

        return foraged(instance, form, opened(), watch, options)
    if solver != "restarts":
        # Above some cities they need SciPy, which takes longer to import than all else.
        from pytsp.solvers.eax.solver import evolved  # noqa: PLC0415
        from pytsp.solvers.ils.solver import iterated  # noqa: PLC0415

        return (evolved if solver == "eax" else iterated)(instance, form, opened(), watch, options)
    return restarts(instance, form, opened(), watch, options, mapping=mapping, k=k)
