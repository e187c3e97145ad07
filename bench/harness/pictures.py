"""matplotlib, drawing into files only."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def pyplot() -> Any:
    """Import matplotlib's pyplot where something is drawn; most benchmarks need none."""
    import_module("matplotlib").use("Agg")
    return import_module("matplotlib.pyplot")
