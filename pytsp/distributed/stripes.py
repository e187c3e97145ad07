"""Stripes of one huge tour: epochs in which each is searched as a path, cut elsewhere in each; passes over the whole.

All of it is a function of the seed and the number of stripes; it does not matter which worker has which.
"""

from __future__ import annotations

import pickle
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytsp.distributed.parts import Part
from pytsp.distributed.places import Places
from pytsp.distributed.plan import restored_plan
from pytsp.distributed.search import PartedSearch, tree_of
from pytsp.neighbours.hilbert import hilbert_order
from pytsp.problem.location import curve_points, partners_of
from pytsp.run.state_reader import State
from pytsp.solvers.common.incumbent import Best
from pytsp.solvers.common.loop import Found
from pytsp.solvers.common.pacing import CALL_SECONDS
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
from pytsp.solvers.large.stripe import PassesAsk, StripeAsk, begin_passes, begin_stripe
from pytsp.solvers.options.large import LargeTour
from pytsp.starts.construct import start_tour

__all__ = ["Stripes"]

# How many epochs there are: by rounds, and by time.
EPOCHS, TIMED_EPOCHS = 4, 2
# What lists of all cities and passes over them take a core in the end, a city.
WHOLE_SECONDS = 4e-6
# What follows the search takes as long as the length of a tour, so many times.
FINAL_LENGTHS = 8
# How long stripes have to tell their paths where a solve ends, in seconds.
ENDING_SECONDS = 0.9


