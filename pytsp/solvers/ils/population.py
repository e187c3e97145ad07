"""The climbers of one iterated local search: kernel calls sized by their speed, and the best tour so far."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytsp.backends.context import Backend
from pytsp.problem.instance import Instance
from pytsp.problem.kernel_input import Form
from pytsp.run.state_reader import State
from pytsp.solvers.common.crossover import Crossing
from pytsp.solvers.common.placement import climbing_entry, descent_seconds
from pytsp.solvers.ils.restarting import NONE, Aside, seed_anew
from pytsp.utils.deadline import look

# How long one kernel call should take: at first less, so that early improvements are seen as they come.
CALL_SECONDS = 0.15
SHORT_CALL_SECONDS = 0.02
# The iterations a second that the first call counts on, of a climber that has a core, or a GPU's thread, to itself.
FIRST_SPEED = {"cpu": 50_000.0, "gpu": 500.0}
# To begin anew takes so many times as long as a descent from a good start: the tour, and more to descend.
ANEW_DESCENTS = 4.0
# The last descent, of local optima, takes at most this share of what the first one took.
POLISH_SHARE = 0.35
# So many draws a step take about as long as the other pivots do.
EQUAL_DRAWS = 64
# By how much at most a call has more iterations than the one before.
MOST_GROWTH = 8.0
# So many climbers in a hundred, at least one of two, are overwritten in an exchange.
EXCHANGED_PER_CENT = 25


@dataclass(frozen=True)
class Plan:
    """What decides where the climbers end, besides the instance and the tours from which they start.

    Attributes
    ----------
    seed, first : int
        Climber `first` + c follows a random stream of its own.
    iterations : int or None
        How many each climber makes; None for no end.
    neighbours : numpy.ndarray of int32, shape (n, k)
    moves, pivot, kick : int
        What kinds, by the kernels' numbers.
    draws : int
        How many moves a step draws; 1 where the pivot draws none.
    temperature : float
        The first one, in units of the kernel's lengths.
    exchange : int or None
        How many iterations lie between two exchanges of tours.
    restart : int or None
        How many iterations lie between two times at which climbers begin anew: all, where they have come from a
        temperature down to none in between, else those that have found nothing shorter.
    merges : bool
        Whether the climbers' tours are merged, each time before they begin anew and in the end.
    """

    seed: int
    first: int
    iterations: int | None
    neighbours: NDArray[np.int32]
    moves: int
    pivot: int
    draws: int
    kick: int
    temperature: float
    exchange: int | None
    restart: int | None
    merges: bool = False

    @property
    def cooled(self) -> int:
        """After how many iterations the temperature is 0, from the beginning or from when climbers begin anew; 0 where
        only the time says so."""
        return min(filter(None, (self.iterations, self.restart)), default=0)

    def turn(self, iteration: int) -> tuple[int, int]:
        """Return how often climbers have begun anew before an iteration, and how many they have made since."""
        return (0, iteration) if self.restart is None else divmod(iteration, self.restart)


@dataclass(frozen=True)
class Standing:
    """Where the climbers stand after so many iterations: the device's handle, their lengths and accepted improvements,
    the best tour of all.

    `has_descended` tells whether they have left the tours from which they start, `is_polished` whether their best tours
    have come from a descent over all cities: by "random-k" no local optima, else those of the whole neighbourhood.
    `aside` is what climbers have left behind where they began anew, if anybody has looked for such.
    """

    has_descended: bool
    is_polished: bool
    iteration: int
    handle: Any
    lengths: NDArray[np.int64]
    steps: NDArray[np.int64]
    length: int
    climber: int
    tour: NDArray[np.int32]
    aside: Aside | None = None

    @property
    def shortest(self) -> NDArray[np.int64]:
        """The length of the shortest tour that each climber has had."""
        return self.lengths if self.aside is None else self.aside.shortest(self.lengths)


class Population:
    """The climbers of one iterated local search.

    Every kernel call ends in one assignment to `standing`, so that an interruption at any point leaves it whole.

    Parameters
    ----------
    form : Form
    kernels : Backend
    plan : Plan
    starts : numpy.ndarray of int32, shape (climbers, n), or None
        The tours from which the climbers start.
    state : State, optional
        Where they stand instead.
    anew : callable, optional
        What gives the tour from which a climber begins anew, by its number, for which time; with `plan.restart`.
    """

    def __init__(
        self,
        form: Form,
        kernels: Backend,
        plan: Plan,
        starts: NDArray[np.int32] | None,
        state: State | None = None,
        anew: Callable[[int, int], NDArray[np.int32]] | None = None,
    ) -> None:
        self.form = form
        self.kernels = kernels
        self.plan = plan
        self.anew = anew
        self.loaded = kernels.call(f"{form.kind}_load", *form.arguments)
        self.crossing = Crossing(form, kernels, self.loaded, plan.neighbours)
        if state is None:
            assert starts is not None
            self.standing = self._started(starts)
        else:
            self.standing = self._restored(state)
        self.climbers = len(self.standing.lengths)
        self.began = time.perf_counter()
        # The iterations a second that the last call made, or the first is thought to make.
        machine = "cpu" if kernels.device is None else "gpu"
        self.speed = FIRST_SPEED[machine] / math.ceil(self.climbers / (kernels.threads or self.climbers))
        self.speed /= max(1.0, plan.draws / EQUAL_DRAWS)
        self.most = math.inf
        # About how long the last descent will take, where the first one was long.
        self.polish_seconds = 0.0

    def _started(self, starts: NDArray[np.int32]) -> Standing:
        """Stand on the tours from which the climbers start."""
        handle = self.kernels.call("population_given", starts)
        lengths = lengths_of(self.form.whole, starts)
        best = int(lengths.argmin())
        steps = np.zeros(len(starts), dtype=np.int64)
        climber = self.plan.first + best
        return Standing(False, False, 0, handle, lengths, steps, int(lengths[best]), climber, starts[best].copy())

    def state(self) -> dict[str, Any]:
        """Return where the climbers stand, for a population that goes on from there."""
        now = self.standing
        return {
            "climbers": self.climbers,
            "iterations": self.plan.iterations,
            "has_descended": now.has_descended,
            "iteration": now.iteration,
            "population": self.kernels.fields(now.handle),
            "lengths": now.lengths,
            "length": now.length,
            "climber": now.climber,
            "tour": now.tour,
            "aside": None if now.aside is None else now.aside.state(),
        }

    def _restored(self, state: State) -> Standing:
        """Stand where `state` says."""
        n, count, first = self.form.whole.n, state.whole("climbers", 1, 2**40), self.plan.first
        fields = population_fields(state.part("population"), n, count)
        return Standing(
            has_descended=state.flag("has_descended"),
            is_polished=False,
            iteration=state.whole("iteration"),
            handle=self.kernels.value("population", fields),
            lengths=state.array("lengths", np.int64, (count,)),
            steps=fields["steps"],
            length=state.whole("length"),
            climber=state.whole("climber", first, first + count - 1),
            tour=state.tour("tour", n),
            aside=Aside.restored(state.part("aside"), count, n) if "aside" in state else None,
        )

    @property
    def descent_seconds(self) -> float:
        """About how long the first descent takes, and the last one; 0 behind the first one."""
        if self.standing.has_descended:
            return 0.0
        return (1 + POLISH_SHARE) * descent_seconds(self.form.whole.n, self.climbers, self.kernels)

    @property
    def is_finished(self) -> bool:
        """Whether every climber has made all its iterations."""
        return self.standing.has_descended and self.standing.iteration == self.plan.iterations

    def advance(self, seconds_left: float = math.inf, warmth: float = 1.0) -> None:
        """Make one kernel call: iterations up to the next exchange at most, for a fraction of a second.

        The first also takes every climber to its first local optimum, which is not cut. The temperature falls with the
        iterations; where they have no end it is `warmth` times the first one.
        """
        now = self.standing
        count = self._count(seconds_left)
        began = time.perf_counter()
        handle = self._climbed(now.handle, now.iteration, count, warmth)
        standing = self._read(handle, now.iteration + count)
        took = time.perf_counter() - began
        if not now.has_descended and POLISH_SHARE * took > CALL_SECONDS:
            self.polish_seconds = POLISH_SHARE * took
        self.speed = max(count, 1) / max(took, 1e-9)
        self.most = MOST_GROWTH * max(count, 1)
        if self._is_turn(standing.iteration):
            if self.plan.merges:
                standing = self._merged(standing, seconds_left - took)
            standing = self._begun_anew(standing, seconds_left - (time.perf_counter() - began))
        self.standing = standing

    def _climbed(self, handle: Any, start: int, count: int, warmth: float = 1.0) -> Any:
        """Let climbers go on by the iterations start, …, start + count - 1; where they begin, also anew, they descend
        before."""
        plan = self.plan
        turn, made = plan.turn(start)
        temperature = plan.temperature * (1.0 if plan.cooled else warmth)
        return self._search("ils", handle, seed_anew(plan.seed, turn), made, count, temperature)

    def _search(
        self, verb: str, handle: Any, seed: int, start: int = 0, count: int = 0, temperature: float = 0.0
    ) -> Any:
        plan = self.plan
        fields = {name: getattr(plan, name) for name in ("first", "moves", "pivot", "draws", "kick", "cooled")}
        stretch = {"seed": seed, "from": start, "iterations": count, "temperature": temperature}
        entry = climbing_entry(f"{self.form.kind}_{verb}", self.form, self.kernels)
        given = self.kernels.value("search_plan", {**fields, **stretch})
        return self.kernels.call(entry, self.loaded, plan.neighbours, handle, given)

    def _is_turn(self, iteration: int) -> bool:
        """Tell whether it is time for climbers to begin anew."""
        plan, before = self.plan, self.standing.iteration
        is_time = plan.restart is not None and iteration % plan.restart == 0 and iteration > before
        return is_time and iteration != plan.iterations

    def _begun_anew(self, standing: Standing, seconds_left: float) -> Standing:
        """Let the climbers that are stuck begin anew, or as many of them as there is time for."""
        n, plan = self.form.whole.n, self.plan
        assert plan.restart is not None and self.anew is not None
        aside = standing.aside or Aside.nothing(self.climbers, n)
        stuck = aside.stuck(standing.lengths) | (plan.temperature > 0)
        end = time.perf_counter() + seconds_left - ANEW_DESCENTS * descent_seconds(n, self.climbers, self.kernels)
        tours: dict[int, NDArray[np.int32]] = {}
        for place in np.flatnonzero(stuck).tolist():
            if time.perf_counter() > end:
                break
            tours[place] = self.anew(plan.first + place, standing.iteration // plan.restart)
        if not tours:
            return replace(standing, aside=replace(aside, seen=standing.lengths))
        stuck[:] = False
        stuck[list(tours)] = True
        population = self.kernels.fields(standing.handle)
        all_tours = population["bests"].copy()
        all_tours[stuck] = list(tours.values())
        # All climbers descend, each by its own random stream; those that stand on a local optimum take next to no time.
        given = self.kernels.call("population_given", all_tours)
        fresh = self.kernels.fields(self._climbed(given, standing.iteration, 0))
        population, aside = aside.begun(population, fresh, stuck)
        handle = self.kernels.value("population", population)
        lengths, steps = population["lengths"], population["steps"]
        return replace(standing, handle=handle, lengths=lengths, steps=steps, aside=aside)

    def _merged(self, standing: Standing, seconds_left: float) -> Standing:
        """Merge the climbers' tours, and the shortest that was set aside: what comes of them, if it is shorter than
        all, is set aside for the climber that had the shortest."""
        call, plan = self.kernels.call, self.plan
        aside = standing.aside or Aside.nothing(self.climbers, self.form.whole.n)
        pool, place = standing.handle, int(aside.lengths.argmin())
        if aside.lengths[place] != NONE:
            earlier = self._climbed(call("population_given", aside.tours[place][None, :]), 0, 0)
            pool = call("population_joined", pool, earlier)
        seed = seed_anew(plan.seed, plan.turn(standing.iteration)[0])
        tour = self.crossing.merged(pool, seed, seconds_left)
        merged = self._climbed(call("population_given", tour[None, :]), 0, 0)
        length, shortest = int(call("population_lengths", merged)[0]), aside.shortest(standing.lengths)
        place = int(shortest.argmin())
        if length >= shortest[place]:
            return replace(standing, aside=aside)
        tour = call("population_tour", merged, 0)
        aside = aside.with_tour(place, length, tour)
        return replace(standing, aside=aside, length=length, climber=plan.first + place, tour=tour)

    def polish(self, seconds_left: float = math.inf) -> None:
        """Let every climber's best tour descend over all cities, merged before where they are to be."""
        plan, now = self.plan, self.standing
        if plan.merges:
            now = self._merged(now, seconds_left)
        handle = now.handle
        if now.aside is not None and (now.aside.lengths < now.lengths).any():
            handle = self.kernels.value("population", now.aside.returned(self.kernels.fields(handle)))
        handle = self._search("polish", handle, plan.seed)
        self.standing = replace(self._read(handle, now.iteration, final=True), aside=None)

    def _count(self, seconds_left: float) -> int:
        """Choose the number of iterations of the next call."""
        plan, iteration = self.plan, self.standing.iteration
        elapsed = time.perf_counter() - self.began
        seconds = min(CALL_SECONDS, max(SHORT_CALL_SECONDS, elapsed / 2), seconds_left)
        bounds = [math.inf if plan.iterations is None else plan.iterations - iteration]
        bounds += [each - iteration % each for each in (plan.exchange, plan.restart) if each is not None]
        return int(min(max(1.0, min(seconds * self.speed, self.most)), *bounds, 2**62))

    def _read(self, handle: Any, iteration: int, *, final: bool = False) -> Standing:
        """Read where the climbers stand; at the iteration of an exchange, exchange tours first.

        The best tour is fetched where it is shorter than the best so far, and in the end, so that among equals it is
        that of the smallest climber whatever the cuts.
        """
        call, plan = self.kernels.call, self.plan
        lengths = call("population_lengths", handle)
        place = int(call("population_best", handle))
        now = self.standing
        length, climber, tour = now.length, now.climber, now.tour
        if final or not now.has_descended or int(lengths[place]) < length:
            length, climber, tour = int(lengths[place]), plan.first + place, call("population_tour", handle, place)
        is_exchange = plan.exchange is not None and iteration % plan.exchange == 0 and iteration > now.iteration
        is_end = iteration == plan.iterations or self._is_turn(iteration)
        if is_exchange and self.climbers > 1 and not is_end:
            sources, targets = exchanged(lengths)
            handle = call("population_copy", handle, sources, targets)
            lengths = call("population_lengths", handle)
        steps = call("population_steps", handle)
        return Standing(True, final, iteration, handle, lengths, steps, length, climber, tour, now.aside)


