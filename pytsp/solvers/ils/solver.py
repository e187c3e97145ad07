"""Iterated local search: climbers that go on from their local optima by small random changes of their tours."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from pytsp.backends.context import Backend
from pytsp.neighbours.kdtree import NORMS
from pytsp.neighbours.lists import check_neighbours, in_order, neighbour_lists
from pytsp.problem.instance import Instance
from pytsp.problem.kernel_input import Form
from pytsp.problem.tours import check_tour, random_tours
from pytsp.run.monitor import Watch
from pytsp.run.result import Result
from pytsp.solvers.common.placement import mapping_of
from pytsp.solvers.common.verify import result_of, told_length
from pytsp.solvers.ils.population import CALL_SECONDS, Plan, Population
from pytsp.solvers.ils.restarting import stream_anew
from pytsp.solvers.options import KICKS, MOVES, PIVOTS, Options
from pytsp.starts.construct import Start, nearest_neighbour, start_tour
from pytsp.utils.arguments import whole_number
from pytsp.utils.deadline import look
from pytsp.utils.memory import check_room

__all__ = ["KICKS", "MOVES", "PIVOTS", "Options", "default_climbers", "default_iterations", "iterated"]

DEFAULT_NEIGHBOURS = 10
# How many moves a step draws with pivot "random-k" (docs/algorithms.md).
DEFAULT_DRAWS = 200
# Cities of the smallest instance on which a kick changes anything.
KICKED_CITIES = 5
# The iterations of a climber where neither they nor a time limit are given: five hundred a city up to so many, and at
# least so many a city. A GPU's climbers are slower and many.
ITERATIONS = {"cpu": 100_000, "gpu": 3_000}
ITERATIONS_A_CITY = 500
LEAST_ITERATIONS_A_CITY = {"cpu": 10, "gpu": 1}
# The climbers of a GPU: so many, or as many as fit its memory, at so many bytes a city.
GPU_CLIMBERS = 4_096
GPU_BYTES = 2**31
CITY_BYTES = 32
# What a climber takes on the CPU: so many bytes a city, and so many besides.
HOST_CITY_BYTES = 24
HOST_CLIMBER_BYTES = 256
# With a time limit a GPU has as many as begin in this share of what is left of it, with nearest-neighbour tours at so
# many cities a second, and then with random tours.
START_SHARE, NEAREST_A_SECOND, RANDOM_A_SECOND = 0.2, 2.5e5, 7e6
# With a time limit this share of it is left for merging tours.
MERGING_SHARE = 0.1
# So many random tours are made together.
TOGETHER = 256
# The default first temperature, in mean distances between a city and its two nearest (docs/algorithms.md).
TEMPERATURE = 1.2
# Cities whose nearest are asked for together.
_BLOCK = 1 << 17
# What a kernel takes, in its units: far more than a tour can become longer by a kick.
MOST_TEMPERATURE = 1e12
# Climbers below this number start from nearest-neighbour tours, those from it on from random ones.
NEAREST_NEIGHBOUR_CLIMBERS = 64


def iterated(instance: Instance, form: Form, kernels: Backend, watch: Watch, options: Options) -> Result:
    """Solve by iterated local search; see `pytsp.solve`."""
    state = watch.state
    if state is None:
        climbers = timely_climbers(instance.n, kernels, watch) if options.climbers is None else options.climbers
        iterations = _iterations(instance.n, climbers, kernels, watch, options)
    else:
        # What depends on the machine stays as it was on the one where the solve began.
        climbers, iterations = state.whole("climbers", 1, 2**40), state.optional_whole("iterations")
    check_climbers(instance.n, climbers, sets_aside=options.restart is not None or options.merge)
    lists = listed(instance, options)
    plan = Plan(
        seed=options.seed,
        first=options.first,
        iterations=iterations,
        neighbours=lists,
        moves=options.local_moves,
        pivot=PIVOTS.index(options.pivot),
        draws=(options.draws or DEFAULT_DRAWS) if options.pivot == "random-k" else 1,
        kick=KICKS.index(options.kick),
        temperature=first_temperature(form, lists, options),
        exchange=options.exchange,
        restart=options.restart,
        merges=options.merge,
    )
    starts = None if state is not None else starting_tours(instance, climbers, options)
    population = Population(form, kernels, plan, starts, state, beginner_anew(instance, options))
    try:
        stop_reason = _search(population, instance, watch)
    except KeyboardInterrupt:
        stop_reason = "interrupted"
        if not population.standing.is_polished:
            watch.keep(population.state, final=True)
    return _result(population, instance, stop_reason, watch)


def _search(population: Population, instance: Instance, watch: Watch) -> str:
    """Let the climbers go on until they are done or there is a reason to stop, and return why they ended."""
    stop_reason = "finished"
    # What merging may take of the time.
    merging = MERGING_SHARE * watch.time_limit if population.plan.merges and watch.time_limit is not None else 0.0
    _tell(population, instance, watch, is_call=False)
    while not population.is_finished:
        # A tour that is only given is no reason to end.
        reason = watch.stop_reason() if population.standing.has_descended else None
        if reason is None and population.polish_seconds + merging > max(0.0, watch.seconds_left):
            reason = "time limit"
        if reason is not None:
            stop_reason = reason
            break
        # The first descent cannot be cut: one that does not fit is not begun.
        if population.descent_seconds > max(watch.seconds_left, CALL_SECONDS):
            return "time limit"
        population.advance(watch.seconds_left - population.polish_seconds - merging, _warmth(watch))
        _tell(population, instance, watch)
        if watch.stop_reason() == "target":
            stop_reason = "target"
            break
        watch.keep(population.state)
    # From before the last descent: the iterations go on from there.
    watch.keep(population.state, final=True)
    population.polish(watch.seconds_left - population.polish_seconds)
    _tell(population, instance, watch, is_call=False)
    return stop_reason


def default_climbers(n: int, kernels: Backend) -> int:
    """Return the number of climbers of a solve that names none: one a core, or as many as keep a GPU busy."""
    return kernels.threads or max(1, min(GPU_CLIMBERS, GPU_BYTES // (CITY_BYTES * n)))


def timely_climbers(n: int, kernels: Backend, watch: Watch) -> int:
    """Return `default_climbers`, or fewer on a GPU where making their first tours would take too much of the time."""
    climbers = default_climbers(n, kernels)
    if kernels.threads or watch.time_limit is None:
        return climbers
    seconds = START_SHARE * watch.seconds_left
    nearest = min(NEAREST_NEIGHBOUR_CLIMBERS, int(seconds * NEAREST_A_SECOND / n))
    others = int((seconds - nearest * n / NEAREST_A_SECOND) * RANDOM_A_SECOND / n)
    return max(1, min(climbers, nearest + (others if nearest == NEAREST_NEIGHBOUR_CLIMBERS else 0)))


def check_climbers(n: int, climbers: int, *, sets_aside: bool = False) -> None:
    """Refuse more climbers on n cities than fit the memory; those whose tours are set aside take twice as much.

    Raises
    ------
    ValueError
        If they do not fit.
    """
    check_room(
        "climbers", climbers, lambda count: count * ((1 + sets_aside) * HOST_CITY_BYTES * n + HOST_CLIMBER_BYTES)
    )


def default_iterations(n: int, climbers: int, kernels: Backend) -> int:
    """Return how many iterations each climber makes where nothing else ends the solve.

    More climbers than `default_climbers` make fewer, in proportion, but at least one a city.
    """
    if n < KICKED_CITIES:
        return 0
    machine = "cpu" if kernels.device is None else "gpu"
    iterations = max(min(ITERATIONS_A_CITY * n, ITERATIONS[machine]), LEAST_ITERATIONS_A_CITY[machine] * n)
    share = min(1.0, default_climbers(n, kernels) / climbers)
    return max(int(iterations * share), min(n, iterations))


def starting_tours(instance: Instance, climbers: int, options: Options) -> NDArray[np.int32]:
    """Return the tours from which the climbers start; each is a function of the climber's number.

    All start from the initial tour if there is one. Else climber 0 starts as `start` says, by default along a
    space-filling curve, where there are no coordinates greedily; climbers 1, …, 63 from nearest-neighbour tours that
    begin in different cities, and the rest, or with "random" all, from random tours.

    Parameters
    ----------
    instance : Instance
    climbers : int
    options : Options

    Returns
    -------
    numpy.ndarray of int32, shape (climbers, n)

    Raises
    ------
    TourError
        If the initial tour is none.
    ValueError
        If a start needs coordinates that the instance has not.
    OutOfTime
        If they are for a solve whose time is over.
    """
    n, first, end = instance.n, options.first, options.first + climbers
    if options.initial_tour is not None:
        return np.broadcast_to(check_tour(options.initial_tour, n), (climbers, n))
    random_from = 0 if options.start == "random" else NEAREST_NEIGHBOUR_CLIMBERS
    fewer = range(first, min(end, random_from))
    lists = neighbour_lists(instance, DEFAULT_NEIGHBOURS) if fewer.stop > max(first, 1) else None
    tours: list[NDArray[np.int32]] = []
    for climber in fewer:
        look(len(tours) * n)
        city = (options.seed + climber * max(1, n // NEAREST_NEIGHBOUR_CLIMBERS)) % n
        if climber == 0:
            tours.append(start_tour(instance, options.start or _default_start(instance), seed=options.seed))
        else:
            tours.append(nearest_neighbour(instance, seed=city, neighbours=lists))
    for climber in range(first + len(tours), end, TOGETHER):
        look(len(tours) * n)
        tours.extend(random_tours(n, min(TOGETHER, end - climber), options.seed, climber))
    return np.array(tours)


def beginner_anew(instance: Instance, options: Options) -> Callable[[int, int], NDArray[np.int32]]:
    """Return what gives the tour from which a climber begins anew for the n-th time, of the kind from which it started.

    It is a nearest-neighbour tour that begins in a random city, or a random tour.
    """
    lists = functools.cache(lambda: neighbour_lists(instance, DEFAULT_NEIGHBOURS))

    def anew(climber: int, turn: int) -> NDArray[np.int32]:
        tour: NDArray[np.int32] = random_tours(instance.n, 1, options.seed, stream_anew(climber, turn))[0]
        if climber >= NEAREST_NEIGHBOUR_CLIMBERS or options.start == "random":
            return tour
        return nearest_neighbour(instance, seed=int(tour[0]), neighbours=lists())

    return anew


def _default_start(instance: Instance) -> Start:
    return "greedy" if instance.coordinates is None else "space-filling-curve"


def _iterations(n: int, climbers: int, kernels: Backend, watch: Watch, options: Options) -> int | None:
    """Return how many iterations each climber makes, or None where the time limit ends them."""
    if options.iterations is not None:
        return options.iterations
    if watch.time_limit is not None and n >= KICKED_CITIES:
        return None
    return default_iterations(n, climbers, kernels)


def listed(instance: Instance, options: Options, default: int = DEFAULT_NEIGHBOURS) -> NDArray[np.int32]:
    """Return the neighbour lists: those that are given, in order of distance, or of so many nearest, of each quadrant
    where there are quadrants; `default` is how many where that is not given."""
    neighbours = default if options.neighbours is None else options.neighbours
    if np.ndim(neighbours) > 0:
        return in_order(instance, check_neighbours(neighbours, instance.n))
    quadrants = options.quadrants
    if quadrants is None:
        points = instance.coordinates
        quadrants = instance.metric in NORMS and points is not None and points.shape[1] == 2
    k = whole_number("neighbours", neighbours, 1, 2**31 - 1)  # type: ignore[arg-type]
    return neighbour_lists(instance, k, quadrants=quadrants)


def first_temperature(form: Form, lists: NDArray[np.int32], options: Options) -> float:
    """Return the temperature in units of the kernel's lengths.

    By default it is a fraction of the mean distance between a city and its two nearest, more than an edge of a
    good tour. It depends on the instance and the lists only.
    """
    if options.temperature is not None:
        if form.in_units(options.temperature) > MOST_TEMPERATURE:
            most = math.ldexp(MOST_TEMPERATURE, form.exponent)
            raise ValueError(f"temperature must be at most {most:g} here; it is {options.temperature!r}")
        return form.in_units(options.temperature)
    if lists.shape[1] == 0:
        return 0.0
    near, total = lists[:, :2], 0
    for first in range(0, len(near), _BLOCK):
        block = near[first : first + _BLOCK]
        total += int(form.whole.distances(np.arange(first, first + len(block))[:, None], block).sum())
    return TEMPERATURE * total / near.size


def _warmth(watch: Watch) -> float:
    """Return the share of the temperature that is left where only the time limit ends a solve."""
    if watch.time_limit is None:
        return 1.0
    return float(max(0.0, watch.seconds_left / watch.time_limit) ** 2)


def _tell(population: Population, instance: Instance, watch: Watch, *, is_call: bool = True) -> None:
    """Tell the callbacks where the climbers stand."""
    now = population.standing
    length = told_length(instance, now.tour, now.length)
    watch.offer(now.iteration, length)
    if is_call:
        iterations = population.plan.iterations
        watch.tell("kicks", length, climbers=population.climbers, iteration=now.iteration, iterations=iterations)


def _result(population: Population, instance: Instance, stop_reason: str, watch: Watch) -> Result:
    """Return what all climbers came to."""
    now, plan = population.standing, population.plan
    return result_of(
        instance,
        population.form,
        population.kernels,
        watch,
        solver="ils",
        tour=now.tour,
        length=now.length,
        climber=now.climber,
        seed=plan.seed,
        lengths=now.shortest,
        steps=now.steps,
        # Draws that find nothing make no local optimum.
        done=np.full(population.climbers, now.is_polished and plan.pivot != PIVOTS.index("random-k")),
        mapping=mapping_of(instance.n, population.kernels),
        stop_reason=stop_reason,
        iterations=now.iteration,
    )
