"""Options of simulated annealing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pytsp.solvers.options.fields import Field, choice, number, of, whole
from pytsp.solvers.options.shared import Climbers, NeighbourLists, iterations, moves, start, temperature
from pytsp.utils.arguments import is_array

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

TRIED_MOVES = ("2-opt", "or-opt")
"""Moves of annealing, by the kernels' numbers: 2-opt; 2-opt and Or-opt."""

SCHEDULES = ("geometric", "linear")
"""Schedules of the temperature: by equal ratios; by equal differences, to 0."""

PAIRS = ("neighbours", "random")
"""The cities that a move of annealing joins: one with a listed neighbour; any two."""


def _check_schedule(name: str, value: Any) -> Any:
    if isinstance(value, str):
        if value not in SCHEDULES:
            raise ValueError(f"{name} {value!r} is not known; known: {', '.join(SCHEDULES)}, or temperatures")
        return value
    import numpy as np  # noqa: PLC0415

    temperatures = np.array(value, dtype=np.float64)
    if temperatures.ndim != 1 or not np.all((temperatures >= 0) & (temperatures < np.inf)):
        raise ValueError(f"{name} must be lengths, at least 0, in one dimension; it is {value!r}")
    return temperatures


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Annealing(Climbers, NeighbourLists):
    """Simulated annealing: chains make random moves, and accept ever fewer longer tours [1]_.

    It serves comparison. The climbers are the chains. By default there are as many as in an iterated local search
    without a limit. All chains start from an initial tour if there is one.

    References
    ----------
    .. [1] Kirkpatrick, Gelatt, Vecchi: Optimization by Simulated Annealing, Science 220, 1983.
    """

    name = "annealing"
    title = "simulated annealing"
    part = "comparators"

    iterations: int | None = iterations(
        "Number of temperatures. By default as many as make 2e7 trials, or 1e6 on a GPU, at least 500; with a time "
        "limit as many as it allows."
    )
    start: str | None = start('First tour of all chains, by default "greedy". With "random" each chain has its own.')
    moves: str | None = moves(TRIED_MOVES, 'The moves that are tried, "or-opt" by default.')
    temperature: float | None = temperature(
        "Length by which an accepted tour may be longer at first, about. By default 0.7 times the mean distance "
        "between a city and its two nearest neighbours. It falls by `schedule`."
    )
    schedule: str | ArrayLike | None = of(
        Field(
            _check_schedule,
            '{"geometric", "linear"} or array_like of floats, optional',
            'Schedule of the temperature. "geometric", the default: by equal ratios, down to 0.05 times the mean '
            'distance between a city and its two nearest. "linear": by equal differences, to 0. Or an array of '
            "temperatures.",
            "schedule of the temperature (default: geometric)",
            choices=SCHEDULES,
        )
    )
    cooling: float | None = number(
        lambda value: 0 < value < 1,
        "a factor between 0 and 1",
        doc="Ratio of two successive temperatures, between 0 and 1, of the geometric schedule.",
        help="ratio of two successive temperatures",
        metavar="F",
    )
    trials: int | None = whole(
        1,
        2**40,
        doc="Moves tried at one temperature. By default n.",
        help="moves tried per iteration (default: n)",
    )
    pairs: str = choice(
        PAIRS,
        default="neighbours",
        doc="Move a city beside a listed neighbour, or beside any other city.",
        help="cities that a move joins (default: neighbours)",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        is_listed = is_array(self.schedule)
        if self.cooling is not None and (is_listed or self.schedule not in (None, "geometric")):
            raise ValueError(f"cooling={self.cooling!r} is for schedule='geometric'; another schedule is given")
        if is_listed:
            count = len(self.schedule)  # type: ignore[arg-type]
            for name, expected in (("temperature", None), ("iterations", count)):
                value = getattr(self, name)
                if value is not None and value != expected:
                    raise ValueError(f"{name}={value!r} and a schedule of {count} temperatures say different things")
