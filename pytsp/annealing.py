"""Simulated annealing: chains that make random moves, ever fewer of them for the worse."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pytsp._names import PAIRS, SCHEDULES
from pytsp._options import Options
from pytsp._powers import whole_powers
from pytsp._stages import Stages, run
from pytsp.backends import Backend
from pytsp.forms import Form
from pytsp.history import Watch, check_real
from pytsp.ils import MOST_TEMPERATURE, default_climbers, listed
from pytsp.instance import Instance
from pytsp.result import Result
from pytsp.starts import start_tour
from pytsp.tours import check_tour, random_tours, whole_number

__all__ = ["Cooling", "annealed"]

# The moves that are tried, by the kernels' numbers: 2-opt; 2-opt and Or-opt.
TRIED_MOVES = ("2-opt", "or-opt")
# Cities of the smallest instance on which a move changes anything that can be tried here.
ANNEALED_CITIES = 5
# The default first and last temperature, in mean distances between a city and its two nearest (docs/algorithms.md).
HOT = 0.7
COLD = 0.05
# The trials of a chain where neither iterations nor a time limit are given, but at least so many iterations.
TRIALS = {"cpu": 2e7, "gpu": 1e6}
LEAST_ITERATIONS = 500
# Ratios of temperatures are rounded to so many digits: what is beyond may differ from machine to machine.
DIGITS = 14


@dataclass(frozen=True)
class Cooling:
    """How chains cool down and what they try; the fields are arguments of `pytsp.solve`.

    Raises
    ------
    TypeError, ValueError
        If a number is out of its range or a name is not known, or two say different things.
    """

    schedule: str | ArrayLike | None = None
    cooling: float | None = None
    trials: int | None = None
    pairs: str = "neighbours"
    moves: str = "or-opt"

    def __post_init__(self) -> None:
        if isinstance(self.schedule, str) and self.schedule not in SCHEDULES:
            raise ValueError(f"schedule {self.schedule!r} is not known; known: {', '.join(SCHEDULES)}, or temperatures")
        if self.moves not in TRIED_MOVES:
            raise ValueError(f"moves {self.moves!r} is not known to annealing; known: {', '.join(TRIED_MOVES)}")
        if self.pairs not in PAIRS:
            raise ValueError(f"pairs {self.pairs!r} is not known; known: {', '.join(PAIRS)}")
        if self.cooling is not None:
            check_real("cooling", self.cooling)
        if self.cooling is not None and not 0 < self.cooling < 1:
            raise ValueError(f"cooling must be a factor between 0 and 1; it is {self.cooling!r}")
        if self.cooling is not None and self.schedule not in (None, "geometric"):
            raise ValueError(f"cooling={self.cooling!r} is for schedule='geometric'; another schedule is given")
        if self.trials is not None:
            object.__setattr__(self, "trials", whole_number("trials", self.trials, 1, 2**40))


def annealed(
    instance: Instance, form: Form, kernels: Backend, watch: Watch, options: Options, cooling: Cooling
) -> Result:
    """Solve by simulated annealing; see `pytsp.solve`."""
    lists = listed(instance, options)
    climbers = default_climbers(instance.n, kernels) if options.climbers is None else options.climbers
    temperatures = _temperatures(form, kernels, watch, options, cooling, lists)
    if cooling.pairs == "random":
        lists = lists[:, :0].copy()
    chains = Chains(
        form,
        kernels,
        watch,
        seed=options.seed,
        first=options.first,
        temperatures=temperatures,
        trials=cooling.trials or instance.n,
        moves=TRIED_MOVES.index(cooling.moves),
        lists=lists,
        tours=_starts(instance, climbers, options),
    )
    return run(chains, instance)


class Temperatures:
    """The temperatures of a chain's iterations, in units of the kernel's lengths.

    Parameters
    ----------
    hot, cold : float
        The first and, where they fall geometrically, the last one.
    iterations : int or None
        How many there are; None where time cools.
    linear : bool
        Whether they fall by equal differences, to 0, rather than by equal ratios.
    ratio : float, optional
        That of two temperatures that follow each other, where it is given.
    given : numpy.ndarray of float64, optional
        All of them.
    """

    def __init__(
        self,
        hot: float,
        cold: float,
        iterations: int | None,
        *,
        linear: bool = False,
        ratio: float | None = None,
        given: NDArray[np.float64] | None = None,
    ) -> None:
        self.hot, self.cold, self.iterations, self.linear, self.given = hot, min(hot, cold), iterations, linear, given
        if ratio is None and hot > 0 and iterations is not None and iterations > 1:
            ratio = round((self.cold / hot) ** (1 / (iterations - 1)), DIGITS)
        self.ratio = 1.0 if ratio is None else ratio

    def of(self, start: int, count: int) -> NDArray[np.float64]:
        """Return those of the iterations start, …, start + count - 1."""
        if self.given is not None:
            return self.given[start : start + count]
        numbers = np.arange(start, start + count)
        if self.linear:
            assert self.iterations is not None
            return self.hot * ((self.iterations - numbers) / self.iterations)
        return self.hot * whole_powers(self.ratio, numbers)

    def between(self, begin: float, end: float, count: int) -> NDArray[np.float64]:
        """Return so many for the time from `begin` to `end`, each a share of the time limit."""
        shares = np.minimum(1.0, np.linspace(begin, end, count, endpoint=False))
        if self.linear or self.hot == 0:
            return self.hot * (1 - shares)
        falling: NDArray[np.float64] = self.hot * (self.cold / self.hot) ** shares
        return falling


class Chains(Stages):
    """The chains of one annealing.

    Parameters
    ----------
    temperatures : Temperatures
    trials : int
        How many moves are tried at each.
    moves : int
        Which, by the kernels' numbers.
    lists : numpy.ndarray of int32, shape (n, k)
        The neighbours that moves lead to; without any, all cities.
    tours : numpy.ndarray of int32, shape (chains, n)
        Where they start.
    """

    solver = "annealing"
    values = "chains"

    def __init__(
        self,
        form: Form,
        kernels: Backend,
        watch: Watch,
        *,
        seed: int,
        first: int,
        temperatures: Temperatures,
        trials: int,
        moves: int,
        lists: NDArray[np.int32],
        tours: NDArray[np.int32],
    ) -> None:
        self.temperatures, self.trials, self.moves, self.lists = temperatures, trials, moves, lists
        handle = kernels.call("chains_given", tours)
        iterations = temperatures.iterations
        super().__init__(
            form, kernels, watch, seed=seed, first=first, iterations=iterations, handle=handle, tours=tours
        )

    def continued(self, handle: Any, start: int, count: int) -> Any:
        if self.iterations is None:
            assert self.watch.time_limit is not None
            begin, seconds = self.watch.seconds, count / self.speed if start else 0.0
            limit = self.watch.time_limit
            temperatures = self.temperatures.between(begin / limit, (begin + seconds) / limit, count)
        else:
            temperatures = self.temperatures.of(start, count)
        return self.kernels.call(
            f"{self.form.kind}_anneal",
            self.loaded,
            self.lists,
            handle,
            self.seed,
            self.first,
            start,
            self.trials,
            self.moves,
            np.ascontiguousarray(temperatures),
        )


def _starts(instance: Instance, chains: int, options: Options) -> NDArray[np.int32]:
    """Return the tours from which the chains start: the same for all, or random ones."""
    if options.initial_tour is None and options.start == "random":
        return random_tours(instance.n, chains, options.seed, options.first)
    if options.initial_tour is not None:
        tour = check_tour(options.initial_tour, instance.n)
    else:
        tour = start_tour(instance, options.start or "greedy", seed=options.seed)
    return np.repeat(tour[None, :], chains, axis=0)


def _temperatures(
    form: Form, kernels: Backend, watch: Watch, options: Options, cooling: Cooling, lists: NDArray[np.int32]
) -> Temperatures:
    """Return the temperatures of the chains' iterations, and with them how many iterations there are."""
    n = form.whole.n
    if cooling.schedule is not None and not isinstance(cooling.schedule, str):
        given = _given(form, cooling.schedule, options)
        return Temperatures(0.0, 0.0, len(given), given=given)
    near = float(form.whole.distances(np.arange(n)[:, None], lists[:, :2]).mean()) if lists.shape[1] else 0.0
    hot, cold = HOT * near, COLD * near
    if options.temperature is not None:
        hot = _checked(form, options.temperature)
    iterations, linear, ratio = options.iterations, cooling.schedule == "linear", cooling.cooling
    if iterations is None and n < ANNEALED_CITIES:
        iterations = 0
    elif iterations is None and ratio is not None:
        # Until the temperature is what it would be in the end by default.
        iterations = 1 + math.ceil(math.log(min(hot, cold) / hot) / math.log(ratio)) if min(hot, cold) > 0 else 1
    elif iterations is None and watch.time_limit is None:
        trials = TRIALS["cpu" if kernels.device is None else "gpu"] / (cooling.trials or n)
        iterations = max(LEAST_ITERATIONS, int(trials))
    return Temperatures(hot, cold, iterations, linear=linear, ratio=ratio)


def _given(form: Form, schedule: ArrayLike, options: Options) -> NDArray[np.float64]:
    """Return given temperatures in units of the kernel's lengths."""
    given = np.asarray(schedule, dtype=np.float64)
    if given.ndim != 1 or not np.all((given >= 0) & (given < np.inf)):
        raise ValueError(f"schedule must be lengths, at least 0, in one dimension; it is {schedule!r}")
    for name in ("temperature", "iterations"):
        value = getattr(options, name)
        if value is not None and not (name == "iterations" and value == len(given)):
            raise ValueError(f"{name}={value!r} and a schedule of {len(given)} temperatures say different things")
    _checked(form, float(given.max(initial=0.0)))
    return np.ascontiguousarray(given / form.unit)


def _checked(form: Form, temperature: float) -> float:
    """Return a temperature in units of the kernel's lengths."""
    if temperature / form.unit > MOST_TEMPERATURE:
        most = MOST_TEMPERATURE * form.unit
        raise ValueError(f"temperature must be at most {most:g} here; it is {temperature!r}")
    return float(temperature / form.unit)
