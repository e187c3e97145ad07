"""Search again on a finer scale where the first one was too coarse for the tour that it found, or warn.

Kernels compare whole numbers of 30 bits, scaled by the longest distance. Where distances span many decades, the ways of
a short tour are few units of that. Once a tour is known, its length replaces the longest distance as the scale
(`pytsp.problem.long_edges`), and the search goes on from that tour.
"""

from __future__ import annotations

import logging
import math
import time
from dataclasses import replace
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from pytsp.api.dispatch import as_chains
from pytsp.api.reductions import solve_once
from pytsp.api.steps import Request, Restater
from pytsp.exceptions import InstanceError, PytspError
from pytsp.problem.instance import Instance
from pytsp.problem.kernel_input import MATRIX_CITIES
from pytsp.problem.long_edges import MATRICES, reduce_costs
from pytsp.run.coarse import LONGEST_FAR_TOUR, is_coarse, with_doubt
from pytsp.run.monitor import Improved, Improvement, Progress
from pytsp.run.result import Result
from pytsp.solvers.options.fields import Options
from pytsp.solvers.options.large import LargeTour
from pytsp.utils.memory import check_room

# The seconds that a distance takes until a search on the next scale begins, on a slow core.
DISTANCE_SECONDS = 1e-7

_log = logging.getLogger("pytsp")


def solve_rescaled(instance: Instance, request: Request) -> Result:
    """Solve an instance, on finer scales as far as its tours ask for that.

    With a time limit or patience a search on a coarse scale ends as soon as a finer one is possible, else when it is
    finished. A solve with a checkpoint keeps its first scale, which is the one that `resume` goes on with.
    """
    if instance.is_exact:
        return solve_once(instance, request)
    if request.checkpoint is not None:
        return with_doubt(solve_once(instance, request))
    scales = _Scales(instance, request)
    first = replace(request, progress=scales.tell_first) if scales.is_limited else request
    return scales.go_on(solve_once(instance, first))


def solve_finer(result: Result, request: Request) -> Result:
    """Return what searches on finer scales make of a result, which is returned itself where there are none."""
    return _Scales(result.instance, request).go_on(result)


class _Scale(NamedTuple):
    """An instance whose distances are reduced by a tour, by how much, and the tour."""

    instance: Instance
    offset: float
    tour: NDArray[np.int32]


