"""Edge assembly crossover: populations of local optima that take over edges from each other, one after the other."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytsp.backends.context import Backend
from pytsp.backends.registry import host_kernels
from pytsp.exceptions import BackendError
from pytsp.neighbours.boxes import boxes_by
from pytsp.problem.location import is_located
from pytsp.run.state_reader import State
from pytsp.solvers import policy
from pytsp.solvers.common.candidates import (
    are_by_alpha,
    are_nearest_in_time,
    is_on_a_lattice,
    lists_without_exits,
    search_lists,
    second_lists,
    seconds_of_lists,
)
from pytsp.solvers.common.flat_search import FlatSearch, check_device, most_climbers
from pytsp.solvers.common.incumbent import Best
from pytsp.solvers.common.local_search import LocalSearch, population_fields
from pytsp.solvers.common.loop import Found, Search, Standing
from pytsp.solvers.common.pacing import CALL_SECONDS, MOST_GROWTH, Pace
from pytsp.solvers.common.task import Plan, Task
from pytsp.solvers.ils.solver import begin as begin_climbers
from pytsp.solvers.options.eax import EAX
from pytsp.solvers.options.ils import ILS
from pytsp.solvers.options.shared import FLAT, MOVES
from pytsp.solvers.speeds import BYTES
from pytsp.utils.deadline import OutOfTime
from pytsp.utils.memory import check_memory

# A population without climbers.
_NONE = np.empty(0, dtype=np.int64)
NOBODY: dict[str, Any] = {"handle": None, "chunks": (), "lengths": _NONE, "steps": _NONE}
# The numbers and truth values of a standing, as a checkpoint names them.
COUNTS = ("first", "descended", "unchanged", "idle", "stale", "populations", "agreed")
FLAGS = ("is_descended", "has_met_elites")


def begin(task: Task[Any]) -> Search:
    """Return the populations of a crossover at their start, or in their stored state.

    Return the climbers of an iterated local search instead if the solver may change, and either a population would be
    late or the cities are those of a large lattice.
    """
    task.prepare()
    state = task.watch.state
    are_chains = _has_better_chains(task) or _is_slow(task) if state is None else "elites" not in state
    if are_chains:
        return begin_climbers(replace(task, options=ILS()))
    search = Evolution(task)
    is_late = state is None and task.may_change_solver and search.is_late()
    return _climbers_instead(search) if is_late else search


def _has_better_chains(task: Task[EAX]) -> bool:
    """Tell whether chains end with shorter tours than populations: on a CPU, on a large lattice."""
    is_many = task.machine == "cpu" and task.may_change_solver and task.instance.n > policy.CONFIRMED_CITIES
    return is_many and are_by_alpha(task, MOVES.index("lk")) and is_on_a_lattice(task)


def _is_slow(task: Task[Any]) -> bool:
    """Tell whether a CPU is too slow for a population within the limit, by the seconds that it took for the lists."""
    limit = task.watch.time_limit
    if limit is None or task.machine != "cpu" or not task.may_change_solver:
        return False
    if task.is_doubled or task.options.neighbours is not None or not is_located(task.instance):
        return False
    # Lists by quadrants would not pay only to see that there is no time for them.
    is_doubtful = policy.is_population_doubtful(task.instance, limit)
    if is_doubtful and are_nearest_in_time(replace(task, options=ILS())):
        return True
    return policy.is_cpu_slow(task.instance.n, seconds_of_lists(task), task.watch.seconds_left)


def _climbers_instead(search: Evolution) -> Search:
    """Return the climbers of an iterated local search that take a population's place.

    They start from its shortest tour if another descent would be dear.
    """
    task, tour = search.task, search.best_tour()
    seconds = search.descent_seconds * (search.descents.threads or 1)
    is_dear = seconds > policy.DEAR_SHARE * search.watch.seconds_left
    given = tour if is_dear and task.given_tour is None else task.given_tour
    try:
        return begin_climbers(replace(task, options=ILS(), given_tour=given))
    except OutOfTime as late:
        raise OutOfTime(tour if late.tour is None else late.tour) from None


@dataclass(frozen=True, kw_only=True)
class EvolutionStanding(Standing):
    """State of the populations; their iterations are the generations of all."""

    # The number of the population's first climber, and how many have descended, of whom not all need to belong to it.
    first: int
    descended: int = 0
    # Until all its climbers are there, its parts with their numbers of climbers, which fall.
    chunks: tuple[tuple[Any, int], ...] = ()
    is_descended: bool = False
    # The best tours of the populations that have converged.
    elites: tuple[NDArray[np.int32], ...] = ()
    has_met_elites: bool = True
    # How many tours the last generation has left as long as they were.
    unchanged: int = 0
    # Generations in a row that made no tour shorter, and that changed few since the shortest one became shorter.
    idle: int = 0
    stale: int = 0
    # Populations in a row that ended with the length `shortest`, and those of them that came to it by themselves.
    populations: int = 0
    agreed: int = 0
    shortest: int | None = None


@dataclass
class Kicked:
    """Climbers of an iterated local search from the best tour, one a thread, and how many kicks each has made."""

    handle: Any
    pace: Pace
    began: float
    kicks: int = 0


class Evolution(Search):
    """The populations of one solve, one after the other."""

    standing: EvolutionStanding

    def __init__(self, task: Task[EAX]) -> None:
        super().__init__(task)
        self.options, self.iterations = task.options, task.options.iterations
        self.moves = descent_moves(task)
        # By which climbers come to their first local optima.
        self.descents = _descent_kernels(self.moves, self.kernels)
        self.local_search = self._local_search(task)
        # True if populations follow each other until the time limit, each as large as can converge.
        self.is_timed = self.iterations is None and self.watch.time_limit is not None
        self.size = self.options.climbers
        # True if populations follow each other until their lengths agree.
        self.is_confirmed = (
            self.iterations is None
            and self.size is None
            and not self.is_timed
            and self.form.whole.n <= policy.CONFIRMED_CITIES
        )
        # A GPU makes many climbers in the time of a few.
        self.small_populations = policy.AGREED if task.machine == "cpu" else 0
        # Populations in a row without a shorter tour that end a solve.
        self.enough = policy.POPULATIONS if self.is_timed else policy.CONFIRMATIONS if self.is_confirmed else 0
        if self.size is not None:
            bytes_of_one = BYTES["eax, city"] * self.form.whole.n + BYTES["eax, climber"]
            check_memory("climbers", self.size, lambda count: count * bytes_of_one)
            check_device(self.form.whole.n, self.size, self.kernels)
        if not self.is_timed and not self.is_confirmed:
            self.size = self.size or self._most()
        self.standing = EvolutionStanding(**NOBODY, best=None, first=self.options.first)
        if self.watch.state is not None:
            self._restore(self.watch.state)
        # When the climbers of a population are to be there, and when if they are few.
        self.descended_by, self.latest = self._descent_times()
        # When the population began, and what ends a solve where another one would have too little time.
        self.population_began = self.watch.seconds
        self.kicked: Kicked | None = None
        # Seconds of the last generation.
        self.generation_seconds = 0.0
        there, n, left = self.descents, self.form.whole.n, self.watch.seconds_left
        self.chunk = policy.first_chunk(n, self.form.kind, self._descents_machine, there.threads, left)
        # Seconds per climber of the last call with descents.
        self.descent_seconds = 0.0

    def _local_search(self, task: Task[EAX]) -> LocalSearch:
        """Return the local search, with that of the host where climbers descend there."""
        # Kicks after moves of all cities at once are repaired by 2-opt and Or-opt moves, too.
        moves = 0 if self.moves == FLAT else MOVES.index(self.moves)
        # Half of the climbers by lists of two kinds find more between them than all by either.
        self.by_alpha = self.moves != FLAT and task.options.neighbours is None and are_by_alpha(task, moves)
        with boxes_by(task.kernels):
            lists = search_lists(task)
            second = second_lists(task, lists) if self.by_alpha else None
            nearest = None if self.moves == FLAT else lists_without_exits(task)
        if self.moves == FLAT:
            return FlatSearch(task, self.loaded, lists, moves=moves, instance=self.form.whole)
        search = LocalSearch(task, self.loaded, lists, moves=moves, second=second, nearest=nearest)
        return search if self.descents is self.kernels else replace(search, host=search.by(self.descents))

    @property
    def _descents_machine(self) -> str:
        """The machine on which climbers descend, "cpu" or "gpu"."""
        return "cpu" if self.descents.device is None else "gpu"

    @property
    def phase(self) -> str:  # type: ignore[override]
        return "crossover" if self.standing.is_descended else "local optima"

    @property
    def is_finished(self) -> bool:
        now = self.standing
        if not now.is_descended:
            return False
        if self.iterations is not None and now.iteration >= self.iterations:
            return True
        if not self.has_converged:
            return False
        if self.is_confirmed:
            is_large = len(now.elites) > self.small_populations
            return self.agreed >= policy.AGREED or (is_large and self.fruitless >= self.enough)
        return self.fruitless >= self.enough

    @property
    def next_seconds(self) -> float:
        """A generation cannot be cut."""
        return self.generation_seconds if self.standing.is_descended and not self.has_converged else 0.0

    def advance(self) -> None:
        """Make one kernel call, or a few: more climbers, the next generation, or the next population."""
        if not self.standing.is_descended:
            self.descend_more()
        elif self.has_converged:
            self.renew()
        else:
            self.breed()

    def needs_descent(self, stop_reason: str) -> bool:
        return self.task.initial_tour is not None and not self.standing.is_descended

    def descend(self) -> None:
        """Complete the population with the climbers so far and the initial tour."""
        self._commit(self.standing, is_descended=True)

    def found(self) -> Found:
        now = self.standing
        assert now.best is not None
        done = np.ones(len(now.lengths), dtype=np.bool_)
        return Found(now.best, now.lengths, now.steps, done, mapping=self.local_search.mapping)

    def descend_more(self, now: EvolutionStanding | None = None) -> None:
        """Bring a chunk of climbers of a population, of `now`, to their local optima; the last ones complete it."""
        now = now or self.standing
        count = now.descended
        most = self.size or self._most(len(now.elites))
        began = time.perf_counter()
        chunk = self._timely(min(self.chunk, most - count))
        count += chunk
        started = self.local_search.start(now.first + count - chunk, chunk, len(now.elites))
        standing = replace(self._with(started, now), descended=count)
        self.descent_seconds = max(time.perf_counter() - began, 1e-9) / chunk
        least, by = policy.AMOUNTS[self.task.machine].least_population, self.descended_by
        if count < least:
            least, by = policy.FEWEST_CLIMBERS, self.latest
        is_enough = self.size is None and count >= least and self.watch.seconds > by
        seconds = CALL_SECONDS
        if self.size is None and self.task.machine == "cpu":
            # A call ends no later than the descents are to. A GPU makes many in the time of one.
            seconds = min(seconds, max(0.0, by - self.watch.seconds))
        together = self.descents.threads or 1
        fitting = min(seconds / self.descent_seconds, MOST_GROWTH * chunk, policy.AMOUNTS[self._descents_machine].chunk)
        self.chunk = max(1, int(fitting) // together) * together
        self._commit(standing, is_descended=count >= most or is_enough)

    def is_late(self) -> bool:
        """Descend with the first climbers, and tell by their time whether the smallest population would be late."""
        if not self.is_timed or self.size is not None or self.task.machine == "gpu":
            return False
        self.descend_more()
        now, left = self.standing, self.watch.seconds_left
        is_late = policy.is_population_late(self.form.whole.n, now.descended, self.descent_seconds, left)
        return is_late and not now.is_descended

    def _timely(self, chunk: int) -> int:
        """Return `chunk`, or as many climbers as threads bring to their local optima in time: one each at least."""
        together, left = self.descents.threads or chunk, max(0.0, self.watch.seconds_left)
        fits = self.descent_seconds * chunk <= left
        return chunk if fits else max(min(together, chunk), int(left / self.descent_seconds) // together * together)

    def _with(self, handle: Any, now: EvolutionStanding) -> EvolutionStanding:
        """Return the state of the climbers with one more chunk."""
        # Smaller ones join it: each climber is copied few times, and memory of few sizes is kept for reuse.
        added = self._read(handle, replace(now, first=now.first + len(now.lengths)))
        chunks = (*now.chunks, (handle, len(added.lengths)))
        while len(chunks) > 1 and chunks[-2][1] <= chunks[-1][1]:
            chunks = (*chunks[:-2], self._joined(chunks[-2:]))
        lengths, steps = np.append(now.lengths, added.lengths), np.append(now.steps, added.steps)
        return replace(now, handle=None, chunks=chunks, lengths=lengths, steps=steps, best=added.best)

    def _joined(self, chunks: Sequence[tuple[Any, int]]) -> tuple[Any, int]:
        """Return chunks as one, from the last on, which are the smallest."""
        handle, count = chunks[-1]
        for before, more in reversed(chunks[:-1]):
            handle, count = self.local_search.join(before, handle), more + count
        return handle, count

    def _commit(self, standing: EvolutionStanding, *, is_descended: bool) -> None:
        """Commit the state; once settled, merge chunks, keep the best climbers, and add the initial tour."""
        if is_descended:
            standing = self._elected(replace(standing, handle=self._joined(standing.chunks)[0], chunks=()))
        initial = self.task.initial_tour
        if is_descended and initial is not None:
            given = self.local_search.descend(initial[None, :])
            standing = self._read(self.local_search.join(standing.handle, given), standing)
        self.standing = replace(standing, is_descended=is_descended)

    def _elected(self, standing: EvolutionStanding) -> EvolutionStanding:
        """Return the state of the climbers with the shortest tours, as many as a population may have."""
        most = self.options.population
        if most is None or most >= len(standing.lengths):
            return standing
        handle, places = self.local_search.elect(standing.handle, standing.lengths, most)
        return replace(standing, handle=handle, lengths=standing.lengths[places], steps=standing.steps[places])

    def first_climbers(self, count: int) -> dict[str, NDArray[Any]]:
        """Return the tours, int32 of shape (count, n), the lengths and the steps, int64, of the first climbers."""
        chosen = self.local_search.chosen(self.standing.handle, np.arange(count))
        names = {"tours": "bests", "lengths": "lengths", "steps": "steps"}
        fields = self.kernels.fields(chosen)
        return {name: fields[field] for name, field in names.items()}

    def receive(self, climbers: dict[str, NDArray[Any]]) -> None:
        """Take such climbers into the population, behind the others, in place of as many of its first."""
        now, search = self.standing, self.local_search
        kept = search.chosen(now.handle, np.arange(len(climbers["lengths"]), len(now.lengths)))
        come = self.kernels.value("population", {**climbers, "bests": climbers["tours"]})
        self.standing = self._read(search.join(kept, come), replace(now, unchanged=0, idle=0, stale=0))

    def _descent_times(self) -> tuple[float, float]:
        """Return when the climbers of a population that begins now are to be there, and when if they are few."""
        now, left, amounts = self.watch.seconds, self.watch.seconds_left, policy.AMOUNTS[self.task.machine]
        return now + left * amounts.descent_share, now + left * amounts.latest_share

    def _most(self, elites: int = 0) -> int:
        """Choose the default size of a population, by the number of populations before it."""
        n, machine = self.form.whole.n, self.task.machine
        most = policy.AMOUNTS[machine].most_population if self.is_timed else policy.default_population(n, machine)
        if machine == "gpu":
            return max(1, min(most, most_climbers(n, self.kernels)))
        is_growing = self.is_timed or (self.is_confirmed and elites < self.small_populations)
        return min(most, policy.growing_population(n, elites)) if is_growing else most

    @property
    def has_converged(self) -> bool:
        """True if all tours are equally long, or some generations in a row shortened none, or not the best one."""
        now = self.standing
        is_idle = now.idle >= policy.PATIENCE or now.stale >= policy.STALE
        return is_idle or bool(now.lengths.min() == now.lengths.max())

    def breed(self) -> None:
        now = self.standing
        began = time.perf_counter()
        changed = 1 - now.unchanged / len(now.lengths)
        bred = self.local_search.breed(now.handle, self.task.seed, now.iteration, changed=changed)
        after = self._read(bred)
        if self.kernels.device is None:
            # Pairs of tours differ by other numbers of edges each time: of what is kept for reuse most is not reused.
            self.kernels.release_memory()
        self.generation_seconds = time.perf_counter() - began
        unchanged = int(np.sum(after.lengths == now.lengths))
        count = len(now.lengths)
        idle = now.idle + 1 if unchanged == count else 0
        is_still = count - unchanged <= policy.STALE_SHARE * count
        stale = 0 if int(after.lengths.min()) < int(now.lengths.min()) else now.stale + is_still
        self.standing = replace(after, iteration=now.iteration + 1, unchanged=unchanged, idle=idle, stale=stale)

    @property
    def agreed(self) -> int:
        """Number of populations in a row, with the one that has converged, at the shortest length by themselves."""
        now = self.standing
        assert now.best is not None
        before = now.agreed if now.best.length == now.shortest else 0
        if now.elites and now.has_met_elites:
            return before
        return before + 1 if int(now.lengths.min()) == now.best.length else 0

    @property
    def fruitless(self) -> int:
        """Number of populations in a row, with the one that has converged, without a shorter tour."""
        now = self.standing
        assert now.best is not None
        return now.populations + 1 if now.best.length == now.shortest else 0

    def renew(self) -> None:
        """Go on after convergence.

        A population that has converged by itself meets the best tours of those before it; one that has met them gives
        way to new climbers, or to kicks of the best tour, where less time is left than it took.
        """
        now, search = self.standing, self.local_search
        assert now.best is not None
        if now.has_met_elites and self.is_last:
            self.kick()
            return
        ended, agreed, shortest = self.fruitless, self.agreed, now.best.length
        now = replace(now, unchanged=0, idle=0, stale=0, populations=ended, agreed=agreed, shortest=shortest)
        if now.has_met_elites:
            elites = (*now.elites[-policy.POPULATIONS :], search.best(now.handle, now.lengths, 0, None).tour)
            first = now.first + now.descended
            self.descended_by, self.latest = self._descent_times()
            self.population_began = self.watch.seconds
            self.descend_more(replace(now, **NOBODY, first=first, descended=0, elites=elites, has_met_elites=False))
        else:
            after = self._read(search.join(now.handle, search.descend(np.array(now.elites))), now)
            self.standing = replace(after, has_met_elites=True)

    @property
    def is_last(self) -> bool:
        """True if no population follows the converged one: on a CPU, if less time is left than it took."""
        left = self.watch.seconds_left
        has_little = self.is_timed and self.task.machine == "cpu"
        return self.kicked is not None or (has_little and left < self.watch.seconds - self.population_began)

    def kick(self) -> None:
        """Kick and repair the best tour for a fraction of a second, one climber a thread.

        The result is of the climber that had the tour. A checkpoint knows the tour only.
        """
        now, search, began = self.standing, self.local_search, time.perf_counter()
        assert now.best is not None
        if self.kicked is None:
            tours = np.repeat(now.best.tour[None, :], self.kernels.threads or 1, axis=0)
            self.kicked = Kicked(search.place(tours), Pace(), began)
        kicked = self.kicked
        count = int(kicked.pace.fitting(began - kicked.began, max(0.0, self.watch.seconds_left)))
        # No climber that has started is of these numbers.
        first = now.first + now.descended
        kicked.handle = search.climb(kicked.handle, self.task.seed, first, kicked.kicks, count)
        kicked.kicks += count
        kicked.pace.observe(count, time.perf_counter() - began)
        best = search.best(kicked.handle, search.lengths(kicked.handle), first, now.best)
        self.standing = replace(now, best=replace(best, climber=now.best.climber))

    def state(self) -> dict[str, Any]:
        now = self.standing
        assert now.best is not None
        return {
            "size": self.size,
            "moves": self.moves,
            "by_alpha": self.by_alpha,
            "population": self.kernels.fields(now.handle or self._joined(now.chunks)[0]),
            "best": now.best.state(),
            "elites": np.array(now.elites, dtype=np.int32).reshape(len(now.elites), self.form.whole.n),
            "generation": now.iteration,
            **{name: getattr(now, name) for name in (*COUNTS, *FLAGS, "shortest")},
        }

    def _restore(self, state: State) -> None:
        n = self.form.whole.n
        found = Best.restored(state.part("best"), n)
        self.size = state.optional_whole("size")
        fields = population_fields(state.part("population"), n)
        handle, is_descended = self.kernels.value("population", fields), state.flag("is_descended")
        counts: dict[str, Any] = {name: state.whole(name) for name in COUNTS}
        counts |= {name: state.flag(name) for name in FLAGS}
        self.standing = EvolutionStanding(
            handle=handle if is_descended else None,
            lengths=fields["lengths"],
            steps=fields["steps"],
            best=found,
            iteration=state.whole("generation"),
            chunks=() if is_descended else ((handle, len(fields["lengths"])),),
            elites=tuple(state.tours("elites", n)),
            shortest=state.optional_whole("shortest"),
            **counts,
        )

    def _read(self, handle: Any, standing: EvolutionStanding | None = None) -> EvolutionStanding:
        """Return the state of the climbers, with the best tour if it is shorter than the best so far."""
        now, search = standing or self.standing, self.local_search
        lengths = search.lengths(handle)
        best = search.best(handle, lengths, now.first, now.best)
        return replace(now, handle=handle, lengths=lengths, steps=search.steps(handle), best=best)


def plan(task: Task[EAX], places: int = 1) -> Plan:
    """Return the climbers of an island, and what depends on the machine.

    With a time limit alone an island has as many climbers as it finds that it has the time for.
    """
    options, more = task.options, {"moves": descent_moves(task)}
    climbers = options.climbers
    if climbers is None and (options.iterations is not None or task.watch.time_limit is None):
        climbers = policy.default_population(task.instance.n, task.machine)
    return Plan(climbers or 1, 1, more if climbers is None else {**more, "climbers": climbers})


def descent_moves(task: Task[EAX]) -> str:
    """Return the moves of the first descents: by default chains or 3-opt moves.

    A GPU moves all cities at once if there are many with places, or if its host has no kernels of a CPU.
    """
    state, asked = task.watch.state, task.options.moves
    if asked is None and state is not None:
        return state.one_of("moves", (*MOVES, FLAT))
    whole = task.form.whole
    if asked or task.options.pivot != "first":
        return asked or "3-opt"
    is_bulky = whole.n >= policy.LEAST_FLAT_CITIES and is_located(whole)
    return FLAT if task.machine == "gpu" and (is_bulky or host_kernels(task.kernels) is None) else "lk"


def _descent_kernels(moves: str, kernels: Backend) -> Backend:
    """Return the kernels by which climbers make such moves: a solver's own, or of its host, if these can run here."""
    if moves == FLAT or kernels.device is None:
        return kernels
    host = host_kernels(kernels)
    if host is None:
        raise BackendError(f"moves={moves!r} are made by a CPU, and no kernels of one can run here; take moves='flat'")
    return host
