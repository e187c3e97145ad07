"""A population of local optima that take over edges from each other: edge assembly crossover."""

from __future__ import annotations

import numpy as np

from pytsp.backends.context import Backend
from pytsp.problem.instance import Instance
from pytsp.problem.kernel_input import Form
from pytsp.run.monitor import Watch
from pytsp.run.result import Result
from pytsp.solvers.common.placement import mapping_of
from pytsp.solvers.common.verify import result_of, told_length
from pytsp.solvers.eax.evolution import CALL_SECONDS, POPULATIONS, Evolution
from pytsp.solvers.ils.solver import listed
from pytsp.solvers.options import Options
from pytsp.utils.deadline import OutOfTime

__all__ = ["evolved"]


def evolved(instance: Instance, form: Form, kernels: Backend, watch: Watch, options: Options) -> Result:
    """Solve by edge assembly crossover of a population of local optima; see `pytsp.solve`."""
    evolution = Evolution(form, kernels, watch, options, listed(instance, options))
    try:
        stop_reason = _run(evolution, instance)
    except KeyboardInterrupt:
        if evolution.standing.best is None:
            raise
        stop_reason = "interrupted"
    watch.keep(evolution.state, final=True)
    return _result(evolution, instance, stop_reason)


def _run(evolution: Evolution, instance: Instance) -> str:
    """Let populations converge, one after the other, until there is a reason to stop; return it."""
    watch, iterations = evolution.watch, evolution.options.iterations
    while True:
        now = evolution.standing
        reason = watch.stop_reason() if now.best is not None else None
        if reason:
            if evolution.options.initial_tour is not None:
                evolution.end_settling()
                _tell(evolution, instance)
            return reason
        if not now.is_settled:
            # Nor can the first climbers' descent.
            if now.best is None and evolution.first_seconds > max(watch.seconds_left, CALL_SECONDS):
                raise OutOfTime
            evolution.settle()
        elif iterations is not None and now.generation >= iterations:
            return "finished"
        elif not evolution.has_converged:
            # A generation cannot be cut: one that does not fit is not begun.
            if evolution.generation_seconds > max(watch.seconds_left, CALL_SECONDS):
                return "time limit"
            evolution.breed()
        elif watch.time_limit is None or evolution.fruitless >= POPULATIONS:
            return "finished"
        else:
            evolution.renew()
        _tell(evolution, instance)
        watch.keep(evolution.state)


def _tell(evolution: Evolution, instance: Instance) -> None:
    """Tell the callbacks where the population stands."""
    now, watch = evolution.standing, evolution.watch
    assert now.best is not None
    length = told_length(instance, now.best.tour, now.best.length)
    watch.offer(now.generation, length)
    phase, iterations = "crossover" if now.is_settled else "local optima", evolution.options.iterations
    watch.tell(phase, length, climbers=len(now.lengths), iteration=now.generation, iterations=iterations)


def _result(evolution: Evolution, instance: Instance, stop_reason: str) -> Result:
    """Return the best tour, with what the last population came to."""
    now, kernels, best = evolution.standing, evolution.kernels, evolution.standing.best
    assert best is not None
    return result_of(
        instance,
        evolution.form,
        kernels,
        evolution.watch,
        solver="eax",
        tour=best.tour,
        length=best.length,
        climber=best.climber,
        seed=evolution.options.seed,
        lengths=now.lengths,
        steps=now.steps,
        done=np.ones(len(now.lengths), dtype=np.bool_),
        mapping=mapping_of(instance.n, kernels),
        stop_reason=stop_reason,
        iterations=now.generation,
    )
