"""Instances of any sizes in one kernel call: their cities one behind another, and the steps of their populations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytsp.api.batch_pace import climbs_on_a_gpu
from pytsp.backends.context import Backend
from pytsp.backends.registry import host_kernels
from pytsp.neighbours.boxes import boxes_by
from pytsp.neighbours.exits import find_exits, may_have_far_cities, with_exits
from pytsp.problem.kernel_input import Form
from pytsp.run.coarse import may_be_coarse
from pytsp.solvers.common.local_search import PASSES, crossing_plan

# The length of all lists. Those of few cities have their last ones more than once, so that no draw depends on the sizes
# of others.
NEIGHBOURS = 8


def kind_of(form: Form) -> tuple[Any, ...]:
    """Return what instances have in common that go together: "plane", and whether it rounds up, or "matrices"."""
    if form.kind == "matrix":
        return ("matrices",)
    return ("plane", form.kind == "plane" and bool(form.arguments[2]))


class Together:
    """Instances that are solved together, each by a population of its own.

    `kernels` and `climbing` are those of crossover and of local search: a GPU's parts "flat" and "search". The forms
    are of one kind (`kind_of`), with 8 cities or more each.
    """

    def __init__(self, kernels: Backend, climbing: Backend, forms: Sequence[Form]) -> None:
        self.kernels, self.climbing, self.forms = kernels, climbing, forms
        (self.kind, *flags) = kind_of(forms[0])
        self.sizes = np.array([form.whole.n for form in forms], dtype=np.int32)
        self.ends = np.cumsum(self.sizes, dtype=np.int64)
        self.starts = self.ends - self.sizes
        self.arguments = self._matrices() if self.kind == "matrices" else [*self._axes(), *flags]
        self.loaded = kernels.call(f"{self.kind}_load", *self.arguments)
        is_one = climbing is kernels
        self.loaded_there = self.loaded if is_one else climbing.call(f"{self.kind}_load", *self.arguments)

    def solved(
        self, seed: int, climbers: int, generations: NDArray[np.int32], go_on: Callable[[], bool]
    ) -> tuple[list[NDArray[np.int32]], NDArray[np.int64], NDArray[np.bool_]]:
        """Return a tour of each instance, their lengths in the kernels' units, and whose populations were cut.

        Each has a population of `climbers` tours and at most its number of `generations`, shape (b,). `go_on` is called
        before each generation; where it returns false, the tours are those that there are.
        """
        call, kind = self.kernels.call, self.kind
        near, lists = self._lists()
        tours = self._climbed(near, lists, seed, climbers)
        many = call(f"{kind}_many_given", self.loaded, lists, self.sizes, generations, tours)
        generation = 0
        while (going := call("many_going", many)).any() and go_on():
            # The first generation changes all tours, and later ones some.
            fields = {"seed": seed, "generation": generation, **crossing_plan(1.0 if generation == 0 else 0.5)}
            many = call(f"{kind}_many_cross", self.loaded, many, self.kernels.value("generation_plan", fields))
            generation += 1
        tours, lengths = call("many_bests", many)
        tours.setflags(write=False)
        return np.split(tours, self.ends[:-1]), lengths, going

    def are_coarse(
        self, tours: Sequence[NDArray[np.int32]], lengths: Sequence[int | float], units: Sequence[float]
    ) -> list[bool]:
        """Tell of each tour whether it may be coarse; those of whole numbers never are."""
        found = [False] * len(units)
        if not any(units):
            return found
        for n in np.unique(self.sizes).tolist():
            alike = np.flatnonzero(self.sizes == n).tolist()
            rows = np.stack([tours[number] for number in alike]) + self.starts[alike, None]
            ways = partial(self._ways, rows, np.roll(rows, -1, axis=1))
            of_tours = np.array([lengths[number] for number in alike], dtype=np.float64)
            some = may_be_coarse(ways, n, of_tours, np.array([units[number] for number in alike]))
            for number, may_be in zip(alike, some.tolist(), strict=True):
                found[number] = may_be
        return found

    def _ways(self, a: NDArray[np.int64], b: NDArray[np.int64], which: NDArray[np.intp]) -> NDArray[Any]:
        """Return the distances from cities to others, of some rows; cities are numbered through."""
        a, b = a[which], b[which]
        if self.kind == "matrices":
            firsts, distances = self.arguments
            away: NDArray[Any] = distances[firsts[a] + b]
            return away
        xs, ys = self.arguments[:2]
        straight: NDArray[Any] = np.hypot(xs[a] - xs[b], ys[a] - ys[b])
        return straight

    def _climbed(
        self, near: NDArray[np.int32], lists: NDArray[np.int32], seed: int, climbers: int
    ) -> NDArray[np.int32]:
        """Return tours of all instances at their local optima, shape (climbers, n), those of equal size together."""
        sizes = np.unique(self.sizes).tolist()
        tours = np.empty((climbers, len(near)), dtype=np.int32)
        for n in sizes:
            starts = self.starts[self.sizes == n]
            count = len(starts)
            cities = slice(None) if len(sizes) == 1 else (starts[:, None] + np.arange(n)).ravel()
            # What a number of these cities has more than among those of this size.
            more = np.repeat(starts - n * np.arange(count), n).astype(np.int32)
            if self.kind == "matrices":
                firsts, distances = self.arguments
                arguments = [firsts[cities] + more, distances]
            else:
                xs, ys, *flags = self.arguments
                arguments = [xs[cities], ys[cities], *flags]
            is_on_gpu = climbs_on_a_gpu(self.climbing, n, count * climbers)
            by = self.climbing if is_on_gpu else host_kernels(self.climbing) or self.climbing
            is_there = len(sizes) == 1 and by is self.climbing
            loaded = self.loaded_there if is_there else by.call(f"{self.kind}_load", *arguments)
            own = [each if len(sizes) == 1 else each[cities] - more[:, None] for each in (near, lists)]
            made = by.call(f"{self.kind}_many_climbed", loaded, n, *own, seed, climbers, PASSES)
            first = starts.astype(np.int32)[:, None, None]
            tours[:, cities] = (made.reshape(count, climbers, n) + first).transpose(1, 0, 2).reshape(climbers, -1)
        return tours

    def _axes(self) -> list[NDArray[np.float64]]:
        return [np.concatenate([form.arguments[axis] for form in self.forms]).astype(np.float64) for axis in (0, 1)]

    def _matrices(self) -> list[NDArray[Any]]:
        """Return before which distance, less the first city's number, a city's row begins, and all distances."""
        sizes = self.sizes.astype(np.int64)
        begins = np.cumsum(sizes * sizes) - sizes * sizes
        own = np.arange(self.ends[-1]) - np.repeat(self.starts, self.sizes)
        firsts = np.repeat(begins - self.starts, self.sizes) + own * np.repeat(sizes, self.sizes)
        return [firsts, np.concatenate([np.ravel(form.arguments[0]) for form in self.forms])]

    def _lists(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Return the nearest neighbours of each city in its instance, shape (n, k), and the same lists with exits."""
        nearest: NDArray[np.int32] = self.climbing.call(
            f"{self.kind}_many_lists", self.loaded_there, self.sizes, NEIGHBOURS
        )
        lists = nearest
        may_need = ~self.climbing.call("many_connected", nearest, self.sizes)
        if self.kind == "matrices":
            may_need |= may_have_far_cities(self.starts, len(nearest), self._distances)
        for number in np.flatnonzero(may_need).tolist():
            part = slice(int(self.starts[number]), int(self.ends[number]))
            whole, near = self.forms[number].whole, nearest[part, : self.sizes[number] - 1] - self.starts[number]
            near = near.astype(np.int32)
            with boxes_by(self.climbing):
                exits = find_exits(whole, near)
            if exits.shape[1]:
                lists = nearest.copy() if lists is nearest else lists
                lists[part, : near.shape[1]] = with_exits(whole, near, exits) + self.starts[number]
        return nearest, lists

    def _distances(self, others: NDArray[np.int64]) -> NDArray[np.int32]:
        """Return the distances of each city from others of its instance, by their numbers there."""
        firsts, distances = self.arguments
        found: NDArray[np.int32] = distances[(firsts + np.repeat(self.starts, self.sizes))[:, None] + others]
        return found
