"""Ant colonies: ants that make tours by the trails that good tours left."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytsp._names import LOCAL_MOVES, VARIANTS
from pytsp._options import Options
from pytsp._powers import quarter_power, quarters_of
from pytsp._stages import Stages, run
from pytsp.backends import Backend
from pytsp.forms import Form
from pytsp.history import Watch, check_real
from pytsp.ils import DEFAULT_NEIGHBOURS, GPU_BYTES, listed
from pytsp.instance import Instance
from pytsp.result import Result
from pytsp.starts import nearest_neighbour, start_tour
from pytsp.tours import check_tour, random_tours, whole_number

__all__ = ["Foraging", "foraged"]

# The parameters of a variant where they are not given. Those of "rank" and "ant-system" are Utne and Hansen's.
ALPHA = 1.0
BETA = {"max-min": 3.0, "rank": 5.0, "ant-system": 5.0}
EVAPORATION = {"max-min": 0.1, "rank": 0.5, "ant-system": 0.5}
RANKS = 6
SMOOTHING = 0.5
# With a local search, ants are few and trails change fast (Stützle, Hoos 2000).
SEARCHING_ANTS = 25
SEARCHING_EVAPORATION = 0.2
# Without one there are as many ants as cities, but at most so many divided by the cities, so that an iteration, which
# no limit cuts, takes a fraction of a second; and at least so many as search.
ANTS_TIMES_CITIES = 500_000
# The neighbours of a city; a local search takes as many as others do.
NEIGHBOURS = 20
# In each so many iterations the best tour so far strengthens the trails, in the others the best of the iteration.
TURNS = 2
# Trails are smoothed after so many iterations without a shorter tour, in times that a trail takes to evaporate.
PATIENCE = 5.0
# The probability with which an ant makes the best tour again where all trails stand at their limits.
BEST_AGAIN = 0.05
# The iterations where neither they nor a time limit are given: so many, but fewer where ants take more steps than this
# altogether, of which one looks at all neighbours of a city.
ITERATIONS = 1_000
LEAST_ITERATIONS = 50
STEPS = {"cpu": 4e7, "gpu": 1e9}
# The ants of a GPU's colonies: so many, as far as the memory for climbers holds them, at so many bytes a city.
GPU_ANTS = 16_384
ANT_BYTES = 36
# What a kernel takes as a neighbour's attraction.
FAINTEST, CLEAREST = 1e-80, 1e80


@dataclass(frozen=True)
class Foraging:
    """What ants do; the fields are arguments of `pytsp.solve`.

    Raises
    ------
    TypeError, ValueError
        If a number is out of its range, a name is not known, or an argument does not concern the variant.
    """

    variant: str = "max-min"
    ants: int | None = None
    alpha: float | None = None
    beta: float | None = None
    evaporation: float | None = None
    ranks: int | None = None
    smoothing: float | None = None
    moves: str | None = None

    def __post_init__(self) -> None:
        if self.variant not in VARIANTS:
            raise ValueError(f"variant {self.variant!r} is not known; known: {', '.join(VARIANTS)}")
        if self.moves not in (None, *LOCAL_MOVES):
            raise ValueError(f"moves {self.moves!r} is not known to ants; known: {', '.join(LOCAL_MOVES)}")
        for name, variant in (("ranks", "rank"), ("smoothing", "max-min")):
            value = getattr(self, name)
            if value is not None and self.variant != variant:
                raise ValueError(
                    f"{name}={value!r} does not concern variant={self.variant!r}; it is for variant={variant!r}"
                )
        for name, most in (("ants", 2**20), ("ranks", 2**20)):
            value = getattr(self, name)
            if value is not None:
                object.__setattr__(self, name, whole_number(name, value, 1, most))
        for name in ("alpha", "beta", "evaporation", "smoothing"):
            if getattr(self, name) is not None:
                check_real(name, getattr(self, name))
        quarters_of("alpha", self.powers[0], 4)
        quarters_of("beta", self.powers[1], 16)
        if not 0 < self.share_lost <= 1:
            raise ValueError(f"evaporation must be a share, more than 0 and at most 1; it is {self.evaporation!r}")
        if self.smoothing is not None and not 0 <= self.smoothing <= 1:
            raise ValueError(f"smoothing must be a share from 0 to 1; it is {self.smoothing!r}")

    @property
    def powers(self) -> tuple[float, float]:
        """The powers of the trails and of the inverse distances."""
        return (
            ALPHA if self.alpha is None else self.alpha,
            BETA[self.variant] if self.beta is None else self.beta,
        )

    @property
    def share_lost(self) -> float:
        """The share of a trail that is lost in an iteration."""
        if self.evaporation is not None:
            return self.evaporation
        return SEARCHING_EVAPORATION if self.moves and self.variant == "max-min" else EVAPORATION[self.variant]

    def ants_of(self, n: int) -> int:
        """Return the number of ants on n cities."""
        few = SEARCHING_ANTS
        return self.ants or (few if self.moves else min(n, max(few, ANTS_TIMES_CITIES // n)))


@dataclass(frozen=True)
class Rules:
    """How trails change, as the kernels take it (`futhark/ants.fut`); `initial` is what they are at first."""

    keep: float
    weights: NDArray[np.float64]
    elite: float
    turns: int
    floor: float
    smoothing: float
    patience: int
    initial: float


def rules_of(foraging: Foraging, n: int, k: int) -> Rules:
    """Return the rules of a variant, on n cities with k neighbours each.

    Trails are in units of what the reference tour adds to them: what their unit is, Q in the literature, has no effect.
    """
    ants, lost = foraging.ants_of(n), foraging.share_lost
    patience = max(1, round(PATIENCE / lost))
    if foraging.variant == "ant-system":
        return Rules(1 - lost, np.ones(ants), 0.0, 0, 0.0, 0.0, patience, float(ants))
    if foraging.variant == "rank":
        ranks = foraging.ranks or RANKS
        weights = np.arange(ranks - 1, 0, -1, dtype=np.float64)[:ants]
        return Rules(1 - lost, weights, float(ranks), 0, 0.0, 0.0, patience, max(1.0, ranks * (ranks - 1) / 2) / lost)
    smoothing = SMOOTHING if foraging.smoothing is None else foraging.smoothing
    return Rules(1 - lost, np.ones(1), 1.0, TURNS, _floor(n, k), smoothing, patience, 1 / lost)


def _floor(n: int, k: int) -> float:
    """Return the weakest trail of MAX-MIN, in strongest ones.

    Where all trails stand at their limits, those of one tour at the strongest, an ant that chooses among half of its
    neighbours makes that tour again with probability `BEST_AGAIN`.
    """
    again = round(BEST_AGAIN ** (1 / n), 14)
    return float(min(1.0, (1 - again) / (again * max(1.0, (k + 1) / 2))))


def foraged(
    instance: Instance, form: Form, kernels: Backend, watch: Watch, options: Options, foraging: Foraging
) -> Result:
    """Solve by ant colonies; see `pytsp.solve`."""
    lists = listed(instance, options, DEFAULT_NEIGHBOURS if foraging.moves else NEIGHBOURS)
    ants = foraging.ants_of(instance.n)
    colonies = options.climbers
    if colonies is None:
        most = min(GPU_ANTS, GPU_BYTES // (ANT_BYTES * instance.n))
        colonies = 1 if kernels.device is None else max(1, most // ants)
    iterations = options.iterations
    if iterations is None and watch.time_limit is None:
        steps = STEPS["cpu" if kernels.device is None else "gpu"] * NEIGHBOURS / max(1, lists.shape[1])
        iterations = int(max(LEAST_ITERATIONS, min(ITERATIONS, steps / (colonies * ants * instance.n))))
    return run(
        Colonies(
            form,
            kernels,
            watch,
            seed=options.seed,
            first=options.first,
            iterations=iterations,
            foraging=foraging,
            reference=float(form.whole.tour_length(nearest_neighbour(instance, seed=options.seed))),
            lists=lists,
            tours=_known_tours(instance, colonies, options),
        ),
        instance,
    )


class Colonies(Stages):
    """The colonies of one solve.

    Parameters
    ----------
    foraging : Foraging
    reference : float
        The length of a tour by which trails are measured.
    lists : numpy.ndarray of int32, shape (n, k)
        Where ants look first.
    tours : numpy.ndarray of int32, shape (colonies, n)
        The tours that the colonies know.
    """

    solver = "ants"
    values = "colonies"

    def __init__(
        self,
        form: Form,
        kernels: Backend,
        watch: Watch,
        *,
        seed: int,
        first: int,
        iterations: int | None,
        foraging: Foraging,
        reference: float,
        lists: NDArray[np.int32],
        tours: NDArray[np.int32],
    ) -> None:
        self.lists, self.reference = lists, max(1.0, reference)
        self.ants = foraging.ants_of(form.whole.n)
        alpha, beta = foraging.powers
        self.quarters = quarters_of("alpha", alpha, 4)
        self.search = 0 if foraging.moves is None else 1 + LOCAL_MOVES.index(foraging.moves)
        self.rules = rules_of(foraging, *lists.shape)
        self.etas = _etas(form, lists, beta)
        lengths = np.array([form.whole.tour_length(tour) for tour in tours], dtype=np.int64)
        handle = kernels.call("colonies_given", lists.shape[1], tours, lengths, self.rules.initial)
        super().__init__(
            form, kernels, watch, seed=seed, first=first, iterations=iterations, handle=handle, tours=tours
        )

    def continued(self, handle: Any, start: int, count: int) -> Any:
        rules = self.rules
        return self.kernels.call(
            f"{self.form.kind}_forage",
            self.loaded,
            self.lists,
            self.etas,
            handle,
            self.seed,
            self.first,
            start,
            count,
            self.ants,
            self.quarters,
            self.search,
            rules.keep,
            rules.weights,
            rules.elite,
            rules.turns,
            self.reference,
            rules.floor,
            rules.smoothing,
            rules.patience,
        )


def _etas(form: Form, lists: NDArray[np.int32], beta: float) -> NDArray[np.float64]:
    """Return what distances have to say: the mean of all divided by each, to the power of beta.

    A distance of 0 counts as one half.
    """
    distances = np.maximum(form.whole.distances(np.arange(len(lists))[:, None], lists), 0.5)
    nearness = distances.mean() / distances if distances.size else distances
    with np.errstate(over="ignore"):
        powers = quarter_power(nearness, quarters_of("beta", beta, 16))
    return np.ascontiguousarray(np.clip(powers, FAINTEST, CLEAREST))


def _known_tours(instance: Instance, colonies: int, options: Options) -> NDArray[np.int32]:
    """Return the tours that the colonies know at first: the same for all, or random ones."""
    if options.initial_tour is None and options.start == "random":
        return random_tours(instance.n, colonies, options.seed, options.first)
    if options.initial_tour is not None:
        tour = check_tour(options.initial_tour, instance.n)
    else:
        tour = start_tour(instance, options.start or "nearest-neighbour", seed=options.seed)
    return np.repeat(tour[None, :], colonies, axis=0)
