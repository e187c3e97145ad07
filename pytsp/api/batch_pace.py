"""How long instances that go together take, and how many climbers of each there is time for."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pytsp.api.together import MOST_CITIES_OF_A_THREAD
from pytsp.backends.context import Backend
from pytsp.backends.registry import host_kernels
from pytsp.solvers.speeds import SPEEDS


class BatchPace:
    """Seconds of populations by their sizes: those of a table times what the last call took more than these.

    Work is about that of all cities, and that of the climbers of all cities.
    """

    def __init__(self, kernels: Backend) -> None:
        host = host_kernels(kernels)
        # The threads of the CPU, also beside a GPU.
        self.cores = (host and host.threads) or 1
        self._device = kernels.device
        self._ratio = 1.0
        self.is_seen = False

    def seconds(self, sizes: NDArray[np.int64], climbers: int) -> float:
        """Return the likely seconds of a call with instances of these sizes."""
        once, each = self._terms(sizes)
        return self._ratio * (once + each * climbers)

    def climbers(self, sizes: NDArray[np.int64], seconds: float) -> int:
        """Return of how many climbers the populations of all these instances may be: 0 if there is no time for one."""
        once, each = self._terms(sizes)
        return max(0, int((seconds / self._ratio - once) / max(each, 1e-12)))

    def observe(self, sizes: NDArray[np.int64], climbers: int, seconds: float) -> None:
        """Take the seconds of a call."""
        self._ratio *= seconds / max(self.seconds(sizes, climbers), 1e-12)
        self.is_seen = True

    def _terms(self, sizes: NDArray[np.int64]) -> tuple[float, float]:
        """Return the seconds of all cities, and of a climber of each instance."""
        cities, once, each = int(sizes.sum()), 0.0, 0.0
        if self._device is not None:
            # A GPU leaves those of more cities to its host.
            small = sizes[sizes <= MOST_CITIES_OF_A_THREAD]
            there = int(small.sum())
            once = SPEEDS["batch, GPU"] * there + SPEEDS["batch, thread"] * int(small.max(initial=0))
            each = SPEEDS["batch, multiprocessor"] * there / max(1, self._device.multiprocessors)
            cities -= there
        once += SPEEDS["batch"] * cities / self.cores
        each += SPEEDS["batch, climber"] * cities / self.cores
        return once, each
