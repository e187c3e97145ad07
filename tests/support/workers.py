"""Workers that are killed, and executors that tell what they are given."""

from __future__ import annotations

import logging
import os
import re
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from typing import Any

import pytest


class Killer(logging.Handler):
    """Kills workers by -9 as soon as one has done a task, and is at its next.

    It hears of tasks from the log, in a block of `with`, and kills where it is called, as a callback of progress.

    Parameters
    ----------
    times : int
        How many it kills; afterwards it lets the solve end.
    pids : callable, optional
        Return the numbers of processes that are killed before they have done anything.
    """

    def __init__(self, times: int, pids: Callable[[], list[int]] = list) -> None:
        super().__init__(logging.DEBUG)
        self.times, self.pids = times, pids
        self.heard: list[int] = []
        self.killed: list[int] = []

    def __enter__(self) -> Killer:
        self.logger, self.level_before = logging.getLogger("pytsp"), logging.getLogger("pytsp").level
        self.logger.addHandler(self)
        self.logger.setLevel(logging.DEBUG)
        return self

    def __exit__(self, *error: object) -> None:
        self.logger.removeHandler(self)
        self.logger.setLevel(self.level_before)

    def emit(self, record: logging.LogRecord) -> None:
        if matched := re.search(r"bytes sent.* on \S+:(\d+) \(", record.getMessage()):
            self.heard.append(int(matched[1]))

    def __call__(self, *_: object) -> None:
        for pid in dict.fromkeys([*self.heard, *self.pids()]):
            if pid not in self.killed and len(self.killed) < self.times:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
                self.killed.append(pid)


class Report(Executor):
    """An executor of threads that keeps what it was given: the bytes of each task, and its future."""

    def __init__(self, workers: int) -> None:
        self.pool, self._max_workers = ThreadPoolExecutor(workers), workers
        self.given: list[tuple[Any, ...]] = []
        self.futures: list[Future[Any]] = []

    def submit(self, fn: Callable[..., Any], /, *arguments: Any, **keywords: Any) -> Future[Any]:
        self.given.append(arguments)
        self.futures.append(self.pool.submit(fn, *arguments, **keywords))
        return self.futures[-1]

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        self.pool.shutdown(wait, cancel_futures=cancel_futures)


@contextmanager
def short_slices(seconds: float = 0.01) -> Iterator[None]:
    """Have slices end after a kernel call, or next to that."""
    from pytsp.api import many_in_parts  # noqa: PLC0415
    from pytsp.distributed import search  # noqa: PLC0415

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(search, "FIRST_SECONDS", seconds)
        patch.setattr(search, "SLICE_SECONDS", seconds)
        patch.setattr(search, "TIMES_BEGUN", 0.0)
        patch.setattr(many_in_parts, "SLICE_SECONDS", seconds)
        patch.setitem(many_in_parts.FIRST_CITIES, "cpu", 100)
        patch.setitem(many_in_parts.LAST_CITIES, "cpu", 100)
        yield


def is_running(pid: int) -> bool:
    """Whether there is such a process, and it is no zombie."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
