"""The loop of annealing and ants: climbers that go through iterations together, a kernel call at a time."""

from __future__ import annotations

import math
import time
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from pytsp.backends.context import Backend
from pytsp.problem.instance import Instance
from pytsp.problem.kernel_input import Form
from pytsp.problem.tours import check_tour, random_tours
from pytsp.run.monitor import Watch
from pytsp.run.result import Result
from pytsp.run.state_reader import State
from pytsp.solvers.common.verify import result_of, told_length
from pytsp.solvers.ils.population import CALL_SECONDS, MOST_GROWTH, SHORT_CALL_SECONDS, lengths_of
from pytsp.solvers.options import Options
from pytsp.starts.construct import Start, start_tour

__all__ = ["Stages", "Standing", "run", "starting_tours", "stored_iterations"]


@dataclass(frozen=True)
class Standing:
    """Where the climbers stand after so many iterations: the device's handle, the lengths of their best tours, how many
    steps they made, and the best tour of all."""

    handle: Any
    iteration: int
    lengths: NDArray[np.int64]
    steps: NDArray[np.int64]
    length: int
    climber: int
    tour: NDArray[np.int32]


class Stages(ABC):
    """Climbers that go through iterations together.

    Every kernel call ends in one assignment to `standing`, so that an interruption at any point leaves it whole.

    Parameters
    ----------
    form : Form
    kernels : Backend
    watch : Watch
        Where it has a state, the climbers go on from there.
    options : Options
    iterations : int or None
        How many there are; None where only the time limit ends them.
    tours : numpy.ndarray of int32, shape (climbers, n), or None
        The tours from which the climbers start, where there is no state.
    """

    solver: ClassVar[str]
    # What the names of the entry points begin with that make climbers, and read where they stand; their type.
    values: ClassVar[str]
    type: ClassVar[str]

    def __init__(
        self,
        form: Form,
        kernels: Backend,
        watch: Watch,
        options: Options,
        *,
        iterations: int | None,
        tours: NDArray[np.int32] | None,
    ) -> None:
        self.form, self.kernels, self.watch, self.options = form, kernels, watch, options
        self.iterations = iterations
        self.loaded = kernels.call(f"{form.kind}_load", *form.arguments)
        if watch.state is None:
            assert tours is not None
            steps = np.zeros(len(tours), dtype=np.int64)
            lengths = lengths_of(form.whole, tours)
            self.standing = self._standing(self.started(tours, lengths), 0, tours, lengths, steps)
        else:
            self.standing = self._restored(watch.state)
        # What an iteration of the last call took, or the first is thought to take; how many the next call may have.
        self.iteration_seconds, self.most = self.first_seconds, 1.0

    @property
    def first_seconds(self) -> float:
        """About how long the first iteration takes; 0 where it is short."""
        return 0.0

    @abstractmethod
    def started(self, tours: NDArray[np.int32], lengths: NDArray[np.int64]) -> Any:
        """Return climbers on these tours."""

    @abstractmethod
    def fields(self, state: State) -> dict[str, NDArray[Any]]:
        """Return the fields of climbers that went on, as `Backend.fields` tells them, once they are checked."""

    @abstractmethod
    def continued(self, handle: Any, start: int, count: int) -> Any:
        """Let climbers go on by the iterations start, …, start + count - 1, and return where they stand."""

    def _standing(
        self,
        handle: Any,
        iteration: int,
        bests: NDArray[np.int32],
        lengths: NDArray[np.int64],
        steps: NDArray[np.int64],
    ) -> Standing:
        """Return where climbers stand that know these tours, of these lengths."""
        best = int(lengths.argmin())
        climber = self.options.first + best
        return Standing(handle, iteration, lengths, steps, int(lengths[best]), climber, bests[best].copy())

    def state(self) -> dict[str, Any]:
        """Return where the climbers stand, for others that go on from there."""
        now = self.standing
        return {"iterations": self.iterations, "iteration": now.iteration, self.values: self.kernels.fields(now.handle)}

    def _restored(self, state: State) -> Standing:
        """Stand where `state` says."""
        iteration = state.whole("iteration", 0, 2**62 if self.iterations is None else self.iterations)
        fields = self.fields(state.part(self.values))
        handle = self.kernels.value(self.type, fields)
        bests = fields["bests"]
        return self._standing(handle, iteration, bests, lengths_of(self.form.whole, bests), fields["steps"])

    @property
    def is_finished(self) -> bool:
        return self.standing.iteration == self.iterations

    def advance(self) -> None:
        """Make one kernel call, of as many iterations as take a fraction of a second."""
        now = self.standing
        count = self._count()
        began = time.perf_counter()
        handle = self.continued(now.handle, now.iteration, count)
        standing = self._read(handle, now.iteration + count)
        self.iteration_seconds = (time.perf_counter() - began) / count
        self.most = MOST_GROWTH * count
        self.standing = standing

    def _count(self) -> int:
        """Choose the number of iterations of the next call; the first one has one."""
        seconds = min(CALL_SECONDS, max(SHORT_CALL_SECONDS, self.watch.seconds / 2), self.watch.seconds_left)
        left = math.inf if self.iterations is None else self.iterations - self.standing.iteration
        return int(min(max(1.0, min(seconds / max(self.iteration_seconds, 1e-9), self.most)), left))

    def _read(self, handle: Any, iteration: int) -> Standing:
        """Read where the climbers stand; the best tour is fetched where it is another climber's or shorter than before.

        Among equals it is that of the smallest climber, whatever the cuts.
        """
        call, now = self.kernels.call, self.standing
        lengths, steps = call(f"{self.values}_lengths", handle), call(f"{self.values}_steps", handle)
        place = int(lengths.argmin())
        length, climber, tour = now.length, now.climber, now.tour
        if (int(lengths[place]), self.options.first + place) != (length, climber):
            length, climber = int(lengths[place]), self.options.first + place
            tour = call(f"{self.values}_tour", handle, place)
        return Standing(handle, iteration, lengths, steps, length, climber, tour)


