"""Processes of this machine's own: so many, or one for each of its GPUs."""

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

from pytsp.backends.devices import Device, usable_cores
from pytsp.backends.registry import KINDS, find
from pytsp.distributed.places import Place
from pytsp.distributed.slices import placement
from pytsp.distributed.worker import Reply, perform
from pytsp.exceptions import BackendError, BackendUnavailable
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
    count : int, optional
        How many.
    threads : int, optional
        Of each; by default the machine's cores divided by `count`.
    devices : "all" or sequence of int or str, optional
        In place of `count`: the GPUs, by their numbers or parts of their names, of which each has a process.
    backend : str, optional
        Of the devices: "cuda", "opencl", or "auto" for the first of the two that has any.

    Raises
    ------
    TypeError, ValueError
        If neither or both of `count` and `devices` are given, or they are none.
    BackendError
        If there is no such device.

    Examples
    --------
    >>> from pytsp import generate, solve
    >>> with Processes(2) as processes:  # doctest: +SKIP
    ...     results = [solve(instance, executor=processes) for instance in instances]
    """

    def __init__(
        self,
        count: int | None = None,
        *,
        threads: int | None = None,
        devices: str | Sequence[int | str] | None = None,
        backend: str = "auto",
    ) -> None:
        if (count is None) == (devices is None):
            raise ValueError("Processes takes a count or devices")
        if devices is not None:
            name, chosen = _devices_of(devices, backend)
            self._placed = [{"backend": name, "device": each.index, "threads": None} for each in chosen]
        else:
            count = whole_number("executor", count, 1, MOST_PROCESSES)
            threads = threads or max(1, usable_cores() // count)
            self._placed = [{"threads": threads}] * count
        self._places = [
            Place(f"device {placed['device']}", is_sticky=True, has_gpu=True)
            if devices is not None
            else Place(f"process {number}", is_sticky=True)
            for number, placed in enumerate(self._placed)
        ]
        self._pools: dict[str, ProcessPoolExecutor] = {}
        self._is_closed = False

    def __enter__(self) -> Processes:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def current(self) -> Sequence[Place]:
        return self._places

    def submit(
        self, place: Place, sender: str, packed: bytes, given: Mapping[str, bytes], kept: Mapping[str, bytes]
    ) -> Future[Reply]:
        if self._is_closed:
            raise RuntimeError("these processes are closed")
        pool = self._pools.get(place.name) or self._new_pool(place)
        # Ctrl-C that comes while a process begins must not be its end: it inherits what is blocked.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            return pool.submit(perform, sender, packed, dict(given))
        except BrokenExecutor:
            # It was lost while it had no task.
            return self._new_pool(place).submit(perform, sender, packed, dict(given))
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)

    def _new_pool(self, place: Place) -> ProcessPoolExecutor:
        placed = self._placed[self._places.index(place)]
        pool = ProcessPoolExecutor(1, multiprocessing.get_context("spawn"), initializer=_begin, initargs=(placed,))
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


def _begin(placed: Mapping[str, Any]) -> None:
    """Begin to be a worker: its place, no Ctrl-C of its own, and an end together with the coordinator."""
    placement(**placed)
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


def _devices_of(devices: str | Sequence[int | str], backend: str) -> tuple[str, list[Device]]:
    """Return the backend that has the GPUs that are meant, and these."""
    from pytsp.backends.registry import choose  # noqa: PLC0415

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
