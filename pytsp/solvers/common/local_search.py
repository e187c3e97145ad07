"""The kernels of local search on one instance: climbers on their tours, descents, kicks, and crossing."""

from __future__ import annotations

import math
import time
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytsp.backends.registry import host_kernels, open_backend
from pytsp.neighbours.lists import with_pairs
from pytsp.run.state_reader import State
from pytsp.solvers import policy
from pytsp.solvers.common.clusters import with_clusters_in_order
from pytsp.solvers.common.incumbent import Best
from pytsp.solvers.common.placement import mapping_of, most_cities
from pytsp.solvers.common.task import Task
from pytsp.solvers.options.shared import MOVES, PIVOTS

__all__ = ["PASSES", "LocalSearch", "crossing_plan", "moves_of", "population_fields"]

# Chains of moves that reverse no segment, as the kernels take them beside `MOVES`.
STRAIGHT = 3
# The first position of the stretch of a tour that descends, and how many cities it has: 0 for all.
WHOLE = (0, 0)
# Neighbours at which the merging of subtours looks.
MERGED_NEIGHBOURS = 8
# With which probability, in 256ths, a starting tour passes a near city over: three in eight make populations diverse.
PASSES = 96


class LocalSearch:
    """Climbers on the device, as handles of populations.

    Parameters
    ----------
    task : Task
        Of a solver whose options have `pivot`.
    loaded : Opaque
        The instance on the device.
    lists : numpy.ndarray of int32, shape (n, k)
        Neighbours in order of distance.
    moves, draws, kick : int
        As the kernels take them.
    mapping : str
        How climbers are to be laid out.
    draw_blocks : int
        Among how many thread blocks the draws of a climber are shared out, with the mapping "lockstep".
    host : LocalSearch, optional
        By which tours start and descend, where that is not on the device: with the same instance, lists and moves.
    second : numpy.ndarray of int32, shape (n, m), optional
        Neighbours in order of distance to which every second eight of the climbers that start try new edges.
    nearest : numpy.ndarray of int32, shape (n, j), optional
        Neighbours in order of distance by which starting tours go; by default `lists`.
    """

    def __init__(
        self,
        task: Task[Any],
        loaded: Any,
        lists: NDArray[np.int32],
        *,
        moves: int,
        draws: int = 1,
        kick: int = 0,
        acceptance: int = 0,
        mapping: str = "auto",
        draw_blocks: int = 1,
        host: LocalSearch | None = None,
        second: NDArray[np.int32] | None = None,
        nearest: NDArray[np.int32] | None = None,
    ) -> None:
        self.host, self.task = host, task
        self.kernels, self.call = task.kernels, task.kernels.call
        self.kind, self.loaded, self.lists, self.second = task.form.kind, loaded, lists, second
        self.nearest = lists if nearest is None else nearest
        self.near = np.ascontiguousarray(lists[:, :MERGED_NEIGHBOURS])
        self.is_doubled = task.is_doubled
        self.seed, self.machine = task.seed, task.machine
        self.moves, self.pivot = moves, PIVOTS.index(task.options.pivot)
        self.draws, self.kick, self.acceptance = draws, kick, acceptance
        self.mapping = mapping_of(task.instance.n, task.kernels, mapping)
        # On a GPU climbers have an entry point for each mapping.
        self.suffix = "" if task.machine == "cpu" else f"_{self.mapping}"
        self.shared_out = (draw_blocks,) if self.mapping == "lockstep" else ()
        # Arrays that are on the device for all calls, by their identity, and where.
        self._kept: dict[int, tuple[NDArray[np.int32], Any]] = {}

    def kept(self, array: NDArray[np.int32]) -> Any:
        """Return an array on the device, which is copied there once."""
        if id(array) not in self._kept:
            self._kept[id(array)] = array, self.kernels.keep(array)
        return self._kept[id(array)][1]

    def start(self, first: int, count: int, population: int = 0) -> Any:
        """Return climbers on random tours of near cities, with clusters in a better order, at their local optima.

        Populations of whatever number start alike here.
        """
        if self.host is not None:
            return self._brought(self.host, self.host.start(first, count, population))
        lists = with_pairs(self.nearest) if self.is_doubled else self.nearest
        tours = self.call(f"{self.kind}_start", self.loaded, lists, self.seed, first, count, PASSES)
        if self.task.instance.coordinates is not None:
            each = self.kernels.fields(tours)["tours"]
            tours = self.place(np.stack([with_clusters_in_order(self.task, tour) for tour in each]))
        return self.climb(tours, self.seed, first) if self.second is None else self._by_both(tours, first, count)

    def _by_both(self, tours: Any, first: int, count: int) -> Any:
        """Return climbers on starting tours at their local optima, every second eight by the second lists."""
        is_second = np.arange(first, first + count) // 8 % 2 == 1
        parts = [
            (np.flatnonzero(of), by) for of, by in ((~is_second, self.lists), (is_second, self.second)) if of.any()
        ]
        if len(parts) == 1:
            return self.climb(tours, self.seed, first, lists=parts[0][1])
        there = [self.climb(self.chosen(tours, places), self.seed, first, lists=lists) for places, lists in parts]
        return self.chosen(self.join(*there), np.argsort(np.concatenate([places for places, _ in parts])))

    @cached_property
    def _crossing(self) -> LocalSearch:
        """The same search where there are the kernels of crossover: itself, or on the host of a GPU, or else there."""
        if self.kernels.device is None or self.kernels.part == "flat":
            return self
        other = host_kernels(self.kernels)
        other = other or open_backend(self.kernels.name, device=self.kernels.device.index, part="flat")
        loaded = other.call(f"{self.kind}_load", *self.task.form.arguments)
        return LocalSearch(replace(self.task, open=lambda: other), loaded, self.lists, moves=self.moves)

    def place(self, tours: NDArray[np.int32]) -> Any:
        """Return climbers on these tours."""
        return self.call("population_given", tours)

    def descend(self, tours: NDArray[np.int32]) -> Any:
        """Return climbers on the local optima of these tours."""
        if self.host is not None:
            return self._brought(self.host, self.host.descend(tours))
        return self.climb(self.place(tours), self.seed, 0)

    def _brought(self, host: LocalSearch, climbers: Any) -> Any:
        """Return climbers of the host on the device."""
        return self.kernels.value("population", host.kernels.fields(climbers))

    def climb(
        self,
        climbers: Any,
        seed: int,
        first: int,
        start: int = 0,
        count: int = 0,
        temperature: float = 0.0,
        cooled: int = 0,
        *,
        lists: NDArray[np.int32] | None = None,
        stretch: tuple[int, int] = WHOLE,
        moves: int | None = None,
    ) -> Any:
        """Let climbers, the first of number `first`, go on by the iterations start, …, start + count - 1.

        Behind a descent where they begin. After `cooled` iterations the temperature is 0; 0 where it stays. By other
        lists or moves, if they are given. On a CPU the descent may be that of a stretch of the tours.
        """
        where = {"seed": seed, "first": first, "from": start, "iterations": count}
        fields = {**where, "temperature": temperature, "cooled": cooled}
        return self._search("ils", climbers, fields, lists, stretch, moves)

    def polish(self, climbers: Any, first: int, stretch: tuple[int, int] = WHOLE) -> Any:
        """Return climbers whose best tours have come from a descent over all cities, or those of a stretch."""
        fields = {"seed": self.seed, "first": first, "from": 0, "iterations": 0}
        return self._search("polish", climbers, {**fields, "temperature": 0.0, "cooled": 0}, None, stretch)

    def _search(
        self,
        verb: str,
        climbers: Any,
        fields: dict[str, Any],
        lists: NDArray[np.int32] | None,
        stretch: tuple[int, int],
        moves: int | None = None,
    ) -> Any:
        moves = self.moves if moves is None else moves
        # Directed ways have no use for moves that reverse a segment.
        is_straight = self.is_doubled and MOVES[moves] == "lk"
        choice = {
            "moves": STRAIGHT if is_straight else moves,
            "pivot": self.pivot,
            "draws": self.draws,
            "kick": self.kick,
            "acceptance": self.acceptance,
        }
        plan = self.kernels.value("search_plan", {**fields, **choice})
        entry = f"{self.kind}_{verb}{self.suffix}"
        lists = self.lists if lists is None else lists
        rest = stretch if self.machine == "cpu" else self.shared_out
        return self.call(entry, self.loaded, self.kept(lists), climbers, plan, *rest)

    def lengths(self, climbers: Any) -> NDArray[np.int64]:
        """Return the lengths of the climbers' best tours."""
        lengths: NDArray[np.int64] = self.call("population_lengths", climbers)
        return lengths

    def steps(self, climbers: Any) -> NDArray[np.int64]:
        """Return how many improvements the climbers have accepted."""
        steps: NDArray[np.int64] = self.call("population_steps", climbers)
        return steps

    def best(self, climbers: Any, lengths: NDArray[np.int64], first: int, before: Best | None) -> Best:
        """Return the shortest tour of the climbers, the first of number `first`, or that of before."""
        place = int(self.call("population_best", climbers))
        if before is not None and int(lengths[place]) >= before.length:
            return before
        return Best(int(lengths[place]), first + place, self.call("population_tour", climbers, place))

    def join(self, climbers: Any, others: Any) -> Any:
        """Return the climbers of two populations as one."""
        return self.call("population_joined", climbers, others)

    def elect(self, climbers: Any, lengths: NDArray[np.int64], most: int) -> tuple[Any, NDArray[np.intp]]:
        """Return at most `most` climbers, those with the shortest tours, and their places among all."""
        places = np.sort(np.argsort(lengths, kind="stable")[:most])
        return self.chosen(climbers, places), places

    def chosen(self, climbers: Any, places: NDArray[np.integer[Any]]) -> Any:
        """Return the climbers at these places, in this order."""
        return self.call("population_chosen", climbers, places.astype(np.int32))

    def breed(self, climbers: Any, seed: int, generation: int, *, changed: float = 1.0) -> Any:
        """Return the next generation: each tour takes over edges from another one.

        `changed` is the share of the tours that the generation before has changed, 1 for the first.
        """
        fields = {"seed": seed, "generation": generation, **crossing_plan(changed)}
        plan = self.kernels.value("generation_plan", fields)
        return self.call(f"{self.kind}_cross", self.loaded, self.kept(self.near), climbers, plan)

    def merge(self, climbers: Any, seed: int, seconds_left: float = math.inf) -> NDArray[np.int32]:
        """Return the shortest tour, shape (n,), after the climbers' shortest tours have crossed until they agree.

        A generation is not begun where less time is left than the one before took. Climbers of a GPU cross on its host.
        """
        climbers, _ = self.elect(climbers, self.lengths(climbers), policy.MOST_MERGED)
        if self._crossing is not self:
            there = self._crossing
            return there.merge(there.kernels.value("population", self.kernels.fields(climbers)), seed, seconds_left)
        lengths = self.lengths(climbers)
        end, took, generation, idle = time.perf_counter() + seconds_left, 0.0, 0, 0
        changed = 1.0
        while len(lengths) > 1 and idle < policy.PATIENCE and time.perf_counter() + took < end:
            # Equally long tours need not be the same, at first.
            if generation and lengths.min() == lengths.max():
                break
            began, before = time.perf_counter(), lengths
            climbers = self.breed(climbers, seed, generation, changed=changed)
            lengths = self.lengths(climbers)
            changed = float(np.mean(lengths < before))
            idle = 0 if changed else idle + 1
            took, generation = time.perf_counter() - began, generation + 1
        return self.best(climbers, lengths, 0, None).tour


