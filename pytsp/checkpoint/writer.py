"""Checkpoints: a solve writes its state from time to time, and resumes from it in another process."""

from __future__ import annotations

import logging
import math
import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytsp.checkpoint import container
from pytsp.checkpoint.content import stored_instance, stored_options
from pytsp.exceptions import CheckpointError
from pytsp.run.monitor import Watch
from pytsp.utils.arguments import check_real, file_name

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    from pytsp.solvers.common.task import Task
    from pytsp.solvers.options.fields import Options

INTERVAL = 30.0
"""The seconds between two checkpoints, where none are given."""

# Writing takes at most this share of a solve's time: where it takes long, checkpoints become rarer.
WRITING_SHARE = 0.05

_log = logging.getLogger("pytsp")


class Checkpoint:
    """The file into which one solve writes its state, every `interval` seconds, or less often where that takes long.

    `head`, that of `head_of`, is what the file holds besides. `TypeError` or `ValueError` is raised if the path or the
    interval is none.
    """

    def __init__(self, path: str | os.PathLike[str], head: Mapping[str, Any], interval: float) -> None:
        check_real("checkpoint_interval", interval)
        if not 0 <= interval < float("inf"):
            raise ValueError(f"checkpoint_interval must be a number of seconds, at least 0; it is {interval!r}")
        self.path = Path(file_name("checkpoint", path))
        # A link stays one.
        self._file = Path(os.path.realpath(self.path))
        self.head = head
        self.interval = interval
        self.has_state = False
        # When the last state was written, and what that took.
        self.written = time.perf_counter()
        self.seconds = 0.0

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
            raise CheckpointError(f"{self.path}: the checkpoint cannot be written: {reason(error)}") from error
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
            _log.warning("%s: the checkpoint was not written: %s; the last one is intact", self.path, reason(error))
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
    bounded: DataclassInstance | None = None,
    steps: Sequence[Mapping[str, Any]] = (),
) -> dict[str, Any]:
    """Return what a checkpoint holds besides the solver's state: the instance, what was asked of the solve, with its
    bound, where it was to run, and the steps that lead to the instance from the user's."""
    watch = task.watch
    bound = {} if bounded is None else {"bound": asdict(bounded)}
    return {
        **bound,
        "steps": list(steps),
        "instance": stored_instance(task.instance),
        "options": stored_options(task),
        "arguments": {**placement, "solver": task.options.name},
        "limits": {"time_limit": watch.time_limit, "target": watch.target, "patience": watch.patience},
    }


def reason(error: OSError) -> str:
    """Say why a file cannot be written."""
    return error.strerror or str(error)
