"""NVIDIA's driver and run-time compiler, asked by ctypes: devices, contexts, memory, whether kernels compile.

A Futhark context that finds no device, or whose kernels do not compile, ends the process; so all that is
tried here first.
"""

from __future__ import annotations

import ctypes
import importlib.util
import os
import re
import threading
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from pytsp.backends.devices import Device, Probe, preload
from pytsp.exceptions import BackendError

__all__ = [
    "CudaLibraries",
    "attach",
    "begin",
    "compile_check",
    "context_check",
    "detach",
    "detach_all",
    "driver_version",
    "find_libraries",
    "free_memory",
    "has_begun",
    "probe",
]

# There wherever the backend is built.
_BUILT = Path(__file__).parents[1] / "_kernels" / "_cuda_restarts.abi3.so"
_OTHER = "close other programs that use the GPU, or choose another device or backend"
_SPAWN = "start worker processes with the method 'spawn' instead of 'fork'"
_MANAGEMENT = "libnvidia-ml.so.1"
_NO_DRIVER = "install NVIDIA's driver, or choose another backend"
# CUresult and CUdevice_attribute, from cuda.h.
_NOT_INITIALIZED = 3
_COMPUTE_MODE, _CAPABILITY_MAJOR, _CAPABILITY_MINOR, _SHARED_MEMORY = 20, 75, 76, 97
_SHARED, _PROHIBITED = 0, 2


# The threads of `begin`.
_begun: list[threading.Thread] = []


class _DriverError(BackendError):
    """A failed call of the CUDA driver: its code and the driver's text."""

    def __init__(self, call: str, code: int, text: str) -> None:
        super().__init__(f"{call} failed with error code {code} ({text})")
        self.code = code


class _Driver:
    """The CUDA driver's library; calls raise `_DriverError`."""

    def __init__(self) -> None:
        # The module of the kernels resolves the driver's functions among the process's global symbols.
        self.library = ctypes.CDLL("libcuda.so.1", mode=ctypes.RTLD_GLOBAL)

    def __call__(self, call: str, *arguments: object) -> None:
        code = int(getattr(self.library, call)(*arguments))
        if code:
            text = ctypes.c_char_p()
            self.library.cuGetErrorString(code, ctypes.byref(text))
            raise _DriverError(call, code, (text.value or b"unknown").decode(errors="replace"))

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
        driver = _Driver().library
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
    """Return the newest CUDA version that the driver supports, ``"13.0"``, or nothing where it does not say.

    The driver need not be initialised.
    """
    try:
        return _dotted(_Driver().integer("cuDriverGetVersion"))
    except (OSError, _DriverError, AttributeError):
        return ""


def probe() -> Probe:
    """Find the CUDA devices. The driver is initialised in this process; no context is made."""
    try:
        driver = _Driver()
    except OSError:
        return Probe(reason="no NVIDIA driver: libcuda.so.1 is not found", remedy=_NO_DRIVER)
    try:
        driver("cuInit", 0)
        version = driver.integer("cuDriverGetVersion")
        count = driver.integer("cuDeviceGetCount")
        devices: list[Device] = []
        for index in range(count):
            devices.append(_cuda_device(driver, index, version, devices))
    except (_DriverError, AttributeError) as error:
        # What cuInit says where the parent process had used the driver.
        forked = isinstance(error, _DriverError) and error.code == _NOT_INITIALIZED
        return Probe(
            reason=f"{error}; this process was forked from one that used CUDA" if forked else str(error),
            remedy=_SPAWN if forked else "check NVIDIA's driver (nvidia-smi), or choose another backend",
        )
    if not devices:
        return Probe(reason="the driver shows no device", remedy="check CUDA_VISIBLE_DEVICES and nvidia-smi")
    if all(device.trouble for device in devices):
        return Probe(tuple(devices), devices[0].trouble, "see nvidia-smi --compute-mode, or choose another backend")
    return Probe(tuple(devices))


