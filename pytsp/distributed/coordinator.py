"""Tasks: the coordinator sends them, and again where a worker is lost; a worker of the same build does them."""

from __future__ import annotations

import hashlib
import json
import logging
import multiprocessing
import os
import pickle
import signal
import socket
import tempfile
import threading
import time
import traceback
import uuid
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, wait
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from pytsp.distributed.dask import cluster_of
from pytsp.distributed.places import AnyExecutor, Devices, Place, Places, Processes, Threads
from pytsp.distribution import VERSION
from pytsp.exceptions import BackendError, PytspError, WorkerLost
from pytsp.run.result import Tasks

# The most times that a task is given to another worker.
MOST_RETRIES = 3
# Seconds that a task waits for a place that is gone.
GONE_SECONDS = 2.0
# Seconds that tasks wait for a first worker: a cluster may bring new ones.
NOBODY_SECONDS = 60.0
# Seconds that tasks have to end where a solve ends.
ENDING_SECONDS = 0.9
# Errors that mean a lost worker: the standard library's, loky's, Dask's.
LOSSES = {"BrokenExecutor", "TerminatedWorkerError", "KilledWorker", "CommClosedError", "CancelledError"}

# The most shared objects that a worker keeps.
MOST_KEPT = 2

Work = Callable[[Any, Place, Any], Any]
"""The function of a task, which can be imported. It takes the shared object, the place, and the task's arguments."""

_kept: dict[str, Any] = {}
_lock = threading.Lock()
_log = logging.getLogger("pytsp")


def places_of(executor: Any, devices: Any, placement: Mapping[str, Any]) -> AbstractContextManager[Places]:
    """Return the places that a call asks for, to be entered; this process without an executor and devices.

    An executor that is none raises `TypeError`, and one beside devices `ValueError`.
    """
    if executor is None and devices is None:
        return Threads(Place("here", is_sticky=True))
    if devices is not None:
        if executor is not None:
            raise ValueError("devices has this machine's GPUs work; give it without executor")
        return Devices(devices, backend=placement["backend"])
    if isinstance(executor, int) and not isinstance(executor, bool):
        return Processes(executor, threads=placement["threads"])
    if isinstance(executor, Places):
        # Its owner closes it.
        return nullcontext(executor)
    cluster = cluster_of(executor)
    if cluster is None and not callable(getattr(executor, "submit", None)):
        raise TypeError(
            "executor must be a number of processes, a pytsp.distributed.Processes or Devices, a Dask client, or have "
            f"the interface of concurrent.futures.Executor; it is {executor!r:.60}"
        )
    return cluster or AnyExecutor(executor)


@dataclass
class Order:
    """A task on its way; messages call it `name`, and its sender is `owner`."""

    name: str
    work: Work
    arguments: Any
    owner: Any = None
    place: Place = Place("", is_sticky=False)
    sent: int = 0
    retries: int = 0
    gone_at: float | None = None


