"""Processes of this machine's own."""

from __future__ import annotations

import fcntl
import gc
import multiprocessing
import os
import signal
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import BrokenExecutor, Future, ProcessPoolExecutor
from contextlib import suppress
from typing import Any

from pytsp.backends.devices import usable_cores
from pytsp.distributed.places import Place
from pytsp.distributed.slices import placement
from pytsp.distributed.worker import Reply, perform
from pytsp.utils.arguments import whole_number

__all__ = ["Processes"]

MOST_PROCESSES = 1024
# What anybody may have a pipe hold on Linux.
PIPE_BYTES = 2**20
# How long processes have to end by themselves, in seconds.
PATIENCE = 1.0


class Processes:
    """Spawned processes of this machine that work on solves, one after the other, until they are closed.

    Each is a pool of one, so that a process that is lost takes no other with it and has a new one in its stead. They
    end with this process, however that ends.

    Parameters
    ----------
    count : int
        How many.
    threads : int, optional
        Of each; by default the machine's cores divided by `count`.

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

    is_here = False

    def __init__(self, count: int, *, threads: int | None = None) -> None:
        count = whole_number("executor", count, 1, MOST_PROCESSES)
        self._threads = threads or max(1, usable_cores() // count)
        self._places = [Place(f"process {number}", is_sticky=True) for number in range(count)]
        self._pools: dict[str, ProcessPoolExecutor] = {}
        self._is_closed = False

    def __enter__(self) -> Processes:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def current(self) -> Sequence[Place]:
        return self._places

    def submit(
        self, place: Place, sender: str, task: Any, given: Mapping[str, bytes], kept: Mapping[str, bytes]
    ) -> Future[Reply]:
        if self._is_closed:
            raise RuntimeError("these processes are closed")
        pool = self._pools.get(place.name) or self._new_pool(place)
        # Ctrl-C that comes while a process begins must not be its end: it inherits what is blocked.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            return pool.submit(perform, sender, task, dict(given))
        except BrokenExecutor:
            # It was lost while it had no task.
            return self._new_pool(place).submit(perform, sender, task, dict(given))
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)

    def _new_pool(self, place: Place) -> ProcessPoolExecutor:
        given = (self._threads,)
        pool = ProcessPoolExecutor(1, multiprocessing.get_context("spawn"), initializer=_begin, initargs=given)
        _widen(pool)
        self._pools[place.name] = pool
        return pool

    @property
    def pids(self) -> list[int]:
        """The numbers of the processes that there are now."""
        return [pid for pool in self._pools.values() for pid in pool._processes or {}]

    def lost(self, place: Place, error: BaseException) -> bool:
        pool = self._pools.pop(place.name, None)
        if pool is not None:
            pool.shutdown(wait=False, cancel_futures=True)
        return True

    def stop(self) -> None:
        """Let the processes be: they are there for the next solve, or `close` ends them."""

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


def _widen(pool: ProcessPoolExecutor) -> None:
    """Have what a process sends arrive in few pieces, where the system can: a pipe holds 64 KiB by default, and the
    thread that reads may wait 5 ms for each while another one computes."""
    with suppress(AttributeError, KeyError, OSError):
        fcntl.fcntl(vars(pool._result_queue)["_reader"].fileno(), fcntl.F_SETPIPE_SZ, PIPE_BYTES)


def _begin(threads: int) -> None:
    """Begin to be a worker: its threads, no Ctrl-C of its own, and an end together with the coordinator."""
    placement(threads=threads)
    # What is there now stays: looking through it for what nobody refers to takes some 20 ms, now and then.
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
