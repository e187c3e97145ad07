"""Neighbour lists of solvers: given ones, the nearest cities, or by α-nearness."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pytsp.backends.context import Backend
from pytsp.backends.registry import host_kernels, other_part
from pytsp.bound.alpha import alpha_lists
from pytsp.neighbours.boxes import boxes_by
from pytsp.neighbours.exits import find_exits, with_exits
from pytsp.neighbours.lists import check_neighbours, in_order, neighbour_lists, way_lists
from pytsp.problem.instance import Instance
from pytsp.problem.location import further_city, located
from pytsp.solvers import policy
from pytsp.solvers.common.task import Task
from pytsp.solvers.options.shared import ALPHA, MOVES, NeighbourLists
from pytsp.solvers.speeds import SPEEDS
from pytsp.utils.arguments import is_array

DEFAULT_NEIGHBOURS = 10


def candidates(
    task: Task[Any], default: int = DEFAULT_NEIGHBOURS, *, default_is_alpha: bool = False
) -> NDArray[np.int32]:
    """Return the neighbour lists, shape (n, k), in order of distance.

    They are the given lists; or the nearest cities, by default as many as `default`, of each quadrant in the plane; or
    some of these by α-nearness, of a lattice fewer. All but given lists have exits from clusters.
    """
    key = ("candidates", default, default_is_alpha)
    return task.recall(key, lambda: _candidates(task, default, default_is_alpha=default_is_alpha))


def _candidates(task: Task[Any], default: int, *, default_is_alpha: bool) -> NDArray[np.int32]:
    instance, options = task.instance, task.options
    if is_array(options.neighbours):
        return in_order(instance, check_neighbours(options.neighbours, instance.n))
    is_by_alpha = is_alpha(options.neighbours) or (options.neighbours is None and default_is_alpha)
    near = _near(task, default if is_by_alpha or options.neighbours is None else options.neighbours)
    lists = with_exits(instance, near.lists, near.exits)
    length = policy.LATTICE_LISTS if is_by_alpha and is_on_a_lattice(task) else {}
    return alpha_lists_of(instance, lists, near.exits, task.kernels, **length) if is_by_alpha else lists


class Near(NamedTuple):
    """The nearest cities of each, its exits, and the seconds that they took, perhaps without the exits."""

    lists: NDArray[np.int32]
    exits: NDArray[np.int32]
    seconds: float = 0.0


def _near(task: Task[Any], k: int) -> Near:
    """Return the k nearest of each city, of each quadrant where there are quadrants, and its exits."""
    has_quadrants = _has_quadrants(task.instance, task.options)

    def make() -> Near:
        instance, began = task.instance, time.perf_counter()
        lists = neighbour_lists(instance, k, quadrants=has_quadrants)
        exits = find_exits(instance, lists)
        return Near(lists, exits, time.perf_counter() - began)

    return task.recall(("near", k, has_quadrants), make)


def _near_ways(task: Task[Any]) -> Near:
    """Return the ends of the shortest ways into and out of each city, and its exits, where the instance is doubled."""

    def make() -> Near:
        lists = way_lists(task.form.whole, task.options.neighbours or DEFAULT_NEIGHBOURS)
        return Near(lists, find_exits(task.form.whole, lists, is_doubled=True))

    return task.recall("near ways", make)


def alpha_lists_of(
    instance: Instance, lists: NDArray[np.int32], exits: NDArray[np.int32], kernels: Backend, **length: int
) -> NDArray[np.int32]:
    """Return lists by α-nearness made of others. They keep their exits, which are in few minimum 1-trees."""
    # 1-trees of few cities are made on the host.
    host = host_kernels(kernels) if instance.n <= policy.HOST_CITIES else None
    by_alpha = alpha_lists(instance, lists, host or other_part(kernels, "bound"), **length)
    return with_exits(instance, by_alpha, exits)


def alpha_fits(task: Task[Any]) -> bool:
    """Tell whether lists by α-nearness suit an instance, and take little of the time limit."""
    limit = task.watch.time_limit
    # α is computed in whole numbers: of other distances it would depend on their unit.
    if not task.instance.is_exact:
        return False
    # A limit that is not reached changes nothing.
    if limit is None or task.options.iterations is not None:
        return True
    seconds, most = SPEEDS["lists by alpha"] * task.instance.n, policy.LATTICE_ALPHA_SHARE * limit
    if seconds > most:
        return False
    if task.machine == "cpu" and task.options.neighbours is None:
        # This one may be slower.
        seconds = max(seconds, policy.ALPHA_LISTS * seconds_of_lists(task))
    return seconds <= policy.ALPHA_SHARE * limit or (seconds <= most and is_on_a_lattice(task))


def are_by_alpha(task: Task[Any], moves: int) -> bool:
    """Tell whether climbers with these moves have lists by α-nearness by default, or some of a population."""
    state = task.watch.state
    if MOVES[moves] != "lk" or task.is_doubled:
        return False
    # A solve goes on with the lists with which it began.
    return alpha_fits(task) if state is None else state.flag("by_alpha")


def search_lists(task: Task[Any], *, default_is_alpha: bool = False) -> NDArray[np.int32]:
    """Return the lists of a local search: `candidates`, or directed ways without the pairs, which all tours have."""
    if not _are_ways(task):
        return candidates(task, default_is_alpha=default_is_alpha)
    ways = _near_ways(task)
    return task.recall("ways", lambda: with_exits(task.form.whole, ways.lists, ways.exits))


def lists_without_exits(task: Task[Any]) -> NDArray[np.int32]:
    """Return the lists of which `search_lists` are made, for starting tours.

    A tour that took an exit would leave a cluster before it has been to all of its cities.
    """
    if _are_ways(task):
        return _near_ways(task).lists
    if are_given(task.options):
        return candidates(task)
    return _near(task, task.options.neighbours or DEFAULT_NEIGHBOURS).lists


def second_lists(task: Task[Any], lists: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return lists by α-nearness, made of `search_lists`, for every second eight of a population's climbers."""
    # Eight neighbours are the best of three tried lengths.
    exits = _near(task, DEFAULT_NEIGHBOURS).exits
    return task.recall("second lists", lambda: alpha_lists_of(task.instance, lists, exits, task.kernels, k=8))


