"""Go on with a solve from its checkpoint."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from pytsp.api.bounded import bound_result, nearer, search_seconds, tell_bound
from pytsp.api.collapsed import Collapsed
from pytsp.api.dispatch import run, task_of
from pytsp.api.reductions import WithFixedEdges
from pytsp.api.steps import FirstCity, Request, Restater, Step
from pytsp.bound.bound import Ascent
from pytsp.bound.graphs import TOURS
from pytsp.checkpoint.checkpoint import INTERVAL, Checkpoint, Stored, head_of
from pytsp.checkpoint.content import instance_of
from pytsp.problem.fixed_edges import FixedEdges
from pytsp.problem.instance import Instance
from pytsp.run.coarse import warn_of_resolution, with_doubt
from pytsp.run.limits import Limits
from pytsp.run.monitor import Improved, Progress, Watch
from pytsp.run.result import Result
from pytsp.run.state_reader import State
from pytsp.utils.arguments import file_name

if TYPE_CHECKING:
    from concurrent.futures import Executor


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
    limits: Limits | None = None,
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
    limits : Limits, optional
        The same limits as one `pytsp.Limits`. Give each limit here or as its keyword, not both.
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
    placement = stored.placement(backend, threads, device)
    limits = Limits.of(limits, time_limit=time_limit, target=target, target_gap=target_gap, patience=patience)
    callbacks = {"progress": progress, "on_improvement": on_improvement}
    return resume_stored(
        stored, placement, limits, checkpoint_interval, executor=executor, devices=devices, **callbacks
    )


def resume_stored(
    stored: Stored,
    placement: dict[str, Any],
    limits: Limits,
    interval: float,
    *,
    executor: Any = None,
    devices: Any = None,
    **callbacks: Any,
) -> Result:
    """Go on with the solve of a checkpoint that was read; limits that are None stay as they were."""
    steps: list[Step] = []
    for state in reversed(stored.steps):
        steps.insert(0, _step_of(state, steps[0].original if steps else stored.instance))
    gap, instance = limits.target_gap, steps[0].original if steps else stored.instance
    bounded = stored.bounded
    if bounded is not None and bounded.lower_bound is not None and instance.optimum is None and gap is not None:
        bounded, limits = nearer(bounded, limits, gap)
    request = Request(**callbacks, began=time.perf_counter() - stored.spent)
    restater = Restater(instance, steps, request)
    limits = limits.with_target(instance)
    if limits.target is not None:
        limits = replace(limits, target=max(0, limits.target - restater.offset))
    if bounded is not None and limits.time_limit is not None:
        # The bound is requested again, within the new limit.
        bounded = replace(bounded, time_limit=limits.time_limit)
        if bounded.lower_bound is None:
            limits = replace(limits, time_limit=search_seconds(Ascent(instance, TOURS), bounded.time_limit))
    limits = replace(stored.limits, **{name: value for name, value in vars(limits).items() if value is not None})
    watch = Watch(limits, **restater.callbacks(), spent=stored.spent, history=stored.history)
    task = task_of(stored.instance, stored.options, watch, stored.seed, stored.initial_tour, placement)
    head = head_of(task, placement, bounded, [step.stored() for step in steps])
    watch.checkpoint = Checkpoint(stored.path, head, interval)
    watch.state = stored.standing
    watch.checkpoint.begin(watch, resumed=True, state=None if watch.state is None else watch.state.all)
    result = restater.result(with_doubt(run(task, executor, devices, placement)))
    if result.is_coarse:
        warn_of_resolution(result)
    if bounded is None:
        return result
    if bounded.lower_bound is not None:
        return tell_bound(result, bounded)
    return bound_result(result, TOURS, bounded.time_limit, request.progress)


def _step_of(state: State, inner: Instance) -> Step:
    """Return a step that leads to the instance `inner`; raise `CheckpointError` if it is invalid."""
    if "city" in state:
        return FirstCity(inner, state.whole("city", 0, inner.n - 1))
    original = instance_of(state.part("instance"))
    if original.fixed is not None:
        return WithFixedEdges(FixedEdges.of(original))
    kept = state.array("kept", np.int32, (inner.n,))
    owner = state.array("owner", np.int32, (original.n,))
    if not np.array_equal(np.unique(kept[(kept >= 0) & (kept < original.n)]), kept):
        raise state.wrong("kept", f"cities from 0 to {original.n - 1} that ascend", kept)
    if not np.array_equal(np.unique(owner), np.arange(inner.n)) or not np.array_equal(kept[owner[kept]], kept):
        raise state.wrong("owner", f"kept cities from 0 to {inner.n - 1}, each its own", owner)
    return Collapsed(original, inner, kept, owner, offset=state.whole("offset"))
