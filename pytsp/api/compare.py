"""Run the same climbers on several backends and in several ways: how long each takes, and whether all end alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from pytsp.api.solve import solve
from pytsp.backends.kind import CPU_PART
from pytsp.backends.registry import KINDS, open_backend, status
from pytsp.bound.bound import lower_bound
from pytsp.problem.instance import Instance
from pytsp.run.result import Result
from pytsp.solvers.eax import default_population
from pytsp.solvers.options.shared import FLAT
from pytsp.solvers.registry import OPTIONS
from pytsp.utils.arguments import truth_value
from pytsp.utils.text import json_number


@dataclass(frozen=True)
class Comparison:
    """One run.

    Attributes
    ----------
    backend : str
    seconds : float
        The solve call, the backend open and its kernels compiled.
    ratio : float
        How many times as fast as the first run.
    moves : int or None
        Moves evaluated; None but in random restarts and two-opt.
    length : int or float
    equal : bool
        Whether every climber's length, moves and passes, and the best tour, are those of the first run.
    iterations : int or None
        Iterations of all climbers together; None in random restarts.
    neighbourhood : str or None
        That of random restarts, where some are compared.
    gap_bound : float or None
        How much longer than the lower bound the tour is, as a fraction, where one is asked for and is not 0.
    """

    backend: str
    seconds: float
    ratio: float
    moves: int | None
    length: int | float
    equal: bool
    iterations: int | None = None
    neighbourhood: str | None = None
    gap_bound: float | None = None

    def to_dict(self) -> dict[str, object]:
        """Return the attributes by their names, without those that are None, or infinite, which JSON does not know."""
        told = asdict(self) | {"length": json_number(self.length)}
        return {name: value for name, value in told.items() if value is not None}


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
    neighbourhoods: Sequence[str] = (),
    bound: bool = False,
) -> list[Comparison]:
    """Solve an instance on several backends, one after the other.

    Parameters
    ----------
    instance : Instance
    backends : sequence of str, optional
        Names of backends; the first is what the others are compared with. By default all that are usable here.
    solver, climbers, seed, k, iterations
        As in `pytsp.solve`. By default of the solver "ils" the number of climbers is that of the first backend, and of
        their iterations too; of "eax" one population is compared, of as many climbers as the first backend's have.
    neighbourhoods : sequence of str, optional
        Neighbourhoods of random restarts, each of which every backend runs.
    bound : bool, optional
        Say how far the tours are above the lower bound (`pytsp.lower_bound`), which is found once.

    Returns
    -------
    list of Comparison
        In the order of `backends`, and of `neighbourhoods` on each.

    Raises
    ------
    BackendError
        If a backend is unknown or cannot run here.
    TypeError, ValueError
        As `pytsp.solve`.
    """
    kind = OPTIONS.get(solver, OPTIONS["restarts"])
    usable = [found.name for found in status() if found.usable]
    if kind.part == CPU_PART:
        usable = [name for name in usable if KINDS[name].on_the_cpu]
    names = usable if backends is None else list(backends)
    asked: list[dict[str, Any]] = [{"neighbourhood": each} for each in neighbourhoods] or [{}]
    runs = [(name, options) for name in names for options in asked]
    # What cannot run fails before anything does.
    for name, options in runs:
        open_backend(name, part=kind(**options).kernels_part)
    if solver == "eax":
        devices = [open_backend(name, part=kind.part).device for name in names]
        if any(devices):
            # Tours are equal where they start alike, which a GPU and a CPU do not by themselves.
            runs = [(name, {**options, "moves": FLAT}) for name, options in runs]
        if devices and climbers is None and iterations is None:
            climbers = default_population(instance.n, "gpu" if devices[0] else "cpu")
    proved = lower_bound(instance).bound if truth_value("bound", bound) else None
    rows: list[Comparison] = []
    first: Result | None = None
    for name, options in runs:
        # Warm before the clock starts.
        solve(
            instance, solver=solver, climbers=1, backend=name, k=k, iterations=WARMED.get(solver, iterations), **options
        )
        result = solve(
            instance, solver=solver, climbers=climbers, seed=seed, backend=name, k=k, iterations=iterations, **options
        )
        if first is None:
            # What the first chose by itself the others do too.
            first, climbers, iterations = result, result.climbers, result.iterations
        equal = first.climber == result.climber and all(
            np.array_equal(getattr(first, array), getattr(result, array)) for array in _COMPARED
        )
        made = None if result.iterations is None else result.iterations * result.climbers
        ratio = first.seconds / result.seconds
        gap = replace(result, lower_bound=proved).gap_bound
        told = (name, result.seconds, ratio, result.moves, result.length, equal, made)
        rows.append(Comparison(*told, **options, gap_bound=gap))
    return rows
