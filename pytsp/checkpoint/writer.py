"""Checkpoints: a solve writes down from time to time where it stands, and goes on from there in another process."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytsp.checkpoint import container as _container
from pytsp.checkpoint.content import history_of, instance_of, options_of, stored_instance, stored_options
from pytsp.exceptions import CheckpointError, PytspError
from pytsp.run.monitor import Improvement, Progress, Watch, target_length
from pytsp.run.state_reader import State
from pytsp.solvers.registry import PART_OF
from pytsp.utils.arguments import check_real

if TYPE_CHECKING:
    from pytsp.problem.instance import Instance
    from pytsp.run.result import Result
    from pytsp.solvers.options import Options

__all__ = ["INTERVAL", "Checkpoint", "Stored", "resume"]

INTERVAL = 30.0
"""The seconds between two checkpoints, where none are given."""

# Writing takes at most this share of a solve's time: where it takes long, checkpoints become rarer.
WRITING_SHARE = 0.05

_log = logging.getLogger("pytsp")


class Checkpoint:
    """The file into which one solve writes where it stands.

    Parameters
    ----------
    path : str or os.PathLike
    head : mapping
        What the file holds besides the solver's state: see `head_of`.
    interval : float
        Seconds, at least 0, between two states; more where writing them takes long.

    Raises
    ------
    ValueError
        If the interval is none.
    """

    def __init__(self, path: str | os.PathLike[str], head: Mapping[str, Any], interval: float) -> None:
        check_real("checkpoint_interval", interval)
        if not 0 <= interval < float("inf"):
            raise ValueError(f"checkpoint_interval must be a number of seconds, at least 0; it is {interval!r}")
        self.path = Path(path)
        self.head = head
        self.interval = interval
        self.has_state = False
        # When the last state was written, and what that took.
        self.written = time.perf_counter()
        self.seconds = 0.0

    def begin(self, watch: Watch, stored: Stored | None = None) -> None:
        """Write the file for the first time, so that what is wrong with it is known before the work.

        Raises
        ------
        CheckpointError
            If there is such a file already, unless it is `stored`, or it cannot be written.
        """
        if stored is None and self.path.exists():
            raise CheckpointError(
                f"{self.path}: the file is there already; continue its solve with 'pytsp resume', or remove it"
            )
        try:
            _container.sweep(self.path)
            self._write(watch, None if stored is None else stored.solver_state)
        except OSError as error:
            raise CheckpointError(f"{self.path}: the checkpoint cannot be written: {_reason(error)}") from error

    def offer(self, watch: Watch, state: Callable[[], Mapping[str, Any]], *, final: bool = False) -> None:
        """Write where the solver stands if it is time to, or at the end.

        A failure is logged as a warning: the file stays what it was, and the solve goes on.
        """
        waited = time.perf_counter() - self.written
        if not final and waited < max(self.interval, self.seconds / WRITING_SHARE):
            return
        try:
            self._write(watch, state())
            self.has_state = True
        except OSError as error:
            _log.warning("%s: the checkpoint was not written: %s; the last one is intact", self.path, _reason(error))
            self.written = time.perf_counter()

    def discard(self) -> None:
        """Remove the file of a solve that has failed before it had a state."""
        if not self.has_state:
            self.path.unlink(missing_ok=True)

    def _write(self, watch: Watch, state: Mapping[str, Any] | None) -> None:
        began = time.perf_counter()
        history = [[float(at), int(iteration), length] for at, iteration, length in watch.history]
        parts = _container.pack({**self.head, "seconds": watch.seconds, "history": history, "state": state})
        _container.replace_file(self.path, lambda stream: _container.write(stream, parts))
        self.written = time.perf_counter()
        self.seconds = self.written - began
        _log.info("%s: checkpoint of %d bytes written", self.path, sum(len(part) for part in parts))


def head_of(instance: Instance, options: Options, watch: Watch, **arguments: object) -> dict[str, Any]:
    """Return what a checkpoint holds besides the solver's state: the instance, and what was asked of the solve."""
    return {
        "instance": stored_instance(instance),
        "options": stored_options(options, instance.n),
        "arguments": arguments,
        "limits": {"time_limit": watch.time_limit, "target": watch.target, "patience": watch.patience},
    }


