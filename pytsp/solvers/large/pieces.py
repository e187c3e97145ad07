"""One huge tour on a backend: rounds in which its pieces climb, and passes that make moves between them."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytsp.problem.kernel_input import Form
from pytsp.run.state_reader import State
from pytsp.solvers import policy
from pytsp.solvers.common.incumbent import Best
from pytsp.solvers.common.local_search import moves_of
from pytsp.solvers.common.loop import Found, Search
from pytsp.solvers.common.pacing import CALL_SECONDS, SHORT_CALL_SECONDS, Pace
from pytsp.solvers.common.task import Task
from pytsp.solvers.options.large import LargeTour
from pytsp.solvers.options.shared import MOVES
from pytsp.solvers.speeds import SPEEDS
from pytsp.utils.deadline import OutOfTime

# Rounds where neither they nor a time limit are given: ten kicks a city.
DEFAULT_ROUNDS = 100
# The power of what is left by which the temperature falls (docs/algorithms).
COOLING = 3
# Cities whose links are made by a call.
LINKED = 65_536
# Most cities at which a pass looks, and the cost of one, in positions that change (`parallel_moves.fut`).
PASS_CITIES = 262_144
LOOK_WORK = 16
# A piece's kicks in a round are this fraction of its cities.
KICKS_A_CITY = 0.1
# Multiples of the golden ratio, modulo 1, leave no large gap (Knuth, The Art of Computer Programming 3, 6.4); those of
# another number tell seeds apart.
GOLDEN = 0.6180339887498949
PLASTIC = 0.7548776662466927


@dataclass(frozen=True)
class PiecesStanding:
    """State of the tour: its handle and length, complete rounds, pieces of the next one, and passes of its descent."""

    handle: Any
    length: int
    rounds: int = 0
    pieces: int = 0
    passes: int = 0
    is_descended: bool = False


class Pieces(Search):
    """The search of one tour: rounds in which its pieces climb, and the passes behind some of them and in the end.

    The form, the lists of neighbours in order of distance, and the first tour are of the cities in the `order` of a
    curve. A piece has `piece` cities. The first round accepts what is longer by the temperature, in units of the
    kernel's lengths, later rounds less. A look at all cities takes about `pass_seconds`, if that is known.
    """

    standing: PiecesStanding

    climbers = 1
    has_tour = True
    has_begun = False

    def __init__(
        self,
        task: Task[LargeTour],
        form: Form,
        lists: NDArray[np.int32],
        tour: NDArray[np.int32],
        *,
        order: NDArray[np.int32],
        piece: int,
        temperature: float,
        pass_seconds: float | None = None,
    ) -> None:
        super().__init__(task, form)
        kernels = self.kernels
        # The kernels have the coordinates.
        self.form = replace(form, arguments=())
        self.order = order
        rounds = task.options.iterations
        # True if rounds continue, and cool, until the time limit.
        self.is_timed = rounds is None and self.watch.time_limit is not None
        self.rounds = (2**31 if self.is_timed else DEFAULT_ROUNDS) if rounds is None else rounds
        self.iterations = None if self.is_timed else self.rounds
        self.n = len(tour)
        self.seed = task.seed
        self.piece = min(piece, self.n)
        self.count = self.n // self.piece
        self.kicks = max(1, round(KICKS_A_CITY * self.piece))
        self.temperature = temperature
        self.moves = moves_of(task, "thread", "lk")
        self.links = kernels.call("links_blank", *lists.shape)
        # Some at a time, so that the kernels never hold the lists beside the links.
        for first in range(0, self.n, LINKED):
            block = lists[first : first + LINKED]
            self.links = self.call("links", self.links, first, block)
        handle = kernels.call("large_given", tour)
        self.standing = PiecesStanding(handle, self._length(handle))
        self.shortest = self.standing
        # Pieces that should go together, and the paces of these and of passes.
        self.together = kernels.threads or 1
        self.pace, self.pass_pace = Pace(), Pace()
        # The seconds that it takes to look at all cities.
        self.full_pass = self.n / SPEEDS["pieces, look"] if pass_seconds is None else pass_seconds
        # True if the last call was one of passes.
        self.is_between = False
        if self.watch.state is not None:
            self.restore(self.watch.state)

    @property
    def length(self) -> int | float:
        return self.shortest.length * self.form.unit

    def best_tour(self) -> NDArray[np.int32]:
        tour: NDArray[np.int32] = self.order[self.kernels.call("large_tour", self.shortest.handle)]
        return tour

    @property
    def phase(self) -> str:  # type: ignore[override]
        return "between pieces" if self.standing.passes or self.standing.rounds == self.rounds else "pieces"

    @property
    def iteration(self) -> int:
        return self.standing.rounds

    @property
    def is_finished(self) -> bool:
        return self.standing.rounds >= self.rounds

    def stop_reason(self) -> str | None:
        """Return why no further call begins: all rounds but the first descent leave time for the passes behind them."""
        end = self.end_of_rounds()
        if not self.has_begun and self.watch.state is None and self.watch.seconds >= end:
            raise OutOfTime(self.best_tour())
        if self._is_descending and self.standing.rounds == 0 and self.watch.seconds < end + policy.GRACE_SECONDS:
            reason = self.watch.stop_reason() if self.has_begun else None
            return None if reason == "time limit" else reason
        if self.watch.seconds + self.next_seconds >= end:
            return "time limit"
        return super().stop_reason()

    @property
    def next_seconds(self) -> float:
        """Seconds of a pass, or of the kicks of the fewest pieces that go together, at first by their descent."""
        return self.pass_seconds if self.due_passes else self.pace.seconds

    def end_of_rounds(self) -> float:
        """Return the seconds at which rounds end for the passes behind them; infinite without a time limit."""
        limit = self.watch.time_limit
        if limit is None:
            return math.inf
        end, settling = limit - self.watch.reserve, policy.settling_seconds(limit, 2 * self.full_pass)
        # Not even one pass over all cities would fit, or the rounds that gain more than all passes are not over.
        return end if self.full_pass > settling or self.standing.rounds < policy.DESCENTS else end - settling

    def advance(self) -> None:
        """Make one kernel call: pieces of a round climb, or some passes are made behind it."""
        self.has_begun = True
        seconds, end = self.watch.seconds, self.end_of_rounds()
        if self.due_passes:
            self.descend_more(self.due_passes, end - seconds)
        else:
            done = seconds / end if self.is_timed else self.standing.rounds / self.rounds
            self.climb((1 - min(1.0, done)) ** COOLING, end - seconds)

    def needs_descent(self, stop_reason: str) -> bool:
        if stop_reason == "target":
            return False
        if self.standing.is_descended and not self.shortest.is_descended:
            # A warm round has left a shorter tour: that one is settled, too.
            self.standing = replace(self.shortest, rounds=self.standing.rounds)
        return not self.standing.is_descended

    @property
    def descent_call_seconds(self) -> float:
        return self.pass_seconds

    def descend(self) -> None:
        self.descend_more(seconds_left=self.watch.seconds_left)

    def found(self) -> Found:
        """Take the shortest tour so far, that of a round in its middle too."""
        self.shortest = shorter(self.standing, self.shortest)
        return self.peek()

    def peek(self) -> Found:
        """Take the shortest tour of whole rounds."""
        now = self.shortest
        best = Best(now.length, 0, self.kernels.call("large_tour", now.handle))
        kicked_rounds = max(0, self.standing.rounds - policy.DESCENTS * self.is_timed)
        steps = np.array([kicked_rounds * self.count * self.kicks])
        return Found(best, np.array([now.length]), steps, np.array([now.is_descended]), cities=self.order)

    @property
    def _is_descending(self) -> bool:
        """True in the rounds of a timed search in which all pieces descend."""
        return self.is_timed and self.standing.rounds < policy.DESCENTS

    def climb(self, warmth: float, seconds_left: float = math.inf) -> None:
        """Make one kernel call of a round, with this fraction of the temperature: as many pieces as fit its time."""
        now = self.standing
        self._turn(to_passes=False)
        # All pieces descend before the first kick, for which there may be no time: first by the moves that are soonest
        # done with, then by chains.
        is_descent = self._is_descending
        count = min(int(self.pace.fitting(math.inf, seconds_left)) * self.together, self.count - now.pieces)
        began = time.perf_counter()
        start = 0 if now.rounds < policy.DESCENTS else 1
        kicks = 0 if is_descent else self.kicks
        moves = min(self.moves, MOVES.index("3-opt")) if is_descent and now.rounds == 0 else self.moves
        fields = {"seed": self.seed, "first": now.rounds << 32, "from": start, "iterations": kicks}
        stretch = self.kernels.value("stretch", fields)
        fields = {"offset": self._offset(now.rounds), "piece": self.piece, "first": now.pieces, "count": count}
        pieces = self.kernels.value("piece_range", fields)
        handle = self.call("climb_pieces", self.links, now.handle, stretch, self.temperature * warmth, moves, pieces)
        length = self._length(handle)
        size, believed = (self.piece, "descent") if is_descent else (self.kicks, "kicks")
        least = size / SPEEDS[f"pieces, fastest {believed}"]
        self.pace.observe(count / self.together, time.perf_counter() - began, least)
        is_complete = now.pieces + count == self.count
        if is_descent and is_complete:
            # Chains take longer, and kicks far longer.
            longer = SPEEDS["pieces, first kicks" if now.rounds else "descent, chains"]
            self.pace = Pace(seconds=longer * self.pace.seconds)
        self._commit(PiecesStanding(handle, length, now.rounds + is_complete, 0 if is_complete else now.pieces + count))

    def state(self) -> dict[str, Any]:
        best = None if self.shortest.handle is self.standing.handle else self._stored(self.shortest)
        return {"piece": self.piece, "moves": MOVES[self.moves], "standing": self._stored(self.standing), "best": best}

    def restore(self, state: State) -> None:
        self.standing = self._restored(state.part("standing"))
        self.shortest = self._restored(state.part("best")) if "best" in state else self.standing

    def _stored(self, standing: PiecesStanding) -> dict[str, Any]:
        fields = self.kernels.fields(standing.handle)
        # The places follow from the tour.
        large = {"tour": fields["route"][: self.n], "waits": fields["waits"], **fields["progress"]}
        counts = {name: getattr(standing, name) for name in ("length", "rounds", "pieces", "passes", "is_descended")}
        return {**counts, "large": large}

    def _restored(self, state: State) -> PiecesStanding:
        said = state.part("large")
        tour = said.tour("tour", self.n)
        route = np.concatenate([tour, np.empty_like(tour)])
        route[self.n + tour] = np.arange(self.n, dtype=np.int32)
        # The last block of 32 cities, powers of two, and counts.
        most = {"cursor": (self.n - 1) // 32, "breadth": 32, "level": 32}
        counts = dict.fromkeys(("swept", "moves", "passes", "work"), 2**62)
        progress = {name: said.whole(name, 0, end) for name, end in {**most, **counts}.items()}
        fields = {
            "route": route,
            "waits": said.array("waits", np.bool_, (self.n,)),
            "progress": {**progress, "done": said.flag("done")},
        }
        return PiecesStanding(
            self.kernels.value("large", fields),
            state.whole("length"),
            state.whole("rounds"),
            state.whole("pieces", 0, self.count - 1),
            state.whole("passes"),
            state.flag("is_descended"),
        )

    @property
    def due_passes(self) -> int:
        """Number of passes before the next round: none, except after some rounds."""
        now = self.standing
        is_time = now.rounds % policy.DESCENT_EVERY == policy.FIRST_DESCENT and now.pieces == 0 and not now.is_descended
        return max(0, policy.DESCENT_PASSES + self.n // PASS_CITIES - now.passes) if is_time else 0

    @property
    def pass_seconds(self) -> float:
        """The seconds of the longest pass, which cannot be cut."""
        return self.full_pass * min(1.0, PASS_CITIES / self.n)

    def descend_more(self, most: int = 2**62, seconds_left: float = math.inf) -> None:
        """Make one kernel call of at most `most` passes over the neighbourhood of the whole tour."""
        now = self.standing
        self._turn(to_passes=True)
        began = time.perf_counter()
        # The first call tells how fast passes are.
        seconds = max(0.0, min(CALL_SECONDS if self.pass_pace.seconds else SHORT_CALL_SECONDS, seconds_left))
        work = min(max(1, int(LOOK_WORK * self.n / self.full_pass * seconds)), 2**62)
        most = min(most, int(self.pass_pace.fitting(math.inf, seconds)))
        before = self.kernels.call("large_counts", now.handle)
        handle = self.call("large_descend", self.links, now.handle, self.seed, most, work)
        is_descended = bool(self.kernels.call("large_done", handle))
        _, passes, work_done = self.kernels.call("large_counts", handle) - before
        length = self._length(handle)
        if work_done:
            took = max(time.perf_counter() - began, 1e-9)
            self.full_pass = took * LOOK_WORK * self.n / int(work_done)
            self.pass_pace.observe(int(passes), took)
        self._commit(PiecesStanding(handle, length, now.rounds, now.pieces, now.passes + int(passes), is_descended))

    def free(self) -> None:
        """Give back the kernels' memory; only what is known of the tours is left."""
        self.standing, self.shortest = (replace(each, handle=None) for each in (self.standing, self.shortest))
        del self.loaded, self.links
        self.kernels.release_memory()

    def _commit(self, standing: PiecesStanding) -> None:
        """Stand there; between rounds, a shorter tour is the best so far, and so is an equal local optimum."""
        if standing.pieces == 0:
            self.shortest = shorter(standing, self.shortest)
        self.standing = standing

    def _turn(self, *, to_passes: bool) -> None:
        """Give back what calls of the other kind have left to be used again: they need other sizes."""
        if to_passes != self.is_between:
            self.kernels.release_memory()
        self.is_between = to_passes

    def _length(self, handle: Any) -> int:
        return int(self.call("large_length", handle))

    def _offset(self, rounds: int) -> int:
        """Return the position at which the pieces of a round begin: cuts are far from those of the rounds before."""
        return int((self.seed % 2**32 * PLASTIC + rounds * GOLDEN) % 1 * self.n)


def shorter(one: PiecesStanding, other: PiecesStanding) -> PiecesStanding:
    """Return the shorter tour; of equals the local optimum, and else the first."""
    return min(one, other, key=lambda standing: (standing.length, not standing.is_descended))
