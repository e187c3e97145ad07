"""Options of random restarts."""

from __future__ import annotations

from dataclasses import dataclass

from pytsp.solvers.options.fields import choice, one_of, switch, whole
from pytsp.solvers.options.shared import Climbers, passes

MAPPINGS = ("auto", "block", "thread")
"""Mappings of climbers to a GPU."""

ENUMERATIONS = ("flat", "zipped", "closed-form", "diagonals")
"""Enumerations of the moves, by the kernels' numbers."""

NEIGHBOURHOODS = ("auto", *ENUMERATIONS, "tiles")
"""Ways to find the best of all moves."""

LANES, ROWS = (32, 128, 512), (3, 7)
"""The shapes of the thread blocks that can be chosen (futhark/two_opt/fixed_blocks.fut)."""


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class RandomRestarts(Climbers):
    """Random restarts: each climber descends from a random tour of its own to a local optimum of 2-opt.

    Each step makes the best of all n (n - 3) / 2 moves [2]_ [3]_. By default there are 10,000 climbers, or fewer if
    they would take more than about 2e10 moves: 30 at 1,000 cities.

    References
    ----------
    .. [1] Robinson, Vrbsky, Hong, Eddy: Analysis of a High-Performance TSP Solver on the GPU, ACM JEA 23, 2018, 3.4.
    .. [2] O'Neil, Tamir, Burtscher: A Parallel GPU Version of the Traveling Salesman Problem, PDPTA 2011.
    .. [3] Utne, Hansen: Solving TSP on the GPU based on heuristic algorithms, University of Copenhagen, 2023, 5.2.3, 6.
    """

    name = "restarts"
    title = "random restarts"
    part = "restarts"
    takes_initial_tour = False

    mapping: str = choice(
        MAPPINGS,
        default="auto",
        doc='Mapping of climbers to a GPU: one per thread block, or one per thread. The results are the same. "auto" '
        'takes the faster one, or with neighbourhood="flat" advances all climbers together, a pass at a time.',
        help="mapping of climbers to a GPU",
    )
    k: int | float | str = passes()
    neighbourhood: str = choice(
        NEIGHBOURHOODS,
        default="auto",
        doc='Way to find the best of all moves. The results are the same. "flat": one map and one reduction over two '
        "arrays of positions, which a scan and a segmented scan make once per run; on a GPU over the moves of all "
        'climbers at once, unless `mapping` is "block" or "thread". "zipped": both positions in one word. '
        '"closed-form": positions computed from the number of the move [3]_. "diagonals": walks on which a move costs '
        'one distance, the fastest on a CPU. "tiles": the fastest on a GPU, and only there. "auto" takes the fastest.',
        help="way to find the best move",
    )
    shared_matrix: bool = switch(
        doc="Keep all distances in the shared memory of each thread block of a GPU, for 24 to 100 cities and a "
        "neighbourhood that enumerates the moves [3]_.",
        help="keep all distances in a block's shared memory",
    )
    blocks: int | None = whole(
        1,
        2**31 - 1,
        doc="On a GPU: a fixed number of thread blocks, each of which takes its next climber when one is done [1]_. By "
        "default each climber has a block of its own. The results are the same, as with other lanes and rows.",
        help="number of thread blocks on a GPU",
    )
    lanes: int | None = one_of(
        LANES,
        doc="On a GPU: threads per block, by default 128, from 2,000 cities on 512.",
        help="threads of a thread block",
    )
    rows: int | None = one_of(
        ROWS,
        doc="On a GPU: cities whose distances a thread of a block keeps, by default 7.",
        help="cities whose distances a thread keeps",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.neighbourhood not in ENUMERATIONS:
            if self.shared_matrix:
                raise ValueError(f"shared_matrix concerns neighbourhood={' or '.join(map(repr, ENUMERATIONS))}")
        elif self.k != 1:
            raise ValueError(
                f"neighbourhood={self.neighbourhood!r} makes one move a pass, not k={self.k!r}: use 'auto' with k > 1"
            )
        elif self.block_options:
            raise ValueError(f"{self.block_options} concerns 'tiles', not neighbourhood={self.neighbourhood!r}")
        if self.mapping == "thread" and self.block_options:
            raise ValueError(f"mapping='thread' has no thread blocks, and {self.block_options} is about them")

    @property
    def block_options(self) -> str:
        """The given options of thread blocks, as a message shows them; empty if there are none."""
        given = {name: getattr(self, name) for name in ("blocks", "lanes", "rows")}
        return ", ".join(f"{name}={value}" for name, value in given.items() if value is not None)

    @property
    def kernels_part(self) -> str:
        """The part of the kernels that it calls with these options."""
        if self.block_options:
            return "blocks"
        return "neighbourhoods" if self.neighbourhood in ENUMERATIONS else self.part
