"""Instances by name: those that come with the package, and TSPLIB's, downloaded on demand."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytsp.utils.lazy import attach

if TYPE_CHECKING:
    from pytsp.datasets.registry import TSPLIB_URL, Dataset, cached, fetch, find, names, tsplib

__all__ = ["Dataset", "TSPLIB_URL", "cached", "fetch", "find", "names", "tsplib"]

__getattr__, __dir__ = attach(__name__, dict.fromkeys(__all__, "pytsp.datasets.registry"))
