"""TSPLIB's files, in and out; the only place that knows its keywords."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytsp.utils.lazy import attach

if TYPE_CHECKING:
    from pytsp.io.tsplib.reader import read
    from pytsp.io.tsplib.tours import read_tour, write_tour
    from pytsp.io.tsplib.writer import write

__all__ = ["read", "read_tour", "write", "write_tour"]

_ORIGINS = {
    "read": "pytsp.io.tsplib.reader",
    "read_tour": "pytsp.io.tsplib.tours",
    "write_tour": "pytsp.io.tsplib.tours",
    "write": "pytsp.io.tsplib.writer",
}
__getattr__, __dir__ = attach(__name__, _ORIGINS)
