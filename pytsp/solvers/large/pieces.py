"""One huge tour on a backend: rounds in which its pieces climb, and passes that make moves between them."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytsp.backends.context import Backend
from pytsp.problem.kernel_input import Form
from pytsp.run.state_reader import State

# How long one kernel call should take.
CALL_SECONDS = 0.15
# The kicks a second that the first call counts on, of a core, or of all of a GPU; the first ones come with a descent.
FIRST_SPEED = {"cpu": 3_000.0, "gpu": 500_000.0}
# So many cities at a time keep a GPU busy; their neighbours by places take memory, and a call of them all its time.
MOST_GPU_CITIES = 1 << 21
# How many cities' links are made by a call.
LINKED = 1 << 16
# How many cities a pass looks at, at most, and what one costs, in positions that change (`parallel_moves.fut`).
PASS_CITIES = 1 << 18
LOOK_WORK = 16
# The first call of passes has this share of the time of others: it tells how fast they are.
FIRST_SHARE = 0.05
# So many passes the first of these calls makes at most, and by how much more at most each has than the one before.
FIRST_PASSES, MOST_GROWTH = 8, 8
# How many cities a GPU looks at in a second, before it has.
GPU_PASSED_A_SECOND = 5e7
# A piece's kicks in a round are this fraction of its cities.
KICKS_A_CITY = 0.1
# So many rounds begin with a descent of each piece. Later ones go on from what are nearly local optima.
DESCENTS = 2
# Moves between pieces are made after these rounds, by so many passes at most, those that it takes to look at all cities
# not counted; all of them in the end.
FIRST_SETTLED, SETTLED_EVERY, SETTLED_PASSES = 10, 50, 200
# Multiples of the golden ratio, modulo 1, leave no large gap (Knuth, The Art of Computer Programming 3, 6.4); those of
# another number tell seeds apart.
GOLDEN = 0.6180339887498949
PLASTIC = 0.7548776662466927


@dataclass(frozen=True)
class Standing:
    """Where the tour stands: the device's handle and its length; how many rounds are complete, and pieces of the next
    one; how many passes of the descent that follows a round; and whether the tour is a local optimum."""

    handle: Any
    length: int
    rounds: int = 0
    pieces: int = 0
    passes: int = 0
    is_settled: bool = False


class Pieces:
    """The search of one tour.

    Every kernel call ends in one assignment to `standing`, so that an interruption at any point leaves it whole.

    Parameters
    ----------
    form : Form
        Of kind "grid" or "plane".
    kernels : Backend
    lists : numpy.ndarray of int32, shape (n, k)
        Neighbours in order of distance.
    tour : numpy.ndarray of int32, shape (n,)
        The tour to begin with.
    seed : int
    piece : int
        The cities of a piece.
    temperature : float
        What the first round accepts, in units of the kernel's lengths; later rounds less.
    """

    def __init__(
        self,
        form: Form,
        kernels: Backend,
        lists: NDArray[np.int32],
        tour: NDArray[np.int32],
        *,
        seed: int,
        piece: int,
        temperature: float,
    ) -> None:
        # The device has the coordinates.
        self.form = replace(form, arguments=())
        self.kernels = kernels
        self.n = len(tour)
        self.seed = seed
        self.piece = min(piece, self.n)
        self.count = self.n // self.piece
        self.kicks = max(1, round(KICKS_A_CITY * self.piece))
        self.temperature = temperature
        self.mapping = "thread" if kernels.device is None else "block"
        self.loaded = kernels.call(f"{form.kind}_load", *form.arguments)
        self.links = kernels.call("links_blank", *lists.shape)
        # Some at a time, so that the device never holds the lists beside the links.
        for first in range(0, self.n, LINKED):
            block = lists[first : first + LINKED]
            self.links = kernels.call(f"{form.kind}_links", self.loaded, self.links, first, block)
        handle = kernels.call("huge_given", tour)
        self.standing = Standing(handle, self._length(handle))
        self.best = self.standing
        machine = "cpu" if kernels.device is None else "gpu"
        # Pieces that should go together, and how many a second go.
        self.together = kernels.threads or min(self.count, max(1, MOST_GPU_CITIES // self.piece))
        self.speed = FIRST_SPEED[machine] * (kernels.threads or 1) / self.kicks
        # The seconds that it takes to look at all cities.
        self.full_pass = self.n / GPU_PASSED_A_SECOND
        # The passes of the last call that made any, and the seconds of one, on a GPU much the same whatever it does.
        self.passed, self.passed_seconds = 0, 0.0
        # Whether the last call was one of passes.
        self.is_between = False

    def climb(self, warmth: float, seconds_left: float = math.inf) -> None:
        """Make one kernel call of a round: as many pieces as fit its time.

        `warmth`, from 1 down to 0, is the fraction of the temperature that the round has.
        """
        now = self.standing
        self._turn(to_passes=False)
        wanted = int(self.speed * max(0.0, min(CALL_SECONDS, seconds_left)))
        most = self.count if self.kernels.device is None else self.together
        count = min(max(wanted // self.together, 1) * self.together, most, self.count - now.pieces)
        began = time.perf_counter()
        start = 0 if now.rounds < DESCENTS else 1
        stretch = {"seed": self.seed, "first": now.rounds << 32, "from": start, "iterations": self.kicks}
        pieces = {"offset": self._offset(now.rounds), "piece": self.piece, "first": now.pieces, "count": count}
        handle = self.kernels.call(
            f"{self.form.kind}_climb_pieces",
            self.loaded,
            self.links,
            now.handle,
            self.kernels.value("stretch", stretch),
            self.temperature * warmth,
            self.kernels.value("piece_range", pieces),
        )
        length = self._length(handle)
        self.speed = count / max(time.perf_counter() - began, 1e-9)
        is_complete = now.pieces + count == self.count
        self._stand(Standing(handle, length, now.rounds + is_complete, 0 if is_complete else now.pieces + count))

    def state(self) -> dict[str, Any]:
        """Return where the tour stands, also within a round, for `restore`."""
        best = None if self.best.handle is self.standing.handle else self._told(self.best)
        return {"piece": self.piece, "standing": self._told(self.standing), "best": best}

    def restore(self, state: State) -> None:
        """Stand where `state` says."""
        self.standing = self._restored(state.part("standing"))
        self.best = self._restored(state.part("best")) if "best" in state else self.standing

    def _told(self, standing: Standing) -> dict[str, Any]:
        fields = self.kernels.fields(standing.handle)
        # The places follow from the tour.
        huge = {"tour": fields["route"][: self.n], "waits": fields["waits"], **fields["progress"]}
        counts = {name: getattr(standing, name) for name in ("length", "rounds", "pieces", "passes", "is_settled")}
        return {**counts, "huge": huge}

    def _restored(self, state: State) -> Standing:
        said = state.part("huge")
        tour = said.tour("tour", self.n)
        route = np.concatenate([tour, np.empty_like(tour)])
        route[self.n + tour] = np.arange(self.n, dtype=np.int32)
        # A state of before passes had a bound on their cities begins with the first ones.
        progress = {name: said.whole(name, 0, most) if name in said else 0 for name, most in self._bounds.items()}
        fields = {
            "route": route,
            "waits": said.array("waits", np.bool_, (self.n,)),
            "progress": {**progress, "done": said.flag("done")},
        }
        return Standing(
            self.kernels.value("huge", fields),
            state.whole("length"),
            state.whole("rounds"),
            state.whole("pieces", 0, self.count - 1),
            state.whole("passes"),
            state.flag("is_settled"),
        )

    @property
    def _bounds(self) -> dict[str, int]:
        """The largest numbers of a descent's course: the last block of 32 cities, powers of two, and counts."""
        powers = dict.fromkeys(("breadth", "level"), 32)
        counts = dict.fromkeys(("swept", "moves", "passes", "work"), 2**62)
        return {"cursor": (self.n - 1) // 32, **powers, **counts}

    @property
    def due_passes(self) -> int:
        """How many passes come before the next round: none, but after some rounds."""
        now = self.standing
        is_time = now.rounds % SETTLED_EVERY == FIRST_SETTLED and now.pieces == 0 and not now.is_settled
        return max(0, SETTLED_PASSES + self.n // PASS_CITIES - now.passes) if is_time else 0

    @property
    def pass_seconds(self) -> float:
        """The seconds of the longest pass, which cannot be cut."""
        return self.full_pass * min(1.0, PASS_CITIES / self.n)

    def settle(self, most: int = 2**62, seconds_left: float = math.inf) -> None:
        """Make one kernel call of passes, at most so many, over the neighbourhood of the whole tour."""
        now = self.standing
        self._turn(to_passes=True)
        began = time.perf_counter()
        seconds = max(0.0, min(CALL_SECONDS if self.passed else FIRST_SHARE * CALL_SECONDS, seconds_left))
        work = LOOK_WORK * self.n / self.full_pass * seconds
        if self.passed:
            most = min(most, max(1, min(MOST_GROWTH * self.passed, int(seconds / self.passed_seconds))))
        else:
            most = min(most, FIRST_PASSES)
        before = self.kernels.call("huge_counts", now.handle)
        handle = self.kernels.call(
            f"{self.form.kind}_huge_descend",
            self.loaded,
            self.links,
            now.handle,
            self.seed,
            most,
            min(max(1, int(work)), 2**62),
        )
        is_settled = bool(self.kernels.call("huge_done", handle))
        _, passes, work_done = self.kernels.call("huge_counts", handle) - before
        length = self._length(handle)
        if work_done:
            took = max(time.perf_counter() - began, 1e-9)
            self.full_pass = took * LOOK_WORK * self.n / int(work_done)
            self.passed = max(1, int(passes))
            self.passed_seconds = took / self.passed
        self._stand(Standing(handle, length, now.rounds, now.pieces, now.passes + int(passes), is_settled))

    def go_back(self) -> bool:
        """Go back to the best tour if it may become shorter yet; tell whether it may."""
        if not self.best.is_settled:
            self.standing = replace(self.best, rounds=self.standing.rounds)
        return not self.best.is_settled

    def tour(self) -> NDArray[np.int32]:
        """Return the shortest tour so far, shape (n,), that of a round in its middle too."""
        self.best = shorter(self.standing, self.best)
        tour: NDArray[np.int32] = self.kernels.call("huge_tour", self.best.handle)
        return tour

    def free(self) -> None:
        """Give back the device's memory; only what is known of the tours is left."""
        self.standing, self.best = (replace(each, handle=None) for each in (self.standing, self.best))
        del self.loaded, self.links
        self.kernels.release_memory()

    def _stand(self, standing: Standing) -> None:
        """Stand there. A shorter tour is the best so far, and so is a local optimum of the same length.

        Not in the middle of a round, which calls may cut anywhere.
        """
        if standing.pieces == 0:
            self.best = shorter(standing, self.best)
        self.standing = standing

    def _turn(self, *, to_passes: bool) -> None:
        """Give back what calls of the other kind have left to be used again: they need other sizes."""
        if to_passes != self.is_between:
            self.kernels.release_memory()
        self.is_between = to_passes

    def _length(self, handle: Any) -> int:
        return int(self.kernels.call(f"{self.form.kind}_huge_length", self.loaded, handle))

    def _offset(self, rounds: int) -> int:
        """Return the position at which the pieces of a round begin: cuts are far from those of the rounds before."""
        return int((self.seed % 2**32 * PLASTIC + rounds * GOLDEN) % 1 * self.n)


def shorter(one: Standing, other: Standing) -> Standing:
    """Return the shorter tour; of equals the local optimum, and else the first."""
    return min(one, other, key=lambda standing: (standing.length, not standing.is_settled))
