"""How much memory a huge tour takes a city."""

from __future__ import annotations

import pytest
from emulated import skip_where_slow
from memory import bytes_a_city

from pytsp.backends import Backend

PART = "huge"
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
        # A GPU makes a round in one call, behind which it is between pieces.
        assert {"between pieces"} | ({"pieces"} if sys.argv[1] in ("c", "multicore") else set()) <= {*phases}
        assert found.stop_reason in ("interrupted", "finished")

phases = []
"""


@pytest.mark.slow
def test_a_city_takes_no_more_memory_than_is_said(backend: Backend) -> None:
    skip_where_slow(backend)
    assert bytes_a_city(SCRIPT, backend.name, SIZES) <= MOST_BYTES
