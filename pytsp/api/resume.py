"""Go on with a solve from its checkpoint."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pytsp.api.bounded import Bounded, bound_result, near_length, search_seconds, tell_bound
from pytsp.api.dispatch import run, task_of
from pytsp.api.restating import restate_result, restating, steps_of, stored_step
from pytsp.bound.bound import Ascent
from pytsp.bound.graphs import TOURS
from pytsp.checkpoint.reader import Stored
from pytsp.checkpoint.writer import INTERVAL, Checkpoint, head_of
from pytsp.run.coarse import warn_of_resolution, with_doubt
from pytsp.run.monitor import Improved, Progress, Watch, check_gap, target_length
from pytsp.run.result import Result
from pytsp.utils.arguments import file_name

if TYPE_CHECKING:
    from concurrent.futures import Executor

__all__ = ["resume", "resume_stored"]


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
    progress: Callable[[Progress], object] | None = None,
    on_improvement: Callable[[Improved], object] | None = None,
    executor: Executor | Any | None = None,
    devices: str | Sequence[int | str] | None = None,
) -> Result:
    """Resume a solve from its checkpoint, and write further checkpoints to the same file.

    If iterations or climbers end the solve, the result is the same as without the interruption, on every backend.
    Limits, and the result's seconds and history, are those of the whole solve, so the time before counts.

    Parameters
    ----------
    file : str or os.PathLike
        The `checkpoint` of `pytsp.solve`.
    backend : str, optional
        The backend on which to resume. By default that of the solve, with its threads and device.
    threads : int, optional
    device : str or int, optional
    time_limit, target, target_gap, patience : float, optional
        New limits in place of those of the solve; see `pytsp.solve`.
    checkpoint_interval : float, optional
        Seconds between two checkpoints.
    progress, on_improvement : callable, optional
        See `pytsp.solve`.
    executor, devices
        Workers, as in `pytsp.solve`; by default this process. Completed work is not repeated.

    Returns
    -------
    Result

    Raises
    ------
    CheckpointError
        If the file is not a checkpoint, is damaged, comes from a newer version, or cannot be written.
    OSError
        If the file cannot be read.
    ValueError
        If an argument is out of its range.
    BackendError
        If the backend is not built, cannot run here, or fails.

    Warns
    -----
    PytspWarning
        If floating-point distances span too many decades for an exact search. A solve without a checkpoint searches on
        finer scales.
    """
    stored = Stored(file_name("file", file))
    limits = {"time_limit": time_limit, "target": target, "target_gap": target_gap, "patience": patience}
    callbacks = {"progress": progress, "on_improvement": on_improvement}
    placement = stored.placement(backend, threads, device)
    work = {"executor": executor, "devices": devices}
    return resume_stored(stored, placement, limits, checkpoint_interval, **work, **callbacks)


def resume_stored(
    stored: Stored,
    placement: dict[str, Any],
    limits: dict[str, float | None],
    interval: float,
    *,
    executor: Any = None,
    devices: Any = None,
    **callbacks: Any,
) -> Result:
    """Go on with the solve of a checkpoint that was read; limits that are None stay as they were."""
    steps = steps_of(stored)
    gap, instance = limits["target_gap"], steps[0].original if steps else stored.instance
    bounded = None if stored.bound is None else Bounded(**stored.bound)
    if bounded is not None and bounded.lower_bound is not None and instance.optimum is None and gap is not None:
        check_gap(gap)
        near = near_length(bounded.lower_bound, gap)
        bounded, gap = replace(bounded, near=near), None
        limits = limits | {"target": near if limits["target"] is None else max(limits["target"], near)}
    given = {"time_limit": limits["time_limit"], "patience": limits["patience"]}
    target = Watch(target=target_length(instance, limits["target"], gap)).target
    given["target"] = None if target is None else max(0, target - sum(step.offset for step in steps))
    kept = stored.limits | {name: value for name, value in given.items() if value is not None}
    if bounded is not None and given["time_limit"] is not None:
        # The bound is requested again, within the new limit.
        Watch(time_limit=given["time_limit"])
        bounded = replace(bounded, time_limit=given["time_limit"])
        if bounded.lower_bound is None:
            kept["time_limit"] = search_seconds(Ascent(instance, TOURS), bounded.time_limit)
    restated: dict[str, Any] = {name: restating(callback, steps) for name, callback in callbacks.items()}
    watch = Watch(**kept, **restated, spent=stored.spent, history=stored.history)
    task = task_of(stored.instance, stored.options, watch, stored.seed, stored.initial_tour, placement)
    head = head_of(task, placement, bounded, list(map(stored_step, steps)))
    watch.checkpoint = Checkpoint(stored.path, head, interval)
    watch.state = stored.standing
    watch.checkpoint.begin(watch, resumed=True, state=None if watch.state is None else watch.state.all)
    result = with_doubt(run(task, executor, devices, placement))
    for step in reversed(steps):
        result = restate_result(result, step)
    if result.is_coarse:
        # Attribute the warning to the caller of `resume`.
        warn_of_resolution(result, stacklevel=3)
    if bounded is None:
        return result
    if bounded.lower_bound is not None:
        return tell_bound(result, bounded)
    return bound_result(result, TOURS, bounded.time_limit, callbacks.get("progress"))
