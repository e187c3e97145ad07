"""Large tours: pieces of one tour climb side by side, and moves between them join what lies across their borders."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from pytsp.backends.context import Backend
from pytsp.exceptions import InstanceError
from pytsp.neighbours.boxes import lists_along
from pytsp.neighbours.hilbert import hilbert_keys
from pytsp.neighbours.lists import check_neighbours, in_order, neighbour_lists
from pytsp.problem.instance import Instance
from pytsp.problem.kernel_input import form_of
from pytsp.problem.tours import check_tour
from pytsp.run.monitor import Watch
from pytsp.run.result import Result
from pytsp.solvers.common.fallback import CURVE_SECONDS
from pytsp.solvers.common.placement import most_cities
from pytsp.solvers.common.verify import result_of
from pytsp.solvers.ils.solver import first_temperature
from pytsp.solvers.large.pieces import DESCENTS, Pieces
from pytsp.solvers.large.requirements import LEAST_CITIES, METRICS, can_be_large
from pytsp.solvers.options import Options
from pytsp.starts.construct import start_tour
from pytsp.utils.arguments import whole_number
from pytsp.utils.deadline import OutOfTime, look

__all__ = ["large"]

DEFAULT_NEIGHBOURS = 8
# The cities of a piece: larger ones hold more of what is near each other, smaller ones keep a GPU busy.
CPU_PIECE = 5_000
GPU_PIECES, LEAST_GPU_PIECE, MOST_GPU_PIECE = 264, 1_000, 4_000
# Rounds where neither they nor a time limit are given: ten kicks a city.
DEFAULT_ROUNDS = 100
# The power of what is left by which the temperature falls (docs/algorithms.md).
COOLING = 3
# With a time limit, this share of it, at most so many seconds, is left for the moves between pieces in the end; but the
# time of so many passes over all cities, up to a larger share.
SETTLING_SHARE = 0.1
MOST_SETTLING_SECONDS = 2.0
FULL_PASSES = 2.0
MOST_SETTLING_SHARE = 0.35
# How many cities a pass over all of them goes through in a second at most, of one core.
PASSED_A_SECOND = 2e6
# What follows the search takes as long as the length of a tour, so many times.
FINAL_LENGTHS = 3


def large(instance: Instance, kernels: Backend, watch: Watch, options: Options) -> Result:
    """Solve a large instance; see `pytsp.solve`."""
    if not can_be_large(instance) or instance.coordinates is None:
        raise InstanceError(
            f"{instance.name or 'the instance'}: solver 'large' needs cities in the plane and one of the metrics "
            f"{', '.join(METRICS)}; the metric is {instance.metric}: use solver='ils'"
        )
    look(instance.n, CURVE_SECONDS * instance.n)
    keys = hilbert_keys(instance.coordinates)
    order = np.argsort(keys, kind="stable").astype(np.int32)
    # Cities that are near each other have numbers near each other, and their data lies close together.
    ordered = Instance.from_coordinates(instance.coordinates[order], metric=instance.metric, name=instance.name)
    began = watch.seconds
    if instance.is_exact:
        ordered.tour_length(np.arange(instance.n, dtype=np.int32))
    else:
        instance.tour_length(order)
    # In the end the tour is checked and measured, told, and all memory given back.
    watch.reserve = FINAL_LENGTHS * (watch.seconds - began)
    began = watch.seconds
    try:
        look(instance.n)
        lists = _lists(ordered, keys[order], order, kernels, options)
        look(instance.n)
    except OutOfTime:
        raise OutOfTime(order) from None
    del keys
    took = watch.seconds - began
    form = form_of(ordered)
    state = watch.state
    if state is not None:
        # What depends on the machine stays as it was on the one where the solve began.
        options = replace(options, piece=state.whole("piece", LEAST_CITIES, 2**31 - 1))
    search = Pieces(
        form,
        kernels,
        lists,
        _start(ordered, order, options),
        seed=options.seed,
        piece=_piece(instance.n, kernels, options),
        temperature=first_temperature(form, lists, options),
    )
    # The device has what they say: neither is needed any more, and memory is what bounds n.
    del form, lists, ordered
    if kernels.device is None:
        # A look at all cities takes about as long as the lists did, also where others keep the machine busy.
        search.full_pass = max(took, instance.n / PASSED_A_SECOND)
    if state is not None:
        search.restore(state)
    try:
        stop_reason = _search(search, watch, options)
        tour = search.tour()
    except KeyboardInterrupt:
        stop_reason = "interrupted"
        tour = search.tour()
    watch.keep(search.state, final=True)
    search.free()
    return _result(search, tour, instance, order, stop_reason, watch, options)


def _search(search: Pieces, watch: Watch, options: Options) -> str:
    """Go through rounds and passes until nothing is left to do or a limit says so, and return why it ended."""
    rounds = options.iterations
    if rounds is None:
        rounds = DEFAULT_ROUNDS if watch.time_limit is None else 2**31
    _tell(search, watch, rounds)
    reason = None
    while search.standing.rounds < rounds and reason is None:
        limit = _end_of_rounds(search, watch)
        if watch.seconds >= limit:
            break
        if search.due_passes and watch.seconds + search.pass_seconds > limit:
            break
        done = watch.seconds / limit if math.isfinite(limit) else search.standing.rounds / rounds
        if search.due_passes:
            search.settle(search.due_passes, limit - watch.seconds)
        else:
            search.climb((1 - min(1.0, done)) ** COOLING, limit - watch.seconds)
        reason = _after_call(search, watch, rounds)
        if reason == "target":
            return reason
    if reason is None:
        reason = "finished" if search.standing.rounds == rounds else "time limit"
    # A warm round may have left a shorter tour: then that one is settled, too.
    while not search.standing.is_settled or search.go_back():
        if search.pass_seconds > watch.seconds_left:
            return "time limit"
        search.settle(seconds_left=watch.seconds_left)
        if _after_call(search, watch, rounds) == "target":
            return "target"
    return reason


def _end_of_rounds(search: Pieces, watch: Watch) -> float:
    """Return the seconds at which rounds end for the passes behind them; infinite without a time limit."""
    if watch.time_limit is None:
        return math.inf
    end, most = watch.time_limit - watch.reserve, MOST_SETTLING_SHARE * watch.time_limit
    # Not even one pass over all cities would fit, or the rounds that gain more than all passes are not over.
    if search.full_pass > most or search.standing.rounds < DESCENTS:
        return end
    least = min(SETTLING_SHARE * watch.time_limit, MOST_SETTLING_SECONDS)
    return end - max(least, min(FULL_PASSES * search.full_pass, most))


def _after_call(search: Pieces, watch: Watch, rounds: int) -> str | None:
    """Tell where the tour stands, write it down where it is time to, and return the reason to stop, if there is one."""
    _tell(search, watch, rounds)
    watch.keep(search.state)
    return watch.stop_reason()


def _piece(n: int, kernels: Backend, options: Options) -> int:
    """Return how many cities a piece has.

    Raises
    ------
    ValueError
        If a piece does not fit the shared memory of a GPU's block.
    """
    most = most_cities(kernels)
    if most is None:
        return CPU_PIECE if options.piece is None else options.piece
    if options.piece is None:
        return min(most, max(LEAST_GPU_PIECE, min(MOST_GPU_PIECE, n // GPU_PIECES)))
    if min(options.piece, n) > most:
        raise ValueError(f"piece must be at most {most} on {kernels.device_name}; it is {options.piece}")
    return options.piece


def _lists(
    ordered: Instance, keys: NDArray[np.uint64], order: NDArray[np.int32], kernels: Backend, options: Options
) -> NDArray[np.int32]:
    """Return the neighbour lists of the renumbered cities, which are in order of these keys."""
    neighbours = DEFAULT_NEIGHBOURS if options.neighbours is None else options.neighbours
    if np.ndim(neighbours) == 0:
        k = whole_number("neighbours", neighbours, 1, 2**31 - 1)  # type: ignore[arg-type]
        if options.quadrants:
            return neighbour_lists(ordered, k, quadrants=True)
        return lists_along(ordered, keys, k, kernels)
    given = check_neighbours(neighbours, ordered.n)
    return in_order(ordered, _numbers(order)[given[order]])


def _numbers(order: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return the new number of each city, where `order` has the cities in order of these."""
    numbers = np.empty(len(order), dtype=np.int32)
    numbers[order] = np.arange(len(order), dtype=np.int32)
    return numbers


