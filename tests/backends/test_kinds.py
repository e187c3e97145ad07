"""Kinds of device: one of the tests' own, and what each asks of Futhark before a context is made."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pytsp.backends import Backend, BackendStatus, Device, kernel_cache, open_backend, opencl, status
from pytsp.backends.cpu import Sequential
from pytsp.backends.cuda import driver, nvrtc
from pytsp.backends.cuda.libraries import CudaLibraries
from pytsp.backends.devices import Probe
from pytsp.backends.kind import DeviceKind, Found
from pytsp.backends.registry import KINDS
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
