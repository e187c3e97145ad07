"""How climbers of a local search are laid out on the machine, and about how long they take to their local optima."""

from __future__ import annotations

import math

from pytsp.backends.context import Backend
from pytsp.problem.kernel_input import Form

__all__ = ["TOGETHER", "climbing_entry", "descent_seconds", "mapping_of", "most_cities"]

# So many cities a second a core takes from a good start to a local optimum.
DESCENDED_A_SECOND = 300_000
# On a GPU all together take so many seconds a city; one a thread, so many for each that shares a multiprocessor, as if
# they were so many at least.
BLOCK_DESCENT_SECONDS, THREAD_DESCENT_SECONDS = 4e-5, 8e-6
LEAST_TOGETHER, TOGETHER = 16, 256
# The bytes of a block's shared memory that a city takes, and what lanes and reductions need besides.
CITY_BYTES = 20
BLOCK_OVERHEAD = 16 * 2**10


def mapping_of(n: int, kernels: Backend) -> str:
    """Return how climbers on n cities are laid out: on a GPU one a thread block, if its memory holds a tour."""
    most = most_cities(kernels)
    return "thread" if most is None or n > most else "block"


def descent_seconds(n: int, climbers: int, kernels: Backend) -> float:
    """Return about how long climbers on n cities take from good starts to their local optima."""
    if kernels.threads is None:
        if mapping_of(n, kernels) == "block":
            return BLOCK_DESCENT_SECONDS * n
        return THREAD_DESCENT_SECONDS * n * max(LEAST_TOGETHER, min(climbers, TOGETHER))
    return math.ceil(climbers / kernels.threads) * n / DESCENDED_A_SECOND


def climbing_entry(entry: str, form: Form, kernels: Backend) -> str:
    """Return the entry point by which climbers go on, which on a GPU has a form for each mapping."""
    return entry if kernels.device is None else f"{entry}_{mapping_of(form.whole.n, kernels)}"


def most_cities(kernels: Backend) -> int | None:
    """Return how many cities a climber of a thread block can have; None where there are no blocks."""
    if kernels.device is None:
        return None
    return (max(kernels.device.shared_memory, 48 * 2**10) - BLOCK_OVERHEAD) // CITY_BYTES
