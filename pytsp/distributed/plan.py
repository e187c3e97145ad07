"""A worker's plan of a solve, before its climbers are distributed: their number and the options that suit them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pytsp.distributed.slices import Job, task_of
from pytsp.distributed.worker import Shared
from pytsp.run.monitor import Watch
from pytsp.run.state_reader import State
from pytsp.solvers.common.candidates import DEFAULT_NEIGHBOURS, candidates
from pytsp.solvers.common.local_search import moves_of
from pytsp.solvers.common.placement import default_climbers, mapping_of
from pytsp.solvers.common.task import Task
from pytsp.solvers.options.shared import MOVES
from pytsp.utils.arguments import is_array

__all__ = ["Plan", "PlanAsk", "plan", "restored_plan"]


@dataclass(frozen=True)
class PlanAsk:
    """Arguments of `plan`: the job, the number of places, and the time left."""

    job: str
    places: int
    time_limit: float | None
    spent: float


@dataclass(frozen=True)
class Plan:
    """Number of climbers, number that keeps a worker busy, and options that would otherwise depend on the worker."""

    climbers: int
    busy: int
    options: Mapping[str, Any]

    def state(self) -> dict[str, Any]:
        """Return it as a checkpoint holds it, for `restored_plan`."""
        return {"climbers": self.climbers, "busy": self.busy, **self.options}


def restored_plan(said: State) -> Plan:
    """Return the plan that a checkpoint holds."""
    more: dict[str, Any] = {}
    if "iterations" in said:
        more["iterations"] = said.whole("iterations")
    if "population" in said:
        more["climbers"] = said.whole("population", 1, 2**40)
    if "moves" in said:
        more["moves"] = said.text("moves")
    return Plan(said.whole("climbers", 1, 2**40), said.whole("busy", 1), more)


def plan(shared: Shared, ask: PlanAsk) -> Plan:
    """Say how a solve is to be cut, by what its solver takes by default on this worker's machine."""
    job: Job = shared[ask.job]
    task = task_of(job, shared[job.instance], job.options, Watch(time_limit=ask.time_limit, spent=ask.spent))
    return PLANS[job.options.name](task, ask.places)


def _restarts(task: Task[Any], places: int) -> Plan:
    from pytsp.solvers.restarts.mapping import choose_blocks, choose_mapping  # noqa: PLC0415
    from pytsp.solvers.restarts.solver import BUSY_BLOCKS, BUSY_THREADS, default_climbers  # noqa: PLC0415

    options, kernels = task.options, task.kernels
    blocks = choose_blocks(options, task.form, kernels)
    mapping = "block" if blocks else choose_mapping(options.mapping, task.form, 1, kernels)
    busy = kernels.threads or (BUSY_BLOCKS if mapping == "block" else BUSY_THREADS)
    return Plan(options.climbers or default_climbers(task.instance.n), busy, {})


def _ils(task: Task[Any], places: int) -> Plan:
    from pytsp.solvers.ils.solver import KICKED_CITIES, default_iterations, timely_climbers  # noqa: PLC0415

    options, watch, n = task.options, task.watch, task.instance.n
    one = timely_climbers(n, task.kernels, watch)
    climbers, iterations = options.climbers or places * one, options.iterations
    if iterations is None and (watch.time_limit is None or n < KICKED_CITIES):
        iterations = default_iterations(n, climbers, task.kernels)
    mapping = mapping_of(n, task.kernels, options.layout)
    moves = MOVES[moves_of(task, mapping, "lk" if options.pivot == "first" else "3-opt")]
    return Plan(climbers, one, {"iterations": iterations, "moves": moves})


def _annealing(task: Task[Any], places: int) -> Plan:
    from pytsp.solvers.annealing import ANNEALED_CITIES, LEAST_ITERATIONS, TRIALS  # noqa: PLC0415

    options, n, one = task.options, task.instance.n, default_climbers(task.instance.n, task.kernels)
    more: dict[str, Any] = {}
    is_by_default = options.iterations is None and task.watch.time_limit is None and n >= ANNEALED_CITIES
    if is_by_default and options.cooling is None and not is_array(options.schedule):
        more["iterations"] = max(LEAST_ITERATIONS, int(TRIALS[task.machine] / (options.trials or n)))
    return Plan(options.climbers or places * one, one, more)


def _ants(task: Task[Any], places: int) -> Plan:
    from pytsp.solvers.ants import NEIGHBOURS, _default_colonies, _default_iterations  # noqa: PLC0415

    options = task.options
    one = _default_colonies(task)
    climbers, iterations = options.climbers or places * one, options.iterations
    if iterations is None and task.watch.time_limit is None:
        k = candidates(task, DEFAULT_NEIGHBOURS if options.moves else NEIGHBOURS).shape[1]
        iterations = _default_iterations(task, k, climbers)
    return Plan(climbers, one, {"iterations": iterations})


def _eax(task: Task[Any], places: int) -> Plan:
    """The climbers of an island: with a time limit alone as many as each finds that it has the time for."""
    from pytsp.solvers.eax import default_population, descent_moves  # noqa: PLC0415

    options, n = task.options, task.instance.n
    more: dict[str, Any] = {"moves": descent_moves(task)}
    if options.climbers is None and (options.iterations is not None or task.watch.time_limit is None):
        more["climbers"] = default_population(n, task.machine)
    return Plan(options.climbers or more.get("climbers") or 1, 1, more)


def _large(task: Task[Any], places: int) -> Plan:
    from pytsp.solvers.large.solver import check_large  # noqa: PLC0415

    check_large(task.instance)
    return Plan(1, 1, {})


PLANS: dict[str, Callable[[Task[Any], int], Plan]] = {
    "restarts": _restarts,
    "ils": _ils,
    "annealing": _annealing,
    "ants": _ants,
    "eax": _eax,
    "large": _large,
}
"""What a worker says of each solver that is cut by its climbers, or has islands or stripes."""