def crossing_plan(changed: float) -> dict[str, int]:
    """Return the plan of a generation, where the one before has changed such a share of the tours."""
    return {
        # Most edges of an AB-cycle that makes a child: more where few tours change.
        "most": 1_000 if changed < 0.1 else 150,
        # Most cities of a subtour that merges, rounds of merging, and of unions once some tours do not change.
        "cap": 1_500,
        "rounds": 8,
        "unions": 3 if changed < 1 else 0,
        # Hundredths of its pair's average gain per entropy below which a child waits.
        "thrift": 70,
    }


def moves_of(task: Task[Any], mapping: str, default: str = "3-opt") -> int:
    """Return the number of the moves by which climbers descend that are laid out like this.

    They are those asked for, or those with which a solve began that goes on, or the default ones; 3-opt where the
    default is chains and there are none.

    Raises
    ------
    ValueError
        If a GPU is to make chains by climbers that have no thread block.
    """
    state, asked = task.watch.state, task.options.moves
    has_chains = task.machine == "cpu" or mapping == "block"
    moves = asked or ("3-opt" if default == "lk" and not has_chains else default)
    if asked is None and state is not None:
        moves = state.one_of("moves", MOVES)
    if moves == "lk" and not has_chains:
        others = " or ".join(repr(each) for each in MOVES if each != "lk")
        raise ValueError(
            f"moves='lk' needs a thread block a climber on a GPU, up to {most_cities(task.kernels)} cities on "
            f"{task.kernels.device_name}; with mapping={mapping!r} take {others}, or backend='multicore'"
        )
    return MOVES.index(moves)


def population_fields(state: State, n: int, count: int | None = None) -> dict[str, NDArray[Any]]:
    """Return the fields of a population on the device, as in `Backend.fields`."""
    tours = state.tours("tours", n, count)
    numbers = {name: state.array(name, np.int64, (len(tours),)) for name in ("lengths", "steps")}
    return {"tours": tours, "bests": state.tours("bests", n, len(tours)), **numbers}
