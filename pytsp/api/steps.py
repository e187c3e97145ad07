"""Arguments of a solve, and steps to an instance solved in place of another: arguments there, tours back."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from os import PathLike
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pytsp.checkpoint.content import Bounded, stored_instance
from pytsp.problem.instance import Instance
from pytsp.run.limits import Limits
from pytsp.run.monitor import Improved, Improvement, Progress
from pytsp.run.result import Result
from pytsp.solvers.options.fields import Options
from pytsp.utils.arguments import check_callback

# Relatively, what the kernel's lengths of floating-point distances may differ by at most.
ROUNDING = 1e-6

Report = TypeVar("Report", Progress, Improved)


@dataclass(frozen=True, kw_only=True)
class Request:
    """The arguments of `pytsp.solve` that concern every solver, and `keywords`, the options of its solver.

    `began` is when the solve did, by the clock of `time.perf_counter`. `start_city` and `end_city` are labels until the
    instance is read, and `fixed` replaces its edges then. `placement` has the backend, its threads and its device;
    `executor` and `devices` are as `pytsp.distributed.coordinator.places_of` takes them. `quick_tour` and `is_doubled`
    are those of a `Task`. A checkpoint holds `bounded`, and `steps`: these lead from the user's instance to the one
    that is solved, the outermost first.
    """

    solver: str | Options = "auto"
    open: bool = False
    start_city: Any = None
    end_city: Any = None
    fixed: Any = None
    seed: int | None = 0
    placement: Mapping[str, Any] = field(default_factory=lambda: {"backend": "auto", "threads": None, "device": None})
    limits: Limits = Limits()
    bound: bool = False
    initial_tour: ArrayLike | None = None
    keep: bool = False
    checkpoint: str | PathLike[str] | None = None
    checkpoint_interval: float = 30.0
    progress: Callable[[Progress], object] | None = None
    on_improvement: Callable[[Improved], object] | None = None
    executor: Any = None
    devices: Any = None
    keywords: Mapping[str, Any] = field(default_factory=dict)
    began: float
    quick_tour: Callable[[float], NDArray[np.int32]] | None = None
    is_doubled: bool = False
    bounded: Bounded | None = None
    steps: tuple[Step, ...] = ()

    def __post_init__(self) -> None:
        check_callback("progress", self.progress)
        check_callback("on_improvement", self.on_improvement)

    @property
    def ends(self) -> dict[str, int | None]:
        """The ends of an open path; none for closed tours."""
        return {"start_city": self.start_city, "end_city": self.end_city} if self.open else {}

    def option(self, name: str) -> Any:
        """Return an option of the solver, if it is given."""
        return self.keywords.get(name, getattr(self.solver, name, None))


class Step:
    """The way from the `original` instance to the `instance` that is solved in its place, and back.

    A tour of the original is longer by `offset`. If the step `loses_digits`, tours of the instance are far longer, so
    that few digits of the difference may be left.
    """

    original: Instance
    instance: Instance
    offset: int | float = 0
    loses_digits = False

    def tour(self, given: Any) -> Any:
        """Return the tour of `instance` for a tour or path of the original."""
        return given

    def restate(self, tour: NDArray[np.int32]) -> NDArray[np.int32]:
        """Return the tour or path of the original for a tour of `instance`."""
        raise NotImplementedError

    def map_request(self, request: Request) -> Request:
        """Return the request for `instance`, with lengths as they were."""
        given = request.initial_tour
        return request if given is None else replace(request, initial_tour=self.tour(given))

    def stored(self) -> dict[str, Any]:
        """Return the step for a checkpoint."""
        return {"instance": stored_instance(self.original)}


class FirstCity(Step):
    """A closed tour that begins with a given city."""

    def __init__(self, instance: Instance, city: int) -> None:
        self.original = self.instance = instance
        self.city = city

    def restate(self, tour: NDArray[np.int32]) -> NDArray[np.int32]:
        return np.roll(tour, -int(np.argmax(tour == self.city)))

    def map_request(self, request: Request) -> Request:
        return replace(request, start_city=None)

    def stored(self) -> dict[str, Any]:
        return {"city": self.city}


class Restater:
    """Restate reports and results of the instance that `steps` lead to, the outermost first, as those of the original.

    `request` is that of the original, with the callbacks of the user; `target` is the length that is short enough. With
    `is_measured` each tour is measured, where edges are shortened or a difference of lengths has few digits. Then only
    measured improvements are reported, and only those reach the target.
    """

    def __init__(
        self,
        original: Instance,
        steps: Sequence[Step],
        request: Request | None = None,
        *,
        target: float | None = None,
        is_measured: bool = False,
    ) -> None:
        self.original, self.steps, self.target, self.is_measured = original, steps, target, is_measured
        self.began = None if request is None else request.began
        self.request = Request(began=0.0) if request is None else request
        self.offset = sum(step.offset for step in steps)
        self.history: list[Improvement] = []

    def callbacks(self) -> dict[str, Any]:
        """Return the callbacks for a solve of the last step's instance."""

        def restating(callback: Callable[[Any], object] | None) -> Callable[[Any], object] | None:
            return None if callback is None else lambda now: callback(self.map_report(now))

        improved = self.take if self.is_measured else restating(self.request.on_improvement)
        return {"progress": restating(self.request.progress), "on_improvement": improved}

    def tour(self, tour: NDArray[np.int32]) -> NDArray[np.int32]:
        for step in reversed(self.steps):
            tour = step.restate(tour)
        return tour

    def measure(self, tour: NDArray[np.int32]) -> int | float:
        return self.original.path_length(tour) if self.request.open else self.original.tour_length(tour)

    def map_report(self, now: Report) -> Report:
        if not self.is_measured:
            return now.restated(now.length + self.offset, lambda: self.tour(now.tour))
        tour = self.tour(now.tour)
        return now.restated(self.measure(tour), lambda: tour)

    def take(self, now: Improved) -> bool:
        """Take a tour that the solver reports, which may be no improvement; tell whether it is enough."""
        improved = self.map_report(now)
        if self.history and improved.length >= self.history[-1].length:
            return False
        self.history.append(Improvement(*improved))
        callback = self.request.on_improvement
        is_stop_requested = callback is not None and callback(improved) is True
        return is_stop_requested or self.is_enough(improved.length)

    def is_enough(self, length: float) -> bool:
        """Tell whether a length reaches the target."""
        return self.target is not None and length <= self.target

    def result(self, result: Result) -> Result:
        original, tour = self.original, self.tour(result.tour)
        length = self.measure(tour)
        lengths: NDArray[Any] = result.lengths + self.offset
        history = tuple(each._replace(length=each.length + self.offset) for each in result.history)
        if self.is_measured:
            # A tour by shortened or rounded edges may be shorter than it is.
            lengths, best = np.maximum(lengths, length), int(np.argmin(result.lengths))
            # The tour may be of a climber that is not among these.
            if result.lengths[best] <= result.length + result.instance.n * result.resolution:
                lengths[best] = length
            history = tuple(each for each in self.history if each.length >= length)
        elif history and not original.is_exact and any(step.loses_digits for step in self.steps):
            if abs(length - history[-1].length) <= ROUNDING * length:
                history = (*history[:-1], history[-1]._replace(length=length))
            lengths[np.argmin(lengths)] = length
        seconds = result.seconds if self.began is None else time.perf_counter() - self.began
        # A search that was cut short may leave an end out of its position, or a pair apart; repaired, its tour is
        # shorter. Lengths of floating-point distances are the kernel's until then, which are less precise.
        share = 1 if original.is_exact else 1 - ROUNDING
        if result.history and (not history or length < history[-1].length * share):
            history += (result.history[-1]._replace(seconds=seconds, length=length),)
            lengths[np.argmin(lengths)] = length
            if self.request.on_improvement is not None:
                self.request.on_improvement(Improved.of(history[-1], tour.copy))
        return replace(
            result,
            instance=without_optimum(original) if self.request.open else original,
            tour=tour,
            length=length,
            lengths=lengths,
            history=history,
            seconds=seconds,
            stop_reason="target" if self.is_measured and self.is_enough(length) else result.stop_reason,
            is_open=self.request.open,
        )


def solve_within(
    original: Instance,
    steps: Sequence[Step],
    request: Request,
    solve: Callable[[Instance, Request], Result],
    *,
    is_measured: bool = False,
) -> Result:
    """Solve the instance that steps lead to, and restate its reports and its result."""
    asked = request
    for step in steps:
        asked = step.map_request(asked)
    target = asked.limits.target
    restater = Restater(original, steps, request, target=target, is_measured=is_measured)
    if target is not None:
        target = None if is_measured else max(0, target - restater.offset)
    limits, callbacks = replace(asked.limits, target=target), restater.callbacks()
    inner = replace(asked, limits=limits, steps=(*request.steps, *steps), **callbacks)
    return restater.result(solve(steps[-1].instance if steps else original, inner))


def without_optimum(instance: Instance) -> Instance:
    """Return an instance without its optimum, which TSPLIB knows of closed tours only."""
    return instance if instance.optimum is None else replace(instance, optimum=None)
