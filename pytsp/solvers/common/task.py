"""Input of a solver: the instance, its options, the clock, and the opened kernels; and the plan to share it out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pytsp.backends.context import Backend
from pytsp.problem.instance import Instance
from pytsp.problem.kernel_input import MATRIX_CITIES, Form, form_of
from pytsp.problem.tours import check_tour
from pytsp.run.monitor import Watch
from pytsp.run.state_reader import State
from pytsp.solvers.options.fields import Options

O_co = TypeVar("O_co", bound=Options, covariant=True)
T = TypeVar("T")


@dataclass
class Task(Generic[O_co]):
    """One solve, as a solver sees it, with the solver's options."""

    instance: Instance
    options: O_co
    # The solver goes on from its state, if it has one.
    watch: Watch
    seed: int
    # The initial tour as the user gave it.
    given_tour: ArrayLike | None
    # Returns the part of a backend that the solver calls.
    open: Callable[[], Backend]
    # Returns a tour within the given seconds, if the instance stands for another that knows a better one.
    quick_tour: Callable[[float], NDArray[np.int32]] | None = None
    # True for directed ways, as `JonkerVolgenant` makes them: the two cities of each pair stay side by side.
    is_doubled: bool = False
    # True if the solver was chosen for the user, so that another may take its place where it turns out to be late.
    may_change_solver: bool = False
    # What tasks of the same solve share; see `recall`.
    memo: dict[Any, Any] = field(default_factory=dict, repr=False)

    def recall(self, key: object, make: Callable[[], T]) -> T:
        """Return what `make` makes of the instance and the options that all tasks of a solve share, made once."""
        if key not in self.memo:
            self.memo[key] = make()
        made: T = self.memo[key]
        return made

    @cached_property
    def form(self) -> Form:
        """The instance as kernels take it."""
        in_space_above = MATRIX_CITIES if self.machine in self.options.in_space else None
        return self.recall("form", lambda: form_of(self.instance, in_space_above=in_space_above))

    @cached_property
    def kernels(self) -> Backend:
        return self.open()

    def prepare(self) -> None:
        """Have the instance in its form, and the kernels open, before what takes long."""
        _ = self.form, self.kernels

    def prepare_kernels(self) -> None:
        """Have the kernels open, of an instance whose form is made of a part of it."""
        _ = self.kernels

    @property
    def machine(self) -> str:
        """The kind of machine, on which paces depend: "cpu" or "gpu"."""
        return "cpu" if self.kernels.device is None else "gpu"

    @cached_property
    def initial_tour(self) -> NDArray[np.int32] | None:
        """The initial tour, shape (n,), once it is known to be one."""
        return None if self.given_tour is None else check_tour(self.given_tour, self.instance.n)


@dataclass(frozen=True)
class Plan:
    """The number of climbers, how many keep a worker busy, and options that would depend on the worker else."""

    climbers: int
    busy: int
    options: Mapping[str, Any] = field(default_factory=dict)

    def state(self) -> dict[str, Any]:
        return {"climbers": self.climbers, "busy": self.busy, "options": dict(self.options)}

    @classmethod
    def restored(cls, state: State) -> Plan:
        said, climbers = state.part("options"), partial(State.whole, least=1, most=2**40)
        readers: dict[str, Any] = {"climbers": climbers, "iterations": State.whole, "moves": State.text}
        options = {name: read(said, name) for name, read in readers.items() if name in said}
        return cls(climbers(state, "climbers"), state.whole("busy", 1), options)
