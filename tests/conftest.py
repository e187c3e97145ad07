"""Hypothesis profiles, the tests that are left out, and fixtures: every backend that kernels run on, and a browser."""

from __future__ import annotations

import glob
import os
import re
import signal
from collections.abc import Iterator
from typing import Any

import emulated
import pytest
from checkout import needs_checkout
from gpus import gpu_params, usable_backends
from hypothesis import HealthCheck, settings
from paths import ROOT

from pytsp.backends import Backend, open_backend

# No example has a time limit, and examples may be drawn slowly: other work may keep the machine busy.
patient: dict[str, Any] = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("default", **patient)
settings.register_profile("ci", **patient, derandomize=True, print_blob=True)
settings.register_profile("few", **patient, derandomize=True, print_blob=True, max_examples=10)
settings.register_profile("thorough", **patient, max_examples=2000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci" if os.environ.get("CI") else "default"))

# What these test is in a checkout only, and is imported at module level.
collect_ignore = [folder for folder in ("bench", "fuzz") if not (ROOT / folder).is_dir()]

MOST_PROCESSES = 4
# For `-m`: what takes less than a second or two, and every test that is not timed.
QUICK = "not slow"
ALL = "slow or not slow"
# The markers of tests that run only where `-m` names them.
TIMED, GPU = "timed", "gpu"
# Of several GPUs each process of the tests has one, once a backend is looked for.
GPUS = len(glob.glob("/dev/nvidia[0-9]*"))
if GPUS > 1 and "PYTEST_XDIST_WORKER" in os.environ:
    process = int(os.environ["PYTEST_XDIST_WORKER"].removeprefix("gw"))
    os.environ.setdefault("CUDA_VISIBLE_DEVICES", str(process % GPUS))
# Other backends share a GPU, or may.
ON_THE_CPU = {each.name for each in usable_backends()} <= {"c", "multicore"}
# Tests of a GPU run wherever there is one.
HAS_GPU = any(device.is_gpu for each in usable_backends() for device in each.devices)


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Tell a process of pytest-xdist, which has the command line only, which tests are asked for."""
    node.workerinput["markexpr"] = node.config.option.markexpr


def pytest_configure(config: pytest.Config) -> None:
    """Heed Ctrl-C, and the end of a terminal, which processes inherit: a shell that puts the tests into the background
    has them ignore the one, nohup the other."""
    config.option.markexpr = getattr(config, "workerinput", {}).get("markexpr", config.option.markexpr)
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if signal.getsignal(signal.SIGHUP) == signal.SIG_IGN:
        signal.signal(signal.SIGHUP, signal.SIG_DFL)


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> None:
    """Run the whole suite in as many processes as there are cores, each file in one, where pytest-xdist is installed.

    Not where they would share a GPU, nor with `-n`, `--pdb` or, since that is too late to ask for it, `--cov`. Timed
    tests run in one process. The whole suite is without slow tests where `-m` does not say which to run, but not in CI.
    """
    plugins, whole = config.pluginmanager, config.args_source is pytest.Config.ArgsSource.TESTPATHS
    if "PYTEST_XDIST_WORKER" in os.environ:
        return
    if whole and leaves_out_slow(config.option.markexpr):
        config.option.markexpr = QUICK
    if not plugins.hasplugin("xdist"):
        return
    if names(config.option.markexpr, TIMED):
        config.option.numprocesses = 0
    if whole and config.option.numprocesses is None and not config.option.usepdb and not plugins.hasplugin("_cov"):
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1
        config.option.numprocesses = min(MOST_PROCESSES, cores) if ON_THE_CPU else 0
    if config.option.numprocesses and config.option.dist == "no":
        config.option.dist = "loadfile"


def leaves_out_slow(asked: str) -> bool:
    """Tell whether slow tests are to be left out of the whole suite, where the option `-m` asks for this."""
    return not asked and not os.environ.get("CI")


def names(asked: str, marker: str) -> bool:
    """Tell whether the option `-m` asks for the tests of a marker, and does not leave them out."""
    return re.search(rf"(?<!not )\b{marker}\b", asked) is not None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out timed tests, and without a GPU those that need one, where `-m` does not name them.

    A timed test needs the machine for itself.
    """
    markers = [marker for marker in (TIMED, GPU)[: 2 - HAS_GPU] if not names(config.option.markexpr, marker)]
    parts: tuple[list[pytest.Item], list[pytest.Item]] = ([], [])
    for item in items:
        parts[any(item.get_closest_marker(marker) for marker in markers)].append(item)
    items[:], left_out = parts
    config.hook.pytest_deselected(items=left_out)


def pytest_report_header(config: pytest.Config) -> str | None:
    """Say which tests are left out although nobody asked for it."""
    left_out = config.option.markexpr == QUICK and "PYTEST_XDIST_WORKER" not in os.environ
    return f"slow and timed tests: left out; slow ones: pytest -m '{ALL}', timed ones: -m timed" if left_out else None


# c and multicore run everywhere: where they are missing, tests fail rather than pass unseen.
@pytest.fixture(scope="module", params=["c", "multicore", *gpu_params(), emulated.NAMED])
def backend(request: pytest.FixtureRequest) -> Iterator[Backend]:
    """Every backend that runs here, open: the part of the kernels that the module names as its PART."""
    with pytest.MonkeyPatch.context() as patch:
        if request.param == emulated.NAME:
            emulated.slow_down(patch)
        yield open_backend(request.param, part=getattr(request.module, "PART", "restarts"))


@pytest.fixture(scope="module", params=["c", "multicore"])
def on_the_cpu(request: pytest.FixtureRequest) -> Backend:
    """Every backend of the CPU, open."""
    return open_backend(request.param)


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    """A browser without a window; skips the test without one."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="it drives the browser: pip install playwright")
    needs_checkout("buildtools")
    from buildtools.chromium import find_chromium  # noqa: PLC0415

    browser = find_chromium()
    if browser is None:
        pytest.skip("Chromium is not here: `apt install chromium`, or `python -m buildtools.chromium`")
    with sync_api.sync_playwright() as playwright:
        environment = {**os.environ, **browser.environment}
        yield playwright.chromium.launch(executable_path=browser.program, env=environment, chromium_sandbox=False)
