"""Entry points come from the template as it says; a malformed one is refused with its line."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from checkout import needs_checkout

needs_checkout("buildtools", "futhark")

from buildtools import entries, paths  # noqa: E402
from buildtools.errors import BuildError  # noqa: E402

TEMPLATE = """\
# A comment of the template.

#programs/gpu/by cpu//{form}_load, gpu_a/gpu_/load_{form}

-- Load it,
-- whatever it is.
#for form in matrix, plane
entry {form}_load [n]
  (xs: [n]{gpu}t) : {form} [n] =
  {by} xs

#programs cpu

#for act/step in ils/search, polish/polish
#for form/w in plane/, matrices/[w]
entry {form}_{act} {w} = {step}

#for kind in one,
#  two
entry {kind} = 1
"""
CPU = """\

-- Load it,
-- whatever it is.
entry matrix_load [n]
  (xs: [n]t) : matrix [n] =
  matrix_load xs
entry plane_load [n]
  (xs: [n]t) : plane [n] =
  plane_load xs
entry plane_ils  = search
entry matrices_ils [w] = search
entry plane_polish  = polish
entry matrices_polish [w] = polish
entry one = 1
entry two = 1
"""


@pytest.fixture
def template(tmp_path: Path) -> Path:
    """A template of two programs."""
    for name in ("cpu", "gpu_a"):
        (tmp_path / f"{name}.fut").write_text('import "x"\n', encoding="utf-8")
    file = tmp_path / "entries.fut.in"
    file.write_text(TEMPLATE, encoding="utf-8")
    return file


def test_the_entries_of_a_program_are_expanded(template: Path) -> None:
    read = entries.Template(template)
    assert read.expand("cpu") == CPU
    first = CPU.partition("entry plane_ils")[0]
    gpu = (
        first.replace("[n]t", "[n]gpu_t")
        .replace("matrix_load xs", "load_matrix xs")
        .replace("plane_load xs", "load_plane xs")
    )
    assert read.expand("gpu_a") == gpu


def test_a_program_is_its_file_and_its_entries(template: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(entries, "ENTRIES", template)
    assert entries.text_of(template.parent / "cpu.fut") == 'import "x"\n' + CPU
    library = template.parent / "folder" / "cpu.fut"
    library.parent.mkdir()
    library.write_text("-- a library\n", encoding="utf-8")
    assert entries.text_of(library) == "-- a library\n"


@pytest.mark.parametrize(
    ("line", "bad", "reason"),
    [
        (3, "#programs/gpu cpu/, gpu_b/gpu_", "no such program: gpu_b; there are cpu, gpu_a"),
        (3, "#programs cpu, cpu", "a value of programs stands twice"),
        (3, "#program cpu", "neither `#programs a, b` nor `#for name in a, b`: '#program cpu'"),
        (3, "", "#programs must come before the first entry"),
        (7, "#for form = matrix", "neither `#programs a, b` nor `#for name in a, b`: '#for form = matrix'"),
        (7, "#for form in matrix, ", "'' is not one value for each of form"),
        (7, "#for form/x in matrix", "'matrix' is not one value for each of form/x"),
        (7, "#for form in matrix,, plane", "'' is not one value for each of form"),
        (7, "#for mapping in block, thread", "without {mapping} it would stand 2 times"),
        (7, "#for gpu/form in a/b, c/d", "a name has two values among programs, gpu, by, gpu, form"),
        (8, "entry {from}_load [n]", "{from} has no value here; names are programs, gpu, by, form"),
        (9, "  (xs: [n]{gpv}t) : {form} [n] =", "{gpv} has no value here; names are programs, gpu, by, form"),
        (9, "  (xs: [n]{t) : {form} [n] =", "{ has no value here; names are programs, gpu, by, form"),
        (9, "def x = 1", "an entry, a comment or a directive is expected, got 'def x = 1'"),
        (16, "", "no entry follows before the next empty line"),
    ],
)
def test_a_malformed_template_is_refused_with_the_line(template: Path, line: int, bad: str, reason: str) -> None:
    lines = template.read_text(encoding="utf-8").splitlines()
    lines[line - 1] = bad
    template.write_text("\n".join(lines), encoding="utf-8")
    with pytest.raises(BuildError, match=re.escape(reason)) as caught:
        entries.Template(template)
    number = re.match(re.escape(f"{template}:") + r"(\d+): ", str(caught.value))
    # What is missing is told where it is missed.
    assert number and abs(int(number[1]) - line) <= (5 if not bad else 1)


def test_a_program_without_entries_is_refused(template: Path) -> None:
    (template.parent / "gpu_b.fut").write_text("", encoding="utf-8")
    with pytest.raises(BuildError, match=r"no entry is of gpu_b\.fut"):
        entries.Template(template)


def test_a_missing_template_is_named(template: Path) -> None:
    template.unlink()
    with pytest.raises(BuildError, match=r"entries\.fut\.in is missing: the checkout is not complete"):
        entries.Template(template)


def test_the_copy_has_every_file_and_whole_programs(tmp_path: Path) -> None:
    entries.copy_all(tmp_path / "futhark")
    copies = {file.relative_to(tmp_path / "futhark") for file in (tmp_path / "futhark").rglob("*.*")}
    assert copies == {file.relative_to(paths.SOURCES) for file in paths.SOURCES.glob("*/*.fut")}
    for program in (paths.CPU_PROGRAM, *paths.GPU_PROGRAMS.values()):
        text = (tmp_path / program.relative_to(paths.SOURCES.parent)).read_text(encoding="utf-8")
        assert text == entries.text_of(program)
        assert "\nentry " in text and "\nentry " not in program.read_text(encoding="utf-8")
