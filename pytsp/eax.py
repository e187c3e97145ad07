"""A population of local optima that take over edges from each other: edge assembly crossover."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytsp._options import MOVES, PIVOTS, Options
from pytsp._population import climbing_entry, mapping_of
from pytsp._verify import told_length, verified
from pytsp.backends import Backend
from pytsp.forms import Form
from pytsp.history import Progress, Watch
from pytsp.ils import listed
from pytsp.instance import Instance
from pytsp.result import Result
from pytsp.tours import check_tour

__all__ = ["evolved"]

# The climbers of a population where neither they nor a time limit are given.
CLIMBERS = {"cpu": 100, "gpu": 512}
# Large instances have fewer on a CPU: so many divided by the cities, but not less than the least.
CPU_CLIMBERS_TIMES_CITIES = 200_000
# With a time limit: at least and at most so many, as many as descend in this share of the time. Populations of large
# instances need more generations, and so a smaller share for the descent.
LEAST_CLIMBERS = 24
MOST_CLIMBERS = {"cpu": 300, "gpu": 1_024}
DESCENT_SHARE = 0.3
LARGE_DESCENT_SHARE = 0.1
LARGE_CITIES = 500
# A generation takes a GPU about as long for many climbers as for few, but many need more generations: so many climbers
# and no more, times the seconds, divided by the cities.
GPU_CLIMBERS_A_SECOND = 100_000
# How many children a pair has.
CHILDREN = 30
# How many neighbours the merging of subtours looks at.
MERGED_NEIGHBOURS = 8
# So many populations in a row without a shorter tour end a solve before its time limit.
POPULATIONS = 10
# A population has converged after so many generations without a shorter tour.
PATIENCE = 5
# So many threads of a GPU are started for a pair, of which one works: pairs take their own ways.
SPREAD = {"cpu": 1, "gpu": 32}
# With which probability, in 256ths, a starting tour passes a near city over: three in eight make populations diverse.
PASSES = 96
# How many climbers descend in one kernel call.
CHUNK = {"cpu": 8, "gpu": 1_024}


@dataclass(frozen=True)
class Best:
    """The shortest tour so far, in the kernel's units, and the climber that had it."""

    length: int
    climber: int
    tour: NDArray[np.int32]


class Evolution:
    """The populations of one solve, one after the other.

    Every kernel call ends in assignments that leave the best tour whole, so that an interruption at any point does too.
    """

    def __init__(self, form: Form, kernels: Backend, watch: Watch, options: Options, lists: NDArray[np.int32]) -> None:
        self.form, self.kernels, self.watch, self.options, self.lists = form, kernels, watch, options, lists
        self.machine = "cpu" if kernels.device is None else "gpu"
        self.near = np.ascontiguousarray(lists[:, :MERGED_NEIGHBOURS])
        self.loaded = kernels.call(f"{form.kind}_load", *form.arguments)
        self.first = options.first
        self.generation = 0
        self.best: Best | None = None
        # The best tours of the populations that have converged.
        self.elites: list[NDArray[np.int32]] = []
        self.has_met_elites = True
        self.handle: Any = None
        self.lengths = np.empty(0, dtype=np.int64)
        self.steps = np.empty(0, dtype=np.int64)

    def settle(self) -> None:
        """Start a population: chunks of climbers, each brought from its starting tour to its local optimum."""
        self.handle, size, limit = None, self.options.climbers, self.watch.time_limit
        most = size or self._most()
        share = DESCENT_SHARE if self.form.whole.n < LARGE_CITIES else LARGE_DESCENT_SHARE
        began, until = self.watch.seconds, self.watch.seconds_left * share
        count = 0
        while count < most and not (
            size is None and limit is not None and count >= LEAST_CLIMBERS and self.watch.seconds - began > until
        ):
            if count and self.watch.stop_reason():
                break
            chunk = self._descended(self.first + count, min(CHUNK[self.machine], most - count))
            self.handle = chunk if self.handle is None else self.kernels.call("population_joined", self.handle, chunk)
            count += min(CHUNK[self.machine], most - count)
            self._read(chunk if count <= CHUNK[self.machine] else self.handle)

        if self.options.initial_tour is not None:
            initial = check_tour(self.options.initial_tour, self.form.whole.n)
            given = self._climbed(self.kernels.call("population_given", initial[None, :]), 0)
            self.handle = self.kernels.call("population_joined", self.handle, given)
            self._read(self.handle)

    def _most(self) -> int:
        """Choose how many climbers there are at most where the user does not say."""
        limit = self.watch.time_limit
        if limit is None:
            fewer = CPU_CLIMBERS_TIMES_CITIES // self.form.whole.n if self.machine == "cpu" else CLIMBERS["gpu"]
            return min(CLIMBERS[self.machine], max(LEAST_CLIMBERS, fewer))
        most = MOST_CLIMBERS[self.machine]
        if self.machine == "gpu":
            most = min(most, max(LEAST_CLIMBERS, int(GPU_CLIMBERS_A_SECOND * limit / self.form.whole.n)))
        return most

    def breed(self) -> bool:
        """Make the next generation; tell whether any tour has become shorter."""
        options = self.options
        handle = self.kernels.call(
            f"{self.form.kind}_cross",
            self.loaded,
            self.near,
            self.handle,
            options.seed,
            self.generation,
            CHILDREN,
            SPREAD[self.machine],
        )
        before = int(self.lengths.sum())
        self.handle = handle
        self._read(handle)
        self.generation += 1
        return int(self.lengths.sum()) < before

    def renew(self) -> None:
        """Go on after convergence.

        A population that has converged by itself meets the best tours of those before it; one that has met them gives
        way to new climbers.
        """
        call = self.kernels.call
        if self.has_met_elites:
            self.elites = [*self.elites[-POPULATIONS:], self._shortest()]
            self.first += len(self.lengths)
            self.settle()
            self.has_met_elites = False
        else:
            elites = self._climbed(call("population_given", np.array(self.elites)), 0)
            self.handle = call("population_joined", self.handle, elites)
            self._read(self.handle)
            self.has_met_elites = True

    def _shortest(self) -> NDArray[np.int32]:
        place = int(self.kernels.call("population_best", self.handle))
        tour: NDArray[np.int32] = self.kernels.call("population_tour", self.handle, place)
        return tour

    def _descended(self, first: int, count: int) -> Any:
        tours = self.kernels.call(
            f"{self.form.kind}_start", self.loaded, self.lists, self.options.seed, first, count, PASSES
        )
        return self._climbed(tours, first)

    def _climbed(self, population: Any, first: int) -> Any:
        options = self.options
        moves, pivot = MOVES.index(options.moves), PIVOTS.index(options.pivot)
        return self.kernels.call(
            climbing_entry(f"{self.form.kind}_ils", self.form, self.kernels),
            self.loaded,
            self.lists,
            population,
            options.seed,
            first,
            0,
            0,
            moves,
            pivot,
            1,
            0,
            0.0,
            0,
        )

    def _read(self, handle: Any) -> None:
        """Read where the climbers stand, and the best tour where it is shorter than the best so far."""
        call = self.kernels.call
        lengths, steps = call("population_lengths", handle), call("population_steps", handle)
        place = int(call("population_best", handle))
        best = self.best
        if best is None or int(lengths[place]) < best.length:
            best = Best(int(lengths[place]), self.first + place, call("population_tour", handle, place))
        self.best, self.lengths, self.steps = best, lengths, steps


