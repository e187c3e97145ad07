"""OpenCL: its devices, asked by ctypes, and how its kernels are compiled."""

from __future__ import annotations

import ctypes
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pytsp.backends.devices import Device, Probe, preload
from pytsp.backends.kind import DeviceKind, Found

if TYPE_CHECKING:
    from pytsp.backends.kernel_cache import KernelCache

# Stands before the kernels' source: without it, multiplications and additions may be fused.
PREFIX = b"#pragma OPENCL FP_CONTRACT OFF\n"

# The name of pocl's platform.
_POCL = "Portable Computing Language"
# cl_platform_info and cl_device_info, from cl.h.
_PLATFORM_VERSION, _PLATFORM_NAME = 0x0901, 0x0902
_TYPE, _UNITS, _DOUBLE_WIDTH, _MEMORY, _LOCAL_MEMORY = 0x1000, 0x1002, 0x100B, 0x101F, 0x1023
_NAME, _DRIVER, _VERSION = 0x102B, 0x102D, 0x102F
_TYPE_GPU, _TYPE_ALL = 4, 0xFFFFFFFF


class OpenCL(DeviceKind):
    """Every device that has an OpenCL driver."""

    name = "opencl"
    foreign = rb"cl[A-Z][A-Za-z]+"
    self_test = "apart"

    def probe(self) -> Probe:
        """Find the OpenCL devices, and name those that are known to compute wrongly.

        pocl computes these kernels wrongly (seen with 3.0, 3.1 and 6.0). The environment variable
        ``PYTSP_ALLOW_POCL=1`` leaves the judgement to the self-test.
        """
        remedy = "install an OpenCL driver for a device of this machine, or choose another backend"
        # A runtime that was loaded before Python (oclgrind) needs no loader, and is asked rather than one.
        if not hasattr(ctypes.CDLL(None), "clGetPlatformIDs") and not preload("libOpenCL.so.1"):
            return Probe(reason="no OpenCL loader: libOpenCL.so.1 is not found", remedy=remedy)
        library = ctypes.CDLL(None)
        try:
            devices: list[Device] = []
            for platform in _handles(library.clGetPlatformIDs):
                devices.extend(_describe(library, platform, tuple(devices)))
        except AttributeError as error:
            return Probe(reason=f"the OpenCL loader is not one: {error}", remedy=remedy)
        if not devices:
            return Probe(reason="OpenCL shows no device", remedy=remedy)
        if all(device.trouble for device in devices):
            return Probe(tuple(devices), f"{devices[0].name}: {devices[0].trouble}", remedy)
        return Probe(tuple(devices))

    def beats_the_cpu(self, usable: list[Device]) -> bool:
        """Ask for a GPU: a CPU's OpenCL is no gain over multicore, and not trusted as much."""
        return any(device.is_gpu for device in usable)

    def configure(self, found: Found, config: Any, tuning: Mapping[str, int]) -> KernelCache | None:
        """Set the device, the options of its compiler and the kernel cache."""
        from pytsp.backends.kernel_cache import set_cache  # noqa: PLC0415

        ffi, lib, device = found.module.ffi, found.module.lib, found.device
        assert device is not None
        lib.futhark_context_config_set_device(config, device.selector.encode())
        lib.futhark_context_config_set_platform(config, device.platform.encode())
        program = ffi.string(lib.futhark_context_config_get_program(config))
        lib.futhark_context_config_set_program(config, PREFIX + program)
        # For a program's binary pocl compiles every kernel for blocks of any size, which comes to no end. It keeps what
        # it compiles in a cache of its own.
        return None if device.platform == _POCL else set_cache(found, config, tuning)


def _describe(library: ctypes.CDLL, platform: int, before: Sequence[Device]) -> Iterator[Device]:
    """Describe the devices of one platform; `before` are those of earlier platforms."""
    name = _text(library.clGetPlatformInfo, platform, _PLATFORM_NAME)
    version = _text(library.clGetPlatformInfo, platform, _PLATFORM_VERSION)
    pocl = re.search(r"pocl v?[\d.]+", version, re.IGNORECASE)
    # Futhark counts, over all platforms in order, the devices whose platform's name contains the one that is
    # asked for.
    counted = sum(name in device.platform for device in before)
    everything = ctypes.c_uint64(_TYPE_ALL)
    for number, handle in enumerate(_handles(library.clGetDeviceIDs, ctypes.c_void_p(platform), everything)):
        trouble = ""
        if (pocl or name == _POCL) and os.environ.get("PYTSP_ALLOW_POCL") != "1":
            trouble = (
                f"{pocl[0] if pocl else version} is refused: pocl computes these kernels wrongly; set "
                "PYTSP_ALLOW_POCL=1 to have the self-test judge this one"
            )
        elif not _number(library.clGetDeviceInfo, handle, _DOUBLE_WIDTH):
            trouble = "it has no double-precision arithmetic"
        yield Device(
            index=len(before) + number,
            name=_text(library.clGetDeviceInfo, handle, _NAME),
            memory=_number(library.clGetDeviceInfo, handle, _MEMORY),
            shared_memory=_number(library.clGetDeviceInfo, handle, _LOCAL_MEMORY),
            multiprocessors=_number(library.clGetDeviceInfo, handle, _UNITS),
            capability=_text(library.clGetDeviceInfo, handle, _VERSION),
            driver=_text(library.clGetDeviceInfo, handle, _DRIVER),
            platform=name,
            is_gpu=bool(_number(library.clGetDeviceInfo, handle, _TYPE) & _TYPE_GPU),
            trouble=trouble,
            selector=f"#{counted + number}",
        )


def _handles(function: Callable[..., int], *arguments: object) -> list[int]:
    """Call one of OpenCL's enumerations twice, for the count and for the handles; an error counts as none."""
    count = ctypes.c_uint()
    if function(*arguments, 0, None, ctypes.byref(count)) or not count.value:
        return []
    handles = (ctypes.c_void_p * count.value)()
    if function(*arguments, count.value, handles, None):
        return []
    return [handle for handle in handles if handle is not None]


def _bytes(function: Callable[..., int], handle: int, key: int) -> bytes:
    """Ask OpenCL for one property; an error counts as empty."""
    size = ctypes.c_size_t()
    if function(ctypes.c_void_p(handle), key, ctypes.c_size_t(0), None, ctypes.byref(size)):
        return b""
    value = ctypes.create_string_buffer(max(1, size.value))
    if function(ctypes.c_void_p(handle), key, size, value, None):
        return b""
    return value.raw[: size.value]


def _text(function: Callable[..., int], handle: int, key: int) -> str:
    """Ask OpenCL for a property that is text."""
    return _bytes(function, handle, key).split(b"\0")[0].decode(errors="replace").strip()


def _number(function: Callable[..., int], handle: int, key: int) -> int:
    """Ask OpenCL for a property that is a number."""
    return int.from_bytes(_bytes(function, handle, key), "little")
