"""Cores, drivers and compilers as they are probed: on control groups made of files and drivers made of C."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from pytsp.backends import BackendStatus, Device
from pytsp.backends.cuda import nvrtc
from pytsp.backends.cuda.nvrtc import CudaLibraries
from pytsp.backends.devices import missing_functions, usable_cores
from pytsp.backends.registry import choose
from pytsp.exceptions import BackendError, BackendUnavailable

H200 = Device(0, "NVIDIA H200", 2**37, "9.0", "13.0", selector="#0")


# Cores


@pytest.mark.parametrize(
    ("affinity", "quota", "cores"),
    [(8, "max 100000", 8), (8, "200000 100000", 2), (8, "250000 100000", 2), (8, "50000 100000", 1)]
    + [(2, "800000 100000", 2), (8, "", 8), (8, "rubbish", 8), (8, "-1 100000", 8), (8, "100000 0", 8)],
)
def test_a_quota_of_version_2_bounds_the_cores(tmp_path: Path, affinity: int, quota: str, cores: int) -> None:
    (tmp_path / "cgroup").write_text("0::/box\n")
    (tmp_path / "box").mkdir()
    (tmp_path / "box" / "cpu.max").write_text(quota + "\n")
    assert usable_cores(tmp_path / "cgroup", tmp_path, affinity) == cores


def test_the_tightest_quota_of_all_parents_holds(tmp_path: Path) -> None:
    (tmp_path / "cgroup").write_text("0::/a/b/c\n")
    for group, quota in (("a", "300000 100000"), ("a/b", "500000 100000"), ("a/b/c", "max 100000")):
        (tmp_path / group).mkdir()
        (tmp_path / group / "cpu.max").write_text(quota)
    assert usable_cores(tmp_path / "cgroup", tmp_path, 8) == 3


@pytest.mark.parametrize(("quota", "cores"), [("-1", 8), ("150000", 1), ("400000", 4)])
@pytest.mark.parametrize("folder", ["cpu", "cpu,cpuacct", "cpu/docker/x"])
def test_a_quota_of_version_1_bounds_the_cores(tmp_path: Path, quota: str, cores: int, folder: str) -> None:
    (tmp_path / "cgroup").write_text("9:memory:/docker/x\n2:cpu,cpuacct:/docker/x\n1:cpuset:/\n0::/\n")
    (tmp_path / folder).mkdir(parents=True)
    (tmp_path / folder / "cpu.cfs_quota_us").write_text(quota + "\n")
    (tmp_path / folder / "cpu.cfs_period_us").write_text("100000\n")
    assert usable_cores(tmp_path / "cgroup", tmp_path, 8) == cores


def test_without_control_groups_the_affinity_counts(tmp_path: Path) -> None:
    assert usable_cores(tmp_path / "none", tmp_path, 5) == 5
    assert 1 <= usable_cores() <= (os.cpu_count() or 1)


# Drivers


CUDA = """
#include <stdlib.h>
#include <string.h>
static int told(const char *name) { const char *v = getenv(name); return v ? atoi(v) : 0; }
int cuInit(unsigned f) { return told("FAKE_INIT"); }
int cuGetErrorString(int e, const char **s) { *s = "as told"; return 0; }
int cuDriverGetVersion(int *v) { *v = 12040; return 0; }
int cuDeviceGetCount(int *n) { *n = told("FAKE_COUNT"); return 0; }
int cuDeviceGet(int *d, int i) { *d = i; return 0; }
int cuDeviceGetName(char *s, int n, int d) { strcpy(s, d ? "Second" : "First"); return 0; }
int cuDeviceTotalMem_v2(size_t *m, int d) { *m = (size_t)8 << 30; return 0; }
int cuDeviceGetAttribute(int *v, int a, int d) {
  *v = a == 75 ? 9 : a == 76 ? 0 : a == 16 ? 132 : d == 0 ? told("FAKE_MODE") : 0;
  return 0;
}
"""

NVRTC = """
#include <stdlib.h>
int nvrtcVersion(int *a, int *b) { *a = 12; *b = atoi(getenv("FAKE_NVRTC")); return 0; }
int nvrtcGetNumSupportedArchs(int *n) { *n = 3; return 0; }
int nvrtcGetSupportedArchs(int *a) { a[0] = 75; a[1] = 80; a[2] = 100; return 0; }
"""

OPENCL = """
#include <stdlib.h>
#include <stdint.h>
#include <string.h>
typedef size_t H;
static int give(const void *v, size_t n, size_t room, void *out, size_t *size) {
  if (size) *size = n;
  if (out && room >= n) memcpy(out, v, n);
  return 0;
}
static int text(const char *s, size_t room, void *out, size_t *size) {
  return give(s, strlen(s) + 1, room, out, size);
}
int clGetPlatformIDs(unsigned room, H *out, unsigned *n) {
  if (n) *n = getenv("FAKE_VERSION") ? 2 : 0;
  for (unsigned i = 0; i < room; i++) out[i] = i + 1;
  return getenv("FAKE_VERSION") ? 0 : -1001;
}
int clGetPlatformInfo(H p, unsigned key, size_t room, void *out, size_t *size) {
  const char *name = getenv("FAKE_NAME") ? getenv("FAKE_NAME") : "Portable";
  const char *first = key == 0x0902 ? name : getenv("FAKE_VERSION");
  return text(p == 1 ? first : "Portable GPU", room, out, size);
}
int clGetDeviceIDs(H p, uint64_t type, unsigned room, H *out, unsigned *n) {
  if (n) *n = p;
  for (unsigned i = 0; i < room; i++) out[i] = 10 * p + i;
  return 0;
}
int clGetDeviceInfo(H d, unsigned key, size_t room, void *out, size_t *size) {
  uint64_t memory = (uint64_t)4 << 30, local = d < 20 ? 32 << 10 : 64 << 10, type = d < 20 ? 2 : 4;
  unsigned width = d != 21, units = d < 20 ? 8 : 60;
  if (key == 0x101F) return give(&memory, 8, room, out, size);
  if (key == 0x1023) return give(&local, 8, room, out, size);
  if (key == 0x1000) return give(&type, 8, room, out, size);
  if (key == 0x1002) return give(&units, 4, room, out, size);
  if (key == 0x100B) return give(&width, 4, room, out, size);
  return text(key == 0x102B ? (d < 20 ? "CPU" : "GPU") : "1.2", room, out, size);
}
"""

PROBE = """
import json, sys
from pytsp.backends import status
from pytsp.backends.cuda.nvrtc import find_libraries
from pytsp.backends.kinds import KINDS
from dataclasses import asdict
probe = KINDS[sys.argv[1]].probe()
libraries = asdict(find_libraries(sys.argv[2])) if len(sys.argv) > 2 else None
print(json.dumps([asdict(probe), status()[3].usable, libraries]))
"""


@pytest.fixture(scope="session")
def drivers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a CUDA driver, a run-time compiler and an OpenCL loader that say what they are told."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        pytest.skip("no C compiler to make drivers with")
    folder = tmp_path_factory.mktemp("drivers")
    for name, source in (("libcuda.so.1", CUDA), ("libOpenCL.so.1", OPENCL), ("libnvrtc.so.12", NVRTC)):
        place = folder / name.partition(".")[0]
        place.mkdir()
        command = [compiler, "-shared", "-fPIC", "-w", "-x", "c", "-", "-o", str(place / name)]
        subprocess.run(command, input=source, text=True, check=True)
    return folder


def _probe(drivers: Path, *arguments: str, libraries: str, **reported: str) -> tuple[Any, bool, Any]:
    """Probe in a process of its own, where the loader finds the drivers."""
    path = ":".join(str(drivers / library) for library in libraries.split())
    hidden = ("CUDA_HOME", "CUDA_PATH", "CUDA_ROOT", "PYTSP_ALLOW_POCL")
    environment = {key: value for key, value in os.environ.items() if key not in hidden}
    environment |= {"LD_LIBRARY_PATH": path, "PYTHONPATH": ":".join(sys.path), **reported}
    command = [sys.executable, "-c", PROBE, *arguments]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    found, usable, nvrtc = json.loads(done.stdout)
    return found, usable, nvrtc


def test_a_cuda_driver_that_does_not_start_is_named_with_its_error(drivers: Path) -> None:
    found, usable, _ = _probe(drivers, "cuda", libraries="libcuda", FAKE_INIT="100")
    assert found["reason"] == "cuInit failed with error code 100 (as told)"
    assert not usable


def test_a_process_forked_from_one_that_used_cuda_is_told_to_spawn(drivers: Path) -> None:
    found, _, _ = _probe(drivers, "cuda", libraries="libcuda", FAKE_INIT="3")
    assert "forked" in found["reason"] and "'spawn'" in found["remedy"]


def test_a_driver_without_devices_is_no_backend(drivers: Path) -> None:
    found, usable, _ = _probe(drivers, "cuda", libraries="libcuda")
    assert found["reason"] == "the driver shows no device"
    assert not usable


def test_cuda_devices_are_described_and_prohibited_ones_left_out(drivers: Path) -> None:
    found, usable, _ = _probe(drivers, "cuda", libraries="libcuda", FAKE_COUNT="2", FAKE_MODE="2")
    first, second = found["devices"]
    assert first["trouble"] and not second["trouble"] and not found["reason"]
    assert (second["index"], second["selector"], second["name"]) == (1, "#0", "Second")
    assert (second["memory"], second["capability"], second["driver"]) == (2**33, "9.0", "12.4")
    assert second["multiprocessors"] == 132
    assert not usable
    found, _, _ = _probe(drivers, "cuda", libraries="libcuda", FAKE_COUNT="1", FAKE_MODE="2")
    assert "prohibited" in found["reason"]


def test_a_run_time_compiler_newer_than_the_driver_is_passed_over(drivers: Path) -> None:
    _, _, nvrtc = _probe(drivers, "cuda", "12.4", libraries="libcuda libnvrtc", FAKE_NVRTC="4", FAKE_COUNT="1")
    assert (nvrtc["version"], nvrtc["architectures"]) == ("12.4", [75, 80, 100])
    _, _, none = _probe(drivers, "cuda", "12.3", libraries="libcuda libnvrtc", FAKE_NVRTC="4", FAKE_COUNT="1")
    assert "the driver supports CUDA 12.3 and NVRTC is newer: " in none["reason"] and "12.4" in none["reason"]
    assert "nvidia-cuda-nvrtc-cu12<=12.3.999" in none["remedy"]


@pytest.mark.parametrize(
    ("name", "version", "allowed", "trouble"),
    [
        ("Portable Computing Language", "OpenCL 3.0 PoCL 3.1-debian Linux", "", "PoCL 3.1 is refused"),
        ("Portable Computing Language", "OpenCL 1.2 pocl 1.8", "", "pocl 1.8 is refused"),
        ("Portable Computing Language", "OpenCL 3.0 PoCL 6.0  Linux, Release", "", "PoCL 6.0 is refused"),
        ("Portable Computing Language", "OpenCL 3.0 PoCL 7.1", "0", "PoCL 7.1 is refused"),
        ("Portable Computing Language", "OpenCL 4.0", "", "OpenCL 4.0 is refused"),
        ("Portable", "OpenCL 3.0 PoCL 8.0", "", "PoCL 8.0 is refused"),
        ("Portable Computing Language", "OpenCL 3.0 PoCL 6.0", "1", ""),
        ("Portable", "OpenCL 3.0 CUDA 13.0", "", ""),
    ],
)
def test_every_pocl_is_named_and_refused_unless_it_is_asked_for(
    drivers: Path, name: str, version: str, allowed: str, trouble: str
) -> None:
    reported = {"FAKE_NAME": name, "FAKE_VERSION": version, "PYTSP_ALLOW_POCL": allowed}
    found, _, _ = _probe(drivers, "opencl", libraries="libOpenCL", **reported)
    cpu, gpu, single = found["devices"]
    assert cpu["trouble"].startswith(trouble) and bool(cpu["trouble"]) == bool(trouble)
    assert not trouble or "set PYTSP_ALLOW_POCL=1 to have the self-test judge this one" in cpu["trouble"]
    assert (gpu["is_gpu"], gpu["platform"], gpu["selector"], gpu["trouble"]) == (
        True,
        "Portable GPU",
        "#0",
        "",
    )
    assert single["trouble"] == "it has no double-precision arithmetic"
    assert [each["index"] for each in found["devices"]] == [0, 1, 2]
    assert cpu["memory"] == 2**32 and not cpu["is_gpu"]
    assert [each["shared_memory"] for each in found["devices"]] == [2**15, 2**16, 2**16]
    assert [each["multiprocessors"] for each in found["devices"]] == [8, 60, 60]


def test_opencl_without_platforms_is_no_backend(drivers: Path) -> None:
    found, _, _ = _probe(drivers, "opencl", libraries="libOpenCL")
    assert found["reason"] == "OpenCL shows no device"


def test_functions_that_a_driver_lacks_are_named(tmp_path: Path) -> None:
    module = tmp_path / "module"
    module.write_bytes(b"\x7fELF\0malloc\0cuNoSuch_v9\0cuEventNoSuch\0text cuOther\0")
    assert missing_functions(module, rb"(?:cu[A-Z]|mal)\w+") == ["cuNoSuch_v9"]


def test_kernels_are_compiled_for_the_newest_architecture_that_both_know() -> None:
    def newest(*architectures: int) -> str | None:
        return CudaLibraries("", "13.0", "", architectures).architecture(H200)

    assert newest(75, 80, 90, 100) == "sm_90"
    assert newest(75, 80, 100) == "compute_80"
    assert newest(100) is None


def test_the_folder_beside_the_compiler_is_taken_for_its_headers(tmp_path: Path) -> None:
    for root in ("one", "two"):
        (tmp_path / root / "include").mkdir(parents=True)
        (tmp_path / root / "include" / "cuda_fp16.h").touch()
    one, two = tmp_path / "one", tmp_path / "two"
    assert nvrtc._include(str(two / "lib" / "libnvrtc.so.13"), [one]) == str(two / "include")
    assert nvrtc._include("libnvrtc.so.13", [tmp_path, one]) == str(one / "include")
    assert nvrtc._include("libnvrtc.so.13", [tmp_path]) == ""


# Choosing a device


def _status(*names: str) -> BackendStatus:
    """A CUDA backend with devices of these names; one in parentheses cannot be used."""
    devices = [
        Device(index, name.strip("()"), 2**33, "9.0", "13.0", trouble="in use" if name[0] == "(" else "")
        for index, name in enumerate(names)
    ]
    return BackendStatus("cuda", True, True, devices=tuple(devices))


@pytest.mark.parametrize(
    ("wanted", "index"), [(None, 1), (1, 1), ("1", 1), ("#2", 2), ("h200", 1), ("A100", 3), ("NVIDIA A", 3)]
)
def test_a_device_is_chosen_by_number_or_by_a_part_of_its_name(wanted: int | str | None, index: int) -> None:
    found = _status("(Tesla T4)", "NVIDIA H200", "NVIDIA H200", "NVIDIA A100")
    assert choose(found, wanted).index == index


@pytest.mark.parametrize("wanted", [4, -1, "9", "B200", "NVIDIA"])
def test_a_device_that_is_not_there_or_not_one_is_refused_with_those_there_are(wanted: int | str) -> None:
    found = _status("(Tesla T4)", "NVIDIA H200", "NVIDIA A100")
    with pytest.raises(BackendError, match=f"device {wanted!r} fits .* 0: Tesla T4; 1: NVIDIA H200; 2: NVIDIA A100"):
        choose(found, wanted)


def test_a_device_in_trouble_is_not_opened() -> None:
    with pytest.raises(BackendUnavailable, match="device 0 .Tesla T4. cannot run kernels: in use"):
        choose(_status("(Tesla T4)", "NVIDIA H200"), 0)
