"""Ctrl-C in a process of its own: every solver ends with the best tour so far, and within a second."""

from __future__ import annotations

from typing import Any

import pytest
from clocks import fastest
from emulated import skip_where_slow
from interruptions import assert_control_c_ends

from pytsp.backends import Backend

# Solves that no device is through with before the signal comes, by their cities.
LONG: list[tuple[int, dict[str, Any]]] = [
    (10, {"solver": "restarts", "climbers": 10**8}),
    (200, {"solver": "restarts", "climbers": 10**7}),
    (2_000, {"solver": "restarts", "climbers": 10**7}),
    (10, {"solver": "ils", "iterations": 10**12}),
    (2_000, {"solver": "ils", "iterations": 10**12}),
    (1_000, {"solver": "eax", "time_limit": 1e6, "climbers": 20}),
    (2_000, {"solver": "eax", "time_limit": 1e6, "climbers": 20}),
    (2_000, {"solver": "eax", "time_limit": 1e6, "climbers": 20, "moves": "flat"}),
    (50_000, {"solver": "large", "iterations": 10**6}),
    (120_000, {"solver": "two-opt", "start": "space-filling-curve", "k": 1}),
    (120_000, {"solver": "two-opt", "start": "space-filling-curve", "k": "inf"}),
]
IDS = [f"{options['solver']}-{n}" + "-flat" * ("moves" in options) for n, options in LONG]
long = pytest.mark.parametrize(("n", "options"), LONG, ids=IDS)


def skip_where_refused(backend: Backend, options: dict[str, Any]) -> None:
    """Skip the solver that is the CPU's alone."""
    if options["solver"] == "large" and backend.device is not None:
        pytest.skip("one huge tour by its pieces is searched by the CPU")


@long
def test_control_c_ends_a_solve_with_the_best_so_far(backend: Backend, n: int, options: dict[str, Any]) -> None:
    skip_where_slow(backend)
    skip_where_refused(backend, options)
    assert_control_c_ends(n, backend=backend.name, **options)


@pytest.mark.timed
@long
def test_control_c_ends_a_solve_within_a_second(backend: Backend, n: int, options: dict[str, Any]) -> None:
    skip_where_slow(backend)
    skip_where_refused(backend, options)
    assert fastest(lambda: assert_control_c_ends(n, backend=backend.name, **options), 1.0) < 1
