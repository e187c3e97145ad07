"""The climbers of one iterated local search: their state, kernel call by kernel call, and their best tour."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytsp.problem.instance import Instance
from pytsp.run.state_reader import State
from pytsp.solvers import policy
from pytsp.solvers.common.incumbent import Best
from pytsp.solvers.common.local_search import WHOLE, LocalSearch, population_fields
from pytsp.solvers.common.loop import Found, Search, Standing
from pytsp.solvers.common.pacing import SHORT_CALL_SECONDS, Pace
from pytsp.solvers.common.placement import descent_seconds
from pytsp.solvers.common.starting_tours import restart_seed, restart_tours
from pytsp.solvers.common.task import Task
from pytsp.solvers.ils.archive import NONE, Archive
from pytsp.solvers.options.ils import ACCEPTANCES, ILS, KICKS
from pytsp.solvers.options.shared import MOVES
from pytsp.solvers.speeds import SPEEDS
from pytsp.utils.deadline import look

# Moves that a step draws with pivot "random-k" (docs/algorithms).
DEFAULT_DRAWS = 200


@dataclass(frozen=True, kw_only=True)
class PopulationStanding(Standing):
    """State of the climbers."""

    best: Best
    # True once they have left their first tours, and once their best tours have descended over all cities.
    has_descended: bool = True
    is_polished: bool = False
    # What they have left behind where they began anew, once anybody has looked for such.
    archive: Archive | None = None
    # The position that a descent made stretch by stretch has reached, and the sum of the lengths where the last began.
    reached: int = 0
    before: int | None = None

    @property
    def shortest(self) -> NDArray[np.int64]:
        """The length of the shortest tour that each climber has had."""
        return self.lengths if self.archive is None else self.archive.shortest(self.lengths)


class Population(Search):
    """The climbers of one iterated local search.

    They start from `starts`, shape (climbers, n), or go on from a state, and make these iterations each, or as many as
    the time limit allows. `moves` are as the kernels take them, and the temperature, the first one, is in units of
    their lengths. Neighbours in the lists are in order of distance: those by α-nearness by default if `by_alpha`, or
    the nearest ones, because of the time limit, if `is_near`.
    """

    standing: PopulationStanding

    phase = "kicks"

    def __init__(
        self,
        task: Task[ILS],
        lists: NDArray[np.int32],
        starts: NDArray[np.int32] | None,
        *,
        moves: int,
        by_alpha: bool,
        is_near: bool,
        iterations: int | None,
        temperature: float,
    ) -> None:
        super().__init__(task)
        self.by_alpha, self.is_near = by_alpha, is_near
        self.options, self.iterations, self.temperature = task.options, iterations, temperature
        draws = (self.options.draws or DEFAULT_DRAWS) if self.options.pivot == "random-k" else 1
        self.local_search = LocalSearch(
            task,
            self.loaded,
            lists,
            moves=moves,
            draws=draws,
            kick=KICKS.index(self.options.kick or default_kick(MOVES[moves], is_doubled=task.is_doubled)),
            acceptance=ACCEPTANCES.index(self.options.acceptance),
            mapping=self.options.layout,
            draw_blocks=self.options.draw_blocks or 1,
        )
        self.restart_tour = restart_tours(task)
        self.standing = self._restored(self.watch.state) if starts is None else self._started(starts)
        # Where the climbers stood before the last descent: iterations go on from there.
        self.unpolished: PopulationStanding | None = None
        self.began = time.perf_counter()
        self.pace = self._new_pace(1)
        self.is_cut = (
            task.machine == "cpu"
            and self.watch.time_limit is not None
            and iterations is None
            and self.options.pivot != "random-k"
            and self.form.whole.n > policy.CUT_CITIES
        )
        # Cities of all tours that descend together.
        self.stretch_pace = self._new_pace(policy.FIRST_STRETCH)
        # Ratio of the times per city of the chosen moves and of a late descent.
        self.late_gain = SPEEDS["descent, chains"] if self.is_cut and MOVES[moves] == "lk" else 1.0
        # From where on the tours descend by 3-opt first, if chains would be late, and whether they do so now.
        self.rest_from: int | None = None
        self.is_hurried = False
        self.descended_seconds = 0.0
        # About how long the last descent will take, where the first one was long; what merging may take.
        self.polish_seconds = 0.0
        limit = self.watch.time_limit
        self.merging_seconds = policy.MERGING_SHARE * limit if self.options.merge and limit is not None else 0.0

    @property
    def has_begun(self) -> bool:
        return self.standing.has_descended or self.standing.reached > 0

    @property
    def is_finished(self) -> bool:
        return self.standing.has_descended and self.standing.iteration == self.iterations

    @property
    def next_seconds(self) -> float:
        """A first descent of all cities together cannot be cut, and the last one follows it."""
        if self.standing.has_descended or self.is_cut:
            return 0.0
        return (1 + policy.POLISH_SHARE) * self._descent_seconds()

    def _descent_seconds(self) -> float:
        """Return about how long all climbers take to their local optima."""
        form, search = self.form, self.local_search
        seconds = descent_seconds(form.whole.n, self.climbers, self.kernels, search.mapping, form.kind)
        return seconds * (SPEEDS["descent, chains"] if MOVES[search.moves] == "lk" else 1.0)

    def stop_reason(self) -> str | None:
        reason = super().stop_reason()
        if reason is None and self.polish_seconds + self.merging_seconds > max(0.0, self.watch.seconds_left):
            reason = "time limit"
        return reason

    def _started(self, starts: NDArray[np.int32]) -> PopulationStanding:
        lengths, steps = lengths_of(self.form.whole, starts), np.zeros(len(starts), dtype=np.int64)
        best = Best.of(lengths, starts, self.options.first)
        return PopulationStanding(self.local_search.place(starts), lengths, steps, best=best, has_descended=False)

    def state(self) -> dict[str, Any]:
        now = self.unpolished or self.standing
        return {
            "climbers": self.climbers,
            "moves": MOVES[self.local_search.moves],
            "by_alpha": self.by_alpha,
            "nearest": self.is_near,
            "iterations": self.iterations,
            "has_descended": now.has_descended,
            "iteration": now.iteration,
            "population": self.kernels.fields(now.handle),
            "lengths": now.lengths,
            **now.best.state(),
            "aside": None if now.archive is None else now.archive.state(),
        }

    def _restored(self, state: State | None) -> PopulationStanding:
        assert state is not None
        n, count, first = self.form.whole.n, state.whole("climbers", 1, 2**40), self.options.first
        fields = population_fields(state.part("population"), n, count)
        return PopulationStanding(
            has_descended=state.flag("has_descended"),
            iteration=state.whole("iteration"),
            handle=self.kernels.value("population", fields),
            lengths=state.array("lengths", np.int64, (count,)),
            steps=fields["steps"],
            best=Best.restored(state, n, range(first, first + count)),
            archive=Archive.restored(state.part("aside"), count, n) if "aside" in state else None,
        )

    def advance(self) -> None:
        """Make one kernel call: iterations up to the next exchange at most, for a fraction of a second.

        The first also takes every climber to its first local optimum, or, where that is cut, the first ones do. The
        temperature falls with the iterations; where they have no end, with the square of the time that is left.
        """
        now = self.standing
        seconds_left = self.watch.seconds_left - self.polish_seconds - self.merging_seconds
        stretch = WHOLE if now.has_descended else self._stretch(seconds_left)
        end = now.reached + stretch[1] if stretch != WHOLE else self.form.whole.n
        if end < self.form.whole.n or self.is_hurried:
            self._advance_descent(stretch, seconds_left)
            return
        if not now.has_descended:
            # How long kicks take is not known yet.
            self.began = time.perf_counter()
        count = self._count(seconds_left)
        began = time.perf_counter()
        handle = self._climbed(now.handle, now.iteration, count, self._warmth(), stretch)
        standing = self._read(handle, now.iteration + count)
        took = time.perf_counter() - began
        if not now.has_descended:
            self.descended_seconds += took
            polish_seconds = policy.POLISH_SHARE * self.descended_seconds
            if polish_seconds > policy.MOST_LATE_SECONDS:
                self.polish_seconds = polish_seconds
        self.pace.observe(count, took)
        if self._is_turn(standing.iteration):
            if self.options.merge:
                standing = self._merged(standing, seconds_left - took)
            standing = self._restarted(standing, seconds_left - (time.perf_counter() - began))
        self.standing = standing

    def _new_pace(self, most: int) -> Pace:
        # A call on a CPU reads lists and tours first.
        return Pace(most, hiding=policy.HIDING if self.task.machine == "cpu" else 0.0)

    def _stretch(self, seconds_left: float) -> tuple[int, int]:
        """Return the next stretch of the tours that descends, of as many cities as take a fraction of a second."""
        if not self.is_cut:
            return WHOLE
        reached, elapsed = self.standing.reached, time.perf_counter() - self.began
        return reached, min(int(self.stretch_pace.fitting(elapsed, seconds_left)), self.form.whole.n - reached)

    def _advance_descent(self, stretch: tuple[int, int], seconds_left: float) -> None:
        """Let a stretch of the tours descend, but for the last one by chains, which the first kicks follow.

        If chains would be late with the rest of the tours, the rest descends by 3-opt first, then by chains as far as
        there is time.
        """
        began = time.perf_counter()
        first, count = stretch
        rest = self.form.whole.n - first
        may_hurry = self.late_gain > 1 and self.rest_from is None
        if may_hurry and first > 0 and rest * self.stretch_pace.seconds > seconds_left:
            self.rest_from, self.is_hurried = first, True
        gain = self.late_gain if self.is_hurried else 1.0
        count = min(int(gain * count), rest)
        moves = MOVES.index("3-opt") if gain > 1 else None
        handle = self._climbed(self.standing.handle, 0, 0, stretch=(first, count), moves=moves)
        standing = self._read(handle, 0)
        took = time.perf_counter() - began
        self.descended_seconds += took
        self.stretch_pace.observe(max(1, int(count / gain)), took)
        reached = first + count
        if count == rest and self.rest_from is not None:
            reached, self.is_hurried = self.rest_from, False
            self.stretch_pace = self._new_pace(policy.FIRST_STRETCH)
        self.standing = replace(standing, has_descended=False, reached=reached)

    def _warmth(self) -> float:
        """Return the share of the temperature that is left where only the time limit ends a solve."""
        if self.watch.time_limit is None:
            return 1.0
        return float(max(0.0, self.watch.seconds_left / self.watch.time_limit) ** 2)

    def _turn(self, iteration: int) -> tuple[int, int]:
        """Return the number of restarts before an iteration, and of iterations since the last one."""
        return (0, iteration) if self.options.restart is None else divmod(iteration, self.options.restart)

    def _climbed(
        self,
        handle: Any,
        start: int,
        count: int,
        warmth: float = 1.0,
        stretch: tuple[int, int] = WHOLE,
        moves: int | None = None,
    ) -> Any:
        """Run the iterations start, …, start + count - 1. A climber that starts or restarts first descends."""
        turn, made = self._turn(start)
        # Iterations, from the start of the climbers, after which the temperature is 0; 0 if only the time decides.
        cooled = min(filter(None, (self.iterations, self.options.restart)), default=0)
        temperature = self.temperature * (1.0 if cooled else warmth)
        seed = restart_seed(self.task.seed, turn)
        return self.local_search.climb(
            handle, seed, self.options.first, made, count, temperature, cooled, stretch=stretch, moves=moves
        )

    def _is_turn(self, iteration: int) -> bool:
        """Tell whether it is time for climbers to restart."""
        restart, before = self.options.restart, self.standing.iteration
        return restart is not None and iteration % restart == 0 and before < iteration != self.iterations

    def _restarted(self, standing: PopulationStanding, seconds_left: float) -> PopulationStanding:
        """Restart the stuck climbers, or as many of them as there is time for."""
        n, first, turn = self.form.whole.n, self.options.first, self._turn(standing.iteration)[0]
        archive = standing.archive or Archive.empty(self.climbers, n)
        stuck = archive.stuck(standing.lengths) | (self.temperature > 0)
        end = (
            time.perf_counter()
            + seconds_left
            - policy.ANEW_DESCENTS * (self.descended_seconds or self._descent_seconds())
        )
        tours: dict[int, NDArray[np.int32]] = {}
        for place in np.flatnonzero(stuck).tolist():
            if time.perf_counter() > end:
                break
            tours[place] = self.restart_tour(first + place, turn)
        if not tours:
            return replace(standing, archive=replace(archive, seen=standing.lengths))
        stuck[:] = False
        stuck[list(tours)] = True
        population = self.kernels.fields(standing.handle)
        all_tours = population["bests"].copy()
        all_tours[stuck] = list(tours.values())
        # All climbers descend, each by its own random stream; those that stand on a local optimum take next to no time.
        fresh = self.kernels.fields(self._climbed(self.local_search.place(all_tours), standing.iteration, 0))
        population, archive = archive.begun(population, fresh, stuck)
        handle = self.kernels.value("population", population)
        lengths, steps = population["lengths"], population["steps"]
        return replace(standing, handle=handle, lengths=lengths, steps=steps, archive=archive)

    def _merged(self, standing: PopulationStanding, seconds_left: float) -> PopulationStanding:
        """Merge the climbers' tours and the shortest one set aside. If the result is shorter than all, set it aside for
        the climber with the shortest tour."""
        search, archive = self.local_search, standing.archive or Archive.empty(self.climbers, self.form.whole.n)
        pool, place = standing.handle, int(archive.lengths.argmin())
        if archive.lengths[place] != NONE:
            pool = search.join(pool, self._climbed(search.place(archive.tours[place][None, :]), 0, 0))
        seed = restart_seed(self.task.seed, self._turn(standing.iteration)[0])
        merged = self._climbed(search.place(search.merge(pool, seed, seconds_left)[None, :]), 0, 0)
        shortest = archive.shortest(standing.lengths)
        place = int(shortest.argmin())
        best = search.best(merged, search.lengths(merged), self.options.first + place, None)
        if best.length >= shortest[place]:
            return replace(standing, archive=archive)
        return replace(standing, archive=archive.with_tour(place, best.length, best.tour), best=best)

    def needs_descent(self, stop_reason: str) -> bool:
        return self.standing.has_descended and not self.standing.is_polished

    @property
    def descent_call_seconds(self) -> float:
        return SHORT_CALL_SECONDS if self.is_cut else 0.0

    def descend(self) -> None:
        """Let every climber's best tour descend over all cities, merged before where they are to be."""
        options, now = self.options, self.standing
        if now.before is not None:
            self._go_on_descending()
            return
        self.unpolished = now if self.watch.checkpoint is not None else None
        if options.merge:
            now = self._merged(now, self.watch.seconds_left - self.polish_seconds)
        handle = now.handle
        if now.archive is not None and (now.archive.lengths < now.lengths).any():
            handle = self.kernels.value("population", now.archive.returned(self.kernels.fields(handle)))
        if self.is_cut:
            before = int(self.local_search.lengths(handle).sum())
            self.standing = replace(now, handle=handle, archive=None, reached=0, before=before)
            self._go_on_descending()
            return
        handle = self.local_search.polish(handle, options.first)
        self.standing = replace(self._read(handle, now.iteration, final=True), archive=None)

    def _go_on_descending(self) -> None:
        """Let a stretch of every best tour descend; all cities have done so once no stretch has become shorter."""
        now, n = self.standing, self.form.whole.n
        stretch = self._stretch(max(self.watch.seconds_left, SHORT_CALL_SECONDS))
        began = time.perf_counter()
        handle = self.local_search.polish(now.handle, self.options.first, stretch)
        standing = self._read(handle, now.iteration, final=True)
        self.stretch_pace.observe(stretch[1], time.perf_counter() - began)
        reached, after = sum(stretch), int(standing.lengths.sum())
        if reached < n:
            standing = replace(standing, is_polished=False, reached=reached, before=now.before)
        elif after != now.before:
            standing = replace(standing, is_polished=False, reached=0, before=after)
        self.standing = standing

    def _count(self, seconds_left: float) -> int:
        """Choose the number of iterations of the next call."""
        iteration, options = self.standing.iteration, self.options
        bounds = [math.inf if self.iterations is None else self.iterations - iteration]
        bounds += [each - iteration % each for each in (options.exchange, options.restart) if each is not None]
        return int(min(self.pace.fitting(time.perf_counter() - self.began, seconds_left), *bounds, 2**62))

    def _read(self, handle: Any, iteration: int, *, final: bool = False) -> PopulationStanding:
        """Read the state of the climbers; at the iteration of an exchange, exchange tours first.

        The best tour is fetched in the end again: among equals it is that of the smallest climber, whatever the cuts.
        """
        search, now, exchange = self.local_search, self.standing, self.options.exchange
        lengths = search.lengths(handle)
        best = search.best(handle, lengths, self.options.first, now.best if now.has_descended and not final else None)
        is_exchange = exchange is not None and iteration % exchange == 0 and iteration > now.iteration
        is_end = iteration == self.iterations or self._is_turn(iteration)
        if is_exchange and self.climbers > 1 and not is_end:
            handle = self.kernels.call("population_copy", handle, *exchanged(lengths))
            lengths = search.lengths(handle)
        return PopulationStanding(
            handle,
            lengths,
            search.steps(handle),
            iteration=iteration,
            best=best,
            is_polished=final,
            archive=now.archive,
        )

    def found(self) -> Found:
        now = self.standing
        # Draws that find nothing make no local optimum.
        done = np.full(self.climbers, now.is_polished and self.options.pivot != "random-k")
        return Found(now.best, now.shortest, now.steps, done, mapping=self.local_search.mapping, cities=self.cities)


