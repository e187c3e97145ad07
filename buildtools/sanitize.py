"""Run each solver once on kernels that gcc's sanitizers watch: `python -m buildtools.sanitize [c|multicore]`.

AddressSanitizer finds what is read or written outside of its memory, or after it was freed, and what is never freed;
UndefinedBehaviorSanitizer what C leaves undefined. The kernels are compiled in a temporary folder from the C that
build.py left in pytsp/_kernels; nothing of the checkout changes. It takes some minutes, nearly all for the compilation.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

from buildtools.errors import BuildError
from buildtools.kernels import generate_module_source
from buildtools.paths import KERNELS, ROOT
from buildtools.shell import run, say
from buildtools.toolchain import ON_THE_CPU, QUIET_FLAGS, find_c_compiler, python_headers

# Like the real ones where the results depend on them; with -O3 the compilation would take ten times as long.
FLAGS = (
    "-std=gnu11",
    "-O1",
    "-g1",
    "-fPIC",
    "-pthread",
    "-fvisibility=hidden",
    "-ffp-contract=off",
    "-fno-omit-frame-pointer",
    "-fsanitize=address,undefined",
)
CASES = ROOT / "tests" / "kernels" / "sanitizer_cases.py"
# Python leaves much unfreed at its end that is not ours: a report counts where a frame lies in the library watched.
_REPORT = re.compile(r"^(?:==\d+==ERROR: |(?:Direct|Indirect) leak of |.*: runtime error: )", re.MULTILINE)


def compile_watched(source: Path, library: Path, *flags: str) -> None:
    """Compile the C file `source` into the shared library `library`, with the sanitizers in it."""
    compiler, built = find_c_compiler(), source.with_suffix(".o")
    run([compiler, *FLAGS, *QUIET_FLAGS, *flags, "-c", source, "-o", built])
    run([compiler, "-shared", "-pthread", "-fsanitize=address,undefined", built, "-o", library, "-lm"])


def run_watched(program: list[str | Path], marks: Sequence[str], path: Path) -> tuple[str, list[str]]:
    """Run a Python program that loads a library; give what it prints, and what the sanitizers report of the library.

    `marks` are what only frames in the library have in their names, `path` is the folder that the program imports from.

    `BuildError` is raised if the program fails.
    """
    runtimes = [run([find_c_compiler(), f"-print-file-name={name}.so"]).strip() for name in ("libasan", "libubsan")]
    environment = {
        "LD_PRELOAD": ":".join(runtimes),
        "ASAN_OPTIONS": "detect_leaks=1:halt_on_error=0:exitcode=0",
        "UBSAN_OPTIONS": "print_stacktrace=1",
        # Python's own allocator would hide from them where one object ends and the next begins.
        "PYTHONMALLOC": "malloc",
        "PYTHONPATH": str(path),
    }
    words = [sys.executable, *map(str, program)]
    done = subprocess.run(
        words, env={**os.environ, **environment}, capture_output=True, text=True, errors="replace", check=False
    )
    if done.returncode != 0:
        raise BuildError(f"{' '.join(words)} failed (exit code {done.returncode}): {done.stdout}{done.stderr}")
    return done.stdout, reports_of(done.stderr, marks)


def reports_of(text: str, marks: Sequence[str]) -> list[str]:
    """Give the reports of sanitizers that concern a library: those with one of the marks of its frames."""
    ends = [*(match.start() for match in _REPORT.finditer(text)), len(text)]
    each = (text[start:end].strip() for start, end in pairwise(ends))
    return [report for report in each if any(mark in report for mark in marks)]


def sanitize(name: str) -> tuple[str, list[str]]:
    """Compile the kernels of a CPU backend and run the cases; give what they print and what is reported of the kernels.

    `BuildError` is raised if the C is not there, the compiler lacks the sanitizers, or a case fails.
    """
    with tempfile.TemporaryDirectory(prefix="pytsp-") as folder:
        tree = Path(folder)
        work, package = tree / "watched_kernels", tree / "pytsp"
        work.mkdir()
        shutil.copytree(ROOT / "pytsp", package, ignore=shutil.ignore_patterns(KERNELS.name, "__pycache__"))
        (package / KERNELS.name).mkdir()
        try:
            for suffix in ("c", "h", "json"):
                shutil.copy2(KERNELS / f"{name}.{suffix}", work)
            for file in ("__init__.py", f"{name}.json"):
                shutil.copy2(KERNELS / file, package / KERNELS.name)
        except OSError as error:
            raise BuildError(f"{error.filename}: {error.strerror}; run build.py first") from error
        generate_module_source(name, work)
        say(f"{name}: compiling with sanitizers")
        module = package / KERNELS.name / f"_{name}.abi3.so"
        compile_watched(work / "module.c", module, f"-I{python_headers()}")
        say(f"{name}: running {CASES.name}")
        # With debugging information a frame names the source, else the module.
        return run_watched([CASES, name], (str(work), module.name), tree)


def main() -> int:
    """Print what was run and what was reported; give the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("backend", nargs="?", default="c", choices=ON_THE_CPU)
    name = parser.parse_args().backend
    try:
        printed, reports = sanitize(name)
    except BuildError as error:
        print(f"the kernels could not be watched: {error}", file=sys.stderr)
        return 1
    print(printed, end="")
    print(os.linesep.join(reports) if reports else "the sanitizers report nothing of the kernels")
    return 1 if reports else 0


if __name__ == "__main__":
    sys.exit(main())
