"""The places where tasks run, one task at a time each: an interface to executors of all kinds."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeVar

from pytsp.distributed.worker import Reply

P = TypeVar("P", bound="Places")


@dataclass(frozen=True)
class Place:
    """A slot that works on one task at a time.

    The tasks of a sticky place come to one process, which keeps its searches. A GPU takes as long for a few instances
    as for a thousand.
    """

    name: str
    is_sticky: bool
    has_gpu: bool = False

    @property
    def key(self) -> str:
        """The name of a sticky place; empty for any other."""
        return self.name if self.is_sticky else ""


class Places:
    """The places of an executor; `is_here` where they are threads of this process, to which nothing is copied."""

    is_here = False
    _places: Sequence[Place] = ()

    def __enter__(self: P) -> P:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def current(self) -> Sequence[Place]:
        """Return the places at this moment: workers of a cluster come and go."""
        return self._places

    def submit(self, place: Place, function: Any, *arguments: Any) -> Future[Reply]:
        """Call `perform` or `perform_here` at a place."""
        raise NotImplementedError

    def shared(self, objects: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return what goes along with every task for the objects that all tasks share."""
        return {}

    def lost(self, place: Place, error: BaseException) -> bool:
        """Handle the loss of a worker; return whether its task can be sent again."""
        return True

    def stop(self) -> None:
        """End the work for one solve."""

    def close(self) -> None:
        """End all workers that belong to these places."""


class AnyExecutor(Places):
    """Anything with the interface of `concurrent.futures.Executor`, which belongs to the user.

    By default it has as many places as it says that it has workers, or this machine cores.
    """

    def __init__(self, executor: Executor, slots: int | None = None) -> None:
        self.executor = executor
        # The standard library's executors, loky's and mpi4py's tell the number of their workers.
        counts = (getattr(executor, name, None) for name in ("num_workers", "_max_workers"))
        workers = next((count for count in counts if isinstance(count, int) and count > 0), None)
        count = slots or workers or os.cpu_count() or 1
        self._places = [Place(f"slot {number}", is_sticky=count == 1) for number in range(count)]

    def submit(self, place: Place, function: Any, *arguments: Any) -> Future[Reply]:
        return self.executor.submit(function, *arguments)

    def lost(self, place: Place, error: BaseException) -> bool:
        """Return whether the executor takes a further task: a broken pool of the standard library takes none."""
        try:
            self.executor.submit(int).cancel()
        except Exception:
            return False
        return True


class Here(AnyExecutor):
    """This process: a thread beside the one that looks at the clock."""

    is_here = True

    def __init__(self) -> None:
        super().__init__(ThreadPoolExecutor(1, "pytsp part"), 1)

    def close(self) -> None:
        self.executor.shutdown(wait=False, cancel_futures=True)
