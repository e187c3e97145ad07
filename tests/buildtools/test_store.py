"""The store of translations: what is taken from it, what is not, what is damaged, how large it grows, the switch."""

from __future__ import annotations

import gzip
import os
import re
from pathlib import Path

import pytest
from checkout import needs_checkout

needs_checkout("buildtools")

from buildtools import compiler, kernels, report, sdist, store, toolchain, translations  # noqa: E402
from buildtools.errors import BuildError  # noqa: E402

FUTHARK = """\
#!/bin/sh
[ "$1" != --version ] || { echo Futhark 0.25.27.; exit; }
for program; do :; done
name=${program%.fut}
echo "int futhark_answer(void) { return $(head -n 1 "$program"); }" > "$name.c"
echo "int futhark_answer(void);" > "$name.h"
echo '{"backend": "c"}' > "$name.json"
"""


@pytest.fixture(autouse=True)
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program of two files, and a compiler by which it gives the number in its first line; gives the program."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for name in ("FUTHARK", "PYTSP_BACKENDS", "PYTSP_MARCH", "PYTSP_STORE", "CC"):
        monkeypatch.delenv(name, raising=False)
    which = compiler.shutil.which
    monkeypatch.setattr(
        compiler.shutil, "which", lambda name, **rest: None if name == "futhark" else which(name, **rest)
    )
    monkeypatch.setattr(compiler, "WAYS", ())
    futhark = compiler.cached_path()
    futhark.parent.mkdir(parents=True)
    futhark.write_text(FUTHARK)
    futhark.chmod(0o755)
    monkeypatch.setattr(kernels, "CPU_PROGRAM", tmp_path / "futhark" / "cpu.fut")
    monkeypatch.setattr(kernels, "TRANSLATIONS", tmp_path / "no translations")
    (tmp_path / "futhark").mkdir()
    (tmp_path / "futhark" / "tour.fut").write_text("-- a library\n")
    kernels.CPU_PROGRAM.write_text('42\n-- import "tour"\n')
    return kernels.CPU_PROGRAM


@pytest.fixture
def made(capsys: pytest.CaptureFixture[str], tmp_path: Path):  # type: ignore[no-untyped-def]
    """What a build of the c backend in a checkout, by its name, tells of its translation."""

    def build(checkout: str, **options: object) -> str:
        capsys.readouterr()
        asked = kernels.Options(("c",), **options)  # type: ignore[arg-type]
        assert kernels.build_kernels(asked, tmp_path / checkout).entry("c").built
        reported = re.findall(r"(?m)^c: (translat\w+(?: before)?|.* is damaged)", capsys.readouterr().out)
        return ", ".join(reported)

    return build


def entry() -> Path:
    """Give the one entry of the store."""
    (found,) = store.store_folder().iterdir()
    return found


