"""A slice of a search: what a worker does between two looks of the coordinator, a fraction of a second long.

A part of a solve, such as a range of climbers, goes on slice by slice. Since a search goes on from its state as if it
had not been interrupted, it does not matter which worker has the next slice, nor where slices end.
"""

from __future__ import annotations

import os
import pickle
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from pytsp.backends.context import Backend
from pytsp.backends.registry import open_backend
from pytsp.distributed.worker import Shared
from pytsp.problem.instance import Instance
from pytsp.run.monitor import Watch
from pytsp.run.state_reader import State
from pytsp.solvers.common.incumbent import Best
from pytsp.solvers.common.loop import Found, Search
from pytsp.solvers.common.task import Task
from pytsp.solvers.options.fields import Options
from pytsp.utils.deadline import OutOfTime

__all__ = ["Begin", "Facts", "Job", "Slice", "Told", "advance", "give_up", "placed_here", "placement", "task_of"]

# Searches of other solves than the last ones are given up, and of more cities times climbers than these.
MOST_JOBS = 2
MOST_CITIES = 100_000_000

# Where this thread is to run kernels, whatever a job says: a GPU of its own, or its share of the cores.
_here = threading.local()


@dataclass(frozen=True)
class Job:
    """What all parts of a solve share besides the instance, which `instance` names; `memo` is what a worker keeps."""

    key: str
    instance: str
    options: Options
    seed: int
    initial_tour: NDArray[np.int32] | None
    placed: Mapping[str, Any]
    quick_tour: Callable[[float], NDArray[np.int32]] | None = None
    is_doubled: bool = False
    memo: dict[Any, Any] = field(default_factory=dict, compare=False, repr=False)


Begin = Callable[[Task[Any], Any], Search]
"""What makes the search of a part: a function that can be imported, of its task and the part's arguments."""


@dataclass(frozen=True)
class Slice:
    """What is asked of a worker.

    Attributes
    ----------
    job, part : str
        The key of the job, and that of the part among all.
    version : int
        How many slices the part has had.
    begin : callable
        As `Begin` has it.
    options : dict
        What is asked of the part in place of the job's options.
    seconds : float
        How long the slice is to last.
    time_limit : float or None
        That of the solve, whose clock stands at `spent`.
    spent : float
    known : tuple of int, or None
        Length and climber of the best tour of the part that the coordinator has.
    keeps : bool
        Whether the state is to be told.
    ends : bool
        Whether nothing but the last descent is to be made.
    is_quiet : bool
        Whether tours and climbers are told only where it is over.
    message : Any
        What a `Resting` search is told before it goes on, if anything.
    ending : str
        A file: where it is there, the coordinator waits for no more than what there is.
    """

    job: str
    part: str
    version: int
    begin: Begin
    options: Mapping[str, Any]
    seconds: float
    time_limit: float | None
    spent: float
    known: tuple[int, int] | None
    keeps: bool
    ends: bool = False
    is_quiet: bool = False
    message: Any = None
    ending: str = ""

    @property
    def state_key(self) -> str:
        """What names, among what a worker may lack, the arguments of `begin` and where the part stands, pickled."""
        return f"{self.part} at {self.version}"


@dataclass(frozen=True)
class Facts:
    """What a search is, as a worker tells it; the fields are those of `Found`, `Form` and `Search`.

    `exponent` is 0 where lengths are whole numbers.
    """

    backend: str
    mapping: str
    k: int | None
    exponent: int
    is_shortened: bool
    phase: str
    iterations: int | None


@dataclass(frozen=True)
class Told:
    """What a worker tells of a part after a slice.

    Attributes
    ----------
    reason : str or None
        Why the part is over, "finished" or "time limit"; None where it goes on.
    best : tuple of int
        Length, in the kernels' units, and climber of the best tour.
    tour : numpy.ndarray of int32 or None
        It, in the instance's numbers; None where the coordinator has it.
    length : int or float
        Its length as users see it.
    lengths, steps, done, passes
        Of all climbers, as `Found` has them.
    facts : Facts
    iteration : int or None
    state : bytes or None
        Where the search stands, pickled.
    began_seconds, seconds : float
        How long it took to begin, or to go back to the state; and all of the slice.
    round : int or None
        That of a `Resting` search.
    answer : Any
        Of a `Resting` search that has finished.
    """

    reason: str | None
    best: tuple[int, int]
    tour: NDArray[np.int32] | None
    length: int | float
    lengths: NDArray[np.int64]
    steps: NDArray[Any]
    done: NDArray[np.bool_]
    passes: NDArray[np.int32] | None
    facts: Facts
    iteration: int | None
    state: bytes | None
    began_seconds: float
    seconds: float
    round: int | None = None
    answer: Any = None

    def __getstate__(self) -> dict[str, Any]:
        """Return it as it is sent: of columns no more than they hold."""
        columns = {name: _narrowed(column) for name in COLUMNS if (column := getattr(self, name)) is not None}
        return vars(self) | columns

    def __setstate__(self, sent: dict[str, Any]) -> None:
        vars(self).update({name: _widened(value) if name in COLUMNS else value for name, value in sent.items()})


