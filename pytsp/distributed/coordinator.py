"""The coordinator's end of tasks: it sends them, hears of them, and has another worker do what one was lost with."""

from __future__ import annotations

import hashlib
import logging
import os
import pickle
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Mapping
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, wait
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytsp.distributed.identity import identity
from pytsp.distributed.places import Place, Places
from pytsp.distributed.worker import Reply, Work, forget, keep
from pytsp.exceptions import BackendError, PytspError, WorkerLost
from pytsp.run.result import Tasks

__all__ = ["Coordinator", "Kept", "Order"]

# How often a task is given to another worker.
MOST_RETRIES = 3
# How long a task waits for a place that is gone, in seconds.
GONE_SECONDS = 2.0
# How long tasks wait where nobody is there to do them, in seconds: a cluster may bring new workers.
NOBODY_SECONDS = 60.0
# How long tasks that are on their way may take to end, in seconds, where a solve does.
ENDING_SECONDS = 0.9

# The errors that say so: the standard library's, loky's, Dask's.
LOSSES = {"BrokenExecutor", "TerminatedWorkerError", "KilledWorker", "CommClosedError", "CancelledError"}

_log = logging.getLogger("pytsp")


@dataclass
class Order:
    """A task on its way.

    Attributes
    ----------
    name : str
        What it is about, as messages tell it.
    work : callable
        As `worker.Work` has it.
    arguments : Any
    state : callable, optional
        Return what the worker may lack, by the key `state_key`; None where nobody has it any more.
    owner : Any
        Whose it is.
    retries : int
        How often a worker was lost with it.
    is_lost : bool
        Whether it cannot be done because nobody has its state.
    """

    name: str
    work: Work
    arguments: Any
    state_key: str = ""
    state: Callable[[], bytes | None] | None = None
    owner: Any = None
    retries: int = 0
    is_lost: bool = False


class Kept:
    """Objects that all tasks share, each by the hash of its content; they are pickled where a worker asks for them."""

    def __init__(self) -> None:
        self._objects: dict[str, Any] = {}

    def add(self, value: object) -> str:
        """Return the key of an object."""
        key = hashlib.sha256(pickle.dumps(value, protocol=5)).hexdigest()
        self._objects[key] = value
        return key

    def __getitem__(self, key: str) -> Any:
        return self._objects[key]

    def blob(self, key: str) -> bytes:
        return pickle.dumps(self._objects[key], protocol=5)

    def __contains__(self, key: str) -> bool:
        return key in self._objects

    def __iter__(self) -> Any:
        return iter(self._objects)


class _Blobs(Mapping[str, bytes]):
    """What is kept as bytes, which are made where they are looked at."""

    def __init__(self, kept: Kept) -> None:
        self._kept = kept

    def __getitem__(self, key: str) -> bytes:
        return self._kept.blob(key)

    def __iter__(self) -> Any:
        return iter(self._kept)

    def __len__(self) -> int:
        return len(list(self._kept))


@dataclass
class _Running:
    place: Place
    order: Order
    sent: int
    gone_at: float | None = None


