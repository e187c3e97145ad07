"""How much memory a bound takes a city."""

from __future__ import annotations

import pytest
from memory import bytes_a_city

# On a CPU.
MOST_BYTES = 200
SIZES = (50_000, 100_000)
# Two steps for each proof, and whoever looks at it.
SCRIPT = """
from pytsp.backends import open_backend
from pytsp.bound.held_karp import lower_bound

kernels = open_backend(sys.argv[1], part="bound")

def run(instance):
    assert lower_bound(instance, iterations=8, progress=lambda found: None, kernels=kernels).bound > 0
"""


@pytest.mark.slow
@pytest.mark.parametrize("name", ["c", "multicore"])
def test_a_city_takes_no_more_memory_than_is_said(name: str) -> None:
    assert bytes_a_city(SCRIPT, name, SIZES) <= MOST_BYTES
