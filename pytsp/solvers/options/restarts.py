"""What random restarts may be asked for."""

from __future__ import annotations

from dataclasses import dataclass

from pytsp.solvers.options.fields import choice, one_of, switch, whole
from pytsp.solvers.options.shared import Climbers, passes

MAPPINGS = ("auto", "block", "thread")
"""How climbers are laid out on a GPU."""

ENUMERATIONS = ("flat", "zipped", "closed-form", "diagonals")
"""How the moves are taken one after the other, by the kernels' numbers."""

NEIGHBOURHOODS = ("auto", *ENUMERATIONS, "tiles")
"""How the best of all moves is looked for."""

LANES, ROWS = (32, 128, 512), (3, 7)
"""The shapes of the thread blocks that can be chosen (futhark/two_opt/fixed_blocks.fut)."""


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class RandomRestarts(Climbers):
    """Random restarts: climbers go each from its own random tour to a local optimum of 2-opt.

    Each step makes the best of all n (n - 3) / 2 moves [2]_ [3]_. By default there are 10,000 climbers, or as many as
    about 2e10 moves allow: 30 at 1,000 cities.

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
        doc='How climbers are laid out on a GPU, one a thread block or one a thread. The results are the same; "auto" '
        'takes the faster, or with neighbourhood="flat" lets all climbers go on together, a pass at a time.',
        help="climbers on a GPU",
    )
    k: int | float | str = passes()
    neighbourhood: str = choice(
        NEIGHBOURHOODS,
        default="auto",
        doc='How the best of all moves is looked for; the results are the same. "flat" is one map and one reduction '
        "over two arrays of positions, made by a scan and a segmented scan once a run: on a GPU over the moves of all "
        'climbers at once, unless mapping says "block" or "thread", in which a lane goes through its share of the '
        'moves; "zipped" has both positions in '
        'one word; "closed-form" computes them from the number of the move [3]_. "diagonals" are walks on which a move '
        'costs one distance, the fastest on a CPU; "tiles" are the fastest on a GPU, and only there. "auto" takes the '
        "fastest.",
        help="how the best of all moves is looked for",
    )
    shared_matrix: bool = switch(
        doc="Whether each thread block of a GPU keeps all distances in its shared memory, for 24 to 100 cities and a "
        "neighbourhood that takes the moves one after the other [3]_.",
        help="keep all distances in a block's shared memory",
    )
    blocks: int | None = whole(
        1,
        2**31 - 1,
        doc="On a GPU: a fixed number of thread blocks, each of which takes its next climber when one is done [1]_. By "
        "default each climber has a block of its own. The results are the same, as with other lanes and rows.",
        help="a fixed number of thread blocks on a GPU",
    )
    lanes: int | None = one_of(
        LANES,
        doc="On a GPU: how many threads such a block has; by default 128, and from 2,000 cities on 512.",
        help="threads of a thread block",
    )
    rows: int | None = one_of(
        ROWS,
        doc="On a GPU: of how many cities a thread of such a block keeps the distances, by default 7.",
        help="cities that a thread keeps the distances of",
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
        """What is asked for of thread blocks, as a message shows it; empty where nothing is."""
        given = {name: getattr(self, name) for name in ("blocks", "lanes", "rows")}
        return ", ".join(f"{name}={value}" for name, value in given.items() if value is not None)

    @property
    def kernels_part(self) -> str:
        """The part of the kernels that it calls with these options."""
        if self.block_options:
            return "blocks"
        return "neighbourhoods" if self.neighbourhood in ENUMERATIONS else self.part