@runtime_checkable
class Resting(Protocol):
    """A search that stays where it is when it has finished, until a message lets it go on."""

    round: int
    """The number of the last message that it has begun with."""

    def hear(self, message: Any) -> None:
        """Take a message, behind those that are known."""

    def answer(self) -> Any:
        """Return what is to be sent to others."""


COLUMNS = ("lengths", "steps", "done", "passes")


def _narrowed(column: NDArray[Any]) -> tuple[str, int, NDArray[Any]]:
    """Return the type of a column of truth or whole numbers, what was taken from all of it, and what is left, in as few
    bytes as there are of."""
    if column.dtype == np.bool_:
        return "?", len(column), np.packbits(column)
    low, high = (0, 0) if len(column) == 0 else (int(column.min()), int(column.max()))
    width = next(each for each in (np.uint8, np.uint16, np.uint32, np.uint64) if high - low <= np.iinfo(each).max)
    return column.dtype.str, low, (column - low).astype(width)


def _widened(sent: tuple[str, int, NDArray[Any]] | None) -> NDArray[Any] | None:
    """Return a column as it was."""
    if sent is None:
        return None
    dtype, low, left = sent
    if dtype == "?":
        return np.unpackbits(left, count=low).astype(np.bool_)
    column: NDArray[Any] = left.astype(dtype) + np.array(low, dtype=dtype)
    return column


# The searches that go on here, by part: the version of each, and it.
_live: OrderedDict[tuple[str, str], tuple[int, Search]] = OrderedDict()
_lock = threading.Lock()


def placement(**placed: Any) -> None:
    """Say where this thread is to run kernels, in the place of what jobs say."""
    _here.placed = placed


def placed_here(placed: Mapping[str, Any]) -> dict[str, Any]:
    """Return where this thread is to run kernels that were asked for like this: with its GPU, or its threads."""
    own: Mapping[str, Any] = getattr(_here, "placed", {})
    here = dict(placed) | {name: value for name, value in own.items() if name != "threads"}
    if here["backend"] in ("auto", "multicore") and here["threads"] is None:
        # Other backends have no threads.
        here["threads"] = own.get("threads") or _dask_threads()
    if here["threads"] is not None and here["backend"] == "auto":
        here["device"] = None
    return here


def task_of(job: Job, instance: Instance, options: Options, watch: Watch) -> Task[Options]:
    """Return a task of this thread, with what the job's tasks before it have made of the instance."""
    placed = placed_here(job.placed)

    def open_kernels() -> Backend:
        return open_backend(
            placed["backend"], threads=placed["threads"], device=placed["device"], part=options.kernels_part
        )

    # What was loaded is on one device.
    memo = job.memo if placed["device"] is None else job.memo.setdefault(placed["device"], {})
    known = {"quick_tour": job.quick_tour, "is_doubled": job.is_doubled, "memo": memo}
    return Task(instance, options, watch, job.seed, job.initial_tour, open_kernels, **known)  # type: ignore[arg-type]


def _dask_threads() -> int | None:
    """Return the threads of the Dask worker that this is; None where it is none, or is to have a GPU."""
    import sys  # noqa: PLC0415

    module = sys.modules.get("distributed.worker")
    if module is None:
        return None
    try:
        worker = module.get_worker()
    except ValueError:
        return None
    return None if "GPU" in worker.state.total_resources else int(worker.state.nthreads)


# What is told of a part where nothing is to be.
_none = np.empty(0, dtype=np.int64)
NOTHING = Found(Best(0, 0, np.empty(0, dtype=np.int32)), _none, _none, _none.astype(np.bool_))


