"""The self-test at a driver's first start: what it notices, where it runs, and what becomes of its verdict."""

from __future__ import annotations

import importlib.metadata
import logging
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import emulated
import numpy as np
import pytest
import standin
from paths import ROOT

from pytsp.backends import PARTS, Backend, kernel_cache, open_backend, registry, status
from pytsp.backends.kinds import KINDS, find
from pytsp.backends.self_test import comparison, searches, verdicts
from pytsp.backends.self_test.comparison import difference
from pytsp.cli.tables import _cells
from pytsp.exceptions import BackendUnavailable, DeviceMemoryError

# What is noticed


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("name", ["c", "multicore", emulated.NAMED])
def test_kernels_that_compute_rightly_pass(part: str, name: str) -> None:
    assert difference(_Altered(open_backend(name, part=part), part), open_backend("c")) == ""


def test_every_part_has_searches() -> None:
    assert tuple(searches.PARTS) == PARTS


class _Altered:
    """A backend whose arrays pass through a function before anyone sees them."""

    def __init__(self, kernels: Backend, part: str, alter: Callable[[str, Any], Any] = lambda _, value: value) -> None:
        self.kernels, self.part, self.alter = kernels, part, alter
        self.entry_points, self.value, self.device = kernels.entry_points, kernels.value, kernels.device

    def call(self, entry: str, *arguments: object) -> Any:
        found = self.kernels.call(entry, *arguments)
        return (
            tuple(self.alter(entry, each) for each in found) if isinstance(found, tuple) else self.alter(entry, found)
        )

    def fields(self, value: Any) -> dict[str, Any]:
        return {name: self.alter(name, each) for name, each in self.kernels.fields(value).items()}


# Of each part a result that only one of its kernels makes, or that comes of all.
RESULTS = {
    "restarts": ("descent_counts", "batch_tour", "tours", "lengths"),
    "search": (
        "plane_many_lists",
        "plane_many_climbed",
        "many_connected",
        "population_best",
        "population_tour",
        "bests",
        "steps",
    ),
    "flat": ("many_bests", "population_best", "population_tour", "bests", "lengths", "steps"),
    "lists": ("plane_along", "boxes_nearest", "boxes_quadrants", "many_connected"),
    "comparators": ("trails", "bests", "steps"),
    "neighbourhoods": ("batch_found", "tours"),
    "strategies": ("population_tour", "lengths"),
    "blocks": ("batch_found", "batch_tour"),
    "bound": ("one_tree", "ascent_bound", "alphas", "alpha_lists"),
}


@pytest.mark.parametrize(("part", "name"), [(part, name) for part, names in RESULTS.items() for name in names])
def test_a_wrong_result_is_noticed(part: str, name: str) -> None:
    c = open_backend("c")

    def alter(source: str, value: Any) -> Any:
        if source != name or isinstance(value, bool):
            return value
        # Another tour of the same cities, where it is one; else another number.
        is_tour = isinstance(value, np.ndarray) and np.array_equal(np.sort(value.ravel()[:100]), np.arange(100))
        return value[..., ::-1].copy() if is_tour else value + 1 if np.asarray(value).dtype != np.bool_ else ~value

    kernels = _Altered(c, part, alter)
    assert difference(kernels, c) != ""


def test_without_the_cpu_tours_and_lengths_are_checked() -> None:
    c = open_backend("c")
    assert difference(_Altered(c, "search"), None) == ""

    def lengthened(name: str, value: Any) -> Any:
        return value + 1 if name == "many_bests" and value.shape == (2,) else value

    longer = _Altered(c, "flat", lengthened)
    assert "plane_many_cross tells a length of " in difference(longer, None)
    twice = _Altered(c, "search", lambda name, value: 0 * value if name == "bests" else value)
    assert "plane_ils returns what is no tour (plane, 100 cities)" in difference(twice, None)


def test_a_kernel_that_fails_is_noticed_and_memory_that_does_not_suffice_is_no_verdict() -> None:
    c = open_backend("c")

    def fail(error: Exception) -> Callable[[str, Any], Any]:
        def alter(name: str, value: Any) -> Any:
            if name == "population_best":
                raise error
            return value

        return alter

    reported = difference(_Altered(c, "search", fail(IndexError("index 9\nis out of bounds"))), c)
    assert reported == "IndexError (plane, 100 cities): index 9 is out of bounds"
    with pytest.raises(DeviceMemoryError):
        difference(_Altered(c, "search", fail(DeviceMemoryError("full"))), c)