class Coordinator:
    """The tasks of one solve, at some places, with the object that all of them share."""

    def __init__(self, places: Places, shared: object) -> None:
        self.places, self.shared, self.key = places, shared, uuid.uuid4().hex
        self.running: dict[Future[Reply | None], Order] = {}
        # The fields of `Tasks`.
        self.counts: dict[str, Any] = dict(vars(Tasks()))
        # The time at which the last place was gone.
        self._nobody_at: float | None = None
        self._is_ending = False
        # A folder whose file `ending` tells workers of this machine to end.
        self._folder = tempfile.TemporaryDirectory(prefix="pytsp-")
        self.ending = os.path.join(self._folder.name, "ending")

    def free(self) -> list[Place]:
        """Return the places without a task."""
        busy = {order.place.name for order in self.running.values()}
        return [place for place in self.places.current() if place.name not in busy]

    def give(self, place: Place, order: Order, *, is_shared: bool = True) -> None:
        """Send a task to a place, with the shared object too if the place does not have it."""
        counts, order.place, order.gone_at = self.counts, place, None
        future: Future[Any]
        if self.places.is_here:
            future = self.places.submit(place, perform_here, self.shared, order.work, place, order.arguments)
        else:
            given = None if is_shared else pickle.dumps(self.shared, protocol=5)
            packed = pickle.dumps((order.work, place, order.arguments), protocol=5)
            order.sent = len(packed) + len(given or b"")
            given = given or self.places.given(self.key, self.shared)
            future = self.places.submit(place, perform, identity(), self.key, given, packed)
        self.running[future] = order
        counts["count"] += 1
        counts["bytes_sent"] += order.sent
        counts["workers"] = max(counts["workers"], min(len(self.running), len(self.places.current())))

    def wait(self, seconds: float) -> list[tuple[Order, Any]]:
        """Return the tasks that are done within some seconds, as soon as one is, with their results.

        Raise `WorkerLost` if workers were lost with a task too often, or none is left, and `BackendError` if one is of
        another version or build.
        """
        self._give_up_the_gone()
        done = wait(self.running, timeout=max(0.0, seconds), return_when=FIRST_COMPLETED).done if self.running else ()
        return [each for future in done for each in self._hear(future)]

    def _give_up_the_gone(self) -> None:
        """Send tasks again whose place is gone for some seconds: a scheduler may have them wait for ever."""
        names, now = {place.name for place in self.places.current()}, time.perf_counter()
        if names:
            self._nobody_at = None
        elif self._nobody_at is None:
            _log.warning("no worker is there; waiting for one for %.0f s", NOBODY_SECONDS)
            self._nobody_at = now
        elif now > self._nobody_at + NOBODY_SECONDS:
            waiting = ", ".join(sorted({each.name for each in self.running.values()})) or "what is left"
            raise WorkerLost(f"all workers are gone, and none came within {NOBODY_SECONDS:.0f} s; not done: {waiting}")
        for future, order in list(self.running.items()):
            if order.place.name in names or not names:
                order.gone_at = None
            elif order.gone_at is None:
                order.gone_at = now
            elif now > order.gone_at + GONE_SECONDS and not future.done():
                del self.running[future]
                future.cancel()
                self._retry(order, ConnectionError("it is gone"))

    def end(self, seconds: float = ENDING_SECONDS, *, is_reported: bool = True) -> list[tuple[Order, Any]]:
        """Have the tasks on their way end, by themselves or by a signal; return those that are done in time."""
        heard: list[tuple[Order, Any]] = []
        deadline, self._is_ending = time.perf_counter() + seconds, True
        if self.running and is_reported:
            with suppress(OSError):
                Path(self.ending).touch()
        for future in list(self.running):
            if future.cancel():
                del self.running[future]
        while self.running and (left := deadline - time.perf_counter()) > 0:
            for future in wait(self.running, timeout=left, return_when=FIRST_COMPLETED).done:
                with suppress(PytspError, CancelledError):
                    heard += self._hear(future)
        self.running.clear()
        self._is_ending = False
        with suppress(OSError):
            os.unlink(self.ending)
        return heard

    def close(self) -> None:
        """End without waiting."""
        self.end(0.0)
        self._folder.cleanup()

    def _hear(self, future: Future[Reply | None]) -> list[tuple[Order, Any]]:
        """Return a task with its result; nothing where it is sent again."""
        order, is_here = self.running.pop(future), self.places.is_here
        try:
            reply = future.result()
        except Exception as error:
            if not _is_loss(error):
                raise
            self._retry(order, error)
            return []
        if reply is None:
            # The worker lacks what is shared.
            if not self._is_ending:
                self.give(order.place, order, is_shared=False)
            return []
        self.counts["seconds"] += reply.seconds
        received = 0 if is_here else len(reply.value)
        self.counts["bytes_received"] += received
        _log.debug(
            "%s: %d bytes sent, %d received, %.3f s on %s (%s)",
            *(order.name, order.sent, received, reply.seconds, reply.worker, order.place.name),
        )
        return [(order, reply.value if is_here else pickle.loads(reply.value))]

    def _retry(self, order: Order, error: BaseException) -> None:
        """Give a task to another worker: the least busy place, or its own one."""
        place, may_go_on = order.place, self.places.lost(order.place, error)
        if self._is_ending:
            return
        order.retries += 1
        self.counts["retries"] += 1
        reason = str(error).partition("\n")[0] or type(error).__name__
        if not may_go_on or order.retries > MOST_RETRIES:
            names = sorted({order.name, *(each.name for each in self.running.values())})
            often = f"{order.retries} workers were" if order.retries > 1 else "a worker was"
            raise WorkerLost(f"{often} lost with {order.name}: {reason}; not done: {', '.join(names)}")
        _log.warning("a worker (%s) was lost with %s: %s; another one does it", place.name, order.name, reason)
        busy = Counter(each.place.name for each in self.running.values())
        others = self.places.current() or [place]
        self.give(min(others, key=lambda each: (busy[each.name], each.name != place.name)), order)


