"""The coordinator's end of tasks: it sends them, hears of them, and sends them again where a worker is lost."""

from __future__ import annotations

import hashlib
import logging
import os
import pickle
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Mapping
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, wait
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pytsp.distributed.dask import cluster_of
from pytsp.distributed.devices import Devices
from pytsp.distributed.places import AnyExecutor, Place, Places
from pytsp.distributed.processes import Processes
from pytsp.distributed.worker import Reply, Work, forget, identity, keep, perform, perform_here
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

_log = logging.getLogger("pytsp")


def places_of(executor: Any, devices: Any, placement: Mapping[str, Any]) -> AbstractContextManager[Places] | None:
    """Return the places that a call asks for, to be entered; None without an executor and devices.

    An executor that is none raises `TypeError`, and one beside devices `ValueError`.
    """
    if executor is None and devices is None:
        return None
    if devices is not None:
        if executor is not None:
            raise ValueError("devices has this machine's GPUs work; give it without executor")
        return Devices(devices, backend=placement["backend"])
    if isinstance(executor, int) and not isinstance(executor, bool):
        return Processes(executor, threads=placement["threads"])
    places = executor if isinstance(executor, Places) else cluster_of(executor)
    if places is not None:
        return nullcontext(places)
    if not callable(getattr(executor, "submit", None)):
        raise TypeError(
            "executor must be a number of processes, a pytsp.distributed.Processes or Devices, a Dask client, or have "
            f"the interface of concurrent.futures.Executor; it is {executor!r:.60}"
        )
    return nullcontext(AnyExecutor(executor))


def key_of(value: object) -> str:
    """Return the SHA-256 of an object's pickle."""
    return hashlib.sha256(pickle.dumps(value, protocol=5)).hexdigest()


@dataclass
class Order:
    """A task on its way, with the pickled objects that it brings; messages call it `name`, the sender `owner`."""

    name: str
    work: Work
    arguments: Any
    owner: Any = None
    given: dict[str, bytes] = field(default_factory=dict)
    place: Place = Place("", is_sticky=False)
    sent: int = 0
    retries: int = 0
    gone_at: float | None = None


