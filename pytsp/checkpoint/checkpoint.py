"""Checkpoints: a solve writes its state from time to time, and resumes from it in another process."""

from __future__ import annotations

import logging
import math
import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from numbers import Integral, Real
from pathlib import Path
from typing import Any

from pytsp.checkpoint import container
from pytsp.checkpoint.content import Bounded, instance_of, stored_instance
from pytsp.exceptions import CheckpointError, PytspError
from pytsp.run.limits import Limits
from pytsp.run.monitor import Improvement, Watch
from pytsp.run.state_reader import State
from pytsp.solvers.common.task import Task
from pytsp.solvers.options.fields import Options
from pytsp.solvers.registry import OPTIONS
from pytsp.utils.arguments import check_real, file_name, is_array

INTERVAL = 30.0
"""The seconds between two checkpoints, where none are given."""

# Writing takes at most this share of a solve's time: where it takes long, checkpoints become rarer.
WRITING_SHARE = 0.05
# The limits, and the arguments besides the solver, as a checkpoint holds them.
_LIMITS, _PLACEMENT = ("time_limit", "target", "patience"), ("backend", "threads", "device")

_log = logging.getLogger("pytsp")


class Checkpoint:
    """The file into which one solve writes its state, every `interval` seconds, or less often where that takes long.

    `head`, that of `head_of`, is the content besides the state. `TypeError` or `ValueError` is raised if the path or
    the interval is invalid.
    """

    def __init__(self, path: str | os.PathLike[str], head: Mapping[str, Any], interval: float) -> None:
        check_real("checkpoint_interval", interval)
        if not 0 <= interval < float("inf"):
            raise ValueError(f"checkpoint_interval must be a number of seconds, at least 0; it is {interval!r}")
        self.path = Path(file_name("checkpoint", path))
        # A link stays one.
        self._file = Path(os.path.realpath(self.path))
        self.head, self.interval = head, interval
        self.has_state = False
        # When the last state was written, and what that took.
        self.written, self.seconds = time.perf_counter(), 0.0

    def begin(self, watch: Watch, *, resumed: bool = False, state: Mapping[str, Any] | None = None) -> None:
        """Write the file for the first time, so that what is wrong with it is known before the work.

        `CheckpointError` is raised if it cannot be written, or is there already and its solve is not `resumed`.
        """
        if self._file.is_dir():
            raise CheckpointError(f"{self.path}: the checkpoint cannot be written: it is a folder")
        try:
            if not resumed and os.path.lexists(self._file):
                raise FileExistsError
            self._write(watch, state, is_new=not resumed)
        except OSError as error:
            # Of two solves that begin at once one is the first.
            if not resumed and os.path.lexists(self._file):
                raise CheckpointError(
                    f"{self.path}: the file is there already; continue its solve with 'pytsp resume', or remove it"
                ) from error
            raise CheckpointError(
                f"{self.path}: the checkpoint cannot be written: {error.strerror or error}"
            ) from error
        container.sweep(self._file)

    def offer(self, watch: Watch, state: Callable[[], Mapping[str, Any]], *, final: bool = False) -> None:
        """Write the solver's state if it is due, or at the end.

        A failure is logged as a warning: the file stays what it was, and the solve goes on.
        """
        waited = time.perf_counter() - self.written
        if not final and waited < max(self.interval, self.seconds / WRITING_SHARE):
            return
        try:
            self._write(watch, state())
            self.has_state = True
        except OSError as error:
            why = error.strerror or error
            _log.warning("%s: the checkpoint was not written: %s; the last one is intact", self.path, why)
            self.written = time.perf_counter()

    def discard(self) -> None:
        """Remove the file of a solve that has failed before it had a state."""
        if not self.has_state:
            self._file.unlink(missing_ok=True)

    def _write(self, watch: Watch, state: Mapping[str, Any] | None, *, is_new: bool = False) -> None:
        began = time.perf_counter()
        # JSON has no infinity, which the length of a tour with a forbidden edge is.
        history = [[float(at), int(each), length] for at, each, length in watch.history if math.isfinite(length)]
        parts = container.pack({**self.head, "seconds": watch.seconds, "history": history, "state": state})
        container.replace_file(self._file, lambda stream: container.write(stream, parts), is_new=is_new)
        self.written = time.perf_counter()
        self.seconds = self.written - began
        _log.info("%s: checkpoint of %d bytes written", self.path, sum(len(part) for part in parts))


def head_of(
    task: Task[Options],
    placement: Mapping[str, Any],
    bounded: Bounded | None = None,
    steps: Sequence[Mapping[str, Any]] = (),
) -> dict[str, Any]:
    """Return the content of a checkpoint besides the state of its solver: instance, arguments and steps."""
    return {
        **({} if bounded is None else {"bound": asdict(bounded)}),
        "steps": list(steps),
        "instance": stored_instance(task.instance),
        "options": _stored_options(task),
        "arguments": {**placement, "solver": task.options.name},
        "limits": {name: getattr(task.watch, name) for name in _LIMITS},
    }


def _stored_options(task: Task[Options]) -> dict[str, Any]:
    """Return the options of a solver for a checkpoint: tours and neighbour lists, which are checked, are arrays."""
    given = {name: getattr(task.options, name) for name in task.options.fields()}
    if is_array(given.get("neighbours")):
        # Only neighbour lists that are given need it.
        from pytsp.neighbours.lists import check_neighbours  # noqa: PLC0415

        given["neighbours"] = check_neighbours(given["neighbours"], task.instance.n)
    given |= {"seed": task.seed, "initial_tour": task.initial_tour}
    # A number that is not whole, of whatever kind, is a float.
    is_float = {name: isinstance(value, Real) and not isinstance(value, Integral) for name, value in given.items()}
    return {name: float(value) if is_float[name] else value for name, value in given.items()}


class Stored:
    """A checkpoint as it was read: the instance that is solved, the arguments of the solve, and the seconds `spent`.

    The `steps` lead from the user's instance to `instance`, the outermost first. `standing` is the state of the solver,
    to resume from; None if it had not begun. `CheckpointError` is raised if the file is no checkpoint, is damaged
    or of a newer version, and `OSError` if it cannot be read.
    """

    def __init__(self, file: str | os.PathLike[str]) -> None:
        self.path = Path(file)
        state = State(container.read(self.path), str(self.path))
        try:
            self.instance, self.steps = instance_of(state.part("instance")), state.parts("steps")
            self.standing = state.part("state") if "state" in state else None
            self.spent = state.number("seconds")
            self.history = [Improvement(*improvement) for improvement in state.items("history")]
            limits, arguments = state.part("limits"), state.part("arguments")
            self.limits = Limits(**{name: limits.any(name) for name in _LIMITS})
            self._arguments = {name: arguments.any(name) for name in _PLACEMENT}
            self.bounded = Bounded.restored(state.part("bound")) if "bound" in state else None
            asked = state.part("options")
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
        before = self._arguments if backend is None else {"backend": backend, "threads": None, "device": None}
        now = {"threads": threads, "device": device}
        return before | {name: value for name, value in now.items() if value is not None}
