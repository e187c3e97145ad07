"""Iterated local search: climbers that go on from their local optima by small random changes of their tours."""

from __future__ import annotations

from dataclasses import replace

from pytsp.backends.context import Backend
from pytsp.neighbours.boxes import boxes_by
from pytsp.run.monitor import Watch
from pytsp.solvers import policy
from pytsp.solvers.common.candidates import (
    are_by_alpha,
    are_nearest,
    are_nearest_in_time,
    is_on_a_lattice,
    lists_without_exits,
    search_lists,
)
from pytsp.solvers.common.local_search import moves_of
from pytsp.solvers.common.placement import check_climbers, default_climbers, mapping_of
from pytsp.solvers.common.starting_tours import NEAREST_NEIGHBOUR_CLIMBERS, starting_tours
from pytsp.solvers.common.task import Plan, Task
from pytsp.solvers.common.temperature import first_temperature
from pytsp.solvers.ils.population import Population
from pytsp.solvers.options.ils import ILS
from pytsp.solvers.options.shared import MOVES
from pytsp.starts.construct import GREEDY_NEIGHBOURS

# Cities of the smallest instance on which a kick changes anything.
KICKED_CITIES = 5


def begin(task: Task[ILS]) -> Population:
    """Return the climbers of an iterated local search at their start, or in their stored state."""
    task.prepare()
    is_near = are_nearest_in_time(task)
    if is_near:
        task = replace(task, options=replace(task.options, **policy.NEAREST_LISTS))
    instance, options, state = task.instance, task.options, task.watch.state
    # What cannot be laid out is refused before it is made.
    moves = _moves(task)
    if state is None:
        planned = plan(task)
        climbers, iterations = planned.climbers, planned.options["iterations"]
    else:
        # Choices that depend on the machine stay those of the machine where the solve began.
        climbers, iterations = state.whole("climbers", 1, 2**40), state.optional_whole("iterations")
    check_climbers(instance.n, climbers, copies=1 + (options.restart is not None or options.merge))
    by_alpha = are_by_alpha(task, moves)
    with boxes_by(task.kernels):
        lists = search_lists(task, default_is_alpha=by_alpha)
        is_for_starts = are_nearest(instance, options) and not by_alpha and lists.shape[1] >= GREEDY_NEIGHBOURS
        nearest = lists_without_exits(task) if is_for_starts else None
        starts = starting_tours(task, climbers, nearest, moves=moves) if state is None else None
    given = 0.0 if options.acceptance == "shorter" else options.temperature
    if given is None and by_alpha and is_on_a_lattice(task):
        given = policy.LATTICE_TEMPERATURE
    temperature = first_temperature(task.form, lists, given, is_doubled=task.is_doubled)
    return Population(
        task,
        lists,
        starts,
        moves=moves,
        by_alpha=by_alpha,
        is_near=is_near,
        iterations=iterations,
        temperature=temperature,
    )


def plan(task: Task[ILS], places: int = 1) -> Plan:
    """Return the number of climbers on a number of machines, and the options that depend on the machine."""
    options, watch, n = task.options, task.watch, task.instance.n
    busy = timely_climbers(n, task.kernels, watch)
    climbers, iterations = options.climbers or places * busy, options.iterations
    if iterations is None and (watch.time_limit is None or n < KICKED_CITIES):
        iterations = default_iterations(n, climbers, task.kernels)
    return Plan(climbers, busy, {"iterations": iterations, "moves": MOVES[_moves(task)]})


def _moves(task: Task[ILS]) -> int:
    """Return the moves as the kernels take them."""
    mapping = mapping_of(task.instance.n, task.kernels, task.options.layout)
    return moves_of(task, mapping, "lk" if task.options.pivot == "first" else "3-opt")


def timely_climbers(n: int, kernels: Backend, watch: Watch) -> int:
    """Return `default_climbers`, or fewer where making their first tours would take too much of the time."""
    climbers = default_climbers(n, kernels)
    if watch.time_limit is None:
        return climbers
    return policy.timely_climbers(n, climbers, kernels.threads, watch.seconds_left, NEAREST_NEIGHBOUR_CLIMBERS)


def default_iterations(n: int, climbers: int, kernels: Backend) -> int:
    """Return how many iterations each climber makes where nothing else ends the solve (`policy.default_kicks`)."""
    machine = "cpu" if kernels.device is None else "gpu"
    return policy.default_kicks(n, climbers, default_climbers(n, kernels), machine) if n >= KICKED_CITIES else 0
