"""The loop of annealing and ants: climbers that go through iterations together, a kernel call at a time."""

from __future__ import annotations

import math
import time
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from pytsp._population import CALL_SECONDS, MOST_GROWTH, SHORT_CALL_SECONDS
from pytsp._verify import told_length, verified
from pytsp.backends import Backend
from pytsp.forms import Form
from pytsp.history import Progress, Watch
from pytsp.instance import Instance
from pytsp.result import Result

__all__ = ["Stages", "Standing", "run"]


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
    seed, first : int
        Climber `first` + c follows a random stream of its own.
    iterations : int or None
        How many there are; None where only the time limit ends them.
    handle : Any
        The climbers on the device.
    tours : numpy.ndarray of int32, shape (climbers, n)
        The tours that they know.
    """

    solver: ClassVar[str]
    # What the names of the entry points begin with that read where climbers stand.
    values: ClassVar[str]

    def __init__(
        self,
        form: Form,
        kernels: Backend,
        watch: Watch,
        *,
        seed: int,
        first: int,
        iterations: int | None,
        handle: Any,
        tours: NDArray[np.int32],
    ) -> None:
        self.form, self.kernels, self.watch = form, kernels, watch
        self.seed, self.first, self.iterations = seed, first, iterations
        self.loaded = kernels.call(f"{form.kind}_load", *form.arguments)
        lengths = np.array([form.whole.tour_length(tour) for tour in tours], dtype=np.int64)
        best = int(lengths.argmin())
        steps = np.zeros(len(tours), dtype=np.int64)
        self.standing = Standing(handle, 0, lengths, steps, int(lengths[best]), first + best, tours[best].copy())
        # The iterations a second of the last call, and the most that the next one may have.
        self.speed, self.most = 1.0, 1.0

    @abstractmethod
    def continued(self, handle: Any, start: int, count: int) -> Any:
        """Let climbers go on by the iterations start, …, start + count - 1, and return where they stand."""

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
        self.speed = count / max(time.perf_counter() - began, 1e-9)
        self.most = MOST_GROWTH * count
        self.standing = standing

    def _count(self) -> int:
        """Choose the number of iterations of the next call; the first one has one."""
        seconds = min(CALL_SECONDS, max(SHORT_CALL_SECONDS, self.watch.seconds / 2), self.watch.seconds_left)
        left = math.inf if self.iterations is None else self.iterations - self.standing.iteration
        return int(min(max(1.0, min(seconds * self.speed, self.most)), left))

    def _read(self, handle: Any, iteration: int) -> Standing:
        """Read where the climbers stand; the best tour is fetched where it is another climber's or shorter than before.

        Among equals it is that of the smallest climber, whatever the cuts.
        """
        call, now = self.kernels.call, self.standing
        lengths, steps = call(f"{self.values}_lengths", handle), call(f"{self.values}_steps", handle)
        place = int(lengths.argmin())
        length, climber, tour = now.length, now.climber, now.tour
        if (int(lengths[place]), self.first + place) != (length, climber):
            length, climber, tour = int(lengths[place]), self.first + place, call(f"{self.values}_tour", handle, place)
        return Standing(handle, iteration, lengths, steps, length, climber, tour)


def run(stages: Stages, instance: Instance) -> Result:
    """Let the climbers go through their iterations, until a limit or Ctrl-C; return what they found."""
    watch, stop_reason = stages.watch, "finished"
    try:
        _tell(stages, instance, is_call=False)
        while not stages.is_finished:
            stages.advance()
            _tell(stages, instance)
            reason = watch.stop_reason()
            if reason == "target" or (reason is not None and not stages.is_finished):
                stop_reason = reason
                break
    except KeyboardInterrupt:
        stop_reason = "interrupted"
    return _result(stages, instance, stop_reason)


def _tell(stages: Stages, instance: Instance, *, is_call: bool = True) -> None:
    """Tell the callbacks where the climbers stand."""
    now, watch = stages.standing, stages.watch
    length = told_length(instance, now.tour, now.length)
    watch.offer(now.iteration, length)
    if is_call and watch.progress is not None:
        watch.progress(Progress(len(now.lengths), 0, length, watch.seconds, now.iteration, stages.iterations))


def _result(stages: Stages, instance: Instance, stop_reason: str) -> Result:
    """Check the best tour against the instance and return it with what all climbers came to."""
    now, form = stages.standing, stages.form
    tour = verified(now.tour, now.length, now.climber, form, stages.kernels, stages.seed)
    length = instance.tour_length(tour)
    return Result(
        instance=instance,
        tour=tour,
        length=length,
        climber=now.climber,
        lengths=now.lengths if instance.is_exact else now.lengths * np.float64(form.unit),
        steps=now.steps,
        passes=np.empty(0, dtype=np.int32),
        # Neither method ends on a local optimum that it would know of.
        done=np.zeros(len(now.lengths), dtype=np.bool_),
        seed=stages.seed,
        k=None,
        backend=stages.kernels.name,
        mapping="thread",
        seconds=stages.watch.seconds,
        stop_reason=stop_reason,
        solver=stages.solver,
        iterations=now.iteration,
        history=stages.watch.improvements(now.iteration, length),
    )
