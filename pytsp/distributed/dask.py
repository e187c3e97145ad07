"""A cluster of Dask: its own client sends, keeps and retries; here is only which worker has what."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from typing import Any

from pytsp.distributed.places import Place
from pytsp.distributed.worker import Reply, perform
from pytsp.exceptions import PytspError

__all__ = ["Cluster", "cluster_of", "connect"]

CONNECT_SECONDS = 10.0


class Cluster:
    """The workers of a Dask cluster, of which each is a place, as long as it is there.

    What all tasks share is scattered once; a task prefers the worker that had the last one of its part, and goes to
    another where that is gone. A worker that is lost with a task is the scheduler's business: it gives the task to
    others, as often as `distributed.scheduler.allowed-failures` says, three times by default.

    Parameters
    ----------
    client : distributed.Client
    """

    def __init__(self, client: Any) -> None:
        self.client = client
        self._scattered: dict[str, Any] = {}
        self._executors: dict[str, Any] = {}
        self._futures: set[Any] = set()

    def current(self) -> Sequence[Place]:
        workers = self.client.scheduler_info(n_workers=-1)["workers"]
        if not workers:
            self.client.wait_for_workers(1, timeout=CONNECT_SECONDS)
            workers = self.client.scheduler_info(n_workers=-1)["workers"]
        return [Place(address, is_sticky=True) for address in workers]

    def submit(
        self, place: Place, sender: str, packed: bytes, given: Mapping[str, bytes], kept: Mapping[str, bytes]
    ) -> Future[Reply]:
        shared = {key: self._scatter(key, blob) for key, blob in kept.items()}
        executor = self._executors.get(place.name)
        if executor is None:
            info = self.client.scheduler_info(n_workers=-1)["workers"].get(place.name, {})
            resources = {"resources": {"GPU": 1}} if "GPU" in info.get("resources", {}) else {}
            executor = self._executors[place.name] = self.client.get_executor(
                workers=[place.name], allow_other_workers=True, pure=False, **resources
            )
        future: Future[Reply] = executor.submit(perform, sender, packed, {**shared, **given})
        return future

    def _scatter(self, key: str, blob: bytes) -> Any:
        if key not in self._scattered:
            self._scattered[key] = self.client.scatter(blob, hash=False)
        return self._scattered[key]

    def lost(self, place: Place, error: BaseException) -> bool:
        """The scheduler has given the task to others as often as it does."""
        return False

    def stop(self) -> None:
        """Cancel what waits, and let the workers forget what they shared."""
        for executor in self._executors.values():
            executor.shutdown(wait=False)
        self._executors.clear()
        self._scattered.clear()


def cluster_of(executor: Any) -> Cluster | None:
    """Return the cluster of a Dask client, or of the executor of one; None where it is neither."""
    if "distributed" not in sys.modules:
        return None
    from distributed import Client  # noqa: PLC0415

    client = executor if isinstance(executor, Client) else getattr(executor, "_client", None)
    return Cluster(client) if isinstance(client, Client) else None


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
