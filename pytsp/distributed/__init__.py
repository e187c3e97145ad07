"""One solve by many processes: what a task is, how tasks are cut, and how they are run over anything with the interface
of `concurrent.futures.Executor`; GPUs and processes of one's own, and clusters of Dask."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytsp.utils.lazy import attach

if TYPE_CHECKING:
    from pytsp.distributed.places import Devices, Processes

__all__ = ["Devices", "Processes"]

__getattr__, __dir__ = attach(
    __name__, {"Devices": "pytsp.distributed.places", "Processes": "pytsp.distributed.places"}
)
