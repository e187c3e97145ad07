"""A cluster of Dask: its client sends, keeps and retries; this module says which worker has what."""

from __future__ import annotations

import pickle
import sys
import time
import warnings
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from typing import Any

from pytsp.distributed.places import Place, Places
from pytsp.distributed.worker import Reply
from pytsp.exceptions import PytspError

CONNECT_SECONDS = 10.0
# Seconds between two questions to the scheduler about its workers.
ASK_SECONDS = 0.5


class Cluster(Places):
    """The workers of a Dask cluster; each is a place while it is there.

    Shared objects go to the cluster once. A task prefers the worker that had the last one of its part, and goes to
    another one without it. The scheduler gives the task of a lost worker to others, as often as
    `distributed.scheduler.allowed-failures` says, three times by default.
    """

    def __init__(self, client: Any) -> None:
        self.client = client
        self._objects: dict[str, Any] = {}
        self._executors: dict[str, Any] = {}
        self._asked_at = float("-inf")

    def current(self) -> Sequence[Place]:
        """Return the workers by their addresses, as the scheduler said a moment ago at most."""
        now = time.perf_counter()
        if now > self._asked_at + ASK_SECONDS:
            workers = self.client.scheduler_info(n_workers=-1)["workers"]
            self._places = [Place(name, True, "GPU" in each.get("resources", {})) for name, each in workers.items()]
            self._asked_at = now
        return self._places

    def submit(self, place: Place, function: Any, *arguments: Any) -> Future[Reply]:
        executor = self._executors.get(place.name)
        if executor is None:
            resources = {"resources": {"GPU": 1}} if place.has_gpu else {}
            executor = self._executors[place.name] = self.client.get_executor(
                workers=[place.name], allow_other_workers=True, pure=False, **resources
            )
        future: Future[Reply] = executor.submit(function, *arguments)
        return future

    def shared(self, objects: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return a task of the cluster for each object: the scheduler repeats it where all copies of its result are
        lost, while scattered data would be gone."""
        for key, value in objects.items():
            if key not in self._objects:
                with warnings.catch_warnings():
                    # About its size: it goes to the scheduler once, and between workers from then on.
                    warnings.simplefilter("ignore", UserWarning)
                    self._objects[key] = self.client.submit(bytes, pickle.dumps(value, protocol=5), key=f"pytsp-{key}")
        return dict(self._objects)

    def lost(self, place: Place, error: BaseException) -> bool:
        """Return whether to send a task again: not where the scheduler has given up.

        A lost connection is a `ConnectionError`. A worker that is lost before its result is fetched shows as a
        `TypeError`.
        """
        self._executors.pop(place.name, None)
        return isinstance(error, ConnectionError | TypeError)

    def stop(self) -> None:
        """Cancel the tasks that wait, and let the workers forget the shared objects."""
        for executor in self._executors.values():
            executor.shutdown(wait=False)
        self._executors.clear()
        self._objects.clear()


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
