"""Ant colonies: ants that make tours by the trails that good tours left."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytsp.problem.kernel_input import Form
from pytsp.run.state_reader import State
from pytsp.solvers.common.candidates import DEFAULT_NEIGHBOURS, candidates
from pytsp.solvers.common.placement import GPU_BYTES
from pytsp.solvers.common.plan import Plan
from pytsp.solvers.common.stages import Stages, starting_tours, stored_iterations
from pytsp.solvers.common.task import Task
from pytsp.solvers.options.ants import AntColony
from pytsp.solvers.options.shared import LOCAL_MOVES
from pytsp.starts.construct import nearest_neighbour
from pytsp.utils.deadline import look
from pytsp.utils.memory import check_memory
from pytsp.utils.powers import quarter_power, quarters_of

__all__ = ["Colonies", "Rules", "begin", "plan", "rules_of"]

# The parameters of a variant where they are not given.
RANKS = 6
SMOOTHING = 0.5
# The neighbours of a city; a local search takes as many as others do.
NEIGHBOURS = 20
# Iterations per turn of the best tour so far; in the others the best tour of the iteration strengthens the trails.
TURNS = 2
# Iterations without a shorter tour after which trails are smoothed, in times that a trail takes to evaporate.
PATIENCE = 5.0
# The probability with which an ant makes the best tour again where all trails stand at their limits.
BEST_AGAIN = 0.05
# Most iterations if neither they nor a time limit are given.
ITERATIONS = 1_000
# Fewest iterations then.
LEAST_ITERATIONS = 50
# Most steps of all ants then; a step looks at all neighbours of a city.
STEPS = {"cpu": 4e7, "gpu": 1e9}
# The bytes that a trail takes on the CPU, and a city of an ant's tour.
HOST_TRAIL_BYTES = 32
HOST_CITY_BYTES = 5
# Ants of a GPU's colonies, as far as the memory for climbers holds them.
GPU_ANTS = 16_384
# Bytes of an ant per city.
ANT_BYTES = 36
# About what a step takes a core, and its share of the search for a city where all neighbours are visited, for each city
# there is; and what a city takes in a local search.
STEP_SECONDS, LONELY_SECONDS, DESCENT_SECONDS = 2e-7, 6e-11, 3e-6
# The share of a city in a step of all ants on a GPU, whose memory holds as many as keep it busy.
GPU_STEP_SECONDS = 9e-8
# Cities whose neighbours' attraction is computed at once.
BLOCK = 1 << 14
# Bounds of a neighbour's attraction in kernels.
FAINTEST, CLEAREST = 1e-80, 1e80


@dataclass(frozen=True)
class Rules:
    """Rule of the trails, as the kernels take it (`ants.fut`); `initial` is their first value."""

    keep: float
    weights: NDArray[np.float64]
    elite: float
    turns: int
    floor: float
    smoothing: float
    patience: int
    initial: float


def rules_of(options: AntColony, n: int, k: int) -> Rules:
    """Return the rules of a variant, on n cities with k neighbours each.

    Trails are in units of what the reference tour adds to them: what their unit is, Q in the literature, has no effect.
    """
    ants, lost = options.ants_of(n), options.share_lost
    patience = max(1, round(PATIENCE / lost))
    if options.variant == "ant-system":
        return Rules(1 - lost, np.ones(ants), 0.0, 0, 0.0, 0.0, patience, float(ants))
    if options.variant == "rank":
        ranks = options.ranks or RANKS
        weights = np.arange(ranks - 1, 0, -1, dtype=np.float64)[:ants]
        return Rules(1 - lost, weights, float(ranks), 0, 0.0, 0.0, patience, max(1.0, ranks * (ranks - 1) / 2) / lost)
    smoothing = SMOOTHING if options.smoothing is None else options.smoothing
    return Rules(1 - lost, np.ones(1), 1.0, TURNS, _floor(n, k), smoothing, patience, 1 / lost)


def _floor(n: int, k: int) -> float:
    """Return the weakest trail of MAX-MIN, in strongest ones.

    Where all trails stand at their limits, those of one tour at the strongest, an ant that chooses among half of its
    neighbours makes that tour again with probability `BEST_AGAIN`.
    """
    again = round(BEST_AGAIN ** (1 / n), 14)
    return float(min(1.0, (1 - again) / (again * max(1.0, (k + 1) / 2))))


def begin(task: Task[AntColony]) -> Colonies:
    """Return the colonies at their start, or in their stored state."""
    task.prepare()
    instance, options, state = task.instance, task.options, task.watch.state
    lists, tours = _lists(task), None
    if state is None:
        planned = plan(task)
        colonies, iterations = planned.climbers, planned.options["iterations"]
        _check_colonies(colonies, instance.n, lists.shape[1], options)
        tours = starting_tours(task, colonies, "nearest-neighbour")
    else:
        iterations = stored_iterations(state, task.watch)
    if tours is not None and task.initial_tour is None and options.start in (None, "nearest-neighbour"):
        nearest = tours[0]
    else:
        nearest = nearest_neighbour(instance, seed=task.seed)
    reference = float(task.form.whole.tour_length(nearest))
    return Colonies(task, iterations=iterations, reference=reference, lists=lists, tours=tours)


def plan(task: Task[AntColony], places: int = 1) -> Plan:
    """Return the number of colonies on a number of machines, and the options that depend on the machine."""
    options, busy = task.options, _default_colonies(task)
    climbers, iterations = options.climbers or places * busy, options.iterations
    if iterations is None and task.watch.time_limit is None:
        iterations = _default_iterations(task, _lists(task).shape[1], climbers)
    return Plan(climbers, busy, {"iterations": iterations})


def _lists(task: Task[AntColony]) -> NDArray[np.int32]:
    """Return the cities to which ants go first."""
    return candidates(task, DEFAULT_NEIGHBOURS if task.options.moves else NEIGHBOURS)


def _check_colonies(colonies: int, n: int, k: int, options: AntColony) -> None:
    """Refuse more ants, or more colonies, than fit the memory."""
    ants = options.ants_of(n)
    check_memory("ants", ants, lambda count: n * HOST_CITY_BYTES * count)
    check_memory("climbers", colonies, lambda count: count * n * (HOST_TRAIL_BYTES * k + HOST_CITY_BYTES * (ants + 4)))


def _default_colonies(task: Task[AntColony]) -> int:
    """Return the number of colonies where it is not given: one, or as many as keep a GPU busy."""
    n = task.instance.n
    most = min(GPU_ANTS, GPU_BYTES // (ANT_BYTES * n))
    return 1 if task.machine == "cpu" else max(1, most // task.options.ants_of(n))


def _default_iterations(task: Task[AntColony], k: int, colonies: int) -> int:
    """Return how many iterations there are where nothing else ends the solve."""
    n, steps = task.instance.n, STEPS[task.machine] * NEIGHBOURS / max(1, k)
    return int(max(LEAST_ITERATIONS, min(ITERATIONS, steps / (colonies * task.options.ants_of(n) * n))))


class Colonies(Stages):
    """The colonies of one solve.

    Parameters
    ----------
    task : Task
    reference : float
        The length of a tour by which trails are measured.
    lists : numpy.ndarray of int32, shape (n, k)
        Where ants look first.
    iterations, tours
        As `Stages` has them; the tours are what the colonies know at first.
    """

    values = "colonies"
    type = "colonies"

    def __init__(
        self,
        task: Task[AntColony],
        *,
        iterations: int | None,
        reference: float,
        lists: NDArray[np.int32],
        tours: NDArray[np.int32] | None,
    ) -> None:
        options = task.options
        self.lists, self.reference = lists, max(1.0, reference)
        self.ants = options.ants_of(task.instance.n)
        alpha, beta = options.powers
        self.quarters = quarters_of("alpha", alpha, 4)
        self.search = 0 if options.moves is None else 1 + LOCAL_MOVES.index(options.moves)
        self.rules = rules_of(options, *lists.shape)
        self.etas = _etas(task.form, lists, beta)
        self.kernel_rules = task.kernels.value("rules", self._fields_of_rules())
        super().__init__(task, iterations=iterations, tours=tours)

    @property
    def first_seconds(self) -> float:
        kernels, n = self.kernels, self.form.whole.n
        if kernels.threads is None:
            return GPU_STEP_SECONDS * n * n * max(1.0, len(self.standing.lengths) * self.ants / GPU_ANTS)
        seconds = STEP_SECONDS + LONELY_SECONDS * n + (DESCENT_SECONDS if self.search else 0.0)
        return math.ceil(len(self.standing.lengths) * self.ants / kernels.threads) * n * seconds

    def started(self, tours: NDArray[np.int32], lengths: NDArray[np.int64]) -> Any:
        return self.kernels.call("colonies_given", self.lists.shape[1], tours, lengths, self.rules.initial)

    def fields(self, state: State) -> dict[str, NDArray[Any]]:
        bests = state.tours("bests", self.form.whole.n)
        fields = {name: state.array(name, np.int64, (len(bests),)) for name in ("lengths", "steps", "idle")}
        trails = state.array("trails", np.float64, (len(bests), *self.lists.shape))
        return {"trails": trails, "bests": bests, **fields}

    def continued(self, handle: Any, start: int, count: int) -> Any:
        fields = {"seed": self.task.seed, "first": self.options.first, "from": start, "iterations": count}
        stretch = self.kernels.value("stretch", fields)
        return self.call("forage", self.lists, self.etas, handle, self.kernel_rules, stretch)

    def _fields_of_rules(self) -> dict[str, Any]:
        rules = {name: value for name, value in vars(self.rules).items() if name != "initial"}
        return {
            "ants": self.ants,
            "quarters": self.quarters,
            "search": self.search,
            "reference": self.reference,
            **rules,
        }


def _etas(form: Form, lists: NDArray[np.int32], beta: float) -> NDArray[np.float64]:
    """Return what distances have to say: the mean of all divided by each, to the power of beta.

    A distance of 0 counts as one half.
    """
    quarters, etas = quarters_of("beta", beta, 16), np.empty(lists.shape)
    blocks = [slice(first, first + BLOCK) for first in range(0, len(lists), BLOCK)]
    for block in blocks:
        look(block.start * lists.shape[1])
        distances = form.whole.distances(np.arange(block.start, block.start + len(lists[block]))[:, None], lists[block])
        etas[block] = np.maximum(distances, 0.5)
    mean = etas.mean() if etas.size else 0.0
    for block in blocks:
        look(block.start * lists.shape[1])
        with np.errstate(over="ignore"):
            etas[block] = np.clip(quarter_power(mean / etas[block], quarters), FAINTEST, CLEAREST)
    return etas