def lengths_of(instance: Instance, tours: NDArray[np.int32]) -> NDArray[np.int64]:
    """Return the whole-number lengths of tours, shape (climbers,); where all are one, it is measured once.

    Raises
    ------
    OutOfTime
        If they are for a solve whose time is over.
    """
    if tours.strides[0] == 0:
        return np.full(len(tours), instance.tour_length(tours[0]), dtype=np.int64)
    lengths = np.empty(len(tours), dtype=np.int64)
    for climber, tour in enumerate(tours):
        look(climber * instance.n)
        lengths[climber] = instance.tour_length(tour)
    return lengths


def population_fields(state: State, n: int, count: int | None = None) -> dict[str, NDArray[Any]]:
    """Return the fields of a population on the device, as `Backend.fields` tells them."""
    tours = state.tours("tours", n, count)
    numbers = {name: state.array(name, np.int64, (len(tours),)) for name in ("lengths", "steps")}
    return {"tours": tours, "bests": state.tours("bests", n, len(tours)), **numbers}


def exchanged(lengths: NDArray[np.int64]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Choose who takes whose tour in an exchange.

    The climbers of the longest tours take those of the shortest, the longest the shortest, and so on, a quarter of all
    and at least one; among equals the smaller number is the better.

    Parameters
    ----------
    lengths : numpy.ndarray of int64, shape (climbers,)
        At least two.

    Returns
    -------
    sources, targets : numpy.ndarray of int32
        Places in `lengths`: climber ``targets[i]`` takes the tour of ``sources[i]``.

    Examples
    --------
    >>> exchanged(np.array([30, 10, 20, 40]))
    (array([1], dtype=int32), array([3], dtype=int32))
    """
    order = np.argsort(lengths, kind="stable").astype(np.int32)
    count = max(1, len(lengths) * EXCHANGED_PER_CENT // 100)
    return order[:count].copy(), order[::-1][:count].copy()
