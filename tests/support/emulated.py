"""The emulated GPU: a backend of the tests' own, whose kernels are the GPU programs compiled as C.

What Python does for GPUs is tested with it on any machine: parts, blocks and threads, batches, checkpoints. It is found
by its name only, and `pytsp.backends.status` does not tell of it. `python -m buildtools.emulated` builds it.
"""

from __future__ import annotations

import pytest
from paths import ROOT

import pytsp._kernels
from pytsp.backends import PARTS, Backend, Device
from pytsp.backends.devices import Probe
from pytsp.backends.kind import DeviceKind
from pytsp.backends.kinds import KINDS
from pytsp.solvers import policy
from pytsp.solvers.speeds import SPEEDS

NAME = "emulated"
KERNELS = ROOT / "build" / "emulated"
# An H200's memory, and the least that a block of any GPU may have, so that short tours are too long for a block.
GPU = Device(0, "emulated GPU", 139 * 2**30, "9.0", "13.0", shared_memory=48 * 2**10, multiprocessors=132)

pytsp._kernels.__path__.append(str(KERNELS))


class Emulated(DeviceKind):
    """A kind of device besides those of `BACKENDS`: opened by its name, and by nothing else."""

    name = NAME
    kernels = KERNELS

    def probe(self) -> Probe:
        return Probe((GPU,))


KINDS[NAME] = Emulated()

IS_BUILT = all((KERNELS / f"_{NAME}_{part}.abi3.so").is_file() for part in PARTS)
# For `parametrize` and the parameters of fixtures.
NAMED = pytest.param(
    NAME,
    marks=[
        pytest.mark.slow,
        pytest.mark.skipif(not IS_BUILT, reason="the emulated GPU is not built: run `python -m buildtools.emulated`"),
    ],
)


def skip_where_slow(backend: Backend) -> None:
    """Skip what takes too much of a GPU that is emulated or simulated, or is measured by the clock."""
    if backend.name == NAME or (backend.device is not None and not backend.device.is_gpu):
        pytest.skip("no GPU, and what stands for one is too slow")


def slow_down(patch: pytest.MonkeyPatch) -> None:
    """Let solvers ask a GPU for so much at a time as the emulated one does soon: in minutes it does what others do in
    seconds. The amounts are those of the CPU."""
    patch.setitem(policy.AMOUNTS, "gpu", policy.AMOUNTS["cpu"])
    for speed in ("2-opt", "2-opt of one tour", "2-opt launches"):
        patch.setitem(SPEEDS, f"{speed}, gpu", SPEEDS[f"{speed}, cpu"])
    patch.setattr(policy, "GPU_CLIMBERS", 8)
    patch.setattr(policy, "GPU_ANTS", 64)
