"""The ascent on a graph of near cities, by kernels: calls of a fraction of a second, until all steps are made."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic

import numpy as np
from numpy.typing import NDArray

from pytsp.backends.context import Backend
from pytsp.backends.marshal import Opaque

# Seconds of a kernel call.
CALL_SECONDS = 0.15
# Steps of the first call.
FIRST_STEPS = 4
# Parts of a unit in which kernels take steps.
STEP_PARTS = 64
# The largest step, in these parts.
MOST_STEP = 1 << 38


@dataclass(frozen=True)
class Ascent:
    """State of an ascent: the best penalties, their bound for the graph alone, and the steps made."""

    penalties: NDArray[np.int64]
    bound: int
    is_tour: bool
    made: int


def steps(first: float, share_left: float, count: int) -> NDArray[np.int64]:
    """Return the lengths of steps in parts of a unit: from `first`, in units, down to a share of it."""
    sizes = STEP_PARTS * first * share_left ** (np.arange(count) / max(1, count))
    return np.clip(np.rint(sizes), 1, MOST_STEP).astype(np.int64)


def ascend(
    kernels: Backend, graph: Opaque, state: Opaque, sizes: NDArray[np.int64], look: Callable[[], bool] = lambda: False
) -> Ascent:
    """Make steps of these sizes from a state, which is freed. Between two calls of kernels, `look` says whether to
    end."""
    made, count = 0, FIRST_STEPS
    while True:
        began = monotonic()
        state = kernels.call("ascend", graph, state, sizes[made : made + count])
        made = min(made + count, len(sizes))
        bound, is_tour = kernels.call("ascent_bound", state)
        if made == len(sizes) or is_tour or look():
            return Ascent(kernels.call("ascent_best", state), bound, is_tour, made)
        rate = count / max(monotonic() - began, 1e-6)
        count = max(1, min(4 * count, int(CALL_SECONDS * rate)))
