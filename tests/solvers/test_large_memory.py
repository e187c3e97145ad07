"""How much memory a huge tour takes a city, of the whole process, in which Futhark's is."""

from __future__ import annotations

from pathlib import Path

import pytest
from emulated import skip_where_slow
from processes import run_python

from pytsp.backends import Backend

PART = "huge"
# What the documentation says, and as many more cities as make what does not grow with them small.
MOST_BYTES = 200
SIZES = (300_000, 600_000)
# A round of pieces and some calls of passes, on coordinates that need the larger form; then Ctrl-C, and the result.
SCRIPT = """
import sys
from pathlib import Path
import numpy as np
import pytsp

def kibibytes(name):
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(name + ":"))

def stop(now):
    phases.append(now.phase)
    if phases.count("between pieces") == 4:
        raise KeyboardInterrupt

def solved(n):
    phases.clear()
    points = np.random.default_rng(n).random((n, 2), dtype=np.float64)
    points *= 1e6
    instance = pytsp.Instance.from_coordinates(points, "EUC_2D")
    del points
    before = kibibytes("VmRSS")
    found = pytsp.solve(instance, solver="large", backend=sys.argv[1], iterations=1, progress=stop)
    return found.stop_reason, 1024 * (kibibytes("VmHWM") - before)

phases = []
solved(3000)
reason, taken = solved(int(sys.argv[2]))
# A GPU makes a round in one call, behind which it is between pieces.
assert {"between pieces"} | ({"pieces"} if sys.argv[1] in ("c", "multicore") else set()) <= {*phases}
assert reason in ("interrupted", "finished")
print(taken)
"""


def peak(backend: Backend, n: int) -> int:
    """The bytes that a solve in a process of its own takes beyond the instance."""
    done = run_python("-c", SCRIPT, backend.name, n, timeout=None)
    assert done.returncode == 0, done.stderr
    return int(done.stdout)


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="only Linux tells the peak memory of a process")
def test_a_city_takes_no_more_memory_than_is_said(backend: Backend) -> None:
    skip_where_slow(backend)
    less, more = (peak(backend, n) for n in SIZES)
    assert (more - less) / (SIZES[1] - SIZES[0]) <= MOST_BYTES
