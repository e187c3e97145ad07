"""One tour to a local optimum of 2-opt, over the complete neighbourhood: passes until none shortens it; then kicks."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytsp.problem.kernel_input import Form
from pytsp.problem.tours import BRIDGED_CITIES, bridge_cuts, double_bridge
from pytsp.run.state_reader import State
from pytsp.solvers.common.incumbent import Best
from pytsp.solvers.common.loop import Found, Search
from pytsp.solvers.common.pacing import CALL_SECONDS
from pytsp.solvers.common.starting_tours import first_tour
from pytsp.solvers.common.task import Task
from pytsp.solvers.options.shared import kernel_passes
from pytsp.solvers.options.two_opt import TwoOpt
from pytsp.solvers.speeds import SPEEDS


def begin(task: Task[TwoOpt]) -> Descent:
    """Return one descent of 2-opt at its start, or in its stored state."""
    task.prepare()
    state, tour = task.watch.state, task.initial_tour
    if state is not None:
        tour = state.part("descent").tour("tour", task.instance.n)
    elif tour is None:
        tour = first_tour(task, task.options.start, "greedy")  # type: ignore[arg-type]
    descent = Descent(task, tour)
    if state is not None:
        descent.restore(state)
    return descent


@dataclass(frozen=True)
class DescentStanding:
    """State of a descent: the device's handle, and the facts known of it, lengths in the kernel's units."""

    handle: Any
    # The length of the tour from which it started.
    start_length: int
    length: int
    # The moves and the whole passes up to here, those of descents before the last kick too.
    moves: int = 0
    passes: int = 0
    # True if the last pass found no move.
    done: bool = False
    # Where a pass that is made in parts goes on; 2 between two passes.
    diagonal: int = 2
    kicks: int = 0
    # The local optimum that was kicked last, and the moves and passes before.
    best: Best | None = None
    earlier: tuple[int, int] = (0, 0)

    @property
    def is_shortest(self) -> bool:
        """True if the descending tour counts: shorter than the best, or a local optimum as short."""
        best = self.best
        return best is None or self.length < best.length or (self.done and self.length == best.length)


class Descent(Search):
    """The tour `start`, shape (n,), on its way to a local optimum, and from there on by kicks to others."""

    standing: DescentStanding

    climbers = 1
    has_tour = True

    def __init__(self, task: Task[TwoOpt], start: NDArray[np.int32]) -> None:
        super().__init__(task, _form_of(task))
        options, n = task.options, task.instance.n
        self.k, self.iterations = kernel_passes(options.k), options.iterations
        self.most_passes = math.inf if options.iterations is None else options.iterations
        self.phase = "kicks" if options.kicks else "passes"
        self.most_kicks = float(options.kicks) if n >= BRIDGED_CITIES else 0.0
        if options.kicks:
            self.iterations = None if math.isinf(self.most_kicks) else int(self.most_kicks)
        length = int(self.form.whole.tour_length(start))
        self.standing = DescentStanding(self.kernels.call("descent_given", start), length, length)
        self.checks_a_pass = max(0, n * (n - 3) // 2)
        # The moves that a pass costs: those it evaluates, as many as a few walks over the tour take time for, or the
        # choice among many moves, and as many as launches do.
        walks, launches = 20 if self.k == 1 else 1_000, int(SPEEDS[f"2-opt launches, {task.machine}"])
        self.pass_moves = self.checks_a_pass + walks * n + launches
        self.moves_a_second = SPEEDS[f"2-opt of one tour, {task.machine}"]

    def state(self) -> dict[str, Any]:
        now = self.standing
        return {
            "start_length": now.start_length,
            "diagonal": now.diagonal,
            "descent": self.kernels.fields(now.handle),
            "kicks": now.kicks,
            "best": None if now.best is None else now.best.state(),
            "earlier_moves": now.earlier[0],
            "earlier_passes": now.earlier[1],
        }

    def restore(self, state: State) -> None:
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
        self.standing = replace(
            self.standing,
            start_length=state.whole("start_length"),
            kicks=state.whole("kicks"),
            best=Best.restored(state.part("best"), n, range(1)) if "best" in state else None,
            earlier=(state.whole("earlier_moves"), state.whole("earlier_passes")),
        )
        standing = self._standing(self.kernels.value("descent", fields))
        self.standing = replace(standing, diagonal=state.whole("diagonal", 2, self.end_diagonal))

    def best_tour(self) -> NDArray[np.int32]:
        tour: NDArray[np.int32] = self._shortest().tour.copy()
        return tour

    @property
    def length(self) -> int | float:
        now = self.standing
        length = now.length if now.best is None else min(now.length, now.best.length)
        if self.form.kind == "matrix" and not self.form.is_exact:
            # Its longest edges may be longer than the kernel knows.
            return self.task.instance.tour_length(self._shortest().tour)
        return length if self.form.is_exact else math.ldexp(length, self.form.exponent)

    @property
    def iteration(self) -> int:
        return self.standing.kicks if self.phase == "kicks" else self.standing.passes

    @property
    def has_begun(self) -> bool:
        """True if any pass was made, or a part of one."""
        return self.standing.passes > 0 or self.standing.diagonal > 2

    @property
    def end_diagonal(self) -> int:
        """The end of the diagonals of a whole pass."""
        return max(2, self.form.whole.n // 2 + 1)

    @property
    def is_finished(self) -> bool:
        now = self.standing
        return (now.done and now.kicks >= self.most_kicks) or now.passes >= self.most_passes

    def found(self) -> Found:
        now = self.standing
        best = self._shortest()
        lengths, steps, passes = (np.array([each]) for each in (best.length, now.moves, now.passes))
        return Found(best, lengths, steps, np.array([now.done or not now.is_shortest]), passes=passes, k=self.k)

    def _shortest(self) -> Best:
        now = self.standing
        if now.is_shortest or now.best is None:
            return Best(now.length, 0, self.kernels.call("descent_tour", now.handle))
        return now.best

    def advance(self) -> None:
        """Make one kernel call, of a local optimum after a kick: some passes, one, or a part of one that takes long."""
        began = time.perf_counter()
        if self.standing.done:
            self.standing = self._kicked()
        seconds = min(CALL_SECONDS, self.watch.seconds_left)
        fitting = max(0.0, seconds * self.moves_a_second / self.pass_moves)
        # A pass of more than two calls is made in parts.
        if self.standing.diagonal > 2 or fitting * 2 < 1:
            cost = self._part(fitting)
        elif self.k == 1:
            cost = self._passes(int(fitting))
        else:
            cost = self._part(1.0)
        self.moves_a_second = max(cost, 1) / (time.perf_counter() - began)

    def _passes(self, limit: int) -> int:
        """Make whole passes of one move each, and return what they cost in moves."""
        # A tour that is done makes idle passes to the end of a call; five to seven mend a kick.
        most = 8 if self.standing.kicks else max(32, self.form.whole.n // 8)
        limit = max(1, int(min(limit, most, self.most_passes - self.standing.passes)))
        handle = self.call("descend", self.standing.handle, limit)
        before = self.standing.passes
        self.standing = self._standing(handle)
        return (self.standing.passes - before) * self.pass_moves

    def _part(self, fitting: float) -> int:
        """Make the next part of a pass, `fitting` of it or what is left, and return what it costs in moves."""
        first = self.standing.diagonal
        whole = self.end_diagonal - 2
        end = min(self.end_diagonal, first + max(1, int(fitting * whole)))
        handle = self.call("scan", self.standing.handle, self.k, first, end)
        if end == self.end_diagonal:
            self.standing = self._standing(self.kernels.call("descent_turn", handle, self.k))
        else:
            # The clock is to see the kernels at work, which a backend may only have begun.
            self.kernels.call("descent_counts", handle)
            self.standing = replace(self.standing, handle=handle, diagonal=end)
        return int((end - first) / max(1, whole) * self.pass_moves)

    def _kicked(self) -> DescentStanding:
        """Return the shortest tour so far with a double bridge in it, where its descent begins."""
        now, best, whole = self.standing, self._shortest(), self.form.whole
        cuts = bridge_cuts(whole.n, self.task.seed, now.kicks)
        before, behind = best.tour[cuts - 1], best.tour[cuts]
        longer = whole.distances(before, np.roll(behind, 2)).sum() - whole.distances(before, behind).sum()
        handle = self.kernels.call("descent_given", double_bridge(best.tour, cuts))
        start, earlier = best.length + int(longer), (now.moves, now.passes)
        return DescentStanding(handle, start, start, *earlier, kicks=now.kicks + 1, best=best, earlier=earlier)

    def _standing(self, handle: Any) -> DescentStanding:
        """Read the state of a descent between two passes."""
        gained, moves, passes, done = self.kernels.call("descent_counts", handle).tolist()
        now = self.standing
        return replace(
            now,
            handle=handle,
            length=now.start_length - gained,
            moves=now.earlier[0] + moves,
            passes=now.earlier[1] + passes,
            done=bool(done),
            diagonal=2,
        )


def _form_of(task: Task[TwoOpt]) -> Form:
    """Return the form in which kernels take the instance: on a GPU a grid is a plane."""
    form = task.form
    if form.kind != "grid" or task.machine == "cpu":
        return form
    xs, ys = (np.asarray(axis, dtype=np.float64) for axis in form.arguments)
    return replace(form, kind="plane", arguments=(xs, ys, False))
