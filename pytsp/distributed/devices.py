"""The GPUs of this machine; each has a thread of this process."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from pytsp.backends.devices import Device
from pytsp.backends.kinds import KINDS, find
from pytsp.backends.registry import choose
from pytsp.distributed.places import Place, Places
from pytsp.distributed.slices import set_placement
from pytsp.distributed.worker import Reply
from pytsp.exceptions import BackendError, BackendUnavailable


class Devices(Places):
    """GPUs of this machine, which work on one solve after the other until they are closed.

    A tour that goes from one to another is copied once from its memory and once into the other's. Kernels of several
    GPUs run side by side, since Python waits for none of them.

    Parameters
    ----------
    devices : "all" or sequence of int or str
        Their numbers, or parts of their names.
    backend : str, optional
        "cuda", "opencl", or "auto" for the first of the two that has a GPU.

    Raises
    ------
    ValueError
        If `devices` names none.
    BackendError
        If there is no such device.

    Examples
    --------
    >>> from pytsp import generate, solve
    >>> with Devices("all") as devices:  # doctest: +SKIP
    ...     results = [solve(instance, executor=devices) for instance in instances]
    """

    is_here = True

    def __init__(self, devices: str | Sequence[int | str] = "all", *, backend: str = "auto") -> None:
        name, chosen = _devices_of(devices, backend)
        self._places = [Place(f"device {each.index}", is_sticky=True, has_gpu=True) for each in chosen]
        self._threads = {
            place.name: ThreadPoolExecutor(
                1, place.name, set_placement, ({"backend": name, "device": each.index, "threads": None},)
            )
            for place, each in zip(self._places, chosen, strict=True)
        }

    def submit(self, place: Place, function: Any, *arguments: Any) -> Future[Reply]:
        return self._threads[place.name].submit(function, *arguments)

    def lost(self, place: Place, error: BaseException) -> bool:
        """Return False: a thread is not lost."""
        return False

    def close(self) -> None:
        """Begin nothing more; a kernel that runs ends by itself."""
        for thread in self._threads.values():
            thread.shutdown(wait=False, cancel_futures=True)


def _devices_of(devices: str | Sequence[int | str], backend: str) -> tuple[str, list[Device]]:
    """Return the backend that has the GPUs, and these."""
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
