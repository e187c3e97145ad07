"""Starts, rounds and generations of the flattened crossover in plain loops, tour by tour: slow on purpose."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import flat_oracle
from flat_oracle import Distances, Exchange, Tour

Lists = Sequence[Sequence[int]]


@dataclass(frozen=True)
class Plan:
    """The plan of a generation."""

    most: int = 150
    cap: int = 1500
    rounds: int = 8
    unions: int = 0
    thrift: int = 0


@dataclass(frozen=True)
class Bulk:
    """The plan of starts and of their local search."""

    seed: int = 0
    first: int = 0
    curved: bool = False
    noise: int = 256
    joins: int = 8
    wide: int = 8
    least: int = 1
    rounds: int = 0


def streams(p: int, seed: int, generation: int) -> list[int]:
    """The key of each of p tours in a generation."""
    here = flat_oracle.word(flat_oracle.stream(seed, generation), 0)
    return [flat_oracle.stream(here, a) for a in range(p)]


def mates(keys: Sequence[int]) -> list[int]:
    """The mate of each tour: the next one in the order of the tours' first words."""
    order = sorted(range(len(keys)), key=lambda a: (flat_oracle.word(keys[a], -1), a))
    after = dict(zip(order, [*order[1:], order[0]], strict=True))
    return [after[a] for a in range(len(keys))]


def cycles(distances: Distances, tour: Tour, mate: Tour, key: int, most: int) -> list[Exchange]:
    """The AB-cycles of a pair with what they save."""
    found = flat_oracle.ab_cycles(tour, mate, flat_oracle.bits(key), most)
    return [Exchange(each.cuts, each.link, flat_oracle.saved(distances, tour, each)) for each in found]


def child(
    distances: Distances, lists: Lists, tours: Sequence[Tour], tour: Tour, mate: Tour, key: int, plan: Plan
) -> list[int]:
    """A tour after it has taken over edges from its mate; edges are counted in all tours."""

    def good(exchanges: list[Exchange]) -> tuple[list[Exchange], list[Exchange]]:
        """Those that leave one tour and save something once merged, and those given that do not."""
        tries = [flat_oracle.merged(distances, lists, tour, each, plan.cap, plan.rounds) for each in exchanges]
        is_good = [left == 1 and each.gain > 0 for each, left in tries]
        found = [each for (each, _), f in zip(tries, is_good, strict=True) if f]
        return found, [each for each, f in zip(exchanges, is_good, strict=True) if not f]

    all_cycles = cycles(distances, tour, mate, key, plan.most)
    children, others = good([each for each in all_cycles if each.gain > 0])
    children += good(flat_oracle.unions(len(tour), all_cycles, others, 2 * plan.most, plan.unions))[0]
    if plan.thrift:
        lost = [flat_oracle.entropy_lost(lists, tours, tour, each) for each in children]
        chosen = flat_oracle.worthy(plan.thrift, children, lost)
        children = [each for each, f in zip(children, chosen, strict=True) if f]
    return flat_oracle.child_of(distances, lists, tour, children)


def generation(
    distances: Distances, lists: Lists, tours: Sequence[Tour], seed: int, number: int, plan: Plan
) -> list[list[int]]:
    """The tours of the next generation, each at its place."""
    keys = streams(len(tours), seed, number)
    pairs = zip(tours, mates(keys), keys, strict=True)
    return [child(distances, lists, tours, tour, tours[b], key, plan) for tour, b, key in pairs]


def start(distances: Distances, lists: Lists, xs: Sequence[int], ys: Sequence[int], c: int, plan: Bulk) -> list[int]:
    """The tour on which climber c of a call starts, after its local search."""
    key = flat_oracle.stream(plan.seed, plan.first + c)
    places = [flat_oracle.place_along(key, x, y) for x, y in zip(xs, ys, strict=True)]
    if plan.curved:
        tour = sorted(range(len(distances)), key=lambda city: (places[city], city))
    else:
        tour = flat_oracle.Greedy(distances, lists, key, plan.noise, plan.joins).tour(places)
    return searched(distances, lists, tour, plan)


def searched(distances: Distances, lists: Lists, tour: Tour, plan: Bulk) -> list[int]:
    """A tour after the local search of a plan."""
    return flat_oracle.searched(distances, lists, tour, plan.wide, plan.least, plan.rounds)
