"""Ant colonies: ants that make tours by the trails that good tours left."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytsp.problem.kernel_input import Form
from pytsp.run.state_reader import State
from pytsp.solvers import policy
from pytsp.solvers.common.candidates import DEFAULT_NEIGHBOURS, candidates
from pytsp.solvers.common.stages import Stages, starting_tours, stored_iterations
from pytsp.solvers.common.task import Plan, Task
from pytsp.solvers.options.ants import AntColony
from pytsp.solvers.options.shared import LOCAL_MOVES
from pytsp.solvers.speeds import BYTES, SPEEDS
from pytsp.starts.construct import nearest_neighbour
from pytsp.utils.deadline import look
from pytsp.utils.memory import check_memory
from pytsp.utils.powers import quarter_power, quarters_of

# The neighbours of a city; a local search takes as many as others do.
NEIGHBOURS = 20


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
    # Trails are smoothed after five times the iterations that one takes to evaporate, without a shorter tour.
    patience = max(1, round(5 / lost))
    if options.variant == "ant-system":
        return Rules(1 - lost, np.ones(ants), 0.0, 0, 0.0, 0.0, patience, float(ants))
    if options.variant == "rank":
        ranks = options.ranks or 6
        weights = np.arange(ranks - 1, 0, -1, dtype=np.float64)[:ants]
        return Rules(1 - lost, weights, float(ranks), 0, 0.0, 0.0, patience, max(1.0, ranks * (ranks - 1) / 2) / lost)
    smoothing = 0.5 if options.smoothing is None else options.smoothing
    # In turn the best tour of an iteration and the best so far strengthen the trails.
    return Rules(1 - lost, np.ones(1), 1.0, 2, _floor(n, k), smoothing, patience, 1 / lost)


def _floor(n: int, k: int) -> float:
    """Return the weakest trail of MAX-MIN, in strongest ones.

    With all trails at their limits, an ant makes the tour of the strongest ones again with probability 0.05.
    """
    again = round(0.05 ** (1 / n), 14)
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
    check_memory("ants", ants, lambda count: n * BYTES["ants, city"] * count)
    bytes_of_one = n * (BYTES["ants, trail"] * k + BYTES["ants, city"] * (ants + 4))
    check_memory("climbers", colonies, lambda count: count * bytes_of_one)


def _default_colonies(task: Task[AntColony]) -> int:
    """Return the number of colonies where it is not given: one, or as many as keep a GPU busy."""
    n = task.instance.n
    most = min(policy.GPU_ANTS, BYTES["device, climbers"] // (BYTES["device, city of an ant"] * n))
    return 1 if task.machine == "cpu" else max(1, most // task.options.ants_of(n))


def _default_iterations(task: Task[AntColony], k: int, colonies: int) -> int:
    """Return how many iterations there are where nothing else ends the solve, by the steps of all ants."""
    n, steps = task.instance.n, policy.AMOUNTS[task.machine].steps * NEIGHBOURS / max(1, k)
    return int(max(50, min(1_000, steps / (colonies * task.options.ants_of(n) * n))))


class Colonies(Stages):
    """The colonies of one solve: ants look first along the lists, and trails are measured by the length `reference`."""

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
        self.lists, self.ants = lists, options.ants_of(task.instance.n)
        alpha, beta = options.powers
        self.search = 0 if options.moves is None else 1 + LOCAL_MOVES.index(options.moves)
        self.rules = rules_of(options, *lists.shape)
        self.etas = _etas(task.form, lists, beta)
        rules = {name: value for name, value in vars(self.rules).items() if name != "initial"}
        rules |= {"ants": self.ants, "quarters": quarters_of("alpha", alpha, 4), "search": self.search}
        self.kernel_rules = task.kernels.value("rules", {**rules, "reference": max(1.0, reference)})
        super().__init__(task, iterations=iterations, tours=tours)

    @property
    def first_seconds(self) -> float:
        kernels, n = self.kernels, self.form.whole.n
        if kernels.threads is None:
            return SPEEDS["ant, gpu"] * n * n * max(1.0, len(self.standing.lengths) * self.ants / policy.GPU_ANTS)
        seconds = SPEEDS["ant, step"] + SPEEDS["ant, lonely"] * n + (SPEEDS["ant, descent"] if self.search else 0.0)
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


def _etas(form: Form, lists: NDArray[np.int32], beta: float) -> NDArray[np.float64]:
    """Return the mean of all distances divided by each, to the power of beta; a distance of 0 counts as one half."""
    quarters, etas = quarters_of("beta", beta, 16), np.empty(lists.shape)
    size = 1 << 14
    blocks = [slice(first, first + size) for first in range(0, len(lists), size)]
    for block in blocks:
        look(block.start * lists.shape[1])
        distances = form.whole.distances(np.arange(block.start, block.start + len(lists[block]))[:, None], lists[block])
        etas[block] = np.maximum(distances, 0.5)
    mean = etas.mean() if etas.size else 0.0
    for block in blocks:
        look(block.start * lists.shape[1])
        with np.errstate(over="ignore"):
            etas[block] = np.clip(quarter_power(mean / etas[block], quarters), 1e-80, 1e80)
    return etas
