"""How much memory a huge tour takes a city."""

from __future__ import annotations

import pytest
from emulated import skip_where_slow
from memory import bytes_a_city

from pytsp.backends import Backend

# What the documentation says, and as many more cities as make what does not grow with them small.
MOST_BYTES = 200
SIZES = (100_000, 200_000)
# A round of pieces and some calls of passes; then Ctrl-C, and the result.
SCRIPT = """
def stop(now):
    phases.append(now.phase)
    if phases.count("between pieces") == 4:
        raise KeyboardInterrupt

def run(instance):
    phases.clear()
    found = pytsp.solve(instance, solver="large", backend=sys.argv[1], iterations=1, progress=stop)
    if instance.n > 3000:
        assert {"pieces", "between pieces"} <= {*phases}
        assert found.stop_reason in ("interrupted", "finished")

phases = []
"""


@pytest.fixture(scope="module")
def backend(on_the_cpu: Backend) -> Backend:
    """Every backend of the CPU: GPUs have no kernels for one huge tour."""
    return on_the_cpu


@pytest.mark.slow
def test_a_city_takes_no_more_memory_than_is_said(backend: Backend) -> None:
    skip_where_slow(backend)
    assert bytes_a_city(SCRIPT, backend.name, SIZES) <= MOST_BYTES
