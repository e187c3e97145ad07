"""What a worker does with a task: see that it is of the same build, find what tasks share, work, and reply in bytes."""

from __future__ import annotations

import multiprocessing
import pickle
import signal
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from pytsp.distributed.identity import identity, worker_name

__all__ = ["Missing", "Reply", "Shared", "forget", "keep", "perform", "perform_here"]

# So many objects that tasks share are kept: instances, and what is asked of their solves.
MOST_KEPT = 6

Work = Callable[["Shared", Any], Any]
"""What a task does: a function that can be imported, of what tasks share and of the task's own arguments."""


class Missing(Exception):
    """A worker lacks what it needs, or what others have of a state; `key` names it."""

    def __init__(self, key: str) -> None:
        super().__init__(key)
        self.key = key


@dataclass(frozen=True)
class Reply:
    """What comes back of a task.

    Attributes
    ----------
    status : str
        "done"; "missing", where the worker lacks what `said` names; "refused", where it is of the build `said`.
    worker : str
        Its host and process.
    said : str
    packed : bytes
        What the work returned, pickled.
    value : Any
        The same, where it needs no pickling.
    seconds : float
        What it took.
    """

    status: str
    worker: str
    said: str = ""
    packed: bytes = b""
    seconds: float = 0.0
    value: Any = None


class Shared:
    """What tasks share, by the hash of its content: sent to a worker once, and kept there."""

    def __init__(self, given: Mapping[str, bytes]) -> None:
        self._given = given

    def __getitem__(self, key: str) -> Any:
        """Return an object.

        Raises
        ------
        Missing
            If the worker neither has it nor was given it.
        """
        with _lock:
            if key in _kept:
                _kept.move_to_end(key)
                return _kept[key]
        value = pickle.loads(self.blob(key))
        keep(key, value)
        return value

    def blob(self, key: str) -> bytes:
        """Return what was given for this task only.

        Raises
        ------
        Missing
            If nothing was.
        """
        if self._given.get(key) is None:
            raise Missing(key)
        return self._given[key]


_kept: OrderedDict[str, Any] = OrderedDict()
_lock = threading.Lock()


def keep(key: str, value: Any) -> None:
    """Keep an object for the tasks to come, in place of the one that was longest not asked for."""
    with _lock:
        _kept[key] = value
        _kept.move_to_end(key)
        while len(_kept) > MOST_KEPT:
            _kept.popitem(last=False)


def forget(keys: Iterable[str]) -> None:
    """Keep these objects no more."""
    with _lock:
        for key in keys:
            _kept.pop(key, None)


def perform(sender: str, packed: bytes, given: Mapping[str, bytes]) -> Reply:
    """Work on a task, in whatever process this is called.

    Parameters
    ----------
    sender : str
        The `identity` of whoever sends it.
    packed : bytes
        The work and its arguments, pickled: nothing of it is read where the build is another.
    given : mapping of str to bytes
        What tasks share, as far as the worker may lack it.
    """
    if sender != identity():
        return Reply("refused", worker_name(), identity())
    with _uninterrupted():
        reply = perform_here(pickle.loads(packed), given)
    return replace(reply, packed=pickle.dumps(reply.value, protocol=5), value=None) if reply.status == "done" else reply


def perform_here(task: tuple[Work, Any], given: Mapping[str, bytes]) -> Reply:
    """Work on a task in a thread of the process that sends it: work and arguments come as they are.

    Parameters
    ----------
    task : tuple
        The work and its arguments.
    given : mapping of str to bytes
        What the thread may lack.
    """
    began = time.perf_counter()
    work, arguments = task
    try:
        value = work(Shared(given), arguments)
    except Missing as missing:
        return Reply("missing", worker_name(), missing.key)
    return Reply("done", worker_name(), seconds=time.perf_counter() - began, value=value)


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Leave Ctrl-C to the coordinator, which a terminal sends to its workers as well."""
    is_worker = multiprocessing.parent_process() is not None
    if not is_worker or threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
