"""One tour to a local optimum of 2-opt, over the complete neighbourhood: passes until none shortens it."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytsp.problem.kernel_input import Form
from pytsp.run.state_reader import State
from pytsp.solvers.common.incumbent import Best
from pytsp.solvers.common.loop import Found, Search
from pytsp.solvers.common.pacing import CALL_SECONDS
from pytsp.solvers.common.task import Task
from pytsp.solvers.options.shared import MOST_PASSES, kernel_passes
from pytsp.solvers.options.two_opt import TwoOpt
from pytsp.solvers.restarts.solver import FIRST_SPEED
from pytsp.starts.construct import start_tour

__all__ = ["Descent", "begin"]

# A pass is made in parts where one kernel call of all of it would take longer than so many calls.
LONGEST_CALL = 2
# What a pass costs besides its moves, in moves a city: a few walks over the tour, or the choice among many moves.
WALKS = {1: 20}
WALKS_OF_MANY = 1000
# And whatever the number of cities: launches of kernels.
LAUNCHES = {"cpu": 5_000, "gpu": 5_000_000}
# A GPU is not busy with few cities: the first call counts on so much less than random restarts do.
FIRST_SHARE = {"cpu": 1.0, "gpu": 0.02}
# One call makes no more passes than this, or one for eight cities: a tour that is done makes idle ones to its end.
FEW_PASSES = 32


def begin(task: Task[TwoOpt]) -> Descent:
    """Return one descent of 2-opt where it starts, or where it stood."""
    task.prepare()
    state, tour = task.watch.state, task.initial_tour
    if state is not None:
        tour = state.part("descent").tour("tour", task.instance.n)
    elif tour is None:
        tour = start_tour(task.instance, task.options.start or "greedy", seed=task.seed)  # type: ignore[arg-type]
    descent = Descent(task, tour)
    if state is not None:
        descent.restore(state)
    return descent


@dataclass(frozen=True)
class DescentStanding:
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


class Descent(Search):
    """One tour on its way to a local optimum.

    Parameters
    ----------
    task : Task
    start : numpy.ndarray of int32, shape (n,)
        The tour from which it starts.
    """

    standing: DescentStanding

    phase = "passes"

    def __init__(self, task: Task[TwoOpt], start: NDArray[np.int32]) -> None:
        super().__init__(task, _form_of(task))
        options, n = task.options, task.instance.n
        self.k, self.iterations = kernel_passes(options.k), options.iterations
        self.most_passes = MOST_PASSES if options.iterations is None else min(options.iterations, MOST_PASSES)
        self.start_length = self.form.whole.tour_length(start)
        self.standing = DescentStanding(self.kernels.call("descent_given", start), int(self.start_length))
        self.checks_a_pass = max(0, n * (n - 3) // 2)
        # The moves that a pass costs: those it evaluates, and as many as its walks over the tour take time for.
        machine = task.machine
        self.pass_moves = self.checks_a_pass + WALKS.get(self.k, WALKS_OF_MANY) * n + LAUNCHES[machine]
        self.moves_a_second = FIRST_SPEED[machine] * FIRST_SHARE[machine]

    def state(self) -> dict[str, Any]:
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
    def has_tour(self) -> bool:
        return True

    @property
    def length(self) -> int | float:
        length = self.standing.length
        return length if self.task.instance.is_exact else math.ldexp(length, self.form.exponent)

    @property
    def iteration(self) -> int:
        return self.standing.passes

    @property
    def climbers(self) -> int:
        return 1

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

    def found(self) -> Found:
        now = self.standing
        best = Best(now.length, 0, self.kernels.call("descent_tour", now.handle))
        lengths, steps, passes = (np.array([each]) for each in (now.length, now.moves, now.passes))
        return Found(best, lengths, steps, np.array([now.done]), passes=passes, k=self.k)

    def advance(self) -> None:
        """Make one kernel call: some passes, or one, or a part of one that takes long."""
        began = time.perf_counter()
        seconds = min(CALL_SECONDS, self.watch.seconds_left)
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
        handle = self.call("descend", self.standing.handle, limit)
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
        return self.call("scan", self.standing.handle, self.k, first, end)

    def _standing(self, handle: Any) -> DescentStanding:
        """Read where a descent stands between two passes."""
        gained, moves, passes, done = self.kernels.call("descent_counts", handle).tolist()
        return DescentStanding(handle, int(self.start_length) - gained, moves, passes, bool(done))


def _form_of(task: Task[TwoOpt]) -> Form:
    """Return the form in which kernels take the instance: on a GPU a grid is a plane."""
    form = task.form
    if form.kind != "grid" or task.machine == "cpu":
        return form
    xs, ys = (np.asarray(axis, dtype=np.float64) for axis in form.arguments)
    return replace(form, kind="plane", arguments=(xs, ys, False))
