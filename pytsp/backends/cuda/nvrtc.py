"""NVRTC, CUDA's run-time compiler: the one that fits the driver, with its headers, and whether kernels compile."""

from __future__ import annotations

import ctypes
import importlib.util
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from pytsp.backends.devices import Device, Probe, preload


@dataclass(frozen=True)
class CudaLibraries:
    """NVRTC, CUDA's run-time compiler, as it fits the driver; loaded into the process.

    `nvrtc` is the path or bare name that it was loaded by; `include` a folder with cuda_fp16.h, or empty; of the
    architectures, 90 is that of compute capability 9.0. The CUDA runtime library is not needed: Futhark calls it to
    measure times only, which pytsp never asks for.
    """

    nvrtc: str
    version: str
    include: str
    architectures: tuple[int, ...]

    def __str__(self) -> str:
        return f"NVRTC {self.version}"

    def architecture(self, device: Device) -> str | None:
        """Name the newest architecture that both NVRTC and `device` know, as NVRTC spells it, or None.

        ``"sm_90"`` is the device's own, for which NVRTC makes machine code; ``"compute_90"`` is an older one.
        """
        major, _, minor = device.capability.partition(".")
        own = int(major) * 10 + int(minor)
        fit = [number for number in self.architectures if number <= own]
        return f"{'sm' if own in fit else 'compute'}_{max(fit)}" if fit else None


def find_libraries(driver: str) -> CudaLibraries | Probe:
    """Load NVRTC with its symbols global, or say what is missing.

    One that is newer than the CUDA version `driver` is passed over, since the driver would refuse its code.
    """
    folders = list(_cuda_folders())
    limit = tuple(int(part) for part in driver.split("."))
    passed_over: list[str] = []
    for name in _candidates(folders):
        found = _load(name)
        if found is None:
            continue
        version, architectures = found
        text = f"{version[0]}.{version[1]}"
        if version <= limit and preload(name):
            return CudaLibraries(name, text, _include(name, folders), architectures)
        passed_over.append(f"{text} ({name})")
    reason = "CUDA's run-time compiler, libnvrtc, is not found"
    if passed_over:
        reason = f"the driver supports CUDA {driver} and NVRTC is newer: {', '.join(passed_over)}"
    suffix = "" if limit[0] >= 13 else f"-cu{limit[0]}"
    wheels = " ".join(f"'nvidia-cuda-{part}{suffix}<={driver}.999'" for part in ("nvrtc", "runtime"))
    return Probe(reason=reason, remedy=f"pip install {wheels}, or set CUDA_HOME to the folder of a CUDA toolkit")


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
    numbered = Path("/usr/local").glob("cuda-*")
    yield from sorted(numbered, key=lambda folder: [*map(int, re.findall(r"\d+", folder.name))], reverse=True)


def _candidates(folders: Sequence[Path]) -> Iterator[str]:
    """Yield every name to try for NVRTC: files in `folders`, then bare names."""
    for folder in folders:
        for inner in ("lib64", "lib"):
            yield from map(str, sorted((folder / inner).glob("libnvrtc.so.1[0-9]"), reverse=True))
    yield from ("libnvrtc.so.13", "libnvrtc.so.12")


def _include(nvrtc: str, folders: Sequence[Path]) -> str:
    """Find a folder with cuda_fp16.h, the one beside `nvrtc` first."""
    beside = [Path(nvrtc).parent.parent] if os.sep in nvrtc else []
    for folder in [*beside, *folders]:
        if (folder / "include" / "cuda_fp16.h").is_file():
            return str(folder / "include")
    return ""


def _load(name: str) -> tuple[tuple[int, int], tuple[int, ...]] | None:
    """Load NVRTC privately and ask its version and the architectures that it compiles for; None where that fails."""
    try:
        library = ctypes.CDLL(name, mode=os.RTLD_LOCAL | os.RTLD_LAZY)
        major, minor, count = ctypes.c_int(), ctypes.c_int(), ctypes.c_int()
        if library.nvrtcVersion(ctypes.byref(major), ctypes.byref(minor)):
            return None
        failed = library.nvrtcGetNumSupportedArchs(ctypes.byref(count))
        numbers = (ctypes.c_int * (0 if failed else max(0, count.value)))()
        failed = failed or library.nvrtcGetSupportedArchs(numbers)
    except (OSError, AttributeError):
        return None
    return (major.value, minor.value), () if failed else tuple(numbers)


def compile_check(nvrtc: str, options: Sequence[str]) -> str:
    """Compile a few lines as Futhark's kernels begin; return NVRTC's complaint, or an empty string.

    A Futhark context whose kernels do not compile ends the process, so the usual causes (a missing header, an
    unknown option) are looked for here.
    """
    library = ctypes.CDLL(nvrtc)
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