def advance(shared: Shared, ask: Slice) -> Told | None:
    """Let a part go on for a slice, of one kernel call at least; None where the time is over before it has a tour."""
    began = time.perf_counter()
    watch, search = _search_of(shared, ask)
    began_seconds = time.perf_counter() - began
    try:
        reason = _go_on(search, watch, ask, began + ask.seconds)
    except OutOfTime:
        return None
    found = search.found() if reason is not None else NOTHING if ask.is_quiet else search.peek()
    told = _tell(search, found, ask, reason, began_seconds, time.perf_counter() - began)
    if reason is None or (reason == "finished" and isinstance(search, Resting)):
        _keep_live(ask, search)
    else:
        search.free()
    return told


def _search_of(shared: Shared, ask: Slice) -> tuple[Watch, Search]:
    """Return the search of a part where it stands, from this process, or from the state that is given."""
    with _lock:
        version, live = _live.pop((ask.job, ask.part), (None, None))
    if live is not None and version == ask.version:
        live.watch.began = time.perf_counter() - ask.spent
        if ask.message is not None and isinstance(live, Resting):
            live.hear(ask.message)
        return live.watch, live
    # What is not there is told before anything is made.
    arguments, state = pickle.loads(shared.blob(ask.state_key))
    job: Job = shared[ask.job]
    watch = Watch(time_limit=ask.time_limit, spent=ask.spent)
    if state is not None:
        watch.state = State(pickle.loads(state), f"the state of {ask.part}")
    task = task_of(job, shared[job.instance], replace(job.options, **ask.options), watch)
    return watch, ask.begin(task, arguments)


def _go_on(search: Search, watch: Watch, ask: Slice, end: float) -> str | None:
    """Make kernel calls until the slice is over; return why the part is, if it is."""
    reason = "finished" if ask.ends else None
    has_called = False
    while reason is None:
        reason = "finished" if search.is_finished else search.stop_reason()
        if reason is None:
            if has_called and (time.perf_counter() >= end or (ask.ending and os.path.exists(ask.ending))):
                return None
            search.advance()
            has_called = True
    while search.needs_descent(reason) and search.descent_call_seconds <= max(0.0, watch.seconds_left):
        search.descend()
    return reason


def _tell(search: Search, found: Found, ask: Slice, reason: str | None, began_seconds: float, seconds: float) -> Told:
    best = found.best
    key, tour = (best.length, best.climber), None
    form, instance = search.form, search.task.instance
    length: int | float = best.length
    if found is not NOTHING and (key != ask.known or reason is not None or not form.is_exact):
        tour, length, _ = search.checked(found)
    said: tuple[int | None, Any] = None, None
    if isinstance(search, Resting):
        said = search.round, search.answer() if reason == "finished" else None
    is_asked = (ask.keeps or _is_crowded(search)) and (reason is None or isinstance(search, Resting))
    state = pickle.dumps(search.state(), protocol=5) if is_asked else None
    facts = Facts(
        backend=search.kernels.name,
        mapping=found.mapping,
        k=found.k,
        exponent=0 if instance.is_exact else form.exponent,
        is_shortened=form.is_shortened,
        phase=search.phase,
        iterations=search.iterations,
    )
    columns = (found.lengths, found.steps, found.done, found.passes)
    return Told(reason, key, tour, length, *columns, facts, search.iteration, state, began_seconds, seconds, *said)


def give_up(job: str) -> None:
    """Give back the searches of a job that go on in this process no more, and their memory."""
    with _lock:
        ended = [_live.pop(key)[1] for key in list(_live) if key[0] == job]
    for search in ended:
        search.free()


def _cities_of(search: Search) -> int:
    """Return the cities of all tours of a search."""
    return search.form.whole.n * search.climbers


def _is_crowded(search: Search) -> bool:
    """Tell whether others may have to give way to a search, or it to them: where each stands has to be told."""
    with _lock:
        others = [_cities_of(each) for _, each in _live.values() if each.kernels is search.kernels]
        return bool(others) and sum(others) + _cities_of(search) > MOST_CITIES


def _keep_live(ask: Slice, search: Search) -> None:
    with _lock:
        _live[ask.job, ask.part] = (ask.version + 1, search)
        jobs = list(dict.fromkeys(job for job, _ in reversed(_live)))[:MOST_JOBS]
        total = 0
        for key, (_, each) in reversed(list(_live.items())):
            total += _cities_of(each) if each.kernels is search.kernels else 0
            if each is not search and (key[0] not in jobs or total > MOST_CITIES):
                del _live[key]
