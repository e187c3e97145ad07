"""The emulated GPU: a backend of the tests' own, whose kernels are the GPU programs compiled as C.

What Python does for GPUs is tested with it on any machine: parts, blocks and threads, batches, checkpoints. It is found
by its name only, and `pytsp.backends.status` does not tell of it. `python -m buildtools.emulated` builds it.
"""

from __future__ import annotations

import importlib

import pytest
from paths import ROOT

import pytsp._kernels
from pytsp.backends import PARTS, Backend, Device
from pytsp.backends.devices import Probe
from pytsp.backends.kind import DeviceKind
from pytsp.backends.kinds import KINDS

NAME = "emulated"
KERNELS = ROOT / "build" / "emulated"
# An H200's memory, and the least that a block of any GPU may have, so that short tours are too long for a block.
GPU = Device(0, "emulated GPU", 139 * 2**30, "9.0", "13.0", shared_memory=48 * 2**10)

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


# Amounts of work, which a GPU has so much of that this one would take minutes: here they are those of the CPU.
AMOUNTS = (
    "annealing.TRIALS",
    "ants.STEPS",
    "eax.CLIMBERS",
    "eax.MOST_CLIMBERS",
    "eax.LEAST_CLIMBERS",
    "eax.FIRST_CHUNK",
    "eax.CHUNK",
    "ils.population.FIRST_SPEED",
    "restarts.solver.FIRST_SPEED",
    "two_opt.LAUNCHES",
)


def slow_down(patch: pytest.MonkeyPatch) -> None:
    """Let solvers ask a GPU for so much at a time as the emulated one does soon."""
    for amount in AMOUNTS:
        module, _, name = amount.rpartition(".")
        values = getattr(importlib.import_module(f"pytsp.solvers.{module}"), name)
        patch.setitem(values, "gpu", values["cpu"])
    patch.setattr("pytsp.solvers.common.placement.GPU_CLIMBERS", 8)
    patch.setattr("pytsp.solvers.ants.GPU_ANTS", 64)
