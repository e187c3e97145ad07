"""Hypothesis profiles, and what tests ask for: every backend that kernels are tested on, and a browser."""

from __future__ import annotations

import os
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
settings.register_profile("thorough", deadline=None, max_examples=2000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci" if os.environ.get("CI") else "default"))

# What these test is in a checkout only, and is imported at module level.
collect_ignore = [folder for folder in ("bench", "fuzz") if not (ROOT / folder).is_dir()]

# c and multicore run everywhere: where they are missing, tests fail rather than pass unseen.
NAMES = [each.name for each in status() if each.usable or each.name in ("c", "multicore")]


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
