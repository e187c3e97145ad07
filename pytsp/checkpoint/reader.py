"""A checkpoint that was read: the instance, the arguments of the solve, and the state of its solver."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pytsp.checkpoint import container
from pytsp.checkpoint.content import history_of, instance_of, options_of
from pytsp.exceptions import CheckpointError, PytspError
from pytsp.run.limits import Limits
from pytsp.run.state_reader import State
from pytsp.solvers.registry import OPTIONS

__all__ = ["Stored"]


class Stored:
    """A checkpoint as it was read.

    Parameters
    ----------
    file : str or os.PathLike

    Attributes
    ----------
    path : Path
    instance : Instance
        The one that is solved.
    options : Options
        Those of the solver.
    seed : int
    initial_tour : numpy.ndarray of int32, shape (n,), or None
    limits : Limits
        Those of the solve.
    bound : dict or None
        What was asked of a lower bound, and what is known of it, as `pytsp.api.bounded.Bounded` takes it.
    spent : float
        The seconds that were used before.
    history : list of Improvement

    Raises
    ------
    CheckpointError
        If the file is no checkpoint, is damaged, or is that of a newer version.
    OSError
        If it cannot be read.
    """

    def __init__(self, file: str | os.PathLike[str]) -> None:
        self.path = Path(file)
        self._tree = container.read(self.path)
        self._state = State(self._tree, str(self.path))
        try:
            self.instance = instance_of(self._state.part("instance"))
            self.spent, self.history = self._state.number("seconds"), history_of(self._state)
            limits, arguments = self._state.part("limits"), self._state.part("arguments")
            self.limits = Limits(**{name: limits.any(name) for name in ("time_limit", "target", "patience")})
            self._arguments = {name: arguments.any(name) for name in ("backend", "threads", "device")}
            self.bound = _bound_of(self._state.part("bound")) if "bound" in self._state else None
            asked = self._state.part("options")
            self.options = options_of(asked, arguments.one_of("solver", tuple(OPTIONS)))
            self.seed = asked.whole("seed", 0, 2**64 - 1)
            self.initial_tour = asked.tour("initial_tour", self.instance.n) if "initial_tour" in asked else None
        except CheckpointError:
            raise
        except (PytspError, TypeError, ValueError) as error:
            raise CheckpointError(f"{self.path}: the checkpoint is not as pytsp writes them: {error}") from error

    def placement(self, backend: str | None, threads: int | None, device: str | int | None) -> dict[str, Any]:
        """Return where the solve ran, or is to run now."""
        placement = dict(self._arguments)
        if backend is not None:
            placement = {"backend": backend, "threads": None, "device": None}
        return placement | {
            name: value for name, value in (("threads", threads), ("device", device)) if value is not None
        }

    @property
    def steps(self) -> list[State]:
        """The steps from the user's instance to `instance`, the outermost first."""
        return [self._state.item("steps", number) for number in range(len(self._state.items("steps")))]

    @property
    def solver_state(self) -> Mapping[str, Any] | None:
        """The solver's state as the file holds it; None where it had none yet."""
        state: Mapping[str, Any] | None = self._tree["state"]
        return state

    @property
    def standing(self) -> State | None:
        """The solver's state, to resume from; None if it had not begun."""
        return self._state.part("state") if "state" in self._state else None


def _bound_of(state: State) -> dict[str, Any]:
    """Return what a checkpoint says of a bound: numbers that are at least 0, or None."""
    names = ("time_limit", "lower_bound", "near")
    return {name: state.number(name) if name in state else None for name in names}
