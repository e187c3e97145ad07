"""The task of a reproduction, its time, and the climbs that fit it."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytsp
from bench.harness.machine import TSPLIB
from pytsp.backends import open_backend

# The share of its time that a measurement takes to learn how many climbers fit, and what is planned of it.
PROBE = 0.1
FEW_ON_A_GPU = 128
PLANNED = 0.7


@dataclass
class Task:
    """The task of a paper's module.

    Attributes
    ----------
    backend : str
    seconds : float
        The time for all of it; infinite with `--full`.
    seed : int
    tsplib : Path
        TSPLIB's files.
    """

    backend: str = "auto"
    seconds: float = 180.0
    seed: int = 0
    tsplib: Path = TSPLIB
    began: float = field(default_factory=time.perf_counter)

    @property
    def left(self) -> float:
        """The seconds that are left, at least 0."""
        return left_until(self.began + self.seconds)

    @property
    def is_full(self) -> bool:
        """True if all of the paper is reproduced, however long it takes."""
        return math.isinf(self.seconds)

    def is_gpu(self, backend: str) -> bool:
        """True for a GPU, which takes as long for one climber as for some hundred."""
        return open_backend(backend).device is not None

    def climb(self, instance: pytsp.Instance, climbers: int, **options: Any) -> pytsp.Result:
        """Climb from random tours to local optima."""
        reported: dict[str, Any] = {"backend": self.backend, "seed": self.seed} | options
        return pytsp.solve(instance, solver="restarts", climbers=climbers, **reported)

    def fitting(self, instance: pytsp.Instance, seconds: float, most: int, **options: Any) -> int:
        """Return the number of climbers that fit the seconds: `most`, or 1, 2 or 5 times a power of ten; at least one.

        The kernels are warm afterwards.
        """
        self.climb(instance, 1, **options)
        if math.isinf(seconds):
            return most
        count = min(most, FEW_ON_A_GPU) if self.is_gpu(options.get("backend", self.backend)) else 1
        taken = self.climb(instance, count, **options).seconds
        while taken < PROBE * seconds and count < most:
            count = min(most, 2 * count)
            taken = self.climb(instance, count, **options).seconds
        return most if count * PLANNED * seconds >= most * taken else round_down(count * PLANNED * seconds / taken)


def moment(seconds: float) -> float:
    """Return the clock's time after `seconds`, which may be infinite."""
    return time.perf_counter() + seconds


def left_until(end: float) -> float:
    """Return the seconds until that time, at least 0."""
    return max(0.0, end - time.perf_counter())


def round_down(number: float) -> int:
    """Return the largest of 1, 2, 5, 10, 20, … that is at most `number`; 1 where none is."""
    if number < 1:
        return 1
    power: int = 10 ** (len(str(int(number))) - 1)
    return max(digit * power for digit in (1, 2, 5) if digit * power <= number)
