"""How much memory a bound takes a city, of the whole process, in which Futhark's is."""

from __future__ import annotations

import pytest
from processes import run_python

# Beyond the instance, on a CPU. The documentation tells of some 210, of calls that make more steps than one.
MOST_BYTES = 200
# Between these two sizes, so that what does not grow with the cities is left out.
SIZES = (150_000, 300_000)
# A step for each proof.
SCRIPT = """
import sys
from pathlib import Path
import numpy as np
import pytsp
from pytsp.backends import open_backend
from pytsp.bound.held_karp import lower_bound

def kibibytes(name):
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(name + ":"))

def taken(n):
    points = np.random.default_rng(n).random((n, 2), dtype=np.float64)
    points *= 1e6
    instance = pytsp.Instance.from_coordinates(points, "EUC_2D")
    del points
    before = kibibytes("VmRSS")
    assert lower_bound(instance, iterations=4, kernels=kernels).bound > 0
    return 1024 * (kibibytes("VmHWM") - before)

kernels = open_backend(sys.argv[1], part="bound")
taken(3000)
print(taken(int(sys.argv[2])))
"""


@pytest.mark.slow
@pytest.mark.parametrize("name", ["c", "multicore"])
def test_a_city_takes_no_more_memory_than_is_said(name: str) -> None:
    few, many = (int(run_python("-c", SCRIPT, name, n, check=True, timeout=None).stdout) for n in SIZES)
    assert (many - few) / (SIZES[1] - SIZES[0]) < MOST_BYTES
