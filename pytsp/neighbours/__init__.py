"""Lists of the cities that lie close to each city, and the curve along which close cities follow each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytsp.utils.lazy import attach

if TYPE_CHECKING:
    from pytsp.neighbours.lists import check_neighbours, neighbour_lists

__all__ = ["check_neighbours", "neighbour_lists"]

__getattr__, __dir__ = attach(__name__, dict.fromkeys(__all__, "pytsp.neighbours.lists"))
