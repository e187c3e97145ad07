"""Stripes of one large tour: epochs in which each is searched as a path, cut elsewhere in each; passes over the whole.

The tour depends on the seed and the number of stripes alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytsp.distributed.coordinator import ENDING_SECONDS
from pytsp.distributed.places import Places
from pytsp.distributed.search import Part, PartedSearch
from pytsp.distributed.slices import Report
from pytsp.exceptions import KernelError
from pytsp.neighbours.hilbert import along_hilbert
from pytsp.problem.instance import Instance
from pytsp.problem.kernel_input import Form, form_of
from pytsp.problem.location import curve_points, partners_of
from pytsp.problem.tours import numbers_of
from pytsp.run.state_reader import State
from pytsp.solvers import policy
from pytsp.solvers.common.incumbent import Best
from pytsp.solvers.common.loop import Found
from pytsp.solvers.common.starting_tours import restart_seed
from pytsp.solvers.common.task import Task
from pytsp.solvers.common.temperature import first_temperature
from pytsp.solvers.large import pieces
from pytsp.solvers.large.pieces import Pieces
from pytsp.solvers.large.solver import PIECE, check_large, lists_of
from pytsp.solvers.options.large import LargeTour
from pytsp.starts.construct import Start, start_tour
from pytsp.utils.deadline import look

# The epochs of a solve that ends by rounds, and by time.
EPOCHS, TIMED_EPOCHS = 4, 2
# The seconds of a core for lists of all cities and passes over them, a city.
WHOLE_SECONDS = 4e-6
# The time after the search, in computations of a tour's length.
FINAL_LENGTHS = 8
# The number of the whole tour, beside those of its stripes.
ALL = -1


@dataclass(frozen=True)
class StripeAsk:
    """The arguments of a stripe in an epoch.

    `path` has its cities, shape (m,), of which the first and the last one stay in place; `stream` is the number of its
    random numbers, from 1 on. It has the rounds `first`, …, `until` - 1, or ends, as all epochs do, at these seconds of
    the solve.
    """

    path: NDArray[np.int32]
    stream: int
    first: int
    until: int
    until_seconds: float | None = None
    all_seconds: float | None = None


# Cities in order of a curve, by their numbers in the instance; an instance of these, their lists, and its form.
_Ground = tuple[NDArray[np.int32], Instance, NDArray[np.int32], Form]


def _ground(task: Task[Any], cities: NDArray[np.int32] | None) -> tuple[_Ground, NDArray[np.int32]]:
    """Return some cities of an instance, or all, in order of a curve, and the position of each there."""
    some = task.instance if cities is None else task.instance._in_order(cities)
    look(some.n)
    points = curve_points(some)
    assert points is not None
    along = along_hilbert(points)
    order = along.order.astype(np.int32)
    ordered = some._in_order(order)
    lists, _ = lists_of(ordered, along.keys, order, task)
    form = form_of(ordered, in_space_above=0)
    return (order if cities is None else cities[order], ordered, lists, form), numbers_of(order)


class _Quiet(Pieces):
    """Pieces of some cities, whose tour is known when they have ended."""

    is_quiet = True

    def __init__(
        self, task: Task[Any], ground: _Ground, tour: NDArray[np.int32], piece: int, heat: float | None
    ) -> None:
        order, _, lists, form = ground
        heat = first_temperature(form, lists, heat)
        super().__init__(task, form, lists, tour, order=order, piece=piece, temperature=heat)

    def needs_descent(self, stop_reason: str) -> bool:
        return False


class Stripe(_Quiet):
    """The pieces of a path, round by round: cut elsewhere in each, but none across the path's ends."""

    due_passes = 0

    def __init__(self, task: Task[Any], ground: _Ground, tour: NDArray[np.int32], ask: StripeAsk) -> None:
        self.ask, options = ask, task.options
        super().__init__(task, ground, tour, PIECE if options.piece is None else options.piece, options.temperature)
        if self.watch.state is None:
            self.standing = self.shortest = replace(self.standing, rounds=ask.first)

    @property
    def is_finished(self) -> bool:
        now, until = self.standing, self.ask.until_seconds
        if until is None:
            return now.rounds >= self.ask.until
        return self.watch.seconds >= until and (now.rounds > 0 or self.watch.seconds >= (self.ask.all_seconds or until))

    def stop_reason(self) -> str | None:
        return None if self.watch.seconds_left > 0 else "time limit"

    def advance(self) -> None:
        """Make one kernel call: pieces of a round climb."""
        self.has_begun = True
        seconds, end = self.watch.seconds, self.ask.all_seconds
        done = self.standing.rounds / self.rounds if end is None else seconds / end
        left = float("inf") if self.ask.until_seconds is None else self.ask.until_seconds - seconds
        self.count = self._count_of(self.standing.rounds)
        self.climb((1 - min(1.0, done)) ** pieces.COOLING, max(0.0, left))

    def _offset(self, rounds: int) -> int:
        """Return the position at which the first piece of a round begins; all of them end before the path does."""
        share = (self.seed % 2**32 * pieces.PLASTIC + rounds * pieces.GOLDEN) % 1
        return int(share * (min(self.piece, self.n - self.piece) + 1))

    def _count_of(self, rounds: int) -> int:
        return (self.n - self._offset(rounds)) // self.piece

    @property
    def kicked(self) -> int:
        """The kicks so far, with those of a round that goes on."""
        now, first = self.standing, self.ask.first
        counts = [*map(self._count_of, range(first, now.rounds)), now.pieces]
        # The first rounds of a timed search are descents alone.
        return self.kicks * sum(counts[self.is_timed * max(0, policy.DESCENTS - first) :])

    def peek(self) -> Found:
        return replace(super().peek(), steps=np.array([self.kicked]))

    def checked(self, found: Found) -> tuple[NDArray[np.int32], int | float, NDArray[Any]]:
        """Return the path, and its length as a closed tour; raise `KernelError` if it has other ends."""
        tour, length, lengths = super().checked(replace(found, cities=None))
        cities = self.order[tour]
        first, last = self.ask.path[0], self.ask.path[-1]
        path = np.roll(cities, -int(np.argmax(cities == first)))
        if path[-1] != last:
            path = np.roll(path[::-1], 1)
        if path[-1] != last:
            raise KernelError(f"a stripe from city {first} to {last} has lost its ends; please report this")
        return path.astype(np.int32), length, lengths