def evolved(instance: Instance, form: Form, kernels: Backend, watch: Watch, options: Options) -> Result:
    """Solve by edge assembly crossover of a population of local optima; see `pytsp.solve`."""
    evolution = Evolution(form, kernels, watch, options, listed(instance, options))
    stop_reason = "finished"
    try:
        stop_reason = _run(evolution, instance)
    except KeyboardInterrupt:
        if evolution.best is None:
            raise
        stop_reason = "interrupted"
    return _result(evolution, instance, stop_reason)


def _run(evolution: Evolution, instance: Instance) -> str:
    """Let populations converge, one after the other, until there is a reason to stop; return it."""
    watch, iterations = evolution.watch, evolution.options.iterations
    evolution.settle()
    idle = populations = 0
    shortest = None
    while True:
        _tell(evolution, instance)
        reason = watch.stop_reason()
        if reason:
            return reason
        if iterations is not None and evolution.generation >= iterations:
            return "finished"
        if idle < PATIENCE and evolution.lengths.min() != evolution.lengths.max():
            idle = 0 if evolution.breed() else idle + 1
            continue
        assert evolution.best is not None
        populations = populations + 1 if evolution.best.length == shortest else 0
        shortest = evolution.best.length
        if watch.time_limit is None or populations >= POPULATIONS:
            return "finished"
        evolution.renew()
        idle = 0


def _tell(evolution: Evolution, instance: Instance) -> None:
    """Tell the callbacks where the population stands."""
    best, watch = evolution.best, evolution.watch
    assert best is not None
    length = told_length(instance, best.tour, best.length)
    watch.offer(evolution.generation, length)
    if watch.progress is not None:
        climbers = len(evolution.lengths)
        iterations = evolution.options.iterations
        watch.progress(Progress(climbers, 0, length, watch.seconds, evolution.generation, iterations))


def _result(evolution: Evolution, instance: Instance, stop_reason: str) -> Result:
    """Check the best tour against the instance and return it with what the last population came to."""
    best, form, kernels, seed = evolution.best, evolution.form, evolution.kernels, evolution.options.seed
    assert best is not None
    tour = verified(best.tour, best.length, best.climber, form, kernels, seed)
    length = instance.tour_length(tour)
    return Result(
        instance=instance,
        tour=tour,
        length=length,
        climber=best.climber,
        lengths=evolution.lengths if instance.is_exact else evolution.lengths * np.float64(form.unit),
        steps=evolution.steps,
        passes=np.empty(0, dtype=np.int32),
        done=np.ones(len(evolution.lengths), dtype=np.bool_),
        seed=seed,
        k=None,
        backend=kernels.name,
        mapping=mapping_of(instance.n, kernels),
        seconds=evolution.watch.seconds,
        stop_reason=stop_reason,
        solver="eax",
        iterations=evolution.generation,
        history=evolution.watch.improvements(evolution.generation, length),
    )
