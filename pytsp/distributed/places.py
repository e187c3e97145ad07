"""Where tasks run: the slots of an executor, of which each has one task at a time."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any, Protocol

from pytsp.distributed.worker import Reply, perform, perform_here

__all__ = ["AnyExecutor", "Here", "Place", "Places", "places_of"]


@dataclass(frozen=True)
class Place:
    """Something that works on one task at a time.

    Attributes
    ----------
    name : str
    is_sticky : bool
        Whether a task that is sent here comes to the process that had the last one, which has its state still.
    has_gpu : bool
        Whether it is known to work on a GPU, which takes as long for a few instances as for a thousand.
    """

    name: str
    is_sticky: bool
    has_gpu: bool = False


class Places(Protocol):
    """What the coordinator hands tasks to.

    Attributes
    ----------
    is_here : bool
        Whether all places are threads of this process, to which nothing is copied.
    """

    is_here: bool

    def current(self) -> Sequence[Place]:
        """Return the places that there are now: workers of a cluster come and go."""

    def submit(
        self, place: Place, sender: str, task: Any, given: Mapping[str, bytes], kept: Mapping[str, bytes]
    ) -> Future[Reply]:
        """Have a task worked on there, as `perform` does, or `perform_here`.

        `given` is what this task alone needs, or its worker is known to lack; `kept` what all tasks share, which a
        cluster that can holds for all its workers.
        """

    def lost(self, place: Place, error: BaseException) -> bool:
        """Take the loss of a worker; tell whether others, or another in its stead, can have its task."""

    def stop(self) -> None:
        """Begin nothing more, and leave nothing running that can be stopped."""


class AnyExecutor:
    """Anything with the interface of `concurrent.futures.Executor`, which alone knows its workers.

    Parameters
    ----------
    executor : concurrent.futures.Executor
    slots : int, optional
        How many tasks it is given at a time; by default as many as it says that it has workers, or this machine cores.
    """

    is_here = False

    def __init__(self, executor: Executor, slots: int | None = None) -> None:
        self.executor = executor
        count = slots or _workers_of(executor) or os.cpu_count() or 1
        self._places = [Place(f"slot {number}", is_sticky=count == 1) for number in range(count)]

    def current(self) -> Sequence[Place]:
        return self._places

    def submit(
        self, place: Place, sender: str, task: Any, given: Mapping[str, bytes], kept: Mapping[str, bytes]
    ) -> Future[Reply]:
        return self.executor.submit(perform, sender, task, dict(given))

    def lost(self, place: Place, error: BaseException) -> bool:
        """Tell whether a further task is taken: a broken pool of the standard library takes none."""
        try:
            self.executor.submit(int).cancel()
        except Exception:
            return False
        return True

    def stop(self) -> None:
        """Leave the executor to whom it belongs."""


def _workers_of(executor: Executor) -> int | None:
    """Return how many workers an executor says that it has: the standard library's and loky's, and mpi4py's."""
    for name in ("num_workers", "_max_workers"):
        count = getattr(executor, name, None)
        if isinstance(count, int) and count > 0:
            return count
    return None


def places_of(executor: Any, devices: Any, placed: Mapping[str, Any]) -> AbstractContextManager[Places] | None:
    """Return the places that a call means, to be entered; None where it names none.

    Raises
    ------
    TypeError, ValueError
        If both are given, or the executor is none.
    """
    from pytsp.distributed import dask  # noqa: PLC0415
    from pytsp.distributed.devices import Devices  # noqa: PLC0415
    from pytsp.distributed.processes import Processes  # noqa: PLC0415

    if executor is None and devices is None:
        return None
    if devices is not None:
        if executor is not None:
            raise ValueError("devices has this machine's GPUs work; give it without executor")
        return Devices(devices, backend=placed["backend"])
    if isinstance(executor, Processes | Devices):
        return nullcontext(executor)
    if isinstance(executor, int) and not isinstance(executor, bool):
        return Processes(executor, threads=placed["threads"])
    cluster = dask.cluster_of(executor)
    if cluster is not None:
        return nullcontext(cluster)
    if not callable(getattr(executor, "submit", None)):
        raise TypeError(
            "executor must be a number of processes, a pytsp.distributed.Processes or Devices, a Dask client, or have "
            f"the interface of concurrent.futures.Executor; it is {executor!r:.60}"
        )
    return nullcontext(AnyExecutor(executor))


class Here(AnyExecutor):
    """This process: a thread beside the one that looks at the clock."""

    is_here = True

    def __init__(self) -> None:
        super().__init__(ThreadPoolExecutor(1, "pytsp part"), 1)

    def submit(
        self, place: Place, sender: str, task: Any, given: Mapping[str, bytes], kept: Mapping[str, bytes]
    ) -> Future[Reply]:
        return self.executor.submit(perform_here, task, given)

    def __enter__(self) -> Here:
        return self

    def __exit__(self, *error: object) -> None:
        self.executor.shutdown(wait=False, cancel_futures=True)
