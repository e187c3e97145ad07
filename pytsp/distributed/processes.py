"""Processes of this machine."""

from __future__ import annotations

import fcntl
import gc
import multiprocessing
import os
import signal
import threading
from concurrent.futures import BrokenExecutor, Future, ProcessPoolExecutor
from contextlib import suppress
from typing import Any

from pytsp.backends.devices import usable_cores
from pytsp.distributed.places import Place, Places
from pytsp.distributed.slices import set_placement
from pytsp.distributed.worker import Reply
from pytsp.utils.arguments import whole_number

MOST_PROCESSES = 1024
# The largest size of a pipe that Linux grants to any user.
PIPE_BYTES = 2**20
# Seconds in which processes may end by themselves.
PATIENCE = 1.0


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
        count = whole_number("executor", count, 1, MOST_PROCESSES)
        self._threads = threads or max(1, usable_cores() // count)
        self._places = [Place(f"process {number}", is_sticky=True) for number in range(count)]
        self._pools: dict[str, ProcessPoolExecutor] = {}
        self._is_closed = False

    def submit(self, place: Place, function: Any, *arguments: Any) -> Future[Reply]:
        if self._is_closed:
            raise RuntimeError("these processes are closed")
        pool = self._pools.get(place.name) or self._new_pool(place)
        # Ctrl-C while a process starts must not end it: it inherits the blocked signal.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            return pool.submit(function, *arguments)
        except BrokenExecutor:
            # It was lost while it had no task.
            return self._new_pool(place).submit(function, *arguments)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)

    def _new_pool(self, place: Place) -> ProcessPoolExecutor:
        spawn = multiprocessing.get_context("spawn")
        pool = ProcessPoolExecutor(1, spawn, initializer=_begin, initargs=(self._threads,))
        # Results arrive in few pieces. A pipe holds 64 KiB by default, and the thread that reads may wait 5 ms for each
        # piece while another thread computes.
        with suppress(AttributeError, KeyError, OSError):
            fcntl.fcntl(vars(pool._result_queue)["_reader"].fileno(), fcntl.F_SETPIPE_SZ, PIPE_BYTES)
        self._pools[place.name] = pool
        return pool

    @property
    def pids(self) -> list[int]:
        """The numbers of the processes at this moment."""
        return [pid for pool in self._pools.values() for pid in pool._processes or {}]

    def lost(self, place: Place, error: BaseException) -> bool:
        pool = self._pools.pop(place.name, None)
        if pool is not None:
            pool.shutdown(wait=False, cancel_futures=True)
        return True

    def close(self) -> None:
        """End the processes: within a second, whatever they do."""
        self._is_closed = True
        pools, self._pools = list(self._pools.values()), {}
        processes = [each for pool in pools for each in (pool._processes or {}).values()]
        for pool in pools:
            pool.shutdown(wait=False, cancel_futures=True)
        for process in processes:
            process.join(PATIENCE)
            if process.is_alive():
                process.kill()
        for pool in pools:
            pool.shutdown(wait=True)


def _begin(threads: int) -> None:
    """Prepare a process: its threads, no Ctrl-C of its own, and an end together with its parent."""
    set_placement({"threads": threads})
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
