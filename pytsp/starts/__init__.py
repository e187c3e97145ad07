"""Tours to start from: greedy, nearest neighbour, along a curve, random."""

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