class Stripes(PartedSearch):
    """The epochs of one huge tour.

    Parameters
    ----------
    As `PartedSearch` has them.
    """

    def __init__(self, task: Task[LargeTour], places: Places, placed: Mapping[str, Any]) -> None:
        super().__init__(task, places, placed, task.options)
        options, n, state = task.options, task.instance.n, task.watch.state
        if n < options.stripes * LEAST_CITIES:
            raise ValueError(
                f"stripes must be at most {n // LEAST_CITIES} for {n} cities, {LEAST_CITIES} a stripe; it is "
                f"{options.stripes}"
            )
        self.plan = restored_plan(state.part("plan")) if state is not None else self.ask_for_plan()
        limit = self.watch.time_limit
        self.is_timed = options.iterations is None and limit is not None
        self.rounds = DEFAULT_ROUNDS if options.iterations is None else options.iterations
        self.epochs = TIMED_EPOCHS if self.is_timed else min(EPOCHS, self.rounds)
        # Where the tour stands: the epoch, whether its stripes are done and passes are being made, and how many rounds
        # there were; kicks of all stripes, and whether the tour is a local optimum.
        self.epoch, self.is_passing, self.made = 0, False, 0
        self.kicks, self.is_settled = 0, False
        self.paths: dict[int, NDArray[np.int32]] = {}
        self.rounds_of: dict[int, int] = {}
        self.home: str | None = None
        # The paths of stripes that were cut short, and the tour of passes that were.
        self.cut_paths: dict[int, NDArray[np.int32]] = {}
        self.cut_tour: NDArray[np.int32] | None = None
        if state is None:
            self.tour = self._first_tour()
            began = self.watch.seconds
            self.offer_tour()
            # In the end the tour comes from a worker, and is checked, measured and told.
            self.watch.reserve = FINAL_LENGTHS * (self.watch.seconds - began)
            self._begin_epoch()
        else:
            self._restore(state)

    def _first_tour(self) -> NDArray[np.int32]:
        """Return the tour that becomes shorter: by default along the curve, or greedy where pairs stay together."""
        task = self.task
        if task.initial_tour is not None:
            return task.initial_tour
        has_pairs = partners_of(task.instance) is not None
        if has_pairs or task.options.start not in (None, "space-filling-curve"):
            return start_tour(task.instance, task.options.start or "greedy", seed=task.seed)
        points = curve_points(task.instance)
        assert points is not None
        return hilbert_order(points)

    def offer_tour(self) -> None:
        """Take the tour as it stands, whose length is measured here."""
        length = self.task.instance.tour_length(self.tour)
        # In place of the kernels' length: stripes of floating-point distances have units of their own.
        self._best, self._length = Best(0, 0, self.tour), length

    @property
    def has_begun(self) -> bool:
        return self.facts is not None

    @property
    def phase(self) -> str:  # type: ignore[override]
        return "between pieces" if self.is_passing else "pieces"

    @property
    def iteration(self) -> int:
        """The least rounds of the stripes that go on."""
        going = [part.told.iteration or 0 for part in self.parts.all if part.told is not None]
        return self.made if self.is_passing else max(self.made, min(going, default=self.made))

    @property
    def iterations(self) -> int | None:  # type: ignore[override]
        return None if self.is_timed else self.rounds

    @property
    def climbers(self) -> int:
        return 1

    @property
    def is_finished(self) -> bool:
        return self._are_over and not self.is_timed

    @property
    def _are_over(self) -> bool:
        """Whether all epochs, and the passes behind them, are."""
        return self.epoch >= self.epochs and not self.is_passing

    def stop_reason(self) -> str | None:
        return super().stop_reason() or ("time limit" if self._are_over else None)

    def _end_of_epochs(self) -> float:
        """Return the seconds at which the epochs of a timed solve end for the passes behind them."""
        limit = self.watch.time_limit
        assert limit is not None
        needed = max(WHOLE_SECONDS * self.task.instance.n, min(SETTLING_SHARE * limit, MOST_SETTLING_SECONDS))
        return limit - self.watch.reserve - min(needed, MOST_SETTLING_SHARE * limit)

    def _borders(self, epoch: int) -> NDArray[np.int64]:
        """Return the positions at which stripes begin, and the one at which the last ends: half a stripe further on in
        each epoch."""
        n, stripes = self.task.instance.n, self.task.options.stripes
        borders: NDArray[np.int64] = np.arange(stripes + 1, dtype=np.int64) * n // stripes
        borders += epoch * (n // stripes // 2) % n
        return borders

    def _begin_epoch(self) -> None:
        """Hand out the stripes of an epoch, or what is left to do behind the last one."""
        if self.epoch >= self.epochs:
            self._begin_passes()
            return
        self.paths, self.rounds_of = {}, {}
        for number in range(self.task.options.stripes):
            self._begin_stripe(number)

    def _begin_stripe(self, number: int, state: bytes | None = None) -> None:
        begin, end = self._borders(self.epoch)[number : number + 2]
        stripes = self.task.options.stripes
        until_seconds = all_seconds = None
        if self.is_timed:
            all_seconds = self._end_of_epochs()
            until_seconds = all_seconds * (self.epoch + 1) / self.epochs
        ask = StripeAsk(
            path=self.tour.take(np.arange(begin, end), mode="wrap"),
            stream=1 + self.epoch * stripes + number,
            first=self.made,
            until=self.rounds * (self.epoch + 1) // max(1, self.epochs),
            rounds=self.rounds,
            until_seconds=until_seconds,
            all_seconds=all_seconds,
        )
        name = f"stripe {number} of {stripes} in epoch {self.epoch}"
        part = Part(f"stripe {self.epoch} {number}", name, begin_stripe, ask, state=state)
        part.options, part.is_quiet = self.plan.options, True
        self.parts.add(part)

    def _begin_passes(self, state: bytes | None = None) -> None:
        """Hand out the passes over the whole tour: behind an epoch so many, behind the last one as many as it takes."""
        self.is_passing = True
        n = self.task.instance.n
        most = None if self.epoch + 1 >= self.epochs else SETTLED_PASSES + n // PASS_CITIES
        ask, name = PassesAsk(self.tour, most), f"passes behind epoch {self.epoch}"
        part = Part(f"passes {self.epoch}", name, begin_passes, ask, state=state)
        part.options, part.is_quiet = self.plan.options, True
        # Who has made them before has the lists.
        part.home = self.home
        self.parts.add(part)

    def advance(self) -> None:
        if self.parts.all:
            super().advance()
        if not self.parts.all and not self._are_over and not self.is_cut_short:
            self._go_on()

    def _go_on(self) -> None:
        """Go on behind an epoch's stripes, or behind its passes."""
        if self.is_passing:
            self.is_passing = False
            self.epoch += 1
            if self.epoch < self.epochs:
                self._begin_epoch()
            return
        self._join()
        if self.is_timed and self.epoch + 1 < self.epochs:
            # There is no time for passes but in the end.
            self.epoch += 1
            self._begin_epoch()
        else:
            self._begin_passes()

    def _join(self) -> None:
        """Put the stripes' paths into the tour, at the end of an epoch."""
        self.tour = self._with(self.paths)
        self.made = max([self.made, *self.rounds_of.values()])
        self.paths, self.rounds_of = {}, {}
        self.offer_tour()

    def _with(self, paths: Mapping[int, NDArray[np.int32]]) -> NDArray[np.int32]:
        """Return the tour with these paths of stripes in it."""
        borders = self._borders(self.epoch)
        tour: NDArray[np.int32] = self.tour.copy()
        for number, path in paths.items():
            tour.put(np.arange(borders[number], borders[number + 1]), path, mode="wrap")
        return tour

    def take(self, part: Part) -> None:
        told = part.told
        self.is_cut_short = self.is_cut_short or part.reason == "time limit"
        if told is None:
            return
        self.facts = told.facts
        if part.reason is None or part.tour is None:
            return
        kind, *numbers = part.key.split(" ")
        is_cut = part.reason == "time limit" or part.ends
        if kind == "stripe":
            number = int(numbers[1])
            if is_cut:
                self.cut_paths[number] = part.tour
                return
            self.paths[number], self.rounds_of[number] = part.tour, told.iteration or 0
            self.kicks += int(told.steps.sum())
        elif is_cut:
            self.cut_tour = part.tour
        else:
            self.tour, self.is_settled, self.home = part.tour, bool(told.done.all()), part.home
            self.offer_tour()

    def found(self) -> Found:
        """Have what goes on tell how far it has come, as far as it does so in time."""
        self.absorb(self.parts.end())
        self.keep_state()
        self.parts.waiting = [part for part in self.parts.waiting if part.told is not None]
        end = self.watch.seconds + ENDING_SECONDS
        for part in self.parts.waiting:
            part.ends = True
        while self.parts.all and self.watch.seconds < end:
            self.absorb(self.parts.go_on(CALL_SECONDS))
        if not self.is_passing and (self.paths or self.cut_paths):
            self.made = max([self.made, *self.rounds_of.values()])
            self.tour = self._with(self.paths | self.cut_paths)
            self.offer_tour()
        elif self.cut_tour is not None:
            self.tour = self.cut_tour
            self.offer_tour()
        return self.gathered()

    def gathered(self) -> Found:
        best, facts = self._best, self.facts
        assert best is not None and facts is not None
        lengths, steps = np.array([best.length]), np.array([self.kicks])
        return Found(best, lengths, steps, np.array([self.is_settled]), mapping=facts.mapping)

    def checked(self, found: Found) -> tuple[NDArray[np.int32], int | float, NDArray[Any]]:
        tour, length, _ = super().checked(found)
        return tour, length, np.array([length])

    def state_now(self) -> dict[str, Any]:
        going = [
            {"key": part.key, "state": tree_of(part.state)} for part in self.parts.unfinished if part.state is not None
        ]
        return {
            "parts": "stripes",
            "plan": self.plan.state(),
            "now": self.tour,
            "epoch": self.epoch,
            "is_passing": self.is_passing,
            "made": self.made,
            "kicks": self.kicks,
            "is_settled": self.is_settled,
            "going": going,
            "paths": [
                {"number": number, "path": path, "rounds": self.rounds_of[number]}
                for number, path in self.paths.items()
            ],
            **self.told(),
        }

    def _restore(self, state: State) -> None:
        """Stand where `state` says."""
        n, stripes = self.task.instance.n, self.task.options.stripes
        self.recall_told(state)
        self.tour = state.tour("now", n)
        self.offer_tour()
        self.epoch, self.made = state.whole("epoch"), state.whole("made")
        self.kicks, self.is_settled = state.whole("kicks"), state.flag("is_settled")
        going = {}
        for number in range(len(state.items("going"))):
            said = state.item("going", number)
            going[said.text("key")] = pickle.dumps(said.tree("state"), protocol=5)
        if state.flag("is_passing"):
            self._begin_passes(going.get(f"passes {self.epoch}"))
            return
        if self.epoch >= self.epochs:
            return
        borders = self._borders(self.epoch)
        for place in range(len(state.items("paths"))):
            said = state.item("paths", place)
            number = said.whole("number", 0, stripes - 1)
            path = said.array("path", np.int32, (int(borders[number + 1] - borders[number]),))
            cities = self.tour.take(np.arange(borders[number], borders[number + 1]), mode="wrap")
            if not np.array_equal(np.sort(path), np.sort(cities)):
                raise said.wrong("path", "the cities of its stripe", path)
            self.paths[number], self.rounds_of[number] = path, said.whole("rounds")
        for number in range(stripes):
            if number not in self.paths:
                self._begin_stripe(number, going.get(f"stripe {self.epoch} {number}"))
