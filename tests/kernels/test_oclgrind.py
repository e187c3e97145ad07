"""The GPU kernels as OpenCL, run by oclgrind, which simulates a device and reports data races and stray accesses."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from checkout import needs_checkout
from paths import ROOT, TESTS
from processes import PATIENCE, wait_until

from pytsp.backends import PARTS, status

needs_checkout("buildtools")

from buildtools import oclgrind, private  # noqa: E402
from buildtools.archive import Source  # noqa: E402
from buildtools.errors import BuildError  # noqa: E402

# How many there are of each part of the kernels.
CASES = {
    "restarts": 21,
    "search": 3,
    "flat": 3,
    "lists": 2,
    "comparators": 10,
    "neighbourhoods": 17,
    "strategies": 3,
    "blocks": 8,
    "bound": 3,
}


def command_of(folder: Path, *arguments: str) -> tuple[list[str | Path], dict[str, str]]:
    """Give the words that run the cases, with a log in `folder`, and the environment to run them in."""
    command = oclgrind.oclgrind_command()
    if not command:
        pytest.skip("oclgrind is not here: `apt install oclgrind`, or `python -m buildtools.oclgrind`")
    if not next(found.built for found in status() if found.name == "opencl"):
        pytest.skip("the opencl backend is not built: build.py's table says how to get its headers")
    cases = TESTS / "kernels" / "oclgrind_cases.py"
    # No kernels from the user's cache, and none into it.
    path = os.pathsep.join((str(ROOT), str(TESTS / "support")))
    environment = {**os.environ, "XDG_CACHE_HOME": str(folder), "PYTHONPATH": path}
    return [*command, "--data-races", "--log", folder / "log", sys.executable, cases, *arguments], environment


def run(folder: Path, *arguments: str) -> tuple[list[str], str]:
    """What the cases print, and what oclgrind has to say about them."""
    command, environment = command_of(folder, *arguments)
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=PATIENCE, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines(), (folder / "log").read_text()


def test_each_part_of_the_kernels_has_cases() -> None:
    assert tuple(CASES) == PARTS


@pytest.mark.oclgrind
@pytest.mark.parametrize("part", CASES)
def test_blocks_and_threads_climb_as_c_does_without_a_race(part: str, tmp_path: Path) -> None:
    printed, said = run(tmp_path, part)
    assert len(printed) == CASES[part]
    assert [line for line in printed if not line.endswith(": equal")] == []
    assert said == ""


@pytest.mark.oclgrind
def test_reductions_by_several_blocks_have_no_race(tmp_path: Path) -> None:
    printed, said = run(tmp_path, "several_blocks")
    assert [line.endswith(": equal") for line in printed] == [True] * 5
    # In global memory blocks leave their results to the last one, which oclgrind takes for a race.
    assert "data race at global memory" in said
    assert "data race at local memory" not in said


@pytest.mark.oclgrind
def test_a_missing_barrier_is_noticed(tmp_path: Path) -> None:
    command, environment = command_of(tmp_path, "no_barriers")
    log = tmp_path / "log"
    # To find all of the races takes a minute: the first one is enough.
    with subprocess.Popen(command, env=environment) as running:
        wait_until(lambda: running.poll() is not None or (log.is_file() and "Kernel: " in log.read_text()))
        running.kill()
    said = log.read_text()
    assert "data race at local memory" in said
    assert "Kernel: grid_climb_block" in said


# How oclgrind is obtained


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache, and no oclgrind on PATH."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    which = shutil.which
    monkeypatch.setattr(oclgrind.shutil, "which", lambda name: None if name == "oclgrind" else which(name))
    return tmp_path / "pytsp"


def test_oclgrind_comes_from_this_systems_release_without_what_is_installed(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []

    def download(stanza: str, work: Path, names: Sequence[str], installed: Path) -> list[Path]:
        asked.append((stanza, tuple(names), installed))
        return []

    def unpack(packages: list[Path], root: Path) -> Path:
        (root / "usr" / "bin").mkdir(parents=True)
        (root / "usr" / "bin" / "oclgrind").touch()
        return root / "usr"

    sources = [
        Source("http://archive.invalid/ubuntu", "ubuntu", ()),
        Source("http://archive.invalid/debian", "debian", ()),
    ]
    release = {"ID": "debian", "VERSION_CODENAME": "bookworm"}
    monkeypatch.setattr(private.platform, "freedesktop_os_release", lambda: release)
    monkeypatch.setattr(oclgrind.shutil, "which", lambda name: None if name == "oclgrind" else f"/usr/bin/{name}")
    monkeypatch.setattr(private, "read_sources", lambda _: sources)
    monkeypatch.setattr(private, "download_packages", download)
    monkeypatch.setattr(private, "unpack", unpack)
    assert oclgrind.oclgrind_command() == []
    assert oclgrind.obtain_oclgrind() == oclgrind.obtain_oclgrind() == cache / "oclgrind"
    assert oclgrind.oclgrind_command()[-1] == str(cache / "oclgrind" / "bin" / "oclgrind")
    [(stanza, names, installed)] = asked
    assert "archive.invalid/debian\nSuites: bookworm\n" in stanza
    assert names == ("oclgrind", "opencl-c-headers")
    assert installed == Path("/var/lib/dpkg/status")


@pytest.mark.parametrize("missing", ["apt-get", "dpkg-deb"])
def test_without_apt_there_is_no_oclgrind(
    missing: str, cache: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(oclgrind.shutil, "which", lambda name: None if name == missing else f"/usr/bin/{name}")
    assert oclgrind.main() == 1
    assert "no Debian or Ubuntu system" in capsys.readouterr().err


def test_an_interrupted_download_leaves_nothing(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(work: Path, _: Sequence[str]) -> Path:
        (work / "half").touch()
        raise BuildError("the network is gone")

    monkeypatch.setattr(private, "_unpack_into", fail)
    with pytest.raises(BuildError, match="the network is gone"):
        oclgrind.obtain_oclgrind()
    assert [path.name for path in cache.iterdir()] == [".lock"]
