"""Large tours: pieces of one tour climb side by side, and moves between them join what lies across their borders."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytsp.exceptions import InstanceError
from pytsp.neighbours.boxes import boxes_by
from pytsp.neighbours.exits import find_exits, with_exits
from pytsp.neighbours.hilbert import along_hilbert
from pytsp.neighbours.lists import (
    along_tree,
    check_length,
    check_neighbours,
    in_order,
    lists_along,
    neighbour_lists,
)
from pytsp.problem.instance import Instance
from pytsp.problem.kernel_input import form_of
from pytsp.problem.location import curve_points, is_located, is_planar, partners_of
from pytsp.problem.tours import numbers_of
from pytsp.solvers import policy
from pytsp.solvers.common.candidates import Near, alpha_lists_of, is_alpha, keep_nearest
from pytsp.solvers.common.loop import Search
from pytsp.solvers.common.starting_tours import with_clusters_in_order
from pytsp.solvers.common.task import Task
from pytsp.solvers.common.temperature import first_temperature
from pytsp.solvers.ils.population import Population
from pytsp.solvers.ils.solver import begin as begin_climbers
from pytsp.solvers.large.pieces import Pieces
from pytsp.solvers.options.ils import ILS
from pytsp.solvers.options.large import LargeTour
from pytsp.solvers.speeds import SPEEDS
from pytsp.starts.construct import start_tour
from pytsp.utils.arguments import is_array
from pytsp.utils.deadline import OutOfTime, look, within

DEFAULT_NEIGHBOURS = 8
# The cities of a piece.
PIECE = 5_000


def begin(task: Task[Any]) -> Search:
    """Return the search of one huge tour at its start, or in its stored state.

    If the solver may change, and there is time for chains over the whole tour, return their climbers.
    """
    instance, watch, options = task.instance, task.watch, task.options
    check_large(instance)
    look(instance.n, SPEEDS["curve"] * instance.n)
    points = curve_points(instance)
    assert points is not None
    along = along_hilbert(points)
    order, keys = along.order.astype(np.int32), along.keys
    del along
    # Cities that are near each other have numbers near each other, and their data lies close together.
    ordered = instance._in_order(order)
    if watch.state is not None and "standing" not in watch.state:
        return _chains(task, ordered, order)
    began = watch.seconds
    if instance.is_exact:
        ordered.tour_length(np.arange(instance.n, dtype=np.int32))
    else:
        instance.tour_length(order)
    # In the end the tour is checked and measured, told, and all memory given back: in the time of three lengths.
    watch.reserve = 3 * (watch.seconds - began)
    try:
        # Without an initial tour none is shorter sooner than one whose pieces have descended.
        look(instance.n, 0.0 if task.initial_tour is not None else SPEEDS["pieces, start"] * instance.n)
        lists, near = lists_of(ordered, keys, order, task)
        look(instance.n)
        took = near.seconds
        may_change = task.may_change_solver and watch.state is None
        if may_change and policy.chains_fit(instance.n, task.kernels.threads, took, watch.seconds_left):
            return _chains(task, ordered, order, near)
        del keys, near
        form = form_of(ordered, in_space_above=0)
        # It stays as it was where the solve began.
        piece = options.piece if watch.state is None else watch.state.whole("piece", policy.LEAST_PIECE, 2**31 - 1)
        return Pieces(
            task,
            form,
            lists,
            _start(ordered, order, task),
            order=order,
            piece=PIECE if piece is None else piece,
            temperature=first_temperature(form, lists, options.temperature),
            # A look at all cities takes about as long as the lists did, also where others keep the machine busy.
            pass_seconds=max(took, instance.n / SPEEDS["pieces, look"]),
        )
    except OutOfTime:
        raise OutOfTime(order if instance.n > policy.FEW_CITIES else None) from None


def _chains(task: Task[Any], ordered: Instance, order: NDArray[np.int32], near: Near | None = None) -> Population:
    """Return the climbers of an iterated local search of the renumbered cities, whose nearest ones may be known."""
    given = None if task.initial_tour is None else numbers_of(order)[task.initial_tour]
    inner = replace(task, instance=ordered, options=ILS(), given_tour=given, memo={})
    if near is not None:
        keep_nearest(inner, near)
    search = begin_climbers(inner)
    search.task, search.cities = replace(search.task, instance=task.instance), order
    return search


def check_large(instance: Instance) -> None:
    """Refuse an instance whose tours have no pieces."""
    if instance.coordinates is None or not is_located(instance):
        raise InstanceError(
            f"{instance.name or 'the instance'}: solver 'large' needs cities in the plane, in space or on a sphere; "
            f"the metric is {instance.metric}: use solver='ils'"
        )


def lists_of(
    ordered: Instance, keys: NDArray[np.uint64], order: NDArray[np.int32], task: Task[LargeTour]
) -> tuple[NDArray[np.int32], Near]:
    """Return the neighbour lists of the renumbered cities, which are in order of these keys, and what they are made of.

    The seconds are those of the nearest cities alone: those of exits depend on the clusters.
    """
    neighbours, began = task.options.neighbours, task.watch.seconds
    if is_array(neighbours):
        given = check_neighbours(neighbours, ordered.n)  # type: ignore[arg-type]
        lists = in_order(ordered, numbers_of(order)[given[order]])
        return lists, Near(lists, lists[:, :0], task.watch.seconds - began)
    # Lists by α-nearness choose among the ten nearest.
    k = 10 if is_alpha(neighbours) else DEFAULT_NEIGHBOURS if neighbours is None else neighbours
    with boxes_by(task.kernels):
        nearest = _nearest(ordered, keys, k, task)  # type: ignore[arg-type]
        seconds = task.watch.seconds - began
        near = Near(nearest, _exits_in_time(ordered, nearest, task), seconds)
    lists = with_exits(ordered, *near[:2])
    return (alpha_lists_of(ordered, lists, near.exits, task.kernels) if is_alpha(neighbours) else lists), near


def _exits_in_time(ordered: Instance, near: NDArray[np.int32], task: Task[LargeTour]) -> NDArray[np.int32]:
    """Return exits from clusters (`find_exits`), or none where they take most of the time that is left."""
    look(ordered.n)
    try:
        with within(policy.EXITS_SHARE * task.watch.seconds_left):
            return find_exits(ordered, near)
    except OutOfTime:
        return np.empty((ordered.n, 0), dtype=np.int32)


def _nearest(ordered: Instance, keys: NDArray[np.uint64], k: int, task: Task[LargeTour]) -> NDArray[np.int32]:
    """Return lists of the k nearest cities, by quadrants if the options ask for them."""
    if task.options.quadrants:
        return neighbour_lists(ordered, k, quadrants=True)
    if not is_planar(ordered):
        return along_tree(ordered, keys, check_length(k, ordered.n))
    return lists_along(ordered, k, task.kernels)


def _start(ordered: Instance, order: NDArray[np.int32], task: Task[LargeTour]) -> NDArray[np.int32]:
    """Return the first tour, of the renumbered cities."""
    if task.initial_tour is not None:
        return numbers_of(order)[task.initial_tour]
    start = task.options.start
    # Pairs along a curve are a detour each.
    if partners_of(ordered) is not None or start not in (None, "space-filling-curve"):
        return start_tour(ordered, start or "greedy", seed=task.seed)  # type: ignore[arg-type]
    curve = np.arange(ordered.n, dtype=np.int32)
    return with_clusters_in_order(replace(task, instance=ordered), curve) if start is None else curve
