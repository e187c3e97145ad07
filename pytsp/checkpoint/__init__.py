"""State of a solve in a file, from which it can resume."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytsp.utils.lazy import attach

if TYPE_CHECKING:
    from pytsp.checkpoint.reader import Stored
    from pytsp.checkpoint.writer import INTERVAL, Checkpoint

__all__ = ["INTERVAL", "Checkpoint", "Stored"]

_ORIGINS = {"INTERVAL": "pytsp.checkpoint.writer", "Checkpoint": "pytsp.checkpoint.writer"}
__getattr__, __dir__ = attach(__name__, {**_ORIGINS, "Stored": "pytsp.checkpoint.reader"})
