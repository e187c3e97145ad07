"""Placement of the climbers of a local search, and estimates of the time to their local optima."""

from __future__ import annotations

import math

from pytsp.backends.context import Backend
from pytsp.solvers import policy
from pytsp.solvers.speeds import BYTES, SPEEDS
from pytsp.utils.memory import check_memory


def mapping_of(n: int, kernels: Backend, wanted: str = "auto") -> str:
    """Return how climbers on n cities are laid out, or refuse blocks where there are none, or that hold no tour.

    On a GPU "auto" is one a thread block, if its memory holds a tour.
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
        # From 16 climbers on they share multiprocessors, up to 256 of them.
        sharing = max(16, min(climbers, 256)) if mapping == "thread" else 1
        return SPEEDS[f"descent, {mapping}"] * n * sharing
    seconds = SPEEDS["descent"] * n + (SPEEDS["descent, matrix"] * n * n if kind == "matrix" else 0.0)
    return math.ceil(climbers / kernels.threads) * seconds


def most_cities(kernels: Backend) -> int | None:
    """Return how many cities a climber of a thread block can have; None where there are no blocks."""
    if kernels.device is None:
        return None
    return (max(kernels.device.shared_memory, 48 * 2**10) - BYTES["search block"]) // BYTES["search block, city"]


def default_climbers(n: int, kernels: Backend) -> int:
    """Return the number of climbers of a solve that names none: one a core, or as many as keep a GPU busy."""
    return kernels.threads or max(1, min(policy.GPU_CLIMBERS, BYTES["device, climbers"] // (BYTES["device, city"] * n)))


def check_climbers(n: int, climbers: int, *, copies: int = 1) -> None:
    """Refuse more climbers on n cities, with `copies` tours each, than fit the memory."""
    bytes_of_one = copies * BYTES["ils, city"] * n + BYTES["ils, climber"]
    check_memory("climbers", climbers, lambda count: count * bytes_of_one)