def begin_stripe(task: Task[Any], ask: StripeAsk) -> Stripe:
    """Begin the search of a stripe, by random numbers of its own."""
    task.prepare_kernels()
    ground, tour = _ground(task, ask.path)
    # To the search its cities are the instance.
    own = replace(task, instance=ground[1], seed=restart_seed(task.seed, ask.stream), memo={})
    return Stripe(own, ground, tour, ask)


class Passes(_Quiet):
    """Moves over the whole tour, until it is a local optimum or `most` passes are made."""

    phase = "between pieces"

    def __init__(self, task: Task[Any], ground: _Ground, tour: NDArray[np.int32], most: int) -> None:
        self.most = most
        super().__init__(task, ground, tour, len(tour), 0.0)

    @property
    def is_finished(self) -> bool:
        return self.standing.is_descended or self.standing.passes >= self.most

    def stop_reason(self) -> str | None:
        return "time limit" if self.watch.seconds_left <= self.pass_seconds else None

    def advance(self) -> None:
        """Make one kernel call of passes."""
        self.has_begun = True
        self.descend_more(self.most - self.standing.passes, self.watch.seconds_left)


def begin_passes(task: Task[Any], ask: tuple[NDArray[np.int32], int]) -> Passes:
    """Begin passes over a tour, with the most of them; the lists of all cities are made once."""
    tour, most = ask
    task.prepare_kernels()
    ground, numbers = task.recall("ground", lambda: _ground(task, None))
    return Passes(task, ground, numbers[tour], most)