def _is_loss(error: BaseException) -> bool:
    """Return whether a task failed because its worker is gone."""
    if not LOSSES.isdisjoint(each.__name__ for each in type(error).__mro__):
        return True
    # Dask's executor raises the result of a task as its error where the worker is lost between the two.
    frames = traceback.extract_tb(error.__traceback__)
    return isinstance(error, TypeError) and bool(frames) and Path(frames[-1].filename).name == "cfexecutor.py"


@dataclass(frozen=True)
class Reply:
    """The result of a task, pickled where it goes to another process; the worker's name, and its seconds."""

    value: Any
    worker: str
    seconds: float


def perform(sender: str, key: str, given: bytes | None, packed: bytes) -> Reply | None:
    """Work on a pickled task in another process than the sender's; return None if the worker lacks the shared object.

    A worker of another build than the sender unpickles nothing, and raises `BackendError`.
    """
    if sender != identity():
        raise BackendError(
            f"worker {worker_name()} has pytsp {identity()}, and this process {sender}: their tours might differ; "
            "install the same pytsp there"
        )
    with _uninterrupted():
        with _lock:
            if key in _kept:
                shared = _kept.pop(key)
            elif given is not None:
                shared = pickle.loads(given)
            else:
                return None
            # The last one is that of the last task.
            _kept[key] = shared
            for other in list(_kept)[:-MOST_KEPT]:
                del _kept[other]
        reply = perform_here(shared, *pickle.loads(packed))
        return replace(reply, value=pickle.dumps(reply.value, protocol=5))


def perform_here(shared: Any, work: Work, place: Place, arguments: Any) -> Reply:
    """Work on a task in the sender's process: nothing is pickled."""
    began = time.perf_counter()
    value = work(shared, place, arguments)
    return Reply(value, worker_name(), time.perf_counter() - began)


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Ignore Ctrl-C, which a terminal sends to the coordinator and to its workers."""
    is_worker = multiprocessing.parent_process() is not None
    if not is_worker or threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@cache
def identity() -> str:
    """Return the version, and a checksum of the Python sources and of the sources of the kernels.

    Kernels that were compiled for another processor from the same sources have the same identity: they compute alike.
    """
    folder = Path(__file__).parents[1]
    checksum = hashlib.sha256()
    for file in sorted(folder.rglob("*.py")):
        if "_kernels" not in file.parts:
            checksum.update(f"{file.relative_to(folder)}\n".encode() + file.read_bytes())
    try:
        modules = json.loads((folder / "_kernels" / "build.json").read_text())["modules"]
        sources = sorted({str(module.get("source_hash")) for module in modules.values()})
    except (OSError, ValueError, KeyError):
        sources = []
    checksum.update("\n".join(sources).encode())
    return f"{VERSION} (build {checksum.hexdigest()[:12]})"


def worker_name() -> str:
    """Return the host and number of this process."""
    return f"{socket.gethostname()}:{os.getpid()}"
