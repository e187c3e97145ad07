"""The kernels of local search on one instance: climbers on their tours, descents, kicks, and crossing."""

from __future__ import annotations

import math
import time
from dataclasses import KW_ONLY, dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytsp.backends.context import Backend
from pytsp.backends.registry import host_kernels, open_backend
from pytsp.neighbours.lists import with_pairs
from pytsp.run.state_reader import State
from pytsp.solvers import policy
from pytsp.solvers.common.incumbent import Best
from pytsp.solvers.common.placement import mapping_of, most_cities
from pytsp.solvers.common.starting_tours import with_clusters_in_order
from pytsp.solvers.common.task import Task
from pytsp.solvers.options.shared import MOVES, PIVOTS

# Chains of moves that reverse no segment, as the kernels take them beside `MOVES`.
STRAIGHT = 3
# The first position of the stretch of a tour that descends, and how many cities it has: 0 for all.
WHOLE = (0, 0)
# Neighbours at which the merging of subtours looks.
MERGED_NEIGHBOURS = 8
# With which probability, in 256ths, a starting tour passes a near city over: three in eight make populations diverse.
PASSES = 96


@dataclass(eq=False)
class LocalSearch:
    """Climbers on the device, as handles of populations.

    `task` is of a solver whose options have `pivot`, and `loaded` its instance on the device. `moves`, `draws`, `kick`
    and `acceptance` are as the kernels take them. With the mapping "lockstep", `draw_blocks` thread blocks share the
    draws of a climber. `lists`, shape (n, k), hold neighbours in order of distance. Every second eight of the climbers
    that start have those of `second`, if given, and starting tours go by those of `nearest`, by default by `lists`.
    Tours start and descend by `host`, if given, which has the same instance, lists and moves.
    """

    task: Task[Any]
    loaded: Any
    lists: NDArray[np.int32]
    _: KW_ONLY
    moves: int
    draws: int = 1
    kick: int = 0
    acceptance: int = 0
    mapping: str = "auto"
    draw_blocks: int = 1
    host: LocalSearch | None = None
    second: NDArray[np.int32] | None = None
    nearest: NDArray[np.int32] | None = None

    def __post_init__(self) -> None:
        task = self.task
        self.kernels, self.call, self.kind = task.kernels, task.kernels.call, task.form.kind
        self.seed, self.machine, self.is_doubled = task.seed, task.machine, task.is_doubled
        self.near = np.ascontiguousarray(self.lists[:, :MERGED_NEIGHBOURS])
        self.mapping = mapping_of(task.instance.n, task.kernels, self.mapping)
        # On a GPU climbers have an entry point for each mapping.
        self.suffix = "" if task.machine == "cpu" else f"_{self.mapping}"
        # Arrays that are on the device for all calls, by their identity, and where.
        self._kept: dict[int, tuple[NDArray[np.int32], Any]] = {}

    def kept(self, array: NDArray[np.int32]) -> Any:
        """Return an array on the device, which is copied there once."""
        if id(array) not in self._kept:
            self._kept[id(array)] = array, self.kernels.keep(array)
        return self._kept[id(array)][1]

    def start(self, first: int, count: int, population: int = 0) -> Any:
        """Return climbers at local optima of random tours of near cities, alike in all populations."""
        if self.host is not None:
            return self._brought(self.host, self.host.start(first, count, population))
        nearest = self.lists if self.nearest is None else self.nearest
        lists = with_pairs(nearest) if self.is_doubled else nearest
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
        return self.by(other or open_backend(self.kernels.name, device=self.kernels.device.index, part="flat"))

    def by(self, kernels: Backend) -> LocalSearch:
        """Return the same search by other kernels."""
        loaded = kernels.call(f"{self.kind}_load", *self.task.form.arguments)
        return replace(self, task=replace(self.task, open=lambda: kernels), loaded=loaded, mapping="auto", host=None)

    def place(self, tours: NDArray[np.int32]) -> Any:
        return self.call("population_given", tours)

    def descend(self, tours: NDArray[np.int32]) -> Any:
        """Return climbers on the local optima of these tours."""
        if self.host is not None:
            return self._brought(self.host, self.host.descend(tours))
        return self.climb(self.place(tours), self.seed, 0)

    def _brought(self, host: LocalSearch, climbers: Any) -> Any:
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
        verb: str = "ils",
    ) -> Any:
        """Let climbers, the first of number `first`, go on by the iterations start, …, start + count - 1.

        Behind a descent where they begin. After `cooled` iterations the temperature is 0; 0 where it stays. By other
        lists or moves, if they are given. On a CPU the descent may be that of a stretch of the tours.
        """
        moves = self.moves if moves is None else moves
        # Directed ways have no use for moves that reverse a segment.
        is_straight = self.is_doubled and MOVES[moves] == "lk"
        fields = {
            "seed": seed,
            "first": first,
            "from": start,
            "iterations": count,
            "temperature": temperature,
            "cooled": cooled,
            "moves": STRAIGHT if is_straight else moves,
            "pivot": PIVOTS.index(self.task.options.pivot),
            "draws": self.draws,
            "kick": self.kick,
            "acceptance": self.acceptance,
        }
        plan = self.kernels.value("search_plan", fields)
        if self.machine == "cpu":
            rest: tuple[int, ...] = stretch
        else:
            rest = (self.draw_blocks,) if self.mapping == "lockstep" else ()
        kept = self.kept(self.lists if lists is None else lists)
        return self.call(f"{self.kind}_{verb}{self.suffix}", self.loaded, kept, climbers, plan, *rest)

    def polish(self, climbers: Any, first: int, stretch: tuple[int, int] = WHOLE) -> Any:
        """Return climbers whose best tours have come from a descent over all cities, or those of a stretch."""
        return self.climb(climbers, self.seed, first, stretch=stretch, verb="polish")

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
        return self.call("population_joined", climbers, others)

    def elect(self, climbers: Any, lengths: NDArray[np.int64], most: int) -> tuple[Any, NDArray[np.intp]]:
        """Return at most `most` climbers, those with the shortest tours, and their places among all."""
        places = np.sort(np.argsort(lengths, kind="stable")[:most])
        return self.chosen(climbers, places), places

    def chosen(self, climbers: Any, places: NDArray[np.integer[Any]]) -> Any:
        """Return the climbers at these places, in this order."""
        return self.call("population_chosen", climbers, places.astype(np.int32))

    def breed(self, climbers: Any, seed: int, generation: int, *, changed: float = 1.0) -> Any:
        """Return the next generation, after one that changed this share of the tours: each takes over edges."""
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

    On a GPU climbers without a thread block have no chains: if asked for, these are refused.
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
