"""NVRTC, CUDA's run-time compiler: its version, the architectures that it knows, and whether kernels compile."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Sequence


def load(name: str) -> tuple[tuple[int, int], tuple[int, ...]] | None:
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
