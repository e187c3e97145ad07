"""Small searches by every part of the kernels, which end alike on every backend."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pytsp.problem.instance import Instance
from pytsp.problem.kernel_input import Form, form_of
from pytsp.problem.tours import random_tours

if TYPE_CHECKING:
    from pytsp.backends.context import Backend
    from pytsp.backends.marshal import Opaque

# Enough cities for several rounds of a block's lanes, and few enough for any block's memory.
CITIES, CLIMBERS, NEIGHBOURS, SEED = 100, 5, 8, 7
# As many moves a pass as there are, and more passes than any climber makes.
ALL, MOST_PASSES = 2**31 - 1, 10_000
# Where cities are drawn for curves, and climbers of whom some go on.
SPOTS = np.random.default_rng(SEED).integers(0, 2**20, (2, CITIES), dtype=np.int32)
CHOSEN = np.array([2, 0, 4], dtype=np.int32)
# The endings of a climber's entry point, of which a GPU has one for each mapping.
MAPPINGS = ("", "_block", "_thread")


@dataclass(frozen=True)
class Outcome:
    """The result of an entry point: tours with their lengths, and other arrays.

    The same `case` gives the same result on every backend, by whatever entry point.
    """

    case: tuple[object, ...]
    entry: str
    tours: NDArray[Any]
    lengths: NDArray[Any]
    others: tuple[Any, ...] = ()


class Trial:
    """The kernels of a backend, with one instance loaded."""

    def __init__(self, kernels: Backend, form: Form) -> None:
        self.kernels, self.call, self.value, self.form = kernels, kernels.call, kernels.value, form
        self.distances: NDArray[np.int64] = form.whole.distance_matrix()
        farthest = self.distances + np.diag(np.full(CITIES, 2**40))
        self.lists = np.argsort(farthest, axis=1, kind="stable")[:, :NEIGHBOURS].astype(np.int32)
        self.tours = random_tours(CITIES, CLIMBERS, SEED)
        # A CPU's climbers may descend by stretches of a tour: here by the whole of it.
        self.stretch = (0, 0) if kernels.device is None else ()

    def load(self) -> Opaque:
        """Return the instance on the device."""
        return self.call(f"{self.form.kind}_load", *self.form.arguments)  # type: ignore[no-any-return]

    def ways(self, verb: str, *endings: str) -> list[str]:
        """Return the entry points by which climbers go on here: one a mapping."""
        names = [f"{self.form.kind}_{verb}{ending}" for ending in endings or MAPPINGS]
        return [name for name in names if name in self.kernels.entry_points]

    def batch(self, case: tuple[object, ...], entry: str, batch: Opaque) -> Outcome:
        """Return the results of a batch of random restarts."""
        found = self.kernels.fields(batch)
        others = (*self.call("batch_found", batch), self.call("batch_tour", batch, 1))
        return Outcome(case, entry, found["tours"], found["lengths"], others)

    def descent(self, verb: str, descent: Opaque) -> Outcome:
        """Return the results of the descent of the first tour."""
        counts = self.call("descent_counts", descent)
        length = self.form.whole.tour_length(self.tours[0]) - int(counts[0])
        tour = self.call("descent_tour", descent)
        return Outcome((verb,), f"{self.form.kind}_{verb}", tour[None], np.array([length]), (counts,))

    def population(self, case: tuple[object, ...], entry: str, population: Opaque) -> Outcome:
        """Return the results of a population."""
        found = self.kernels.fields(population)
        place = self.call("population_best", population)
        others = (found["steps"], place, self.call("population_tour", population, place))
        return Outcome(case, entry, found["bests"], found["lengths"], others)


def _restarts(trial: Trial) -> Iterator[Outcome]:
    call, kind = trial.call, trial.form.kind
    loaded = trial.load()
    # A GPU loads a grid as a plane for these.
    if kind != "grid":
        descent = call(f"{kind}_descend", loaded, call("descent_given", trial.tours[0]), 20)
        yield trial.descent("descend", descent)
        for _ in range(3):
            descent = call(f"{kind}_scan", loaded, descent, ALL, 2, CITIES // 2 + 1)
            descent = call("descent_turn", descent, ALL)
        yield trial.descent("scan", descent)
    for k in (1, ALL):
        for entry in trial.ways("climb"):
            batch = call(entry, loaded, call("batch_random", CITIES, SEED, 0, CLIMBERS), k, MOST_PASSES)
            yield trial.batch((k,), entry, batch)


def _search(trial: Trial) -> Iterator[Outcome]:
    call, kind = trial.call, trial.form.kind
    loaded = trial.load()
    given = call("population_given", trial.tours)
    for moves, pivot, kick, acceptance in ((0, 0, 0, 0), (1, 1, 1, 1), (1, 2, 2, 0), (2, 0, 3, 1)):
        # A GPU's single threads make no chains.
        for entry in trial.ways("ils", *MAPPINGS[: 2 if moves == 2 else 3]):
            fields = {"moves": moves, "pivot": pivot, "kick": kick, "acceptance": acceptance, "draws": 20}
            climbed = call(entry, loaded, trial.lists, given, _plan(trial, **fields, iterations=30), *trial.stretch)
            yield trial.population((moves, pivot, "ils"), entry, climbed)
            polish = entry.replace("ils", "polish")
            polished = call(polish, loaded, trial.lists, climbed, _plan(trial, **fields), *trial.stretch)
            yield trial.population((moves, pivot, "polish"), polish, polished)
    started = call(f"{kind}_start", loaded, trial.lists, SEED, 0, 2 * CLIMBERS, 96)
    entry = trial.ways("ils")[0]
    started = call(entry, loaded, trial.lists, started, _plan(trial, moves=2), *trial.stretch)
    yield trial.population(("start",), f"{kind}_start", started)
    if kind in ("grid", "plane"):
        yield from _many_starts(trial)


def _flat(trial: Trial) -> Iterator[Outcome]:
    call, kind = trial.call, trial.form.kind
    loaded = trial.load()
    # Enough climbers for several thread blocks.
    count, spots = 8 * CLIMBERS, [np.ascontiguousarray(axis) for axis in SPOTS]
    plan = {"seed": SEED, "first": 3, "noise": 256, "joins": 6, "wide": 6, "least": 4, "rounds": 40}
    for is_curved in (True, False):
        started = trial.value("bulk_plan", {**plan, "curved": is_curved})
        bred = call(f"{kind}_bulk", loaded, trial.lists, *spots, count, started)
        yield trial.population((is_curved, "bulk"), f"{kind}_bulk", bred)
        for generation in range(12):
            choice = {"most": 150, "cap": 80, "rounds": 8, "unions": 3 * (generation // 3), "thrift": 70 * is_curved}
            fields = {"seed": SEED, "generation": generation, **choice}
            bred = call(f"{kind}_cross", loaded, trial.lists, bred, trial.value("generation_plan", fields))
        yield trial.population((is_curved, "cross"), f"{kind}_cross", bred)
    given = call("population_joined", call("population_given", trial.tours), call("population_chosen", bred, CHOSEN))
    searched = call(f"{kind}_rounds", loaded, trial.lists, given, started)
    yield trial.population(("rounds",), f"{kind}_rounds", searched)
    if kind in ("grid", "plane"):
        yield from _many(trial)


def _twice(trial: Trial) -> tuple[Opaque, NDArray[np.int32]]:
    """Return two instances of the same cities of a plane, on the device, and their numbers of cities."""
    form = trial.form
    axes = [np.concatenate([axis, axis]).astype(np.float64) for axis in form.arguments[:2]]
    loaded = trial.call("plane_load", *axes, form.kind == "plane" and form.arguments[2])
    return loaded, np.full(2, CITIES, dtype=np.int32)


def _many_starts(trial: Trial) -> Iterator[Outcome]:
    """Yield tours of two instances that go together, at their local optima, with the lists by which they climb."""
    loaded, sizes = _twice(trial)
    lists = trial.call("plane_many_lists", loaded, sizes, NEIGHBOURS)
    climbed = trial.call("plane_many_climbed", loaded, CITIES, lists, lists, SEED, CLIMBERS, 96)
    lengths = trial.distances[climbed, np.roll(climbed, -1, axis=1)].sum(axis=1)
    others = (lists, trial.call("many_connected", lists, sizes))
    yield Outcome(("many",), "plane_many_climbed", climbed, lengths, others)


def _many(trial: Trial) -> Iterator[Outcome]:
    """Yield the tours of two instances that go together, of the same cities."""
    call, generations = trial.call, np.array([2, 6], dtype=np.int32)
    loaded, sizes = _twice(trial)
    lists = np.concatenate([trial.lists, trial.lists + CITIES])
    tours = np.concatenate([trial.tours, trial.tours[::-1] + CITIES], axis=1)
    many = call("plane_many_given", loaded, lists, sizes, generations, tours)
    for generation in range(6):
        fields = {
            "seed": SEED,
            "generation": generation,
            "most": 150,
            "cap": 80,
            "rounds": 8,
            "unions": 3,
            "thrift": 70,
        }
        many = call("plane_many_cross", loaded, many, trial.value("generation_plan", fields))
    tours, lengths = call("many_bests", many)
    others = (call("many_going", many),)
    yield Outcome(("many",), "plane_many_cross", tours.reshape(2, CITIES), lengths, others)


def _plan(trial: Trial, **fields: int) -> Opaque:
    """Return a plan of the iterated local search."""
    numbers = {"seed": SEED, "first": 0, "from": 0, "iterations": 0, "moves": 1, "pivot": 0, "draws": 1, "kick": 0}
    return trial.value("search_plan", {**numbers, "acceptance": 0, "temperature": 2.0, "cooled": 20, **fields})


def _lists(trial: Trial) -> Iterator[Outcome]:
    call, every = trial.call, np.arange(CITIES, dtype=np.int32)
    if trial.form.kind == "matrix":
        return
    xs, ys = (np.asarray(axis, dtype=np.float64) for axis in trial.form.arguments[:2])
    order, places = call("plane_along", xs, ys)
    boxed = call("boxes_around", xs[order], ys[order], np.zeros(CITIES))
    near = call("boxes_nearest", boxed, NEIGHBOURS, every)
    around = call("boxes_quadrants", boxed, order, NEIGHBOURS, 5 * NEIGHBOURS, every)
    sizes = np.array([CITIES], dtype=np.int32)
    # Of one neighbour each all are not joined.
    joined = tuple(call("many_connected", trial.lists[:, :count].copy(), sizes) for count in (1, NEIGHBOURS))
    nothing = np.empty((0, CITIES), np.int32), np.empty(0, np.int64)
    yield Outcome((), "boxes_quadrants", *nothing, (order, places, near, around, *joined))


def _comparators(trial: Trial) -> Iterator[Outcome]:
    call, kind, lists = trial.call, trial.form.kind, trial.lists
    loaded = trial.load()
    longest = float(trial.distances.max())
    temperatures = np.linspace(0.1 * longest, 0.0, 20)
    for moves in (0, 1):
        fields = {"seed": SEED, "first": 0, "from": 0, "trials": CITIES, "moves": moves}
        chains = call("chains_given", trial.tours)
        chains = call(f"{kind}_anneal", loaded, lists, chains, trial.value("annealing_plan", fields), temperatures)
        found = trial.kernels.fields(chains)
        yield Outcome((moves, "anneal"), f"{kind}_anneal", found["bests"], found["lengths"], (found["steps"],))
    near = np.take_along_axis(trial.distances, lists.astype(np.int64), axis=1)
    etas = np.square(near.mean() / np.maximum(near, 0.5))
    reference = float(trial.form.whole.tour_length(trial.tours[0]))
    lengths = np.array([trial.form.whole.tour_length(tour) for tour in trial.tours], dtype=np.int64)
    for search, turns in ((0, 0), (1, 2), (2, 0)):
        rules = {"ants": 10, "quarters": 4, "search": search, "keep": 0.9, "weights": np.array([2.0, 1.0])}
        rules |= {"elite": 3.0, "turns": turns, "reference": reference, "floor": 0.01, "smoothing": 0.5, "patience": 3}
        colonies = call("colonies_given", NEIGHBOURS, trial.tours, lengths, 10.0)
        stretch = trial.value("stretch", {"seed": SEED, "first": 0, "from": 0, "iterations": 5})
        colonies = call(f"{kind}_forage", loaded, lists, etas, colonies, trial.value("rules", rules), stretch)
        found = trial.kernels.fields(colonies)
        others = (found["steps"], found["trails"])
        yield Outcome((search, "forage"), f"{kind}_forage", found["bests"], found["lengths"], others)


def _neighbourhoods(trial: Trial) -> Iterator[Outcome]:
    call = trial.call
    loaded = trial.load()
    # All end alike; a CPU has the first ones only.
    for by in range(1 if "grid_climb_by" in trial.kernels.entry_points else 4):
        pairs = call("pairs_of", CITIES, by)
        for entry in trial.ways("climb_by"):
            batch = call("batch_random", CITIES, SEED, 0, CLIMBERS)
            shared = (False,) if entry.endswith("block") else ()
            yield trial.batch((), entry, call(entry, loaded, pairs, batch, *shared, MOST_PASSES))
    for entry in trial.ways("climb_by", "_flat"):
        batch = call("batch_random", CITIES, SEED, 0, CLIMBERS)
        yield trial.batch((), entry, call(entry, loaded, call("pairs_of", CITIES, 0), batch, MOST_PASSES))


def _strategies(trial: Trial) -> Iterator[Outcome]:
    call = trial.call
    loaded = trial.load()
    given = call("population_given", trial.tours)
    for moves, pivot in ((0, 0), (1, 1), (1, 2)):
        for entry in trial.ways("ils", "", "_lockstep"):
            for blocks in ((1,), (3,)) if entry.endswith("lockstep") else ((),):
                fields = {"moves": moves, "pivot": pivot, "kick": 1, "draws": 20}
                climbed = call(
                    entry, loaded, trial.lists, given, _plan(trial, **fields, iterations=10), *(blocks or trial.stretch)
                )
                yield trial.population((moves, pivot), entry, climbed)


def _blocks(trial: Trial) -> Iterator[Outcome]:
    call = trial.call
    loaded = trial.load()
    shapes = [(2, lanes, rows) for lanes in (32, 128) for rows in (3, 7)]
    for k in (1, ALL):
        for entry in trial.ways("climb", "", "_blocks"):
            for shape in shapes if entry.endswith("blocks") else [()]:
                batch = call("batch_random", CITIES, SEED, 0, CLIMBERS)
                batch = call(entry, loaded, batch, k, MOST_PASSES, *shape)
                # Of climbers that take turns only the best one's tour is there.
                found = call("batch_found", batch)
                best = int(found[0].argmin())
                yield Outcome((k,), entry, call("batch_tour", batch, best)[None], found[0][best : best + 1], found)


def _bound(trial: Trial) -> Iterator[Outcome]:
    call = trial.call
    near = np.zeros((CITIES, CITIES), dtype=np.bool_)
    # Along a tour all are joined.
    np.put_along_axis(near, trial.lists.astype(np.int64), values=True, axis=1)
    near[trial.tours[0], np.roll(trial.tours[0], -1)] = True
    near |= near.T
    ends, others = np.cumsum(near.sum(axis=1)).astype(np.int32), np.nonzero(near)[1].astype(np.int32)
    graph = call("near_graph_load", ends, others, 128 * trial.distances[near])
    state = call("ascent_given", np.zeros(CITIES, np.int64))
    state = call("ascend", graph, state, np.geomspace(8_000, 100, 20).astype(np.int64))
    penalties = call("ascent_best", state)
    ascent = (penalties, *call("ascent_bound", state), *call("one_tree", graph, penalties))
    alphas = (call("alphas", graph, penalties), call("alpha_lists", graph, penalties, 2, NEIGHBOURS))
    nothing = np.empty((0, CITIES), np.int32), np.empty(0, np.int64)
    yield Outcome((), "alpha_lists", *nothing, (*ascent, *alphas))


PARTS: dict[str, Callable[[Trial], Iterator[Outcome]]] = {
    "restarts": _restarts,
    "search": _search,
    "flat": _flat,
    "lists": _lists,
    "comparators": _comparators,
    "neighbourhoods": _neighbourhoods,
    "strategies": _strategies,
    "blocks": _blocks,
    "bound": _bound,
}


def forms() -> Iterator[tuple[str, Form]]:
    """Yield an instance in each form that kernels distinguish: points of the plane, of a fine and of a coarse grid,
    short and long distances."""
    points = np.random.default_rng(SEED).integers(0, 600, (CITIES, 2))
    for name, scale, metric in (
        ("plane", 0.25, "EUC_2D"),
        ("fine grid", 1, "EUC_2D"),
        ("coarse grid", 50, "EUC_2D"),
        ("short matrix", 1, "MAN_2D"),
        ("long matrix", 500, "MAN_2D"),
    ):
        yield name, form_of(Instance.from_coordinates(points * scale, metric=metric))
