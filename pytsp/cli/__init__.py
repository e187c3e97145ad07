"""The command line: its commands, their options, and what they print."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytsp.utils.lazy import attach

if TYPE_CHECKING:
    from pytsp.cli.commands import main

__all__ = ["main"]

__getattr__, __dir__ = attach(__name__, dict.fromkeys(__all__, "pytsp.cli.commands"))