def _cuda_device(driver: _Driver, index: int, version: int, before: Sequence[Device]) -> Device:
    """Describe the CUDA device number `index`; `before` are those with smaller numbers."""
    handle = driver.integer("cuDeviceGet", index)
    name = ctypes.create_string_buffer(256)
    driver("cuDeviceGetName", name, len(name), handle)
    memory = ctypes.c_size_t()
    driver("cuDeviceTotalMem_v2", ctypes.byref(memory), handle)
    major, minor, mode, shared_memory = (
        driver.integer("cuDeviceGetAttribute", key, handle)
        for key in (_CAPABILITY_MAJOR, _CAPABILITY_MINOR, _COMPUTE_MODE, _SHARED_MEMORY)
    )
    # Futhark leaves these out of its count.
    trouble = "its compute mode is 'prohibited'" if mode == _PROHIBITED else ""
    return Device(
        index=index,
        name=name.value.decode(errors="replace"),
        memory=memory.value,
        shared_memory=shared_memory,
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
        driver = _Driver()
        handle = driver.integer("cuDeviceGet", device.index)
        if driver.integer("cuDeviceGetAttribute", _COMPUTE_MODE, handle) == _SHARED and _is_roomy(driver, handle):
            return ""
        context = ctypes.c_void_p()
        driver("cuCtxCreate_v2", ctypes.byref(context), 0, handle)
        driver("cuCtxDestroy_v2", context)
    except (_DriverError, AttributeError) as error:
        return f"{device.name} takes no context: {error}; {_OTHER}"
    return ""


def _is_roomy(driver: _Driver, handle: int) -> bool:
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


def attach(context: ctypes.c_void_p) -> None:
    """Make a CUDA context current in this thread."""
    _Driver()("cuCtxPushCurrent_v2", context)


def detach() -> ctypes.c_void_p:
    """Make the current CUDA context of this thread no longer so, and return it."""
    context = ctypes.c_void_p()
    _Driver()("cuCtxPopCurrent_v2", ctypes.byref(context))
    return context


def detach_all(context: ctypes.c_void_p) -> None:
    """Detach `context` as often as it is current in this thread: Futhark leaves it so where a call fails."""
    driver = _Driver()
    current = ctypes.c_void_p()
    while True:
        driver("cuCtxGetCurrent", ctypes.byref(current))
        if current.value is None or current.value != context.value:
            return
        detach()


def free_memory(context: ctypes.c_void_p) -> int | None:
    """Return the free memory, bytes, of the device of `context`, or None where the driver does not say."""
    free, total = ctypes.c_size_t(), ctypes.c_size_t()
    attach(context)
    try:
        _Driver()("cuMemGetInfo_v2", ctypes.byref(free), ctypes.byref(total))
    except _DriverError:
        return None
    finally:
        detach()
    return free.value


@dataclass(frozen=True)
class CudaLibraries:
    """CUDA's run-time compiler, NVRTC, as it fits the driver; loaded into the process.

    The CUDA runtime library is not needed: Futhark calls it to measure times only, which pytsp never asks
    for.

    Attributes
    ----------
    nvrtc : str
        What NVRTC was loaded by: a path, or a bare name.
    version : str
        Its version, ``"13.0"``.
    include : str
        A folder with cuda_fp16.h; empty where none is found.
    architectures : tuple of int
        The architectures that NVRTC compiles for: 90 for compute capability 9.0.
    """

    nvrtc: str
    version: str
    include: str
    architectures: tuple[int, ...]

    def architecture(self, device: Device) -> str | None:
        """Name the newest architecture that both NVRTC and `device` know, as NVRTC spells it, or None.

        ``"sm_90"`` is the device's own, for which NVRTC makes machine code; ``"compute_90"`` is an older one.
        """
        major, _, minor = device.capability.partition(".")
        own = int(major) * 10 + int(minor)
        fit = [number for number in self.architectures if number <= own]
        return f"{'sm' if own in fit else 'compute'}_{max(fit)}" if fit else None


def find_libraries(driver: str) -> CudaLibraries | Probe:
    """Load NVRTC with its symbols global.

    Parameters
    ----------
    driver : str
        The newest CUDA version that the driver supports. A newer NVRTC is passed over, since the driver would
        refuse its code.

    Returns
    -------
    CudaLibraries or Probe
        A `Probe` that says what is missing, where no NVRTC fits.
    """
    folders = list(_cuda_folders())
    limit = tuple(int(part) for part in driver.split("."))
    passed_over: list[str] = []
    for name in _candidates("nvrtc", folders):
        found = _nvrtc(name)
        if found is None:
            continue
        library, version = found
        text = f"{version[0]}.{version[1]}"
        if version <= limit and preload(name):
            return CudaLibraries(name, text, _include(name, folders), _architectures(library))
        passed_over.append(f"{text} ({name})")
    reason = "CUDA's run-time compiler, libnvrtc, is not found"
    if passed_over:
        reason = f"the driver supports CUDA {driver} and NVRTC is newer: {', '.join(passed_over)}"
    wheels = [f"'nvidia-cuda-{part}{_wheel_suffix(driver)}<={driver}.999'" for part in ("nvrtc", "runtime")]
    return Probe(
        reason=reason,
        remedy=f"pip install {' '.join(wheels)}, or set CUDA_HOME to the folder of a CUDA toolkit",
    )


def _wheel_suffix(version: str) -> str:
    """Return what NVIDIA appends to its wheels' names for a CUDA version: nothing from 13 on."""
    major = version.partition(".")[0]
    return "" if int(major) >= 13 else f"-cu{major}"


def _cuda_folders() -> Iterator[Path]:
    """Yield the folders that CUDA may lie in: the user's choice first, then wheels, then the system's."""
    for variable in ("CUDA_HOME", "CUDA_PATH", "CUDA_ROOT"):
        if os.environ.get(variable):
            yield Path(os.environ[variable])
    try:
        wheels = importlib.util.find_spec("nvidia")
    except (ImportError, ValueError):
        wheels = None
    for site in (wheels.submodule_search_locations or ()) if wheels else ():
        yield from sorted(Path(site).glob("cu[0-9]*"), reverse=True)
        yield Path(site) / "cuda_nvrtc"
        yield Path(site) / "cuda_runtime"
    yield Path("/usr/local/cuda")
    yield from sorted(Path("/usr/local").glob("cuda-*"), key=_version_of, reverse=True)


def _version_of(folder: Path) -> tuple[int, ...]:
    """Return the numbers in a folder's name."""
    return tuple(int(number) for number in re.findall(r"\d+", folder.name))


def _candidates(library: str, folders: Sequence[Path]) -> Iterator[str]:
    """Yield every name to try for a library of CUDA's: files in `folders`, then bare names."""
    for folder in folders:
        for inner in ("lib64", "lib"):
            files = (folder / inner).glob(f"lib{library}.so.*")
            yield from (str(file) for file in sorted(files, reverse=True) if re.fullmatch(r"\.so\.1\d", _tail(file)))
    yield from (f"lib{library}.so.13", f"lib{library}.so.12")


def _tail(file: Path) -> str:
    """Return a library's file name from ``.so`` on."""
    return file.name[file.name.index(".so") :]


def _nvrtc(name: str) -> tuple[ctypes.CDLL, tuple[int, int]] | None:
    """Load NVRTC privately and ask its version; None where that fails."""
    try:
        library = ctypes.CDLL(name, mode=os.RTLD_LOCAL | os.RTLD_LAZY)
        major, minor = ctypes.c_int(), ctypes.c_int()
        failed = library.nvrtcVersion(ctypes.byref(major), ctypes.byref(minor))
    except (OSError, AttributeError):
        return None
    return None if failed else (library, (major.value, minor.value))


def _architectures(library: ctypes.CDLL) -> tuple[int, ...]:
    """Ask NVRTC which architectures it compiles for."""
    count = ctypes.c_int()
    if library.nvrtcGetNumSupportedArchs(ctypes.byref(count)) or count.value <= 0:
        return ()
    numbers = (ctypes.c_int * count.value)()
    return () if library.nvrtcGetSupportedArchs(numbers) else tuple(numbers)


def _include(nvrtc: str, folders: Sequence[Path]) -> str:
    """Find a folder with cuda_fp16.h, the one beside `nvrtc` first."""
    beside = [Path(nvrtc).parent.parent] if os.sep in nvrtc else []
    for folder in [*beside, *folders]:
        if (folder / "include" / "cuda_fp16.h").is_file():
            return str(folder / "include")
    return ""


def compile_check(libraries: CudaLibraries, options: Sequence[str]) -> str:
    """Compile a few lines as Futhark's kernels begin; return NVRTC's complaint, or an empty string.

    A Futhark context whose kernels do not compile ends the process, so the usual causes (a missing header, an
    unknown option) are looked for here.
    """
    library = ctypes.CDLL(libraries.nvrtc)
    program = ctypes.c_void_p()
    source = b'#include <cuda_fp16.h>\nextern "C" __global__ void probe(float *x) { *x = sqrtf(*x); }\n'
    if library.nvrtcCreateProgram(ctypes.byref(program), source, b"probe.cu", 0, None, None):
        return "NVRTC makes no program"
    # Futhark looks in these folders as well.
    homes = [os.environ[name] for name in ("CUDA_HOME", "CUDA_ROOT", "CUDA_PATH") if os.environ.get(name)]
    paths = [f"-I{home}/include" for home in (*homes, "/usr/local/cuda")]
    flags = [os.fsencode(option) for option in ("-default-device", *paths, "-I/usr/include", *options)]
    try:
        if not library.nvrtcCompileProgram(program, len(flags), (ctypes.c_char_p * len(flags))(*flags)):
            return ""
        size = ctypes.c_size_t()
        library.nvrtcGetProgramLogSize(program, ctypes.byref(size))
        log = ctypes.create_string_buffer(max(1, size.value))
        library.nvrtcGetProgramLog(program, log)
        return log.value.decode(errors="replace").strip() or "NVRTC gives no reason"
    finally:
        library.nvrtcDestroyProgram(ctypes.byref(program))