class Stripes(PartedSearch):
    """The epochs of one large tour; the parameters are those of `PartedSearch`."""

    kind = "stripes"
    climbers = 1

    def __init__(self, task: Task[LargeTour], places: Places, placement: Mapping[str, Any]) -> None:
        super().__init__(task, places, placement)
        options, n, limit = task.options, task.instance.n, self.watch.time_limit
        check_large(task.instance)
        self.stripes = options.stripes
        least = policy.LEAST_PIECE
        if n < self.stripes * least:
            raise ValueError(
                f"stripes must be at most {n // least} for {n} cities, {least} a stripe; it is {self.stripes}"
            )
        self.is_timed = options.iterations is None and limit is not None
        self.rounds = pieces.DEFAULT_ROUNDS if options.iterations is None else options.iterations
        self.epochs = TIMED_EPOCHS if self.is_timed else min(EPOCHS, self.rounds)
        # Where the search is: the epoch, whether passes are made behind it, the rounds and kicks so far, and whether
        # the tour is a local optimum.
        self.epoch, self.is_passing, self.made, self.kicks, self.is_descended = 0, False, 0, 0, False
        # The paths of the epoch's stripes, and the rounds of each; those that were cut short, the whole tour as ALL.
        self.paths: dict[int, NDArray[np.int32]] = {}
        self.rounds_of: dict[int, int] = {}
        self.cut_paths: dict[int, NDArray[np.int32]] = {}
        # The place that has the lists of all cities.
        self.home = ""
        if self.watch.state is not None:
            self._restore(self.watch.state)
            return
        tour = self._first_tour()
        began = self.watch.seconds
        self._commit(tour)
        # In the end the tour comes from a worker, and is checked, measured and told.
        self.watch.reserve = FINAL_LENGTHS * (self.watch.seconds - began)
        self._begin()

    def _first_tour(self) -> NDArray[np.int32]:
        """Return the initial tour: by default along the curve, or greedy where pairs stay together."""
        task = self.task
        if task.initial_tour is not None:
            return task.initial_tour
        usual: Start = "space-filling-curve" if partners_of(task.instance) is None else "greedy"
        return start_tour(task.instance, task.options.start or usual, seed=task.seed)

    def _commit(self, tour: NDArray[np.int32]) -> None:
        """Take a tour, whose length is measured here: stripes of floating-point distances have units of their own."""
        self.tour, length = tour, self.task.instance.tour_length(tour)
        self.best, self.length = Best(0, 0, tour), length

    @property
    def has_begun(self) -> bool:
        return bool(self.last.backend)

    @property
    def phase(self) -> str:  # type: ignore[override]
        return "between pieces" if self.is_passing else "pieces"

    @property
    def iteration(self) -> int:
        """The least rounds of the stripes that go on."""
        going = [0 if self.is_passing else part.iteration or 0 for part in self.going if part.reported is not None]
        return max(self.made, min(going, default=self.made))

    @property
    def iterations(self) -> int | None:  # type: ignore[override]
        return None if self.is_timed else self.rounds

    @property
    def _are_over(self) -> bool:
        """True if all epochs are over, and the passes after them."""
        return self.epoch >= self.epochs and not self.is_passing

    @property
    def is_finished(self) -> bool:
        return self._are_over and not self.is_timed

    def stop_reason(self) -> str | None:
        return super().stop_reason() or ("time limit" if self._are_over else None)

    def _places_of(self, number: int) -> NDArray[np.int64]:
        """Return the positions of a stripe, or of ALL: half a stripe further on in each epoch, round the tour."""
        n = self.task.instance.n
        if number == ALL:
            return np.arange(n)
        shift = self.epoch * (n // self.stripes // 2)
        return np.arange(number * n // self.stripes + shift, (number + 1) * n // self.stripes + shift) % n

    def _begin(self) -> None:
        """Hand out the stripes of an epoch that are left, or the passes behind the last one."""
        if self.is_passing or self.epoch >= self.epochs:
            self.is_passing, is_last = True, self.epoch + 1 >= self.epochs
            most = 2**62 if is_last else policy.DESCENT_PASSES + self.task.instance.n // pieces.PASS_CITIES
            name = f"passes behind epoch {self.epoch}"
            self.add(Part(f"passes {self.epoch}", name, begin_passes, (self.tour, most), home=self.home))
            return
        seconds = self._end_of_epochs() if self.is_timed else None
        share = (self.epoch + 1) / self.epochs
        for number in (number for number in range(self.stripes) if number not in self.paths):
            ask = StripeAsk(
                path=self.tour[self._places_of(number)],
                stream=1 + self.epoch * self.stripes + number,
                first=self.made,
                until=self.rounds * (self.epoch + 1) // self.epochs,
                until_seconds=None if seconds is None else seconds * share,
                all_seconds=seconds,
            )
            name = f"stripe {number} of {self.stripes} in epoch {self.epoch}"
            self.add(Part(f"stripe {self.epoch} {number}", name, begin_stripe, ask))

    def _end_of_epochs(self) -> float:
        """Return the seconds at which the epochs of a timed solve end for the passes behind them."""
        limit = self.watch.time_limit
        assert limit is not None
        settling = policy.settling_seconds(limit, WHOLE_SECONDS * self.task.instance.n)
        return limit - self.watch.reserve - settling

    def advance(self) -> None:
        if self.going:
            super().advance()
        if not self.going and not self._are_over and not self.are_cut:
            self._go_on()

    def _go_on(self) -> None:
        """Go on behind an epoch's stripes, or behind its passes; a timed solve has passes in the end only."""
        if not self.is_passing:
            self._join(self.paths)
        goes_on = self.is_passing or (self.is_timed and self.epoch + 1 < self.epochs)
        self.epoch += goes_on
        self.is_passing = not goes_on
        if not self._are_over:
            self._begin()

    def _join(self, paths: Mapping[int, NDArray[np.int32]]) -> None:
        """Put paths of stripes into the tour."""
        tour = self.tour.copy()
        for number, path in paths.items():
            tour[self._places_of(number)] = path
        self.made = max([self.made, *self.rounds_of.values()])
        self.paths, self.rounds_of = {}, {}
        self._commit(tour)

    def take(self, part: Part, reported: Report) -> None:
        if reported.best is None or reported.climbers is None or part.reason is None:
            return
        is_cut, tour = part.reason == "time limit" or part.ends, reported.best.tour
        number = ALL if self.is_passing else int(part.key.split(" ")[2])
        if is_cut:
            self.cut_paths[number] = tour
        elif self.is_passing:
            self.is_descended, self.home = bool(reported.climbers.done.all()), part.home
            self._commit(tour)
        else:
            self.paths[number], self.rounds_of[number] = tour, reported.iteration or 0
            self.kicks += int(reported.climbers.steps.sum())

    def found(self) -> Found:
        """Have the parts tell how far they have come, as far as they do so in time."""
        self._hear(self.coordinator.end())
        self.keep_state()
        self.end_parts(ENDING_SECONDS)
        if self.paths or self.cut_paths:
            self._join(self.paths | self.cut_paths)
        return self.gathered()

    def gathered(self) -> Found:
        best = self.best
        assert best is not None
        lengths, steps = np.array([best.length]), np.array([self.kicks])
        return Found(best, lengths, steps, np.array([self.is_descended]), mapping=self.last.mapping)

    def checked(self, found: Found) -> tuple[NDArray[np.int32], int | float, NDArray[Any]]:
        tour, length, _ = super().checked(found)
        return tour, length, np.array([length])

    def own_state(self) -> dict[str, Any]:
        names = ("epoch", "is_passing", "made", "kicks", "is_descended")
        paths = [{"number": each, "path": path, "rounds": self.rounds_of[each]} for each, path in self.paths.items()]
        return {"now": self.tour, **{name: getattr(self, name) for name in names}, "paths": paths}

    def _restore(self, state: State) -> None:
        """Stand where `state` says."""
        self._commit(state.tour("now", self.task.instance.n))
        self.epoch, self.made, self.kicks = state.whole("epoch"), state.whole("made"), state.whole("kicks")
        self.is_passing, self.is_descended = state.flag("is_passing"), state.flag("is_descended")
        for said in state.parts("paths"):
            number = said.whole("number", 0, self.stripes - 1)
            cities = self.tour[self._places_of(number)]
            path = said.array("path", np.int32, cities.shape)
            if not np.array_equal(np.sort(path), np.sort(cities)):
                raise said.wrong("path", "the cities of its stripe", path)
            self.paths[number], self.rounds_of[number] = path, said.whole("rounds")
        if not self._are_over:
            self._begin()
