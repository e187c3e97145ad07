"""A cluster of Dask: its own client sends, keeps and retries; here is only which worker has what."""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from typing import Any

from pytsp.backends.kind import BackendStatus
from pytsp.backends.registry import status
from pytsp.distributed.places import Place
from pytsp.distributed.worker import Reply, perform
from pytsp.exceptions import PytspError

__all__ = ["Cluster", "cluster_of", "connect", "offers"]

CONNECT_SECONDS = 10.0
# How often the scheduler is asked who its workers are.
ASK_SECONDS = 0.5


class Cluster:
    """The workers of a Dask cluster, of which each is a place, as long as it is there.

    What all tasks share goes there once; a task prefers the worker that had the last one of its part, and goes to
    another where that is gone. A worker that is lost with a task is the scheduler's business: it gives the task to
    others, as often as `distributed.scheduler.allowed-failures` says, three times by default.

    Parameters
    ----------
    client : distributed.Client
    """

    is_here = False

    def __init__(self, client: Any) -> None:
        self.client = client
        self._objects: dict[str, Any] = {}
        self._executors: dict[str, Any] = {}
        self._known: Mapping[str, Any] = {}
        self._asked_at = float("-inf")

    def current(self) -> Sequence[Place]:
        return [
            Place(address, is_sticky=True, has_gpu=self._has_gpu(worker)) for address, worker in self._workers().items()
        ]

    @staticmethod
    def _has_gpu(worker: Mapping[str, Any]) -> bool:
        return "GPU" in worker.get("resources", {})

    def _workers(self) -> Mapping[str, Any]:
        """Return what the scheduler says of its workers, or said a moment ago."""
        now = time.perf_counter()
        if now > self._asked_at + ASK_SECONDS:
            self._known = self.client.scheduler_info(n_workers=-1)["workers"]
            self._asked_at = now
        return self._known

    def submit(
        self, place: Place, sender: str, task: Any, given: Mapping[str, bytes], kept: Mapping[str, bytes]
    ) -> Future[Reply]:
        shared = {key: self._put(key, blob) for key, blob in kept.items()}
        executor = self._executors.get(place.name)
        if executor is None:
            resources = {"resources": {"GPU": 1}} if self._has_gpu(self._workers().get(place.name, {})) else {}
            executor = self._executors[place.name] = self.client.get_executor(
                workers=[place.name], allow_other_workers=True, pure=False, **resources
            )
        future: Future[Reply] = executor.submit(perform, sender, task, {**shared, **given})
        return future

    def _put(self, key: str, blob: bytes) -> Any:
        """Return what stands for an object on the cluster: a task, which the scheduler has done again where all
        workers that had its result are gone. Of data that are scattered nothing would be left then."""
        if key not in self._objects:
            with warnings.catch_warnings():
                # Of its size: it goes to the scheduler once, and between workers from then on.
                warnings.simplefilter("ignore", UserWarning)
                self._objects[key] = self.client.submit(_same, blob, key=f"pytsp-{key}")
        return self._objects[key]

    def lost(self, place: Place, error: BaseException) -> bool:
        """Tell whether to send a task again: not where the scheduler has given it to others as often as it does.

        But where the connection is lost, or the worker between its result and that this is fetched, which the executor
        tells by a TypeError.
        """
        self._executors.pop(place.name, None)
        return isinstance(error, ConnectionError | TypeError)

    def stop(self) -> None:
        """Cancel what waits, and let the workers forget what they shared."""
        for executor in self._executors.values():
            executor.shutdown(wait=False)
        self._executors.clear()
        self._objects.clear()


def _same(blob: bytes) -> bytes:
    return blob


def cluster_of(executor: Any) -> Cluster | None:
    """Return the cluster of a Dask client, or of the executor of one; None where it is neither.

    Raises
    ------
    PytspError
        If it has no workers.
    """
    # Who has a client has imported Dask; a module without Client is a folder of somebody's with this name.
    kind = getattr(sys.modules.get("distributed"), "Client", None)
    if kind is None:
        return None
    client = executor if isinstance(executor, kind) else getattr(executor, "_client", None)
    if not isinstance(client, kind):
        return None
    try:
        client.wait_for_workers(1, timeout=CONNECT_SECONDS)
    except TimeoutError:
        raise PytspError(f"{client} has no workers") from None
    return Cluster(client)


def connect(address: str) -> Any:
    """Return a client of the scheduler at an address.

    Raises
    ------
    PytspError
        If Dask is not installed, or the scheduler cannot be reached.
    """
    try:
        from distributed import Client  # noqa: PLC0415
    except ImportError:
        raise PytspError(
            f"scheduler {address} needs Dask, which is not installed: pip install 'pytsp-futhark[distributed]'"
        ) from None
    try:
        return Client(address, timeout=CONNECT_SECONDS)  # type: ignore[no-untyped-call]
    except (OSError, ValueError, TimeoutError) as error:
        reason = str(error).partition("\n")[0]
        raise PytspError(f"scheduler {address} cannot be reached: {reason or type(error).__name__}") from None


def offers(client: Any) -> dict[str, list[BackendStatus]]:
    """Return what each worker of a cluster offers: its backends, by its address."""
    found: dict[str, list[BackendStatus]] = client.run(status)
    return found
