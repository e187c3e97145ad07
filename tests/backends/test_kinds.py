"""Kinds of device: one of the tests' own, and what each asks of Futhark before a context is made."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pytsp.backends import Backend, BackendStatus, Device, cpu, kernel_cache, open_backend, opencl, status
from pytsp.backends.cpu import Sequential
from pytsp.backends.cuda import driver, nvrtc
from pytsp.backends.cuda.nvrtc import CudaLibraries
from pytsp.backends.devices import Probe
from pytsp.backends.kind import DeviceKind, Found
from pytsp.backends.kinds import KINDS
from pytsp.exceptions import BackendError, BackendUnavailable

GPU = Device(0, "NVIDIA H200", 2**37, "9.0", "13.0", "Platform", selector="#0")


class Own(Sequential):
    """A device of the tests' own, on which the kernels of c run."""

    name = "own"
    on_the_cpu = False

    def module(self, part: str | None) -> str:
        return "c"

    def probe(self) -> Probe:
        return Probe((GPU,))

    threads = DeviceKind.threads


@pytest.fixture
def own(monkeypatch: pytest.MonkeyPatch) -> Iterator[Backend]:
    monkeypatch.setitem(KINDS, "own", Own())
    with open_backend("own", part="search") as backend:
        yield backend


def test_a_kind_that_is_added_is_opened_by_its_name_only(own: Backend) -> None:
    assert (own.name, own.part, own.threads, own.device) == ("own", "search", None, GPU)
    assert own.call("batch_found", own.call("batch_random", 5, 0, 0, 3))[0].tolist() == [0, 0, 0]
    assert own.free_memory() is None
    assert "own" not in [each.name for each in status()]
    assert open_backend().name != "own"
    for settings in ({"threads": 2}, {"device": 1}):
        with pytest.raises(BackendError, match="takes no thread count|fits no device of backend 'own'"):
            open_backend("own", **settings)  # type: ignore[arg-type]


class Recorder:
    """A compiled module that takes down what it is asked."""

    def __init__(self) -> None:
        self.lib = self
        self.ffi = SimpleNamespace(string=bytes)
        self.calls: dict[str, list[Any]] = {}

    def __getattr__(self, name: str) -> Callable[..., Any]:
        def call(*arguments: Any) -> Any:
            self.calls.setdefault(name.removeprefix("futhark_context_config_"), []).append(arguments[1:])
            return b"program" if name.endswith("get_program") else 0

        return call


@pytest.fixture
def configured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., dict[str, list[Any]]]:
    """A function that configures a context and returns the calls of C by their names."""
    monkeypatch.setattr(kernel_cache.platformdirs, "user_cache_dir", lambda _: str(tmp_path))
    monkeypatch.setattr(DeviceKind, "kernels", tmp_path)

    def configure(name: str, **rest: Any) -> dict[str, list[Any]]:
        kind, module = KINDS[name], Recorder()
        kind.file("search").touch()
        kind.configure(
            Found(kind, BackendStatus(name, True, True), "search", {}, module, **rest), "config", {"size": 3}
        )
        return module.calls

    return configure


def test_opencl_is_told_platform_and_device_and_not_to_fuse(configured: Any) -> None:
    calls = configured("opencl", device=GPU)
    assert (calls["set_device"], calls["set_platform"]) == ([(b"#0",)], [(b"Platform",)])
    assert calls["set_program"] == [(opencl.PREFIX + b"program",)]
    assert b"/kernels/opencl_search-" in calls["set_cache_file"][0][0]


def test_pocl_is_not_asked_for_whole_programs(configured: Any) -> None:
    calls = configured("opencl", device=replace(GPU, platform="Portable Computing Language"))
    assert "set_program" in calls and "set_cache_file" not in calls


@pytest.mark.parametrize(("version", "split"), [("12.9", []), ("13.0", [(b"--split-compile=0",)])])
def test_cuda_is_compiled_for_its_device_and_tried_before(
    configured: Any, monkeypatch: pytest.MonkeyPatch, version: str, split: list[Any]
) -> None:
    tried: list[Any] = []
    monkeypatch.setattr(driver, "context_check", lambda device: tried.append(device) or "")
    monkeypatch.setattr(nvrtc, "compile_check", lambda *arguments: tried.append(arguments) or "")
    libraries = CudaLibraries("libnvrtc", version, "/include", (80, 90))
    calls = configured("cuda", libraries=libraries, device=GPU)
    assert (calls["set_device"], calls["set_unified_memory"]) == ([(b"#0",)], [(0,)])
    exact = [(b"--fmad=false",), (b"--prec-sqrt=false",), (b"--ftz=true",)]
    assert calls["add_nvrtc_option"] == [*exact, *split, (b"-I/include",), (b"--gpu-architecture=sm_90",)]
    options = tuple(option.decode() for (option,) in calls["add_nvrtc_option"])
    assert tried == [GPU, ("libnvrtc", options)]
    monkeypatch.setattr(driver, "context_check", lambda _: "no room")
    with pytest.raises(BackendUnavailable, match="backend 'cuda' cannot run here: no room"):
        configured("cuda", libraries=libraries, device=GPU)


def test_only_multicore_is_told_its_threads(configured: Any) -> None:
    assert configured("multicore", threads=3) == {"set_num_threads": [(3,)]}
    assert configured("c", threads=1) == {}


# Levels of processors


@pytest.fixture
def levels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The kernels of a wheel: portable ones, and for two levels."""
    for folder, needs in (("", []), ("x86-64-v3", ["avx2"]), ("x86-64-v4", ["avx2", "avx512f"])):
        entry = {"built": True, "needs": needs, "level": folder}
        (tmp_path / folder).mkdir(exist_ok=True)
        (tmp_path / folder / "build.json").write_text(json.dumps({"modules": {"c": entry, "multicore": entry}}))
    monkeypatch.setattr(DeviceKind, "kernels", tmp_path)
    monkeypatch.setattr(cpu, "choose_folder", cpu.choose_folder.__wrapped__)
    return tmp_path


@pytest.mark.parametrize(
    ("features", "folder"),
    [
        ({"sse2"}, ""),
        ({"sse2", "avx2"}, "x86-64-v3"),
        ({"sse2", "avx512f"}, ""),
        ({"sse2", "avx2", "avx512f"}, "x86-64-v4"),
    ],
)
@pytest.mark.parametrize("kind", [cpu.Sequential(), cpu.Multicore()])
def test_a_processor_loads_the_highest_level_that_it_has(
    kind: DeviceKind, features: set[str], folder: str, levels: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cpu, "missing_features", lambda needs: sorted({*needs} - features))
    assert kind.folder() == levels / folder
    assert kind.file("search") == levels / folder / f"_{kind.name}.abi3.so"
    assert kind.build_entry("search")["level"] == folder
    monkeypatch.setattr("pytsp.backends.kind.import_module", lambda name: name)
    loaded, trouble = kind.load("search")
    assert loaded == ".".join(filter(None, ("pytsp._kernels", folder, f"_{kind.name}"))) and trouble == Probe()


def test_a_folder_without_a_report_is_passed_over(levels: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (levels / "x86-64-v4" / "build.json").unlink()
    monkeypatch.setattr(cpu, "missing_features", lambda _: [])
    assert cpu.Sequential().folder() == levels / "x86-64-v3"