class _Scales(Restater):
    """The searches of one solve, each on the scale that the tour before it allows."""

    def __init__(self, instance: Instance, request: Request) -> None:
        limits = request.limits
        super().__init__(instance, [], request, target=limits.with_target(instance).target)
        self.is_limited = (limits.time_limit, limits.patience) != (None, None)
        # The longest distance of the present scale, and the shortest tour that allowed no finer one.
        self.longest = self.shortest = math.inf
        self.waiting: _Scale | None = None
        self.is_stop_requested = self.is_left = self.is_optimal = False
        # The best tour so far, and how many iterations the searches before the present one made.
        self.best: NDArray[np.int32] = np.empty(0, np.int32)
        self.length: float = math.inf
        self.iterations = 0

    def go_on(self, result: Result) -> Result:
        """Search on finer scales until none gains anything or a limit is reached; return the best tour."""
        is_rescaled = False
        try:
            while (scale := self._next_scale(result)) is not None:
                before, is_rescaled = result.resolution, True
                result = self._search(scale, result)
                if not result.resolution < before:
                    break
        except KeyboardInterrupt:
            result = replace(result, stop_reason="interrupted")
        except (PytspError, MemoryError) as error:
            _log.warning("no search on a finer scale: %s", error)
            if self.length < result.length:
                result = replace(result, tour=self.best, length=self.length, history=tuple(self.history))
        if result.stop_reason == "callback" and self.is_left and not self.is_stop_requested:
            # It was left for a search that failed.
            result = replace(result, stop_reason="finished")
        if self.is_optimal:
            return result
        return with_doubt(result, is_rescaled=is_rescaled)

    def tell_first(self, now: Progress) -> bool:
        """Pass the progress of the first search on, and end it where a finer scale is possible."""
        return self._ends_by(self.request.progress, now) or self._has_finer(now)

    def _has_finer(self, now: Progress) -> bool:
        """Tell whether the search is to be left for a finer scale, which then waits."""
        # Only a tour that may be coarse is brought from a device, and only one that is far shorter asks again.
        if self.waiting is None and now.length < min(LONGEST_FAR_TOUR * now.resolution, 0.5 * self.shortest):
            tour = now.tour
            length = self.measure(tour)
            if not self.is_enough(length):
                self.waiting = self._scale(tour, length, now.resolution)
        self.is_left = self.waiting is not None
        return self.is_left

    def _next_scale(self, result: Result) -> _Scale | None:
        scale, self.waiting = self.waiting, None
        if scale is not None and result.stop_reason == "callback" and not self.is_stop_requested:
            return scale
        if result.stop_reason != "finished":
            return None
        return self._scale(result.tour, result.length, result.resolution)

    def _scale(self, tour: NDArray[np.int32], length: float, resolution: float) -> _Scale | None:
        """Return the scale that a tour allows; None where it needs none, or none is finer."""
        instance, n, is_open = self.original, self.original.n, self.request.open
        if not self._can_be_finer() or not is_coarse(instance, tour, length, resolution, is_open=is_open):
            return None
        self.shortest = length
        try:
            check_room(f"{instance.name or 'instance'}: distances on a finer scale", 8 * MATRICES * n * n)
        except InstanceError as error:
            _log.warning("%s", error)
            return None
        costs = reduce_costs(instance.distance_matrix(), tour, asymmetric=instance.asymmetric, is_open=is_open)
        # No tour is shorter than the potentials.
        self.is_optimal = costs.length == 0
        longest = float(costs.matrix.max())
        if self.is_optimal or not longest < min(0.5 * self.longest, resolution * 2.0**28):
            return None
        self.longest = longest
        reduced = Instance._of_lawful(costs.matrix, instance.name, asymmetric=instance.asymmetric)
        if instance.fixed is not None:
            # All tours are shorter by the same length, those with these edges too.
            reduced = replace(reduced, fixed=instance.fixed)
        return _Scale(reduced, costs.offset, np.array(tour))

    def _can_be_finer(self) -> bool:
        """Tell whether a matrix of the instance is worth its memory, and there is time to make one."""
        request, n = self.request, self.original.n
        if self.original.coordinates is not None and n > MATRIX_CITIES:
            return False
        limit = request.limits.time_limit
        return limit is None or time.perf_counter() - request.began + DISTANCE_SECONDS * n * n < limit

    def _search(self, scale: _Scale, before: Result) -> Result:
        """Return the better of a result and what a search on a scale finds, with what is known of both."""
        self.best, self.length, self.history = before.tour, before.length, [*before.history]
        self.iterations = max(before.iterations or 0, self.history[-1].iteration if self.history else 0)
        options = _on_a_matrix(cast("Options", before.options or self.request.solver))
        _log.info("searching again in units of less than %.3g", before.resolution)
        asked = replace(
            self.request,
            solver=options,
            keywords={},
            limits=replace(self.request.limits, target=None, target_gap=None),
            initial_tour=scale.tour if options.takes_initial_tour else None,
            progress=self._tell,
            on_improvement=self._improve,
        )
        return self._merged(scale, before, solve_once(scale.instance, asked))

    def _improve(self, now: Improved) -> bool:
        tour = now.tour
        length = self.measure(tour)
        if not length < self.length:
            return False
        self.best, self.length = np.array(tour), length
        iteration = self.iterations + now.iteration
        return self._note(Improvement(now.seconds, iteration, length)) or self.is_enough(length)

    def _note(self, improvement: Improvement) -> bool:
        """Report the best tour if it is shorter than all reported ones; tell whether that ends the search."""
        if self.history and improvement.length >= self.history[-1].length:
            # On a coarse scale a search may leave a tour for one that is longer.
            return self.is_stop_requested
        self.history.append(improvement)
        return self._ends_by(self.request.on_improvement, Improved.of(improvement, self.best.copy))

    def _tell(self, now: Progress) -> bool:
        if self.request.progress is not None:
            now = replace(
                now.restated(self.length, self.best.copy),
                iteration=self.iterations + now.iteration,
                iterations=None if now.iterations is None else self.iterations + now.iterations,
            )
            if self._ends_by(self.request.progress, now):
                return True
        return self.is_limited and self._has_finer(replace(now, length=self.length, find=self.best.copy))

    def _ends_by(self, callback: Any, now: Progress | Improved) -> bool:
        if callback is not None and callback(now) is True:
            self.is_stop_requested = True
        return self.is_stop_requested

    def _merged(self, scale: _Scale, before: Result, found: Result) -> Result:
        """Return what a search found, with the best tour of all and what is known of the searches before."""
        lengths = np.asarray(found.lengths, np.float64) + scale.offset
        ours, theirs = (self.length, self.best), (self.measure(found.tour), found.tour)
        # Of equal sums of long distances, that of the finer scale. When the other is told depends on the machine.
        length, tour = min(theirs, ours, key=lambda each: each[0])
        self.best, self.length = tour, length
        iteration = self.iterations + (found.history[-1].iteration if found.history else 0)
        last = Improvement(found.seconds, iteration, length)
        self._note(last)
        history = [each for each in self.history if each.length >= length]
        history += [last] * (not history or history[-1].length > length)
        # Distances that were cut make a tour shorter than it is.
        lengths = np.maximum(lengths, length)
        lengths[np.argmin(lengths)] = length
        is_target = self.is_enough(length) and found.stop_reason == "callback" and not self.is_stop_requested
        return replace(
            found,
            instance=before.instance,
            tour=tour,
            length=length,
            lengths=lengths,
            history=tuple(history),
            options=before.options if before.solver == found.solver else found.options,
            iterations=None if found.iterations is None else self.iterations + found.iterations,
            stop_reason="target" if is_target else found.stop_reason,
            # Without time for a search nothing was compared.
            resolution=min(before.resolution, found.resolution or before.resolution),
        )


def _on_a_matrix(options: Options) -> Options:
    """Return options without what says where to start, or needs coordinates."""
    names = ("start", "quadrants") if options.takes_initial_tour else ("quadrants",)
    changed = type(options)(**{name: value for name, value in options.given().items() if name not in names})
    return as_chains(changed) if isinstance(changed, LargeTour) else changed
