"""The emulated GPU: a backend of the tests' own, whose kernels are the GPU programs compiled as C.

What Python does for GPUs is tested with it on any machine: parts, blocks and threads, batches, checkpoints. It is found
by its name only, and `pytsp.backends.status` does not tell of it. `python -m buildtools.emulated` builds it.
"""

from __future__ import annotations

import pytest
from paths import ROOT

import pytsp._kernels
from pytsp.backends.context import PARTS, Kind, register
from pytsp.backends.devices import Device, Probe

NAME = "emulated"
KERNELS = ROOT / "build" / "emulated"
# An H200's memory, and the least that a block of any GPU may have, so that short tours are too long for a block.
GPU = Device(0, "emulated GPU", 139 * 2**30, "9.0", "13.0", shared_memory=48 * 2**10)

pytsp._kernels.__path__.append(str(KERNELS))
register(NAME, Kind(KERNELS, lambda: Probe((GPU,))))

IS_BUILT = all((KERNELS / f"_{NAME}_{part}.abi3.so").is_file() for part in PARTS)
# For `parametrize` and the parameters of fixtures.
NAMED = pytest.param(
    NAME,
    marks=pytest.mark.skipif(not IS_BUILT, reason="the emulated GPU is not built: run `python -m buildtools.emulated`"),
)
