"""NVIDIA's driver, asked by ctypes: its start, devices, contexts and their memory."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from pytsp.backends.devices import Device, DriverContext, Probe
from pytsp.exceptions import BackendError

# There wherever the backend is built.
_BUILT = Path(__file__).parents[2] / "_kernels" / "_cuda_restarts.abi3.so"
_MANAGEMENT = "libnvidia-ml.so.1"
# CUresult and CUdevice_attribute, from cuda.h.
_NOT_INITIALIZED = 3
_MULTIPROCESSORS, _COMPUTE_MODE, _CAPABILITY_MAJOR, _CAPABILITY_MINOR, _SHARED_MEMORY = 16, 20, 75, 76, 97
_SHARED, _PROHIBITED = 0, 2
# The threads of `begin`.
_begun: list[threading.Thread] = []


class DriverError(BackendError):
    """A failed call of the CUDA driver: its code and the driver's text."""

    def __init__(self, call: str, code: int, text: str) -> None:
        super().__init__(f"{call} failed with error code {code} ({text})")
        self.code = code


class Driver:
    """The CUDA driver's library; calls raise `DriverError`."""

    def __init__(self) -> None:
        # The module of the kernels resolves the driver's functions among the process's global symbols.
        self.library = ctypes.CDLL("libcuda.so.1", mode=ctypes.RTLD_GLOBAL)

    def __call__(self, call: str, *arguments: object) -> None:
        code = int(getattr(self.library, call)(*arguments))
        if code:
            text = ctypes.c_char_p()
            self.library.cuGetErrorString(code, ctypes.byref(text))
            raise DriverError(call, code, (text.value or b"unknown").decode(errors="replace"))

    def integer(self, call: str, *arguments: object) -> int:
        """Call a function that writes one int to its first argument."""
        value = ctypes.c_int()
        self(call, ctypes.byref(value), *arguments)
        return value.value


def begin() -> list[threading.Thread]:
    """Begin to initialise the driver and its management library, in threads, once a process: that takes 0.1 s and more.

    Libraries and modules can be loaded meanwhile. Where there is no driver, or nothing is built for it, there are no
    threads. They are not daemons: an interpreter that ended would take the libraries away from under them.
    """
    if _begun or not _BUILT.exists():
        return _begun
    try:
        driver = Driver().library
    except OSError:
        return []

    def manage() -> None:
        with suppress(OSError, AttributeError):
            ctypes.CDLL(_MANAGEMENT).nvmlInit_v2()

    threads = [threading.Thread(target=task) for task in (lambda: driver.cuInit(0), manage)]
    for thread in threads:
        thread.start()
    _begun.extend(threads)
    return threads


def has_begun() -> bool:
    """Tell whether this process has begun to initialise the driver."""
    return bool(_begun)


def driver_version() -> str:
    """Return the newest CUDA version that the driver supports, initialised or not: ``"13.0"``, or nothing."""
    try:
        return _dotted(Driver().integer("cuDriverGetVersion"))
    except (OSError, DriverError, AttributeError):
        return ""


def probe() -> Probe:
    """Find the CUDA devices. The driver is initialised in this process; no context is made."""
    try:
        driver = Driver()
    except OSError:
        return Probe(
            (), "no NVIDIA driver: libcuda.so.1 is not found", "install NVIDIA's driver, or choose another backend"
        )
    try:
        driver("cuInit", 0)
        version = driver.integer("cuDriverGetVersion")
        count = driver.integer("cuDeviceGetCount")
        devices: list[Device] = []
        for index in range(count):
            devices.append(_describe(driver, index, version, devices))
    except (DriverError, AttributeError) as error:
        # The answer of cuInit if the parent process had used the driver.
        if isinstance(error, DriverError) and error.code == _NOT_INITIALIZED:
            reason = f"{error}; this process was forked from one that used CUDA"
            return Probe((), reason, "start worker processes with the method 'spawn' instead of 'fork'")
        return Probe((), str(error), "check NVIDIA's driver (nvidia-smi), or choose another backend")
    if not devices:
        return Probe(reason="the driver shows no device", remedy="check CUDA_VISIBLE_DEVICES and nvidia-smi")
    if all(device.trouble for device in devices):
        return Probe(tuple(devices), devices[0].trouble, "see nvidia-smi --compute-mode, or choose another backend")
    return Probe(tuple(devices))


