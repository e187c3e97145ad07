"""The likely seconds of instances that go together, and the climbers of each that there is time for."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pytsp.backends.context import Backend
from pytsp.backends.registry import host_kernels
from pytsp.solvers.speeds import SPEEDS

# A GPU's thread takes milliseconds a city for a climb, whatever the others do: of more cities the host's cores are done
# sooner.
MOST_CITIES_OF_A_THREAD = 150


def climbs_on_a_gpu(kernels: Backend, n: int, climbers: int) -> bool:
    """Tell whether so many climbers of n cities are at their local optima sooner on a GPU than on its host's cores."""
    if kernels.device is None or n > MOST_CITIES_OF_A_THREAD:
        return False
    each = SPEEDS["batch, climber"] / _cores(kernels) - SPEEDS["batch, multiprocessor"] / _multiprocessors(kernels)
    most: float = climbers * each * n ** (1 / 3)
    return SPEEDS["batch, thread"] < most


class BatchPace:
    """Likely seconds of a call by the sizes of its instances: a table's, times the ratio that the last call showed.

    `climbers` is the most that an instance will have.
    """

    def __init__(self, kernels: Backend, climbers: int) -> None:
        self.cores = _cores(kernels)
        self.is_seen = False
        self._kernels, self._climbers, self._ratio = kernels, climbers, 1.0

    def seconds(self, sizes: NDArray[np.int64], climbers: int) -> float:
        """Return the likely seconds of a call with instances of these sizes."""
        once, least, each = self._terms(sizes)
        return self._ratio * (once + max(least, each * climbers))

    def climbers(self, sizes: NDArray[np.int64], seconds: float) -> int:
        """Return of how many climbers the populations of all these instances may be: 0 if there is no time for one."""
        once, least, each = self._terms(sizes)
        left = seconds / self._ratio - once
        return max(0, int(left / max(each, 1e-12))) if left >= least else 0

    def waits(self, sizes: NDArray[np.int64]) -> bool:
        """Tell whether a GPU's threads climb for some of these sizes."""
        return self._terms(sizes)[1] > 0

    def observe(self, sizes: NDArray[np.int64], climbers: int, seconds: float) -> None:
        """Take the seconds of a call."""
        self._ratio *= seconds / max(self.seconds(sizes, climbers), 1e-12)
        self.is_seen = True

    def _terms(self, sizes: NDArray[np.int64]) -> tuple[float, float, float]:
        """Return the seconds without climbers, the least seconds of any climbers, and those of each one more."""
        is_gpu = self._kernels.device is not None
        once, least, each = SPEEDS["batch, GPU" if is_gpu else "batch"] * int(sizes.sum()), 0.0, 0.0
        once = once + SPEEDS["batch, generations"] * bool(len(sizes)) if is_gpu else once / self.cores
        for n, count in zip(*(each.tolist() for each in np.unique(sizes, return_counts=True)), strict=True):
            work = count * n ** (4 / 3)
            if climbs_on_a_gpu(self._kernels, n, count * self._climbers):
                least += SPEEDS["batch, thread"] * n
                each += SPEEDS["batch, multiprocessor"] * work / _multiprocessors(self._kernels)
            else:
                each += SPEEDS["batch, climber"] * work / self.cores
        return once, least, each


def _cores(kernels: Backend) -> int:
    """Return the threads of the CPU, also beside a GPU."""
    host = host_kernels(kernels)
    return (host and host.threads) or 1


def _multiprocessors(kernels: Backend) -> int:
    return max(1, kernels.device.multiprocessors) if kernels.device is not None else 1
