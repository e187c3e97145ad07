"""Climbers that go through iterations together, as annealing's chains and ants' colonies do."""

from __future__ import annotations

import math
import time
from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from pytsp.problem.tours import random_tours
from pytsp.run.monitor import Watch
from pytsp.run.state_reader import State
from pytsp.solvers.common.incumbent import Best
from pytsp.solvers.common.loop import Found, Search, Standing
from pytsp.solvers.common.pacing import Pace
from pytsp.solvers.common.starting_tours import first_tour
from pytsp.solvers.common.task import Task
from pytsp.solvers.ils.population import lengths_of
from pytsp.starts.construct import Start

# A call makes no more iterations, each of which may have a temperature: of few cities a second has millions.
MOST_ITERATIONS = 262_144


class Stages(Search):
    """Climbers that go through iterations together, from `tours`, shape (climbers, n), or the state of the watch."""

    standing: Standing

    # What the names of the entry points begin with that make climbers, and read where they stand; their type.
    values: ClassVar[str]
    type: ClassVar[str]

    def __init__(self, task: Task[Any], *, iterations: int | None, tours: NDArray[np.int32] | None) -> None:
        super().__init__(task)
        self.options, self.iterations, self.phase = task.options, iterations, task.options.name
        if self.watch.state is None:
            assert tours is not None
            steps, lengths = np.zeros(len(tours), dtype=np.int64), lengths_of(self.form.whole, tours)
            best = Best.of(lengths, tours, self.options.first)
            self.standing = Standing(self.started(tours, lengths), lengths, steps, best)
        else:
            self.standing = self._restored(self.watch.state)
        self.pace = Pace(seconds=self.first_seconds)

    @property
    def is_finished(self) -> bool:
        return self.standing.iteration == self.iterations

    @property
    def has_begun(self) -> bool:
        return self.standing.iteration > 0 or self.watch.seconds_left <= 0

    @property
    def next_seconds(self) -> float:
        return self.pace.seconds

    @property
    def first_seconds(self) -> float:
        """About how long the first iteration takes; 0 where it is short."""
        return 0.0

    @abstractmethod
    def started(self, tours: NDArray[np.int32], lengths: NDArray[np.int64]) -> Any:
        """Return climbers on these tours."""

    @abstractmethod
    def fields(self, state: State) -> dict[str, NDArray[Any]]:
        """Return the checked fields of advanced climbers, as in `Backend.fields`."""

    @abstractmethod
    def continued(self, handle: Any, start: int, count: int) -> Any:
        """Advance climbers by the iterations start, …, start + count - 1, and return their state."""

    def state(self) -> dict[str, Any]:
        now = self.standing
        return {"iterations": self.iterations, "iteration": now.iteration, self.values: self.kernels.fields(now.handle)}

    def _restored(self, state: State) -> Standing:
        iteration = state.whole("iteration", 0, 2**62 if self.iterations is None else self.iterations)
        fields = self.fields(state.part(self.values))
        bests, handle = fields["bests"], self.kernels.value(self.type, fields)
        lengths = lengths_of(self.form.whole, bests)
        return Standing(handle, lengths, fields["steps"], Best.of(lengths, bests, self.options.first), iteration)

    def advance(self) -> None:
        """Make one kernel call, of as many iterations as take a fraction of a second; the first one has one."""
        now = self.standing
        left = math.inf if self.iterations is None else self.iterations - now.iteration
        count = int(min(self.pace.fitting(self.watch.seconds, self.watch.seconds_left), left, MOST_ITERATIONS))
        began = time.perf_counter()
        handle = self.continued(now.handle, now.iteration, count)
        standing = self._read(handle, now.iteration + count)
        self.pace.observe(count, time.perf_counter() - began)
        self.standing = standing

    def _read(self, handle: Any, iteration: int) -> Standing:
        """Read the state of the climbers; fetch the best tour if it is another climber's or shorter than before.

        Among equals it is that of the smallest climber, whatever the cuts.
        """
        call, best = self.kernels.call, self.standing.best
        assert best is not None
        lengths, steps = call(f"{self.values}_lengths", handle), call(f"{self.values}_steps", handle)
        place = int(lengths.argmin())
        if (int(lengths[place]), self.options.first + place) != (best.length, best.climber):
            tour = call(f"{self.values}_tour", handle, place)
            best = Best(int(lengths[place]), self.options.first + place, tour)
        return Standing(handle, lengths, steps, best, iteration)

    def found(self) -> Found:
        now = self.standing
        # Neither method ends on a local optimum that it would know of.
        assert now.best is not None
        return Found(now.best, now.lengths, now.steps, np.zeros(self.climbers, dtype=np.bool_))


def starting_tours(task: Task[Any], climbers: int, default: Start) -> NDArray[np.int32]:
    """Return the tours from which climbers start, shape (climbers, n): the same for all, or random ones."""
    instance, options, tour = task.instance, task.options, task.initial_tour
    if tour is None and options.start == "random":
        return random_tours(instance.n, climbers, task.seed, options.first)
    if tour is None:
        tour = first_tour(task, options.start, default)
    return np.broadcast_to(tour, (climbers, instance.n))


def stored_iterations(state: State, watch: Watch) -> int | None:
    """Return how many iterations there are where a solve goes on: as many as when it began."""
    return state.whole("iterations") if watch.time_limit is None else state.optional_whole("iterations")
