"""A stripe of one huge tour: a stretch of it, as a path whose pieces climb; and passes over all that lies between."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytsp.exceptions import KernelError
from pytsp.neighbours.hilbert import along_hilbert
from pytsp.problem.instance import Instance
from pytsp.problem.kernel_input import Form, form_of
from pytsp.problem.location import curve_points
from pytsp.solvers.common.loop import Found
from pytsp.solvers.common.task import Task
from pytsp.solvers.common.temperature import first_temperature
from pytsp.solvers.ils.starting_tours import restart_seed
from pytsp.solvers.large.pieces import COOLING, GOLDEN, PLASTIC, Pieces
from pytsp.solvers.large.solver import PIECE, check_large, lists_of, numbers_of
from pytsp.utils.deadline import look

__all__ = ["Passes", "PassesAsk", "Stripe", "StripeAsk", "begin_passes", "begin_stripe"]


@dataclass(frozen=True)
class StripeAsk:
    """The arguments of a stripe in an epoch.

    `path` has its cities, shape (m,), of which the first and the last one stay in place; `stream` is the number of its
    random numbers, from 1 on. It has the rounds `first`, …, `until` - 1 of the `rounds` of all epochs, or ends, as all
    of them do, at these seconds of the solve.
    """

    path: NDArray[np.int32]
    stream: int
    first: int
    until: int
    rounds: int
    until_seconds: float | None = None
    all_seconds: float | None = None


@dataclass(frozen=True)
class PassesAsk:
    """A tour of all cities, and the most passes; None for as many as it takes."""

    tour: NDArray[np.int32]
    most: int | None


@dataclass(frozen=True)
class _Ground:
    """Cities in order of a curve, with lists of neighbours: `cities` has their numbers in the instance."""

    cities: NDArray[np.int32]
    ordered: Instance
    lists: NDArray[np.int32]
    form: Form


def _ground(task: Task[Any], cities: NDArray[np.int32] | None) -> tuple[_Ground, NDArray[np.int32]]:
    """Return some cities of an instance, or all, in order of a curve, and the position of each there."""
    some = task.instance if cities is None else task.instance._in_order(cities)
    look(some.n)
    points = curve_points(some)
    assert points is not None
    along = along_hilbert(points)
    order, keys = along.order.astype(np.int32), along.keys
    ordered = some._in_order(order)
    lists = lists_of(ordered, keys, order, task)
    form = form_of(ordered, in_space_above=0)
    return _Ground(order if cities is None else cities[order], ordered, lists, form), numbers_of(order)


class Stripe(Pieces):
    """The pieces of a path, round by round: cut elsewhere in each, but none across the path's ends."""

    is_quiet = True

    def __init__(self, task: Task[Any], ground: _Ground, tour: NDArray[np.int32], ask: StripeAsk) -> None:
        self.ask = ask
        temperature = first_temperature(ground.form, ground.lists, task.options.temperature)
        piece = PIECE if task.options.piece is None else task.options.piece
        super().__init__(
            task, ground.form, ground.lists, tour, order=ground.cities, piece=piece, temperature=temperature
        )
        self.ordered = ground.ordered
        self.is_timed = ask.until_seconds is not None
        if self.watch.state is None:
            self.standing = self.shortest = replace(self.standing, rounds=ask.first)

    @property
    def iteration(self) -> int:
        return self.standing.rounds

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
        self.has_called = True
        seconds, end = self.watch.seconds, self.ask.all_seconds
        done = self.standing.rounds / self.ask.rounds if end is None else seconds / end
        left = float("inf") if self.ask.until_seconds is None else self.ask.until_seconds - seconds
        self.count = self._count_of(self.standing.rounds)
        self.climb((1 - min(1.0, done)) ** COOLING, max(0.0, left))

    def needs_descent(self, stop_reason: str) -> bool:
        return False

    @property
    def due_passes(self) -> int:
        return 0

    def _offset(self, rounds: int) -> int:
        """Return the position at which the first piece of a round begins; all of them end before the path does."""
        share = (self.seed % 2**32 * PLASTIC + rounds * GOLDEN) % 1
        return int(share * (min(self.piece, self.n - self.piece) + 1))

    def _count_of(self, rounds: int) -> int:
        return (self.n - self._offset(rounds)) // self.piece

    @property
    def kicked(self) -> int:
        """The kicks so far, with those of a round that goes on."""
        now = self.standing
        kicked = sum(self._count_of(each) for each in range(self.ask.first, now.rounds) if self._has_kicks(each))
        return (kicked + (now.pieces if self._has_kicks(now.rounds) else 0)) * self.kicks

    def _has_kicks(self, rounds: int) -> bool:
        """Return whether a round has kicks: the first one of a timed search is a descent alone."""
        return not (self.is_timed and rounds == 0)

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
    check_large(task.instance)
    ground, tour = _ground(task, ask.path)
    # To the search its cities are the instance.
    own = replace(task, instance=ground.ordered, seed=restart_seed(task.seed, ask.stream), memo={})
    return Stripe(own, ground, tour, ask)


class Passes(Pieces):
    """Moves over the whole tour, until it is a local optimum or the passes are made."""

    is_quiet = True
    phase = "between pieces"

    def __init__(self, task: Task[Any], ground: _Ground, tour: NDArray[np.int32], ask: PassesAsk) -> None:
        self.most = ask.most
        super().__init__(
            task, ground.form, ground.lists, tour, order=ground.cities, piece=ground.ordered.n, temperature=0.0
        )

    @property
    def is_finished(self) -> bool:
        now = self.standing
        return now.is_settled or (self.most is not None and now.passes >= self.most)

    def stop_reason(self) -> str | None:
        return "time limit" if self.watch.seconds_left <= self.pass_seconds else None

    def advance(self) -> None:
        """Make one kernel call of passes."""
        self.has_called = True
        most = 2**62 if self.most is None else self.most - self.standing.passes
        self.settle(most, self.watch.seconds_left)

    def needs_descent(self, stop_reason: str) -> bool:
        return False


def begin_passes(task: Task[Any], ask: PassesAsk) -> Passes:
    """Begin passes over a tour; the lists of all cities are made once."""
    task.prepare_kernels()
    check_large(task.instance)
    ground, numbers = task.recall("ground", lambda: _ground(task, None))
    return Passes(task, ground, numbers[ask.tour], ask)
