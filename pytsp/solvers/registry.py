"""The names that options take; the command line needs them before NumPy is imported, so they import nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytsp.starts.construct import Start

SOLVERS = ("auto", "restarts", "ils", "eax", "large", "two-opt", "annealing", "ants")
"""The names of the solvers."""

PART_OF = {
    "restarts": "restarts",
    "ils": "search",
    "eax": "search",
    "large": "huge",
    "two-opt": "restarts",
    "annealing": "comparators",
    "ants": "comparators",
}
"""The part of the kernels that a solver calls."""

STARTS: tuple[Start, ...] = ("random", "nearest-neighbour", "greedy", "space-filling-curve")
"""The names of the starting tours, as `pytsp.starts` has them."""

MOVES = ("or-opt", "3-opt")
"""What a descent tries, by the kernels' numbers: 2-opt and Or-opt; all of 3-opt."""

PIVOTS = ("first", "best", "random-k")
"""Which improving move a descent makes, by the kernels' numbers: a city's first or best; the best of k drawn."""

KICKS = ("segments", "walk", "mixed")
"""Where a double bridge cuts the tour, by the kernels' numbers: close along the tour; close on the lists; either."""

LOCAL_MOVES = ("2-opt", *MOVES)
"""What may shorten the tours of ants."""

TRIED_MOVES = ("2-opt", "or-opt")
"""What annealing tries, by the kernels' numbers: 2-opt; 2-opt and Or-opt."""

SCHEDULES = ("geometric", "linear")
"""How the temperature of annealing falls: by equal ratios; by equal differences, to 0."""

PAIRS = ("neighbours", "random")
"""The cities that a move of annealing joins: one with a listed neighbour; any two."""

VARIANTS = ("max-min", "rank", "ant-system")
"""Which ants strengthen the trails: the best, within limits; the best few by their ranks; all."""
