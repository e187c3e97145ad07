"""A cluster of Dask: its client sends, keeps and retries; this module says which worker has what."""

from __future__ import annotations

import pickle
import sys
import time
import warnings
from collections.abc import Sequence
from typing import Any

from pytsp.distributed.places import Place, Places
from pytsp.exceptions import PytspError

CONNECT_SECONDS = 10.0
# Seconds between two questions to the scheduler about its workers.
ASK_SECONDS = 0.5


class Cluster(Places):
    """The workers of a Dask cluster; each is a place while it is there.

    The shared object goes to the cluster once. A task prefers the worker that had the last one of its part, and goes to
    another one without it. The scheduler gives the task of a lost worker to others, as often as
    `distributed.scheduler.allowed-failures` says, three times by default.
    """

    def __init__(self, client: Any) -> None:
        super().__init__()
        self.client = client
        self._shared: Any = None
        self._asked_at = float("-inf")

    def current(self) -> Sequence[Place]:
        """Return the workers by their addresses, as the scheduler said a moment ago at most."""
        now = time.perf_counter()
        if now > self._asked_at + ASK_SECONDS:
            workers = self.client.scheduler_info(n_workers=-1)["workers"]
            self._places = [_place_of(name, worker) for name, worker in workers.items()]
            self._asked_at = now
        return self._places

    def _opened(self, place: Place) -> Any:
        resources = {"resources": {"GPU": 1}} if place.has_gpu else {}
        return self.client.get_executor(workers=[place.name], allow_other_workers=True, pure=False, **resources)

    def given(self, key: str, shared: object) -> Any:
        """Return a task of the cluster: the scheduler repeats it where all copies of its result are lost, while
        scattered data would be gone."""
        if self._shared is None:
            with warnings.catch_warnings():
                # About its size: it goes to the scheduler once, and between workers from then on.
                warnings.simplefilter("ignore", UserWarning)
                self._shared = self.client.submit(bytes, pickle.dumps(shared, protocol=5), key=f"pytsp-{key}")
        return self._shared

    def lost(self, place: Place, error: BaseException) -> bool:
        """Return whether to send a task again: not where the scheduler has given up.

        A lost connection is a `ConnectionError`. A worker that is lost before its result is fetched shows as a
        `TypeError`.
        """
        super().lost(place, error)
        return isinstance(error, ConnectionError | TypeError)

    def close(self) -> None:
        """Cancel the tasks that wait, and let the workers forget the shared object."""
        for executor in self._executors.values():
            executor.shutdown(wait=False)
        self._executors.clear()
        self._shared = None


def _place_of(name: str, worker: dict[str, Any]) -> Place:
    """Return a worker as a place, with the GPU or the threads that it has."""
    has_gpu = "GPU" in worker.get("resources", {})
    return Place(name, is_sticky=True, has_gpu=has_gpu, own={} if has_gpu else {"threads": worker["nthreads"]})


def cluster_of(executor: Any) -> Cluster | None:
    """Return the cluster of a Dask client, or of its executor; None for anything else.

    One without workers raises `PytspError`.
    """
    # A user with a client has imported Dask; a module without Client is another folder of this name.
    kind = getattr(sys.modules.get("distributed"), "Client", None)
    client = executor if kind and isinstance(executor, kind) else getattr(executor, "_client", None)
    if kind is None or not isinstance(client, kind):
        return None
    try:
        client.wait_for_workers(1, timeout=CONNECT_SECONDS)
    except TimeoutError:
        raise PytspError(f"{client} has no workers") from None
    return Cluster(client)


def connect(address: str) -> Any:
    """Return a client of the scheduler at an address.

    Raise `PytspError` if Dask is not installed, or the scheduler cannot be reached.
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
