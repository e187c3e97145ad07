"""The shared memory with which the built GPU kernels are launched, against what Python believes a block to need."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from paths import ROOT

from pytsp.backends.devices import Device
from pytsp.solvers.restarts.mapping import BLOCK_CITIES, fits_a_block

# By the form of distances, the bytes a city of a launch, and whether it makes one move a pass or several.
BYTES = {"grid": {16: 1, 24: 2}, "plane": {20: 1, 24: 1, 28: 2, 32: 2}, "matrix": {12: 1, 20: 2}}
# Where futhark/two_opt/gpu_climbs.fut takes so many lanes for several moves a pass.
LONG_TOURS, MANY_LANES = 2_000, 512
# KiB that a block may have: on any GPU, and on NVIDIA's of compute capability 8.6, 8.0 and 9.0.
DEVICES = (48, 99, 163, 227)


def source() -> str:
    """The C of the random restarts that a build left."""
    for backend in ("cuda", "opencl"):
        file = ROOT / "pytsp" / "_kernels" / f"{backend}_restarts.c"
        if file.is_file():
            return file.read_text(encoding="utf-8")
    pytest.skip("no backend for GPUs is built: build.py's table says what it needs")


def launches(source: str) -> Iterator[tuple[str, int, str]]:
    """Each launch of a climber's block: form, lanes, and its shared memory as an expression of n."""
    sizes = dict(re.findall(r"int64_t (bytes_\d+) = \(int64_t\) (\d+) \* n_\d+;", source))
    for form, arguments in re.findall(r"gpu_kernel_(\w+)_climb_blockzisegmap_intrablock_\d+\(ctx, (.*)\);", source):
        depth, commas = 0, []
        for place, sign in enumerate(arguments):
            depth += (sign == "(") - (sign == ")")
            if sign == "," and depth == 0:
                commas.append(place)
        # Three numbers are the grid's, three the block's, and then comes the shared memory.
        lanes, shared = (arguments[commas[at] + 1 : commas[at + 1]].replace("(int64_t)", "") for at in (2, 5))
        yield form, int(lanes), re.sub(r"bytes_\d+", lambda found: f"({sizes[found[0]]} * n)", shared)


def needed(expression: str, n: int) -> int:
    """The bytes for n cities."""
    return int(eval(expression, {"n": n, "srem64": lambda number, divisor: number % divisor}))


def most_cities(form: str, k: int, kernels: Any, least: int) -> int:
    """The longest tour, from `least` cities on, that is thought to fit a block; one less where none is."""

    def is_too_long(n: int) -> bool:
        return not fits_a_block(SimpleNamespace(kind=form, whole=SimpleNamespace(n=n)), k, kernels)  # type: ignore[arg-type]

    return least - 1 + bisect_left(range(least, BLOCK_CITIES[-1] + 1), True, key=is_too_long)


def test_no_block_needs_more_shared_memory_than_is_thought() -> None:
    found = list(launches(source()))
    assert {form for form, *_ in found} == set(BYTES)
    for form, lanes, expression in found:
        k = BYTES[form][(needed(expression, 2_000) - needed(expression, 1_000)) // 1_000]
        least = LONG_TOURS if k > 1 and form == "grid" and lanes == MANY_LANES else BLOCK_CITIES[0]
        for room in DEVICES:
            kernels = SimpleNamespace(device=Device(0, "GPU", 2**37, "9.0", "13.0", shared_memory=room * 2**10))
            most = most_cities(form, k, kernels, least)
            told = f"{form}, k {k}: {most} cities in {room} KiB"
            assert most < least or needed(expression, most) <= room * 2**10, told
