"""The source distribution: translations with their checksums, what is built from them, the same bytes each time."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tarfile
from pathlib import Path

import pytest
from checkout import needs_checkout
from processes import run_python

needs_checkout("buildtools")

from buildtools import compiler, kernels, paths, report, sdist, toolchain, translations, wheels  # noqa: E402
from buildtools.errors import BuildError  # noqa: E402

PROGRAM = "int futhark_answer(void) { return 42; }\n"


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A source distribution of the c backend alone, on a machine without Futhark; gives its folder."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("PYTSP_STORE", "off")
    for name in ("FUTHARK", "PYTSP_BACKENDS", "PYTSP_MARCH", "CC"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(compiler, "WAYS", ())
    which = shutil.which
    monkeypatch.setattr(
        compiler.shutil, "which", lambda name, **rest: None if name == "futhark" else which(name, **rest)
    )
    monkeypatch.setattr(kernels, "CPU_PROGRAM", tmp_path / "futhark" / "cpu.fut")
    monkeypatch.setattr(kernels, "TRANSLATIONS", tmp_path / "translations")
    monkeypatch.setattr(sdist, "TRANSLATIONS", tmp_path / "translations")
    monkeypatch.setattr(sdist, "KERNELS", tmp_path / "kernels")
    monkeypatch.setattr(sdist, "BACKENDS", {"c": toolchain.Backend()})
    (tmp_path / "futhark").mkdir()
    (tmp_path / "translations").mkdir()
    (tmp_path / "futhark" / "cpu.fut").write_text("42\n")
    write_c(tmp_path / "translations")
    sources = kernels.hash_of_program(kernels.CPU_PROGRAM)
    came = translations.describe(tmp_path / "translations", "c", "0.25.27", sources)
    translations.write_translations({"c": came}, tmp_path / "translations")
    return tmp_path


def write_c(folder: Path) -> None:
    """Write what Futhark makes of the program."""
    (folder / "c.c").write_text(PROGRAM)
    (folder / "c.h").write_text("int futhark_answer(void);\n")
    (folder / "c.json").write_text('{"backend": "c"}')


def build(tree: Path, **options: object) -> report.Report:
    """Build the c backend from the source distribution."""
    return kernels.build_kernels(kernels.Options(("c",), **options), tree / "kernels")  # type: ignore[arg-type]


def test_what_came_translated_needs_no_futhark(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    entry = build(tree).entry("c")
    assert entry.built and entry.reason.startswith("Futhark 0.25.27")
    said = capsys.readouterr().out
    assert "c: compiling" in said and "translating" not in said
    code = f"import sys; sys.path.insert(0, {str(tree / 'kernels')!r}); import _c; print(_c.lib.futhark_answer())"
    assert run_python("-c", code, check=True).stdout == "42\n"
    assert build(tree).entry("c") == entry
    assert capsys.readouterr().out == ""


def test_a_program_that_changed_needs_futhark_and_says_so(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tree / "futhark" / "cpu.fut").write_text("43\n")
    with pytest.raises(BuildError, match="no Futhark compiler could be obtained"):
        build(tree)
    said = capsys.readouterr().out
    assert "futhark/ is not what translations/ was made from; the Futhark compiler is needed for ['c']" in said


def test_a_compiler_that_is_named_translates(tree: Path) -> None:
    with pytest.raises(BuildError, match="no-such-futhark"):
        build(tree, futhark="/no-such-futhark")


@pytest.mark.parametrize(("damage", "found"), [(PROGRAM + " ", r"\w{64}"), (None, "missing")])
def test_a_damaged_translation_is_named_and_not_compiled(tree: Path, damage: str | None, found: str) -> None:
    file = tree / "translations" / "c.c"
    if damage is None:
        file.unlink()
    else:
        file.write_text(damage)
    with pytest.raises(BuildError, match=rf"c\.c: its SHA-256 is {found}, but manifest\.json beside it says \w{{64}}"):
        build(tree)
    assert not (tree / "kernels" / "_c.abi3.so").exists()


@pytest.mark.parametrize("text", ["", "[]", '{"c": {}}', '{"c": {"futhark": "1", "sources": "2", "files": 3}}'])
def test_a_manifest_that_is_none_is_named(tree: Path, text: str) -> None:
    (tree / "translations" / "manifest.json").write_text(text)
    with pytest.raises(BuildError, match=r"manifest\.json cannot be read .*: unpack the source distribution again"):
        build(tree)


def test_translations_are_taken_from_the_build_and_from_before(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []

    def translate(_: object, backend: str, name: str, work: Path) -> str:
        made.append(name)
        write_c(work)
        return kernels.hash_of_c(name, work)

    monkeypatch.setattr(sdist, "find_compiler", lambda: compiler.Compiler(Path("futhark"), "0.25.27"))
    monkeypatch.setattr(sdist, "translate", translate)
    monkeypatch.setattr(sdist, "TRANSLATIONS", tree / "nowhere")
    build(tree)
    shutil.rmtree(tree / "translations")
    sdist.make_translations(tree / "build" / "kept")
    assert made == []
    assert (tree / "build" / "kept" / "c.c").read_text() == PROGRAM
    # What lies beside the kernels is not what was built; what is kept still is.
    (tree / "kernels" / "c.c").write_text("int futhark_answer(void) { return 41; }\n")
    sdist.make_translations(tree / "build" / "kept")
    assert made == []
    (tree / "build" / "kept" / "c.c").unlink()
    (tree / "build" / "kept" / "stranger.c").touch()
    sdist.make_translations(tree / "build" / "kept")
    assert made == ["c"]
    (tree / "futhark" / "cpu.fut").write_text("43\n")
    sdist.make_translations(tree / "build" / "kept")
    assert made == ["c", "c"]
    assert {*os.listdir(tree / "build" / "kept")} == {"c.c", "c.h", "c.json", "manifest.json"}
    stored = json.loads((tree / "build" / "kept" / "manifest.json").read_text())
    assert stored["c"]["files"]["c.c"] == hashlib.sha256(PROGRAM.encode()).hexdigest()
    assert stored["c"]["sources"] == kernels.hash_of_program(kernels.CPU_PROGRAM)


def test_a_source_distribution_of_one_takes_its_translations(tree: Path) -> None:
    sdist.make_translations(tree / "kept")
    assert (tree / "kept" / "manifest.json").read_bytes() == (tree / "translations" / "manifest.json").read_bytes()


def test_the_same_files_are_packed_into_the_same_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    packed = []
    for place, time, mode in (("one", 1, 0o600), ("two", 2_000_000_000, 0o664)):
        tree = tmp_path / place / "pytsp_futhark-1"
        names = ["b.py", "a/z.py", "a/b.py"] if place == "one" else ["a/b.py", "b.py", "a/z.py"]
        for name in names:
            file = tree / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(name)
            file.chmod(mode)
            os.utime(file, (time, time))
        monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
        packed.append(sdist.write_archive(tree, tmp_path / place / f"{place}.tar.gz").read_bytes())
    assert packed[0] == packed[1]
    with tarfile.open(tmp_path / "one" / "one.tar.gz") as file:
        members = file.getmembers()
    assert [each.name.partition("/")[2] for each in members] == ["", "a", "a/b.py", "a/z.py", "b.py"]
    assert {each.mtime for each in members} == {1700000000} and {each.uname for each in members} == {""}


def test_a_date_that_is_none_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "yesterday")
    with pytest.raises(
        BuildError, match=r"\$SOURCE_DATE_EPOCH must be a number of seconds since 1970, got 'yesterday'"
    ):
        sdist.timestamp()


def test_nothing_translated_is_in_git() -> None:
    ignored = (paths.ROOT / ".gitignore").read_text(encoding="utf-8").splitlines()
    assert {"/translations/", "/build/", "/pytsp/_kernels/"} <= {*ignored}


# Levels, and wheels


def test_each_level_has_a_folder_of_its_own(tree: Path) -> None:
    options = kernels.Options(("c",), march="portable", higher=("x86-64-v2",))
    if not toolchain.level_here().startswith("x86-64"):
        pytest.skip("levels are those of x86-64")
    folder = tree / "kernels"
    (folder / "x86-64-v4").mkdir(parents=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kernels, "ON_THE_CPU", ("c",))
        kernels.build_levels(options, folder)
    assert report.read_report(folder).entry("c").level == "portable"
    assert report.read_report(folder / "x86-64-v2").entry("c").level == "x86-64-v2"
    assert (folder / "x86-64-v2" / "_c.abi3.so").is_file()
    # Wheels hold what lies there.
    assert not (folder / "x86-64-v4").exists()


@pytest.mark.parametrize("listed", ["x86-64-v3,x86-64-v2", "portable,portable"])
def test_levels_are_listed_from_low_to_high(listed: str) -> None:
    with pytest.raises(BuildError, match=f"from low to high, each once; got {listed}"):
        kernels.parse_levels(listed)
    assert kernels.parse_levels("") == ()


def test_only_a_source_distribution_becomes_a_wheel(tmp_path: Path) -> None:
    (tmp_path / "x.tar.gz").write_bytes(b"rubbish")
    with pytest.raises(BuildError, match=r"x\.tar\.gz cannot be unpacked"):
        wheels.unpack_sdist(tmp_path / "x.tar.gz", tmp_path / "out")
    (tmp_path / "other-1").mkdir()
    sdist.write_archive(tmp_path / "other-1", tmp_path / "other-1.tar.gz")
    with pytest.raises(BuildError, match=r"other-1\.tar\.gz is no source distribution with translations"):
        wheels.unpack_sdist(tmp_path / "other-1.tar.gz", tmp_path / "out")
