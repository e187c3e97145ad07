"""Solve a task in parts, at any places."""

from __future__ import annotations

import logging
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pytsp.checkpoint.checkpoint import Checkpoint, head_of
from pytsp.distributed.climbers import Climbers
from pytsp.distributed.coordinator import places_of
from pytsp.distributed.islands import Islands
from pytsp.distributed.search import PartedSearch
from pytsp.distributed.stripes import Stripes
from pytsp.exceptions import WorkerLost
from pytsp.run.result import Result
from pytsp.solvers.common.loop import run
from pytsp.solvers.common.task import Task
from pytsp.solvers.options.fields import Options

_log = logging.getLogger("pytsp")


def solve_in_parts(task: Task[Options], executor: Any, devices: Any, placement: Mapping[str, Any]) -> Result:
    """Solve a task in parts, in this process where neither an executor nor devices are given.

    `WorkerLost` is raised if workers are lost too often; it names a checkpoint from which the solve goes on.
    """
    counts = {kind: getattr(task.options, kind.kind, 1) for kind in (Islands, Stripes)}
    kind: type[PartedSearch] = next((kind for kind, count in counts.items() if count > 1), Climbers)
    with places_of(executor, devices, placement) as places:
        search = kind(task, places, placement)
        try:
            result = run(search)
        except WorkerLost as lost:
            raise WorkerLost(f"{lost}; go on with: pytsp resume {_rescued(task, search, placement)}") from lost
        finally:
            search.coordinator.close()
            search.job.live.clear()
    tasks = search.tasks
    _log.info(
        "%d tasks, %d bytes sent, %d received, %.3f s of workers, %d given again",
        *(tasks.count, tasks.bytes_sent, tasks.bytes_received, tasks.seconds, tasks.retries),
    )
    return result


def _rescued(task: Task[Options], search: PartedSearch, placement: Mapping[str, Any]) -> Path:
    """Return the checkpoint of a solve, a new one where none was asked for."""
    checkpoint = task.watch.checkpoint
    if isinstance(checkpoint, Checkpoint):
        task.watch.keep(search.state, final=True)
        return checkpoint.path
    descriptor, name = tempfile.mkstemp(prefix="pytsp-", suffix=".checkpoint")
    os.close(descriptor)
    made = Checkpoint(name, head_of(task, placement), 0.0)
    made.begin(task.watch, resumed=True, state=search.state())
    return made.path
