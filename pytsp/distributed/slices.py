"""A slice of a search: a fraction of a second of a worker's time, between two looks of the coordinator.

A search goes on from its state as if it had not been interrupted. So it does not matter which worker has the next slice
of a part, nor where slices end.
"""

from __future__ import annotations

import os
import pickle
import sys
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from pytsp.backends.context import Backend
from pytsp.backends.registry import open_backend
from pytsp.distributed.ranges import Range
from pytsp.distributed.worker import fetch
from pytsp.run.monitor import Watch
from pytsp.run.state_reader import State
from pytsp.solvers.common.incumbent import Best
from pytsp.solvers.common.loop import Search
from pytsp.solvers.common.task import Plan, Task
from pytsp.solvers.options.fields import Options
from pytsp.solvers.registry import MODULES
from pytsp.utils.deadline import OutOfTime

# The key, beside a slice, of the arguments of `begin` and of the part's state.
START = "start"
# Jobs, and cities of all tours on a device, whose searches a process keeps.
MOST_JOBS = 2
MOST_CITIES = 100_000_000

# The placement of kernels of this thread, in place of a job's: a GPU of its own, or its share of the cores.
_here = threading.local()
# The searches that go on in this process, by job and part: their version, they, and whether the state was told.
_live: OrderedDict[tuple[str, str], tuple[int, Search, bool]] = OrderedDict()
_lock = threading.Lock()


@dataclass(frozen=True)
class Job:
    """Data that all parts of a solve share besides the instance, whose key is `instance`; `memo` is kept by each
    worker."""

    instance: str
    options: Options
    seed: int
    initial_tour: NDArray[np.int32] | None
    placement: Mapping[str, Any]
    quick_tour: Callable[[float], NDArray[np.int32]] | None = None
    is_doubled: bool = False
    memo: dict[Any, Any] = field(default_factory=dict, compare=False, repr=False)


Begin = Callable[[Task[Any], Any], Search]
"""The function that makes the search of a part, of its task and the part's arguments; it can be imported."""


@dataclass(frozen=True)
class Slice:
    """The arguments of a slice of a part, which has had `version` slices.

    A worker without its search begins it with START, if that came along. `options` are in place of the job's;
    `time_limit` and `spent` the seconds of the solve; `known` the length and the climber of the best tour that the
    coordinator has. The state is told if `keeps`, and nothing but the last descent is made if `ends`. The search is to
    `hear` the messages, and to end where the file `ending` exists.
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
    ends: bool
    messages: list[Any]
    ending: str


@dataclass(frozen=True)
class Facts:
    """Properties of a search on a worker, if one has begun; the fields are those of `Found`, `Form` and `Search`."""

    backend: str = ""
    mapping: str = "thread"
    k: int | None = None
    exponent: int = 0
    is_shortened: bool = False
    phase: str = ""
    iterations: int | None = None


@dataclass(frozen=True)
class Report:
    """The outcome of a slice.

    `reason` is "finished" or "time limit" where the part is over. The best tour has the instance's numbers, and is None
    where it is known or the search is quiet; `length` is what users see. A search that hears messages sends `answer`
    when it has finished.
    """

    reason: str | None
    best: Best | None
    length: int | float
    climbers: Range | None
    facts: Facts
    iteration: int | None
    state: bytes | None
    began_seconds: float = 0.0
    seconds: float = 0.0
    answer: Any = None


def set_placement(placement: Mapping[str, Any]) -> None:
    """Place the kernels of this thread, whatever jobs say."""
    _here.placement = placement


def placement_here(placement: Mapping[str, Any]) -> dict[str, Any]:
    """Return the placement of kernels on this thread, which may have a GPU or threads of its own."""
    own: Mapping[str, Any] = getattr(_here, "placement", {})
    here = dict(placement) | {name: value for name, value in own.items() if name != "threads"}
    if here["backend"] in ("auto", "multicore") and here["threads"] is None:
        # Other backends have no threads.
        here["threads"] = own.get("threads") or _dask_threads()
    if here["threads"] is not None and here["backend"] == "auto":
        here["device"] = None
    return here


def _dask_threads() -> int | None:
    """Return the threads of the Dask worker that this is, if it is one and has no GPU."""
    module = sys.modules.get("distributed.worker")
    try:
        worker = module.get_worker() if module is not None else None
    except ValueError:
        return None
    return None if worker is None or "GPU" in worker.state.total_resources else int(worker.state.nthreads)


def _task_of(given: Mapping[str, bytes], job: Job, options: Mapping[str, Any], watch: Watch) -> Task[Any]:
    """Return a task of this thread, with the memo of the job's tasks before it on the same device."""
    placement, asked = placement_here(job.placement), replace(job.options, **options)

    def open_kernels() -> Backend:
        return open_backend(
            placement["backend"], threads=placement["threads"], device=placement["device"], part=asked.kernels_part
        )

    memo = job.memo if placement["device"] is None else job.memo.setdefault(placement["device"], {})
    known: dict[str, Any] = {"quick_tour": job.quick_tour, "is_doubled": job.is_doubled, "memo": memo}
    return Task(fetch(given, job.instance), asked, watch, job.seed, job.initial_tour, open_kernels, **known)


