"""Tools that turn generated C into a Python module: backends, flags, the C compiler, headers."""

from __future__ import annotations

import ctypes
import os
import shutil
import sys
import sysconfig
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from buildtools.errors import BuildError
from buildtools.paths import COMPAT, FALLBACK, GPU_PROGRAMS
from buildtools.processor import PORTABLE, check_level, flags_of_level, level_here
from buildtools.shell import available_cores, run


@dataclass(frozen=True)
class Backend:
    """Needs of one backend beyond the C compiler: headers with the remedy where they are missing, flags, a driver.

    `futhark` is what the Futhark compiler calls it, where that is another name. The functions of the driver's
    libraries, which the patterns `foreign` fit, are made weak, so that the module can be imported without these; where
    they are, load them globally before the import. Without the driver's library a backend can be built, but not run.
    """

    futhark: str = ""
    headers: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    foreign: tuple[str, ...] = ()
    remedy: str = ""
    driver: str = ""


# What -O3 has beyond -O2 takes a quarter longer to compile, and of it only the vectoriser makes any kernel faster.
# -ffp-contract=off: no fused multiply-add of the C compiler's own, so that all backends round alike. The two after it
# change no result: nobody reads errno or the floating-point exceptions, and without them loops with roots, rounding and
# comparisons vectorise. Nor does the last one: gcc guesses that branches such as Futhark's checks are rarely passed,
# takes what lies behind several of them for cold, and leaves loops there as they are, the hottest ones.
COMMON_FLAGS = (
    "-std=gnu11",
    "-O2",
    "-ftree-vectorize",
    "-fvect-cost-model=dynamic",
    "-fPIC",
    "-pthread",
    "-fvisibility=hidden",
    "-ffp-contract=off",
    "-fno-math-errno",
    "-fno-trapping-math",
    "-fno-guess-branch-probability",
)
QUIET_FLAGS = ("-w",)
# What drives a GPU waits for it: no loop there is worth a compilation that takes 1.7 times as long.
WAITING_FLAGS = ("-O1",)
BACKENDS = {
    "c": Backend(),
    "multicore": Backend(),
    "opencl": Backend(
        headers=("CL/cl.h",),
        # gcc 14 makes an error of the conversions between cl_mem and futhark-ffi's idea of it.
        flags=(*WAITING_FLAGS, "-Wno-int-conversion", "-Wno-incompatible-pointer-types"),
        foreign=("cl[A-Z]*",),
        remedy="install the OpenCL headers (`apt install ocl-icd-opencl-dev`), or name their folder "
        "in $CPATH, then build again",
        driver="libOpenCL.so.1",
    ),
    "cuda": Backend(
        headers=("cuda.h", "cuda_runtime.h", "nvrtc.h"),
        flags=(*WAITING_FLAGS, "-Wno-int-conversion", "-Wno-incompatible-pointer-types"),
        foreign=("cu[A-Z]*", "cuda[A-Z]*", "nvrtc[A-Z]*"),
        remedy="`python -m pip install nvidia-cuda-runtime nvidia-cuda-nvrtc nvidia-cuda-crt`, or name a "
        "toolkit in $CUDA_HOME, then build again",
        driver="libcuda.so.1",
    ),
}
# Neither shipped nor built by build.py: the GPU programs as C (buildtools.emulated). Results do not depend on -O1.
UNSHIPPED = {"emulated": Backend(futhark="c", flags=WAITING_FLAGS)}
REQUIRED = ("c", "multicore")
ON_THE_CPU = ("c", "multicore")


def modules_of(backend: str) -> tuple[str, ...]:
    """Give the names of a backend's modules: its own on the CPU, on a GPU one for each part of the kernels."""
    return (backend,) if backend in ON_THE_CPU else tuple(f"{backend}_{part}" for part in GPU_PROGRAMS)


def description_of(backend: str) -> Backend:
    """Give what a backend needs, shipped or not."""
    return UNSHIPPED.get(backend) or BACKENDS[backend]


def can_run_here(backend: str) -> bool:
    """Tell whether a backend's driver is on this machine, or it needs none."""
    try:
        return not description_of(backend).driver or bool(ctypes.CDLL(description_of(backend).driver))
    except OSError:
        return False


def flags_of(backend: str, level: str = PORTABLE) -> list[str]:
    """Give the C compiler's flags for a backend whose kernels serve processors of `level` and above."""
    return [*COMMON_FLAGS, *description_of(backend).flags, *flags_of_level(level)]


def choose_level(asked: str | None, compiler: str) -> str:
    """Give the level of processors to compile for: the one asked for, else this machine's if `compiler` knows it."""
    if asked is not None:
        return check_level(asked)
    level = level_here()
    return level if _compiler_takes(compiler, "", *flags_of_level(level)) else PORTABLE


