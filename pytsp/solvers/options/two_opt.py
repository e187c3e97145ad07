"""What the descent of one tour may be asked for."""

from __future__ import annotations

from dataclasses import dataclass

from pytsp.solvers.options.fields import Options
from pytsp.solvers.options.shared import iterations, passes, start


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class TwoOpt(Options):
    """One tour, of however many cities, goes to a local optimum of 2-opt over the complete neighbourhood [2]_.

    An initial tour is the one that becomes shorter.

    References
    ----------
    .. [1] Robinson, Vrbsky, Hong, Eddy: Analysis of a High-Performance TSP Solver on the GPU, ACM JEA 23, 2018, 3.4.
    .. [2] Rocki, Suda: High Performance GPU Accelerated Local Optimization in TSP, IPDPS Workshops 2013.
    """

    name = "two-opt"
    title = "one tour by 2-opt"
    part = "restarts"

    k: int | float | str = passes()
    iterations: int | None = iterations("How many passes there are at most; by default as many as shorten the tour.")
    start: str | None = start('The tour that becomes shorter (see `pytsp.starts`), by default "greedy".')