def plan(given: Mapping[str, bytes], ask: tuple[str, int, float | None, float]) -> Plan:
    """Return how to cut the solve of a job into as many places, with its time limit and the seconds spent."""
    key, places, time_limit, spent = ask
    job: Job = fetch(given, key)
    task = _task_of(given, job, {}, Watch(time_limit=time_limit, spent=spent))
    planned: Plan = import_module(MODULES[job.options.name]).plan(task, places)
    return planned


def advance(given: Mapping[str, bytes], ask: Slice) -> Report | Literal["lost", "late"]:
    """Let a part go on for a slice, of one kernel call at least.

    It is "lost" if neither its search is here nor its state came along, and "late" if the time is over before it has a
    tour.
    """
    began = time.perf_counter()
    search = _search_of(given, ask)
    if search is None:
        return "lost"
    began_seconds = time.perf_counter() - began
    try:
        reason = _go_on(search, ask, began + ask.seconds)
    except OutOfTime:
        return "late"
    hears = hasattr(search, "hear")
    may_go_on = reason is None or (reason == "finished" and hears)
    is_kept = may_go_on and _keep_live(ask, search)
    state = pickle.dumps(search.state(), protocol=5) if may_go_on and (ask.keeps or not is_kept) else None
    reported = _tell(search, ask, reason, state)
    answer = search.answer() if hears and reason == "finished" else None  # type: ignore[attr-defined]
    if not is_kept:
        search.free()
    return replace(reported, answer=answer, began_seconds=began_seconds, seconds=time.perf_counter() - began)


def _search_of(given: Mapping[str, bytes], ask: Slice) -> Search | None:
    """Return the search of a part, from this process or from the state that came along; None without both."""
    with _lock:
        version, search, _ = _live.pop((ask.job, ask.part), (None, None, False))
    if search is not None and version == ask.version:
        search.watch.began = time.perf_counter() - ask.spent
    elif START in given:
        arguments, state = pickle.loads(given[START])
        watch = Watch(time_limit=ask.time_limit, spent=ask.spent)
        if state is not None:
            watch.state = State(pickle.loads(state), f"the state of {ask.part}")
        search = ask.begin(_task_of(given, fetch(given, ask.job), ask.options, watch), arguments)
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
            if has_called and (time.perf_counter() >= end or (ask.ending and os.path.exists(ask.ending))):
                return None
            search.advance()
            has_called = True
    while search.needs_descent(reason) and search.descent_call_seconds <= max(0.0, search.watch.seconds_left):
        search.descend()
    return reason


def _tell(search: Search, ask: Slice, reason: str | None, state: bytes | None) -> Report:
    """Return the outcome of a slice; a quiet search that goes on has no tour."""
    form, instance = search.form, search.task.instance
    found = search.found() if reason is not None else None if search.is_quiet else search.peek()
    best, length, climbers = None, 0.0, None
    if found is not None:
        key = found.best.length, found.best.climber
        first = getattr(search.task.options, "first", 0)
        climbers = Range(first, found.lengths, found.steps, found.done, found.passes)
        if key != ask.known or reason is not None or not form.is_exact:
            tour, length, _ = search.checked(found)
            best = Best(*key, tour)
    facts = Facts(
        backend=search.kernels.name,
        mapping=found.mapping if found else "thread",
        k=found.k if found else None,
        exponent=0 if instance.is_exact else form.exponent,
        is_shortened=form.is_shortened,
        phase=search.phase,
        iterations=search.iterations,
    )
    return Report(reason, best, length, climbers, facts, search.iteration, state)


def _cities_of(search: Search) -> int:
    """Return the cities of all tours of a search."""
    return search.form.whole.n * search.climbers


def _keep_live(ask: Slice, search: Search) -> bool:
    """Keep a search for its next slice, and return whether it fits.

    Searches of old jobs give way to it, and those whose state was told.
    """
    with _lock:
        jobs = list(dict.fromkeys([ask.job, *(job for job, _ in reversed(_live))]))[:MOST_JOBS]
        beside = [each for _, each, _ in _live.values() if each.kernels is search.kernels]
        total = sum(map(_cities_of, beside))
        most = MOST_CITIES - _cities_of(search)
        for (job, part), (_, each, is_reported) in list(_live.items()):
            is_beside = each.kernels is search.kernels
            if job not in jobs or (is_beside and total > most and (is_reported or job != ask.job)):
                del _live[job, part]
                total -= _cities_of(each) * is_beside
        if total and total > most:
            return False
        _live[ask.job, ask.part] = (ask.version + 1, search, ask.keeps)
        return True


def give_up(job: str) -> None:
    """Free the searches of a job in this process."""
    with _lock:
        ended = [_live.pop(key)[1] for key in list(_live) if key[0] == job]
    for search in ended:
        search.free()