# The verdict


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's cache folder, empty; the stand-in's driver is tested apart, by a process that knows it."""
    monkeypatch.setattr(kernel_cache.platformdirs, "user_cache_dir", lambda _: str(tmp_path))
    program = verdicts.PROGRAM.replace("report(*given)", "import standin; standin.apply_fault(); report(*given)")
    # The process's own cache folder is not looked at.
    monkeypatch.setattr(verdicts, "PROGRAM", program)
    monkeypatch.delenv("STANDIN", raising=False)
    return tmp_path


def open_standin(part: str = "restarts") -> Backend:
    """Open the stand-in as a first start does: with nothing of it open in this process."""
    found = find(KINDS[standin.NAME], part)
    found.device = standin.GPU
    backend = verdicts.open_tested(found, {})
    if isinstance(backend, str):
        raise BackendUnavailable(backend)
    return backend


def forbid_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    def run(*_: object, **__: object) -> None:
        raise AssertionError("a process was started")

    monkeypatch.setattr(subprocess, "run", run)


def test_a_driver_is_tested_once(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    open_standin().close()
    assert [file.read_text() for file in cache.rglob("*.verdict")] == ["right\n"]
    forbid_processes(monkeypatch)
    open_standin().close()


def test_a_driver_is_tested_again_where_it_the_kernels_or_the_test_change(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = find(KINDS[standin.NAME])
    names = set()
    for device in (standin.GPU, standin.replace_driver("7.1")):
        for tuning in ({}, {"size": 3}):
            found.device = device
            names.add(verdicts._file(found, tuning))
    found.device = standin.GPU
    with monkeypatch.context() as patch:
        patch.setattr(verdicts, "_test_checksums", lambda: [0, 0])
        names.add(verdicts._file(found, {}))
    other = cache / "kernels.so"
    other.write_bytes(b"other kernels")
    monkeypatch.setattr(standin.StandIn, "file", lambda *_: other)
    names.add(verdicts._file(found, {}))
    assert len(names) == 6


@pytest.mark.parametrize(
    ("fault", "trouble"),
    [
        ("wrong", r"part 'restarts': plane_climb tells a length of \d+ for a tour of \d+ \(plane, 100 cities\)"),
        ("crash", r"part 'restarts': it crashes \(SIGABRT\)"),
    ],
)
def test_a_driver_that_fails_is_refused_from_then_on(
    fault: str, trouble: str, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STANDIN", fault)
    message = (
        rf"backend 'standin' on device 0 \(Stand-in GPU, driver Stand-in platform 7.0\) is refused: it fails the "
        rf"self-test of {trouble}; update the driver, or choose another device or backend"
    )
    with pytest.raises(BackendUnavailable, match=message):
        open_standin()
    [file] = cache.rglob("*.verdict")
    assert file.read_text().startswith("wrong: ")
    monkeypatch.delenv("STANDIN")
    with monkeypatch.context() as patch:
        forbid_processes(patch)
        with pytest.raises(BackendUnavailable, match=message):
            open_backend(standin.NAME)
    file.unlink()
    open_standin().close()


def test_a_driver_that_crashes_once_is_tested_again(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STANDIN", "crash once")
    monkeypatch.setenv("STANDIN_MARKER", str(cache / "crashed"))
    open_standin().close()
    assert (cache / "crashed").exists()
    [file] = cache.rglob("*.verdict")
    assert file.read_text() == "right\n"


def test_a_driver_that_comes_to_no_end_is_refused(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STANDIN", "hang")
    monkeypatch.setattr(verdicts, "TIMEOUT_SECONDS", 0.1)
    with pytest.raises(BackendUnavailable, match=r"it has come to no end after 0.1 s"):
        open_standin()
    assert len([*cache.rglob("*.verdict")]) == 1


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        ("exit", "exit code 3: the compiler has no more ideas"),
        ("memory", "the device is full"),
        ("killed", "exit code -9: it says nothing"),
    ],
)
def test_what_tells_nothing_of_the_driver_is_no_verdict(
    fault: str, reason: str, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STANDIN", fault)
    with pytest.raises(BackendUnavailable, match=f"Stand-in GPU.* could not be tested: .*{reason}"):
        open_standin()
    assert not [*cache.rglob("*.verdict")]
    monkeypatch.delenv("STANDIN")
    open_standin().close()


@pytest.mark.parametrize("content", [b"", b"rig", b"\xff\xfe", b"otherwise: no"])
def test_a_damaged_verdict_is_made_again(content: bytes, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(standin.StandIn, "self_test", "here")
    open_standin().close()
    [file] = cache.rglob("*.verdict")
    file.write_bytes(content)
    open_standin().close()
    assert file.read_text() == "right\n"


@pytest.mark.filterwarnings("ignore:compiled kernels are not kept")
def test_a_verdict_that_cannot_be_kept_holds_for_this_start(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (cache / "kernels").write_text("a file where the folder should be")
    open_standin().close()
    monkeypatch.setenv("STANDIN", "wrong")
    with pytest.raises(BackendUnavailable, match="is refused"):
        open_standin()


def test_a_driver_that_is_trusted_not_to_crash_is_tested_here(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    forbid_processes(monkeypatch)
    monkeypatch.setattr(standin.StandIn, "self_test", "here")
    open_standin().close()
    [file] = cache.rglob("*.verdict")
    assert file.read_text() == "right\n"
    file.unlink()
    closed: list[Backend] = []
    close = Backend.close
    monkeypatch.setattr(Backend, "close", lambda self: closed.append(self) or close(self))
    monkeypatch.setattr(comparison, "difference", lambda *_: "it adds nothing up")
    with pytest.raises(BackendUnavailable, match="it adds nothing up"):
        open_standin()
    assert [each.name for each in closed] == ["c", standin.NAME]


def test_cuda_and_opencl_are_tested() -> None:
    assert {name: kind.self_test for name, kind in KINDS.items() if name in ("c", "multicore", "opencl", "cuda")} == {
        "c": "",
        "multicore": "",
        "opencl": "apart",
        "cuda": "here",
    }


# What others see of it


@pytest.fixture
def refused(cache: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The stand-in is the backend cuda, and its driver computes wrongly."""
    monkeypatch.setenv("STANDIN", "wrong")
    monkeypatch.setitem(KINDS, "cuda", KINDS[standin.NAME])
    return cache