def seconds_of_lists(task: Task[Any]) -> float:
    """Return the seconds that the lists of the nearest cities took, which are made if they are not there."""
    with boxes_by(task.kernels):
        return _near(task, DEFAULT_NEIGHBOURS).seconds


def are_nearest_in_time(task: Task[Any]) -> bool:
    """Tell whether chains on a CPU take the nearest cities, whatever the quadrant, because of a time limit."""
    state, options = task.watch.state, task.options
    if state is not None:
        return state.flag("nearest")
    is_free = options.iterations is None and options.neighbours is None and options.quadrants is None
    if task.machine != "cpu" or task.watch.time_limit is None or not is_free:
        return False
    if not _has_quadrants(task.instance, options) or alpha_fits(task):
        return False
    if ("near", DEFAULT_NEIGHBOURS, True) in task.memo:
        return False
    k = policy.NEAREST_LISTS["neighbours"]
    with boxes_by(task.kernels):
        took = _near(replace(task, options=replace(options, **policy.NEAREST_LISTS)), k).seconds
    return task.watch.seconds_left < policy.QUADRANTS_LISTS * took


def keep_nearest(task: Task[Any], near: Near) -> None:
    """Keep lists of the nearest cities with their exits for chains."""
    task.recall(("near", policy.NEAREST_LISTS["neighbours"], False), lambda: near)


def is_on_a_lattice(task: Task[Any]) -> bool:
    """Tell whether the cities are those of a lattice, and the options say nothing of lists."""

    def see() -> bool:
        with boxes_by(task.kernels):
            return policy.is_lattice(task.instance, _near(task, DEFAULT_NEIGHBOURS).lists)

    return task.options.neighbours is None and task.recall("is on a lattice", see)


def _are_ways(task: Task[Any]) -> bool:
    """Tell whether the lists of a local search are those of directed ways without the pairs."""
    return task.is_doubled and not are_given(task.options) and not task.options.quadrants


def is_alpha(neighbours: object) -> bool:
    """Tell whether the options ask for lists by α-nearness."""
    return isinstance(neighbours, str) and neighbours == ALPHA


def are_given(options: NeighbourLists) -> bool:
    """Tell whether the options give the lists, or ask for lists by α-nearness."""
    return is_array(options.neighbours) or is_alpha(options.neighbours)


def are_nearest(instance: Instance, options: NeighbourLists) -> bool:
    """Tell whether `lists_without_exits` are the nearest cities whatever the quadrant, which starts use, too."""
    return not are_given(options) and not _has_quadrants(instance, options)


def _has_quadrants(instance: Instance, options: NeighbourLists) -> bool:
    if options.quadrants is not None:
        return options.quadrants
    found = located(instance)
    return found is not None and found.points.shape[1] == 2 and further_city(instance) is None