class Stored:
    """A checkpoint as it was read.

    Parameters
    ----------
    file : str or os.PathLike

    Attributes
    ----------
    instance : Instance

    Raises
    ------
    CheckpointError
        If the file is no checkpoint, is damaged, or is that of a newer version.
    OSError
        If it cannot be read.
    """

    def __init__(self, file: str | os.PathLike[str]) -> None:
        self.path = Path(file)
        self._tree = _container.read(self.path)
        self._state = State(self._tree, str(self.path))
        try:
            self.instance = instance_of(self._state.part("instance"))
            self._spent, self._history = self._state.number("seconds"), history_of(self._state)
            limits, arguments = self._state.part("limits"), self._state.part("arguments")
            self._limits = {name: limits.any(name) for name in ("time_limit", "target", "patience")}
            Watch(**self._limits)
            self._arguments = {name: arguments.any(name) for name in ("backend", "threads", "device", "mapping")}
            self._arguments |= {"solver": arguments.one_of("solver", tuple(PART_OF)), "k": arguments.whole("k", 1)}
            self._options = options_of(self._state.part("options"), self._arguments["solver"])
        except CheckpointError:
            raise
        except (PytspError, TypeError, ValueError) as error:
            raise CheckpointError(f"{self.path}: the checkpoint is not as pytsp writes them: {error}") from error

    def resume(
        self,
        *,
        backend: str | None = None,
        threads: int | None = None,
        device: str | int | None = None,
        time_limit: float | None = None,
        target: float | None = None,
        target_gap: float | None = None,
        patience: float | None = None,
        checkpoint_interval: float = INTERVAL,
        progress: Callable[[Progress], None] | None = None,
        on_improvement: Callable[[Improvement], None] | None = None,
    ) -> Result:
        """Go on with the solve; see `resume`."""
        from pytsp.api.dispatch import run  # noqa: PLC0415

        arguments, limits = self.arguments(backend, threads, device), dict(self._limits)
        shortest = target_length(self.instance, target, target_gap)
        given = {"time_limit": time_limit, "target": shortest, "patience": patience}
        limits |= {name: value for name, value in given.items() if value is not None}
        watch = Watch(
            **limits, progress=progress, on_improvement=on_improvement, spent=self._spent, history=self._history
        )
        head = head_of(self.instance, self._options, watch, **arguments)
        watch.checkpoint = Checkpoint(self.path, head, checkpoint_interval)
        watch.checkpoint.begin(watch, self)
        watch.state = self._state.part("state") if "state" in self._state else None
        return run(self.instance, self._options, watch, **arguments)

    def arguments(self, backend: str | None, threads: int | None, device: str | int | None) -> dict[str, Any]:
        """Return the solver's name and where it ran, or is to run now."""
        arguments = dict(self._arguments)
        if backend is not None:
            arguments |= {"backend": backend, "threads": None, "device": None}
        return arguments | {k: v for k, v in (("threads", threads), ("device", device)) if v is not None}

    @property
    def solver_state(self) -> Mapping[str, Any] | None:
        """The solver's state as the file holds it; None where it had none yet."""
        state: Mapping[str, Any] | None = self._tree["state"]
        return state


def resume(
    file: str | os.PathLike[str],
    *,
    backend: str | None = None,
    threads: int | None = None,
    device: str | int | None = None,
    time_limit: float | None = None,
    target: float | None = None,
    target_gap: float | None = None,
    patience: float | None = None,
    checkpoint_interval: float = INTERVAL,
    progress: Callable[[Progress], None] | None = None,
    on_improvement: Callable[[Improvement], None] | None = None,
) -> Result:
    """Go on with a solve from its checkpoint, and write further ones into the same file.

    Where iterations or climbers end the solve, the result is what it would have been without the interruption, on every
    backend. The time that was used before counts: limits are those of the solve as a whole, and so are the result's
    seconds and history.

    Parameters
    ----------
    file : str or os.PathLike
        What `pytsp.solve` was given as `checkpoint`.
    backend : str, optional
        Where to go on; by default the backend that the solve was asked for, with its threads and device.
    threads : int, optional
    device : str or int, optional
    time_limit, target, target_gap, patience : float, optional
        New limits in the place of those that the solve was given; see `pytsp.solve`.
    checkpoint_interval : float, optional
        Seconds between two checkpoints.
    progress, on_improvement : callable, optional
        See `pytsp.solve`.

    Returns
    -------
    Result

    Raises
    ------
    CheckpointError
        If the file is no checkpoint, is damaged, is that of a newer version, or cannot be written.
    OSError
        If the file cannot be read.
    ValueError
        If an argument is out of its range.
    BackendError
        If the backend is not built, cannot run here, or fails.
    """
    return Stored(file).resume(
        backend=backend,
        threads=threads,
        device=device,
        time_limit=time_limit,
        target=target,
        target_gap=target_gap,
        patience=patience,
        checkpoint_interval=checkpoint_interval,
        progress=progress,
        on_improvement=on_improvement,
    )


def _reason(error: OSError) -> str:
    return error.strerror or str(error)
