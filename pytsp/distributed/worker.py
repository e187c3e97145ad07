"""The worker's end of tasks: the check of its build, the objects that tasks share, and the work."""

from __future__ import annotations

import hashlib
import json
import multiprocessing
import os
import pickle
import signal
import socket
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from pytsp.distribution import VERSION

# The most shared objects that a worker keeps: instances, and jobs.
MOST_KEPT = 6

Work = Callable[[Mapping[str, bytes], Any], Any]
"""The function of a task, which can be imported: it takes the pickled objects that came along, and its arguments."""


class Missing(Exception):
    """A worker lacks the object with this key."""


@dataclass(frozen=True)
class Reply:
    """The answer to a task.

    `value` depends on the status: "done" has the result, pickled where it goes to another process; "missing" the key of
    an object that the worker lacks; "refused" the worker's build, which is not the sender's.
    """

    status: str
    worker: str
    value: Any
    seconds: float = 0.0


_kept: OrderedDict[str, Any] = OrderedDict()
_lock = threading.Lock()


def fetch(given: Mapping[str, bytes], key: str) -> Any:
    """Return an object that this worker keeps, or that came along; raise `Missing` without either."""
    with _lock:
        if key in _kept:
            _kept.move_to_end(key)
            return _kept[key]
    if key not in given:
        raise Missing(key)
    value = pickle.loads(given[key])
    keep(key, value)
    return value


def keep(key: str, value: Any) -> None:
    """Keep an object for later tasks, and drop those that were not used for longest."""
    with _lock:
        _kept[key] = value
        _kept.move_to_end(key)
        while len(_kept) > MOST_KEPT:
            _kept.popitem(last=False)


def forget(keys: Iterable[str]) -> None:
    """Drop objects that are kept."""
    with _lock:
        for key in keys:
            _kept.pop(key, None)


def perform(sender: str, packed: bytes, given: Mapping[str, bytes]) -> Reply:
    """Work on a pickled task in another process than the sender's, with objects that the worker may lack.

    A worker of another build than the sender unpickles nothing.
    """
    if sender != identity():
        return Reply("refused", worker_name(), identity())
    with _uninterrupted():
        reply = perform_here(pickle.loads(packed), given)
    return replace(reply, value=pickle.dumps(reply.value, protocol=5)) if reply.status == "done" else reply


def perform_here(task: tuple[Work, Any], given: Mapping[str, bytes]) -> Reply:
    """Work on a task in a thread of the sender's process: nothing but `given` is pickled."""
    began, (work, arguments) = time.perf_counter(), task
    try:
        value = work(given, arguments)
    except Missing as missing:
        return Reply("missing", worker_name(), str(missing))
    return Reply("done", worker_name(), value, time.perf_counter() - began)


@contextmanager
def _uninterrupted() -> Any:
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
