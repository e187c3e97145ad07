"""Stripes of one large tour: epochs in which each is searched as a path, cut elsewhere in each; passes over the whole.

The tour depends on the seed and the number of stripes alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytsp.distributed.places import Places
from pytsp.distributed.search import Part, PartedSearch
from pytsp.neighbours.hilbert import hilbert_order
from pytsp.problem.location import curve_points
from pytsp.run.state_reader import State
from pytsp.solvers.common.incumbent import Best
from pytsp.solvers.common.loop import Found
from pytsp.solvers.common.task import Task
from pytsp.solvers.large.pieces import (
    DEFAULT_ROUNDS,
    MOST_SETTLING_SECONDS,
    MOST_SETTLING_SHARE,
    PASS_CITIES,
    SETTLED_PASSES,
    SETTLING_SHARE,
)
from pytsp.solvers.large.requirements import LEAST_CITIES
from pytsp.solvers.large.solver import check_large
from pytsp.solvers.large.stripe import PassesAsk, StripeAsk, begin_passes, begin_stripe
from pytsp.solvers.options.large import LargeTour
from pytsp.starts.construct import start_tour

__all__ = ["Stripes"]

# The epochs of a solve that ends by rounds, and by time.
EPOCHS, TIMED_EPOCHS = 4, 2
# The seconds of a core for lists of all cities and passes over them, a city.
WHOLE_SECONDS = 4e-6
# The time after the search, in computations of a tour's length.
FINAL_LENGTHS = 8
# The seconds of stripes to tell their paths where a solve ends.
ENDING_SECONDS = 0.9


class Stripes(PartedSearch):
    """The epochs of one large tour; the parameters are those of `PartedSearch`."""

    kind = "stripes"

    def __init__(self, task: Task[LargeTour], places: Places, placed: Mapping[str, Any]) -> None:
        super().__init__(task, places, placed)
        options, n, limit = task.options, task.instance.n, self.watch.time_limit
        check_large(task.instance)
        self.stripes = options.stripes
        if n < self.stripes * LEAST_CITIES:
            raise ValueError(
                f"stripes must be at most {n // LEAST_CITIES} for {n} cities, {LEAST_CITIES} a stripe; it is "
                f"{self.stripes}"
            )
        self.is_timed = options.iterations is None and limit is not None
        self.rounds = DEFAULT_ROUNDS if options.iterations is None else options.iterations
        self.epochs = TIMED_EPOCHS if self.is_timed else min(EPOCHS, self.rounds)
        # Where the search is: the epoch, whether passes are made behind it, the rounds and kicks so far, and whether
        # the tour is a local optimum.
        self.epoch, self.is_passing, self.made, self.kicks, self.is_settled = 0, False, 0, 0, False
        # The paths of the epoch's stripes, and the rounds of each; with those that were cut short, and a tour that was.
        self.paths: dict[int, NDArray[np.int32]] = {}
        self.rounds_of: dict[int, int] = {}
        self.cut_paths: dict[int, NDArray[np.int32]] = {}
        self.cut_tour: NDArray[np.int32] | None = None
        # The place that has the lists of all cities.
        self.home: str | None = None
        if self.watch.state is not None:
            self._restore(self.watch.state)
            return
        tour = self._first_tour()
        began = self.watch.seconds
        self._stand(tour)
        # In the end the tour comes from a worker, and is checked, measured and told.
        self.watch.reserve = FINAL_LENGTHS * (self.watch.seconds - began)
        self._begin()

    def _first_tour(self) -> NDArray[np.int32]:
        """Return the initial tour: by default along the curve."""
        task, points = self.task, curve_points(self.task.instance)
        if task.initial_tour is not None:
            return task.initial_tour
        if task.options.start not in (None, "space-filling-curve"):
            return start_tour(task.instance, task.options.start, seed=task.seed)
        assert points is not None
        return hilbert_order(points)

    def _stand(self, tour: NDArray[np.int32]) -> None:
        """Take a tour, whose length is measured here: stripes of floating-point distances have units of their own."""
        self.tour, length = tour, self.task.instance.tour_length(tour)
        self._best, self._length = Best(0, 0, tour), length

    @property
    def has_begun(self) -> bool:
        return self.facts is not None

    @property
    def phase(self) -> str:  # type: ignore[override]
        return "between pieces" if self.is_passing else "pieces"

    @property
    def iteration(self) -> int:
        """The least rounds of the stripes that go on."""
        going = [0 if self.is_passing else part.iteration or 0 for part in self.going if part.told is not None]
        return max(self.made, min(going, default=self.made))

    @property
    def iterations(self) -> int | None:  # type: ignore[override]
        return None if self.is_timed else self.rounds

    @property
    def climbers(self) -> int:
        return 1

    @property
    def _are_over(self) -> bool:
        """Whether all epochs are over, and the passes behind them."""
        return self.epoch >= self.epochs and not self.is_passing

    @property
    def is_finished(self) -> bool:
        return self._are_over and not self.is_timed

    def stop_reason(self) -> str | None:
        return super().stop_reason() or ("time limit" if self._are_over else None)

    def _borders(self) -> NDArray[np.int64]:
        """Return the positions between the epoch's stripes: half a stripe further on in each epoch."""
        n = self.task.instance.n
        borders: NDArray[np.int64] = np.arange(self.stripes + 1, dtype=np.int64) * n // self.stripes
        borders += self.epoch * (n // self.stripes // 2) % n
        return borders

    def _places_of(self, number: int) -> NDArray[np.int64]:
        """Return the positions of a stripe; those behind the tour's end are at its beginning."""
        begin, end = self._borders()[number : number + 2]
        return np.arange(begin, end, dtype=np.int64) % self.task.instance.n

    def _begin(self) -> None:
        """Hand out the stripes of an epoch that are left, or the passes behind the last one."""
        if self.is_passing or self.epoch >= self.epochs:
            self.is_passing = True
            most = None if self.epoch + 1 >= self.epochs else SETTLED_PASSES + self.task.instance.n // PASS_CITIES
            name = f"passes behind epoch {self.epoch}"
            self.add(Part(f"passes {self.epoch}", name, begin_passes, PassesAsk(self.tour, most), home=self.home))
            return
        seconds = self._end_of_epochs() if self.is_timed else None
        share = (self.epoch + 1) / self.epochs
        for number in (number for number in range(self.stripes) if number not in self.paths):
            ask = StripeAsk(
                path=self.tour[self._places_of(number)],
                stream=1 + self.epoch * self.stripes + number,
                first=self.made,
                until=self.rounds * (self.epoch + 1) // self.epochs,
                rounds=self.rounds,
                until_seconds=None if seconds is None else seconds * share,
                all_seconds=seconds,
            )
            name = f"stripe {number} of {self.stripes} in epoch {self.epoch}"
            self.add(Part(f"stripe {self.epoch} {number}", name, begin_stripe, ask))

    def _end_of_epochs(self) -> float:
        """Return the seconds at which the epochs of a timed solve end for the passes behind them."""
        limit = self.watch.time_limit
        assert limit is not None
        needed = max(WHOLE_SECONDS * self.task.instance.n, min(SETTLING_SHARE * limit, MOST_SETTLING_SECONDS))
        return limit - self.watch.reserve - min(needed, MOST_SETTLING_SHARE * limit)

    def advance(self) -> None:
        if self.going:
            super().advance()
        if not self.going and not self._are_over and not self.cut:
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
        self._stand(tour)

    def take(self, part: Part) -> None:
        told = part.told
        if told is None or told.best is None or part.reason is None:
            return
        is_cut, tour = part.reason == "time limit" or part.ends, told.best.tour
        assert told.climbers is not None
        if self.is_passing:
            if is_cut:
                self.cut_tour = tour
                return
            self.is_settled, self.home = bool(told.climbers.done.all()), part.home
            self._stand(tour)
            return
        number = int(part.key.split(" ")[2])
        (self.cut_paths if is_cut else self.paths)[number] = tour
        if not is_cut:
            self.rounds_of[number] = told.iteration or 0
            self.kicks += int(told.climbers.steps.sum())

    def found(self) -> Found:
        """Have the parts tell how far they have come, as far as they do so in time."""
        self._hear(self.coordinator.end())
        self.keep_state()
        self.end_parts(ENDING_SECONDS)
        if self.cut_tour is not None:
            self._stand(self.cut_tour)
        elif self.paths or self.cut_paths:
            self._join(self.paths | self.cut_paths)
        return self.gathered()

    def gathered(self) -> Found:
        best, facts = self._best, self.facts
        assert best is not None and facts is not None
        lengths, steps = np.array([best.length]), np.array([self.kicks])
        return Found(best, lengths, steps, np.array([self.is_settled]), mapping=facts.mapping)

    def checked(self, found: Found) -> tuple[NDArray[np.int32], int | float, NDArray[Any]]:
        tour, length, _ = super().checked(found)
        return tour, length, np.array([length])

    def own_state(self) -> dict[str, Any]:
        names = ("epoch", "is_passing", "made", "kicks", "is_settled")
        paths = [{"number": each, "path": path, "rounds": self.rounds_of[each]} for each, path in self.paths.items()]
        return {"now": self.tour, **{name: getattr(self, name) for name in names}, "paths": paths}

    def _restore(self, state: State) -> None:
        """Stand where `state` says."""
        self._stand(state.tour("now", self.task.instance.n))
        self.epoch, self.made, self.kicks = state.whole("epoch"), state.whole("made"), state.whole("kicks")
        self.is_passing, self.is_settled = state.flag("is_passing"), state.flag("is_settled")
        for place in range(len(state.items("paths"))):
            said = state.item("paths", place)
            number = said.whole("number", 0, self.stripes - 1)
            cities = self.tour[self._places_of(number)]
            path = said.array("path", np.int32, cities.shape)
            if not np.array_equal(np.sort(path), np.sort(cities)):
                raise said.wrong("path", "the cities of its stripe", path)
            self.paths[number], self.rounds_of[number] = path, said.whole("rounds")
        if not self._are_over:
            self._begin()