def starting_tours(instance: Instance, climbers: int, options: Options, default: Start) -> NDArray[np.int32]:
    """Return the tours from which climbers start, shape (climbers, n): the same for all, or random ones."""
    if options.initial_tour is None and options.start == "random":
        return random_tours(instance.n, climbers, options.seed, options.first)
    if options.initial_tour is not None:
        tour = check_tour(options.initial_tour, instance.n)
    else:
        tour = start_tour(instance, options.start or default, seed=options.seed)
    return np.broadcast_to(tour, (climbers, instance.n))


def stored_iterations(state: State, watch: Watch) -> int | None:
    """Return how many iterations there are where a solve goes on: as many as when it began."""
    return state.whole("iterations") if watch.time_limit is None else state.optional_whole("iterations")


def run(stages: Stages, instance: Instance) -> Result:
    """Let the climbers go through their iterations, until a limit or Ctrl-C; return what they found."""
    try:
        stop_reason = _search(stages, instance)
    except KeyboardInterrupt:
        stop_reason = "interrupted"
    now, watch = stages.standing, stages.watch
    watch.keep(stages.state, final=True)
    return result_of(
        instance,
        stages.form,
        stages.kernels,
        watch,
        tour=now.tour,
        length=now.length,
        climber=now.climber,
        seed=stages.options.seed,
        lengths=now.lengths,
        steps=now.steps,
        # Neither method ends on a local optimum that it would know of.
        done=np.zeros(len(now.lengths), dtype=np.bool_),
        mapping="thread",
        stop_reason=stop_reason,
        solver=stages.solver,
        iterations=now.iteration,
    )


def _search(stages: Stages, instance: Instance) -> str:
    """Let the climbers go on until they are done or there is a reason to stop, and return why they ended."""
    watch = stages.watch
    _tell(stages, instance, is_call=False)
    while not stages.is_finished:
        reason = watch.stop_reason()
        # A tour that is only given is no reason to end.
        if reason is not None and (stages.standing.iteration or reason == "time limit"):
            return reason
        # An iteration cannot be cut: one that does not fit is not begun.
        if stages.iteration_seconds > max(watch.seconds_left, CALL_SECONDS):
            return "time limit"
        stages.advance()
        _tell(stages, instance)
        if watch.stop_reason() == "target":
            return "target"
        watch.keep(stages.state)
    return "finished"


def _tell(stages: Stages, instance: Instance, *, is_call: bool = True) -> None:
    """Tell the callbacks where the climbers stand."""
    now, watch = stages.standing, stages.watch
    length = told_length(instance, now.tour, now.length)
    watch.offer(now.iteration, length)
    if is_call:
        iterations = stages.iterations
        watch.tell(stages.solver, length, climbers=len(now.lengths), iteration=now.iteration, iterations=iterations)
