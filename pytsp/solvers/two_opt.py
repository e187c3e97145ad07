"""One tour to a local optimum of 2-opt, over the complete neighbourhood: passes until none shortens it."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytsp.backends.context import Backend
from pytsp.problem.instance import Instance
from pytsp.problem.kernel_input import Form
from pytsp.problem.tours import check_tour
from pytsp.run.monitor import Watch
from pytsp.run.result import Result
from pytsp.run.state_reader import State
from pytsp.solvers.common.verify import result_of
from pytsp.solvers.options import Options
from pytsp.solvers.restarts.batches import CALL_SECONDS, FIRST_SPEED
from pytsp.solvers.restarts.solver import moves_a_pass
from pytsp.starts.construct import start_tour

__all__ = ["Descent", "descended"]

# A pass is made in parts where one kernel call of all of it would take longer than so many calls.
LONGEST_CALL = 2
MOST_PASSES = 2**31 - 1
# What a pass costs besides its moves, in moves a city: a few walks over the tour, or the choice among many moves.
WALKS = {1: 20}
WALKS_OF_MANY = 1000
# And whatever the number of cities: launches of kernels.
LAUNCHES = {"cpu": 5_000, "gpu": 5_000_000}
# A GPU is not busy with few cities: the first call counts on so much less than random restarts do.
FIRST_SHARE = {"cpu": 1.0, "gpu": 0.02}
# One call makes no more passes than this, or one for eight cities: a tour that is done makes idle ones to its end.
FEW_PASSES = 32


def descended(
    instance: Instance, form: Form, kernels: Backend, watch: Watch, options: Options, k: int | float | str
) -> Result:
    """Solve by one descent of 2-opt; see `pytsp.solve`."""
    state = watch.state
    if state is not None:
        start = state.part("descent").tour("tour", instance.n)
    elif options.initial_tour is not None:
        start = check_tour(options.initial_tour, instance.n)
    else:
        start = start_tour(instance, options.start or "greedy", seed=options.seed)
    most = MOST_PASSES if options.iterations is None else min(options.iterations, MOST_PASSES)
    descent = Descent(form, kernels, start, k=moves_a_pass(k), passes=most)
    if state is not None:
        descent.restore(state)
    stop_reason = "finished"
    try:
        _tell(descent, instance, watch, is_call=False)
        stop_reason = _search(descent, instance, watch)
        tour = descent.tour
    except KeyboardInterrupt:
        stop_reason = "interrupted"
        tour = descent.tour
    watch.keep(descent.state, final=True)
    return _result(descent, tour, instance, options, stop_reason, watch)


def _search(descent: Descent, instance: Instance, watch: Watch) -> str:
    """Make passes until none shortens the tour or there is a reason to stop, and return why they ended."""
    while not descent.is_finished:
        # A tour that is only given is no reason to end.
        reason = watch.stop_reason() if descent.has_begun else None
        if reason is not None:
            return reason
        descent.advance(watch.seconds_left)
        _tell(descent, instance, watch)
        watch.keep(descent.state)
    return "finished"


@dataclass(frozen=True)
class Standing:
    """Where a descent stands: the device's handle, and what is known of it.

    Attributes
    ----------
    handle : Opaque
    length, moves, passes : int
        The length of the tour in the kernel's units; the moves and the whole passes up to here.
    done : bool
        Whether the last pass found no move.
    diagonal : int
        Where a pass that is made in parts goes on; 2 between two passes.
    """

    handle: Any
    length: int
    moves: int = 0
    passes: int = 0
    done: bool = False
    diagonal: int = 2


class Descent:
    """One tour on its way to a local optimum, a kernel call at a time.

    Every kernel call ends in one assignment to `standing`, so that an interruption at any point leaves it whole.

    Parameters
    ----------
    form : Form
    kernels : Backend
    start : numpy.ndarray of int32, shape (n,)
        The tour from which it starts.
    k : int
        How many moves a pass may make.
    passes : int
        How many passes there are at most.
    """

    def __init__(self, form: Form, kernels: Backend, start: NDArray[np.int32], *, k: int, passes: int) -> None:
        self.form = form
        self.kernels = kernels
        self.k = k
        self.most_passes = passes
        self.kind, arguments = _loaded_as(form, kernels)
        self.loaded = kernels.call(f"{self.kind}_load", *arguments)
        self.start_length = form.whole.tour_length(start)
        self.standing = Standing(kernels.call("descent_given", start), int(self.start_length))
        n = form.whole.n
        self.checks_a_pass = max(0, n * (n - 3) // 2)
        # The moves that a pass costs: those it evaluates, and as many as its walks over the tour take time for.
        machine = "cpu" if kernels.device is None else "gpu"
        self.pass_moves = self.checks_a_pass + WALKS.get(k, WALKS_OF_MANY) * n + LAUNCHES[machine]
        self.moves_a_second = FIRST_SPEED[machine] * FIRST_SHARE[machine]

    def state(self) -> dict[str, Any]:
        """Return where the descent stands, also within a pass, for `restore`."""
        now = self.standing
        return {
            "start_length": int(self.start_length),
            "diagonal": now.diagonal,
            "descent": self.kernels.fields(now.handle),
        }

    def restore(self, state: State) -> None:
        """Stand where `state` says."""
        n, said = self.form.whole.n, state.part("descent")
        best = said.part("best")
        # A move that is none has its positions behind all others.
        most = 2**31 - 1
        is_move = best.whole("gain", 0, most) > 0
        positions = {name: best.whole(name, 0, n - 1 if is_move else most) for name in ("i", "j")}
        fields = {
            "tour": said.tour("tour", n),
            "gained": said.whole("gained"),
            "moves": said.whole("moves"),
            "passes": said.whole("passes"),
            "done": said.flag("done"),
            "best": {"gain": best.whole("gain"), **positions},
            "keys": said.keys("keys", n),
        }
        self.start_length = state.whole("start_length")
        standing = self._standing(self.kernels.value("descent", fields))
        self.standing = replace(standing, diagonal=state.whole("diagonal", 2, self.end_diagonal))

    @property
    def has_begun(self) -> bool:
        """Whether any pass was made, or a part of one."""
        return self.standing.passes > 0 or self.standing.diagonal > 2

    @property
    def end_diagonal(self) -> int:
        """The end of the diagonals of a whole pass."""
        return max(2, self.form.whole.n // 2 + 1)

    @property
    def is_finished(self) -> bool:
        return self.standing.done or self.standing.passes >= self.most_passes

    @property
    def tour(self) -> NDArray[np.int32]:
        """The tour as it stands, shape (n,)."""
        tour: NDArray[np.int32] = self.kernels.call("descent_tour", self.standing.handle)
        return tour

    def advance(self, seconds_left: float = float("inf")) -> None:
        """Make one kernel call: some passes, or one, or a part of one that takes long."""
        began = time.perf_counter()
        seconds = min(CALL_SECONDS, seconds_left)
        fitting = max(0.0, seconds * self.moves_a_second / self.pass_moves)
        if self.standing.diagonal > 2 or fitting * LONGEST_CALL < 1:
            cost = self._part(fitting)
        elif self.k == 1:
            cost = self._passes(int(fitting))
        else:
            cost = self._pass()
        self.moves_a_second = max(cost, 1) / (time.perf_counter() - began)

    def _passes(self, limit: int) -> int:
        """Make whole passes of one move each, and return what they cost in moves."""
        most = max(FEW_PASSES, self.form.whole.n // 8)
        limit = max(1, min(limit, most, self.most_passes - self.standing.passes))
        handle = self.kernels.call(f"{self.kind}_descend", self.loaded, self.standing.handle, limit)
        before = self.standing.passes
        self.standing = self._standing(handle)
        return (self.standing.passes - before) * self.pass_moves

    def _pass(self) -> int:
        """Make a whole pass of many moves, and return what it costs in moves."""
        handle = self._scanned(2, self.end_diagonal)
        self.standing = self._standing(self.kernels.call("descent_turn", handle, self.k))
        return self.pass_moves

    def _part(self, fitting: float) -> int:
        """Make the next part of a pass, `fitting` of it or what is left, and return what it costs in moves."""
        first = self.standing.diagonal
        whole = self.end_diagonal - 2
        end = min(self.end_diagonal, first + max(1, int(fitting * whole)))
        handle = self._scanned(first, end)
        if end == self.end_diagonal:
            self.standing = self._standing(self.kernels.call("descent_turn", handle, self.k))
        else:
            # The clock is to see the kernels at work, which a backend may only have begun.
            self.kernels.call("descent_counts", handle)
            self.standing = replace(self.standing, handle=handle, diagonal=end)
        return int((end - first) / max(1, whole) * self.pass_moves)

    def _scanned(self, first: int, end: int) -> Any:
        """Evaluate some diagonals."""
        return self.kernels.call(f"{self.kind}_scan", self.loaded, self.standing.handle, self.k, first, end)

    def _standing(self, handle: Any) -> Standing:
        """Read where a descent stands between two passes."""
        gained, moves, passes, done = self.kernels.call("descent_counts", handle).tolist()
        return Standing(handle, int(self.start_length) - gained, moves, passes, bool(done))


def _loaded_as(form: Form, kernels: Backend) -> tuple[str, tuple[NDArray[np.generic] | bool, ...]]:
    """Return the kind and the arguments by which kernels take an instance: on a GPU a grid is a plane."""
    if form.kind != "grid" or kernels.device is None:
        return form.kind, form.arguments
    xs, ys = (np.asarray(axis, dtype=np.float64) for axis in form.arguments)
    return "plane", (xs, ys, False)


def _tell(descent: Descent, instance: Instance, watch: Watch, *, is_call: bool = True) -> None:
    """Tell the callbacks where the tour stands."""
    now, form = descent.standing, descent.form
    length = now.length if instance.is_exact else math.ldexp(now.length, form.exponent)
    watch.offer(now.passes, length)
    if is_call:
        most = None if descent.most_passes == MOST_PASSES else descent.most_passes
        watch.tell("passes", length, iteration=now.passes, iterations=most)


def _result(
    descent: Descent, tour: NDArray[np.int32], instance: Instance, options: Options, stop_reason: str, watch: Watch
) -> Result:
    """Return the tour."""
    now = descent.standing
    return result_of(
        instance,
        descent.form,
        descent.kernels,
        watch,
        solver="two-opt",
        tour=tour,
        length=now.length,
        climber=0,
        seed=options.seed,
        lengths=np.array([now.length]),
        steps=np.array([now.moves]),
        passes=np.array([now.passes]),
        done=np.array([now.done]),
        k=descent.k,
        mapping="thread",
        stop_reason=stop_reason,
        iterations=now.passes,
    )
