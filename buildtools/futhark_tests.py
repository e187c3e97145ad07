"""Run the tests of the Futhark files: `python -m buildtools.futhark_tests [file ...]`, of all by default.

`futhark test` runs them, as C. To compile a test's program takes longer than all of its runs, and most of that is
Futhark's part: what it made of the same files before is taken from the store (`buildtools.store`). gcc's part is done
anew each time.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from buildtools import store
from buildtools.compiler import Compiler, find_compiler, obtain_compiler
from buildtools.errors import BuildError
from buildtools.kernels import Options, copy_program, hash_of, hash_of_program, uses_store
from buildtools.paths import ROOT
from buildtools.shell import available_cores, run, say
from buildtools.toolchain import find_c_compiler

TRANSLATION = ("c", "--server")
# -O3 takes three times as long to compile, and most tests run for less than a second.
FLAGS = ("-O1", "-std=gnu11", "-w")
# Compiled already: `futhark test` would do it again.
COMPILED = '#!/bin/sh\n[ "$1" = c ] || exec "{futhark}" "$@"\n'


def translate(compiler: Compiler, test: Path, folder: Path, *, stored: bool) -> Path:
    """Write the C of a test's program into `folder`, translated or from the store, and give its file."""
    name, sources = test.stem, hash_of_program(test)
    key = hash_of([name, sources, compiler.version, *TRANSLATION])
    target = folder / f"{name}.c"
    if stored and store.take(key, name, folder):
        return target
    sources_folder = folder / f"{name}.sources"
    program = copy_program(test, sources_folder)
    # From above all files: else what is imported as "../core/rng" and as "rng" would be two modules. What it would
    # compile the C with does nothing.
    command: list[str | Path] = [compiler.path, *TRANSLATION, program.relative_to(sources_folder)]
    run(command, cwd=sources_folder, env={"LC_ALL": "C.UTF-8", "CC": "true"})
    program.with_suffix(".c").replace(target)
    if stored:
        store.keep(key, name, folder, compiler.version, sources, [target.name])
    return target


def prepare(compiler: Compiler, test: Path, folder: Path, *, stored: bool) -> Path:
    """Copy a test with what it imports into a folder of its own, its program beside it, and give the copy."""
    # Files of two folders may have one name.
    work = folder / test.parent.name / test.stem
    work.mkdir(parents=True)
    copy = copy_program(test, work / "tests")
    source = translate(compiler, test, work, stored=stored)
    run([find_c_compiler(), *FLAGS, source, "-o", copy.with_suffix(""), "-lm"])
    return copy


def run_tests(tests: list[Path], jobs: int, compiler: Compiler, *, stored: bool) -> int:
    """Run tests, `jobs` at a time, and give the exit code of `futhark test`."""
    with tempfile.TemporaryDirectory(prefix="pytsp-") as work, ThreadPoolExecutor(jobs) as pool:
        folder = Path(work)
        copies = list(pool.map(lambda test: prepare(compiler, test, folder, stored=stored), tests))
        compiled = folder / "compiled"
        compiled.write_text(COMPILED.format(futhark=compiler.path), encoding="utf-8")
        compiled.chmod(0o755)
        command = ["test", "--backend=c", "--no-terminal", f"--concurrency={jobs}", f"--futhark={compiled}"]
        return subprocess.run([compiler.path, *command, *copies], cwd=folder, check=False).returncode


def main() -> int:
    """Run the tests that are named, or all; give the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("tests", nargs="*", type=Path, metavar="FILE", help="Futhark files with tests (default: all)")
    parser.add_argument("--jobs", type=int, default=available_cores(), help="how many at a time (default: a core each)")
    options = parser.parse_args()
    if options.jobs < 1:
        parser.error(f"--jobs must be at least 1, got {options.jobs}")
    tests = [test.resolve() for test in options.tests] or sorted((ROOT / "futhark").glob("*/*_tests.fut"))
    try:
        compiler = find_compiler(None) or obtain_compiler()
        say(f"{len(tests)} files of tests, {options.jobs} at a time")
        return run_tests(tests, options.jobs, compiler, stored=uses_store(Options()))
    except BuildError as error:
        print(f"the tests could not be run: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
