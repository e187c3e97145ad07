"""Random restarts: batches of climbers on a backend, until all are done, a limit is reached, or Ctrl-C is pressed."""

from __future__ import annotations

import math

import numpy as np

from pytsp.backends.context import Backend
from pytsp.problem.instance import Instance
from pytsp.problem.kernel_input import Form
from pytsp.run.monitor import Watch
from pytsp.run.result import Result
from pytsp.solvers.common.verify import result_of, told_length
from pytsp.solvers.options import Options
from pytsp.solvers.restarts.batches import MOST_STEPS, Search
from pytsp.utils.arguments import whole_number

# The default number of climbers: so many, or fewer where they would evaluate more moves than this altogether.
DEFAULT_CLIMBERS = 10_000
DEFAULT_MOVES = 2e10


def restarts(
    instance: Instance, form: Form, kernels: Backend, watch: Watch, options: Options, *, mapping: str, k: int
) -> Result:
    """Solve by random restarts; see `pytsp.solve`."""
    climbers = default_climbers(instance.n) if options.climbers is None else options.climbers
    search = Search(form, kernels, climbers, options.seed, options.first, k=k, mapping=mapping)
    if watch.state is not None:
        search.restore(watch.state)
    stop_reason = "finished"
    try:
        stop_reason = _search(search, instance, watch, climbers)
    except KeyboardInterrupt:
        if search.best is None:
            raise
        stop_reason = "interrupted"
    watch.keep(search.state, final=True)
    return _result(search, instance, stop_reason, watch)


def _search(search: Search, instance: Instance, watch: Watch, climbers: int) -> str:
    """Climb until all climbers are done, or there is a reason to stop; return it."""
    while not search.is_finished:
        if search.best is not None:
            reason = watch.stop_reason()
            if reason is not None:
                return reason
            # A pass cannot be cut: one that does not fit is not begun.
            if not search.fits(watch.seconds_left):
                return "time limit"
        search.advance(watch.seconds_left)
        assert search.best is not None
        done, length = search.climbers_done, search.best.length
        shown = length if instance.is_exact else math.ldexp(length, search.form.exponent)
        watch.offer(done, told_length(instance, search.best.tour, length))
        watch.tell("random restarts", shown, climbers=climbers, climbers_done=done)
        watch.keep(search.state)
    return "finished"


def default_climbers(n: int) -> int:
    """Return the number of climbers of a solve that names none: about n steps a climber, n**2 / 2 moves a step."""
    return max(1, min(DEFAULT_CLIMBERS, int(DEFAULT_MOVES / (1.2 * n * max(1, n * (n - 3) / 2)))))


def moves_a_pass(k: int | float | str) -> int:
    """Return `k` as a kernel takes it: "inf", or `math.inf`, is the largest number there is."""
    return MOST_STEPS if k in ("inf", math.inf) else whole_number("k", k, 1, MOST_STEPS)  # type: ignore[arg-type]


def _result(search: Search, instance: Instance, stop_reason: str, watch: Watch) -> Result:
    """Return the best tour, with what all climbers came to."""
    assert search.best is not None
    best, batches = search.best, search.batches.values()
    return result_of(
        instance,
        search.form,
        search.kernels,
        watch,
        solver="restarts",
        tour=best.tour,
        length=best.length,
        climber=best.climber,
        seed=search.seed,
        lengths=np.concatenate([b.lengths for b in batches]),
        steps=np.concatenate([b.steps for b in batches]),
        passes=np.concatenate([b.passes for b in batches]),
        done=np.concatenate([b.done for b in batches]),
        k=search.k,
        mapping=search.mapping,
        stop_reason=stop_reason,
        iterations=None,
        climbers_done=search.climbers_done,
    )
