"""What random restarts may be asked for."""

from __future__ import annotations

from dataclasses import dataclass

from pytsp.solvers.options.fields import choice
from pytsp.solvers.options.shared import Climbers, passes

MAPPINGS = ("auto", "block", "thread")
"""How climbers are laid out on a GPU."""


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class RandomRestarts(Climbers):
    """Random restarts: climbers go each from its own random tour to a local optimum of 2-opt.

    Each step makes the best of all n (n - 3) / 2 moves [2]_ [3]_. By default there are 10,000 climbers, or as many as
    about 2e10 moves allow: 30 at 1,000 cities.

    References
    ----------
    .. [1] Robinson, Vrbsky, Hong, Eddy: Analysis of a High-Performance TSP Solver on the GPU, ACM JEA 23, 2018, 3.4.
    .. [2] O'Neil, Tamir, Burtscher: A Parallel GPU Version of the Traveling Salesman Problem, PDPTA 2011.
    .. [3] Utne, Hansen: Solving TSP on the GPU based on heuristic algorithms, University of Copenhagen, 2023.
    """

    name = "restarts"
    title = "random restarts"
    part = "restarts"
    takes_initial_tour = False

    mapping: str = choice(
        MAPPINGS,
        default="auto",
        doc='How climbers are laid out on a GPU, one a thread block or one a thread. The results are the same; "auto" '
        "takes the faster.",
        help="climbers on a GPU",
    )
    k: int | float | str = passes()
