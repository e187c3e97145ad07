"""The runs of one huge instance: what is measured of them, in the process that makes them."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import pytsp
from bench.harness.machine import find
from pytsp.backends import CPU_PART, Backend, open_backend
from pytsp.neighbours.hilbert import hilbert_order
from pytsp.neighbours.lists import lists_along
from pytsp.solvers.large.solver import DEFAULT_NEIGHBOURS

# The cities of the DIMACS challenge's instances, which are their seeds, too.
UNIFORM = {"E10k.0": 10_000, "E31k.0": 31_623, "E100k.0": 100_000, "E316k.0": 316_228, "E1M.0": 1_000_000}
# D. S. Johnson, L. A. McGeoch: the DIMACS challenge's table of best known lengths; W. Cook: TSP test data, for the
# countries and VLSI. TSPLIB's optima are in `pytsp.problem.optima`; where they are not, here.
BEST_KNOWN = {
    "E10k.0": 71_865_826,
    "E31k.0": 127_281_803,
    "E100k.0": 225_783_795,
    "E316k.0": 401_294_850,
    "E1M.0": 713_176_566,
    "sw24978": 855_597,
    "usa115475": 6_204_999,
    "ara238025": 578_761,
}
WARM_CITIES = 1_000


@dataclass(frozen=True)
class Task:
    """The measurement of one instance by a process: the command line's options."""

    name: str
    folder: Path
    backend: str
    limits: tuple[float, ...]
    rounds: int | None
    seeds: int
    piece: int | None
    check: str | None = None


@dataclass(frozen=True)
class Line:
    """A run.

    Attributes
    ----------
    instance : str
    backend : str
        With its device or threads.
    n, seed : int
    limit : float or None
        Seconds; None where the number of rounds was given.
    read, renumbered, listed : float
        Seconds of reading or generating the instance, of renumbering it, of its neighbour lists.
    begins, seconds : float
        When the first tour was known, and when the last one.
    rounds, length : int
    best_known : int or None
    is_valid, is_exact, is_optimum : bool
        Whether the tour is one, has the length that was told, and is a local optimum.
    mebibytes : float
        The process's peak memory so far.
    history : tuple of (float, int)
        Seconds and lengths.
    """

    instance: str
    backend: str
    n: int
    seed: int
    limit: float | None
    read: float
    renumbered: float
    listed: float
    begins: float
    seconds: float
    rounds: int
    length: int
    best_known: int | None
    is_valid: bool
    is_exact: bool
    is_optimum: bool
    mebibytes: float
    history: tuple[tuple[float, int], ...]

    def gap_of(self, length: int | None) -> float:
        """The gap of a length to the best known one, in per cent; NaN if none is known."""
        return 100 * (length / self.best_known - 1) if length and self.best_known else math.nan

    def gap_at(self, moment: float) -> float:
        """Return the gap of the tour that the run had then; NaN where it had none, or had ended before its limit."""
        reached = [length for when, length in self.history if when <= moment]
        is_over = self.limit is None or moment > self.limit
        return self.gap_of(reached[-1]) if reached and not is_over else math.nan


def made(name: str, folder: Path) -> pytsp.Instance:
    """Generate or read an instance: "uniform-N", one of the DIMACS challenge's, or a file's.

    Raises
    ------
    FileNotFoundError
        If it is none of these.
    """
    start, _, number = name.partition("-")
    if name in UNIFORM or (start == "uniform" and number.isdecimal()):
        n = UNIFORM.get(name) or int(number)
        return pytsp.generate.uniform(n, n)
    try:
        return find(folder, name)
    except SystemExit as missing:
        raise FileNotFoundError(str(missing)) from missing


def phases(instance: pytsp.Instance, kernels: Backend) -> tuple[float, float]:
    """Return the seconds of renumbering the cities along a curve, and of their neighbour lists."""
    assert instance.coordinates is not None
    began = time.perf_counter()
    order = hilbert_order(instance.coordinates)
    ordered = pytsp.Instance.from_coordinates(instance.coordinates[order], metric=instance.metric)
    renumbered = time.perf_counter()
    lists_along(ordered, DEFAULT_NEIGHBOURS, kernels)
    return renumbered - began, time.perf_counter() - renumbered


def peak_memory() -> float:
    """Return the most memory that this process has held, in MiB; NaN where the system does not tell."""
    try:
        lines = Path("/proc/self/status").read_text(encoding="ascii", errors="replace").splitlines()
    except OSError:
        return math.nan
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM:")), math.nan)


def measure(task: Task) -> tuple[list[Line], bool | None]:
    """Make an instance's runs; and with `check`, tell whether another backend comes to the same tour."""
    began = time.perf_counter()
    instance = made(task.name, task.folder)
    read = time.perf_counter() - began
    best_known = BEST_KNOWN.get(task.name, instance.optimum)
    solve: dict[str, Any] = {"solver": "large", "backend": task.backend, "piece": task.piece}
    kernels = open_backend(task.backend, part=CPU_PART)
    pytsp.solve(pytsp.generate.uniform(WARM_CITIES, 0), solver="large", backend=task.backend, iterations=1)
    renumbered, listed = phases(instance, kernels)
    lines = []
    for seed in range(task.seeds):
        for limit in task.limits or (None,):
            stop = {"time_limit": limit} if limit else {"iterations": task.rounds}
            found = pytsp.solve(instance, seed=seed, **solve, **stop)
            is_valid = pytsp.is_tour(found.tour, instance.n)
            lines.append(
                Line(
                    instance=task.name,
                    backend=kernels.describe(),
                    n=instance.n,
                    seed=seed,
                    limit=limit,
                    read=read,
                    renumbered=renumbered,
                    listed=listed,
                    begins=found.history[0].seconds,
                    seconds=found.seconds,
                    rounds=found.iterations or 0,
                    length=int(found.length),
                    best_known=None if best_known is None else int(best_known),
                    is_valid=is_valid,
                    is_exact=is_valid and instance.tour_length(found.tour) == found.length,
                    is_optimum=bool(found.done[0]),
                    mebibytes=peak_memory(),
                    history=tuple((each.seconds, int(each.length)) for each in found.history),
                )
            )
    return lines, None if task.check is None else agree(instance, task)


def agree(instance: pytsp.Instance, task: Task) -> bool:
    """Tell whether two backends come to the same tour and length by the rounds and cities a piece of the task."""
    one, two = (
        pytsp.solve(instance, solver="large", backend=backend, iterations=task.rounds, piece=task.piece)
        for backend in (task.backend, task.check or task.backend)
    )
    return bool(np.array_equal(one.tour, two.tour)) and one.length == two.length
