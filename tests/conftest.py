"""Hypothesis profiles, and what tests ask for: every backend that kernels are tested on, and a browser."""

from __future__ import annotations

import glob
import os
import signal
from collections.abc import Iterator
from typing import Any

import emulated
import pytest
from checkout import needs_checkout
from hypothesis import settings
from paths import ROOT

from pytsp.backends import Backend, open_backend, status

settings.register_profile("default", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True)
settings.register_profile("few", deadline=None, derandomize=True, print_blob=True, max_examples=10)
settings.register_profile("thorough", deadline=None, max_examples=2000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci" if os.environ.get("CI") else "default"))

# What these test is in a checkout only, and is imported at module level.
collect_ignore = [folder for folder in ("bench", "fuzz") if not (ROOT / folder).is_dir()]

MOST_PROCESSES = 4
# For `-m`: what takes less than a second or two, and every test.
QUICK = "not slow"
ALL = "slow or not slow"
# Of several GPUs each process of the tests has one, once a backend is looked for.
GPUS = len(glob.glob("/dev/nvidia[0-9]*"))
if GPUS > 1 and "PYTEST_XDIST_WORKER" in os.environ:
    process = int(os.environ["PYTEST_XDIST_WORKER"].removeprefix("gw"))
    os.environ.setdefault("CUDA_VISIBLE_DEVICES", str(process % GPUS))
# c and multicore run everywhere: where they are missing, tests fail rather than pass unseen.
NAMES = [each.name for each in status() if each.usable or each.name in ("c", "multicore")]


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

    Not where they would share a GPU, nor with `-n`, `--pdb` or, since that is too late to ask for it, `--cov`. The
    whole suite is without slow tests where `-m` does not say which to run, but not in CI.
    """
    plugins, whole = config.pluginmanager, config.args_source is pytest.Config.ArgsSource.TESTPATHS
    if "PYTEST_XDIST_WORKER" in os.environ:
        return
    if whole and leaves_out_slow(config.option.markexpr):
        config.option.markexpr = QUICK
    if not plugins.hasplugin("xdist"):
        return
    if whole and config.option.numprocesses is None and not config.option.usepdb and not plugins.hasplugin("_cov"):
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1
        config.option.numprocesses = min(MOST_PROCESSES, cores) if set(NAMES) <= {"c", "multicore"} else 0
    if config.option.numprocesses and config.option.dist == "no":
        config.option.dist = "loadfile"


def leaves_out_slow(asked: str) -> bool:
    """Tell whether slow tests are to be left out of the whole suite, where the option `-m` asks for this."""
    return not asked and not os.environ.get("CI")


def pytest_report_header(config: pytest.Config) -> str | None:
    """Say which tests are left out although nobody asked for it."""
    left_out = config.option.markexpr == QUICK and "PYTEST_XDIST_WORKER" not in os.environ
    return f"slow tests: left out; all of them: pytest -m '{ALL}'" if left_out else None


@pytest.fixture(scope="module", params=[*NAMES, emulated.NAMED])
def backend(request: pytest.FixtureRequest) -> Iterator[Backend]:
    """Every backend that runs here, open: the part of the kernels that the module names as its PART."""
    with pytest.MonkeyPatch.context() as patch:
        if request.param == emulated.NAME:
            emulated.slow_down(patch)
        yield open_backend(request.param, part=getattr(request.module, "PART", "restarts"))


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
