"""Options of the descent of one tour."""

from __future__ import annotations

from dataclasses import dataclass

from pytsp.solvers.options.fields import Options
from pytsp.solvers.options.shared import counted, iterations, passes, start


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class TwoOpt(Options):
    """Descent of one tour, of any size, to a local optimum of 2-opt over the complete neighbourhood [2]_.

    With `kicks` it continues as an iterated local search: a random change in four places (a double bridge [3]_) and
    another descent, kept if the tour is not longer than before. The search shortens the initial tour if there is one.

    References
    ----------
    .. [1] Robinson, Vrbsky, Hong, Eddy: Analysis of a High-Performance TSP Solver on the GPU, ACM JEA 23, 2018, 3.4.
    .. [2] Rocki, Suda: High Performance GPU Accelerated Local Optimization in TSP, IPDPS Workshops 2013.
    .. [3] Martin, Otto, Felten: Large-Step Markov Chains for the Traveling Salesman Problem, Complex Systems 5, 1991.
    """

    name = "two-opt"
    title = "one tour by 2-opt"
    part = "restarts"

    k: int | float | str = passes()
    iterations: int | None = iterations("Most passes, without kicks. By default as many as shorten the tour.")
    start: str | None = start('First tour (see `pytsp.starts`), by default "greedy".')
    kicks: int | float | str = counted(
        0,
        default=0,
        doc="Double bridges that are tried one after the other, from the local optimum on. The result counts them as "
        'its iterations. With "inf" only a limit or Ctrl-C ends them. Fewer than eight cities have none.',
        help="double bridges: a number, or inf (default: 0)",
        metavar="N",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.iterations is not None and self.kicks:
            raise ValueError(
                f"iterations={self.iterations!r} bounds the passes of one descent, and has no effect with "
                f"kicks={self.kicks!r}; leave one of the two out"
            )
