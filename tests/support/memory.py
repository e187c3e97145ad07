"""How much memory something takes a city, of a whole process, in which Futhark's is."""

from __future__ import annotations

from pathlib import Path

import pytest
from processes import run_python

# What a script begins with: the peak of the memory that it takes beyond an instance of n cities.
_SCRIPT = """
import sys
from pathlib import Path
import numpy as np
import pytsp

def kibibytes(name):
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(name + ":"))

def uniform(n):
    points = np.random.default_rng(n).random((n, 2), dtype=np.float64)
    # Coordinates that need the larger form.
    points *= 1e6
    return pytsp.Instance.from_coordinates(points, "EUC_2D")

def taken(n):
    instance = uniform(n)
    before = kibibytes("VmRSS")
    run(instance)
    return 1024 * (kibibytes("VmHWM") - before)
"""


def bytes_a_city(script: str, name: str, sizes: tuple[int, int]) -> float:
    """The bytes that `run(instance)` of a script takes a city, from one size to another, each in a process of its own.

    What does not grow with the cities is left out. The script has the backend's name as its first argument.
    """
    if not Path("/proc/self/status").exists():
        pytest.skip("only Linux tells the peak memory of a process")
    less, more = (_peak(script, name, n) for n in sizes)
    return (more - less) / (sizes[1] - sizes[0])


def _peak(script: str, name: str, n: int) -> int:
    done = run_python("-c", f"{_SCRIPT}\n{script}\ntaken(3000)\nprint(taken({n}))", name)
    assert done.returncode == 0, done.stderr
    return int(done.stdout)
