"""buildtools.sanitize notices what it is there for: a library with faults on purpose, and one report among others'."""

from __future__ import annotations

from pathlib import Path

import pytest
from checkout import needs_checkout

needs_checkout("buildtools")

from buildtools.errors import BuildError  # noqa: E402
from buildtools.sanitize import compile_watched, reports_of, run_watched, sanitize  # noqa: E402

FAULTS = """
#include <stdlib.h>
#pragma GCC visibility push(default)
int overflow(int x) { return x + 1; }
int beyond(int x) { int *two = malloc(2 * sizeof(int)); two[0] = two[1] = x; x = two[x]; free(two); return x; }
int leak(int x) { int *lost = malloc(1000 * sizeof(int)); lost[x] = x; return lost[x]; }
"""
PROGRAM = "import ctypes, sys; lib = ctypes.CDLL(sys.argv[1]); print(getattr(lib, sys.argv[2])(int(sys.argv[3])))"


@pytest.fixture(scope="module")
def faulty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A library of C functions that do wrong for some arguments."""
    folder = tmp_path_factory.mktemp("faulty")
    (folder / "faults.c").write_text(FAULTS)
    try:
        compile_watched(folder / "faults.c", folder / "faults.so")
    except BuildError as error:
        pytest.skip(f"the C compiler lacks the sanitizers: {error}")
    return folder


@pytest.mark.parametrize(
    ("function", "argument", "words"),
    [
        ("overflow", 1, None),
        ("overflow", 2**31 - 1, "signed integer overflow"),
        ("beyond", 1, None),
        ("beyond", 2, "heap-buffer-overflow"),
        ("leak", 5, "leak of 4000 byte(s)"),
    ],
)
def test_faults_are_reported(tmp_path: Path, faulty: Path, function: str, argument: int, words: str | None) -> None:
    program: list[str | Path] = ["-c", PROGRAM, faulty / "faults.so", function, str(argument)]
    _, reports = run_watched(program, (str(faulty),), tmp_path)
    assert bool(reports) == (words is not None)
    assert words is None or any(words in report for report in reports)


def test_reports_of_others_are_not_ours() -> None:
    log = """
==7==ERROR: LeakSanitizer: detected memory leaks

Direct leak of 8 byte(s) in 1 object(s) allocated from:
    #0 0x1 in malloc
    #1 0x2 in gc_alloc Modules/gcmodule.c:2283

Direct leak of 240 byte(s) in 1 object(s) allocated from:
    #0 0x1 in malloc
    #1 0x3 in futhark_context_new /tmp/work/module.c:6312

SUMMARY: AddressSanitizer: 248 byte(s) leaked in 2 allocation(s).
"""
    [report] = reports_of(log, ("/tmp/work",))
    assert report.startswith("Direct leak of 240")
    assert reports_of("/tmp/work/module.c:5:2: runtime error: division by zero", ("/tmp/work",)) != []
    assert reports_of("", ("/tmp/work",)) == []


def test_without_the_generated_c_it_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("buildtools.sanitize.KERNELS", tmp_path)
    with pytest.raises(BuildError, match="run build.py first"):
        sanitize("c")
