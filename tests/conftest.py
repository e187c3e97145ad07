"""Hypothesis profiles, and the fixture over every backend that kernels are tested on."""

from __future__ import annotations

import os
from collections.abc import Iterator

import emulated
import pytest
from hypothesis import settings

from pytsp.backends.context import Backend, open_backend, status

settings.register_profile("default", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True)
settings.register_profile("thorough", deadline=None, max_examples=2000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci" if os.environ.get("CI") else "default"))

# c and multicore run everywhere: where they are missing, tests fail rather than pass unseen.
NAMES = [each.name for each in status() if each.usable or each.name in ("c", "multicore")]


@pytest.fixture(scope="module", params=[*NAMES, emulated.NAMED])
def backend(request: pytest.FixtureRequest) -> Iterator[Backend]:
    """Every backend that runs here, open: the part of the kernels that the module names as its PART."""
    with pytest.MonkeyPatch.context() as patch:
        if request.param == emulated.NAME:
            emulated.slow_down(patch)
        yield open_backend(request.param, part=getattr(request.module, "PART", "restarts"))