def find_c_compiler() -> str:
    """Find the C compiler: $CC, else cc, gcc or clang on PATH."""
    for name in (os.environ.get("CC"), "cc", "gcc", "clang"):
        path = shutil.which(name) if name else None
        if path:
            return path
    raise BuildError(
        "no C compiler: $CC, cc, gcc, clang are not on PATH; `apt install gcc libc6-dev`, or name one in $CC"
    )


def identify_c_compiler(compiler: str) -> str:
    """Give the first line of the C compiler's --version."""
    return run([compiler, "--version"], timeout=60).partition("\n")[0]


def python_headers() -> Path:
    """Give the folder of Python.h."""
    folder = Path(sysconfig.get_path("include"))
    if not (folder / "Python.h").is_file():
        version = f"{sys.version_info.major}.{sys.version_info.minor}"
        raise BuildError(
            f"Python.h is not in {folder}: the headers of Python {version} are missing; "
            f"`apt install python{version}-dev` (Debian, Ubuntu), `dnf install python3-devel` (Fedora), "
            "or use a Python that has them"
        )
    return folder


def find_headers(backend: str, compiler: str) -> list[Path]:
    """Find a backend's headers; give the folders to search that the C compiler does not search by itself.

    A header of our own, under include/fallback, is taken where there is no other.

    `BuildError` is raised if a header is nowhere.
    """
    folders: list[Path] = []
    for header in description_of(backend).headers:
        folder = next((folder for folder in _header_folders() if (folder / header).is_file()), None)
        if folder is None and not _compiler_takes(compiler, f"#include <{header}>\n"):
            if not (FALLBACK / header).is_file():
                raise BuildError(f"{header} was not found")
            folder = FALLBACK
        if folder is not None and folder not in folders:
            folders.append(folder)
    return folders


def _header_folders() -> Iterator[Path]:
    """Give the folders where CUDA toolkits and NVIDIA's wheels put headers, in order of preference."""
    toolkits = [Path(os.environ[name]) for name in ("CUDA_HOME", "CUDA_PATH") if os.environ.get(name)]
    nvcc = shutil.which("nvcc")
    if nvcc:
        toolkits.append(Path(nvcc).resolve().parent.parent)
    toolkits += [
        Path("/usr/local/cuda"),
        *sorted(Path("/usr/local").glob("cuda-*"), reverse=True),
        Path("/opt/cuda"),
    ]
    yield from (toolkit / "include" for toolkit in toolkits)
    for scheme in ("purelib", "platlib"):
        for place in (sysconfig.get_path(scheme), sysconfig.get_path(scheme, f"{os.name}_user")):
            yield from sorted(Path(place).glob("nvidia/*/include"), reverse=True)


def _compiler_takes(compiler: str, program: str, *flags: str) -> bool:
    """Tell whether the C preprocessor finds no fault with a program."""
    with tempfile.NamedTemporaryFile("w", suffix=".c") as probe:
        probe.write(program)
        probe.flush()
        try:
            run([compiler, *flags, "-E", probe.name], timeout=60)
        except BuildError:
            return False
    return True


def _compile_in_parts(compiling: Sequence[str | Path], source: Path, built: Path) -> bool:
    """Compile a large C file with all cores: gcc reads it, then optimises parts of it side by side, and links them into
    an ordinary object file; tell whether this compiler can do that."""
    cores, read = available_cores(), built.with_suffix(".read.o")
    if cores == 1:
        return False
    try:
        run([*compiling, "-flto", "-c", source, "-o", read])
        run([*compiling, f"-flto={cores}", "-r", "-flinker-output=nolto-rel", read, "-o", built])
    except BuildError:
        # Another compiler; errors in the C come again where it is compiled as a whole.
        return False
    return True


def compile_module(backend: str, source: Path, module: Path, includes: Iterable[Path], flags: list[str]) -> None:
    """Compile the C file `source` into the Python module `module`, through an object file beside it."""
    compiler, built = find_c_compiler(), source.with_suffix(".o")
    foreign = description_of(backend).foreign
    front: list[str | Path] = ["-include", COMPAT[backend]] if backend in COMPAT else []
    folders = [f"-I{folder}" for folder in (python_headers(), *includes)]
    compiling = [compiler, *flags, *QUIET_FLAGS, *folders, *front]
    if backend not in ON_THE_CPU or not _compile_in_parts(compiling, source, built):
        run([*compiling, "-c", source, "-o", built])
    if foreign:
        run(["objcopy", "--wildcard", *(f"--weaken-symbol={pattern}" for pattern in foreign), built])
    link = ["-bundle", "-undefined", "dynamic_lookup"] if sys.platform == "darwin" else ["-shared"]
    run([compiler, *link, "-pthread", built, "-o", module, "-lm"])