def _start(ordered: Instance, order: NDArray[np.int32], options: Options) -> NDArray[np.int32]:
    """Return the first tour, of the renumbered cities."""
    if options.initial_tour is not None:
        return _numbers(order)[check_tour(options.initial_tour, ordered.n)]
    if options.start in (None, "space-filling-curve"):
        return np.arange(ordered.n, dtype=np.int32)
    return start_tour(ordered, options.start, seed=options.seed)


def _tell(search: Pieces, watch: Watch, rounds: int) -> None:
    """Tell the callbacks where the tour stands."""
    now, length = search.standing, search.best.length * search.form.unit
    watch.offer(now.rounds, length)
    phase = "between pieces" if now.passes or now.rounds == rounds else "pieces"
    total = rounds if watch.time_limit is None else None
    watch.tell(phase, length, iteration=now.rounds, iterations=total)


def _result(
    search: Pieces,
    tour: NDArray[np.int32],
    instance: Instance,
    order: NDArray[np.int32],
    stop_reason: str,
    watch: Watch,
    options: Options,
) -> Result:
    """Return the best tour, of the cities' own numbers."""
    best, rounds = search.best, search.standing.rounds
    return result_of(
        instance,
        search.form,
        search.kernels,
        watch,
        solver="large",
        tour=tour,
        length=best.length,
        climber=0,
        seed=options.seed,
        lengths=np.array([best.length]),
        steps=np.array([rounds * search.count * search.kicks]),
        done=np.array([best.is_settled]),
        mapping=search.mapping,
        stop_reason=stop_reason,
        iterations=rounds,
        cities=order,
    )
