"""Edge assembly crossover: a population of local optima that take over edges from each other."""

from __future__ import annotations

from pytsp.solvers.common.candidates import candidates
from pytsp.solvers.common.task import Task
from pytsp.solvers.eax.evolution import Evolution
from pytsp.solvers.options.eax import EAX

__all__ = ["begin"]


def begin(task: Task[EAX]) -> Evolution:
    """Return the populations of a crossover where they start, or where they stood."""
    task.prepare()
    return Evolution(task, candidates(task.instance, task.options))