def test_another_checkout_of_the_same_sources_translates_nothing(made, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    assert made("one") == "translating"
    assert made("two") == "translated before"
    for file in (*translations.files_of("c"), "_c.pyi"):
        assert (tmp_path / "one" / file).read_bytes() == (tmp_path / "two" / file).read_bytes()
    one, two = (report.read_report(tmp_path / name).entry("c") for name in ("one", "two"))
    assert (one.c_hash, one.source_hash) == (two.c_hash, two.source_hash)
    # Seconds are those of a translation that was made.
    assert len(one.seconds) == 2
    assert two.seconds == []
    assert made("two", force=True) == "translating"


@pytest.mark.parametrize("changed", ["cpu.fut", "tour.fut"])
def test_changed_sources_are_translated(made, program: Path, changed: str) -> None:  # type: ignore[no-untyped-def]
    assert made("one") == "translating"
    file = program.with_name(changed)
    before = file.read_text()
    file.write_text(before + "-- and more\n")
    assert made("two") == "translating"
    file.write_text(before)
    assert made("three") == "translated before"


def test_another_compiler_and_one_that_is_named_translate(made, monkeypatch: pytest.MonkeyPatch) -> None:  # type: ignore[no-untyped-def]
    assert made("one") == "translating"
    path = compiler.cached_path()
    # One that is named may be another of the same version: nothing is taken for it, and nothing that it made is kept.
    before = entry().stat().st_mtime_ns
    assert made("two", futhark=str(path)) == "translating"
    monkeypatch.setenv("FUTHARK", str(path))
    assert made("three") == "translating"
    assert entry().stat().st_mtime_ns == before
    monkeypatch.delenv("FUTHARK")
    path.write_text(FUTHARK.replace("0.25.27", "0.25.32"))
    assert made("four") == "translating"


def test_a_key_tells_apart_all_that_decides_the_c(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernels, "GPU_PROGRAMS", {"search": kernels.CPU_PROGRAM})
    asked = [
        ("c", "c", "0.25.27"),
        ("c", "c", "0.25.32"),
        ("multicore", "multicore", "0.25.27"),
        *((f"{name}_search", name, "0.25.27") for name in ("cuda", "opencl", "emulated")),
    ]
    keys = [kernels.key_of(*each) for each in asked]
    monkeypatch.setattr(kernels, "PASSES", ("--library",))
    keys.append(kernels.key_of(*asked[0]))
    assert len({*keys}) == len(asked) + 1


def cut(whole: bytes) -> bytes:
    return whole[: len(whole) // 2]


def flip(whole: bytes) -> bytes:
    """Change the C, in an archive that is whole."""
    return gzip.compress(gzip.decompress(whole).replace(b"return 42", b"return 43"))


def drop(whole: bytes) -> bytes:
    """Name another module."""
    return gzip.compress(gzip.decompress(whole).replace(b'"c": {', b'"d": {'))


@pytest.mark.parametrize("damage", [cut, flip, drop, lambda _: b"", lambda _: b"rubbish" * 99])
def test_a_damaged_entry_is_made_again(made, damage) -> None:  # type: ignore[no-untyped-def]
    assert made("one") == "translating"
    whole = entry().read_bytes()
    entry().write_bytes(damage(whole))
    assert re.fullmatch(r".*\.tar\.gz is damaged, translating", made("two"))
    assert made("three") == "translated before"


def test_the_switch_leaves_the_store_out(made, monkeypatch: pytest.MonkeyPatch) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.setenv("PYTSP_STORE", "off")
    assert made("one") == "translating"
    assert not store.store_folder().exists()
    monkeypatch.setenv("PYTSP_STORE", "on")
    assert made("two") == "translating"
    monkeypatch.setenv("PYTSP_STORE", "off")
    assert made("three") == "translating"
    monkeypatch.setenv("PYTSP_STORE", "no")
    with pytest.raises(BuildError, match=r"^\$PYTSP_STORE must be on or off, got 'no'$"):
        made("four")


def test_clean_removes_the_store(made, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    made("one")
    kernels.clean(tmp_path / "one")
    assert not store.store_folder().exists()
    assert compiler.cached_path().exists()
    kernels.clean(tmp_path / "one")
    assert made("two") == "translating"


def test_the_store_is_bounded_and_forgets_what_was_not_used(  # type: ignore[no-untyped-def]
    made, program: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = [f"{number}\n" for number in range(4)]
    for number, text in enumerate(texts[:3]):
        program.write_text(text)
        made(f"first {number}")
        os.utime(store.entry_of(kernels.key_of("c", "c", "0.25.27")), (1000 + number, 1000 + number))
    program.write_text(texts[0])
    assert made("again") == "translated before"
    sizes = [file.stat().st_size for file in store.store_folder().iterdir()]
    # There is room for three, whose sizes differ by some bytes, and not for four.
    monkeypatch.setattr(store, "MOST_BYTES", sum(sizes) + min(sizes) // 2)
    left_over = store.store_folder() / ".work-killed"
    left_over.mkdir()
    os.utime(left_over, (1000, 1000))
    (store.store_folder() / ".work-at-work").mkdir()
    program.write_text(texts[3])
    assert made("one more") == "translating"
    assert not left_over.exists()
    (store.store_folder() / ".work-at-work").rmdir()
    assert sum(file.stat().st_size for file in store.store_folder().iterdir()) <= store.MOST_BYTES
    # The second was used longest ago, and is the one that made room.
    for text, reported in zip(texts, ("before", "ing", "before", "before"), strict=True):
        program.write_text(text)
        assert store.entry_of(kernels.key_of("c", "c", "0.25.27")).exists() == (reported == "before")


def test_a_cache_that_cannot_be_written_to_is_no_error(  # type: ignore[no-untyped-def]
    made, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    store.store_folder().write_text("a file where the store would be\n")
    assert kernels.build_kernels(kernels.Options(("c",)), tmp_path / "one").entry("c").built
    assert f"c: its translation cannot be kept in {store.store_folder()}: File exists" in capsys.readouterr().out


def test_a_source_distribution_takes_what_another_checkout_translated(  # type: ignore[no-untyped-def]
    made, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sdist, "TRANSLATIONS", tmp_path / "no translations")
    monkeypatch.setattr(sdist, "KERNELS", tmp_path / "no kernels")
    monkeypatch.setattr(sdist, "BACKENDS", {"c": toolchain.Backend()})
    sdist.make_translations(tmp_path / "first")
    assert made("one") == "translated before"
    monkeypatch.setattr(sdist, "translate", None)
    sdist.make_translations(tmp_path / "second")
    first, second = (translations.read_translations(tmp_path / name)["c"].files for name in ("first", "second"))
    assert first == second
