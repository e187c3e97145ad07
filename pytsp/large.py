"""Large tours: pieces of one tour climb side by side, and moves between them join what lies across their borders."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from pytsp._hilbert import hilbert_keys
from pytsp._options import Options
from pytsp._pieces import Pieces
from pytsp._planar import METRICS, can_be_large
from pytsp._population import most_cities
from pytsp._verify import verified
from pytsp.backends import Backend
from pytsp.exceptions import InstanceError
from pytsp.forms import form_of
from pytsp.history import Progress, Watch
from pytsp.ils import first_temperature
from pytsp.instance import Instance
from pytsp.neighbours import check_neighbours, in_order, neighbour_lists
from pytsp.result import Result
from pytsp.starts import start_tour
from pytsp.tours import check_tour, whole_number

__all__ = ["large"]

DEFAULT_NEIGHBOURS = 8
# The cities of a piece: larger ones hold more of what is near each other, smaller ones keep a GPU busy.
CPU_PIECE = 5_000
GPU_PIECES, LEAST_GPU_PIECE, MOST_GPU_PIECE = 264, 1_000, 4_000
# Rounds where neither they nor a time limit are given: ten kicks a city.
DEFAULT_ROUNDS = 100
# The power of what is left by which the temperature falls (docs/algorithms.md).
COOLING = 3
# With a time limit, this share of it, at most so many seconds, is left for the moves between pieces in the end; and so
# much longer they may take.
SETTLING_SHARE = 0.1
MOST_SETTLING_SECONDS = 2.0
SETTLING_SECONDS = 0.3


def large(instance: Instance, kernels: Backend, watch: Watch, options: Options) -> Result:
    """Solve a large instance; see `pytsp.solve`."""
    if not can_be_large(instance) or instance.coordinates is None:
        raise InstanceError(
            f"{instance.name or 'the instance'}: solver 'large' needs cities in the plane and one of the metrics "
            f"{', '.join(METRICS)}; the metric is {instance.metric}: use solver='ils'"
        )
    order = np.argsort(hilbert_keys(instance.coordinates), kind="stable")
    # Cities that are near each other have numbers near each other, and their data lies close together.
    ordered = Instance.from_coordinates(instance.coordinates[order], metric=instance.metric, name=instance.name)
    form = form_of(ordered)
    lists = _lists(ordered, order, options)
    search = Pieces(
        form,
        kernels,
        lists,
        _start(ordered, order, options),
        seed=options.seed,
        piece=_piece(instance.n, kernels, options),
        temperature=first_temperature(form, lists, options),
    )
    stop_reason = "finished"
    try:
        stop_reason = _search(search, watch, options)
        tour = search.tour()
    except KeyboardInterrupt:
        stop_reason = "interrupted"
        tour = search.tour()
    return _result(search, tour, instance, order, stop_reason, watch, options)


def _search(search: Pieces, watch: Watch, options: Options) -> str:
    """Go through rounds and passes until nothing is left to do or a limit says so, and return why it ended."""
    rounds = options.iterations
    if rounds is None:
        rounds = DEFAULT_ROUNDS if watch.time_limit is None else 2**31
    limit = math.inf
    if watch.time_limit is not None:
        limit = watch.time_limit - min(SETTLING_SHARE * watch.time_limit, MOST_SETTLING_SECONDS)
    _tell(search, watch, rounds)
    while search.standing.rounds < rounds and watch.seconds < limit:
        done = watch.seconds / limit if math.isfinite(limit) else search.standing.rounds / rounds
        if search.due_passes:
            search.settle(search.due_passes)
        else:
            search.climb((1 - min(1.0, done)) ** COOLING, limit - watch.seconds)
        _tell(search, watch, rounds)
        if watch.stop_reason() == "target":
            return "target"
    stop_reason = "finished" if search.standing.rounds == rounds else "time limit"
    # A warm round may have left a shorter tour: then that one is settled, too.
    while not search.standing.is_settled or search.go_back():
        search.settle()
        _tell(search, watch, rounds)
        if watch.stop_reason() == "target":
            return "target"
        if watch.seconds_left < -SETTLING_SECONDS:
            return "time limit"
    return stop_reason


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


def _lists(ordered: Instance, order: NDArray[np.int64], options: Options) -> NDArray[np.int32]:
    """Return the neighbour lists of the renumbered cities."""
    neighbours = DEFAULT_NEIGHBOURS if options.neighbours is None else options.neighbours
    if np.ndim(neighbours) == 0:
        k = whole_number("neighbours", neighbours, 1, 2**31 - 1)  # type: ignore[arg-type]
        return neighbour_lists(ordered, k, quadrants=bool(options.quadrants))
    given = check_neighbours(neighbours, ordered.n)
    return in_order(ordered, _numbers(order)[given[order]])


def _numbers(order: NDArray[np.int64]) -> NDArray[np.int32]:
    """Return the new number of each city, where `order` has the cities in order of these."""
    numbers = np.empty(len(order), dtype=np.int32)
    numbers[order] = np.arange(len(order), dtype=np.int32)
    return numbers


def _start(ordered: Instance, order: NDArray[np.int64], options: Options) -> NDArray[np.int32]:
    """Return the first tour, of the renumbered cities."""
    if options.initial_tour is not None:
        return _numbers(order)[check_tour(options.initial_tour, ordered.n)]
    if options.start in (None, "space-filling-curve"):
        return np.arange(ordered.n, dtype=np.int32)
    return start_tour(ordered, options.start, seed=options.seed)


def _tell(search: Pieces, watch: Watch, rounds: int) -> None:
    """Tell the callbacks where the tour stands."""
    now = search.standing
    watch.offer(now.rounds, search.best.length * search.form.unit)
    if watch.progress is not None:
        total = rounds if watch.time_limit is None else None
        watch.progress(Progress(1, 0, search.best.length * search.form.unit, watch.seconds, now.rounds, total))


def _result(
    search: Pieces,
    tour: NDArray[np.int32],
    instance: Instance,
    order: NDArray[np.int64],
    stop_reason: str,
    watch: Watch,
    options: Options,
) -> Result:
    """Check the best tour against the instance and return it."""
    best = search.best
    found = verified(tour, best.length, 0, search.form, search.kernels, options.seed)
    tour = order[found].astype(np.int32)
    length = instance.tour_length(tour)
    rounds = search.standing.rounds
    return Result(
        instance=instance,
        tour=tour,
        length=length,
        climber=0,
        lengths=np.array([best.length]) if instance.is_exact else np.array([best.length * search.form.unit]),
        steps=np.array([rounds * search.count * search.kicks]),
        passes=np.empty(0, dtype=np.int32),
        done=np.array([best.is_settled]),
        seed=options.seed,
        k=None,
        backend=search.kernels.name,
        mapping=search.mapping,
        seconds=watch.seconds,
        stop_reason=stop_reason,
        solver="large",
        iterations=rounds,
        history=watch.improvements(rounds, length),
    )
