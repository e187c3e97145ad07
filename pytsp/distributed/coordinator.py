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
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, wait
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytsp.distributed.dask import cluster_of
from pytsp.distributed.devices import Devices
from pytsp.distributed.places import AnyExecutor, Place, Places
from pytsp.distributed.processes import Processes
from pytsp.distributed.worker import Reply, Work, forget, identity, keep, perform, perform_here
from pytsp.exceptions import BackendError, PytspError, WorkerLost
from pytsp.run.result import Tasks

__all__ = ["Coordinator", "Kept", "Order", "places_of"]

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


class Kept(Mapping[str, bytes]):
    """The objects that all tasks share, by the SHA-256 of their pickles, which are made at each access."""

    def __init__(self) -> None:
        self.objects: dict[str, Any] = {}

    def add(self, value: object) -> str:
        """Return the key of an object."""
        key = hashlib.sha256(pickle.dumps(value, protocol=5)).hexdigest()
        self.objects[key] = value
        return key

    def __getitem__(self, key: str) -> bytes:
        return pickle.dumps(self.objects[key], protocol=5)

    def __iter__(self) -> Iterator[str]:
        return iter(self.objects)

    def __len__(self) -> int:
        return len(self.objects)


@dataclass
class Order:
    """A task on its way; messages call it `name`, and the sender knows it by `owner`.

    `blobs` returns the objects that this task alone needs, pickled, as far as they are known. A task is lost if its
    worker lacks an object that is not known.
    """

    name: str
    work: Work
    arguments: Any
    blobs: Callable[[], Mapping[str, bytes]] = dict
    owner: Any = None
    is_lost: bool = False
    place: Place = Place("", is_sticky=False)
    sent: int = 0
    retries: int = 0
    gone_at: float | None = None


class Coordinator:
    """The tasks of one solve, at some places, with the objects that all of them share."""

    def __init__(self, places: Places, kept: Kept) -> None:
        self.places, self.kept = places, kept
        self._running: dict[Future[Reply], Order] = {}
        self._counts: dict[str, Any] = dict(vars(Tasks()))
        # The time at which the last place was gone.
        self._nobody_at: float | None = None
        self._is_ending = False
        # A folder whose file `ending` tells workers of this machine to end.
        self._folder = tempfile.TemporaryDirectory(prefix="pytsp-")
        self.ending = os.path.join(self._folder.name, "ending")
        if places.is_here:
            for key, value in kept.objects.items():
                keep(key, value)

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

    def give(self, place: Place, order: Order, given: Mapping[str, bytes] | None = None) -> None:
        """Send a task to a place, with objects that the worker there lacks."""
        given, task, counts = dict(given or {}), (order.work, order.arguments), self._counts
        order.place, order.gone_at, order.sent = place, None, sum(map(len, given.values()))
        if self.places.is_here:
            future = self.places.submit(place, perform_here, task, given)
        else:
            packed = pickle.dumps(task, protocol=5)
            order.sent += len(packed)
            future = self.places.submit(place, perform, identity(), packed, {**self.places.shared(self.kept), **given})
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
        return [each for future in done if (each := self._hear(future)) is not None]

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
        deadline, heard, self._is_ending = time.perf_counter() + seconds, [], True
        if self._running and is_reported:
            with suppress(OSError):
                Path(self.ending).touch()
        for future in list(self._running):
            if future.cancel():
                del self._running[future]
        while self._running and (left := deadline - time.perf_counter()) > 0:
            for future in wait(self._running, timeout=left, return_when=FIRST_COMPLETED).done:
                with suppress(PytspError, CancelledError):
                    heard.append(self._hear(future))
        self._running.clear()
        self._is_ending = False
        with suppress(OSError):
            os.unlink(self.ending)
        return [each for each in heard if each is not None]

    def close(self) -> None:
        """End without waiting, and drop the shared objects."""
        self.end(0.0)
        self.places.stop()
        self._folder.cleanup()
        if self.places.is_here:
            forget(self.kept)

    def _hear(self, future: Future[Reply]) -> tuple[Order, Any] | None:
        """Take the reply to a task; return None where it is sent again."""
        order, is_here = self._running.pop(future), self.places.is_here
        try:
            reply = future.result()
        except Exception as error:
            if not _is_loss(error):
                raise
            self._retry(order, error)
            return None
        self._counts["seconds"] += reply.seconds
        if reply.status == "refused":
            raise BackendError(
                f"worker {reply.worker} has pytsp {reply.value}, and this process {identity()}: their tours might "
                "differ; install the same pytsp there"
            )
        if reply.status == "missing":
            return self._send_missing(order, reply.value)
        received = 0 if is_here else len(reply.value)
        self._counts["bytes_received"] += received
        _log.debug(
            "%s: %d bytes sent, %d received, %.3f s on %s (%s)",
            *(order.name, order.sent, received, reply.seconds, reply.worker, order.place.name),
        )
        return order, reply.value if is_here else pickle.loads(reply.value)

    def _send_missing(self, order: Order, key: str) -> tuple[Order, Any] | None:
        """Send a task again with the objects that its worker lacks; return it where they are not known."""
        blobs = {**(self.kept if key in self.kept else {}), **order.blobs()}
        order.is_lost = key not in blobs
        if order.is_lost:
            return order, None
        if not self._is_ending:
            self.give(order.place, order, blobs)
        return None

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
