"""A checkpoint that was read: the instance, the arguments of the solve, and the state of its solver."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from pytsp.checkpoint import container
from pytsp.checkpoint.content import instance_of
from pytsp.exceptions import CheckpointError, PytspError
from pytsp.run.limits import Limits
from pytsp.run.monitor import Improvement
from pytsp.run.state_reader import State
from pytsp.solvers.options.fields import Options
from pytsp.solvers.registry import OPTIONS


class Stored:
    """A checkpoint as it was read: the instance that is solved, the arguments of the solve, and the seconds `spent`.

    The bound is as `pytsp.api.bounded.Bounded` takes it. `CheckpointError` is raised if the file is no checkpoint, is
    damaged or of a newer version, and `OSError` if it cannot be read.
    """

    def __init__(self, file: str | os.PathLike[str]) -> None:
        self.path = Path(file)
        self._state = State(container.read(self.path), str(self.path))
        try:
            self.instance = instance_of(self._state.part("instance"))
            self.spent = self._state.number("seconds")
            self.history = [Improvement(*improvement) for improvement in self._state.items("history")]
            limits, arguments = self._state.part("limits"), self._state.part("arguments")
            self.limits = Limits(**{name: limits.any(name) for name in ("time_limit", "target", "patience")})
            self._arguments = {name: arguments.any(name) for name in ("backend", "threads", "device")}
            # What was asked of a lower bound, and what is known of it.
            self.bound: dict[str, Any] | None = None
            if "bound" in self._state:
                said = self._state.part("bound")
                names = ("time_limit", "lower_bound", "near")
                self.bound = {name: said.number(name) if name in said else None for name in names}
            asked = self._state.part("options")
            kind = OPTIONS[arguments.one_of("solver", tuple(OPTIONS))]
            self.options: Options = kind(**{name: asked.any(name) for name in kind.fields() if name in asked})
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
        return self._state.parts("steps")

    @property
    def standing(self) -> State | None:
        """The solver's state, to resume from; None if it had not begun."""
        return self._state.part("state") if "state" in self._state else None