def _describe(driver: Driver, index: int, version: int, before: Sequence[Device]) -> Device:
    """Describe the CUDA device number `index`; `before` are those with smaller numbers."""
    handle = driver.integer("cuDeviceGet", index)
    name = ctypes.create_string_buffer(256)
    driver("cuDeviceGetName", name, len(name), handle)
    memory = ctypes.c_size_t()
    driver("cuDeviceTotalMem_v2", ctypes.byref(memory), handle)
    major, minor, mode, shared_memory, multiprocessors = (
        driver.integer("cuDeviceGetAttribute", key, handle)
        for key in (_CAPABILITY_MAJOR, _CAPABILITY_MINOR, _COMPUTE_MODE, _SHARED_MEMORY, _MULTIPROCESSORS)
    )
    # Futhark leaves these out of its count.
    trouble = "its compute mode is 'prohibited'" if mode == _PROHIBITED else ""
    return Device(
        index=index,
        name=name.value.decode(errors="replace"),
        memory=memory.value,
        shared_memory=shared_memory,
        multiprocessors=multiprocessors,
        capability=f"{major}.{minor}",
        driver=_dotted(version),
        trouble=trouble,
        selector=f"#{sum(not device.trouble for device in before)}",
    )


def _dotted(version: int) -> str:
    """Write CUDA's number for a version, 12040, as users know it: 12.4."""
    return f"{version // 1000}.{version % 1000 // 10}"


def context_check(device: Device) -> str:
    """Say why a context on a CUDA device would fail; an empty string where it would not.

    Futhark ends the process where it cannot make one: another program may hold all memory or have the device
    to itself. A trial takes 0.15 s, so none is made where the device is shared and has much free memory.
    """
    try:
        driver = Driver()
        handle = driver.integer("cuDeviceGet", device.index)
        if driver.integer("cuDeviceGetAttribute", _COMPUTE_MODE, handle) == _SHARED and _is_roomy(driver, handle):
            return ""
        context = ctypes.c_void_p()
        driver("cuCtxCreate_v2", ctypes.byref(context), 0, handle)
        driver("cuCtxDestroy_v2", context)
    except (DriverError, AttributeError) as error:
        remedy = "close other programs that use the GPU, or choose another device or backend"
        return f"{device.name} takes no context: {error}; {remedy}"
    return ""


def _is_roomy(driver: Driver, handle: int) -> bool:
    """Ask NVIDIA's management library, which needs no context, whether a device has a GiB of free memory."""
    bus = ctypes.create_string_buffer(32)
    driver("cuDeviceGetPCIBusId", bus, len(bus), handle)
    try:
        library = ctypes.CDLL(_MANAGEMENT)
        device, memory = ctypes.c_void_p(), (ctypes.c_uint64 * 3)()
        if library.nvmlInit_v2():
            return False
        try:
            failed = library.nvmlDeviceGetHandleByPciBusId_v2(bus, ctypes.byref(device))
            failed = failed or library.nvmlDeviceGetMemoryInfo(device, memory)
        finally:
            library.nvmlShutdown()
    except (OSError, AttributeError):
        return False
    # nvmlMemory_t: total, free, used.
    return not failed and memory[1] >= 2**30


class CudaContext(DriverContext):
    """Futhark's CUDA context. Other users of CUDA in a thread must not find it: it is current only where it is used."""

    def __init__(self, handle: ctypes.c_void_p) -> None:
        self.handle = handle

    def attach(self) -> None:
        Driver()("cuCtxPushCurrent_v2", self.handle)

    def detach_all(self) -> None:
        """Detach it as often as it is current in this thread: Futhark leaves it so where a call fails."""
        driver, current = Driver(), ctypes.c_void_p()
        while True:
            driver("cuCtxGetCurrent", ctypes.byref(current))
            if current.value is None or current.value != self.handle.value:
                return
            detach()

    def free_memory(self) -> int | None:
        free, total = ctypes.c_size_t(), ctypes.c_size_t()
        self.attach()
        try:
            Driver()("cuMemGetInfo_v2", ctypes.byref(free), ctypes.byref(total))
        except DriverError:
            return None
        finally:
            detach()
        return free.value


def detach() -> CudaContext:
    """Make the current CUDA context of this thread no longer so, and return it."""
    handle = ctypes.c_void_p()
    Driver()("cuCtxPopCurrent_v2", ctypes.byref(handle))
    return CudaContext(handle)
