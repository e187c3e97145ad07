"""A solve as a solver sees it, made by hand."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from pytsp import Instance
from pytsp.problem.kernel_input import Form
from pytsp.run.monitor import Watch
from pytsp.solvers.common.task import Task
from pytsp.solvers.options.fields import Options


def task_of(
    instance: Instance,
    options: Options,
    *,
    kernels: Any = None,
    seed: int = 0,
    initial_tour: ArrayLike | None = None,
    form: Form | None = None,
) -> Task[Any]:
    """A task without limits, on kernels that are open; in another form than the instance's own if that is given."""
    task: Task[Any] = Task(instance, options, Watch(), seed, initial_tour, lambda: kernels)
    if form is not None:
        task.form = form
    return task