def test_auto_goes_past_a_driver_that_fails_with_a_warning(
    refused: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(2):
        caplog.clear()
        monkeypatch.setattr(registry, "_registry", {})
        with caplog.at_level(logging.WARNING, "pytsp"):
            assert open_backend().name in ("c", "multicore")
        [warning] = caplog.messages
        assert "passed over: backend 'standin' on device 0" in warning and "fails the self-test" in warning


def test_another_device_is_taken_with_a_warning(
    refused: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = standin.replace_driver("8.0", index=1)
    monkeypatch.setattr(standin.StandIn, "probe", lambda _: standin.Probe((standin.GPU, other)))
    found = find(KINDS["cuda"])
    found.device = other
    verdicts._keep(verdicts._file(found, {}), "")
    with caplog.at_level(logging.WARNING, "pytsp"), open_backend("cuda") as backend:
        assert backend.device == other
    [warning] = caplog.messages
    assert "on device 0" in warning
    with pytest.raises(BackendUnavailable, match="on device 0 .*is refused"):
        open_backend("cuda", device=0)


def test_the_listing_tells_a_driver_that_failed(refused: Path) -> None:
    assert status()[3].usable
    with pytest.raises(BackendUnavailable):
        open_backend("cuda")
    listed = status()[3]
    assert not listed.usable and listed.devices[0].trouble in listed.reason
    assert listed.devices[0].trouble.startswith("fails the self-test of part 'restarts': plane_climb tells")
    assert "update the device's driver" in listed.remedy
    assert _cells(listed)[3].count("fails the self-test") == 1


# A driver that is one


@pytest.mark.slow
def test_a_solve_by_intels_runtime_is_that_of_c(tmp_path: Path) -> None:
    if not next(found.built for found in status() if found.name == "opencl"):
        pytest.skip("the opencl backend is not built: build.py's table says how to get its headers")
    try:
        files = importlib.metadata.files("intel-opencl-rt") or []
    except importlib.metadata.PackageNotFoundError:
        files = []
    driver = next((Path(file.locate()).resolve() for file in files if file.name == "libintelocl.so"), None)
    if driver is None:
        pytest.skip("Intel's OpenCL runtime is not here: pip install intel-opencl-rt intel-cmplr-lib-rt")
    path = os.pathsep.join(map(str, (ROOT, *sys.path)))
    environment = {**os.environ, "PYTHONPATH": path, "XDG_CACHE_HOME": str(tmp_path)}
    environment |= {"LD_LIBRARY_PATH": str(driver.parent), "OCL_ICD_FILENAMES": str(driver)}
    program = """if True:
        import pytsp
        cities = pytsp.read("uniform100")
        for name in ("opencl", "c"):
            print(pytsp.solve(cities, solver="two-opt", start="random", seed=1, backend=name).tour.tolist())
    """
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found, expected = done.stdout.splitlines()
    assert found == expected
    assert [each.read_text() for each in tmp_path.rglob("*.verdict")] == ["right\n"]
