"""A slice of a search: a fraction of a second of a worker's time, between two looks of the coordinator.

A search goes on from its state as if it had not been interrupted. So it does not matter which worker has the next slice
of a part, nor where slices end.
"""

from __future__ import annotations

import os
import pickle
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytsp.backends.registry import open_backend
from pytsp.distributed.places import Place
from pytsp.problem.instance import Instance
from pytsp.run.monitor import Watch
from pytsp.run.state_reader import State
from pytsp.solvers.common.incumbent import Best
from pytsp.solvers.common.loop import Search
from pytsp.solvers.common.task import Plan, Task
from pytsp.solvers.options.fields import Options
from pytsp.solvers.registry import MODULES
from pytsp.utils.deadline import OutOfTime

# Most cities of all tours on a device whose searches a process keeps.
MOST_CITIES = 100_000_000

COLUMNS = {"lengths": (np.int64,), "steps": (np.int32, np.int64), "done": (np.bool_,), "passes": (np.int32, np.int64)}


@dataclass(frozen=True)
class Job:
    """Data that all parts of a solve share.

    Each worker keeps what is made of it in `memo`, and in `live` the searches that go on, with how many slices each has
    had.
    """

    instance: Instance
    options: Options
    seed: int
    initial_tour: NDArray[np.int32] | None
    placement: Mapping[str, Any]
    quick_tour: Callable[[float], NDArray[np.int32]] | None
    is_doubled: bool
    memo: dict[Any, Any] = field(default_factory=dict)
    live: dict[str, tuple[int, Search]] = field(default_factory=dict)


Begin = Callable[[Task[Any], Any], Search]
"""The function that makes the search of a part, of its task and the part's arguments; it can be imported."""


@dataclass(frozen=True)
class Slice:
    """The arguments of a slice of a part, which has had `version` slices.

    A worker without its search begins it with `start`, the part's arguments and state, if that came along. `options`
    are in place of the job's; `time_limit` and `spent` the seconds of the solve; `known` the length and the climber of
    the best tour that the coordinator has. The state is told if `keeps`, and nothing but the last descent is made if
    `ends`. The search is to `hear` the messages, and to end where the file `ending` exists.
    """

    part: str
    version: int
    begin: Begin
    start: tuple[Any, bytes | None] | None
    options: Mapping[str, Any]
    seconds: float
    time_limit: float | None
    spent: float
    known: tuple[int, int] | None
    keeps: bool
    ends: bool
    messages: list[Any]
    ending: str


@dataclass(frozen=True)
class Range:
    """The results of climbers with numbers from `first` on: arrays of shape (climbers,), as `Found` has them."""

    first: int
    lengths: NDArray[np.int64]
    steps: NDArray[Any]
    done: NDArray[np.bool_]
    passes: NDArray[np.int32] | None = None

    @property
    def end(self) -> int:
        return self.first + len(self.lengths)

    @classmethod
    def joined(cls, ranges: Sequence[Range]) -> Range:
        """Return ranges as one, in the order given."""
        parts = {name: [getattr(each, name) for each in ranges] for name in COLUMNS}
        columns = {name: np.concatenate(part) for name, part in parts.items() if part[0] is not None}
        return ranges[0] if len(ranges) == 1 else cls(ranges[0].first, **columns)

    def __getstate__(self) -> dict[str, Any]:
        """Return the range with columns of as few bytes as their values need."""
        return {name: _narrow(value) if isinstance(value, np.ndarray) else value for name, value in vars(self).items()}

    def __setstate__(self, sent: dict[str, Any]) -> None:
        vars(self).update({name: _widen(*value) if isinstance(value, tuple) else value for name, value in sent.items()})

    @classmethod
    def restored(cls, state: State, first: int = 0, end: int = 2**62) -> Range:
        """Return the range that a checkpoint holds, of climbers from first to end - 1."""
        count = len(state.array("lengths", np.int64, (None,)))
        columns = {}
        for name in (name for name in COLUMNS if name != "passes" or name in state):
            dtypes: Sequence[Any] = COLUMNS[name]
            given: Any = getattr(state.any(name), "dtype", None)
            columns[name] = state.array(name, given if given in dtypes else dtypes[0], (count,))
        return cls(state.whole("first", first, end - count), **columns)


def _narrow(column: NDArray[Any]) -> tuple[np.dtype[Any], int, NDArray[Any]]:
    """Return the type and the length of a column, and its values in the smallest type, truth values as bits."""
    if column.dtype == np.bool_:
        return column.dtype, len(column), np.packbits(column)
    # A signed type that holds -1 - x holds x.
    least = min(int(column.min(initial=0)), -1 - int(column.max(initial=0)))
    return column.dtype, len(column), column.astype(np.min_scalar_type(least))


def _widen(dtype: np.dtype[Any], count: int, narrow: NDArray[Any]) -> NDArray[Any]:
    return (np.unpackbits(narrow, count=count) if dtype == np.bool_ else narrow).astype(dtype)


def join(ranges: Iterable[Range]) -> list[Range]:
    """Return ranges in order, with adjoining ones as one."""
    runs: list[list[Range]] = []
    for each in sorted(ranges, key=lambda each: each.first):
        if runs and runs[-1][-1].end == each.first:
            runs[-1].append(each)
        else:
            runs.append([each])
    return list(map(Range.joined, runs))


