"""Where a solve stands, in a file from which it can go on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytsp.utils.lazy import attach

if TYPE_CHECKING:
    from pytsp.checkpoint.writer import INTERVAL, Checkpoint, Stored, resume

__all__ = ["Checkpoint", "INTERVAL", "Stored", "resume"]

__getattr__, __dir__ = attach(__name__, dict.fromkeys(__all__, "pytsp.checkpoint.writer"))