class Coordinator:
    """The tasks of one solve, at some places, with the objects that all of them share by their keys."""

    def __init__(self, places: Places) -> None:
        self.places = places
        self.shared: dict[str, Any] = {}
        self._running: dict[Future[Reply], Order] = {}
        self._counts: dict[str, Any] = dict(vars(Tasks()))
        # The time at which the last place was gone.
        self._nobody_at: float | None = None
        self._is_ending = False
        # A folder whose file `ending` tells workers of this machine to end.
        self._folder = tempfile.TemporaryDirectory(prefix="pytsp-")
        self.ending = os.path.join(self._folder.name, "ending")

    def share(self, value: object) -> str:
        """Take an object that all tasks share, and return its key."""
        key = key_of(value)
        self.shared[key] = value
        if self.places.is_here:
            keep(key, value)
        return key

    @property
    def tasks(self) -> Tasks:
        """The tasks so far."""
        return Tasks(**self._counts)

    @property
    def running(self) -> list[Order]:
        return list(self._running.values())

    def free(self) -> list[Place]:
        """Return the places without a task."""
        busy = {order.place.name for order in self._running.values()}
        return [place for place in self.places.current() if place.name not in busy]

    def give(self, place: Place, order: Order) -> None:
        """Send a task to a place."""
        task, counts = (order.work, order.arguments), self._counts
        order.place, order.gone_at, order.sent = place, None, sum(map(len, order.given.values()))
        if self.places.is_here:
            future = self.places.submit(place, perform_here, task, order.given)
        else:
            packed = pickle.dumps(task, protocol=5)
            order.sent += len(packed)
            given = {**self.places.shared(self.shared), **order.given}
            future = self.places.submit(place, perform, identity(), packed, given)
        self._running[future] = order
        counts["count"] += 1
        counts["bytes_sent"] += order.sent
        counts["workers"] = max(counts["workers"], min(len(self._running), len(self.places.current())))

    def wait(self, seconds: float) -> list[tuple[Order, Any]]:
        """Return the tasks that are done within some seconds, as soon as one is, with their results.

        Raise `WorkerLost` if workers were lost with a task too often, or none is left, and `BackendError` if one is of
        another version or build.
        """
        self._give_up_the_gone()
        done = wait(self._running, timeout=max(0.0, seconds), return_when=FIRST_COMPLETED).done if self._running else ()
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
            waiting = ", ".join(sorted({each.name for each in self.running})) or "what is left"
            raise WorkerLost(f"all workers are gone, and none came within {NOBODY_SECONDS:.0f} s; not done: {waiting}")
        for future, order in list(self._running.items()):
            if order.place.name in names or not names:
                order.gone_at = None
            elif order.gone_at is None:
                order.gone_at = now
            elif now > order.gone_at + GONE_SECONDS and not future.done():
                del self._running[future]
                future.cancel()
                self._retry(order, ConnectionError("it is gone"))

    def end(self, seconds: float = ENDING_SECONDS, *, is_reported: bool = True) -> list[tuple[Order, Any]]:
        """Have the tasks on their way end, by themselves or by a signal; return those that are done in time."""
        heard: list[tuple[Order, Any]] = []
        deadline, self._is_ending = time.perf_counter() + seconds, True
        if self._running and is_reported:
            with suppress(OSError):
                Path(self.ending).touch()
        for future in list(self._running):
            if future.cancel():
                del self._running[future]
        while self._running and (left := deadline - time.perf_counter()) > 0:
            for future in wait(self._running, timeout=left, return_when=FIRST_COMPLETED).done:
                with suppress(PytspError, CancelledError):
                    heard += self._hear(future)
        self._running.clear()
        self._is_ending = False
        with suppress(OSError):
            os.unlink(self.ending)
        return heard

    def close(self) -> None:
        """End without waiting, and drop the shared objects."""
        self.end(0.0)
        self.places.stop()
        self._folder.cleanup()
        if self.places.is_here:
            forget(self.shared)

    def _hear(self, future: Future[Reply]) -> list[tuple[Order, Any]]:
        """Return a task with its result; nothing where it is sent again."""
        order, is_here = self._running.pop(future), self.places.is_here
        try:
            reply = future.result()
        except Exception as error:
            if not _is_loss(error):
                raise
            self._retry(order, error)
            return []
        self._counts["seconds"] += reply.seconds
        if reply.status == "refused":
            raise BackendError(
                f"worker {reply.worker} has pytsp {reply.value}, and this process {identity()}: their tours might "
                "differ; install the same pytsp there"
            )
        if reply.status == "missing":
            if not self._is_ending:
                order.given |= {key: pickle.dumps(value, protocol=5) for key, value in self.shared.items()}
                self.give(order.place, order)
            return []
        received = 0 if is_here else len(reply.value)
        self._counts["bytes_received"] += received
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
        self._counts["retries"] += 1
        reason = str(error).partition("\n")[0] or type(error).__name__
        if not may_go_on or order.retries > MOST_RETRIES:
            names = sorted({order.name, *(each.name for each in self.running)})
            often = f"{order.retries} workers were" if order.retries > 1 else "a worker was"
            raise WorkerLost(f"{often} lost with {order.name}: {reason}; not done: {', '.join(names)}")
        _log.warning("a worker (%s) was lost with %s: %s; another one does it", place.name, order.name, reason)
        busy = Counter(each.place.name for each in self.running)
        others = self.places.current() or [place]
        self.give(min(others, key=lambda each: (busy[each.name], each.name != place.name)), order)


def _is_loss(error: BaseException) -> bool:
    """Return whether a task failed because its worker is gone."""
    if not LOSSES.isdisjoint(each.__name__ for each in type(error).__mro__):
        return True
    # Dask's executor raises the result of a task as its error where the worker is lost between the two.
    frames = traceback.extract_tb(error.__traceback__)
    return isinstance(error, TypeError) and bool(frames) and Path(frames[-1].filename).name == "cfexecutor.py"
