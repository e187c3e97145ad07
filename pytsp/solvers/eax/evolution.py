"""The populations of one edge assembly crossover: climbers that come in chunks, generations, and what follows them."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytsp.backends.context import Backend
from pytsp.run.state_reader import State
from pytsp.solvers.common.crossover import PATIENCE, Crossing, elected
from pytsp.solvers.common.incumbent import Best
from pytsp.solvers.common.loop import Found, Search
from pytsp.solvers.common.pacing import CALL_SECONDS
from pytsp.solvers.common.placement import TOGETHER, climbing_entry, descent_seconds, mapping_of
from pytsp.solvers.common.task import Task
from pytsp.solvers.ils.population import population_fields
from pytsp.solvers.options.eax import EAX
from pytsp.solvers.options.shared import MOVES, PIVOTS
from pytsp.utils.memory import check_room

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
# So many populations in a row without a shorter tour end a solve before its time limit.
POPULATIONS = 10
# With which probability, in 256ths, a starting tour passes a near city over: three in eight make populations diverse.
PASSES = 96
# About what the starting tours take a GPU, times the cube of the cities and a power of the climbers that share a
# multiprocessor.
GPU_START_SECONDS, GPU_START_POWER = 9.2e-14, 0.8
# How many climbers a core, or a GPU, has in the first call in which they descend, and a call at most; by how much at
# most a call has more than the one before.
FIRST_CHUNK = {"cpu": 1, "gpu": 1_024}
CHUNK = {"cpu": 64, "gpu": 1_024}
MOST_GROWTH = 4
# A population without climbers.
NOBODY: dict[str, Any] = {
    "handle": None,
    "chunks": (),
    "lengths": np.empty(0, dtype=np.int64),
    "steps": np.empty(0, dtype=np.int64),
}
# What a climber of a population takes on the CPU: so many bytes a city, and so many besides.
HOST_CITY_BYTES = 64
HOST_CLIMBER_BYTES = 1024
# The numbers and truth values of a standing, as a checkpoint names them.
COUNTS = ("first", "descended", "generation", "idle", "populations")
FLAGS = ("is_settled", "has_met_elites")


@dataclass(frozen=True)
class Standing:
    """Where the populations stand.

    Attributes
    ----------
    handle : Opaque or None
        The population on the device, once it is settled.
    chunks : tuple of (Opaque, int)
        Before, the parts of it that are there, with their numbers of climbers, which fall.
    lengths, steps : numpy.ndarray of int64
        The climbers' lengths and steps.
    best : Best or None
    first, descended : int
        The number of its first climber, and how many have descended, of whom not all need to belong to it.
    generation : int
        How many generations there were, of all populations.
    elites : tuple of numpy.ndarray
        The best tours of the populations that have converged.
    is_settled : bool
        Whether all its climbers are there; before, they come in chunks.
    has_met_elites : bool
    idle : int
        How many generations in a row have brought no shorter tour.
    populations, shortest : int
        How many populations in a row have ended with that length.
    """

    handle: Any
    chunks: tuple[tuple[Any, int], ...]
    lengths: NDArray[np.int64]
    steps: NDArray[np.int64]
    best: Best | None
    first: int
    descended: int = 0
    generation: int = 0
    elites: tuple[NDArray[np.int32], ...] = ()
    is_settled: bool = False
    has_met_elites: bool = True
    idle: int = 0
    populations: int = 0
    shortest: int | None = None


class Evolution(Search):
    """The populations of one solve, one after the other.

    Parameters
    ----------
    task : Task
    lists : numpy.ndarray of int32, shape (n, k)
        Neighbours in order of distance.
    """

    def __init__(self, task: Task[EAX], lists: NDArray[np.int32]) -> None:
        super().__init__(task)
        self.options, self.lists, self.iterations = task.options, lists, task.options.iterations
        self.loaded = self.kernels.call(f"{self.form.kind}_load", *self.form.arguments)
        self.crossing = Crossing(self.form, self.kernels, self.loaded, lists)
        self.size = self.options.climbers
        if self.size is not None:
            check_room(
                "climbers", self.size, lambda count: count * (HOST_CITY_BYTES * self.form.whole.n + HOST_CLIMBER_BYTES)
            )
        if self.watch.time_limit is None:
            self.size = self.size or self._most()
        self.standing = Standing(**NOBODY, best=None, first=self.options.first)
        if self.watch.state is not None:
            self._restore(self.watch.state)
        # When the climbers of a population are to be there, and how many a second come.
        self.settled_by = self._time_to_settle()
        # What the last generation took.
        self.generation_seconds = 0.0
        self.chunk = FIRST_CHUNK[task.machine] * (self.kernels.threads or 1)

    @property
    def best(self) -> Best | None:
        return self.standing.best

    @property
    def phase(self) -> str:  # type: ignore[override]
        return "crossover" if self.standing.is_settled else "local optima"

    @property
    def iteration(self) -> int:
        return self.standing.generation

    @property
    def climbers(self) -> int:
        return len(self.standing.lengths)

    @property
    def is_finished(self) -> bool:
        now = self.standing
        if not now.is_settled:
            return False
        if self.iterations is not None and now.generation >= self.iterations:
            return True
        return self.has_converged and (self.watch.time_limit is None or self.fruitless >= POPULATIONS)

    @property
    def next_seconds(self) -> float:
        """Neither the first climbers' descent nor a generation can be cut."""
        if self.standing.best is None:
            chunk = min(self.chunk, self.size or self._most())
            return first_seconds(self.form.whole.n, chunk, self.kernels)
        return self.generation_seconds if self.standing.is_settled and not self.has_converged else 0.0

    def advance(self) -> None:
        """Make one kernel call, or a few: more climbers, the next generation, or the next population."""
        if not self.standing.is_settled:
            self.settle()
        elif self.has_converged:
            self.renew()
        else:
            self.breed()

    def needs_descent(self, stop_reason: str) -> bool:
        return self.task.initial_tour is not None and not self.standing.is_settled

    def descend(self) -> None:
        """Have the population settled with the climbers that are there, and the initial tour."""
        self._stand(self.standing, is_settled=True)

    def found(self) -> Found:
        now = self.standing
        assert now.best is not None
        done, mapping = np.ones(len(now.lengths), dtype=np.bool_), mapping_of(self.form.whole.n, self.kernels)
        return Found(now.best, now.lengths, now.steps, done, mapping=mapping)

    def settle(self, now: Standing | None = None) -> None:
        """Bring a chunk of climbers of a population, that of `now`, from their starting tours to their local optima.

        Behind the last of a population the initial tour joins it, if there is one.
        """
        now = now or self.standing
        count = now.descended
        most = self.size or self._most()
        began = time.perf_counter()
        chunk = min(self.chunk, most - count)
        count += chunk
        standing = replace(self._with(self._descended(now.first + count - chunk, chunk), now), descended=count)
        fitting = chunk * CALL_SECONDS / max(time.perf_counter() - began, 1e-9)
        together = self.kernels.threads or 1
        fitting = min(fitting, MOST_GROWTH * chunk, CHUNK[self.task.machine])
        self.chunk = max(1, int(fitting) // together) * together
        is_enough = self.size is None and count >= LEAST_CLIMBERS and self.watch.seconds > self.settled_by
        self._stand(standing, is_settled=count >= most or is_enough)

    def _with(self, handle: Any, now: Standing) -> Standing:
        """Return where the climbers stand with a chunk more.

        It is joined with those before that have no more climbers, so that each climber is copied few times, and memory
        of few sizes is kept for reuse.
        """
        added = self._read(handle, replace(now, first=now.first + len(now.lengths)))
        chunks = (*now.chunks, (handle, len(added.lengths)))
        while len(chunks) > 1 and chunks[-2][1] <= chunks[-1][1]:
            chunks = (*chunks[:-2], self._joined(chunks[-2:]))
        lengths, steps = np.append(now.lengths, added.lengths), np.append(now.steps, added.steps)
        return replace(now, handle=None, chunks=chunks, lengths=lengths, steps=steps, best=added.best)

    def _joined(self, chunks: Sequence[tuple[Any, int]]) -> tuple[Any, int]:
        """Return chunks as one, from the last on, which are the smallest."""
        handle, count = chunks[-1]
        for before, more in reversed(chunks[:-1]):
            handle, count = self.kernels.call("population_joined", before, handle), more + count
        return handle, count

    def _stand(self, standing: Standing, *, is_settled: bool) -> None:
        """Stand there, where the population is settled as one, of the best climbers and with the initial tour."""
        if is_settled:
            standing = self._elected(replace(standing, handle=self._joined(standing.chunks)[0], chunks=()))
        initial = self.task.initial_tour
        if is_settled and initial is not None:
            given = self._climbed(self.kernels.call("population_given", initial[None, :]), 0)
            standing = self._read(self.kernels.call("population_joined", standing.handle, given), standing)
        self.standing = replace(standing, is_settled=is_settled)

    def _elected(self, standing: Standing) -> Standing:
        """Return where as many climbers stand as a population may have, those with the shortest tours."""
        most = self.options.population
        if most is None or most >= len(standing.lengths):
            return standing
        handle, places = elected(self.kernels, standing.handle, standing.lengths, most)
        return replace(standing, handle=handle, lengths=standing.lengths[places], steps=standing.steps[places])

    def _time_to_settle(self) -> float:
        """Return when the climbers of a population that begins now are to be there."""
        share = DESCENT_SHARE if self.form.whole.n < LARGE_CITIES else LARGE_DESCENT_SHARE
        return self.watch.seconds + self.watch.seconds_left * share

    def _most(self) -> int:
        """Choose how many climbers there are at most where the user does not say."""
        limit = self.watch.time_limit
        if limit is None:
            fewer = CPU_CLIMBERS_TIMES_CITIES // self.form.whole.n if self.task.machine == "cpu" else CLIMBERS["gpu"]
            return min(CLIMBERS[self.task.machine], max(LEAST_CLIMBERS, fewer))
        return MOST_CLIMBERS["cpu"] if self.task.machine == "cpu" else gpu_climbers(self.form.whole.n, limit)

    @property
    def has_converged(self) -> bool:
        """Whether all tours are equally long, or no generation has made any shorter for a while."""
        now = self.standing
        return now.idle >= PATIENCE or bool(now.lengths.min() == now.lengths.max())

    def breed(self) -> None:
        """Make the next generation."""
        now = self.standing
        began = time.perf_counter()
        after = self._read(self.crossing.bred(now.handle, self.task.seed, now.generation))
        self.generation_seconds = time.perf_counter() - began
        is_shorter = int(after.lengths.sum()) < int(now.lengths.sum())
        self.standing = replace(after, generation=now.generation + 1, idle=0 if is_shorter else now.idle + 1)

    @property
    def fruitless(self) -> int:
        """How many populations in a row, with the one that has converged, have brought no shorter tour."""
        now = self.standing
        assert now.best is not None
        return now.populations + 1 if now.best.length == now.shortest else 0

    def renew(self) -> None:
        """Go on after convergence.

        A population that has converged by itself meets the best tours of those before it; one that has met them gives
        way to new climbers.
        """
        now, call = self.standing, self.kernels.call
        assert now.best is not None
        now = replace(now, idle=0, populations=self.fruitless, shortest=now.best.length)
        if now.has_met_elites:
            best = call("population_tour", now.handle, call("population_best", now.handle))
            elites = (*now.elites[-POPULATIONS:], best)
            first = now.first + now.descended
            self.settled_by = self._time_to_settle()
            self.settle(replace(now, **NOBODY, first=first, descended=0, elites=elites, has_met_elites=False))
        else:
            elites_there = self._climbed(call("population_given", np.array(now.elites)), 0)
            after = self._read(call("population_joined", now.handle, elites_there), now)
            self.standing = replace(after, has_met_elites=True)

    def state(self) -> dict[str, Any]:
        now = self.standing
        assert now.best is not None
        return {
            "size": self.size,
            "population": self.kernels.fields(now.handle or self._joined(now.chunks)[0]),
            "best": now.best.state(),
            "elites": np.array(now.elites, dtype=np.int32).reshape(len(now.elites), self.form.whole.n),
            **{name: getattr(now, name) for name in (*COUNTS, *FLAGS, "shortest")},
        }

    def _restore(self, state: State) -> None:
        """Stand where `state` says."""
        n = self.form.whole.n
        found = Best.restored(state.part("best"), n)
        self.size = state.optional_whole("size")
        fields = population_fields(state.part("population"), n)
        handle, lengths, steps = self.kernels.value("population", fields), fields["lengths"], fields["steps"]
        counts: dict[str, Any] = {name: state.whole(name) for name in COUNTS}
        counts |= {name: state.flag(name) for name in FLAGS}
        elites = tuple(state.tours("elites", n))
        shortest = state.optional_whole("shortest")
        is_settled = counts["is_settled"]
        self.standing = Standing(
            handle if is_settled else None,
            () if is_settled else ((handle, len(lengths)),),
            lengths,
            steps,
            found,
            elites=elites,
            shortest=shortest,
            **counts,
        )

    def _descended(self, first: int, count: int) -> Any:
        tours = self.kernels.call(
            f"{self.form.kind}_start", self.loaded, self.lists, self.task.seed, first, count, PASSES
        )
        return self._climbed(tours, first)

    def _climbed(self, population: Any, first: int) -> Any:
        options = self.options
        return self.kernels.call(
            climbing_entry(f"{self.form.kind}_ils", self.form, self.kernels),
            self.loaded,
            self.lists,
            population,
            self.task.seed,
            first,
            0,
            0,
            MOVES.index(options.moves or "3-opt"),
            PIVOTS.index(options.pivot),
            1,
            0,
            0.0,
            0,
        )

    def _read(self, handle: Any, standing: Standing | None = None) -> Standing:
        """Return where the climbers stand, with the best tour where it is shorter than the best so far."""
        now, call = standing or self.standing, self.kernels.call
        lengths, steps = call("population_lengths", handle), call("population_steps", handle)
        place = int(call("population_best", handle))
        best = now.best
        if best is None or int(lengths[place]) < best.length:
            best = Best(int(lengths[place]), now.first + place, call("population_tour", handle, place))
        return replace(now, handle=handle, lengths=lengths, steps=steps, best=best)


def gpu_climbers(n: int, limit: float) -> int:
    """Return how many climbers a population has on a GPU at most, with so many seconds."""
    return min(MOST_CLIMBERS["gpu"], max(LEAST_CLIMBERS, int(GPU_CLIMBERS_A_SECOND * limit / n)))


def first_seconds(n: int, climbers: int, kernels: Backend) -> float:
    """Return about how long the first climbers take a GPU to their local optima; 0 on a CPU, where they are few."""
    if kernels.threads:
        return 0.0
    start = GPU_START_SECONDS * n**3 * math.pow(min(climbers, TOGETHER), GPU_START_POWER)
    return start + descent_seconds(n, climbers, kernels)