class Coordinator:
    """The tasks of one solve.

    Parameters
    ----------
    places : Places
    kept : Kept
        What all tasks share.
    """

    def __init__(self, places: Places, kept: Kept) -> None:
        self.places, self.kept = places, kept
        self._running: dict[Future[Reply], _Running] = {}
        # What the worker of a sticky place has been sent.
        self._sent: dict[str, set[str]] = {}
        self._counts = dict.fromkeys(("count", "bytes_sent", "bytes_received", "retries", "workers"), 0)
        self._seconds = 0.0
        # Since when there is no place at all.
        self._nobody_at: float | None = None
        # A folder whose file `ending` tells workers of this machine that nobody waits for more.
        self._folder = tempfile.TemporaryDirectory(prefix="pytsp-")
        self.ending = os.path.join(self._folder.name, "ending")
        if places.is_here:
            # What is here needs no copy.
            for key in kept:
                keep(key, kept[key])

    @property
    def tasks(self) -> Tasks:
        """What has been sent and done so far."""
        return Tasks(seconds=self._seconds, **self._counts)

    @property
    def running(self) -> list[Order]:
        return [each.order for each in self._running.values()]

    def free(self) -> list[Place]:
        """Return the places that have no task."""
        busy = {each.place.name for each in self._running.values()}
        return [place for place in self.places.current() if place.name not in busy]

    def give(self, place: Place, order: Order, more: Mapping[str, bytes] | None = None) -> None:
        """Send a task to a place, with what the worker there is known to lack, and `more`."""
        given = dict(more or {})
        if place.is_sticky and not self.places.is_here:
            sent = self._sent.setdefault(place.name, set())
            given |= {key: self.kept.blob(key) for key in self.kept if key not in sent and key not in given}
            sent.update(key for key in given if key in self.kept)
        task: Any = (order.work, order.arguments)
        sent_bytes = sum(map(len, given.values()))
        if not self.places.is_here:
            task = pickle.dumps(task, protocol=5)
            sent_bytes += len(task)
        future = self.places.submit(place, identity(), task, given, _Blobs(self.kept))
        self._running[future] = _Running(place, order, sent_bytes)
        self._counts["count"] += 1
        self._counts["bytes_sent"] += sent_bytes
        together = min(len(self._running), len(self.places.current()))
        self._counts["workers"] = max(self._counts["workers"], together)

    def wait(self, seconds: float) -> list[tuple[Order, Place, Any]]:
        """Return the tasks that are done within so many seconds, the first ones at once, with what came of each.

        Raises
        ------
        WorkerLost
            If workers were lost with a task too often, or nobody is left to do it.
        BackendError
            If a worker is of another version or build.
        """
        self._give_up_the_gone()
        if not self._running:
            return []
        done, _ = wait(self._running, timeout=max(0.0, seconds), return_when=FIRST_COMPLETED)
        heard = [self._hear(future) for future in done]
        return [each for each in heard if each is not None]

    def _give_up_the_gone(self) -> None:
        """Give tasks to others whose place is there no more, unless somebody else does them soon: a scheduler may have
        them wait for a worker that never comes again."""
        names = {place.name for place in self.places.current()}
        if names:
            self._nobody_at = None
        elif self._nobody_at is None:
            _log.warning("no worker is there; waiting for one for %.0f s", NOBODY_SECONDS)
            self._nobody_at = time.perf_counter()
        elif time.perf_counter() > self._nobody_at + NOBODY_SECONDS:
            waiting = ", ".join(sorted({each.name for each in self.running})) or "what is left"
            raise WorkerLost(f"all workers are gone, and none came within {NOBODY_SECONDS:.0f} s; not done: {waiting}")
        for future, running in list(self._running.items()):
            if running.place.name in names or not names:
                running.gone_at = None
            elif running.gone_at is None:
                running.gone_at = time.perf_counter()
            elif time.perf_counter() > running.gone_at + GONE_SECONDS and not future.done():
                del self._running[future]
                future.cancel()
                self._retry(running, ConnectionError("it is gone"))

    def end(self, seconds: float = ENDING_SECONDS, *, is_told: bool = True) -> list[tuple[Order, Place, Any]]:
        """Have the tasks on their way end; return those that are done within so many seconds.

        They are told so, unless they end by themselves.
        """
        deadline, heard = time.perf_counter() + seconds, []
        if self._running and is_told:
            with suppress(OSError):
                Path(self.ending).touch()
        for future in list(self._running):
            if future.cancel():
                del self._running[future]
        while self._running and (left := deadline - time.perf_counter()) > 0:
            for future in wait(self._running, timeout=left, return_when=FIRST_COMPLETED).done:
                running = self._running[future]
                try:
                    each = self._hear(future)
                except (PytspError, CancelledError):
                    continue
                finally:
                    self._running.pop(future, None)
                if each is None:
                    # It was sent again.
                    again = next((f for f, r in self._running.items() if r.order is running.order), None)
                    if again is not None and again.cancel():
                        del self._running[again]
                    continue
                heard.append(each)
        self._running.clear()
        with suppress(OSError):
            os.unlink(self.ending)
        return heard

    def close(self) -> None:
        """End without waiting, and give back what is kept for the tasks."""
        self.end(0.0)
        self.places.stop()
        self._folder.cleanup()
        if self.places.is_here:
            forget(self.kept)

    def _hear(self, future: Future[Reply]) -> tuple[Order, Place, Any] | None:
        """Take what became of a task; None where it is sent again."""
        running = self._running.pop(future)
        order, place = running.order, running.place
        try:
            reply = future.result()
        except Exception as error:
            if not _is_loss(error):
                raise
            self._retry(running, error)
            return None
        self._seconds += reply.seconds
        self._counts["bytes_received"] += len(reply.packed)
        if reply.status == "refused":
            raise BackendError(
                f"worker {reply.worker} has pytsp {reply.said}, and this process {identity()}: their tours might "
                "differ; install the same pytsp there"
            )
        if reply.status == "missing":
            self._send_missing(order, place, reply.said)
            return (order, place, None) if order.is_lost else None
        _log.debug(
            "%s: %d bytes sent, %d received, %.3f s on %s (%s)",
            *(order.name, running.sent, len(reply.packed), reply.seconds, reply.worker, place.name),
        )
        return order, place, pickle.loads(reply.packed) if reply.packed else reply.value

    def _send_missing(self, order: Order, place: Place, key: str) -> None:
        """Send a task again with what its worker lacks, or tell that nobody has it."""
        if key in self.kept:
            more = {each: self.kept.blob(each) for each in self.kept}
            self._sent.pop(place.name, None)
            state = None if order.state is None else order.state()
            self.give(place, order, more if state is None else more | {order.state_key: state})
            return
        state = None if order.state is None else order.state()
        if key != order.state_key or state is None:
            order.is_lost = True
            return
        self.give(place, order, {key: state})

    def _retry(self, running: _Running, error: BaseException) -> None:
        """Give a task with which a worker was lost to another one."""
        order, place = running.order, running.place
        self._sent.pop(place.name, None)
        may_go_on = self.places.lost(place, error)
        order.retries += 1
        self._counts["retries"] += 1
        reason = str(error).partition("\n")[0] or type(error).__name__
        if not may_go_on or order.retries > MOST_RETRIES:
            names = sorted({order.name, *(each.name for each in self.running)})
            often = f"{order.retries} workers were" if order.retries > 1 else "a worker was"
            raise WorkerLost(f"{often} lost with {order.name}: {reason}; not done: {', '.join(names)}")
        _log.warning("a worker (%s) was lost with %s: %s; another one does it", place.name, order.name, reason)
        self.give(self._another(place), order)

    def _another(self, place: Place) -> Place:
        """Return who does what a worker was lost with: of the places that are there the one with the least to do, if it
        is among them its own."""
        busy = Counter(each.place.name for each in self._running.values())
        return min(self.places.current() or [place], key=lambda each: (busy[each.name], each.name != place.name))


def _is_loss(error: BaseException) -> bool:
    """Tell whether a task failed because its worker is gone."""
    if not LOSSES.isdisjoint(each.__name__ for each in type(error).__mro__):
        return True
    # Dask's executor takes what a task came to for its error where the worker is lost between the two.
    frames = traceback.extract_tb(error.__traceback__)
    return isinstance(error, TypeError) and bool(frames) and Path(frames[-1].filename).name == "cfexecutor.py"
