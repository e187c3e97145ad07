"""The page of runs: what is in it, and its frame, style and script."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytsp.utils.lazy import attach

if TYPE_CHECKING:
    from pytsp.report.document import page

__all__ = ["page"]

__getattr__, __dir__ = attach(__name__, dict.fromkeys(__all__, "pytsp.report.document"))