def missing(first: int, end: int, taken: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the stretches from first to end that lie in none of those that are taken; each has its end behind it."""
    found, at = [], first
    for begin, behind in sorted(taken):
        if begin > at:
            found.append((at, begin))
        at = max(at, behind)
    return [*found, (at, end)] if at < end else found


@dataclass(frozen=True)
class Report:
    """The outcome of a slice.

    `reason` is "finished" or "time limit" where the part is over. The best tour has the instance's numbers, and is None
    where it is known or the search is quiet; `length` is what users see. A search that hears messages sends `answer`
    when it has finished. The fields from `backend` on are those of `Search`, `Found` and `Form`.
    """

    reason: str | None = None
    best: Best | None = None
    length: int | float = 0.0
    climbers: Range | None = None
    iteration: int | None = None
    state: bytes | None = None
    answer: Any = None
    began_seconds: float = 0.0
    seconds: float = 0.0
    backend: str = ""
    phase: str = ""
    iterations: int | None = None
    mapping: str = "thread"
    k: int | None = None
    exponent: int = 0
    is_shortened: bool = False


def _task_of(job: Job, place: Place, options: Mapping[str, Any], watch: Watch) -> Task[Any]:
    """Return a task of this thread, with the memo of the job's tasks before it on the same device."""
    placement, asked = place.placed(job.placement), replace(job.options, **options)
    name, threads, device = (placement[each] for each in ("backend", "threads", "device"))
    kernels = partial(open_backend, name, threads=threads, device=device, part=asked.kernels_part)
    memo = job.memo if device is None else job.memo.setdefault(device, {})
    given = job.instance, asked, watch, job.seed, job.initial_tour
    return Task(*given, kernels, job.quick_tour, job.is_doubled, memo=memo)


def plan(job: Job, place: Place, ask: tuple[int, float | None, float]) -> Plan:
    """Return how to cut the solve of a job into as many places, with its time limit and the seconds spent."""
    places, time_limit, spent = ask
    task = _task_of(job, place, {}, Watch(time_limit=time_limit, spent=spent))
    planned: Plan = import_module(MODULES[job.options.name]).plan(task, places)
    return planned


def advance(job: Job, place: Place, ask: Slice) -> Report | None:
    """Let a part go on for a slice, of one kernel call at least; return None where its search is not here and its state
    did not come along."""
    began = time.perf_counter()
    search = _search_of(job, place, ask)
    if search is None:
        return None
    began_seconds = time.perf_counter() - began
    try:
        reason = _go_on(search, ask, began + ask.seconds)
    except OutOfTime:
        # It has no tour.
        return Report("time limit")
    hears = reason == "finished" and hasattr(search, "hear")
    may_go_on = reason is None or hears
    is_kept = may_go_on and _keep(job, ask, search)
    state = pickle.dumps(search.state(), protocol=5) if may_go_on and (ask.keeps or not is_kept) else None
    answer = search.answer() if hears else None  # type: ignore[attr-defined]
    reported = replace(_report(search, ask, reason), state=state, answer=answer, began_seconds=began_seconds)
    if not is_kept:
        search.free()
    return replace(reported, seconds=time.perf_counter() - began)


def _search_of(job: Job, place: Place, ask: Slice) -> Search | None:
    """Return the search of a part, from this process or from the state that came along; None without both."""
    version, search = job.live.pop(ask.part, (None, None))
    if search is not None and version == ask.version:
        search.watch.began = time.perf_counter() - ask.spent
    elif ask.start is not None:
        arguments, state = ask.start
        watch = Watch(time_limit=ask.time_limit, spent=ask.spent)
        if state is not None:
            watch.state = State(pickle.loads(state), f"the state of {ask.part}")
        search = ask.begin(_task_of(job, place, ask.options, watch), arguments)
    else:
        return None
    for message in ask.messages:
        search.hear(message)  # type: ignore[attr-defined]
    return search


def _go_on(search: Search, ask: Slice, end: float) -> str | None:
    """Make kernel calls until the slice is over; return why the part is, if it is."""
    reason = "finished" if ask.ends else None
    has_called = False
    while reason is None:
        reason = "finished" if search.is_finished else search.stop_reason()
        if reason is None:
            if has_called and (time.perf_counter() >= end or os.path.exists(ask.ending)):
                return None
            search.advance()
            has_called = True
    while search.needs_descent(reason) and search.descent_call_seconds <= max(0.0, search.watch.seconds_left):
        search.descend()
    return reason


def _report(search: Search, ask: Slice, reason: str | None) -> Report:
    """Return what a search tells of itself after a slice; a quiet one that goes on has no tour."""
    form = search.form
    reported = Report(
        reason=reason,
        iteration=search.iteration,
        backend=search.kernels.name,
        phase=search.phase,
        iterations=search.iterations,
        exponent=0 if search.task.instance.is_exact else form.exponent,
        is_shortened=form.is_shortened,
    )
    if reason is None and search.is_quiet:
        return reported
    found = search.peek() if reason is None else search.found()
    best, length, key = None, 0.0, (found.best.length, found.best.climber)
    if key != ask.known or reason is not None or not form.is_exact:
        tour, length, _ = search.checked(found)
        best = Best(*key, tour)
    first = getattr(search.task.options, "first", 0)
    climbers = Range(first, found.lengths, found.steps, found.done, found.passes)
    return replace(reported, best=best, length=length, climbers=climbers, mapping=found.mapping, k=found.k)


def _keep(job: Job, ask: Slice, search: Search) -> bool:
    """Keep a search for its next slice, and return whether it fits beside the others of its device."""
    beside = [each for _, each in list(job.live.values()) if each.kernels is search.kernels]
    if beside and sum(each.form.whole.n * each.climbers for each in [*beside, search]) > MOST_CITIES:
        return False
    job.live[ask.part] = ask.version + 1, search
    return True
