"""Small searches by every part of the kernels, which end alike on every backend."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
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
# What generations of crossover have in common.
GENERATION = {"seed": SEED, "most": 150, "cap": 80, "rounds": 8}


@dataclass(frozen=True)
class Outcome:
    """The result of an entry point: tours with their lengths, and other arrays.

    The same `case` gives the same result on every backend, by whatever entry point.
    """

    case: tuple[object, ...]
    entry: str
    tours: NDArray[Any] = field(default_factory=lambda: np.empty((0, CITIES), np.int32))
    lengths: NDArray[Any] = field(default_factory=lambda: np.empty(0, np.int64))
    others: tuple[Any, ...] = ()


class Trial:
    """The kernels of a backend, with one instance; `plane_climb` is named by its verb, `climb`."""

    def __init__(self, kernels: Backend, form: Form) -> None:
        self.kernels, self.call, self.value, self.form = kernels, kernels.call, kernels.value, form
        self.distances: NDArray[np.int64] = form.whole.distance_matrix()
        farthest = self.distances + np.diag(np.full(CITIES, 2**40))
        self.lists = np.argsort(farthest, axis=1, kind="stable")[:, :NEIGHBOURS].astype(np.int32)
        self.tours = random_tours(CITIES, CLIMBERS, SEED)
        # A CPU's climbers may descend by stretches of a tour: here by the whole of it.
        self.stretch = (0, 0) if kernels.device is None else ()

    @cached_property
    def loaded(self) -> Opaque:
        """The instance on the device."""
        return self.call(f"{self.form.kind}_load", *self.form.arguments)  # type: ignore[no-any-return]

    def run(self, verb: str, *arguments: object) -> Opaque:
        """Call an entry point on the instance."""
        return self.call(self.entry(verb), self.loaded, *arguments)  # type: ignore[no-any-return]

    def entry(self, verb: str) -> str:
        return f"{self.form.kind}_{verb}"

    def ways(self, verb: str, *endings: str) -> list[str]:
        """Return the verbs by which climbers go on here: one a mapping."""
        verbs = [f"{verb}{ending}" for ending in endings or MAPPINGS]
        return [each for each in verbs if self.entry(each) in self.kernels.entry_points]

    def random(self) -> Opaque:
        """Return climbers of random restarts at their beginning."""
        return self.call("batch_random", CITIES, SEED, 0, CLIMBERS)  # type: ignore[no-any-return]

    def batch(self, case: tuple[object, ...], verb: str, batch: Opaque) -> Outcome:
        """Return the results of a batch of random restarts."""
        found = self.kernels.fields(batch)
        others = (*self.call("batch_found", batch), self.call("batch_tour", batch, 1))
        return Outcome(case, self.entry(verb), found["tours"], found["lengths"], others)

    def descent(self, verb: str, descent: Opaque) -> Outcome:
        """Return the results of the descent of the first tour."""
        counts = self.call("descent_counts", descent)
        length = self.form.whole.tour_length(self.tours[0]) - int(counts[0])
        tour = self.call("descent_tour", descent)
        return Outcome((verb,), self.entry(verb), tour[None], np.array([length]), (counts,))

    def climbers(self, case: tuple[object, ...], verb: str, climbers: Opaque, *others: str) -> Outcome:
        """Return the best tours of climbers, chains or colonies, with `others` of their fields."""
        found = self.kernels.fields(climbers)
        rest = tuple(found[name] for name in ("steps", *others))
        return Outcome(case, self.entry(verb), found["bests"], found["lengths"], rest)

    def population(self, case: tuple[object, ...], verb: str, population: Opaque) -> Outcome:
        """Return the results of a population."""
        place = self.call("population_best", population)
        found = self.climbers(case, verb, population)
        return replace(found, others=(*found.others, place, self.call("population_tour", population, place)))


def _restarts(trial: Trial) -> Iterator[Outcome]:
    call = trial.call
    # A GPU loads a grid as a plane for these.
    if trial.form.kind != "grid":
        descent = trial.run("descend", call("descent_given", trial.tours[0]), 20)
        yield trial.descent("descend", descent)
        for _ in range(3):
            descent = call("descent_turn", trial.run("scan", descent, ALL, 2, CITIES // 2 + 1), ALL)
        yield trial.descent("scan", descent)
    for k in (1, ALL):
        for verb in trial.ways("climb"):
            yield trial.batch((k,), verb, trial.run(verb, trial.random(), k, MOST_PASSES))


def _search(trial: Trial) -> Iterator[Outcome]:
    given = trial.call("population_given", trial.tours)
    for moves, pivot, kick, acceptance in ((0, 0, 0, 0), (1, 1, 1, 1), (1, 2, 2, 0), (2, 0, 3, 1)):
        # A GPU's single threads make no chains.
        for verb in trial.ways("ils", *MAPPINGS[: 2 if moves == 2 else 3]):
            fields = {"moves": moves, "pivot": pivot, "kick": kick, "acceptance": acceptance, "draws": 20}
            climbed = trial.run(verb, trial.lists, given, _plan(trial, **fields, iterations=30), *trial.stretch)
            yield trial.population((moves, pivot, "ils"), verb, climbed)
            polish = verb.replace("ils", "polish")
            polished = trial.run(polish, trial.lists, climbed, _plan(trial, **fields), *trial.stretch)
            yield trial.population((moves, pivot, "polish"), polish, polished)
    started = trial.run("start", trial.lists, SEED, 0, 2 * CLIMBERS, 96)
    started = trial.run(trial.ways("ils")[0], trial.lists, started, _plan(trial, moves=2), *trial.stretch)
    yield trial.population(("start",), "start", started)
    if trial.form.kind in ("grid", "plane"):
        yield from _many_starts(trial)


def _flat(trial: Trial) -> Iterator[Outcome]:
    call = trial.call
    # Enough climbers for several thread blocks.
    count, spots = 8 * CLIMBERS, [np.ascontiguousarray(axis) for axis in SPOTS]
    plan = {"seed": SEED, "first": 3, "noise": 256, "joins": 6, "wide": 6, "least": 4, "rounds": 40}
    for is_curved in (True, False):
        started = trial.value("bulk_plan", {**plan, "curved": is_curved})
        bred = trial.run("bulk", trial.lists, *spots, count, started)
        yield trial.population((is_curved, "bulk"), "bulk", bred)
        for generation in range(12):
            choice = {"generation": generation, "unions": 3 * (generation // 3), "thrift": 70 * is_curved}
            bred = trial.run("cross", trial.lists, bred, trial.value("generation_plan", {**GENERATION, **choice}))
        yield trial.population((is_curved, "cross"), "cross", bred)
    given = call("population_joined", call("population_given", trial.tours), call("population_chosen", bred, CHOSEN))
    yield trial.population(("rounds",), "rounds", trial.run("rounds", trial.lists, given, started))
    if trial.form.kind in ("grid", "plane"):
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
        fields = {**GENERATION, "generation": generation, "unions": 3, "thrift": 70}
        many = call("plane_many_cross", loaded, many, trial.value("generation_plan", fields))
    tours, lengths = call("many_bests", many)
    yield Outcome(("many",), "plane_many_cross", tours.reshape(2, CITIES), lengths, (call("many_going", many),))


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
    yield Outcome((), "boxes_quadrants", others=(order, places, near, around, *joined))


def _comparators(trial: Trial) -> Iterator[Outcome]:
    call, lists = trial.call, trial.lists
    longest = float(trial.distances.max())
    temperatures = np.linspace(0.1 * longest, 0.0, 20)
    for moves in (0, 1):
        fields = {"seed": SEED, "first": 0, "from": 0, "trials": CITIES, "moves": moves}
        chains = call("chains_given", trial.tours)
        chains = trial.run("anneal", lists, chains, trial.value("annealing_plan", fields), temperatures)
        yield trial.climbers((moves, "anneal"), "anneal", chains)
    near = np.take_along_axis(trial.distances, lists.astype(np.int64), axis=1)
    etas = np.square(near.mean() / np.maximum(near, 0.5))
    reference = float(trial.form.whole.tour_length(trial.tours[0]))
    lengths = np.array([trial.form.whole.tour_length(tour) for tour in trial.tours], dtype=np.int64)
    for search, turns in ((0, 0), (1, 2), (2, 0)):
        rules = {"ants": 10, "quarters": 4, "search": search, "keep": 0.9, "weights": np.array([2.0, 1.0])}
        rules |= {"elite": 3.0, "turns": turns, "reference": reference, "floor": 0.01, "smoothing": 0.5, "patience": 3}
        colonies = call("colonies_given", NEIGHBOURS, trial.tours, lengths, 10.0)
        stretch = trial.value("stretch", {"seed": SEED, "first": 0, "from": 0, "iterations": 5})
        colonies = trial.run("forage", lists, etas, colonies, trial.value("rules", rules), stretch)
        yield trial.climbers((search, "forage"), "forage", colonies, "trails")


def _neighbourhoods(trial: Trial) -> Iterator[Outcome]:
    # All end alike; a CPU has the first ones only.
    for by in range(1 if "grid_climb_by" in trial.kernels.entry_points else 4):
        pairs = trial.call("pairs_of", CITIES, by)
        for verb in trial.ways("climb_by", *MAPPINGS, *["_flat"] * (by == 0)):
            shared = (False,) if verb.endswith("block") else ()
            yield trial.batch((), verb, trial.run(verb, pairs, trial.random(), *shared, MOST_PASSES))


def _strategies(trial: Trial) -> Iterator[Outcome]:
    given = trial.call("population_given", trial.tours)
    for moves, pivot in ((0, 0), (1, 1), (1, 2)):
        plan = _plan(trial, moves=moves, pivot=pivot, kick=1, draws=20, iterations=10)
        for verb in trial.ways("ils", "", "_lockstep"):
            for layout in ((1,), (3,)) if verb.endswith("lockstep") else (trial.stretch,):
                yield trial.population((moves, pivot), verb, trial.run(verb, trial.lists, given, plan, *layout))


def _blocks(trial: Trial) -> Iterator[Outcome]:
    call = trial.call
    shapes = [(2, lanes, rows) for lanes in (32, 128) for rows in (3, 7)]
    for k in (1, ALL):
        for verb in trial.ways("climb", "", "_blocks"):
            for shape in shapes if verb.endswith("blocks") else [()]:
                batch = trial.run(verb, trial.random(), k, MOST_PASSES, *shape)
                # Of climbers that take turns only the best one's tour is there.
                found = call("batch_found", batch)
                best = int(found[0].argmin())
                tours, lengths = call("batch_tour", batch, best)[None], found[0][best : best + 1]
                yield Outcome((k,), trial.entry(verb), tours, lengths, found)


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
    yield Outcome((), "alpha_lists", others=(*ascent, *alphas))


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
