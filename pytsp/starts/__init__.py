"""Tours to start from: greedy, nearest neighbour, along a curve, random."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytsp.utils.lazy import attach

if TYPE_CHECKING:
    from pytsp.starts.construct import (
        STARTS,
        Start,
        greedy,
        nearest_neighbour,
        random_start,
        space_filling_curve,
        start_tour,
    )

__all__ = ["STARTS", "Start", "greedy", "nearest_neighbour", "random_start", "space_filling_curve", "start_tour"]

__getattr__, __dir__ = attach(__name__, dict.fromkeys(__all__, "pytsp.starts.construct"))
