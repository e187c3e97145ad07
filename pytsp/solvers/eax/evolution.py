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
from pytsp.problem.kernel_input import Form
from pytsp.problem.tours import check_tour
from pytsp.run.monitor import Watch
from pytsp.run.state_reader import State
from pytsp.solvers.common.crossover import PATIENCE, Crossing, elected
from pytsp.solvers.common.incumbent import Best
from pytsp.solvers.common.placement import TOGETHER, climbing_entry, descent_seconds
from pytsp.solvers.ils.population import population_fields
from pytsp.solvers.options import PIVOTS, Options
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
# How long a kernel call in which climbers descend should take; how many of them a core, or a GPU, has in the first one,
# and a call at most; by how much at most a call has more than the one before.
CALL_SECONDS = 0.15
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


class Evolution:
    """The populations of one solve, one after the other.

    Every kernel call ends in one assignment to `standing`, so that an interruption at any point leaves it whole.
    """

    def __init__(self, form: Form, kernels: Backend, watch: Watch, options: Options, lists: NDArray[np.int32]) -> None:
        self.form, self.kernels, self.watch, self.options, self.lists = form, kernels, watch, options, lists
        self.machine = "cpu" if kernels.device is None else "gpu"
        self.loaded = kernels.call(f"{form.kind}_load", *form.arguments)
        self.crossing = Crossing(form, kernels, self.loaded, lists)
        self.size = options.climbers
        if self.size is not None:
            check_room(
                "climbers", self.size, lambda count: count * (HOST_CITY_BYTES * form.whole.n + HOST_CLIMBER_BYTES)
            )
        if watch.time_limit is None:
            self.size = self.size or self._most()
        self.standing = Standing(**NOBODY, best=None, first=options.first)
        if watch.state is not None:
            self._restore(watch.state)
        # When the climbers of a population are to be there, and how many a second come.
        self.settled_by = self._time_to_settle()
        # What the last generation took.
        self.generation_seconds = 0.0
        self.chunk = FIRST_CHUNK[self.machine] * (kernels.threads or 1)

    @property
    def first_seconds(self) -> float:
        chunk = min(self.chunk, self.size or self._most())
        return first_seconds(self.form.whole.n, chunk, self.kernels)

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
        fitting = min(fitting, MOST_GROWTH * chunk, CHUNK[self.machine])
        self.chunk = max(1, int(fitting) // together) * together
        is_enough = self.size is None and count >= LEAST_CLIMBERS and self.watch.seconds > self.settled_by
        self._stand(standing, is_settled=count >= most or is_enough)

    def end_settling(self) -> None:
        """Have the population settled with the climbers that are there."""
        if not self.standing.is_settled:
            self._stand(self.standing, is_settled=True)

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
        if is_settled and self.options.initial_tour is not None:
            initial = check_tour(self.options.initial_tour, self.form.whole.n)
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
            fewer = CPU_CLIMBERS_TIMES_CITIES // self.form.whole.n if self.machine == "cpu" else CLIMBERS["gpu"]
            return min(CLIMBERS[self.machine], max(LEAST_CLIMBERS, fewer))
        return MOST_CLIMBERS["cpu"] if self.machine == "cpu" else gpu_climbers(self.form.whole.n, limit)

    @property
    def has_converged(self) -> bool:
        """Whether all tours are equally long, or no generation has made any shorter for a while."""
        now = self.standing
        return now.idle >= PATIENCE or bool(now.lengths.min() == now.lengths.max())

    def breed(self) -> None:
        """Make the next generation."""
        now = self.standing
        began = time.perf_counter()
        after = self._read(self.crossing.bred(now.handle, self.options.seed, now.generation))
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
        """Return where the populations stand, for an evolution that goes on from there."""
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
            f"{self.form.kind}_start", self.loaded, self.lists, self.options.seed, first, count, PASSES
        )
        return self._climbed(tours, first)

    def _climbed(self, population: Any, first: int) -> Any:
        fields = {"seed": self.options.seed, "first": first, "from": 0, "iterations": 0}
        moves = {"moves": self.options.local_moves, "pivot": PIVOTS.index(self.options.pivot), "draws": 1}
        plan = self.kernels.value("search_plan", {**fields, **moves, "kick": 0, "temperature": 0.0, "cooled": 0})
        entry = climbing_entry(f"{self.form.kind}_ils", self.form, self.kernels)
        return self.kernels.call(entry, self.loaded, self.lists, population, plan)

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
