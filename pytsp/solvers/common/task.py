"""Input of a solver: the instance, its options, the clock, and the opened kernels; and the plan to share it out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
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
    """One solve, as a solver sees it.

    Attributes
    ----------
    instance : Instance
    options : Options
        Those of the solver.
    watch : Watch
        Where it has a state, the solver goes on from there.
    seed : int
    given_tour : array_like of integers or None
        The initial tour as the user gave it.
    open : callable
        Return the part of a backend that the solver calls.
    quick_tour : callable, optional
        Return a tour within the given seconds, if the instance stands for another one that knows a better tour than its
        own.
    is_doubled : bool
        Whether the instance stands for directed ways, as `JonkerVolgenant` makes it: the two cities of each pair stay
        side by side.
    may_change_solver : bool
        Whether the solver was chosen for the user, so that another may take its place where it turns out to be late.
    memo : dict
        What is made of the instance once, for this task and others of the same solve; see `recall`.
    """

    instance: Instance
    options: O_co
    watch: Watch
    seed: int
    given_tour: ArrayLike | None
    open: Callable[[], Backend]
    quick_tour: Callable[[float], NDArray[np.int32]] | None = None
    is_doubled: bool = False
    may_change_solver: bool = False
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
        """The kernels, open."""
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
        """Return the plan as a checkpoint holds it."""
        return {"climbers": self.climbers, "busy": self.busy, "options": dict(self.options)}

    @classmethod
    def restored(cls, state: State) -> Plan:
        """Return the plan that a checkpoint holds."""
        said, options = state.part("options"), {}
        if "climbers" in said:
            options["climbers"] = said.whole("climbers", 1, 2**40)
        if "iterations" in said:
            options["iterations"] = said.whole("iterations")
        if "moves" in said:
            options["moves"] = said.text("moves")  # type: ignore[assignment]
        return cls(state.whole("climbers", 1, 2**40), state.whole("busy", 1), options)
