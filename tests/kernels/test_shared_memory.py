"""The shared memory with which generated CUDA kernels are launched, against what Python believes a block to need."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from checkout import needs_checkout
from paths import ROOT

from pytsp.backends.devices import Device
from pytsp.solvers.restarts.mapping import BLOCK_CITIES, fits_a_block

needs_checkout("buildtools", "futhark")

from buildtools.compiler import find_compiler  # noqa: E402

# The widest shapes of random restarts (futhark/two_opt/gpu_climbs.fut): their data, the form of distances that Python
# knows, moves a pass, and of how many cities on they are taken.
SHAPES = {
    "fine_most": ("fine_grid", "grid", 1, 24),
    "fast_most": ("fast_plane", "plane", 1, 24),
    "plane_most": ("gpu_plane", "plane", 1, 24),
    "matrix_most": ("gpu_matrix", "matrix", 1, 24),
    "fine_k_swap": ("fine_grid", "grid", 2, 24),
    "fine_k_swap_most": ("fine_grid", "grid", 2, 2_000),
    "coarse_k_swap_most": ("coarse_grid", "grid", 2, 2_000),
    "fast_k_swap": ("fast_plane", "plane", 2, 24),
    "plane_k_swap": ("gpu_plane", "plane", 2, 24),
    "matrix_k_swap": ("gpu_matrix", "matrix", 2, 24),
}
IMPORTS = ("core/gpu_metric", "two_opt/gpu_climbs", "two_opt/restarts")
# KiB a block may have: of any GPU, and of NVIDIA's with compute capability 8.6, 8.0 and 9.0.
DEVICES = (48, 99, 163, 227)


def launches(source: str) -> Iterator[tuple[str, str]]:
    """The entry point of each launch of a kernel in the generated C, and its shared memory as an expression of n."""
    sizes = dict(re.findall(r"int64_t (bytes_\d+) = \(int64_t\) (\d+) \* n_\d+;", source))
    for entry, arguments in re.findall(r"gpu_kernel_(\w+?)zisegmap_intrablock_\d+\(ctx, (.*)\);", source):
        depth, commas = 0, []
        for place, sign in enumerate(arguments):
            depth += (sign == "(") - (sign == ")")
            if sign == "," and depth == 0:
                commas.append(place)
        # Behind the grid and the block.
        shared = arguments[commas[5] + 1 : commas[6]].replace("(int64_t)", "")
        yield entry, re.sub(r"bytes_\d+", lambda found: f"({sizes[found[0]]} * n)", shared)


def srem64(number: int, divisor: int) -> int:
    """The remainder, as the generated C has it: for numbers that are not negative."""
    return number % divisor


@pytest.mark.slow
def test_no_block_needs_more_shared_memory_than_is_thought(tmp_path: Path) -> None:
    compiler = find_compiler()
    if compiler is None:
        pytest.skip("there is no Futhark compiler: run `python build.py`, which obtains one")
    lines = [f'import "{ROOT}/futhark/{name}"' for name in IMPORTS]
    for name, (data, *_) in SHAPES.items():
        lines.append(
            f"entry {name}_climb [c] [n] (data: {data}.data [n]) (batch: batch [c] [n]) (k: i32) (limit: i32)"
            f" : batch [c] [n] = {name}.climb data k limit batch"
        )
    (tmp_path / "shapes.fut").write_text("\n".join(lines), encoding="utf-8")
    subprocess.run([compiler.path, "cuda", "--library", "shapes.fut"], cwd=tmp_path, check=True)
    found = dict(launches((tmp_path / "shapes.c").read_text(encoding="utf-8")))
    assert found.keys() == {f"{name}_climb" for name in SHAPES}
    for name, (_, kind, k, least) in SHAPES.items():
        for kilobytes in DEVICES:
            kernels: Any = SimpleNamespace(device=Device(0, "GPU", 2**37, "9.0", "13.0", kilobytes * 2**10))
            fitting = [
                n
                for n in range(least, BLOCK_CITIES[-1] + 1)
                if fits_a_block(SimpleNamespace(kind=kind, whole=SimpleNamespace(n=n)), k, kernels)  # type: ignore[arg-type]
            ]
            if fitting:
                needed = eval(found[f"{name}_climb"], {"n": fitting[-1], "srem64": srem64})
                assert needed <= kilobytes * 2**10, f"{name}: {fitting[-1]} cities in {kilobytes} KiB"
