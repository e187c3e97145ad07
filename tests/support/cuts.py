"""Random restarts cut otherwise: into other calls, of other batches."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from pytsp.solvers.common import pacing as _pacing
from pytsp.solvers.speeds import BYTES, SPEEDS

search_module = importlib.import_module("pytsp.solvers.restarts")


@contextmanager
def cut(call_seconds: float, first_call_moves: float, batch_bytes: int) -> Iterator[None]:
    """Other sizes of calls and batches."""
    with pytest.MonkeyPatch.context() as patch:
        for module in (search_module, _pacing):
            patch.setattr(module, "CALL_SECONDS", call_seconds)
        for machine in ("cpu", "gpu"):
            patch.setitem(SPEEDS, f"2-opt, {machine}", first_call_moves / call_seconds)
            patch.setitem(BYTES, f"batch, {machine}", batch_bytes)
        yield
