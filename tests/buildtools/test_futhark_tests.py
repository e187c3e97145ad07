"""The tests of Futhark files are run whoever made their C; what fails, fails."""

from __future__ import annotations

from pathlib import Path

import pytest
from checkout import needs_checkout

needs_checkout("buildtools")

from buildtools import futhark_tests, store  # noqa: E402
from buildtools.compiler import find_compiler  # noqa: E402
from buildtools.errors import BuildError  # noqa: E402

COMPILER = find_compiler()
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(COMPILER is None, reason="the Futhark compiler is not here: build.py obtains it"),
]

LIBRARY = """\
module type counter = {{ type count val of : i32 -> count val to : count -> i32 }}
module counter : counter = {{ type count = i32 def of (x: i32) = x def to (x: i32) = x }}
def twice (x: counter.count) : counter.count = counter.of ({factor} * counter.to x)
"""
# The same file, imported in two ways.
TESTS = """\
import "numbers"
import "../other/more"
module above = import "../folder/numbers"

-- ==
-- entry: doubled
-- input {{ 3 }} output {{ {expected} }}
entry doubled (x: i32) : i32 = counter.to (twice (above.counter.of x))
"""


@pytest.fixture
def test(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(store, "store_folder", lambda: tmp_path / "store")
    folder = tmp_path / "folder"
    (tmp_path / "other").mkdir()
    folder.mkdir()
    (folder / "numbers.fut").write_text(LIBRARY.format(factor=2))
    (tmp_path / "other" / "more.fut").write_text("")
    file = folder / "numbers_tests.fut"
    file.write_text(TESTS.format(expected=6))
    return file


def run(*tests: Path, stored: bool = True) -> int:
    assert COMPILER is not None
    return futhark_tests.run_tests(list(tests), 2, COMPILER, stored=stored)


def test_a_program_of_before_is_run_again(test: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run(test) == 0
    assert len(list(store.store_folder().iterdir())) == 1
    # Nothing is translated now.
    monkeypatch.setattr(futhark_tests, "copy_program", _no_translation)
    assert run(test) == 0


def _no_translation(program: Path, folder: Path) -> Path:
    assert not folder.name.endswith(".sources")
    return _copy(program, folder)


_copy = futhark_tests.copy_program


@pytest.mark.parametrize("stored", [False, True])
def test_a_wrong_result_is_a_failure(test: Path, stored: bool) -> None:
    assert run(test, stored=stored) == 0
    library = test.with_name("numbers.fut")
    library.write_text(LIBRARY.format(factor=3))
    assert run(test, stored=stored) == 1
    library.write_text(LIBRARY.format(factor=2))
    test.write_text(TESTS.format(expected=7))
    assert run(test, stored=stored) == 1
    assert run(test, stored=stored) == 1


def test_what_does_not_compile_is_told(test: Path) -> None:
    test.with_name("numbers.fut").write_text("def twice (x: i32) : i32 = y\n")
    with pytest.raises(BuildError, match='Unknown name "y"'):
        run(test)


def test_nothing_is_kept_where_the_store_is_off(test: Path) -> None:
    assert run(test, stored=False) == 0
    assert not store.store_folder().exists()


def test_files_of_one_name_are_two(test: Path) -> None:
    other = test.parent.with_name("other") / test.name
    other.write_text(TESTS.format(expected=7).replace('"numbers"', '"../folder/numbers"'))
    assert run(test) == 0
    assert run(test, other) == 1
    other.write_text(TESTS.format(expected=6).replace('"numbers"', '"../folder/numbers"'))
    assert run(test, other) == 0


def test_no_job_at_all_is_refused(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["futhark_tests", "--jobs", "0"])
    with pytest.raises(SystemExit):
        futhark_tests.main()
    assert "--jobs must be at least 1, got 0" in capsys.readouterr().err
