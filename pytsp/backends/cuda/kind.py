"""The backend cuda: its kernels, loaded while the driver comes up, and how they are compiled."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING, Any

from pytsp.backends.cuda import driver, nvrtc
from pytsp.backends.devices import Probe
from pytsp.backends.kind import DeviceKind, Found
from pytsp.exceptions import BackendUnavailable

if TYPE_CHECKING:
    from pytsp.backends.kernel_cache import KernelCache

# Without fused multiply-add, so that double precision gives the host's results bit for bit; with the fast square root
# in single precision, which every kernel that uses it corrects, and denormal numbers, of which none meets any, as zero.
NVRTC_OPTIONS = ("--fmad=false", "--prec-sqrt=false", "--ftz=true")


class Cuda(DeviceKind):
    """NVIDIA's GPUs."""

    name = "cuda"
    foreign = rb"(?:cu[A-Z]|nvrtc[A-Z])\w+"
    self_test = "here"

    def __init__(self) -> None:
        # The failure of CUDA in this process: from then on even making a context would end the process.
        self.failures: list[str] = []

    def probe(self) -> Probe:
        if self.failures:
            return Probe(reason=f"CUDA failed in this process: {self.failures[0]}", remedy="start a new process")
        return driver.probe()

    def search(self, part: str) -> tuple[Probe, Any, Any]:
        """Load NVRTC and a part while the driver comes up, and then look for devices."""
        threads = [] if self.failures else driver.begin()
        version = driver.driver_version() if threads else ""
        libraries = nvrtc.find_libraries(version) if version else Probe()
        module, trouble = (None, libraries) if isinstance(libraries, Probe) else self.load(part)
        if threads:
            # What imports take that are needed later is spent here, too.
            import_module("pytsp.backends.kernel_cache")
        for thread in threads:
            thread.join()
        probe = self.probe()
        if not probe.reason:
            probe = replace(trouble, devices=probe.devices)
        return (probe, None, None) if probe.reason else (probe, module, libraries)

    def compiled_by(self, found: Found, tuning: Mapping[str, int]) -> tuple[object, ...]:
        """Return the device, NVRTC's version, its options and the tuning."""
        return (found.device, found.libraries.version, _options(found), tuple(sorted(tuning.items())))

    def configure(self, found: Found, config: Any, tuning: Mapping[str, int]) -> KernelCache:
        """Set device, memory, NVRTC's options and the kernel cache; see that a context will come up."""
        from pytsp.backends.kernel_cache import set_cache  # noqa: PLC0415

        lib, device, libraries = found.module.lib, found.device, found.libraries
        assert device is not None
        lib.futhark_context_config_set_device(config, device.selector.encode())
        lib.futhark_context_config_set_unified_memory(config, 0)
        options = _options(found)
        for option in options:
            lib.futhark_context_config_add_nvrtc_option(config, os.fsencode(option))
        cache = set_cache(found, config, tuning)
        problem = driver.context_check(device)
        if not problem and not cache.warm:
            problem = nvrtc.compile_check(libraries.nvrtc, options)
        if problem:
            raise BackendUnavailable(f"backend {self.name!r} cannot run here: {problem}")
        return cache

    def driver_context(self) -> driver.CudaContext:
        """Take Futhark's context out of this thread."""
        return driver.detach()

    def context_lost(self, message: str) -> None:
        self.failures.append(message)


def _options(found: Found) -> tuple[str, ...]:
    """Return NVRTC's options for a device."""
    libraries = found.libraries
    architecture = libraries.architecture(found.device)
    return (
        *NVRTC_OPTIONS,
        *(["--split-compile=0"] if int(libraries.version.split(".")[0]) >= 13 else []),
        *([f"-I{libraries.include}"] if libraries.include else []),
        *([f"--gpu-architecture={architecture}"] if architecture else []),
    )
