"""The places where tasks run, one task at a time each: processes, threads, and any executor."""

from __future__ import annotations

import fcntl
import gc
import multiprocessing
import os
import signal
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, TypeVar

from pytsp.backends.devices import Device, usable_cores
from pytsp.backends.kinds import KINDS, find
from pytsp.backends.registry import choose
from pytsp.exceptions import BackendError, BackendUnavailable
from pytsp.utils.arguments import whole_number

MOST_PROCESSES = 1024
# The largest size of a pipe that Linux grants to any user.
PIPE_BYTES = 2**20
# Seconds in which processes may end by themselves.
PATIENCE = 1.0

P = TypeVar("P", bound="Places")


@dataclass(frozen=True)
class Place:
    """A slot that works on one task at a time.

    The tasks of a sticky place come to one process, which keeps its searches. A GPU takes as long for a few instances
    as for a thousand. `own` is the place's GPU, or its share of the cores.
    """

    name: str
    is_sticky: bool
    has_gpu: bool = False
    own: Mapping[str, Any] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """The name of a sticky place; empty for any other."""
        return self.name if self.is_sticky else ""

    def placed(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """Return the placement of kernels here, where a solve has asked for another one."""
        here = {**asked, **self.own, "threads": asked["threads"]}
        if here["backend"] in ("auto", "multicore") and here["threads"] is None:
            # Other backends have no threads.
            here["threads"] = self.own.get("threads")
        if here["threads"] is not None and here["backend"] == "auto":
            here["device"] = None
        return here


class Places:
    """The places of an executor; `is_here` where they are threads of this process, to which nothing is copied."""

    is_here = False
    _places: Sequence[Place] = ()

    def __init__(self) -> None:
        self._executors: dict[str, Any] = {}

    def __enter__(self: P) -> P:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def current(self) -> Sequence[Place]:
        """Return the places at this moment: workers of a cluster come and go."""
        return self._places

    def submit(self, place: Place, function: Any, *arguments: Any) -> Future[Any]:
        """Call `perform` or `perform_here` at a place."""
        if place.name not in self._executors:
            self._executors[place.name] = self._opened(place)
        future: Future[Any] = self._executors[place.name].submit(function, *arguments)
        return future

    def _opened(self, place: Place) -> Any:
        """Return the executor of a place."""
        raise NotImplementedError

    def given(self, key: str, shared: object) -> Any:
        """Return what goes along with every task for the object that all of them share, if anything does."""
        return None

    def lost(self, place: Place, error: BaseException) -> bool:
        """Give up the executor of a place; return whether the task of a lost worker can be sent again."""
        self._executors.pop(place.name, None)
        return True

    def close(self) -> None:
        """End all work, and the workers that belong to these places."""


class AnyExecutor(Places):
    """Anything with the interface of `concurrent.futures.Executor`, which belongs to the user.

    It has as many places as it says that it has workers, or this machine cores.
    """

    def __init__(self, executor: Executor) -> None:
        super().__init__()
        self.executor = executor
        # The standard library's executors, loky's and mpi4py's tell the number of their workers.
        counts = (getattr(executor, name, None) for name in ("num_workers", "_max_workers"))
        workers = next((count for count in counts if isinstance(count, int) and count > 0), None)
        count = workers or os.cpu_count() or 1
        self._places = [Place(f"slot {number}", is_sticky=count == 1) for number in range(count)]

    def _opened(self, place: Place) -> Executor:
        return self.executor

    def lost(self, place: Place, error: BaseException) -> bool:
        """Return whether the executor takes a further task: a broken pool of the standard library takes none."""
        try:
            self.executor.submit(int).cancel()
        except Exception:
            return False
        return True


class Threads(Places):
    """Threads of this process, one a place, beside the one that looks at the clock."""

    is_here = True

    def __init__(self, *places: Place) -> None:
        super().__init__()
        self._places = places

    def _opened(self, place: Place) -> Executor:
        return ThreadPoolExecutor(1, f"pytsp {place.name}")

    def lost(self, place: Place, error: BaseException) -> bool:
        """Return False: a thread is not lost."""
        return False

    def close(self) -> None:
        """Begin nothing more; a kernel that runs ends by itself."""
        for executor in self._executors.values():
            executor.shutdown(wait=False, cancel_futures=True)


class Devices(Threads):
    """GPUs of this machine, which work on one solve after the other until they are closed.

    A tour that goes from one to another is copied once from its memory and once into the other's. Kernels of several
    GPUs run side by side, since Python waits for none of them.

    Parameters
    ----------
    devices : "all" or sequence of int or str
        Their numbers, or parts of their names.
    backend : str, optional
        "cuda", "opencl", or "auto" for the first of the two that has a GPU.

    Raises
    ------
    ValueError
        If `devices` names none.
    BackendError
        If there is no such device.

    Examples
    --------
    >>> from pytsp import generate, solve
    >>> with Devices("all") as devices:  # doctest: +SKIP
    ...     results = [solve(instance, executor=devices) for instance in instances]
    """

    def __init__(self, devices: str | Sequence[int | str] = "all", *, backend: str = "auto") -> None:
        name, chosen = _devices_of(devices, backend)
        owns = [{"backend": name, "device": each.index, "threads": None} for each in chosen]
        super().__init__(*(Place(f"device {own['device']}", is_sticky=True, has_gpu=True, own=own) for own in owns))


def _devices_of(devices: str | Sequence[int | str], backend: str) -> tuple[str, list[Device]]:
    """Return the backend that has the GPUs, and these."""
    names = [backend] if backend not in ("auto", None) else ["cuda", "opencl"]
    if not set(names) <= {"cuda", "opencl"}:
        raise BackendError(f"devices={devices!r} are those of backend 'cuda' or 'opencl'; it is {backend!r}")
    if isinstance(devices, str) and devices != "all":
        raise ValueError(f"devices must be 'all', or a list of numbers and names; it is {devices!r}")
    if not devices:
        raise ValueError("devices must name one at least; the list is empty")
    reasons = []
    for name in names:
        status = find(KINDS[name]).status
        gpus = [each for each in status.devices if each.is_gpu and not each.trouble]
        if status.usable and gpus:
            chosen = gpus if devices == "all" else [choose(status, each) for each in devices]
            if len({each.index for each in chosen}) < len(chosen):
                raise BackendError(f"devices={devices!r} names a device twice")
            return name, chosen
        reasons.append(f"{name}: {status.reason or 'no GPU'}")
    raise BackendUnavailable(f"devices={devices!r} needs a GPU, and none can run here: {'; '.join(reasons)}")


class Processes(Places):
    """Spawned processes of this machine, which work on one solve after the other until they are closed.

    Each is a pool of one, so that a process that is lost takes no other with it and is replaced. They end with this
    process, however it ends.

    Parameters
    ----------
    count : int
        Number of processes, 1 to 1,024.
    threads : int, optional
        Threads of each. Default: the machine's cores divided by `count`.

    Raises
    ------
    TypeError, ValueError
        If `count` is not a number of processes.

    Examples
    --------
    >>> from pytsp import generate, solve
    >>> with Processes(2) as processes:  # doctest: +SKIP
    ...     results = [solve(instance, executor=processes) for instance in instances]
    """

    def __init__(self, count: int, *, threads: int | None = None) -> None:
        super().__init__()
        count = whole_number("executor", count, 1, MOST_PROCESSES)
        own = {"threads": threads or max(1, usable_cores() // count)}
        self._places = [Place(f"process {number}", is_sticky=True, own=own) for number in range(count)]
        self._is_closed = False

    def submit(self, place: Place, function: Any, *arguments: Any) -> Future[Any]:
        if self._is_closed:
            raise RuntimeError("these processes are closed")
        # Ctrl-C while a process starts must not end it: it inherits the blocked signal.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            return super().submit(place, function, *arguments)
        except BrokenExecutor:
            # It was lost while it had no task.
            del self._executors[place.name]
            return super().submit(place, function, *arguments)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)

    def _opened(self, place: Place) -> Executor:
        pool = ProcessPoolExecutor(1, multiprocessing.get_context("spawn"), initializer=_begin)
        # Results arrive in few pieces. A pipe holds 64 KiB by default, and the thread that reads may wait 5 ms for each
        # piece while another thread computes.
        with suppress(AttributeError, KeyError, OSError):
            fcntl.fcntl(vars(pool._result_queue)["_reader"].fileno(), fcntl.F_SETPIPE_SZ, PIPE_BYTES)
        return pool

    @property
    def pids(self) -> list[int]:
        """The numbers of the processes at this moment."""
        return [pid for pool in self._executors.values() for pid in pool._processes or {}]

    def lost(self, place: Place, error: BaseException) -> bool:
        pool = self._executors.pop(place.name, None)
        if pool is not None:
            pool.shutdown(wait=False, cancel_futures=True)
        return True

    def close(self) -> None:
        """End the processes: within a second, whatever they do."""
        self._is_closed = True
        pools, self._executors = list(self._executors.values()), {}
        processes = [each for pool in pools for each in (pool._processes or {}).values()]
        for pool in pools:
            pool.shutdown(wait=False, cancel_futures=True)
        for process in processes:
            process.join(PATIENCE)
            if process.is_alive():
                process.kill()
        for pool in pools:
            pool.shutdown(wait=True)


def _begin() -> None:
    """Prepare a process: no Ctrl-C of its own, and an end together with its parent."""
    # A collection that looks through all modules takes some 20 ms.
    gc.freeze()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    threading.Thread(target=_end_with_parent, name="pytsp parent", daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        with suppress(Exception):
            parent.join()
            os._exit(1)
