"""Run the same climbers on several backends: how long each takes, and whether their results are equal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np

from pytsp.api.solve import solve
from pytsp.backends.registry import open_backend, status
from pytsp.problem.instance import Instance
from pytsp.run.result import Result
from pytsp.solvers.registry import OPTIONS


@dataclass(frozen=True)
class Comparison:
    """One backend's run.

    Attributes
    ----------
    backend : str
    seconds : float
        The solve call, the backend open and its kernels compiled.
    ratio : float
        How many times as fast as the first backend.
    moves : int or None
        Moves evaluated; None but in random restarts and two-opt.
    length : int or float
    equal : bool
        Whether every climber's length, moves and passes, and the best tour, are those of the first backend.
    iterations : int or None
        Iterations of all climbers together; None in random restarts.
    """

    backend: str
    seconds: float
    ratio: float
    moves: int | None
    length: int | float
    equal: bool
    iterations: int | None = None

    def to_dict(self) -> dict[str, object]:
        """Return the attributes by their names, without those that are None."""
        return {name: value for name, value in asdict(self).items() if value is not None}


# The iterations that open a device and make its kernels ready, of the solvers that are not short by themselves.
WARMED = {"ils": 0, "annealing": 1, "ants": 1}
_COMPARED = ("lengths", "steps", "passes", "tour")


def compare(
    instance: Instance,
    backends: Sequence[str] | None = None,
    *,
    solver: str = "restarts",
    climbers: int | None = None,
    seed: int = 0,
    k: int | float | str = 1,
    iterations: int | None = None,
) -> list[Comparison]:
    """Solve an instance on several backends, one after the other.

    Parameters
    ----------
    instance : Instance
    backends : sequence of str, optional
        Names of backends; the first is what the others are compared with. By default all that are usable here.
    solver, climbers, seed, k, iterations
        As in `pytsp.solve`. By default of the solver "ils" the number of climbers is that of the first backend, and of
        their iterations too.

    Returns
    -------
    list of Comparison
        In the order of `backends`.

    Raises
    ------
    BackendError
        If a backend is unknown or cannot run here.
    """
    names = [found.name for found in status() if found.usable] if backends is None else list(backends)
    # What cannot run fails before anything does.
    for name in names:
        open_backend(name, part=OPTIONS[solver].part if solver in OPTIONS else "restarts")
    rows: list[Comparison] = []
    first: Result | None = None
    for name in names:
        # Warm before the clock starts.
        solve(instance, solver=solver, climbers=1, backend=name, k=k, iterations=WARMED.get(solver, iterations))
        result = solve(instance, solver=solver, climbers=climbers, seed=seed, backend=name, k=k, iterations=iterations)
        if first is None:
            # What the first chose by itself the others do too.
            first, climbers, iterations = result, result.climbers, result.iterations
        equal = first.climber == result.climber and all(
            np.array_equal(getattr(first, array), getattr(result, array)) for array in _COMPARED
        )
        made = None if result.iterations is None else result.iterations * result.climbers
        ratio = first.seconds / result.seconds
        rows.append(Comparison(name, result.seconds, ratio, result.moves, result.length, equal, made))
    return rows
