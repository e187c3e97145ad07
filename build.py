"""Build pytsp from a checkout: obtain the tools, compile the kernels, install the package here."""

from __future__ import annotations

import argparse
import runpy
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from buildtools.bytecode import compile_modules
from buildtools.compiler import find_compiler, obtain_compiler
from buildtools.errors import BuildError
from buildtools.install import (
    install_build_requirements,
    install_pytsp,
    install_requirements,
    is_installed,
    placement,
    tell_path,
    write_stamp,
)
from buildtools.kernels import Options, build_kernels, clean, parse_backends
from buildtools.processor import CHOICES
from buildtools.shell import say
from buildtools.toolchain import BACKENDS

OLDEST_PYTHON = (3, 10)


def parse_arguments(arguments: list[str] | None = None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--backends",
        metavar="B,B",
        help=f"build these only, of {', '.join(BACKENDS)} (default: all that can be, and can run here)",
    )
    parser.add_argument(
        "--futhark",
        metavar="PATH",
        help="the Futhark compiler (default: $FUTHARK, PATH, the cache, the network)",
    )
    parser.add_argument(
        "--march",
        metavar="LEVEL",
        choices=CHOICES,
        help=f"the processors to serve, and those above: {', '.join(CHOICES)} (default: this machine's level)",
    )
    parser.add_argument("--force", action="store_true", help="install and build again what has not changed")
    parser.add_argument("--clean", action="store_true", help="remove what was built, and the translations in the cache")
    parser.add_argument("--no-install", action="store_true", help="build the kernels only; pip installs nothing")
    parser.add_argument("--print-futhark", action="store_true", help="print the path of the Futhark compiler, and stop")
    return parser.parse_args(arguments)


def build(arguments: argparse.Namespace) -> None:
    """Do what the command line asks, and print the table of backends."""
    if arguments.clean:
        return clean()
    if arguments.print_futhark:
        return print((find_compiler(arguments.futhark) or obtain_compiler()).path)
    backends = parse_backends(arguments.backends) if arguments.backends is not None else None
    options = Options(backends, arguments.futhark, arguments.march, arguments.force)
    if arguments.no_install or (is_installed() and not options.force):
        if not arguments.no_install:
            compile_modules()
        print(build_kernels(options).table())
        return None
    place = placement()
    with ThreadPoolExecutor(1) as beside:
        say("beside the kernels: installing pytsp, and what it, its build and its tests need")
        ready = beside.submit(install_build_requirements, place)
        installed = [beside.submit(step, place) for step in (install_requirements, install_pytsp)]
        installed.append(beside.submit(compile_modules))
        report = build_kernels(options, ready=ready.result)
        for step in (ready, *installed):
            step.result()
    write_stamp()
    print(report.table())
    return tell_path(place)


def run_frontend() -> int:
    """Run PyPA's build, which `python -m build` means, and which this file stands in front of in a checkout."""
    here = Path(__file__).resolve().parent
    sys.path[:] = [folder for folder in sys.path if Path(folder).resolve() != here]
    try:
        runpy.run_module("build", run_name="__main__", alter_sys=True)
    except ImportError as error:
        if error.name not in (None, "build", "build.__main__"):
            raise
        print(
            "`python -m build` is PyPA's, which is not here: pip install build; ours is `python build.py`",
            file=sys.stderr,
        )
        return 1
    return 0


def main() -> int:
    """Run the build; give the exit code."""
    if sys.version_info < OLDEST_PYTHON:
        print(f"pytsp needs Python 3.10 or later; {sys.executable} is {sys.version.split()[0]}", file=sys.stderr)
        return 1
    try:
        build(parse_arguments())
    except BuildError as error:
        print(f"build.py: {error}", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"build.py: {error.filename or 'the build'}: {error.strerror}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("build.py: interrupted; what was built before is as it was", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    # A file that is run as a module has a specification.
    sys.exit(main() if __spec__ is None else run_frontend())
