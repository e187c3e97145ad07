"""Options that more than one solver has."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pytsp.solvers.options.fields import Field, Options, choice, is_length, number, of, switch, whole
from pytsp.utils.arguments import is_array, whole_number

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

STARTS = ("random", "nearest-neighbour", "greedy", "space-filling-curve")
"""The names of the starting tours, as `pytsp.starts` has them."""

MOVES = ("or-opt", "3-opt", "lk")
"""Moves of a descent, by the kernels' numbers: 2-opt and Or-opt; all of 3-opt; chains of such moves."""

FLAT = "flat"
"""The moves of populations that start in bulk: 2-opt and Or-opt of all cities of all tours at once, in rounds."""

LOCAL_MOVES = ("2-opt", "or-opt", "3-opt")
"""Moves that shorten the tours of ants."""

PIVOTS = ("first", "best", "random-k")
"""Choices of an improving move, by the kernels' numbers: a city's first or best; the best of k drawn."""

ALPHA = "alpha"
"""The name of neighbour lists by α-nearness."""

MOST_PASSES = 2**31 - 1
"""The largest number of moves or passes that a kernel takes."""


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Climbers(Options):
    """Options of solvers with climbers that search side by side, each with random numbers of its own."""

    climbers: int | None = whole(
        1,
        2**40,
        doc="Number of climbers. By default it depends on the size of the instance and on the machine.",
        help="number of climbers (default: by size)",
    )
    first: int = whole(
        0,
        default=0,
        doc="Number of the first climber, to cut a run into ranges.",
        help="number of the first climber (default: 0)",
    )


def _check_neighbours(name: str, value: Any) -> Any:
    if isinstance(value, str):
        if value != ALPHA:
            raise ValueError(f'{name} must be a whole number, "{ALPHA}" or lists; it is {value!r}')
        return value
    return value if is_array(value) else whole_number(name, value, 1, 2**31 - 1)


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class NeighbourLists(Options):
    """Options of solvers that try new edges along neighbour lists."""

    neighbours: int | str | ArrayLike | None = of(
        Field(
            _check_neighbours,
            'int, "alpha" or array_like of integers, shape (n, k), optional',
            "The cities to which new edges are tried: the number of nearest cities, or lists. By default 10; for one "
            'huge tour 8; for ants without a local search 20. "alpha" takes seven by α-nearness: the two nearest, and '
            "the five whose edges lengthen a minimum 1-tree least (see the page on lower bounds). An iterated local "
            "search by chains takes these by default if distances are whole and a limit leaves 0.3 ms per city; on a "
            "lattice four by α-nearness alone. Half of a population's climbers then descend along eight of them.",
            "length of the neighbour lists, or alpha",
            least=1,
            words=(ALPHA,),
            metavar="K",
        )
    )
    quadrants: bool | None = switch(
        default=None,
        doc="Take the nearest cities from all four quadrants around a city (see "
        "`pytsp.neighbours.neighbour_lists`). By default true in the plane, as for EUC_2D; for one huge tour false.",
        help="lists from all four quadrants around a city (default: by metric)",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.quadrants is not None and is_array(self.neighbours):
            raise ValueError(f"quadrants={self.quadrants!r} has no effect with neighbours that are given as lists")


def iterations(doc: str) -> Any:
    """Return the option for the amount of work."""
    return whole(0, doc=doc, help="kicks, generations, rounds or passes")


def start(doc: str) -> Any:
    """Return the option that names the first tour."""
    return choice(STARTS, doc=doc, metavar="NAME", help=f"first tour: {', '.join(STARTS)}")


def moves(names: tuple[str, ...], doc: str) -> Any:
    """Return the option that names the local search's moves."""
    return choice(names, doc=doc, metavar="NAME", help="lk (default), 3-opt, or-opt, 2-opt, flat")


def pivot(names: tuple[str, ...], doc: str) -> Any:
    """Return the option that chooses among the moves that shorten a tour."""
    return choice(names, default="first", doc=doc, help="the improving move of a city (default: first)")


def temperature(doc: str) -> Any:
    """Return the option for the first temperature."""
    return number(
        is_length,
        "a length, at least 0",
        doc=doc,
        help="temperature at first: accept tours longer by about LENGTH",
        metavar="LENGTH",
    )


def counted(least: int, *, default: int, doc: str, help: str, metavar: str) -> Any:
    """Return an option that takes whole numbers, or "inf" for any number."""

    def check(name: str, value: Any) -> int | str:
        is_infinite = isinstance(value, str | float) and value in ("inf", float("inf"))
        return "inf" if is_infinite else whole_number(name, value, least, MOST_PASSES)

    return of(Field(check, 'int or "inf", optional', doc, help, least, words=("inf",), metavar=metavar), default)


def passes() -> Any:
    """Return the option for the number of moves per pass over the neighbourhood."""
    doc = (
        "Most moves per pass over the neighbourhood, at least 1: the best move of each edge, in the order of their "
        "gains, as long as they do not overlap [1]_. With 1 only the best move is made. More moves per pass need fewer "
        "passes, which pays from some hundred cities on."
    )
    return counted(1, default=1, doc=doc, help="moves per pass: a number, or inf", metavar="K")


def kernel_passes(k: int | float | str) -> int:
    """Return such a number as a kernel takes it."""
    return MOST_PASSES if k == "inf" else int(k)
