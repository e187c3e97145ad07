"""Placement of the climbers of a local search, and estimates of the time to their local optima."""

from __future__ import annotations

import math

from pytsp.backends.context import Backend
from pytsp.utils.memory import check_memory

__all__ = [
    "check_climbers",
    "default_climbers",
    "descent_seconds",
    "mapping_of",
    "most_cities",
]

# Cities a second of a core from a good start to a local optimum.
DESCENDED_A_SECOND = 300_000
# Through a matrix, which is too large for the caches and may have near cities far apart in every tour, it takes so long
# besides, times the square of the cities.
MATRIX_DESCENT_SECONDS = 2e-9
# Seconds of a descent on a GPU, per city: of all climbers in blocks together; of each climber that shares a
# multiprocessor, by threads; in step, for the launches of a few kernels per move.
BLOCK_DESCENT_SECONDS, THREAD_DESCENT_SECONDS, LOCKSTEP_DESCENT_SECONDS = 4e-5, 8e-6, 2e-4
# Fewest climbers by threads that count as sharing a multiprocessor, and most that do.
LEAST_TOGETHER, TOGETHER = 16, 256
# The bytes of a block's shared memory that a city takes, and what lanes and reductions need besides.
CITY_BYTES = 20
BLOCK_OVERHEAD = 26 * 2**10
# Most climbers of a GPU.
GPU_CLIMBERS = 4_096
# Bytes for them, and bytes of each per city.
GPU_BYTES = 2**31
GPU_CITY_BYTES = 32
# Bytes of a climber on the CPU, per city and besides.
HOST_CITY_BYTES = 24
HOST_CLIMBER_BYTES = 256


def mapping_of(n: int, kernels: Backend, wanted: str = "auto") -> str:
    """Return how climbers on n cities are laid out: "auto" is on a GPU one a thread block, if its memory holds a tour.

    Raises
    ------
    ValueError
        If they cannot be laid out as is wanted: there are no blocks, or a tour does not fit one.
    """
    if kernels.device is None:
        if wanted in ("block", "lockstep"):
            raise ValueError(
                f"mapping={wanted!r} needs a GPU backend; backend {kernels.name!r} has one climber a thread"
            )
        return "thread"
    most = most_cities(kernels) or 0
    if wanted == "block" and n > most:
        raise ValueError(
            f"mapping='block' takes up to {most} cities, which fit a block's shared memory, "
            f"{kernels.device.shared_memory} bytes on {kernels.device.name}; this instance has {n}: "
            "use mapping='lockstep', 'thread' or 'auto'"
        )
    if wanted == "auto":
        return "block" if n <= most else "thread"
    return wanted


def descent_seconds(n: int, climbers: int, kernels: Backend, mapping: str = "auto", kind: str = "plane") -> float:
    """Return about how long climbers on n cities, in such a form, take from good starts to their local optima."""
    if kernels.threads is None:
        mapping = mapping_of(n, kernels, mapping)
        if mapping != "thread":
            return (BLOCK_DESCENT_SECONDS if mapping == "block" else LOCKSTEP_DESCENT_SECONDS) * n
        return THREAD_DESCENT_SECONDS * n * max(LEAST_TOGETHER, min(climbers, TOGETHER))
    seconds = n / DESCENDED_A_SECOND + (MATRIX_DESCENT_SECONDS * n * n if kind == "matrix" else 0.0)
    return math.ceil(climbers / kernels.threads) * seconds


def most_cities(kernels: Backend) -> int | None:
    """Return how many cities a climber of a thread block can have; None where there are no blocks."""
    if kernels.device is None:
        return None
    return (max(kernels.device.shared_memory, 48 * 2**10) - BLOCK_OVERHEAD) // CITY_BYTES


def default_climbers(n: int, kernels: Backend) -> int:
    """Return the number of climbers of a solve that names none: one a core, or as many as keep a GPU busy."""
    return kernels.threads or max(1, min(GPU_CLIMBERS, GPU_BYTES // (GPU_CITY_BYTES * n)))


def check_climbers(n: int, climbers: int, *, copies: int = 1) -> None:
    """Refuse more climbers on n cities, with `copies` tours each, than fit the memory.

    Raises
    ------
    ValueError
        If they do not fit.
    """
    check_memory("climbers", climbers, lambda count: count * (copies * HOST_CITY_BYTES * n + HOST_CLIMBER_BYTES))