def default_kick(moves: str, *, is_doubled: bool) -> str:
    """Return where a kick cuts the tour by default."""
    # Chains end with shorter tours after kicks along the tour, moves one by one after walks; neither is better for
    # directed ways (docs/algorithms).
    return "segments" if moves == "lk" and not is_doubled else "mixed"


def lengths_of(instance: Instance, tours: NDArray[np.int32]) -> NDArray[np.int64]:
    """Return the whole-number lengths of tours, shape (climbers,); where all are one, it is measured once."""
    if tours.strides[0] == 0:
        return np.full(len(tours), instance.tour_length(tours[0]), dtype=np.int64)
    lengths = np.empty(len(tours), dtype=np.int64)
    for climber, tour in enumerate(tours):
        look(climber * instance.n)
        lengths[climber] = instance.tour_length(tour)
    return lengths


def exchanged(lengths: NDArray[np.int64]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return the places of the climbers whose tours are taken in an exchange, and of those who take them.

    A quarter of all, at least one, take over: the longest tour gives way to the shortest, the second longest to the
    second shortest, and so on. Among equals the smaller place is the better. There are two climbers or more.

    >>> exchanged(np.array([30, 10, 20, 40]))
    (array([1], dtype=int32), array([3], dtype=int32))
    """
    order = np.argsort(lengths, kind="stable").astype(np.int32)
    count = max(1, len(lengths) // 4)
    return order[:count].copy(), order[::-1][:count].copy()
