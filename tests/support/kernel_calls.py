"""Kernels as tests call them: an instance in all its forms, its lists, and climbers of the iterated local search."""

from __future__ import annotations

from typing import Any

import numpy as np
import oracle
from kernel_values import search_plan
from numpy.typing import NDArray

from pytsp import is_tour
from pytsp.backends import Backend, Opaque
from pytsp.problem.instance import Instance
from pytsp.problem.kernel_input import Form, _matrix, form_of
from pytsp.solvers.common.placement import mapping_of

# The longest segment that a move takes along, by its number in kernels: 3-opt takes any.
SEGMENTS = {0: 3, 1: 10**9}


def climbing_entry(entry: str, form: Form, backend: Backend) -> str:
    """The entry point by which climbers go on, which on a GPU has a form for each mapping."""
    return entry if backend.device is None else f"{entry}_{mapping_of(form.whole.n, backend)}"


def stretch_of(backend: Backend, begin: int = 0, window: int = 0) -> tuple[int, ...]:
    """The cities that wait for a descent, by default all, as a CPU's entry points for climbers take them."""
    return (begin, window) if backend.device is None else ()


def load(backend: Backend, form: Form) -> Opaque:
    """The instance on the device."""
    return backend.call(f"{form.kind}_load", *form.arguments)


def forms_of(instance: Instance) -> list[Form]:
    """Every form in which kernels can take an instance, its own first."""
    own = form_of(instance)
    forms = [own]
    if own.kind != "matrix":
        forms.append(Form("matrix", (_matrix(own.whole),), own.whole))
    if own.kind == "grid":
        assert instance.coordinates is not None
        xs, ys = np.ascontiguousarray(instance.coordinates.T)
        forms.append(Form("plane", (xs, ys, False), own.whole))
    return forms


def all_forms(instance: Instance) -> list[Form]:
    """The same, and points in space where they have the instance's distances."""
    space = form_of(instance, in_space_above=0)
    return forms_of(instance) + [space] * (space.kind == "space")


def distances_of(form: Form) -> list[list[int]]:
    """The distances that the kernel is to compute by."""
    matrix = form.whole.distance_matrix()
    assert matrix.dtype == np.int64
    return matrix.tolist()


def lists_of(form: Form, k: int | None = None) -> NDArray[np.int32]:
    """The k nearest neighbours of each city by the form's own distances, or all."""
    n = form.whole.n
    k = n - 1 if k is None else min(k, n - 1)
    return np.array(oracle.nearest(distances_of(form), k), dtype=np.int32).reshape(n, k)


def read(backend: Backend, kind: str, handle: Opaque) -> tuple[list[list[int]], list[int], list[int]]:
    """The best tours of a "population", of "chains" or of "colonies", their lengths, and the numbers of steps."""
    lengths, steps = (backend.call(f"{kind}_{what}", handle).tolist() for what in ("lengths", "steps"))
    return backend.fields(handle)["bests"].tolist(), lengths, steps


def assert_exact(form: Form, found: tuple[list[list[int]], list[int], list[int]]) -> None:
    """Tours are tours, and of the lengths that were tracked."""
    distances = distances_of(form)
    for tour, length in zip(*found[:2], strict=True):
        assert is_tour(tour, form.whole.n)
        assert oracle.length(distances, tour) == length


class Climbers:
    """A population on given tours, with the settings that its calls share."""

    def __init__(
        self,
        backend: Backend,
        form: Form,
        tours: Any,
        *,
        k: int | None = None,
        lists: NDArray[np.int32] | None = None,
        seed: int = 0,
        first: int = 0,
        moves: int = 1,
        pivot: int = 0,
        draws: int = 40,
        kick: int = 1,
        acceptance: int = 0,
        temperature: float = 0.0,
        cooled: int = 0,
    ) -> None:
        self.backend, self.form, self.loaded = backend, form, load(backend, form)
        self.lists = lists_of(form, k) if lists is None else lists
        self.choice = {"moves": moves, "pivot": pivot, "draws": draws}
        self.rest = {"seed": seed, "first": first, "kick": kick, "temperature": temperature, "cooled": cooled}
        self.rest["acceptance"] = acceptance
        self.population: Opaque = backend.call("population_given", np.atleast_2d(np.asarray(tours, dtype=np.int32)))

    def entry(self, what: str) -> str:
        """The entry point by which they go on here."""
        return climbing_entry(f"{self.form.kind}_{what}", self.form, self.backend)

    def go(self, start: int, iterations: int, *window: int) -> Climbers:
        """Go on by the iterations start, …, start + iterations - 1; on a CPU, a stretch of the tour may descend."""
        return self._call("ils", *window, **{"from": start}, iterations=iterations)

    def polish(self, *window: int) -> Climbers:
        """Descend from the best tours, on a CPU by a stretch of them if one is given."""
        return self._call("polish", *window)

    def _call(self, what: str, *window: int, **numbers: int) -> Climbers:
        plan = search_plan(self.backend, **self.choice, **self.rest, **numbers)
        self.population = self.backend.call(
            self.entry(what), self.loaded, self.lists, self.population, plan, *stretch_of(self.backend, *window)
        )
        return self

    def copy(self, start: list[int], to: list[int]) -> Climbers:
        """Let climbers stand where others do."""
        places = (np.array(start, dtype=np.int32), np.array(to, dtype=np.int32))
        self.population = self.backend.call("population_copy", self.population, *places)
        return self

    def found(self) -> tuple[list[list[int]], list[int], list[int]]:
        """The best tours, their lengths, and the numbers of steps."""
        return read(self.backend, "population", self.population)
