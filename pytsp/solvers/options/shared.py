"""Options that more than one solver has."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pytsp.solvers.options.fields import Field, Options, choice, is_length, number, of, switch, whole
from pytsp.utils.arguments import is_array, whole_number

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = [
    "ALPHA",
    "FLAT",
    "LOCAL_MOVES",
    "MOVES",
    "PIVOTS",
    "STARTS",
    "Climbers",
    "NeighbourLists",
    "check_chains",
    "check_flat",
    "counted",
    "iterations",
    "moves",
    "passes",
    "pivot",
    "start",
    "temperature",
]

STARTS = ("random", "nearest-neighbour", "greedy", "space-filling-curve")
"""The names of the starting tours, as `pytsp.starts` has them."""

MOVES = ("or-opt", "3-opt", "lk")
"""What a descent tries, by the kernels' numbers: 2-opt and Or-opt; all of 3-opt; chains of such moves."""

FLAT = "flat"
"""The moves of populations that start in bulk: 2-opt and Or-opt of all cities of all tours at once, in rounds."""

LOCAL_MOVES = ("2-opt", "or-opt", "3-opt")
"""What may shorten the tours of ants."""

PIVOTS = ("first", "best", "random-k")
"""Which improving move a descent makes, by the kernels' numbers: a city's first or best; the best of k drawn."""

ALPHA = "alpha"
"""What stands for neighbour lists by α-nearness."""

MOST_PASSES = 2**31 - 1
"""The largest number of moves or passes that a kernel takes."""


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Climbers(Options):
    """Those who search side by side, each by random numbers of its own."""

    climbers: int | None = whole(
        1,
        2**40,
        doc="How many there are; by default as the size of the instance and the machine suggest.",
        help="how many climbers (default: by size)",
    )
    first: int = whole(
        0,
        default=0,
        doc="The number of the first climber: a run may be cut into ranges.",
        help="the first climber's number (default: 0)",
    )


def _check_neighbours(name: str, value: Any) -> Any:
    if isinstance(value, str):
        if value != ALPHA:
            raise ValueError(f'{name} must be a whole number, "{ALPHA}" or lists; it is {value!r}')
        return value
    return value if is_array(value) else whole_number(name, value, 1, 2**31 - 1)


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class NeighbourLists(Options):
    """The cities to which new edges are tried."""

    neighbours: int | str | ArrayLike | None = of(
        Field(
            _check_neighbours,
            'int, "alpha" or array_like of integers, shape (n, k), optional',
            "The cities to which new edges are tried first: so many nearest of each city, or those listed. By default "
            '10; of one huge tour 8; of ants without a local search 20. With "alpha" seven of those: the two nearest '
            "and five to which an edge makes a minimum 1-tree least longer (see the page on lower bounds); an iterated "
            "local search by chains has these by default where distances are whole and a limit leaves 0.3 ms a city, "
            "and half of a population's climbers descend along eight such.",
            "length of the neighbour lists, or those by α-nearness",
            least=1,
            words=(ALPHA,),
            metavar="K",
        )
    )
    quadrants: bool | None = switch(
        default=None,
        doc="Whether the nearest are taken from all four quadrants around a city (see "
        "`pytsp.neighbours.neighbour_lists`). By default they are where there are such, as for EUC_2D; of one huge "
        "tour not.",
        help="take them from all four quadrants around a city (default: by metric)",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.quadrants is not None and is_array(self.neighbours):
            raise ValueError(f"quadrants={self.quadrants!r} does not concern neighbours that are given as lists")


def iterations(doc: str) -> Any:
    """Return the option that says how much is done."""
    return whole(0, doc=doc, help="kicks, generations, rounds or passes")


def start(doc: str) -> Any:
    """Return the option that names the first tour."""
    return choice(STARTS, doc=doc, help="the first tour (default: a curve; two-opt, ils by lk: greedy)")


def moves(names: tuple[str, ...], doc: str) -> Any:
    """Return the option that names the local search's moves."""
    return choice(names, doc=doc, help="the local search's moves (default: lk)")


def pivot(names: tuple[str, ...], doc: str) -> Any:
    """Return the option that says which of the moves that shorten a tour is made."""
    return choice(names, default="first", doc=doc, help="which improving move is made (default: first)")


def check_chains(moves: str | None, pivot: str) -> None:
    """Refuse chains with a pivot of their own.

    Raises
    ------
    ValueError
    """
    if moves == "lk" and pivot != "first":
        raise ValueError(f"moves='lk' does not concern pivot={pivot!r}; it is for pivot='first'")


def check_flat(moves: str | None, pivot: str) -> None:
    """Refuse moves of all cities at once with a pivot of their own.

    Raises
    ------
    ValueError
    """
    if moves == FLAT and pivot != "first":
        raise ValueError(f"moves='flat' does not concern pivot={pivot!r}: every city makes its best move")


def temperature(doc: str) -> Any:
    """Return the option that says how much longer a tour may become."""
    return number(
        is_length, "a length, at least 0", doc=doc, help="accept so much longer tours at first", metavar="LENGTH"
    )


def counted(least: int, *, default: int, doc: str, help: str, metavar: str) -> Any:
    """Return an option that takes whole numbers, or "inf" for any number."""

    def check(name: str, value: Any) -> int | str:
        is_infinite = isinstance(value, str | float) and value in ("inf", float("inf"))
        return "inf" if is_infinite else whole_number(name, value, least, MOST_PASSES)

    return of(Field(check, 'int or "inf", optional', doc, help, least, words=("inf",), metavar=metavar), default)


def passes() -> Any:
    """Return the option that says how many moves a pass over the neighbourhood makes."""
    doc = (
        "How many moves a pass over the neighbourhood may make, at least 1: the best one of each edge, in the order of "
        "their gains, as long as they do not overlap [1]_. With 1 only the best move is made; more moves a pass take "
        "fewer passes, which pays from some hundred cities on."
    )
    return counted(1, default=1, doc=doc, help="moves a pass: a number, or inf", metavar="K")


def kernel_passes(k: int | float | str) -> int:
    """Return such a number as a kernel takes it."""
    return MOST_PASSES if k == "inf" else int(k)
