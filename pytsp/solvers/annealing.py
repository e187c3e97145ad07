"""Simulated annealing: chains that make random moves, ever fewer of them for the worse."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytsp.run.state_reader import State
from pytsp.solvers import policy
from pytsp.solvers.common.candidates import candidates
from pytsp.solvers.common.local_search import population_fields
from pytsp.solvers.common.placement import check_climbers, default_climbers
from pytsp.solvers.common.stages import Stages, starting_tours, stored_iterations
from pytsp.solvers.common.task import Plan, Task
from pytsp.solvers.common.temperature import in_units
from pytsp.solvers.options.annealing import TRIED_MOVES, Annealing
from pytsp.solvers.speeds import SPEEDS
from pytsp.utils.arguments import is_array
from pytsp.utils.powers import whole_powers

# Cities of the smallest instance on which a move changes anything that can be tried here.
ANNEALED_CITIES = 5
# The default first and last temperature, in mean distances between a city and its two nearest (docs/algorithms).
HOT = 0.7
COLD = 0.05


def begin(task: Task[Annealing]) -> Chains:
    """Return the chains of an annealing at their start, or in their stored state."""
    task.prepare()
    instance, options = task.instance, task.options
    lists, tours = candidates(task), None
    temperatures = _temperatures(task, lists)
    if options.pairs == "random":
        lists = lists[:, :0].copy()
    if task.watch.state is None:
        climbers = plan(task).climbers
        check_climbers(instance.n, climbers)
        tours = starting_tours(task, climbers, "greedy")
    return Chains(task, temperatures=temperatures, lists=lists, tours=tours)


def plan(task: Task[Annealing], places: int = 1) -> Plan:
    """Return the number of chains on a number of machines, and the options that depend on the machine."""
    options, n, busy = task.options, task.instance.n, default_climbers(task.instance.n, task.kernels)
    more: dict[str, Any] = {}
    is_by_default = options.iterations is None and task.watch.time_limit is None and n >= ANNEALED_CITIES
    if is_by_default and options.cooling is None and not is_array(options.schedule):
        more["iterations"] = _default_iterations(task)
    return Plan(options.climbers or places * busy, busy, more)


def _default_iterations(task: Task[Annealing]) -> int:
    """Return how many iterations there are where nothing else ends the solve, 500 at least."""
    return max(500, int(policy.AMOUNTS[task.machine].trials / (task.options.trials or task.instance.n)))


@dataclass
class Temperatures:
    """The temperatures of a chain's iterations, in units of the kernel's lengths.

    They fall from `hot` to `cold` by equal ratios, or a given one, or if `linear` to 0 by equal differences; or all of
    them are given. Without a number of iterations time cools.
    """

    hot: float
    cold: float
    iterations: int | None
    _: KW_ONLY
    linear: bool = False
    ratio: float | None = None
    given: NDArray[np.float64] | None = None

    def __post_init__(self) -> None:
        self.cold = min(self.hot, self.cold)
        if self.ratio is None and self.hot > 0 and self.iterations is not None and self.iterations > 1:
            # Further digits may differ from machine to machine.
            self.ratio = round((self.cold / self.hot) ** (1 / (self.iterations - 1)), 14)

    def of(self, start: int, count: int) -> NDArray[np.float64]:
        """Return those of the iterations start, …, start + count - 1."""
        if self.given is not None:
            return self.given[start : start + count]
        numbers = np.arange(start, start + count)
        if self.linear:
            assert self.iterations is not None
            return self.hot * ((self.iterations - numbers) / self.iterations)
        return self.hot * whole_powers(1.0 if self.ratio is None else self.ratio, numbers)

    def between(self, begin: float, end: float, count: int) -> NDArray[np.float64]:
        """Return `count` temperatures for the time from `begin` to `end`, shares of the time limit."""
        shares = np.minimum(1.0, np.linspace(begin, end, count, endpoint=False))
        if self.linear or self.hot == 0:
            return self.hot * (1 - shares)
        falling: NDArray[np.float64] = self.hot * (self.cold / self.hot) ** shares
        return falling


class Chains(Stages):
    """The chains of one annealing, whose moves lead to the neighbours of the lists, or if these are empty anywhere."""

    values = "chains"
    type = "population"

    def __init__(
        self,
        task: Task[Annealing],
        *,
        temperatures: Temperatures,
        lists: NDArray[np.int32],
        tours: NDArray[np.int32] | None,
    ) -> None:
        self.temperatures, self.lists = temperatures, lists
        self.trials = task.options.trials or task.instance.n
        self.moves = TRIED_MOVES.index(task.options.moves or "or-opt")
        super().__init__(task, iterations=temperatures.iterations, tours=tours)

    @property
    def first_seconds(self) -> float:
        n, threads = self.form.whole.n, self.kernels.threads
        if threads is None:
            return SPEEDS["trial, gpu"] * self.trials * n
        a_city = SPEEDS["trial, random city" if self.options.start == "random" else "trial, city"]
        seconds = SPEEDS["trial"] + a_city * n
        return math.ceil(len(self.standing.lengths) / threads) * self.trials * seconds

    def started(self, tours: NDArray[np.int32], lengths: NDArray[np.int64]) -> Any:
        return self.kernels.call("chains_given", tours)

    def fields(self, state: State) -> dict[str, NDArray[Any]]:
        return population_fields(state, self.form.whole.n)

    def continued(self, handle: Any, start: int, count: int) -> Any:
        if self.iterations is None:
            assert self.watch.time_limit is not None
            begin, seconds = self.watch.seconds, count * self.pace.seconds
            limit = self.watch.time_limit
            temperatures = self.temperatures.between(begin / limit, (begin + seconds) / limit, count)
        else:
            temperatures = self.temperatures.of(start, count)
        numbers = {"from": start, "trials": self.trials, "moves": self.moves}
        plan = self.kernels.value("annealing_plan", {"seed": self.task.seed, "first": self.options.first, **numbers})
        return self.call("anneal", self.lists, handle, plan, np.ascontiguousarray(temperatures))


def _temperatures(task: Task[Annealing], lists: NDArray[np.int32]) -> Temperatures:
    """Return the temperatures of the chains' iterations, and with them how many iterations there are."""
    form, options, watch, n = task.form, task.options, task.watch, task.instance.n
    if isinstance(options.schedule, np.ndarray):
        in_units(form, float(options.schedule.max(initial=0.0)))
        given = np.ldexp(options.schedule, -form.exponent)
        return Temperatures(0.0, 0.0, len(given), given=given)
    near = float(form.whole.distances(np.arange(n)[:, None], lists[:, :2]).mean()) if lists.shape[1] else 0.0
    hot, cold = HOT * near, COLD * near
    if options.temperature is not None:
        hot = in_units(form, options.temperature)
    iterations, linear, ratio = options.iterations, options.schedule == "linear", options.cooling
    if watch.state is not None:
        iterations = stored_iterations(watch.state, watch)
    elif iterations is None and n < ANNEALED_CITIES:
        iterations = 0
    elif iterations is None and ratio is not None:
        # Until the temperature is what it would be in the end by default.
        iterations = 1 + math.ceil(math.log(min(hot, cold) / hot) / math.log(ratio)) if min(hot, cold) > 0 else 1
    elif iterations is None and watch.time_limit is None:
        iterations = _default_iterations(task)
    return Temperatures(hot, cold, iterations, linear=linear, ratio=ratio)
